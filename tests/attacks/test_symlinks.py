"""CVE-2026-87766: an unpatched bwrap follows links inside the new root while it makes mount points.

First the fault itself, where the bwrap has it; then that no start of ours can be used that way, with either.
"""

from __future__ import annotations

import subprocess

import pytest

from tests.world import SECRET

PLACES = [".idea", ".vscode", ".envrc", ".claude", ".mcp.json", ".git", ".git/hooks", ".git/commondir", ".git/modules"]


@pytest.fixture
def victim(own_world):
    """A folder of the host that no jail has."""
    folder = own_world.home / "victim"
    folder.mkdir()
    return folder


def test_the_fault_is_real_or_this_bwrap_is_mended(own_world, victim, bwrap_folder):
    (own_world.project / ".idea").symlink_to(f"/oldroot{victim}")
    project = str(own_world.project)
    mounts = ["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--bind", project, project]
    argv = [bwrap_folder / "bwrap", *mounts, "--tmpfs", f"{project}/.idea/planted", "--", "/bin/true"]
    ended = own_world.run(*argv)
    assert (victim / "planted").exists() or "symbolic links" in ended.stderr or ended.returncode != 0


@pytest.mark.parametrize("place", PLACES)
def test_a_link_that_a_jail_planted_makes_nothing_on_the_host(own_world, victim, place, bwrap_folder):
    own_world.environment.update(own_world.path_with(bwrap_folder))
    if place.startswith(".git/"):
        own_world.run("git", "init", "-q", ".")
    name = own_world.new("-s", "-H", "generic", "--", "sleep", "1000")
    own_world.hqt("stop", name)
    planted = own_world.project / place
    subprocess.run(["rm", "-rf", planted], check=True)
    planted.symlink_to(f"/oldroot{victim}")
    own_world.run(*own_world.program, "attach", name, "-d")
    assert list(victim.iterdir()) == []
    if place != ".git/modules":  # where no guard belongs, a link is only a link
        assert own_world.state(name) == "stopped"


@pytest.mark.parametrize("place", ["skills", "settings.json", "projects", "ide", "history.jsonl"])
def test_a_link_in_the_harnesss_folder_makes_nothing_on_the_host(own_world, victim, place):
    binary = own_world.home / "bin/claude"
    binary.parent.mkdir()
    binary.write_text("#!/bin/sh\nsleep 1000\n")
    binary.chmod(0o755)
    own_world.environment.update(own_world.path_with(binary.parent))
    (own_world.home / ".claude").mkdir()
    (own_world.home / ".claude" / place).symlink_to(f"/oldroot{victim}")
    ended = own_world.hqt("new", "-d", "-s", "-H", "claude", fails=1)
    assert "is a link" in ended.stderr
    assert list(victim.iterdir()) == []
    assert own_world.ls() == []


REPLACE = """#!/bin/sh
mv {place} {place}.away
ln -s {target} {place}
exec {bwrap} "$@"
"""


@pytest.mark.parametrize("place", [".vscode", ".vscode/tasks.json", ".git/hooks"])
def test_a_guarded_path_that_another_jail_replaces_while_this_one_starts_shows_nothing(own_world, place, bwrap_folder):
    """The moment between the last look and the mount, made as long as it takes: bwrap itself is what replaces."""
    own_world.environment.update(own_world.path_with(bwrap_folder))
    own_world.run("git", "init", "-q", ".")
    (own_world.project / ".vscode").mkdir()
    (own_world.project / ".vscode/tasks.json").write_text("{}")
    name = own_world.sh("sleep 1000", "-s")
    argv = own_world.show(name)["argv"]
    own_world.hqt("stop", name)
    target = own_world.home / ".ssh"
    target = target / "id_rsa" if place.endswith("json") else target
    replacing = own_world.base / "bwrap"
    replacing.write_text(REPLACE.format(place=own_world.project / place, target=target, bwrap=bwrap_folder / "bwrap"))
    replacing.chmod(0o755)
    argv = [word if not word.startswith("--exec=") else f"--exec={replacing}" for word in argv]
    argv[-1] = f"cat {place} {place}/* 2>&1; find / -name id_rsa 2>/dev/null"
    said = own_world.run(*argv).stdout
    assert SECRET not in said
    assert "id_rsa" not in said


def test_a_guarded_path_that_is_replaced_after_the_start_was_planned_is_not_bound(own_world):
    (own_world.project / ".vscode").mkdir()
    name = own_world.sh("cat .vscode/*", "-s")
    argv = own_world.show(name)["argv"]
    own_world.hqt("stop", name)
    (own_world.project / ".vscode").rmdir()
    (own_world.project / ".vscode").symlink_to(own_world.home / ".ssh")
    ended = own_world.run(*argv)
    assert ended.returncode == 127
    assert "replaced by a link" in ended.stderr
    assert SECRET not in ended.stdout

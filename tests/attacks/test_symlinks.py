"""CVE-2026-87766: an unpatched bwrap follows links inside the new root while it makes mount points.

First the fault itself, where the bwrap has it; then that no start of ours can be used that way, with either.
"""

from __future__ import annotations

import subprocess

import pytest

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

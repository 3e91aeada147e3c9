"""What goes wrong is told in one line, with the documented exit code, and nothing is left half done."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import stat
from pathlib import Path

import pytest

from tests.world import PLAIN_UID, eventually


@pytest.fixture
def tools(own_world):
    """A folder of links to the system's programs, to be used as the whole PATH."""
    folder = own_world.base / "tools"
    folder.mkdir()
    for program in ("tmux", "bwrap", "sh", "sleep", "env", "git", "python3"):
        (folder / program).symlink_to(shutil.which(program, path="/usr/bin:/bin"))
    own_world.environment["PATH"] = str(folder)
    return folder


def nothing_is_left(world):
    return world.ls() == [] and world.tmux("list-windows", "-a") == ""


SANDBOXED = ("new", "-d", "-H", "generic", "-s", "--", "sleep", "1000")


def test_without_bwrap_a_sandboxed_session_is_not_started(own_world, tools):
    (tools / "bwrap").unlink()
    ended = own_world.hqt(*SANDBOXED, fails=4)
    assert "bubblewrap (bwrap) is not installed" in ended.stderr
    assert nothing_is_left(own_world)


def test_a_bwrap_that_cannot_make_a_namespace_is_told_in_its_own_words(own_world, tools):
    (tools / "bwrap").unlink()
    (tools / "bwrap").write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n")
    (tools / "bwrap").chmod(0o755)
    ended = own_world.hqt(*SANDBOXED, fails=4)
    assert "setting up uid map: Permission denied" in ended.stderr
    assert "hint: AppArmor" in ended.stderr
    assert nothing_is_left(own_world)


def test_a_bwrap_that_is_gone_at_the_next_start_stops_it(own_world, tools):
    name = own_world.hqt(*SANDBOXED).stdout.strip()
    own_world.hqt("stop", name)
    (tools / "bwrap").unlink()
    own_world.hqt("attach", name, "-d", fails=4)
    assert own_world.state(name) == "stopped"
    assert own_world.tmux("list-windows", "-a") == ""


@pytest.mark.parametrize(
    ("gone", "options"),
    [
        ("/no/bwrap", {}),
        ("/no/folder", {"folder": "/no/folder"}),
        ("/no/filter", {"seccomp": "/no/filter"}),
        ("/no/file", {"read": ["/etc/passwd", "/no/file"]}),
        ("/no/project", {"opened": ["/no/project"]}),
    ],
)
def test_the_launcher_starts_nothing_when_something_is_gone(own_world, tmp_path, gone, options):
    from hqt import launch

    program = gone if gone == "/no/bwrap" else "/usr/bin/env"
    wrapped = ["env", "touch", str(tmp_path / "ran")]
    argv = launch.command(wrapped, **{"program": program, "folder": "/", "names": ["PATH"], "scope": True, **options})
    ended = own_world.run(*argv)
    assert ended.returncode == 127
    assert ended.stderr.startswith(f"hqt: not started: {gone}: ")
    assert not (tmp_path / "ran").exists()


def test_without_tmux_it_says_so(own_world, tools):
    (tools / "tmux").unlink()
    assert "tmux is not installed" in own_world.hqt(*SANDBOXED, fails=5).stderr
    (tools / "tmux").symlink_to("/usr/bin/tmux")
    assert nothing_is_left(own_world)


def test_with_an_old_tmux_it_says_so(own_world, tools):
    (tools / "tmux").unlink()
    (tools / "tmux").write_text("#!/bin/sh\necho tmux 3.1c\n")
    (tools / "tmux").chmod(0o755)
    assert "tmux 3.1c is too old" in own_world.hqt(*SANDBOXED, fails=5).stderr


@pytest.mark.parametrize("harness", ["claude", "codex", "kiro"])
def test_a_harness_that_is_not_installed_is_told_with_how_to_get_it(own_world, tools, harness):
    ended = own_world.hqt("new", "-d", "-s", "-H", harness, fails=6)
    assert "is not installed" in ended.stderr
    assert "install" in ended.stderr.splitlines()[1]
    assert nothing_is_left(own_world)


def test_without_any_harness_it_says_so(own_world, tools):
    assert "no agent that hqt knows is installed" in own_world.hqt("new", "-d", fails=6).stderr


def test_a_command_that_does_not_exist_is_told(own_world):
    ended = own_world.hqt("new", "-d", "-H", "generic", "-s", "--", "no-such-command", fails=6)
    assert "no-such-command is not installed" in ended.stderr
    assert nothing_is_left(own_world)


@pytest.mark.parametrize(
    ("project", "reason"),
    [
        ("/", "the whole host"),
        ("/usr", "a system folder"),
        ("/usr/lib", "a system folder"),
        ("/etc/ssl", "a system folder"),
        ("/tmp", "a system folder"),
        ("/var/tmp", "a system folder"),
        ("{home}", "your home folder"),
        ("{base}", "your home folder lies inside"),
        ("{home}/.local", "hqt's own state"),
        ("{home}/.local/state/hqt/sessions", "hqt's own state"),
        ("{base}/tmux", "the tmux socket"),
        ("{base}/run", "the runtime folder"),
        ("{home}/link-to-usr", "a system folder"),
        ("{home}/missing", "does not exist"),
        ("{home}/file", "is not a folder"),
    ],
)
def test_a_project_that_a_jail_could_not_contain_is_refused(own_world, project, reason):
    (own_world.home / ".local/state/hqt/sessions").mkdir(parents=True)
    (own_world.home / "link-to-usr").symlink_to("/usr")
    (own_world.home / "file").touch()
    place = project.format(home=own_world.home, base=own_world.base)
    ended = own_world.hqt("new", place, *SANDBOXED[1:], fails=1)
    assert reason in ended.stderr
    assert nothing_is_left(own_world)


@pytest.mark.parametrize("folder", [".claude", ".claude/projects", ".claude/skills/mine"])
def test_a_project_in_the_harnesss_own_folder_is_refused(own_world, tools, folder):
    (tools / "claude").symlink_to("/bin/true")
    (own_world.home / folder).mkdir(parents=True)
    ended = own_world.hqt("new", own_world.home / folder, "-d", "-s", "-H", "claude", fails=1)
    assert "the harness keeps its own configuration there" in ended.stderr


def test_the_same_projects_are_fine_without_a_jail(own_world):
    own_world.new(own_world.home, "-H", "generic", "--", "sleep", "1000")


@pytest.mark.parametrize("restriction", [("--ro",), ("--no-net",), ("--bind", "/srv"), ("--check",)])
def test_a_restriction_contradicts_no_sandbox(own_world, restriction):
    ended = own_world.hqt("new", "-d", "-H", "generic", "--no-sandbox", *restriction, "--", "sleep", "1", fails=2)
    assert f"{restriction[0]} is about a sandbox" in ended.stderr
    assert nothing_is_left(own_world)


@pytest.mark.parametrize(
    "bind",
    [
        "/",
        "/home",
        "/etc",
        "/proc",
        "{home}",
        "{base}",
        "{base}/tmux",
        "{home}/.local/state/hqt",
        "{base}/missing",
        "{home}/.ssh",
        "{home}/.ssh/id_rsa",
    ],
)
def test_a_bind_that_would_undo_the_jail_is_refused(own_world, bind):
    (own_world.home / ".local/state/hqt").mkdir(parents=True)
    place = bind.format(home=own_world.home, base=own_world.base)
    own_world.hqt("new", "-d", "-H", "generic", "--bind", place, "--", "sleep", "1000", fails=1)
    assert nothing_is_left(own_world)


def test_a_project_that_is_gone_is_told_and_no_pane_is_started_elsewhere(own_world):
    name = own_world.new("-H", "generic", "--", "sleep", "1000")
    own_world.hqt("stop", name)
    own_world.project.rmdir()
    assert "does not exist" in own_world.hqt("attach", name, "-d", fails=1, cwd="/").stderr
    assert own_world.tmux("list-windows", "-a") == ""
    assert own_world.state(name) == "stopped"


def test_a_project_that_became_a_link_is_refused(own_world):
    name = own_world.hqt(*SANDBOXED).stdout.strip()
    own_world.hqt("stop", name)
    own_world.project.rename(own_world.home / "moved")
    own_world.project.symlink_to(own_world.home / ".ssh")
    assert "leads to" in own_world.hqt("attach", name, "-d", fails=1, cwd="/").stderr
    assert own_world.state_of_all() == ["stopped"]


@pytest.mark.parametrize("policy", ['{"fs": "rw"}', '{"fs": "rw", "net": true, "root": true}', "", "null", "3"])
def test_a_policy_edited_by_hand_is_not_started(own_world, policy):
    name = own_world.hqt(*SANDBOXED).stdout.strip()
    own_world.hqt("stop", name)
    with sqlite3.connect(own_world.database) as database:
        database.execute("UPDATE session SET sandbox_json = ?", (policy,))
    database.close()
    assert "a policy that hqt does not know" in own_world.hqt("attach", name, "-d", fails=1).stderr
    assert own_world.tmux("list-windows", "-a") == ""
    assert "unknown policy" in own_world.hqt("ls").stdout
    assert own_world.ls()[0]["sandbox"] == {"unknown": policy}


@pytest.mark.parametrize("content", [b"", b"garbage" * 1000])
def test_a_damaged_database_is_told_and_left_alone(own_world, content):
    own_world.hqt(*SANDBOXED)
    own_world.database.write_bytes(content)
    for suffix in ("-wal", "-shm"):
        Path(f"{own_world.database}{suffix}").unlink(missing_ok=True)
    if content:
        assert "is damaged" in own_world.hqt("ls", fails=1).stderr
        assert own_world.database.read_bytes() == content
    else:
        assert own_world.ls() == []


def test_a_newer_database_is_refused_untouched(own_world):
    own_world.hqt(*SANDBOXED)
    with sqlite3.connect(own_world.database) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    for arguments in (("ls",), SANDBOXED, ("stop", "project-generic")):
        assert "written by a newer hqt" in own_world.hqt(*arguments, fails=1).stderr


def test_the_state_is_private(own_world):
    own_world.hqt(*SANDBOXED)
    for path in own_world.database.parent.rglob("*"):
        if not path.is_relative_to(own_world.database.parent / "sessions"):
            assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path
    assert stat.S_IMODE(own_world.database.parent.stat().st_mode) == 0o700


def test_no_secret_is_in_an_argv_the_database_or_the_state(own_world):
    secret = "sk-a-secret-of-the-user"
    own_world.new("-H", "generic", "-s", "--env", "MY_KEY", "--", "sleep", "1000", env={"MY_KEY": secret})
    for path in own_world.database.parent.rglob("*"):
        assert not (path.is_file() and secret.encode() in path.read_bytes()), path
    for cmdline in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert secret.encode() not in cmdline.read_bytes()
        except OSError:
            continue


@pytest.mark.parametrize(
    "arguments", [("attach", "nope"), ("stop", "nope"), ("rm", "nope"), ("show", "nope"), ("rename", "nope", "x")]
)
def test_a_session_that_does_not_exist_is_exit_3(own_world, arguments):
    assert "there is no session named 'nope'" in own_world.hqt(*arguments, fails=3).stderr


def test_a_beginning_that_several_names_have_is_told_with_them(own_world):
    for name in ("one-a", "one-b"):
        own_world.new("-H", "generic", "-n", name, "--", "sleep", "1000")
    assert "one-a, one-b" in own_world.hqt("stop", "one", fails=3).stderr


def test_a_program_gets_the_error_as_json(own_world):
    error = json.loads(own_world.hqt("show", "nope", "--json", fails=3).stderr)
    assert error["exit_code"] == 3
    assert "nope" in error["error"]


@pytest.mark.parametrize("name", [" ", "a\nb", "-dash", "x" * 101, "esc\x1b[31m"])
def test_a_name_that_cannot_be_one_is_a_usage_error(own_world, name):
    own_world.hqt("new", "-d", "-H", "generic", f"--name={name}", "--", "true", fails=2)
    assert nothing_is_left(own_world)


def test_without_a_terminal_nothing_is_attached_or_started(own_world):
    assert "no terminal" in own_world.hqt("new", "-H", "generic", "--", "sleep", "1000", fails=1).stderr
    assert nothing_is_left(own_world)


def test_what_may_not_be_looked_at_on_path_is_passed_over(world, tmp_path):
    closed = world.base / "closed"
    (closed / "inside").mkdir(parents=True)
    closed.chmod(0)
    world.environment.update(world.path_with(closed / "inside"))
    assert world.state(world.new("-s", "-H", "generic", "--", "sleep", "1000")) == "running"


def test_a_project_that_may_not_be_looked_at_is_told(world):
    closed = world.base / "closed"
    (closed / "project").mkdir(parents=True)
    closed.chmod(0)
    if world.uid:
        assert "does not exist" in world.hqt("new", closed / "project", *SANDBOXED[1:], fails=1).stderr


@pytest.mark.parametrize("place", ["{home}/.ssh", "{home}/.local/state/hqt", "{base}/run", "{home}/.ssh/id_rsa"])
def test_a_bind_that_is_forced_by_name_is_said_everywhere(own_world, place):
    (own_world.home / ".local/state/hqt").mkdir(parents=True)
    path = place.format(home=own_world.home, base=own_world.base)
    name = own_world.new("-H", "generic", "--force-bind", path, "--", "sleep", "1000")
    assert f"{path} is bound by force" in own_world.hqt("show", name).stdout
    assert "forced bind" in own_world.hqt("ls").stdout
    found = json.loads(own_world.run(*own_world.program, "check", name, "--json").stdout)
    assert any("is bound by force" in finding["detail"] for finding in found)


@pytest.mark.parametrize("place", ["/", "{home}", "{base}", "{base}/tmux", "{base}/run/docker.sock"])
def test_a_bind_that_leaves_no_jail_cannot_be_forced(own_world, place):
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(own_world.base / "run/docker.sock"))
    path = place.format(home=own_world.home, base=own_world.base)
    own_world.hqt("new", "-d", "-H", "generic", "--force-bind", path, "--", "sleep", "1000", fails=1)
    assert nothing_is_left(own_world)
    listening.close()


def test_a_worktree_works_in_the_jail_and_its_repository_is_not_taken_from_elsewhere(world):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    world.run("git", "init", "-q", "../main")
    world.run("git", *identity, "-C", "../main", "commit", "-q", "--allow-empty", "-m", "first")
    world.run("git", "-C", "../main", "worktree", "add", "-q", "../tree")
    tree, common = world.home / "tree", world.home / "main/.git"
    script = f"git {' '.join(identity)} commit -q --allow-empty -m inside; git config core.fsmonitor evil; sleep 99"
    name = world.new(tree, "-s", "-H", "generic", "--", "sh", "-c", script)
    eventually(lambda: "inside" in world.run("git", "-C", tree, "log", "--oneline").stdout)
    assert "evil" not in (common / "config").read_text()
    world.hqt("stop", name)
    (tree / ".git").write_text(f"gitdir: {world.home}/.ssh\n")
    world.hqt("attach", name, "-d")
    assert str(world.home / ".ssh") not in world.show(name)["argv"]
    world.hqt("stop", name)
    common.rename(world.home / "moved")
    common.symlink_to(world.home / ".ssh")
    assert "is no longer what it was" in world.hqt("attach", name, "-d", fails=1).stderr


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("what", ["project", "bind"])
@pytest.mark.parametrize("option", ["-s", "--no-sandbox"])
def test_a_folder_that_belongs_to_another_now_is_refused(own_world, what, option):
    extra = own_world.base / "extra"
    extra.mkdir()
    binds = ["--bind", extra] if option == "-s" else []
    name = own_world.new(option, *binds, "-H", "generic", "--", "sleep", "1000")
    own_world.hqt("stop", name)
    given = own_world.project if what == "project" or option != "-s" else extra
    os.chown(given, PLAIN_UID, PLAIN_UID)
    assert "belonged to the user 0" in own_world.hqt("attach", name, "-d", fails=1).stderr
    assert own_world.state(name) == "stopped"

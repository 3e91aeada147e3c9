"""`hqt check`: it says that a jail holds, and it sees each way in which one does not."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from hqt.db import rows
from hqt.errors import ServiceError
from hqt.sandbox import SandboxPolicy
from hqt.services import check as checking
from hqt.services.start import plan_start, policy_of

POLICIES = [("--rw", "--net"), ("--rw", "--no-net"), ("--ro", "--net"), ("--ro", "--no-net")]


@pytest.mark.parametrize("policy", POLICIES)
def test_every_promise_holds(world, policy, bwrap_folder):
    world.environment.update(world.path_with(bwrap_folder))
    world.run("git", "init", "-q", ".")
    (world.project / ".vscode").mkdir()
    world.give_away()
    name = world.new("-s", "-H", "generic", *policy, "--", "sleep", "1000")
    found = json.loads(world.hqt("check", name, "--json").stdout)
    outcomes = {finding["outcome"] for finding in found}
    assert outcomes == ({"held", "not promised"} if "--net" in policy else {"held"})
    assert "held" in world.hqt("check", name).stdout
    leftovers = [path for path in world.base.rglob("*hqt-c*") if "hqt-check" in path.name or "canary" in path.name]
    assert leftovers == []


def test_it_checks_a_stopped_session_too(own_world):
    name = own_world.new("-s", "-H", "generic", "--", "sleep", "1000")
    own_world.hqt("stop", name)
    own_world.hqt("check", name)


def test_a_session_without_a_jail_is_told(own_world):
    name = own_world.new("-H", "generic", "--", "sleep", "1000")
    assert "not sandboxed" in own_world.hqt("check", name, fails=1).stderr


def test_new_with_check_starts_only_in_a_jail_that_holds(own_world):
    assert own_world.new("--check", "-H", "generic", "--", "sleep", "1000") == "project-generic"
    fake = own_world.base / "bin/bwrap"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\n[ "$1" = --version ] && exit\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    fake.chmod(0o755)
    own_world.environment.update(own_world.path_with(fake.parent))
    ended = own_world.hqt("new", "-d", "--check", "-H", "generic", "-n", "other", "--", "sleep", "1000", fails=1)
    assert "the jail does not hold" in ended.stderr
    assert [session["name"] for session in own_world.ls()] == ["project-generic"]


@pytest.fixture
def jail(own_world, monkeypatch):
    """Plan a session's start in this process, and probe it with its command changed."""
    own_world.run("git", "init", "-q", ".")
    own_world.new("--ro", "--no-net", "-H", "generic", "-n", "ro", "--", "sleep", "1000")
    own_world.new("-s", "-H", "generic", "-n", "rw", "--", "sleep", "1000")
    for name, value in own_world.environment.items():
        monkeypatch.setenv(name, value)

    def probed(name, change):
        row = next(row for row in rows.read(own_world.database) if row.name == name)
        policy = policy_of(row)
        assert policy
        start = plan_start(row, rung="fresh")
        command = list(start.command)
        change(command)
        broken = checking.probe(replace(start, command=command), policy)
        return {finding.tried for finding in broken if finding.outcome == "broken"}

    return probed


def tried(*keys):
    return {checking._PROMISES[key][1] for key in keys}


def without(*words):
    def change(command):
        for word in words:
            command.remove(word)

    return change


def with_mount(*words):
    """Put a mount after all others."""

    def change(command):
        command[command.index("--remount-ro") : command.index("--remount-ro")] = list(words)

    return change


def swapped(old, new):
    def change(command):
        command[:] = [new if word == old else word for word in command]

    return change


def keeping_everything(command):
    command[:] = ["--keep=*" if word.startswith("--keep=") else word for word in command]


def without_the_filter(command):
    at = command.index("--seccomp")
    del command[at : at + 2]


def nothing(_):
    pass


@pytest.mark.parametrize("name", ["ro", "rw"])
def test_an_unchanged_jail_holds(jail, name):
    assert jail(name, nothing) == set()


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (without("--disable-userns"), "namespaces"),
        (without_the_filter, "privileges"),
        (keeping_everything, "environment"),
        (with_mount("--ro-bind", "/etc/passwd", "/etc/passwd"), "shadow"),
        (lambda command: with_mount("--bind", command[command.index("--chdir") + 1], "/opt")(command), "system"),
        (with_mount("--bind", "/proc/sys", "/proc/sys"), "settings"),
        (with_mount("--proc", "/proc", "--bind", "/run", "/run"), "sockets"),
    ],
)
def test_a_weaker_jail_is_seen(jail, change, key, own_world):
    if key == "sockets":
        change = with_mount("--bind", str(own_world.base / "run"), str(own_world.base / "run"))
    assert tried(key) <= jail("ro", change)


def test_a_home_that_is_not_empty_is_seen(jail, own_world):
    home = str(own_world.home)
    assert tried("home", "state") <= jail("ro", with_mount("--ro-bind", home, home))


def test_a_network_that_is_on_is_seen(jail):
    def share(command):
        command.insert(command.index("--unshare-all") + 1, "--share-net")

    assert tried("network") <= jail("ro", share)


def test_a_read_only_project_that_can_be_written_is_seen(jail, own_world):
    project = str(own_world.project)
    assert tried("project") <= jail("ro", with_mount("--bind", project, project))


def test_guards_that_do_not_guard_are_seen(jail, own_world):
    project = str(own_world.project)
    assert tried("guards") <= jail("rw", with_mount("--bind", project, project))


def test_a_folder_above_a_guard_that_is_not_pinned_is_seen(jail, own_world):
    pin = str(own_world.project / ".git")

    def unpin(command):
        at = command.index(pin) - 2
        assert command[at] == "--bind-fd"
        del command[at : at + 3]

    assert tried("pins") <= jail("rw", unpin)


def test_a_folder_beside_the_project_that_can_be_written_is_seen(jail, own_world):
    home = str(own_world.home)
    project = str(own_world.project)
    assert tried("system") <= jail("rw", with_mount("--bind", home, home, "--bind", project, project))


def test_a_process_of_the_host_is_seen(jail):
    def share(command):
        at = command.index("--unshare-all")
        command[at : at + 1] = ["--unshare-ipc", "--unshare-net", "--unshare-uts"]
        with_mount("--bind", "/proc", "/proc")(command)

    assert tried("processes") <= jail("ro", share)


def replaced_bwrap(world, script):
    """Have the launcher start a script in bwrap's place, which ends by `exec`ing it."""
    made = world.base / "replaced"
    made.write_text(f"#!/bin/bash\n{script}\n")
    made.chmod(0o755)

    def change(command):
        command[:] = [f"--exec={made}" if word.startswith("--exec=") else word for word in command]

    return change


def test_a_descriptor_that_is_left_open_is_seen(jail, own_world):
    change = replaced_bwrap(own_world, f'exec 77<{own_world.home}/.ssh; exec bwrap "$@"')
    assert tried("descriptors") <= jail("ro", change)


def test_an_abstract_socket_that_is_reached_is_seen(own_world, monkeypatch):
    own_world.new("-s", "-H", "generic", "-n", "rw", "--", "sleep", "1000")
    for name, value in own_world.environment.items():
        monkeypatch.setenv(name, value)
    row = rows.read(own_world.database)[0]
    start = plan_start(row, rung="fresh")
    found = checking.probe(replace(start, is_scoped=False), SandboxPolicy())
    assert "connected to an abstract socket of hqt's" in {f.tried for f in found if f.outcome == "broken"}


def test_a_hidden_file_that_can_be_read_is_seen(own_world, monkeypatch):
    (own_world.project / ".env").write_text("PASSWORD=x\n")
    own_world.new("-s", "-H", "generic", "-n", "rw", "--hide", ".env", "--", "sleep", "1000")
    for name, value in own_world.environment.items():
        monkeypatch.setenv(name, value)
    start = plan_start(rows.read(own_world.database)[0], rung="fresh")
    command = list(start.command)
    with_mount("--bind", str(own_world.project), str(own_world.project))(command)
    found = checking.probe(replace(start, command=command), SandboxPolicy())
    assert tried("hidden") <= {finding.tried for finding in found if finding.outcome == "broken"}


def test_a_project_that_should_be_writable_and_is_not_is_seen(jail, own_world):
    project = str(own_world.project)
    assert tried("project") <= jail("rw", with_mount("--ro-bind", project, project))


def test_every_promise_is_broken_once_here():
    """A key without a test of a jail that breaks it would be a promise that nobody knows to be looked at."""
    text = Path(__file__).read_text()
    assert {key for key in checking._PROMISES if f'"{key}"' not in text} == set()


@pytest.mark.parametrize("place", ["/tmp", "/var/tmp"])
@pytest.mark.parametrize("folder", ["project", "a b\\c/project"])
def test_a_project_in_a_folder_that_the_jail_has_one_of_its_own_of_is_no_fault(own_world, place, folder):
    made = tempfile.mkdtemp(dir=place, prefix="hqt-beside-")
    project = Path(made, folder)
    project.mkdir(parents=True)
    try:
        name = own_world.new("-H", "generic", "-s", "--", "sleep", "1000", cwd=project)
        assert "broken" not in own_world.hqt("check", name).stdout
        own_world.hqt("rm", name)
    finally:
        shutil.rmtree(made)


def test_a_probe_that_cannot_be_run_is_an_error_and_not_a_pass(jail):
    with pytest.raises(ServiceError, match="could not be run"):
        jail("ro", with_mount("--tmpfs", "/bin"))

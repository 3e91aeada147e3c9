"""Ended at any step of what it does, hqt loses nothing, runs nothing twice, and the next command heals what is left."""

from __future__ import annotations

import sqlite3
from itertools import count

import pytest

from hqt.db.migrations import MIGRATIONS
from tests.world import eventually

KILLED = -9 & 0xFFFFFFFF
IDLE = ("-H", "generic", "-s", "--", "sleep", "1000")


def steps(world, *command, before, stride=1):
    """Run a command again and again, ended `stride` steps later each time; yield after each, until it is not ended."""
    for step in count(step=stride):
        before()
        ended = world._fork(*world.program, *command, env={"END_AT_STEP": str(step)})
        if ended.returncode != KILLED:
            assert ended.returncode == 0, ended.stderr
            assert step > 3
            return
        yield step


def windows(world):
    """The ids of the windows that run a session, as tmux has them: each once."""
    return sorted(world.tmux("list-panes", "-a", "-f", "#{@hqt_id}", "-F", "#{@hqt_id}").split())


def ids(world):
    return sorted(session["id"] for session in world.ls())


def folders(world):
    found = world.database.parent / "sessions"
    return sorted(path.name for path in found.iterdir()) if found.exists() else []


def runs_once(world, name):
    """Whether attaching makes it run, in one window."""
    world.hqt("attach", name, "-d")
    assert world.state(name) == "running"
    assert windows(world) == ids(world)


def is_gone(world, name):
    world.hqt("rm", name)
    assert world.ls() == []
    assert windows(world) == []
    assert folders(world) == []


def settled(world):
    """Wait until a tmux that hqt had started is done: none of its windows is of a session that is not known."""
    eventually(lambda: set(windows(world)) <= set(ids(world)), "every window is of a session that hqt knows")


def test_new(own_world):
    for _ in steps(
        own_world, "new", "-d", "-n", "x", *IDLE, before=lambda: own_world.run(*own_world.program, "rm", "x")
    ):
        settled(own_world)
        if not own_world.ls():
            own_world.hqt("new", "-d", "-n", "x", *IDLE)
        runs_once(own_world, "x")
        is_gone(own_world, "x")


@pytest.mark.parametrize(("was", "stride"), [("stopped", 1), ("exited", 3), ("lost", 3)])
def test_attach(own_world, was, stride):
    own_world.new("-n", "x", "-H", "generic", "-s", "--", "sh", "-c", "test -e ended && exit 3; exec sleep 1000")

    def before():
        own_world.tmux("kill-server")
        if was == "exited":
            (own_world.project / "ended").touch()
            own_world.hqt("attach", "-d", "x")
            (own_world.project / "ended").unlink()
        if was == "stopped":
            own_world.hqt("stop", "x")
        assert own_world.state("x") == ("exited 3" if was == "exited" else "stopped")

    for _ in steps(own_world, "attach", "-d", "x", before=before, stride=stride):
        settled(own_world)
        runs_once(own_world, "x")
    is_gone(own_world, "x")


def test_stop(own_world):
    own_world.new("-n", "x", *IDLE)
    for _ in steps(own_world, "stop", "x", before=lambda: runs_once(own_world, "x")):
        settled(own_world)
        own_world.hqt("stop", "x")
        assert windows(own_world) == []
        assert own_world.state("x") == "stopped"


def test_rm(own_world):
    def before():
        own_world.run(*own_world.program, "rm", "x")
        own_world.new("-n", "x", *IDLE)

    for _ in steps(own_world, "rm", "x", before=before, stride=2):
        settled(own_world)
        if own_world.ls():
            is_gone(own_world, "x")
        else:  # the next command that removes something, or restores, takes what was left of it
            own_world.hqt("restore")
            assert windows(own_world) == folders(own_world) == []


def test_rename(own_world):
    own_world.new("-n", "x", *IDLE)

    def before():
        if own_world.ls()[0]["name"] != "x":
            own_world.hqt("rename", "y", "x")

    for _ in steps(own_world, "rename", "x", "y", before=before):
        (session,) = own_world.ls()
        assert session["name"] in ("x", "y")
        assert windows(own_world) == ids(own_world)


def test_restore(own_world):
    for name in "xyz":
        own_world.new("-n", name, *IDLE)
    for _ in steps(own_world, "restore", before=lambda: own_world.tmux("kill-server"), stride=7):
        settled(own_world)
        own_world.hqt("restore")
        assert own_world.state_of_all() == ["running"] * 3
        assert windows(own_world) == ids(own_world)


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
def test_a_migration_from_every_version(own_world, version):
    own_world.new("-n", "x", *IDLE)
    own_world.hqt("stop", "x")
    columns = {1: ["sandbox_json"], 2: ["limits_json", "owners_json", "nested_json"], 3: ["found_json"]}

    def before():
        for copy in own_world.database.parent.glob("hqt.db.version-*"):
            copy.unlink()
        with sqlite3.connect(own_world.database) as database:
            if database.execute("PRAGMA user_version").fetchone()[0] > version:
                for column in (column for step in range(version, len(MIGRATIONS)) for column in columns[step]):
                    database.execute(f"ALTER TABLE session DROP COLUMN {column}")
                database.execute(f"PRAGMA user_version = {version}")
        database.close()

    for _ in steps(own_world, "ls", before=before):
        with sqlite3.connect(own_world.database) as database:
            assert database.execute("PRAGMA user_version").fetchone()[0] in range(version, len(MIGRATIONS) + 1)
        database.close()
        assert [session["name"] for session in own_world.ls()] == ["x"]
        (copy,) = own_world.database.parent.glob(f"hqt.db.version-{version}")
        assert copy.stat().st_mode & 0o777 == 0o600

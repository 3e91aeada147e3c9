"""Modes are set, never inherited: whatever the umask is, nobody else reads or writes what hqt keeps."""

from __future__ import annotations

import json
import os
import shlex
import stat
from pathlib import Path

import pytest

from hqt import log
from tests.world import eventually

IN_A_JAIL = ("cache", "private", "run")
"""What a jail writes itself, with the umask that it has."""


def kept(world):
    """Return everything that hqt keeps, with its mode, but what a jail made in folders of its own."""
    state = world.database.parent
    for folder, folders, files in os.walk(state):
        relative = Path(folder).relative_to(state)
        if len(relative.parts) == 3 and relative.parts[2] in IN_A_JAIL:
            yield relative, Path(folder).lstat().st_mode
            folders.clear()
            continue
        for name in ("", *files):
            yield relative / name, Path(folder, name).lstat().st_mode


@pytest.mark.parametrize("umask", ["000", "077"])
def test_everything_that_is_kept_is_the_users_alone(world, umask):
    world.fake("claude", "printf '\\a'; exec sleep 1000")
    world.configure('notify = ["true"]')

    def hqt(*arguments):
        ended = world.run("sh", "-c", f"umask {umask}; exec {shlex.join(world.program)} {shlex.join(arguments)}")
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    for name, options in (("a", ["-s"]), ("b", ["-s", "--ro", "--no-net"]), ("c", [])):
        hqt("new", "-d", "-n", name, "-H", "claude", *options)
    sessions = [world.database.parent / "sessions" / session["id"] for session in json.loads(hqt("ls", "--json"))]
    eventually(lambda: all((folder / "told").exists() for folder in sessions), "all were told")
    hqt("stop", "a")
    hqt("attach", "-d", "a")
    hqt("check", "a")
    hqt("audit", "--accept", "a")
    found = dict(kept(world))
    assert len(found) > 20
    wrong = {
        str(path): oct(mode)
        for path, mode in found.items()
        if not stat.S_ISLNK(mode) and stat.S_IMODE(mode) != (0o700 if stat.S_ISDIR(mode) else 0o600)
    }
    assert wrong == {}
    assert world.socket.stat().st_mode & 0o007 == 0
    assert stat.S_IMODE(world.socket.parent.stat().st_mode) & 0o077 == 0


def test_a_log_that_is_begun_anew_is_the_users_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(log, "_BYTES", 200)
    before = os.umask(0)
    try:
        written = log._logger(tmp_path / "hqt.log", is_debugging=False)
        for number in range(20):
            written.info("line %d", number)
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("umask", ["000", "077"])
def test_a_configuration_of_tmux_that_is_made_can_be_written_by_the_user_alone(own_world, umask):
    shell = f"umask {umask}; {shlex.join(own_world.program)} tmux --install --yes"
    assert own_world.run("sh", "-c", shell).returncode == 0
    made = list(own_world.home.rglob("*tmux.conf"))
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o644]

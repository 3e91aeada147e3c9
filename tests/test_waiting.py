"""`hqt wait`: it returns when it holds, at once where it does already, and its exit code says which."""

from __future__ import annotations

import shlex
import subprocess
import time

import pytest

from hqt.services import listing, watching
from hqt.services.status import Goal
from tests.world import eventually


def waiting(world, *arguments):
    """A `hqt wait` that goes on, in the background."""
    command = [*world.program, "wait", *arguments]
    process = subprocess.Popen(
        command, env=world.environment, cwd=world.project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    eventually(lambda: "anon_inode:inotify" in world.run("sh", "-c", f"ls -l /proc/{process.pid}/fd").stdout)
    return process


def ended(process):
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


def says(world, name, word):
    """Have a session's harness say something, as its hook does."""
    folder = world.database.parent / "sessions" / world.show(name)["id"] / "run"
    (folder / "new").write_text(f"{word}\n")
    (folder / "new").rename(folder / "status")


@pytest.fixture
def sessions(own_world):
    for name in ("one", "two"):
        own_world.sh("exec sleep 1000", "-n", name)
        says(own_world, name, "working")
    return own_world


@pytest.mark.parametrize("word", ["idle", "waiting"])
def test_it_returns_as_soon_as_it_is_said(sessions, word):
    process = waiting(sessions, "one", "--for", word)
    assert process.poll() is None
    before = time.monotonic()
    says(sessions, "one", word)
    assert ended(process)[:2] == (0, f"one {word}\n")
    assert time.monotonic() - before < 5  # by inotify, whatever else this machine does: no look is made on a timer


def test_what_holds_already_is_told_at_once(sessions):
    says(sessions, "one", "idle")
    assert sessions.hqt("wait", "one").stdout == "one idle\n"
    sessions.hqt("stop", "two")
    assert sessions.hqt("wait", "two", "--for", "exited").stdout == "two exited\n"


def test_all_are_waited_for(sessions):
    process = waiting(sessions, "one", "two")
    says(sessions, "two", "waiting")
    says(sessions, "one", "idle")
    assert ended(process)[:2] == (0, "two waiting\none idle\n")


def test_any_is_the_first_of_them(sessions):
    process = waiting(sessions, "one", "two", "--any")
    says(sessions, "two", "idle")
    assert ended(process)[:2] == (0, "two idle\n")


def test_the_end_of_a_process_is_seen(sessions):
    process = waiting(sessions, "one", "--for", "exited")
    sessions.tmux("send-keys", "-t", "hqt:=one", "C-c")
    assert ended(process)[:2] == (0, "one exited\n")


def test_a_session_that_ends_can_no_longer_be_idle(sessions):
    process = waiting(sessions, "one")
    sessions.hqt("stop", "one")
    code, _, err = ended(process)
    assert (code, "one is not running" in err) == (1, True)


def test_with_any_an_end_matters_only_when_it_is_the_last(sessions):
    process = waiting(sessions, "one", "two", "--any")
    sessions.hqt("stop", "one")
    says(sessions, "two", "idle")
    assert ended(process)[:2] == (0, "two idle\n")
    sessions.hqt("stop", "two")
    sessions.hqt("wait", "one", "two", "--any", fails=1)


def test_out_of_time_is_exit_7(sessions):
    assert "not within 0.2 s: one" in sessions.hqt("wait", "one", "--timeout", "0.2", fails=7).stderr


def test_a_session_that_says_nothing_is_guessed_at(own_world):
    name = own_world.sh("exec sleep 1000")
    assert own_world.hqt("wait", name, "--timeout", "30").stdout == f"{name} idle\n"


@pytest.mark.parametrize("content", ["garbage", "idle" * 100000, "", "idle\x00\n"])
def test_what_a_jail_writes_there_is_not_believed(own_world, content):
    own_world.sh("while :; do echo busy; sleep 0.5; done", "-n", "one")  # a silent one would be guessed to be idle
    says(own_world, "one", "working")
    process = waiting(own_world, "one")
    folder = own_world.database.parent / "sessions" / own_world.show("one")["id"] / "run"
    (folder / "status").unlink()
    (folder / "status").write_text(content)
    assert own_world.ls()[0]["status"]["guess"]
    (folder / "status").unlink()
    (folder / "status").symlink_to("/etc/passwd")
    assert own_world.ls()[0]["status"]["guess"]
    says(own_world, "one", "waiting")
    assert ended(process)[:2] == (0, "one waiting\n")


def test_a_flood_of_sayings_is_borne(sessions):
    process = waiting(sessions, "one")
    folder = shlex.quote(str(sessions.database.parent / "sessions" / sessions.show("one")["id"] / "run"))
    sessions.run("sh", "-c", f"cd {folder}; for i in $(seq 20000); do echo working >status; done; echo idle >status")
    assert ended(process)[:2] == (0, "one idle\n")


def test_an_end_that_tmux_tells_late_is_waited_for_and_not_slept_through(sessions, monkeypatch):
    """tmux may tell of an end a while after the process is gone: made as late as it takes, by what is read from it."""
    for name, value in sessions.environment.items():
        monkeypatch.setenv(name, value)
    view = listing.find("one")
    late, real = [view] * 5, listing.views
    monkeypatch.setattr(listing, "views", lambda rows: [late.pop()] if late else real(rows))
    sessions.hqt("stop", "one")
    ended = watching.wait([view], [Goal.EXITED], any_of_them=False, timeout_s=30)
    assert [(view.row.name, goal) for view, goal in ended] == [("one", "exited")]

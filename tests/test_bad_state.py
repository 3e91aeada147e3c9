"""State that cannot be used, a server that does not answer, a host that changed: a clear line, and nothing is lost."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time

import pytest

from tests.world import PLAIN_UID, eventually

IDLE = ("-H", "generic", "-s", "--", "sleep", "1000")
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can mount and give away")


@pytest.fixture
def tmpfs(own_world):
    """Make hqt's state folder a small file system of its own; return a function that mounts it."""
    mounted = []

    def mount(options):
        folder = own_world.database.parent
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=0700,{options}", "tmpfs", folder], check=True)
        mounted.append(folder)
        return folder

    yield mount
    own_world.end()
    for folder in mounted:
        subprocess.run(["umount", folder], check=True)


def one_line(ended):
    lines = ended.stderr.splitlines()
    assert lines[0].startswith("hqt: ")
    assert all(line.startswith("hint: ") for line in lines[1:2])
    assert "Traceback" not in ended.stderr
    return lines[0]


@as_root
def test_a_full_disk_is_told_and_leaves_nothing_half_made(own_world, tmpfs):
    folder = tmpfs("size=200k")
    own_world.new("-n", "before", *IDLE)
    with (folder / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
        while True:
            filler.write(b"x" * 1024)
    for number in range(5):
        ended = own_world.run(*own_world.program, "new", "-d", "-n", f"n{number}", *IDLE)
        assert ended.returncode == 1
        assert one_line(ended)
    assert [session["name"] for session in own_world.ls()] == ["before"]
    assert len(own_world.tmux("list-windows", "-a").splitlines()) == 1
    (folder / "filler").unlink()
    own_world.new("-n", "after", *IDLE)
    assert own_world.state_of_all() == ["running", "running"]


@as_root
def test_a_read_only_state_is_told_and_what_runs_goes_on(own_world, tmpfs):
    folder = tmpfs("size=4m")
    name = own_world.new(*IDLE)
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    try:
        assert own_world.state(name) == "running"
        for command in (("new", "-d", *IDLE), ("stop", name), ("rm", name)):
            assert one_line(own_world.run(*own_world.program, *command))
        assert own_world.tmux("list-panes", "-a", "-F", "#{pane_dead}") == "0\n"
    finally:
        subprocess.run(["mount", "-o", "remount,rw", folder], check=True)
    assert own_world.state(name) == "running"


@as_root
def test_a_home_on_another_device_than_the_state_works(own_world, tmpfs):
    tmpfs("size=4m")
    name = own_world.new(*IDLE)
    own_world.hqt("stop", name)
    own_world.hqt("attach", name, "-d")
    own_world.hqt("rm", name)
    assert own_world.ls() == []


@as_root
def test_a_project_that_was_unmounted_is_told_by_its_owner_or_its_absence(own_world):
    place = own_world.home / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"uid={PLAIN_UID}", "tmpfs", place], check=True)
    try:
        name = own_world.new(place, *IDLE)
        own_world.hqt("stop", name)
    finally:
        subprocess.run(["umount", place], check=True)
    assert "belonged to the user" in own_world.hqt("attach", name, "-d", fails=1).stderr
    place.rmdir()
    assert "does not exist" in own_world.hqt("attach", name, "-d", fails=1).stderr
    assert own_world.state(name) == "stopped"


@as_root
def test_state_that_belongs_to_another_user_is_told(own_world):
    own_world.new(*IDLE)
    subprocess.run(["chown", "-R", "0:0", own_world.database.parent], check=True)
    plain = {"user": PLAIN_UID, "group": PLAIN_UID, "extra_groups": []}
    assert one_line(own_world.run(*own_world.program, "ls", **plain))
    assert "Permission denied" in own_world.run(*own_world.program, "doctor", **plain).stdout.replace("\n", "")


def test_a_state_folder_that_is_a_link_of_the_users_own_works(own_world):
    elsewhere = own_world.home / "elsewhere"
    elsewhere.mkdir()
    own_world.database.parent.parent.mkdir(parents=True)
    own_world.database.parent.symlink_to(elsewhere)
    own_world.give_away()
    name = own_world.new(*IDLE)
    assert (elsewhere / "hqt.db").exists()
    own_world.hqt("rm", name)


@pytest.mark.parametrize("what", ["a file", "a link to nothing"])
@pytest.mark.parametrize("folder", ["", "sessions"])
def test_what_stands_where_a_folder_of_the_state_belongs_is_told(own_world, folder, what):
    place = own_world.database.parent / folder
    place.parent.mkdir(parents=True, exist_ok=True)
    if what == "a file":
        place.touch()
    else:
        place.symlink_to(own_world.home / "nowhere")
    own_world.give_away()
    told = one_line(own_world.hqt("new", "-d", *IDLE, fails=1))
    assert str(place) in told
    assert "unexpected" not in told
    assert "unexpected" not in own_world.run(*own_world.program, "doctor").stderr


@pytest.mark.parametrize("what", ["garbage", "other JSON", "a folder"])
def test_with_a_damaged_baseline_all_that_runs_is_new_until_it_is_accepted(own_world, what):
    (own_world.project / "Makefile").touch()
    name = own_world.new(*IDLE)
    (baseline,) = own_world.database.parent.glob("sessions/*/baseline.json")
    baseline.unlink()
    if what == "a folder":
        baseline.mkdir()
    else:
        baseline.write_bytes(b"\xff{" if what == "garbage" else b'[{"a": 1}]')
    own_world.give_away()
    told = own_world.hqt("audit", name, fails=1).stdout
    assert f"unseen   {baseline} (damaged" in told
    assert "new      Makefile" in told
    assert "files would run outside the jail" in own_world.hqt("stop", name).stdout
    if what == "a folder":
        assert "cannot be written" in one_line(own_world.hqt("audit", name, "--accept", fails=1))
    else:
        own_world.hqt("audit", name, "--accept")
        assert "nothing new" in own_world.hqt("audit", name).stdout


def test_a_database_that_another_holds_for_a_moment_is_waited_for(own_world):
    own_world.new("-n", "one", *IDLE)
    holder = sqlite3.connect(own_world.database, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    waiting = subprocess.Popen([*own_world.program, "stop", "one"], env=own_world.environment, stderr=subprocess.PIPE)
    assert own_world.state("one") == "running"  # reading goes on meanwhile
    time.sleep(1)  # long enough for a try without patience to have failed
    assert waiting.poll() is None
    holder.execute("COMMIT")
    holder.close()
    assert waiting.communicate(timeout=30)[1] == b""
    assert own_world.state("one") == "stopped"


def test_a_database_that_another_holds_for_good_is_told(own_world):
    own_world.new("-n", "one", *IDLE)
    holder = sqlite3.connect(own_world.database, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    assert "locked" in own_world.hqt("stop", "one", fails=1).stderr
    holder.execute("COMMIT")
    holder.close()
    assert own_world.state("one") == "running"


def test_a_long_reader_holds_nobody_up(own_world):
    own_world.new("-n", "one", *IDLE)
    reader = sqlite3.connect(own_world.database)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM session").fetchone() == (1,)
    own_world.new("-n", "two", *IDLE)
    own_world.hqt("rm", "one")
    assert reader.execute("SELECT count(*) FROM session").fetchone() == (1,)
    reader.close()


def test_what_only_looks_needs_no_turn_to_write(own_world):
    own_world.new("-n", "one", *IDLE)
    holder = sqlite3.connect(own_world.database, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    for command in (["show", "one"], ["ls"], ["peek", "one"]):
        own_world.hqt(*command)
    holder.execute("COMMIT")
    holder.close()


def test_a_tmux_server_that_is_stopped_is_told_within_its_time_and_nothing_is_lost(own_world):
    name = own_world.new(*IDLE)
    pid = int(own_world.tmux("display-message", "-p", "#{pid}"))
    os.kill(pid, signal.SIGSTOP)
    try:
        assert "tmux does not answer" in own_world.hqt("stop", name, fails=5).stderr
    finally:
        os.kill(pid, signal.SIGCONT)
    assert own_world.state(name) == "running"


def test_a_tmux_server_that_is_killed_leaves_every_session_to_be_restored(own_world):
    names = [own_world.new(*IDLE) for _ in range(3)]
    os.kill(int(own_world.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
    eventually(lambda: own_world.state_of_all() == ["stopped"] * 3)
    own_world.hqt("restore")
    assert own_world.state_of_all() == ["running"] * 3
    assert own_world.hqt("restore", "--dry-run").stdout.startswith("nothing to restore"), names


def test_a_clock_that_jumped_back_shows_no_negative_age_and_loses_nothing(own_world):
    name = own_world.new(*IDLE)
    with sqlite3.connect(own_world.database) as database:
        database.execute("UPDATE session SET created_at = '2199-01-01T00:00:00+00:00'")
        database.execute("UPDATE session SET started_at = '2199-01-01T00:00:00+00:00'")
    database.close()
    status = own_world.database.parent / "sessions" / own_world.show(name)["id"] / "run/status"
    status.write_text("idle\n")
    os.utime(status, (7e9, 7e9))
    assert " 0s " in own_world.hqt("ls").stdout
    own_world.hqt("stop", name)
    own_world.hqt("attach", name, "-d")
    assert own_world.state(name) == "running"


def test_nothing_depends_on_the_hosts_name(own_world):
    name = own_world.new(*IDLE)
    before = own_world.show(name)["argv"]
    own_world.hqt("stop", name, env={"HOSTNAME": "other"})
    own_world.hqt("attach", name, "-d", env={"HOSTNAME": "another"})
    assert own_world.show(name)["argv"] == before
    kept = own_world.database.read_bytes().decode(errors="replace").replace(str(own_world.base), "")  # a name by chance
    assert os.uname().nodename not in kept

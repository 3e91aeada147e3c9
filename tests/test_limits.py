"""Bounds on memory, processes and cores: enforced by systemd, or refused; never left out without a word."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hqt import limits
from hqt.limits import Limits

BOUNDS = ["--memory", "8G", "--pids", "512", "--cpu", "1.5"]
# A stand-in for systemd's, where a machine has no user manager: it writes down its argv, and does what it is told but
# for the bounds; the launcher sees that they are not there.
STAND_IN = 'printf "%s\\n" "$@" > "$HOME/asked"; while [ "${1#--}" != "$1" ]; do shift; done; exec "$@"'


@given(st.builds(Limits, memory=st.none() | st.integers(1, 1 << 50), pids=st.none() | st.integers(1, 1 << 20),
                 cpu=st.none() | st.floats(0.01, 999)))  # fmt: skip
def test_limits_survive_the_row(wanted):
    assert Limits.from_json(wanted.to_json()) == wanted


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "null", '{"memory": 1, "pids": 1}', '{"memory": "8G", "pids": 1, "cpu": 1}',
     '{"memory": true, "pids": 1, "cpu": 1}', '{"memory": -1, "pids": 1, "cpu": 1}',
     '{"memory": 1, "pids": 1.5, "cpu": 1}', '{"memory": 1, "pids": 1, "cpu": 1, "more": 1}'],
)  # fmt: skip
def test_limits_that_are_not_understood_are_not_guessed_at(text):
    with pytest.raises(ValueError, match="not limits"):
        Limits.from_json(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("8G", 8 << 30), ("512M", 512 << 20), ("512MiB", 512 << 20), ("1t", 1 << 40), ("99999999", 99999999)],
)
def test_a_size_of_memory_is_read(text, size):
    assert limits.memory_bytes(text) == size


@pytest.mark.parametrize("text", ["", "G", "8X", "-8G", "1K", "8 G", "9" * 30, "8G8", "٣G"])
def test_what_is_no_size_of_memory_is_refused(text):
    with pytest.raises(ValueError, match="size of memory"):
        limits.memory_bytes(text)


@pytest.mark.parametrize(
    "options", [["--memory", "lots"], ["--pids", "-1"], ["--pids", "1"], ["--cpu", "nan"], ["--cpu", "0"]]
)
def test_a_wrong_bound_is_a_usage_error(own_world, options):
    assert "hint:" in own_world.hqt("new", "-d", *options, fails=2).stderr
    assert own_world.ls() == []


def test_bounds_contradict_no_sandbox(own_world):
    assert "--memory" in own_world.hqt("new", "-d", "--no-sandbox", "--memory", "1G", fails=2).stderr


def test_without_systemd_nothing_is_started_unbounded(own_world):
    own_world.environment["PATH"] = str(own_world.base / "few")
    Path(own_world.environment["PATH"]).mkdir()
    for program in ("tmux", "bwrap", "sh", "sleep"):
        (own_world.base / "few" / program).symlink_to(f"/usr/bin/{program}")
    ended = own_world.hqt("new", "-d", "-H", "generic", *BOUNDS, "--", "sleep", "100", fails=4)
    assert "systemd-run is not installed" in ended.stderr
    assert own_world.ls() == []


def test_where_systemd_has_no_user_manager_nothing_is_started_unbounded(own_world):
    ended = own_world.hqt("new", "-d", "-H", "generic", *BOUNDS, "--", "sleep", "100", fails=4)
    assert "cannot be bounded here" in ended.stderr
    assert own_world.ls() == []


def test_bounds_that_systemd_did_not_set_are_noticed(own_world):
    own_world.fake("systemd-run", STAND_IN)
    ended = own_world.hqt("new", "-d", "-H", "generic", *BOUNDS, "--", "sleep", "100", fails=4)
    assert "memory.max" in ended.stderr
    asked = (own_world.home / "asked").read_text().split("\n")
    assert asked[:7] == ["--user", "--scope", "--quiet", "--collect", "--property=MemoryMax=8589934592",
                         "--property=MemorySwapMax=0", "--property=TasksMax=512"]  # fmt: skip
    assert asked[7] == "--property=CPUQuota=150%"


def test_the_bounds_are_part_of_the_command_that_is_rebuilt(own_world):
    """The row is given them afterwards: here no scope can be made, and what would be started is what counts."""
    name = own_world.new("-s", "-H", "generic", "--", "sleep", "100")
    own_world.hqt("stop", name)
    bounds = Limits(memory=1 << 30, pids=64, cpu=2)
    with sqlite3.connect(own_world.database) as database:
        database.execute("UPDATE session SET limits_json = ?", (bounds.to_json(),))
    shown = own_world.show(name)
    assert shown["limits"] == {"memory": 1 << 30, "pids": 64, "cpu": 2}
    systemd_run, *rest = shown["argv"]
    assert systemd_run == "/usr/bin/systemd-run"
    assert "--bounds=memory.max,pids.max,cpu.max" in rest
    assert not {"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"} & set(shown["environment"])
    assert "at most       1G of memory, 64 processes, 2 cores" in own_world.hqt("show", name).stdout
    own_world.hqt("attach", name, "-d", fails=4)
    assert own_world.state(name) == "stopped"


def test_bounds_edited_by_hand_are_not_started(own_world):
    name = own_world.new("-s", "-H", "generic", "--", "sleep", "100")
    own_world.hqt("stop", name)
    with sqlite3.connect(own_world.database) as database:
        database.execute("UPDATE session SET limits_json = ?", (json.dumps({"memory": "1G"}),))
    assert "limits that hqt does not know" in own_world.hqt("attach", name, "-d", fails=1).stderr
    assert own_world.state(name) == "stopped"

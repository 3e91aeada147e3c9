"""What a user does by hand with a session's window: it is found again, and nothing of the user's own is ended."""

from __future__ import annotations

import pytest

from tests.world import eventually, is_alive


@pytest.fixture
def name(own_world):
    """A session that runs, beside a window of the user's own tmux session."""
    own_world.tmux("new-session", "-d", "-s", "own", "-n", "shell", "sleep 1000")
    return own_world.sh("exec sleep 1000", "-s")


def pane_of(world, name):
    window = world.show(name)["window"]
    return world.tmux("display-message", "-p", "-t", window, "#{pane_id}").strip()


def pid_of(world, target):
    return world.tmux("display-message", "-p", "-t", target, "#{pane_pid}").strip()


BY_HAND = {
    "moved to another tmux session": [["move-window", "-s", "{window}", "-t", "own:"]],
    "renamed": [["rename-window", "-t", "{window}", "something else"]],
    "the tmux session renamed": [["rename-session", "-t", "=hqt", "else"]],
    "split": [["split-window", "-d", "-t", "{window}", "sleep 1000"]],
    "split, the other pane in front": [["split-window", "-t", "{window}", "sleep 1000"]],
    "linked twice": [["link-window", "-s", "{window}", "-t", "own:"]],
    "joined into another window": [["join-pane", "-d", "-s", "{pane}", "-t", "own:shell"]],
    "broken out of a split": [["split-window", "-d", "-t", "{window}", "sleep 1000"], ["break-pane", "-s", "{pane}"]],
    "swapped": [["swap-pane", "-d", "-s", "{pane}", "-t", "own:shell"]],
    "respawned as it was": [["respawn-pane", "-k", "-t", "{pane}"]],
    "its options cleared": [["set-option", "-wu", "-t", "{window}", "@hqt_id"]],
}


@pytest.mark.parametrize("done", BY_HAND)
def test_a_window_is_still_the_sessions_and_nothing_else_is_ended_with_it(own_world, name, done):
    pane, window = pane_of(own_world, name), own_world.show(name)["window"]
    for command in BY_HAND[done]:
        assert own_world.run("tmux", "-L", "test", *(w.format(pane=pane, window=window) for w in command)).stderr == ""
    others = [
        pid for pid in own_world.tmux("list-panes", "-a", "-F", "#{pane_pid}").split() if pid != pid_of(own_world, pane)
    ]
    assert own_world.state(name) == "running"
    agent = pid_of(own_world, pane)
    own_world.hqt("attach", name, "-d")
    assert pid_of(own_world, pane) == agent
    own_world.hqt("stop", name)
    assert not is_alive(agent)
    assert own_world.state(name) == "stopped"
    assert all(map(is_alive, others))


@pytest.mark.parametrize("done", BY_HAND)
def test_a_pane_keeps_what_it_may_not_do(own_world, name, done):
    pane, window = pane_of(own_world, name), own_world.show(name)["window"]
    for command in BY_HAND[done]:
        own_world.tmux(*(word.format(pane=pane, window=window) for word in command))
    options = ("remain-on-exit", "allow-rename", "allow-passthrough")
    told = [own_world.tmux("show-options", "-Apv", "-t", pane, option).strip() for option in options]
    assert told == ["on", "off", "off"]


def test_a_pane_that_runs_something_else_now_is_the_users_own(own_world, name):
    pane = pane_of(own_world, name)
    own_world.tmux("respawn-pane", "-k", "-t", pane, "sleep 1001")
    stranger = pid_of(own_world, pane)
    assert own_world.state(name) == "stopped"
    own_world.hqt("attach", name, "-d")
    assert own_world.state(name) == "running"
    assert pane_of(own_world, name) != pane
    own_world.hqt("rm", name)
    assert is_alive(stranger)


def test_a_window_that_is_closed_by_hand_is_a_session_that_is_stopped(own_world, name):
    own_world.tmux("kill-window", "-t", own_world.show(name)["window"])
    eventually(lambda: own_world.state(name) == "stopped")
    own_world.hqt("attach", name, "-d")
    assert own_world.state(name) == "running"

"""Several hqt at the same time: the outcome is one of the serial ones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest


def at_once(count, call):
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(call, range(count)))


def test_of_two_with_the_same_name_one_wins_and_the_other_is_told(world):
    def new(_):
        return world.run(*world.program, "new", "-d", "-H", "generic", "-s", "-n", "same", "--", "sleep", "1000")

    first, second = sorted(at_once(2, new), key=lambda ended: ended.returncode)
    assert (first.returncode, first.stdout) == (0, "same\n")
    assert second.returncode == 1
    assert "there is a session named 'same' already" in second.stderr
    assert len(world.ls()) == len(world.tmux("list-windows", "-a").splitlines()) == 1


def test_fifty_at_once_with_default_names_are_fifty_sessions_and_windows(own_world):
    names = at_once(50, lambda _: own_world.new("-H", "generic", "-s", "--", "sleep", "1000"))
    assert len(set(names)) == 50
    listed = own_world.ls()
    assert [session["state"] for session in listed] == ["running"] * 50
    assert len({session["window"] for session in listed}) == 50
    assert len(own_world.tmux("list-windows", "-a").splitlines()) == 50


def test_fifty_attaches_of_a_stopped_session_start_one_window(own_world):
    name = own_world.new("-H", "generic", "-s", "--", "sleep", "1000")
    own_world.hqt("stop", name)
    at_once(50, lambda _: own_world.hqt("attach", name, "-d"))
    assert len(own_world.tmux("list-windows", "-a").splitlines()) == 1
    assert own_world.state(name) == "running"


@pytest.mark.parametrize("against", ["stop", "rm"])
def test_an_end_and_an_attach_at_once_come_to_one_of_the_serial_outcomes(own_world, against):
    for number in range(6):
        name = own_world.new("-n", f"s{number}", "-H", "generic", "-s", "--", "sleep", "1000")
        if number % 2:
            own_world.hqt("stop", name)
        commands = [(against, name), ("attach", name, "-d")] * 2
        ended = at_once(4, lambda at, commands=commands: own_world.run(*own_world.program, *commands[at]))
        told = {done.stderr.splitlines()[0] for done in ended if done.returncode}
        allowed = ("the session was removed meanwhile", "there is no session named")
        assert all(any(words in line for words in allowed) for line in told), told
        windows = own_world.tmux("list-panes", "-a", "-f", "#{@hqt_id}", "-F", "#{pane_id}").split()
        states = [session["state"] for session in own_world.ls() if session["name"] == name]
        assert states in ([], ["running"], ["stopped"])
        assert states == [] if against == "rm" else states
        assert len(windows) == (states == ["running"])
        assert len(list(own_world.database.parent.glob("sessions/*"))) == len(states)
        if states:
            own_world.hqt("rm", name)


def test_what_is_read_while_all_changes_is_whole(own_world):
    def work(at):
        if at % 2:
            return [own_world.hqt("ls", "--json").returncode for _ in range(10)]
        name = own_world.new("-H", "generic", "--", "sleep", "1000")
        own_world.hqt("stop", name)
        own_world.hqt("rm", name)
        return [0]

    assert all(code == 0 for codes in at_once(12, work) for code in codes)
    assert own_world.ls() == []

"""Several hqt at the same time: the outcome is one of the serial ones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor


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


def test_twenty_at_once_with_default_names_are_twenty_sessions_and_windows(own_world):
    names = at_once(20, lambda _: own_world.new("-H", "generic", "-s", "--", "sleep", "1000"))
    assert len(set(names)) == 20
    listed = own_world.ls()
    assert {session["state"] for session in listed} == {"running"}
    assert len({session["window"] for session in listed}) == 20
    assert len(own_world.tmux("list-windows", "-a").splitlines()) == 20


def test_simultaneous_attaches_of_a_stopped_session_start_one_window(own_world):
    name = own_world.new("-H", "generic", "-s", "--", "sleep", "1000")
    own_world.hqt("stop", name)
    at_once(8, lambda _: own_world.hqt("attach", name, "-d"))
    assert len(own_world.tmux("list-windows", "-a").splitlines()) == 1
    assert own_world.state(name) == "running"

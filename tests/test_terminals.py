"""hqt in real terminals: an outer tmux hosts a shell, or a client of the inner server that hqt uses."""

from __future__ import annotations

import pytest

from tests.terminal import Terminal


@pytest.fixture
def terminal(own_world):
    found = Terminal(own_world, "env", "-u", "TMUX", "-u", "TMUX_PANE", "sh")
    yield found
    found.end()


def test_new_attaches_outside_tmux(own_world, terminal):
    terminal.hqt("new", "-s", "-H", "generic")
    terminal.shows("What this session can see")
    terminal.shows("[hqt]")
    assert own_world.state("project-generic") == "running"


def test_a_window_takes_the_size_of_its_terminal(own_world, terminal):
    terminal.hqt("new", "-s", "-H", "generic", "--", "sh", "-c", "sleep 1; stty size; exec sleep 1000")
    terminal.shows("29 100")


def test_attach_shows_a_running_session_and_starts_a_stopped_one(own_world, terminal):
    name = own_world.sh("echo I am here; sleep 1000", "-s")
    own_world.hqt("stop", name)
    terminal.hqt("attach", name)
    terminal.shows("I am here")
    own_world.tmux("detach-client", "-a", "-s", "hqt")
    own_world.tmux("detach-client", "-s", "hqt")
    terminal.shows("[detached")
    terminal.hqt("attach", name)
    terminal.shows("I am here")


def test_inside_tmux_the_new_window_is_selected(own_world, terminal):
    own_world.sh("sleep 1000", "-n", "first")
    terminal.hqt("attach", "first")
    terminal.shows("0:first")
    own_world.tmux("new-window", "-t", "hqt:", *("-e", f"PATH={own_world.environment['PATH']}"), "sh")
    terminal.hqt("new", "-s", "-H", "generic")
    terminal.shows("2:project-generic*")


def test_inside_another_tmux_server_it_says_so_and_starts_nothing(own_world, terminal):
    terminal.type("export TMUX=/somewhere/else,1,0")
    terminal.hqt("new", "-H", "generic", "--", "sleep", "1000")
    terminal.shows("this terminal shows another tmux server")
    assert own_world.ls() == []


def test_a_command_that_ends_at_once_is_told_instead_of_shown(own_world, terminal):
    terminal.hqt("new", "-s", "-H", "generic", "--", "sh", "-c", "echo last-$((40+2)); exit 3")
    terminal.shows("with status 3")
    terminal.shows("| last-42")
    assert own_world.state("project-generic") == "exited 3"

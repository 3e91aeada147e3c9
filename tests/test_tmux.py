"""The one module that talks to tmux, against a real server."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

import libtmux
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hqt import launch, tmux, tmux_language, tmux_pane
from hqt.errors import TmuxUnavailableError
from hqt.services import processes
from hqt.tmux import Server
from hqt.tmux_window import SpawnRequest
from tests.world import eventually

ARGUMENTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
HARD = [
    "a b",
    "quotes ' \" `",
    "#(touch planted)",
    "#{pane_id} #[fg=red] ##(x)",
    "$HOME ${HOME} $(touch planted)",
    "~",
    "~root",
    "%if 1",
    "line\nbreak\r\ttab",
    "; kill-server ;",
    "ends with;",
    "\\; \\n \\101",
    "emoji 🦀 and ‏right-to-left‏ עברית",
    "{ braces }",
    "bell \a escape \x1b[31m delete \x7f",
    "",
    "-d",
]


@pytest.fixture(scope="module")
def server():
    """A server of these tests' own, with one window that does nothing."""
    folder = Path(tempfile.mkdtemp(prefix="hqt-tmux-"))
    found = libtmux.Server(socket_path=folder / "socket", config_file="/dev/null")
    found.new_session(session_name="idle", window_command="sleep 1000")
    yield Server(folder / "socket")
    found.kill()
    shutil.rmtree(folder)


def request(identity, command, **changes):
    wrapped = launch.command(command, program=shutil.which(command[0]), folder="/", names=["*"])
    return SpawnRequest(identity, "name", Path("/"), wrapped, {}, **changes)


@pytest.fixture
def start(server, tmp_path):
    """Start a window that runs a command of these arguments, and return what the command was given."""
    script = tmp_path / "tell"
    told = tmp_path / "told"
    script.write_text(f"#!/bin/sh\nfor a; do printf '%s\\0' \"$a\"; done > {told}.new; mv {told}.new {told}\n")
    script.chmod(0o755)

    def started(*arguments, **changes):
        pane = server.start_window(request("i", [str(script), *arguments], **changes))
        eventually(told.exists)
        words = told.read_bytes().decode().split("\0")[:-1]
        told.unlink()
        command = server.start_command(pane)
        server.kill_pane(pane)
        return words, command

    return started


@pytest.mark.parametrize("argument", HARD)
def test_hard_arguments_reach_the_command_as_they_are(start, argument, tmp_path):
    told, command = start("before", argument, "after")
    assert told == ["before", argument, "after"]
    assert command[-3:] == ["before", argument, "after"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ARGUMENTS, max_size=4))
def test_any_arguments_reach_the_command_as_they_are_and_are_read_back(start, arguments):
    told, command = start(*arguments)
    assert told == arguments
    assert command[len(command) - len(arguments) :] == arguments


def test_a_hundred_thousand_bytes_reach_the_command(start):
    long = "lorem ipsum " * 8_400
    assert start(long)[0] == [long]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\\$[%"), min_size=1))
def test_no_name_is_a_format(server, name):
    value = server._run_script([["display-message", "-p", "x" + tmux_language.format_literal(name)]]).stdout
    assert value == f"x{name}\n"


@pytest.mark.parametrize("name", [hard for hard in HARD if hard.isprintable() and hard and hard[0] != "-"])
def test_hard_names_run_nothing(server, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pane = server.start_window(request("n", ["sleep", "1000"]))
    server.rename_window(pane, name)
    assert [found.window for found in server.panes()] == [pane.window]
    server.kill_pane(pane)
    assert not list(tmp_path.rglob("planted"))


def test_values_of_the_environment_reach_the_window_and_no_argv(server, tmp_path):
    value = "secret $HOME 'quoted' \"double\" #(touch x)\nsecond line"
    target = tmp_path / "value"
    command = ["sh", "-c", f'printf %s "$PLANTED" > {target}.new; mv {target}.new {target}; sleep 1000']
    pane = server.start_window(SpawnRequest("e", "name", Path("/"), request("e", command).command, {"PLANTED": value}))
    eventually(target.exists)
    assert target.read_text() == value
    for cmdline in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert b"secret $HOME" not in cmdline.read_bytes()
        except OSError:
            continue
    server.kill_pane(pane)


def test_only_windows_with_an_id_and_our_command_are_ours(server):
    ours = server.start_window(request("mine", ["sleep", "1000"]))
    other = libtmux.Server(socket_path=server.socket).sessions[0].new_window(window_shell="sleep 1000")
    other.set_option("@hqt_id", "restored-by-a-plugin")
    assert [pane.hqt_id for pane in server.panes()] == ["mine"]
    server.kill_pane(ours)
    other.kill()


def test_a_window_whose_id_was_changed_is_not_killed(server):
    pane = server.start_window(request("mine", ["sleep", "1000"]))
    window = libtmux.Window.from_window_id(libtmux.Server(socket_path=server.socket), pane.window)
    server._run("set-option", "-p", "-t", pane.pane, "@hqt_id", "someone-elses")
    server.kill_pane(pane)
    assert window in libtmux.Server(socket_path=server.socket).windows
    window.kill()


def test_a_dead_window_is_replaced_in_one_step(server):
    pane = server.start_window(request("again", ["true"]))
    eventually(lambda: server.now(pane).exit_status == 0)
    server.start_window(request("again", ["sleep", "1000"], replaces=pane.pane))
    (found,) = server.panes()
    assert found.exit_status is None
    server.kill_pane(found)


@pytest.mark.parametrize("place", [text for text in HARD if text])
def test_a_window_is_known_wherever_hqt_is_installed(server, tmp_path, monkeypatch, place):
    installed = tmp_path / place / "hqt/launch.py"
    installed.parent.mkdir(parents=True)
    shutil.copy(launch.__file__, installed)
    monkeypatch.setattr(launch, "__file__", str(installed))
    pane = server.start_window(request("elsewhere", ["sleep", "1000"]))
    eventually(lambda: server.now(pane))
    server.kill_pane(pane)


def test_a_window_whose_process_tmux_has_forgotten_has_ended(server, monkeypatch):
    as_tmux_3_8_does = tmux_pane.FORMAT.replace("#{pane_pid}", "#{?pane_dead_status,,#{pane_pid}}")
    monkeypatch.setattr(tmux, "FORMAT", as_tmux_3_8_does)
    pane = server.start_window(request("forgotten", ["sh", "-c", "exit 3"]))
    eventually(lambda: server.now(pane).exit_status == 3)
    (found,) = server.panes()
    assert found.pid is None
    assert processes.status_within(server, found, 1) == 3
    processes.end_pane(server, found)
    assert server.panes() == []


def test_every_end_of_many_quick_commands_is_seen(server):
    panes = [server.start_window(request(f"quick{number}", ["sh", "-c", "exit 3"])) for number in range(20)]
    eventually(lambda: {pane.exit_status for pane in server.panes()} == {3})
    for pane in panes:
        server.kill_pane(pane)


def test_a_users_own_options_do_not_matter(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".tmux.conf").write_text(
        "set -g destroy-unattached on\nset -g default-command 'echo no'\nset -g default-shell /bin/false\n"
        "set -g base-index 5\nset -g renumber-windows on\nset -g automatic-rename on\nset -g remain-on-exit off\n"
        "set -g allow-rename on\nset -g exit-empty on\nset -g pane-base-index 3\nset -g update-environment ''\n"
    )
    monkeypatch.setenv("HOME", str(home))
    own = Server(tmp_path / "s")
    try:
        pane = own.start_window(request("a", ["sleep", "1000"]))
        dead = own.start_window(request("b", ["sh", "-c", "exit 2"]))
        eventually(lambda: (found := own.now(dead)) and found.exit_status == 2)
        assert [found.exit_status for found in own.panes()] == [None, 2]
        options = own._run("show-options", "-pv", "-t", pane.pane, "allow-rename").stdout
        assert options == "off\n"
    finally:
        own._run("kill-server")


@pytest.mark.parametrize("version", ["tmux 3.1c", "tmux 2.9", "tmux 1.8"])
def test_an_old_tmux_is_told(version, tmp_path, monkeypatch):
    fake = tmp_path / "tmux"
    fake.write_text(f"#!/bin/sh\necho '{version}'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TmuxUnavailableError, match="too old"):
        Server(tmp_path / "socket").start_window(request_of_nothing())


def request_of_nothing():
    return SpawnRequest("x", "x", Path("/"), ["true"], {})


def test_a_socket_folder_that_others_can_enter_is_refused(tmp_path):
    folder = tmp_path / f"tmux-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(TmuxUnavailableError, match="open to others"):
        Server(folder / "socket").start_window(request_of_nothing())


def test_the_socket_is_chosen_by_option_environment_tmux_and_configuration(monkeypatch):
    monkeypatch.setenv("TMUX_TMPDIR", "/run/here")
    folder = Path(f"/run/here/tmux-{os.getuid()}")
    assert tmux.socket_path() == folder / "default"
    assert tmux.socket_path(configured="conf") == folder / "conf"
    monkeypatch.setenv("TMUX", "/inside/socket,12,0")
    assert tmux.socket_path(configured="conf") == Path("/inside/socket")
    monkeypatch.setenv("HQT_TMUX_SOCKET", "/a/path")
    assert tmux.socket_path(configured="conf") == Path("/a/path")
    assert tmux.socket_path("chosen") == folder / "chosen"


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_a_quoted_word_is_one_line(value):
    word = tmux_language.quoted(value)
    assert b"\n" not in word
    assert re.fullmatch(rb'"(?:[^"\\]|\\.)*"', word)

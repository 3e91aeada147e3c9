"""`hqt restore`: after a reboot or a killed server, every session that should be running runs again, and no other."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.terminal import Terminal
from tests.world import eventually, is_alive

IDLE = ("-H", "generic", "-s", "--", "sleep", "1000")


def restored(world, *arguments, fails=None):
    found = json.loads(world.hqt("restore", "--json", *arguments, fails=fails).stdout)
    return {entry["name"]: entry["failed"] or entry["rung"] for entry in found}


def test_what_ran_runs_again_with_the_identical_command_and_what_was_stopped_does_not(world):
    world.new("-n", "ran", "--ro", "--no-net", *IDLE)
    world.new("-n", "stopped", *IDLE)
    world.hqt("stop", "stopped")
    before = world.start_command("ran")
    world.end()
    assert world.state("ran") == "stopped"
    assert "ran would be started" in world.hqt("restore", "--dry-run").stdout
    assert world.state("ran") == "stopped"
    assert restored(world) == {"ran": "fresh"}
    assert world.start_command("ran") == before
    assert (world.state("ran"), world.state("stopped")) == ("running", "stopped")
    assert "nothing to restore" in world.hqt("restore").stdout


def test_a_session_goes_on_with_its_conversation(world):
    world.fake("claude", 'case "$*" in *--resume*) echo goes on;; esac; exec sleep 1000')
    name = world.new("-s", "-H", "claude")
    conversations = world.home / ".claude/projects" / str(world.project).replace("/", "-").replace("_", "-")
    conversation = world.show(name)["argv"][world.show(name)["argv"].index("--session-id") + 1]
    (conversations / f"{conversation}.jsonl").touch()
    world.give_away()
    world.end()
    assert restored(world) == {name: "resumed"}
    eventually(lambda: "goes on" in world.hqt("peek", name).stdout)


def test_one_that_fails_stops_no_other_and_each_is_told(own_world):
    gone = own_world.home / "gone"
    gone.mkdir()
    own_world.new(gone, "-n", "no-project", *IDLE)
    # tmux may close a terminal whose command has ended before it has read the last of it.
    script = "test ! -e mark || { echo because; sleep 0.1; exit 7; }; exec sleep 1000"
    own_world.new("-n", "ends", "-H", "generic", "--", "sh", "-c", script)
    own_world.new("-n", "fine", *IDLE)
    (own_world.project / "mark").touch()
    own_world.end()
    shutil.rmtree(gone)
    ended = own_world.hqt("restore", fails=1)
    assert "no-project: the project" in ended.stderr
    assert "ends: it ended at once, with status 7: because" in ended.stderr
    assert "1 of 3 restored" in ended.stderr
    assert own_world.state("fine") == "running"


def test_a_name_restores_that_session_alone_even_if_it_was_stopped(own_world):
    for name in ("one", "two"):
        own_world.new("-n", name, *IDLE)
    own_world.hqt("stop", "one")
    own_world.end()
    assert restored(own_world, "one") == {"one": "fresh"}
    assert own_world.state("two") == "stopped"
    own_world.hqt("restore", "nobody", fails=3)


def test_many_are_restored_each_once(own_world):
    names = [own_world.new(*IDLE) for _ in range(20)]
    own_world.end()
    assert set(restored(own_world)) == set(names)
    assert own_world.state_of_all() == ["running"] * 20
    assert len(own_world.tmux("list-windows", "-a").splitlines()) == 20


@pytest.mark.parametrize("command", ["attach", "restore"])
def test_a_shell_that_tmux_resurrect_put_in_a_windows_place_is_replaced(own_world, command):
    name = own_world.new(*IDLE)
    own_world.end()
    own_world.tmux("new-session", "-d", "-s", "hqt", "-n", name, "-c", own_world.project, "sh")
    eventually(lambda: own_world.tmux("list-panes", "-a", "-F", "#{pane_current_command}") == "sh\n")
    assert own_world.state(name) == "stopped"
    own_world.hqt(command, name, *(["-d"] if command == "attach" else []))
    assert own_world.state(name) == "running"
    assert own_world.tmux("list-windows", "-a", "-F", "#{window_name}") == f"{name}\n"


@pytest.mark.parametrize(
    "window",
    [
        ("-n", "another name", "-c", "{project}", "sh"),
        ("-n", "{name}", "-c", "/", "sh"),
        ("-n", "{name}", "-c", "{project}", "sh -c 'sleep 1000; true'"),
        ("-n", "{name}", "-c", "{project}", "sleep 1000"),
    ],
)
def test_a_window_of_the_users_own_is_left_alone(own_world, window):
    name = own_world.new(*IDLE)
    own_world.end()
    own_world.tmux("new-session", "-d", "-s", "hqt", *(w.format(name=name, project=own_world.project) for w in window))
    pid = own_world.tmux("list-panes", "-a", "-F", "#{pane_pid}").strip()
    own_world.hqt("restore")
    assert own_world.state(name) == "running"
    assert is_alive(pid)


def test_a_progress_bar_is_shown_in_a_terminal_and_gone_when_it_is_done(own_world):
    for name in "abc":
        own_world.new("-n", name, *IDLE)
    own_world.end()
    terminal = Terminal(own_world, *own_world.program, "restore")
    try:
        terminal.shows("c started afresh")
        terminal.shows_not("restoring")
    finally:
        terminal.end()


@pytest.mark.parametrize(("option", "state"), [("on", "running"), ("off", "stopped")])
def test_the_plugin_restores_when_the_server_starts_if_it_is_asked_to(own_world, option, state):
    own_world.put_on_path()
    name = own_world.new(*IDLE)
    own_world.end()
    configuration = own_world.home / "tmux.conf"
    plugin = Path(__file__).parent.parent / "tmux/hqt.tmux"
    configuration.write_text(f"set -g @hqt_restore {option}\nrun-shell 'sh {plugin}'\nset -g @loaded yes\n")
    own_world.tmux("-f", configuration, "new-session", "-d", "-s", "own", "sleep 1000")
    eventually(lambda: own_world.tmux("show-option", "-gqv", "@loaded") == "yes\n")
    if option == "on":
        eventually(lambda: own_world.state(name) == state)
        own_world.tmux("kill-window", "-t", own_world.show(name)["window"])
        own_world.tmux("source-file", configuration)  # loaded again: the server did not start again
    assert own_world.tmux("show-option", "-gqv", "@hqt_restored").strip() == ("yes" if option == "on" else "")
    assert own_world.state(name) == "stopped"

"""Being told: the bell of the window, the user's own program, the desktop; when a session waits or has ended."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from hqt import launch
from hqt.tmux import Server
from hqt.tmux_window import SpawnRequest
from tests.terminal import Terminal
from tests.world import World, eventually

# What is told, one JSON object a line, of the variables that hqt adds.
PROGRAM = """#!/usr/bin/python3 -I
import json, os
facts = {name: value for name, value in os.environ.items() if name.startswith("HQT_") and name != "HQT_TMUX_SOCKET"}
with open(os.path.expanduser("~/told"), "a") as told:
    told.write(json.dumps(facts) + "\\n")
"""


@pytest.fixture
def told(own_world):
    """Have a program told of everything, and return what reads what it was told."""
    program = own_world.home / "tell me"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    own_world.configure(f"notify = [{json.dumps(str(program))}]\n")
    own_world.give_away()

    def told():
        own_world.ls()  # tmux 3.3a misses the end of a child in forty, and sees it when asked: hqt.tmux.Server.panes
        return [json.loads(line) for line in lines(own_world)]

    return told


def lines(world):
    path = world.home / "told"
    return path.read_text().splitlines() if path.exists() else []


def window_option(world, name, option):
    return world.tmux("display-message", "-p", "-t", f"hqt:={name}", f"#{{{option}}}").strip()


def ring(world, name, times=1):
    """Have a session of `READS` ring its bell."""
    for _ in range(times):
        world.tmux("send-keys", "-t", f"hqt:={name}", "Enter")


@pytest.mark.parametrize("sandbox", [["-s"], ["-s", "--no-net", "--ro"], []], ids=" ".join)
def test_one_that_asks_rings_its_window_and_the_users_program_is_told(own_world, told, sandbox):
    if "--ro" in sandbox:
        (own_world.project / "received").symlink_to("/tmp/received")  # of the jail: there it can write what it is given
    name = own_world.stand_in(*sandbox, kinds="asks")
    other = own_world.sh("exec sleep 1000", "-n", "other")
    own_world.tmux("select-window", "-t", f"hqt:={other}")
    own_world.hqt("send", name, "ask me")
    facts = eventually(told)[0]
    session = own_world.show(name)
    assert facts == {
        "HQT_ID": session["id"],
        "HQT_NAME": name,
        "HQT_EVENT": "waiting",
        "HQT_EXIT_STATUS": "",
        "HQT_HARNESS": "claude",
        "HQT_PROJECT": str(own_world.project),
    }
    assert window_option(own_world, name, "window_bell_flag") == "1"


def test_one_that_has_ended_is_told_with_its_status_and_its_window_is_marked(own_world, told):
    name = own_world.sh("read -r line; exit 7", "-s")
    ring(own_world, name)
    facts = eventually(told)[0]
    assert (facts["HQT_EVENT"], facts["HQT_EXIT_STATUS"], facts["HQT_NAME"]) == ("exited", "7", name)
    assert window_option(own_world, name, "window-status-style") == "fg=red"


def test_the_end_rings_every_terminal_that_shows_the_server(own_world, told):
    name = own_world.sh("read -r line", "-n", "ends")
    own_world.sh("exec sleep 1000", "-n", "other")
    terminal = Terminal(own_world, "env", "-u", "TMUX", *own_world.program, "attach", "other")
    try:
        terminal.shows("other")
        outer = ("tmux", "-L", terminal.server)
        own_world.run(*outer, "set-hook", "-g", "alert-bell", "set-option -g @rung 1")
        ring(own_world, name)
        eventually(
            lambda: told() and own_world.run(*outer, "show-options", "-gqv", "@rung").stdout == "1\n", "the bell"
        )
    finally:
        terminal.end()


def test_one_that_goes_idle_or_is_stopped_is_not_told(own_world, told):
    name = own_world.stand_in()
    own_world.hqt("send", "--wait", name, "do it")
    own_world.hqt("stop", name)
    ends = own_world.sh("read -r line", "-n", "ends")  # what is told of this one comes after all else
    ring(own_world, ends)
    assert [facts["HQT_NAME"] for facts in eventually(told)] == [ends]


def test_a_bell_on_and_on_starts_a_program_every_two_seconds_at_most(own_world):
    wrapped = launch.command(["true"], program="/bin/sh", folder="/", names=["*"])
    rings = "while :; do printf '\\a'; sleep 0.01; done"
    wrapped[-1:] = ["sh", "-c", rings]
    runs = own_world.base / "runs"
    tell = ("sh", "-c", f"echo >>{runs}", "sh")
    server = Server(own_world.socket)
    server.start_window(SpawnRequest("1", "rings", Path("/"), wrapped, {}, tell=tell))
    own_world.tmux("set-hook", "-g", "alert-bell[75]", "set-option -ga @bells x")
    started = time.monotonic()
    eventually(lambda: runs.exists() and len(runs.read_text()) >= 3, "three runs")
    assert time.monotonic() - started >= 4
    assert len(own_world.tmux("show-options", "-gqv", "@bells")) > 100


def test_a_bell_that_rings_before_all_is_said_of_a_new_servers_window_is_told(own_world, monkeypatch):
    wrapped = launch.command(["true"], program="/bin/sh", folder="/", names=["*"])
    wrapped[-1:] = ["sh", "-c", "printf '\\a'; exec sleep 1000"]
    runs = own_world.base / "runs"
    tell = ("sh", "-c", f"echo >>{runs}", "sh")
    dressed = Server._dressed

    def dressed_when_it_has_rung(*arguments):
        eventually(runs.exists)
        return dressed(*arguments)

    monkeypatch.setattr(Server, "_dressed", dressed_when_it_has_rung)
    Server(own_world.socket).start_window(SpawnRequest("1", "rings", Path("/"), wrapped, {}, tell=tell))


def test_names_that_a_shell_or_tmux_would_act_on_arrive_as_they_are(own_world, told):
    project = own_world.home / "a '$(touch planted)' \"#{pane_id}\" #(touch planted) `id` %H; b"
    project.mkdir()
    own_world.give_away()
    name = own_world.new("-H", "generic", "-n", "x", "--", "sh", "-c", "read -r line", cwd=project)
    ring(own_world, name)
    assert eventually(told)[0]["HQT_PROJECT"] == str(project)
    assert not list(own_world.base.rglob("planted"))


@pytest.mark.parametrize("folder", ["a b", "#{pane_id} #(touch planted)", "$HOME 'q' \"d\" ; %H"])
def test_a_socket_anywhere_is_told_from(own_world, told, folder):
    socket = own_world.base / "tmux" / folder / "s"
    own_world.environment["HQT_TMUX_SOCKET"] = str(socket)
    own_world.sh("read -r line", "-n", "ends")
    own_world.run("tmux", "-S", str(socket), "send-keys", "-t", "hqt", "Enter")
    try:
        assert eventually(told)[0]["HQT_EVENT"] == "exited"
        assert not list(own_world.base.rglob("planted"))
    finally:
        own_world.run("tmux", "-S", str(socket), "kill-server")


def test_the_users_own_hooks_stay(own_world, told):
    own_world.sh("exec sleep 1000")
    own_world.tmux("set-hook", "-g", "alert-bell", "set-option -g @mine 1")
    own_world.tmux("set-hook", "-g", "pane-died", "set-option -g @mine 2")
    name = own_world.sh("read -r line; printf '\\a'; read -r line", "-n", "second")
    ring(own_world, name)
    eventually(lambda: own_world.tmux("show-options", "-gqv", "@mine") == "1\n", "the user's alert-bell")
    eventually(told)
    ring(own_world, name)
    eventually(lambda: own_world.tmux("show-options", "-gqv", "@mine") == "2\n", "the user's pane-died")
    assert eventually(lambda: len(told()) == 2)


def test_a_hostile_folder_does_not_become_the_program(own_world, told):
    name = own_world.sh('read -r line; mkdir hqt; echo \'open("planted", "w")\' | tee hqt/__init__.py >hqt/__main__.py')
    ring(own_world, name)
    # Asked from elsewhere: `python -m` looks into its folder first, and tmux 3.3a may not see the end unasked.
    assert eventually(lambda: own_world.hqt("ls", cwd="/") and lines(own_world))
    assert not (own_world.project / "planted").exists()


def test_the_desktop_is_told_with_what_it_would_read_as_markup_escaped(own_world):
    own_world.configure("desktop = true\n")
    own_world.fake("notify-send", 'for word; do printf "%s\\n" "$word"; done >>~/told')
    project = own_world.home / "<b>bold<i>"
    project.mkdir()
    own_world.give_away()
    ring(own_world, own_world.new("-H", "generic", "-n", "x", "--", "sh", "-c", "read -r line; exit 3", cwd=project))
    eventually(lambda: own_world.ls() and len(lines(own_world)) == 4)
    assert lines(own_world) == ["--app-name=hqt", "--", "x exited 3", "~/&lt;b&gt;bold&lt;i&gt;"]


@pytest.mark.parametrize("setting", ['notify = ["no-such-program"]', "desktop = true"])
def test_a_program_that_is_missing_is_in_the_log_and_told_by_doctor(own_world, setting):
    own_world.configure(setting)
    own_world.environment["PATH"] = str(only_what_is_needed(own_world))
    own_world.give_away()
    ring(own_world, own_world.sh("read -r line"))
    log = own_world.database.with_name("hqt.log")
    eventually(lambda: own_world.ls() and "notify: " in log.read_text(), log.read_text)
    told = own_world.hqt("doctor", "--json", fails=None)
    noted = [found for found in json.loads(told.stdout) if found["what"] == "notify"]
    assert [found["level"] for found in noted] == ["note"]


def only_what_is_needed(world: World) -> Path:
    """Return a folder with the programs that hqt and a shell need, and nothing else."""
    folder = world.base / "few"
    folder.mkdir()
    for name in ("sh", "tmux", "sleep", "bwrap", "true"):
        (folder / name).symlink_to(os.path.realpath(str(shutil.which(name))))
    return folder


def test_a_session_that_is_gone_and_a_place_that_is_none_of_ours_are_passed_over(own_world):
    own_world.sh("exec sleep 1000")
    for place in ("@99", "%99", "x; kill-server"):
        assert own_world.hqt("notify", "--", place).stdout == ""
    assert own_world.state_of_all() == ["running"]

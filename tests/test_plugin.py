"""The tmux plugin: keys pressed in a client of the inner tmux, which an outer one hosts; and the status segment."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.terminal import Terminal
from tests.world import eventually

TMUX = Path(__file__).parent.parent / "tmux"
PLUGIN, STATUS = TMUX / "hqt.tmux", TMUX / "status.sh"


@pytest.fixture
def client(own_world):
    """A client of the inner server, with the plugin loaded, looking at a plain window."""
    own_world.put_on_path()
    made = attached(own_world)
    own_world.tmux("run-shell", PLUGIN)
    yield made
    made.end()


def attached(world, *, size=(80, 24), term="screen-256color", session="mine"):
    command = ["env", "-u", "TMUX", "-u", "TMUX_PANE", f"TERM={term}", "tmux", "-u", "-L", "test", "-f", "/dev/null"]
    made = Terminal(world, *command, "new-session", "-s", session, "-n", "plain", "sh", size=size)
    made.shows(f"[{session}]")
    world.tmux(
        "set-option", "-g", "assume-paste-time", "0"
    )  # keys that a busy machine hands over together are still keys
    return made


def press(client, *keys):
    client.press("C-b")
    client.press("H")
    client.press(*keys)


def test_the_dialog_makes_a_session_that_is_in_front_when_it_closes(own_world, client):
    press(client, "n")
    client.shows("New session")
    client.press("C-s")
    client.shows("0:project-generic*")
    assert own_world.ls()[0]["sandbox"] is None


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
def test_the_whole_dialog_is_filled_in_by_keys(own_world, size):
    own_world.put_on_path()
    for harness in ("claude", "codex"):
        own_world.fake(harness, f'echo "$*"; echo "{harness} was asked: that"; exec sleep 1000')
    (own_world.home / "project-two").mkdir()
    client = attached(own_world, size=size)

    def go_to(label):
        eventually(lambda: client.cursor_row() == client.row_of(label), lambda: f"{label}:\n{client.screen()}")

    try:
        own_world.tmux("run-shell", PLUGIN)
        press(client, "n")
        client.shows("New session")
        client.keys("-two")
        client.shows("project-two")
        client.press("Enter")  # on to the harness
        client.press("Tab")
        go_to("Name  ")
        client.press("BTab")
        client.press("Enter")
        client.shows("gemini (not installed)")
        client.press("Down")
        client.press("Enter")
        client.shows_not("gemini (not installed)")
        client.shows("codex")
        client.press("Tab")
        client.keys("by hand")
        client.press("Tab")
        client.press("Space")
        client.shows("Read-write")
        client.press("Tab")
        client.press("Enter")
        client.shows("Read-only")
        client.press("Down")
        client.press("Enter")
        client.shows_not("Read-write")
        client.press("Tab")
        client.press("Space")
        client.shows("cannot be reached")
        client.press("Tab")
        client.press("Tab")
        go_to("Prompt  ")
        client.keys("count to three")
        client.press("Enter")
        client.shows("codex was asked: ")
        client.shows("0:by hand*")
    finally:
        client.end()
    made = own_world.ls()[0]
    assert (made["name"], made["harness"], made["project"]) == ("by hand", "codex", str(own_world.home / "project-two"))
    assert made["sandbox"] == {"fs": "ro", "net": False}
    assert "count to three" in own_world.hqt("peek", "by hand").stdout.replace("\n", "")


def test_keys_that_come_all_at_once_go_where_each_belongs(own_world, client):
    press(client, "n")
    client.shows("New session")
    client.keys("\r\tquick\t \t\t \t\tprompt\t")  # Enter, Tab, Space
    client.shows("Prompt      prompt")
    client.shows("Name        quick")
    client.shows("cannot be reached")


@pytest.mark.parametrize(
    ("key", "asks", "answer"),
    [("n", "New session", "C-s"), ("a", "type to filter", "Enter"), ("d", "DOING", "Enter"), ("w", None, None)],
)
def test_of_two_clients_the_one_that_asked_goes_to_the_session(own_world, client, key, asks, answer):
    own_world.sh("echo this is it; exec sleep 1000", "-n", "it")
    say(own_world, "it", b"waiting\n", 1)
    other = attached(own_world, session="others")
    try:
        press(client, key)
        if asks:
            client.shows(asks)
            other.keys("touched last")
            other.shows("touched last")
            client.press(answer)
        client.shows("project-generic*" if key == "n" else "it*")
        assert "[others]" in other.screen()
    finally:
        other.end()


def test_an_error_stays_in_the_dialog_with_what_was_typed(own_world, client):
    press(client, "n")
    client.shows("New session")
    client.keys("-gone")
    client.shows("project-gone")
    client.press("C-s")
    client.shows("name a folder that exists")
    client.shows("project-gone")
    assert own_world.ls() == []
    client.press(*["BSpace"] * len("-gone"))
    client.press("C-s")
    client.shows("0:project-generic*")


def test_without_bwrap_the_dialog_says_why_there_is_no_sandbox(own_world):
    own_world.put_on_path()
    folder = own_world.base / "no-bwrap"
    folder.mkdir()
    for program in Path("/usr/bin").iterdir():
        if program.name not in ("bwrap", "hqt"):
            (folder / program.name).symlink_to(program)
    own_world.environment["PATH"] = f"{own_world.home}/bin:{folder}"
    client = attached(own_world)
    try:
        own_world.tmux("run-shell", PLUGIN)
        press(client, "n")
        client.shows("hqt doctor")
        client.shows("(bwrap) is not installed")
    finally:
        client.end()


@pytest.mark.parametrize(
    "name", ["x#(touch owned)", "$(touch owned)`touch owned`", "a'b\"; touch owned; b", "#{pid} [red]"]
)
def test_a_hostile_folder_is_where_the_dialog_starts_and_nothing_more(own_world, client, name):
    folder = own_world.home / name
    folder.mkdir()
    own_world.tmux("new-window", "-t", "mine:", "-n", "there", "-c", str(folder).replace("#", "##"), "sh")
    client.shows("there*")
    press(client, "n")
    client.shows("New session")
    client.press("C-s")
    eventually(own_world.ls)
    assert own_world.ls()[0]["project"] == str(folder)
    assert list(own_world.home.rglob("owned")) == []


def test_the_window_in_front_is_stopped_when_that_is_confirmed(own_world, client):
    for name in ("one", "two"):
        own_world.sh(f"echo this is {name}; exec sleep 1000", "-n", name)
    own_world.tmux("switch-client", "-t", "hqt:=two")
    client.shows("this is two")
    press(client, "s")
    client.shows("stop the session two? (y/n)")
    client.press("n")
    client.shows_not("(y/n)")
    press(client, "s")
    client.shows("stop the session two? (y/n)")
    client.press("y")
    client.shows("this is one")
    assert (own_world.state("one"), own_world.state("two")) == ("running", "stopped")


def test_an_id_that_begins_with_a_zero_is_an_id(own_world, client):
    # tmux's if-shell -F takes any text that begins with 0 for false.
    own_world.tmux("set-option", "-w", "-t", "mine:", "@hqt_id", "0f73751940519f6d")
    press(client, "s")
    client.shows("stop the session plain? (y/n)")


def test_what_a_session_has_shown_and_its_jail_are_read_in_popups(own_world, client):
    own_world.sh("echo first line; seq 100; exec sleep 1000", "-n", "one", "-s")
    press(client, "p")
    client.shows("this window is not a session of hqt")
    own_world.tmux("switch-client", "-t", "hqt:=one")
    client.shows("one*")
    press(client, "p")
    client.shows("first line")
    client.press("q")
    client.shows_not("─")
    press(client, "c")
    client.shows("THE JAIL")
    client.press("q")
    client.shows_not("─")
    press(client, "?")
    client.shows("Next that waits for you (w)")


def test_attach_and_the_dashboard_bring_the_chosen_session_to_the_front(own_world, client):
    for name in ("one", "two"):
        own_world.sh(f"echo this is {name}; exec sleep 1000", "-n", name)
    press(client, "a")
    client.shows("type to filter")
    client.keys("two")
    client.press("Enter")
    client.shows("two*")
    client.shows_not("─")
    press(client, "d")
    client.shows("DOING")
    client.press("Enter")
    client.shows("0:one*")


def test_the_session_that_waits_longest_is_gone_to(own_world, client):
    press(client, "w")
    client.shows("no session waits for you")
    for name, age in (("late", 10), ("early", 100), ("busy", 1000)):
        own_world.sh("exec sleep 1000", "-n", name)
        say(own_world, name, b"working\n" if name == "busy" else b"waiting\n", age)
    press(client, "w")
    client.shows("early*")


def test_run_twice_or_by_source_file_it_changes_nothing_more(own_world, client):
    def keys():
        return own_world.tmux("list-keys")

    before = keys()
    own_world.tmux("run-shell", PLUGIN)
    own_world.tmux("source-file", TMUX / "hqt.conf")
    assert keys() == before
    assert before.count("switch-client -T hqt") == 1


def test_a_key_of_the_users_is_left_alone_unless_another_is_asked_for(own_world, client):
    own_world.tmux("bind-key", "H", "display-message", "mine")
    own_world.tmux("run-shell", PLUGIN)
    client.shows("prefix H is bound already")
    assert "display-message mine" in own_world.tmux("list-keys", "-T", "prefix", "H")
    for option, value in {
        "@hqt_key": "J",
        "@hqt_key_new": "N",
        "@hqt_key_stop": "none",
        "@hqt_key_peek": "'",
    }.items():
        own_world.tmux("set-option", "-g", option, value)
    own_world.tmux("run-shell", PLUGIN)
    table = own_world.tmux("list-keys", "-T", "hqt")
    keys = {line.split()[3] for line in table.splitlines()}
    assert {"N", "a", "w", "d", "c"} < keys
    assert not {"n", "s", "p"} & keys
    client.press("C-b")
    client.press("J")
    client.press("N")
    client.shows("New session")


def test_an_old_tmux_is_told_and_left_as_it_is(own_world, tmp_path):
    log = tmp_path / "log"
    fake = tmp_path / "tmux"
    fake.write_text(f'#!/bin/sh\n[ "$1" = -V ] && echo tmux 3.1c || echo "$@" >>{log}\n')
    fake.chmod(0o755)
    own_world.run("sh", PLUGIN, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert log.read_text() == "display-message hqt: tmux 3.1c is too old: its keys need tmux 3.2 or newer\n"


def say(world, name, status, age=0):
    """Write what a session's harness says of itself."""
    path = world.home / ".local/state/hqt/sessions" / world.show(name)["id"] / "run/status"
    path.write_bytes(status)
    if age:
        moment = path.stat().st_mtime - age
        os.utime(path, (moment, moment))
    return path


def segment(world):
    made = world.run("sh", STATUS, env={"TMUX": f"{world.socket},1,0"}).stdout
    return re.sub(r"#\[[^]]*\]", "", made).strip()


def test_the_segment_counts_what_sessions_do_and_marks_those_that_wait(own_world, client):
    own_world.tmux("set-option", "-g", "status-right", "{#{hqt_status}}")
    own_world.tmux("set-option", "-g", "status-right-length", "60")
    own_world.tmux("set-option", "-g", "status-interval", "1")
    own_world.tmux("set-option", "-g", "@hqt_waiting_style", "fg=red")
    own_world.tmux("run-shell", PLUGIN)
    for name, status in (("one", b"working\n"), ("two", b"working\n"), ("three", b"waiting\n"), ("four", b"idle\n")):
        own_world.sh("exec sleep 1000", "-n", name)
        say(own_world, name, status)
    own_world.ends(own_world.sh("exit 3", "-n", "five"))
    client.shows("{2 working · 1 waiting · 1 idle · 1 ended}")
    style = ["show-options", "-wv", "-t", "hqt:=three", "window-status-style"]
    eventually(lambda: own_world.tmux(*style) == "fg=red\n")
    say(own_world, "three", b"working\n")
    client.shows("{3 working · 1 idle · 1 ended}")
    eventually(lambda: own_world.tmux(*style) == "")


def test_nothing_that_a_jail_writes_there_does_more_than_miscount(own_world, client):
    own_world.sh("exec sleep 1000", "-n", "good")
    say(own_world, "good", b"working\n")
    own_world.sh("exec sleep 1000", "-n", "bad")
    path = say(own_world, "bad", b"#(touch owned) #[fg=red]\n")
    assert segment(own_world) == "1 working · 1 idle"
    path.write_bytes(b"working\nwaiting\n")
    assert "2 working" in segment(own_world)
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert segment(own_world) == "1 working · 1 idle"
    path.unlink()
    os.mkfifo(path)
    assert segment(own_world) == "1 working · 1 idle"
    path.unlink()
    path.symlink_to("/dev/zero")
    assert segment(own_world) == "1 working · 1 idle"
    path.unlink()
    path.write_bytes(b"\xff\x00\n==> /x/run/status <==\n")
    assert segment(own_world) == "1 working · 1 idle"


def test_the_segment_needs_no_python_and_is_empty_without_sessions(own_world, client):
    assert segment(own_world) == ""
    own_world.sh("exec sleep 1000", "-n", "one")
    folder = own_world.base / "few"
    folder.mkdir()
    for program in ("sh", "tmux", "sort", "sed", "head", "awk", "timeout"):
        (folder / program).symlink_to(shutil.which(program))
    ran = own_world.run("sh", STATUS, env={"PATH": str(folder), "TMUX": f"{own_world.socket},1,0"})
    assert "1 idle" in ran.stdout
    assert ran.stderr == ""


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
@pytest.mark.parametrize(
    "environment", [{"NO_COLOR": "1"}, {"TERM": "screen"}, {"TERM": "vt100"}, {"COLORFGBG": "0;15"}]
)
def test_the_screens_work_without_colours_on_a_light_background_and_in_old_terminals(own_world, environment, size):
    own_world.environment |= environment
    own_world.sh("echo a screen; exec sleep 1000", "-n", "one")
    values = [f"{name}={value}" for name, value in ({"COLORTERM": "truecolor"} | environment).items()]
    terminal = Terminal(own_world, "env", "-u", "TMUX", "-u", "TMUX_PANE", *values, "sh", size=size)
    try:
        terminal.hqt("dash")
        terminal.shows("a screen")
        _fits(terminal, environment)
        terminal.press("q")
        terminal.shows_not("Attach")
        terminal.hqt("dialog")
        terminal.shows("New session")
        terminal.shows("Create")
        _fits(terminal, environment)
    finally:
        terminal.end()


def _fits(terminal, environment):
    colours = terminal.world.run("tmux", "-L", terminal.server, "capture-pane", "-p", "-e").stdout
    triples = re.findall(r"([34])8;2;(\d+);(\d+);(\d+)", colours)
    assert triples or "TERM" in environment
    if "NO_COLOR" in environment:
        assert all(red == green == blue for _, red, green, blue in triples)
    elif "TERM" not in environment:
        grounds = [int(red) + int(green) + int(blue) for layer, red, green, blue in triples if layer == "4"]
        assert sum(ground > 3 * 128 for ground in grounds) > len(grounds) * 0.8

"""The user's own tmux: no configuration, hook or alias of it loses a session or doubles one."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from tests.world import eventually, is_alive

DONE = {
    "renames": "rename-window x",
    "moves": "move-window -d -t 40",
    "closes the pane": "kill-pane",
    "closes the window": "kill-window",
    "closes the session": "kill-session",
    "selects": "last-window",
    "splits": "split-window -d sleep 1000",
    "breaks out": "break-pane -d",
    "renames the session": "rename-session x",
    "clears the mark": "set-option -wu @hqt_id",
    "marks as another's": "set-option -p @hqt_id 0123456789abcdef",
    "runs something else": "respawn-pane -k sleep 1001",
    "fails": "no-such-command",
    "leads elsewhere": "switch-client -t nowhere",
}
MAKING = [
    "after-list-clients",
    "after-list-panes",
    "after-new-session",
    "after-new-window",
    "after-rename-window",
    "after-set-option",
    "after-show-options",
    "after-source-file",
    "session-created",
    "window-layout-changed",
    "window-linked",
    "window-renamed",
]
"""The hooks that tmux runs while hqt makes a window; a test below counts them."""


def server(world):
    """Start the user's own server with a session of the user's, and return the ids of its processes."""
    world.tmux("-f", "/dev/null", "new-session", "-d", "-s", "own", "sleep 1000")
    return world.tmux("list-panes", "-a", "-F", "#{pane_pid}").split()


def agents(world):
    """Return the processes of sessions, wherever their windows are: each runs a sleep of its own length."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = str(world.base).encode() in (process / "environ").read_bytes()
            if is_ours and (process / "cmdline").read_bytes() == b"sleep\x00777\x00":
                found.append(process.name)
        except OSError:
            continue
    return [pid for pid in found if is_alive(pid)]


def one_or_none(world, name):
    """Whatever tmux's hooks do: a session is there once and known, or it is not there and that was said."""
    ended = world._fork(*world.program, "new", "-d", "-n", name, "-H", "generic", "--", "sleep", "777")
    assert "Traceback" not in ended.stderr
    known = [session["name"] for session in world.ls()]
    if ended.returncode:
        assert ended.stderr.startswith("hqt: ")
        assert known == []
        eventually(lambda: agents(world) == [], "what was started is ended")
        return
    assert known == [name]
    assert world.state(name) == "running"
    assert len(agents(world)) == 1
    attached = world._fork(*world.program, "attach", "-d", name)
    assert attached.returncode == 0, attached.stderr
    assert len(agents(world)) == 1
    world.hqt("rm", name)
    assert agents(world) == []


@pytest.mark.parametrize("does", DONE)
def test_whatever_a_hook_does_while_a_window_is_made_nothing_is_lost_or_doubled(own_world, does):
    for hook in MAKING:
        others = server(own_world)
        # Once in each command of hqt's: what it is set for again by itself, a rename say, would never end.
        own_world.tmux("set-hook", "-g", hook, f"if-shell -F '#{{@done}}' '' {{ set -g @done 1 ; {DONE[does]} }}")
        one_or_none(own_world, "x")
        if hook == "after-new-window":  # the second window is made by another command than the first
            own_world.tmux("set-option", "-gu", "@done")
            one_or_none(own_world, "y")
        own_world.tmux("kill-server")
        eventually(lambda others=others: not any(map(is_alive, others)))


def test_a_rename_by_a_hook_does_not_hide_the_session(own_world):
    server(own_world)
    own_world.tmux("set-hook", "-g", "after-new-window", "rename-window x")
    for name in ("one", "two", "three"):
        own_world.new("-n", name, "-H", "generic", "--", "sleep", "777")
    assert own_world.state_of_all() == ["running"] * 3
    names = own_world.tmux("list-windows", "-t", "hqt", "-F", "#{window_name}").split()
    assert names == ["one", "two", "three"]


def test_a_window_without_its_mark_is_known_by_its_command_and_marked_again(own_world):
    name = own_world.new("-H", "generic", "--", "sleep", "777")
    window = own_world.show(name)["window"]
    for scope in ("-wu", "-pu"):
        own_world.tmux("set-option", scope, "-t", window, "@hqt_id")
    assert own_world.state(name) == "running"
    own_world.hqt("attach", "-d", name)
    assert len(agents(own_world)) == 1
    assert own_world.tmux("display-message", "-p", "-t", window, "#{@hqt_id}").strip() == own_world.ls()[0]["id"]


def test_a_window_without_its_mark_is_stopped_as_any_other(own_world):
    name = own_world.new("-H", "generic", "--", "sleep", "777")
    for scope in ("-wu", "-pu"):
        own_world.tmux("set-option", scope, "-t", own_world.show(name)["window"], "@hqt_id")
    own_world.hqt("stop", name)
    assert agents(own_world) == []
    assert own_world.state(name) == "stopped"


@pytest.mark.parametrize("text", ["x/hqt/launch.py --session={} --exec=", "#[x] --session={} "])
def test_words_of_a_harness_do_not_make_its_window_anothers(own_world, text):
    """What is in an argument, a prompt say, comes after the launcher's own words."""
    other = own_world.new("-n", "other", "-H", "generic", "--", "sleep", "1000")
    own_world.hqt("stop", other)
    words = text.format(own_world.ls()[0]["id"])
    own_world.new("-n", "x", "-H", "generic", "--", "sh", "-c", "exec sleep 777", words)
    for scope in ("-wu", "-pu"):
        own_world.tmux("set-option", scope, "-t", own_world.show("x")["window"], "@hqt_id")
    assert [own_world.state(name) for name in ("other", "x")] == ["stopped", "running"]


OUTLIVES = "trap '' HUP; exec sleep 777"


@pytest.mark.parametrize("command", ["attach -d", "restore"])
def test_one_whose_process_lives_on_without_a_window_is_not_started_a_second_time(own_world, command):
    name = own_world.sh(OUTLIVES)
    (agent,) = eventually(lambda: agents(own_world))
    own_world.tmux("kill-server")
    ended = own_world.hqt(*command.split(), name, fails=1)
    assert f"still runs, as process {agent}" in ended.stdout + ended.stderr
    assert agents(own_world) == [agent]
    own_world.hqt("stop", name)
    assert agents(own_world) == []
    own_world.hqt("attach", "-d", name)
    assert len(agents(own_world)) == 1
    own_world.hqt("rm", name)
    assert agents(own_world) == []


def test_a_process_that_ends_with_its_server_does_not_stand_in_the_way(own_world):
    name = own_world.sh("exec sleep 777", "-s")
    own_world.tmux("kill-server")
    own_world.hqt("attach", "-d", name)
    assert own_world.state(name) == "running"


def test_a_number_that_another_process_has_now_is_not_taken_for_the_sessions(own_world):
    name = own_world.sh("exec sleep 777")
    (agent,) = eventually(lambda: agents(own_world))
    file = own_world.database.parent / "sessions" / own_world.ls()[0]["id"] / "process"
    recorded = file.read_text()
    os.kill(int(agent), signal.SIGKILL)
    eventually(lambda: own_world.state(name) != "running")
    file.write_text(recorded.replace(agent, str(os.getpid()), 1))
    own_world.hqt("attach", "-d", name)
    own_world.hqt("rm", name)
    assert is_alive(os.getpid())


def test_a_server_that_ends_when_nobody_is_attached_is_refused_before_anything_is_lost(own_world):
    (own_world.home / ".tmux.conf").write_text("set -s exit-unattached on\n")
    own_world.give_away()
    ended = own_world.hqt("new", "-d", "-H", "generic", "--", "sleep", "777", fails=5)
    assert "exit-unattached is on" in ended.stderr
    assert own_world.ls() == []
    eventually(lambda: agents(own_world) == [])


def test_an_alias_for_a_command_that_hqt_uses_loses_nothing(own_world):
    server(own_world)
    for alias in ("new-window=new-window -c /", "set-option=set-option -g", "rename-window=display-message"):
        own_world.tmux("set-option", "-s", "command-alias[100]", alias)
        one_or_none(own_world, "x")
    own_world.tmux("set-option", "-s", "command-alias[100]", "new-window=split-window")
    one_or_none(own_world, "x")


def test_every_hook_that_fires_while_a_window_is_made_is_tried(own_world):
    """Those of MAKING are all that this tmux runs then: each hook that there is counts itself."""
    server(own_world)
    shown = own_world.tmux("show-hooks", "-g") + own_world.tmux("show-hooks", "-gw")
    hooks = sorted({re.split(r"[\[ ]", line)[0] for line in shown.splitlines()})
    assert len(hooks) > 50
    for hook in hooks:
        own_world.tmux("set-hook", "-g", hook, f"set-option -gF @fired '#{{@fired}} {hook}'")
    own_world.new("-H", "generic", "--", "sleep", "777")
    own_world.new("-H", "generic", "--", "sleep", "777")
    fired = set(own_world.tmux("show-options", "-gqv", "@fired").split())
    assert fired - {"after-set-option", "after-set-hook"} <= set(MAKING) | {"after-select-pane"}

"""The way of a session, by the command line, in a real tmux with a real bwrap, as root and as a plain user."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from tests.world import eventually, is_alive


def test_new_prints_the_name_alone_and_the_session_is_listed_running(world):
    name = world.new("-H", "generic", "-s", "--", "sleep", "1000")
    assert name == "project-generic"
    (session,) = world.ls()
    assert session["state"] == "running"
    assert session["sandbox"] == {"fs": "rw", "net": True}
    assert session["project"] == str(world.project)
    assert session["socket"] == str(world.socket)
    assert set(session) >= {"id", "name", "harness", "exit_status", "created_at", "window"}


def test_the_window_carries_the_id_and_the_name(world):
    name = world.new("-H", "generic", "-s", "-n", "some name", "--", "sleep", "1000")
    (session,) = world.ls()
    listed = world.tmux("list-windows", "-a", "-F", "#{window_id} #{@hqt_id} #{window_name}").splitlines()
    assert listed == [f"{session['window']} {session['id']} {name}"]


def test_a_stopped_session_is_kept_and_attach_starts_it_again(world):
    name = world.new("-H", "generic", "-s", "--", "sleep", "1000")
    world.hqt("stop", name)
    assert world.state(name) == "stopped"
    assert world.tmux("list-windows", "-a") == ""
    world.hqt("attach", name, "-d")
    assert world.state(name) == "running"


def test_attach_leaves_a_running_session_as_it_is(world):
    name = world.new("-H", "generic", "-s", "--", "sleep", "1000")
    before = world.ls()
    world.hqt("attach", name, "-d")
    assert world.ls() == before


def test_rm_ends_the_window_and_forgets_the_session_and_its_folder(world):
    name = world.new("-H", "generic", "-s", "--", "sh", "-c", "mkdir -p ~/.cache/a/b; chmod 0 ~/.cache/a; sleep 1000")
    folder = world.home / ".local/state/hqt/sessions" / world.ls()[0]["id"]
    eventually(lambda: (folder / "cache/a").exists() and not (folder / "cache/a").stat().st_mode & 0o700)
    world.hqt("rm", name)
    assert world.ls() == []
    assert world.tmux("list-windows", "-a") == ""
    assert not folder.exists()


def test_rename_renames_the_session_and_its_window(world):
    name = world.new("-H", "generic", "--", "sleep", "1000")
    world.hqt("rename", name, "an other #(touch x);")
    assert world.state("an other #(touch x);") == "running"
    assert world.tmux("list-windows", "-a", "-F", "#{window_name}").strip() == "an other #(touch x);"
    assert not list(world.base.rglob("x"))


def test_an_end_is_told_with_its_status_and_last_lines(world):
    ended = world.hqt("new", "-d", "-H", "generic", "-s", "--", "sh", "-c", "echo some last words; exit 7")
    assert "status 7" in ended.stderr
    assert "some last words" in ended.stderr
    assert world.state("project-generic") == "exited 7"
    assert "exited 7" in world.hqt("ls").stdout


def test_a_signal_is_told_as_128_and_its_number(world):
    name = world.sh("kill -TERM $$")
    eventually(lambda: world.state(name) == "exited 143")


def test_attach_replaces_the_window_of_a_session_that_has_ended(world):
    name = world.sh("test -e again || { touch again; exit 1; }; sleep 1000", "-s")
    eventually(lambda: world.state(name) == "exited 1")
    world.hqt("attach", name, "-d")
    assert world.state(name) == "running"
    assert len(world.tmux("list-windows", "-a").splitlines()) == 1


def test_stop_ends_a_process_that_ignores_the_hangup(world):
    name = world.sh("trap '' HUP TERM; echo $$ > pid; while :; do sleep 1; done")
    pid = eventually(lambda: (world.project / "pid").exists() and (world.project / "pid").read_text().strip())
    world.hqt("stop", name)
    assert not is_alive(pid)


def test_stop_ends_what_a_jail_started_in_the_background(world):
    name = world.sh("setsid sh -c 'trap \"\" HUP TERM; while :; do date +%s%N > alive; done' & sleep 1000", "-s")
    eventually((world.project / "alive").exists)
    world.hqt("stop", name)
    before = (world.project / "alive").read_text()
    assert not _changes(world.project / "alive", before)


def _changes(path, before):
    import time

    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        if path.read_text() not in ("", before):
            return True
    return False


def test_a_program_ends_before_hqt_tells_that_it_is_stopped_without_a_jail(world):
    name = world.new("-H", "generic", "--", "sleep", "1000")
    pid = world.tmux("list-panes", "-a", "-F", "#{pane_pid}").strip()
    world.hqt("stop", name)
    assert not is_alive(pid)


def test_show_argv_is_the_windows_own_command(world):
    name = world.new("-H", "generic", "-s", "--", "sleep", "1000")
    argv = shlex.split(world.hqt("show", name, "--argv").stdout)
    assert argv == world.show(name)["argv"]
    assert argv[argv.index("--") + 1] == "bwrap"
    assert argv[-2:] == ["sleep", "1000"]
    pid = world.tmux("list-panes", "-a", "-F", "#{pane_pid}").strip()

    def running():
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]

    assert eventually(lambda: running() == argv[argv.index("--") + 1 :])


def test_show_says_the_policy_in_words_and_every_bind_with_its_mode(world):
    name = world.new("-H", "generic", "--ro", "--no-net", "--", "sleep", "1000")
    text = world.hqt("show", name).stdout
    assert "can read the project and change nothing" in text
    assert "no network" in text
    shown = {bind["target"]: bind["mode"] for bind in world.show(name)["binds"]}
    assert shown[str(world.project)] == "ro"
    assert shown[str(world.home / ".cache")] == "rw"


def test_here_makes_a_window_of_the_callers_own_tmux_session(world):
    world.tmux("new-session", "-d", "-s", "mine")
    pane, socket = world.tmux("display-message", "-p", "-t", "mine", "#{pane_id} #{socket_path}").split()
    inside = {"TMUX": f"{socket},1,0", "TMUX_PANE": pane, "HQT_TMUX_SOCKET": ""}
    world.new("-H", "generic", "--here", "--", "sleep", "1000", env=inside)
    assert world.tmux("list-windows", "-a", "-F", "#{session_name}").split() == ["mine", "mine"]


def test_hqt_alone_lists_or_says_how_to_begin(world):
    assert "hqt new" in world.hqt().stdout
    world.new("-H", "generic", "--", "sleep", "1000")
    assert "project-generic" in world.hqt().stdout


def test_default_names_are_numbered(world):
    assert [world.new("-H", "generic", "--", "sleep", "9") for _ in range(3)] == [
        "project-generic",
        "project-generic-2",
        "project-generic-3",
    ]


def test_a_unique_beginning_of_a_name_is_enough(world):
    world.new("-H", "generic", "-n", "alpha", "--", "sleep", "1000")
    world.new("-H", "generic", "-n", "beta", "--", "sleep", "1000")
    world.hqt("stop", "al")
    assert [world.state("alpha"), world.state("beta")] == ["stopped", "running"]


def test_events_tell_what_happened(own_world):
    import sqlite3

    name = own_world.new("-H", "generic", "-s", "--", "sleep", "1000")
    own_world.hqt("stop", name)
    own_world.hqt("attach", name, "-d")
    own_world.hqt("rm", name)
    database = sqlite3.connect(own_world.home / ".local/state/hqt/hqt.db")
    events = database.execute("SELECT kind, detail_json FROM event ORDER BY id").fetchall()
    database.close()
    assert [kind for kind, _ in events] == ["created", "started", "stopped", "started", "removed"]
    assert json.loads(events[3][1])["rung"] == "fresh"


def test_a_variable_exported_after_the_server_started_reaches_the_harness(world):
    world.new("-H", "generic", "--", "sleep", "1000")
    script = "echo value is $LATE_VARIABLE."
    late = {"LATE_VARIABLE": "late"}
    assert "value is late." in world.output_of(script, "-s", "--env", "LATE_VARIABLE", env=late)
    assert "value is ." in world.output_of(script, "-s", env=late)


def test_without_a_jail_the_program_sees_the_whole_environment_of_the_server(world):
    world.environment["ANYTHING"] = "planted"
    assert "value is planted" in world.output_of("echo value is $ANYTHING")

"""hqt in real terminals: an outer tmux hosts a shell, or a client of the inner server that hqt uses."""

from __future__ import annotations

import pytest

from tests.terminal import Terminal
from tests.world import eventually


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


# glibc's ttyname, and musl's, which asks /proc/self/fd alone and compares what it finds (src/unistd/ttyname_r.c).
NAMES = """
import os
for descriptor in (0, 1, 2):
    link = os.readlink(f"/proc/self/fd/{descriptor}")
    there, mine = os.stat(link), os.fstat(descriptor)
    musl = link if (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino) else "none"
    print("name", os.ttyname(descriptor), link, musl)
os.close(os.open(os.ttyname(0), os.O_RDWR))
print("own terminal", os.tcgetpgrp(0) == os.getpgrp())
"""


@pytest.mark.parametrize("policy", [["-s"], ["-s", "--ro", "--no-net"]], ids=" ".join)
def test_a_terminal_has_one_name_in_a_jail_and_that_works(world, policy):
    said = world.output_of(f"python3 -c '{NAMES}'", *policy)
    assert said.splitlines() == ["name /dev/console /dev/console /dev/console"] * 3 + ["own terminal True"]


def test_programs_that_open_the_terminal_by_its_name_work_in_a_jail(own_world):
    inside = "tmux -L inner -f /dev/null new-session -d 'tty >/tmp/inner; sleep 5'"
    script = (
        "echo by-name >$(tty); echo by-dev-tty >/dev/tty; script -qc 'echo in-script' /dev/null; "
        f"{inside}; until [ -s /tmp/inner ]; do sleep 0.1; done; cat /tmp/inner; tty; "
        "GPG_TTY=$(tty) gpg --batch --passphrase '' --quiet --quick-gen-key someone && echo gpg-works; "
        "readlink /proc/self/fd/0"
    )
    lines = own_world.output_of(script, "-s").splitlines()
    assert lines[:3] == ["by-name", "by-dev-tty", "in-script"]
    assert lines[3].startswith("/dev/pts/")
    assert [line for line in lines[4:] if not line.startswith("gpg:")] == ["/dev/console", "gpg-works", "/dev/console"]


def test_a_resize_reaches_what_runs_in_a_jail(own_world):
    name = own_world.sh("trap 'stty size' WINCH; while :; do sleep 0.1; done", "-s")
    own_world.tmux("resize-window", "-t", f"hqt:={name}", "-x", "77", "-y", "22")
    eventually(lambda: "22 77" in own_world.hqt("peek", name).stdout, "the new size")


def test_a_command_that_the_jail_cannot_start_is_told_as_one_that_never_ran(own_world):
    program = own_world.home / "bin/odd"
    program.parent.mkdir()
    program.write_text("#!/nowhere/interpreter\n")
    program.chmod(0o755)
    own_world.give_away()
    ended = own_world.hqt("new", "-d", "-s", "-H", "generic", "--", program, fails=1)
    assert "was not started" in ended.stderr

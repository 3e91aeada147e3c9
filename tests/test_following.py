"""`hqt peek --follow`: what a window newly shows, each line once."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hqt.services.following import Following
from hqt.tmux_pane import Look
from tests.world import eventually

HEIGHT = 4
SCROLLBACK = 30


def look(lines, *, width=80, dead=False):
    """What tmux shows of a pane whose command wrote these lines."""
    padded = lines + [""] * (HEIGHT - len(lines))
    return Look(padded[-(SCROLLBACK + HEIGHT) :], width, HEIGHT, dead)


@settings(deadline=None)
@given(st.lists(st.integers(min_value=0, max_value=SCROLLBACK), max_size=30))
def test_whatever_is_written_between_two_looks_each_line_is_told_once(writes):
    lines = ["already there"]
    following = Following(look(lines))
    told = []
    for count in writes:
        lines = lines + [str(len(lines) + number) for number in range(count)]
        told += following.news(look(lines))
    told += following.news(look(lines, dead=True))
    assert [line for line in told if line] == lines[1:]


def test_what_a_program_redraws_is_told_once_it_stands_still():
    following = Following(look(["$"]))
    assert following.news(look(["$", "spinner 1"])) == []
    assert following.news(look(["$", "spinner 2"])) == []
    assert following.news(look(["$", "done", "> "])) == []
    assert following.news(look(["$", "done", "> "])) == ["done", "> ", ""]
    assert following.news(look(["$", "done", "> "])) == []
    for _ in range(2):
        news = following.news(look(["$", "done", "more", "> "]))
    assert news == ["more", "> "]


def test_a_window_that_was_made_wider_tells_nothing_twice():
    following = Following(look(["a long", "line"], width=6))
    assert following.news(look(["a long line"], width=80)) == []
    assert following.news(look(["a long line", "new"], dead=True)) == ["new", "", ""]


def test_the_same_line_again_and_again_is_told_each_time():
    following = Following(look([]))
    told = []
    for count in range(1, 21):
        told += following.news(look(["yes"] * count, dead=count == 20))
    assert told == ["yes"] * 20


@pytest.fixture
def following(own_world):
    """A session that writes what the file says, line by line, and `hqt peek --follow` in the background."""
    script = 'echo first; while read -r line; do [ "$line" = end ] && exit 3; printf \'%s\\n\' "$line"; done <pipe'
    own_world.run("mkfifo", "pipe")
    own_world.sh(script, "-n", "one")
    out = own_world.home / "out"

    def start(*more):
        with out.open("w") as file:
            # What a shell runs in the background ignores the key that interrupts, and so would this.
            command = ["env", "--default-signal=INT", *own_world.program, "peek", "one", "--follow", *more]
            return subprocess.Popen(
                command,
                env=own_world.environment,
                cwd=own_world.project,
                stdout=file,
                stderr=subprocess.STDOUT,
                text=True,
            )

    with (own_world.project / "pipe").open("w", buffering=1) as pipe:
        yield start, out, pipe


def test_lines_come_as_they_are_written_and_it_ends_with_the_session(following):
    start, out, pipe = following
    process = start()
    eventually(lambda: out.read_text() == "first\n", out.read_text)
    for number in range(100):
        pipe.write(f"line {number}\n")
    pipe.write("\x1b]0;title\x07last\n")
    expected = ["first", *(f"line {number}" for number in range(100)), "last"]
    eventually(lambda: out.read_text().splitlines() == expected, out.read_text)
    pipe.write("end\n")
    assert process.wait(timeout=30) == 0
    assert out.read_text().splitlines() == expected


def test_lines_says_with_how_many_it_begins(following):
    start, out, pipe = following
    pipe.write("second\nthird\n")
    eventually(lambda: "third" in start_and_read(start, out))
    process = start("-n", "1")
    eventually(lambda: out.read_text() == "third\n", out.read_text)
    process.terminate()
    process.wait()


def start_and_read(start, out):
    process = start()
    eventually(out.read_text)
    process.terminate()
    process.wait()
    return out.read_text()


def test_a_window_that_is_closed_ends_it(following, own_world):
    start, out, _ = following
    process = start()
    eventually(out.read_text)
    own_world.hqt("rm", "one")
    assert process.wait(timeout=30) == 0


def test_interrupting_it_says_nothing(following):
    start, out, _ = following
    process = start()
    eventually(out.read_text)
    process.send_signal(2)
    assert process.wait(timeout=30) == 130
    assert out.read_text() == "first\n"

"""`hqt send`: the prompt arrives whole, as one, is never mixed into a draft, and it is known whether it was taken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hqt.services.sending import typed, typed_in
from hqt.tmux_pane import Cursor
from tests.world import eventually


@pytest.fixture
def start(own_world):
    """Start a session of the stand-in, and return its name."""
    return own_world.stand_in


def received(world):
    path = world.project / "received"
    return path.read_bytes().decode().split("\n---\n")[:-1] if path.exists() else []


@pytest.mark.parametrize("sandbox", [["-s"], []])
def test_a_prompt_is_taken_and_the_turn_waited_for(own_world, start, sandbox):
    name = start(*sandbox)
    ended = own_world.hqt("send", name, "what is 6 × 7?", "--wait")
    assert (ended.stdout, ended.stderr) == (f"{name} took the prompt\n{name} is done\n", "")
    assert received(own_world) == ["what is 6 × 7?"]


def test_one_that_was_just_started_is_waited_for(own_world, start):
    name = start("-s", kinds="slow")
    assert own_world.hqt("send", name, "early").stdout == f"{name} took the prompt\n"
    assert received(own_world) == ["early"]


def test_one_that_does_not_say_when_it_is_there_is_waited_for_until_it_takes_keys(own_world):
    own_world.fake("pi", "sleep 2; stty raw -echo; head -c 6 >received; exec sleep 1000")
    own_world.hqt("send", own_world.new("-H", "pi"), "early")
    got = own_world.project / "received"
    assert eventually(lambda: got.exists() and got.read_bytes()) == b"early\r"


HARD = [
    "two\nlines",
    "ends with a line break\n",
    "-- --dash",
    "#(touch planted) #{pane_id} $HOME `id` ; kill-server ;",
    "quotes ' \" \\ \\n",
    "emoji 🦀 and ‏right-to-left‏",
    "tab\there",
]


@pytest.mark.parametrize("text", HARD)
def test_hard_texts_arrive_as_they_are(own_world, start, text):
    own_world.hqt("send", start(), "--wait", "--", text)
    assert received(own_world) == [text.replace("\n", "\r")]


def test_a_hundred_thousand_bytes_arrive_whole(own_world, start):
    text = "\n".join(f"{number:06} {'x' * 92}" for number in range(1000))
    own_world.hqt("send", start(), "-", "--wait", input=text)
    assert received(own_world) == [text.replace("\n", "\r")]


def test_what_would_end_the_paste_or_be_a_key_arrives_as_an_escape(own_world, start):
    own_world.hqt("send", start(), "a\x1b[201~\rb\x03\x7f", "--wait")
    assert received(own_world) == ["a\\x1b[201~\rb\\x03\\x7f"]


@given(st.text(st.characters(exclude_characters="\0")))
def test_nothing_that_is_typed_is_a_key(text):
    assert not any((c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f" for c in typed(text))
    assert typed(typed(text)) == typed(text)


@given(st.text(st.characters(min_codepoint=32, exclude_categories=["Cc", "Cs", "Zl", "Zp"])))
def test_plain_text_is_typed_as_it_is(text):
    assert typed(text) == text


def test_a_half_typed_draft_is_not_mixed_in_unless_forced(own_world, start):
    name = start()
    own_world.hqt("send", name, "first", "--wait")
    own_world.tmux("send-keys", "-t", f"hqt:={name}", "half of a thou")
    eventually(lambda: "half of a thou" in own_world.hqt("peek", name).stdout)
    assert "half-typed" in own_world.hqt("send", name, "ght", fails=1).stderr
    assert received(own_world) == ["first"]
    own_world.hqt("send", name, "ght", "--force")
    assert received(own_world) == ["first", "half of a thought"]


def test_a_question_is_not_answered_by_a_prompt_unless_forced(own_world, start):
    name = start(kinds="asks")
    assert "waits for an answer" in own_world.hqt("send", name, "one", "--wait", fails=1).stderr
    assert "waits for an answer" in own_world.hqt("send", name, "two", fails=1).stderr
    assert received(own_world) == ["one"]
    own_world.hqt("send", name, "two", "-f")
    assert received(own_world) == ["one", "two"]


def test_a_prompt_for_one_that_works_is_queued(own_world, start):
    name = start(turn_s="2")
    own_world.hqt("send", name, "one")
    assert own_world.ls()[0]["status"]["status"] == "working"
    assert "it has the prompt for when it is done" in own_world.hqt("send", name, "two", "--wait").stdout
    assert received(own_world) == ["one", "two"]


def test_a_prompt_that_is_queued_is_waited_for_until_its_own_turn_has_ended(own_world, start):
    name = start(turn_s="2", kinds="queues")
    own_world.hqt("send", name, "one")
    sent = own_world.hqt("send", name, "two", "--wait")
    assert "it has the prompt for when it is done" in sent.stdout
    assert (own_world.project / "second-turn").exists()
    assert own_world.ls()[0]["status"]["status"] == "idle"
    eventually((own_world.project / "second-turn-ended").exists)


def test_a_harness_that_takes_an_early_enter_for_a_part_of_the_paste_is_sent_another(own_world, start):
    own_world.hqt("send", start(kinds="enter-is-paste"), "one", "--wait")
    assert received(own_world) == ["one"]


def test_a_prompt_that_is_not_taken_is_told(own_world, start):
    assert "did not take the prompt" in own_world.hqt("send", start(kinds="deaf"), "one", fails=1).stderr


def test_a_harness_that_says_nothing_is_given_the_prompt_and_that_is_told(own_world):
    name = own_world.sh("exec cat")
    assert "does not say whether it took it" in own_world.hqt("send", name, "to a cat").stdout
    eventually(lambda: own_world.hqt("peek", name).stdout.splitlines().count("to a cat") == 2)


def test_a_pane_that_is_scrolled_back_gets_the_prompt_all_the_same(own_world, start):
    name = start("-s")
    own_world.hqt("send", name, "one", "--wait")
    own_world.tmux("copy-mode", "-t", f"hqt:={name}")
    own_world.hqt("send", name, "two", "--wait")
    assert received(own_world) == ["one", "two"]


def test_one_that_does_not_run_is_told(own_world, start):
    name = start()
    own_world.hqt("stop", name)
    assert "is not running (stopped)" in own_world.hqt("send", name, "x", fails=1).stderr
    own_world.hqt("send", "nobody", "x", fails=3)
    own_world.hqt("send", name, " ", fails=2)


def test_an_end_within_the_turn_is_told(own_world, start):
    name = start(turn_s="1")
    own_world.hqt("send", name, "one")
    own_world.run("sh", "-c", f"kill -9 {own_world.tmux('display-message', '-p', '-t', f'hqt:={name}', '#{pane_pid}')}")
    assert "is not running (exited 137)" in own_world.hqt("wait", name, "--for", "idle", fails=1).stderr


@pytest.mark.parametrize(
    ("row", "empty", "draft"),
    [
        ("❯\xa0", True, False),
        ("❯ \x1b[2mTry this\x1b[0m", True, False),
        ("\x1b[1m❯\x1b[0m \x1b[7mT\x1b[0m\x1b[2mry this\x1b[0m", True, False),
        ("❯ a dra\x1b[7mf\x1b[27mt", False, True),
        ("❯ a \x1b[2mdim\x1b[22m", False, True),
        ("❯ \x1b[38;5;2mcoloured", False, True),
        ("❯ \x1b[2;39mhint", True, False),
        ("second line of a draft", False, False),
        ("", False, False),
        ("❯❯ x", False, True),
    ],
)
def test_an_input_line_is_read_as_a_person_would(row, empty, draft):
    text = typed_in(Cursor(2, [row]), "❯")
    assert (text == "", bool(text)) == (empty, draft)

"""What a conversation has used, read from the harnesses' records, which a jail can write."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hqt.harnesses import HARNESSES
from hqt.harnesses.usage import Tokens, Usage
from hqt.services import usage

PROJECT = Path("/work/project")
HOSTILE = "\x1b]0;title\x07[red]#{pane_id}\u202e"
CODEX_ID = "01a23a22-6b9c-7e80-bc51-82efb5b05281"


def claude_answer(answer="msg_1", model="opus", written=5):
    tokens = {"input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300}
    message = {"id": answer, "model": model, "usage": {**tokens, "output_tokens": written}}
    return {"type": "assistant", "message": message}


def codex_sums(read, cached, written):
    sums = {"input_tokens": read, "cached_input_tokens": cached, "output_tokens": written}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": sums}}}


def copilot_answer(answer, model):
    tokens = {"inputTokens": 330, "cacheReadTokens": 300, "outputTokens": 5}
    return {"type": "session.usage_record", "id": answer, "data": {"usage": {"model": model, **tokens}}}


def gemini_answer(answer, model="flash", **more):
    tokens = {"input": 330, "cached": 300, "output": 4, "thoughts": 1}
    return {"id": answer, "type": "gemini", "tokens": tokens, "model": model, **more}


# Two turns, of which the first ran a command: 30 and 300 tokens read, 10 written in all, by two models at the end.
RECORDS = {
    "claude": [
        {"type": "summary"},
        {"type": "user", "origin": {"kind": "human"}, "message": {"content": "RUN: echo hi"}},
        claude_answer(written=1),
        claude_answer(),
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": "hi"}]}},
        claude_answer("none", "<synthetic>"),
        {"type": "user", "origin": {"kind": "human"}, "message": {"content": "more"}},
        claude_answer("msg_2", "haiku"),
    ],
    "codex": [
        {"type": "session_meta", "payload": {"id": CODEX_ID}},
        {"type": "event_msg", "payload": {"type": "task_started"}},
        {"type": "turn_context", "payload": {"model": "opus"}},
        {"type": "event_msg", "payload": {"type": "token_count", "info": None}},
        codex_sums(330, 300, 5),
        {"type": "event_msg", "payload": {"type": "task_started"}},
        {"type": "turn_context", "payload": {"model": "haiku"}},
        codex_sums(660, 600, 10),
    ],
    "copilot": [
        {"type": "session.start", "data": {}},
        {"type": "user.message", "id": "u", "data": {"content": "RUN: echo hi"}},
        copilot_answer("1", "opus"),
        {"type": "assistant.message", "id": "a", "data": {"model": "opus"}},
        {"type": "user.message", "id": "v", "data": {"content": "more"}},
        copilot_answer("2", "haiku"),
    ],
    "gemini": [
        {"sessionId": "the-id", "kind": "main"},
        {"$set": {"messages": [{"type": "user", "content": [{"text": "the context"}]}]}},
        {"type": "user", "content": [{"text": "RUN: echo hi"}]},
        gemini_answer("1"),
        gemini_answer("1", toolCalls=[]),
        {"type": "user", "content": [{"functionResponse": {}}]},
        {"type": "user", "content": [{"text": "more"}]},
        gemini_answer("2", "haiku"),
    ],
    "qwen": [
        {"type": "user", "message": {"parts": [{"text": "RUN: echo hi"}]}},
        {
            "type": "assistant",
            "uuid": "1",
            "model": "opus",
            "usageMetadata": {
                "promptTokenCount": 330,
                "cachedContentTokenCount": 300,
                "candidatesTokenCount": 4,
                "thoughtsTokenCount": 1,
            },
        },
        {"type": "tool_result", "message": {"role": "user", "parts": [{"functionResponse": {}}]}},
        {"type": "user", "message": {"parts": [{"text": "more"}]}},
        {
            "type": "assistant",
            "uuid": "2",
            "model": "haiku",
            "usageMetadata": {
                "promptTokenCount": 330,
                "cachedContentTokenCount": 300,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 0,
            },
        },
    ],
    "pi": [
        {"type": "session", "version": 3},
        {"type": "message", "message": {"role": "user"}},
        {
            "type": "message",
            "id": "1",
            "message": {
                "role": "assistant",
                "model": "opus",
                "usage": {"input": 20, "cacheWrite": 10, "cacheRead": 300, "output": 5},
            },
        },
        {"type": "message", "message": {"role": "toolResult"}},
        {"type": "message", "message": {"role": "user"}},
        {
            "type": "message",
            "id": "2",
            "message": {
                "role": "assistant",
                "model": "haiku",
                "usage": {"input": 30, "cacheWrite": 0, "cacheRead": 300, "output": 5},
            },
        },
    ],
}
RECORDING = sorted(RECORDS)


def made(name, home) -> Any:
    return HARNESSES[name](home, PROJECT, {})


class Record:
    """The record of one conversation, in a home folder."""

    def __init__(self, name, home):
        self.harness = made(name, home)
        self.conversation = CODEX_ID if name == "codex" else self.harness.new_conversation()
        places = {
            "claude": lambda: self.harness.conversations / f"{self.conversation}.jsonl",
            "codex": lambda: self.harness.folder / f"sessions/2026/12/03/rollout-2026-{CODEX_ID}.jsonl",
            "copilot": lambda: self.harness.records / f"session-state/{self.conversation}/events.jsonl",
            "gemini": lambda: (
                self.harness.folder
                / f"tmp/{self.harness.project_name}/chats/session-2026-{self.conversation[:8]}.jsonl"
            ),
            "qwen": lambda: self.harness.project_folder / f"chats/{self.conversation}.jsonl",
            "pi": lambda: self.harness.conversations / f"hqt-{self.conversation}.jsonl",
        }
        self.path = places[name]()
        self.path.parent.mkdir(parents=True)
        self.folder = home / "session"

    def begin(self):
        self.path.write_text(json.dumps({"sessionId": self.conversation}) + "\n")  # by which Gemini's is known

    def write(self, *entries):
        with self.path.open("a") as file:
            file.write("".join(json.dumps(entry) + "\n" for entry in entries))

    def used(self):
        return usage.of(self.harness, self.conversation, self.folder)


@pytest.fixture(params=RECORDING)
def record(request, tmp_path):
    return Record(request.param, tmp_path)


@pytest.fixture
def claude(tmp_path):
    record = Record("claude", tmp_path)
    record.begin()
    return record


def test_without_a_record_nothing_is_known(record):
    assert record.used() is None


def test_turns_tokens_and_the_last_model_are_counted_once(record):
    record.begin()
    record.write(*RECORDS[record.harness.name])
    found = record.used()
    assert found.to_json() == {
        "turns": 2,
        "model": "haiku",
        "tokens": {"read": 60, "cached": 600, "written": 10},
    }
    assert found.in_words() == "2 turns; tokens: 60 read, 600 read from the cache, 10 written; haiku"


def test_reading_again_after_each_entry_gives_the_same(record):
    record.begin()
    for entry in RECORDS[record.harness.name]:
        record.write(entry)
        found = record.used()
        assert record.used() == found
    assert found.tokens == Tokens(60, 600, 10)
    assert found.turns == 2


def test_what_was_read_is_not_read_again(claude):
    claude.write(claude_answer())
    claude.used()
    size = claude.path.stat().st_size
    with claude.path.open("r+b") as file:
        file.write(b" " * (size - 1))
    claude.write(claude_answer("msg_2"))
    assert claude.used().tokens.written == 10


def test_an_entry_that_is_still_being_written_is_counted_when_it_is_whole(claude):
    line = json.dumps(claude_answer()) + "\n"
    with claude.path.open("a") as file:
        file.write(line[:50])
        file.flush()
        assert claude.used().tokens.written == 0
        file.write(line[50:])
    assert claude.used().tokens.written == 5


@pytest.mark.parametrize("how", ["replaced", "cut"])
def test_a_record_that_was_made_anew_is_counted_anew(claude, how):
    claude.write(*(claude_answer(str(number)) for number in range(5)))
    assert claude.used().tokens.written == 25
    if how == "replaced":
        claude.path.rename(claude.path.with_suffix(".old"))
    else:
        os.truncate(claude.path, 0)
    claude.write(claude_answer())
    assert claude.used().tokens.written == 5


def test_what_was_kept_and_is_damaged_is_counted_anew(claude):
    claude.write(claude_answer())
    claude.used()
    for damage in (b"", b"{", b"[]", b'{"usage": 3}', b"\xff"):
        (claude.folder / "usage.json").write_bytes(damage)
        assert claude.used().tokens.written == 5


def test_where_nothing_can_be_kept_it_is_counted_all_the_same(claude):
    claude.write(claude_answer())
    claude.folder.write_text("no folder")
    assert claude.used().tokens.written == 5


def test_no_link_and_no_pipe_is_read(claude, tmp_path):
    other = tmp_path / "other.jsonl"
    claude.write(claude_answer())
    claude.path.rename(other)
    claude.path.symlink_to(other)
    assert claude.used() is None
    claude.path.unlink()
    os.mkfifo(claude.path)
    assert claude.used() is None
    claude.path.unlink()
    claude.path.parent.rename(tmp_path / "moved")
    claude.path.parent.symlink_to(tmp_path / "moved")
    other.rename(tmp_path / "moved" / claude.path.name)
    assert claude.used() is None


@pytest.mark.parametrize(
    "garbage",
    [b"\n", b"[]\n", b"\xff\n", b"[" * 200_000 + b"\n", b"0" * 100_000 + b"\n", b"\0" * (20 << 20), b"{}\n" * 1000],
    ids=["empty", "a list", "not UTF-8", "deep", "one number", "20 MiB of nothing", "objects"],
)
def test_garbage_in_the_record_counts_nothing_and_hides_nothing_that_follows(claude, garbage):
    with claude.path.open("ab") as file:
        file.write(garbage + b"\n")
    claude.write(claude_answer())
    assert claude.used().tokens.written == 5


def test_an_endless_record_is_read_in_pieces(claude):
    claude.write(claude_answer())
    os.truncate(claude.path, 1 << 40)
    assert claude.used().tokens.written == 5


@pytest.mark.parametrize("written", [-1, 1.5, "5", True, None, 10**13, [], 10**12 + 1])
def test_what_is_no_number_of_tokens_is_not_added(claude, written):
    claude.write(claude_answer(written=written), claude_answer("msg_2"))
    assert claude.used().tokens.written == 5


@pytest.mark.parametrize("model", [3, None, "m" * 101, ["m"]])
def test_what_is_no_name_is_not_shown(claude, model):
    claude.write(claude_answer(model=model))
    assert claude.used().model == ""


@pytest.mark.parametrize("name", RECORDING)
@settings(deadline=None, max_examples=200)
@given(
    entry=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["type", "payload", "message", "origin", "usage", "id", "info", "content", "role", "model"]
                ),
                inner | st.sampled_from(["user", "assistant", "event_msg", "token_count", "gemini"]),
            )
        ),
        max_leaves=8,
    )
)
def test_any_entry_counts_or_is_passed_over(name, entry):
    with tempfile.TemporaryDirectory() as home:
        record = Record(name, Path(home))
        record.begin()
        record.write(entry, *RECORDS[name])
        found = record.used()
        assert found.turns in (2, 3)
        assert found.tokens.read >= 0


def test_only_the_newest_answers_are_remembered():
    counted = Usage()
    for number in range(1000):
        counted.add(str(number), "m", Tokens(1, 1, 1))
    assert counted.tokens == Tokens(1000, 1000, 1000)
    assert len(counted.recent) < 20


def test_show_prints_a_hostile_models_name_harmlessly(world):
    record = Record("claude", world.home)
    world.fake("claude", "exec sleep 1000")
    name = world.new("-H", "claude", "-n", "c")
    argv = world.show(name)["argv"]
    record.conversation = argv[argv.index("--session-id") + 1]
    folder = record.harness.folder / "projects" / str(world.project).replace("/", "-").replace("_", "-")
    folder.mkdir(parents=True)
    record.path = folder / f"{record.conversation}.jsonl"
    record.write(claude_answer(model=HOSTILE))
    world.give_away()
    shown = world.hqt("show", name).stdout
    assert "tokens: 30 read, 300 read from the cache, 5 written; " in shown
    assert "\x1b" not in shown
    assert world.show(name)["usage"]["model"] == HOSTILE

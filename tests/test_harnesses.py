"""The configurators: commands, flags, binds, conversations."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hqt.errors import ServiceError
from hqt.harnesses import HARNESSES, configurator
from hqt.harnesses.base import FOLDER

PROJECT = Path("/work/project")
NAMES = sorted(HARNESSES)
WITH_FLAGS = [name for name in NAMES if name != "generic"]


def made(name, home=Path("/home/someone"), environment=None):
    return configurator(name)(home, PROJECT, environment or {})


@pytest.mark.parametrize("name", WITH_FLAGS)
def test_permission_flags_are_added_only_when_sandboxed(name):
    harness = made(name)
    flags = set(harness.sandbox_skip_permission_flags)
    for build in (
        lambda sandboxed: harness.build_spawn_config(["more"], prompt="hello", conversation="id", sandboxed=sandboxed),
        lambda sandboxed: harness.build_resume_config(["more"], conversation="id", sandboxed=sandboxed),
    ):
        assert flags <= set(build(True).command)
        assert not flags & set(build(False).command)
        assert build(True).command[0] == harness.executable
        assert build(True).cwd == PROJECT


@pytest.mark.parametrize("name", WITH_FLAGS)
def test_a_prompt_that_looks_like_an_option_is_a_prompt(name):
    assert made(name).build_spawn_config([], prompt="--version").command[-2:] == ["--", "--version"]


def test_the_seeds_flags_and_binds():
    expected = {
        "claude": ("--dangerously-skip-permissions", ".claude"),
        "codex": ("--dangerously-bypass-approvals-and-sandbox", ".codex"),
        "kiro": ("--trust-all-tools", ".kiro"),
    }
    for name, (flag, folder) in expected.items():
        harness = made(name)
        assert flag in harness.sandbox_skip_permission_flags
        first = harness.sandbox_binds()[0]
        assert (first.src, first.writable) == (harness.home / folder, True)
    assert made("generic").sandbox_binds() == []


@pytest.mark.parametrize("name", WITH_FLAGS)
def test_everything_in_a_writable_folder_that_must_not_be_made_anew_is_made_first(name):
    root, *inside = made(name).sandbox_binds()
    for bind in inside:
        if (
            bind.src.is_relative_to(root.src)
            and not bind.writable
            and bind.src.name not in ("local", "AGENTS.override.md")
        ):
            assert bind.create is not None


@pytest.mark.parametrize(
    ("name", "variable", "folder"), [("claude", "CLAUDE_CONFIG_DIR", "c"), ("codex", "CODEX_HOME", "x")]
)
def test_a_moved_folder_is_the_one_that_is_bound(name, variable, folder):
    harness = made(name, environment={variable: f"/elsewhere/{folder}"})
    assert all(bind.src.is_relative_to(f"/elsewhere/{folder}") for bind in harness.sandbox_binds())


def test_programs_in_the_harnesss_folder_are_guarded(tmp_path):
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/statusline.sh").touch()
    (tmp_path / ".claude/tool").touch(0o755)
    (tmp_path / ".claude/.credentials.json").touch(0o600)
    guarded = {bind.src.name for bind in made("claude", tmp_path).sandbox_binds() if not bind.writable}
    assert {"statusline.sh", "tool"} <= guarded
    assert ".credentials.json" not in guarded


def test_an_unknown_harness_is_an_error_that_names_the_known_ones():
    with pytest.raises(ServiceError) as error:
        configurator("nope")
    assert all(name in error.value.hint for name in NAMES)


def test_claude_takes_its_id_at_the_start_and_by_resume():
    claude = made("claude")
    conversation = claude.new_conversation()
    spawned = claude.build_spawn_config([], conversation=conversation).command
    resumed = claude.build_resume_config([], conversation=conversation).command
    assert spawned[spawned.index("--session-id") + 1] == conversation
    assert resumed[resumed.index("--resume") + 1] == conversation
    assert "--session-id" not in resumed


def test_claudes_conversation_is_looked_up_on_disk(tmp_path):
    claude = made("claude", tmp_path)
    assert not claude.has_conversation("some-id")
    folder = tmp_path / ".claude/projects/-work-project"
    folder.mkdir(parents=True)
    (folder / "some-id.jsonl").touch()
    assert claude.has_conversation("some-id")
    assert not claude.has_conversation("")


def test_claudes_private_state_knows_this_project_only_and_trusts_it():
    original = {"userID": "u", "projects": {"/other": {"history": ["secret"]}, str(PROJECT): {"kept": 1}}}
    copy = json.loads(made("claude").snapshot_content(Path(".claude.json"), json.dumps(original).encode()))
    assert copy == {"userID": "u", "projects": {str(PROJECT): {"kept": 1, "hasTrustDialogAccepted": True}}}


@pytest.mark.parametrize("original", [b"", b"{", b"[]", b'{"projects": []}', b'{"projects": {"/work/project": 3}}'])
def test_claudes_private_state_is_made_of_whatever_is_there(original):
    assert isinstance(made("claude").snapshot_content(Path(".claude.json"), original), bytes)


def test_claudes_history_of_other_projects_stays_outside():
    lines = [json.dumps({"display": text, "project": where}) for text, where in [("a", "/other"), ("b", str(PROJECT))]]
    copy = made("claude").snapshot_content(Path("history.jsonl"), "\n".join([*lines, "garbage"]).encode())
    assert [json.loads(line)["display"] for line in copy.splitlines()] == ["b"]


def rollout(home, number, *, cwd=PROJECT, at=None):
    conversation = f"00000000-0000-4000-8000-{number:012}"
    path = home / f".codex/sessions/2026/12/01/rollout-2026-12-01T10-00-00-{conversation}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    at = at or datetime.now(UTC)
    path.write_text(
        json.dumps({"type": "session_meta", "payload": {"cwd": str(cwd), "timestamp": at.isoformat()}}) + "\n"
    )
    return conversation, path


def test_codexs_conversation_is_the_only_new_one_of_the_project(tmp_path):
    since = datetime.now(UTC)
    mine, _ = rollout(tmp_path, 1)
    rollout(tmp_path, 2, cwd="/other")
    rollout(tmp_path, 3, at=since - timedelta(hours=1))
    codex = made("codex", tmp_path)
    assert codex.find_conversation(since, claimed=(), open_files=()) == mine
    assert codex.find_conversation(since, claimed=(mine,), open_files=()) == ""
    assert codex.has_conversation(mine)


def test_codexs_conversation_is_not_guessed_when_there_are_two(tmp_path):
    since = datetime.now(UTC)
    rollout(tmp_path, 1)
    second, path = rollout(tmp_path, 2)
    codex = made("codex", tmp_path)
    assert codex.find_conversation(since, claimed=(), open_files=()) == ""
    assert codex.find_conversation(since, claimed=(), open_files=(path,)) == second


def test_garbage_among_codexs_conversations_is_passed_over(tmp_path):
    since = datetime.now(UTC)
    mine, path = rollout(tmp_path, 1)
    for number, content in enumerate([b"", b"\xff\xfe", b"[]\n", b'{"payload": 3}\n', b"x" * 3_000_000], start=10):
        _, bad = rollout(tmp_path, number)
        bad.write_bytes(content)
    _, link = rollout(tmp_path, 20)
    link.unlink()
    link.symlink_to(path)
    assert made("codex", tmp_path).find_conversation(since, claimed=(), open_files=()) == mine


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_harness_that_was_never_set_up_says_so(name, tmp_path):
    assert "never set up" in made(name, tmp_path).setup_hint()


def test_the_generic_harness_runs_the_command_as_it_is():
    generic = made("generic")
    assert generic.build_spawn_config(["make", "-j", "a b"], sandboxed=True).command == ["make", "-j", "a b"]
    assert generic.build_spawn_config([], sandboxed=True).command[:2] == ["sh", "-c"]


def test_folders_are_made_as_folders():
    assert {bind.create for bind in made("kiro").sandbox_binds()} == {FOLDER, None}

"""The configurators: commands, flags, binds, conversations."""

from __future__ import annotations

import importlib
import json
import shutil
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hqt.errors import ServiceError
from hqt.harnesses import HARNESSES
from hqt.harnesses.base import FOLDER, programs_in
from hqt.services.harnesses import configurator

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


@pytest.mark.parametrize("name", [name for name in WITH_FLAGS if HARNESSES[name].takes_prompt])
def test_a_prompt_that_looks_like_an_option_is_a_prompt(name):
    command = made(name).build_spawn_config([], prompt="--version").command
    in_one_word = ["--prompt-interactive=--version"]
    special = {"gemini": in_one_word, "qwen": in_one_word, "pi": [" --version"]}
    special |= {"copilot": ["--interactive=--version"], "opencode": ["--prompt=--version"]}
    expected = special.get(name, ["--", "--version"])
    assert command[-len(expected) :] == expected


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
            root.kind == "bind"
            and bind.src.is_relative_to(root.src)
            and not bind.writable
            and bind.src.name not in ("local", "AGENTS.override.md", "SYSTEM.md", "APPEND_SYSTEM.md")
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


def test_what_lies_in_a_sessions_own_folder_is_the_only_conversation_that_it_goes_on_with(tmp_path):
    places = {
        "aider": ".aider/ID.md",
        "crush": ".local/share/crush/ID/crush.db",
        "cursor": ".cursor/chats/h/i/store.db",
    }
    for name, place in places.items():
        home, own = tmp_path / name, tmp_path / f"{name}-own"
        (home / place).parent.mkdir(parents=True)
        (home / place).touch()
        sandboxed = HARNESSES[name](home, PROJECT, {}, "/run/hqt", own)
        assert not sandboxed.has_conversation("ID")
        (own / home.relative_to("/") / place).parent.mkdir(parents=True)
        (own / home.relative_to("/") / place).touch()
        assert sandboxed.has_conversation("ID")
        assert not sandboxed.has_conversation("")
        shutil.rmtree(own)
        assert not sandboxed.has_conversation("ID")


def test_cursor_goes_on_in_a_jail_only_where_the_newest_is_its_own(tmp_path):
    (tmp_path / ".cursor/chats").mkdir(parents=True)
    cursor = made("cursor", tmp_path)
    assert not cursor.has_conversation(cursor.new_conversation())
    assert cursor.build_resume_config([], conversation="newest", sandboxed=True).command[1:] == [
        "--force",
        "--continue",
    ]


@pytest.mark.parametrize("name", [name for name in WITH_FLAGS if not HARNESSES[name].takes_prompt])
def test_a_harness_that_takes_no_prompt_as_it_starts_says_so(world, name):
    said = world.hqt("new", "-d", "-H", name, "-p", "hello", fails=2).stderr
    assert f"{name} takes no prompt as it starts" in said
    assert "hqt send" in said
    assert world.ls() == []


@pytest.mark.parametrize("configuration", [".gitconfig", ".config/git/config", None])
def test_aider_says_that_git_must_know_a_name(tmp_path, configuration):
    if configuration:
        (tmp_path / configuration).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / configuration).write_text("[user]\nname = me\n")
    assert ("git config" in made("aider", tmp_path).setup_hint()) == (configuration is None)


def test_folders_are_made_as_folders():
    assert {bind.create for bind in made("kiro").sandbox_binds()} == {FOLDER, None}


@pytest.mark.parametrize("name", ["gemini", "qwen"])
def test_hooks_are_added_to_the_users_own_and_what_cannot_be_read_is_left(name):
    harness = made(name)
    (settings,) = (bind.src for bind in harness.sandbox_binds() if bind.src.name == "settings.json")
    own = {"matcher": "x", "hooks": [{"type": "command", "command": "mine"}]}
    original = {"model": {"name": "m"}, "hooks": {"SessionStart": [own], "Other": [own]}}
    merged = json.loads(harness.snapshot_content(settings, json.dumps(original).encode()))
    assert merged["model"] == {"name": "m"}
    assert merged["hooks"]["Other"] == [own]
    assert merged["hooks"]["SessionStart"][0] == own
    assert "/run/hqt/status" in merged["hooks"]["SessionStart"][1]["hooks"][0]["command"]
    for unreadable in (b"// a comment\n{}", b"[]", b'{"hooks": 3}', b'{"hooks": {"SessionStart": 3}}', b"\xff"):
        assert harness.snapshot_content(settings, unreadable) == unreadable
    assert json.loads(harness.snapshot_content(settings, b""))["hooks"].keys() >= {"SessionStart"}


def test_gemini_keeps_its_own_name_of_the_project_and_no_path_out_of_its_folder(tmp_path):
    harness = made("gemini", home=tmp_path)
    assert harness.project_name.startswith("hqt-")
    (tmp_path / ".gemini").mkdir()
    projects = tmp_path / ".gemini/projects.json"
    for name, kept in (("p", True), ("../../.ssh", False), ("", False), ("..", False), ("a/b", False), (3, False)):
        projects.write_text(json.dumps({"projects": {str(PROJECT): name, "/other": "secret"}}))
        assert (harness.project_name == name) == kept
        assert "secret" not in harness.snapshot_content(projects, projects.read_bytes()).decode()
    for garbage in ("", "[]", "{", '{"projects": 3}'):
        projects.write_text(garbage)
        assert harness.project_name.startswith("hqt-")


@pytest.mark.parametrize("name", ["gemini", "qwen", "pi"])
def test_a_conversation_that_was_begun_is_found(name, tmp_path):
    harness = made(name, home=tmp_path)
    conversation = harness.new_conversation()
    assert not harness.has_conversation(conversation)
    assert not harness.has_conversation("")
    path = {
        "gemini": lambda: harness.folder / f"tmp/{harness.project_name}/chats/session-2026-{conversation[:8]}.jsonl",
        "qwen": lambda: harness.project_folder / f"chats/{conversation}.jsonl",
        "pi": lambda: Path(harness.build_spawn_config([], conversation=conversation).command[2]),
    }[name]()
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"sessionId": conversation}))
    assert harness.has_conversation(conversation)
    assert not harness.has_conversation(harness.new_conversation())


def test_files_that_a_running_instance_makes_for_a_moment_are_passed_over(tmp_path):
    (tmp_path / "tool.sh").touch()
    goes_on = threading.Event()

    def come_and_go():
        while not goes_on.is_set():
            for number in range(50):
                (tmp_path / f"logs-{number}.sqlite-journal").touch()
            for number in range(50):
                (tmp_path / f"logs-{number}.sqlite-journal").unlink()

    running = threading.Thread(target=come_and_go)
    running.start()
    try:
        found = [[bind.src.name for bind in programs_in(tmp_path)] for _ in range(300)]
    finally:
        goes_on.set()
        running.join()
    assert found == [["tool.sh"]] * 300


def test_the_page_of_facts_is_in_step_with_the_code(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "scripts"))
    script = importlib.import_module("harnesses")
    written = script.PAGE.read_text()
    assert script.page(written) == written, "make harnesses"

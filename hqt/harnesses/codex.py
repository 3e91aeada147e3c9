"""OpenAI Codex CLI. Facts read from 0.171.0: `codex --help`, and traced starts in the jail (docs/harnesses.md)."""

from __future__ import annotations

import json
import os
import re
import tomllib
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from hqt.harnesses.base import Bind, HarnessConfigurator, SpawnConfig, mask, programs_in, snapshot
from hqt.harnesses.usage import Tokens
from hqt.mcp import servers_in, toml_without

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from hqt.harnesses.usage import Usage
    from hqt.mcp import Servers

_ROLLOUT = re.compile(r"rollout-.*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl")
_NO_CONFIGURATION = b"# hqt: written in a way in which single MCP servers cannot be left out; use [mcp_servers.NAME]\n"
_FIRST_LINE_BYTES = 1 << 20
_HOOKS = {
    "SessionStart": "idle",
    "UserPromptSubmit": "working",
    "PermissionRequest": "waiting",
    "PostToolUse": "working",
    "Interrupt": "idle",
    "Stop": "idle",
}
_GUARDED_FILES = {"AGENTS.md": b"", "hooks.json": b"{}\n"}
_GUARDED_FOLDERS = ("hooks", "packages", "plugins", "prompts", "rules", "skills")


class Codex(HarnessConfigurator):
    """Codex, from its npm package (a Node.js script and a static executable) or as that executable alone."""

    name = "codex"
    executable = "codex"
    install_hint = "npm install -g @openai/codex"
    verified = "0.171.0"
    folder_name = ".codex"
    folder_variable = "CODEX_HOME"
    resume_words = ("resume",)
    environment_names = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY")
    says_status = "in a jail"
    input_prompt = "›"  # noqa: RUF001  # its own
    # Without --no-daemon it starts a server from an executable in ~/.codex, which outlives the terminal.
    sandbox_skip_permission_flags = ("--dangerously-bypass-approvals-and-sandbox", "--no-daemon")

    def sandbox_binds(self) -> list[Bind]:
        """Return the folder writable, what it would execute read-only or private, its sockets hidden."""
        return [
            *self._own_folder(_GUARDED_FILES, _GUARDED_FOLDERS),
            Bind(self.folder / "AGENTS.override.md"),
            *programs_in(self.folder),
            mask(self.folder / "app-server-control"),  # the socket of an instance outside the jail
            mask(self.folder / "app-server-daemon"),
            mask(self.folder / "shell_snapshots"),  # sourced by the shells of instances outside the jail
            snapshot(self.folder / "config.toml"),  # names programs to run: mcp_servers, notify, hooks
        ]

    def mcp_servers(self) -> Servers:
        """Return the tables `mcp_servers` of the configuration."""
        try:
            return servers_in(tomllib.loads((self.folder / "config.toml").read_text("utf-8")).get("mcp_servers"))
        except (OSError, ValueError):
            return {}

    def snapshot_content(self, path: Path, original: bytes) -> bytes:
        """Leave out the MCP servers that do not go into the jail."""
        if self.allowed_servers is None or path.name != "config.toml":
            return original
        try:
            text = original.decode()
            names = set(servers_in(tomllib.loads(text).get("mcp_servers")))
            out = names - set(self.allowed_servers)
            left = toml_without(text, out)
            is_out = not out & set(servers_in(tomllib.loads(left).get("mcp_servers")))
        except ValueError:
            return original  # Codex itself says what is wrong with it
        return left.encode() if is_out else _NO_CONFIGURATION

    def conversation_file(self, conversation: str) -> Path | None:
        """Look for the conversation's rollout file."""
        return next((path for found, path in self._rollouts() if found == conversation), None)

    def count(self, entry: Any, usage: Usage) -> None:
        """Count the turns; the record has the model before each, and the sums of the tokens after each answer."""
        payload = entry["payload"]
        match entry["type"], payload.get("type"):
            case "event_msg", "task_started":
                usage.turns += 1
            case "event_msg", "token_count":
                sums = payload["info"]["total_token_usage"]
                cached = sums["cached_input_tokens"]
                usage.set(usage.model, Tokens(sums["input_tokens"] - cached, cached, sums["output_tokens"]))
            case "turn_context", _:
                usage.set(payload["model"], usage.tokens)

    def find_conversation(self, since: datetime, *, claimed: Collection[str], open_files: Collection[Path]) -> str:
        """Return the id of the rollout that the session's own processes hold open, else of the only one it can be."""
        for path in open_files:
            if (match := _ROLLOUT.fullmatch(path.name)) and match[1] not in claimed:
                return match[1]
        candidates = [
            conversation
            for conversation, path in self._rollouts()
            if conversation not in claimed and self._is_of_this_project(path, since)
        ]
        return candidates[0] if len(candidates) == 1 else ""

    def setup_hint(self) -> str:
        """Without a login or a configured provider, Codex asks for one at every start."""
        has_key = any(self.environment.get(name) for name in ("OPENAI_API_KEY", "CODEX_API_KEY"))
        if has_key or os.path.exists(self.folder / "auth.json") or os.path.exists(self.folder / "config.toml"):
            return ""
        return "Codex was never set up here: run `codex login` once, outside the jail"

    def _rollouts(self) -> Iterator[tuple[str, Path]]:
        for path in (self.folder / "sessions").glob("[0-9]*/[0-9]*/[0-9]*/rollout-*.jsonl"):
            if match := _ROLLOUT.fullmatch(path.name):
                yield match[1], path

    def _is_of_this_project(self, rollout: Path, since: datetime) -> bool:
        # A jail can write these files: no link, no special file, no endless line is read.
        if os.path.islink(rollout) or not os.path.isfile(rollout):
            return False
        try:
            with rollout.open("rb") as lines:
                payload = json.loads(lines.readline(_FIRST_LINE_BYTES))["payload"]
            started = datetime.fromisoformat(payload["timestamp"])
            return bool(payload["cwd"] == str(self.project) and started >= since - timedelta(seconds=1))
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _config(self, *arguments: str, sandboxed: bool) -> SpawnConfig:
        """Add, in a jail, the hooks by which it says what it is doing.

        Hooks run only once the user trusts them, or all of them do by a flag: outside a jail that would trust those of
        the project too, so there its status is a guess.
        """
        if not sandboxed:
            return super()._config(*arguments, sandboxed=sandboxed)
        hooks = [word for event, status in _HOOKS.items() for word in ("-c", self._hook(event, status))]
        return super()._config("--dangerously-bypass-hook-trust", *hooks, *arguments, sandboxed=sandboxed)

    def _hook(self, event: str, status: str) -> str:
        command = json.dumps(self._saying(status))  # of ASCII: what is a JSON string is a TOML string
        return f'hooks.{event}=[{{hooks=[{{type="command",command={command}}}]}}]'

"""Claude Code. Facts read from 2.1.197: `claude --help`, traced starts, and starts in the jail (docs/harnesses.md)."""

from __future__ import annotations

import json
import os
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from hqt import nofollow
from hqt.harnesses.base import FOLDER, Bind, HarnessConfigurator, SpawnConfig, json_of, mask, programs_in, snapshot
from hqt.harnesses.usage import Tokens
from hqt.mcp import servers_in

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hqt.harnesses.usage import Usage
    from hqt.mcp import Servers

_MCP_BYTES = 1 << 20
_GUARDED_FILES = {"settings.json": b"{}\n", "settings.local.json": b"{}\n", "CLAUDE.md": b""}
_GUARDED_FOLDERS = ("agents", "commands", "hooks", "output-styles", "plugins", "rules", "skills", "workflows")


class Claude(HarnessConfigurator):
    """Claude Code, from its npm package or its native installer: one executable."""

    name = "claude"
    executable = "claude"
    install_hint = "npm install -g @anthropic-ai/claude-code"
    verified = "2.1.197"
    folder_name = ".claude"
    folder_variable = "CLAUDE_CONFIG_DIR"
    conversation_option = "--session-id"
    resume_words = ("--resume",)
    environment_names = (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_CUSTOM_HEADERS",
        "ANTHROPIC_MODEL",
        "ANTHROPIC_DEFAULT_HAIKU_MODEL",
        "ANTHROPIC_DEFAULT_OPUS_MODEL",
        "ANTHROPIC_DEFAULT_SONNET_MODEL",
        "CLAUDE_CODE_OAUTH_TOKEN",
    )
    # Run by root, it refuses the flag below unless IS_SANDBOX says where it is. Its self-update would fail in the jail.
    sandbox_environment: ClassVar[Mapping[str, str]] = {"IS_SANDBOX": "1", "DISABLE_AUTOUPDATER": "1"}
    says_status = "always"
    input_prompt = "❯"  # noqa: RUF001  # its own
    sandbox_skip_permission_flags = ("--dangerously-skip-permissions",)

    @property
    def state_file(self) -> Path:
        """`~/.claude.json`: onboarding, account, trust and MCP servers; inside the folder when that was moved."""
        return (self.folder if self.environment.get(self.folder_variable) else self.home) / ".claude.json"

    @property
    def conversations(self) -> Path:
        """The folder of this project's conversations: the path, every character outside [A-Za-z0-9] as a dash."""
        return self.folder / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(self.project))

    def sandbox_binds(self) -> list[Bind]:
        """Return the folder writable, what it would execute read-only, and everything of other projects hidden."""
        return [
            *self._own_folder(_GUARDED_FILES, _GUARDED_FOLDERS),
            Bind(self.folder / "local"),  # an older installer put the program itself here
            *programs_in(self.folder),
            mask(self.folder / "ide"),  # tokens of a running editor's local server
            mask(self.folder / "sessions"),  # the running instances, by process id
            mask(self.folder / "shell-snapshots"),  # sourced by the shells of instances outside the jail
            mask(self.folder / "file-history"),  # contents of other projects' files
            mask(self.folder / "backups"),  # copies of ~/.claude.json
            mask(self.folder / "projects"),
            Bind(self.conversations, writable=True, create=FOLDER),
            snapshot(self.folder / "history.jsonl"),
            snapshot(self.state_file),
        ]

    def mcp_servers(self) -> Servers:
        """Return the user's, those for this project, and the project's own in `.mcp.json`."""
        state = json_of(self.state_file)
        state = state if isinstance(state, dict) else {}
        projects = state.get("projects")
        own = projects.get(str(self.project)) if isinstance(projects, dict) else None
        return {
            **self._of_project(),
            **servers_in(state.get("mcpServers")),
            **servers_in(own.get("mcpServers") if isinstance(own, dict) else None),
        }

    def _of_project(self) -> Servers:
        text = nofollow.read_file(self.project, PurePath(".mcp.json"), _MCP_BYTES)
        try:
            read = json.loads(text or b"{}")
        except ValueError:
            return {}
        return servers_in(read.get("mcpServers")) if isinstance(read, dict) else {}

    def snapshot_content(self, path: Path, original: bytes) -> bytes:
        """Keep only this project's part of the file; in `~/.claude.json` it is trusted, so that nothing is asked."""
        if path.name == "history.jsonl":
            return b"".join(line for line in original.splitlines(keepends=True) if self._is_of_this_project(line))
        try:
            state = json.loads(original or b"{}")
        except ValueError:
            return original  # Claude Code itself tells the user that its file is damaged
        if not isinstance(state, dict):
            return original
        projects = state.get("projects")
        own = projects.get(str(self.project)) if isinstance(projects, dict) else None
        trusted = {**self._allowed(own if isinstance(own, dict) else {}), "hasTrustDialogAccepted": True}
        return json.dumps({**self._allowed(state), "projects": {str(self.project): trusted}}).encode()

    def _is_of_this_project(self, line: bytes) -> bool:
        try:
            return bool(json.loads(line)["project"] == str(self.project))
        except (ValueError, KeyError, TypeError):
            return False

    def _record(self, conversation: str) -> Path:
        """Return the conversation's file, which is written from the first turn on."""
        return self.conversations / f"{conversation}.jsonl"

    def count(self, entry: Any, usage: Usage) -> None:
        """Count what a person typed, and each answer once: its entries share an id. Subagents keep other records."""
        if entry["type"] == "user":
            usage.turns += entry["origin"]["kind"] == "human"
        elif entry["type"] == "assistant" and entry["message"]["model"] != "<synthetic>":
            answer, used = entry["message"], entry["message"]["usage"]
            read = used["input_tokens"] + used["cache_creation_input_tokens"]
            tokens = Tokens(read, used["cache_read_input_tokens"], used["output_tokens"])
            usage.add(answer["id"], answer["model"], tokens)

    def setup_hint(self) -> str:
        """Without `~/.claude.json` every start in the jail is a first start."""
        if os.path.exists(self.state_file):
            return ""
        return "Claude Code was never set up here: run `claude` once, outside the jail, to log in"

    def _config(self, *arguments: str, sandboxed: bool) -> SpawnConfig:
        """Add settings, which Claude Code merges with the user's own."""
        # The flag alone still asks once to accept the mode, with "No, exit" as the default answer.
        accepted = {"skipDangerousModePermissionPrompt": True} if sandboxed else {}
        left_out = {"disabledMcpjsonServers": sorted(self.left_out_servers)} if self.left_out_servers else {}
        settings = json.dumps({**accepted, **left_out, "hooks": self._hooks()})
        return super()._config("--settings", settings, *arguments, sandboxed=sandboxed)

    def _hooks(self) -> dict[str, list[dict[str, object]]]:
        """Return the hooks by which it says what it is doing."""

        def hook(status: str, matcher: str = "") -> dict[str, object]:
            command = {"type": "command", "command": self._saying(status), "timeout": 5}
            return {**({"matcher": matcher} if matcher else {}), "hooks": [command]}

        return {
            "SessionStart": [hook("idle")],
            "UserPromptSubmit": [hook("working")],
            "PreToolUse": [hook("waiting", "AskUserQuestion|ExitPlanMode")],
            "PostToolUse": [hook("working")],
            # A turn that the user interrupts runs no Stop hook; idle_prompt comes once it has sat there for a minute.
            "Notification": [hook("waiting", "permission_prompt|elicitation_dialog"), hook("idle", "idle_prompt")],
            "Stop": [hook("idle")],
        }

"""Qwen Code. Facts read from 0.15.10: `qwen --help`, and starts in the jail (docs/harnesses.md)."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from hqt.harnesses.base import FOLDER, Bind, HarnessConfigurator, json_of, mask, programs_in, snapshot, with_hooks
from hqt.harnesses.usage import Tokens
from hqt.mcp import servers_in

if TYPE_CHECKING:
    from pathlib import Path

    from hqt.harnesses.usage import Usage
    from hqt.mcp import Servers

_GUARDED_FILES = {"QWEN.md": b"", ".env": b"", "trustedFolders.json": b"{}\n"}
_GUARDED_FOLDERS = ("agents", "commands", "extensions", "hooks", "skills")
_HOOKS = {
    "SessionStart": "idle",
    "UserPromptSubmit": "working",
    "PermissionRequest": "waiting",
    "PostToolUse": "working",
    "Stop": "idle",
}


class Qwen(HarnessConfigurator):
    """Qwen Code, from its npm package: a Node.js program."""

    name = "qwen"
    executable = "qwen"
    install_hint = "npm install -g @qwen-code/qwen-code"
    verified = "0.15.10"
    folder_name = ".qwen"
    conversation_option = "--session-id"  # once
    resume_words = ("--resume",)
    prompt_option = "--prompt-interactive"
    environment_names = ("DASHSCOPE_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL")
    resume_grace_s = 8.0
    says_status = "in a jail"
    takes_keys = True
    sandbox_skip_permission_flags = ("--yolo",)

    @property
    def project_folder(self) -> Path:
        """The folder of this project's conversations: the path, every character outside [A-Za-z0-9] as a dash."""
        return self.folder / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(self.project))

    def sandbox_binds(self) -> list[Bind]:
        """Return the folder writable, what it would execute read-only or private, and other projects hidden."""
        return [
            *self._own_folder(_GUARDED_FILES, _GUARDED_FOLDERS),
            *programs_in(self.folder),
            mask(self.folder / "debug"),
            mask(self.folder / "ide"),  # tokens of a running editor's local server
            mask(self.folder / "tmp"),  # prompts that were given in other projects
            mask(self.folder / "projects"),
            Bind(self.project_folder, writable=True, create=FOLDER),
            snapshot(self.folder / "settings.json"),  # names programs to run: mcpServers, hooks
        ]

    def mcp_servers(self) -> Servers:
        """Return those of the settings."""
        settings = json_of(self.folder / "settings.json")
        return servers_in(settings.get("mcpServers") if isinstance(settings, dict) else None)

    def snapshot_content(self, path: Path, original: bytes) -> bytes:
        """Add the hooks by which it says what it is doing; the user's own stay."""
        del path
        return with_hooks(self._allowed_in(original), self._saying_hooks(_HOOKS))

    def _record(self, conversation: str) -> Path:
        """Return the conversation's file, which is written from the first turn on."""
        return self.project_folder / "chats" / f"{conversation}.jsonl"

    def count(self, entry: Any, usage: Usage) -> None:
        """Count what a person typed, and the answers."""
        if entry["type"] == "user":
            usage.turns += 1
        elif entry["type"] == "assistant":
            used = entry["usageMetadata"]
            cached = used["cachedContentTokenCount"]
            written = used["candidatesTokenCount"] + used["thoughtsTokenCount"]
            usage.add(entry["uuid"], entry["model"], Tokens(used["promptTokenCount"] - cached, cached, written))

    def setup_hint(self) -> str:
        """Without settings, it asks how to log in."""
        if os.path.exists(self.folder / "settings.json") or self.environment.get("OPENAI_API_KEY"):
            return ""
        return "Qwen Code was never set up here: run `qwen` once, outside the jail, to log in"

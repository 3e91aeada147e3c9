"""Gemini CLI. Facts read from 0.61.0: `gemini --help`, and starts in the jail (docs/harnesses.md)."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from hqt.harnesses.base import Bind, HarnessConfigurator, json_of, mask, private, programs_in, snapshot, with_hooks
from hqt.harnesses.usage import Tokens
from hqt.mcp import servers_in

if TYPE_CHECKING:
    from pathlib import Path

    from hqt.harnesses.usage import Usage
    from hqt.mcp import Servers

_GUARDED_FILES = {"GEMINI.md": b"", ".env": b"", "trustedFolders.json": b"{}\n"}
_GUARDED_FOLDERS = ("agents", "commands", "extensions", "hooks", "policies", "skills")
_HOOKS = {"SessionStart": "idle", "BeforeAgent": "working", "AfterAgent": "idle"}
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")


class Gemini(HarnessConfigurator):
    """Gemini CLI, from its npm package: a Node.js program."""

    name = "gemini"
    executable = "gemini"
    install_hint = "npm install -g @google/gemini-cli"
    verified = "0.61.0"
    folder_name = ".gemini"
    conversation_option = "--session-id"  # once
    resume_words = ("--resume",)
    prompt_option = "--prompt-interactive"
    environment_names = (
        "GEMINI_API_KEY",
        "GEMINI_MODEL",
        "GOOGLE_API_KEY",
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_USE_VERTEXAI",
    )
    resume_grace_s = 8.0
    says_status = "in a jail"
    takes_keys = True
    sandbox_skip_permission_flags = ("--yolo", "--skip-trust")

    @property
    def project_name(self) -> str:
        """The name under which it keeps this project's files: its own choice, where it has made one."""
        try:
            name = json.loads((self.folder / "projects.json").read_bytes())["projects"][str(self.project)]
        except (OSError, ValueError, KeyError, TypeError):
            name = None
        if isinstance(name, str) and _NAME.fullmatch(name):
            return name
        import hashlib  # noqa: PLC0415  # a listing, which imports every harness, does not need it

        return f"hqt-{hashlib.sha256(os.fsencode(self.project)).hexdigest()[:16]}"

    @property
    def records(self) -> Path:
        """The folder above its records: they are the session's own in a jail, though not the rest of its folder."""
        return self.private_folders / self.folder.relative_to("/") if self.private_folders else self.folder

    def sandbox_binds(self) -> list[Bind]:
        """Return the folder writable, what it would execute read-only or private, and other projects hidden."""
        own = self.project_name
        return [
            *self._own_folder(_GUARDED_FILES, _GUARDED_FOLDERS),
            *programs_in(self.folder),
            mask(self.folder / "ide"),  # tokens of a running editor's local server
            mask(self.folder / "tmp"),
            mask(self.folder / "history"),
            # As it starts, it removes conversations of the project that have no turn yet: another session's, too.
            private(self.folder / "tmp" / own),
            private(self.folder / "history" / own),
            snapshot(self.folder / "projects.json"),
            snapshot(self.folder / "settings.json"),  # names programs to run: mcpServers, hooks
        ]

    def mcp_servers(self) -> Servers:
        """Return those of the settings."""
        settings = json_of(self.folder / "settings.json")
        return servers_in(settings.get("mcpServers") if isinstance(settings, dict) else None)

    def snapshot_content(self, path: Path, original: bytes) -> bytes:
        """Keep this project alone; in the settings, add the hooks by which it says what it is doing."""
        if path.name == "projects.json":
            return json.dumps({"projects": {str(self.project): self.project_name}}).encode()
        return with_hooks(self._allowed_in(original), self._saying_hooks(_HOOKS))

    def conversation_file(self, conversation: str) -> Path | None:
        """Look for the conversation's file, whose name ends with the beginning of its id."""
        if not conversation:
            return None
        chats = self.records / "tmp" / self.project_name / "chats"
        found = chats.glob(f"session-*-{conversation[:8]}.json*")
        return next((path for path in found if _is_of(path, conversation)), None)

    def count(self, entry: Any, usage: Usage) -> None:
        """Count what a person typed, and each answer once: it is written again with what its tools returned."""
        if entry["type"] == "user":
            usage.turns += not any("functionResponse" in part for part in entry["content"])
        elif entry["type"] == "gemini":
            used = entry["tokens"]
            tokens = Tokens(used["input"] - used["cached"], used["cached"], used["output"] + used["thoughts"])
            usage.add(entry["id"], entry["model"], tokens)

    def setup_hint(self) -> str:
        """Without settings, it asks how to log in."""
        if os.path.exists(self.folder / "settings.json"):
            return ""
        return "Gemini CLI was never set up here: run `gemini` once, outside the jail, to log in"


def _is_of(path: Path, conversation: str) -> bool:
    """Tell whether the file, which a jail could have written, is that conversation."""
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    with path.open("rb") as file:
        return conversation.encode() in file.read(200)

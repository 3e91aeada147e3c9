"""Pi. Facts read from 0.74.2: `pi --help`, and starts in the jail (docs/harnesses.md)."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from hqt.harnesses.base import FOLDER, Bind, HarnessConfigurator, mask, programs_in, snapshot
from hqt.harnesses.usage import Tokens

if TYPE_CHECKING:
    from pathlib import Path

    from hqt.harnesses.usage import Usage

_GUARDED_FILES = {"AGENTS.md": b"", "models.json": b'{"providers": {}}\n'}  # models.json may name commands
_GUARDED_FOLDERS = ("bin", "extensions", "git", "npm", "prompts", "skills", "themes", "tools")


class Pi(HarnessConfigurator):
    """Pi, from its npm package: a Node.js program. It never asks for a permission."""

    name = "pi"
    executable = "pi"
    install_hint = "npm install -g @earendil-works/pi-coding-agent"
    verified = "0.74.2"
    folder_name = ".pi/agent"
    folder_variable = "PI_CODING_AGENT_DIR"
    conversation_option = "--session"  # which takes its file
    resume_words = ("--session",)
    takes_keys = True
    environment_names = (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_OAUTH_TOKEN",
        "GEMINI_API_KEY",
        "GROQ_API_KEY",
        "MISTRAL_API_KEY",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "XAI_API_KEY",
    )

    @property
    def conversations(self) -> Path:
        """The folder of this project's conversations: the path, its separators as dashes."""
        return self.folder / "sessions" / f"--{re.sub(r'[/:]', '-', str(self.project).lstrip('/'))}--"

    def sandbox_binds(self) -> list[Bind]:
        """Return the folder writable, what it would execute read-only or private, and other projects hidden."""
        return [
            *self._own_folder(_GUARDED_FILES, _GUARDED_FOLDERS),
            Bind(self.folder / "SYSTEM.md"),
            Bind(self.folder / "APPEND_SYSTEM.md"),
            *programs_in(self.folder),
            mask(self.folder / "sessions"),
            Bind(self.conversations, writable=True, create=FOLDER),
            snapshot(self.folder / "settings.json"),  # names packages to load and a shell to use
        ]

    def count(self, entry: Any, usage: Usage) -> None:
        """Count what a person typed, and the answers."""
        message = entry["message"]
        if message["role"] == "user":
            usage.turns += 1
        elif message["role"] == "assistant":
            used = message["usage"]
            tokens = Tokens(used["input"] + used["cacheWrite"], used["cacheRead"], used["output"])
            usage.add(entry["id"], message["model"], tokens)

    def setup_hint(self) -> str:
        """Without a login, a key or a provider of the user's own, it has no model."""
        known = any(os.path.exists(self.folder / name) for name in ("auth.json", "models.json"))
        if known or any(self.environment.get(name) for name in self.environment_names):
            return ""
        return "Pi was never set up here: run `pi` once, outside the jail, and /login"

    def _conversation_argument(self, conversation: str) -> str:
        return str(self._record(conversation))

    def _record(self, conversation: str) -> Path:
        """Return the conversation's file, which is written from the first answer on."""
        return self.conversations / f"hqt-{conversation}.jsonl"

    def _prompt_arguments(self, prompt: str) -> list[str]:
        # It knows no `--`: a prompt that would be taken for an option or a file is led in by a space.
        return [f" {prompt}" if prompt.startswith(("-", "@")) else prompt]

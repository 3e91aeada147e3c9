"""Aider. Facts read from 0.86.2: `aider --help`, its source, and starts in the jail (docs/harnesses.md)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from hqt.harnesses.base import Bind, HarnessConfigurator, SpawnConfig, private, snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

_READ = (".aider.conf.yml", ".aider.model.metadata.json", ".aider.model.settings.yml")


class Aider(HarnessConfigurator):
    """Aider, from PyPI: a Python program.

    Its conversations lie in the project, in one file of all, unless each start names one of its own. In its folder it
    keeps variables that any later start takes into its environment: so the session has a folder of its own.
    """

    name = "aider"
    executable = "aider"
    install_hint = "uv tool install --python 3.12 aider-chat"
    verified = "0.86.2"
    folder_name = ".aider"
    folder_is_private = True
    conversation_option = "--chat-history-file"
    resume_words = ("--restore-chat-history", "--chat-history-file")
    takes_prompt = False
    takes_keys = True
    input_prompt = ">"
    environment_names = (
        "AIDER_MODEL",
        "ANTHROPIC_API_KEY",
        "DEEPSEEK_API_KEY",
        "GEMINI_API_KEY",
        "GROQ_API_KEY",
        "OPENAI_API_BASE",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "XAI_API_KEY",
    )
    sandbox_environment: ClassVar[Mapping[str, str]] = {
        "AIDER_CHECK_UPDATE": "false"
    }  # it asks to install the newer one, and could not
    sandbox_skip_permission_flags = ("--yes-always",)

    def sandbox_binds(self) -> list[Bind]:
        """Return a folder of its own with the user's login, and the user's settings read-only."""
        return [
            private(self.folder),
            snapshot(self.folder / "oauth-keys.env"),
            *(Bind(self.home / name) for name in _READ),
        ]

    def has_conversation(self, conversation: str) -> bool:
        """Tell whether there is one: it is written in Markdown, so that what was used cannot be counted."""
        return bool(conversation) and (self.records / f"{conversation}.md").is_file()

    def setup_hint(self) -> str:
        """Where git knows no name, Aider writes one into the project's `.git/config`, which a jail guards: it ends."""
        for path in (self.home / ".gitconfig", self.home / ".config/git/config", self.project / ".git/config"):
            with suppress(OSError):
                if b"[user]" in path.read_bytes():
                    return ""
        return "Aider ends in a jail where git knows nobody: git config --global user.name NAME, and user.email"

    def _conversation_argument(self, conversation: str) -> str:
        return str(self.folder / f"{conversation}.md")

    def _config(self, *arguments: str, sandboxed: bool) -> SpawnConfig:
        # It keeps what was typed in the project, and stops at each line where that is read-only.
        typed = ["--input-history-file", str(self.folder / "input.history")] if sandboxed else []
        return super()._config(*typed, *arguments, sandboxed=sandboxed)

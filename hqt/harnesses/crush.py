"""Crush. From its public source only: no package registry has the binary itself (docs/harnesses.md)."""

from __future__ import annotations

from hqt.harnesses.base import Bind, HarnessConfigurator, private, snapshot

_CONFIGURATION = ("crush.json", "commands", "skills")


class Crush(HarnessConfigurator):
    """Crush: one executable. It keeps a project's conversations in one database, unless each start names its own."""

    name = "crush"
    executable = "crush"
    install_hint = "npm install -g @charmland/crush"
    folder_name = ".local/share/crush"
    folder_is_private = True
    conversation_option = "--data-dir"
    resume_words = ("--continue", "--data-dir")  # the newest in that database
    takes_prompt = False
    takes_keys = True
    environment_names = (
        "ANTHROPIC_API_KEY",
        "AZURE_OPENAI_API_ENDPOINT",
        "AZURE_OPENAI_API_KEY",
        "CRUSH_DISABLE_METRICS",
        "GEMINI_API_KEY",
        "GROQ_API_KEY",
        "HYPER_API_KEY",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
    )
    sandbox_skip_permission_flags = ("--yolo",)

    def sandbox_binds(self) -> list[Bind]:
        """Return what the user wrote for Crush read-only, and a folder of its own with the login in it."""
        configuration = self.home / ".config/crush"
        return [
            *(Bind(configuration / name) for name in _CONFIGURATION),  # names commands, of servers and hooks
            private(self.folder),
            snapshot(self.folder / "crush.json", empty=b"{}"),
        ]

    def has_conversation(self, conversation: str) -> bool:
        """Tell whether its database is there."""
        return bool(conversation) and (self.records / conversation / "crush.db").is_file()

    def _conversation_argument(self, conversation: str) -> str:
        return str(self.folder / conversation)

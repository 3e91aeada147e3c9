"""Cursor's agent. From its public documentation only: the binary is on no package registry (docs/harnesses.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hqt.harnesses.base import Bind, HarnessConfigurator, SpawnConfig, private, snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

_READ = ("AGENTS.md", "agents", "commands", "hooks", "hooks.json", "mcp.json", "rules", "skills")


class Cursor(HarnessConfigurator):
    """Cursor's agent for the terminal.

    Its folder holds every project's conversations and whom they were told to trust, and it chooses their ids itself: so
    the session has a folder of its own, in which the newest is its own.
    """

    name = "cursor"
    executable = "cursor-agent"
    install_hint = "see the installation page of Cursor CLI"
    folder_name = ".cursor"
    folder_is_private = True
    resume_words = ("--continue",)
    takes_keys = True
    environment_names = ("CURSOR_API_KEY",)
    sandbox_skip_permission_flags = ("--force",)

    def sandbox_binds(self) -> list[Bind]:
        """Return folders of its own, with what the user wrote for it read-only, its settings and its login."""
        return [
            Bind(self.home / ".local/share/cursor-agent"),  # the program
            private(self.folder),
            *(Bind(self.folder / name) for name in _READ),
            snapshot(self.folder / "cli-config.json", empty=b"{}"),
            private(self.home / ".config/cursor"),
            snapshot(self.home / ".config/cursor/auth.json", empty=b"{}"),
        ]

    def new_conversation(self) -> str:
        """Return a word that stands for the newest of its own folder."""
        return "newest"

    def has_conversation(self, conversation: str) -> bool:
        """Tell whether there is one in its own folder; outside a jail, the newest may be another session's."""
        return bool(conversation) and self.private_folders is not None and (self.records / "chats").is_dir()

    def build_resume_config(self, args: Sequence[str], *, conversation: str, sandboxed: bool = False) -> SpawnConfig:
        """Return the command that goes on with the newest, which takes no id."""
        del conversation
        return self._config(*self.resume_words, *args, sandboxed=sandboxed)

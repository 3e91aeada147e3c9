"""Kiro CLI. From its public documentation only: the binary is on no package registry (docs/harnesses.md)."""

from __future__ import annotations

from hqt.harnesses.base import Bind, HarnessConfigurator, SpawnConfig

_GUARDED_FOLDERS = ("agents", "hooks", "powers", "prompts", "settings", "skills", "steering")


class Kiro(HarnessConfigurator):
    """Kiro's terminal chat. Its conversation ids cannot be chosen, nor found exactly: every start is a fresh one."""

    name = "kiro"
    executable = "kiro-cli"
    install_hint = "see the installation page of Kiro CLI"
    folder_name = ".kiro"
    environment_names = ("KIRO_API_KEY", "AWS_PROFILE", "AWS_REGION")
    sandbox_skip_permission_flags = ("--trust-all-tools",)

    def sandbox_binds(self) -> list[Bind]:
        """Return the folder writable, with what it would execute read-only; the older state folder if it exists."""
        return [*self._own_folder({}, _GUARDED_FOLDERS), Bind(self.home / ".local/share/kiro-cli", writable=True)]

    def _config(self, *arguments: str, sandboxed: bool) -> SpawnConfig:
        return super()._config("chat", *arguments, sandboxed=sandboxed)

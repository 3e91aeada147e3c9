"""Amp. Facts read from 0.0.1790142911: `amp --help`, and starts in the jail up to its login (docs/harnesses.md)."""

from __future__ import annotations

from hqt.harnesses.base import Bind, HarnessConfigurator, private, snapshot

_CONFIGURATION = ("AGENTS.md", "plugins", "settings.json", "settings.jsonc", "skills", "tools")


class Amp(HarnessConfigurator):
    """Amp, from its npm package. Its threads lie on its server, which names them: every start is a fresh one."""

    name = "amp"
    executable = "amp"
    install_hint = "npm install -g @sourcegraph/amp"
    verified = "0.0.1790142911"
    folder_name = ".local/share/amp"
    folder_is_private = True
    takes_prompt = False
    takes_keys = True
    environment_names = ("AMP_API_KEY", "AMP_URL")

    def sandbox_binds(self) -> list[Bind]:
        """Return what the user wrote for Amp read-only, and a folder of its own with the login in it."""
        configuration = self.home / ".config/amp"
        return [
            *(Bind(configuration / name) for name in _CONFIGURATION),
            private(self.folder),  # with where a running editor listens
            snapshot(self.folder / "secrets.json", empty=b"{}"),
        ]

    def setup_hint(self) -> str:
        """Without a login or a key it asks for one, which a jail would keep for itself."""
        if self.environment.get("AMP_API_KEY") or (self.folder / "secrets.json").exists():
            return ""
        return "Amp has no login here: run `amp login` once, outside the jail, or export AMP_API_KEY"

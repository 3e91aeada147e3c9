"""The settings in force, and where each comes from."""

from __future__ import annotations

import os
import shlex
from dataclasses import asdict, dataclass

from hqt import config, paths
from hqt.errors import HqtError
from hqt.services.requests import default_harness
from hqt.tmux import socket_path


@dataclass(frozen=True, slots=True)
class Setting:
    """A key of the configuration, the value that counts at this moment, and what set it."""

    key: str
    value: str | bool
    source: str

    def to_json(self) -> dict[str, object]:
        """Return the object that `hqt config --json` prints. Keys are only ever added."""
        return asdict(self)


def effective() -> list[Setting]:
    """Return every setting.

    Raises:
        HqtError: the configuration file cannot be read.

    """
    settings = config.load()
    file = paths.config_file()
    sources = {key: f"{file}:{line}" for key, line in settings.lines.items()}
    for variable in ("TMUX", "HQT_TMUX_SOCKET"):  # the later one wins
        if os.environ.get(variable):
            sources["tmux_socket"] = f"${variable}"
    values: dict[str, str | bool] = {
        "harness": settings.harness or _first_installed(),
        "sandbox": settings.sandbox,
        "hide": ", ".join(settings.hide),
        "tmux_socket": str(socket_path(configured=settings.tmux_socket)),
        "theme": config.theme(settings),
        "notify": shlex.join(settings.notify),
        "desktop": settings.desktop,
        "harnesses": ", ".join(settings.harnesses),
    }
    unset = {"harness": "the first that is installed", "theme": "the terminal's background"}
    return [Setting(key, value, sources.get(key, unset.get(key, "default"))) for key, value in values.items()]


def _first_installed() -> str:
    try:
        return default_harness()
    except HqtError:
        return ""

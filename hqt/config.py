"""`config.toml`: every key is optional, an unknown one is an error."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields

from hqt import paths
from hqt.errors import HqtError


@dataclass(frozen=True, slots=True)
class Config:
    """The user's settings: the harness taken when none is named, and the tmux socket (as `HQT_TMUX_SOCKET`)."""

    harness: str = ""
    tmux_socket: str = ""


def load() -> Config:
    """Read the configuration file, if there is one.

    Raises:
        HqtError: it cannot be read, or holds what hqt does not know.

    """
    path = paths.config_file()
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return Config()
    except (OSError, ValueError) as error:
        raise HqtError(f"{path} cannot be read: {error}", "mend it, or move it away") from error
    known = [field.name for field in fields(Config)]
    for key, value in values.items():
        if key not in known:
            raise HqtError(f"{path}: unknown key {key!r}", f"known keys: {', '.join(known)}")
        if not isinstance(value, str):
            raise HqtError(f"{path}: {key} must be a string", f'for example: {key} = "…"')
    return Config(**values)

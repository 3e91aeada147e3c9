"""`config.toml`: every key is optional; one that is not known, or holds what it cannot, is an error with its line."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from hqt import paths
from hqt.errors import HqtError
from hqt.harnesses import HARNESSES
from hqt.harnesses.declared import declared
from hqt.hiding import checked

if TYPE_CHECKING:
    from pathlib import Path

    from hqt.harnesses.base import HarnessConfigurator


@dataclass(frozen=True, slots=True)
class Config:
    """The user's settings, and the lines that they were read from."""

    harness: str = ""
    """The harness taken when none is named."""
    sandbox: bool = False
    """Whether a new session is sandboxed when neither --sandbox nor --no-sandbox is given."""
    hide: tuple[str, ...] = ()
    """Patterns of what of a project every jail is shown empty."""
    tmux_socket: str = ""
    """The tmux server, as HQT_TMUX_SOCKET names it."""
    theme: str = ""
    """The colours of the dialog and the dashboard; empty: as the terminal's background."""
    notify: tuple[str, ...] = ()
    """The program, with its arguments, that is run when a session waits for an answer or has ended."""
    desktop: bool = False
    """Whether notify-send is run then."""
    harnesses: dict[str, type[HarnessConfigurator]] = field(default_factory=dict)
    """Those that are declared here, by their names."""
    lines: dict[str, int] = field(default_factory=dict)


KEYS = {setting.name: type(setting.default) for setting in fields(Config) if setting.default is not MISSING}
_OF_SANDBOX = {"default": bool, "hide": tuple}
"""What the table `[sandbox]` may hold, in place of `sandbox = true`; `hide` stands in it alone."""
_NOWHERE_ELSE = ("hide",)
KEYS["harnesses"] = dict
"""What may be set, and the type of its value."""
THEMES = ("dark", "light")
_EXAMPLES = {str: '"…"', bool: "true or false", tuple: '["program", "argument"]', dict: "a table"}


def load() -> Config:
    """Read the configuration file, if there is one.

    Raises:
        HqtError: it cannot be read, or holds what hqt does not know; with its line.

    """
    path = paths.config_file()
    try:
        text = path.read_text("utf-8")
        values = tomllib.loads(text)
    except FileNotFoundError:
        return Config()
    except (OSError, ValueError) as error:
        raise HqtError(f"{path} cannot be read: {error}", "mend it, or move it away") from error
    lines = {key: _line_of(key, text) for key in values}
    hide = _hide(values, lines, path, text)
    for key, value in values.items():
        if key not in KEYS or key in _NOWHERE_ELSE:
            keys = ", ".join(other for other in KEYS if other not in _NOWHERE_ELSE)
            raise HqtError(f"{path}:{lines[key]}: unknown key {key!r}", f"known keys: {keys}")
        if type(value) is list and all(type(word) is str for word in value):
            values[key] = tuple(value)
        if type(values[key]) is not KEYS[key]:
            example = f"{key} = {_EXAMPLES[KEYS[key]]}"
            raise HqtError(f"{path}:{lines[key]}: {key} cannot be {value!r}", f"for example: {example}")
    values["harnesses"] = {
        name: _declared(name, table, f"{path}:{_line_of(f'harnesses.{name}', text)}")
        for name, table in values.get("harnesses", {}).items()
    }
    for key, known in (("harness", (*HARNESSES, *values["harnesses"])), ("theme", THEMES)):
        if values.get(key, "") not in ("", *known):
            raise HqtError(
                f"{path}:{lines[key]}: there is no {key} named {values[key]!r}", f"known: {', '.join(known)}"
            )
    return Config(**values, hide=hide, lines=lines)


def _hide(values: dict[str, Any], lines: dict[str, int], path: Path, text: str) -> tuple[str, ...]:
    """Take the table `[sandbox]` apart: its `default` is what `sandbox = true` says, its patterns are returned."""
    table = values.get("sandbox")
    if not isinstance(table, dict):
        return ()
    for key, value in table.items():
        line = _line_of(key, text)
        if key not in _OF_SANDBOX:
            raise HqtError(f"{path}:{line}: unknown key {key!r} in [sandbox]", f"known keys: {', '.join(_OF_SANDBOX)}")
        is_list = type(value) is list and all(type(word) is str for word in value)
        if type(value) is not _OF_SANDBOX[key] and not (key == "hide" and is_list):
            raise HqtError(f"{path}:{line}: {key} cannot be {value!r}", 'for example: default = true, hide = [".env"]')
    values["sandbox"] = table.get("default", False)
    lines["hide"] = _line_of("hide", text)
    try:
        return tuple(map(checked, table.get("hide", ())))
    except ValueError as error:
        raise HqtError(f"{path}:{lines['hide']}: hide: {error}", "docs/configuration.md has examples") from error


def theme(settings: Config) -> str:
    """Return the theme in force: the one that is set, else light where COLORFGBG ends in a light colour."""
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return settings.theme or ("light" if background in {"7", *map(str, range(9, 16))} else "dark")


def _declared(name: str, table: object, place: str) -> type[HarnessConfigurator]:
    if name in HARNESSES:
        raise HqtError(f"{place}: hqt knows the harness {name!r} already", "choose another name for yours")
    try:
        return declared(name, table if isinstance(table, dict) else {})
    except ValueError as error:
        raise HqtError(
            f"{place}: [harnesses.{name}]: {error}", "docs/configuration.md says what it may hold"
        ) from error


def _line_of(key: str, text: str) -> int:
    """Return the number of the line that sets a key or opens its table, 1 where it is written in another way."""
    wanted = re.compile(rf"""\s*\[*\s*["']?{re.escape(key)}["']?\s*[].=]""")
    return next((number for number, line in enumerate(text.splitlines(), 1) if wanted.match(line)), 1)

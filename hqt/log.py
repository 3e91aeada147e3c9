"""The log, `$XDG_STATE_HOME/hqt/hqt.log`: what was changed, and what failed. No value of a variable, no prompt.

`HQT_DEBUG=1` shows it on standard error too, with every call of tmux.
"""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from functools import cache
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING

from hqt import paths

if TYPE_CHECKING:
    from io import TextIOWrapper
    from pathlib import Path

_BYTES = 1 << 20
_LINE = logging.Formatter("%(asctime)s %(process)d %(levelname)s %(message)s")


class _PrivateFileHandler(RotatingFileHandler):
    """Makes each of its files for the user alone, whatever the umask is, and follows no link."""

    def _open(self) -> TextIOWrapper:
        opened: TextIOWrapper = open(  # noqa: SIM115  # the handler closes it
            self.baseFilename, "a", encoding=self.encoding, errors=self.errors, opener=_open_private
        )
        return opened


def logger() -> logging.Logger:
    """Return the logger. A log that cannot be written fails nothing: it is left out."""
    return _logger(paths.log(), is_debugging=is_debugging())


def is_debugging() -> bool:
    """Tell whether the user asked to see everything."""
    return os.environ.get("HQT_DEBUG", "") not in ("", "0")


@cache
def _logger(path: Path, *, is_debugging: bool) -> logging.Logger:
    found = logging.Logger("hqt", logging.DEBUG if is_debugging else logging.INFO)  # noqa: LOG001  # this log's own
    found.addHandler(logging.StreamHandler() if is_debugging else logging.NullHandler())
    # Only where hqt keeps its state already: a look at a help text makes nothing.
    if os.access(path.parent, os.W_OK | os.X_OK):
        with suppress(OSError):
            written = _PrivateFileHandler(path, maxBytes=_BYTES, backupCount=1, errors="backslashreplace")
            written.setFormatter(_LINE)
            found.addHandler(written)
    return found


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)

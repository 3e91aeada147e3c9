"""A text for a bug report: the diagnoses and the log's last lines, without what is personal."""

from __future__ import annotations

import getpass
import os
import platform
import re
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from hqt import paths
from hqt.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hqt.services.doctor.diagnosis import Diagnosis

_LINES = 100
_OURS = r"\.(?:config|local/state)/hqt\b"


def report(found: list[Diagnosis]) -> Iterator[str]:
    """Yield the lines of the report."""
    for diagnosis in found:
        yield impersonal(f"{diagnosis.level:<8}{diagnosis.what:<14}{diagnosis.told}")
    yield ""
    yield f"the last {_LINES} lines of the log:"
    try:
        with paths.log().open(errors="backslashreplace") as log:
            yield from map(impersonal, deque((line.rstrip("\n") for line in log), _LINES))
    except OSError:
        yield "(there is none)"


def impersonal(line: str) -> str:
    """Return the line with the folders below the home folder, the user's and the host's names left out."""
    home = re.escape(str(Path.home()))
    line = re.sub(rf"{home}/(?!{_OURS})[^\s\"',:;]+", "~/…", line)
    line = line.replace(str(Path.home()), "~")
    for name, stand_in in ((_user(), "USER"), (platform.node(), "HOST")):
        line = re.sub(rf"\b{re.escape(name)}\b", stand_in, line) if name else line
    return visible(line)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return os.environ.get("USER", "")

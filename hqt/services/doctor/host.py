"""The platform, hqt itself, and the terminal."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hqt import __version__
from hqt.services.doctor.diagnosis import Diagnosis

if TYPE_CHECKING:
    from collections.abc import Iterator

_TERMINFO = ("/usr/share/terminfo", "/lib/terminfo", "/etc/terminfo", "/usr/lib/terminfo", "/usr/share/lib/terminfo")
"""Where a jail finds what a terminal can do; a user's own ~/.terminfo is not in it."""


def look() -> Iterator[Diagnosis]:
    """Look at what hqt runs on and in."""
    yield _platform(sys.platform, platform.release())
    where = Path(__file__).parents[2]
    yield Diagnosis("hqt", "ok", f"{__version__} in {where}, Python {platform.python_version()}")
    yield from _terminal()


def is_known_in_a_jail(terminal: str) -> bool:
    """Tell whether a value of TERM is described where a jail can read it."""
    first = (terminal[:1], f"{ord(terminal[:1] or '?'):x}")
    return any(os.path.exists(f"{folder}/{letter}/{terminal}") for folder in _TERMINFO for letter in first)


def _platform(system: str, release: str) -> Diagnosis:
    if system != "linux":
        return Diagnosis("platform", "note", f"{system}: sessions run, sandboxed ones need Linux")
    if release.endswith("-Microsoft"):  # of WSL 2: -microsoft-standard-WSL2
        return Diagnosis("platform", "note", f"WSL 1 ({release}) has no namespaces", "wsl --set-version DISTRIBUTION 2")
    inside = next((file for file in ("/.dockerenv", "/run/.containerenv") if os.path.exists(file)), "")
    return Diagnosis(
        "platform", "ok", f"Linux {release}, {platform.machine()}" + (", in a container" if inside else "")
    )


def _terminal() -> Iterator[Diagnosis]:
    terminal = os.environ.get("TERM", "")
    if not terminal:
        yield Diagnosis("terminal", "note", "TERM is not set: the dialog and the dashboard need a terminal")
        return
    encoding = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    if "utf-8" not in encoding.lower().replace("utf8", "utf-8"):
        yield Diagnosis("terminal", "note", f"the locale {encoding or 'C'} is not UTF-8", "export LANG=C.UTF-8")
    colours = "true colour" if os.environ.get("COLORTERM") in ("truecolor", "24bit") else "no true colour announced"
    if is_known_in_a_jail(terminal):
        yield Diagnosis("terminal", "ok", f"{terminal}, {colours}")
    else:
        yield Diagnosis(
            "terminal", "note", f"{terminal} is described in no system folder", "install ncurses-term, or its like"
        )

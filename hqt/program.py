"""Running a program to its end for what it says: nothing on its standard input, its words as text, a time limit."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_VERSION = re.compile(r"\d+(?:\.\d+)+")


def run(
    argv: Sequence[str], *, timeout_s: float, environment: Mapping[str, str] | None = None, cwd: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program; without an environment and a folder, in those of this process.

    Raises:
        OSError: it cannot be started.
        subprocess.TimeoutExpired: it did not end in time; it is ended.

    """
    return subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout_s,
        check=False,
        env=None if environment is None else dict(environment),
        cwd=cwd,
    )


def version(program: str, *, timeout_s: float, environment: Mapping[str, str] | None = None) -> str:
    """Return the version that a program tells by `--version`, nothing where it does not."""
    try:
        ended = run([program, "--version"], timeout_s=timeout_s, environment=environment, cwd="/")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _VERSION.search(ended.stdout + ended.stderr)
    return found[0] if found else ""


def numbers(version: str) -> tuple[int, ...]:
    """Return a version as it compares."""
    return tuple(map(int, version.split("."))) if version else ()

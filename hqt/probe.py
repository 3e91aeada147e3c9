"""Whether this host can really make the jail: found by making an empty one. The one place that runs bwrap to look."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from hqt.sandbox import SandboxPolicy, namespace_flags

if TYPE_CHECKING:
    from pathlib import Path

_TIMEOUT_S = 10


def failure(bwrap: Path) -> str:
    """Return why `bwrap` cannot make a jail here, in its own words, or nothing when it can."""
    flags = namespace_flags(SandboxPolicy(net=False))
    root = ("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev")
    try:
        ended = subprocess.run(
            [bwrap, *flags, *root, "--", bwrap, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
            env={},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if ended.returncode == 0 else ended.stderr.strip() or f"bwrap ended with status {ended.returncode}"

"""Whether this host can really make the jail: found by making an empty one. The one place that runs bwrap to look."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from hqt.sandbox import SandboxPolicy, namespace_flags

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_TIMEOUT_S = 10
_CAUSES = (
    (
        "setting up uid map",
        "AppArmor forbids user namespaces here (Ubuntu 23.10 and later): docs/security.md has the profile",
    ),
    ("RTM_NEWADDR", "AppArmor forbids user namespaces here (Ubuntu 23.10 and later): docs/security.md has the profile"),
    (
        "No permissions to create",
        "the kernel forbids user namespaces: sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces",
    ),
    ("Creating new namespace failed", "the kernel or a container forbids namespaces: sysctl user.max_user_namespaces"),
    ("Unknown option", "this bubblewrap is too old: hqt needs 0.8 or newer"),
)


def hint(reason: str) -> str:
    """Return what to do about a failure, as far as its words tell."""
    return next((advice for words, advice in _CAUSES if words in reason), "hqt never starts without it")


def failure(bwrap: Path) -> str:
    """Return why `bwrap` cannot make a jail here, in its own words, or nothing when it can."""
    flags = namespace_flags(SandboxPolicy(net=False))
    root = ("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev")
    return failure_of([str(bwrap), *flags, *root, "--", str(bwrap), "--version"], {})


def failure_of(argv: list[str], environment: Mapping[str, str]) -> str:
    """Return why a trial ended with an error, in its own words, or nothing when it did not."""
    try:
        ended = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
            env=dict(environment),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if ended.returncode == 0 else ended.stderr.strip() or f"{argv[0]} ended with status {ended.returncode}"

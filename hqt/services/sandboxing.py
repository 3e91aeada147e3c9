"""Whether a sandboxed session can be started on this host: one answer for the service, the dialog and the doctor."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hqt import probe, sandbox
from hqt.errors import SandboxUnavailableError

if TYPE_CHECKING:
    from pathlib import Path


def require(bwrap: Path) -> None:
    """Have this bwrap make an empty jail.

    Raises:
        SandboxUnavailableError: it cannot; with its own words and what to do.

    """
    if reason := probe.failure(bwrap):
        raise SandboxUnavailableError(f"bubblewrap cannot make a sandbox here: {reason}", probe.hint(reason))


def why_not(project: Path) -> str:
    """Return why there can be no sandbox here, or nothing when one was just made."""
    try:
        require(bwrap_of(os.environ.get("PATH", ""), project))
    except SandboxUnavailableError as error:
        return error.message
    return ""


def bwrap_of(path_value: str, project: Path) -> Path:
    """Return the bwrap that the session's PATH names.

    Raises:
        SandboxUnavailableError: there is none, or this is not Linux.

    """
    bwrap = sandbox.trusted_program("bwrap", path_value, project) if sandbox.is_available() else None
    if bwrap is None:
        raise SandboxUnavailableError(
            "bubblewrap (bwrap) is not installed, so there is no sandbox",
            "install it: apt install bubblewrap, dnf install bubblewrap, …; hqt never starts without it",
        )
    return bwrap


def systemd_run(path_value: str, project: Path) -> Path:
    """Return the program that makes a scope with bounds.

    Raises:
        SandboxUnavailableError: there is none: nothing is ever started unbounded instead.

    """
    found = sandbox.trusted_program("systemd-run", path_value, project)
    if found is None:
        raise SandboxUnavailableError(
            "systemd-run is not installed, so memory, processes and cores cannot be bounded",
            "leave --memory, --pids and --cpu out, or use a host with systemd",
        )
    return found

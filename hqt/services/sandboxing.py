"""Whether a sandboxed session can be started on this host: one answer for the service, the dialog and the doctor."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hqt import probe
from hqt.errors import SandboxUnavailableError
from hqt.services.start import bwrap_of

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

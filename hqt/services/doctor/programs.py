"""The harnesses, and the completions of the user's shell."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hqt.errors import HqtError
from hqt.services import installed, integration
from hqt.services.doctor.diagnosis import Diagnosis

if TYPE_CHECKING:
    from collections.abc import Iterator


def look() -> Iterator[Diagnosis]:
    """Look at what is installed, and what of it works in a jail."""
    try:
        found = installed.described()
    except HqtError:  # a configuration that cannot be read: that is told once, where tmux is looked at
        found = installed.described(with_declared=False)
    if not any(harness.path for harness in found):
        yield Diagnosis("harness", "note", "none is installed; any command works", found[0].install)
    for harness in found:
        if harness.path:
            yield _harness(harness)
    yield from _completion(Path(os.environ.get("SHELL", "")).name)


def _harness(harness: installed.Installed) -> Diagnosis:
    told = f"{harness.name} {harness.version or 'does not tell its version'}"
    if harness.setup:
        return Diagnosis("harness", "note", told, harness.setup)
    if harness.is_newer:
        return Diagnosis("harness", "ok", f"{told}, newer than {harness.verified}, which hqt was verified with")
    return Diagnosis("harness", "ok", told)


def _completion(shell: str) -> Iterator[Diagnosis]:
    if shell not in integration.COMPLETIONS:
        return
    change = integration.completion_change(shell)
    if not change.difference:
        yield Diagnosis("completion", "ok", f"{shell}, from {change.path}")
    else:
        told = f"{shell}'s completion is {'older than this hqt' if change.before else 'not installed'}"
        yield Diagnosis("completion", "note", told, f"hqt completion {shell} --install", repair=change.make)

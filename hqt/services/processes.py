"""Waiting for a window's process, ending it, and looking at what it holds open; by its id, never by a name."""

from __future__ import annotations

import os
import select
import signal
import termios
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hqt.tmux import Pane, Server

_PATIENCE_S = 5.0


def status_within(server: Server, pane: Pane, grace_s: float) -> int | None:
    """Return how the pane's command ended within that time, None while it runs."""
    with _held(pane.pid) as process:
        if process is not None and not _has_ended(process, grace_s):
            return None
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:  # the process has ended; tmux learns of it a moment later
        found = server.now(pane)
        if found is None:  # somebody else has closed it meanwhile
            return None
        if found.exit_status is not None:
            return found.exit_status
    return None


def end_pane(server: Server, pane: Pane) -> None:
    """Close the pane, wait for its process, and end what of its process group ignored that."""
    with _held(pane.pid) as process:
        server.kill_pane(pane)
        if process is None or pane.pid is None or pane.exit_status is not None:
            return
        for sent in (signal.SIGTERM, signal.SIGKILL):
            if _has_ended(process, _PATIENCE_S):
                return
            with suppress(ProcessLookupError):
                os.killpg(pane.pid, sent)
        _has_ended(process, _PATIENCE_S)


def open_files(pid: int) -> set[Path]:
    """Return the files that a process and its descendants hold open."""
    found: set[Path] = set()
    waiting = [pid]
    while waiting:
        process = Path("/proc", str(waiting.pop()))
        try:
            found.update(entry.readlink() for entry in (process / "fd").iterdir())
            for task in (process / "task").iterdir():
                waiting.extend(map(int, (task / "children").read_text().split()))
        except OSError:
            continue  # it has ended meanwhile
    return found


def takes_keys(pid: int) -> bool:
    """Tell whether the process's terminal hands each key to it as it is pressed, not line by line (`termios(3)`)."""
    try:
        # By a descriptor of its own, without becoming the terminal's controlling process.
        terminal = os.open(f"/proc/{pid}/fd/0", os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        local_modes = termios.tcgetattr(terminal)[3]
    except termios.error:
        return False
    finally:
        os.close(terminal)
    return not local_modes & termios.ICANON


def has_children(pid: int) -> bool:
    """Tell whether a process has started others that still run."""
    try:
        return any((task / "children").read_text() for task in Path("/proc", str(pid), "task").iterdir())
    except OSError:
        return False


@contextmanager
def _held(pid: int | None) -> Iterator[int | None]:
    """Hold on to a process, so that its number cannot come to mean another; None when it is gone."""
    if pid is None:
        yield None
        return
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _has_ended(process: int, within_s: float) -> bool:
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return bool(poll.poll(within_s * 1000))

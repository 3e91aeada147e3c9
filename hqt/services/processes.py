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

from hqt import paths
from hqt.services import jail
from hqt.tmux_pane import is_zombie

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hqt.tmux import Server
    from hqt.tmux_pane import Pane

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
        if not _has_ended(process, _PATIENCE_S):
            _end_group(process, pane.pid, (signal.SIGTERM, signal.SIGKILL))


def identity(pid: int) -> str:
    """Return what tells a process from every other one, of another boot too; nothing when it has ended."""
    try:
        # Behind the name, which may hold anything; the 22nd is when it started, in ticks since the boot (`proc(5)`).
        started = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
        return f"{pid} {started} {Path('/proc/sys/kernel/random/boot_id').read_text().strip()}"
    except OSError:
        return ""


def record(session_id: str, pid: int) -> None:
    """Keep which process is the session's: it may outlive its window, and its number may come to mean another."""
    jail.write_private(_record_file(session_id), identity(pid).encode())


def recorded(session_id: str) -> str:
    """Return the identity of the session's process, as it was last started; nothing where none is kept."""
    try:
        return _record_file(session_id).read_text("ascii", "replace")
    except OSError:
        return ""


def _record_file(session_id: str) -> Path:
    return paths.session_folder(session_id) / "process"


def pid_of(identified: str) -> int | None:
    """Return the number of the process that `identity` told of, None when it has ended."""
    pid = identified.partition(" ")[0]
    return int(pid) if pid.isdigit() and identified == identity(int(pid)) and not is_zombie(int(pid)) else None


def outlives(identified: str, within_s: float) -> int | None:
    """Return the number of that process if it still runs after so long: one that was just hung up takes a moment."""
    with _held(pid_of(identified)) as process:
        pid = pid_of(identified)  # again: now it cannot come to mean another
        return None if process is None or pid is None or _has_ended(process, within_s) else pid


def end_process(identified: str) -> None:
    """End a process that has no window, by its identity, with its process group."""
    with _held(pid_of(identified)) as process:
        pid = pid_of(identified)  # again: now it cannot come to mean another
        if process is None or pid is None:
            return
        _end_group(process, pid, (signal.SIGHUP, signal.SIGTERM, signal.SIGKILL))


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


def _end_group(process: int, pid: int, signals: Sequence[signal.Signals]) -> None:
    for sent in signals:
        with suppress(ProcessLookupError):
            os.killpg(pid, sent)
        if _has_ended(process, _PATIENCE_S):
            return


def _has_ended(process: int, within_s: float) -> bool:
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return bool(poll.poll(within_s * 1000))

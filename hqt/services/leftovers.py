"""What a command that was ended in the middle can leave behind: folders and windows without a row, half-made copies."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import TYPE_CHECKING

from hqt import paths
from hqt.db import rows
from hqt.db.connection import UNFINISHED_COPY
from hqt.services import jail
from hqt.tmux import Server

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hqt.tmux_pane import Pane


def windows(sockets: Iterable[str]) -> list[tuple[Server, Pane]]:
    """Return the panes on these servers that run a session's command, and whose session is not known."""
    found = [(server, pane) for server in map(Server, map(Path, sorted(set(sockets)))) for pane in server.panes()]
    known = {row.id for row in rows.read(paths.database())}  # read after: a session's row comes before its window
    return [(server, pane) for server, pane in found if pane.hqt_id not in known]


def folders() -> list[Path]:
    """Return the folders of sessions that are not known, and that nobody is removing at this moment."""
    try:
        found = sorted(paths.sessions_folder().iterdir())
    except OSError:
        return []
    known = {row.id for row in rows.read(paths.database())}  # read after: a session's row comes before its folder
    return [folder for folder in found if folder.name not in known and not _is_held(folder)]


def copies() -> list[Path]:
    """Return the copies of the database, kept before a migration, that nobody is making any more."""
    try:
        found = sorted(paths.state_folder().iterdir())
    except OSError:
        return []
    making = [(path, match[1]) for path in found if (match := UNFINISHED_COPY.fullmatch(path.name))]
    return [path for path, pid in making if not os.path.exists(f"/proc/{pid}")]


def remove() -> None:
    """Remove such folders and copies."""
    for folder in folders():
        jail.remove_folder(folder)
    for copy in copies():
        copy.unlink(missing_ok=True)


def _is_held(folder: Path) -> bool:
    try:
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False

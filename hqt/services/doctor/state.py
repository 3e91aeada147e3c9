"""hqt's own state: its folder and database, what it should run and what it does not know of."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from hqt import paths
from hqt.db import health
from hqt.errors import HqtError
from hqt.services import leftovers, listing
from hqt.services.doctor.diagnosis import Diagnosis
from hqt.services.requests import default_socket

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WHAT = "state"


def look() -> Iterator[Diagnosis]:
    """Look at the folder, the database, and at what should run."""
    folder = paths.state_folder()
    try:
        files = list(_files(folder))
    except FileNotFoundError:
        yield Diagnosis(_WHAT, "ok", f"{folder} is not there yet: the first session makes it")
        return
    except OSError as error:
        yield Diagnosis(_WHAT, "problem", f"{error.filename}: {error.strerror}", f"ls -ld {folder}")
        return
    yield from files
    database = paths.database()
    try:
        version = health.version(database) if os.path.exists(database) else 0
        if not health.is_newest(version):
            yield Diagnosis(_WHAT, "ok", f"{database} is of version {version}: the next command brings it up to date")
            return
        yield from _sessions()
    except HqtError as error:
        yield Diagnosis(_WHAT, "problem", error.message, error.hint)


def _files(folder: Path) -> Iterator[Diagnosis]:
    for path, mode in [(folder, 0o700), *((entry, 0o600) for entry in folder.iterdir() if entry.is_file())]:
        found = path.stat()
        if found.st_uid != os.getuid():
            told = f"{path} belongs to the user {found.st_uid}"
            yield Diagnosis(_WHAT, "problem", told, f"sudo chown {os.getuid()} {path}")
        elif found.st_mode & 0o077:
            told = f"{path} can be used by others"
            yield Diagnosis(_WHAT, "problem", told, f"chmod {mode:o} {path}", repair=partial(path.chmod, mode))


def _sessions() -> Iterator[Diagnosis]:
    views = listing.all_views()
    running = sum(view.state == "running" for view in views)
    yield Diagnosis(_WHAT, "ok", f"{paths.database()} is sound: {len(views)} sessions, {running} running")
    for server, pane in leftovers.windows([str(default_socket()), *(view.row.socket for view in views)]):
        yield Diagnosis(
            "windows",
            "problem",
            f"a session that hqt does not know runs in tmux's pane {pane.pane}",
            f"tmux -S {server.socket} kill-pane -t {pane.pane}",
            repair=partial(server.kill_pane, pane),
        )
    lost = [view.row.name for view in views if view.is_lost]
    if lost:
        told = f"{len(lost)} should be running and have no window: {', '.join(lost)}"
        yield Diagnosis("sessions", "note", told, "hqt restore")
    for left, what in (
        (leftovers.folders(), f"folders of removed sessions are left in {paths.sessions_folder()}"),
        (leftovers.copies(), f"unfinished copies of the database are left in {paths.state_folder()}"),
    ):
        if left:
            yield Diagnosis(_WHAT, "note", f"{len(left)} {what}", "hqt doctor --fix", repair=leftovers.remove)

"""Opening the SQLite file: private, in WAL mode, migrated, its faults told in one line. Standard library only."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hqt.db.migrations import MIGRATIONS, migrate, version_of
from hqt.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUSY_TIMEOUT_S = 30
_AGAIN_S = 0.02
UNFINISHED_COPY = re.compile(r"hqt\.db\.version-\d+\.(\d+)(?:-journal)?")
"""The name of a copy of the database that the process with that number is making."""


def connect(path: Path) -> sqlite3.Connection:
    """Open the database in autocommit mode, made and migrated when it needs to be.

    Raises:
        StateError: it cannot be opened, is damaged, or is newer than this program.

    """
    with explained(path):
        make_private_folder(path.parent)
        # SQLite would make the file, and those beside it, with the umask's mode.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        until = time.monotonic() + BUSY_TIMEOUT_S
        while True:
            try:
                return _opened(path)
            except sqlite3.OperationalError as error:
                # Switching to WAL, and opening while another closes, do not wait as statements do.
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(_AGAIN_S)


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL")
        _keep_copy(connection, path)
        migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _keep_copy(connection: sqlite3.Connection, path: Path) -> None:
    """Keep the database as it is, beside it, before a migration changes it."""
    version = version_of(connection)
    copy = path.with_name(f"{path.name}.version-{version}")
    if 0 < version < len(MIGRATIONS) and not copy.exists():
        growing = path.with_name(f"{copy.name}.{os.getpid()}")
        os.close(os.open(growing, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600))
        connection.execute("VACUUM INTO ?", (str(growing),))
        growing.replace(copy)


def make_missing_folders(folder: Path) -> None:
    """Make the folder and those above it that are missing, each with mode 0700, whatever the umask is.

    Raises:
        OSError: one cannot be made.

    """
    for path in (*reversed(folder.parents), folder):
        if not os.path.isdir(path):
            path.mkdir(mode=0o700, exist_ok=True)
            path.chmod(0o700)


def make_private_folder(folder: Path) -> None:
    """Make the folder with mode 0700, and give it that mode if it has another.

    Raises:
        OSError: it cannot be made, or belongs to another user.

    """
    make_missing_folders(folder)
    if folder.stat().st_mode & 0o777 != 0o700:  # noqa: PLR2004
        folder.chmod(0o700)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system say into one line and a hint."""
    try:
        yield
    except sqlite3.OperationalError as error:
        hint = "another program holds it; try again" if "locked" in str(error) else f"look at {path.parent}"
        raise StateError(f"the database {path} cannot be used: {error}", hint) from error
    except sqlite3.DatabaseError as error:
        raise StateError(
            f"the database {path} is damaged: {error}", "move it away to start anew; running windows go on"
        ) from error
    except OSError as error:
        raise StateError(f"{error.filename or path}: {error.strerror}", "hqt keeps its state there") from error

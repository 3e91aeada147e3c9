"""Whether the database is sound, found without changing it. Standard library only."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from hqt.db.connection import explained
from hqt.db.migrations import MIGRATIONS, refuse_newer, version_of

if TYPE_CHECKING:
    from pathlib import Path

_TIMEOUT_S = 0.5


def version(path: Path) -> int:
    """Return the version of the database, once SQLite has found it sound.

    Raises:
        StateError: it is damaged, or cannot be read, or is newer than this program.

    """
    with explained(path):
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_TIMEOUT_S)
        try:
            found = version_of(connection)
            refuse_newer(found)
            told = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        finally:
            connection.close()
        if told != "ok":
            raise sqlite3.DatabaseError(told)
        return found


def is_newest(found: int) -> bool:
    """Tell whether the next command has nothing to migrate."""
    return found == len(MIGRATIONS)

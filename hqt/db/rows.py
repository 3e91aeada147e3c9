"""Reading sessions without the ORM, whose import costs more than all the rest: for listings, attach and completion.

A test keeps the columns here in step with `hqt.db.models`.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from hqt.db.connection import connect, explained
from hqt.db.migrations import refuse_newer, version_of
from hqt.errors import StateError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """A session's row, column by column; see `hqt.db.models.Session`."""

    id: str
    name: str
    harness: str
    project: str
    args_json: str
    environment_json: str
    variable_names_json: str
    binds_json: str
    git_json: str | None
    conversation: str
    socket: str
    desired: str
    created_at: str
    started_at: str | None
    sandbox_json: str | None
    limits_json: str | None = None
    owners_json: str | None = None
    nested_json: str | None = None
    found_json: str | None = None


COLUMNS = tuple(field.name for field in fields(Row))


def read(path: Path) -> list[Row]:
    """Return every session, the oldest first; none where there is no database yet.

    Raises:
        StateError: the database cannot be read.

    """
    with explained(path):
        try:
            os.stat(path)  # noqa: PTH116  # pathlib is not imported here
        except FileNotFoundError:
            return []
    try:
        connection = connect(path)
    except StateError as error:
        if not _is_for_want_of_space(error.__cause__) or _has_unfinished_writes(path):
            raise
        # SQLite cannot make the files that it shares with other programs. Nobody is writing: it can do without.
        with explained(path):
            connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
            refuse_newer(version_of(connection))
    with explained(path):
        try:
            found = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM session ORDER BY created_at, rowid")  # noqa: S608
            return [Row(*values) for values in found]
        finally:
            connection.close()


def written_since(path: Path, place: Path) -> list[str]:
    """Return when sandboxed sessions were made that could write a place, of removed ones too (ISO 8601).

    Raises:
        StateError: the database cannot be read.

    """
    if not path.exists():
        return []
    with explained(path):
        connection = connect(path)
        try:
            found = connection.execute("SELECT at, detail_json FROM event WHERE kind = 'created'").fetchall()
        finally:
            connection.close()
    writable = [(at, json.loads(detail).get("writes")) for at, detail in found]
    return [at for at, project in writable if project and place.is_relative_to(project)]


def _has_unfinished_writes(path: Path) -> bool:
    try:
        return os.stat(f"{path}-wal").st_size > 0  # noqa: PTH116  # as above
    except FileNotFoundError:
        return False


def _is_for_want_of_space(cause: BaseException | None) -> bool:
    """Tell whether the disk is full, or may only be read."""
    if isinstance(cause, OSError):
        return cause.errno in (errno.EROFS, errno.ENOSPC)
    return isinstance(cause, sqlite3.OperationalError) and "locked" not in str(cause)

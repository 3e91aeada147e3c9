"""Reading sessions without the ORM, whose import costs more than all the rest: for listings, attach and completion.

A test keeps the columns here in step with `hqt.db.models`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from hqt.db.connection import connect, explained

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


COLUMNS = tuple(field.name for field in fields(Row))


def read(path: Path) -> list[Row]:
    """Return every session, the oldest first; none where there is no database yet."""
    if not os.path.exists(path):
        return []
    with explained(path):
        connection = connect(path)
        try:
            found = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM session ORDER BY created_at, rowid")  # noqa: S608
            return [Row(*values) for values in found]
        finally:
            connection.close()

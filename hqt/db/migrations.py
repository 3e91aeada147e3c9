"""The schema's history: one small function a step, numbered by `PRAGMA user_version`, never edited after a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hqt.errors import StateError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

MIGRATIONS: list[Callable[[sqlite3.Connection], object]] = []


def migration(step: Callable[[sqlite3.Connection], object]) -> Callable[[sqlite3.Connection], object]:
    """Add a step: its number is its place in the list, counted from 1."""
    MIGRATIONS.append(step)
    return step


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the database to the newest version, each step in one transaction.

    `connection` is in autocommit mode (`isolation_level=None`). Two programs may do this at the same time.

    Raises:
        StateError: the database is newer than this program; it is left as it is.

    """
    while (version := version_of(connection)) < len(MIGRATIONS):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if version_of(connection) == version:
                MIGRATIONS[version](connection)
                connection.execute(f"PRAGMA user_version = {version + 1}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    refuse_newer(version)


def version_of(connection: sqlite3.Connection) -> int:
    """Return how many steps the database has taken."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def refuse_newer(version: int) -> None:
    """Refuse a database that a later hqt has written.

    Raises:
        StateError: it is one.

    """
    if version > len(MIGRATIONS):
        raise StateError(
            f"the database is of version {version}, this hqt knows {len(MIGRATIONS)}: it was written by a newer hqt",
            "upgrade hqt; nothing was changed",
        )


@migration
def m001_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of sessions, and of what happened to them."""
    connection.execute(
        """
        CREATE TABLE session (
            id VARCHAR NOT NULL PRIMARY KEY,
            name VARCHAR NOT NULL UNIQUE,
            harness VARCHAR NOT NULL,
            project VARCHAR NOT NULL,
            args_json VARCHAR NOT NULL,
            environment_json VARCHAR NOT NULL,
            variable_names_json VARCHAR NOT NULL,
            binds_json VARCHAR NOT NULL,
            git_json VARCHAR,
            conversation VARCHAR NOT NULL,
            socket VARCHAR NOT NULL,
            desired VARCHAR NOT NULL,
            created_at VARCHAR NOT NULL,
            started_at VARCHAR
        )
        """
    )
    connection.execute(
        """
        CREATE TABLE event (
            id INTEGER NOT NULL PRIMARY KEY,
            session_id VARCHAR NOT NULL,
            at VARCHAR NOT NULL,
            kind VARCHAR NOT NULL,
            detail_json VARCHAR NOT NULL
        )
        """
    )
    connection.execute("CREATE INDEX event_session ON event (session_id, id)")


@migration
def m002_sandbox(connection: sqlite3.Connection) -> None:
    """Add the policy of a sandboxed session; NULL means unsandboxed."""
    connection.execute("ALTER TABLE session ADD COLUMN sandbox_json VARCHAR")


@migration
def m003_what_was_found(connection: sqlite3.Connection) -> None:
    """Add the bounds of a session, whose its folders were, and the repositories that lay inside its project."""
    for column in ("limits_json", "owners_json", "nested_json"):
        connection.execute(f"ALTER TABLE session ADD COLUMN {column} VARCHAR")


@migration
def m004_set_up(connection: sqlite3.Connection) -> None:
    """Add what of the user's set-up a session's jail was found to need."""
    connection.execute("ALTER TABLE session ADD COLUMN found_json VARCHAR")

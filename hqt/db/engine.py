"""SQLAlchemy's engine over the same connections as everything else: one transaction for one step."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import create_engine, event
from sqlalchemy.exc import DatabaseError, IntegrityError
from sqlalchemy.orm import Session as Transaction
from sqlalchemy.pool import NullPool

from hqt.db.connection import connect, explained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sqlalchemy import Connection


def transactions(path: Path) -> Callable[[], AbstractContextManager[Transaction]]:
    """Return what opens one transaction on the database at `path`, committed when its block ends well.

    `IntegrityError` passes through: a name taken is for the caller to tell.
    """
    engine = create_engine("sqlite://", creator=lambda: connect(path), poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # The driver is in autocommit mode; a transaction that will write takes its lock first, and waits for it.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    @contextmanager
    def transaction() -> Iterator[Transaction]:
        with explained(path):
            try:
                with Transaction(engine, expire_on_commit=False) as opened, opened.begin():
                    yield opened
            except IntegrityError:
                raise
            except DatabaseError as error:
                raise (error.orig or error) from error

    return transaction

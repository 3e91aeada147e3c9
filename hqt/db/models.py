"""The rows as SQLAlchemy models: what is written goes through here."""

from __future__ import annotations

from sqlalchemy import func
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The models' common base."""


class Session(Base):
    """A session: everything its command is made from, and whether it should be running.

    What it *is* doing is never stored: tmux knows.
    """

    __tablename__ = "session"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    harness: Mapped[str]
    project: Mapped[str]
    """The resolved path."""
    args_json: Mapped[str]
    """The arguments after `--`: a list."""
    environment_json: Mapped[str]
    """The recorded values of the plain variables: an object. Never a secret."""
    variable_names_json: Mapped[str]
    """The names given with --env: a list; their values come from the shell that starts the session."""
    binds_json: Mapped[str]
    """The paths given with --bind, resolved, each with its mode: a list of pairs."""
    git_json: Mapped[str | None]
    """Where the repository lies if not in `.git` alone, as it was at creation."""
    conversation: Mapped[str]
    """The harness's own id of the conversation, empty while it is not known."""
    socket: Mapped[str]
    """The tmux server's socket."""
    desired: Mapped[str]
    """`running` or `stopped`."""
    created_at: Mapped[str]
    started_at: Mapped[str | None]
    sandbox_json: Mapped[str | None] = mapped_column(default=None)
    """The policy; NULL means unsandboxed."""
    limits_json: Mapped[str | None] = mapped_column(default=None)
    """What it may use of memory, processes and cores; NULL means unbounded."""
    owners_json: Mapped[str | None] = mapped_column(default=None)
    """Whose the project and the binds were at creation: an object, path to user id."""
    nested_json: Mapped[str | None] = mapped_column(default=None)
    """The repositories inside the project at creation: a list of folders below it."""
    found_json: Mapped[str | None] = mapped_column(default=None)
    """What of the user's set-up its jail needs, as it was found at creation: paths, variables, notes."""


class Event(Base):
    """Something that happened to a session; only ever added, and kept when the session is removed."""

    __tablename__ = "event"

    id: Mapped[int] = mapped_column(primary_key=True)
    session_id: Mapped[str]
    at: Mapped[str] = mapped_column(default=func.strftime("%Y-%m-%dT%H:%M:%fZ"))
    kind: Mapped[str]
    detail_json: Mapped[str]

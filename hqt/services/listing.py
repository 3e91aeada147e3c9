"""What every session is doing, read from the rows and from tmux in one call: nothing slow is imported here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hqt import paths
from hqt.db import rows
from hqt.errors import NoSuchSessionError
from hqt.sandbox import policy_of
from hqt.tmux import Server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hqt.db.rows import Row
    from hqt.tmux import Pane

State = Literal["running", "exited", "stopped"]


@dataclass(frozen=True, slots=True)
class View:
    """A session as it is now: its row, and its pane when it has a window."""

    row: Row
    pane: Pane | None

    @property
    def state(self) -> State:
        """`running`, `exited` when its command has ended and the window still shows how, else `stopped`."""
        if self.pane is None:
            return "stopped"
        return "running" if self.pane.exit_status is None else "exited"

    @property
    def server(self) -> Server:
        """The tmux server that the row remembers."""
        return Server(Path(self.row.socket))

    def to_json(self) -> dict[str, object]:
        """Return the object that `hqt ls --json` prints. Keys are only ever added."""
        row, pane = self.row, self.pane
        return {
            "id": row.id,
            "name": row.name,
            "harness": row.harness,
            "project": row.project,
            "state": self.state,
            "exit_status": pane.exit_status if pane else None,
            "sandbox": _sandbox(row.sandbox_json),
            "created_at": row.created_at,
            "socket": row.socket,
            "window": pane.window if pane else None,
        }


def _sandbox(text: str | None) -> dict[str, object] | None:
    """Return the policy as an object; one that hqt does not know is never shown as none."""
    try:
        policy = policy_of(text)
    except ValueError:
        return {"unknown": text}
    return {"fs": policy.fs, "net": policy.net} if policy else None


def all_views() -> list[View]:
    """Return every session, the oldest first; one tmux call for each server that they live on."""
    return views(rows.read(paths.database()))


def views(found: Sequence[Row]) -> list[View]:
    """Return these sessions as they are now."""
    panes = {
        (socket, pane.hqt_id): pane
        for socket in sorted({row.socket for row in found})
        for pane in Server(Path(socket)).panes()
    }
    return [View(row, panes.get((row.socket, row.id))) for row in found]


def find(name: str) -> View:
    """Return the session of that name, or the only one whose name begins so.

    Raises:
        NoSuchSessionError: there is none, or there are several.

    """
    return views([_named(rows.read(paths.database()), name)])[0]


def _named(found: Sequence[Row], name: str) -> Row:
    exact = [row for row in found if row.name == name]
    matches = exact or [row for row in found if row.name.startswith(name) and name]
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(row.name for row in matches)
        raise NoSuchSessionError(f"{name!r} could be several sessions", f"one of: {names}")
    raise NoSuchSessionError(f"there is no session named {name!r}", "hqt ls shows them")

"""What every session is doing, read from the rows and from tmux in one call: nothing slow is imported here."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hqt import paths
from hqt.db import rows
from hqt.errors import NoSuchSessionError
from hqt.sandbox import policy_of
from hqt.services import status
from hqt.text import since
from hqt.tmux import Server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hqt.db.rows import Row
    from hqt.services.status import Status
    from hqt.tmux_pane import Pane

State = Literal["running", "exited", "stopped"]


@dataclass(frozen=True, slots=True)
class View:
    """A session as it is now: its row, and its pane when it has a window."""

    row: Row
    pane: Pane | None
    status: Status | None = None
    """What it was doing when it was looked at; None of one that does not run."""

    @property
    def state(self) -> State:
        """`running`, `exited` when its command has ended and the window still shows how, else `stopped`."""
        if self.pane is None:
            return "stopped"
        return "running" if self.pane.exit_status is None else "exited"

    @property
    def is_in_place(self) -> bool:
        """Whether it runs in a window that carries its mark: there is nothing to do but to show it."""
        return self.state == "running" and self.pane is not None and self.pane.is_marked

    @property
    def is_lost(self) -> bool:
        """Whether it should be running and has no window: the machine or the tmux server ended, or it was closed."""
        return self.pane is None and self.row.desired == "running"

    @property
    def policy_in_short(self) -> str:
        """The policy in a few words, as lists show it; one that hqt does not know is never shown as none."""
        try:
            policy = policy_of(self.row.sandbox_json)
        except ValueError:
            return "unknown policy"
        if policy is None:
            return "-"
        forced = ", forced bind" if any(bind[2] for bind in json.loads(self.row.binds_json)) else ""
        hidden = ", hides" if policy.hide else ""
        return f"{policy.fs}, {'net' if policy.net else 'no net'}{hidden}{forced}"

    @property
    def state_in_words(self) -> str:
        """The state, with the status that a command ended with."""
        return f"exited {self.pane.exit_status}" if self.pane and self.state == "exited" else self.state

    @property
    def status_in_words(self) -> str:
        """What it is doing and since when, a guess marked so; nothing for one that does not run."""
        doing = self.status
        return f"{doing.status}{'?' if doing.guess else ''} {since(doing.since)}" if doing else ""

    @property
    def project_in_short(self) -> str:
        """The project's folder, in the home folder as `~/…`."""
        home = os.path.expanduser("~")  # noqa: PTH111  # pathlib's fails where there is no home
        return "~" + self.row.project[len(home) :] if self.row.project.startswith(f"{home}/") else self.row.project

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
            "status": doing.to_json() if (doing := self.status) else None,
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
    return (
        {"fs": policy.fs, "net": policy.net, **({"hide": list(policy.hide)} if policy.hide else {})} if policy else None
    )


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
    folders = str(paths.sessions_folder())
    seen = []
    for row in found:
        pane = panes.get((row.socket, row.id))
        doing = status.of(f"{folders}/{row.id}", pane) if pane and pane.exit_status is None else None
        seen.append(View(row, pane, doing))
    return seen


def current() -> View | None:
    """Return the session whose window is in front of whoever typed the command, None where it is another's."""
    inside = os.environ.get("TMUX", "").partition(",")[0]
    hqt_id = Server(Path(inside)).current_id() if inside else ""
    found = [row for row in rows.read(paths.database()) if row.id == hqt_id]
    return views(found)[0] if found else None


def next_waiting() -> View:
    """Return the session that has waited longest for an answer or a permission.

    Raises:
        NoSuchSessionError: none waits.

    """
    waiting = [(view.status.since, view) for view in all_views() if view.status and view.status.status == "waiting"]
    if not waiting:
        raise NoSuchSessionError("no session waits for you", "hqt ls shows what they do")
    return min(waiting, key=lambda found: found[0])[1]


def find(name: str) -> View:
    """Return the session of that name, or the only one whose name begins so; an id names its session too.

    Raises:
        NoSuchSessionError: there is none, or there are several.

    """
    return views([_named(rows.read(paths.database()), name)])[0]


def _named(found: Sequence[Row], name: str) -> Row:
    exact = [row for row in found if row.name == name] or [row for row in found if row.id == name]
    matches = exact or [row for row in found if row.name.startswith(name) and name]
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(row.name for row in matches)
        raise NoSuchSessionError(f"{name!r} could be several sessions", f"one of: {names}")
    raise NoSuchSessionError(f"there is no session named {name!r}", "hqt ls shows them")

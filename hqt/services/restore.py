"""Starting again what should be running: after a reboot, or after the tmux server ended."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hqt.errors import HqtError
from hqt.services import leftovers, listing
from hqt.services.sessions import SessionService

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hqt.services.listing import View

_AT_ONCE = 8
"""Starts at a time: each mostly waits to see whether its harness ends at once."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of one session: the rung by which it was started, or why it was not."""

    name: str
    rung: str = ""
    failed: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the object that `hqt restore --json` prints. Keys are only ever added."""
        return {"name": self.name, "rung": self.rung or None, "failed": self.failed or None}


def wanted(names: Sequence[str] = ()) -> list[View]:
    """Return the sessions to be started: those of these names, else all that should be running and have no window.

    Raises:
        NoSuchSessionError: a name is none's.

    """
    if names:
        return [view for name in names if (view := listing.find(name)).state != "running"]
    return [view for view in listing.all_views() if view.is_lost]


def restore(views: Sequence[View]) -> Iterator[Restored]:
    """Start these sessions, several at a time; tell of each as it is done. One that fails stops no other."""
    leftovers.remove()
    service = SessionService()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for done in as_completed([pool.submit(_restored, service, view) for view in views]):
            yield done.result()


def _restored(service: SessionService, view: View) -> Restored:
    name = view.row.name
    try:
        started = service.attach_session(view)
    except HqtError as error:
        return Restored(name, failed=error.message)
    if started.exit_status is not None:
        last = started.last_lines[-1] if started.last_lines else ""
        return Restored(name, started.rung, f"it ended at once, with status {started.exit_status}: {last}")
    return Restored(name, started.rung)

"""What can be done with a session that there is, the same by a command and by a key; each returns what to say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hqt.services import audit as auditing
from hqt.services import check as checking
from hqt.services import leftovers, listing, sending
from hqt.services.sessions import SessionService

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hqt.services.listing import View


def stop(view: View) -> list[str]:
    """Stop the session, and say if it leaves something to look at."""
    SessionService().stop(view)
    name = view.row.name
    said = [f"stopped {name}" if view.pane else f"{name} was stopped already"]
    if auditing.has_baseline(view.row) and (found := auditing.audit(view.row)):
        said.append(f"  {len(found)} new or changed files would run outside the jail: hqt audit {name}")
    return said


def restart(view: View) -> list[str]:
    """Stop the session, and start it again where it was."""
    service = SessionService()
    service.stop(view)
    started = service.attach_session(listing.views([view.row])[0])
    name = view.row.name
    if started.exit_status is not None:
        return [f"{name} ended at once, with status {started.exit_status}", *started.last_lines[-1:]]
    return [f"restarted {name}"]


def remove(views: Iterable[View]) -> Iterator[str]:
    """Stop the sessions and forget them, and tell of each; then clear away what others left half done."""
    service = SessionService()
    for view in views:
        service.remove(view)
        yield f"removed {view.row.name}"
    leftovers.remove()


def rename(view: View, name: str) -> list[str]:
    """Give the session another name."""
    SessionService().rename(view, name)
    return [f"{view.row.name} is {name} now"]


def send(view: View, text: str) -> list[str]:
    """Type a prompt into the session's harness."""
    return [sending.send(view, text).line]


def check(view: View) -> list[checking.Finding]:
    """Try the session's jail from inside."""
    return checking.check(view.row, is_running=view.state == "running")


def audit(view: View) -> list[auditing.Finding]:
    """Look for what the session made that would run outside its jail."""
    return auditing.audit(view.row)

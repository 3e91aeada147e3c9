"""hqt attach: show a session's window, started again, where it was, if it does not run."""

from __future__ import annotations

from typing import Annotated

import typer

from hqt.cli import choosing, terminal
from hqt.services import listing
from hqt.services.listing import View


def attach(
    name: choosing.PickedName = "",
    waiting: Annotated[bool, typer.Option("--waiting", help="The one that has waited longest for you.")] = False,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Start it only, if it does not run.")] = False,
) -> None:
    """Show a session; one that is stopped is started again, with its policy and its conversation."""
    view = listing.next_waiting() if waiting else choosing.picked(name)
    if not detach:
        terminal.require(view.server.socket)
    show(view, detach=detach)


def show(view: View, *, detach: bool = False) -> None:
    """Start the session if it does not run, and bring its window before the user unless `detach`."""
    if view.is_in_place:  # nothing to start, and nothing slow to import
        if not detach:
            terminal.show(view)
        return
    from hqt.cli import started
    from hqt.services.sessions import SessionService

    started.report(SessionService().attach_session(view, size=terminal.size()), detach=detach)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(attach)

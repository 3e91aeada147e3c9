"""hqt dash: the dashboard."""

from __future__ import annotations

from pathlib import Path

import typer

from hqt.cli import terminal
from hqt.cli.attach import show
from hqt.errors import HqtError


def dash() -> None:
    """Show all sessions live, with a key for all that can be done with each."""
    if not terminal.is_there():
        raise HqtError("the dashboard needs a terminal", "hqt ls lists the sessions without one")
    from hqt.tui.dash import DashApp

    view = DashApp(Path.cwd()).run()
    if view is not None:
        terminal.require(view.server.socket)
        show(view)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(dash)

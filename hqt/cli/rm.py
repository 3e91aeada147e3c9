"""hqt rm: stop a session and forget it; the project and the harness's own records are not touched."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hqt.cli.output import print_line
from hqt.services import listing
from hqt.text import visible


def rm(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="The sessions to remove.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, even if one is running.")] = False,
) -> None:
    """Remove sessions, stopped first if they run: the row, the private copies, the cache."""
    from hqt.services.sessions import SessionService

    views = [listing.find(name) for name in names]
    running = ", ".join(view.row.name for view in views if view.state == "running")
    if running and not yes and sys.stdin.isatty() and sys.stdout.isatty():
        typer.confirm(f"Still running: {visible(running)}. End and remove?", abort=True)
    for view in views:
        SessionService().remove(view)
        print_line(f"removed {view.row.name}")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(rm)

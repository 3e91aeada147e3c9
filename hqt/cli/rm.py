"""hqt rm: stop a session and forget it; the project and the harness's own records are not touched."""

from __future__ import annotations

from typing import Annotated

import typer

from hqt.cli import terminal
from hqt.cli.output import print_line
from hqt.services import listing
from hqt.text import visible


def rm(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="The sessions to remove.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, even if one is running.")] = False,
) -> None:
    """Remove sessions, stopped first if they run: the row, the private copies, the cache."""
    from hqt.services import actions

    views = [listing.find(name) for name in names]
    running = ", ".join(view.row.name for view in views if view.state == "running")
    if running and not yes and terminal.is_there():
        typer.confirm(f"Still running: {visible(running)}. End and remove?", abort=True)
    for line in actions.remove(views):
        print_line(line)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(rm)

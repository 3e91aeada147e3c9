"""hqt peek: print a session's screen as plain text, without attaching."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hqt.cli import choosing
from hqt.cli.output import print_line
from hqt.errors import HqtError


def peek(
    name: choosing.PickedName = "",
    lines: Annotated[
        int | None,
        typer.Option(
            "--lines", "-n", metavar="LINES", min=1, help="Only that many of the last lines.", show_default="all"
        ),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Then go on with what is new, until it ends.")] = False,
) -> None:
    """Print what a session's window has shown, the scrollback too, as plain text."""
    view = choosing.picked(name)
    if view.pane is None:
        raise HqtError(f"{view.row.name} has no window", f"hqt attach {view.row.name} starts it")
    if not follow:
        for line in view.server.screen(view.pane)[-(lines or 0) :]:
            print_line(line)
        return
    from hqt.services import following

    for line in following.follow(view.server, view.pane, lines or 0):
        print_line(line)
        sys.stdout.flush()


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(peek)

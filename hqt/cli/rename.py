"""hqt rename: give a session another name."""

from __future__ import annotations

from typing import Annotated

import typer

from hqt.cli.output import print_line
from hqt.services import listing


def rename(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A session's name, or the beginning of it.")],
    new_name: Annotated[str, typer.Argument(metavar="NEW_NAME", help="Its new name.")],
) -> None:
    """Rename a session, and its window."""
    from hqt.services.sessions import SessionService

    view = listing.find(name)
    SessionService().rename(view, new_name)
    print_line(f"{view.row.name} is {new_name} now")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(rename)

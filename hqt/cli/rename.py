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
    from hqt.services import actions

    for line in actions.rename(listing.find(name), new_name):
        print_line(line)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(rename)

"""hqt stop: end a session's window; its row, policy and conversation stay."""

from __future__ import annotations

from typing import Annotated

import typer

from hqt.cli.output import print_line
from hqt.services import listing


def stop(names: Annotated[list[str], typer.Argument(metavar="NAME...", help="The sessions to stop.")]) -> None:
    """Stop sessions. `hqt attach` brings them back where they were."""
    from hqt.services import actions

    for view in [listing.find(name) for name in names]:
        for line in actions.stop(view):
            print_line(line)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(stop)

"""hqt stop: end a session's window; its row, policy and conversation stay."""

from __future__ import annotations

from typing import Annotated

import typer

from hqt.cli.output import print_line
from hqt.services import listing


def stop(names: Annotated[list[str], typer.Argument(metavar="NAME...", help="The sessions to stop.")]) -> None:
    """Stop sessions. `hqt attach` brings them back where they were."""
    from hqt.services.audit import audit, has_baseline
    from hqt.services.sessions import SessionService

    for view in [listing.find(name) for name in names]:
        SessionService().stop(view)
        print_line(f"stopped {view.row.name}" if view.pane else f"{view.row.name} was stopped already")
        if has_baseline(view.row) and (found := audit(view.row)):
            print_line(f"  {len(found)} new or changed files would run outside the jail: hqt audit {view.row.name}")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(stop)

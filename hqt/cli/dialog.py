"""hqt dialog: the New Session dialog, for a tmux popup or any terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from hqt.cli import terminal
from hqt.errors import HqtError


def dialog(
    project: Annotated[
        Path, typer.Argument(metavar="[PROJECT]", help="The folder to start from.", show_default="the current one")
    ] = Path(),
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Start it only; print its name.")] = False,
) -> None:
    """Ask for a new session in a dialog, start it, and show it."""
    if not terminal.is_there():
        raise HqtError("the dialog needs a terminal", "hqt new does the same without one")
    from hqt.cli import started
    from hqt.services.requests import default_socket
    from hqt.tui.dialog import DialogApp, offer

    if not detach:
        terminal.require(default_socket())
    outcome = DialogApp(offer(project.absolute())).run()
    if outcome is None:
        raise typer.Exit(1)
    if detach:
        sys.stdout.write(f"{outcome.view.row.name}\n")
    started.report(outcome, detach=detach)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(dialog)

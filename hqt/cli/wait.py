"""hqt wait: until sessions are idle, wait for an answer, or have ended."""

from __future__ import annotations

from typing import Annotated

import typer

from hqt.cli.output import print_line
from hqt.services import listing
from hqt.services.status import Goal


def wait(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="The sessions to wait for.")],
    goals: Annotated[
        list[Goal] | None,
        typer.Option("--for", help="May be given several times.", show_default="idle, and waiting for an answer"),
    ] = None,
    any_of_them: Annotated[bool, typer.Option("--any", help="Until the first of them, not all.")] = False,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", min=0, help="Then end with 7.", show_default="none")
    ] = None,
) -> None:
    """Wait for sessions, and print each with what it came to. Exit 1 if one can no longer get there, 7 out of time."""
    from hqt.services import watching

    views = [listing.find(name) for name in names]
    for view, goal in watching.wait(
        views, goals or (Goal.IDLE, Goal.WAITING), any_of_them=any_of_them, timeout_s=timeout
    ):
        print_line(f"{view.row.name} {goal}")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(wait)

"""hqt tmux: the lines that bring hqt's keys and status segment into tmux."""

from __future__ import annotations

from typing import Annotated

import typer

from hqt.cli import terminal
from hqt.cli.output import print_line
from hqt.errors import UsageError


def tmux(
    install: Annotated[bool, typer.Option("--install", help="Add them, once, and show the difference first.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Print the lines for tmux.conf that bring hqt's keys: prefix H, then n, a, w, d, s, p, c or ?."""
    from hqt.services import integration

    if not install:
        for line in integration.tmux_lines():
            print_line(line)
        return
    change = integration.tmux_change()
    if not change.difference:
        print_line(f"{change.path} has them already")
        return
    for line in change.difference.splitlines():
        print_line(line)
    if not yes:
        if not terminal.is_there():
            raise UsageError("there is no terminal to ask in", "--yes adds them without asking")
        typer.confirm(f"Write {change.path}?", abort=True)
    change.make()
    print_line(f"wrote {change.path}; a running tmux takes it by: tmux source-file {change.path}")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(tmux)

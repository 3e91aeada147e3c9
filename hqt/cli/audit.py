"""hqt audit: what a session made or changed that would run outside its jail."""

from __future__ import annotations

from typing import Annotated

import typer

from hqt.cli import choosing
from hqt.cli.output import print_json, print_line


def audit(
    name: choosing.OptionalName = "",
    accept: Annotated[bool, typer.Option("--accept", help="Take what is there now as looked at.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs; see docs/json.md.")] = False,
) -> None:
    """Show what a session made or changed that would run outside its jail. Exit 1 if there is something to look at."""
    from hqt.services import audit as auditing

    row = choosing.named(name).row
    found = auditing.audit(row)
    if as_json:
        print_json([finding.to_json() for finding in found])
    elif not found:
        print_line("nothing new or changed runs outside the jail")
    else:
        for line in (line for finding in found for line in finding.lines):
            print_line(line)
    if accept:
        auditing.accept(row)
    elif found:
        raise typer.Exit(1)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(audit)

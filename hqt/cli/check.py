"""hqt check: try each promise from inside a session's jail."""

from __future__ import annotations

from typing import Annotated

import typer

from hqt.cli import choosing
from hqt.cli.output import print_json, print_table


def check(
    name: choosing.OptionalName = "",
    as_json: Annotated[bool, typer.Option("--json", help="For programs; see docs/json.md.")] = False,
) -> None:
    """Prove a session's jail: a probe in the harness's place tries each promise. Exit 0 only if all hold."""
    from hqt.services import check as checking

    view = choosing.named(name)
    found = checking.check(view.row, is_running=view.state == "running")
    if as_json:
        print_json([finding.to_json() for finding in found])
    else:
        from hqt.tables import findings

        print_table(findings(found))
    if any(finding.outcome == "broken" for finding in found):
        raise typer.Exit(1)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(check)

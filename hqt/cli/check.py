"""hqt check: try each promise from inside a session's jail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hqt.cli import choosing
from hqt.cli.output import print_json, visible

if TYPE_CHECKING:
    from hqt.services.check import Finding


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
        print_table(found)
    if any(finding.outcome == "broken" for finding in found):
        raise typer.Exit(1)


def print_table(found: list[Finding]) -> None:
    """Print the findings for a person."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    styles = {"held": "green", "broken": "bold red", "not promised": "dim"}
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("THE JAIL", "TRIED", ""):
        table.add_column(heading, overflow="fold")
    for finding in found:
        result = Text(finding.outcome, styles[finding.outcome])
        result.append(f": {visible(finding.detail)}" if finding.detail else "")
        table.add_row(Text(finding.promise), Text(finding.tried, "dim"), result)
    Console(highlight=False, markup=False).print(table)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(check)

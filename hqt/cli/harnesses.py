"""hqt harnesses: the agents that hqt knows, and which of them are installed."""

from __future__ import annotations

from typing import Annotated

import typer

from hqt.cli.output import print_json, print_table


def harnesses(as_json: Annotated[bool, typer.Option("--json", help="For programs; see docs/json.md.")] = False) -> None:
    """List the agents that hqt knows: installed or not, the version, the one hqt was verified with."""
    from hqt.services import installed

    found = installed.described()
    if as_json:
        print_json([harness.to_json() for harness in found])
        return
    from rich.text import Text

    from hqt.tables import plain
    from hqt.text import visible

    table = plain("NAME", "INSTALLED", "VERIFIED", "")
    for harness in found:
        version = Text(harness.version or "yes", "green") if harness.path else Text("no", "dim")
        unverified = "" if harness.verified else "known from its documentation only: never tried by hqt's makers"
        told = (harness.setup or unverified) if harness.path else harness.install
        table.add_row(harness.name, version, harness.verified or "-", Text(visible(told), "dim"))
    print_table(table)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(harnesses)

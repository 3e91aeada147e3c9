"""hqt ls: every session, and what it is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hqt.cli.output import print_json, print_line, print_table
from hqt.services import listing
from hqt.text import since, visible

if TYPE_CHECKING:
    from hqt.services.listing import View


def ls(as_json: Annotated[bool, typer.Option("--json", help="For programs; see docs/json.md.")] = False) -> None:
    """List the sessions."""
    found = listing.all_views()
    if as_json:
        print_json([view.to_json() for view in found])
    elif found:
        _print_table(found)
    else:
        print_line("No sessions yet. Start one in a project's folder:")
        print_line("  hqt new --sandbox                          # the first installed agent of hqt harnesses")
        print_line("  hqt new --sandbox -H generic               # a shell that shows what a jail can see")


def _print_table(found: list[View]) -> None:
    from rich.table import Table
    from rich.text import Text

    from hqt.tables import STATES

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("NAME", "STATE", "STATUS", "HARNESS", "SANDBOX", "AGE"):
        table.add_column(heading, no_wrap=True)
    table.add_column("PROJECT", overflow="fold")
    for view in found:
        cells = (
            view.row.name,
            view.state_in_words,
            view.status_in_words,
            view.row.harness,
            view.policy_in_short,
            since(view.row.created_at),
            view.project_in_short,
        )
        status = view.status.status if view.status else ""
        styles = ("bold", STATES[view.state], "bold yellow" if status == "waiting" else "", "", "", "dim", "dim")
        table.add_row(*(Text(visible(cell), style) for cell, style in zip(cells, styles, strict=True)))
    print_table(table)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(ls)

"""hqt ls: every session, and what it is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hqt.cli.columns import print_columns
from hqt.cli.output import print_json, print_line
from hqt.services import listing
from hqt.text import since

if TYPE_CHECKING:
    from hqt.cli.columns import Cell
    from hqt.services.listing import View

_BOLD, _DIM, _WAITING = "1", "2", "1;33"
_STATES = {"running": "32", "exited": "31", "stopped": _DIM}


def ls(as_json: Annotated[bool, typer.Option("--json", help="For programs; see docs/json.md.")] = False) -> None:
    """List the sessions."""
    found = listing.all_views()
    if as_json:
        print_json([view.to_json() for view in found])
    elif found:
        headings = ("NAME", "STATE", "STATUS", "HARNESS", "SANDBOX", "AGE", "PROJECT")
        print_columns([[(heading, _BOLD) for heading in headings], *map(_cells, found)])
    else:
        print_line("No sessions yet. Start one in a project's folder:")
        print_line("  hqt new --sandbox                          # the first installed agent of hqt harnesses")
        print_line("  hqt new --sandbox -H generic               # a shell that shows what a jail can see")


def _cells(view: View) -> list[Cell]:
    is_waiting = view.status is not None and view.status.status == "waiting"
    return [
        (view.row.name, _BOLD),
        (view.state_in_words, _STATES[view.state]),
        (view.status_in_words, _WAITING if is_waiting else ""),
        (view.row.harness, ""),
        (view.policy_in_short, ""),
        (since(view.row.created_at), _DIM),
        (view.project_in_short, _DIM),
    ]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(ls)

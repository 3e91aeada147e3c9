"""hqt restore: start again every session that should be running, after a reboot or a killed tmux server."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from hqt.cli.output import print_json, print_line, print_note

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hqt.services.restore import Restored

_RUNGS = {"resumed": "goes on with its conversation", "fresh": "started afresh", "running": "ran already"}


def restore(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME...]", help="Only these.", show_default="all that should be running"),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say which.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs; see docs/json.md.")] = False,
) -> None:
    """Start again every session that should be running, each with its policy and its conversation."""
    from hqt.services import restore as restoring

    wanted = restoring.wanted(names or [])
    if dry_run:
        found = [restoring.Restored(view.row.name) for view in wanted]
    else:
        found = _with_progress(restoring.restore(wanted), len(wanted))
    if as_json:
        print_json([restored.to_json() for restored in found])
    elif not found:
        print_line("nothing to restore: all that should be running has its window")
    else:
        _print(found)
    if any(restored.failed for restored in found):
        raise typer.Exit(1)


def _print(found: list[Restored]) -> None:
    for restored in found:
        if restored.failed:
            print_note(f"{restored.name}: {restored.failed}")
        else:
            print_line(restored.name + (f" {_RUNGS[restored.rung]}" if restored.rung else " would be started"))
    failed = sum(bool(restored.failed) for restored in found)
    if failed:
        print_note(f"{len(found) - failed} of {len(found)} restored; hqt attach NAME tries one again")


def _with_progress(done: Iterable[Restored], total: int) -> list[Restored]:
    if not sys.stderr.isatty() or not total:
        return list(done)
    from rich.console import Console
    from rich.progress import track

    return list(track(done, "restoring", total=total, console=Console(stderr=True), transient=True))


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(restore)

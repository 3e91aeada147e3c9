"""hqt doctor: what works on this host, what does not, and the command that mends it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hqt.cli import terminal
from hqt.cli.output import print_json, print_line, print_table
from hqt.errors import HqtError, UsageError
from hqt.text import visible

if TYPE_CHECKING:
    from hqt.services.doctor import Diagnosis

_STYLES = {"ok": "green", "note": "yellow", "problem": "bold red"}


def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Mend what hqt can mend itself; asks for each.")] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Print a text for a bug report, personal paths left out.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs; see docs/json.md.")] = False,
) -> None:
    """Look at this host, the sandbox, tmux, the harnesses and hqt's own state. Exit 0 only without problems."""
    from hqt.services import doctor as examining

    if fix and not terminal.is_there():
        raise UsageError("there is no terminal to ask in", "hqt doctor without --fix shows the commands")
    if report:
        from hqt.services.doctor.report import report as text

        for line in text(examining.examine()):
            print_line(line)
        return
    found = examining.examine()
    if as_json:
        print_json([diagnosis.to_json() for diagnosis in found])
    else:
        _print(found)
    if fix:
        found = [diagnosis for diagnosis in found if not _mended(diagnosis)]
    if any(diagnosis.level == "problem" for diagnosis in found):
        raise typer.Exit(1)


def _print(found: list[Diagnosis]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    for _ in range(3):
        table.add_column(overflow="fold")
    for diagnosis in found:
        told = Text(visible(diagnosis.told))
        if diagnosis.fix:
            told.append(f"\n→ {visible(diagnosis.fix)}", "bold" if diagnosis.level == "problem" else "dim")
        table.add_row(Text(diagnosis.level, _STYLES[diagnosis.level]), diagnosis.what, told)
    print_table(table)


def _mended(diagnosis: Diagnosis) -> bool:
    """Ask whether to mend it, where hqt can, and do so."""
    if diagnosis.repair is None or not typer.confirm(f"{visible(diagnosis.told)}\n  {visible(diagnosis.fix)}?"):
        return False
    try:
        diagnosis.repair()
    except (HqtError, OSError) as error:
        print_line(f"that failed: {error}")
        return False
    return True


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)

"""Printing: plain text and errors. Names, paths and screens are other people's text, and are made harmless first."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from hqt.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    from hqt.errors import HqtError

_PIPED_WIDTH = 10_000


def print_line(text: str = "") -> None:
    """Print one line of results."""
    sys.stdout.write(visible(text) + "\n")


def print_table(table: Table) -> None:
    """Print a table of rich's; one that is piped is cut by nobody's window."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    Console(highlight=False, markup=False, width=width).print(table)


def print_note(text: str) -> None:
    """Print one line that is not a result."""
    sys.stderr.write(f"hqt: {visible(text)}\n")


def print_screen(lines: Iterable[str]) -> None:
    """Print a window's last lines, so that they cannot be taken for hqt's own words."""
    for line in lines:
        sys.stderr.write(f"  | {visible(line)}\n")


def print_json(value: object) -> None:
    """Print one JSON value."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def print_error(error: HqtError, *, as_json: bool) -> None:
    """Print what failed and what to do, on standard error."""
    if as_json:
        facts = {"error": error.message, "hint": error.hint, "exit_code": int(error.exit_code)}
        sys.stderr.write(json.dumps(facts) + "\n")
        return
    print_note(error.message)
    if error.hint:
        sys.stderr.write(f"hint: {visible(error.hint)}\n")

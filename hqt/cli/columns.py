"""Columns for `hqt ls`: rich's tables take longer to import than all else that a listing does."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells

from hqt.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

_GAP = 2
_MIN_LAST = 10

Cell = tuple[str, str]
"""A text, other people's or ours, and its style: the parameters of an SGR sequence, `1;33`; empty for none."""


def print_columns(rows: Sequence[Sequence[Cell]]) -> None:
    """Print the rows, a column as wide as its widest cell; a terminal too narrow for the last has it folded."""
    is_terminal = sys.stdout.isatty()
    is_styled = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    seen = [[(visible(text), style if is_styled else "") for text, style in row] for row in rows]
    widths = [max(cell_len(text) for text, _ in column) + _GAP for column in zip(*seen, strict=True)][:-1]
    room = max(shutil.get_terminal_size().columns - sum(widths), _MIN_LAST) if is_terminal else sys.maxsize
    for *cells, (last, style) in seen:
        padded = zip(cells, widths, strict=True)
        start = "".join(_styled(cell) + " " * (width - cell_len(cell[0])) for cell, width in padded)
        for part in chop_cells(last, room) or [""]:
            sys.stdout.write(f"{start}{_styled((part, style))}\n")
            start = " " * sum(widths)


def _styled(cell: Cell) -> str:
    text, style = cell
    return f"\x1b[{style}m{text}\x1b[0m" if style else text

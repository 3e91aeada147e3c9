"""Tables by rich that both the command line and the screens show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from hqt.text import visible

if TYPE_CHECKING:
    from hqt.services.check import Finding

_STYLES = {"held": "green", "broken": "bold red", "not promised": "dim"}


def plain(*headings: str) -> Table:
    """Return an empty table with these headings and without lines; what does not fit is folded."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def findings(found: list[Finding]) -> Table:
    """Return what a check of a jail found."""
    table = plain("THE JAIL", "TRIED", "")
    for finding in found:
        result = Text(finding.outcome, _STYLES[finding.outcome])
        result.append(f": {visible(finding.detail)}" if finding.detail else "")
        table.add_row(Text(finding.promise), Text(finding.tried, "dim"), result)
    return table

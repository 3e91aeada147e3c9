"""What a start has to say, the same for `hqt new` and `hqt attach`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hqt.cli import terminal
from hqt.cli.output import print_note, print_screen
from hqt.errors import HqtError

if TYPE_CHECKING:
    from hqt.services.sessions import Started

_RUNGS = {
    "resumed": "goes on with its conversation",
    "fresh": "started afresh: there was no conversation to go on with",
}


def report(started: Started, *, detach: bool) -> None:
    """Tell how the session was started, and bring its window before the user unless `detach`.

    Raises:
        HqtError: the jail or the harness was not even started.

    """
    name = started.view.row.name
    for note in (started.setup_hint, *started.notes):
        if note:
            print_note(note)
    if started.rung in _RUNGS:
        print_note(f"{name} {_RUNGS[started.rung]}")
    if started.exit_status is not None:
        print_note(f"{name} ended at once, with status {started.exit_status}; its last lines:")
        print_screen(started.last_lines[-10:])
        if started.never_ran:
            raise HqtError(f"{name} was not started", "hqt show NAME --argv prints its command; hqt rm NAME removes it")
        return
    if not detach:
        terminal.show(started.view)

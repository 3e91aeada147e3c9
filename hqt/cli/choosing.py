"""Which session a command is about: the one that is named, else the window's own, else one that is picked."""

from __future__ import annotations

from typing import Annotated

import typer

from hqt.cli import terminal
from hqt.errors import UsageError
from hqt.services import listing
from hqt.services.listing import View

_HELP = "A session's name, or the beginning of it."
OptionalName = Annotated[str, typer.Argument(metavar="[NAME]", help=_HELP, show_default="that of the window in front")]
PickedName = Annotated[str, typer.Argument(metavar="[NAME]", help=_HELP, show_default="picked from a list")]


def named(name: str) -> View:
    """Return the session of that name, without one that of the tmux window in front, else the one that is picked.

    Raises:
        UsageError: none is named, and there is no terminal to pick one.

    """
    if name:
        return listing.find(name)
    return listing.current() or picked("")


def picked(name: str) -> View:
    """Return the session of that name, without one that which is picked from a list.

    Raises:
        UsageError: none is named, and there is no terminal to pick one.

    """
    if name:
        return listing.find(name)
    if not terminal.is_there():
        raise UsageError("which session? there is no terminal to pick one", "name it; hqt ls shows them")
    views = listing.all_views()
    if not views:
        raise UsageError("there are no sessions yet", "hqt new starts one")
    from hqt.tui.picker import PickerApp

    view = PickerApp(views).run()
    if view is None:
        raise typer.Exit(1)
    return view

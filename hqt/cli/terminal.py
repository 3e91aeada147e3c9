"""Bringing a window before the user: by attaching, or by selecting it where tmux is already on the screen."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from hqt.errors import HqtError
from hqt.tmux import is_inside

if TYPE_CHECKING:
    from pathlib import Path

    from hqt.services.listing import View


def size() -> tuple[int, int] | None:
    """Return the terminal's columns and rows, or None without a terminal."""
    if not sys.stdout.isatty():
        return None
    found = os.get_terminal_size(sys.stdout.fileno())
    return found.columns, found.lines


def is_there() -> bool:
    """Tell whether a person sees what is printed and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def require(socket: Path) -> None:
    """Fail early where the window could not be brought before the user.

    Raises:
        HqtError: there is no terminal, or it shows another tmux server.

    """
    if is_inside(socket):
        return
    if not is_there():
        raise HqtError("there is no terminal to attach to", "add -d to start without attaching")
    if os.environ.get("TMUX"):
        raise HqtError(
            f"this terminal shows another tmux server than {socket}", "add -d, or detach first: tmux in tmux is a maze"
        )


def show(view: View) -> None:
    """Bring the window before the user; outside tmux this does not return."""
    if view.pane is None:
        return
    if is_inside(view.server.socket):
        view.server.select_window(view.pane)
        return
    argv = view.server.attach_argv(view.pane)
    sys.stdout.flush()
    os.execvp(argv[0], argv)

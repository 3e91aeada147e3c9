"""hqt notify: what tmux runs when a session's window rings its bell or its command ends. Not for people."""

from __future__ import annotations

from typing import Annotated

import typer


def notify(place: Annotated[str, typer.Argument(metavar="WINDOW|PANE", help="Its id, as tmux names it.")]) -> None:
    """Tell the user what became of a session, as config.toml says."""
    from hqt.services import notifying
    from hqt.tmux import socket_path

    notifying.tell(socket_path(), place)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(hidden=True)(notify)

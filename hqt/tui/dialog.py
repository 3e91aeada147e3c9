"""`hqt dialog`: the New Session dialog by itself, as a popup of tmux shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hqt import config
from hqt.services import installed, projects, sandboxing
from hqt.services.requests import request_for
from hqt.services.sessions import SessionService
from hqt.tui.app import HqtApp
from hqt.tui.screens.new_session import NewSessionScreen, Offer

if TYPE_CHECKING:
    from pathlib import Path

    from hqt.services.requests import Options
    from hqt.services.sessions import Started


class DialogApp(HqtApp["Started | None"]):
    """Shows the dialog, and ends with the session that was made, or None."""

    def __init__(self, offer: Offer) -> None:
        super().__init__()
        self._offer = offer

    def on_mount(self) -> None:
        """Show the dialog; when it ends, so does the program."""
        self.push_screen(NewSessionScreen(self._offer, create), self.exit)


def offer(project: Path) -> Offer:
    """Return what a dialog for that folder starts from."""
    harnesses = installed.harnesses()
    settings = config.load()
    chosen = settings.harness or harnesses[0][0]
    why_not = sandboxing.why_not(project)
    recent = projects.recent()
    return Offer(project, harnesses, chosen, recent, why_not, sandboxed=settings.sandbox, hide=settings.hide)


def create(options: Options) -> Started:
    """Make the session that the dialog asks for, as `hqt new` does."""
    return SessionService().create_session(request_for(options))

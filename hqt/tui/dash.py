"""`hqt dash`: the dashboard as a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import App

from hqt.services.listing import View
from hqt.tui.screens.dashboard import DashboardScreen

if TYPE_CHECKING:
    from pathlib import Path


class DashApp(App[View | None]):
    """Shows the dashboard, and ends with the session that is to be attached to, or None."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, project: Path) -> None:
        super().__init__()
        self._project = project

    def on_mount(self) -> None:
        """Show it; when it ends, so does the program."""
        self.push_screen(DashboardScreen(self._project), self.exit)

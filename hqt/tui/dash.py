"""`hqt dash`: the dashboard as a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hqt.services.listing import View
from hqt.tui.app import HqtApp
from hqt.tui.screens.dashboard import DashboardScreen

if TYPE_CHECKING:
    from pathlib import Path


class DashApp(HqtApp[View | None]):
    """Shows the dashboard, and ends with the session that is to be attached to, or None."""

    def __init__(self, project: Path) -> None:
        super().__init__()
        self._project = project

    def on_mount(self) -> None:
        """Show it; when it ends, so does the program."""
        self.push_screen(DashboardScreen(self._project), self.exit)

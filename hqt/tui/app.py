"""What hqt's programs on the whole screen share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import App, ReturnType
from textual.events import DescendantFocus, Key, Paste

if TYPE_CHECKING:
    from textual.events import Event


class HqtApp(App[ReturnType]):
    """An app that loses nothing that is typed before its first screen is there: hands are faster than a popup."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self) -> None:
        super().__init__()
        self._early: list[Event] | None = []

    async def on_event(self, event: Event) -> None:
        """Keep keys until something has the focus."""
        if self._early is not None and isinstance(event, Key | Paste):
            self._early.append(event)
        else:
            await super().on_event(event)

    def on_descendant_focus(self, _: DescendantFocus) -> None:
        """Give what was kept to what has the focus now."""
        early, self._early = self._early, None
        for event in early or ():
            self.post_message(event)

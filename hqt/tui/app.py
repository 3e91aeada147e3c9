"""What hqt's programs on the whole screen share."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.app import App, ReturnType
from textual.events import DescendantFocus, Key, Paste

from hqt import config

if TYPE_CHECKING:
    from textual.events import Event
    from textual.widget import Widget

_PATIENCE_S = 0.5
"""For a key's widget that is gone before it has said that it is done."""


class HqtApp(App[ReturnType]):
    """An app for hands that are faster than a popup: what is typed is kept, and each key acts before the next one does.

    Textual gives all the keys of one read to what has the focus at that moment, although the first of them may move it.
    """

    ENABLE_COMMAND_PALETTE = False

    def __init__(self) -> None:
        super().__init__()
        self.theme = f"textual-{config.theme(config.load())}"
        self._typed: deque[Event] = deque()
        self._started = False
        self._taking = False

    async def on_event(self, event: Event) -> None:
        """Keep what is typed until what was typed before has done all that it does."""
        if not isinstance(event, Key | Paste) or event.is_forwarded:
            await super().on_event(event)
            return
        self._typed.append(event)
        self._take()

    def on_descendant_focus(self, _: DescendantFocus) -> None:
        """Give what was typed before anything had the focus to what has it now."""
        self._started = True
        self._take()

    def _take(self) -> None:
        if self._started and not self._taking:
            self._taking = True
            self.run_worker(self._take_each(), group="keys")

    async def _take_each(self) -> None:
        while self._typed:
            widget = self.focused or self.screen
            await super().on_event(self._typed.popleft())
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE_S):
                    await _done(widget)
        self._taking = False


async def _done(widget: Widget) -> None:
    """Wait until what was given to the widget went up through all above it, and so did their answers, and is shown."""
    calls = [node.call_later for node in [*widget.ancestors_with_self] * 2]
    for call in [*calls, widget.screen.call_after_refresh]:
        reached = asyncio.Event()
        if call(reached.set):
            await reached.wait()

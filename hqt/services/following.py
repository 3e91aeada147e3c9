"""Telling what a window newly shows, line by line, as `tail -f` does for a file.

A line is told once it has scrolled off the screen; what is on the screen, once it stands still, for it may be redrawn.
What was told and then redrawn is told anew from the first line that differs.
"""

from __future__ import annotations

import time
from itertools import takewhile
from typing import TYPE_CHECKING

from hqt.tmux import is_written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hqt.tmux import Server
    from hqt.tmux_pane import Look, Pane

_LOOK_S = 0.3
_SCROLLBACK = 2000
"""The lines above the screen that are looked at: of more that scroll by between two looks, only the last are told."""


class Following:
    """What was told so far of one window."""

    def __init__(self, known: Look) -> None:
        self._last = known
        self._told = known.lines

    def news(self, look: Look) -> list[str]:
        """Return the lines to tell after this look."""
        if look.width != self._last.width:  # its lines were broken anew
            self._last, self._told = look, look.lines
            return []
        told = self._told[_scrolled(self._last.scrolled_off, look.lines) :]
        stands_still = look.is_dead or look == self._last
        settled = look.lines if stands_still else look.scrolled_off
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(told, settled, strict=False)))
        self._last = look
        self._told = told if same == len(settled) else settled
        return settled[same:]


def follow(server: Server, pane: Pane, lines: int) -> Iterator[str]:
    """Yield the last lines that a window has shown, then each new one until its command ends or the window is gone."""
    look = server.look(pane, _SCROLLBACK)
    if look is None:
        return
    yield from list(filter(is_written, look.lines))[-lines:]
    following = Following(look)
    while look and not look.is_dead:
        time.sleep(_LOOK_S)
        look = server.look(pane, _SCROLLBACK)
        if look:
            yield from filter(is_written, following.news(look))


def _scrolled(before: list[str], now: list[str]) -> int:
    """Return how many of the lines that had scrolled off before are no longer among those that can be seen."""
    return next(gone for gone in range(len(before) + 1) if now[: len(before) - gone] == before[gone:])

"""Waiting for what sessions do: for what a harness says by inotify, for the end of its process by its descriptor."""

from __future__ import annotations

import os
import select
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Self

from inotify_simple import INotify, flags

from hqt.errors import ServiceError, TimedOutError
from hqt.services import listing, status
from hqt.services.status import Goal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from hqt.services.listing import View

_GUESS_S = 1.0
"""Between looks at a session whose harness says nothing: tmux tells when it last wrote."""
_BURST_S = 0.05
"""Between looks while one saying follows another: a hundred sessions that change keep no processor busy."""
_BEGINS_S = 2.0
"""How long after the end of a turn a harness may take to begin with a prompt that it has queued."""
_SETTLING_S = 0.1
"""How long tmux may take to learn that a process has ended."""


class Watch:
    """Sessions that are watched, from when it is made."""

    def __init__(self, views: Sequence[View]) -> None:
        self._open = ExitStack()
        self._poll = select.poll()
        self._processes: set[int] = set()
        self.ended = False
        """Whether one of them has ended: tmux may not know yet, or another process runs in its place."""
        self._said = self._open.enter_context(INotify(nonblocking=True))
        self._poll.register(self._said, select.POLLIN)
        for view in views:
            if view.pane is None or view.pane.pid is None or view.state != "running":
                continue
            with suppress(OSError):  # a session of an older hqt has no such folder yet
                self._said.add_watch(status.folder(view.row.id), flags.MOVED_TO | flags.CLOSE_WRITE | flags.DELETE)
            try:
                process = os.pidfd_open(view.pane.pid)
                self._open.callback(os.close, process)
                self._poll.register(process, select.POLLIN)
                self._processes.add(process)
            except ProcessLookupError:
                self.ended = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._open.close()

    def something(self, within_s: float | None) -> bool:
        """Wait until one of them says something or ends; False when the time is over."""
        found = {descriptor for descriptor, _ in self._poll.poll(None if within_s is None else max(within_s, 0) * 1000)}
        for process in found & self._processes:  # it has ended for good: told once
            self._poll.unregister(process)
            self.ended = True
            time.sleep(_SETTLING_S)
        self._said.read(timeout=0)
        return bool(found)


def until_it_says_something(view: View, within_s: float) -> None:
    """Wait until the harness has said something since it was started, or has ended."""
    until = time.monotonic() + within_s
    with Watch([view]) as watch:
        while status.mark(view.row.id) is None and not watch.ended and time.monotonic() < until:
            watch.something(until - time.monotonic())


def wait(
    views: Sequence[View], goals: Collection[Goal], *, any_of_them: bool, timeout_s: float | None
) -> Iterator[tuple[View, Goal]]:
    """Yield each session, with what was waited for, as it comes about; the first alone where any of them will do.

    Raises:
        TimedOutError: the time is over.
        ServiceError: a session ended, or does not run, and so will never do it.

    """
    until = None if timeout_s is None else time.monotonic() + timeout_s
    left = {view.row.id: view for view in views}
    while left:
        # Made anew each time, and before the look: a session may have been started again, and nothing is missed.
        with Watch(list(left.values())) as watch:
            looked = time.monotonic()
            left = {view.row.id: view for view in listing.views([view.row for view in left.values()])}
            for session_id, view in list(left.items()):
                if goal := _reached(view, goals):
                    yield view, goal
                    if any_of_them:
                        return
                    del left[session_id]
                elif view.state != "running" and not (any_of_them and _others_run(view, left.values())):
                    raise ServiceError(
                        f"{view.row.name} is not running ({view.state_in_words})", "hqt attach starts it"
                    )
            if not left:
                return
            remaining = None if until is None else until - time.monotonic()
            if remaining is not None and remaining <= 0:
                names = ", ".join(view.row.name for view in left.values())
                raise TimedOutError(f"not within {timeout_s:g} s: {names}", "hqt ls shows what they do")
            soon = (
                _SETTLING_S if watch.ended else _GUESS_S if any(_is_guessed(view) for view in left.values()) else None
            )
            waits = [wait_s for wait_s in (remaining, soon) if wait_s is not None]
            watch.something(min(waits, default=None))
        time.sleep(max(0.0, looked + _BURST_S - time.monotonic()))


def turn_of(view: View, *, is_queued: bool, timeout_s: float | None) -> Goal:
    """Wait for the end of a prompt's turn, and return whether it is done (`idle`) or asks something (`waiting`).

    One that `is_queued` has its turn after the running one, or within it: some harnesses take it up between two steps.

    Raises:
        TimedOutError: the time is over.
        ServiceError: the session ended.

    """
    until = None if timeout_s is None else time.monotonic() + timeout_s

    def reached() -> Goal:
        left = None if until is None else max(until - time.monotonic(), 0)
        return next(goal for _, goal in wait([view], (Goal.IDLE, Goal.WAITING), any_of_them=False, timeout_s=left))

    goal = reached()
    if is_queued and goal == Goal.IDLE and _says_more(view):
        goal = reached()
    return goal


def _says_more(view: View) -> bool:
    """Tell whether the harness, which has just become idle, begins with what it has queued."""
    before, until = status.mark(view.row.id), time.monotonic() + _BEGINS_S
    with Watch([view]) as watch:
        while status.mark(view.row.id) == before and not watch.ended and time.monotonic() < until:
            watch.something(until - time.monotonic())
    return status.mark(view.row.id) != before


def _is_guessed(view: View) -> bool:
    return bool(view.status and view.status.guess)


def _reached(view: View, goals: Collection[Goal]) -> Goal | None:
    if view.state != "running":
        return Goal.EXITED if Goal.EXITED in goals else None
    doing = view.status.status if view.status else None
    return next((goal for goal in goals if goal == doing), None)


def _others_run(view: View, left: Collection[View]) -> bool:
    return any(other.state == "running" for other in left if other is not view)

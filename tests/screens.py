"""Textual's pilot for tests: an app run without a terminal, in the world of the test."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress

from textual.worker import WorkerFailed

DEADLINE_S = 30


def piloted(app, drive, size=(80, 24)):
    """Run the app, let `drive(pilot)` use it, and return what the app ended with."""

    async def run():
        async with app.run_test(size=size, notifications=True) as pilot:
            await pilot.pause()
            await drive(pilot)
            await pilot.pause()
        return app.return_value

    return asyncio.run(run())


async def until(pilot, condition, message="the condition"):
    """Wait until the condition holds."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"not within {DEADLINE_S} s: {message}\n{text_of(pilot.app)}"
        await pilot.pause(0.02)


def text_of(app):
    """Return what is on the screen, as plain text."""
    width, height = app.size
    rows = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in rows[:height])[: (width + 1) * height]


def shows(*texts):
    """Return a step that waits until all of these are on the screen."""
    return lambda pilot: until(pilot, lambda: all(text in text_of(pilot.app) for text in texts), repr(texts))


def shows_not(*texts):
    """Return a step that waits until none of these is."""
    return lambda pilot: until(pilot, lambda: not any(text in text_of(pilot.app) for text in texts), repr(texts))


class Late:
    """A function that a screen calls in a thread, and that ends only as that screen's widgets are gone already."""

    def __init__(self, monkeypatch, screen, owner, name):
        self.called = threading.Event()
        self._armed = threading.Event()
        self._left = threading.Event()
        function = getattr(owner, name)

        def late(*values):
            if self._armed.is_set():
                self.called.set()
                assert self._left.wait(DEADLINE_S)
            return function(*values)

        async def on_unmount(screen):
            self._left.set()
            for worker in [worker for worker in screen.workers if worker.node is screen]:
                with suppress(WorkerFailed, TimeoutError):  # what fails is told by the app
                    async with asyncio.timeout(2):
                        await worker.wait()

        monkeypatch.setattr(owner, name, late)
        monkeypatch.setattr(screen, "on_unmount", on_unmount, raising=False)

    async def arm(self, _):
        """Make the next call of it late: a step."""
        self._armed.set()

    def is_called(self, pilot):
        """Wait until it is: a step."""
        return until(pilot, self.called.is_set, "the call")

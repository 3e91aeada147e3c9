"""Textual's pilot for tests: an app run without a terminal, in the world of the test."""

from __future__ import annotations

import asyncio
import time

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

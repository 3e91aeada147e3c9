"""A real terminal for tests: a pane of an outer tmux, typed into and read from."""

from __future__ import annotations

import shlex
from itertools import count

from tests.world import eventually

_NUMBERS = count()


class Terminal:
    """A terminal of the world's account, hosted by an outer tmux server of its own."""

    def __init__(self, world, *command, size=(100, 30)):
        self.world = world
        self.command = command
        self.server = f"outer-{next(_NUMBERS)}"
        columns, rows = map(str, size)
        world.run(
            "tmux", "-L", self.server, "-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows, *command
        )

    def keys(self, text):
        """Type, without Enter."""
        self.world.run("tmux", "-L", self.server, "send-keys", "-l", "--", text)

    def type(self, line):
        """Type a line, and Enter."""
        self.keys(line)
        self.world.run("tmux", "-L", self.server, "send-keys", "Enter")

    def press(self, *keys):
        """Press keys, named as tmux names them."""
        self.world.run("tmux", "-L", self.server, "send-keys", *keys)

    def end(self):
        """End the outer server, and so the terminal."""
        self.world.run("tmux", "-L", self.server, "kill-server")

    def screen(self):
        """Return what is on the screen, as plain text."""
        return self.world.run("tmux", "-L", self.server, "capture-pane", "-p").stdout

    def cursor_row(self):
        """Return the row of the cursor: where what is typed next goes."""
        asked = self.world.run("tmux", "-L", self.server, "display-message", "-p", "#{cursor_y}")
        return int(asked.stdout)

    def row_of(self, text):
        """Return the first row of the screen that holds the text, -1 where none does."""
        return next((row for row, line in enumerate(self.screen().split("\n")) if text in line), -1)

    def shows(self, text):
        """Wait until the text is on the screen."""
        return eventually(lambda: text in self.screen(), lambda: f"{text!r} on the screen:\n{self.screen()}")

    def shows_not(self, text):
        """Wait until the text is not on the screen: a popup or a prompt that closes takes keys until it is gone."""
        return eventually(lambda: text not in self.screen(), lambda: f"{text!r} is on the screen:\n{self.screen()}")

    def hqt(self, *arguments):
        """Type a command of hqt's."""
        self.type(shlex.join([*self.world.program, *arguments]))

"""What tmux tells of its panes: the format that asks for it, and what is read from the answer. Runs nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_COMMAND_CHARACTERS = 600
"""What is read of a pane's command: the launcher's own first words."""
_OF_SESSION = re.compile(r"""/hqt/launch\.py["']? --session=([0-9a-f]+) """)
IS_OURS = "#{m:*/hqt/launch.py*--exec=*,#{pane_start_command}}"

_FIELDS = (
    "@hqt_id",
    "session_id",
    "window_id",
    "pane_id",
    "pane_pid",
    "pane_dead",
    "pane_dead_status",
    "pane_dead_signal",
    "pid",
    "window_activity",
    "window_bell_flag",
    f"={_COMMAND_CHARACTERS}:pane_start_command",
)
FORMAT = "|".join(f"#{{{field}}}" for field in _FIELDS)


@dataclass(frozen=True, slots=True)
class Pane:
    """A pane that runs, or ran, a session's command, as tmux reports it."""

    hqt_id: str
    session: str
    window: str
    pane: str
    pid: int | None
    """None where it has ended and tmux has forgotten it, as tmux 3.8 does."""
    exit_status: int | None
    """None while it runs; 128 and the signal's number when a signal ended it."""
    activity: int = 0
    """When it last wrote something, in seconds since 1970."""
    bell: bool = False
    """Whether it rang the bell and nobody has looked since."""
    is_marked: bool = True
    """Whether it carries the session's mark: tmux's keys go by that. hqt itself goes by the command."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The cursor's column, and the screen's rows from its own on, with tmux's escape sequences for the colours."""

    column: int
    rows: list[str]


@dataclass(frozen=True, slots=True)
class Look:
    """A pane's screen and what is above it, as plain lines, its size in characters, and if its command ended."""

    lines: list[str]
    width: int
    height: int
    is_dead: bool

    @property
    def scrolled_off(self) -> list[str]:
        """The lines above the screen."""
        return self.lines[: -self.height]


@dataclass(frozen=True, slots=True)
class Facts:
    """A running server's version, and the options of it that matter to a jail."""

    version: str
    set_clipboard: str
    default_terminal: str
    exit_unattached: str
    allow_passthrough: str


@dataclass(frozen=True, slots=True)
class Listed:
    """A pane as tmux lists it."""

    pane: Pane
    server_pid: int
    is_unreaped: bool
    """Dead, its process ended, and tmux has not asked how."""


def listed(line: str) -> Listed | None:
    """Return the pane that a line of the listing is about, None where it is no session's."""
    values = line.split("|", len(_FIELDS) - 1)
    if len(values) != len(_FIELDS):
        return None
    mark, session, window, pane, pid, dead, status, died_of, server_pid, activity, bell, command = values
    named = _OF_SESSION.search(command)
    hqt_id = named[1] if named else mark  # of an older hqt, or installed very deep
    if not hqt_id:
        return None
    is_settled = bool(status or died_of)
    exit_status = (128 + int(died_of) if died_of else int(status)) if dead == "1" and is_settled else None
    is_unreaped = dead == "1" and not is_settled and pid != "" and is_zombie(int(pid))
    found = Pane(
        hqt_id, session, window, pane, process_of(pid), exit_status, int(activity or 0), bell == "1", mark == hqt_id
    )
    return Listed(found, int(server_pid), is_unreaped)


def process_of(pid: str) -> int | None:
    """Return a process's number, None where tmux has forgotten it."""
    return int(pid) if pid else None


def is_zombie(pid: int) -> bool:
    """Tell whether a process has ended and nobody has asked how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except OSError:
        return False

"""What makes a session's window: the commands for tmux, and the options that keep the window ours. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hqt.tmux_hooks import hooks
from hqt.tmux_language import format_literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SESSION = "hqt"
"""The tmux session that windows are made in unless they belong beside a pane."""
_DETACHED_SIZE = (200, 50)

# A user's own options must not matter to a window of ours, nor may a jail dress itself as something else.
_WINDOW_OPTIONS = {"automatic-rename": "off", "monitor-bell": "on"}
# On the pane, so that they go with it where a user moves it, and are not those of a pane split off beside it.
_PANE_OPTIONS = {"remain-on-exit": "on", "allow-rename": "off", "allow-passthrough": "off"}


@dataclass(frozen=True, slots=True)
class SpawnRequest:
    """A window to be made: `command` runs as it is, without a shell, with `environment` added to the server's."""

    hqt_id: str
    name: str
    cwd: Path
    command: list[str]
    environment: Mapping[str, str]
    beside_pane: str = ""
    """The pane in whose tmux session the window belongs; without it, the session `hqt`."""
    size: tuple[int, int] = _DETACHED_SIZE
    """Columns and rows of the session `hqt`, when it is made for this window and nobody is attached."""
    replaces: str = ""
    """The id of a pane that is closed once the new window is there."""
    tell: tuple[str, ...] = ()
    """What tmux runs, with the window's or the pane's id after it, when its bell rings or its command ends."""


def making(request: SpawnRequest, session: str, socket: Path, *, first: bool) -> list[list[str]]:
    """Return the commands, word by word, that make the window in tmux's `session`; the first prints the ids it got.

    The `first` window makes the session `hqt` too, and the last line says whether the server, which it may have
    started, ends when nobody is attached. A hook of the user's runs between any two of these commands and may rename,
    move or close what is there: `dressing` says again, by ids, what they could lead astray. It is said here too, so
    that a command which rings or ends within milliseconds is heard, and an hqt ended in between leaves the same.
    """
    # The window is made under a name that nothing else has, so that the lines after it can name it.
    target = f"{session}:=hqt-{request.hqt_id}"
    columns, rows = request.size
    where = (
        ["new-session", "-d", "-s", SESSION, "-x", str(columns), "-y", str(rows)]
        if first
        else ["new-window", "-d", "-t", f"{session}:"]
    )
    environment = [word for name, value in request.environment.items() for word in ("-e", f"{name}={value}")]
    return [
        [
            *where,
            "-P",
            "-F",
            "#{session_id} #{window_id} #{pane_id} #{pane_pid}",
            "-n",
            f"hqt-{request.hqt_id}",
            "-c",
            format_literal(str(request.cwd)),
            *environment,
            "--",
            *request.command,
        ],
        *marks(request.hqt_id, target, target),
        *(["set-hook", "-g", event, hook] for event, hook in hooks(request.tell, socket) if request.tell),
        *([["kill-pane", "-t", request.replaces]] if request.replaces else []),
        *([["set-option", "-t", f"{session}:", "destroy-unattached", "off"]] if first else []),
        *([["show-options", "-sv", "exit-unattached"]] if first else []),
    ]


def marks(hqt_id: str, window: str, pane: str) -> list[list[str]]:
    """Return the commands that mark a window, by the ids of it and its pane, as the session's, and keep it so."""
    return [
        *(["set-option", scope, "-t", place, "@hqt_id", hqt_id] for scope, place in (("-w", window), ("-p", pane))),
        *(["set-option", "-wq", "-t", window, name, value] for name, value in _WINDOW_OPTIONS.items()),
        *(["set-option", "-pq", "-t", pane, name, value] for name, value in _PANE_OPTIONS.items()),
    ]


def dressing(request: SpawnRequest, window: str, pane: str) -> list[list[str]]:
    """Return the commands that make a window, which is there, the session's: by ids, so no hook leads them astray."""
    return [
        *marks(request.hqt_id, window, pane),
        ["rename-window", "-t", window, "--", format_literal(request.name)],
    ]

"""Telling the user that a session waits for an answer or has ended: the bell, a program of theirs, the desktop."""

from __future__ import annotations

import html
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal

from hqt import config, log, nofollow, paths
from hqt.db import rows
from hqt.services import listing
from hqt.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hqt.services.listing import View

Event = Literal["waiting", "exited"]
_TIMEOUT_S = 60.0
_AGAIN_S = 10.0
"""A harness may say twice that it waits, once for the question and once for the permission: that is told once."""


def command(socket: Path) -> tuple[str, ...]:
    """Return the command that tmux runs at such a moment, without the place; -P: never what lies in a folder."""
    return (sys.executable, "-P", "-m", "hqt", "-L", str(socket), "notify")


def missing() -> str:
    """Return the program that the configuration wants run and that is not there, nothing where all is.

    Raises:
        HqtError: the configuration file cannot be read.

    """
    settings = config.load()
    wanted = (*settings.notify[:1], *(["notify-send"] if settings.desktop else []))
    return next((program for program in wanted if not shutil.which(program)), "")


def tell(socket: Path, place: str) -> None:
    """Tell what is to be told of the sessions in that window or pane; nothing of those that only work or are idle."""
    found = [row for row in rows.read(paths.database()) if row.socket == str(socket)]
    for view in listing.views(found):
        if view.pane is None or place not in (view.pane.window, view.pane.pane):
            continue
        if (event := _event(view)) and not _was_told(view, event):
            if event == "exited":
                view.server.ring()  # a window that waits has rung itself
            _run_programs(view, event)


def _event(view: View) -> Event | None:
    if view.state == "exited":
        return "exited"
    return "waiting" if view.status and view.status.status == "waiting" else None


def _was_told(view: View, event: Event) -> bool:
    """Tell whether the same was told of the session a moment ago, and note that it is told now."""
    note = paths.session_folder(view.row.id) / "told"
    with suppress(OSError):
        if note.read_text() == event and time.time() - note.stat().st_mtime < _AGAIN_S:
            return True
    try:
        nofollow.replace_file(note.parent, PurePath(note.name), event.encode())
    except OSError:  # removed in the meantime
        return True
    return False


def _run_programs(view: View, event: Event) -> None:
    settings = config.load()
    facts = {
        "HQT_ID": view.row.id,
        "HQT_NAME": view.row.name,
        "HQT_EVENT": event,
        "HQT_EXIT_STATUS": str(view.pane.exit_status) if view.pane and event == "exited" else "",
        "HQT_HARNESS": view.row.harness,
        "HQT_PROJECT": view.row.project,
    }
    if settings.notify:
        _run(settings.notify, facts)
    if settings.desktop:
        title = f"{visible(view.row.name)} {'waits for you' if event == 'waiting' else view.state_in_words}"
        where = html.escape(visible(view.project_in_short))  # the desktop reads markup in it
        _run(("notify-send", "--app-name=hqt", "--", title, where), facts)


def _run(argv: Sequence[str], facts: Mapping[str, str]) -> None:
    """Run a program of the user's, without a shell; that it fails is in the log."""
    try:
        subprocess.run(
            argv,
            env={**os.environ, **facts},
            cwd=Path.home(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        log.logger().error("notify: %s", visible(str(error)))

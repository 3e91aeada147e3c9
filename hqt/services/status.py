"""What a running session is doing: said by its harness through one small file, else guessed from tmux and marked so.

The file is written in the jail and is not trusted: a plain file, a few bytes, one of three words, or it says nothing.
"""

from __future__ import annotations

import os
import re
import stat
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from hqt import paths
from hqt.db.connection import make_missing_folders
from hqt.harnesses.base import CONVERSATION_FILE, STATUS_FILE

if TYPE_CHECKING:
    from pathlib import Path

    from hqt.tmux_pane import Pane


class Goal(StrEnum):
    """What a session can be waited for to be."""

    IDLE = "idle"
    WAITING = "waiting"
    EXITED = "exited"


Word = Literal["working", "waiting", "idle"]
_WORDS: dict[bytes, Word] = {b"working\n": "working", b"waiting\n": "waiting", b"idle\n": "idle"}
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_BYTES = 128
_FOLDER = "run"
_QUIET_S = 3


@dataclass(frozen=True, slots=True)
class Status:
    """`working`, `waiting` (for an answer or a permission) or `idle`, since when (ISO 8601), and if that is a guess."""

    status: Word
    since: str
    guess: bool

    def to_json(self) -> dict[str, object]:
        """Return the object that `hqt ls --json` prints."""
        return asdict(self)


def folder(session_id: str) -> Path:
    """Return the folder that a session's harness writes its status into; the jail has it as `/run/hqt`."""
    return paths.session_folder(session_id) / _FOLDER


def forget(session_id: str) -> None:
    """Make the folder anew: what an earlier start left there, whatever it is, says nothing of this one."""
    from hqt.services.jail import remove_folder  # noqa: PLC0415  # a listing does not need it

    remove_folder(folder(session_id))
    make_missing_folders(folder(session_id))


def mark(session_id: str) -> tuple[int, int] | None:
    """Return what tells one saying of the harness from the next, None where it has said nothing."""
    try:
        found = os.lstat(folder(session_id) / STATUS_FILE)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def of(session_folder: str, pane: Pane) -> Status:
    """Return what a running session is doing, by its folder and its pane; paths are strings, for lists are long."""
    return _said(f"{session_folder}/{_FOLDER}/{STATUS_FILE}") or _guessed(pane)


def conversation(session_id: str, form: str) -> str:
    """Return the id that the harness says its conversation has, nothing where it says none of that form."""
    content, _ = _content(f"{folder(session_id)}/{CONVERSATION_FILE}")
    said = content.decode(errors="replace").removesuffix("\n")
    return said if re.fullmatch(form, said) else ""


def _said(path: str) -> Status | None:
    content, written_s = _content(path)
    word = _WORDS.get(content)
    return Status(word, _time(min(written_s, time.time())), guess=False) if word else None


def _content(path: str) -> tuple[bytes, float]:
    """Return the beginning of a plain file, and when it was written; nothing of what is none."""
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError:
        return b"", 0
    try:
        found = os.fstat(descriptor)
        return (os.read(descriptor, _BYTES), found.st_mtime) if stat.S_ISREG(found.st_mode) else (b"", 0)
    except OSError:
        return b"", 0
    finally:
        os.close(descriptor)


def _guessed(pane: Pane) -> Status:
    is_quiet = time.time() - pane.activity > _QUIET_S
    return Status("waiting" if pane.bell else "idle" if is_quiet else "working", _time(pane.activity), guess=True)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")

"""Folders to offer as projects: recent ones, what completes a path that is being typed, repositories below it.

Folder names are other people's text and folders may be huge: nothing is opened but folders, and few entries are read.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from hqt import paths
from hqt.db import rows
from hqt.errors import HqtError

_MOST_ENTRIES = 2000
_MOST = 20
_REPOSITORY_DEPTH = 2


def recent() -> list[Path]:
    """Return the projects of the sessions that there are, the newest first, those that still exist."""
    try:
        found = rows.read(paths.database())
    except HqtError:
        return []  # whoever starts the session is told
    projects = dict.fromkeys(row.project for row in reversed(found))
    return [Path(project) for project in islice(filter(os.path.isdir, projects), _MOST)]


def completions(typed: str) -> list[str]:
    """Return the folders whose path begins as typed, in the form typed (`~/…` stays `~/…`), repositories first."""
    above, _, beginning = typed.rpartition("/")
    above = f"{above}/" if "/" in typed else ""
    folder = expanded(above)
    names = [name for name in _folders(folder) if name.startswith(beginning)]
    shown = [name for name in names if beginning.startswith(".") or not name.startswith(".")]
    shown.sort(key=lambda name: (not is_repository(folder / name), name))
    return [f"{above}{name}/" for name in shown[:_MOST]]


def offered(typed: str) -> list[str]:
    """Return what completes the path; of a whole folder first the repositories below it."""
    below = map(str, repositories_below(expanded(typed))) if typed.endswith("/") else ()
    return list(dict.fromkeys([*below, *completions(typed)]))


def repositories_below(folder: Path) -> list[Path]:
    """Return the repositories inside a folder, those closest to it first; none inside one another."""
    found: list[Path] = []
    level = [folder]
    for _ in range(_REPOSITORY_DEPTH):
        inner = [parent / name for parent in level for name in _folders(parent) if not name.startswith(".")]
        found += [path for path in inner if is_repository(path)]
        level = [path for path in inner[:_MOST_ENTRIES] if not is_repository(path)]
    return found[:_MOST]


def expanded(typed: str) -> Path:
    """Return the folder that was typed: the current one for nothing, a `~` of nobody's as it is."""
    return Path(os.path.expanduser(typed or "."))  # noqa: PTH111  # pathlib's fails for a user who does not exist


def is_repository(folder: Path) -> bool:
    """Tell whether git would take the folder for the top of a repository or worktree."""
    return os.path.lexists(folder / ".git")


def _folders(parent: Path) -> list[str]:
    try:
        with os.scandir(parent) as entries:
            return sorted(entry.name for entry in islice(entries, _MOST_ENTRIES) if _is_folder(entry))
    except (OSError, ValueError):  # a NUL in what was typed
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False

"""Walking a folder that a jail could write: no link is followed, nothing but plain files is opened, all is bounded."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
DEEPEST = 200
MOST_ENTRIES = 2_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """Something in the tree that is no folder; `path` is relative to its top."""

    path: str
    name: str
    folder: int
    """A descriptor of the folder it lies in, open while the walk stands at it."""

    def status(self) -> os.stat_result:
        """Return its status, a link's own."""
        return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)

    def content(self, limit: int) -> bytes | None:
        """Return at most `limit` bytes of a plain file, None of anything else."""
        try:
            descriptor = os.open(self.name, _FILE, dir_fd=self.folder)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            return file.read(limit) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None


class Walk:
    """A walk below `top`, or below those of its entries that are in `names`.

    `unseen` tells afterwards what was too deep, too many, or could not be opened.
    """

    def __init__(self, top: Path, names: Collection[str] = ()) -> None:
        self._top = top
        self._names = names
        self._left = MOST_ENTRIES
        self.unseen: list[str] = []

    def __iter__(self) -> Iterator[Entry]:
        with _opened(str(self._top), None) as folder:
            yield from self._below("", folder, 0)

    def _below(self, prefix: str, folder: int, depth: int) -> Iterator[Entry]:
        inner = []
        with os.scandir(folder) as found:
            for entry in found:
                self._left -= 1
                if self._left < 0:
                    self.unseen.append(f"{prefix}… (more than {MOST_ENTRIES} entries)")
                    return
                if self._names and not depth and entry.name not in self._names:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    inner.append(entry.name)
                else:
                    yield Entry(prefix + entry.name, entry.name, folder)
        for name in inner:
            path = f"{prefix}{name}/"
            if depth == DEEPEST:
                self.unseen.append(f"{path} (deeper than {DEEPEST} folders)")
                continue
            try:
                with _opened(name, folder) as descriptor:
                    yield from self._below(path, descriptor, depth + 1)
            except OSError as error:
                self.unseen.append(f"{path} ({error.strerror})")


@contextmanager
def _opened(name: str, inside: int | None) -> Iterator[int]:
    descriptor = os.open(name, _FOLDER, dir_fd=inside)
    try:
        yield descriptor
    finally:
        os.close(descriptor)

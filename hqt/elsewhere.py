"""Settings of agents that are kept elsewhere: links from their folders to dotfiles, or into a store. Runs nothing.

What is behind each link is there in the jail, read-only, and nothing else of the folder that it lies in. Only links are
followed where no jail can have put one: in place of what every jail guards, and inside of that.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hqt.errors import ServiceError
from hqt.found import Found, Needed, Pinned
from hqt.refusals import refuse_bind, resolved
from hqt.repository import where_a_jail_comes_to
from hqt.sandbox import SYSTEM_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hqt.harnesses.base import Bind, HarnessConfigurator
    from hqt.refusals import Surroundings

_DEEPEST = 4
_MOST = 300
"""Links that are followed in one folder of an agent's: skills, commands, agents, each its own, say."""


def find(harness: HarnessConfigurator, around: Surroundings) -> Found:
    """Return what the links among a harness's settings need, the links to be kept in place, and what is left out."""
    binds = harness.sandbox_binds()
    folders = [bind.src for bind in binds if bind.writable and bind.kind == "bind"]
    seen = _Seen(folders, around)
    for bind in binds:
        if bind.create is None or bind.kind not in ("bind", "snapshot") or (bind.writable and bind.kind == "bind"):
            continue
        if os.path.islink(bind.src) and bind.src.parent in folders:
            seen.pin(bind)
        if bind.kind == "bind" and os.path.isdir(bind.src):
            seen.follow_inside(bind.src)
    return Found(tuple(seen.needed), tuple(seen.pinned), notes=tuple(seen.notes))


class _Seen:
    def __init__(self, folders: list[Path], around: Surroundings) -> None:
        self._folders, self._around = folders, around
        self.needed: list[Needed] = []
        self.pinned: list[Pinned] = []
        self.notes: list[str] = []

    def pin(self, bind: Bind) -> None:
        """Keep the link in its place, and have what is behind it, where it leads."""
        lies = resolved(bind.src)
        if not os.path.exists(lies):
            return  # it leads nowhere: the start refuses it
        where = where_a_jail_comes_to(bind.src, self._folders)
        is_copied = bind.kind == "snapshot"
        if self._refused(bind.src, lies):
            return
        self.pinned.append(Pinned(bind.src, where, lies))
        if not is_copied:
            self._need(lies, where, bind.src)

    def follow_inside(self, folder: Path) -> None:
        """Have what the links inside a folder lead to, which the jail cannot write."""
        for link in _links_below(folder):
            lies = resolved(link)
            if not os.path.exists(lies) or any(lies.is_relative_to(seen) for seen in (folder, resolved(folder))):
                continue
            if not self._refused(link, lies):
                self._need(lies, where_a_jail_comes_to(link, [*self._folders, folder]), link)

    def _need(self, lies: Path, where: Path, link: Path) -> None:
        is_seen = any(where.is_relative_to(place) for place in (*map(Path, SYSTEM_FOLDERS), *self._folders))
        if not is_seen and all(needed.target != where for needed in self.needed):
            self.needed.append(Needed(lies, where, f"{link.name}, a link in {link.parent}"))

    def _refused(self, link: Path, lies: Path) -> bool:
        if any(lies.is_relative_to(place) for place in SYSTEM_FOLDERS):
            return False
        try:
            refuse_bind(lies, self._around)
        except ServiceError as error:
            if not any(lies.is_relative_to(folder) for folder in map(resolved, self._folders)):
                self.notes.append(f"{link} is a link that leads to nothing in the jail: {error.message}")
                return True
        return False


def _links_below(folder: Path) -> Iterator[Path]:
    found = 0
    level = [folder]
    for _ in range(_DEEPEST):
        inner = []
        for parent in level:
            try:
                entries = sorted(parent.iterdir())
            except OSError:
                continue
            for entry in entries:
                if os.path.islink(entry):
                    found += 1
                    if found > _MOST:
                        return
                    yield entry
                elif os.path.isdir(entry):
                    inner.append(entry)
        level = inner

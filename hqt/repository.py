"""Where the repository of a project lies: in its `.git`, or behind a file or links that lead elsewhere. Runs nothing.

What is found is recorded once, when a session is made, and never read again from what a jail can write.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from hqt import nofollow
from hqt.errors import ServiceError
from hqt.sandbox import SYSTEM_FOLDERS

_POINTER_BYTES = 4096
_MOST_LINKS = 40  # as the kernel's own limit
_HINT = "see `git rev-parse --git-dir` there; a project that is none has no .git"

_WRITTEN = ("logs", "objects", "objects/info", "objects/pack", "packed-refs", "refs", "rr-cache", "shallow")
_WRITTEN_INSIDE = ("logs/refs", "refs/heads", "refs/remotes", "refs/tags")
"""What git writes, and takes no orders from. Whatever else is a link is shown read-only."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a repository, `path` in its folder: it leads a jail to `where`, and lies, on the host, at `lies`."""

    path: Path
    where: Path
    lies: Path
    writable: bool


@dataclass(frozen=True, slots=True)
class GitFolders:
    """A repository that does not lie, or not whole, in the project's `.git` folder.

    `own` is the folder of this work tree, `common` the repository's, both resolved; a jail has the latter at `where`.
    `links` are what is a link on the way to it, or in it. `claimed` are the folders that nothing but the link or file
    itself vouches for, with what leads there: whoever wrote that chose what is opened.
    """

    own: Path
    common: Path
    where: Path
    links: tuple[Link, ...] = ()
    claimed: tuple[tuple[Path, Path], ...] = field(default=(), compare=False)

    def to_json(self) -> str:
        """Return the form that `Session.git_json` holds."""
        links = [[str(link.path), str(link.where), str(link.lies), link.writable] for link in self.links]
        folders = {"own": str(self.own), "common": str(self.common), "where": str(self.where)}
        return json.dumps({**folders, "links": links})

    @classmethod
    def from_json(cls, text: str) -> GitFolders:
        """Read the form that `to_json` writes, or a pair of folders, as earlier versions wrote it."""
        read = json.loads(text)
        if isinstance(read, list):
            own, common = map(Path, read)
            return cls(own, common, common)
        links = tuple(Link(Path(path), Path(where), Path(lies), is_rw) for path, where, lies, is_rw in read["links"])
        return cls(Path(read["own"]), Path(read["common"]), Path(read["where"]), links)

    def changed(self) -> Path | None:
        """Return what no longer leads where it did, or nothing."""
        if os.path.realpath(self.common) != str(self.common) or not os.path.isdir(self.common):
            return self.common
        return next((link.path for link in self.links if os.path.realpath(link.path) != str(link.lies)), None)


def linked_git(project: Path) -> GitFolders | None:
    """Return where the project's repository lies, None where it lies in `.git` and nowhere else, or there is none.

    What a worktree's or submodule's file names must name the project in turn, or it is another's. What a link leads to,
    or the file of `--separate-git-dir`, cannot: it is `claimed`.

    Raises:
        ServiceError: `.git` leads to no repository, to another work tree's, or in a circle.

    """
    git = project / ".git"
    found = nofollow.kind(project, PurePath(".git"))
    if found == "missing":
        return None
    if found == "folder":
        links = _inner_links(git, git, project)
        return GitFolders(git, git, git, links, _claims(links)) if links else None
    if found == "link":
        own, where = _end(git), where_a_jail_comes_to(git, [project])
        links = (Link(git, where, own, writable=True),)
    else:
        pointer = _pointer(project, ".git") if found == "file" else ""
        if not pointer.startswith("gitdir:"):
            raise ServiceError(f"{git} is neither a repository nor a worktree's file", "see `git worktree list`")
        named = Path(os.path.normpath(project / pointer.removeprefix("gitdir:").strip()))
        own, where, links = _end(named), where_a_jail_comes_to(named, [project]), ()
    commondir = _pointer(own, "commondir") if os.path.isdir(own) else ""
    common = Path(os.path.realpath(own / commondir))
    if not all(os.path.exists(common / name) for name in ("HEAD", "objects", "refs")):
        raise ServiceError(f"{git} leads to {own}, which is no repository", _HINT)
    back = _names_project(own, project)
    if back is False:
        raise ServiceError(
            f"{git} names {own}, which does not name this project in turn",
            "run `git worktree repair` if you trust it",
        )
    claimed = () if back else ((own, git), *(((common, own / "commondir"),) if common != own else ()))
    where = Path(os.path.normpath(where / commondir))
    inner = _inner_links(common, where, project)
    return GitFolders(own, common, where, (*links, *inner), (*claimed, *_claims(inner)))


def _claims(links: tuple[Link, ...]) -> tuple[tuple[Path, Path], ...]:
    return tuple((link.lies, link.path) for link in links)


def _inner_links(common: Path, where: Path, project: Path) -> tuple[Link, ...]:
    """Return the links in a repository's folder that lead out of it; a jail has the folder at `where`."""
    names = [name for name in sorted(os.listdir(common)) if os.path.islink(common / name)]  # noqa: PTH208
    names += [name for name in (*_WRITTEN, *_WRITTEN_INSIDE) if "/" in name and os.path.islink(common / name)]
    found = []
    for name in names:
        lies = Path(os.path.realpath(common / name))
        if not os.path.exists(lies) or lies.is_relative_to(common):
            continue  # dangling, or it leads nowhere else
        first = Path(os.path.normpath((where / name).parent / (common / name).readlink()))
        is_written = name in (*_WRITTEN, *_WRITTEN_INSIDE)
        found.append(Link(common / name, where_a_jail_comes_to(first, [project]), lies, writable=is_written))
    return tuple(found)


def where_a_jail_comes_to(path: Path, visible: list[Path]) -> Path:
    """Return the path that a jail which follows `path` comes to: the first that lies in nothing that it sees.

    Links in what it sees it follows itself, one after the other; where it sees nothing, its mount is made.

    Raises:
        ServiceError: the links lead in a circle.

    """
    folders = [*visible, *map(Path, SYSTEM_FOLDERS)]
    for _ in range(_MOST_LINKS):
        if not any(path.is_relative_to(folder) for folder in folders) or not os.path.islink(path):
            return path
        # A folder that is bound has its path in the jail, wherever it lies: there a link counts from that.
        parent = path.parent if path.parent in visible else Path(os.path.realpath(path.parent))
        path = Path(os.path.normpath(parent / path.readlink()))
    raise ServiceError(f"{path} leads in a circle", _HINT)


def _end(path: Path) -> Path:
    """Return the end of a path that may lead through links.

    Raises:
        ServiceError: it leads in a circle, or nowhere.

    """
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # Python 3.12 and earlier tell of a circle by the latter
        why = (
            "leads nowhere" if isinstance(error, FileNotFoundError) else "leads in a circle, or where you may not look"
        )
        raise ServiceError(f"the repository of this project is not there: {path} {why}", _HINT) from None


def _pointer(folder: Path, name: str) -> str:
    """Return the one line of a file by which git names another folder; a NUL, which no path holds, ends it."""
    text = nofollow.read_file(folder, PurePath(name), _POINTER_BYTES).decode(errors="replace")
    return text.partition("\0")[0].strip()


def _names_project(own: Path, project: Path) -> bool | None:
    """Tell whether a folder of git's names the project in turn; None where it names none at all."""
    back = _pointer(own, "gitdir")
    if back:  # a worktree
        return Path(os.path.realpath(own / back)) == project / ".git"
    config = nofollow.read_file(own, PurePath("config"), 1 << 20).decode(errors="replace")
    worktree = re.search(r'^\s*worktree\s*=\s*"?([^"\n]*?)"?\s*$', config, re.MULTILINE)
    return Path(os.path.realpath(own / worktree[1])) == project if worktree else None  # a submodule

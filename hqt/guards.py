"""What a jail must not change in a writable project: what git, editors, shells and agents execute without a question.

Looks at files and runs nothing, git least of all. A guard is a read-only bind, and every folder between the project and
the guard is bound onto itself: a mount point cannot be renamed away, its parents otherwise could.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal

from hqt import nofollow
from hqt.errors import ServiceError
from hqt.harnesses.base import FOLDER, Bind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hqt.repository import GitFolders

_EXECUTED = (
    ".aider.conf.yml",
    ".amp",
    ".bashrc",
    ".claude/agents",
    ".claude/commands",
    ".claude/hooks",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/skills",
    ".codex",
    ".crush",
    ".crush.json",
    ".cursor",
    ".devcontainer",
    ".direnv",
    ".envrc",
    ".exrc",
    ".gemini",
    ".githooks",
    ".husky",
    ".idea",
    ".kiro/hooks",
    ".kiro/settings",
    ".lefthook",
    ".mcp.json",
    ".nvim.lua",
    ".nvimrc",
    ".opencode",
    ".pre-commit-config.yaml",
    ".qwen",
    ".vimrc",
    ".vscode",
    ".zed",
    "crush.json",
    "lefthook.yml",
    "opencode.json",
)
"""Guarded where they exist; what is newly made is for `hqt audit` to show."""

_GIT_FILES: tuple[tuple[str, bytes | Literal["folder"] | None], ...] = (
    ("config", b""),
    ("hooks", FOLDER),
    ("commondir", b".\n"),  # a new one would move the whole configuration elsewhere; "." moves it nowhere
    ("config.worktree", None),
)
Guard = tuple[PurePath, bytes | Literal["folder"] | None]
"""A path below its root, and what is made there first where nothing is (`Bind.create`)."""

_MODULES_DEPTH = 4


def project_guards(project: Path, linked: GitFolders | None, nested: Iterable[str] = ()) -> list[Bind]:
    """Return the guards of a project, in mount order, each folder on the way pinned first.

    `nested` are folders below the project that hold a repository of their own, in a `.git` folder.
    """
    found = {relative: None for relative in _EXECUTED if nofollow.kind(project, PurePath(relative)) != "missing"}
    found.update(dict.fromkeys(_hook_folders(project, linked)))
    guards: list[Guard] = [(PurePath(relative), None) for relative in found]
    for folder in nested:
        git = PurePath(folder, ".git")
        if nofollow.kind(project, git) == "folder":
            guards.extend(_git_guards(project, git))
        else:
            guards.append((git, None))  # a link is refused; what is gone needs no guard
    if linked is None and nofollow.kind(project, PurePath(".git")) == "folder":
        return _pinned(project, [*_git_guards(project, PurePath(".git")), *guards])
    if linked is None:
        return _pinned(project, [(PurePath(".git"), None), *guards])  # made since, as a file or a link
    links = {link.path for link in linked.links}
    inner = [link.lies for link in linked.links if link.lies.is_relative_to(project) and not link.writable]
    guards += [(lies.relative_to(project), None) for lies in inner]
    inside = linked.common.relative_to(project) if linked.common.is_relative_to(project) else None
    if inside is not None:
        guards = [*_git_guards(project, inside), *guards]
    elif project / ".git" not in links:
        guards = [(PurePath(".git"), None), *guards]
    own = _pinned(project, [guard for guard in guards if project / guard[0] not in links])
    elsewhere = [] if linked.where.is_relative_to(project) else _linked_binds(linked)
    return [*elsewhere, *own, *_link_binds(project, linked)]


def readable_git(project: Path, linked: GitFolders) -> list[Bind]:
    """Return the binds of what of a repository lies outside of a project that its jail may only read."""
    common = Bind(linked.common, target=linked.where, opened=True)
    links = [replace(bind, writable=False) for bind in _link_binds(project, linked)]
    return links if linked.where.is_relative_to(project) else [common, *links]


def _link_binds(project: Path, linked: GitFolders) -> list[Bind]:
    """Return what the links of a repository lead to, where a jail that follows them comes to: that, and nothing around.

    The first of them may be `.git` itself, or what leads to it: that is bound as the repository's folder.
    """
    return [
        Bind(link.lies, writable=link.writable, target=link.where, opened=True)
        for link in linked.links
        if link.path != project / ".git" and not link.where.is_relative_to(project)
    ]


def _linked_binds(linked: GitFolders) -> list[Bind]:
    inside = linked.own.relative_to(linked.common) if linked.own.is_relative_to(linked.common) else PurePath()
    names = ("commondir", "gitdir", "config.worktree") if inside.parts else ()
    links = {link.path for link in linked.links}
    guards: list[Guard] = [(inside / name, None) for name in names]
    guards = [*_git_guards(linked.common, PurePath()), *guards]
    pinned = _pinned(linked.common, [guard for guard in guards if linked.common / guard[0] not in links])
    return [
        replace(bind, target=linked.where / bind.src.relative_to(linked.common))
        for bind in (Bind(linked.common, writable=True, opened=True), *pinned)
    ]


def _git_guards(root: Path, git: PurePath) -> Iterator[Guard]:
    """Yield what git executes from: of this folder, and of the submodules' and worktrees' inside it."""
    yield from ((git / name, create) for name, create in _GIT_FILES)
    for inner in _inner_git_folders(root, git / "modules", _MODULES_DEPTH):
        yield from ((inner / name, create) for name, create in _GIT_FILES)
    for worktree in _folders(root, git / "worktrees"):
        yield from ((worktree / name, None) for name in ("commondir", "gitdir", "config.worktree"))


def _inner_git_folders(root: Path, parent: PurePath, depth: int) -> Iterator[PurePath]:
    for folder in _folders(root, parent):
        if nofollow.kind(root, folder / "HEAD") == "file":
            yield folder
            yield from _inner_git_folders(root, folder / "modules", depth)
        elif depth:
            yield from _inner_git_folders(root, folder, depth - 1)


def _folders(root: Path, parent: PurePath) -> list[PurePath]:
    if nofollow.kind(root, parent) != "folder":
        return []
    names = sorted(path.name for path in (root / parent).iterdir())
    return [parent / name for name in names if nofollow.kind(root, parent / name) == "folder"]


def _hook_folders(project: Path, linked: GitFolders | None) -> Iterator[str]:
    """Yield the folder inside the project that `core.hooksPath` names, if it does."""
    root = linked.common if linked else project / ".git"
    if not os.path.isdir(root) or os.path.islink(root):
        return
    links = {link.path: link.lies for link in linked.links} if linked else {}
    file = links.get(root / "config", root / "config")
    config = nofollow.read_file(file.parent, PurePath(file.name), 1 << 20).decode(errors="replace")
    for match in re.finditer(r'^\s*hookspath\s*=\s*"?([^"\n]*?)"?\s*$', config, re.MULTILINE | re.IGNORECASE):
        folder = Path(os.path.normpath(project / match[1]))
        if folder != project and folder.is_relative_to(project) and (project / ".git") not in (folder, *folder.parents):
            relative = folder.relative_to(project)
            if nofollow.kind(project, relative) != "missing":
                yield str(relative)


def _pinned(root: Path, guards: list[Guard]) -> list[Bind]:
    binds: dict[Path, Bind] = {}
    for relative, create in guards:
        found = nofollow.kind(root, relative)
        if found == "link":
            raise ServiceError(
                f"{root / relative} is a link, where a guard belongs that a link would lead astray",
                "replace it by a plain file or folder, or work with --ro",
            )
        if found == "missing" and (create is None or not os.access(root / relative.parent, os.W_OK)):
            continue  # what the user cannot make, the jail cannot make either
        for parent in [parent for parent in reversed(relative.parents) if parent.parts]:
            pin = root / parent
            binds.setdefault(pin, Bind(pin, writable=True, opened=True))
        binds[root / relative] = Bind(root / relative, create=create, opened=True)
    return list(binds.values())

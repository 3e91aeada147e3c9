"""From what is declared (harness, policy, project) to the binds that bwrap is given, and the making of what they need.

`plan` looks at files and changes nothing, so that `hqt show` can use it; `make` carries out what a start needs.
"""

from __future__ import annotations

import grp
import hashlib
import os
import pwd
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from hqt import hiding, nofollow
from hqt.db.connection import make_missing_folders
from hqt.errors import ServiceError
from hqt.gitconfig import without_secrets
from hqt.guards import project_guards, readable_git
from hqt.harnesses.base import FOLDER, RUN_FOLDER, Bind
from hqt.refusals import resolved
from hqt.sandbox import ETC
from hqt.seccomp import program

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hqt.found import Found, Pinned
    from hqt.harnesses.base import HarnessConfigurator
    from hqt.hiding import Hidden
    from hqt.repository import GitFolders

_ACCOUNTS = ("passwd", "group")
ATTRIBUTES = "gitattributes"
_LIVE = ("hosts", "resolv.conf")
"""What the host rewrites in place as its network changes: a jail that runs sees it."""
_COPIED_BYTES = 1 << 20
_GIT_IDENTITY = (".config/git/ignore", ".config/git/attributes")  # git's own defaults, which no configuration names


@dataclass(frozen=True, slots=True)
class Made:
    """Something that must be there before the start: `root/relative` on the host, with its content if it is new."""

    root: Path
    relative: Path
    create: bytes | str


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that the jail can write: its path in the jail and where it lies, which differ where it is private."""

    path: Path
    lies: Path

    @property
    def is_private(self) -> bool:
        """Whether the jail has the session's own folder there, and not the user's."""
        return self.path != self.lies

    def holds(self, path: Path) -> bool:
        """Tell whether `path` is inside."""
        return path != self.path and path.is_relative_to(self.path)


@dataclass(frozen=True, slots=True)
class Copy:
    """A snapshot: the user's own file (`empty` where there is none), and the jail's copy, at `root/relative`.

    `is_cleaned` says that it is one of git's configuration, which the jail gets without the passwords in it.
    """

    original: Path
    root: Path
    relative: PurePath
    empty: bytes
    is_cleaned: bool = False


@dataclass(frozen=True, slots=True)
class Jail:
    """The jail of one session, ready for `sandbox.wrap`."""

    binds: list[Bind]
    guards: list[Bind]
    hidden: list[Bind]
    """Empty files and folders of the session's own, over what of the project is hidden."""
    etc: list[Bind]
    folder: Path
    """The session's private folder."""
    made: list[Made]
    copies: list[Copy]
    pinned: list[Path]
    """Links in what it can write, which stay what they are."""
    seccomp: Path | None
    """The file of the system call filter; None where this machine's system calls are not known."""


def plan(
    configurator: HarnessConfigurator,
    *,
    folder: Path,
    private_folder: Path,
    executables: Iterable[Bind],
    found: Found,
    own_binds: Iterable[Bind],
    linked: GitFolders | None,
    nested: Iterable[str],
    hide: Sequence[str],
    writable: bool,
) -> Jail:
    """Return the jail of a session whose own folder is `folder`, and whose project is `writable` or not.

    `found` are what of the user's set-up it needs, `nested` the folders below the project that were repositories, as it
    was when the session was made. `hide` are patterns of what of the project is shown empty.

    Raises:
        ServiceError: a link lies where a guard or a bind of a jail-writable folder belongs.

    """
    home, project = configurator.home, configurator.project
    declared = [
        *executables,
        *(Bind(home / name) for name in _GIT_IDENTITY),
        *(needed.bind() for needed in found.needed),
        *configurator.sandbox_binds(),
        Bind(folder / "cache", writable=True, target=home / ".cache", create=FOLDER),
        Bind(folder / "run", writable=True, target=Path(RUN_FOLDER), create=FOLDER),
        *own_binds,
    ]
    links = {link.path: link for link in found.pinned if os.path.islink(link.path)}
    for link in links.values():
        if resolved(link.path) != link.lies:
            raise ServiceError(
                f"{link.path} leads to {resolved(link.path)} now, and led to {link.lies} when the session was made",
                "if you changed it, make the session anew: hqt rm, hqt new",
            )
    planned = _Planned(folder, private_folder, links)
    for bind in declared:
        planned.add(bind)
    if linked and not writable:
        planned.binds.extend(readable_git(project, linked))
    guards = project_guards(project, linked, nested) if writable else []
    for guard in guards:
        if guard.create is not None:
            holder = project if guard.src.is_relative_to(project) or not linked else linked.common
            planned.made.append(Made(holder, guard.src.relative_to(holder), guard.create))
    seccomp = folder / "seccomp.bpf" if program(os.uname().machine) else None
    of_git = [link.path for link in linked.links] if linked and writable else []
    pinned = [*links, *of_git]
    hidden = hiding.find(project, hide)
    return Jail(
        planned.binds,
        guards,
        _hidden_binds(project, hidden, folder, writable=writable),
        _etc(folder, with_attributes=bool(hidden)),
        folder,
        planned.made,
        planned.copies,
        pinned,
        seccomp,
    )


def _hidden_binds(project: Path, hidden: Iterable[Hidden], folder: Path, *, writable: bool) -> list[Bind]:
    """Return what is mounted over hidden files and folders; every folder above one is pinned, so it stays there."""
    binds: dict[Path, Bind] = {}
    for entry in hidden:
        for parent in reversed(entry.path.parents[:-1]) if writable else ():
            pin = project / parent
            binds.setdefault(pin, Bind(pin, writable=True, opened=True))
        own = folder / "hidden" / hashlib.sha256(os.fsencode(entry.path)).hexdigest()[:16]
        binds[project / entry.path] = Bind(own, target=project / entry.path, reason="--hide")
    return list(binds.values())


class _Planned:
    """The declared binds so far as concrete ones, and what they need."""

    def __init__(self, folder: Path, private_folder: Path, links: Mapping[Path, Pinned]) -> None:
        self._folder, self._private_folder, self._links = folder, private_folder, links
        self._roots: list[Root] = []
        self.binds: list[Bind] = []
        self.made: list[Made] = []
        self.copies: list[Copy] = []

    def add(self, bind: Bind) -> None:
        """Add one; what is missing and not to be made is left out."""
        if link := self._links.get(bind.src):
            # It stays what it is; what is behind it is bound where it leads.
            if bind.kind == "snapshot":
                self._mount_copy(replace(bind, target=link.where))
            return
        root = next((root for root in reversed(self._roots) if root.holds(bind.src)), None)
        if not _is_there(bind.src, root) and bind.create is None:
            return
        if bind.kind == "private":
            own = self._private_folder / bind.src.relative_to("/")
            self.made.append(Made(own, Path(), FOLDER))
            self.binds.append(replace(bind, src=own, target=bind.where, kind="bind"))
            self._roots.append(Root(bind.src, own))
            return
        if bind.kind == "snapshot" and root and root.is_private:
            # No mount: what lies there is the session's own, so it can be a plain file, which the harness may replace.
            self.copies.append(Copy(bind.src, root.lies, bind.src.relative_to(root.path), _empty(bind)))
            return
        if bind.create is not None and (root or bind.create == FOLDER):
            holder = root or Root(bind.src, bind.src)
            self.made.append(Made(holder.lies, bind.src.relative_to(holder.path), bind.create))
        if bind.kind in ("snapshot", "cleaned"):
            self._mount_copy(bind)
        elif bind.kind in ("mask", "link"):
            self.binds.append(bind)
        else:
            is_opened = bind.opened or root is not None
            self.binds.append(replace(bind, src=resolved(bind.src), target=bind.where, opened=is_opened))
            self._roots.extend([Root(bind.src, bind.src)] if bind.writable else [])

    def _mount_copy(self, bind: Bind) -> None:
        name = PurePath(f"{len(self.copies)}-{bind.src.name.lstrip('.')}")
        is_cleaned = bind.kind == "cleaned"
        self.copies.append(Copy(bind.src, self._folder / "snapshots", name, _empty(bind), is_cleaned))
        self.binds.append(replace(bind, src=self._folder / "snapshots" / name, target=bind.where))


def _empty(bind: Bind) -> bytes:
    return bind.create if isinstance(bind.create, bytes) else b""


def _is_there(path: Path, root: Root | None) -> bool:
    """Look for `path`; below `root`, a folder that a jail can write, no link is followed."""
    if root is None:
        return os.path.exists(path)
    relative = path.relative_to(root.path)
    found = nofollow.kind(resolved(root.lies), relative)
    if found == "link":
        raise ServiceError(
            f"{root.lies / relative} is a link, inside a folder that a jail can write",
            "make it a plain file or folder; a link that you made since the session was: hqt rm, hqt new",
        )
    return os.path.exists(path) if root.is_private else found != "missing"


def _etc(folder: Path, *, with_attributes: bool) -> list[Bind]:
    """Return what is not a bind of `/etc` itself: the session's own accounts, and copies in place of small files.

    Git's attributes for the whole system are those by which a tracked file that is hidden counts as unchanged.

    Each mount makes a start longer, and half of them would be such files: docs/decisions/copies-of-etc.md.
    """
    etc = Path("/etc")
    own = (*_ACCOUNTS, ATTRIBUTES) if with_attributes else _ACCOUNTS
    binds = [Bind(folder / "etc" / name, target=etc / name, kind="copy") for name in own]
    binds += [
        Bind(etc / name, kind="copy") for name in ETC if name not in (*_ACCOUNTS, *_LIVE) and _is_small_file(etc / name)
    ]
    resolver = resolved(etc / "resolv.conf")  # often a link into /run, which the jail does not have
    return [*binds, Bind(resolver, target=etc / "resolv.conf")] if os.path.isfile(resolver) else binds


def _is_small_file(path: Path) -> bool:
    return os.path.isfile(path) and os.access(path, os.R_OK) and path.stat().st_size <= _COPIED_BYTES


def make(jail: Jail, configurator: HarnessConfigurator) -> None:
    """Make what the jail's start needs: mount points, private copies, the accounts that it may know of.

    Raises:
        ServiceError: it cannot be made, or a link was put in its place.

    """
    try:
        for made in jail.made:
            make_missing_folders(made.root)
            root = resolved(made.root)
            if isinstance(made.create, bytes):
                nofollow.make_file(root, made.relative, made.create)
            else:
                nofollow.make_folder(root, made.relative)
        for copy in jail.copies:
            original = copy.original.read_bytes() if os.path.exists(copy.original) else copy.empty
            if copy.is_cleaned:
                content = without_secrets(original)
            else:
                content = configurator.snapshot_content(copy.original, original)
            make_missing_folders(copy.root)
            nofollow.replace_file(copy.root, copy.relative, content)
        if jail.seccomp:
            write_private(jail.seccomp, program(os.uname().machine))
        write_private(jail.folder / "etc/passwd", _accounts(configurator.home).encode())
        write_private(jail.folder / "etc/group", _groups().encode())
    except OSError as error:
        raise ServiceError(f"the jail cannot be made: {error.filename}: {error.strerror}") from error


def _accounts(home: Path) -> str:
    """Return a passwd file of the user and those that every system has: the host's other accounts stay unknown."""
    uid, gid = os.getuid(), os.getgid()
    try:
        name, shell = pwd.getpwuid(uid).pw_name, pwd.getpwuid(uid).pw_shell
    except KeyError:
        name, shell = f"user{uid}", "/bin/sh"
    lines = {0: "root:x:0:0:root:/root:/bin/sh", 65534: "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin"}
    lines[uid] = f"{name}:x:{uid}:{gid}:{name}:{home}:{shell}"
    return "".join(f"{lines[uid]}\n" for uid in sorted(lines))


def _groups() -> str:
    gid = os.getgid()
    try:
        name = grp.getgrgid(gid).gr_name
    except KeyError:
        name = f"group{gid}"
    lines = {0: "root:x:0:", 65534: "nogroup:x:65534:", gid: f"{name}:x:{gid}:"}
    return "".join(f"{lines[gid]}\n" for gid in sorted(lines))


def write_private(path: Path, content: bytes) -> None:
    """Write a file of the session's own folder whole or not at all, for the user alone."""
    make_missing_folders(path.parent)
    nofollow.replace_file(path.parent, PurePath(path.name), content)


def remove_folder(folder: Path) -> None:
    """Remove a session's private folder, whatever a jail left in its cache: no link is followed."""
    for parent, names, _ in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            with suppress(FileNotFoundError):  # another program may be removing it too
                if not os.path.islink(path):
                    path.chmod(0o700)  # before it is walked: a jail may have taken its own permissions away
    shutil.rmtree(folder, ignore_errors=True)

"""What of a project a jail is shown empty: patterns, what they match, and what else looks like a secret. Runs nothing.

The patterns are `.gitignore`'s: one without a slash counts at any depth, one that ends with a slash for folders only.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from hqt import nofollow
from hqt.errors import ServiceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FILTER = "hqt-hidden"
"""The filter of git's by which a tracked file that is hidden counts as unchanged in the jail."""
MOST = 500
_LEFT_BEHIND = (
    "{}~",
    "{}.sw?",
    ".{}.sw?",
    ".#{}",
    "#{}#",
    "{}.bak",
    "{}.orig",
    "{}.old",
    "{}.save",
    ".{}.un~",
    "{}.un~",
)
"""What editors leave beside a file, with what was in it."""
_SECRETS = (
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.tfstate",
    "id_rsa",
    "id_ecdsa",
    "id_ed25519",
    "credentials.json",
    "service-account*.json",
    "client_secret*.json",
    "secrets.y*ml",
    "secrets.json",
    "secrets.toml",
    ".htpasswd",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".git-credentials",
    "secrets/",
    ".secrets/",
)
_NO_SECRETS = re.compile(r".*\.(example|sample|template|dist|tmpl|test|pub|defaults?)(\..*)?", re.DOTALL)
_PASSED_OVER = {".git", ".hg", "node_modules", ".venv", "venv", "target", "__pycache__", ".tox", ".mypy_cache"}
_DEEPEST = 4
_MOST_ENTRIES = 20_000
_CONFIG_BYTES = 1 << 20
_TOKEN_IN_URL = re.compile(rb"^\s*(?:url|pushurl)\s*=\s*[a-z+]+://[^/@\s]*:[^/@\s]+@", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Hidden:
    """Something of a project that is shown empty; `path` is relative to the project."""

    path: PurePath
    is_folder: bool


def checked(pattern: str) -> str:
    """Return a pattern if it can be one.

    Raises:
        ValueError: it is none; with the reason.

    """
    parts = pattern.strip("/").split("/")
    if not pattern.strip("/*?.") and "[" not in pattern:
        raise ValueError(f"{pattern!r} would hide the whole project")
    if pattern.startswith("!") or ".." in parts or "\0" in pattern or "\n" in pattern:
        raise ValueError(f"{pattern!r} is not a pattern such as .env, '.env.*', secrets/ or '*.pem'")
    if parts[0] == ".git":
        raise ValueError(f"{pattern!r} would hide git's own folder: a jail reads the objects that it needs")
    return pattern


def find(project: Path, patterns: Sequence[str]) -> list[Hidden]:
    """Return what the patterns match, with what editors leave beside it, and other names of the same file.

    Raises:
        ServiceError: it is more than can be hidden.

    """
    if not patterns:
        return []
    rules = [_compiled(pattern) for pattern in patterns]
    found: dict[PurePath, bool] = {}
    inodes: set[tuple[int, int]] = set()
    for entry in _entries(project, found):
        if any(rule.fullmatch(f"{entry.path}/" if entry.is_folder else str(entry.path)) for rule in rules):
            found.update(entry.hidden(project))
            inodes.update(entry.linked())
    if inodes:
        found.update({entry.path: False for entry in _entries(project, found) if inodes & entry.linked()})
    if len(found) > MOST:
        raise ServiceError(
            f"{len(found)} files and folders are to be hidden, and {MOST} can be", "hide the folders that they lie in"
        )
    inside = {path for path in found if any(found.get(parent) for parent in path.parents)}
    return [Hidden(path, found[path]) for path in sorted(found) if path not in inside]


@dataclass(frozen=True, slots=True)
class _Entry:
    path: PurePath
    status: os.stat_result
    """Its own, a link's too."""

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.status.st_mode)

    def hidden(self, project: Path) -> dict[PurePath, bool]:
        """Return what is to be hidden for it, and whether that is a folder: of a link, what is behind it."""
        if not stat.S_ISLNK(self.status.st_mode):
            return {self.path: self.is_folder}
        real = Path(os.path.realpath(project / self.path))
        is_inside = real.is_relative_to(project) and real != project and os.path.exists(real)
        return {real.relative_to(project): os.path.isdir(real)} if is_inside else {}

    def linked(self) -> set[tuple[int, int]]:
        """Return what tells a file that has several names."""
        has_more = stat.S_ISREG(self.status.st_mode) and self.status.st_nlink > 1
        return {(self.status.st_dev, self.status.st_ino)} if has_more else set()


def _entries(project: Path, found: dict[PurePath, bool]) -> Iterator[_Entry]:
    """Yield every entry; nothing below git's own folders, and below the folders in `found`."""
    for folder, folders, files, descriptor in os.fwalk(project):
        parent = PurePath(folder).relative_to(project)
        for name in (*folders, *files):
            with suppress(FileNotFoundError):
                yield _Entry(parent / name, os.stat(name, dir_fd=descriptor, follow_symlinks=False))
        folders[:] = [name for name in folders if name != ".git" and not found.get(parent / name)]


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern as a regular expression over paths; a folder's ends with a slash."""
    is_folder = pattern.endswith("/")
    text = pattern.strip("/")
    anchor = "" if "/" in text or pattern.startswith("/") else "(?:.*/)?"
    *above, name = text.split("/")
    names = [name] if is_folder else [name, *(form.format(name) for form in _LEFT_BEHIND)]
    inner = "|".join(map(_component, names))
    folders = "".join("(?:.*/)?" if part == "**" else f"{_component(part)}/" for part in above)
    return re.compile(f"{anchor}{folders}(?:{inner}){'/' if is_folder else '/?'}", re.DOTALL)


def _component(glob: str) -> str:
    parts = re.split(r"(\[[^]]+\]|\*+|\?)", glob)
    known = {"?": "[^/]"}
    return "".join(
        "[^/]*" if part.startswith("*") else known.get(part) or (_class(part) if part[:1] == "[" else re.escape(part))
        for part in parts
    )


def _class(text: str) -> str:
    inner = text[1:-1].replace("\\", "\\\\").replace("[", "\\[")
    try:
        found = f"[{'^/' + inner[1:] if inner[:1] in ('!', '^') else inner}]"
        re.compile(found)
    except re.error:
        return re.escape(text)
    return found


def looking_like_secrets(project: Path, hidden: Iterable[Hidden]) -> list[str]:
    """Return what near the top of a project looks like a secret by its name, and is not hidden."""
    rules = [_compiled(pattern) for pattern in _SECRETS]
    covered = {entry.path for entry in hidden}
    found = [
        f"{path}/" if is_folder else str(path)
        for path, is_folder in _near(project)
        if any(rule.fullmatch(f"{path}/" if is_folder else str(path)) for rule in rules)
        and not _NO_SECRETS.fullmatch(path.name)
        and not covered & {path, *path.parents}
    ]
    if _TOKEN_IN_URL.search(nofollow.read_file(project, PurePath(".git/config"), _CONFIG_BYTES)):
        found.append(".git/config (a password in a remote's URL)")
    return found


def _near(project: Path) -> Iterator[tuple[PurePath, bool]]:
    left = _MOST_ENTRIES
    for folder, folders, files in os.walk(project):
        parent = PurePath(folder).relative_to(project)
        left -= len(folders) + len(files)
        if left < 0:
            return
        yield from ((parent / name, True) for name in sorted(folders))
        yield from ((parent / name, False) for name in sorted(files))
        is_deep = len(parent.parts) >= _DEEPEST
        folders[:] = [] if is_deep else sorted(name for name in folders if name not in _PASSED_OVER)


def attributes(tracked: Iterable[PurePath]) -> bytes:
    """Return the attributes by which git takes these for unchanged: a quoted path a line (`gitattributes(5)`)."""
    lines = [f'"/{_quoted(str(path))}" filter={FILTER} -text -ident\n' for path in tracked]
    return "".join(lines).encode("utf-8", "surrogateescape")


def _quoted(path: str) -> str:
    escaped = re.sub(r"([\[\]*?\\])", r"\\\1", path)  # for the pattern, then for the quotes
    return re.sub(r'([\\"])', r"\\\1", escaped).replace("\n", "\\n").replace("\t", "\\t")

"""`hqt audit`: what a session made or changed that would run outside its jail, against a baseline taken before it ran.

No program of the project is run for this, git least of all.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import stat
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hqt import paths
from hqt.errors import ServiceError
from hqt.runnable import runs
from hqt.sandbox import policy_of
from hqt.services.harnesses import harness_of
from hqt.services.jail import write_private
from hqt.tree import Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from hqt.db.rows import Row
    from hqt.harnesses.base import HarnessConfigurator
    from hqt.services.jail import Made

_TEXT_BYTES = 32 << 10  # what is kept of a file for its difference
_HASHED_BYTES = 64 << 20
_KEPT_BYTES = 16 << 20  # of all files together
_NESTED = "/.git/config"

Change = Literal["new", "changed", "removed", "unseen"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that runs outside the jail and was not so before; `difference` is unified, for small text files."""

    change: Change
    path: str
    runs: str
    difference: str = ""

    @property
    def lines(self) -> list[str]:
        """The finding for a person: what, where and why, then the difference."""
        difference = self.difference.split("\n")[2:] if self.difference else []
        return [f"{self.change:<8} {self.path}   {self.runs}", *(f"         {line}" for line in difference)]

    def to_json(self) -> dict[str, str]:
        """Return the object that `hqt audit --json` prints."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file as it was: its fingerprint, and its text where that is small."""

    fingerprint: str
    text: str | None
    runs: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """What there was, before a session ran, that something outside the jail runs."""

    harness: HarnessConfigurator
    seen: dict[str, _Seen]

    @classmethod
    def take(cls, harness: HarnessConfigurator, path_value: str, *, writable: bool) -> Baseline:
        """Look at the harness's own folder, and at its project where the session can write it."""
        return cls(harness, _look(harness, path_value, writable=writable)[0])

    def record(self, row: Row, made: Iterable[Made] = ()) -> None:
        """Keep it, with what hqt itself made since for the jail: what is found later is held against it."""
        configuration = _configuration_of(self.harness)
        for new in made:
            path = new.root / new.relative
            inside = path.is_relative_to(row.project)
            if isinstance(new.create, bytes) and (inside or path.name in configuration.get(path.parent, ())):
                key = str(path.relative_to(row.project)) if inside else str(path)
                self.seen.setdefault(key, _Seen(_fingerprint("plain", new.create), _text(new.create), "hqt made it"))
        recorded = {path: asdict(found) for path, found in self.seen.items()}
        try:
            write_private(_baseline_file(row.id), json.dumps(recorded).encode())
        except OSError as error:
            raise ServiceError(f"the baseline of {row.name} cannot be written: {error.strerror}") from error

    def repositories(self) -> list[str]:
        """Return the folders of the project that hold a repository of their own, the shallowest first."""
        found = [
            path.removesuffix(_NESTED) for path in self.seen if path.endswith(_NESTED) and not path.startswith("/")
        ]
        return sorted(found, key=lambda folder: (folder.count("/"), folder))


def has_baseline(row: Row) -> bool:
    """Tell whether there is something to hold the project against."""
    return _baseline_file(row.id).exists()


def audit(row: Row) -> list[Finding]:
    """Return what is new, changed or removed since the baseline, by path.

    Raises:
        ServiceError: there is no baseline: the session has no jail.

    """
    file = _baseline_file(row.id)
    before: dict[str, _Seen] = {}
    damage = []
    try:
        before = {path: _Seen(**found) for path, found in json.loads(file.read_bytes()).items()}
    except FileNotFoundError:
        raise ServiceError(
            f"{row.name} has no baseline: only a sandboxed session has one",
            "look at the project with your own tools",
        ) from None
    except (OSError, ValueError, TypeError, AttributeError):
        damage = [f"{file} (damaged: all that runs is new)"]
    now, unseen = _look_again(row)
    findings = [_compared(path, before.get(path), now.get(path)) for path in sorted({*before, *now})]
    return [
        *(found for found in findings if found),
        *(Finding("unseen", what, "could not be looked at") for what in [*damage, *unseen]),
    ]


def accept(row: Row) -> None:
    """Hold what is found later against what there is now."""
    Baseline(_harness_of(row), _look_again(row)[0]).record(row)


def _look_again(row: Row) -> tuple[dict[str, _Seen], list[str]]:
    policy = policy_of(row.sandbox_json)
    path_value = json.loads(row.environment_json).get("PATH", "")
    return _look(_harness_of(row), path_value, writable=policy is not None and policy.fs == "rw")


def _harness_of(row: Row) -> HarnessConfigurator:
    return harness_of(row, json.loads(row.environment_json))


def _baseline_file(session_id: str) -> Path:
    return paths.session_folder(session_id) / "baseline.json"


def _look(harness: HarnessConfigurator, path_value: str, *, writable: bool) -> tuple[dict[str, _Seen], list[str]]:
    """Return every file that something runs, by its path (below the project, or whole), and what was not seen."""
    project = harness.project
    on_path = [
        str(folder.relative_to(project))
        for folder in map(Path, path_value.split(os.pathsep))
        if folder.is_relative_to(project)
    ]

    def of_project(path: str) -> str:
        what = runs(path)
        if not what and on_path and os.path.dirname(path) in on_path:  # noqa: PTH120  # a hundred thousand times
            return "you: it is on your PATH"
        return what

    seen, unseen = _see(project, of_project) if writable else ({}, [])
    what = f"{harness.name}: at every start, in any project"
    for folder, names in _configuration_of(harness).items():
        inner, missed = _see(folder.resolve(), lambda _: what, names)
        seen |= {f"{folder}/{path}": found for path, found in inner.items()}
        unseen += [f"{folder}/{path}" for path in missed]
    return seen, unseen


def _configuration_of(harness: HarnessConfigurator) -> dict[Path, set[str]]:
    """Return the harness's own folders, and the names in them that it takes orders from: what its jail only reads."""
    binds = [bind for bind in harness.sandbox_binds() if bind.kind == "bind"]
    folders = {bind.src: set[str]() for bind in binds if bind.writable and os.path.isdir(bind.src)}
    for bind in binds:
        if not bind.writable and bind.src.parent in folders:
            folders[bind.src.parent].add(bind.src.name)
    return {folder: names for folder, names in folders.items() if names}


def _see(top: Path, runs_what: Callable[[str], str], names: Collection[str] = ()) -> tuple[dict[str, _Seen], list[str]]:
    seen: dict[str, _Seen] = {}
    kept = 0
    walk = Walk(top, names)
    for entry in walk:
        if not (what := runs_what(entry.path)):
            continue
        status = entry.status()
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(entry.name, dir_fd=entry.folder)  # by a descriptor
            seen[entry.path] = _Seen(f"link to {target}", None, what)
            continue
        content = entry.content(_HASHED_BYTES)
        if content is None:
            seen[entry.path] = _Seen(f"special file {stat.S_IFMT(status.st_mode):o}", None, what)
            continue
        mode = "executable" if status.st_mode & 0o111 else "plain"
        text = _text(content) if kept < _KEPT_BYTES else None
        kept += len(text or "")
        seen[entry.path] = _Seen(_fingerprint(mode, content), text, what)
    return seen, walk.unseen


def _fingerprint(mode: str, content: bytes) -> str:
    return f"{mode} {len(content)} {hashlib.sha256(content).hexdigest()}"


def _text(content: bytes) -> str | None:
    if len(content) > _TEXT_BYTES or b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _compared(path: str, before: _Seen | None, now: _Seen | None) -> Finding | None:
    if now is None:
        return Finding("removed", path, before.runs) if before else None
    if before is None:
        return Finding("new", path, now.runs, _difference("", now.text))
    if before.fingerprint != now.fingerprint:
        return Finding("changed", path, now.runs, _difference(before.text, now.text))
    return None


def _difference(before: str | None, now: str | None) -> str:
    if before is None or now is None:
        return ""
    lines = difflib.unified_diff(before.splitlines(), now.splitlines(), "before", "now", lineterm="", n=2)
    return "\n".join(lines)

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
from hqt.services.jail import write_private
from hqt.tree import Walk

if TYPE_CHECKING:
    from hqt.db.rows import Row

_TEXT_BYTES = 32 << 10  # what is kept of a file for its difference
_HASHED_BYTES = 64 << 20
_KEPT_BYTES = 16 << 20  # of all files together

Change = Literal["new", "changed", "removed", "unseen"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that runs outside the jail and was not so before; `difference` is unified, for small text files."""

    change: Change
    path: str
    runs: str
    difference: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the object that `hqt audit --json` prints."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file as it was: its fingerprint, and its text where that is small."""

    fingerprint: str
    text: str | None
    runs: str


def record_baseline(row: Row) -> None:
    """Record what there is in the project that runs outside the jail; what is found later is held against it."""
    seen, _ = _look(Path(row.project), json.loads(row.environment_json).get("PATH", ""))
    baseline = {path: asdict(found) for path, found in seen.items()}
    write_private(_baseline_file(row.id), json.dumps(baseline).encode())


def has_baseline(row: Row) -> bool:
    """Tell whether there is something to hold the project against."""
    return _baseline_file(row.id).exists()


def audit(row: Row) -> list[Finding]:
    """Return what is new, changed or removed since the baseline, by path.

    Raises:
        ServiceError: there is no baseline: the session has no jail, or cannot write the project.

    """
    try:
        recorded = json.loads(_baseline_file(row.id).read_text())
    except FileNotFoundError:
        raise ServiceError(
            f"{row.name} has no baseline: only a sandboxed session that can write its project has one",
            "look at the project with your own tools",
        ) from None
    before = {path: _Seen(**found) for path, found in recorded.items()}
    now, unseen = _look(Path(row.project), json.loads(row.environment_json).get("PATH", ""))
    findings = [_compared(path, before.get(path), now.get(path)) for path in sorted({*before, *now})]
    return [
        *(found for found in findings if found),
        *(Finding("unseen", what, "could not be looked at") for what in unseen),
    ]


def _baseline_file(session_id: str) -> Path:
    return paths.session_folder(session_id) / "baseline.json"


def _look(project: Path, path_value: str) -> tuple[dict[str, _Seen], list[str]]:
    """Return every file of the project that something runs, and what could not be looked at."""
    on_path = [
        str(folder.relative_to(project))
        for folder in map(Path, path_value.split(os.pathsep))
        if folder.is_relative_to(project)
    ]
    seen: dict[str, _Seen] = {}
    kept = 0
    walk = Walk(project)
    for entry in walk:
        what = runs(entry.path)
        if not what and on_path and os.path.dirname(entry.path) in on_path:  # noqa: PTH120  # a hundred thousand times
            what = "you: it is on your PATH"
        if not what:
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
        seen[entry.path] = _Seen(f"{mode} {len(content)} {hashlib.sha256(content).hexdigest()}", text, what)
    return seen, walk.unseen


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

"""Reading what a session's conversation has used, from where the last reading ended.

The record is the harness's, in a folder that a jail can write: no link is followed, no line and no reading is endless.
"""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from hqt import nofollow
from hqt.errors import ServiceError
from hqt.harnesses.usage import Tokens, Usage
from hqt.refusals import resolved
from hqt.services.jail import write_private

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

    from hqt.harnesses.base import HarnessConfigurator

_LINE_BYTES = 16 << 20  # an image in it
_BYTES_AT_ONCE = 128 << 20
_NOT_AN_ENTRY = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(slots=True)
class _Reading:
    """How far a record, known by its device and inode, was read, and what had been used up to there."""

    record: list[int] = field(default_factory=list)
    offset: int = 0
    usage: Usage = field(default_factory=Usage)


def of(harness: HarnessConfigurator, conversation: str, session_folder: Path) -> Usage | None:
    """Return what the conversation has used, None where there is no record of it.

    What was counted is kept in the session's folder. More than 128 MiB that are new wait for the next call.
    """
    path = harness.conversation_file(conversation)
    if path is None:
        return None
    kept = session_folder / "usage.json"
    before = _kept(kept)
    known = (before.record, before.offset)
    with (
        suppress(ServiceError),
        nofollow.opened_file(resolved(harness.records), path.relative_to(harness.records)) as record,
    ):
        if record is None:
            return None
        now = _read_on(record, before, harness)
        if (now.record, now.offset) != known:
            with suppress(OSError):  # it is only to save time
                write_private(kept, json.dumps(asdict(now)).encode())
        return now.usage
    return None


def _read_on(record: BinaryIO, before: _Reading, harness: HarnessConfigurator) -> _Reading:
    found = os.fstat(record.fileno())
    identity = [found.st_dev, found.st_ino]
    is_same = before.record == identity and before.offset <= found.st_size
    now = before if is_same else _Reading(identity)
    record.seek(now.offset)
    until = now.offset + _BYTES_AT_ONCE
    while now.offset < until and (line := record.readline(_LINE_BYTES)):
        if not line.endswith(b"\n") and len(line) < _LINE_BYTES:
            break  # it is being written
        now.offset += len(line)
        with suppress(*_NOT_AN_ENTRY):
            harness.count(json.loads(line), now.usage)
    return now


def _kept(path: Path) -> _Reading:
    try:
        kept = json.loads(path.read_bytes())
        usage = kept["usage"]
        recent = OrderedDict((answer, Tokens(*tokens)) for answer, tokens in usage["recent"].items())
        counted = Usage(usage["turns"], usage["model"], Tokens(*usage["tokens"]), recent)
        return _Reading(kept["record"], kept["offset"], counted)
    except (OSError, *_NOT_AN_ENTRY):
        return _Reading()

"""Session names: what is allowed, and the one taken when none is given."""

from __future__ import annotations

import re
import unicodedata
from itertools import count
from typing import TYPE_CHECKING

from hqt.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LONGEST = 100


def checked(name: str) -> str:
    """Return the name if it may be one: what can be typed and shown on one line.

    Raises:
        UsageError: it is empty, too long, begins with a dash, or holds a control character.

    """
    if not name.strip() or len(name) > _LONGEST:
        raise UsageError(f"a name has between 1 and {_LONGEST} characters", "choose another with --name")
    if name.startswith("-"):
        raise UsageError(f"the name {name!r} begins with a dash", "it would be taken for an option")
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in name):
        raise UsageError(f"the name {name!r} holds a control character or a line break", "choose another with --name")
    return name


def defaults(project: Path, harness: str) -> Iterator[str]:
    """Yield `api-claude`, `api-claude-2`, … for a project folder `api`."""
    slug = re.sub(r"[^\w.]+", "-", unicodedata.normalize("NFKC", project.name)).strip("-.")[: _LONGEST // 2]
    base = f"{slug or 'project'}-{harness}"
    yield base
    for number in count(2):
        yield f"{base}-{number}"

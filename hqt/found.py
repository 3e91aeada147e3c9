"""What of a user's set-up a jail needs besides its harness, as it was found when its session was made. Pure data.

It is recorded with the session, so that every start is the same, and so that nothing which a jail can write is asked
again what the next one gets.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hqt.harnesses.base import Bind

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Needed:
    """A path that something in the jail needs, read-only: where it lies, resolved, where it appears, and for what."""

    src: Path
    target: Path
    reason: str
    is_cleaned: bool = False
    """Whether the jail gets a copy without the passwords and tokens that are in it."""

    def bind(self) -> Bind:
        """Return it as a bind."""
        return Bind(self.src, target=self.target, kind="cleaned" if self.is_cleaned else "bind", reason=self.reason)


@dataclass(frozen=True, slots=True)
class Found:
    """What was found: paths, variables with their values, and what does not work in the jail as it does outside.

    `said` is what the user is told as the session is made, `notes` what `hqt show` and `hqt check` say besides.
    """

    needed: tuple[Needed, ...] = ()
    pinned: tuple[Path, ...] = ()
    """Links that the jail could otherwise replace: each is kept in its place."""
    variables: Mapping[str, str] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __add__(self, other: Found) -> Found:
        """Return both; of two for one place in the jail, the first."""
        places = {needed.target for needed in self.needed}
        more = tuple(needed for needed in other.needed if needed.target not in places)
        variables = {**self.variables, **other.variables}
        pinned = (*self.pinned, *other.pinned)
        return Found((*self.needed, *more), pinned, variables, (*self.said, *other.said), (*self.notes, *other.notes))

    def to_json(self) -> str:
        """Return the form that `Session.found_json` holds."""
        needed = [[str(one.src), str(one.target), one.reason, one.is_cleaned] for one in self.needed]
        told = {"variables": dict(self.variables), "said": self.said, "notes": self.notes}
        return json.dumps({"needed": needed, "pinned": list(map(str, self.pinned)), **told})

    @classmethod
    def from_json(cls, text: str | None) -> Found:
        """Read the form that `to_json` writes; None is nothing."""
        if text is None:
            return cls()
        read = json.loads(text)
        needed = tuple(Needed(Path(src), Path(target), *rest) for src, target, *rest in read["needed"])
        pinned = tuple(map(Path, read["pinned"]))
        return cls(needed, pinned, read["variables"], tuple(read["said"]), tuple(read["notes"]))

"""One thing that was looked at on this host, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Level = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`what` was looked at, and `told` is what was seen.

    A `problem` keeps hqt from what it is for; a `note` is worth knowing. `fix` is a command, or what to do in words.
    """

    what: str
    level: Level
    told: str
    fix: str = ""
    repair: Callable[[], object] | None = None
    """Does what `fix` says, where hqt can do it itself."""

    def to_json(self) -> dict[str, object]:
        """Return the object that `hqt doctor --json` prints. Keys are only ever added."""
        return {"what": self.what, "level": self.level, "told": self.told, "fix": self.fix}

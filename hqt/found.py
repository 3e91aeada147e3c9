"""What of a user's set-up a jail needs besides its harness, as it was found when its session was made. Pure data.

It is recorded with the session, so that every start is the same, and so that nothing which a jail can write is asked
again what the next one gets.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hqt.harnesses.base import Bind
from hqt.refusals import resolved

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Needed:
    """A path that something in the jail needs, read-only: where it lies, resolved, where it appears, and for what."""

    src: Path
    target: Path
    reason: str
    kind: Literal["bind", "cleaned", "link"] = "bind"
    """`cleaned`: a copy without the passwords and tokens that are in it. `link`: a link to `src`, and no mount."""

    @classmethod
    def of(cls, bind: Bind, reason: str) -> Needed:
        """Return a read-only bind, or a link, as what is needed for a reason."""
        return cls(resolved(bind.src), bind.where, reason, "link" if bind.kind == "link" else "bind")

    def bind(self) -> Bind:
        """Return it as a bind."""
        return Bind(self.src, target=self.target, kind=self.kind, reason=self.reason)


@dataclass(frozen=True, slots=True)
class Pinned:
    """A link in a folder that the jail can write: it leads a jail to `where`, and lies, on the host, at `lies`."""

    path: Path
    where: Path
    lies: Path


@dataclass(frozen=True, slots=True)
class Found:
    """What was found: paths, variables with their values, and what does not work in the jail as it does outside.

    `said` is what the user is told as the session is made, `notes` what `hqt show` and `hqt check` say besides.
    """

    needed: tuple[Needed, ...] = ()
    pinned: tuple[Pinned, ...] = ()
    """Links that the jail could otherwise replace: each is kept in its place."""
    servers: tuple[str, ...] = ()
    """The agent's MCP servers that go into the jail."""
    left_out: tuple[str, ...] = ()
    """Those that do not."""
    variables: Mapping[str, str] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __add__(self, other: Found) -> Found:
        """Return both; of two for one place in the jail, the first."""
        places = {needed.target for needed in self.needed}
        return Found(
            needed=(*self.needed, *(needed for needed in other.needed if needed.target not in places)),
            pinned=(*self.pinned, *other.pinned),
            servers=(*self.servers, *other.servers),
            left_out=(*self.left_out, *other.left_out),
            variables={**self.variables, **other.variables},
            said=(*self.said, *other.said),
            notes=(*self.notes, *other.notes),
        )

    def to_json(self) -> str:
        """Return the form that `Session.found_json` holds."""
        return json.dumps(
            {
                "needed": [[str(one.src), str(one.target), one.reason, one.kind] for one in self.needed],
                "pinned": [[str(link.path), str(link.where), str(link.lies)] for link in self.pinned],
                "servers": self.servers,
                "left_out": self.left_out,
                "variables": dict(self.variables),
                "said": self.said,
                "notes": self.notes,
            }
        )

    @classmethod
    def from_json(cls, text: str | None) -> Found:
        """Read the form that `to_json` writes; None is nothing."""
        if text is None:
            return cls()
        read = json.loads(text)
        texts = {name: tuple(read[name]) for name in ("servers", "left_out", "said", "notes")}
        return cls(
            needed=tuple(Needed(Path(src), Path(target), *rest) for src, target, *rest in read["needed"]),
            pinned=tuple(Pinned(*map(Path, link)) for link in read["pinned"]),
            variables=read["variables"],
            **texts,
        )

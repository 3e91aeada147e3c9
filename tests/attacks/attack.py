"""What an attack is: a script that says BREACH when it got through, and a look at the host afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

BREACH = "BREACH"


@dataclass(frozen=True)
class Attack:
    """`script` runs in the jail, in the project, by sh; `damage` looks at the host and returns what is amiss.

    `naive` says whether a plain bwrap with the seed's layers falls to it, as shown by a run against that.
    """

    name: str
    script: str
    damage: Callable[[Any], object] = field(default=lambda _: None)
    naive: bool = True
    needs_network_off: bool = False
    """The promise holds without the network only."""
    needs_read_only: bool = False
    """The promise holds for a read-only project only."""

"""The harnesses that hqt knows, one file each; they declare, and run nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hqt.errors import ServiceError
from hqt.harnesses.claude import Claude
from hqt.harnesses.codex import Codex
from hqt.harnesses.gemini import Gemini
from hqt.harnesses.generic import Generic
from hqt.harnesses.kiro import Kiro
from hqt.harnesses.pi import Pi
from hqt.harnesses.qwen import Qwen

if TYPE_CHECKING:
    from hqt.harnesses.base import HarnessConfigurator

HARNESSES: dict[str, type[HarnessConfigurator]] = {h.name: h for h in (Claude, Codex, Kiro, Gemini, Qwen, Pi, Generic)}

PREFERRED = tuple(name for name in HARNESSES if name != "generic")
"""The order in which an installed harness is taken when none was named."""


def configurator(name: str) -> type[HarnessConfigurator]:
    """Return the harness of that name.

    Raises:
        ServiceError: no harness has that name.

    """
    try:
        return HARNESSES[name]
    except KeyError:
        known = ", ".join(HARNESSES)
        raise ServiceError(f"there is no harness named {name!r}", f"known harnesses: {known}") from None

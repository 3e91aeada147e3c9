"""The harnesses that there are: those that hqt knows, and those that the user's configuration declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hqt import config
from hqt.errors import ServiceError
from hqt.harnesses import HARNESSES

if TYPE_CHECKING:
    from hqt.harnesses.base import HarnessConfigurator


def all_harnesses() -> dict[str, type[HarnessConfigurator]]:
    """Return every harness by its name, the generic one last.

    Raises:
        HqtError: the configuration file cannot be read.

    """
    known = {name: harness for name, harness in HARNESSES.items() if name != "generic"}
    return {**known, **config.load().harnesses, "generic": HARNESSES["generic"]}


def configurator(name: str) -> type[HarnessConfigurator]:
    """Return the harness of that name; the configuration is read for one that hqt does not know itself.

    Raises:
        ServiceError: no harness has that name.

    """
    found = HARNESSES.get(name) or (harnesses := all_harnesses()).get(name)
    if found is None:
        raise ServiceError(
            f"there is no harness named {name!r}",
            f"known harnesses: {', '.join(harnesses)}; [harnesses.{name}] in config.toml declares one",
        )
    return found

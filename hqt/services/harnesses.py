"""The harnesses that there are: those that hqt knows, and those that the user's configuration declares."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hqt import config, paths
from hqt.errors import ServiceError
from hqt.found import Found
from hqt.harnesses import HARNESSES
from hqt.harnesses.base import RUN_FOLDER
from hqt.services import status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hqt.db.rows import Row
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


def harness_of(row: Row, environment: Mapping[str, str]) -> HarnessConfigurator:
    """Return what is known of a session's harness, for its project and its own folders.

    Raises:
        ServiceError: no harness has that name.

    """
    found, home, project = configurator(row.harness), Path(environment["HOME"]), Path(row.project)
    if row.sandbox_json is None:
        return found(home, project, environment, str(status.folder(row.id)))
    harness = found(home, project, environment, RUN_FOLDER, private_folders(row.id))
    if row.found_json:
        of_set_up = Found.from_json(row.found_json)
        harness.allowed_servers, harness.left_out_servers = of_set_up.servers, of_set_up.left_out
    return harness


def private_folders(session_id: str) -> Path:
    """Return where a session's private folders lie, each by its path in the jail."""
    return paths.session_folder(session_id) / "private"

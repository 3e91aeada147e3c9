"""Which harnesses are installed, as the PATH of this moment has it, and in which version."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hqt import executables, program
from hqt.harnesses import HARNESSES
from hqt.services.harnesses import all_harnesses

if TYPE_CHECKING:
    from hqt.harnesses.base import HarnessConfigurator

_TIMEOUT_S = 5


@dataclass(frozen=True, slots=True)
class Installed:
    """A harness on this host; `version` is empty where it is not installed or does not tell."""

    name: str
    path: str
    version: str
    verified: str
    """The version that hqt's facts were read from."""
    install: str
    """How to install it."""
    setup: str
    """What is to be done once before it works in a jail, if anything."""

    @property
    def is_newer(self) -> bool:
        """Whether it is newer than what hqt was verified with."""
        return bool(self.verified) and program.numbers(self.version) > program.numbers(self.verified)

    def to_json(self) -> dict[str, object]:
        """Return the object that `hqt harnesses --json` prints. Keys are only ever added."""
        return asdict(self)


def harnesses() -> list[tuple[str, bool]]:
    """Return every harness and whether it is installed, the installed ones first; generic comes last of them."""
    found = [(name, path_of(harness) is not None) for name, harness in all_harnesses().items()]
    return sorted(found, key=lambda harness: not harness[1])


def described(*, with_declared: bool = True) -> list[Installed]:
    """Return every harness but the generic one, with its version: each program is asked, all at once.

    Raises:
        HqtError: the configuration, which may declare some, cannot be read.

    """
    known = all_harnesses() if with_declared else HARNESSES
    wanted = [harness for name, harness in known.items() if name != "generic"]
    with ThreadPoolExecutor(len(wanted)) as pool:
        return list(pool.map(_described, wanted))


def _described(harness: type[HarnessConfigurator]) -> Installed:
    path = path_of(harness)
    setup = harness(Path.home(), Path("/"), os.environ).setup_hint() if path else ""
    version = program.version(str(path), timeout_s=_TIMEOUT_S) if path else ""
    return Installed(harness.name, str(path or ""), version, harness.verified, harness.install_hint, setup)


def path_of(harness: type[HarnessConfigurator]) -> Path | None:
    """Return a harness's program, None where it is not installed."""
    path_value = executables.steady_path(os.environ.get("PATH", ""))
    return executables.which(harness.executable, path_value, Path("/"))

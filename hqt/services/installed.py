"""Which harnesses are installed, as the PATH of this moment has it. Runs none of them."""

from __future__ import annotations

import os
from pathlib import Path

from hqt import executables
from hqt.harnesses import HARNESSES


def harnesses() -> list[tuple[str, bool]]:
    """Return every harness and whether it is installed, the installed ones first; generic comes last of them."""
    path_value = executables.steady_path(os.environ.get("PATH", ""))
    found = [
        (name, bool(executables.which(harness.executable, path_value, Path("/"))))
        for name, harness in HARNESSES.items()
    ]
    return sorted(found, key=lambda harness: (not harness[1], harness[0] == "generic"))

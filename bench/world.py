"""A home folder, a project and a tmux server of one measurement's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def private_world(name: str) -> Iterator[Path]:
    """Make it, with this process in its project, and end it; `name` is that of the tmux server."""
    base = Path(tempfile.mkdtemp(prefix=f"hqt-{name}-", dir="/var/tmp"))
    project = base / "home/project"
    project.mkdir(parents=True)
    (base / "tmux").mkdir(mode=0o700)
    os.environ |= {"HOME": str(base / "home"), "TMUX_TMPDIR": str(base / "tmux"), "HQT_TMUX_SOCKET": name}
    os.environ["PYTHONPATH"] = str(Path(__file__).parent.parent)
    for variable in ("TMUX", "TMUX_PANE", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        os.environ.pop(variable, None)
    os.chdir(project)
    try:
        yield base
    finally:
        subprocess.run(["tmux", "-L", name, "kill-server"], check=False, capture_output=True)
        os.chdir("/")
        shutil.rmtree(base)

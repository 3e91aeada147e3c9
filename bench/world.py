"""A home folder, a project and a tmux server of one measurement's own."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HQT = [str(Path(sys.executable).with_name("hqt"))]
_OUTSIDE = ("TMUX", "TMUX_PANE", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "NO_COLOR")


@dataclass(frozen=True)
class World:
    """One of them; `name` is that of its tmux server."""

    base: Path
    name: str
    environment: dict[str, str]

    @property
    def project(self) -> Path:
        return self.base / "home/project"

    @property
    def state(self) -> Path:
        return self.base / "home/.local/state/hqt"

    def run(self, *argv: str) -> str:
        found = subprocess.run(argv, check=True, capture_output=True, text=True, env=self.environment, cwd=self.project)
        return found.stdout

    def hqt(self, *arguments: str) -> str:
        return self.run(*HQT, *arguments)

    def tmux(self, *arguments: str) -> str:
        return self.run("tmux", "-L", self.name, *arguments)

    def populate(self, sessions: int, running: int) -> None:
        """Make that many unsandboxed sessions, those `running` with a window: by copies of one that hqt made."""
        self.hqt("new", "-d", "-H", "generic", "-n", "s0", "--", "sleep", "100000")
        first = json.loads(self.hqt("show", "s0", "--json"))
        database = sqlite3.connect(self.state / "hqt.db")
        names = [row[1] for row in database.execute("PRAGMA table_info(session)")]
        row = dict(zip(names, database.execute("SELECT * FROM session").fetchone(), strict=True))
        windows = []
        for number in range(1, sessions):
            row |= {"id": secrets.token_hex(8), "name": f"s{number}"}
            marks = ", ".join("?" * len(names))
            database.execute(f"INSERT INTO session VALUES ({marks})", [row[name] for name in names])
            (self.state / "sessions" / row["id"] / "run").mkdir(parents=True)
            if number < running:
                command = shlex.join([word.replace(first["id"], row["id"]) for word in first["argv"]])
                windows += [
                    f"new-window -d -t hqt: {shlex.quote(command)}",
                    f"set-option -p -t hqt:$ @hqt_id {row['id']}",
                ]
        database.commit()
        database.close()
        (self.base / "windows").write_text("\n".join(windows) + "\n")
        if windows:
            self.tmux("source-file", str(self.base / "windows"))


@dataclass(frozen=True)
class Figure:
    """One thing to measure: a command, or what returns milliseconds itself; its floor, and the budget as a ratio."""

    name: str
    world: World
    what: list[str] | Callable[[], float]
    floor: str = ""
    budget: float | None = None
    rounds: int = sys.maxsize
    """At most; slow ones are measured less often."""
    after: list[str] | None = None
    """Run after each round, unmeasured, to put things back."""


@contextmanager
def private_world(name: str) -> Iterator[World]:
    """Make one, and end it."""
    base = Path(tempfile.mkdtemp(prefix=f"hqt-{name}-", dir="/var/tmp"))
    (base / "home/project").mkdir(parents=True)
    (base / "tmux").mkdir(mode=0o700)
    own = {"HOME": str(base / "home"), "TMUX_TMPDIR": str(base / "tmux"), "HQT_TMUX_SOCKET": name}
    kept = {key: value for key, value in os.environ.items() if key not in _OUTSIDE}
    source = {"PYTHONPATH": str(Path(__file__).parent.parent), "TERM": "xterm-256color"}
    world = World(base, name, {**kept, **own, **source})
    try:
        yield world
    finally:
        subprocess.run(["tmux", "-L", name, "kill-server"], check=False, capture_output=True, env=world.environment)
        shutil.rmtree(base)

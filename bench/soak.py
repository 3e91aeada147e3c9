"""Whether anything is left behind: `python bench/soak.py [CYCLES]` (1,000), then 300 sessions at once.

Each cycle makes, stops, attaches and removes a sandboxed session. Counted before and after, on a server that goes on
all the while: its processes, descriptors and memory, files, rows.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from world import private_world

SESSIONS = 300
IDLE = ["-H", "generic", "-s", "--", "sleep", "100000"]


def hqt(*arguments: str) -> str:
    command = [sys.executable, "-m", "hqt", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def tmux(*arguments: str) -> str:
    return subprocess.run(["tmux", "-L", "soak", *arguments], check=True, capture_output=True, text=True).stdout


def counted(base: Path) -> dict[str, int]:
    server = int(tmux("display-message", "-p", "#{pid}"))
    status = Path(f"/proc/{server}/status").read_text()
    database = sqlite3.connect(base / "home/.local/state/hqt/hqt.db")
    counts = {
        "processes": sum(_is_below(int(pid.name), server) for pid in Path("/proc").iterdir() if pid.name.isdigit()),
        "server's descriptors": len(list(Path(f"/proc/{server}/fd").iterdir())),
        "server's KiB": int(status.split("VmRSS:")[1].split()[0]),
        "files": len(list(base.rglob("*"))),
        "files in /tmp": len(list(Path("/tmp").iterdir())),
        "rows": database.execute("SELECT count(*) FROM session").fetchone()[0],
        "events": database.execute("SELECT count(*) FROM event").fetchone()[0],
        "database's KiB": (base / "home/.local/state/hqt/hqt.db").stat().st_size // 1024,
    }
    database.close()
    return counts


def _is_below(pid: int, ancestor: int) -> bool:
    while pid > 1:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[1])
        except OSError:
            return False
        if pid == ancestor:
            return True
    return False


def main() -> None:
    cycles = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with private_world("soak") as base:
        tmux("new-session", "-d", "-s", "own", "sleep 100000")
        cycle("warm")
        before = counted(base)
        started = time.monotonic()
        for number in range(cycles):
            cycle(f"s{number}")
        print(f"{cycles} cycles in {time.monotonic() - started:.0f} s")
        show(before, counted(base))
        for number in range(SESSIONS):
            hqt("new", "-d", "-n", f"s{number}", *IDLE)
        many = counted(base)
        print(f"{SESSIONS} at once: {hqt('ls', '--json').count('running')} run")
        hqt("rm", "-y", *(f"s{number}" for number in range(SESSIONS)))
        show(many, counted(base))


def cycle(name: str) -> None:
    hqt("new", "-d", "-n", name, *IDLE)
    hqt("stop", name)
    hqt("attach", "-d", name)
    hqt("rm", "-y", name)


def show(before: dict[str, int], after: dict[str, int]) -> None:
    for what, count in before.items():
        print(f"  {what:<22}{count:>8} → {after[what]}")


if __name__ == "__main__":
    main()

"""Whether anything is left behind: `python bench/soak.py [CYCLES]` (1,000), then 300 sessions at once.

Each cycle makes, stops, attaches and removes a sandboxed session. Counted before and after, on a server that goes on
all the while: its processes, descriptors and memory, files, rows.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from pathlib import Path

from world import World, private_world

SESSIONS = 300
IDLE = ["-H", "generic", "-s", "--", "sleep", "100000"]


def counted(world: World) -> dict[str, int]:
    server = int(world.tmux("display-message", "-p", "#{pid}"))
    status = Path(f"/proc/{server}/status").read_text()
    database = sqlite3.connect(world.state / "hqt.db")
    counts = {
        "processes": sum(_is_below(int(pid.name), server) for pid in Path("/proc").iterdir() if pid.name.isdigit()),
        "server's descriptors": len(list(Path(f"/proc/{server}/fd").iterdir())),
        "server's KiB": int(status.split("VmRSS:")[1].split()[0]),
        "files": len(list(world.base.rglob("*"))),
        "files in /tmp": len(list(Path("/tmp").iterdir())),
        "rows": database.execute("SELECT count(*) FROM session").fetchone()[0],
        "events": database.execute("SELECT count(*) FROM event").fetchone()[0],
        "database's KiB": (world.state / "hqt.db").stat().st_size // 1024,
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
    with private_world("soak") as world:
        world.tmux("new-session", "-d", "-s", "own", "sleep 100000")
        cycle(world, "warm")
        before = counted(world)
        started = time.monotonic()
        for number in range(cycles):
            cycle(world, f"s{number}")
        print(f"{cycles} cycles in {time.monotonic() - started:.0f} s")
        show(before, counted(world))
        for number in range(SESSIONS):
            world.hqt("new", "-d", "-n", f"s{number}", *IDLE)
        many = counted(world)
        print(f"{SESSIONS} at once: {world.hqt('ls', '--json').count('running')} run")
        world.hqt("rm", "-y", *(f"s{number}" for number in range(SESSIONS)))
        show(many, counted(world))


def cycle(world: World, name: str) -> None:
    world.hqt("new", "-d", "-n", name, *IDLE)
    world.hqt("stop", name)
    world.hqt("attach", "-d", name)
    world.hqt("rm", "-y", name)


def show(before: dict[str, int], after: dict[str, int]) -> None:
    for what, count in before.items():
        print(f"  {what:<22}{count:>8} → {after[what]}")


if __name__ == "__main__":
    main()

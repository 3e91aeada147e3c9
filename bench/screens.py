"""The dialog until it can be typed into, and what the open dashboard costs, in a real tmux."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from world import HQT

if TYPE_CHECKING:
    from world import World

_LOOK_S = 0.003
_DASHBOARD_S = 10
_TICKS_S = 100
"""Clock ticks a second, as /proc counts them on every Linux."""


def dashboards(world: World) -> list[dict[str, object]]:
    """Return what the dashboard costs; the world has 100 sessions."""
    return [dashboard(world, changes_a_second=changes) for changes in (0, 100)]


def typed_into(world: World) -> float:
    """Return how long the dialog takes until it shows what was typed."""
    started = time.perf_counter()
    pane = open_window(world, "dialog")
    world.tmux("send-keys", "-t", pane, "zqx")
    # Beside its own words: the terminal shows keys itself until the dialog reads them.
    while not re.search("Harness(?s:.*)zqx|zqx(?s:.*)Harness", world.tmux("capture-pane", "-p", "-t", pane)):
        time.sleep(_LOOK_S)
    took = (time.perf_counter() - started) * 1000
    world.tmux("kill-pane", "-t", pane)
    return took


def dashboard(world: World, *, changes_a_second: int) -> dict[str, object]:
    pane = open_window(world, "dash")
    world.tmux("select-window", "-t", pane)
    while "s0" not in world.tmux("capture-pane", "-p", "-t", pane):
        time.sleep(_LOOK_S)
    time.sleep(2)
    pid = world.tmux("display-message", "-p", "-t", pane, "#{pane_pid}").strip()
    stop = threading.Event()
    changing = threading.Thread(target=change, args=(world, changes_a_second, stop))
    if changes_a_second:
        changing.start()
    before = ticks(pid)
    time.sleep(_DASHBOARD_S)
    used = (ticks(pid) - before) / _TICKS_S / _DASHBOARD_S
    stop.set()
    memory = int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0]) // 1024
    world.tmux("kill-pane", "-t", pane)
    name = f"dashboard of 100, {changes_a_second} changes a second"
    return {"name": name, "cpu": f"{used:.1%} of a core", "memory": f"{memory} MiB"}


def waits(world: World) -> dict[str, object]:
    """Return what `hqt wait` for any of 100 costs while they change, and how soon it ends when one begins to wait."""
    folders = sorted((world.state / "sessions").glob("*/run"))
    names = [session["name"] for session in json.loads(world.hqt("ls", "--json"))]
    stop = threading.Event()
    changing = threading.Thread(target=change, args=(world, 100, stop))
    changing.start()
    argv = [*HQT, "wait", *names, "--any", "--for", "waiting"]
    with subprocess.Popen(argv, env=world.environment, cwd=world.project, stdout=subprocess.PIPE) as process:
        time.sleep(2)
        before = ticks(str(process.pid))
        time.sleep(_DASHBOARD_S)
        used = (ticks(str(process.pid)) - before) / _TICKS_S / _DASHBOARD_S
        stop.set()
        changing.join()
        began = time.perf_counter()
        (folders[50] / "new").write_text("waiting\n")
        (folders[50] / "new").rename(folders[50] / "status")
        process.wait()
        took = (time.perf_counter() - began) * 1000
    name = f"wait for any of 100, 100 changes a second: ends {took:.0f} ms after"
    return {"name": name, "cpu": f"{used:.1%} of a core"}


def change(world: World, changes_a_second: int, stop: threading.Event) -> None:
    folders = sorted((world.state / "sessions").glob("*/run"))
    number = 0
    while not stop.wait(1 / changes_a_second):
        folder = folders[number % len(folders)]
        (folder / "new").write_text("working\n" if number // len(folders) % 2 else "idle\n")
        (folder / "new").rename(folder / "status")
        number += 1


def open_window(world: World, command: str) -> str:
    argv = ["env", f"PYTHONPATH={world.environment['PYTHONPATH']}", *HQT, command]
    return world.tmux("new-window", "-d", "-t", "hqt:", "-P", "-F", "#{pane_id}", *argv).strip()


def ticks(pid: str) -> int:
    """Return the processor time that a process has used, with its children's."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return sum(map(int, fields[11:15]))

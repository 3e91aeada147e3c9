"""Measure hqt against its floors and its peers, interleaved in one run: `make bench`.

Prints a table and writes bench/result.json. Figures are medians and quartiles in milliseconds, ratios are to a floor
that was measured in the same rounds, and the budgets are those of the design.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import peers
import screens
from world import HQT, Figure, World, private_world

from hqt.harnesses.claude import Claude

ROUNDS = int(os.environ.get("ROUNDS", "15"))
SLOW_ROUNDS = 3
LISTED = (1, 10, 100, 1000)
RUNNING = 300
AUDITED = (1_000, 10_000, 100_000)
IDLE = ("--", "sleep", "100000")


def main() -> None:
    with ExitStack() as stack:
        world = stack.enter_context(private_world("bench"))
        listed = {count: stack.enter_context(private_world(f"bench{count}")) for count in LISTED}
        for count, own in listed.items():
            own.populate(count, min(count, RUNNING))
        audited = {count: stack.enter_context(private_world(f"audit{count}")) for count in AUDITED}
        for count, own in audited.items():
            fill(own, count)
        lost = stack.enter_context(private_world("lost"))
        lost.populate(100, 1)
        lost.tmux("kill-server")
        wanted = [
            *floors(world),
            *listing(listed),
            *starting(world),
            restoring(lost),
            *auditing(audited),
            dialog(listed[100]),
            *peers.figures(world),
        ]
        found = measure(wanted)
        found += [grown(found, "hqt ls, {} sessions", LISTED), grown(found, "hqt audit, {} files", AUDITED)]
        found += [*screens.dashboards(listed[100]), screens.waits(listed[100])]
        show(found)


def floors(world: World) -> list[Figure]:
    python = sys.executable
    imports = ("typer", "typer, libtmux, sqlalchemy.orm", "textual.app, textual.widgets")
    return [
        Figure("bwrap … true", world, ["bwrap", "--ro-bind", "/", "/", "true"]),
        Figure("sh -c :", world, ["sh", "-c", ":"]),
        Figure("python3 -I -S -c pass", world, [python, "-I", "-S", "-c", "pass"]),
        *(Figure(f"import {names}", world, [python, "-c", f"import {names}"]) for names in imports),
    ]


def listing(listed: dict[int, World]) -> list[Figure]:
    typer = "import typer"
    return [
        Figure("completion of 100 names", listed[100], [*HQT, "complete-names"], "python3 -I -S -c pass", 3.0),
        *(
            Figure(f"hqt ls, {n} sessions", own, [*HQT, "ls"], typer, 1.6 if n == 100 else None)
            for n, own in listed.items()
        ),
        Figure("hqt attach -d of 100, running", listed[100], [*HQT, "attach", "-d", "s0"], typer, 1.6),
        Figure("hqt peek of 100", listed[100], [*HQT, "peek", "s0"], typer),
    ]


def starting(world: World) -> list[Figure]:
    starts = {}
    for name, options in (("with the network", []), ("without", ["--no-net"])):
        world.hqt("new", "-d", "-H", "generic", "-s", *options, "-n", name, "--", "true")
        starts[name] = json.loads(world.hqt("show", name, "--json"))["argv"]
    world.hqt("new", "-d", "-H", "generic", "-s", "-n", "running", *IDLE)
    slow = "import typer, libtmux, sqlalchemy.orm"
    gone = [*HQT, "rm", "-y", "fresh"]
    harness = Claude(world.base / "home", world.project, {}, str(world.base))
    said = ["sh", "-c", harness._saying("idle")]  # noqa: SLF001  # what its hooks run
    return [
        *(Figure(f"launcher and jail {name}", world, argv, "bwrap … true", 4.0) for name, argv in starts.items()),
        Figure("hqt new -d until its window exists", world, lambda: until_window(world), slow, 1.4, after=gone),
        Figure("hqt new -d until its program writes", world, lambda: until_output(world), slow, after=gone),
        Figure("hqt new -d until it returns", world, [*HQT, *fresh("sleep", "1000")], slow, after=gone),
        Figure(
            "hqt attach -d, stopped", world, [*HQT, "attach", "-d", "running"], slow, after=[*HQT, "stop", "running"]
        ),
        Figure("hqt check", world, [*HQT, "check", "with the network"], slow),
        Figure("status hook", world, said, "sh -c :"),
    ]


def restoring(lost: World) -> Figure:
    again = ["tmux", "-L", lost.name, "kill-server"]
    return Figure("hqt restore of 100", lost, [*HQT, "restore"], rounds=SLOW_ROUNDS, after=again)


def auditing(audited: dict[int, World]) -> list[Figure]:
    return [
        Figure(f"hqt audit, {n} files", own, [*HQT, "audit", "s0"], rounds=SLOW_ROUNDS) for n, own in audited.items()
    ]


def dialog(world: World) -> Figure:
    floor = "import textual.app, textual.widgets"
    return Figure("hqt dialog until it shows what is typed", world, lambda: screens.typed_into(world), floor)


def fresh(*command: str) -> list[str]:
    return ["new", "-d", "-H", "generic", "-s", "-n", "fresh", "--", *command]


def until_window(world: World) -> float:
    """Return how long tmux takes to have the window; hqt itself then still looks whether its command ends at once."""
    world.tmux("set-hook", "-g", "window-linked", "wait-for -S made")
    with waiting(["tmux", "-L", world.name, "wait-for", "made"], world) as made:
        started = time.perf_counter()
        with waiting([*HQT, *fresh("sleep", "1000")], world):
            made.wait()
            took = (time.perf_counter() - started) * 1000
    world.tmux("set-hook", "-gu", "window-linked")
    return took


def until_output(world: World) -> float:
    pipe = world.project / "pipe"
    if not pipe.exists():
        os.mkfifo(pipe)
    started = time.perf_counter()
    with waiting([*HQT, *fresh("sh", "-c", "echo >pipe; sleep 1000")], world):
        pipe.read_bytes()
        return (time.perf_counter() - started) * 1000


def waiting(argv: list[str], world: World) -> subprocess.Popen[bytes]:
    return subprocess.Popen(argv, env=world.environment, cwd=world.project, stdout=subprocess.DEVNULL)


def fill(world: World, files: int) -> None:
    """Make the project one with that many files and a session in it."""
    for number in range(files):
        if number % 1000 == 0:
            folder = world.project / f"d{number // 1000}"
            folder.mkdir()
        (folder / f"f{number}").write_bytes(b"x")
    world.hqt("new", "-d", "-H", "generic", "-s", "-n", "s0", *IDLE)


def measure(wanted: list[Figure]) -> list[dict[str, object]]:
    times: dict[str, list[float]] = {figure.name: [] for figure in wanted}
    memory: dict[str, int] = {}
    for number in range(ROUNDS):
        for figure in wanted:
            if number >= figure.rounds:
                continue
            if callable(figure.what):
                times[figure.name].append(figure.what())
            else:
                milliseconds, memory[figure.name] = timed(figure.what, figure.world)
                times[figure.name].append(milliseconds)
            if figure.after:
                figure.world.run(*figure.after)
    median = {name: statistics.median(found) for name, found in times.items()}
    return [
        {
            "name": figure.name,
            "median_ms": round(median[figure.name], 1),
            "spread_ms": [round(q, 1) for q in statistics.quantiles(times[figure.name], n=4)[::2]],
            "floor": figure.floor,
            "ratio": round(median[figure.name] / median[figure.floor], 2) if figure.floor else None,
            "budget": figure.budget,
            "memory_mib": round(memory[figure.name] / 1024) if figure.name in memory else None,
        }
        for figure in wanted
    ]


def timed(argv: list[str], world: World) -> tuple[float, int]:
    """Run a command; return its milliseconds and the most KiB that it, or a child that it waited for, held."""
    started = time.perf_counter()
    process = subprocess.Popen(
        argv, env=world.environment, cwd=world.project, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr
    errors = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{argv} ended with {process.returncode}: {errors.decode()}")
    return (time.perf_counter() - started) * 1000, used.ru_maxrss


def grown(found: list[dict[str, object]], name: str, counts: tuple[int, ...]) -> dict[str, object]:
    """Return the exponent of the growth: 0 is flat, 1 is linear."""
    medians = {row["name"]: float(str(row["median_ms"])) for row in found}
    logs = [(math.log(count), math.log(medians[name.format(count)])) for count in counts]
    slope = statistics.linear_regression(*zip(*logs, strict=True)).slope
    growth = medians[name.format(counts[-1])] / medians[name.format(counts[0])]
    return {"name": name.format(f"{counts[0]} to {counts[-1]}"), "exponent": round(slope, 2), "ratio": round(growth, 2)}


def show(found: list[dict[str, object]]) -> None:
    (Path(__file__).parent / "result.json").write_text(json.dumps(found, indent=2) + "\n")
    print(f"{'':42} {'ms':>8}  {'quartiles':>16}  {'ratio':>6} {'budget':>6} {'MiB':>5}")
    for row in found:
        if "median_ms" not in row:
            told = ", ".join(f"{key} {value}" for key, value in row.items() if key != "name")
            print(f"{row['name']:42} {told}")
            continue
        low, high = row["spread_ms"]  # type: ignore[misc]
        cells = (f"{row[key] or '':>{width}}" for key, width in (("ratio", 6), ("budget", 6), ("memory_mib", 5)))
        print(f"{row['name']:42} {row['median_ms']:8.1f}  {low:7.1f} {high:8.1f}  {' '.join(cells)}  {row['floor']}")


if __name__ == "__main__":
    main()

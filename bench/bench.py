"""Measure hqt against its floors, interleaved in one run: `make bench` prints a table and writes bench/result.json.

Figures are medians, and ratios to a floor that was measured in the same run; the budgets are those of the design.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from world import private_world

ROUNDS = 15
HQT = [sys.executable, "-m", "hqt"]


@dataclass(frozen=True)
class Figure:
    """One thing to measure: a command, the floor it is held against, and the budget as a ratio to that."""

    name: str
    command: list[str]
    floor: str = ""
    budget: float | None = None
    after: list[str] | None = None
    """Run after each round, unmeasured, to put things back."""


def main() -> None:
    with private_world("bench"):
        show(measure(figures()))


def figures() -> list[Figure]:
    python = sys.executable
    new = [*HQT, "new", "-d", "-H", "generic", "-s"]
    starts = {}
    for name, options in (("with the network", []), ("without", ["--no-net"])):
        subprocess.run([*new, *options, "-n", name, "--", "true"], check=True, capture_output=True)
        shown = subprocess.run([*HQT, "show", name, "--json"], check=True, capture_output=True, text=True).stdout
        starts[name] = json.loads(shown)["argv"]
    subprocess.run([*new, "-n", "running", "--", "sleep", "100000"], check=True, capture_output=True)
    return [
        Figure("bwrap … true", ["bwrap", "--ro-bind", "/", "/", "true"]),
        Figure("python3 -I -S -c pass", [python, "-I", "-S", "-c", "pass"]),
        Figure("import typer", [python, "-c", "import typer"]),
        Figure("import typer, libtmux, sqlalchemy.orm", [python, "-c", "import typer, libtmux, sqlalchemy.orm"]),
        *(Figure(f"launcher and jail {name}", argv, "bwrap … true", 4.0) for name, argv in starts.items()),
        Figure("hqt ls, 3 sessions", [*HQT, "ls"], "import typer", 1.6),
        Figure("hqt attach -d, running", [*HQT, "attach", "running", "-d"], "import typer"),
        Figure(
            "hqt new -d, until it is told",
            [*new, "-n", "fresh", "--", "sleep", "1000"],
            "import typer, libtmux, sqlalchemy.orm",
            after=[*HQT, "rm", "fresh"],
        ),
        Figure("hqt check", [*HQT, "check", "running"], "import typer"),
        Figure("hqt audit", [*HQT, "audit", "running"], "import typer"),
    ]


def measure(wanted: list[Figure]) -> list[dict[str, object]]:
    times: dict[str, list[float]] = {figure.name: [] for figure in wanted}
    for _ in range(ROUNDS):
        for figure in wanted:
            started = time.perf_counter()
            subprocess.run(figure.command, check=True, capture_output=True)
            times[figure.name].append((time.perf_counter() - started) * 1000)
            if figure.after:
                subprocess.run(figure.after, check=True, capture_output=True)
    median = {name: statistics.median(found) for name, found in times.items()}
    return [
        {
            "name": figure.name,
            "median_ms": round(median[figure.name], 1),
            "spread_ms": [round(q, 1) for q in statistics.quantiles(times[figure.name], n=4)[::2]],
            "floor": figure.floor,
            "ratio": round(median[figure.name] / median[figure.floor], 2) if figure.floor else None,
            "budget": figure.budget,
        }
        for figure in wanted
    ]


def show(found: list[dict[str, object]]) -> None:
    (Path(__file__).parent / "result.json").write_text(json.dumps(found, indent=2) + "\n")
    print(f"{'':40} {'ms':>8}  {'quartiles':>16}  {'ratio':>6} {'budget':>6}")
    for row in found:
        low, high = row["spread_ms"]  # type: ignore[misc]
        ratio = f"{row['ratio']:6.2f}" if row["ratio"] else " " * 6
        budget = f"{row['budget']:6.1f}" if row["budget"] else " " * 6
        print(f"{row['name']:40} {row['median_ms']:8.1f}  {low:7.1f} {high:8.1f}  {ratio} {budget}  {row['floor']}")


if __name__ == "__main__":
    main()

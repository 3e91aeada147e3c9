"""What each command may import: speed is kept by this, not by timing. A listed package is one that is not Python's own.

The budgets that these lists serve are measured by `make bench`.
"""

from __future__ import annotations

import sys

import pytest

TYPER = {"typer", "annotated_doc", "shellingham", "rich"}
"""What `import typer` brings; of rich, its column widths are used besides."""
LIGHT = TYPER | {"platformdirs"}
COMMANDS = [
    ("complete-names", set()),
    ("--version", TYPER),
    ("--help", LIGHT),
    ("ls", LIGHT),
    ("ls --json", LIGHT),
    ("attach -d runs", LIGHT),
    ("peek runs", LIGHT),
    ("send runs hello", LIGHT | {"inotify_simple"}),
    ("wait runs --for idle", LIGHT | {"inotify_simple"}),
    ("config", LIGHT),
]


@pytest.mark.parametrize(("command", "allowed"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_imports_no_package_that_it_does_not_need(own_world, command, allowed):
    own_world.sh("read line; exec sleep 1000", "-n", "runs")
    tops = {module.partition(".")[0] for module in imported(own_world, command)}
    assert {top for top in tops if top not in sys.stdlib_module_names} - {
        "hqt",
        "org",
    } <= allowed  # copy looks for Jython's org.python


def test_completion_imports_little_of_pythons_own_library(own_world):
    own_world.sh("exec sleep 1000")
    slow = {"typing", "pathlib", "re", "datetime", "subprocess", "json", "dataclasses"}
    assert not imported(own_world, "complete-names") & slow


def imported(world, command):
    """Return every module that a run of hqt imports, and Python's start without it does not."""
    python, *hqt = world.program
    bare, run = (
        {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines() if line.startswith("import time:")}
        for ended in (
            world.run(python, "-X", "importtime", "-c", "pass"),
            world.run(python, "-X", "importtime", *hqt, *command.split()),
        )
    )
    assert bare - {"linecache"} < run  # Python 3.13 keeps the source of a -c
    return run - bare

"""The README's commands, exactly as they are written, in a terminal of a newcomer's."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.terminal import Terminal
from tests.world import HARNESS, PLAIN_UID, eventually

ROOT = Path(__file__).parent.parent
NOT_OF_A_CHECKOUT = shutil.ignore_patterns(".*", "__pycache__", "site", "dist", "result.json")

# What is on the screen after each; "shows a window" is left by the keys that tmux has for it.
EVERY_DAY = {
    "hqt new -s -n api": ("Ask me", True),
    "hqt new -s --ro --no-net -H generic -- make test": ("| tested", False),
    "hqt new -s --hide .env --hide secrets/": ("Ask me", True),
    "hqt ls": ("api-generic", False),
    "hqt attach api": ("Ask me", True),
    "hqt send api 'now the tests' --wait": ("api is done", False),
    "hqt show api": ("next attach", False),
    "hqt check api": ("held", False),
    "hqt audit api": ("nothing", False),
    "hqt stop api": ("stopped api", False),
    "hqt restore": ("should be running", False),
    "hqt doctor": ("bubblewrap", False),
}


def commands(heading):
    """The indented lines below a heading, without what follows their `#`."""
    section = re.split(r"^## ", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    (text,) = (part for part in section if part.startswith(f"{heading}\n"))
    return [line.split("  #")[0].strip() for line in text.splitlines() if line.startswith("    ")]


@pytest.mark.parametrize("account", [PLAIN_UID if os.getuid() == 0 else os.getuid()])
def test_the_first_command_installs_hqt_and_shows_what_a_jail_sees(world):
    demo, test = commands("Start")
    assert test == "make test"
    checkout = world.home / "hqt"
    shutil.copytree(ROOT, checkout, ignore=NOT_OF_A_CHECKOUT)
    del world.environment["PYTHONPATH"]
    world.environment["TMPDIR"] = str(world.home)  # where the demonstration leaves its project
    world.give_away()
    ended = world.run("sh", "-c", demo, cwd=checkout)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "A shell follows" in ended.stdout
    assert "hqt attach demo-generic" in ended.stdout


def test_the_commands_of_every_day_do_what_they_say(world):
    lines = commands("Every day")
    assert lines == list(EVERY_DAY)
    world.put_on_path()
    world.fake("claude", 'TURN_S=0.2 exec /usr/bin/python3 harness.py "$@"')
    api = world.home / "api"
    api.mkdir()
    shutil.copy(HARNESS, api)
    (api / "Makefile").write_text("test:\n\t@echo tested\n")
    world.give_away()
    terminal = Terminal(world, "env", "-u", "TMUX", "-C", str(api), "sh", size=(150, 50))
    try:
        for line in lines:
            expected, shows_a_window = EVERY_DAY[line]
            terminal.type("clear")
            terminal.shows_not(expected)
            terminal.type(line)
            terminal.shows(expected)
            if shows_a_window:
                terminal.press("C-b", "d")
                terminal.shows("[detached")
            eventually(lambda: terminal.screen().rstrip().endswith(("#", "$")), terminal.screen)
    finally:
        terminal.end()

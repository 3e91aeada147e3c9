"""Completion in real shells, typed into a real terminal; and the files in step with the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.terminal import Terminal
from tests.world import eventually

REPOSITORY = Path(__file__).parent.parent
FILES = {"bash": "hqt.bash", "zsh": "_hqt", "fish": "hqt.fish"}
SHELLS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
HOSTILE = [
    "two words",
    "a:b=c@d",
    """it's a "quote" """.strip(),
    "$(touch owned)",
    "semi;touch owned",
    "back\\slash `touch owned`",
    "~ünï* {a,b}",
    "#{pane_id} #(touch owned)",
    "-".join("long" * 6),
]


@pytest.fixture(params=SHELLS)
def shell(request, own_world):
    """An interactive shell that has hqt on its PATH and its completions."""
    name = request.param
    own_world.put_on_path()
    terminal = Terminal(own_world, "env", "-u", "TMUX", "-u", "TMUX_PANE", *SHELLS[name], size=(100, 30))
    source = f"source {REPOSITORY / 'completions' / FILES[name]}"
    terminal.type(f"autoload -U compinit; compinit -u -D; {source}" if name == "zsh" else source)
    terminal.type("PS1='> '" if name != "fish" else "function fish_prompt; echo '> '; end")
    terminal.type("clear")
    eventually(lambda: terminal.screen().strip() == ">", terminal.screen())
    yield terminal
    terminal.end()


def completes(shell, typed, completed):
    """Type without Enter, press Tab, and wait for what the line becomes."""
    shell.keys(typed)
    shell.shows(typed)
    shell.press("Tab")
    shell.shows(completed)
    shell.press("C-c")
    shell.type("clear")


def test_the_files_are_in_step_with_the_command_line():
    script = REPOSITORY / "scripts/completions.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_commands_options_values_and_folders_complete(shell):
    completes(shell, "hqt att", "> hqt attach\n")
    completes(shell, "hqt new --mem", "hqt new --memory")
    completes(shell, "hqt new -H cod", "hqt new -H codex")
    (shell.world.project / "sub-folder").mkdir()
    completes(shell, "hqt new -s sub", "hqt new -s sub-folder/")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_sessions_name_is_completed_so_that_the_shell_gives_it_back_unchanged(shell, name):
    shell.world.sh("echo found it; exec sleep 1000", "-n", name)
    shell.world.sh("exec sleep 1000", "-n", "other")
    beginning = name.split(" ")[0].split(";")[0].split("(")[0]
    quoted = {"~ünï*": "\\~ünï", "$": "\\$", "it's": "it\\'", "#{pane_id}": "\\#", "back\\slash": "back"}
    shell.keys(f"hqt peek {quoted.get(beginning, beginning)}")
    shell.press("Tab")
    shell.press("Enter")
    shell.shows("found it")
    assert not (shell.world.project / "owned").exists()


def test_several_sessions_are_listed_with_what_they_do(shell):
    shell.world.sh("exec sleep 1000", "-n", "api-one")
    name = shell.world.sh("exec sleep 1000", "-n", "api-two")
    shell.world.hqt("stop", name)
    shell.keys("hqt stop ap")
    shell.press("Tab")
    shell.shows("hqt stop api-")
    shell.press("Tab", "Tab")
    shell.shows("api-two")
    if "zsh" in shell.command or "fish" in shell.command:
        shell.shows("generic, running")
        shell.shows("generic, stopped")


def test_options_before_the_command_and_options_with_values_are_passed_over(shell):
    shell.world.sh("exec sleep 1000", "-n", "only-one")
    completes(shell, "hqt -L other peek --lines 5 on", "--lines 5 only-one")


def test_complete_names_says_what_ls_says(own_world):
    own_world.sh("exec sleep 1000", "-n", "runs")
    own_world.ends(own_world.sh("exit 3", "-n", "ended"))
    own_world.hqt("stop", own_world.sh("exec sleep 1000", "-n", "rests"))
    expected = [f"{found['name']}\t{found['harness']}, {found['state']}" for found in own_world.ls()]
    assert own_world.run(*own_world.program, "complete-names").stdout.splitlines() == expected


def test_without_a_database_nothing_is_offered_and_none_is_made(own_world):
    ended = own_world.run(*own_world.program, "complete-names")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert not own_world.database.exists()


def test_a_broken_database_offers_nothing_and_says_nothing(own_world):
    own_world.sh("exec sleep 1000")
    own_world.database.write_bytes(b"not a database" * 1000)
    ended = own_world.run(*own_world.program, "complete-names")
    assert (ended.stdout, ended.stderr) == ("", "")

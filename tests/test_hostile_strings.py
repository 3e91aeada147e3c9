"""Names, folders and prompts that are hard for shells, tmux and terminals: real windows, and nothing planted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hqt.errors import UsageError
from hqt.services import names
from hqt.text import visible
from tests.world import eventually

HARD = [
    "a b  c",
    'it\'s "quoted" `id`',
    "#(touch planted)",
    "#{pane_id}#[fg=red]##",
    "$(touch planted) $HOME ${PATH}",
    "~",
    "~root",
    "%if 1 %d %H",
    "; touch planted; kill-server",
    "back\\slash \\n",
    "[bold]markup[/bold]",
    "🦀 emoji é combining",
    "‏right-to-left‏ עברית",
    "{a,b}*?[c]",
    "ends with;",
]


@pytest.mark.parametrize("text", HARD)
def test_a_hard_name_folder_and_prompt_are_only_text(own_world, text):
    project = own_world.home / f"folder {text}\nsecond line"
    project.mkdir(parents=True)
    name = own_world.new(
        project,
        "-s",
        "-H",
        "generic",
        "-n",
        text,
        "-p",
        text,
        "--",
        "sh",
        "-c",
        'pwd; printf "%s|" "$@"; sleep 99',
        "sh",
    )
    assert name == text
    (session,) = own_world.ls()
    assert (session["name"], session["project"], session["state"]) == (text, str(project), "running")
    assert own_world.show(text)["argv"][-1] == text
    screen = eventually(lambda: found if "|" in (found := own_world.hqt("peek", text).stdout) else None)
    shown = visible(text.lstrip("\u200f"))  # tmux itself drops what has no width at the start of a line
    assert f"{shown}|" in screen
    assert "\x1b" not in own_world.hqt("ls").stdout
    own_world.hqt("stop", text)
    own_world.hqt("attach", text, "-d")
    own_world.hqt("rm", text)
    assert not list(own_world.base.rglob("planted"))


def test_a_prompt_of_a_hundred_thousand_bytes_arrives_whole(own_world):
    prompt = "0123456789" * 10_000
    (own_world.home / "prompt").write_text(prompt)
    own_world.new(
        "-s", "-H", "generic", "--prompt-file", own_world.home / "prompt", "--", "sh", "-c", "printf %s $0 > got"
    )
    eventually(lambda: (own_world.project / "got").exists() and (own_world.project / "got").stat().st_size == 100_000)
    assert (own_world.project / "got").read_text() == prompt


def test_a_prompt_that_no_argument_can_hold_is_a_usage_error(own_world):
    ended = own_world.hqt("new", "-d", "-H", "generic", "--prompt-file", "-", "--", "cat", fails=2, input="x" * 140_000)
    assert "at most" in ended.stderr
    assert own_world.ls() == []


@given(st.text())
def test_what_is_shown_acts_on_no_terminal_and_stays_on_one_line(text):
    assert visible(text).isprintable() or set(visible(text)) & set("\u200c\u200d\u3000\xa0") or " " in visible(text)
    assert not set(visible(text)) & {"\x1b", "\n", "\r", "\x9b", "\u202e", "\u2028"}


@given(st.text())
def test_a_name_is_one_line_of_text_or_an_error(name):
    try:
        assert names.checked(name) == name
    except UsageError:
        return
    assert len(name.splitlines()) == 1


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1))
def test_the_default_name_of_any_folder_is_a_name(folder):
    from pathlib import Path

    chosen = names.defaults(Path("/work") / folder, "claude")
    first, second = next(chosen), next(chosen)
    assert names.checked(first) == first
    assert second == f"{first}-2"
    assert not set(first) & set(" #$'\"()[]{}\\;`~")

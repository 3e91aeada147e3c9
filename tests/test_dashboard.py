"""The dashboard by textual's pilot, over real sessions in a real tmux; and the list that sessions are picked from."""

from __future__ import annotations

import os
import signal

import pytest
from textual.widgets import DataTable, Input

from hqt.services import listing
from hqt.tmux import Server
from hqt.tui.dash import DashApp
from hqt.tui.picker import PickerApp
from hqt.tui.screens.dashboard import DashboardScreen
from tests.screens import Late, piloted, shows, shows_not, until
from tests.terminal import Terminal
from tests.world import eventually


@pytest.fixture
def board(own_world, monkeypatch):
    """Drive a dashboard over the world's sessions: keys, or functions of the pilot."""
    for name in set(os.environ) - {"PYTEST_CURRENT_TEST"}:
        monkeypatch.delenv(name)
    for name, value in own_world.environment.items():
        monkeypatch.setenv(name, value)

    def drive(*steps, size=(100, 30)):
        app = DashApp(own_world.project)

        async def run(pilot):
            for step in steps:
                if callable(step):
                    await step(pilot)
                else:
                    await pilot.press(step)

        return piloted(app, run, size)

    return drive


def test_it_lists_what_there_is_and_shows_the_chosen_ones_screen(own_world, board):
    own_world.sh("printf '\\033[31mfirst screen\\033[0m'; exec sleep 1000", "-n", "one", "-s", "--no-net")
    own_world.sh("echo second screen; exec sleep 1000", "-n", "two")
    board(shows("one", "rw, no net", "two", "~/project", "first screen"), "j", shows("second screen"))


@pytest.mark.parametrize(("owner", "name"), [(listing, "all_views"), (Server, "coloured_screen")])
def test_what_is_read_while_it_is_left_is_no_fault(own_world, board, monkeypatch, owner, name):
    own_world.sh("while :; do echo more; sleep 0.2; done", "-n", "one")
    late = Late(monkeypatch, DashboardScreen, owner, name)
    board(shows("one", "more"), late.arm, late.is_called)


def test_it_sees_changes_that_others_make(own_world, board):
    own_world.sh("exec sleep 1000", "-n", "before")

    async def change(pilot):
        own_world.sh("exec sleep 1000", "-n", "new-one")
        own_world.hqt("stop", "before")

    board(shows("before"), change, shows("new-one", "stopped"))


def test_the_colours_of_a_screen_are_kept_and_nothing_else_acts(own_world, board):
    script = r"printf '\033[31mred\033[0m \033]8;;file:///x\033\\link\033]8;;\033\\ [bold]raw[/]'; exec sleep 1000"
    own_world.sh(script, "-n", "one")

    async def is_red(pilot):
        strips = pilot.app.screen._compositor.render_strips()
        styles = {segment.text.strip(): segment.style for strip in strips for segment in strip}
        assert styles["red"].color.name != styles["link [bold]raw[/]"].color.name
        assert styles["link [bold]raw[/]"].link is None

    board(shows("red link [bold]raw[/]"), is_red)


def test_typing_filters_and_escape_shows_all_again(own_world, board):
    for name in ("api", "web", "api-two"):
        own_world.sh("exec sleep 1000", "-n", name)
    board(
        shows("api", "web"), "slash", *"api two", shows_not("web"), shows("api-two"),
        "enter", "escape", shows("web"), "slash", *"nothing", shows("No session fits"),
    )  # fmt: skip


def test_stop_asks_first_and_remove_forgets(own_world, board):
    own_world.sh("exec sleep 1000", "-n", "one")
    board(shows("one"), "s", shows("Stop one?"), "n", shows_not("Stop one?"))
    assert own_world.state("one") == "running"
    board(shows("one"), "s", shows("Stop one?"), "y", shows("stopped one"))
    assert own_world.state("one") == "stopped"
    board(shows("one"), "x", shows("Remove one?"), "y", shows("No sessions yet"))
    assert own_world.ls() == []


def test_restart_starts_what_was_stopped_and_what_runs(own_world, board):
    own_world.sh("exec sleep 1000", "-n", "one", "-s")
    _, _, before = own_world.start_command("one").partition(" --exec=")  # a checkout may be run from a readable copy
    pid = own_world.tmux("list-panes", "-a", "-F", "#{pane_pid}")
    board(shows("one"), "r", shows("Restart one?"), "y", shows("restarted one"))
    assert own_world.tmux("list-panes", "-a", "-F", "#{pane_pid}") != pid
    assert own_world.start_command("one").endswith(f" --exec={before}")


def test_a_new_name_is_typed_over_the_old_one_and_a_bad_one_is_told(own_world, board):
    own_world.sh("exec sleep 1000", "-n", "one")
    own_world.sh("exec sleep 1000", "-n", "taken")
    board(shows("one"), "e", shows("Its new name"), *"-two", "enter", shows("one-two"))
    board(shows("one"), "e", *["backspace"] * 7, *"taken", "enter", shows("there is a session named 'taken'"))


def test_a_prompt_is_typed_into_a_session(own_world, board):
    own_world.sh("exec cat", "-n", "one")
    board(shows("one"), "m", shows("A prompt for one"), *"hello cat", "enter", shows("one was given the prompt"))
    eventually(lambda: own_world.hqt("peek", "one").stdout.count("hello cat") == 2)


def test_check_and_audit_are_shown_as_pages(own_world, board):
    own_world.sh("mkdir -p .vscode; echo '{}' >.vscode/tasks.json; echo made; exec sleep 1000", "-n", "one", "-s")
    eventually(lambda: "made" in own_world.hqt("peek", "one").stdout)
    board(
        shows("one"), "c", shows("THE JAIL", "held"), "escape", shows_not("THE JAIL"),
        "a", shows("new", ".vscode/tasks.json"), "escape", shows_not("tasks.json"),
    )  # fmt: skip


def test_enter_ends_with_the_session_to_attach_to(own_world, board):
    own_world.sh("exec sleep 1000", "-n", "one")
    own_world.sh("exec sleep 1000", "-n", "two")
    assert board(shows("two"), "j", "enter").row.name == "two"
    assert board(shows("two"), "q") is None


def test_the_next_waiting_session_is_gone_to(own_world, board):
    for name in ("one", "two", "three"):
        own_world.sh("exec sleep 1000", "-n", name)
    status = own_world.home / ".local/state/hqt/sessions" / own_world.show("three")["id"] / "run/status"
    status.write_text("waiting\n")
    assert board(shows("waiting"), "w", "enter").row.name == "three"


def test_the_keys_are_explained(own_world, board):
    board(shows("No sessions yet"), "question_mark", shows("its policy and its conversation stay"))


def test_a_server_that_does_not_answer_is_told_once_and_recovered_from(own_world, board, monkeypatch):
    monkeypatch.setattr("hqt.tmux._TIMEOUT_S", 1)
    own_world.sh("exec sleep 1000", "-n", "one")
    pid = int(own_world.tmux("display-message", "-p", "#{pid}"))

    def send(number):
        async def step(_):
            os.kill(pid, number)

        return step

    async def comes_back(pilot):
        own_world.hqt("rename", "one", "renamed")
        await shows("renamed")(pilot)

    try:
        board(shows("one"), send(signal.SIGSTOP), shows("tmux does not answer"), send(signal.SIGCONT), comes_back)
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("size", [(80, 24), (200, 50), (40, 10)])
def test_it_fits_its_terminal(own_world, board, size):
    own_world.sh("echo a screen; exec sleep 1000", "-n", "one")
    board(shows("one", "a screen", "Attach"), size=size)


def test_many_sessions_scroll_and_keep_their_place_as_others_go(own_world, board, monkeypatch):
    own_world.sh("exec sleep 1000", "-n", "template")
    template = _views(own_world)[0]
    many = [_renamed(template, number) for number in range(300)]
    monkeypatch.setattr(listing, "all_views", lambda: list(many))

    async def shrink(pilot):
        del many[:100]
        table = pilot.app.screen.query_one(DataTable)
        await until(pilot, lambda: table.row_count == 200)
        assert pilot.app.screen._selected.row.name == "s-150"

    board(shows("s-000"), *["pagedown"] * 3, *["j"] * 3, _moves_to(150), shrink)


def test_the_picker_ends_with_what_was_typed_for(own_world, board):
    for name in ("api", "[red]web[/]"):
        own_world.sh("exec sleep 1000", "-n", name)

    async def pick(pilot):
        await shows("[red]web[/]")(pilot)
        await pilot.press(*"we", "enter")

    assert piloted(PickerApp(_views(own_world)), pick).row.name == "[red]web[/]"

    async def leave(pilot):
        pilot.app.query_one(Input).value = "nothing of the kind"
        await pilot.press("enter", "escape")

    assert piloted(PickerApp(_views(own_world)), leave) is None


def _moves_to(place):
    async def step(pilot):
        pilot.app.screen.query_one(DataTable).move_cursor(row=place)
        await pilot.pause()

    return step


def _views(world):
    os.environ |= world.environment
    return listing.all_views()


def _renamed(view, number):
    from dataclasses import replace

    return replace(view, row=replace(view.row, id=f"{number:016x}", name=f"s-{number:03}"))


def test_two_dashboards_see_what_is_done_in_the_other(own_world):
    own_world.sh("exec sleep 1000", "-n", "one")
    first, second = (Terminal(own_world, *own_world.program, "dash") for _ in range(2))
    try:
        for terminal in (first, second):
            terminal.shows("one")
        first.press("s")
        first.shows("Stop one?")
        first.press("y")
        second.shows("stopped")
        second.press("r")  # nothing is lost by starting what is stopped: it is not asked
        first.shows_not("stopped")
        second.shows_not("stopped")
        second.press("x")
        second.shows("Remove one?")
        second.press("y")
        first.shows("No sessions yet")
    finally:
        first.end()
        second.end()

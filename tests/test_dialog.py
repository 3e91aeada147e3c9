"""The New Session dialog by textual's pilot: what it shows, what it asks for, what it keeps."""

from __future__ import annotations

import pytest
from textual.widgets import Input, OptionList, Select, Switch

from hqt.errors import ServiceError
from hqt.sandbox import SandboxPolicy
from hqt.services import projects
from hqt.tui import dialog as program
from hqt.tui.dialog import DialogApp
from hqt.tui.screens.new_session import NewSessionScreen, Offer
from tests.screens import Late, piloted, shows, shows_not, text_of, until

HARNESSES = [("claude", True), ("generic", True), ("codex", False)]


class Dialog:
    """A dialog whose `create` only remembers what it was asked for."""

    def __init__(self, monkeypatch, project, *, error=None, **offer):
        self.asked = []
        self.error = error
        monkeypatch.setattr("hqt.tui.dialog.create", self._create)
        self.app = DialogApp(Offer(project, HARNESSES, "claude", **offer))

    def _create(self, options):
        self.asked.append(options)
        if self.error:
            raise self.error
        return "started"

    def drive(self, *steps, size=(80, 24)):
        """Press keys, or run a function on the screen, in order; return what the app ended with."""

        async def drive(pilot):
            for step in steps:
                if callable(step):
                    done = step(pilot)
                    if hasattr(done, "__await__"):
                        await done
                else:
                    await pilot.press(step)
                await pilot.pause()

        return piloted(self.app, drive, size)


@pytest.fixture
def dialog(monkeypatch, tmp_path):
    return lambda **options: Dialog(monkeypatch, tmp_path, **options)


def sets(selector, value, kind=Input):
    def step(pilot):
        pilot.app.screen.query_one(selector, kind).value = value

    return step


def test_the_sandbox_is_off_until_it_is_asked_for(dialog):
    made = dialog()
    assert made.drive(shows("It can do all that you can"), shows_not("Network", "Files"), "ctrl+s") == "started"
    assert made.asked[0].sandbox is False


def test_a_sandbox_that_the_configuration_asks_for_is_on_and_stays_so_where_there_can_be_none(dialog):
    made = dialog(sandboxed=True)
    made.drive(shows("can read and write the project"), "ctrl+s")
    assert made.asked[0].sandbox is True
    made = dialog(sandboxed=True, unavailable="bwrap is missing")
    made.drive(shows("asked for: bwrap is missing"), "ctrl+s")
    assert made.asked[0].sandbox is True


def test_what_a_policy_means_is_said_as_it_changes(dialog):
    made = dialog()
    made.drive(
        sets("#sandboxed", True, Switch),
        shows("can read and write the project, can use the network", "Files", "Network"),
        sets("#fs", "ro", Select),
        shows("can read the project and change nothing"),
        sets("#network", False, Switch),
        shows("has no network (a hosted model"),
        sets("#sandboxed", False, Switch),
        shows("It can do all that you can"),
    )


@pytest.mark.parametrize("fs", ["rw", "ro"])
@pytest.mark.parametrize("net", [True, False])
def test_the_result_carries_the_policy(dialog, fs, net):
    made, policies = dialog(), []
    made.drive(
        sets("#sandboxed", True, Switch),
        sets("#fs", fs, Select),
        sets("#network", net, Switch),
        lambda pilot: policies.append(pilot.app.screen.policy()),
        "ctrl+s",
    )
    asked = made.asked[0]
    assert policies == [SandboxPolicy(fs, net)]
    assert (asked.sandbox, asked.read_only, asked.net) == (True, fs == "ro", net)


def test_everything_is_filled_in_by_keys_alone(dialog, tmp_path):
    made = dialog()
    keys = ["tab", "tab", *"my name", "tab", "space", "tab", "tab", "space", "tab", "tab", *"do it", "enter"]
    assert made.drive(*keys) == "started"
    asked = made.asked[0]
    assert (asked.project, asked.name, asked.prompt) == (tmp_path, "my name", "do it")
    assert (asked.sandbox, asked.read_only, asked.net) == (True, False, False)


def test_a_click_switches_the_sandbox_on(dialog):
    made = dialog()
    made.drive(lambda pilot: pilot.click("#sandboxed"), shows("Network"), "ctrl+s")
    assert made.asked[0].sandbox is True


def test_escape_leaves_without_a_session(dialog):
    made = dialog()
    assert made.drive("escape") is None
    assert made.asked == []


def test_without_bubblewrap_the_switch_is_disabled_and_says_why(dialog):
    made = dialog(unavailable="bubblewrap [bold]is not[/] here")
    made.drive(
        shows("off: bubblewrap [bold]is not[/] here", "run `hqt doctor`"),
        lambda pilot: pilot.click("#sandboxed"),
        "ctrl+s",
    )
    assert made.asked[0].sandbox is False


def test_an_error_is_shown_and_what_was_typed_is_kept(dialog):
    made = dialog(error=ServiceError("there is a session named '[red]x' already", "choose [bold]another[/]"))
    made.drive(
        sets("#name", "taken"), sets("#prompt", "a prompt"), "ctrl+s",
        shows("session named '[red]x' already", "choose [bold]another[/]", "taken", "a prompt"),
        lambda _: setattr(made, "error", None), "ctrl+s",
    )  # fmt: skip
    assert made.app.return_value == "started"
    assert [asked.name for asked in made.asked] == ["taken", "taken"]


def test_folders_that_are_found_as_it_is_left_are_no_fault(dialog, monkeypatch):
    late = Late(monkeypatch, NewSessionScreen, projects, "offered")
    dialog().drive(late.arm, sets("#project", "/"), late.is_called)


@pytest.mark.parametrize("error", [None, ServiceError("there is a session named 'taken'")])
def test_a_session_that_is_made_as_it_is_left_is_no_fault(dialog, monkeypatch, error):
    made = dialog(error=error)
    late = Late(monkeypatch, NewSessionScreen, program, "create")
    made.drive(late.arm, "ctrl+s", late.is_called)


def test_recent_projects_and_repositories_below_are_offered_and_taken(dialog, tmp_path):
    (tmp_path / "deep/tool/.git").mkdir(parents=True)
    (tmp_path / "[red]plain[/]").mkdir(parents=True)
    made = dialog(recent=[tmp_path / "[red]plain[/]"])
    made.drive(
        shows("[red]plain[/]"),
        sets("#project", f"{tmp_path}/"),
        lambda pilot: until(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count == 3),
        "down", "enter", "ctrl+s",
    )  # fmt: skip
    assert made.asked[0].project == tmp_path / "deep/tool"


def test_a_path_is_completed_by_its_suggestion(dialog, tmp_path):
    (tmp_path / "some-project").mkdir()
    made = dialog()
    made.drive(
        *(sets("#project", f"{tmp_path}/some"), "end", "-"),
        lambda pilot: until(pilot, lambda: pilot.app.screen.query_one("#project")._suggestion != ""),
        *("right", "ctrl+s"),
    )
    assert made.asked[0].project == tmp_path / "some-project"


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
def test_all_fields_are_on_the_screen(dialog, size):
    made = dialog()
    seen = []
    made.drive(
        sets("#sandboxed", True, Switch),
        lambda pilot: seen.append(text_of(pilot.app)),
        size=size,
    )
    for label in (
        "Project",
        "Harness",
        "Name",
        "Sandboxed",
        "Files",
        "Network",
        "Prompt",
        "Create",
        "sees nothing else",
    ):
        assert label in seen[0]


def test_in_a_small_terminal_the_focused_field_is_brought_into_view(dialog):
    made = dialog()
    made.drive(*["tab"] * 4, "x", shows("Prompt", "x"), size=(40, 10))


def test_a_huge_folder_is_read_in_part(tmp_path, monkeypatch):
    monkeypatch.setattr(projects, "_MOST_ENTRIES", 10)
    for number in range(30):
        (tmp_path / f"folder-{number}").mkdir()
    assert 0 < len(projects.completions(f"{tmp_path}/")) <= 10


@pytest.mark.parametrize("typed", ["~nobody-of-that-name/", "/proc/1/fd/", "\0", "relative/../..", "~", "/" * 50])
def test_whatever_is_typed_as_a_path_offers_what_there_is_and_never_fails(typed):
    assert isinstance(projects.completions(typed), list)
    assert isinstance(projects.repositories_below(projects.expanded(typed)), list)

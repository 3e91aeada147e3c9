"""The New Session dialog: what to run, where, and what it may do, said in plain words as it changes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.suggester import Suggester
from textual.widgets import Footer, Input, Label, OptionList, Select, Static, Switch
from textual.widgets.option_list import Option

from hqt.errors import HqtError
from hqt.sandbox import SandboxPolicy
from hqt.services import projects
from hqt.services.requests import Options
from hqt.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.events import DescendantFocus, Key

    from hqt.services.sessions import Started

_UNSANDBOXED = "It can do all that you can: read and change every file of yours, and use your keys."
_MOST_CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Offer:
    """What the dialog starts from."""

    project: Path
    harnesses: list[tuple[str, bool]]
    """Each harness's name, and whether it is installed."""
    chosen: str
    """The harness that is taken unless another is chosen."""
    recent: list[Path] = field(default_factory=list)
    unavailable: str = ""
    """Why there can be no sandbox here, or nothing."""
    sandboxed: bool = False
    hide: tuple[str, ...] = ()
    """Whether the configuration asks for a sandbox; where there can be none, the session is then not made."""


class _Folders(Suggester):
    """Suggests the rest of a folder's path."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """Return the first folder that begins so."""
        found = await asyncio.to_thread(projects.completions, value) if value else []
        return next((path for path in found if visible(path) == path), None)


class NewSessionScreen(Screen["Started | None"]):
    """Asks for a new session, makes it, and returns it; None when it was left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("ctrl+s", "create", "Create"),
        ("escape", "leave", "Leave"),
    ]
    CSS_PATH = "new_session.tcss"
    AUTO_FOCUS = "#project"

    def __init__(self, offer: Offer, create: Callable[[Options], Started]) -> None:
        super().__init__()
        self._offer = offer
        self._create = create
        self._candidates: list[str] = []

    def compose(self) -> ComposeResult:
        """Lay out one line a field, so that all is seen in 80 x 24."""
        harnesses = [(f"{name}" if there else f"{name} (not installed)", name) for name, there in self._offer.harnesses]
        with VerticalScroll(id="form", can_focus=False):
            yield Label("New session", id="title")
            with Horizontal(classes="field"):
                yield Label("Project")
                yield Input(
                    str(self._offer.project), id="project", suggester=_Folders(), compact=True, select_on_focus=False
                )
            yield OptionList(id="candidates", compact=True)
            with Horizontal(classes="field"):
                yield Label("Harness")
                yield Select(harnesses, id="harness", allow_blank=False, value=self._offer.chosen, compact=True)
            with Horizontal(classes="field"):
                yield Label("Name")
                yield Input(id="name", placeholder="chosen from the project and the harness", compact=True)
            with Horizontal(classes="field"):
                yield Label("Sandboxed")
                yield Switch(
                    value=self._offer.sandboxed,
                    id="sandboxed",
                    animate=False,
                    disabled=bool(self._offer.unavailable),
                )
                yield Static(id="sandboxed-state", classes="state")
            with Horizontal(classes="field policy"):
                yield Label("Files")
                yield Select(
                    [("Read-write", "rw"), ("Read-only", "ro")], id="fs", allow_blank=False, value="rw", compact=True
                )
            with Horizontal(classes="field policy"):
                yield Label("Network")
                yield Switch(value=True, id="network", animate=False)
                yield Static(id="network-state", classes="state")
                yield Label("Hide", id="hide-label")
                yield Input(" ".join(self._offer.hide), id="hide", placeholder=".env secrets/ *.pem", compact=True)
            with Horizontal(classes="field"):
                yield Label("Prompt")
                yield Input(id="prompt", placeholder="optional", compact=True)
            yield Static(id="words")
            yield Static(id="error")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Show what the defaults mean, and the end of a long path."""
        self.query_one("#project", Input).action_end()
        self.query_one(OptionList).display = False
        self._offer_folders(str(self._offer.project))
        self._say_what_it_can_do()

    def on_input_changed(self, changed: Input.Changed) -> None:
        """Offer folders while a path is typed."""
        if changed.input.id == "project":
            self._offer_folders(changed.value)
        if changed.input.id == "hide":
            self._say_what_it_can_do()

    def on_input_submitted(self, submitted: Input.Submitted) -> None:
        """Go on to the next field; the last one creates."""
        if submitted.input.id == "prompt":
            self.action_create()
        else:
            self.focus_next()
            if self.focused is self.query_one(OptionList):
                self.focus_next()

    def on_key(self, event: Key) -> None:
        """Go from the project down into the folders that are offered for it."""
        if event.key == "down" and self.focused is self.query_one("#project") and self._candidates:
            self.query_one(OptionList).focus()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Mark the first of the folders when they are gone into."""
        if isinstance(event.widget, OptionList) and event.widget.highlighted is None:
            event.widget.highlighted = 0

    def on_option_list_option_selected(self, selected: OptionList.OptionSelected) -> None:
        """Take the folder that was chosen."""
        project = self.query_one("#project", Input)
        project.value = self._candidates[selected.option_index]
        project.cursor_position = len(project.value)
        project.focus()

    def on_switch_changed(self) -> None:
        """Say what the change means."""
        self._say_what_it_can_do()

    def on_select_changed(self) -> None:
        """Say what the change means."""
        self._say_what_it_can_do()

    def action_leave(self) -> None:
        """Leave without a session."""
        self.dismiss(None)

    def action_create(self) -> None:
        """Make the session, or show why it cannot be made and keep what was typed."""
        self.query_one("#error", Static).update("starting …")
        self._make(self.options())

    def options(self) -> Options:
        """Return what is asked for, as `hqt new` would."""
        policy = self.policy()
        return Options(
            project=projects.expanded(self.query_one("#project", Input).value),
            harness=str(self.query_one("#harness", Select).value),
            name=self.query_one("#name", Input).value.strip(),
            sandbox=policy is not None,
            read_only=policy is not None and policy.fs == "ro",
            net=None if policy is None else policy.net,
            hide=policy.hide if policy else (),
            prompt=self.query_one("#prompt", Input).value,
        )

    def policy(self) -> SandboxPolicy | None:
        """Return the policy that the controls show, None for no sandbox."""
        if not self.query_one("#sandboxed", Switch).value:
            return None
        read_only = self.query_one("#fs", Select).value == "ro"
        hide = tuple(self.query_one("#hide", Input).value.split())
        return SandboxPolicy("ro" if read_only else "rw", self.query_one("#network", Switch).value, hide)

    @work(thread=True, exclusive=True)
    def _make(self, options: Options) -> None:
        try:
            started = self._create(options)
        except HqtError as error:
            self.app.call_from_thread(self._fail, error)
        else:
            self.app.call_from_thread(self._end, started)

    def _end(self, started: Started) -> None:
        if self.is_running:
            self.dismiss(started)

    def _fail(self, error: HqtError) -> None:
        if not self.is_running:
            return
        said = Text(visible(error.message), style="bold")
        if error.hint:
            said.append(f"\n{visible(error.hint)}", style="not bold")
        self.query_one("#error", Static).update(said)
        self.query_one("#error").scroll_visible()

    def _say_what_it_can_do(self) -> None:
        policy = self.policy()
        for row in self.query(".policy"):
            row.display = policy is not None
        for switch in self.query(Switch):
            self.query_one(f"#{switch.id}-state", Static).update("on" if switch.value else "off")
        if self._offer.unavailable:
            reason = f"{'asked for' if policy else 'off'}: {visible(self._offer.unavailable)}: run `hqt doctor`"
            self.query_one("#sandboxed-state", Static).update(Text(reason))
        words = f"It {policy.in_words()}." if policy else _UNSANDBOXED
        self.query_one("#words", Static).update(Text(words))

    @work(thread=True, exclusive=True, group="folders")
    def _offer_folders(self, typed: str) -> None:
        """Look for folders away from the screen: a disk may be slow, a folder huge."""
        untouched = typed in ("", str(self._offer.project))
        found = list(map(str, self._offer.recent)) if untouched else projects.offered(typed)
        found = [path for path in found if path.rstrip("/") != typed.rstrip("/")][:_MOST_CANDIDATES]
        self.app.call_from_thread(self._show_folders, typed, found, [_described(path) for path in found])

    def _show_folders(self, typed: str, found: list[str], described: list[Text]) -> None:
        if not self.is_running or typed != self.query_one("#project", Input).value:
            return  # left, or typed on, since
        self._candidates = found
        offered = self.query_one(OptionList)
        offered.clear_options()
        offered.add_options(map(Option, described))
        offered.display = bool(found)


def _described(path: str) -> Text:
    kind = "  git" if projects.is_repository(projects.expanded(path)) else ""
    return Text.assemble(visible(path), (kind, "dim"))

"""The dashboard: every session live, what the chosen one shows, and a key for all that can be done with it."""

from __future__ import annotations

import asyncio
import time
from functools import cache
from typing import TYPE_CHECKING, ClassVar, TypeVar

from rich.table import Table
from rich.text import Text
from textual import work
from textual.binding import Binding
from textual.containers import Container
from textual.coordinate import Coordinate
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Input, Static

from hqt.errors import HqtError
from hqt.services import actions, listing
from hqt.services.listing import View
from hqt.tables import findings
from hqt.text import coloured, fits, since, visible
from hqt.tui.dialog import create, offer
from hqt.tui.screens.asking import Ask, Confirm, Page
from hqt.tui.screens.new_session import NewSessionScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from hqt.db.rows import Row
    from hqt.services.sessions import Started

Result = TypeVar("Result")
_LOOK_S = 1.0
_CALM_LOOK_S = 2.0
"""Between looks once nothing has changed, and no key was pressed, for `_CALM_AFTER` of them."""
_CALM_AFTER = 10
_HEADINGS = ("NAME", "DOING", "HARNESS", "SANDBOX", "AGE", "PROJECT")
_STYLES = {"working": "green", "waiting": "bold yellow", "exited": "red", "stopped": "dim"}
_WIDE = 130

_KEYS = (
    ("Enter", "attach: show its window, started again if it does not run"),
    ("n", "new session"),
    ("w", "go to the next one that waits for you"),
    ("m", "message: type a prompt into it"),
    ("s", "stop: the row, its policy and its conversation stay"),
    ("r", "restart: stop, and start again where it was"),
    ("e", "edit its name"),
    ("c", "check its jail from inside"),
    ("a", "audit: what it made that would run outside the jail"),
    ("x", "remove: stop, and forget it; the project is not touched"),
    ("/", "filter: type words; Enter goes back to the list, Esc shows all"),
    ("j k ↓ ↑", "move"),
    ("q Esc", "leave; the sessions go on"),
)


class _Sessions(DataTable[Text]):
    """The list, whose Enter is named in the footer."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select_cursor", "Attach")]


class DashboardScreen(Screen[View | None]):
    """Shows the sessions, and returns the one to attach to; None when it was left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("n", "new", "New"),
        ("s", "stop", "Stop"),
        ("slash", "filter", "Filter"),
        ("question_mark", "keys", "Keys"),
        ("q,escape", "leave", "Leave"),
        Binding("w", "next_waiting", show=False),
        Binding("m", "send", show=False),
        Binding("r", "restart", show=False),
        Binding("e", "rename", show=False),
        Binding("c", "check", show=False),
        Binding("a", "audit", show=False),
        Binding("x", "remove", show=False),
        Binding("j", "move(1)", show=False),
        Binding("k", "move(-1)", show=False),
    ]
    CSS_PATH = "dashboard.tcss"
    AUTO_FOCUS = "#sessions"

    def __init__(self, project: Path) -> None:
        super().__init__()
        self._project = project
        self._views: list[View] = []
        self._shown: dict[str, tuple[str, ...]] = {}
        """The cells on the screen, by the session's id, in order."""
        self._previewed: tuple[str, int] = ("", 0)
        """The pane whose screen is shown, and when that had last changed."""
        self._looked_at = 0.0
        self._calm_looks = 0
        """How many looks in a row found nothing changed."""
        self._complained = ""
        """What the last look failed with, so that it is said once."""

    def compose(self) -> ComposeResult:
        """Lay out the list beside the preview, or over it where the terminal is narrow."""
        with Container(id="board"):
            with Container(id="list"):
                yield Input(id="filter", placeholder="words to filter by", compact=True)
                yield _Sessions(id="sessions", cursor_type="row", cell_padding=1)
                yield Static(id="empty")
            with Container(id="preview"):
                yield Static(id="screen")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Look at once, and then each second."""
        self._table.add_columns(*_HEADINGS)
        self.query_one("#filter").display = False
        self._look()

    def on_key(self) -> None:
        """Look often again."""
        self._calm_looks = 0

    def on_resize(self) -> None:
        """Put the preview where there is room."""
        self.set_class(self.size.width >= _WIDE, "wide")

    # -- what is shown

    @property
    def _table(self) -> _Sessions:
        return self.query_one(_Sessions)

    @property
    def _selected(self) -> View | None:
        if not self._table.row_count:
            return None
        session_id = list(self._shown)[self._table.cursor_row]
        return next((view for view in self._views if view.row.id == session_id), None)

    @work(exclusive=True, group="look")
    async def _look(self) -> None:
        """Read what all sessions do, in one call, and what the selected one shows; and again after a while."""
        while True:
            try:
                self._views = await asyncio.to_thread(listing.all_views)
                if not self.is_running:
                    return  # left meanwhile
            except HqtError as error:
                if error.message != self._complained:
                    self._complain(error)
                self._complained = error.message
            else:
                self._complained = ""
                before = self._shown
                self._show_list()
                self._preview()
                self._calm_looks = self._calm_looks + 1 if self._shown == before else 0
            await asyncio.sleep(_CALM_LOOK_S if self._calm_looks > _CALM_AFTER else _LOOK_S)

    def _show_list(self) -> None:
        typed = self.query_one("#filter", Input).value
        cells = {view.row.id: _cells(view) for view in self._views}
        fitting = {session_id: texts for session_id, texts in cells.items() if fits(" ".join(texts), typed)}
        table = self._table
        if list(fitting) == list(self._shown):
            for place, (before, after) in enumerate(zip(self._shown.values(), fitting.values(), strict=True)):
                for column, text in enumerate(_styled(after) if before != after else ()):
                    if before[column] != after[column]:
                        is_wider = len(before[column]) != len(after[column])
                        table.update_cell_at(Coordinate(place, column), text, update_width=is_wider)
        else:
            selected = list(self._shown)[table.cursor_row] if table.row_count else ""
            place = table.cursor_row
            table.clear()
            for session_id, texts in fitting.items():
                table.add_row(*_styled(texts), key=session_id)
            where = list(fitting).index(selected) if selected in fitting else min(place, max(len(fitting) - 1, 0))
            table.move_cursor(row=where)
        self._shown = fitting
        empty = self.query_one("#empty", Static)
        empty.display = not fitting
        empty.update(Text("No session fits: Esc shows all." if self._views else "No sessions yet: n starts one."))

    @work(exclusive=True, group="preview")
    async def _preview(self) -> None:
        """Show what the selected session shows; a later call ends one that is still reading."""
        if not self.is_running:
            return
        view = self._selected
        screen = self.query_one("#screen", Static)
        pane = view.pane if view else None
        if view is None or pane is None:
            self._previewed = ("", 0)
            screen.update(Text(f"{visible(view.row.name)} is stopped: Enter starts it again." if view else "", "dim"))
            return
        # A second in which something was written may not be over yet.
        if self._previewed == (pane.pane, pane.activity) and pane.activity < int(self._looked_at):
            return
        looked_at = time.time()
        try:
            lines = await asyncio.to_thread(view.server.coloured_screen, pane)
        except HqtError:
            return  # the next look tells
        if not self.is_running:
            return
        room = max(self.query_one("#preview").size.height, 1)
        self._previewed, self._looked_at = (pane.pane, pane.activity), looked_at
        screen.update(Text.from_ansi("\n".join(map(coloured, lines[-room:])), no_wrap=True, overflow="crop"))

    def on_data_table_row_highlighted(self) -> None:
        """Show the screen of the one that was moved to."""
        self._previewed = ("", 0)
        self._preview()

    def on_data_table_row_selected(self) -> None:
        """Attach: Enter, or a second click."""
        self.action_attach()

    def on_input_changed(self) -> None:
        """Show those that fit."""
        self._show_list()

    def on_input_submitted(self) -> None:
        """Go back to the list, filtered."""
        self._table.focus()

    # -- what the keys do

    def action_leave(self) -> None:
        """Clear the filter, or leave."""
        box = self.query_one("#filter", Input)
        if box.display:
            box.value = ""
            box.display = False
            self._table.focus()
        else:
            self.dismiss(None)

    def action_filter(self) -> None:
        """Type what to filter by."""
        box = self.query_one("#filter", Input)
        box.display = True
        box.focus()

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self._table.move_cursor(row=self._table.cursor_row + by)

    def action_attach(self) -> None:
        """End with the selected session."""
        if view := self._selected:
            self.dismiss(view)

    def action_next_waiting(self) -> None:
        """Move to the next session that waits."""
        ids = list(self._shown)
        waiting = {view.row.id for view in self._views if view.status and view.status.status == "waiting"}
        place = self._table.cursor_row
        after = [*ids[place + 1 :], *ids[: place + 1]]
        found = next((session_id for session_id in after if session_id in waiting), None)
        if found is None:
            self.notify("No session waits for you.", markup=False)
        else:
            self._table.move_cursor(row=ids.index(found))

    def action_keys(self) -> None:
        """Show the keys."""
        table = Table(box=None, show_header=False, pad_edge=False)
        for key, what in _KEYS:
            table.add_row(Text(key, "bold"), Text(what))
        self.app.push_screen(Page("Keys", table))

    @work
    async def action_new(self) -> None:
        """Ask for a new session, and end with it."""
        started: Started | None = await self.app.push_screen_wait(
            NewSessionScreen(await asyncio.to_thread(offer, self._project), create)
        )
        if started:
            self.dismiss(started.view)

    @work
    async def action_stop(self) -> None:
        """Stop the selected session."""
        if (view := self._selected) and view.pane and await self._confirmed(f"Stop {visible(view.row.name)}?"):
            await self._do(actions.stop, view)

    @work
    async def action_restart(self) -> None:
        """Stop the selected session, and start it again where it was."""
        if view := self._selected:
            running = view.state == "running"
            if not running or await self._confirmed(f"Restart {visible(view.row.name)}?"):
                await self._do(actions.restart, view)

    @work
    async def action_remove(self) -> None:
        """Remove the selected session."""
        if (view := self._selected) and await self._confirmed(f"Remove {visible(view.row.name)}?"):
            await self._do(lambda view: list(actions.remove([view])), view)

    @work
    async def action_rename(self) -> None:
        """Give the selected session another name."""
        if view := self._selected:
            name = await self.app.push_screen_wait(Ask("Its new name", view.row.name))
            if name is not None and name != view.row.name:
                await self._do(lambda view: actions.rename(view, name), view)

    @work
    async def action_send(self) -> None:
        """Type a prompt into the selected session's harness."""
        if view := self._selected:
            text = await self.app.push_screen_wait(Ask(f"A prompt for {visible(view.row.name)}"))
            if text and text.strip():
                await self._do(lambda view: actions.send(view, text), view)

    @work
    async def action_check(self) -> None:
        """Try the selected session's jail, and show what came of it."""
        if view := self._selected:
            self.notify("Trying the jail …", timeout=2, markup=False)
            found = await self._attempt(actions.check, view)
            if found is not None:
                self.app.push_screen(Page(f"check {visible(view.row.name)}", findings(found)))

    @work
    async def action_audit(self) -> None:
        """Show what the selected session made that would run outside its jail."""
        if view := self._selected:
            found = await self._attempt(actions.audit, view)
            if found is not None:
                lines = [visible(line) for finding in found for line in finding.lines]
                said = "\n".join(lines) or "Nothing new or changed runs outside the jail."
                self.app.push_screen(Page(f"audit {visible(view.row.name)}", Text(said)))

    async def _confirmed(self, question: str) -> bool:
        confirmed: bool = await self.app.push_screen_wait(Confirm(question))
        return confirmed

    async def _do(self, action: Callable[[View], Sequence[str]], view: View) -> None:
        for line in await self._attempt(action, view) or ():
            self.notify(visible(line), markup=False)
        self._look()

    async def _attempt(self, action: Callable[[View], Result], view: View) -> Result | None:
        try:
            return await asyncio.to_thread(action, view)
        except HqtError as error:
            self._complain(error)
            return None

    def _complain(self, error: HqtError) -> None:
        said = "\n".join(visible(line) for line in (error.message, error.hint) if line)
        self.notify(said, severity="error", timeout=10, markup=False)


@cache
def _fixed(row: Row) -> tuple[str, str, str, str]:
    """Return the cells that only change with the row."""
    view = View(row, None)
    return visible(row.name), row.harness, view.policy_in_short, visible(view.project_in_short)


def _cells(view: View) -> tuple[str, ...]:
    name, harness, policy, project = _fixed(view.row)
    doing = view.status_in_words or view.state_in_words
    return name, doing, harness, policy, since(view.row.created_at), project


def _styled(cells: tuple[str, ...]) -> list[Text]:
    name, doing, harness, policy, age, project = cells
    style = next((style for word, style in _STYLES.items() if doing.startswith(word)), "")
    return [Text(name, "bold"), Text(doing, style), Text(harness), Text(policy), Text(age, "dim"), Text(project, "dim")]

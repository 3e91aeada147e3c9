"""A filterable list of the sessions, for `hqt attach` without a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.widgets import Footer, Input, OptionList
from textual.widgets.option_list import Option

from hqt.text import fits, visible
from hqt.tui.app import HqtApp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from hqt.services.listing import View

_STATES = {"running": "green", "exited": "red", "stopped": "dim"}


class PickerApp(HqtApp["View | None"]):
    """Shows the sessions, those whose line holds every word that is typed, and ends with the chosen one."""

    CSS = """
    Input { margin: 0 1; }
    OptionList { height: 1fr; border: none; margin: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "leave", "Leave"),
        ("down,ctrl+n", "move(1)", "Next"),
        ("up,ctrl+p", "move(-1)", "Previous"),
    ]

    def __init__(self, views: Sequence[View]) -> None:
        super().__init__()
        self._views = views
        self._shown: list[View] = []

    def compose(self) -> ComposeResult:
        """Lay out the filter over the list."""
        yield Input(placeholder="type to filter, Enter to choose", compact=True)
        yield OptionList()
        yield Footer()

    def on_mount(self) -> None:
        """Show all of them; the keys belong to the filter."""
        self.query_one(OptionList).can_focus = False
        self._filter("")

    def on_input_changed(self, changed: Input.Changed) -> None:
        """Show those that fit."""
        self._filter(changed.value)

    def on_input_submitted(self) -> None:
        """Choose the highlighted one."""
        place = self.query_one(OptionList).highlighted
        if place is not None:
            self.exit(self._shown[place])

    def on_option_list_option_selected(self, selected: OptionList.OptionSelected) -> None:
        """Choose the one that was clicked."""
        self.exit(self._shown[selected.option_index])

    def action_leave(self) -> None:
        """End without a choice."""
        self.exit(None)

    def action_move(self, by: int) -> None:
        """Move the highlight."""
        offered = self.query_one(OptionList)
        if self._shown:
            offered.highlighted = ((offered.highlighted or 0) + by) % len(self._shown)

    def _filter(self, typed: str) -> None:
        lines = [(view, _line(view)) for view in self._views]
        fitting = [(view, line) for view, line in lines if fits(line.plain, typed)]
        self._shown = [view for view, _ in fitting]
        offered = self.query_one(OptionList)
        offered.clear_options()
        offered.add_options(Option(line) for _, line in fitting)
        offered.highlighted = 0 if fitting else None


def _line(view: View) -> Text:
    row = view.row
    return Text.assemble(
        (f"{visible(row.name):<28} ", "bold"),
        (f"{view.state:<9}", _STATES[view.state]),
        f"{row.harness:<9}{view.policy_in_short:<12}",
        (visible(row.project), "dim"),
        no_wrap=True,
        overflow="ellipsis",
    )

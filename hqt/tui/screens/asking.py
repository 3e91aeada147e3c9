"""Small screens over another one: a question, a line of text, a page to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.app import ComposeResult
    from textual.binding import BindingType

_BOX = """
    align: center middle;
    & > * { width: auto; max-width: 90%; height: auto; max-height: 90%; padding: 0 1; background: $surface; }
    & > * { border: round $primary; }
"""


class Confirm(ModalScreen[bool]):
    """Asks yes or no."""

    CSS = f"Confirm {{ {_BOX} }}"
    BINDINGS: ClassVar[list[BindingType]] = [
        ("y", "dismiss(True)", "Yes"),
        ("n,escape,q", "dismiss(False)", "No"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """Lay out the question."""
        yield Static(Text.assemble(self._question, ("  y/n", "dim")))


class Ask(ModalScreen["str | None"]):
    """Asks for a line of text; None when it was left."""

    CSS = f"Ask {{ {_BOX} & > Vertical {{ width: 80%; }} }}"
    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss(None)", "Leave")]

    def __init__(self, question: str, value: str = "") -> None:
        super().__init__()
        self._question, self._value = question, value

    def compose(self) -> ComposeResult:
        """Lay out the question over the line."""
        with Vertical():
            yield Label(Text(self._question))
            yield Input(self._value, compact=True, select_on_focus=False)

    def on_input_submitted(self, submitted: Input.Submitted) -> None:
        """Return the line."""
        self.dismiss(submitted.value)


class Page(ModalScreen[None]):
    """Shows something to read, until a key leaves it."""

    CSS = f"Page {{ {_BOX} & > VerticalScroll {{ width: 90%; }} }}"
    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,enter,question_mark", "dismiss(None)", "Leave")]

    def __init__(self, title: str, content: RenderableType) -> None:
        super().__init__()
        self._title, self._content = title, content

    def compose(self) -> ComposeResult:
        """Lay out the page under its title."""
        with VerticalScroll() as page:
            page.border_title = Text(self._title)
            page.border_subtitle = "Esc leaves"
            yield Static(self._content)

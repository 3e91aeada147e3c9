"""What a conversation has used: its turns, its tokens and its model, added up from the harness's own record of it.

Most jails can write that record, so it is the agent's own word: every number and name in it is checked.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple

_LONGEST_NAME = 100
_MOST_TOKENS = 10**12
_RECENT = 16


class Tokens(NamedTuple):
    """Tokens that the model read anew, that it had in its cache, and that it wrote."""

    read: int = 0
    cached: int = 0
    written: int = 0


@dataclass(slots=True)
class Usage:
    """The sums up to some entry of the record; `recent` holds the newest answers, whose entries may come again."""

    turns: int = 0
    model: str = ""
    tokens: Tokens = field(default_factory=Tokens)
    recent: OrderedDict[str, Tokens] = field(default_factory=OrderedDict)

    def add(self, answer: str, model: str, tokens: Tokens) -> None:
        """Add an answer of the model's; one whose id was added before takes that one's place.

        Raises:
            ValueError: it is not one.

        """
        _require_name(answer)
        known = self.recent.pop(answer, Tokens())
        self.set(model, Tokens(*(a + b - c for a, b, c in zip(self.tokens, _checked(tokens), known, strict=True))))
        self.recent[answer] = tokens
        if len(self.recent) > _RECENT:
            self.recent.popitem(last=False)

    def set(self, model: str, tokens: Tokens) -> None:
        """Take the sums from a record that holds sums.

        Raises:
            ValueError: they are none.

        """
        _require_name(model)
        self.tokens, self.model = _checked(tokens), model

    def to_json(self) -> dict[str, object]:
        """Return the object that `hqt show --json` prints."""
        return {"turns": self.turns, "model": self.model or None, "tokens": self.tokens._asdict()}

    def in_words(self) -> str:
        """Return one line for `hqt show`."""
        turns = "1 turn" if self.turns == 1 else f"{self.turns:,} turns"
        read, cached, written = self.tokens
        told = f"{turns}; tokens: {read:,} read, {cached:,} read from the cache, {written:,} written"
        return f"{told}; {self.model}" if self.model else told


def _checked(tokens: Tokens) -> Tokens:
    if not all(type(number) is int and 0 <= number <= _MOST_TOKENS for number in tokens):
        raise ValueError(f"not numbers of tokens: {tokens}")
    return tokens


def _require_name(name: object) -> None:
    if type(name) is not str or len(name) > _LONGEST_NAME:
        raise ValueError("not a name")

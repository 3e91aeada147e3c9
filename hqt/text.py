"""Text for people: other people's text made harmless, and how long ago something was."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_JOINERS = "\u200c\u200d"  # inside words of some scripts, and inside emoji
_AGES = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))
# A colour, or another escape sequence, or plain text.
_ON_SCREEN = r"(\x1b\[[0-9;:]*m)|\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?|([^\x1b]+)"


def visible(text: str) -> str:
    """Return the text with everything that would act on a terminal, or hide, written as an escape."""
    return "".join(c if unicodedata.category(c) not in _UNSEEN or c in _JOINERS else _escape(c) for c in text)


def coloured(line: str) -> str:
    """Return a line of a terminal's screen with its colours, and nothing else that would act on a terminal."""
    return re.sub(_ON_SCREEN, lambda part: part[1] or visible(part[2] or ""), line, flags=re.DOTALL)


def fits(text: str, typed: str) -> bool:
    """Tell whether a line holds every word that is typed to filter by."""
    return all(word in text.lower() for word in typed.lower().split())


def since(moment: str) -> str:
    """Return how long ago a moment (ISO 8601) was, in one unit: `5m`."""
    seconds = int((datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds())
    return next((f"{seconds // unit}{letter}" for unit, letter in _AGES if seconds >= unit), "0s")


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode()

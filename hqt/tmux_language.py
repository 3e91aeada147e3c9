"""tmux's own language: words quoted for its parser, text kept from its formats, and a command read back. Pure."""

from __future__ import annotations

import os
import re


def quoted(value: str) -> bytes:
    """Return `value` as one word of tmux's own command language."""
    special = {'"': '\\"', "\\": "\\\\", "$": "\\$", "~": "\\~", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    escaped = "".join(special.get(c, c if c >= " " and c != "\x7f" else f"\\{ord(c):03o}") for c in value)
    return b'"' + os.fsencode(escaped) + b'"'


def format_literal(value: str) -> str:
    """Return `value` so that tmux's format language gives it back unchanged: `#(…)` in a folder's name is a command."""
    return value.replace("#", "##")


def unescaped(start_command: str) -> list[str]:
    """Read `#{pane_start_command}` back into the list that was given: the inverse of tmux's own escaping."""
    words = _WORD.findall(start_command)
    return [_unescaped_word(word) for word in words]


_WORD = re.compile(r'(?:[^ "\'\\]|\\.|"(?:[^"\\]|\\.)*"|\'[^\']*\')+', re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_C_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"a": b"\a", b"v": b"\v", b"f": b"\f", b"s": b" "}


def _unescaped_word(word: str) -> str:
    if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'":
        word = word[1:-1]

    def character(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _C_ESCAPES.get(code, code)  # noqa: PLR2004

    return os.fsdecode(_ESCAPE.sub(character, os.fsencode(word)))

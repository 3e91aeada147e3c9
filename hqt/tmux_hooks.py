"""What tmux is told to do by itself when the bell of a session's window rings, or its command ends. Pure."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from hqt.tmux_language import format_literal, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_INDEX = 74
"""The place of hqt's command in each hook: the user's own have theirs, the first of them 0."""
_DEAF, _DEAF_S = "@hqt_deaf", 2
_ENDED_STYLE = "#{?@hqt_ended_style,#{@hqt_ended_style},fg=red}"


def hooks(tell: Sequence[str], socket: Path) -> Iterator[tuple[str, str]]:
    """Return the names of the hooks and their commands, which run `tell` and mark a window whose command has ended.

    A window that rings on and on is heard once in `_DEAF_S` seconds: a jail must not keep this machine busy.
    """
    program = format_literal(shlex.join(tell))
    again = f"{format_literal(shlex.join(['tmux', '-S', str(socket)]))} set-option -wqu -t #{{hook_window}} {_DEAF}"
    heard = f"{program} #{{hook_window}} >/dev/null 2>&1; sleep {_DEAF_S}; {again} >/dev/null 2>&1"
    is_ours = "#{?#{P:#{@hqt_id}},1,0}"  # if-shell takes what begins with a 0 for false, an id too
    rung = [_command("set-option", "-w", _DEAF, "1"), _command("run-shell", "-b", heard)]
    yield (
        f"alert-bell[{_INDEX}]",
        _command("if-shell", "-F", f"#{{&&:{is_ours},#{{!=:#{{{_DEAF}}},1}}}}", " ; ".join(rung)),
    )
    # This hook knows its pane only.
    ended = [
        _command("set-option", "-wF", "window-status-style", _ENDED_STYLE),
        _command("run-shell", "-b", f"{program} #{{hook_pane}} >/dev/null 2>&1"),
    ]
    yield f"pane-died[{_INDEX}]", _command("if-shell", "-F", "#{?@hqt_id,1,0}", " ; ".join(ended))


def _command(*words: str) -> str:
    return os.fsdecode(b" ".join(map(quoted, words)))

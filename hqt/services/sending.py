"""Typing a prompt into a session's harness, as a person would paste it, and making sure that it was taken."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hqt.errors import ServiceError
from hqt.services import listing, processes, status, watching
from hqt.services.harnesses import configurator
from hqt.text import visible

if TYPE_CHECKING:
    from hqt.harnesses.base import HarnessConfigurator
    from hqt.services.listing import View
    from hqt.tmux_pane import Cursor, Pane

Taken = Literal["taken", "queued", "unknown"]
"""`taken`: the harness began to work on it. `queued`: it works, and has it for later. `unknown`: it does not say."""
_SAID: dict[Taken, str] = {
    "taken": "took the prompt",
    "queued": "is working: it has the prompt for when it is done",
    "unknown": "was given the prompt; it does not say whether it took it",
}
_READY_S = 30.0
"""How long a harness that was just started may take until its input line is there."""
_SHOWN_S = 10.0
"""How long it may take to show what was pasted, and to take it."""
_CHARACTERS_PER_S = 1_000
"""What a slow harness on a busy machine takes in of a long paste: until it has, Enter means nothing to it."""
_SAYING_S = 2.0
"""How long after its line is empty it may take to say that it works: a command of its own, `/clear` say, is no turn."""
_AGAIN_S = 1.5
"""When Enter is pressed once more: one that comes too soon after a paste is a part of it for some. Then after twice as
long each time, as one that is busy for longer than that would find it behind the paste again and again."""
_LOOK_S = 0.1
_STILL_LOOKS = 5
_SEQUENCE = re.compile(r"\x1b\[([0-9;:]*)m")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_HINT, _NO_HINT = {"2", "7"}, {"", "0", "22", "27"}  # dim, reverse video; and what ends them
_LINE_ENDS = re.compile(r"\r\n?|\x85|\u2028|\u2029")


@dataclass(frozen=True, slots=True)
class Sent:
    """What came of a prompt: in a line, and whether it has to wait for the end of a turn that was running."""

    line: str
    is_queued: bool


def send(view: View, text: str, *, force: bool = False) -> Sent:
    """Paste the text into the session's harness, press Enter, and return what came of it.

    Raises:
        ServiceError: the session does not run, waits for an answer, has a half-typed draft, or did not take it.

    """
    taken = _taken(view, text, force=force)
    return Sent(f"{view.row.name} {_SAID[taken]}", taken == "queued")


def _taken(view: View, text: str, *, force: bool) -> Taken:
    name, pane = view.row.name, view.pane
    if pane is None or view.state != "running":
        raise ServiceError(f"{name} is not running ({view.state_in_words})", f"hqt attach {name} starts it")
    harness = configurator(view.row.harness)
    prompt = harness.input_prompt
    ready = _now(view) if force else _ready(view, harness)
    will_say, working, before = _will_say(view), _works(ready), status.mark(view.row.id)
    with watching.Watch([view]) as watch:
        view.server.paste(pane, typed(text))
        _settle(view, looks=1, prompt=prompt)
        view.server.press(pane, "Enter")
        if not prompt and (working or not will_say):
            return "queued" if working else "unknown"
        pressed = emptied = time.monotonic()
        again_s = _AGAIN_S
        until = pressed + _SHOWN_S + len(text) / _CHARACTERS_PER_S
        while (now := time.monotonic()) < until:
            says = status.mark(view.row.id) not in (None, before)
            # Its very first saying may be that it is there.
            if says and (before or _works(_now(view))):
                return "taken"
            line = typed_in(view.server.cursor(pane), prompt) if prompt else None
            if line == "" and (working or now > emptied + _SAYING_S):
                return "queued" if working else "taken" if says else "unknown"
            if line != "":
                emptied = now
            # Pressed again only where the text still stands, or where that cannot be seen.
            if now > pressed + again_s and (line or not prompt):
                view.server.press(pane, "Enter")
                pressed, again_s = now, 2 * again_s
            watch.something(_LOOK_S)
    raise ServiceError(f"{name} did not take the prompt; it may stand in its input line", f"hqt peek {name}")


def typed(text: str) -> str:
    """Return the text as it is pasted: control characters as escapes, so that none is a key or ends the paste."""
    return _CONTROLS.sub(lambda character: visible(character[0]), _LINE_ENDS.sub("\n", text))


def _now(view: View) -> View:
    """Return the session as it is now."""
    return listing.views([view.row])[0]


def _works(view: View) -> bool:
    """Tell whether the harness says that it works."""
    return bool(view.status and view.status.status == "working" and not view.status.guess)


def _will_say(view: View) -> bool:
    """Tell whether the harness says what it does, once it is there."""
    says = configurator(view.row.harness).says_status
    return says == "always" or (says == "in a jail" and view.row.sandbox_json is not None)


def _require_no_question(view: View) -> None:
    if view.status and view.status.status == "waiting" and not view.status.guess:
        raise ServiceError(
            f"{view.row.name} waits for an answer: the prompt would be taken for it", "answer it first, or add --force"
        )


def _ready(view: View, harness: type[HarnessConfigurator]) -> View:
    """Return the session once the harness has its input line, nothing stands in it, and it asks nothing."""
    if harness.input_prompt:
        _wait_for_an_empty_line(view, harness.input_prompt)
    else:
        _wait_until_it_is_there(view, takes_keys=harness.takes_keys)
    now = _now(view)
    _require_no_question(now)
    return now


def _wait_until_it_is_there(view: View, *, takes_keys: bool) -> None:
    """Wait for a harness whose input line is not known, by what it says or by its terminal, where one of them tells."""
    will_say = _will_say(view)
    if not will_say and not takes_keys:
        return

    def is_there(pane: Pane) -> bool:
        return (not will_say or status.mark(view.row.id) is not None) and (
            not takes_keys or (pane.pid is not None and processes.takes_keys(pane.pid))
        )

    until = time.monotonic() + _READY_S
    with watching.Watch([view]) as watch:
        while view.pane and not is_there(view.pane) and time.monotonic() < until:
            watch.something(_LOOK_S)
    _settle(view, looks=_STILL_LOOKS)  # it is there a moment before it reads what is typed


def _wait_for_an_empty_line(view: View, prompt: str) -> None:
    if view.pane is None:
        return
    until = time.monotonic() + _READY_S
    while (line := typed_in(view.server.cursor(view.pane), prompt)) != "":
        _require_no_question(_now(view))
        if line:
            raise ServiceError(
                f"a half-typed prompt stands in {view.row.name}'s input line",
                "send it or clear it first, or add --force to have the text added to it",
            )
        if time.monotonic() > until:
            raise ServiceError(f"{view.row.name} does not show its input line", f"hqt peek {view.row.name}; or --force")
        time.sleep(_LOOK_S)


def _settle(view: View, *, looks: int, prompt: str = "") -> None:
    """Wait until the screen stays the same for so many looks, with something in the input line, if one is known."""
    until = time.monotonic() + _SHOWN_S
    before, same = None, 0
    while view.pane and time.monotonic() < until:
        now = view.server.cursor(view.pane)
        is_shown = not prompt or typed_in(now, prompt) != ""
        same = same + 1 if now == before and is_shown else 0
        if same >= looks:
            return
        before = now
        time.sleep(_LOOK_S)


def typed_in(cursor: Cursor, prompt: str) -> str | None:
    """Return what stands in the input line, None where the cursor stands in no such line.

    What is dim is a hint, not a draft, and so is the character of it that the harness draws its cursor over.
    """
    if not cursor.rows:
        return None
    plain, is_hint = "", False
    for number, part in enumerate(_SEQUENCE.split(cursor.rows[0])):
        if number % 2:
            codes = part.split(";")
            is_hint = codes[0] in _HINT or (is_hint and not _NO_HINT & set(codes))
        elif not is_hint:
            plain += part
    text = plain.replace("\xa0", " ").strip()
    if not text.startswith(prompt):
        return None
    return text.removeprefix(prompt).strip()

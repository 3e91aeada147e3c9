"""tmux: the program, the server that new sessions would live on, and the user's options that matter to a jail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hqt import tmux
from hqt.errors import HqtError, TmuxUnavailableError
from hqt.services import integration, notifying
from hqt.services.doctor.diagnosis import Diagnosis
from hqt.services.doctor.host import is_known_in_a_jail
from hqt.services.requests import default_socket
from hqt.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hqt.tmux_pane import Facts


def look() -> Iterator[Diagnosis]:
    """Look at tmux and its server."""
    try:
        version = tmux.require_version()
        socket = default_socket()
        facts = tmux.Server(socket).facts()
        unheard = notifying.missing()
    except TmuxUnavailableError as error:
        yield Diagnosis("tmux", "problem", error.message, error.hint)
        return
    except HqtError as error:  # a configuration that cannot be read
        yield Diagnosis("configuration", "problem", error.message, error.hint)
        return
    if facts is None:
        yield Diagnosis("tmux", "ok", f"{version}; no server at {socket}: the first session starts it")
    else:
        yield Diagnosis("tmux", "ok", f"{version}; a server runs at {socket}")
        yield from _server(version, facts)
    if unheard:
        told = f"{visible(unheard)}, by which you want to be told what becomes of a session, is not installed"
        yield Diagnosis("notify", "note", told, "install it, or mend notify and desktop in config.toml")
    yield _keys()


def _server(version: str, facts: Facts) -> Iterator[Diagnosis]:
    if facts.version not in ("", version):
        told = (
            f"the server is of version {visible(facts.version)}: tmux was upgraded, and it was not started anew since"
        )
        yield Diagnosis("tmux", "note", told, "tmux kill-server, when it suits; then hqt restore")
    if facts.exit_unattached in ("on", "1"):
        told = "exit-unattached is on: when nobody is attached, the server ends, and every session with it"
        yield Diagnosis("tmux", "problem", told, "tmux set-option -s exit-unattached off, in tmux.conf too")
    if facts.set_clipboard == "on":
        told = "set-clipboard is on: what runs in a jail can write your clipboard"
        yield Diagnosis("tmux", "note", told, "tmux set-option -s set-clipboard external, in tmux.conf too")
    if facts.allow_passthrough not in ("", "off", "0"):
        told = "allow-passthrough is on: hqt keeps it off for its own windows, not for others"
        yield Diagnosis("tmux", "ok", told)
    if not is_known_in_a_jail(facts.default_terminal):
        told = f"default-terminal {visible(facts.default_terminal)} is in no system folder: a jail does not know it"
        yield Diagnosis("tmux", "note", told, "install ncurses-term, or its like")


def _keys() -> Diagnosis:
    change = integration.tmux_change()
    if not change.difference:
        return Diagnosis("keys", "ok", f"prefix H, from {change.path}")
    told = (
        "hqt's keys are not in tmux's configuration"
        if not change.names_hqt
        else "tmux's configuration names another hqt"
    )
    return Diagnosis("keys", "note", told, "hqt tmux --install", repair=change.make)

"""What `hqt doctor` looks at: this host, the jail, tmux, the harnesses, hqt's own state. Looking changes nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain

from hqt.services.doctor import host, jail, programs, server, state
from hqt.services.doctor.diagnosis import Diagnosis

__all__ = ["Diagnosis", "examine"]

_LOOKS = (host.look, jail.look, server.look, programs.look, state.look)


def examine() -> list[Diagnosis]:
    """Return what was seen, in the order of the report; each part waits for programs of its own, so at once."""
    with ThreadPoolExecutor(len(_LOOKS)) as pool:
        return list(chain.from_iterable(pool.map(lambda look: list(look()), _LOOKS)))

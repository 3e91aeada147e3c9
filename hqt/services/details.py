"""Everything about one session, for `hqt show`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from hqt import paths
from hqt.services import usage
from hqt.services.sessions import SessionService
from hqt.services.start import policy_of

if TYPE_CHECKING:
    from pathlib import Path

    from hqt.harnesses.base import Bind
    from hqt.harnesses.usage import Usage
    from hqt.limits import Limits
    from hqt.sandbox import SandboxPolicy
    from hqt.services.listing import View


@dataclass(frozen=True, slots=True)
class Details:
    """A session, its policy, and the command that runs, or that the next attach would run."""

    view: View
    policy: SandboxPolicy | None
    argv: list[str]
    binds: list[Bind]
    pinned: list[Path]
    """Links in what its jail can write, which stay what they are."""
    names: list[str]
    resumes: bool
    weaknesses: list[str]
    notes: tuple[str, ...]
    """What does not work in its jail as it does outside."""
    limits: Limits
    conversation: str
    """The harness's own id of it, empty while it is not known."""
    usage: Usage | None
    """What the conversation has used, by the harness's own record; None where there is none."""

    @property
    def next_attach_in_words(self) -> str:
        """What the next `hqt attach` does."""
        if self.view.state == "running":
            return "shows its window"
        return f"goes on with {self.conversation}" if self.resumes else "starts it afresh"

    def to_json(self) -> dict[str, object]:
        """Return the object that `hqt show --json` prints. Keys are only ever added."""
        return {
            **self.view.to_json(),
            "argv": self.argv,
            "binds": [
                {
                    "source": None if bind.kind == "mask" else str(bind.src),
                    "target": str(bind.where),
                    "mode": bind.mode,
                    "reason": bind.reason or None,
                }
                for bind in self.binds
            ],
            "pinned": list(map(str, self.pinned)),
            "environment": self.names,
            "limits": asdict(self.limits),
            "weaknesses": self.weaknesses,
            "notes": list(self.notes),
            "resume": {
                "conversation": self.conversation or None,
                "rung": "resume" if self.resumes else "fresh",
            },
            "usage": self.usage.to_json() if self.usage else None,
        }


def details(view: View) -> Details:
    """Return what there is to know; changes nothing but what it keeps of the usage that it read.

    Raises:
        HqtError: the session could not be started as it is.

    """
    policy = policy_of(view.row)
    service = SessionService()
    resumes, start = service.plan(view)
    conversation = service.conversation(view)
    used = usage.of(start.harness, conversation, paths.session_folder(view.row.id))
    # What runs is what tmux was given; what would run is rebuilt from the row.
    argv = view.server.start_command(view.pane) if view.pane else start.command
    return Details(
        view,
        policy,
        argv,
        start.binds,
        start.jail.pinned if start.jail else [],
        start.names,
        resumes,
        start.weaknesses,
        (*start.found.said, *start.found.notes),
        start.limits,
        conversation,
        used,
    )

"""SessionService: creates, starts, stops, removes. Row first, window second; each step is safe to die in."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.exc import IntegrityError

from hqt import log, paths, probe
from hqt.db import rows
from hqt.db.connection import explained, make_private_folder
from hqt.db.engine import transactions
from hqt.db.models import Event, Session
from hqt.db.rows import COLUMNS, Row
from hqt.errors import HqtError, SandboxUnavailableError, ServiceError
from hqt.services import jail, names, notifying, processes, sandboxing, status, watching
from hqt.services.check import probe as probe_jail
from hqt.services.creation import NewSession, new_row
from hqt.services.environment import known
from hqt.services.harnesses import harness_of
from hqt.services.listing import View, views
from hqt.services.start import Start, host_environment, plan_start
from hqt.tmux import Server
from hqt.tmux_window import SpawnRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.orm import Session as Transaction

    from hqt.harnesses.base import HarnessConfigurator, SpawnConfig
    from hqt.sandbox import SandboxPolicy
    from hqt.tmux_pane import Pane

GRACE_S = 0.3
"""How long a fresh start is watched, so that a command that dies at once is told, not left to be found."""
_GAVE_UP = re.compile(r"hqt: not started: |bwrap: |hqt: (line )?\d+: exec: ")
"""How the launcher, bwrap, and the jail's own shell (dash, bash) begin when there is nothing that they can start."""
_HANGING_UP_S = 3.0
"""How long a process may take to end after its tmux server has."""


@dataclass(frozen=True, slots=True)
class Started:
    """A session that has a window; `rung` says how it got there, `last_lines` what it said if it ended at once."""

    view: View
    rung: str
    exit_status: int | None = None
    last_lines: list[str] = field(default_factory=list)
    setup_hint: str = ""
    notes: tuple[str, ...] = ()
    """What does not work in its jail as it does outside; of a session that was just made."""

    @property
    def never_ran(self) -> bool:
        """Whether the launcher or bwrap gave up before the harness was started."""
        last = self.last_lines[-1] if self.last_lines else ""
        return bool(self.exit_status) and bool(_GAVE_UP.match(last))


class SessionService:
    """The sessions of one user, over one database."""

    def __init__(self, database: Path | None = None) -> None:
        self._transaction = transactions(database or paths.database())

    def create_session(self, request: NewSession) -> Started:
        """Make a session and start it. What fails before the window is there leaves no row.

        Raises:
            HqtError: the project, harness, sandbox or tmux cannot be used; or the name is taken.

        """
        row, baseline = new_row(request)
        start = plan_start(row, rung="fresh", prompt=request.prompt)
        self._require_sandbox(start)
        row = self._insert(row, request)
        try:
            with self._lock(row.id):
                start.make()
                if request.check and request.policy:
                    _require_promises(start, request.policy)
                if baseline:
                    baseline.record(row, start.jail.made if start.jail else ())
                pane = self._start_window(row, start, "created", beside_pane=request.beside_pane, size=request.size)
                return replace(self._watched(row, pane, "created", GRACE_S, start), notes=start.found.said)
        except BaseException:
            with suppress(HqtError):
                if half_made := views([row])[0].pane:
                    processes.end_pane(Server(request.socket), half_made)
            self._forget(row)
            raise

    def attach_session(self, view: View, *, size: tuple[int, int] | None = None) -> Started:
        """Return the session's window, started again by its rungs if it does not run.

        Raises:
            HqtError: it cannot be started.

        """
        if view.is_in_place:
            return Started(view, "running")
        with self._lock(view.row.id):
            current = self._fresh_view(view.row.id)
            if current.state == "running":
                if current.pane and not current.is_in_place:
                    current.server.mark(current.pane)
                return Started(current, "running")
            self._require_no_twin(current)
            return self._respawn_with_fallback(current, size)

    def stop(self, view: View) -> None:
        """End the session's window and all that runs in it; its row, policy and conversation stay."""
        with self._lock(view.row.id):
            current = self._fresh_view(view.row.id)
            self._learn_conversation(current)
            with self._transaction() as transaction:
                session = _session(transaction, current.row.id)
                session.desired = "stopped"
                _record(transaction, current.row.id, "stopped", was=current.state)
            _end(current)

    def remove(self, view: View) -> None:
        """Stop the session and forget it: its row, its private copies and its cache. The project is not touched."""
        with self._lock(view.row.id):
            current = self._fresh_view(view.row.id)
            _end(current)
            self._forget(current.row)

    def rename(self, view: View, name: str) -> None:
        """Give the session another name, and its window too.

        Raises:
            HqtError: the name is taken, or cannot be one.

        """
        names.checked(name)
        try:
            with self._transaction() as transaction:
                _session(transaction, view.row.id).name = name
                _record(transaction, view.row.id, "renamed", name=name)
        except IntegrityError:
            raise _taken(name) from None
        if view.pane:
            view.server.rename_window(view.pane, name)

    def plan(self, view: View) -> tuple[bool, Start]:
        """Return whether `attach_session` would go on with a conversation, and the start that it would make."""
        resumes = self._get_resume_config(view.row) is not None
        return resumes, plan_start(view.row, rung="resume" if resumes else "fresh")

    def conversation(self, view: View) -> str:
        """Return the id of the conversation: what the harness says, else the recorded one, else what can be found.

        One that the harness chose itself is found while its processes can tell.
        """
        row = view.row
        if row.started_at is None:
            return row.conversation
        harness = _harness(row)
        said = status.conversation(row.id, harness.said_conversation) if harness.said_conversation else ""
        if row.conversation and not said:
            return row.conversation
        claimed = {other.conversation for other in rows.read(paths.database()) if other.id != row.id}
        if said and said not in claimed:
            return said
        running = view.pane.pid if view.state == "running" and view.pane else None
        open_files = processes.open_files(running) if running else set()
        since = datetime.fromisoformat(row.started_at)
        return row.conversation or harness.find_conversation(since, claimed=claimed, open_files=open_files)

    def _insert(self, row: Row, request: NewSession) -> Row:
        candidates = iter([request.name]) if request.name else names.defaults(Path(row.project), row.harness)
        for name in candidates:
            try:
                with self._transaction() as transaction:
                    transaction.add(Session(**asdict(replace(row, name=name))))
                    writes = row.project if request.policy and request.policy.fs == "rw" else None
                    _record(transaction, row.id, "created", name=name, harness=row.harness, writes=writes)
            except IntegrityError:
                continue
            return replace(row, name=name)
        raise _taken(request.name)

    def _respawn_with_fallback(self, view: View, size: tuple[int, int] | None) -> Started:
        self._learn_conversation(view)
        row = self._fresh_view(view.row.id).row
        dead = view.pane or _empty_shell(view)
        if view.pane:
            with self._transaction() as transaction:
                _record(transaction, row.id, "exited", status=view.pane.exit_status)
        if self._get_resume_config(row):
            start = plan_start(row, rung="resume")
            self._require_sandbox(start)
            start.make()
            pane = self._start_window(row, start, "resume", replaces=dead, size=size)
            resumed = self._watched(row, pane, "resumed", start.harness.resume_grace_s, start)
            if not resumed.exit_status:
                return resumed
            dead = pane
            # The harness does not know the conversation any more, and may refuse its id a second time.
            conversation = start.harness.new_conversation()
            with self._transaction() as transaction:
                _session(transaction, row.id).conversation = conversation
            row = replace(row, conversation=conversation)
        start = plan_start(row, rung="fresh")
        self._require_sandbox(start)
        start.make()
        pane = self._start_window(row, start, "fresh", replaces=dead, size=size)
        return self._watched(row, pane, "fresh", GRACE_S, start)

    def _get_resume_config(self, row: Row) -> SpawnConfig | None:
        """Return the command that goes on with the row's conversation, or None when there is none on disk."""
        harness = _harness(row)
        if not harness.has_conversation(row.conversation):
            return None
        return harness.build_resume_config(
            json.loads(row.args_json), conversation=row.conversation, sandboxed=row.sandbox_json is not None
        )

    def _require_sandbox(self, start: Start) -> None:
        """Fail where the jail that was asked for cannot be made: nothing ever runs unsandboxed instead.

        Raises:
            SandboxUnavailableError: with bwrap's own words.

        """
        if start.bwrap:
            sandboxing.require(start.bwrap)
        if start.limits and (reason := probe.failure_of(start.bounds_trial(), start.environment)):
            raise SandboxUnavailableError(
                f"memory, processes and cores cannot be bounded here: {reason}",
                "it needs a user manager of systemd (loginctl enable-linger) with these controllers; or leave them out",
            )

    def _start_window(
        self,
        row: Row,
        start: Start,
        rung: str,
        *,
        replaces: Pane | None = None,
        beside_pane: str = "",
        size: tuple[int, int] | None = None,
    ) -> Pane:
        started_at = _now()
        status.forget(row.id)
        with self._transaction() as transaction:
            session = _session(transaction, row.id)
            session.desired = "running"
            session.started_at = started_at
            digest = hashlib.sha256("\0".join(start.command).encode("utf-8", "surrogateescape")).hexdigest()
            _record(transaction, row.id, "started", rung=rung, argv_sha256=digest)
        request = SpawnRequest(
            hqt_id=row.id,
            name=row.name,
            cwd=Path(row.project),
            command=start.command,
            environment=start.environment,
            beside_pane=beside_pane,
            replaces=replaces.pane if replaces else "",
            tell=notifying.command(Path(row.socket)),
            **({"size": size} if size else {}),
        )
        pane = Server(Path(row.socket)).start_window(request)
        if pane.pid:
            processes.record(row.id, pane.pid)
        return pane

    def _require_no_twin(self, view: View) -> None:
        """Fail while a process of the session runs that no window shows: two on one conversation would trample it.

        Raises:
            ServiceError: one does.

        """
        pid = processes.outlives(processes.recorded(view.row.id), _HANGING_UP_S) if view.pane is None else None
        if pid is not None:
            raise ServiceError(
                f"{view.row.name} still runs, as process {pid}, but tmux has no window of it",
                f"hqt stop {view.row.name} ends it; then it can be attached again",
            )

    def _watched(self, row: Row, pane: Pane, rung: str, grace_s: float, start: Start) -> Started:
        """Wait until the command has ended, says that it is there, or the time is over; and tell which.

        Raises:
            ServiceError: its window was closed meanwhile; by something else, as hqt's own lock is held.

        """
        server = Server(Path(row.socket))
        if grace_s > GRACE_S:
            watching.until_it_says_something(View(row, pane), grace_s)
        ended = processes.status_within(server, pane, GRACE_S)
        view = View(row, replace(pane, exit_status=ended))
        if ended is None and processes.pid_of(processes.recorded(row.id)) is None and server.now(pane) is None:
            raise ServiceError(
                f"the window of {row.name} was closed as soon as it was there",
                "by a hook or a plugin of tmux's, if not by you: tmux show-hooks -g",
            )
        if ended is None:
            return Started(view, rung, setup_hint=start.setup_hint)
        return Started(view, rung, ended, server.screen(pane), start.setup_hint)

    def _learn_conversation(self, view: View) -> None:
        """Record the conversation that the harness chose itself."""
        with self._transaction() as transaction:
            current = self.conversation(view)  # in the transaction, so that no two learn the same one
            if current != view.row.conversation:
                _session(transaction, view.row.id).conversation = current

    def _fresh_view(self, session_id: str) -> View:
        with self._transaction() as transaction:
            if transaction.get(Session, session_id) is None:
                jail.remove_folder(paths.session_folder(session_id))  # made again for its lock
            session = _session(transaction, session_id)
            row = Row(**{name: getattr(session, name) for name in COLUMNS})
        return views([row])[0]

    def _forget(self, row: Row) -> None:
        with self._transaction() as transaction:
            if session := transaction.get(Session, row.id):
                transaction.delete(session)
                _record(transaction, row.id, "removed", name=row.name)
        jail.remove_folder(paths.session_folder(row.id))

    @contextmanager
    def _lock(self, session_id: str) -> Iterator[None]:
        """Let one program at a time start, stop or remove the session."""
        folder = paths.session_folder(session_id)
        descriptor = None
        while descriptor is None:
            # One that removes the session may remove the folder between the two.
            with explained(folder), suppress(FileNotFoundError):
                make_private_folder(folder)
                descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _end(view: View) -> None:
    """End the session's window and what runs in it, or the process of it that has lost its window."""
    if view.pane:
        processes.end_pane(view.server, view.pane)
    processes.end_process(processes.recorded(view.row.id))


def _empty_shell(view: View) -> Pane | None:
    """Return the pane of an idle shell that tmux-resurrect put in the window's place: it is replaced, never adopted."""
    shell = view.server.empty_shell(view.row.name, Path(view.row.project))
    return shell if shell and not (shell.pid and processes.has_children(shell.pid)) else None


def _require_promises(start: Start, policy: SandboxPolicy) -> None:
    """Try the jail before anything runs in it.

    Raises:
        ServiceError: it does not keep a promise.

    """
    broken = [finding for finding in probe_jail(start, policy) if finding.outcome == "broken"]
    if broken:
        what = "; ".join(f"{finding.promise}: {finding.detail}" for finding in broken)
        raise ServiceError(
            f"the jail does not hold ({what})", "nothing was started; hqt check tells more of a session that runs"
        )


def _harness(row: Row) -> HarnessConfigurator:
    return harness_of(row, known(json.loads(row.environment_json), host_environment()))


def _session(transaction: Transaction, session_id: str) -> Session:
    session = transaction.get(Session, session_id)
    if session is None:
        raise ServiceError("the session was removed meanwhile", "hqt ls shows those that are left")
    return session


def _record(transaction: Transaction, session_id: str, kind: str, **detail: object) -> None:
    transaction.add(Event(session_id=session_id, at=_now(), kind=kind, detail_json=json.dumps(detail)))
    transaction.flush()
    log.logger().info("%s %s %s", session_id, kind, json.dumps(detail))


def _taken(name: str) -> HqtError:
    return ServiceError(f"there is a session named {name!r} already", "choose another with --name; hqt ls shows them")


def _now() -> str:
    return datetime.now(UTC).isoformat()

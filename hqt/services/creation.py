"""From a request to the row that it becomes: everything is checked here, and nothing is written yet."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hqt import paths
from hqt.db.rows import Row, written_since
from hqt.errors import ServiceError, UsageError
from hqt.found import Found
from hqt.limits import UNBOUNDED
from hqt.refusals import refuse_bind, refuse_project, refuse_repository
from hqt.repository import linked_git
from hqt.services import names
from hqt.services.audit import Baseline
from hqt.services.environment import recorded
from hqt.services.harnesses import configurator
from hqt.services.set_up import SetUp
from hqt.services.start import around, host_environment, usable_project

if TYPE_CHECKING:
    from hqt.limits import Limits
    from hqt.refusals import Surroundings
    from hqt.repository import GitFolders
    from hqt.sandbox import SandboxPolicy

MOST_NESTED = 50
"""Repositories inside a project that are guarded; each costs some six mounts at every start."""
_UNGUARDED = "{} repositories lie inside the project: the first {} are guarded, changes in the others hqt audit shows"


@dataclass(frozen=True, slots=True)
class OwnBind:
    """A further path that was asked for by name; `forced` when hqt would refuse it."""

    path: Path
    writable: bool
    forced: bool


@dataclass(frozen=True, slots=True)
class NewSession:
    """What `hqt new` asks for; `policy` None means unsandboxed."""

    project: Path
    harness: str
    socket: Path
    name: str = ""
    policy: SandboxPolicy | None = None
    prompt: str = ""
    args: tuple[str, ...] = ()
    binds: tuple[OwnBind, ...] = ()
    variable_names: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    """MCP servers that go into the jail whatever they bring along."""
    toolchains: bool = True
    """Whether the toolchains of the home folder that are in use go into the jail."""
    beside_pane: str = ""
    size: tuple[int, int] | None = None
    limits: Limits = UNBOUNDED
    check: bool = False
    """Whether the jail is tried before the harness starts in it."""


def new_row(request: NewSession) -> tuple[Row, Baseline | None]:
    """Return the row of a new session, and what there is to hold its project against later.

    Raises:
        HqtError: the project or a bind cannot be used, or the name cannot be one.

    """
    if request.name:
        names.checked(request.name)
    chosen = configurator(request.harness)
    if request.prompt and not chosen.takes_prompt:
        raise UsageError(
            f"{chosen.name} takes no prompt as it starts", "start it without one, then: hqt send NAME TEXT"
        )
    project = usable_project(request.project)
    environment = recorded(host_environment())
    home = Path(environment.get("HOME") or Path.home())
    described = chosen(home, project, host_environment())
    linked = baseline = found = None
    binds: list[tuple[str, bool, bool]] = []
    nested: list[str] = []
    if request.policy:
        surroundings = around(home, request.socket, described)
        refuse_project(project, surroundings)
        binds = _resolved_binds(request, surroundings)
        linked = linked_git(project)
        _refuse_claims(linked, project, binds, surroundings)
        baseline = Baseline.take(described, environment.get("PATH", ""), writable=request.policy.fs == "rw")
        inside = baseline.repositories()
        nested = inside[:MOST_NESTED]
        bound = [Path(path) for path, _, _ in binds]
        found = SetUp(described, project, environment, surroundings, bound).found(request, linked)
        if len(inside) > MOST_NESTED:
            found += Found(said=(_UNGUARDED.format(len(inside), MOST_NESTED),))
    owned = [str(project), *(path for path, _, _ in binds), *([str(linked.common)] if linked else [])]
    row = Row(
        id=secrets.token_hex(8),
        name=request.name,
        harness=request.harness,
        project=str(project),
        args_json=json.dumps(request.args),
        environment_json=json.dumps(environment),
        variable_names_json=json.dumps(request.variable_names),
        binds_json=json.dumps(binds),
        git_json=linked.to_json() if linked else None,
        conversation=described.new_conversation(),
        socket=str(request.socket),
        desired="running",
        created_at=datetime.now(UTC).isoformat(),
        started_at=None,
        sandbox_json=request.policy.to_json() if request.policy else None,
        limits_json=request.limits.to_json() if request.limits else None,
        owners_json=json.dumps({path: Path(path).stat().st_uid for path in owned}),
        nested_json=json.dumps(nested),
        found_json=found.to_json() if found else None,
    )
    return row, baseline


def _refuse_claims(
    linked: GitFolders | None, project: Path, binds: list[tuple[str, bool, bool]], surroundings: Surroundings
) -> None:
    """Refuse a repository that nothing but a link vouches for, where it is not the user who made the link.

    Raises:
        ServiceError: it leads where no jail may, or a jail can have made it.

    """
    for path, link in linked.claimed if linked else ():
        is_named = any(path.is_relative_to(bound) for bound, _, _ in binds)
        refuse_repository(path, link, project, surroundings, is_named=is_named)
        changed_at = datetime.fromtimestamp(link.lstat().st_ctime, UTC).isoformat()
        if not is_named and any(at < changed_at for at in written_since(paths.database(), link)):
            raise ServiceError(
                f"{link}, which leads to {path}, was made or changed after a sandboxed session could write there",
                f"look where it leads; if you made it, say so: hqt new --bind {path}:rw",
            )


def _resolved_binds(request: NewSession, surroundings: Surroundings) -> list[tuple[str, bool, bool]]:
    found = []
    for bind in request.binds:
        if not os.path.exists(bind.path):
            raise ServiceError(f"{bind.path} does not exist, so it cannot be bound", "see --bind")
        real = bind.path.resolve()
        refuse_bind(real, surroundings, forced=bind.forced)
        found.append((str(real), bind.writable, bind.forced))
    return found

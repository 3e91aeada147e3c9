"""The window's whole command, rebuilt from a session's row: the same list, element by element, whoever asks."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hqt import executables, launch, paths, sandbox
from hqt.errors import HarnessNotInstalledError, ServiceError, StateError
from hqt.found import Found
from hqt.harnesses.base import Bind
from hqt.limits import UNBOUNDED, Limits
from hqt.refusals import Surroundings, refuse_bind, refuse_project, resolved
from hqt.repository import GitFolders
from hqt.services import hiding, jail
from hqt.services.environment import certificates, jail_constants, kept_names, known, window_values
from hqt.services.harnesses import harness_of, private_folders
from hqt.services.sandboxing import bwrap_of, systemd_run
from hqt.toolchains import on_path as toolchains_on_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hqt.db.rows import Row
    from hqt.harnesses.base import HarnessConfigurator, SpawnConfig
    from hqt.sandbox import SandboxPolicy

Rung = Literal["resume", "fresh"]
_USER_MANAGER = ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")
"""How systemd-run finds the user's manager; the launcher drops them, like all that is not named."""
# What a jail does not keep on some hosts: in `hqt show` of a session, and in `hqt doctor`.
UNFILTERED = "this machine's system calls are not known to hqt: none is filtered"
BY_PATH = (
    "this bubblewrap has no --bind-fd: another jail of yours on the same project could replace a guarded path while "
    "this one starts"
)
UNSCOPED = (
    "abstract sockets of the host can be reached while the network is on: this needs Linux 6.12 with Landlock, and a "
    "bwrap that is not setuid"
)


@dataclass(frozen=True, slots=True)
class Start:
    """A start that is planned and not yet made."""

    command: list[str]
    """The launcher, then the wrapped argv."""
    environment: dict[str, str]
    """What the window is given; values reach tmux on its standard input only."""
    names: list[str]
    """The variables that the command may see; `["*"]` for an unsandboxed one."""
    harness: HarnessConfigurator
    bwrap: Path | None
    jail: jail.Jail | None
    is_scoped: bool
    """Whether abstract sockets of the host are out of reach: without a network they are in any case."""
    opened: list[str]
    """What binds that were forced leave open."""
    binds: list[Bind]
    """Every bind beyond the system's, in mount order, with the mode it ends up with."""
    limits: Limits = UNBOUNDED
    """What it may use at most."""
    found: Found = field(default_factory=Found)
    """What of the user's set-up it needs, and what does not work in it as outside."""
    git_folder: Path | None = None
    """The project's repository, as its work tree has it."""
    by_descriptor: bool = True
    """Whether bwrap is given what a jail could replace as descriptors."""

    @property
    def home(self) -> Path:
        """The home folder that the session was created with."""
        return self.harness.home

    @property
    def setup_hint(self) -> str:
        """What the user has to do once outside the jail, if anything."""
        return self.harness.setup_hint() if self.jail else ""

    @property
    def weaknesses(self) -> list[str]:
        """What the jail does not keep here, and why, in plain words."""
        if self.jail is None:
            return []
        unscoped = [] if self.is_scoped else [UNSCOPED]
        unfiltered = [] if self.jail.seccomp else [UNFILTERED]
        return [*self.opened, *unscoped, *unfiltered, *([] if self.by_descriptor else [BY_PATH])]

    def bounds_trial(self) -> list[str]:
        """Return a command that does nothing but look whether its scope got these bounds."""
        nothing = launch.command(["true"], program="/bin/true", folder="/", names=[], bounds=self.limits.files)
        return [*self.limits.scope_argv(self.command[0]), *nothing]

    def make(self) -> None:
        """Make what the jail's start needs.

        Raises:
            ServiceError: it cannot be made.

        """
        if self.jail:
            jail.make(self.jail, self.harness)
            self.make_hidden(is_running=False)

    def make_hidden(self, *, is_running: bool) -> None:
        """Make what stands over hidden files; of a session that runs, what it now needs more.

        Raises:
            ServiceError: it cannot be made.

        """
        if self.jail:
            folder, environment = self.git_folder, self.harness.environment
            try:
                hiding.make(self.jail, self.harness.project, folder, environment, is_running=is_running)
            except OSError as error:
                raise ServiceError(f"the jail cannot be made: {error.filename}: {error.strerror}") from error


def plan_start(row: Row, *, rung: Rung, prompt: str = "") -> Start:
    """Return the start of a session by that rung. Looks at files and changes nothing.

    Raises:
        HqtError: the row cannot be understood, or what it names is no longer what it was.

    """
    plain: dict[str, str] = json.loads(row.environment_json)
    variables = tuple(json.loads(row.variable_names_json))
    policy = policy_of(row)
    project = usable_project(Path(row.project))
    if project != Path(row.project):
        raise ServiceError(
            f"the project {row.project} leads to {project} now", "look at what replaced it; nothing was started"
        )
    _require_owners(row)
    environment = known(plain, host_environment())
    harness = harness_of(row, environment)
    config = _config(harness, row, rung, prompt)
    found = _executable(harness, config, plain["PATH"])
    by_name = (*harness.environment_names, *variables)
    if policy is None:
        command = launch.command(
            config.command, program=str(found), folder=str(project), names=[launch.ALL_VARIABLES], session=row.id
        )
        values = window_values(plain, {}, by_name, os.environ)
        return Start(command, values, [launch.ALL_VARIABLES], harness, None, None, is_scoped=True, opened=[], binds=[])
    return _sandboxed(row, policy, harness, config, found=found, plain=plain, by_name=by_name)


def _sandboxed(
    row: Row,
    policy: SandboxPolicy,
    harness: HarnessConfigurator,
    config: SpawnConfig,
    *,
    found: Path,
    plain: Mapping[str, str],
    by_name: tuple[str, ...],
) -> Start:
    home, project = harness.home, harness.project
    made, program, opened = _planned_jail(row, policy, harness, found=found, path_value=plain["PATH"])
    bwrap = bwrap_of(plain["PATH"], project)
    by_descriptor = sandbox.can_bind_descriptors(bwrap)
    in_system = any(program.is_relative_to(folder) for folder in sandbox.SYSTEM_FOLDERS)
    first = config.command[0] if program == found and in_system else str(program)
    wrapped = sandbox.wrap(
        [*sandbox.BY_ITS_NAME, first, *config.command[1:]],
        project,
        policy,
        made.binds,
        home=home,
        etc=made.etc,
        guards=made.guards,
        hidden=made.hidden,
        seccomp_fd=launch.SECCOMP_FD if made.seccomp else None,
        first_fd=launch.FIRST_FD,
        by_descriptor=by_descriptor,
    )
    of_set_up = Found.from_json(row.found_json)
    constants = {**jail_constants(home), **of_set_up.variables, **harness.sandbox_environment}
    names = kept_names(plain, constants, by_name)
    is_setuid = bool(bwrap.stat().st_mode & 0o4000)  # would lose its privilege, and then fail
    scope = policy.net and not is_setuid
    limits = limits_of(row)
    opened_first = sandbox.opened(project, policy, made.binds, made.guards, made.hidden) if by_descriptor else []
    command = launch.command(
        wrapped,
        program=str(bwrap),
        folder=str(project),
        names=names,
        session=row.id,
        scope=scope,
        seccomp=str(made.seccomp or ""),
        pinned=map(str, made.pinned),
        read=(str(bind.src) for bind in made.etc if bind.kind == "copy"),
        opened=map(str, opened_first),
        bounds=limits.files,
    )
    if limits:
        command = [*limits.scope_argv(str(systemd_run(plain["PATH"], project))), *command]
        by_name = (*by_name, *_USER_MANAGER)
    values = window_values(plain, constants, by_name, os.environ)
    stand_ins = [bind for bind in made.etc if bind.kind != "copy" or bind.src != bind.where]
    binds = [*stand_ins, *made.binds, Bind(project, writable=policy.fs == "rw"), *made.guards, *made.hidden]
    return Start(
        command,
        values,
        names,
        harness,
        bwrap,
        made,
        is_scoped=not policy.net or (scope and launch.can_scope()),
        opened=opened,
        binds=binds,
        limits=limits,
        found=of_set_up,
        git_folder=git_folder(project, _recorded_git(row)),
        by_descriptor=by_descriptor,
    )


def _planned_jail(
    row: Row, policy: SandboxPolicy, harness: HarnessConfigurator, *, found: Path, path_value: str
) -> tuple[jail.Jail, Path, list[str]]:
    """Return the row's jail, the harness's program in it, and what binds that were forced leave open."""
    home, project = harness.home, harness.project
    surroundings = around(home, Path(row.socket), harness)
    refuse_project(project, surroundings)
    recorded = [(Path(path), writable, forced) for path, writable, forced in json.loads(row.binds_json)]
    opened = [_what_it_opens(path, surroundings, forced=forced) for path, _, forced in recorded]
    own_binds = [Bind(path, writable=writable, opened=True) for path, writable, _ in recorded]
    git = _recorded_git(row)
    of_set_up = Found.from_json(row.found_json)
    found_earlier = [] if row.found_json else _found_without_record(path_value, home)
    program, chain = executables.executable_binds(
        found,
        path_value,
        visible=[*(bind.src for bind in found_earlier), *(needed.target for needed in of_set_up.needed)],
        untrusted=[Path(row.project), *surroundings.guarded],
    )
    made = jail.plan(
        harness,
        folder=paths.session_folder(row.id),
        private_folder=private_folders(row.id),
        executables=[*found_earlier, *chain, *certificates(harness.environment, project, surroundings)],
        found=of_set_up,
        own_binds=own_binds,
        linked=git,
        nested=json.loads(row.nested_json or "[]"),
        hide=policy.hide,
        writable=policy.fs == "rw",
    )
    return made, program, [what for what in opened if what]


def _found_without_record(path_value: str, home: Path) -> list[Bind]:
    """Return what a session of an earlier hqt, which recorded nothing of the set-up, has of it."""
    toolchains = [Bind(folder) for folder, _ in toolchains_on_path(path_value, home)]
    return [*toolchains, *(Bind(home / name, kind="cleaned") for name in (".gitconfig", ".config/git/config"))]


def policy_of(row: Row) -> SandboxPolicy | None:
    """Return the row's policy.

    Raises:
        StateError: it is not one: a policy edited by hand is not guessed at.

    """
    try:
        return sandbox.policy_of(row.sandbox_json)
    except ValueError as error:
        raise StateError(
            f"the session {row.name!r} has a policy that hqt does not know: {row.sandbox_json}",
            "it is not started; remove it with hqt rm, and make it anew",
        ) from error


def limits_of(row: Row) -> Limits:
    """Return the row's bounds, none where none were asked for.

    Raises:
        StateError: they cannot be read: bounds edited by hand are not guessed at.

    """
    try:
        return Limits.from_json(row.limits_json) if row.limits_json else UNBOUNDED
    except ValueError as error:
        raise StateError(
            f"the session {row.name!r} has limits that hqt does not know: {row.limits_json}",
            "it is not started; remove it with hqt rm, and make it anew",
        ) from error


def usable_project(project: Path) -> Path:
    """Return the project, resolved.

    Raises:
        ServiceError: it is missing, not a folder, or no longer where its path says.

    """
    if not os.path.isdir(project):
        raise ServiceError(
            f"the project {project} is not a folder"
            if os.path.exists(project)
            else f"the project {project} does not exist",
            "name a folder that exists",
        )
    if not os.access(project, os.R_OK | os.X_OK):
        raise ServiceError(f"the project {project} cannot be read", "look at its permissions")
    real = project.resolve()
    try:
        str(real).encode()
    except UnicodeEncodeError:
        raise ServiceError(f"the project's path is not UTF-8: {str(real)!r}", "rename the folder") from None
    return real


def host_environment() -> dict[str, str]:
    """Return this process's environment, with HOME in any case."""
    return {"HOME": str(Path.home()), **os.environ}


def around(home: Path, socket: Path, harness: HarnessConfigurator) -> Surroundings:
    """Return what must stay outside a session's jail.

    Raises:
        ServiceError: the harness is one of the user's, and would bind what undoes a jail.

    """
    binds = harness.sandbox_binds()
    outside = Surroundings(
        resolved(home), resolved(paths.state_folder()), resolved(paths.runtime_folder()), resolved(socket)
    )
    for bind in binds if harness.is_declared else ():
        if bind.kind != "mask" and os.path.exists(bind.src):
            refuse_bind(resolved(bind.src), outside)
    guarded = tuple(resolved(bind.src) for bind in binds if bind.writable and bind.kind == "bind")
    return replace(outside, guarded=guarded)


def _config(harness: HarnessConfigurator, row: Row, rung: Rung, prompt: str) -> SpawnConfig:
    args = json.loads(row.args_json)
    sandboxed = row.sandbox_json is not None
    if rung == "resume":
        return harness.build_resume_config(args, conversation=row.conversation, sandboxed=sandboxed)
    return harness.build_spawn_config(args, prompt=prompt, conversation=row.conversation, sandboxed=sandboxed)


def _executable(harness: HarnessConfigurator, config: SpawnConfig, path_value: str) -> Path:
    found = executables.which(config.command[0], path_value, config.cwd)
    if found is None:
        raise HarnessNotInstalledError(
            f"{config.command[0]} is not installed, or not on the session's PATH", harness.install_hint
        )
    return found


def git_folder(project: Path, linked: GitFolders | None) -> Path | None:
    """Return the folder that git takes for the project's repository, None where it is none."""
    folder = linked.own if linked else project / ".git"
    return folder if os.path.isdir(folder) else None


def _recorded_git(row: Row) -> GitFolders | None:
    """Return the repository's folders as they were at creation; what lies there now is not asked for others."""
    if row.git_json is None:
        return None
    git = GitFolders.from_json(row.git_json)
    if changed := git.changed():
        raise ServiceError(
            f"{changed}, of the repository of this project, is no longer what it was",
            "look at what replaced it: git worktree list, ls -l; hqt rm, and make the session anew",
        )
    return git


def _require_owners(row: Row) -> None:
    """Refuse a project or bind that belongs to somebody else than when the session was made.

    Raises:
        ServiceError: one does.

    """
    for path, owner in json.loads(row.owners_json or "{}").items():
        if os.path.exists(path) and (now := Path(path).stat().st_uid) != owner:
            raise ServiceError(
                f"{path} belonged to the user {owner} when the session was made, and to {now} now",
                "look at who replaced it; nothing was started",
            )


def _what_it_opens(path: Path, surroundings: Surroundings, *, forced: bool) -> str:
    if resolved(path) != path or not os.path.exists(path):
        raise ServiceError(f"{path}, a bind of this session, is no longer what it was", "look at what replaced it")
    reason = refuse_bind(path, surroundings, forced=forced)
    return f"{path} is bound by force: {reason}" if reason else ""

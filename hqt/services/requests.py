"""From the options of `hqt new` to the session that they ask for: defaults, contradictions, the configured harness."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from hqt import config, hiding, limits
from hqt.errors import HarnessNotInstalledError, UsageError
from hqt.harnesses.base import VARIABLE
from hqt.sandbox import SandboxPolicy
from hqt.services import installed
from hqt.services.creation import NewSession, OwnBind
from hqt.services.harnesses import all_harnesses
from hqt.tmux import socket_path

_ARGUMENT_BYTES = 131_071  # Linux's MAX_ARG_STRLEN, less the end


@dataclass(frozen=True, slots=True)
class Options:
    """What was given on the command line; None where it was not."""

    project: Path = Path()
    args: tuple[str, ...] = ()
    harness: str = ""
    name: str = ""
    sandbox: bool | None = None
    read_only: bool | None = None
    net: bool | None = None
    prompt: str = ""
    binds: tuple[str, ...] = ()
    forced_binds: tuple[str, ...] = ()
    variable_names: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()
    toolchains: bool = True
    here: bool = False
    size: tuple[int, int] | None = None
    memory: str = ""
    pids: str = ""
    cpu: str = ""
    check: bool = False


def default_socket() -> Path:
    """Return the socket of the tmux server that a new session would live on."""
    return socket_path(configured=config.load().tmux_socket)


def default_harness() -> str:
    """Return the harness that is taken when none is named.

    Raises:
        HarnessNotInstalledError: none is installed.

    """
    for name, harness in all_harnesses().items():
        if name != "generic" and installed.path_of(harness):
            return name
    raise HarnessNotInstalledError(
        "no agent that hqt knows is installed",
        "hqt harnesses shows them; or name a command: hqt new -H generic -- COMMAND",
    )


def request_for(options: Options) -> NewSession:
    """Return the session that the options ask for.

    Raises:
        UsageError: they contradict each other.
        HarnessNotInstalledError: none was named and none is installed.

    """
    settings = config.load()
    policy, bounds = _policy(options, settings), _limits(options)
    if len(options.prompt.encode("utf-8", "surrogateescape")) > _ARGUMENT_BYTES:
        raise UsageError(f"a prompt has at most {_ARGUMENT_BYTES} bytes", "put it into a file and name that file")
    for name in options.variable_names:
        if not VARIABLE.fullmatch(name):
            raise UsageError(f"--env takes the name of a variable, not {name.partition('=')[0]!r}…", "export it first")
    if options.here and "TMUX_PANE" not in os.environ:
        raise UsageError("--here works inside tmux only", "leave it out")
    return NewSession(
        project=options.project,
        harness=options.harness or settings.harness or default_harness(),
        socket=socket_path(configured=settings.tmux_socket),
        name=options.name,
        policy=policy,
        prompt=options.prompt,
        args=options.args,
        binds=(
            *(_bind(given, forced=False) for given in options.binds),
            *(_bind(given, forced=True) for given in options.forced_binds),
        ),
        variable_names=options.variable_names,
        servers=options.servers,
        toolchains=options.toolchains,
        beside_pane=os.environ["TMUX_PANE"] if options.here else "",
        size=options.size,
        limits=bounds,
        check=options.check,
    )


def _policy(options: Options, settings: config.Config) -> SandboxPolicy | None:
    restrictions = {
        "--ro": options.read_only,
        "--no-net": options.net is False,
        "--bind": options.binds,
        "--force-bind": options.forced_binds,
        "--hide": options.hide,
        "--mcp": options.servers,
        "--no-toolchains": not options.toolchains,
        "--memory": options.memory,
        "--pids": options.pids,
        "--cpu": options.cpu,
        "--check": options.check,
    }
    given = [option for option, value in restrictions.items() if value]
    if options.sandbox is False and given:
        raise UsageError(f"{given[0]} is about a sandbox, and --no-sandbox asks for none", "leave one of the two out")
    wanted = settings.sandbox if options.sandbox is None else options.sandbox
    if not (wanted or given):
        return None
    try:
        hide = tuple(dict.fromkeys(map(hiding.checked, (*settings.hide, *options.hide))))
    except ValueError as error:
        raise UsageError(f"--hide: {error}", "hqt new --hide .env --hide secrets/") from error
    return SandboxPolicy("ro" if options.read_only else "rw", options.net is not False, hide)


def _limits(options: Options) -> limits.Limits:
    try:
        return limits.Limits(
            memory=limits.memory_bytes(options.memory) if options.memory else None,
            pids=limits.process_count(options.pids) if options.pids else None,
            cpu=limits.cpu_cores(options.cpu) if options.cpu else None,
        )
    except ValueError as error:
        raise UsageError(str(error), "hqt new --memory 8G --pids 512 --cpu 2") from error


def _bind(given: str, *, forced: bool) -> OwnBind:
    path, separator, mode = given.rpartition(":")
    if separator and mode in ("ro", "rw"):
        return OwnBind(Path(path).expanduser().absolute(), mode == "rw", forced)
    return OwnBind(Path(given).expanduser().absolute(), writable=False, forced=forced)

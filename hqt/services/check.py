"""`hqt check`: a probe runs in the identical jail, in the harness's place, and tries each promise.

The probe needs nothing in the jail but `/bin/sh`. Only what a shell cannot try, connecting to a socket, is tried by the
same launcher outside of bwrap.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hqt import launch, paths, program
from hqt.errors import ServiceError
from hqt.services.processes import identity
from hqt.services.start import plan_start, policy_of

if TYPE_CHECKING:
    from hqt.db.rows import Row
    from hqt.sandbox import SandboxPolicy
    from hqt.services.start import Start

Outcome = Literal["held", "broken", "not promised"]
_TIMEOUT_S = 20
_UNTRIED = "the probe did not get to this"
_CONNECT = "import socket, sys; socket.socket(socket.AF_UNIX).connect('\\0' + sys.argv[1])"


@dataclass(frozen=True, slots=True)
class Finding:
    """One promise, how it was tried, and what came of it; `detail` is what got through."""

    promise: str
    tried: str
    outcome: Outcome
    detail: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the object that `hqt check --json` prints."""
        return asdict(self)


# The probe's keys, in the order of the promise in the README.
_PROMISES = {
    "home": ("reads nothing else of yours", "listed the home folder: nothing but the binds"),
    "state": ("reads nothing else of yours", "opened a file of hqt's own state"),
    "shadow": ("reads nothing else of yours", "looked for /etc/shadow and other users' accounts"),
    "project": ("writes the project only as the policy says", "made a file in the project"),
    "hidden": ("reads nothing that is hidden", "read every hidden file, and renamed it"),
    "system": ("writes nothing else", "made files in /, /usr, /etc, /opt, /dev and beside the project"),
    "settings": ("writes nothing else", "opened a kernel setting for writing"),
    "guards": ("changes nothing that runs outside", "opened every guarded file, made a file in every guarded folder"),
    "pins": ("changes nothing that runs outside", "renamed every folder above a guard"),
    "processes": ("reaches no process of the host", "looked for hqt's own process and its environment"),
    "sockets": ("reaches no daemon of the host", "looked for tmux's, the runtime folder's and other known sockets"),
    "privileges": ("gains no privilege", "read the capabilities, no_new_privs and the system call filter"),
    "namespaces": ("gains no privilege", "made a user namespace"),
    "environment": ("sees only the named variables", "read its own and its first process's environment"),
    "descriptors": ("has nothing open of the host's", "looked for descriptors beyond the terminal"),
    "network": ("has no network", "listed interfaces and looked for a listening port of the host"),
}


def check(row: Row, *, is_running: bool) -> list[Finding]:
    """Return what the probe found in the session's jail.

    Raises:
        ServiceError: the session has no jail, or the probe could not be run in it.

    """
    policy = policy_of(row)
    start = plan_start(row, rung="fresh")
    if policy is None:
        raise ServiceError(f"{row.name} is not sandboxed: there is no jail to check", "hqt new --sandbox makes one")
    if is_running:
        start.make_hidden(is_running=True)
    else:
        start.make()
    return probe(start, policy)


def probe(start: Start, policy: SandboxPolicy) -> list[Finding]:
    """Run the probe in the jail of a start that is made, and return what it found.

    Raises:
        ServiceError: it could not be run.

    """
    canary = f"hqt-canary-{secrets.token_hex(8)}"
    planted = paths.state_folder() / canary
    planted.touch(0o600)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        try:
            said = _run(start, canary, planted, listening.getsockname()[1])
        finally:
            planted.unlink()
    said["system"] = [place for place in said.get("system", [_UNTRIED]) if not _is_the_jails_own(place, said)]
    found = [_finding(key, said, policy) for key in _PROMISES]
    opened = [
        Finding("binds nothing that undoes it", "looked at the binds", "not promised", what) for what in start.opened
    ]
    otherwise = [
        Finding("works as outside", "looked at the set-up when the session was made", "not promised", what)
        for what in (*start.found.said, *start.found.notes)
    ]
    return [*found, _abstract_sockets(start, policy), *opened, *otherwise]


def _run(start: Start, canary: str, planted: Path, port: int) -> dict[str, list[str]]:
    """Run the probe and return what got through, by key; a key that it did not finish is missing."""
    guards = start.jail.guards if start.jail else []
    written = [bind for bind in start.binds if bind.mode == "ro"]
    guarded = [bind.where for bind in written if any(bind.where.is_relative_to(pin.where) for pin in guards)]
    lists = {
        "HOME_ENTRIES": {_entry_of(bind.where, start.home) for bind in start.binds},
        "GUARDS": {str(path) for path in guarded},
        "PINS": {str(bind.where) for bind in guards if bind.writable and bind.where.parent != bind.where}
        | set(map(str, start.jail.pinned if start.jail else ())),
        "HIDDEN": {str(bind.where) for bind in start.jail.hidden if bind.reason} if start.jail else set(),
        "NAMES": {*start.names, "PWD", "OLDPWD", "SHLVL", "_"},
        "SOCKETS": {str(paths.runtime_folder()), "/run/docker.sock", "/run/podman/podman.sock", "/tmp/.X11-unix"},  # noqa: S108
    }
    variables = "".join(f"{name}={_quoted(chr(10).join(sorted(values - {''})))}\n" for name, values in lists.items())
    facts = {"STATE": str(planted), "PORT": f"{port:04X}", "CANARY": canary}
    facts["HOST_PID"], facts["HOST_STARTED"], _ = identity(os.getpid()).split()
    variables += "".join(f"{name}={_quoted(value)}\n" for name, value in facts.items())
    script = variables + resources.files("hqt.services").joinpath("probe.sh").read_text("utf-8")
    argv = [*start.command[: _end_of_jail(start.command) + 1], "/bin/sh", "-c", script]
    try:
        environment = {**os.environ, **start.environment, "HQT_CANARY": canary}
        ended = program.run(argv, timeout_s=_TIMEOUT_S, environment=environment)
    except subprocess.TimeoutExpired:
        raise ServiceError(f"the probe did not end within {_TIMEOUT_S} s", "the jail is not to be trusted") from None
    if "tried all\n" not in ended.stdout:
        raise ServiceError(f"the probe could not be run: {ended.stderr.strip()[-500:]}", "the jail was not tried")
    said: dict[str, list[str]] = {}
    for line in ended.stdout.splitlines():
        key, separator, detail = line.partition("\t")
        if separator:
            said.setdefault(key, []).extend([detail] if detail else [])
    return said


def _is_the_jails_own(place: str, said: dict[str, list[str]]) -> bool:
    """Tell whether a place in the jail lies in a file system that was made with it: none that the host has mounted.

    Files that can be made there are the jail's own, as those in its `/tmp`, and are gone with it.
    """
    own = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    outside = {device for device, _ in map(_mount, own)}
    mounts = [(device, point) for device, point in map(_mount, said.get("mounts", [])) if _is_at(place, point)]
    # The longest is where the place lies; of several at one point, the last one covers the others.
    return bool(mounts) and max(reversed(mounts), key=lambda mount: len(mount[1]))[0] not in outside


def _mount(line: str) -> tuple[str, str]:
    """Return the device and the mount point of a line of mountinfo (`proc(5)`)."""
    fields = [*line.split(" "), *[""] * 5]
    return fields[2], re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[4])


def _is_at(place: str, point: str) -> bool:
    return place == point or place.startswith(point.rstrip("/") + "/")


def _entry_of(path: Path, home: Path) -> str:
    return path.relative_to(home).parts[0] if path != home and path.is_relative_to(home) else ""


def _end_of_jail(command: list[str]) -> int:
    """Return where the jail's own argv ends: the second `--`; the launcher's is the first."""
    return command.index("--", command.index("--") + 1)


def _finding(key: str, said: dict[str, list[str]], policy: SandboxPolicy) -> Finding:
    promise, tried = _PROMISES[key]
    if key == "network" and policy.net:
        return Finding("reaches the network, as asked", "nothing", "not promised")
    got_through = said.get(key, [_UNTRIED])
    if key == "project" and policy.fs == "rw":
        # Here it is the promise that the file can be made.
        can_write = bool(got_through)
        return Finding(promise, tried, "held" if can_write else "broken", "" if can_write else "it cannot be written")
    return Finding(promise, tried, "broken" if got_through else "held", ", ".join(got_through))


def _abstract_sockets(start: Start, policy: SandboxPolicy) -> Finding:
    promise, tried = "reaches no daemon of the host", "connected to an abstract socket of hqt's"
    if not policy.net:
        return Finding(promise, "nothing: without a network there is no other's abstract socket", "held")
    name = f"hqt-check-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"\0{name}")
        listening.listen()
        connect = [sys.executable, "-I", "-S", "-c", _CONNECT, name]
        argv = launch.command(connect, program=sys.executable, folder="/", names=["PATH"], scope=start.is_scoped)
        ended = subprocess.run(argv, capture_output=True, timeout=_TIMEOUT_S, check=False)
    if ended.returncode == 0:
        return Finding(promise, tried, "broken", "; ".join(start.weaknesses) or "it got through")
    return Finding(promise, tried, "held")


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'"

"""Whether sandboxed sessions can be started, by the answer that the service and the dialog use; and if not, why."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hqt import launch, probe, program, sandbox, seccomp
from hqt.errors import SandboxUnavailableError
from hqt.services import sandboxing, start
from hqt.services.doctor.diagnosis import Diagnosis

if TYPE_CHECKING:
    from collections.abc import Iterator

_WHAT = "sandbox"
_FIRST_SAFE_SETUID = (0, 11, 2)  # CVE-2026-41163
_NO_PROJECT = Path("/nonexistent")
"""In place of a project, whose own programs are passed over: no program lies there."""
_PROFILE_FILE = "/etc/apparmor.d/hqt-bwrap"
_PROFILE = (
    r"abi <abi/4.0>,\ninclude <tunables/global>\nprofile hqt-bwrap {bwrap} flags=(unconfined) {{\n  userns,\n}}\n"
)
# What an administrator can set, the value that forbids the jail, and the command that allows it.
_RESTRICTIONS = (
    ("user/max_user_namespaces", "0", "sudo sysctl user.max_user_namespaces=15000"),
    ("kernel/unprivileged_userns_clone", "0", "sudo sysctl kernel.unprivileged_userns_clone=1"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        f"printf '{_PROFILE}' | sudo tee {_PROFILE_FILE} && sudo apparmor_parser -r {_PROFILE_FILE}",
    ),
)


def look() -> Iterator[Diagnosis]:
    """Look at bubblewrap, make a jail with it, and look at what the kernel adds."""
    path_value = os.environ.get("PATH", "")
    try:
        bwrap = sandboxing.bwrap_of(path_value, _NO_PROJECT)
    except SandboxUnavailableError as error:
        yield Diagnosis(_WHAT, "note", f"{error.message}; sessions without a sandbox work", error.hint)
        return
    version = probe.version(bwrap)
    in_words = version or "of an unknown version"
    is_setuid = bool(bwrap.stat().st_mode & 0o4000)
    try:
        sandboxing.require(bwrap)
    except SandboxUnavailableError as error:
        yield Diagnosis(_WHAT, "problem", error.message, "; ".join(restrictions(bwrap)) or error.hint)
    else:
        yield Diagnosis(_WHAT, "ok", f"bubblewrap {in_words} at {bwrap} makes a jail{', setuid' if is_setuid else ''}")
    if is_setuid and program.numbers(version) < _FIRST_SAFE_SETUID:
        yield Diagnosis(
            _WHAT,
            "problem",
            f"a setuid bubblewrap {in_words} can be attacked (CVE-2026-41163)",
            f"sudo chmod u-s {bwrap}",
        )
    if not sandbox.can_bind_descriptors(bwrap):
        yield Diagnosis(_WHAT, "note", start.BY_PATH, "upgrade bubblewrap")
    if probe.follows_planted_links(bwrap):
        told = "this bubblewrap follows links while it makes mount points (CVE-2026-87766); hqt leaves it none to make"
        yield Diagnosis(_WHAT, "ok", told)
    if not launch.can_scope() or is_setuid:
        yield Diagnosis(_WHAT, "note", start.UNSCOPED)
    if not seccomp.program(os.uname().machine):
        yield Diagnosis(_WHAT, "note", start.UNFILTERED)
    if _text(Path("/proc/sys/dev/tty/legacy_tiocsti")) == "1":
        yield Diagnosis(_WHAT, "ok", "the kernel lets programs type into their terminal: a jail's is its own alone")
    yield _bounds(path_value)


def restrictions(bwrap: Path, settings: Path = Path("/proc/sys")) -> list[str]:
    """Return the commands that lift what forbids the jail here, as far as the kernel's settings tell."""
    return [
        command.format(bwrap=bwrap)
        for name, forbidding, command in _RESTRICTIONS
        if _text(settings / name) == forbidding
    ]


def _bounds(path_value: str) -> Diagnosis:
    manager = Path(os.environ.get("XDG_RUNTIME_DIR", "/nonexistent"), "systemd/private")
    if sandbox.trusted_program("systemd-run", path_value, _NO_PROJECT) and os.path.exists(manager):
        return Diagnosis("bounds", "ok", "--memory, --pids and --cpu by systemd's user manager")
    told = "no user manager of systemd: --memory, --pids and --cpu are refused"
    return Diagnosis("bounds", "note", told, "loginctl enable-linger, where there is systemd")


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""

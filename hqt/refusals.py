"""What is never put into a jail: projects and binds that would undo it. Looks at files, changes nothing."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from hqt.errors import ServiceError

_SYSTEM = tuple(map(Path, ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys")))
_SYSTEM_ITSELF = tuple(map(Path, ("/home", "/mnt", "/opt", "/srv", "/tmp", "/usr", "/var", "/var/tmp")))  # noqa: S108
_KEYS = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".password-store",
    ".pki",
    ".mozilla",
    ".thunderbird",
    ".config/gcloud",
    ".config/gh",
    ".config/google-chrome",
    ".config/chromium",
    ".config/op",
    ".config/git/credentials",
    ".local/share/keyrings",
    ".local/share/kwalletd",
]
_HOST = tuple(map(Path, ("/", "/dev", "/etc", "/home", "/proc", "/root", "/run", "/sys", "/var", "/var/run")))
_DAEMONS = ("containerd.sock", "crio.sock", "docker.sock", "podman.sock")
_USR = ("bin", "include", "lib", "lib32", "lib64", "libexec", "sbin", "share")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What lies around a jail and must stay outside: folders, resolved."""

    home: Path
    state: Path
    runtime: Path
    tmux_socket: Path
    guarded: tuple[Path, ...] = ()
    """Folders of the harness, which hqt guards inside and a project or bind must not uncover."""


def refuse_project(project: Path, around: Surroundings) -> None:
    """Refuse a project that a jail could not contain.

    Raises:
        ServiceError: with the reason.

    """
    reason = _system_reason(project) or _private_reason(project, around)
    if reason:
        raise ServiceError(
            f"{project} cannot be the project of a sandboxed session: {reason}",
            "choose a folder of its own, or run without --sandbox",
        )


def refuse_bind(path: Path, around: Surroundings, *, forced: bool = False) -> str:
    """Refuse a bind that would undo the jail; return what a forced one leaves open, or nothing for a harmless one.

    Raises:
        ServiceError: with the reason.

    """
    reason = _never(path, around)
    if reason:
        raise ServiceError(f"{path} cannot be bound into a jail: {reason}", "there would be no jail left")
    reason = _private_reason(path, around)
    keys = [around.home / name for name in _KEYS]
    if not reason and any(
        path.is_relative_to(key) or (key.is_relative_to(path) and os.path.exists(key)) for key in keys
    ):
        reason = "it holds keys, tokens or passwords"
    if not reason and stat.S_ISSOCK(path.stat().st_mode):
        reason = "a socket leads to a process outside the jail"
    if reason and not forced:
        raise ServiceError(
            f"{path} cannot be bound into a jail: {reason}",
            "bind what you need of it alone, or take it by --force-bind",
        )
    return reason


def refuse_repository(path: Path, link: Path, project: Path, around: Surroundings, *, is_named: bool) -> None:
    """Refuse a folder that a link or file of git's claims for a project, if nothing but that vouches for it.

    `is_named` says whether the user has named it, by a bind.

    Raises:
        ServiceError: with the reason.

    """
    keys = [around.home / name for name in _KEYS]
    reason = _never(path, around) or _private_reason(path, around) or _system_reason(path)
    if not reason and any(path.is_relative_to(key) or key.is_relative_to(path) for key in keys):
        reason = "it holds keys, tokens or passwords"
    if not reason and path.stat().st_uid not in (os.getuid(), project.stat().st_uid):
        reason = "it belongs to another user"
    if reason:
        raise ServiceError(
            f"{link} leads to {path}, which cannot be put into a jail: {reason}",
            "move the repository out of there, or work without --sandbox",
        )
    if is_named or path.is_relative_to(project):
        return
    trees = [folder.parent for folder in (path, *path.parents) if folder.name == ".git"]
    if any(not project.is_relative_to(tree) for tree in trees):
        raise ServiceError(
            f"{link} leads to {path}, the repository of another project",
            f"if you put it there, say so: hqt new --bind {path}:rw",
        )


def _never(path: Path, around: Surroundings) -> str:
    """Return why not even `--force-bind` binds this, or nothing."""
    if around.home.is_relative_to(path):
        return "it is, or holds, your home folder"
    if path in _HOST:
        return "it shows the host or other users"
    if path.is_relative_to(around.tmux_socket.parent) or around.tmux_socket.is_relative_to(path):
        return "who reaches tmux's socket runs anything outside"
    if path.name in _DAEMONS and stat.S_ISSOCK(path.stat().st_mode):
        return "who reaches a container daemon's socket runs anything outside"
    return ""


def _system_reason(path: Path) -> str:
    if path == Path("/"):
        return "it is the whole host"
    if path in _SYSTEM_ITSELF or any(path.is_relative_to(folder) for folder in _SYSTEM):
        return "it is a system folder"
    if path.is_relative_to("/usr") and path.parts[2] in _USR:
        return "it is a system folder"
    return ""


def _private_reason(path: Path, around: Surroundings) -> str:
    home = around.home
    if home.is_relative_to(path):
        return "it is your home folder" if path == home else "your home folder lies inside it"
    contains = (
        (around.state, "hqt's own state"),
        (around.tmux_socket, "the tmux socket"),
        (around.runtime, "the runtime folder with its sockets"),
    )
    for folder, what in contains:
        if folder.is_relative_to(path) or path.is_relative_to(folder):
            return f"it holds {what}" if folder.is_relative_to(path) else f"it lies in {what}"
    if any(path.is_relative_to(folder) or folder.is_relative_to(path) for folder in around.guarded):
        return "the harness keeps its own configuration there"
    return ""


def resolved(path: Path) -> Path:
    """Return the path without links; missing parts are kept as they are."""
    return Path(os.path.realpath(path))

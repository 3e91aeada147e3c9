"""The jail: a policy as data, and one pure function from data to the `bwrap … -- command` argv.

`wrap` reads no file and runs no program: what depends on the host is decided by bwrap's own `-try` binds or is given
as an argument. The layers read like the list in docs/security.md; a later mount wins over an earlier one.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hqt.harnesses.base import Bind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MIB = 1 << 20
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store")
"""Programs and libraries, bound read-only; what lies below needs no bind of its own."""

ETC = (
    "alpine-release",
    "alternatives",
    "bash.bashrc",
    "bash_completion.d",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "fonts",
    "gitconfig",
    "group",
    "host.conf",
    "hosts",
    "inputrc",
    "issue",
    "java-17-openjdk",
    "java-21-openjdk",
    "java-25-openjdk",
    "ld-musl-aarch64.path",
    "ld-musl-x86_64.path",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "localtime",
    "lsb-release",
    "manpath.config",
    "mime.types",
    "nanorc",
    "networks",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "profile",
    "profile.d",
    "profiles/per-user",
    "protocols",
    "python3",
    "redhat-release",
    "resolv.conf",
    "rpc",
    "services",
    "shells",
    "ssl/ca-bundle.pem",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "static/ssl",
    "terminfo",
    "timezone",
    "vim",
    "xattr.conf",
    "zsh",
)
"""The part of `/etc` that programs need and that tells nothing of the host's users, services or secrets."""

_PROC = ("bus", "fs", "irq", "sys", "sysrq-trigger")
"""The host's settings in `/proc`. Root's jail could write them: they ask for the user id and no capability."""

_PROFILES = ("/run/current-system/sw", "/run/current-system/profile")
"""Where NixOS and Guix put the system's programs on PATH: links into their stores."""

_TMPFS = {"/tmp": 4096, "/var/tmp": 1024, "/run": 64, "/dev/shm": 1024}  # noqa: S108  # mount points, in MiB
_HOME_MIB = 1024
_MASK_MIB = 16
_PROGRAM_BYTES = 16 * MIB


BY_ITS_NAME = (
    "/bin/sh",
    "-c",
    '[ -t 0 ] && [ -t 1 ] && [ -r /dev/console ] && [ -w /dev/console ] && exec <>/dev/console >&0 2>&0; exec "$@"',
    "hqt",
)
"""What stands before a command in a terminal: it opens the terminal by the name that bwrap gives it in the jail.

The one that tmux opened is of a `/dev/pts` that the jail does not see: `/proc/self/fd/0` would lead nowhere, or, once
the jail has terminals of its own, to another one, and musl's `ttyname` would find none.
"""


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """What one session's jail may do: write the project (`rw`) or only read it (`ro`), and use the host's network.

    `hide` are patterns of what of the project it is shown empty (`hqt.hiding`).
    """

    fs: Literal["rw", "ro"] = "rw"
    net: bool = True
    hide: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the form that `Session.sandbox_json` holds."""
        return json.dumps({"fs": self.fs, "net": self.net, **({"hide": self.hide} if self.hide else {})})

    @classmethod
    def from_json(cls, text: str) -> SandboxPolicy:
        """Read the form that `to_json` writes.

        Raises:
            ValueError: anything else, an unknown key among it. A policy that is not understood is never guessed at.

        """
        pairs = json.loads(text, object_pairs_hook=tuple)  # a repeated key is seen, not merged
        keys = sorted(key for key, _ in pairs) if isinstance(pairs, tuple) else []
        if keys not in (["fs", "net"], ["fs", "hide", "net"]):
            raise ValueError(f"not a sandbox policy: {text}")
        values = dict(pairs)
        hide = values.get("hide", [])
        is_list = isinstance(hide, list) and all(type(pattern) is str for pattern in hide)
        if values["fs"] not in ("rw", "ro") or not isinstance(values["net"], bool) or not is_list:
            raise ValueError(f"not a sandbox policy: {text}")
        return cls(values["fs"], values["net"], tuple(hide))

    def in_words(self) -> str:
        """Return the policy as a person would say it."""
        project = "can read and write the project" if self.fs == "rw" else "can read the project and change nothing"
        network = "can use the network" if self.net else "has no network (a hosted model cannot be reached)"
        hidden = f", {', '.join(self.hide)} in it empty" if self.hide else ""
        return f"{project}{hidden}, {network}, sees nothing else of yours but what hqt show lists"


def is_available() -> bool:
    """Tell whether a sandboxed session can be thought of: Linux, with `bwrap` on PATH.

    Whether bwrap is *able* to make the jail here is found by trying: `hqt.probe`.
    """
    return sys.platform == "linux" and shutil.which("bwrap") is not None


def trusted_program(name: str, path_value: str, project: Path) -> Path | None:
    """Return the program that PATH names, passing over entries that are relative or inside the project.

    What a jail can write must not decide which program makes the next jail.
    """
    for entry in path_value.split(os.pathsep):
        candidate = Path(entry) / name
        if not entry.startswith("/") or not os.access(candidate, os.X_OK):
            continue
        real = candidate.resolve()
        if os.path.isfile(real) and not real.is_relative_to(project) and not candidate.is_relative_to(project):
            return candidate
    return None


def can_bind_descriptors(bwrap: Path) -> bool:
    """Tell whether this bwrap has `--bind-fd`: read off its file, as nothing is run for it."""
    with bwrap.open("rb") as program:
        return b"ro-bind-fd" in program.read(_PROGRAM_BYTES)


def wrap(
    command: Sequence[str],
    cwd: Path,
    policy: SandboxPolicy,
    binds: Sequence[Bind],
    *,
    home: Path | None = None,
    etc: Sequence[Bind] = (),
    guards: Sequence[Bind] = (),
    hidden: Sequence[Bind] = (),
    seccomp_fd: int | None = None,
    first_fd: int = 10,
    by_descriptor: bool = False,
) -> list[str]:
    """Return the `bwrap … -- <command>` argv. Pure: reads no file, runs no program.

    `cwd` is the project, resolved. `home` is where the empty home folder is made (the user's own by default). `etc`
    stands in for entries of the host's `/etc` that hold more than the jail should see. `guards` are mounted over the
    project; they count only where it is writable. `hidden` are mounted over it in any case. `seccomp_fd` is where bwrap
    finds its system call filter. From `first_fd` on it finds what of `etc` is a copy, then the sources that `opened`
    lists, which are mounted by path unless `by_descriptor`.
    """
    descriptors = count(first_fd)
    return [
        "bwrap",
        *_namespaces(policy),
        *(() if seccomp_fd is None else ("--seccomp", str(seccomp_fd))),
        *_system(etc, descriptors),
        *_empty_folders(home or Path.home()),
        *_mounts(_mounted(cwd, policy, binds, guards, hidden), descriptors, by_descriptor=by_descriptor),
        # Last, when every mount point has been made: the root is not a place to write to.
        "--remount-ro",
        "/dev",
        "--remount-ro",
        "/",
        "--chdir",
        str(cwd),
        "--",
        *command,
    ]


def namespace_flags(policy: SandboxPolicy) -> list[str]:
    """Return the flags that a host must allow; the probe tries the same ones."""
    return list(_namespaces(policy))


def _namespaces(policy: SandboxPolicy) -> Iterator[str]:
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent")
    if policy.net:
        yield "--share-net"


def _system(etc: Sequence[Bind], descriptors: Iterator[int]) -> Iterator[str]:
    for folder in SYSTEM_FOLDERS:
        yield from ("--ro-bind-try", folder, folder)
    replaced = {bind.where for bind in etc}
    for name in ETC:
        path = Path("/etc") / name
        if path not in replaced:
            yield from ("--ro-bind-try", str(path), str(path))
    yield from _mounts(etc, descriptors)
    yield from ("--proc", "/proc")
    for name in _PROC:
        yield from ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")
    yield from ("--dev", "/dev")


def _empty_folders(home: Path) -> Iterator[str]:
    for folder, mib in _TMPFS.items():
        yield from ("--size", str(mib * MIB), "--perms", "1777" if folder != "/run" else "0755", "--tmpfs", folder)
    for profile in _PROFILES:
        yield from ("--ro-bind-try", profile, profile)
    yield from ("--size", str(_HOME_MIB * MIB), "--perms", "0700", "--tmpfs", str(home))


def _mounted(
    cwd: Path, policy: SandboxPolicy, binds: Sequence[Bind], guards: Sequence[Bind], hidden: Sequence[Bind]
) -> list[Bind]:
    is_writable = policy.fs == "rw"
    return [*binds, Bind(cwd, writable=is_writable, opened=True), *(guards if is_writable else ()), *hidden]


def opened(
    cwd: Path, policy: SandboxPolicy, binds: Sequence[Bind], guards: Sequence[Bind], hidden: Sequence[Bind] = ()
) -> list[Path]:
    """Return the sources that a jail could replace before bwrap mounts them: opened for it, in the order of `wrap`."""
    mounted = _mounted(cwd, policy, binds, guards, hidden)
    return [bind.src for bind in mounted if bind.opened and bind.kind not in ("mask", "link")]


def _mounts(binds: Sequence[Bind], descriptors: Iterator[int], *, by_descriptor: bool = False) -> Iterator[str]:
    for bind in binds:
        mount = "--bind" if bind.writable else "--ro-bind"
        if bind.kind == "mask":
            yield from ("--size", str(_MASK_MIB * MIB), "--perms", "0700", "--tmpfs", str(bind.where))
        elif bind.kind == "link":
            yield from ("--symlink", str(bind.src), str(bind.where))
        elif bind.kind == "copy":
            yield from ("--perms", "0444", "--file", str(next(descriptors)), str(bind.where))
        elif bind.opened and by_descriptor:
            yield from (f"{mount}-fd", str(next(descriptors)), str(bind.where))
        else:
            yield from (mount, str(bind.src), str(bind.where))


def policy_of(sandbox_json: str | None) -> SandboxPolicy | None:
    """Return the policy that a row holds, or None for a session that was never sandboxed."""
    return None if sandbox_json is None else SandboxPolicy.from_json(sandbox_json)

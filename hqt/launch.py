"""What a window really starts: it keeps the named variables, drops the rest, and *becomes* the session's command.

Standard library only, run as `python -I -S launch.py`: it is started for every window, and what it does must be
readable in one sitting. bwrap must be *started* with a clean environment, because its own is what `/proc/1/environ`
shows inside the jail. What a jail could replace between a look and the mount is opened here, no link followed, and
bound by its descriptor; so are the files that the jail gets copies of. No process of hqt stays behind.
"""

from __future__ import annotations

import errno
import os
import sys

TYPE_CHECKING = False  # typing's own costs more to import than all the rest
if TYPE_CHECKING:
    from collections.abc import Iterable

NOT_FOUND = 127
ALL_VARIABLES = "*"
SECCOMP_FD = 3
"""Where bwrap finds the system call filter: it reads it and closes it."""
FIRST_FD = 10
"""Where bwrap finds the first of the files and paths that are opened for it; the others follow."""

# <linux/landlock.h>, <linux/prctl.h>; the system calls' numbers are the same on every architecture.
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_CREATE_RULESET_VERSION = 1
_LANDLOCK_SCOPE_ABI = 6
_LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET = 1
_LANDLOCK_SCOPE_SIGNAL = 2
_PR_SET_NO_NEW_PRIVS = 38
# <linux/sched.h>, <linux/mount.h>
_CLONE_NEWUSER_NEWNS = 0x10020000
_MS_BIND = 0x1000
_MS_REMOUNT_FOR_JAIL = 0x1027  # MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV: what bwrap would remount
_FILE_TYPE, _LINK = 0o170000, 0o120000  # <sys/stat.h>; Python's stat module costs a start more than it says


def command(
    wrapped: list[str],
    *,
    program: str,
    folder: str,
    names: list[str],
    session: str = "",
    scope: bool = False,
    seccomp: str = "",
    pinned: Iterable[str] = (),
    read: Iterable[str] = (),
    opened: Iterable[str] = (),
    bounds: Iterable[str] = (),
) -> list[str]:
    """Return the window's whole command: the launcher, then `wrapped` word for word.

    `program` is the file that is executed as `wrapped[0]`. `names` are the variables that it gets, `["*"]` for all of
    them. `session` says whose window it is, and is read by tmux's listing alone. `scope` shuts it off from abstract
    sockets and from processes that it did not start. `seccomp` is a file with a system call filter, opened for bwrap
    as `SECCOMP_FD`. `pinned` are links that stay what they are in whatever is bound. `read` are files that it reads,
    and `opened` are resolved paths that it binds: opened for it from `FIRST_FD` on, in this order. `bounds` are files
    of the control group, each of which must hold a bound.
    """
    options = [f"--session={session}"] if session else []
    options += [f"--exec={program}", f"--folder={folder}", f"--keep={','.join(names)}"]
    options += ["--scope"] if scope else []
    options += [f"--seccomp={seccomp}"] if seccomp else []
    options += [f"--bounds={','.join(bounds)}"] if bounds else []
    options += [f"--pin={path}" for path in pinned]
    options += [f"--read={path}" for path in read]
    options += [f"--open={path}" for path in opened]
    return [sys.executable, "-I", "-S", __file__, *options, "--", *wrapped]


def main(arguments: list[str]) -> int:
    """Carry out what `command` wrote; returns only if it cannot."""
    split = arguments.index("--")
    options = dict(option.removeprefix("--").partition("=")[::2] for option in arguments[:split])
    opened = [option for option in arguments[:split] if option.startswith(("--read=", "--open="))]
    names = options["keep"].split(",")
    kept = names == [ALL_VARIABLES]
    environment = {name: value for name, value in os.environ.items() if kept or name in names}
    try:
        os.chdir(options["folder"])
        if "bounds" in options:
            require_bounds(options["bounds"].split(","))
        pin([option.removeprefix("--pin=") for option in arguments[:split] if option.startswith("--pin=")])
        if "scope" in options:
            scope_to_own_processes()
        os.closerange(SECCOMP_FD, os.sysconf("SC_OPEN_MAX"))
        if "seccomp" in options:
            os.set_inheritable(os.open(options["seccomp"], os.O_RDONLY), True)  # noqa: FBT003  # the lowest: SECCOMP_FD
        for place, option in enumerate(opened, FIRST_FD):
            how, _, path = option.partition("=")
            descriptor = os.open(path, os.O_RDONLY) if how == "--read" else open_unlinked(path)
            os.dup2(descriptor, place)
            os.close(descriptor)
        os.execve(options["exec"], arguments[split + 1 :], environment)
    except OSError as error:
        print(f"hqt: not started: {error.filename or options['exec']}: {error.strerror}", file=sys.stderr)
    return NOT_FOUND


def pin(links: list[str]) -> None:
    """Mount each link onto itself, in a mount namespace of this process's own.

    A mount point can be neither replaced nor removed, and bwrap binds a folder with all that is mounted in it.

    Raises:
        OSError: one is no link any more, or the kernel does not allow it: then nothing is started.

    """
    if not links:
        return
    own = f"{os.getuid()} {os.getuid()} 1", f"{os.getgid()} {os.getgid()} 1"
    if _call("unshare", _CLONE_NEWUSER_NEWNS):
        raise OSError(errno.EPERM, "a link cannot be kept in its place here: no user namespace", links[0])
    for name, text in (("setgroups", "deny"), ("uid_map", own[0]), ("gid_map", own[1])):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
            file.write(text)
    for link in links:
        for flags in (_MS_BIND, _MS_REMOUNT_FOR_JAIL):
            # Opened anew: the second time it is what was just mounted.
            descriptor = open_unlinked(link, is_link=True)
            place = f"/proc/self/fd/{descriptor}".encode()
            failed = _call("mount", place, place, None, flags, None)
            os.close(descriptor)
            if failed:
                raise OSError(errno.EPERM, "it cannot be kept in its place here", link)


def open_unlinked(path: str, *, is_link: bool = False) -> int:
    """Open a resolved path, to bind it by the descriptor; of a link, the link itself.

    Raises:
        OSError: a part of it became a link since it was resolved, or is gone.

    """
    descriptor = os.open("/", os.O_PATH)
    for part in path.split("/")[1:]:
        try:
            inner = os.open(part, os.O_PATH | os.O_NOFOLLOW, dir_fd=descriptor)  # of a link: the link itself
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from None
        os.close(descriptor)
        descriptor = inner
    if (os.fstat(descriptor).st_mode & _FILE_TYPE == _LINK) is not is_link:
        what = "it is no link any more" if is_link else "it was replaced by a link"
        raise OSError(errno.ELOOP, what, path)
    return descriptor


def require_bounds(names: list[str]) -> None:
    """Fail unless every one of these files of this process's control group holds a bound.

    systemd sets none, and says nothing, where it was not given the controller.
    """
    with open("/proc/self/cgroup") as groups:  # noqa: PTH123  # pathlib is not imported here
        own = next((line[3:].rstrip("\n") for line in groups if line.startswith("0::")), "")
    for name in names:
        path = f"/sys/fs/cgroup{own}/{name}"
        with open(path) as file:  # noqa: PTH123
            if file.read().startswith("max"):
                raise OSError(errno.ENOTSUP, "systemd did not set this bound here", path)


def can_scope() -> bool:
    """Tell whether the kernel has Landlock with scopes: Linux 6.12 and later, where Landlock is switched on."""
    version = _call("syscall", _LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_CREATE_RULESET_VERSION)
    return version >= _LANDLOCK_SCOPE_ABI


def scope_to_own_processes() -> bool:
    """Forbid abstract unix sockets and signals across the boundary; False where the kernel (before 6.12) cannot."""
    if not can_scope():
        return False
    scoped = _LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | _LANDLOCK_SCOPE_SIGNAL
    attributes = b"".join(value.to_bytes(8, sys.byteorder) for value in (0, 0, scoped))  # fs, net, scoped
    ruleset = _call("syscall", _LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    if (
        ruleset < 0
        or _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        or _call("syscall", _LANDLOCK_RESTRICT_SELF, ruleset, 0)
    ):
        raise OSError(errno.EPERM, "the kernel refused it", "Landlock")
    os.close(ruleset)
    return True


def _call(function: str, *arguments: bytes | int | None) -> int:
    """Call a function of the C library; the import of `ctypes` itself would cost a start four times as much."""
    import _ctypes  # noqa: PLC0415  # only where the network is shared: elsewhere the namespaces do this

    program = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # typeshed does not know of None: all that is loaded
    return int(_ctypes.call_function(_ctypes.dlsym(program, function), arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

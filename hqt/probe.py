"""Whether this host can really make the jail: found by making an empty one. The one place that runs bwrap to look."""

from __future__ import annotations

import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hqt import program
from hqt.sandbox import SandboxPolicy, namespace_flags

if TYPE_CHECKING:
    from collections.abc import Mapping

_TIMEOUT_S = 10
_LOOK_TIMEOUT_S = 5
_CAUSES = (
    (
        "setting up uid map",
        "AppArmor forbids user namespaces here (Ubuntu 23.10 and later): docs/security.md has the profile",
    ),
    ("RTM_NEWADDR", "AppArmor forbids user namespaces here (Ubuntu 23.10 and later): docs/security.md has the profile"),
    (
        "No permissions to create",
        "the kernel forbids user namespaces: sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces",
    ),
    ("Creating new namespace failed", "the kernel or a container forbids namespaces: sysctl user.max_user_namespaces"),
    ("Unknown option", "this bubblewrap is too old: hqt needs 0.8 or newer"),
)


def hint(reason: str) -> str:
    """Return what to do about a failure, as far as its words tell."""
    return next((advice for words, advice in _CAUSES if words in reason), "hqt never starts without it")


def failure(bwrap: Path) -> str:
    """Return why `bwrap` cannot make a jail here, in its own words, or nothing when it can."""
    flags = namespace_flags(SandboxPolicy(net=False))
    root = ("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev")
    return failure_of([str(bwrap), *flags, *root, "--", str(bwrap), "--version"], {})


def version(bwrap: Path) -> str:
    """Return the version that `bwrap` tells, nothing where it does not."""
    return program.version(str(bwrap), timeout_s=_LOOK_TIMEOUT_S, environment={})


def follows_planted_links(bwrap: Path) -> bool:
    """Try in a temporary folder whether bwrap makes a mount point through a link that a jail could have planted."""
    with tempfile.TemporaryDirectory(prefix="hqt-doctor-") as made:
        project, victim = Path(made, "project"), Path(made, "victim")
        project.mkdir()
        victim.mkdir()
        (project / "link").symlink_to(f"/oldroot{victim}")
        mounts = ["--ro-bind", "/", "/", "--bind", str(project), str(project), "--tmpfs", f"{project}/link/planted"]
        with suppress(OSError, subprocess.TimeoutExpired):
            argv = [str(bwrap), *mounts, "--", str(bwrap), "--version"]
            program.run(argv, timeout_s=_LOOK_TIMEOUT_S, environment={})
        return (victim / "planted").exists()


def failure_of(argv: list[str], environment: Mapping[str, str]) -> str:
    """Return why a trial ended with an error, in its own words, or nothing when it did not."""
    try:
        ended = program.run(argv, timeout_s=_TIMEOUT_S, environment=environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if ended.returncode == 0 else ended.stderr.strip() or f"{argv[0]} ended with status {ended.returncode}"

"""The empty files and folders that stand over what of a project is hidden, made at each start.

A file that git tracks must not look changed in the jail: it is as long as git's index says, all zeros, and a filter of
git's own in the jail gives the tracked content for it. Git reads the index for that, and runs nothing of the project's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from hqt import hiding, program, sandbox
from hqt.db.connection import make_private_folder
from hqt.services.jail import ATTRIBUTES, write_private

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hqt.services.jail import Jail

_TIMEOUT_S = 20
_SIZE = re.compile(r"  size: (\d+)\tflags: ")


def make(
    jail: Jail, project: Path, git_folder: Path | None, environment: Mapping[str, str], *, is_running: bool
) -> None:
    """Make them, and the attributes by which git takes the tracked ones for unchanged; of a jail that runs, no fewer.

    Raises:
        OSError: one cannot be made.

    """
    places = {bind.src: bind.where.relative_to(project) for bind in jail.hidden if bind.reason}
    if not places:
        return
    sizes = tracked(project, list(places.values()), git_folder, environment)
    if not is_running:
        shutil.rmtree(jail.folder / "hidden", ignore_errors=True)
    make_private_folder(jail.folder / "hidden")
    for own, path in places.items():
        if os.path.isdir(project / path):
            make_private_folder(own)
            for inner, size in sizes.items():
                if inner.is_relative_to(path):
                    file = own / inner.relative_to(path)
                    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    _make_file(file, size, project / inner)
        else:
            _make_file(own, sizes.get(path, 0), project / path)
    host = Path("/etc", ATTRIBUTES)
    before = host.read_bytes() if os.access(host, os.R_OK) else b""
    write_private(jail.folder / "etc" / ATTRIBUTES, before + hiding.attributes(sizes))


def tracked(
    project: Path, paths: list[PurePath], git_folder: Path | None, environment: Mapping[str, str]
) -> dict[PurePath, int]:
    """Return which of these paths, or of the files below them, git tracks, with the size that its index has of each."""
    git = sandbox.trusted_program("git", environment.get("PATH", ""), project)
    if git is None or git_folder is None or not paths:
        return {}
    clean = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
    clean |= {"GIT_DIR": str(git_folder), "GIT_WORK_TREE": str(project), "GIT_LITERAL_PATHSPECS": "1"}
    listing = [str(git), "-c", "core.fsmonitor=false", "ls-files", "--debug", "-z", "--", *map(str, paths)]
    try:
        ended = program.run(listing, timeout_s=_TIMEOUT_S, environment=clean, cwd=str(project))
    except (OSError, subprocess.TimeoutExpired):
        return {}
    names = ended.stdout.split("\0")
    found: dict[PurePath, int] = {}
    for before, after in pairwise(names):
        # Behind each name come lines about it, the last of which has the size; the next name follows at once.
        name = before.rpartition("flags: ")[2].partition("\n")[2] if "flags: " in before else before
        if size := _SIZE.search(after):
            found[PurePath(name)] = int(size[1])
    return found


def _make_file(path: Path, size: int, original: Path) -> None:
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.truncate(size)
    path.chmod(0o500 if os.access(original, os.X_OK) else 0o400)

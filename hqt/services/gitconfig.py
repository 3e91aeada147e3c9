"""What git's configuration asks for in a project, and what its jail needs for that; git itself reads it.

Reading runs nothing that a configuration names. Only what the user has written decides what the jail gets: what a
project's own configuration names is named to the user, and no more.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from hqt import executables, gitconfig, program, sandbox
from hqt.errors import ServiceError
from hqt.found import Found, Needed
from hqt.refusals import refuse_bind, resolved

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from hqt.gitconfig import Setting
    from hqt.refusals import Surroundings

_TIMEOUT_S = 5
_ITS_OWN = (".gitconfig", ".config/git/config")
"""Where git looks by itself; they are there also where git is not, or cannot read them."""
_SHELLS_OWN = {":", "cd", "echo", "eval", "exec", "export", "f()", "false", "if", "printf", "test", "true", "[", "{"}


def read(project: Path, git_folder: Path | None, environment: Mapping[str, str]) -> list[Setting]:
    """Return git's configuration as it counts in a project; nothing where there is no git, or it cannot read it."""
    git = sandbox.trusted_program("git", environment.get("PATH", ""), project)
    if git is None:
        return []
    clean = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
    clean |= {"GIT_DIR": str(git_folder)} if git_folder else {"GIT_CEILING_DIRECTORIES": str(project.parent)}
    listing = [str(git), "config", "--list", "-z", "--show-scope", "--show-origin", "--includes"]
    try:
        ended = program.run(listing, timeout_s=_TIMEOUT_S, environment=clean, cwd=str(project))
    except (OSError, subprocess.TimeoutExpired):
        return []
    return gitconfig.parsed(ended.stdout, project) if ended.returncode == 0 else []


def find(
    settings: list[Setting],
    project: Path,
    home: Path,
    around: Surroundings,
    path_value: str,
    *,
    visible: Collection[Path],
    bound: Iterable[Path],
) -> Found:
    """Return what a jail needs so that git works in it as outside, and what of it cannot be.

    `visible` are folders below the home folder that it has anyway, `bound` the user's own binds.
    """
    jail = _Jail(project, home, around, path_value, [project, *visible, *bound])
    for name in (*(str(home / place) for place in _ITS_OWN), *gitconfig.files_of(settings)):
        jail.need(Path(os.path.normpath(name)), "git's configuration", is_cleaned=True)
    for key, path in gitconfig.named_files(settings, home):
        jail.need(path, f"git's {key}")
    for setting, name in gitconfig.named_programs(settings):
        jail.need_program(setting, name)
    unsigned = _unsigned(settings, home, bound)
    told = gitconfig.told_otherwise(settings, jail.has, unsigned=bool(unsigned))
    said = (unsigned,) if unsigned else ()
    return Found(tuple(jail.needed), variables=gitconfig.variables(told), said=said, notes=tuple(jail.notes))


def _unsigned(settings: list[Setting], home: Path, bound: Iterable[Path]) -> str:
    """Return why commits are unsigned in the jail, nothing where none is asked for, or where the jail has the key."""
    form = gitconfig.signs(settings)
    if not form:
        return ""
    key = gitconfig.signing_key(settings, home) if form == "ssh" else home / ".gnupg"
    if key and any(resolved(key).is_relative_to(path) for path in bound):
        return ""
    return (
        f"commits and tags are unsigned in the jail: git's configuration asks for {form} signatures, the key is outside"
    )


class _Jail:
    """What the jail will have of what git names."""

    def __init__(self, project: Path, home: Path, around: Surroundings, path_value: str, visible: list[Path]) -> None:
        self._project, self._home, self._around = project, home, around
        self._path_value, self._visible = path_value, visible
        self._missing: set[str] = set()
        self.needed: list[Needed] = []
        self.notes: list[str] = []

    def need(self, path: Path, reason: str, *, is_cleaned: bool = False) -> None:
        """Have a file or folder of the user's in the jail, if it is there and no secret."""
        if not os.path.exists(path) or any(path == needed.target for needed in self.needed):
            return
        real = resolved(path)
        if not is_cleaned and self._is_visible(path) and self._is_visible(real):
            return
        if self._is_in_system(path):
            return
        try:
            refuse_bind(real, self._around)
        except ServiceError as error:
            self.notes.append(f"{reason} is not in the jail: {error.message}")
            return
        self.needed.append(Needed(real, path, reason, "cleaned" if is_cleaned and os.path.isfile(real) else "bind"))

    def need_program(self, setting: Setting, name: str) -> None:
        """Have a program in the jail, if it is the user who names it."""
        if name in _SHELLS_OWN:
            return
        path_value = self._path_value
        if name.startswith("git-credential-"):
            path_value += f"{os.pathsep}/usr/lib/git-core{os.pathsep}/usr/libexec/git-core"
        name_or_path = f"{self._home}{name[1:]}" if name.startswith("~/") else name
        found = executables.which(name_or_path, path_value, self._project)
        if found is None:
            self._missing.add(name)  # it is not there outside, either
            return
        if self._is_visible(found) and self._is_visible(found.resolve()):
            return
        if not gitconfig.is_of_the_user(setting):
            self._miss(name, f"the project's own {setting.key} of git runs {name}, which is not in the jail")
            return
        untrusted = [self._project, *self._around.guarded]
        binds = executables.bound_by_name(found, path_value, visible=self._visible, untrusted=untrusted)
        reason = f"git's {setting.key}"
        try:
            for bind in binds:
                refuse_bind(resolved(bind.src), self._around)
        except ServiceError as error:
            self._miss(name, f"{reason} runs {name}, which is not in the jail: {error.message}")
            return
        if not binds:
            self._miss(name, f"{reason} runs {name}, which a jail can write: it is not bound")
            return
        self.needed += [Needed.of(bind, reason) for bind in binds]

    def has(self, name: str) -> bool:
        """Tell whether the jail has a program."""
        return name not in self._missing

    def _miss(self, name: str, note: str) -> None:
        if name not in self._missing:
            self._missing.add(name)
            self.notes.append(note)

    def _is_visible(self, path: Path) -> bool:
        return self._is_in_system(path) or any(path.is_relative_to(folder) for folder in self._visible)

    def _is_in_system(self, path: Path) -> bool:
        return any(path.is_relative_to(folder) for folder in (*sandbox.SYSTEM_FOLDERS, "/etc"))

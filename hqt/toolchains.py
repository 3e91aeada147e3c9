"""Toolchains in the home folder that a project uses: which of them its jail gets, read-only, and why. Runs nothing.

What the user's PATH names is taken from there. What a project's files name (a virtual environment, a version) may have
been written by a jail: it only chooses among the folders of managers that are known here, never another one.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from hqt import nofollow
from hqt.executables import bound_by_name, chain
from hqt.found import Found, Needed
from hqt.refusals import resolved
from hqt.sandbox import SYSTEM_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterator

_BREW = tuple(f".linuxbrew/{name}" for name in ("bin", "sbin", "Cellar", "opt", "lib", "libexec", "include", "share"))
# What a PATH entry below the home folder stands for: when an entry lies in the first folder, the others are bound,
# read-only. "*" is the one folder of that level that the entry names. Registries' credentials lie elsewhere.
_TOOLCHAINS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (".cargo/bin", (".cargo/bin", ".rustup")),
    (".nvm/versions/node/*", (".nvm/versions/node/*",)),
    (".local/share/fnm/node-versions/*", (".local/share/fnm/node-versions/*",)),
    (".fnm/node-versions/*", (".fnm/node-versions/*",)),
    (".volta/bin", (".volta/bin", ".volta/tools")),
    (".local/share/pnpm", (".local/share/pnpm",)),
    (".bun/bin", (".bun/bin", ".bun/install/global")),
    (".deno/bin", (".deno/bin",)),
    (".pyenv/shims", (".pyenv",)),
    (".pyenv/bin", (".pyenv",)),
    (".pyenv/versions/*", (".pyenv/versions/*",)),
    (".rbenv/shims", (".rbenv",)),
    (".asdf/shims", (".asdf",)),
    (".local/share/mise/shims", (".local/share/mise",)),
    (".local/share/mise/installs/*", (".local/share/mise/installs/*",)),
    (".local/share/uv/python/*", (".local/share/uv/python/*",)),
    (".sdkman/candidates/*", (".sdkman/candidates/*",)),
    (".goenv/shims", (".goenv",)),
    ("go/bin", ("go/bin",)),
    (".dotnet", (".dotnet",)),
    (".nix-profile/bin", (".nix-profile",)),
    (".local/state/nix/profiles/*/bin", (".local/state/nix/profiles/*",)),
    (".guix-profile/bin", (".guix-profile",)),
    (".config/guix/current/bin", (".config/guix/current",)),
    (".linuxbrew/bin", _BREW),
    (".rye/shims", (".rye/shims", ".rye/py", ".rye/tools")),
    ("miniconda3/*", ("miniconda3",)),
    ("miniforge3/*", ("miniforge3",)),
    ("anaconda3/*", ("anaconda3",)),
)

_MANAGED = (
    ".local/share/uv/python/*",
    ".local/share/uv/tools",
    ".local/share/pipx/venvs",
    ".local/pipx/venvs",
    ".local/share/virtualenvs/*",
    ".pyenv/versions/*",
    ".rye/py/*",
    ".conda/envs/*",
    "miniconda3",
    "miniforge3",
    "anaconda3",
    ".local/share/mise/installs/*/*",
    ".asdf/installs/*/*",
    ".nvm/versions/node/*",
    ".local/share/fnm/node-versions/*",
    ".fnm/node-versions/*",
    ".volta/tools",
    ".local/share/pnpm",
    ".npm-global/lib/node_modules/*",
    ".bun/install/global",
    ".rustup",
    ".sdkman/candidates/*/*",
    ".nix-profile",
    ".guix-profile",
)
"""Folders of managers that hold programs and nothing else: what of one may be bound because a link leads there."""

_FILES: dict[str, tuple[str, ...]] = {
    ".nvmrc": (".nvm/versions/node/v{}", ".local/share/fnm/node-versions/v{}", ".local/share/mise/installs/node/{}"),
    ".node-version": (
        ".local/share/fnm/node-versions/v{}",
        ".nvm/versions/node/v{}",
        ".nodenv/versions/{}",
        ".local/share/mise/installs/node/{}",
    ),
    ".python-version": (".pyenv/versions/{}", ".local/share/mise/installs/python/{}"),
    ".ruby-version": (".rbenv/versions/{}", ".local/share/mise/installs/ruby/{}"),
}
"""Files that hold one version, and where their managers keep it."""
_SEVERAL = (".local/share/mise/installs/{}/{}", ".asdf/installs/{}/{}")
"""Where the managers keep a version of a tool that `.tool-versions` or `mise.toml` names."""
_OTHER_NAMES = {"nodejs": "node", "golang": "go"}
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_ENVIRONMENTS = (".venv", "venv", "env")
_BYTES = 1 << 16
_MOST_LINKS = 200
_MOST_PROGRAMS = 12
"""Programs of the user's own on PATH that are files, and so take a mount each."""


def find(project: Path, home: Path, path_value: str, untrusted: list[Path]) -> Found:
    """Return the toolchains that PATH and the project's files name, and what of PATH is left out.

    `untrusted` are folders that a jail can write: nothing is bound because of what lies there.
    """
    found = _Toolchains(project, home, path_value, untrusted)
    found.look()
    return Found(tuple(found.needed.values()), variables=found.variables, notes=tuple(found.notes))


class _Toolchains:
    def __init__(self, project: Path, home: Path, path_value: str, untrusted: list[Path]) -> None:
        self._project, self._home, self._path_value = project, home, path_value
        self._untrusted = [project, *untrusted]
        self._environments: set[Path] = set()
        self.needed: dict[Path, Needed] = {}
        self.variables: dict[str, str] = {}
        self.notes: list[str] = []

    def look(self) -> None:
        """Look at PATH first, then at the project."""
        for folder, reason in on_path(self._path_value, self._home):
            self._need(folder, reason)
        for name in _ENVIRONMENTS:
            self._of_environment(self._project / name, f"the project's {name}")
        self._of_version_files()
        self._of_links(self._project / "node_modules/.bin", "node_modules/.bin")
        for folder in dict.fromkeys(map(Path, self._path_value.split(os.pathsep))):
            if folder.is_relative_to(self._home) and not self._is_seen(folder):
                self._of_own_programs(folder)

    def _need(self, folder: Path, reason: str) -> None:
        real = resolved(folder)
        if os.path.isdir(real) and not self._is_seen(folder):
            self.needed[folder] = Needed(real, folder, reason)

    def _of_environment(self, folder: Path, reason: str) -> None:
        """Have what the interpreter of a virtual environment really is."""
        if folder in self._environments or nofollow.kind(folder.parent, PurePath(folder.name)) != "folder":
            return
        self._environments.add(folder)
        self._follow(folder / "bin/python", reason)
        configuration = nofollow.read_file(folder, PurePath("pyvenv.cfg"), _BYTES).decode(errors="replace")
        if base := re.search(r"^home\s*=\s*(/.*?)\s*$", configuration, re.MULTILINE):
            self._follow(Path(base[1], "python3"), reason)

    def _of_version_files(self) -> None:
        for name, places in _FILES.items():
            for version in self._lines(name)[:1]:
                self._of_version(places, (version.removeprefix("v"),), name)
        for line in self._lines(".tool-versions"):
            tool, *versions = line.split()
            for version in versions[:1]:
                self._of_version(_SEVERAL, (tool, version), ".tool-versions")
        for name in ("mise.toml", ".mise.toml", ".config/mise.toml", "mise/config.toml"):
            self._of_mise(name)
        if any(self._lines(name) for name in ("rust-toolchain.toml", "rust-toolchain")):
            for folder in (".cargo/bin", ".rustup"):
                self._need(self._home / folder, "the project's rust-toolchain")
        for line in self._lines(".sdkmanrc"):
            tool, _, version = line.partition("=")
            self._of_version((".sdkman/candidates/{}/{}",), (tool.strip(), version.strip()), ".sdkmanrc")

    def _of_mise(self, name: str) -> None:
        import tomllib  # noqa: PLC0415  # a listing does not need it

        text = nofollow.read_file(self._project, PurePath(name), _BYTES).decode(errors="replace")
        try:
            tools = tomllib.loads(text).get("tools")
        except ValueError:
            return
        if text:
            self.variables["MISE_TRUSTED_CONFIG_PATHS"] = str(self._project)  # in a jail it is
        for tool, given in tools.items() if isinstance(tools, dict) else ():
            versions = given if isinstance(given, list) else [given]
            for one in versions:
                version = one.get("version") if isinstance(one, dict) else one
                self._of_version(_SEVERAL, (re.sub(r"[:/]", "-", str(tool)), str(version)), name)

    def _of_version(self, places: tuple[str, ...], words: tuple[str, ...], name: str) -> None:
        """Have a version that a file names; of one that is not whole, `20` say, all that begin so."""
        if not all(map(_VERSION.fullmatch, words)):
            return
        other = (_OTHER_NAMES.get(words[0], words[0]), *words[1:])
        for place in places:
            for given in dict.fromkeys((words, other)):
                folder = self._home / place.format(*given)
                self._need(folder, f"the project's {name}")
                try:
                    begin = [entry for entry in folder.parent.iterdir() if entry.name.startswith(f"{folder.name}.")]
                except OSError:
                    continue
                for entry in sorted(begin):
                    self._need(entry, f"the project's {name}")

    def _of_links(self, folder: Path, reason: str) -> None:
        """Have what the links of a folder of the project lead to, where that is a manager's."""
        if nofollow.kind(self._project, folder.relative_to(self._project)) == "folder":
            for entry in sorted(folder.iterdir())[:_MOST_LINKS]:
                if os.path.islink(entry):
                    self._follow(entry, reason)

    def _of_own_programs(self, folder: Path) -> None:
        """Have the programs of a folder on PATH: a manager's by the links that lead to them, others each by itself."""
        try:
            entries = sorted(folder.iterdir())
        except OSError:
            return
        files = 0
        for entry in entries:
            if any(link.is_relative_to(place) for link in chain(entry) for place in self._untrusted):
                continue
            if not os.access(entry, os.X_OK) or os.path.isdir(entry) or self._is_seen(entry):
                continue  # no program, or another one brought its folder along
            reason = f"{entry.name} on PATH"
            if os.path.islink(entry) and self._follow(entry, reason):
                first = Path(os.path.normpath(entry.parent / entry.readlink()))
                self.needed[entry] = Needed(first, entry, reason, "link")
                continue
            files += 1
            if files <= _MOST_PROGRAMS:
                self._of_program(entry, reason)
        if files > _MOST_PROGRAMS:
            self.notes.append(
                f"{files - _MOST_PROGRAMS} more programs of {folder} are not in the jail: --bind {folder}"
            )

    def _of_program(self, entry: Path, reason: str) -> None:
        visible = list(self.needed)
        for bind in bound_by_name(entry, self._path_value, visible=visible, untrusted=self._untrusted):
            self.needed.setdefault(bind.where, Needed.of(bind, reason))

    def _follow(self, path: Path, reason: str) -> bool:
        """Have the managers' folders that a path leads through, under the names by which it does; tell if any."""
        found = False
        for _ in range(_MOST_LINKS):
            found = self._of_manager(path, reason) or found
            if not os.path.islink(path):
                break
            path = Path(os.path.normpath(path.parent / path.readlink()))
        real = resolved(path)
        return self._of_manager(real, reason) or found

    def _of_manager(self, path: Path, reason: str) -> bool:
        for pattern in _MANAGED:
            level = matched(path, self._home, pattern)
            if level is not None:
                folder = self._home.joinpath(*path.relative_to(self._home).parts[: len(PurePath(pattern).parts)])
                self._need(folder, reason)
                if pattern.endswith(("tools", "venvs")):  # each in an environment of its own
                    self._of_environment(folder.joinpath(*path.relative_to(folder).parts[:1]), reason)
                return True
        return False

    def _is_seen(self, path: Path) -> bool:
        folders = (*map(Path, SYSTEM_FOLDERS), self._project, *self.needed)
        return any(path.is_relative_to(folder) for folder in folders)

    def _lines(self, name: str) -> list[str]:
        text = nofollow.read_file(self._project, PurePath(name), _BYTES).decode(errors="replace")
        return [line for line in (line.partition("#")[0].strip() for line in text.splitlines()) if line]


def on_path(path_value: str, home: Path) -> Iterator[tuple[Path, str]]:
    """Yield the version managers' folders that PATH names, and why each."""
    for entry in map(Path, path_value.split(os.pathsep)):
        for top, at in ((home, "~/"), (_BREW_HOME, f"{_BREW_HOME}/"), (_NIX, f"{_NIX}/")):
            for pattern, needed in _TOOLCHAINS if top != _NIX else _OF_NIX:
                level = matched(entry, top, pattern)
                if level is not None:
                    for folder in needed:
                        if os.path.isdir(path := top / folder.replace("*", level)):
                            yield path, f"{at}{entry.relative_to(top)} on PATH"


_BREW_HOME = Path("/home/linuxbrew")
_NIX = Path("/nix/var/nix/profiles")
_OF_NIX = (("default/bin", ("default",)),)


def matched(entry: Path, home: Path, pattern: str) -> str | None:
    """Return what stands for the `*` of a pattern where `entry` lies below it, None where it does not."""
    parts = PurePath(pattern).parts
    if not entry.is_relative_to(home) or len(below := entry.relative_to(home).parts) < len(parts):
        return None
    level = ""
    for part, given in zip(parts, below, strict=False):
        if part == "*":
            level = given
        elif part != given:
            return None
    return level

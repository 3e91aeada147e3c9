"""Where a harness's executable really lies, and what must be bound for it to start in the jail. Runs nothing.

Everything here is looked up on the session's recorded PATH, so that another shell finds the same programs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hqt.harnesses.base import Bind
from hqt.sandbox import SYSTEM_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHEBANG_BYTES = 256
_MOST_LINKS = 40  # as the kernel's own limit


TOOLCHAIN_VARIABLES = (
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "BUN_INSTALL",
    "DOTNET_ROOT",
    "FNM_DIR",
    "GOROOT",
    "JAVA_HOME",
    "MISE_DATA_DIR",
    "NVM_DIR",
    "PNPM_HOME",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "VOLTA_HOME",
)
"""Plain variables by which version managers find their own folders."""


def steady_path(path_value: str) -> str:
    """Return PATH as it is recorded: absolute entries only, those in short-lived folders resolved.

    fnm, for one, puts a link into `/run/user/…` for each shell, which is gone after a reboot.
    """
    entries = (entry for entry in path_value.split(os.pathsep) if entry.startswith("/"))
    return os.pathsep.join(
        os.path.realpath(entry) if entry.startswith(("/run/", "/tmp/", "/dev/shm/")) else entry  # noqa: S108
        for entry in entries
    )


def which(program: str, path_value: str, cwd: Path) -> Path | None:
    """Return the file that running `program` in `cwd` would start, or None."""
    if "/" in program:
        return path if _is_program(path := cwd / program) else None
    return next((path for entry in path_value.split(os.pathsep) if _is_program(path := Path(entry) / program)), None)


def executable_binds(
    found: Path, path_value: str, *, visible: list[Path], untrusted: list[Path]
) -> tuple[Path, list[Bind]]:
    """Return the path by which the jail starts `found`, and the binds that this takes.

    `visible` are folders that the jail sees anyway. A chain of links outside of them is replaced by its end, bound
    with the package that it belongs to, and its `#!` interpreter likewise. `untrusted` are folders that a jail can
    write: nothing is bound because of what lies there.
    """
    if any(_is_below(link, untrusted) for link in chain(found)):
        return found, []
    real = found.resolve()
    if _is_visible(found, visible) and _is_visible(real, visible):
        return found, _interpreter_binds(real, path_value, visible, untrusted)
    bound = _package(real)
    binds = [] if _is_visible(bound, visible) else [Bind(bound)]
    return real, [*binds, *_interpreter_binds(real, path_value, [*visible, bound], untrusted)]


def bound_by_name(found: Path, path_value: str, *, visible: list[Path], untrusted: list[Path]) -> list[Bind]:
    """Return the binds by which a jail has the program `found` under the name that it was found by: a link, as it was.

    A program that looks for its files beside itself must not lie elsewhere.
    """
    program, binds = executable_binds(found, path_value, visible=visible, untrusted=untrusted)
    is_there = program == found or any(found.is_relative_to(bind.where) for bind in binds)
    return binds if is_there else [*binds, Bind(program, target=found, kind="link")]


def chain(path: Path) -> list[Path]:
    """Return the path and every link that it leads through, to its end."""
    chain = [path]
    while os.path.islink(chain[-1]) and len(chain) < _MOST_LINKS:
        chain.append(chain[-1].parent.resolve() / chain[-1].readlink())
    return [*chain, path.resolve()]


def _interpreter_binds(script: Path, path_value: str, visible: list[Path], untrusted: list[Path]) -> list[Bind]:
    words = _shebang(script)
    if not words:
        return []
    interpreter: Path | None = Path(words[0])
    if Path(words[0]).name == "env":
        named = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
        interpreter = which(named, path_value, script.parent) if named else None
    if interpreter is None or not os.path.exists(interpreter) or _is_visible(interpreter, visible):
        return []
    if any(_is_below(link, untrusted) for link in chain(interpreter)):
        return []
    # The interpreter is looked up by the name it was found under, so that is where its file must appear.
    return [Bind(interpreter.resolve(), target=interpreter), *_python_installation(interpreter, visible)]


def _python_installation(interpreter: Path, visible: list[Path]) -> Iterator[Bind]:
    """Yield what a virtual environment's interpreter needs: the environment, and the real installation."""
    environment = interpreter.parent.parent
    if os.path.isfile(environment / "pyvenv.cfg") and not _is_visible(environment, visible):
        yield Bind(environment)
    real = interpreter.resolve()
    installation = real.parent.parent
    if "python" in real.name and not _is_visible(real, visible):
        yield Bind(installation)


def _package(real: Path) -> Path:
    """Return the folder that `real` needs around it: its package, or only itself."""
    modules = [parent for parent in real.parents if parent.name == "node_modules"]
    if modules:
        outermost = modules[-1]
        # npm and pnpm leave a lock in the folder of a local installation, whose packages share it.
        if os.path.exists(outermost / ".package-lock.json") or os.path.exists(outermost / ".pnpm"):
            return outermost
        inside = real.relative_to(outermost).parts
        return outermost.joinpath(*inside[: 2 if inside[0].startswith("@") else 1])
    environment = real.parent.parent
    return environment if os.path.isfile(environment / "pyvenv.cfg") else real


def _shebang(script: Path) -> list[str]:
    try:
        with script.open("rb") as lines:
            first = lines.readline(_SHEBANG_BYTES)
    except OSError:
        return []
    return os.fsdecode(first[2:]).split() if first.startswith(b"#!") else []


def _is_visible(path: Path, visible: list[Path]) -> bool:
    return _is_below(path, [*map(Path, SYSTEM_FOLDERS), *visible])


def _is_below(path: Path, folders: list[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _is_program(path: Path) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)

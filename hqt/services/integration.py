"""What hqt brings for other programs, the tmux plugin and the shells' completions: where it lies, and adding it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from hqt.db.connection import make_missing_folders
from hqt.errors import HqtError
from hqt.tmux_language import format_literal, quoted

COMPLETIONS = {"bash": "hqt.bash", "zsh": "_hqt", "fish": "hqt.fish"}
_MARK = "# hqt: prefix H opens its keys; made by hqt tmux --install"
_OPTION_MARK = "set-option -g @hqt_command "


@dataclass(frozen=True, slots=True)
class Change:
    """A text file as it is to become; `before` is None where there is none yet."""

    path: Path
    before: str | None
    after: str

    @property
    def difference(self) -> str:
        """The change as a unified diff, empty where there is none."""
        lines = unified_diff(
            (self.before or "").splitlines(), self.after.splitlines(), str(self.path), str(self.path), lineterm="", n=2
        )
        return "\n".join(lines)

    @property
    def names_hqt(self) -> bool:
        """Whether the file has lines of hqt's already, if other ones."""
        return _MARK in (self.before or "").splitlines()

    def make(self) -> None:
        """Write the file, through a link if it is one; whole or not at all.

        Raises:
            HqtError: it cannot be written.

        """
        path = Path(os.path.realpath(self.path))
        beside = path.with_name(f".{path.name}.hqt-{os.getpid()}")
        try:
            make_missing_folders(path.parent)
            beside.write_text(self.after, encoding="utf-8", errors="surrogateescape")
            beside.chmod(0o644 if self.before is None else path.stat().st_mode & 0o777)  # whatever the umask is
            beside.replace(path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise HqtError(f"{path} cannot be written: {error.strerror}", "add the lines yourself") from None


def shared(name: str) -> Path:
    """Return where a file of `tmux/` or `completions/` lies: in the installed package, or in the checkout."""
    package = Path(__file__).parents[1]
    installed = package / "share" / name
    return installed if installed.exists() else package.parent / name


def tmux_lines() -> list[str]:
    """Return the lines for tmux.conf."""
    program = _program()
    named = [] if program == "hqt" else [f"{_OPTION_MARK}{quoted(program).decode()}"]
    command = format_literal(shlex.join(["sh", str(shared("tmux/hqt.tmux"))]))
    return [_MARK, *named, f"run-shell {quoted(command).decode()}"]


def tmux_change() -> Change:
    """Return what `hqt tmux --install` does to tmux's configuration; lines that it added before are replaced."""
    path = _tmux_configuration()
    before = _text(path)
    lines = (before or "").splitlines()
    if _MARK in lines:
        place = lines.index(_MARK)
        end = place + 1
        while end < len(lines) and lines[end].startswith((_OPTION_MARK, "run-shell ")):
            end += 1
        lines[place:end] = tmux_lines()
    else:
        lines += ([""] if lines and lines[-1].strip() else []) + tmux_lines()
    return Change(path, before, "\n".join(lines) + "\n")


def completion(shell: str) -> str:
    """Return a shell's completion script."""
    return shared(f"completions/{COMPLETIONS[shell]}").read_text(encoding="utf-8")


def completion_change(shell: str) -> Change:
    """Return what `hqt completion SHELL --install` does: a file in the user's own folder for completions."""
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
    folders = {
        "bash": data / "bash-completion/completions/hqt",
        "zsh": data / "zsh/site-functions/_hqt",
        "fish": data / "fish/vendor_completions.d/hqt.fish",
    }
    path = folders[shell]
    return Change(path, _text(path), completion(shell))


def _tmux_configuration() -> Path:
    """Return the file that tmux reads, of those that its manual names; without any, the first of them."""
    home = Path.home()
    candidates = [home / ".tmux.conf", home / ".config/tmux/tmux.conf"]
    if configured := os.environ.get("XDG_CONFIG_HOME"):
        candidates.insert(1, Path(configured) / "tmux/tmux.conf")
    return next((path for path in candidates if path.exists()), candidates[0])


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HqtError(f"{path} cannot be read: {error.strerror}", "add the lines yourself") from None


def _program() -> str:
    """Return how tmux's keys are to call hqt: by its name where that finds this one, else by its path."""
    found = shutil.which("hqt")
    beside = Path(sys.executable).with_name("hqt")
    running = Path(sys.argv[0]).absolute() if Path(sys.argv[0]).name == "hqt" else beside
    if found and os.path.realpath(found) == os.path.realpath(running):
        return "hqt"
    if running.exists():
        return shlex.quote(str(running))
    return shlex.join([sys.executable, "-P", "-m", "hqt"])  # never what lies in a pane's folder

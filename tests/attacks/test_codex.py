"""What a jailed Codex could leave in its own folder that another Codex, outside, would obey; and the sockets there."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
from pathlib import Path

import pytest

from tests.attacks.attack import BREACH, Attack
from tests.attacks.reaching import unix
from tests.attacks.writing import changed, planted
from tests.world import PLAIN_UID, World, eventually

FOLDER = "home/.codex"


def written(name, place):
    """An attack that adds to a file of the folder, or replaces it."""
    return Attack(
        name, f"echo planted >> ~/.codex/{place}; mv ~/.codex/{place} ~/.codex/x", changed(f"{FOLDER}/{place}")
    )


CODEX = [
    Attack("notify", "printf 'notify = [\"planted\"]\\nplanted\\n' >> ~/.codex/config.toml", changed(f"{FOLDER}/config.toml")),
    Attack("mcp_servers", "printf '[mcp_servers.x]\\nplanted\\n' > ~/.codex/config.toml", changed(f"{FOLDER}/config.toml")),
    written("orders", "AGENTS.md"),
    written("orders_over_orders", "AGENTS.override.md"),
    written("hooks", "hooks.json"),
    written("a_notification_program", "notify.sh"),
    written("the_programs_own_package", "packages/standalone/codex"),
    *(
        Attack(
            f"{name}_made_anew",
            f"mkdir -p ~/.codex/{name}; echo planted > ~/.codex/{name}/new; mv ~/.codex/{name} ~/.codex/y",
            planted(f"{FOLDER}/{name}/new", f"{FOLDER}/y"),
        )
        for name in ("prompts", "rules", "skills", "hooks", "plugins", "packages")
    ),
    Attack(
        "the_shells_of_another_instance",
        "for f in ~/.codex/shell_snapshots/*; do echo planted >> $f; done",
        changed(f"{FOLDER}/shell_snapshots/running.sh"),
    ),
    unix("control_socket", '"HOME/.codex/app-server-control/control.sock"', naive=True),
    unix("daemon_socket", '"HOME/.codex/app-server-daemon/daemon.sock"', naive=True),
]  # fmt: skip
TOKENS = dict.fromkeys(("AGENTS.md", "AGENTS.override.md", "hooks.json", "config.toml", "notify.sh", "packages/standalone/codex", "shell_snapshots/running.sh"), "mine\n")  # fmt: skip


class Field(World):
    """A home with a Codex that was used before, and sockets of an instance that runs outside."""

    def plant(self, opened):
        folder = self.home / ".codex"
        for place, text in TOKENS.items():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_text(text)
        for place in ("app-server-control/control.sock", "app-server-daemon/daemon.sock"):
            (folder / place).parent.mkdir()
            listening = opened.enter_context(socket.socket(socket.AF_UNIX))
            listening.bind(str(folder / place))
            listening.listen(8)
        self.results = self.base / "results"
        self.results.mkdir()
        script = "".join(
            f"( {attack.script.replace(chr(34) + 'HOME/', f'{chr(34)}{self.home}/')}\n) > {self.results}/{attack.name}\n"
            for attack in CODEX
        )
        (self.base / "run.sh").write_text(f"{script}\ntouch {self.results}/finished\nsleep 1000\n")
        self.fake("codex", f"exec sh {self.base}/run.sh")

    def outcomes(self):
        said = {attack.name: (self.results / attack.name).read_text() for attack in CODEX}
        return {attack.name: BREACH in said[attack.name] or attack.damage(self) for attack in CODEX}


@contextlib.contextmanager
def field(uid, program):
    with contextlib.ExitStack() as opened:
        base = Path(tempfile.mkdtemp(prefix="hqt-codex-", dir="/var/tmp"))
        opened.callback(shutil.rmtree, base, ignore_errors=True)
        made = Field(base, uid, *program)
        made.plant(opened)
        yield made


@pytest.fixture(scope="module", params=["root", "plain"] if os.getuid() == 0 else ["plain"])
def outcomes(request, program):
    """What became of every attack in a jail of hqt's."""
    uid = PLAIN_UID if request.param == "plain" and os.getuid() == 0 else os.getuid()
    with field(uid, program) as made:
        binds = ("--bind", made.base / "run.sh", "--bind", f"{made.results}:rw")
        made.new("-s", "-H", "codex", *binds)
        try:
            eventually((made.results / "finished").exists)
        finally:
            made.end()
        return made.outcomes()


@pytest.fixture(scope="module")
def naive(program):
    """What becomes of every attack, each on its own, where the folder is simply writable."""

    def outcome(attack):
        with field(os.getuid(), program) as made:
            script = attack.script.replace('"HOME/', f'"{made.home}/')
            mounts = [word for place in ("/usr", "/bin", "/lib", "/lib64") for word in ("--ro-bind-try", place, place)]
            own = ["--bind", made.home / ".codex", made.home / ".codex", "--proc", "/proc", "--dev", "/dev"]
            said = made.run("bwrap", *mounts, *own, "--", "sh", "-c", script, cwd="/").stdout
            return BREACH in said or attack.damage(made)

    return outcome


@pytest.mark.parametrize("attack", CODEX, ids=lambda attack: attack.name)
def test_the_attack_on_codexs_folder_fails(outcomes, attack):
    assert not outcomes[attack.name]


@pytest.mark.parametrize("attack", CODEX, ids=lambda attack: attack.name)
def test_the_attack_gets_through_where_the_folder_is_simply_writable(naive, attack):
    assert naive(attack)

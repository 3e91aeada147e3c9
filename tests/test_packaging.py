"""The wheel and the source distribution: what is in them, and that a wheel is all that hqt needs."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from hqt import __version__

ROOT = Path(__file__).parent.parent


def build(source, into):
    """Build both distributions, without the network, and return their paths."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(into)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (wheel,), (source_distribution,) = into.glob("*.whl"), into.glob("*.tar.gz")
    return wheel, source_distribution


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture
def installed(distributions, tmp_path, own_world):
    """The wheel in a virtual environment of its own; what it depends on is this one's."""
    folder = tmp_path / "venv"
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", distributions[0]], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (folder / "lib" / version / "site-packages/dependencies.pth").write_text(sysconfig.get_path("purelib"))
    own_world.program = [str(folder / "bin/hqt")]
    own_world.forkserver = ""
    del own_world.environment["PYTHONPATH"]
    own_world.environment |= own_world.path_with(folder / "bin")
    return own_world


def test_a_wheel_from_the_checkout_and_one_from_the_source_distribution_are_the_same_bytes(distributions, tmp_path):
    wheel, source = distributions
    subprocess.run(["tar", "-xf", source, "-C", tmp_path], check=True)
    (unpacked,) = tmp_path.iterdir()
    again, source_again = build(unpacked, tmp_path)
    assert again.read_bytes() == wheel.read_bytes()
    assert source_again.read_bytes() == source.read_bytes()


def test_the_wheel_holds_what_a_user_needs_and_nothing_else(distributions):
    names = zipfile.ZipFile(distributions[0]).namelist()
    data = f"hqt-{__version__}.data/data/share"
    assert {
        "hqt/py.typed",
        "hqt/services/probe.sh",
        "hqt/share/tmux/hqt.tmux",
        "hqt/share/tmux/status.sh",
        "hqt/share/completions/hqt.bash",
        f"{data}/man/man1/hqt.1",
        f"{data}/bash-completion/completions/hqt",
        f"{data}/zsh/site-functions/_hqt",
        f"{data}/fish/vendor_completions.d/hqt.fish",
    } <= set(names)
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "hqt").rglob("*.py")}
    assert modules == {name for name in names if name.endswith(".py")}
    assert {name.split("/")[0] for name in names} == {
        "hqt",
        data.split("/", maxsplit=1)[0],
        f"hqt-{__version__}.dist-info",
    }


def test_the_source_distribution_can_be_tested_and_holds_nothing_that_was_made(distributions):
    with tarfile.open(distributions[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "README.md", ".ci/run", "requirements-dev.txt", "tests/conftest.py", "scripts/demo"} <= names
    assert not {name for name in names if "__pycache__" in name or name.startswith((".venv", ".harnesses", "site/"))}


def test_from_a_wheel_a_sandboxed_session_starts_and_its_promises_hold(installed):
    name = installed.new("-s", "-H", "generic", "--", "sleep", "1000")
    assert installed.show(name)["sandbox"] == {"fs": "rw", "net": True}
    installed.hqt("check", name)
    installed.hqt("audit", name)


def test_from_a_wheel_the_keys_and_the_completions_are_found(installed):
    installed.hqt("tmux", "--install", "--yes")
    lines = (installed.home / ".tmux.conf").read_text()
    (script,) = re.findall(r"/[^'\" ]*hqt\.tmux", lines)
    assert "site-packages/hqt/share/tmux" in script
    assert Path(script).exists()
    for shell in ("bash", "zsh", "fish"):
        assert "hqt" in installed.hqt("completion", shell).stdout
    manual = Path(installed.program[0]).parents[1] / "share/man/man1/hqt.1"
    assert manual.read_text().startswith('.\\"')


def test_it_is_found_as_a_module_too(installed):
    python = Path(installed.program[0]).with_name("python")
    assert installed.run(python, "-P", "-m", "hqt", "--version").stdout == installed.hqt("--version").stdout
    assert __version__ in installed.hqt("--version").stdout


def test_uninstalling_leaves_the_sessions(installed):
    name = installed.new("-H", "generic", "--", "sleep", "1000")
    python = Path(installed.program[0]).with_name("python")
    subprocess.run([python, "-m", "pip", "uninstall", "-q", "-y", "hqt"], check=True)
    assert not Path(installed.program[0]).exists()
    assert installed.database.exists()
    assert name in installed.tmux("list-windows", "-a", "-F", "#{window_name}")

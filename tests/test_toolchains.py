"""Toolchains in the home folder: those that a project uses are in its jail, with their reasons, and no secret."""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hqt import toolchains
from tests.world import SECRET

HARNESSES = Path(__file__).parent.parent / ".harnesses/node_modules/.bin"
UV = Path(sys.prefix) / "bin/uv"
PYTHON = os.path.realpath("/usr/bin/python3")
TELL = "#!/bin/sh\necho ran from $0\n"

uv_is_there = pytest.mark.skipif(not UV.exists(), reason="uv is of the development environment")
mise_is_there = pytest.mark.skipif(not (HARNESSES / "mise").exists(), reason="mise could not be installed")
pnpm_is_there = pytest.mark.skipif(not (HARNESSES / "pnpm").exists(), reason="pnpm could not be installed")


def write(path, text="", mode=0o755):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def reasons(world, *options):
    """Return why each path of the set-up is in a jail of this project, and forget the session."""
    name = world.new("-s", "-H", "generic", *options, "--", "sleep", "1000")
    found = {bind["target"].removeprefix(f"{world.home}/"): bind["reason"] for bind in world.show(name)["binds"]}
    world.hqt("rm", name)
    return {place: reason for place, reason in found.items() if reason}


def managed_python(world):
    """A Python where uv keeps its own, with the link for its minor version: the system's program under its name."""
    folder = world.home / ".local/share/uv/python"
    program = folder / "cpython-3.11.9-linux-x86_64-gnu/bin/python3.11"
    program.parent.mkdir(parents=True)
    shutil.copy(PYTHON, program)
    (program.parent / "python3").symlink_to("python3.11")
    (folder / "cpython-3.11-linux-x86_64-gnu").symlink_to("cpython-3.11.9-linux-x86_64-gnu")
    return folder / "cpython-3.11-linux-x86_64-gnu/bin/python3.11"


def uv(world, *arguments):
    environment = {"UV_OFFLINE": "1", "UV_NO_INDEX": "1", "UV_PYTHON_DOWNLOADS": "never", "UV_NO_CONFIG": "1"}
    ended = world.run(UV, *arguments, env=environment)
    assert ended.returncode == 0, ended.stderr


@uv_is_there
def test_a_virtual_environment_of_uvs_finds_its_python(own_world):
    uv(own_world, "venv", "--python", managed_python(own_world))
    write(own_world.home / ".local/share/uv/credentials/secret", SECRET)
    said = own_world.output_of(".venv/bin/python -c 'print(6 * 7)'; cat ~/.local/share/uv/credentials/*", "-s")
    assert "42" in said
    assert SECRET not in said
    found = reasons(own_world)
    assert found[".local/share/uv/python/cpython-3.11-linux-x86_64-gnu"] == "the project's .venv"
    assert "No such file" in own_world.output_of(".venv/bin/python -V 2>&1 || echo No such file", "--no-toolchains")


def wheel(world):
    """A package as built, made here so that nothing is fetched."""
    path = world.base / "greet-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        files = {
            "greet.py": "def main():\n    print('greetings from a tool')\n",
            "greet-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n",
            "greet-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            "greet-1.0.dist-info/entry_points.txt": "[console_scripts]\ngreet = greet:main\n",
        }
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr("greet-1.0.dist-info/RECORD", "".join(f"{name},,\n" for name in files))
    return path


@uv_is_there
def test_a_tool_that_uv_installed_runs(own_world):
    uv(own_world, "tool", "install", "--python", managed_python(own_world), wheel(own_world))
    own_world.environment |= own_world.path_with(own_world.home / ".local/bin")
    write(own_world.home / ".local/bin/keep-out.env", SECRET, 0o600)
    said = own_world.output_of("greet; cat ~/.local/bin/keep-out.env; readlink ~/.local/bin/greet", "-s")
    assert "greetings from a tool" in said
    assert SECRET not in said
    assert reasons(own_world)[".local/bin/greet"] == "greet on PATH"


@mise_is_there
@pytest.mark.parametrize("activated", [True, False])
def test_a_tool_that_mise_manages_runs(own_world, activated):
    prefix = own_world.base / "odd-tool"
    write(prefix / "bin/odd", "#!/bin/sh\necho odd of mise\n")
    write(own_world.home / ".local/bin/mise", "").unlink()
    shutil.copy((HARNESSES / "mise").resolve(), own_world.home / ".local/bin/mise")
    binary = next((HARNESSES.parent / "mise").rglob("bin/mise"), None) or next(HARNESSES.parent.rglob("mise*/bin/mise"))
    if binary.read_bytes()[:4] == b"\x7fELF":
        shutil.copy(binary, own_world.home / ".local/bin/mise")
    own_world.environment |= own_world.path_with(own_world.home / ".local/bin") | {"MISE_OFFLINE": "1"}
    installs = own_world.home / ".local/share/mise/installs/odd/1.2.0"
    shutil.copytree(prefix, installs)
    (own_world.project / "mise.toml").write_text('[tools]\nodd = "1.2.0"\n')
    own_world.give_away()
    assert own_world.run("mise", "trust").returncode == 0
    write(own_world.home / ".config/mise/config.toml", f'[env]\nTOKEN = "{SECRET}"\n')
    if activated:
        own_world.environment |= own_world.path_with(installs / "bin")
    said = own_world.output_of(
        f"{'odd' if activated else installs / 'bin/odd'}; mise --version; cat ~/.config/mise/*", "-s"
    )
    assert "odd of mise" in said
    assert "linux-x64" in said or "linux-arm64" in said
    assert SECRET not in said
    assert "the project's mise.toml" in reasons(own_world).values() or activated


@pnpm_is_there
def test_a_program_that_pnpm_installed_globally_runs(own_world):
    package = own_world.base / "tool"
    write(package / "package.json", '{"name": "odd", "version": "1.0.0", "bin": "cli.js"}')
    write(package / "cli.js", "#!/usr/bin/env node\nconsole.log('odd of pnpm')\n")
    home = own_world.home / ".local/share/pnpm"
    own_world.environment |= {"PNPM_HOME": str(home), "npm_config_offline": "true", "XDG_RUNTIME_DIR": "/nonexistent"}
    own_world.environment |= own_world.path_with(home, home / "bin")
    own_world.give_away()
    ended = own_world.run((HARNESSES / "pnpm").resolve(), "add", "--global", f"link:{package}")
    if ended.returncode:
        ended = own_world.run((HARNESSES / "pnpm").resolve(), "add", "--global", f"file:{package}")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "odd of pnpm" in own_world.output_of("odd", "-s", "--bind", package)


VERSIONS = {
    ".nvmrc": ("v20.1.0\n", ".nvm/versions/node/v20.1.0"),
    ".node-version": ("20.1.0\n", ".local/share/fnm/node-versions/v20.1.0"),
    ".python-version": ("3.12\n", ".pyenv/versions/3.12.4"),
    ".tool-versions": ("nodejs 20.1.0 # a comment\n", ".asdf/installs/nodejs/20.1.0"),
    "mise.toml": ('[tools]\nnode = "20"\n', ".local/share/mise/installs/node/20.1.0"),
    ".sdkmanrc": ("java=21.0.2-tem\n", ".sdkman/candidates/java/21.0.2-tem"),
    "rust-toolchain.toml": ('[toolchain]\nchannel = "stable"\n', ".rustup"),
}


@pytest.mark.parametrize("name", VERSIONS)
def test_a_version_that_a_file_of_the_project_names_is_there(own_world, name):
    text, folder = VERSIONS[name]
    write(own_world.home / folder / "bin/tool", TELL)
    write(own_world.home / Path(folder).parent / "another/bin/tool", TELL)
    (own_world.project / name).write_text(text)
    assert "ran from" in own_world.output_of(f"~/{folder}/bin/tool; ls -d ~/{Path(folder).parent}/another", "-s")
    found = reasons(own_world)
    assert "the project's" in found[folder]
    assert str(Path(folder).parent / "another") not in found
    assert folder not in reasons(own_world, "--no-toolchains")


@pytest.mark.parametrize("entry", [".nix-profile/bin", ".guix-profile/bin", ".local/state/nix/profiles/profile/bin"])
def test_a_profile_of_a_store_is_there_by_its_own_name(tmp_path, entry):
    store = tmp_path / "store/profile"
    write(store / "bin/tool", TELL)
    place = tmp_path / "home" / Path(entry).parent
    place.parent.mkdir(parents=True)
    place.symlink_to(store)
    (found,) = toolchains.find(tmp_path / "p", tmp_path / "home", f"{tmp_path}/home/{entry}", []).needed
    assert (found.src, found.target) == (store, place)


def test_credentials_beside_a_toolchain_stay_outside(own_world):
    for name in (
        ".cargo/credentials.toml",
        ".npmrc",
        ".config/x/token",
        ".local/share/uv/credentials/x",
        ".pypirc",
        ".m2/settings.xml",
    ):
        write(own_world.home / name, SECRET)
    for folder in (".cargo/bin", ".nvm/versions/node/v20.1.0/bin", ".local/bin", ".local/share/pnpm"):
        write(own_world.home / folder / "tool", TELL)
        own_world.environment |= own_world.path_with(own_world.home / folder)
    said = own_world.output_of(f"cd; grep -r {SECRET} . 2>/dev/null; tool", "-s")
    assert SECRET not in said.replace(f"grep -r {SECRET}", "")
    assert "ran from" in said


def planted_environment(project, target):
    write(project / ".venv/pyvenv.cfg", f"home = {target}/bin\n")
    (project / ".venv/bin").mkdir()
    (project / ".venv/bin/python").symlink_to(target / "bin/python3")


def planted_modules(project, target):
    (project / "node_modules/.bin").mkdir(parents=True)
    (project / "node_modules/.bin/tool").symlink_to(target / "bin/tool")


def planted_versions(project, target):
    for name in VERSIONS:
        (project / name).write_text(f"../../../{target.name}\n")
    (project / ".tool-versions").write_text(f"node ../../../../{target.name}\n.. {target.name}\n")


@pytest.mark.parametrize("plant", [planted_environment, planted_modules, planted_versions])
def test_what_a_jail_can_have_written_into_the_project_opens_no_other_folder(own_world, plant):
    other = own_world.home / "other-project"
    write(other / "bin/python3", TELL)
    write(other / "bin/tool", TELL)
    write(other / "secret", SECRET)
    plant(own_world.project, other)
    assert SECRET not in own_world.output_of(f"cat {other}/secret", "-s")
    assert reasons(own_world) == {}


def test_more_programs_than_a_few_are_named_and_not_mounted(tmp_path):
    for number in range(20):
        write(tmp_path / f".local/bin/tool{number:02}", TELL)
    found = toolchains.find(tmp_path / "p", tmp_path, f"{tmp_path}/.local/bin", [])
    assert len(found.needed) == 12
    assert "8 more programs" in found.notes[0]


def test_an_environment_that_leads_to_itself_ends(tmp_path):
    tool = tmp_path / ".local/share/uv/tools/x"
    write(tool / "pyvenv.cfg", f"home = {tool}/bin\n")
    (tool / "bin").mkdir()
    (tool / "bin/python").symlink_to("python")
    (tmp_path / ".local/bin").mkdir(parents=True)
    (tmp_path / ".local/bin/x").symlink_to(tool / "bin/x")
    write(tool / "bin/x", TELL)
    found = toolchains.find(tmp_path / "p", tmp_path, f"{tmp_path}/.local/bin", [])
    assert {needed.target for needed in found.needed} == {tmp_path / ".local/share/uv/tools", tmp_path / ".local/bin/x"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(name=st.sampled_from(sorted(VERSIONS)), text=st.text())
def test_any_text_in_a_version_file_opens_nothing_outside_its_managers_folder(tmp_path, name, text):
    project = tmp_path / "p"
    project.mkdir(exist_ok=True)
    (project / name).write_text(text, encoding="utf-8", errors="surrogatepass")
    (tmp_path / "secret").mkdir(exist_ok=True)
    for needed in toolchains.find(project, tmp_path, "/usr/bin", []).needed:
        assert any(toolchains.matched(needed.target, tmp_path, pattern) is not None for pattern in toolchains._MANAGED)

"""Harnesses installed in every way start in the jail, and nothing more than they need is bound."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hqt import toolchains
from hqt.executables import executable_binds, steady_path, which
from tests.world import eventually

NODE_SCRIPT = "#!/usr/bin/env node\nconsole.log('ran with ' + require('./lib.js') + ' ' + process.argv.slice(2))\n"
TELL = "#!/bin/sh\necho ran from $0\n"


def write(path, text="", mode=0o755):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def npm_package(root, name):
    """A package as npm lays it out: a script beside a file that it requires."""
    write(root / name / "package.json", "{}")
    write(root / name / "lib.js", "module.exports = 'its library'\n")
    return write(root / name / "cli.js", NODE_SCRIPT)


def installed_globally_with_nvm(home):
    version = home / ".nvm/versions/node/v20.1.0"
    write(version / "bin/node", '#!/bin/sh\nexec /usr/bin/node "$@"\n')
    script = npm_package(version / "lib/node_modules", "@scope/tool")
    (version / "bin/tool").symlink_to(os.path.relpath(script, version / "bin"))
    return version / "bin"


def installed_with_an_npm_prefix(home):
    script = npm_package(home / ".npm-global/lib/node_modules", "tool")
    (home / ".npm-global/bin").mkdir()
    (home / ".npm-global/bin/tool").symlink_to("../lib/node_modules/tool/cli.js")
    del script
    return home / ".npm-global/bin"


def installed_locally_with_npm(home):
    npm_package(home / "app/node_modules", "tool")
    npm_package(home / "app/node_modules", "another")
    write(home / "app/node_modules/.package-lock.json", "{}")
    (home / "app/node_modules/.bin").mkdir()
    for name in ("tool", "another"):
        (home / f"app/node_modules/.bin/{name}").symlink_to(f"../{name}/cli.js")
    return home / "app/node_modules/.bin"


def installed_natively(home):
    write(home / ".local/share/tool/versions/1.2.3", TELL)
    (home / ".local/bin").mkdir(parents=True)
    (home / ".local/bin/tool").symlink_to(home / ".local/share/tool/versions/1.2.3")
    return home / ".local/bin"


def installed_with_volta(home):
    write(home / ".volta/bin/volta-shim", TELL)
    (home / ".volta/bin/tool").symlink_to("volta-shim")
    return home / ".volta/bin"


def installed_with_fnm(home):
    version = home / ".local/share/fnm/node-versions/v20/installation"
    write(version / "bin/node", '#!/bin/sh\nexec /usr/bin/node "$@"\n')
    script = npm_package(version / "lib/node_modules", "tool")
    (version / "bin/tool").symlink_to(os.path.relpath(script, version / "bin"))
    return version / "bin"


def installed_with_pyenv(home):
    write(home / ".pyenv/versions/3.12.0/bin/tool", TELL)
    write(home / ".pyenv/shims/tool", f"#!/bin/sh\nexec {home}/.pyenv/versions/3.12.0/bin/tool\n")
    return home / ".pyenv/shims"


def installed_with_mise(home):
    write(home / ".local/share/mise/installs/tool/1.0/bin/tool", TELL)
    return home / ".local/share/mise/installs/tool/1.0/bin"


def installed_with_cargo(home):
    write(home / ".cargo/bin/tool", TELL)
    write(home / ".cargo/credentials.toml", "a token", 0o600)
    return home / ".cargo/bin"


def installed_in_a_virtual_environment(home):
    write(home / ".local/share/pipx/venvs/tool/pyvenv.cfg", "home = /usr/bin\n", 0o644)
    (home / ".local/share/pipx/venvs/tool/bin").mkdir()
    python = home / ".local/share/pipx/venvs/tool/bin/python"
    python.symlink_to("/usr/bin/python3")
    write(home / ".local/share/pipx/venvs/tool/bin/tool", f"#!{python}\nprint('ran from python')\n")
    (home / ".local/bin").mkdir(parents=True)
    (home / ".local/bin/tool").symlink_to(home / ".local/share/pipx/venvs/tool/bin/tool")
    return home / ".local/bin"


WAYS = [
    installed_globally_with_nvm,
    installed_with_an_npm_prefix,
    installed_locally_with_npm,
    installed_natively,
    installed_with_volta,
    installed_with_fnm,
    installed_with_pyenv,
    installed_with_mise,
    installed_with_cargo,
    installed_in_a_virtual_environment,
]


@pytest.mark.parametrize("install", WAYS)
def test_a_tool_starts_in_the_jail_however_it_was_installed(own_world, install):
    folder = install(own_world.home)
    write(own_world.home / ".local/share/private", "private")
    own_world.environment.update(own_world.path_with(folder))
    name = own_world.new("-s", "-H", "generic", "--", "tool", "argument")
    eventually(lambda: own_world.state(name) == "exited 0")
    eventually(lambda: "ran " in own_world.hqt("peek", name).stdout, "its last words are on the screen")
    bound = [Path(bind["target"]) for bind in own_world.show(name)["binds"]]
    for wide in (".local", ".local/share", ".local/bin", ".nvm", ".npm-global", ".cargo"):
        assert own_world.home / wide not in bound


def test_what_a_jail_can_write_decides_no_bind(tmp_path):
    project, secret = tmp_path / "project", write(tmp_path / "secret/tool", TELL)
    (project / "bin").mkdir(parents=True)
    (project / "bin/tool").symlink_to(secret)
    found, binds = executable_binds(project / "bin/tool", "", visible=[], untrusted=[project])
    assert (found, binds) == (project / "bin/tool", [])
    through = tmp_path / "through"
    through.symlink_to(project / "bin/tool")
    assert executable_binds(through, "", visible=[], untrusted=[project]) == (through, [])


def test_an_interpreter_that_a_jail_can_write_is_not_bound(tmp_path):
    interpreter = write(tmp_path / "project/node", TELL)
    script = write(tmp_path / "script", f"#!{interpreter}\n")
    _, binds = executable_binds(script, "", visible=[], untrusted=[tmp_path / "project"])
    assert [bind.src for bind in binds] == [script]


def test_what_lies_in_a_system_folder_needs_no_bind():
    assert executable_binds(Path("/usr/bin/env"), "/usr/bin", visible=[], untrusted=[]) == (Path("/usr/bin/env"), [])


def test_the_recorded_path_has_neither_relative_nor_short_lived_entries(tmp_path):
    link = Path("/tmp") / f"hqt-link-{os.getpid()}"
    link.symlink_to("/usr/bin")
    try:
        assert steady_path(f".:bin::/usr/local/bin:{link}") == "/usr/local/bin:/usr/bin"
    finally:
        link.unlink()


def test_a_toolchain_that_path_does_not_name_is_not_bound(tmp_path):
    (tmp_path / ".pyenv/shims").mkdir(parents=True)
    (tmp_path / ".cargo/bin").mkdir(parents=True)
    (tmp_path / ".rustup").mkdir()
    found = [folder for folder, _ in toolchains.on_path(f"{tmp_path}/.cargo/bin:/usr/bin", tmp_path)]
    assert found == [tmp_path / ".cargo/bin", tmp_path / ".rustup"]


def test_every_toolchain_is_below_the_home_folder_and_none_is_the_whole_of_one():
    for pattern, needed in toolchains._TOOLCHAINS:
        for folder in (pattern, *needed):
            assert folder not in (".local", ".local/share", ".local/bin", ".nvm", ".config", ".cargo")


def test_which_finds_programs_as_the_shell_does(tmp_path):
    tool = write(tmp_path / "tool", TELL)
    write(tmp_path / "not-executable", "", 0o644)
    assert which("tool", f"/nowhere:{tmp_path}", Path("/")) == tool
    assert which("./tool", "/nowhere", tmp_path) == tool
    assert which("not-executable", str(tmp_path), Path("/")) is None

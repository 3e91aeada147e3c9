"""`config.toml`: what it sets, what is told of one that is wrong, and `hqt config`."""

from __future__ import annotations

import json

import pytest

from hqt import config

SANDBOXED = ("-H", "generic", "--", "sleep", "1000")


@pytest.mark.parametrize(
    ("content", "line", "told", "hint"),
    [
        ("harness = 3", 1, "harness cannot be 3", 'harness = "…"'),
        ('\nsandbox = "yes"', 2, "sandbox cannot be 'yes'", "sandbox = true or false"),
        ("sandbox = 1", 1, "sandbox cannot be 1", "true or false"),
        ('# sandbox\n\n"unknown" = 1', 3, "unknown key 'unknown'", "harness, sandbox, tmux_socket, theme"),
        ("[harnes.x]\na = 1", 1, "unknown key 'harnes'", "known keys"),
        ('# x\nharness = "nope"', 2, "there is no harness named 'nope'", "claude, codex"),
        ('notify = "sh -c x"', 1, "notify cannot be 'sh -c x'", 'notify = ["program", "argument"]'),
        ('notify = ["sh", 1]', 1, "notify cannot be ['sh', 1]", "notify = ["),
        ("desktop = 1", 1, "desktop cannot be 1", "true or false"),
        ('theme = "pink"', 1, "there is no theme named 'pink'", "dark, light"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_what_may_be_there(own_world, content, line, told, hint):
    path = own_world.configure(content)
    for command in (("new", "-d"), ("config",)):
        error = own_world.hqt(*command, fails=1).stderr
        assert f"{path}:{line}: {told}" in error
        assert hint in error
    assert own_world.ls() == []


@pytest.mark.parametrize("content", [b"= broken", b"\xff\xfe", b"harness = 'a\x00b'"])
def test_what_is_not_toml_is_told_with_its_file(own_world, content):
    own_world.configure("").write_bytes(content)
    assert "config.toml cannot be read" in own_world.hqt("new", "-d", fails=1).stderr
    assert "config.toml cannot be read" in own_world.hqt("doctor", fails=1).stdout.replace("\n", "")


def test_the_configured_harness_is_the_default(own_world):
    own_world.configure('harness = "generic"\n')
    assert own_world.new("--", "sleep", "1000") == "project-generic"


def test_a_configured_sandbox_is_the_default_and_an_option_is_stronger(own_world):
    own_world.configure("sandbox = true\n")
    own_world.new(*SANDBOXED)
    own_world.new("--no-sandbox", *SANDBOXED)
    assert [session["sandbox"] for session in own_world.ls()] == [{"fs": "rw", "net": True}, None]


def test_a_configured_sandbox_that_cannot_be_had_is_refused(own_world):
    own_world.configure("sandbox = true\n")
    fake = own_world.base / "bin/bwrap"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    own_world.hqt("new", "-d", *SANDBOXED, env=own_world.path_with(fake.parent), fails=4)
    assert own_world.ls() == []


def test_the_settings_in_force_are_shown_with_where_they_come_from(own_world):
    found = {s["key"]: s for s in json.loads(own_world.hqt("config", "--json").stdout)}
    assert set(found) == set(config.KEYS)
    assert found["tmux_socket"] == {"key": "tmux_socket", "value": str(own_world.socket), "source": "$HQT_TMUX_SOCKET"}
    assert found["harness"]["source"] == "the first that is installed"
    last = own_world.hqt("config").stdout.splitlines()[-1]
    assert last.startswith("There is no ")
    path = own_world.configure('\nharness = "codex"\nsandbox = true\n')
    shown = own_world.hqt("config").stdout
    assert f"{path}:2" in shown
    assert f"{path}:3" in shown
    assert "There is no " not in shown


@pytest.mark.parametrize(
    ("content", "background", "theme"),
    [("", "", "dark"), ("", "0;15", "light"), ("", "15;default;0", "dark"), ('theme = "dark"', "0;15", "dark")],
)
def test_the_theme_is_the_one_that_is_set_or_fits_the_terminal(own_world, content, background, theme):
    own_world.configure(content)
    found = json.loads(own_world.hqt("config", "--json", env={"COLORFGBG": background}).stdout)
    assert {setting["key"]: setting["value"] for setting in found}["theme"] == theme

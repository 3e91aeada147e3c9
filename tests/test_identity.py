"""A session comes back with the identical command, whatever happened and wherever it is asked for."""

from __future__ import annotations

import shlex

import pytest

from tests.world import eventually


@pytest.fixture
def started(world):
    """A session with everything that a command is made from."""
    (world.home / "reference").mkdir()
    (world.home / ".gitconfig").touch()
    world.give_away()
    world.run("git", "init", "-q", ".")
    return world.new(
        *("-H", "generic", "--ro", "--no-net", "--bind", world.home / "reference", "--env", "SOME_NAME"),
        *("--", "sh", "-c", "sleep 1000 # 'quotes' $HOME #(x)", "a b"),
    )


def commands(world, name):
    return shlex.split(world.hqt("show", name, "--argv").stdout), world.start_command(name)


def test_the_command_is_the_same_after_a_stop(world, started):
    before = commands(world, started)
    world.hqt("stop", started)
    assert shlex.split(world.hqt("show", started, "--argv").stdout) == before[0]
    world.hqt("attach", started, "-d")
    assert commands(world, started) == before


def test_the_command_is_the_same_after_the_tmux_server_was_killed(world, started):
    before = commands(world, started)
    world.end()
    assert world.state(started) == "stopped"
    world.hqt("attach", started, "-d")
    assert commands(world, started) == before


def test_the_command_is_the_same_from_another_folder_with_another_path(world, started):
    before = commands(world, started)
    world.hqt("stop", started)
    elsewhere = {**world.path_with("/elsewhere", world.home), "LANG": "C", "EDITOR": "ed", "PYENV_ROOT": "/x"}
    world.hqt("attach", started, "-d", cwd="/", env=elsewhere)
    assert commands(world, started) == before


def test_an_unsandboxed_command_is_the_same_after_a_stop(world):
    name = world.new("-H", "generic", "--", "sleep", "1000")
    before = commands(world, name)
    world.hqt("stop", name)
    world.hqt("attach", name, "-d")
    assert commands(world, name) == before


def test_a_harnesss_moved_folder_is_the_same_from_a_shell_that_does_not_move_it(own_world):
    binary = own_world.home / "bin/claude"
    binary.parent.mkdir()
    binary.write_text("#!/bin/sh\nsleep 1000\n")
    binary.chmod(0o755)
    own_world.environment.update(own_world.path_with(binary.parent))
    moved, other = (str(own_world.home / name) for name in ("moved", "other"))
    names = [
        own_world.new("-s", "-H", "claude", env={"CLAUDE_CONFIG_DIR": moved}),
        own_world.new("-s", "-H", "claude"),
    ]
    before = [own_world.show(name)["argv"] for name in names]
    assert moved in before[0]
    own_world.end()
    for name in names:
        own_world.hqt("attach", name, "-d", env={"CLAUDE_CONFIG_DIR": other})
    assert [own_world.show(name)["argv"] for name in names] == before


def test_the_plain_variables_have_their_recorded_values_again(world):
    name = world.sh("echo lang is $LANG, editor is $EDITOR.; sleep 1000", "-s", env={"EDITOR": "vi"})
    world.hqt("stop", name)
    world.hqt("attach", name, "-d", env={"LANG": "de_DE.UTF-8", "EDITOR": "ed"})
    eventually(lambda: "lang is C.UTF-8, editor is vi." in world.hqt("peek", name).stdout)


@pytest.mark.parametrize("policy", [("-s",), ("--ro",), ("--no-net",), ("--ro", "--no-net"), ()])
def test_the_policy_is_the_same_after_a_stop(own_world, policy):
    name = own_world.new("-H", "generic", *policy, "--", "sleep", "1000")
    before = own_world.ls()[0]["sandbox"]
    assert before == ({"fs": "ro" if "--ro" in policy else "rw", "net": "--no-net" not in policy} if policy else None)
    own_world.end()
    own_world.hqt("attach", name, "-d")
    assert own_world.ls()[0]["sandbox"] == before
    assert ("bwrap" in own_world.show(name)["argv"]) is bool(policy)

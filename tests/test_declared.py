"""A harness that the user declares in `config.toml`: the same jail, the same checks, and its own conversation."""

from __future__ import annotations

import json
import shlex

import pytest

from hqt.harnesses.declared import KEYS
from tests.world import SECRET, eventually

DECLARED = """
[harnesses.mine]
command = ["my-agent", "--chat"]
sandbox_flags = ["--yes"]
conversation_option = "--id"
resume = ["--continue"]
binds = ["~/.mine/:rw", "~/.mine/hooks/", "~/.shared"]
snapshots = ["~/.mine/settings"]
masks = ["~/.mine/keys"]
environment = ["MY_API_KEY"]
install = "uv tool install my-agent"
"""
TELLS = 'cd ~/.mine; for word; do printf "%s\\n" "$word"; done >new; mv new told; exec sleep 1000'


@pytest.fixture
def mine(own_world):
    """Have a harness of the user's, which keeps in its own folder what it was given."""
    own_world.configure(DECLARED)
    own_world.fake("my-agent", TELLS)
    (own_world.home / ".shared").mkdir()
    own_world.give_away()
    return own_world


def told(world):
    file = world.home / ".mine/told"
    words = eventually(lambda: file.exists() and file.read_text()).splitlines()
    file.unlink()
    return words


def test_it_runs_in_the_jail_with_its_flags_and_goes_on_with_its_conversation(mine):
    name = mine.new("-s", "-H", "mine", "-p", "do it", "--", "--more")
    chat, yes, option, conversation, *rest = told(mine)
    assert (chat, yes, option, rest) == ("--chat", "--yes", "--id", ["--more", "--", "do it"])
    mine.hqt("stop", name)
    mine.hqt("attach", "-d", name)
    assert told(mine) == ["--chat", "--yes", "--continue", conversation, "--more"]


def test_outside_a_jail_it_has_no_flags_of_a_jail(mine):
    (mine.home / ".mine").mkdir()
    mine.give_away()
    mine.new("-H", "mine")
    assert told(mine)[:2] == ["--chat", "--id"]


def test_its_paths_are_bound_as_declared(mine):
    paths = ".mine/f .mine/hooks/f .shared/f .mine/settings .mine/keys/f"
    mine.fake(
        "my-agent",
        f"cd; for path in {paths}; do (echo x >$path) 2>/dev/null && echo $path; done >.mine/written\n"
        'cat .ssh/id_rsa >>.mine/written; echo "$MY_API_KEY" >>.mine/written; exec sleep 1000',
    )
    (mine.home / ".mine/keys").mkdir(parents=True)
    (mine.home / ".mine/keys/key").write_text(SECRET)
    (mine.home / ".mine/settings").write_text("the user's\n")
    mine.give_away()
    mine.new("-s", "-H", "mine", env={"MY_API_KEY": "a key"})
    written = mine.home / ".mine/written"
    eventually(lambda: written.exists() and "a key" in written.read_text())
    assert written.read_text().splitlines() == [".mine/f", ".mine/settings", ".mine/keys/f", "a key"]
    assert (mine.home / ".mine/settings").read_text() == "the user's\n"
    assert not (mine.home / ".mine/keys/f").exists()


@pytest.mark.parametrize("path", ["~/.ssh", "~/.ssh/id_rsa", "~/.local/state", "/", "/proc", "~/link"])
@pytest.mark.parametrize("kind", ["binds", "snapshots"])
def test_what_would_undo_the_jail_is_refused_at_every_start(mine, kind, path):
    name = mine.new("-s", "-H", "mine")
    mine.hqt("stop", name)
    (mine.home / "link").symlink_to(mine.home / ".ssh")
    mine.configure(f'[harnesses.mine]\ncommand = ["my-agent"]\n{kind} = [{json.dumps(path)}]\n')
    for command in (("new", "-d", "-s", "-H", "mine"), ("attach", "-d", name)):
        assert "cannot be bound into a jail" in mine.hqt(*command, fails=1).stderr
    assert mine.state_of_all() == ["stopped"]


def test_one_that_is_declared_no_more_is_a_clear_error_and_loses_nothing(mine):
    name = mine.new("-s", "-H", "mine")
    mine.hqt("stop", name)
    mine.configure("")
    error = mine.hqt("attach", "-d", name, fails=1).stderr
    assert "there is no harness named 'mine'" in error
    assert "[harnesses.mine] in config.toml" in error
    mine.configure(DECLARED)
    mine.hqt("attach", "-d", name)
    assert mine.state_of_all() == ["running"]


def test_it_is_listed_and_can_be_the_default(mine):
    mine.configure('harness = "mine"\n' + DECLARED)
    (found,) = [h for h in json.loads(mine.hqt("harnesses", "--json").stdout) if h["name"] == "mine"]
    assert found["path"] == str(mine.home / "bin/my-agent")
    assert found["install"] == "uv tool install my-agent"
    assert mine.show(mine.new("-s"))["harness"] == "mine"


def test_one_that_is_not_installed_is_told_with_how_to_install_it(mine):
    (mine.home / "bin/my-agent").unlink()
    ended = mine.hqt("new", "-d", "-H", "mine", fails=6)
    assert "my-agent is not installed" in ended.stderr
    assert "uv tool install my-agent" in ended.stderr


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("claude", 'command = ["x"]', "hqt knows the harness 'claude' already"),
        ("Mine!", 'command = ["x"]', "cannot be a harness's name"),
        ("mine", "", "command is missing"),
        ("mine", "command = []", "command is missing"),
        ("mine", 'command = "x y"', "command cannot be 'x y'"),
        ("mine", 'command = ["x"]\nresume = 3', "resume cannot be 3"),
        ("mine", 'command = ["x"]\ninstall = ["a"]', "install cannot be ['a']"),
        ("mine", 'command = ["x"]\nflags = []', f"unknown key 'flags'; known keys: {', '.join(KEYS)}"),
        ("mine", 'command = ["x"]\nbinds = ["relative"]', "'relative' is not a path from / or ~/"),
        ("mine", 'command = ["x"]\nmasks = ["~/../x"]', "'~/../x' is not a path from / or ~/"),
        ("mine", 'command = ["x"]\nenvironment = ["KEY=secret"]', "'KEY' is not a variable's name"),
    ],
)
def test_a_wrong_declaration_is_told_with_its_line(own_world, name, content, told):
    own_world.configure(f"# first\n[harnesses.{shlex.quote(name)}]\n{content}\n")
    error = own_world.hqt("new", "-d", fails=1).stderr
    assert f"config.toml:{1 if name == 'Mine!' else 2}: " in error  # what is no key of TOML's is not found by its line
    assert told in error
    assert "secret" not in error

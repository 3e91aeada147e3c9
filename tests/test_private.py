"""A harness's folder that is replaced by one of the session's own, and the conversation that a harness says it has."""

from __future__ import annotations

import os

import pytest

from hqt.services import status
from tests.world import SECRET, eventually

FOLDER = ".local/share/opencode"
LOGIN = '{"provider": "key"}'
LOOK = f"cat ~/{FOLDER}/* 2>&1; echo mine >>~/{FOLDER}/opencode.db; echo told; exec sleep 1000"
ID = "ses_dc5bd6226ffeI3hFlcsZd2u2NY"


@pytest.fixture
def home(world):
    """The home of a user of opencode, who has conversations of other projects."""
    folder = world.home / FOLDER
    folder.mkdir(parents=True)
    (folder / "opencode.db").write_text(SECRET)
    (folder / "auth.json").write_text(LOGIN)
    world.fake("opencode", LOOK)
    return world.home


def own_folder(world, name):
    session = world.database.parent / "sessions" / world.show(name)["id"]
    return session / "private" / (world.home / FOLDER).relative_to("/")


def told(world, name):
    return eventually(lambda: shown if "told" in (shown := world.hqt("peek", name).stdout) else None)


def test_the_jail_has_the_login_and_nothing_else_of_the_users(world, home):
    shown = told(world, world.new("-s", "-H", "opencode"))
    assert LOGIN in shown
    assert SECRET not in shown
    assert (home / FOLDER / "opencode.db").read_text() == SECRET


def test_what_a_session_writes_there_stays_with_it_and_is_no_others(world, home):
    first = world.new("-s", "-H", "opencode", "-n", "first")
    told(world, first)
    world.hqt("stop", first)
    world.hqt("attach", first, "-d")
    assert "mine" in told(world, first)
    assert "mine" not in told(world, world.new("-s", "-H", "opencode", "-n", "second"))
    folder = own_folder(world, first)
    assert (folder / "opencode.db").read_text() == "mine\nmine\n"
    world.hqt("rm", first)
    assert not folder.exists()
    assert sorted(path.name for path in (home / FOLDER).iterdir()) == ["auth.json", "opencode.db"]


def test_the_login_is_a_copy_made_anew_at_each_start(world, home):
    world.fake("opencode", f"cat ~/{FOLDER}/auth.json; echo broken >~/{FOLDER}/auth.json; echo told; exec sleep 1000")
    name = world.new("-s", "-H", "opencode")
    told(world, name)
    assert (home / FOLDER / "auth.json").read_text() == LOGIN
    world.hqt("stop", name)
    world.hqt("attach", name, "-d")
    assert LOGIN in told(world, name)


def test_a_link_that_the_jail_planted_there_leads_no_mount_astray(world, home):
    (home / FOLDER / "auth.json").unlink()
    world.fake("opencode", f"ln -s /oldroot{home}/victim ~/{FOLDER}/auth.json; echo told; exec sleep 1000")
    name = world.new("-s", "-H", "opencode")
    told(world, name)
    world.hqt("stop", name)
    (home / FOLDER / "auth.json").write_text(LOGIN)  # the user has logged in meanwhile
    world.hqt("attach", name, "-d")
    assert not (home / "victim").exists()
    copy = own_folder(world, name) / "auth.json"
    assert not copy.is_symlink()
    assert copy.read_text() == LOGIN


def test_a_folder_that_the_jail_planted_there_is_a_clear_error(world, home):
    world.fake("opencode", f"rm ~/{FOLDER}/auth.json; mkdir -p ~/{FOLDER}/auth.json/in; echo told; exec sleep 1000")
    name = world.new("-s", "-H", "opencode")
    told(world, name)
    world.hqt("stop", name)
    ended = world.hqt("attach", name, "-d", fails=1)
    assert "the jail cannot be made: " in ended.stderr
    assert "auth.json" in ended.stderr
    assert world.state(name) == "stopped"


def test_a_link_in_place_of_a_folder_of_the_users_is_a_clear_error(world, home):
    world.fake(
        "copilot", f"rmdir ~/.copilot/skills; ln -s /oldroot{home}/victim ~/.copilot/skills; echo told; exec sleep 9"
    )
    name = world.new("-s", "-H", "copilot")
    told(world, name)
    world.hqt("stop", name)
    (home / ".copilot/skills").mkdir(parents=True)
    ended = world.hqt("attach", name, "-d", fails=1)
    assert "skills is a link, inside a folder that a jail can write" in ended.stderr
    assert not (home / "victim").exists()


def test_show_says_where_it_lies(world, home):
    name = world.new("-s", "-H", "opencode")
    binds = {bind["target"]: bind for bind in world.show(name)["binds"]}
    assert binds[str(home / FOLDER)] == {
        "source": str(own_folder(world, name)),
        "target": str(home / FOLDER),
        "mode": "rw",
        "reason": None,
    }


def test_the_conversation_that_it_says_is_gone_on_with(own_world):
    own_world.fake("opencode", f'echo "$@" >>args; echo {ID} >/run/hqt/conversation; exec sleep 1000')
    name = own_world.new("-s", "-H", "opencode")
    eventually(lambda: own_world.show(name)["resume"]["conversation"] == ID)
    own_world.hqt("stop", name)
    own_world.hqt("attach", name, "-d")
    args = own_world.project / "args"
    eventually(lambda: args.read_text().splitlines() == ["--auto", f"--auto --session {ID}"], args.read_text)


def test_one_that_was_begun_later_in_the_same_session_takes_its_place(own_world):
    own_world.fake(
        "opencode",
        f"echo {ID} >/run/hqt/conversation; read -r line; echo {ID}2 >/run/hqt/conversation; exec sleep 1000",
    )
    name = own_world.new("-s", "-H", "opencode")
    for start in (1, 2):
        eventually(lambda: own_world.show(name)["resume"]["conversation"] == ID)
        own_world.tmux("send-keys", "-t", f"hqt:={name}", "Enter")
        eventually(lambda: own_world.show(name)["resume"]["conversation"] == f"{ID}2", f"start {start}")
        own_world.hqt("stop", name)
        assert own_world.show(name)["resume"] == {"conversation": f"{ID}2", "rung": "resume"}
        own_world.hqt("attach", name, "-d")


def test_one_that_is_another_sessions_already_is_not(own_world):
    own_world.fake("opencode", f"echo {ID} >/run/hqt/conversation; exec sleep 1000")
    first, second = (own_world.new("-s", "-H", "opencode", "-n", name) for name in ("first", "second"))
    eventually(lambda: own_world.show(first)["resume"]["conversation"] == ID)
    own_world.hqt("stop", first)
    own_world.hqt("stop", second)
    assert own_world.show(second)["resume"] == {"conversation": None, "rung": "fresh"}


FORM = r"ses_[0-9A-Za-z]{8,64}"


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\n",
        b"--help",
        b"ses_",
        b"ses_abc def ghi",
        b"ses_abcdefgh\n\n",
        b"ses_" + b"a" * 500,
        b"\xff" * 20,
        b"ses_\0aaaaaaaaa",
    ],
)
def test_what_is_no_id_is_not_taken_for_one(said, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    status.forget("x")
    (status.folder("x") / "conversation").write_bytes(said)
    assert status.conversation("x", FORM) == ""
    (status.folder("x") / "conversation").write_bytes(ID.encode() + b"\n")
    assert status.conversation("x", FORM) == ID


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "missing"])
def test_what_is_no_plain_file_says_no_conversation(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    status.forget("x")
    path = status.folder("x") / "conversation"
    (tmp_path / "other").write_text(ID)
    make = {"link": lambda: path.symlink_to(tmp_path / "other"), "pipe": lambda: os.mkfifo(path), "folder": path.mkdir}
    make.get(kind, lambda: None)()
    assert status.conversation("x", FORM) == ""


def test_a_private_copy_of_a_file_that_the_user_does_not_have_is_what_the_harness_takes_for_empty(world):
    world.fake("crush", "cat ~/.local/share/crush/crush.json; echo; echo told; exec sleep 1000")
    assert "{}" in told(world, world.new("-s", "-H", "crush"))
    assert not (world.home / ".local/share/crush").exists()

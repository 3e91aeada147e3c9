"""What of a project is hidden: its jail is shown it empty, git takes it for unchanged, and no way round is left."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path, PurePath

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hqt import hiding
from hqt.sandbox import SandboxPolicy
from tests.world import SECRET, eventually

GIT = "git -c user.name=a -c user.email=a@b"
LAYOUT = {
    ".env": True,
    "app/.env": True,
    "app/.env.local": True,
    "app/main.py": False,
    "keys/server.pem": True,
    "keys/readme": False,
    "secrets/a": True,
    "secrets/deep/b": True,
    "config/token.txt": True,
    "env": False,
}
PATTERNS = ("--hide", ".env", "--hide", ".env.*", "--hide", "*.pem", "--hide", "secrets/", "--hide", "config/token.txt")
MODES = pytest.mark.parametrize("mode", ["--rw", "--ro"])


@pytest.fixture
def project(own_world):
    """Fill the project with files, some of which are secrets."""
    return filled(own_world)


def filled(world):
    for name, is_secret in LAYOUT.items():
        path = world.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{SECRET}\n" if is_secret else "plain\n")
    world.give_away()
    return world


def repository(world):
    assert world.run("sh", "-c", f"git init -q . && git add -A && {GIT} commit -qm one").returncode == 0


@MODES
def test_what_fits_is_shown_empty_and_the_rest_as_it_is(world, mode, bwrap_folder):
    project = filled(world)
    project.environment.update(project.path_with(bwrap_folder))
    said = project.output_of(
        "cat .env app/.env* keys/* secrets/* config/* env app/main.py; ls -A secrets", "-s", mode, *PATTERNS
    )
    assert SECRET not in said
    assert said.count("plain") == 3
    assert all((project.project / name).read_text().strip() == SECRET for name, secret in LAYOUT.items() if secret)


def test_what_appears_later_in_a_hidden_folder_is_not_seen(project):
    script = "until test -e go; do sleep 0.1; done; cat secrets/*; ls secrets; echo all; sleep 1000"
    name = project.sh(script, "-s", "--hide", "secrets/")
    (project.project / "secrets/later").write_text(SECRET)
    (project.project / "go").touch()
    eventually(lambda: "all" in project.hqt("peek", name).stdout.splitlines())
    assert SECRET not in project.hqt("peek", name).stdout
    assert "later" not in project.hqt("peek", name).stdout


ATTACKS = {
    "a hard link": "ln .env copy; cat copy",
    "a rename": "mv .env moved; cat moved",
    "a rename of the parent": "mv app app2; cat app2/.env app/.env",
    "a rename of the parent of a path": "mv config config2; mkdir config; cat config2/token.txt",
    "a removal": "rm -rf .env app; cat .env app/.env",
    "a copy of the folder": "cp -r app app3; cat app3/.env",
    "a second mount": "mkdir m; mount --bind . m; cat m/.env; unshare -Urm sh -c 'umount .env; cat .env'",
    "taking the mount away": "umount .env; umount -l secrets; cat .env secrets/*",
    "the way through proc": "cat /proc/self/root$PWD/.env /proc/1/root$PWD/.env /proc/self/cwd/.env",
    "the session's own folder": "find / -name hidden 2>/dev/null | head; cat ~/.local/state/hqt/sessions/*/hidden/*",
    "a link made to it": "ln -s .env there; cat there",
    "what an editor left": "cat .env~ .env.swp .#.env '#.env#' .env.bak app/.env.orig",
    "another name of the file": "cat other-name",
    "a link to it by another name": "cat by-link",
    "tar": "tar c . | tr -d '\\000' | head -c 200000",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_way_leads_to_what_is_hidden(project, attack):
    for name in (".env~", ".env.swp", ".#.env", "#.env#", ".env.bak", "app/.env.orig"):
        (project.project / name).write_text(SECRET)
    (project.project / "other-name").hardlink_to(project.project / "app/.env.local")
    (project.project / "real-secret").write_text(SECRET)
    (project.project / "keys/by.pem").symlink_to("../real-secret")
    (project.project / "by-link").symlink_to("real-secret")
    project.give_away()
    said = project.output_of(f"{{ {ATTACKS[attack]}; }} 2>&1", "-s", *PATTERNS)
    assert SECRET not in said
    for name, is_secret in LAYOUT.items():
        assert not is_secret or SECRET in (project.project / name).read_text()
    assert SECRET not in project.output_of(f"cat {' '.join(LAYOUT)} config2/token.txt", "-s", *PATTERNS)


def test_without_it_each_of_them_is_read(project):
    """What the attacks hold against: the same project, nothing hidden."""
    assert SECRET in project.output_of("cat .env", "-s")


@MODES
def test_tracked_files_that_are_hidden_are_neither_deleted_nor_changed_for_git(world, mode):
    project = filled(world)
    repository(project)
    script = "git status --porcelain; git diff --stat; cat .env secrets/a | tr -d '\\000'; git stash list; echo all"
    assert project.output_of(script, "-s", mode, *PATTERNS).split() == ["all"]


def test_a_commit_in_the_jail_takes_the_hidden_files_along_as_they_were(project):
    repository(project)
    before = project.run("git", "ls-tree", "-r", "HEAD").stdout
    script = f"echo more >>app/main.py; git add -A && {GIT} commit -qam two; git status --porcelain"
    assert project.output_of(script, "-s", *PATTERNS).strip() == ""
    after = project.run("git", "ls-tree", "-r", "HEAD").stdout
    changed = set(before.splitlines()) ^ set(after.splitlines())
    assert {line.split("\t")[1] for line in changed} == {"app/main.py"}
    assert project.run("git", "status", "--porcelain").stdout == ""
    assert project.run("git", "fsck").returncode == 0


@pytest.mark.parametrize(
    "name", ["a b.pem", "[x]*.pem", 'q"uote.pem', "back\\slash.pem", "tab\there.pem", "ünï.pem", "-dash.pem"]
)
def test_a_tracked_file_of_any_name_is_unchanged(own_world, name):
    (own_world.project / name).write_text(f"{SECRET}\n")
    repository(own_world)
    assert (
        own_world.output_of("git status --porcelain; cat ./*.pem | tr -d '\\000'", "-s", "--hide", "*.pem").strip()
        == ""
    )


def test_it_is_said_that_the_objects_of_tracked_files_can_be_read(project):
    repository(project)
    ended = project.hqt("new", "-d", "-s", "-H", "generic", *PATTERNS, "--", "sleep", "1000")
    (line,) = [line for line in ended.stderr.splitlines() if "git tracks them" in line]
    assert ".env" in line
    assert SECRET in project.output_of("git show HEAD:.env", "-s", *PATTERNS)


def test_what_looks_like_a_secret_and_is_not_hidden_is_named_once_in_a_line(project):
    (project.project / ".env.example").touch()
    (project.project / "node_modules").mkdir()
    (project.project / "node_modules/.env").touch()
    project.give_away()
    ended = project.hqt("new", "-d", "-n", "x", "-s", "-H", "generic", "--hide", ".env", "--", "sleep", "1000")
    (line,) = [line for line in ended.stderr.splitlines() if "look like secrets" in line]
    for name in ("app/.env.local", "keys/server.pem", "secrets/"):
        assert name in line
    for name in (" .env,", "example", "node_modules", "main.py"):
        assert name not in line
    ended = project.hqt("new", "-d", "-n", "y", "-s", "-H", "generic", *PATTERNS, "--", "sleep", "1000")
    assert "look like secrets" not in ended.stderr


def test_a_password_in_the_url_of_a_remote_is_named(own_world):
    own_world.run("git", "init", "-q", ".")
    own_world.run("git", "remote", "add", "origin", f"https://me:{SECRET}@git.test/x")
    ended = own_world.hqt("new", "-d", "-s", "-H", "generic", "--", "sleep", "1000")
    assert ".git/config (a password in a remote's URL)" in ended.stderr
    assert SECRET not in ended.stderr


def test_special_files_of_a_project_hold_nothing_up(own_world):
    for name in (".git/config", ".env", ".nvmrc", "mise.toml", ".venv/pyvenv.cfg", ".mcp.json"):
        path = own_world.project / name
        path.parent.mkdir(exist_ok=True)
        os.mkfifo(path)
    own_world.fake("claude", "sleep 1000")
    own_world.give_away()
    started = time.monotonic()
    own_world.hqt("new", "-d", "-s", "--ro", "-H", "claude", "--hide", ".env")
    assert time.monotonic() - started < 30


def test_it_is_kept_over_a_stop_and_shown(project):
    name = project.new("-s", "-H", "generic", *PATTERNS, "--", "sleep", "1000")
    before = project.show(name)
    assert before["sandbox"]["hide"] == list(PATTERNS[1::2])
    assert "config/token.txt in it empty" in project.hqt("show", name).stdout
    assert "hides" in project.hqt("ls").stdout
    project.hqt("stop", name)
    (project.project / "app/new.pem").write_text(SECRET)
    project.hqt("attach", "-d", name)
    assert str(project.project / "app/new.pem") in {bind["target"] for bind in project.show(name)["binds"]}


@MODES
def test_check_tries_it_and_sees_a_file_that_is_not_hidden(project, mode):
    name = project.new("-s", "-H", "generic", mode, *PATTERNS, "--", "sleep", "1000")
    (project.project / "app/later.pem").write_text("x")
    found = json.loads(project.hqt("check", name, "--json").stdout)
    assert {f["outcome"] for f in found if "hidden" in f["promise"]} == {"held"}


def test_the_configuration_hides_in_every_jail_and_the_option_adds_to_it(own_world):
    own_world.configure('[sandbox]\ndefault = true\nhide = [".env"]\n')
    for name in (".env", "x.pem"):
        (own_world.project / name).write_text(SECRET)
    name = own_world.sh("exec sleep 1000", "--hide", "*.pem")
    assert own_world.show(name)["sandbox"] == {"fs": "rw", "net": True, "hide": [".env", "*.pem"]}
    assert "hide" in own_world.hqt("config").stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[sandbox]\nhide = ["*"]\n', "would hide the whole project"),
        ('[sandbox]\nhide = ".env"\n', "hide cannot be"),
        ("[sandbox]\nshow = []\n", "unknown key 'show'"),
        ('[sandbox]\ndefault = "yes"\n', "default cannot be"),
        ('hide = [".env"]\n', "unknown key 'hide'"),
    ],
)
def test_a_mistake_in_the_configuration_is_told_with_its_line(own_world, text, words):
    path = own_world.configure(text)
    told = own_world.hqt("new", "-d", "-s", "-H", "generic", "--", "true", fails=1).stderr
    assert words in told
    assert f"{path}:" in told
    assert own_world.ls() == []


@pytest.mark.parametrize("pattern", ["*", "", ".", "/", "**", "!x", "../x", ".git", ".git/config"])
def test_a_pattern_that_is_none_is_a_usage_error(own_world, pattern):
    assert (
        "--hide" in own_world.hqt("new", "-d", "-s", "-H", "generic", "--hide", pattern, "--", "true", fails=2).stderr
    )


def test_a_pattern_that_fits_nothing_yet_is_no_fault(own_world):
    name = own_world.sh("exec sleep 1000", "-s", "--hide", ".env")
    own_world.hqt("check", name)
    own_world.hqt("stop", name)
    (own_world.project / ".env").write_text(SECRET)
    own_world.hqt("attach", "-d", name)
    own_world.hqt("check", name)


def test_more_than_can_be_hidden_is_refused(own_world):
    for number in range(hiding.MOST + 1):
        (own_world.project / f"{number}.pem").touch()
    ended = own_world.hqt("new", "-d", "-s", "-H", "generic", "--hide", "*.pem", "--", "true", fails=1)
    assert "hide the folders" in ended.stderr


def test_a_project_has_no_say_in_what_is_hidden(project):
    for name in ("config.toml", ".hqt.toml", "hqt.toml", ".hqt/config.toml", ".config/hqt/config.toml"):
        path = project.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('[sandbox]\nhide = []\nshow = [".env"]\n')
    project.give_away()
    assert SECRET not in project.output_of("cat .env", "-s", "--hide", ".env")


def test_an_older_hqt_does_not_take_a_policy_that_hides_for_one_that_does_not():
    text = SandboxPolicy("rw", net=True, hide=(".env",)).to_json()
    assert SandboxPolicy.from_json(text).hide == (".env",)
    assert '"hide"' in text
    assert '"hide"' not in SandboxPolicy().to_json()
    for wrong in ('{"fs": "rw", "net": true, "hide": ".env"}', '{"fs": "rw", "net": true, "hide": [1]}'):
        with pytest.raises(ValueError, match="not a sandbox policy"):
            SandboxPolicy.from_json(wrong)


FITS = [
    (".env", ".env", True),
    (".env", "a/b/.env", True),
    (".env", ".envrc", False),
    (".env", "a/.env.local", False),
    (".env.*", ".env.local", True),
    ("*.pem", "a/x.pem", True),
    ("secrets/", "secrets/", True),
    ("secrets/", "a/secrets/", True),
    ("secrets/", "secrets", False),
    ("/secrets/", "a/secrets/", False),
    ("a/b", "a/b", True),
    ("a/b", "x/a/b", False),
    ("a/**/b", "a/x/y/b", True),
    ("a/**/b", "a/b", True),
    ("key?", "key1", True),
    ("key[0-9]", "key7", True),
    ("key[!0-9]", "key7", False),
    ("x[", "x[", True),
    (".env", ".env~", True),
    (".env", ".env.swp", True),
]


@pytest.mark.parametrize(("pattern", "path", "fits"), FITS)
def test_patterns_are_gitignores(pattern, path, fits):
    assert bool(hiding._compiled(pattern).fullmatch(path)) is fits


NAMES = st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1, max_size=20).filter(
    lambda name: name not in (".", "..", ".git") and len(name.encode()) < 200
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(NAMES)
def test_any_name_is_hidden_by_itself_and_quoted_in_gits_attributes(name):
    if any(character in name for character in "*?["):
        return
    assert hiding._compiled(f"/{name}").fullmatch(name)
    assert hiding.attributes([PurePath(name)]).count(b"\n") == 1


@given(st.text())
def test_any_text_is_a_pattern_or_is_refused(text):
    try:
        hiding.checked(text)
    except ValueError:
        return
    hiding._compiled(text).fullmatch("a/b")


def test_a_pattern_reaches_no_file_outside_the_project(tmp_path):
    (tmp_path / "p").mkdir()
    (tmp_path / "outside").write_text("x")
    (tmp_path / "p/x.pem").symlink_to(tmp_path / "outside")
    assert hiding.find(Path(tmp_path / "p"), ["*.pem"]) == []

"""git's configuration in a jail: what it names is there, or is told; status, commit and diff always work."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hqt import gitconfig
from hqt.gitconfig import Setting
from tests.world import SECRET, eventually

IDENTITY = "[user]\nname = Somebody\nemail = somebody@example.com\n"
WORK = "git status --porcelain && echo two >>file && git --no-pager diff && git commit -qam two; echo rc $?"


@pytest.fixture
def repository(own_world):
    """Make the project a repository with a commit; the user has a name and no more."""
    configure(own_world, "")
    assert (
        own_world.run("sh", "-c", "git init -q . && echo one >file && git add . && git commit -qm one").returncode == 0
    )
    return own_world


def configure(world, text, name=".gitconfig"):
    path = world.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((IDENTITY if name == ".gitconfig" else "") + text)
    return path


def program(world, name, script='exec cat "$@"'):
    """Make a program in the user's own folder on PATH, which a jail does not have."""
    path = world.home / ".local/bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    if str(path.parent) not in world.environment["PATH"]:
        world.environment |= world.path_with(path.parent)
    return path


def works(world, *options):
    """Whether status, diff and commit work in a jail; returns what they said."""
    said = world.output_of(WORK, "-s", *options)
    assert "rc 0" in said, said
    assert world.run("git", "log", "--oneline").stdout.count("\n") == 2
    return said


def notes(world, *arguments):
    """Return what is said as a session is made, and what `hqt check` says besides."""
    ended = world.hqt("new", "-d", "-n", "noted", "-s", "-H", "generic", *arguments, "--", "sleep", "1000")
    found = json.loads(world.hqt("check", "noted", "--json").stdout)
    world.hqt("rm", "noted")
    return ended.stderr, "\n".join(f["detail"] for f in found if f["promise"] == "works as outside")


SIGNING = {
    "openpgp": "[commit]\ngpgsign = true\n[user]\nsigningkey = 0xABCD\n",
    "ssh": "[commit]\ngpgsign = true\n[tag]\ngpgsign = true\n[gpg]\nformat = ssh\n"
    "[user]\nsigningkey = ~/.ssh/id_rsa.pub\n",
    "x509": "[commit]\ngpgSign\n[gpg]\nformat = x509\n[push]\ngpgsign = if-asked\n",
}


@pytest.mark.parametrize("form", SIGNING)
@pytest.mark.parametrize("place", ["the user's", "the project's"])
def test_a_commit_that_should_be_signed_is_made_unsigned_and_that_is_said_once(repository, form, place):
    if place == "the user's":
        configure(repository, SIGNING[form])
    else:
        with (repository.project / ".git/config").open("a") as config:
            config.write(SIGNING[form])
    assert repository.run("git", "commit", "--allow-empty", "-m", "x").returncode == 128  # as outside, without the key
    before = {path: path.read_bytes() for path in (repository.home / ".gitconfig", repository.project / ".git/config")}
    said, checked = notes(repository)
    assert said.count("unsigned") == 1
    assert f"{form} signatures" in said
    assert "unsigned" in checked
    works(repository)
    assert repository.output_of("git tag -m x v1; git tag -l", "-s").split()[-1] == "v1"
    assert {path: path.read_bytes() for path in before} == before


def test_nothing_is_said_of_signatures_where_none_are_asked_for(repository):
    assert notes(repository) == ("", "")


def test_a_key_that_the_jail_was_given_signs(repository):
    key = repository.home / "signing-key"
    assert repository.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).returncode == 0
    configure(repository, f"[commit]\ngpgsign = true\n[gpg]\nformat = ssh\n[user]\nsigningkey = {key}.pub\n")
    said, _ = notes(repository, "--bind", key)
    assert said == ""
    works(repository, "--bind", key)
    signed = repository.run("git", "cat-file", "-p", "HEAD").stdout
    assert "BEGIN SSH SIGNATURE" in signed


def test_files_that_the_configuration_names_are_there(repository):
    home = repository.home
    (home / "secret-neighbour").write_text(SECRET)
    configure(repository, "*.log\n", "git/ignored")
    configure(repository, "*.txt diff=mine\n", "git/attributes")
    configure(repository, "A template\n", "git/template")
    configure(repository, "[alias]\nincluded = rev-parse --is-inside-work-tree\n", "git/included")
    configure(repository, "[alias]\nconditional = rev-parse --is-inside-work-tree\n", "git/conditional")
    (home / "git/templates/info").mkdir(parents=True)
    (home / "git/templates/info/exclude").write_text("mine\n")
    configure(
        repository,
        "[core]\nexcludesFile = ~/git/ignored\nattributesFile = ~/git/attributes\n[commit]\ntemplate = ~/git/template\n"
        f'[include]\npath = git/included\n[includeIf "gitdir:{repository.project}/"]\npath = ~/git/conditional\n'
        "[init]\ntemplateDir = ~/git/templates\n",
    )
    script = (
        "touch a.log; git status --porcelain; git check-attr diff x.txt; git included; git conditional;"
        "git init -q nested; cat nested/.git/info/exclude; cat ~/secret-neighbour; ls ~/git;"
        "GIT_EDITOR=cat git commit --allow-empty"
    )
    said = repository.output_of(script, "-s")
    assert "a.log" not in said
    for words in ("x.txt: diff: mine", "true\ntrue", "mine\n", "A template"):
        assert words in said
    assert SECRET not in said
    assert "fatal" not in said


def test_a_configuration_in_a_dotfiles_folder_is_there_and_nothing_else_of_it(repository):
    dotfiles = repository.home / "dotfiles/git"
    dotfiles.mkdir(parents=True)
    (repository.home / ".gitconfig").rename(dotfiles / "config")
    (dotfiles / "more").write_text(SECRET)
    (repository.home / ".gitconfig").symlink_to("dotfiles/git/config")
    assert SECRET not in works(repository)
    assert "dotfiles" not in repository.output_of("ls -a ~", "-s")


PROGRAMS = {
    "a pager": ("delta", "[core]\npager = delta\n[pager]\nlog = delta --dark\n"),
    "a difference": ("difft", "[diff]\nexternal = difft\n"),
    "a filter": ("git-lfs", '[filter "lfs"]\nclean = git-lfs clean -- %f\nsmudge = git-lfs\nrequired = true\n'),
    "a monitor": ("watch", "[core]\nfsmonitor = watch\n"),
    "a text conversion": ("to-text", '[diff "odd"]\ntextconv = to-text\n'),
    "a merge": ("merges", '[merge "mine"]\ndriver = merges %A\n'),
    "a credential helper": ("git-credential-mine", "[credential]\nhelper = mine\n"),
    "an editor": ("edits", "[core]\neditor = edits --wait\n"),
}


@pytest.mark.parametrize("kind", PROGRAMS)
@pytest.mark.parametrize("there", [True, False])
def test_a_program_that_the_configuration_names_works_or_breaks_nothing(repository, kind, there):
    name, text = PROGRAMS[kind]
    configure(repository, text)
    (repository.project / ".git/info/attributes").write_text(
        "file diff=odd\n" + ("*.bin filter=lfs\n" if there else "")
    )
    if there:
        script = (
            'exec cat "${1:-/dev/null}"'
            if kind == "a text conversion"
            else "exec cat"
            if name == "git-lfs"
            else "echo RAN"
        )
        program(repository, name, script)
    said = works(repository, "--no-toolchains")
    if kind == "a difference":
        assert ("RAN" in said) is there
        assert there or "+two" in said
    if there and kind != "a monitor":
        assert repository.output_of(f"echo | {name}; echo rc $?", "--no-toolchains").endswith("rc 0\n")
    if there and kind == "a filter":
        script = "echo x >a.bin; git add a.bin && echo added"
        assert repository.output_of(script, "--no-toolchains").endswith("added\n")


@pytest.mark.parametrize("kind", ["a difference", "a pager", "a text conversion"])
def test_a_program_that_the_project_itself_names_is_not_bound_but_told(repository, kind):
    name, text = PROGRAMS[kind]
    program(repository, name, "echo RAN")
    (repository.project / ".git/info/attributes").write_text("file diff=odd\n")
    with (repository.project / ".git/config").open("a") as config:
        config.write(text)
    _, checked = notes(repository, "--no-toolchains")  # they bring what is on PATH
    assert f"runs {name}, which is not in the jail" in checked
    said = works(repository, "--no-toolchains")
    assert "RAN" not in said
    assert "+two" in said


def test_a_file_of_the_users_that_the_project_names_is_not_bound(repository):
    (repository.home / "mine").write_text(SECRET)
    with (repository.project / ".git/config").open("a") as config:
        config.write(
            f"[include]\npath = {repository.home}/mine\n[core]\nexcludesFile = ~/mine\n[commit]\ntemplate = ~/mine\n"
        )
    (repository.home / "mine").write_text(f"# {SECRET}\n")
    assert SECRET not in repository.output_of("cat ~/mine", "-s")


def test_keys_are_not_bound_because_the_configuration_names_them(repository):
    configure(repository, "[core]\nexcludesFile = ~/.ssh/id_rsa\n[init]\ntemplateDir = ~/.ssh\n")
    _, checked = notes(repository)
    assert "it holds keys" in checked
    assert SECRET not in repository.output_of("cat ~/.ssh/*", "-s")


def test_passwords_and_tokens_in_the_configuration_stay_outside(repository):
    configure(
        repository,
        f'[url "https://me:{SECRET}@git.test/"]\ninsteadOf = https://git.test/\n'
        f'[url "https://{SECRET}@forge.test/"]\ninsteadOf = forge:\n[http]\nextraHeader = Authorization: {SECRET}\n'
        '[url "ssh://git@forge.test/"]\ninsteadOf = ssh-forge:\n',
    )
    said = repository.output_of("cat ~/.gitconfig; git config --list; git ls-remote --get-url ssh-forge:x", "-s")
    assert SECRET not in said
    assert "ssh://git@forge.test/x" in said
    assert "https://git.test/" in said
    assert SECRET in (repository.home / ".gitconfig").read_text()
    works(repository)


def test_a_configuration_that_git_cannot_read_stops_no_session(repository):
    configure(repository, "[broken\n")
    assert "bad config" in repository.output_of("git status", "-s")


def test_what_was_found_is_the_same_at_each_start(repository):
    configure(repository, PROGRAMS["a pager"][1])
    program(repository, "delta")
    name = repository.sh("exec sleep 1000", "--no-toolchains")
    before = repository.show(name)
    assert {bind["reason"] for bind in before["binds"]} >= {"git's core.pager", "git's configuration"}
    repository.hqt("stop", name)
    configure(repository, "")
    repository.hqt("attach", "-d", name)
    assert repository.show(name)["argv"] == before["argv"]


def test_a_session_of_an_earlier_hqt_still_has_the_users_name(repository):
    name = repository.sh(f"{WORK}; exec sleep 1000", "-s")
    repository.hqt("stop", name)
    with sqlite3.connect(repository.database) as database:
        database.execute("UPDATE session SET found_json = NULL")
    database.close()
    repository.hqt("attach", "-d", name)
    eventually(lambda: "rc 0" in repository.hqt("peek", name).stdout)


@pytest.mark.skipif(not shutil.which("git"), reason="git is what reads it")
def test_more_than_fifty_repositories_inside_are_said(own_world):
    for number in range(51):
        (own_world.project / f"n{number}/.git").mkdir(parents=True)
        (own_world.project / f"n{number}/.git/config").touch()
        (own_world.project / f"n{number}/.git/HEAD").touch()
    own_world.give_away()
    said, _ = notes(own_world)
    assert "51 repositories lie inside the project: the first 50 are guarded" in said


@given(st.binary())
def test_nothing_but_secrets_is_taken_out_of_a_configuration(content):
    cleaned = gitconfig.without_secrets(content)
    assert gitconfig.without_secrets(cleaned) == cleaned
    if b"@" not in content and b"=" not in content:
        assert cleaned == content


@given(st.text(st.characters(exclude_characters="\0")))
def test_any_value_has_a_first_word_or_none(value):
    word = gitconfig.first_word(value)
    assert word == "" or word in value or "\\" in value or "'" in value or '"' in value
    setting = Setting("global", "/x", "core.pager", value)
    list(gitconfig.named_programs([setting]))
    gitconfig.told_otherwise([setting], lambda _: False, unsigned=True)


@given(
    st.dictionaries(
        st.sampled_from(["a.b", "c.d", "diff.x y.command"]),
        st.text(st.characters(exclude_characters="\0\n", exclude_categories=["Cs"])),
    )
)
def test_git_reads_back_what_it_is_told(told):
    environment = {
        **gitconfig.variables(told),
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    listed = subprocess.run(
        ["git", "config", "--list", "-z"], env=environment, capture_output=True, cwd="/", check=True
    )
    pairs = [line.split("\n", 1) for line in listed.stdout.decode().split("\0")[:-1]]
    assert dict(pairs) == told

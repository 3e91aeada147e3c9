"""`sandbox`: the policy as data, and the argv it becomes."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hqt import sandbox
from hqt.harnesses.base import Bind, mask
from hqt.sandbox import SandboxPolicy, wrap

CWD = Path("/work/project")
HOME = Path("/home/someone")
POLICIES = [SandboxPolicy(fs, net) for fs in ("rw", "ro") for net in (True, False)]
PATHS = st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1).map(
    lambda name: Path("/work") / name
)


def triples(argv):
    return list(zip(argv, argv[1:], argv[2:], strict=False))


@pytest.mark.parametrize("policy", POLICIES)
def test_the_project_is_bound_as_the_policy_says(policy):
    argv = wrap(["agent"], CWD, policy, [], home=HOME)
    flag = "--bind" if policy.fs == "rw" else "--ro-bind"
    assert [words[0] for words in triples(argv) if words[1:] == (str(CWD), str(CWD))] == [flag]


@pytest.mark.parametrize("policy", POLICIES)
def test_the_network_is_shared_only_when_the_policy_says(policy):
    argv = wrap(["agent"], CWD, policy, [], home=HOME)
    assert "--unshare-all" in argv
    assert ("--share-net" in argv) is policy.net


@pytest.mark.parametrize("policy", POLICIES)
def test_the_command_comes_after_the_dashes_word_for_word(policy):
    command = ["agent", "--flag", "a b", "", "--", "tail"]
    argv = wrap(command, CWD, policy, [], home=HOME)
    assert argv[0] == "bwrap"
    assert argv[argv.index("--") + 1 :] == command


@pytest.mark.parametrize("policy", POLICIES)
def test_binds_are_spliced_in_with_their_mode_and_before_the_project(policy):
    binds = [Bind(Path("/a")), Bind(Path("/b"), writable=True), Bind(Path("/c"), target=Path("/d")), mask(Path("/e"))]
    argv = wrap(["agent"], CWD, policy, binds, home=HOME)
    words = triples(argv)
    order = [
        words.index(("--ro-bind", "/a", "/a")),
        words.index(("--bind", "/b", "/b")),
        words.index(("--ro-bind", "/c", "/d")),
        argv.index("/e") - 1,
        argv.index(str(CWD)),
    ]
    assert order == sorted(order)
    assert argv[argv.index("/e") - 1] == "--tmpfs"


def test_guards_come_after_a_writable_project_and_not_at_all_after_a_read_only_one():
    guards = [Bind(CWD / ".git", writable=True), Bind(CWD / ".git/hooks")]
    argv = wrap(["agent"], CWD, SandboxPolicy("rw"), [], home=HOME, guards=guards)
    assert argv.index(str(CWD / ".git/hooks")) > argv.index(str(CWD / ".git")) > argv.index(str(CWD))
    assert str(CWD / ".git") not in wrap(["agent"], CWD, SandboxPolicy("ro"), [], home=HOME, guards=guards)


def test_the_home_folder_is_empty_and_every_tmpfs_has_a_size():
    argv = wrap(["agent"], CWD, SandboxPolicy(), [], home=HOME)
    assert ("--tmpfs", str(HOME)) in list(pairwise(argv))
    for place, word in enumerate(argv):
        if word == "--tmpfs":
            assert argv[place - 4] == "--size"


def test_what_stands_in_for_an_entry_of_etc_replaces_it():
    stand_in = Bind(Path("/state/passwd"), target=Path("/etc/passwd"))
    argv = wrap(["agent"], CWD, SandboxPolicy(), [], home=HOME, etc=[stand_in])
    assert ("--ro-bind", "/state/passwd", "/etc/passwd") in triples(argv)
    assert ("--ro-bind-try", "/etc/passwd", "/etc/passwd") not in triples(argv)


def test_copies_are_read_before_what_is_bound_by_its_descriptor():
    copies = [Bind(Path("/etc") / name, kind="copy") for name in ("passwd", "group")]
    binds = [Bind(Path("/opened"), opened=True), Bind(Path("/by/path"))]
    argv = wrap(["agent"], CWD, SandboxPolicy(), binds, home=HOME, etc=copies, first_fd=20, by_descriptor=True)
    assert [word for word in triples(argv) if word[0] in ("--file", "--ro-bind-fd", "--bind-fd")] == [
        ("--file", "20", "/etc/passwd"),
        ("--file", "21", "/etc/group"),
        ("--ro-bind-fd", "22", "/opened"),
        ("--bind-fd", "23", str(CWD)),
    ]


def test_copies_are_read_from_descriptors_by_a_bwrap_that_binds_by_path_alone():
    binds = [Bind(Path("/opened"), opened=True)]
    argv = wrap(["agent"], CWD, SandboxPolicy(), binds, home=HOME, etc=[Bind(Path("/etc/passwd"), kind="copy")])
    assert ("--file", "10", "/etc/passwd") in triples(argv)
    assert ("--ro-bind", "/opened", "/opened") in triples(argv)


@given(st.lists(st.text(), min_size=1), PATHS, st.sampled_from(POLICIES), st.lists(st.tuples(PATHS, st.booleans())))
def test_any_strings_are_single_words_of_the_argv(command, cwd, policy, pairs):
    binds = [Bind(path, writable) for path, writable in pairs]
    argv = wrap(command, cwd, policy, binds, home=HOME)
    split = len(argv) - len(command)
    assert argv[split:] == command
    assert argv[split - 3 : split] == ["--chdir", str(cwd), "--"]
    for bind in binds:
        assert ("--bind" if bind.writable else "--ro-bind", str(bind.src), str(bind.src)) in triples(argv)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_survives_its_json(policy):
    assert SandboxPolicy.from_json(policy.to_json()) == policy
    assert json.loads(policy.to_json()) == {"fs": policy.fs, "net": policy.net}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"fs": "rw"}',
        '{"fs": "rw", "net": 1}',
        '{"fs": "rw", "net": "true"}',
        '{"fs": "rwx", "net": true}',
        '{"fs": ["rw"], "net": true}',
        '{"fs": "rw", "net": true, "more": 1}',
        '{"fs": "ro", "fs": "rw", "net": false}',
        '[["fs", "rw"], ["net", true]]',
        '"rw"',
    ],
)
def test_what_is_not_a_policy_is_an_error_and_never_a_guess(text):
    with pytest.raises(ValueError):
        SandboxPolicy.from_json(text)


@given(st.text())
def test_no_text_but_a_policys_own_is_a_policy(text):
    try:
        policy = SandboxPolicy.from_json(text)
    except ValueError:
        return
    assert policy in POLICIES


def test_no_policy_means_unsandboxed():
    assert sandbox.policy_of(None) is None


def test_bwrap_is_available_on_linux_with_bwrap_on_path(monkeypatch, tmp_path):
    assert sandbox.is_available()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not sandbox.is_available()


def test_bwrap_is_not_available_off_linux(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not sandbox.is_available()


def test_a_bwrap_inside_the_project_or_at_a_relative_place_is_passed_over(tmp_path):
    project = tmp_path / "project"
    for folder in (project, tmp_path / "outside"):
        folder.mkdir()
        (folder / "bwrap").touch(0o755)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/bwrap").symlink_to(project / "bwrap")
    path = f".::{project}:{tmp_path / 'linked'}:{tmp_path / 'outside'}"
    assert sandbox.trusted_program("bwrap", path, project) == tmp_path / "outside/bwrap"
    assert sandbox.trusted_program("bwrap", str(project), project) is None

"""Guards: what is found in a project, what is refused, and what is made without following a link."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path, PurePath

import pytest

from hqt import nofollow
from hqt.errors import ServiceError
from hqt.guards import project_guards
from hqt.refusals import Surroundings, refuse_repository
from hqt.repository import GitFolders, linked_git

AROUND = Surroundings(Path("/no/home"), Path("/no/state"), Path("/no/run"), Path("/no/tmux/socket"))


def git(*arguments, cwd):
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", *arguments],
        cwd=cwd,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    git("init", "-q", ".", cwd=folder)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=folder)
    return folder


def modes(project, linked=None):
    """Each guard's path below the project, and its mode; the last one for a path counts."""
    return {str(bind.src.relative_to(project)): bind.mode for bind in project_guards(project, linked)}


def test_gits_configuration_and_hooks_are_guarded_and_its_folder_is_pinned(repository):
    found = modes(repository)
    assert found == {".git": "rw", ".git/config": "ro", ".git/hooks": "ro", ".git/commondir": "ro"}
    assert next(iter(found)) == ".git"


def test_what_editors_and_agents_execute_is_guarded_where_it_exists_and_pinned(tmp_path):
    assert modes(tmp_path) == {}
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".envrc").touch()
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").touch()
    assert modes(tmp_path) == {".vscode": "ro", ".envrc": "ro", ".claude": "rw", ".claude/settings.json": "ro"}


@pytest.mark.parametrize("place", [".vscode", ".envrc", ".claude", ".git/hooks", ".git/config", ".git"])
def test_a_link_where_a_guard_belongs_is_refused(repository, place, tmp_path):
    if place.startswith(".git"):
        (repository / place).rename(tmp_path / "moved")
    (repository / ".claude").mkdir(exist_ok=True) if place != ".claude" else None
    (repository / place).symlink_to(tmp_path / "moved")
    with pytest.raises(ServiceError):
        linked_git(repository)
        project_guards(repository, None)


def test_the_folder_that_core_hookspath_names_is_guarded(repository):
    (repository / "tools/hooks").mkdir(parents=True)
    git("config", "core.hooksPath", "tools/hooks", cwd=repository)
    assert modes(repository)["tools/hooks"] == "ro"
    assert modes(repository)["tools"] == "rw"


@pytest.mark.parametrize("elsewhere", ["/usr/share/hooks", "../outside", ".", ""])
def test_a_hookspath_outside_the_project_guards_nothing_there(repository, elsewhere):
    git("config", "core.hooksPath", elsewhere, cwd=repository)
    assert set(modes(repository)) == {".git", ".git/config", ".git/hooks", ".git/commondir"}


def test_a_submodules_configuration_inside_git_is_guarded(repository, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    git("init", "-q", ".", cwd=other)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=other)
    git("submodule", "add", "-q", str(other), "libs/sub", cwd=repository)
    found = modes(repository)
    assert found[".git/modules/libs/sub/config"] == found[".git/modules/libs/sub/hooks"] == "ro"
    assert found[".git/modules"] == found[".git/modules/libs"] == found[".git/modules/libs/sub"] == "rw"
    own = linked_git(repository / "libs/sub")
    assert own == GitFolders(*[repository / ".git/modules/libs/sub"] * 3)


def test_a_worktree_is_read_both_ways(repository, tmp_path):
    git("worktree", "add", "-q", str(tmp_path / "tree"), cwd=repository)
    linked = linked_git(tmp_path / "tree")
    assert linked == GitFolders(repository / ".git/worktrees/tree", *[repository / ".git"] * 2)
    guards = {str(bind.src): bind.mode for bind in project_guards(tmp_path / "tree", linked)}
    assert guards[str(repository / ".git")] == "rw"
    for name in ("config", "hooks", "worktrees/tree/commondir", "worktrees/tree/gitdir"):
        assert guards[str(repository / ".git" / name)] == "ro"
    assert guards[str(tmp_path / "tree/.git")] == "ro"


def test_a_git_file_that_names_another_repository_is_refused(repository, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    git("worktree", "add", "-q", str(tmp_path / "tree"), cwd=repository)
    for target in (repository / ".git", repository / ".git/worktrees/tree", Path.home(), Path("/etc")):
        (project / ".git").write_text(f"gitdir: {target}\n")
        with pytest.raises(ServiceError):
            found = linked_git(project)
            assert found
            for path, link in found.claimed:
                refuse_repository(path, link, project, AROUND, is_named=False)


@pytest.mark.parametrize("content", ["", "garbage", "gitdir:", "gitdir: \0", "gitdir: /nowhere"])
def test_a_git_file_that_is_none_is_refused(tmp_path, content):
    (tmp_path / ".git").write_text(content)
    with pytest.raises(ServiceError):
        linked_git(tmp_path)


@pytest.mark.parametrize("depth", range(3))
def test_nothing_is_made_through_a_link(tmp_path, depth):
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    parts = ["a", "b", "c"]
    folder = root.joinpath(*parts[:depth])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / parts[depth]).symlink_to(outside)
    relative = PurePath("a/b/c/d")
    assert nofollow.kind(root, relative) == "link"
    for make in (lambda: nofollow.make_folder(root, relative), lambda: nofollow.make_file(root, relative, b"x")):
        with pytest.raises(ServiceError):
            make()
    assert list(outside.iterdir()) == []


def test_what_is_there_is_kept(tmp_path):
    (tmp_path / "file").write_text("kept")
    nofollow.make_file(tmp_path, PurePath("file"), b"new")
    assert (tmp_path / "file").read_text() == "kept"


def test_a_fifo_does_not_stop_a_look(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert nofollow.kind(tmp_path, PurePath("pipe")) == "other"
    assert nofollow.read_file(tmp_path, PurePath("pipe"), 10) == b""

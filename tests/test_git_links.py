"""Repositories that do not lie, or not whole, in the project's `.git`: they work in a jail, guarded like others."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hqt.errors import ServiceError
from hqt.refusals import Surroundings, refuse_repository
from hqt.repository import GitFolders, linked_git
from tests.world import SECRET

NEW_WORKDIR = Path("/usr/share/doc/git/contrib/workdir/git-new-workdir")
MODES = pytest.mark.parametrize("mode", ["--rw", "--ro"])


def git(world, *arguments, cwd=None):
    ended = world.run(
        "git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", *arguments,
        cwd=cwd or world.project,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture
def repository(world):
    """Make the project a repository with a commit, and a neighbour that nobody may see."""
    git(world, "init", "-q", ".")
    (world.project / "file").write_text("one\n")
    world.give_away()
    git(world, "add", "file")
    git(world, "commit", "-qm", "first")
    return world.project


def beside(world, name):
    """Make a folder beside the project, with a neighbour's file in it."""
    folder = world.home / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "neighbour").write_text(SECRET)
    return folder


def link_absolute(world, project):
    git_folder = beside(world, "stores") / "project.git"
    (project / ".git").rename(git_folder)
    (project / ".git").symlink_to(git_folder)
    return git_folder


def link_relative(world, project):
    git_folder = link_absolute(world, project)
    (project / ".git").unlink()
    (project / ".git").symlink_to("../stores/project.git")
    return git_folder


def links_in_a_row(world, project):
    git_folder = link_absolute(world, project)
    (world.home / "way").symlink_to(git_folder)
    (project / ".git").unlink()
    (project / ".git").symlink_to("here")
    (project / "here").symlink_to("../way")
    return git_folder


def inside_the_project(world, project):
    (project / ".git").rename(project / "real.git")
    (project / ".git").symlink_to("real.git")
    return project / "real.git"


def separate(world, project):
    store = beside(world, "stores") / "project.git"
    world.give_away()
    git(world, "init", "-q", "--separate-git-dir", store, ".")
    return world.home / "stores/project.git"


def as_repo_does(world, project):
    """The older layout of `repo`: links inside `.git`, some of which lead to links , as it was seen."""
    own = beside(world, ".repo/projects/name.git")
    shared = beside(world, ".repo/project-objects/name.git")
    names = ("config", "hooks", "info", "logs", "objects", "refs")
    for name in (name for name in names if (project / ".git" / name).exists()):
        (project / ".git" / name).rename((shared if name in ("objects", "hooks") else own) / name)
        (project / ".git" / name).symlink_to(f"../../.repo/projects/name.git/{name}")
    for name in ("objects", "hooks"):
        (own / name).symlink_to(f"../../project-objects/name.git/{name}")
    return own


def as_repo_does_now(world, project):
    """The newer one: `.git` is a link, and links lie behind it."""
    own = as_repo_does(world, project)
    (own / "neighbour").rename(own.parent / "neighbour")
    for entry in list((project / ".git").iterdir()):
        if entry.is_symlink():
            entry.unlink()
        else:
            entry.rename(own / entry.name)
    (project / ".git").rmdir()
    (project / ".git").symlink_to("../.repo/projects/name.git")
    return own


LAYOUTS = [
    link_absolute,
    link_relative,
    links_in_a_row,
    inside_the_project,
    separate,
    as_repo_does,
    as_repo_does_now,
]
WORK = (
    "git status --porcelain && git log --oneline && echo two >>file &&"
    " git -c user.name=a -c user.email=a@b commit -qam two; git log --oneline | wc -l; git fsck 2>&1 | head -3"
)
PLANT = (
    "for f in $(git rev-parse --git-dir)/config .git/config; do (echo '# PLOT' >>$f) 2>/dev/null; done;"
    " (echo PLOT >$(git rev-parse --git-path hooks)/pre-commit) 2>/dev/null;"
    " (echo PLOT >$(git rev-parse --git-dir)/hooks/pre-commit) 2>/dev/null;"
    " mv $(git rev-parse --git-dir)/hooks x 2>/dev/null; find / -name neighbour 2>/dev/null"
)


@MODES
@pytest.mark.parametrize("layout", LAYOUTS)
def test_git_works_in_a_jail_and_nothing_around_is_seen(world, repository, layout, mode, bwrap_folder):
    world.environment.update(world.path_with(bwrap_folder))
    layout(world, repository)
    world.give_away()
    before = git(world, "rev-parse", "HEAD")
    said = world.output_of(f"{WORK}; {PLANT}", "-s", mode)
    assert "fatal" not in said.replace("fatal: Unable to create", "") or mode == "--ro"
    assert "neighbour" not in said
    assert SECRET not in said
    assert git(world, "log", "--oneline").count("\n") == (2 if mode == "--rw" else 1)
    assert (git(world, "rev-parse", "HEAD") == before) is (mode == "--ro")
    assert git(world, "status", "--porcelain", "-uno") == ""
    assert subprocess.run(["grep", "-rl", "PLOT", world.home], capture_output=True, check=False).stdout == b""


@pytest.mark.parametrize("layout", LAYOUTS)
def test_it_goes_on_after_a_stop_with_the_same_command(own_world, layout):
    git(own_world, "init", "-q", ".")
    layout(own_world, own_world.project)
    name = own_world.sh("exec sleep 1000", "-s")
    before = own_world.show(name)["argv"]
    own_world.hqt("check", name)
    own_world.hqt("stop", name)
    own_world.hqt("attach", "-d", name)
    assert own_world.show(name)["argv"] == before


REPLACING = (
    "rm -f {0}; mv {0} x; ln -sfn ../.ssh {0}; echo PLOT >{0}; rm -rf {0}; mkdir {0}; mv .git .git2; cp -r .git2 .git;"
    " umount {0}; mount -o remount,rw {0}; git config core.fsmonitor PLOT; readlink {0}"
)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_link_of_the_repository_cannot_be_replaced_from_a_jail(world, repository, layout, bwrap_folder):
    world.environment.update(world.path_with(bwrap_folder))
    layout(world, repository)
    world.give_away()
    links = [path for path in (repository / ".git", *(repository / ".git").glob("*")) if path.is_symlink()]
    before = {link: link.readlink() for link in links}
    for link in links:
        place = link.relative_to(repository)
        behind = f"echo PLOT >>{place}/config; " if link.name in (".git", "hooks", "info") else ""
        said = world.output_of(behind + REPLACING.format(place), "-s")
        assert str(before[link]) in said
    assert {link: link.readlink() for link in links if link.is_symlink()} == before
    found = subprocess.run(["grep", "-rl", "PLOT", repository, world.home], capture_output=True, check=False)
    assert found.stdout == b""


def test_a_link_that_is_not_pinned_is_replaced(own_world):
    """What the test above holds against: without the pin, the same jail replaces it."""
    git(own_world, "init", "-q", ".")
    link_absolute(own_world, own_world.project)
    name = own_world.sh("rm .git; ln -s ../.ssh .git; sleep 1", "-s")
    own_world.ends(name)
    argv = [word for word in own_world.show(name)["argv"] if not word.startswith("--pin=")]
    assert (own_world.project / ".git").readlink() != Path("../.ssh")
    own_world.run(*argv, timeout=30)
    assert (own_world.project / ".git").readlink() == Path("../.ssh")


def test_a_link_that_leads_elsewhere_since_it_was_recorded_is_not_followed(own_world):
    git(own_world, "init", "-q", ".")
    link_absolute(own_world, own_world.project)
    name = own_world.sh("exec sleep 1000", "-s")
    own_world.hqt("check", name)
    assert f"pinned    {own_world.project}/.git" in own_world.hqt("show", name).stdout
    own_world.hqt("stop", name)
    (own_world.project / ".git").unlink()
    (own_world.project / ".git").symlink_to("../.ssh")
    assert ".git" in own_world.hqt("audit", name, fails=1).stdout
    assert "is no longer what it was" in own_world.hqt("attach", "-d", name, fails=1).stderr


def test_where_a_link_cannot_be_pinned_nothing_is_started(own_world):
    git(own_world, "init", "-q", ".")
    link_absolute(own_world, own_world.project)
    name = own_world.sh("touch ran", "-s")
    own_world.ends(name)
    (own_world.project / "ran").unlink()
    argv = own_world.show(name)["argv"]
    no_more = [
        "unshare",
        "--user",
        "--map-root-user",
        "sh",
        "-c",
        'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"',
        "sh",
    ]
    ended = own_world.run(*no_more, *argv)
    assert ended.returncode == 127
    assert "hqt: not started: " in ended.stderr
    assert not (own_world.project / "ran").exists()


def test_a_link_made_after_a_jail_could_write_the_project_is_not_followed_unless_named(own_world):
    store = own_world.home / "store.git"
    git(own_world, "init", "-q", "--bare", store)
    own_world.hqt("rm", own_world.sh("exec sleep 1000", "-s"))
    (own_world.project / ".git").symlink_to(store)
    ended = own_world.hqt("new", "-d", "-s", "-H", "generic", "--", "sleep", "1000", fails=1)
    assert "after a sandboxed session could write there" in ended.stderr
    assert f"--bind {store}:rw" in ended.stderr
    own_world.hqt("new", "-d", "-s", "-H", "generic", "--bind", f"{store}:rw", "--", "sleep", "1000")


def test_a_link_into_another_projects_repository_is_not_followed_unless_named(own_world):
    other = own_world.home / "other"
    git(own_world, "init", "-q", other)
    (own_world.project / ".git").symlink_to(other / ".git")
    ended = own_world.hqt("new", "-d", "-s", "-H", "generic", "--", "sleep", "1000", fails=1)
    assert "the repository of another project" in ended.stderr
    name = own_world.sh("git status; exec sleep 1000", "-s", "--bind", f"{other / '.git'}:rw")
    own_world.hqt("check", name)


@pytest.mark.skipif(not NEW_WORKDIR.exists(), reason="Debian's git brings it")
def test_what_git_new_workdir_makes_works_where_the_repository_is_named(own_world):
    other = own_world.home / "other"
    git(own_world, "init", "-q", other)
    git(own_world, "commit", "-q", "--allow-empty", "-m", "x", cwd=other)
    own_world.project.rmdir()
    assert own_world.run("sh", NEW_WORKDIR, other, own_world.project, cwd=own_world.home).returncode == 0
    ended = own_world.hqt("new", "-d", "-s", "-H", "generic", "--", "sleep", "1000", fails=1)
    assert "the repository of another project" in ended.stderr
    work = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m two; git log --oneline | wc -l"
    assert own_world.output_of(work, "-s", "--bind", f"{other / '.git'}:rw").strip() == "2"


@pytest.mark.parametrize("way", ["a circle", "nowhere", "keys", "no repository", "the home folder"])
def test_a_link_that_leads_astray_is_refused_with_its_reason(own_world, way):
    where = {
        "a circle": own_world.project / ".git",
        "nowhere": own_world.home / "gone",
        "keys": own_world.home / ".ssh/x.git",
        "no repository": own_world.home,
        "the home folder": own_world.home,
    }[way]
    if way == "keys":
        git(own_world, "init", "-q", "--bare", where)
    if way == "the home folder":
        git(own_world, "init", "-q", "--bare", own_world.home)
    (own_world.project / ".git").symlink_to(where)
    for mode in ("--rw", "--ro"):
        ended = own_world.hqt("new", "-d", "-s", mode, "-H", "generic", "--", "sleep", "1000", fails=1)
        reason = {
            "a circle": "leads in a circle",
            "nowhere": "leads nowhere",
            "keys": "it holds keys",
            "no repository": "which is no repository",
            "the home folder": "your home folder",
        }[way]
        assert reason in ended.stderr
    assert own_world.ls() == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to somebody else")
def test_another_users_repository_is_refused(tmp_path):
    store, project = tmp_path / "store", tmp_path / "project"
    for folder in (store, project):
        folder.mkdir()
    os.chown(store, 4242, 4242)
    around = Surroundings(tmp_path / "h", tmp_path / "s", tmp_path / "r", tmp_path / "t/x")
    with pytest.raises(ServiceError, match="another user"):
        refuse_repository(store, project / ".git", project, around, is_named=True)


def test_a_worktree_whose_repository_is_reached_through_a_link_works(world, repository):
    main = world.home / "real/main"
    main.parent.mkdir()
    shutil.copytree(repository, main, symlinks=True)
    (world.home / "way").symlink_to(world.home / "real")
    world.give_away()
    shutil.rmtree(repository)
    git(world, "worktree", "add", "-q", repository, cwd=main)
    (repository / ".git").write_text(f"gitdir: {world.home}/way/main/.git/worktrees/project\n")
    world.give_away()
    said = world.output_of(f"{WORK}; {PLANT}", "-s")
    assert "fatal" not in said
    assert git(world, "log", "--oneline").count("\n") == 2
    assert "PLOT" not in (main / ".git/config").read_text()
    assert not (main / ".git/hooks/pre-commit").exists()


def test_a_project_reached_through_links_works(world, repository):
    (world.home / "way").symlink_to(repository)
    said = world.output_of(WORK, "-s", cwd=world.home / "way")
    assert "fatal" not in said
    assert git(world, "log", "--oneline").count("\n") == 2


@pytest.mark.parametrize("absorbed", [True, False])
def test_submodules_work_absorbed_or_not(world, repository, absorbed):
    library = world.home / "library"
    git(world, "init", "-q", library, cwd=world.home)
    git(world, "commit", "-q", "--allow-empty", "-m", "x", cwd=library)
    if absorbed:
        git(world, "submodule", "add", "-q", library, "sub")
    else:
        git(world, "clone", "-q", library, "sub")
    sub = repository / "sub"
    for folder in (repository, sub):
        said = world.output_of(f"git status; {PLANT}", "-s", cwd=folder)
        assert "fatal" not in said
    commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m two"
    world.output_of(commit, "-s", cwd=sub)
    assert git(world, "log", "--oneline", cwd=sub).count("\n") == 2
    found = subprocess.run(["grep", "-rl", "PLOT", repository], capture_output=True, check=False)
    assert found.stdout == b""


def test_what_an_earlier_version_recorded_is_read(tmp_path):
    assert GitFolders.from_json('["/a/.git/worktrees/x", "/a/.git"]') == GitFolders(
        Path("/a/.git/worktrees/x"), Path("/a/.git"), Path("/a/.git")
    )


def test_what_is_recorded_is_read_back(own_world):
    git(own_world, "init", "-q", ".")
    as_repo_does_now(own_world, own_world.project)
    found = linked_git(own_world.project)
    assert found
    assert GitFolders.from_json(found.to_json()) == found

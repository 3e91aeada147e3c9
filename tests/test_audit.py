"""`hqt audit`: what a jail newly makes that would run outside is found, whatever it does to hide it."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hqt import tree
from hqt.runnable import runs
from hqt.tree import Walk
from tests.world import eventually

PLANTED = {
    "sub/.git/config": "git",
    ".envrc": "direnv",
    "deep/er/.envrc": "direnv",
    ".vscode/tasks.json": "VS Code",
    ".idea/runConfigurations/x.xml": "JetBrains",
    ".claude/settings.json": "Claude Code",
    ".claude/skills/x/SKILL.md": "Claude Code",
    ".mcp.json": "MCP",
    ".codex/config.toml": "Codex",
    "package.json": "npm",
    "web/package-lock.json": "npm",
    ".npmrc": "npm",
    ".husky/pre-commit": "husky",
    ".github/workflows/ci.yml": "GitHub",
    "Makefile": "make",
    "conftest.py": "pytest",
    "build.rs": "cargo",
    ".cargo/config.toml": "cargo",
    "tools/newly": "on your PATH",
}


def audited(world, name, fails=1):
    return {finding["path"]: finding for finding in json.loads(world.hqt("audit", name, "--json", fails=fails).stdout)}


def test_what_a_jail_newly_makes_is_found_and_named_at_stop(world):
    (world.project / "tools").mkdir()
    world.run("git", "init", "-q", ".")
    world.environment.update(world.path_with(world.project / "tools"))
    world.give_away()
    places = list(PLANTED)
    script = "; ".join(f"mkdir -p $(dirname {place}); echo planted > {place}" for place in places)
    name = world.sh(f"{script}; echo normal > main.py; git init -q nested; touch made-all; sleep 1000", "-s")
    eventually((world.project / "made-all").exists)
    stopped = world.hqt("stop", name).stdout
    found = audited(world, name)
    assert f"{len(found)} new or changed files would run outside the jail: hqt audit {name}" in stopped
    assert set(found) == {*places, "nested/.git/config"}
    for place in places:
        assert PLANTED[place] in found[place]["runs"]
        assert found[place]["change"] == "new"
        assert "+planted" in found[place]["difference"]


def test_a_change_is_shown_as_a_difference_and_can_be_accepted(own_world):
    (own_world.project / "package.json").write_text('{"scripts": {\n"test": "true"\n}}\n')
    (own_world.project / "Makefile").write_text("all:\n")
    name = own_world.sh("sed -i s/true/evil/ package.json; rm Makefile; chmod +x run; sleep 1000", "-s")
    eventually(lambda: not (own_world.project / "Makefile").exists())
    found = audited(own_world, name)
    assert found["package.json"]["change"] == "changed"
    assert '-"test": "true"' in found["package.json"]["difference"]
    assert '+"test": "evil"' in found["package.json"]["difference"]
    assert found["Makefile"]["change"] == "removed"
    assert '+"test": "evil"' in own_world.hqt("audit", name, fails=1).stdout
    own_world.hqt("audit", name, "--accept")
    assert "nothing new or changed" in own_world.hqt("audit", name).stdout
    assert "new or changed" not in own_world.hqt("stop", name).stdout


def test_what_was_there_before_is_not_told(own_world):
    for place in PLANTED:
        (own_world.project / place).parent.mkdir(parents=True, exist_ok=True)
        (own_world.project / place).write_text("mine\n")
    name = own_world.new("-s", "-H", "generic", "--", "sleep", "1000")
    assert "nothing new or changed" in own_world.hqt("audit", name).stdout


def test_a_session_without_a_jail_has_nothing_to_audit(own_world):
    name = own_world.new("-H", "generic", "--", "sleep", "1000")
    assert "has no baseline" in own_world.hqt("audit", name, fails=1).stderr


def test_the_project_of_a_session_that_only_reads_it_is_not_audited(own_world):
    name = own_world.new("--ro", "-H", "generic", "--", "sleep", "1000")
    (own_world.project / ".envrc").write_text("mine\n")
    assert "nothing new or changed" in own_world.hqt("audit", name).stdout


@pytest.mark.parametrize("policy", ["--rw", "--ro"])
def test_orders_that_are_new_in_a_harnesss_own_folder_are_found(own_world, policy):
    own_world.fake("claude", "sleep 1000")
    folder = own_world.home / ".claude"
    folder.mkdir()
    (folder / "CLAUDE.md").write_text("mine\n")
    name = own_world.new("-s", policy, "-H", "claude")
    assert audited(own_world, name, fails=0) == {}
    (folder / "CLAUDE.md").write_text("mine\nnot mine\n")
    (folder / "agents/evil.md").write_text("do it\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "projects/x").mkdir()
    (folder / "projects/x/run.sh").write_text("data\n")
    found = audited(own_world, name)
    assert set(found) == {str(folder / place) for place in ("CLAUDE.md", "agents/evil.md", "run.sh")}
    assert "+not mine" in found[str(folder / "CLAUDE.md")]["difference"]
    assert all("claude: at every start" in finding["runs"] for finding in found.values())


def test_hostile_entries_do_not_stop_an_audit_and_are_shown_harmlessly(own_world):
    name = own_world.new("-s", "-H", "generic", "--", "sleep", "1000")
    project = own_world.project
    (project / "loop").symlink_to(".")
    (project / ".envrc").symlink_to("/etc/shadow")
    os.mkfifo(project / "Makefile")
    os.mkdir(os.fsencode(project) + b"/\xff\xfe")
    (project / "\x1b[31m").mkdir()
    (project / "\x1b[31m/.envrc").write_text("\x1b]52;c;x\x07")
    (project / "closed").mkdir(mode=0)
    folder = str(project)
    os.chdir(folder)
    for _ in range(tree.DEEPEST + 50):
        os.mkdir("d")
        os.chdir("d")
    os.chdir("/")
    found = audited(own_world, name)
    assert found[".envrc"]["change"] == found["Makefile"]["change"] == "new"
    assert found[".envrc"]["difference"] == ""
    assert any("deeper than" in path for path in found)
    shown = own_world.hqt("audit", name, fails=1).stdout
    assert "\x1b" not in shown
    assert "root:" not in shown


def test_the_walk_is_bounded(tmp_path, monkeypatch):
    for number in range(50):
        (tmp_path / str(number)).touch()
    monkeypatch.setattr(tree, "MOST_ENTRIES", 10)
    walk = Walk(tmp_path)
    assert len(list(walk)) == 10
    assert "more than" in walk.unseen[0]


def test_a_folder_that_became_a_link_is_not_followed(tmp_path):
    (tmp_path / "real/inner").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/.envrc").touch()
    (tmp_path / "real/link").symlink_to(tmp_path / "outside")
    assert [entry.path for entry in Walk(tmp_path / "real")] == ["link"]


@pytest.mark.parametrize(("path", "by"), [*((path, by) for path, by in PLANTED.items() if by != "on your PATH")])
def test_the_rules_know_what_runs_it(path, by):
    assert by in runs(path)


@pytest.mark.parametrize(
    "path", ["main.py", ".git/objects/ab/cdef", ".git/hooks/pre-commit.sample", "node_modules/a/package.json"]
)
def test_the_rules_know_what_nothing_runs(path):
    assert runs(path) == ""


@given(st.text(st.characters(exclude_characters="\0"), min_size=1))
def test_the_rules_take_any_path(path):
    assert isinstance(runs(path), str)

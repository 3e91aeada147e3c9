"""`hqt doctor`: what it sees of this host, that it says how to mend it, and that looking changes nothing."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from hqt.program import numbers, version
from hqt.services.doctor import host, jail
from hqt.services.doctor.report import impersonal
from tests.terminal import Terminal
from tests.world import PLAIN_UID, eventually

IDLE = ("-H", "generic", "-s", "--", "sleep", "1000")


def doctor(world, *, problems=False, **options):
    """What it says: a list of what, level and told."""
    found = json.loads(world.hqt("doctor", "--json", fails=1 if problems else None, **options).stdout)
    assert problems == any(diagnosis["level"] == "problem" for diagnosis in found)
    return found


def about(found, what):
    return [diagnosis for diagnosis in found if diagnosis["what"] == what]


def told_of(harness, found):
    """What is said of one harness: the machine that tests may have others."""
    (seen,) = [diagnosis for diagnosis in about(found, "harness") if diagnosis["told"].startswith(f"{harness} ")]
    return seen


def levels(found, what):
    return {diagnosis["level"] for diagnosis in about(found, what)}


def without(world, *programs):
    """A PATH without these programs."""
    folder = world.base / "tools"
    folder.mkdir()
    for program in ("tmux", "bwrap", "sh", "sleep", "env", "git", "python3"):
        if program not in programs:
            (folder / program).symlink_to(shutil.which(program, path="/usr/bin:/bin"))
    return {"PATH": str(folder)}


def test_a_host_that_has_everything_has_no_problem(world):
    name = world.new(*IDLE)
    found = doctor(world)
    assert levels(found, "tmux") == {"ok"}
    assert "makes a jail" in about(found, "sandbox")[0]["told"]
    assert "1 sessions, 1 running" in about(found, "state")[0]["told"]
    assert "makes a jail" in world.hqt("doctor").stdout
    assert world.state(name) == "running"


def test_looking_changes_nothing(world):
    before = {path: path.stat().st_mtime_ns for path in world.base.rglob("*")}
    doctor(world)
    assert {path: path.stat().st_mtime_ns for path in world.base.rglob("*")} == before


def test_bubblewrap_is_optional(own_world):
    (seen,) = about(doctor(own_world, env=without(own_world, "bwrap")), "sandbox")
    assert (seen["level"], "is not installed" in seen["told"]) == ("note", True)
    assert "apt install bubblewrap" in seen["fix"]


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ("bwrap: setting up uid map: Permission denied", "AppArmor"),
        ("bwrap: No permissions to create new namespace", "sysctl"),
        ("bwrap: Unknown option --disable-userns", "too old"),
    ],
)
def test_a_bubblewrap_that_makes_no_jail_is_a_problem_with_its_cause(own_world, words, fix):
    fake = own_world.base / "bin/bwrap"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
    fake.chmod(0o755)
    own_world.environment |= own_world.path_with(fake.parent)
    seen = about(doctor(own_world, problems=True), "sandbox")[0]
    assert words in seen["told"]
    assert fix in seen["fix"]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("user/max_user_namespaces", "0"),
        ("kernel/unprivileged_userns_clone", "0"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1"),
    ],
)
def test_what_forbids_the_jail_is_read_from_the_kernels_settings(tmp_path, setting, value):
    (tmp_path / setting).parent.mkdir()
    (tmp_path / setting).write_text(f"{1 - int(value)}\n")
    assert jail.restrictions(Path("/usr/bin/bwrap"), tmp_path) == []
    (tmp_path / setting).write_text(f"{value}\n")
    (command,) = jail.restrictions(Path("/usr/bin/bwrap"), tmp_path)
    assert command.startswith(("sudo ", "printf "))
    assert "{" not in command or "profile hqt-bwrap /usr/bin/bwrap flags=(unconfined) {" in command


def test_a_setuid_bubblewrap_is_a_problem_where_it_can_be_attacked(own_world):
    copy = own_world.base / "bin/bwrap"
    copy.parent.mkdir()
    shutil.copy("/usr/bin/bwrap", copy)
    copy.chmod(0o4755)
    own_world.environment |= own_world.path_with(copy.parent)
    is_safe = numbers(version("/usr/bin/bwrap", timeout_s=5, environment={})) >= (0, 11, 2)
    seen = about(doctor(own_world, problems=not is_safe), "sandbox")
    assert any("CVE-2026-41163" in diagnosis["told"] for diagnosis in seen) is not is_safe


def test_without_tmux_it_says_so_and_goes_on(own_world):
    found = doctor(own_world, problems=True, env=without(own_world, "tmux"))
    assert "tmux is not installed" in about(found, "tmux")[0]["told"]
    assert about(found, "sandbox")


def test_options_that_weaken_a_jail_are_told(own_world):
    own_world.new(*IDLE)
    own_world.tmux("set-option", "-s", "set-clipboard", "on")
    own_world.tmux("set-option", "-gw", "allow-passthrough", "on")
    own_world.tmux("set-option", "-s", "default-terminal", "nobody-knows-this")
    told = " ".join(diagnosis["told"] for diagnosis in about(doctor(own_world), "tmux"))
    for words in ("can write your clipboard", "allow-passthrough is on", "does not know it"):
        assert words in told


def test_a_server_that_is_older_than_the_program_is_told(own_world):
    own_world.new(*IDLE)
    newer = own_world.base / "bin/tmux"
    newer.parent.mkdir()
    newer.write_text(f'#!/bin/sh\n[ "$1" = -V ] && echo "tmux 9.9" && exit\nexec {shutil.which("tmux")} "$@"\n')
    newer.chmod(0o755)
    found = about(doctor(own_world, env=own_world.path_with(newer.parent)), "tmux")
    assert any("tmux was upgraded" in diagnosis["told"] for diagnosis in found)
    assert own_world.state_of_all() == ["running"]


def test_what_the_options_say_reaches_no_terminal_unescaped(own_world):
    own_world.new(*IDLE)
    own_world.tmux("set-option", "-s", "default-terminal", "\x1b]0;x\x07[red]")
    assert "\x1b" not in own_world.hqt("doctor").stdout


def test_a_harness_is_told_with_its_version_and_what_it_needs(own_world):
    own_world.fake("claude", "echo '99.1.0 (Claude Code)'")
    seen = told_of("claude", doctor(own_world))
    assert (seen["told"], seen["level"]) == ("claude 99.1.0", "note")
    assert "run `claude` once" in seen["fix"]
    (own_world.home / ".claude.json").write_text("{}")
    assert "newer than" in told_of("claude", doctor(own_world))["told"]


@pytest.mark.parametrize("script", ["exit 1", "head -c 1000000 /dev/urandom", "kill -9 $$"])
def test_a_harness_that_does_not_tell_its_version_is_still_seen(own_world, script):
    own_world.fake("codex", script)
    assert told_of("codex", doctor(own_world))["level"] == "note"


@pytest.mark.parametrize("damage", ["hqt.db", "folder"])
def test_modes_that_let_others_in_are_problems(own_world, damage):
    own_world.new(*IDLE)
    path = own_world.database if damage == "hqt.db" else own_world.database.parent
    path.chmod(0o755)
    (seen,) = [d for d in about(doctor(own_world, problems=True), "state") if d["level"] == "problem"]
    assert seen["fix"] == f"chmod {'600' if damage == 'hqt.db' else '700'} {path}"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_state_of_another_user_is_a_problem(own_world):
    own_world.new(*IDLE)
    os.chown(own_world.database.parent, PLAIN_UID, PLAIN_UID)
    assert "belongs to the user" in json.dumps(doctor(own_world, problems=True))


def test_a_damaged_database_is_a_problem(own_world):
    own_world.new(*IDLE)
    own_world.database.write_bytes(b"garbage" * 1000)
    assert "is damaged" in json.dumps(doctor(own_world, problems=True))


def test_a_window_that_no_session_knows_is_a_problem_and_is_ended_only_when_asked(own_world):
    own_world.new(*IDLE)
    for file in own_world.database.parent.glob("hqt.db*"):
        file.unlink()
    own_world.new("-n", "known", *IDLE)
    (seen,) = about(doctor(own_world, problems=True), "windows")
    assert len(own_world.tmux("list-windows", "-a").splitlines()) == 2
    own_world.run("sh", "-c", seen["fix"])
    assert about(doctor(own_world), "windows") == []
    assert own_world.state("known") == "running"


def test_what_should_run_and_does_not_is_told(own_world):
    name = own_world.new(*IDLE)
    own_world.tmux("kill-server")
    (seen,) = about(doctor(own_world), "sessions")
    assert name in seen["told"]
    assert seen["fix"] == "hqt restore"


def test_fix_asks_for_each_and_does_what_is_said_yes_to(own_world):
    own_world.new(*IDLE)
    own_world.database.chmod(0o644)
    left = own_world.database.parent / "sessions/left"
    left.mkdir()
    terminal = Terminal(own_world, "env", "SHELL=/bin/sh", *own_world.program, "doctor", "--fix", size=(200, 50))
    try:
        for question, answer in (("--install? [y/N]", "n"), ("hqt.db? [y/N]", "y"), ("--fix? [y/N]", "n")):
            terminal.shows(question)
            terminal.keys(answer)
            terminal.press("Enter")
        eventually(lambda: own_world.database.stat().st_mode & 0o777 == 0o600)
        assert left.exists()
    finally:
        terminal.end()


def test_fix_needs_a_terminal(own_world):
    assert "no terminal" in own_world.hqt("doctor", "--fix", fails=2).stderr


def test_a_report_holds_nothing_personal(own_world):
    secret = own_world.home / "clients/acme-merger"
    secret.mkdir(parents=True)
    own_world.new(secret, *IDLE)
    own_world.hqt("attach", "nobody", fails=3)
    own_world.tmux("kill-server")
    secret.rename(own_world.home / "moved")
    own_world.hqt("attach", "acme-merger-generic", "-d", fails=1)
    report = own_world.hqt("doctor", "--report").stdout
    assert "there is no session named" in report
    assert "clients" not in report
    assert str(own_world.home) not in report


def test_personal_paths_are_left_out_and_hqts_own_kept(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("LOGNAME", "ada")
    assert (
        impersonal("/home/ada/secret/client x /home/ada/.config/hqt/config.toml") == "~/… x ~/.config/hqt/config.toml"
    )
    assert impersonal("for ada at /home/ada") == "for USER at ~"


def test_a_terminal_is_known_in_a_jail_by_the_systems_own_descriptions():
    assert host.is_known_in_a_jail("xterm-256color") == any(
        Path(folder, "x/xterm-256color").exists()
        for folder in ("/usr/share/terminfo", "/lib/terminfo", "/etc/terminfo")
    )
    assert not host.is_known_in_a_jail("nobody-knows-this")


@pytest.mark.parametrize(
    ("system", "release", "level"),
    [("linux", "6.18", "ok"), ("linux", "4.4.0-19041-Microsoft", "note"), ("darwin", "24", "note")],
)
def test_a_platform_without_namespaces_is_told(system, release, level):
    assert host._platform(system, release).level == level

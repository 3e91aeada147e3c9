"""The log: what changed and what failed, without secrets, in a file that does not grow for ever."""

from __future__ import annotations

import stat
import sys

import pytest

from hqt import cli, log

IDLE = ("-H", "generic", "-s", "--", "sleep", "1000")


def text(world):
    return (world.database.parent / "hqt.log").read_text()


def test_what_was_changed_and_what_failed_is_logged_in_a_private_file(world):
    name = world.new(*IDLE)
    world.hqt("stop", name)
    world.hqt("attach", "nobody", fails=3)
    for words in ("created", "started", "stopped", "there is no session named 'nobody'"):
        assert words in text(world)
    assert stat.S_IMODE((world.database.parent / "hqt.log").stat().st_mode) == 0o600


def test_no_value_of_a_variable_and_no_prompt_is_logged(own_world):
    secret = "sk-a-secret-of-the-user"
    own_world.fake("claude", "exec sleep 1000")
    debug = {"MY_KEY": secret, "ANTHROPIC_API_KEY": secret, "HQT_DEBUG": "1"}
    name = own_world.new("-s", "-H", "claude", "--env", "MY_KEY", "-p", f"a prompt with {secret}", env=debug)
    own_world.hqt("attach", name, "-d", env=debug)
    told = own_world.hqt("stop", name, env=debug).stderr
    assert secret not in text(own_world) + told


def test_a_look_leaves_no_log_and_a_log_that_cannot_be_written_stops_nothing(own_world):
    own_world.hqt("attach", "nobody", fails=3)
    assert not own_world.database.parent.exists()
    own_world.new("-n", "one", *IDLE)
    path = own_world.database.parent / "hqt.log"
    path.unlink()
    path.symlink_to(own_world.home / "elsewhere")  # never written through a link
    own_world.hqt("stop", "one")
    assert not (own_world.home / "elsewhere").exists()
    path.unlink()
    path.mkdir()
    own_world.hqt("attach", "one", "-d")


def test_hostile_names_write_no_line_of_their_own(own_world):
    own_world.hqt("attach", "x\n2026-01-01 00:00:00,000 1 INFO forged", fails=3)
    own_world.new("-n", "one", *IDLE)
    own_world.hqt("attach", "x\n2026-01-01 00:00:00,000 1 INFO forged \x1b[31m", fails=3)
    assert not any(line.startswith("2026-01-01") for line in text(own_world).splitlines())
    assert "\x1b" not in text(own_world)


def test_debugging_shows_every_call_of_tmux(own_world):
    assert "new-window" not in own_world.new("-n", "one", *IDLE)
    shown = own_world.hqt("stop", "one", env={"HQT_DEBUG": "1"}).stderr
    assert "list-panes" in shown
    assert "kill-pane" in shown
    assert own_world.hqt("ls", env={"HQT_DEBUG": "0"}).stderr == ""


def test_it_is_turned_over_at_its_size(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "hqt").mkdir()
    for number in range(30_000):
        log.logger().info("%d %s", number, "x" * 80)
    for handler in log.logger().handlers:
        handler.close()
    sizes = [path.stat().st_size for path in (tmp_path / "hqt").iterdir()]
    assert len(sizes) == 2
    assert max(sizes) <= 1 << 20


@pytest.mark.parametrize("as_json", [False, True])
def test_a_fault_of_hqts_own_is_one_line_and_the_log_has_the_rest(own_world, monkeypatch, capsys, as_json):
    own_world.new("-n", "one", *IDLE)
    monkeypatch.setenv("XDG_STATE_HOME", str(own_world.database.parent.parent))

    def broken():
        raise ZeroDivisionError("of its own")

    monkeypatch.setattr("hqt.cli.app.app", broken)
    monkeypatch.setattr(sys, "argv", ["hqt", *(["--json"] if as_json else [])])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    told = capsys.readouterr().err
    assert "unexpected ZeroDivisionError: of its own" in told
    assert "Traceback" not in told
    assert "Traceback" in text(own_world)
    assert told.startswith("{") == as_json

"""The real Claude Code and Codex in the jail, against the stand-in for the model APIs, as root and as a plain user."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.world import SECRET, eventually

BINARIES = Path(__file__).parent.parent / ".npm/node_modules/.bin"
CODEX_CONFIGURATION = """
model = "fake"
model_provider = "loop"
[model_providers.loop]
name = "loop"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""

pytestmark = pytest.mark.harness


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """The stand-in for the model APIs, on loopback."""
    command = [sys.executable, str(Path(__file__).parent / "fake_model_api.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        yield int(server.stdout.readline())
        server.terminate()


@pytest.fixture(params=["claude", "codex"])
def harness(request, world, port):
    """A harness that is installed and set up in the world's home."""
    binary = BINARIES / request.param
    if not binary.exists():
        pytest.skip(f"{request.param} could not be installed")
    folder = world.home / "npm/bin"
    folder.mkdir(parents=True)
    visible = _for_everyone(binary)
    (folder / request.param).symlink_to(visible)
    world.environment.update(world.path_with(folder))
    key = "sk-ant-dummy-000"
    if request.param == "claude":
        world.environment |= {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": key}
        approved = {"approved": [key], "rejected": []}
        state = {"hasCompletedOnboarding": True, "customApiKeyResponses": approved}
        (world.home / ".claude.json").write_text(json.dumps(state))
    else:
        world.environment["OPENAI_API_KEY"] = key
        (world.home / ".codex").mkdir()
        (world.home / ".codex/config.toml").write_text(CODEX_CONFIGURATION.format(port=port))
    world.give_away()
    return request.param


def _for_everyone(binary):
    """The binaries lie where this checkout does; a plain user gets them where it can look."""
    real = binary.resolve()
    if all(folder.stat().st_mode & 0o005 for folder in real.parents):
        return real
    copy = Path("/var/tmp/hqt-test-npm")
    subprocess.run(["cp", "-a", "--update", f"{BINARIES.parent}/.", copy], check=True)
    return copy / real.relative_to(BINARIES.parent)


def screen(world, name):
    return world.hqt("peek", name).stdout


def shows(world, name, text):
    return eventually(lambda: text in screen(world, name), f"{text!r} on the screen:\n{screen(world, name)}")


def test_a_prompt_is_answered_without_any_dialog(world, harness):
    name = world.new("-s", "-H", harness, "-p", "--hello there")
    shows(world, name, "TURNS: 1")
    assert "ECHO: --hello there" in screen(world, name)


def test_the_model_runs_commands_in_the_jail_without_being_asked(world, harness):
    command = "touch made-by-the-model; cat ~/.ssh/id_rsa || echo no secret; cat /proc/*/environ | grep -c PLANTED"
    world.environment["PLANTED"] = SECRET
    name = world.new("-s", "-H", harness, "-p", f"RUN: {command}")
    shows(world, name, "DONE:")
    assert (world.project / "made-by-the-model").exists()
    assert SECRET not in screen(world, name)


def test_a_conversation_goes_on_after_a_stop(world, harness):
    name = world.new("-s", "-H", harness, "-p", "the first message")
    shows(world, name, "TURNS: 1")
    before = world.show(name)["argv"]
    world.hqt("stop", name)
    assert world.show(name)["resume"]["rung"] == "resume"
    assert "goes on with its conversation" in world.hqt("attach", name, "-d").stderr
    after = world.show(name)["argv"]
    split = len(before) - before[::-1].index("bwrap") + before[len(before) - before[::-1].index("bwrap") :].index("--")
    assert after[: split + 1] == before[: split + 1]
    assert shlex.split(world.hqt("show", name, "--argv").stdout) == after
    world.hqt("send", name, "the second message")
    shows(world, name, "TURNS: 2")


def test_two_sessions_in_one_folder_keep_their_own_conversations(world, harness):
    names = [world.new("-s", "-H", harness, "-n", text, "-p", f"I am {text}") for text in ("first", "second")]
    for name in names:
        shows(world, name, "TURNS: 1")
    for name in names:
        world.hqt("stop", name)
    for name in reversed(names):
        world.hqt("attach", name, "-d")
    for name in names:
        shows(world, name, f"I am {name}")


def test_without_a_conversation_it_starts_afresh_as_the_first_time(world, harness):
    name = world.new("-s", "-H", harness)
    before = world.show(name)["argv"]
    world.hqt("stop", name)
    world.hqt("attach", name, "-d")
    assert world.show(name)["argv"] == before
    assert world.state(name) == "running"


def test_the_users_own_configuration_is_out_of_reach(world, harness):
    guarded = {"claude": "settings.json", "codex": "config.toml"}[harness]
    folder = f".{harness}"
    before = (world.home / folder / guarded).read_text() if (world.home / folder / guarded).exists() else "{}\n"
    attack = (
        f"echo planted > ~/{folder}/{guarded}; mkdir -p ~/{folder}/skills/evil; mv ~/{folder} ~/{folder}2; echo tried"
    )
    name = world.new("-s", "-H", harness, "-p", f"RUN: {attack}")
    shows(world, name, "DONE:")
    assert (world.home / folder / guarded).read_text() == before
    assert not (world.home / folder / "skills/evil").exists()


def test_it_says_what_it_does_and_a_prompt_is_known_to_be_taken(world, harness):
    name = world.new("-s", "-H", harness)
    assert world.hqt("send", name, "a first\nof two lines", "--wait").stdout.endswith(f"{name} is done\n")
    assert "ECHO: a first" in screen(world, name)
    world.hqt("send", name, "RUN: touch began; until test -e go; do sleep 0.1; done")
    eventually((world.project / "began").exists)
    (session,) = world.ls()
    assert (session["status"]["status"], session["status"]["guess"]) == ("working", False)
    (world.project / "go").touch()
    assert world.hqt("wait", name, "--timeout", "30").stdout == f"{name} idle\n"
    assert "DONE:" in screen(world, name)


def test_a_long_prompt_arrives_whole(world, harness):
    name = world.new("-s", "-H", harness)
    text = "\n".join(f"line {number} {'x' * 90}" for number in range(1000))
    world.hqt("send", name, "-", "--wait", input=f"{text}\nthe very end")
    assert "the very end" in screen(world, name)


def test_a_half_typed_draft_is_seen(world, harness):
    name = world.new("-s", "-H", harness)
    world.hqt("send", name, "first", "--wait")
    world.tmux("send-keys", "-t", world.show(name)["window"], "-l", "half a thought")
    shows(world, name, "half a thought")
    assert "half-typed" in world.hqt("send", name, "other", fails=1).stderr
    assert "other" not in screen(world, name)

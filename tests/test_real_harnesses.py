"""The real harnesses in the jail, against the stand-in for the model APIs, as a plain user and as root."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hqt.harnesses import HARNESSES
from tests.world import PLAIN_UID, SECRET, eventually

INSTALLED = Path(__file__).parent.parent / ".harnesses"
BINARIES = (INSTALLED / "node_modules/.bin", INSTALLED / "aider/bin")
CODEX_CONFIGURATION = """
model = "fake"
model_provider = "loop"
[model_providers.loop]
name = "loop"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""

pytestmark = pytest.mark.harness


KEY = "sk-ant-dummy-000"


def set_up_claude(world, url):
    world.environment |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}
    approved = {"approved": [KEY], "rejected": []}
    state = {"hasCompletedOnboarding": True, "customApiKeyResponses": approved}
    (world.home / ".claude.json").write_text(json.dumps(state))


def set_up_codex(world, url):
    world.environment["OPENAI_API_KEY"] = KEY
    (world.home / ".codex").mkdir()
    (world.home / ".codex/config.toml").write_text(CODEX_CONFIGURATION.format(url=url))


def set_up_gemini(world, url):
    world.environment |= {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url}
    (world.home / ".gemini").mkdir()
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "model": {"name": "gemini-2.5-flash"}}
    (world.home / ".gemini/settings.json").write_text(json.dumps(settings))


def set_up_qwen(world, url):
    world.environment |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "fake"}
    (world.home / ".qwen").mkdir()
    settings = {"security": {"auth": {"selectedType": "openai"}}, "model": {"name": "fake"}, "$version": 4}
    (world.home / ".qwen/settings.json").write_text(json.dumps(settings))


def set_up_pi(world, url):
    (world.home / ".pi/agent").mkdir(parents=True)
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": KEY, "models": [{"id": "fake"}]}
    (world.home / ".pi/agent/models.json").write_text(json.dumps({"providers": {"loop": provider}}))
    settings = {"defaultProvider": "loop", "defaultModel": "fake"}
    (world.home / ".pi/agent/settings.json").write_text(json.dumps(settings))


def set_up_opencode(world, url):
    folder = world.home / ".config/opencode"
    folder.mkdir(parents=True)
    options = {"baseURL": f"{url}/v1", "apiKey": KEY}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "loop", "options": options, "models": {"fake": {}}}
    models = {"model": "loop/fake", "small_model": "loop/fake"}
    (folder / "opencode.json").write_text(json.dumps({"provider": {"loop": provider}, **models}))


def set_up_copilot(world, url):
    provider = {"COPILOT_PROVIDER_BASE_URL": f"{url}/v1", "COPILOT_PROVIDER_API_KEY": KEY}
    world.environment |= {**provider, "COPILOT_MODEL": "fake", "COPILOT_OFFLINE": "true"}
    (world.home / ".copilot").mkdir()
    (world.home / ".copilot/settings.json").write_text("{}")


def set_up_aider(world, url):
    # Without a repository it makes one, and without a name it writes one into that.
    subprocess.run(["git", "init", "-q", world.project], check=True)
    (world.home / ".gitconfig").write_text("[user]\nname = Somebody\nemail = somebody@example.com\n")
    world.environment |= {"OPENAI_API_KEY": KEY, "OPENAI_API_BASE": f"{url}/v1", "AIDER_MODEL": "openai/fake"}


SET_UP = {
    "aider": set_up_aider,
    "claude": set_up_claude,
    "codex": set_up_codex,
    "copilot": set_up_copilot,
    "gemini": set_up_gemini,
    "qwen": set_up_qwen,
    "opencode": set_up_opencode,
    "pi": set_up_pi,
}


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """The stand-in for the model APIs, on loopback."""
    command = [sys.executable, str(Path(__file__).parent / "fake_model_api.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        yield int(server.stdout.readline())
        server.terminate()


PLAIN = [
    *((name, "plain") for name in SET_UP if name != "opencode"),
    # One at a time: a start takes it twelve seconds of a processor.
    pytest.param(("opencode", "plain"), marks=pytest.mark.xdist_group("opencode")),
]
# Only these two refuse root in some way, so that it makes a difference where a jail is entered or its user's files met.
ROOT = [("claude", "root"), ("codex", "root")] if os.getuid() == 0 else []
as_a_user = pytest.mark.parametrize("who", PLAIN, ids="-".join, indirect=True)


@pytest.fixture(params=[*ROOT, *PLAIN], ids="-".join)
def who(request):
    """A harness, and the account that runs it."""
    return request.param


@pytest.fixture
def account(who):
    return PLAIN_UID if who[1] == "plain" and os.getuid() == 0 else os.getuid()


@pytest.fixture
def harness(who, world, port):
    """A harness that is installed and set up in the world's home."""
    name = who[0]
    binary = next((found for folder in BINARIES if (found := folder / name).exists()), None)
    if binary is None:
        pytest.skip(f"{name} could not be installed")
    folder = world.home / "npm/bin"
    folder.mkdir(parents=True)
    visible = _for_everyone(binary)
    (folder / name).symlink_to(visible)
    world.environment.update(world.path_with(folder))
    SET_UP[name](world, f"http://127.0.0.1:{port}")
    world.give_away()
    return name


@pytest.fixture
def quick_harness(harness):
    """The same, but for those whose every start takes some ten seconds of a processor: the other tests try them."""
    if harness in ("aider", "opencode"):
        pytest.skip("each start takes it too long")
    return harness


def _for_everyone(binary):
    """The binaries lie where this checkout does; a plain user gets them where it can look."""
    real = binary.resolve()
    if all(folder.stat().st_mode & 0o005 for folder in real.parents):
        return real
    copy = Path("/var/tmp/hqt-test-harnesses")
    subprocess.run(["cp", "-a", "--update", f"{INSTALLED}/.", copy], check=True)
    return copy / real.relative_to(INSTALLED)


def asked(world, harness, text, *arguments):
    """Start a session with this prompt, or where that cannot be, send it."""
    if HARNESSES[harness].takes_prompt:
        return world.new("-s", "-H", harness, *arguments, "-p", text)
    name = world.new("-s", "-H", harness, *arguments)
    world.hqt("send", name, "--", text)
    return name


def screen(world, name):
    return world.hqt("peek", name).stdout


def shows(world, name, text):
    return eventually(lambda: text in screen(world, name), lambda: f"{text!r} on the screen:\n{screen(world, name)}")


def test_a_prompt_is_answered_without_any_dialog(world, quick_harness):
    name = asked(world, quick_harness, "--hello there")
    shows(world, name, "TURNS: 1")
    assert re.search("ECHO: +--hello there", screen(world, name))


def test_the_model_runs_commands_in_the_jail_without_being_asked(world, quick_harness):
    command = "touch made-by-the-model; cat ~/.ssh/id_rsa || echo no secret; cat /proc/*/environ | grep -c PLANTED"
    world.environment["PLANTED"] = SECRET
    name = asked(world, quick_harness, f"RUN: {command}")
    shows(world, name, "DONE:")
    assert (world.project / "made-by-the-model").exists()
    assert SECRET not in screen(world, name)


def test_a_conversation_goes_on_after_a_stop(world, harness):
    name = asked(world, harness, "the first message")
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


@as_a_user
def test_show_says_what_the_running_conversation_has_used(world, harness):
    if harness in ("aider", "opencode"):
        pytest.skip("its record is a text, or a database")
    name = asked(world, harness, "RUN: echo hi")
    shows(world, name, "DONE: ")

    def used():
        return world.show(name)["usage"] or {"tokens": {}}

    # Two answers, of which the stand-in says the same each time.
    eventually(lambda: used()["tokens"].get("written") == 10, used)
    assert used()["turns"] == 1
    assert used()["tokens"] == {"read": 20, "cached": 0, "written": 10}
    assert used()["model"]


@as_a_user
def test_two_sessions_in_one_folder_keep_their_own_conversations(world, quick_harness):
    names = []
    for text in ("first", "second"):
        names.append(asked(world, quick_harness, f"I am {text}", "-n", text))
        if quick_harness == "gemini":  # as it starts, it removes conversations of the folder that have no turn yet
            shows(world, text, "TURNS: 1")
    for name in names:
        shows(world, name, "TURNS: 1")
    for name in names:
        world.hqt("stop", name)
    for name in reversed(names):
        world.hqt("attach", name, "-d")
    for name in names:
        shows(world, name, f"I am {name}")


def test_without_a_conversation_it_starts_afresh_as_the_first_time(world, quick_harness):
    name = world.new("-s", "-H", quick_harness)
    before = world.show(name)["argv"]
    world.hqt("stop", name)
    world.hqt("attach", name, "-d")
    assert world.show(name)["argv"] == before
    assert world.state(name) == "running"


def test_the_users_own_configuration_is_out_of_reach(world, quick_harness):
    guarded = {"codex": "config.toml", "pi": "models.json"}.get(quick_harness, "settings.json")
    folder = {"pi": ".pi/agent"}.get(quick_harness, f".{quick_harness}")
    before = (world.home / folder / guarded).read_text() if (world.home / folder / guarded).exists() else "{}\n"
    attack = (
        f"echo planted > ~/{folder}/{guarded}; mkdir -p ~/{folder}/skills/evil; mv ~/{folder} ~/{folder}2; echo tried"
    )
    name = asked(world, quick_harness, f"RUN: {attack}")
    shows(world, name, "DONE:")
    assert (world.home / folder / guarded).read_text() == before
    assert not (world.home / folder / "skills/evil").exists()


@pytest.mark.parametrize("who", [("aider", "plain")], ids="-".join, indirect=True)
def test_what_aiders_later_starts_would_read_is_out_of_reach(world, harness):
    (world.home / ".aider.conf.yml").write_text("pretty: true\n")
    (world.home / ".aider").mkdir()
    (world.home / ".aider/oauth-keys.env").write_text("OPENROUTER_API_KEY=mine\n")
    world.give_away()
    name = world.new("-s", "--ro", "-H", harness)
    attack = "for f in ~/.aider.conf.yml ~/.aider/oauth-keys.env ~/.aider/more.env; do cat $f; echo A=planted >$f; done"
    world.hqt("send", name, f"/run {attack}; cat ~/.ssh/id_rsa; echo tr''ied")
    shows(world, name, "tried")
    assert "OPENROUTER_API_KEY=mine" in screen(world, name)
    assert SECRET not in screen(world, name)
    assert (world.home / ".aider.conf.yml").read_text() == "pretty: true\n"
    assert {file.name: file.read_text() for file in (world.home / ".aider").iterdir()} == {
        "oauth-keys.env": "OPENROUTER_API_KEY=mine\n"
    }


@as_a_user
def test_it_says_what_it_does_and_a_prompt_is_known_to_be_taken(world, quick_harness):
    if HARNESSES[quick_harness].says_status == "never":
        pytest.skip("it says nothing")
    name = world.new("-s", "-H", quick_harness)
    assert world.hqt("send", name, "a first\nof two lines", "--wait").stdout.endswith(f"{name} is done\n")
    shows(world, name, "ECHO: a first")  # a hook may be done before the screen is
    world.hqt("send", name, "RUN: touch began; until test -e go; do sleep 0.1; done")
    eventually((world.project / "began").exists)
    (session,) = world.ls()
    assert (session["status"]["status"], session["status"]["guess"]) == ("working", False)
    (world.project / "go").touch()
    assert world.hqt("wait", name, "--timeout", "30").stdout == f"{name} idle\n"
    shows(world, name, "DONE:")


@as_a_user
def test_a_question_rings_the_window_and_the_user_is_told(world, harness):
    if harness not in ("claude", "copilot", "opencode"):
        pytest.skip("in a jail it asks nothing")
    world.configure('notify = ["sh", "-c", "echo $HQT_NAME $HQT_EVENT >>told"]\n')
    other = world.sh("exec sleep 1000", "-n", "other")
    name = asked(world, harness, "ASK: shall I?")
    world.tmux("select-window", "-t", f"hqt:={other}")
    shows(world, name, "shall I?")
    told = world.home / "told"
    eventually(lambda: told.exists() and told.read_text() == f"{name} waiting\n", "the user is told")
    assert world.tmux("display-message", "-p", "-t", f"hqt:={name}", "#{window_bell_flag}") == "1\n"
    assert world.hqt("wait", name, "--for", "waiting", "--timeout", "30").stdout == f"{name} waiting\n"


@as_a_user
def test_a_long_prompt_arrives_whole(world, quick_harness):
    if quick_harness == "pi":
        pytest.skip("Pi takes a minute and a half for it")
    name = world.new("-s", "-H", quick_harness)
    text = "\n".join(f"line {number} {'x' * 90}" for number in range(1000))
    prompt = f"{text}\nthe very end"
    world.hqt("send", name, "-", "--wait", input=prompt)
    if quick_harness == "copilot":  # it puts a long one into a file, and names that
        (pasted,) = world.database.parent.glob("sessions/*/private/**/paste-*.txt")
        assert pasted.read_text() == prompt
    else:
        shows(world, name, "the very end")


@as_a_user
def test_a_half_typed_draft_is_seen(world, harness):
    if not HARNESSES[harness].input_prompt:
        pytest.skip("it is not known how an empty input line of it looks")
    name = world.new("-s", "-H", harness)
    world.hqt("send", name, "first", "--wait")
    world.tmux("send-keys", "-t", world.show(name)["window"], "-l", "half a thought")
    shows(world, name, "half a thought")
    assert "half-typed" in world.hqt("send", name, "other", fails=1).stderr
    assert "other" not in screen(world, name)

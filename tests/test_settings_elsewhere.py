"""Settings of agents behind links, their MCP servers, certificates: what a jail gets of them, and what it cannot do."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hqt.mcp import servers_in, toml_without, why_left_out
from tests.world import SECRET, eventually

SHOWS = (
    "cd ~; cat .claude/settings.json .claude/CLAUDE.md .claude/skills/*/SKILL.md .claude/commands/*; "
    "cat dot/*/neighbour"
)


def dotfiles(world, kind):
    """Keep settings of Claude Code in a dotfiles folder, in the way of a manager; returns the links that lead there."""
    dot = world.home / "dot/claude"
    own = world.home / ".claude"
    for name, text in {
        "settings.json": '{"env": {"FROM": "settings"}}',
        "CLAUDE.md": "memory of mine",
        "skills/a/SKILL.md": "a skill of mine",
        "commands/c.md": "a command of mine",
        "neighbour": SECRET,
    }.items():
        (dot / name).parent.mkdir(parents=True, exist_ok=True)
        (dot / name).write_text(text)
    if kind == "the folder itself":
        own.symlink_to("dot/claude")
        return []
    own.mkdir()
    names = ["settings.json", "CLAUDE.md", "skills", "commands"]
    if kind == "each skill":
        names = ["settings.json", "CLAUDE.md", "skills/a", "commands/c.md"]
    if kind == "through another link":
        (world.home / "way").symlink_to("dot")
    for name in names:
        (own / name).parent.mkdir(exist_ok=True)
        up = "../" * (name.count("/") + 1)
        target = {"absolute": f"{dot}/{name}", "through another link": f"{up}way/claude/{name}"}.get(
            kind, f"{up}dot/claude/{name}"
        )
        (own / name).symlink_to(target)
    return [own / name for name in names]


@pytest.mark.parametrize("kind", ["relative", "absolute", "each skill", "the folder itself", "through another link"])
def test_settings_behind_links_are_there_and_nothing_else_of_their_folder(world, kind, bwrap_folder):
    world.environment.update(world.path_with(bwrap_folder))
    links = dotfiles(world, kind)
    world.fake("claude", f"{SHOWS}; echo all; sleep 1000")
    world.give_away()
    name = world.new("-s", "-H", "claude")
    eventually(lambda: "all" in world.hqt("peek", name).stdout.splitlines())
    said = world.hqt("peek", name).stdout
    for text in ('{"FROM": "settings"}', "memory of mine", "a skill of mine", "a command of mine"):
        assert text in said
    if kind != "the folder itself":
        assert SECRET not in said
    assert {str(link) for link in links if link.parent.name == ".claude"} == set(world.show(name)["pinned"])
    world.hqt("check", name)
    before = world.show(name)["argv"]
    world.hqt("stop", name)
    world.hqt("attach", "-d", name)
    assert world.show(name)["argv"] == before


@pytest.mark.parametrize("kind", ["relative", "absolute", "each skill", "the folder itself", "through another link"])
def test_neither_such_a_link_nor_what_is_behind_it_can_be_changed(world, kind):
    dotfiles(world, kind)
    before = subprocess.run(["find", world.home, "-printf", "%p %l %s\n"], capture_output=True, check=True).stdout
    paths = "settings.json CLAUDE.md skills skills/a skills/a/SKILL.md commands commands/c.md"
    attack = (
        f"cd ~/.claude; for p in {paths}; do rm -rf $p; mv $p moved; ln -sfn /etc/passwd $p; echo PLOT >$p; "
        "echo PLOT >$p/new; mkdir -p $p; umount $p; done 2>/dev/null; mv ~/.claude ~/.c 2>/dev/null; "
        "echo all; sleep 1000"
    )
    world.fake("claude", attack)
    world.give_away()
    name = world.new("-s", "-H", "claude")
    eventually(lambda: "all" in world.hqt("peek", name).stdout.splitlines())
    world.hqt("rm", name)
    after = subprocess.run(["find", world.home, "-printf", "%p %l %s\n"], capture_output=True, check=True).stdout
    lost = [line for line in set(before.splitlines()) - set(after.splitlines()) if b"/.claude " not in line]
    assert [line for line in lost if b"/dot" in line or b"/.claude/" in line] == []
    assert subprocess.run(["grep", "-rl", "PLOT", world.home / "dot"], capture_output=True, check=False).stdout == b""


def test_a_link_among_them_that_leads_to_keys_shows_nothing_of_them(own_world):
    dotfiles(own_world, "relative")
    (own_world.home / "dot/claude/skills/keys").symlink_to("../../../.ssh")
    own_world.fake("claude", "cat ~/.claude/skills/keys/*; cat ~/.ssh/*; echo all; sleep 1000")
    own_world.give_away()
    name = own_world.new("-s", "-H", "claude")
    eventually(lambda: "all" in own_world.hqt("peek", name).stdout.splitlines())
    assert SECRET not in own_world.hqt("peek", name).stdout
    assert "it holds keys" in "".join(own_world.show(name)["notes"])


def test_a_link_that_leads_elsewhere_since_is_told(own_world):
    dotfiles(own_world, "relative")
    own_world.fake("claude", "sleep 1000")
    name = own_world.new("-s", "-H", "claude")
    own_world.hqt("stop", name)
    (own_world.home / ".claude/settings.json").unlink()
    (own_world.home / ".claude/settings.json").symlink_to("../.ssh/id_rsa")
    assert "when the session was made" in own_world.hqt("attach", "-d", name, fails=1).stderr
    (own_world.home / ".claude/settings.json").unlink()
    (own_world.home / ".claude/settings.json").write_text("{}")
    own_world.hqt("attach", "-d", name)


def test_codex_with_its_configuration_behind_links_has_a_private_copy(own_world):
    dot = own_world.home / "dot"
    dot.mkdir()
    (dot / "config.toml").write_text('model = "mine"\n')
    (dot / "AGENTS.md").write_text("my instructions\n")
    (own_world.home / ".codex").mkdir()
    for name in ("config.toml", "AGENTS.md"):
        (own_world.home / ".codex" / name).symlink_to(f"../dot/{name}")
    own_world.fake(
        "codex",
        "cd ~/.codex; cat config.toml AGENTS.md; echo PLOT >>config.toml; echo PLOT >>AGENTS.md; rm config.toml; "
        "echo all; sleep 1000",
    )
    name = own_world.new("-s", "-H", "codex")
    eventually(lambda: "all" in own_world.hqt("peek", name).stdout.splitlines())
    assert 'model = "mine"' in own_world.hqt("peek", name).stdout
    assert "my instructions" in own_world.hqt("peek", name).stdout
    assert (dot / "config.toml").read_text() == 'model = "mine"\n'
    assert (dot / "AGENTS.md").read_text() == "my instructions\n"
    assert (own_world.home / ".codex/config.toml").readlink() == Path("../dot/config.toml")


SERVERS: dict[str, dict[str, Any]] = {
    "works": {"command": "sh", "args": ["-c", "true"], "env": {"LOG_LEVEL": "debug"}},
    "token": {"command": "sh", "env": {"GITHUB_TOKEN": SECRET}},
    "header": {"type": "http", "url": "http://mcp.test", "headers": {"Authorization": f"Bearer {SECRET}"}},
    "missing": {"command": "no-such-program"},
    "reference": {"command": "sh", "env": {"API_KEY": "${MY_TOKEN}"}},
    "open": {"type": "http", "url": "http://mcp.test"},
}
WORK = {"works", "open"}


def configured(world, harness, place):
    """Have these servers in the agent's configuration, and return what a jail then has of it."""
    if harness == "codex":
        (world.home / ".codex").mkdir()
        lines = ['model = "x"']
        for name, server in SERVERS.items():
            lines += [f"[mcp_servers.{name}]"]
            lines += [f"{key} = {json.dumps(value)}" for key, value in server.items() if not isinstance(value, dict)]
            for key, table in server.items():
                if isinstance(table, dict):
                    lines += [f"[mcp_servers.{name}.{'http_headers' if key == 'headers' else key}]"]
                    lines += [f"{inner} = {json.dumps(value)}" for inner, value in table.items()]
        (world.home / ".codex/config.toml").write_text("\n".join([*lines, "[tui]", "theme = 'x'", ""]))
        return world.home / ".codex/config.toml"
    if harness != "claude":
        (world.home / f".{harness}").mkdir()
        path = world.home / f".{harness}/settings.json"
        path.write_text(json.dumps({"mcpServers": SERVERS, "theme": "x"}))
        return path
    state = {"mcpServers": SERVERS, "theme": "x"}
    if place == "of the project":
        state = {"projects": {str(world.project): {"mcpServers": SERVERS}}, "theme": "x"}
    (world.home / ".claude.json").write_text(json.dumps(state))
    return world.home / ".claude.json"


@pytest.mark.parametrize("given_name", [None, "token"])
@pytest.mark.parametrize(
    ("harness", "place"),
    [("claude", "of the user"), ("claude", "of the project"), ("codex", ""), ("gemini", ""), ("qwen", "")],
)
def test_servers_that_cannot_work_or_bring_a_token_are_left_out_and_said(own_world, harness, place, given_name):
    path = configured(own_world, harness, place)
    own_world.fake(harness, f"cat {path} >shown.new; mv shown.new shown; sleep 1000")
    own_world.give_away()
    options = ["--mcp", given_name] if given_name else []
    ended = own_world.hqt("new", "-d", "-n", "x", "-s", "-H", harness, *options)
    out = set(SERVERS) - WORK - {given_name}
    (line,) = [line for line in ended.stderr.splitlines() if "MCP servers left out" in line]
    assert all(f"{name} (" in line for name in out)
    assert not any(f"{name} (" in line for name in WORK)
    assert "--mcp NAME" in line
    assert SECRET not in ended.stderr
    shown = eventually(lambda: (own_world.project / "shown").exists() and (own_world.project / "shown").read_text())
    if harness == "codex":
        read = tomllib.loads(shown)
        assert read["tui"] == {"theme": "x"}
        there = set(read["mcp_servers"])
    else:
        read = json.loads(shown)
        assert read["theme"] == "x"
        there = set((read["projects"][str(own_world.project)] if place == "of the project" else read)["mcpServers"])
    assert there == set(SERVERS) - out
    assert (SECRET in shown) is (given_name == "token")
    own_world.hqt("stop", "x")
    (own_world.project / "shown").unlink()
    own_world.hqt("attach", "-d", "x")
    eventually((own_world.project / "shown").exists)
    assert (own_world.project / "shown").read_text() == shown


def test_a_variable_that_is_given_lets_its_server_in(own_world):
    configured(own_world, "claude", "of the user")
    own_world.fake("claude", "sleep 1000")
    ended = own_world.hqt("new", "-d", "-s", "-H", "claude", "--env", "MY_TOKEN")
    assert "reference (" not in ended.stderr


def test_a_server_of_the_project_that_is_left_out_is_switched_off(own_world):
    (own_world.project / ".mcp.json").write_text(json.dumps({"mcpServers": SERVERS}))
    own_world.fake("claude", "sleep 1000")
    name = own_world.new("-s", "-H", "claude")
    argv = own_world.show(name)["argv"]
    settings = json.loads(argv[argv.index("--settings") + 1])
    assert set(settings["disabledMcpjsonServers"]) == set(SERVERS) - WORK


def test_a_server_that_there_is_not_is_a_usage_error(own_world):
    own_world.fake("claude", "sleep 1000")
    assert "no MCP server named 'nope'" in own_world.hqt("new", "-d", "-H", "claude", "--mcp", "nope", fails=2).stderr


def test_outside_a_jail_every_server_stays(own_world):
    configured(own_world, "claude", "of the user")
    own_world.fake("claude", "sleep 1000")
    assert own_world.hqt("new", "-d", "-H", "claude").stderr == ""


@pytest.mark.parametrize(
    "server",
    [
        {"command": "x", "args": ["--api-key", "abc"]},
        {"command": "x", "args": ["--api-key=abc"]},
        {"command": ["x", "--token", "abc"]},
        {"url": "http://u:p@mcp.test"},
        {"url": "http://mcp.test/?token=abc"},
        {"command": "x", "env": {"FOO": "ghp_aaaaaaaaaaaaaaaaaaaa"}},
        {"url": "http://mcp.test", "bearer_token": "abc"},
        {"url": "http://mcp.test", "headers": {"X-Api-Key": "abc"}},
        {"url": "http://mcp.test", "http_headers": {"Cookie": "abc"}},
        {"command": "x", "env_vars": ["SECRET"]},
        {"url": "http://mcp.test", "bearer_token_env_var": "SECRET"},
        {"url": "http://mcp.test", "headers": {"Authorization": "Bearer ${SECRET}"}},
    ],
)
def test_a_token_is_seen_wherever_it_stands(server):
    assert why_left_out(server, lambda _: True, ())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["command", "args", "env", "headers", "url", "env_vars", "env_http_headers", "bearer_token_env_var"]
)


@given(st.dictionaries(st.text(), st.dictionaries(KEYS, json_values)))
def test_any_configuration_of_servers_is_understood_or_left_out(table):
    for server in servers_in(table).values():
        assert isinstance(why_left_out(server, lambda _: True, ()), str)


@given(st.text())
def test_any_text_is_kept_where_no_server_is_left_out(text):
    assert toml_without(text, set()) == text


@pytest.mark.parametrize(
    "variable", ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "SSL_CERT_DIR"]
)
def test_certificates_that_a_variable_names_below_the_home_folder_are_there(own_world, variable):
    folder = own_world.home / "company/certs"
    folder.mkdir(parents=True)
    (folder / "ca.pem").write_text("a certificate\n")
    (folder.parent / "neighbour").write_text(SECRET)
    named = folder if variable == "SSL_CERT_DIR" else folder / "ca.pem"
    own_world.environment[variable] = str(named)
    said = own_world.output_of(f'cat "${variable}" 2>/dev/null || cat "${variable}"/*; cat ~/company/neighbour', "-s")
    assert "a certificate" in said
    assert SECRET not in said


def test_keys_that_a_variable_names_are_not(own_world):
    own_world.environment["SSL_CERT_FILE"] = str(own_world.home / ".ssh/id_rsa")
    assert SECRET not in own_world.output_of('cat "$SSL_CERT_FILE"', "-s")

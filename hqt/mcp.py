"""Which MCP servers of an agent go into a jail: those that work there and bring no token of the user along. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

_SECRET_NAME = re.compile(r"key|token|secret|passw|auth|credential|cookie|(^|_)pat($|_)|dsn|(^|_)pwd", re.IGNORECASE)
_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*)(?::-[^}]*)?\}|\$([A-Za-z_]\w*)")
_SECRET_URL = re.compile(r"://[^/@\s]*:[^/@\s]*@|[?&](api_?key|token|key|secret|access_token)=[^&\s]", re.IGNORECASE)
_SECRET_WORD = re.compile(
    r"(sk|pk|ghp|gho|ghs|github_pat|glpat|xox[abp]|AKIA|npm|hf|pypi)[-_][A-Za-z0-9_-]{8,}|Bearer\s+\S{8,}"
)
_SECRET_OPTION = re.compile(r"--?[\w-]*(api-?key|token|secret|password)[\w-]*(=.+)?", re.IGNORECASE)

Servers = dict[str, dict[str, Any]]


def servers_in(table: object) -> Servers:
    """Return the servers of a table of a configuration, those that are understood."""
    return {str(name): one for name, one in table.items() if isinstance(one, dict)} if isinstance(table, dict) else {}


def why_left_out(server: Mapping[str, Any], has: Callable[[str], bool], given: Collection[str]) -> str:
    """Return why a server does not go into a jail, nothing if it does.

    `has` tells whether the jail has a program; `given` are the names of the variables that it may see.
    """
    command = [*_words(server.get("command")), server.get("command")][0]
    if command and not (isinstance(command, str) and has(command)):
        return f"{command} is not in the jail"
    if any(map(_is_secret, _literals(server))):
        return "a token is in its configuration"
    missing = sorted(set(_references(server)) - set(given))
    return f"{', '.join(missing)} was not given: --env" if missing else ""


def _literals(server: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a server is given, each with its name."""
    for key in ("env", "headers", "http_headers"):
        table = server.get(key)
        if isinstance(table, dict):
            yield from ((str(name), str(value)) for name, value in table.items())
    words = [*_words(server.get("command"))[1:], *_words(server.get("args"))]
    before = ""
    for word in words:
        option = _SECRET_OPTION.fullmatch(before)
        yield "token" if option and not option[2] else "", word
        before = word
    for key in ("url", "httpUrl", "bearer_token"):
        if server.get(key):
            yield "token" if key == "bearer_token" else "", str(server[key])


def _is_secret(named: tuple[str, str]) -> bool:
    name, value = named
    rest = _REFERENCE.sub("", value).strip()
    if not rest or rest == "Bearer":
        return False
    option = _SECRET_OPTION.fullmatch(value)
    return bool(
        _SECRET_NAME.search(name) or _SECRET_URL.search(rest) or _SECRET_WORD.search(rest) or (option and option[2])
    )


def _references(server: Mapping[str, Any]) -> Iterator[str]:
    """Yield the variables that a server takes its tokens from."""
    for _, value in _literals(server):
        yield from (found[1] or found[2] for found in _REFERENCE.finditer(value))
    yield from _words(server.get("env_vars"))
    if server.get("bearer_token_env_var"):
        yield str(server["bearer_token_env_var"])
    headers = server.get("env_http_headers")
    if isinstance(headers, dict):
        yield from map(str, headers.values())


def _words(value: object) -> list[str]:
    return list(map(str, value)) if isinstance(value, list) else []


def only(table: object, allowed: Collection[str]) -> object:
    """Return a table of servers with those alone that are allowed."""
    return {name: one for name, one in table.items() if name in allowed} if isinstance(table, dict) else table


def toml_without(text: str, names: Collection[str]) -> str:
    """Return Codex's configuration without the tables of these servers."""
    kept, is_out = [], False
    for line in text.splitlines(keepends=True):
        if header := re.match(r"""\s*\[\[?\s*(.*?)\s*\]\]?\s*(#.*)?$""", line):
            parts = re.findall(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[^.\s]+)\s*(?:\.|$)""", header[1])
            words = [part.strip("\"'") for part in parts]
            is_out = len(words) > 1 and words[0] == "mcp_servers" and words[1] in names
        if not is_out:
            kept.append(line)
    return "".join(kept)

"""Which variables reach a harness: the plain ones are recorded with their values, the others pass by name only."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hqt.errors import ServiceError
from hqt.executables import TOOLCHAIN_VARIABLES, steady_path
from hqt.harnesses.base import Bind
from hqt.refusals import refuse_bind, resolved
from hqt.sandbox import SYSTEM_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hqt.refusals import Surroundings

CERTIFICATE_VARIABLES = (
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "NIX_SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
)
"""They name files or folders of certificates: what lies below the home folder goes into the jail with them."""

_PLAIN = (
    "CLAUDE_CONFIG_DIR",
    *CERTIFICATE_VARIABLES,
    "CODEX_HOME",
    "PI_CODING_AGENT_DIR",
    "COLORFGBG",
    "COLORTERM",
    "EDITOR",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "LOCALE_ARCHIVE",
    "LOCPATH",
    "LOGNAME",
    "NO_COLOR",
    "PAGER",
    "PATH",
    "SHELL",
    "TZ",
    "TZDIR",
    "USER",
    "VISUAL",
    *TOOLCHAIN_VARIABLES,
)
"""Recorded in the row: a session is the same from whatever shell it is started again."""

_BY_NAME = (
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)
"""May hold a password: taken from the shell that starts the session, never recorded."""

_FROM_TMUX = ("TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION")


def recorded(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what a new session records of the environment."""
    plain = {name: environment[name] for name in _PLAIN if name in environment}
    return {**plain, "PATH": steady_path(environment.get("PATH", ""))}


def known_names() -> tuple[str, ...]:
    """Return the names of the variables that every harness may see."""
    return (*_PLAIN, *_BY_NAME, *_FROM_TMUX)


def known(plain: Mapping[str, str], caller: Mapping[str, str]) -> dict[str, str]:
    """Return what a harness is planned with: the recorded values, and of the caller's only what is never recorded."""
    return {**{name: value for name, value in caller.items() if name not in _PLAIN}, **plain}


def jail_constants(home: Path) -> dict[str, str]:
    """Return what points the package managers to the session's own cache, kept over restarts."""
    cache = home / ".cache"
    return {
        "CARGO_HOME": str(cache / "cargo"),
        "GOMODCACHE": str(cache / "go-mod"),
        "GRADLE_USER_HOME": str(cache / "gradle"),
        "XDG_CACHE_HOME": str(cache),
        "npm_config_cache": str(cache / "npm"),
    }


def kept_names(plain: Mapping[str, str], constants: Mapping[str, str], by_name: tuple[str, ...]) -> list[str]:
    """Return the names of every variable that a jail may see, in the order that its command lists them."""
    return sorted({*plain, *constants, *by_name, *_BY_NAME, *_FROM_TMUX})


def window_values(
    plain: Mapping[str, str], constants: Mapping[str, str], by_name: tuple[str, ...], caller: Mapping[str, str]
) -> dict[str, str]:
    """Return what the window is given: the caller's values of the named variables, the recorded ones, the constants."""
    named = {name: caller[name] for name in (*by_name, *_BY_NAME) if name in caller}
    return {**named, **plain, **constants}


def certificates(environment: Mapping[str, str], project: Path, around: Surroundings) -> list[Bind]:
    """Return the certificates that variables name outside of what every jail sees."""
    seen = (*SYSTEM_FOLDERS, "/etc", str(project))
    binds = []
    for name in CERTIFICATE_VARIABLES:
        path = Path(environment.get(name) or "/")
        if path == Path("/") or not os.path.exists(path) or any(path.is_relative_to(folder) for folder in seen):
            continue
        with suppress(ServiceError):  # keys are never bound because a variable names them
            refuse_bind(resolved(path), around)
            binds.append(Bind(resolved(path), target=path, reason=f"${name}"))
    return binds

"""What git's configuration names, files and programs, and what of it a jail must be told otherwise. Pure.

`services/gitconfig.py` has git itself read the configuration; here it is understood.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hqt.hiding import FILTER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

# A key is as `git config --list` prints it: section and name in small letters, a subsection as it is.
_FILES = (
    "blame.ignorerevsfile",
    "commit.template",
    "core.attributesfile",
    "core.excludesfile",
    "core.hookspath",
    "gpg.ssh.allowedsignersfile",
    "gpg.ssh.revocationfile",
    "http.sslcainfo",
    "http.sslcapath",
    "init.templatedir",
    "mailmap.file",
)
_PROGRAMS = re.compile(
    r"core\.(pager|editor|sshcommand|askpass|gitproxy)|pager\..*|sequence\.editor|interactive\.difffilter|diff\.external"
    r"|diff\..*\.(command|textconv)|filter\..*\.(clean|smudge|process)|merge\..*\.driver|gpg\.program|gpg\..*\.program"
    r"|credential\.helper|credential\..*\.helper",
    re.DOTALL,
)
_SIGNING = ("commit.gpgsign", "tag.gpgsign", "tag.forcesignannotated", "push.gpgsign")
_TRUE = ("true", "yes", "on", "1", "if-asked", "")
_PLAIN_DIFF = """f() { diff -u --label "a/$1" --label "b/$1" "$2" "$5"; :; }; f"""
"""In place of a difference program that the jail does not have: git runs it by the shell, with the two files."""
_URL = re.compile(r"\b((?:https?|ftps?)://)[^/@\s\"]+@|\b([a-z+]+://)[^/@\s\":]*:[^/@\s\"]*@", re.IGNORECASE)
_SECRET_LINE = re.compile(
    r"^(\s*(?:\[.*\]\s*)?)(extraheader|password|token|smtppass|cookiefile)\s*=.*$", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Setting:
    """A line of git's configuration: where it stands (`system`, `global`, `local`, …), its file, key and value."""

    scope: str
    file: str
    key: str
    value: str


def parsed(listed: str, folder: Path) -> list[Setting]:
    """Read what `git config --list -z --show-scope --show-origin` prints, run in `folder`."""
    fields = listed.split("\0")
    found = []
    for scope, origin, line in zip(fields[0::3], fields[1::3], fields[2::3], strict=False):
        kind, _, name = origin.partition(":")
        key, _, value = line.partition("\n")
        found.append(Setting(scope, str(folder / name) if kind == "file" else "", key, value))
    return found


def is_of_the_user(setting: Setting) -> bool:
    """Tell whether the user has written it, and not the project: only then it decides what a jail gets."""
    return setting.scope in ("system", "global")


def files_of(settings: Iterable[Setting]) -> list[str]:
    """Return the user's own files of the configuration, included ones too, each once."""
    return list(dict.fromkeys(setting.file for setting in settings if setting.scope == "global" and setting.file))


def named_files(settings: Iterable[Setting], home: Path) -> Iterator[tuple[str, Path]]:
    """Yield the key and the path of each file or folder that the user's configuration names."""
    for setting in settings:
        if not is_of_the_user(setting):
            continue
        if setting.key in _FILES or (setting.key == "user.signingkey" and setting.value.endswith(".pub")):
            path = Path(f"{home}{setting.value[1:]}" if setting.value.startswith("~/") else setting.value)
            if path.is_absolute():
                yield setting.key, path


def named_programs(settings: Iterable[Setting]) -> Iterator[tuple[Setting, str]]:
    """Yield each setting that names a program, the last one for a key, and the program's name or path."""
    last = {setting.key: setting for setting in settings if _PROGRAMS.fullmatch(setting.key)}
    for key, setting in last.items():
        program = first_word(setting.value)
        if "credential." in key and program and not setting.value.startswith("!") and "/" not in program:
            program = f"git-credential-{program}"
        if program:
            yield setting, program


def first_word(value: str) -> str:
    """Return the program that a value runs, as far as a shell's words tell: assignments before it are passed over."""
    try:
        words = shlex.split(value.removeprefix("!"))
    except ValueError:
        return ""
    return next((word for word in words if not re.match(r"[A-Za-z_]\w*=", word)), "")


def signs(settings: Iterable[Setting]) -> str:
    """Return the format of signatures that the configuration asks for, nothing where it asks for none."""
    last = {setting.key: setting.value for setting in settings}
    if not any(last.get(key, "false").lower() in _TRUE for key in _SIGNING):
        return ""
    return last.get("gpg.format", "openpgp").lower()


def signing_key(settings: Iterable[Setting], home: Path) -> Path | None:
    """Return the file of the private key that ssh signing uses, None where a key itself or an agent is named."""
    value = next((setting.value for setting in reversed(list(settings)) if setting.key == "user.signingkey"), "")
    path = Path(f"{home}{value[1:]}" if value.startswith("~/") else value.removesuffix(".pub"))
    return Path(str(path).removesuffix(".pub")) if path.is_absolute() else None


def told_otherwise(settings: Iterable[Setting], has: Callable[[str], bool], *, unsigned: bool) -> dict[str, str]:
    """Return what git in the jail must be told by its environment, so that status, diff and commit work there.

    `has` tells whether the jail has a program. What fails without one is replaced; what asks for a key is switched off.
    """
    told = {
        "core.fsmonitor": "false",  # its program, or its daemon, is not there; without it git looks itself
        f"filter.{FILTER}.clean": "git cat-file blob :%f",  # of a tracked file that is hidden: what git has of it
    }
    for setting, program in named_programs(settings):
        if has(program):
            continue
        if setting.key == "core.pager" or setting.key.startswith("pager."):
            told[setting.key] = "cat"
        elif setting.key == "diff.external" or re.fullmatch(r"diff\..*\.command", setting.key, re.DOTALL):
            told[setting.key] = _PLAIN_DIFF
        elif re.fullmatch(r"diff\..*\.textconv", setting.key, re.DOTALL):
            told[setting.key] = "cat"
    if unsigned:
        told |= dict.fromkeys(_SIGNING, "false")
    return told


def variables(told: Mapping[str, str]) -> dict[str, str]:
    """Return the variables by which git takes settings that are stronger than every file (`git-config(1)`)."""
    numbered = {
        name: text
        for number, (key, value) in enumerate(sorted(told.items()))
        for name, text in ((f"GIT_CONFIG_KEY_{number}", key), (f"GIT_CONFIG_VALUE_{number}", value))
    }
    return {"GIT_CONFIG_COUNT": str(len(told)), **numbered}


def without_secrets(content: bytes) -> bytes:
    """Return a file of git's configuration without the passwords and tokens that are in it."""
    text = content.decode("utf-8", "surrogateescape")
    text = _URL.sub(lambda found: found[1] or found[2], text)
    return _SECRET_LINE.sub(r"\1# \2: not for the jail", text).encode("utf-8", "surrogateescape")

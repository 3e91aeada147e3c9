"""Write the facts of docs/harnesses.md anew from the code: `make harnesses`. A test holds them in step."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from hqt.harnesses import HARNESSES
from hqt.harnesses.base import HarnessConfigurator

if TYPE_CHECKING:
    from collections.abc import Iterable

PAGE = Path(__file__).parent.parent / "docs/harnesses.md"
BEGIN, END = "<!-- made by make harnesses -->", "<!-- end -->"
_HOME, _PROJECT = Path("/home/you"), Path("/work/api")
_LONGEST = 60
_AFRESH = {True: "a fresh start", False: "a fresh start: how it goes on was never tried with the real program"}
_STATUS = {"always": "hooks", "in a jail": "hooks, in a jail; elsewhere a guess", "never": "a guess"}


def facts() -> str:
    """Return a section for each harness, from its class alone."""
    return "\n\n".join(_section(name) for name in HARNESSES if name != "generic")


def page(before: str) -> str:
    """Return the page with its facts made anew."""
    made = f"{BEGIN}\n\n{facts()}\n\n{END}"
    return re.sub(rf"{BEGIN}.*{END}", lambda _: made, before, flags=re.DOTALL)


def _section(name: str) -> str:
    kind = HARNESSES[name]
    harness = kind(_HOME, _PROJECT, {})
    binds = harness.sandbox_binds()
    modes: dict[str, list[str]] = {"rw": [], "ro": [], "private": [], "snapshot": [], "masked": []}
    for bind in binds:
        modes[bind.mode].append(_place(bind.where))
    conversation = "ID" if harness.new_conversation() else ""
    fresh = harness.build_spawn_config(
        [], conversation=conversation, prompt="PROMPT" if kind.takes_prompt else ""
    ).command
    resumed = harness.build_resume_config([], conversation="ID").command
    rows = [
        ("verified with", kind.verified or "its public documentation only: the binary is on no package registry"),
        ("install", f"`{kind.install_hint}`"),
        ("starts by", _code(fresh)),
        ("goes on by", _code(resumed) if kind.resume_words else _AFRESH[bool(kind.verified)]),
        ("in a jail, also", _code(kind.sandbox_skip_permission_flags) or "nothing: it never asks"),
        ("set in a jail", _code(f"{key}={value}" for key, value in kind.sandbox_environment.items())),
        ("variables by name", _code(kind.environment_names)),
        ("writable", _code(modes["rw"])),
        ("read-only in it", _code(modes["ro"])),
        ("private folder", _code(modes["private"])),
        ("private copy", _code(modes["snapshot"])),
        ("masked", _code(modes["masked"])),
        ("says what it does by", _STATUS[kind.says_status]),
        ("turns and tokens", "" if kind.count is HarnessConfigurator.count else "from its record of the conversation"),
        ("empty input line", f"`{kind.input_prompt}`" if kind.input_prompt else "not known"),
    ]
    table = "\n".join(f"| {what} | {told} |" for what, told in rows if told)
    return f"## {name}\n\n| | |\n|---|---|\n{table}"


def _place(path: Path) -> str:
    return str(path).replace(str(_HOME), "~").replace("-work-api", "PROJECT")


def _code(words: Iterable[str]) -> str:
    shown = [word if len(word) < _LONGEST else "…" for word in words]
    return " ".join(f"`{word}`" for word in shown)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))

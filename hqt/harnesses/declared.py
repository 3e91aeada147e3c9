"""Harnesses that a user declares in `config.toml`, without code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from hqt.harnesses.base import FOLDER, VARIABLE, Bind, HarnessConfigurator, SpawnConfig, mask, snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXTS = ("conversation_option", "prompt_option", "input_prompt", "install")
_LISTS = ("command", "sandbox_flags", "resume", "binds", "snapshots", "masks", "environment")
KEYS = (*_LISTS, *_TEXTS)
"""What a declaration may hold; `docs/configuration.md` says what each means."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_PATHS = ("binds", "snapshots", "masks")


class Declared(HarnessConfigurator):
    """What all of them share; `declared` makes one of its own for each."""

    is_declared = True
    command: tuple[str, ...] = ()
    paths: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The paths of each kind, as they were written."""

    def sandbox_binds(self) -> list[Bind]:
        """Return the paths that were declared; one that ends with a slash is made where it is missing."""
        binds = []
        for written in self.paths["binds"]:
            text = written.removesuffix(":rw").removesuffix(":ro")
            create: Literal["folder"] | None = FOLDER if text.endswith("/") else None
            binds.append(Bind(self._path(text), writable=written.endswith(":rw"), create=create))
        copies = [snapshot(self._path(text)) for text in self.paths["snapshots"]]
        return [*binds, *copies, *(mask(self._path(text)) for text in self.paths["masks"])]

    def has_conversation(self, conversation: str) -> bool:
        """Take it that there is one, where it can be resumed: if the harness does not know it, it ends and is told."""
        return bool(conversation and self.resume_words)

    def _path(self, text: str) -> Path:
        return self.home / text[2:] if text.startswith("~/") else Path(text)

    def _config(self, *arguments: str, sandboxed: bool) -> SpawnConfig:
        flags = self.sandbox_skip_permission_flags if sandboxed else ()
        return SpawnConfig([*self.command, *flags, *arguments], self.project)


def declared(name: str, table: Mapping[str, object]) -> type[Declared]:
    """Return the harness that a table of the configuration declares.

    Raises:
        ValueError: it is not one; with the key and what it may be.

    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot be a harness's name: small letters, digits, - and _")
    _require_types(table)
    lists: dict[str, tuple[str, ...]] = {key: tuple(table.get(key, ())) for key in _LISTS}  # type: ignore[arg-type]
    texts = {key: str(table.get(key, "")) for key in _TEXTS}
    _require_sense(lists)
    return type(
        name,
        (Declared,),
        {
            "name": name,
            "executable": lists["command"][0],
            "command": lists["command"],
            "install_hint": texts["install"] or "it is declared in config.toml; see hqt config",
            "conversation_option": texts["conversation_option"],
            "resume_words": lists["resume"],
            "prompt_option": texts["prompt_option"],
            "environment_names": lists["environment"],
            "sandbox_skip_permission_flags": lists["sandbox_flags"],
            "input_prompt": texts["input_prompt"],
            "paths": {kind: lists[kind] for kind in _PATHS},
        },
    )


def _require_types(table: Mapping[str, object]) -> None:
    for key, value in table.items():
        if key not in KEYS:
            raise ValueError(f"unknown key {key!r}; known keys: {', '.join(KEYS)}")
        if key in _LISTS and not (isinstance(value, list) and all(type(word) is str and word for word in value)):
            raise ValueError(f'{key} cannot be {value!r}; for example: {key} = ["…"]')
        if key in _TEXTS and type(value) is not str:
            raise ValueError(f'{key} cannot be {value!r}; for example: {key} = "…"')


def _require_sense(lists: Mapping[str, tuple[str, ...]]) -> None:
    if not lists["command"]:
        raise ValueError('command is missing; for example: command = ["my-agent"]')
    for kind in _PATHS:
        for path in lists[kind]:
            if not path.startswith(("~/", "/")) or ".." in Path(path).parts:
                raise ValueError(f"{kind}: {path!r} is not a path from / or ~/")
    for variable in lists["environment"]:
        if not VARIABLE.fullmatch(variable):
            raise ValueError(f"environment: {variable.partition('=')[0]!r} is not a variable's name")

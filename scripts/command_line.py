"""The command line as data: what the completions, the reference and the manual page are made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from hqt.cli.app import app
from hqt.harnesses import HARNESSES

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_FILES = "none"
KINDS = {
    "harness": "values " + " ".join(HARNESSES),
    "project": "folders",
    "prompt_file": "files",
    "bind": "files",
    "force_bind": "files",
    "env": "variables",
    "names": "sessions",
}


@dataclass(frozen=True)
class Parameter:
    """An option or an argument; `kind` says what completes its value, "" for an option without one."""

    names: list[str]
    help: str
    kind: str
    repeats: bool
    metavar: str = ""
    """How help writes its value; "" for an option without one."""


@dataclass(frozen=True)
class Command:
    """A command as its parameters show it."""

    name: str
    text: str
    """Its help, the whole."""
    usage: str
    options: list[Parameter] = field(default_factory=list)
    arguments: list[Parameter] = field(default_factory=list)

    @property
    def help(self) -> str:
        """The first line of its help."""
        return self.text.split("\n")[0]


def command_line() -> tuple[Command, list[Command]]:
    """Return hqt itself, with the options that all commands share, and its commands."""
    root, context = root_and_context()
    return _command(root, context), [_command(command, own) for command, own in visible_commands(root, context)]


def root_and_context(**settings: Any) -> tuple[Any, Any]:
    """Return typer's command of hqt, and a context in which nothing is run."""
    root: Any = typer.main.get_command(app)
    return root, root.make_context("hqt", [], resilient_parsing=True, **settings)


def visible_commands(root: Any, context: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each command that help shows, with its context."""
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        if not command.hidden:
            yield command, command.make_context(name, [], parent=context, resilient_parsing=True)


def _command(command: Any, context: Any) -> Command:
    name = "" if context.parent is None else context.info_name
    made = Command(name, command.help or "", " ".join(command.collect_usage_pieces(context)))
    for parameter in command.params:
        if parameter.param_type_name == "option":
            pairs = [parameter.opts, parameter.secondary_opts] if parameter.secondary_opts else [parameter.opts]
            for names, about in zip(pairs, _abouts(parameter), strict=False):
                kind = _kind(parameter)
                metavar = parameter.make_metavar(context) if kind else ""
                made.options.append(Parameter(sorted(names), about, kind, parameter.multiple, metavar))
        else:
            about = getattr(parameter, "help", None) or ""
            made.arguments.append(Parameter([parameter.name or ""], about, _kind(parameter), parameter.nargs != 1))
    made.options.append(Parameter(["--help", "-h"], "Show this help.", "", repeats=False))
    return made


def _abouts(option: Any) -> list[str]:
    about = option.help or ""
    if option.secondary_opts:
        return [about, f"The opposite of {max(option.opts, key=len)}."]
    return [about]


def _kind(parameter: Any) -> str:
    if getattr(parameter, "is_flag", False):
        return ""
    if choices := getattr(parameter.type, "choices", None):
        return "values " + " ".join(choices)
    if parameter.name == "name" and parameter.param_type_name == "argument":
        return "sessions"
    return KINDS.get(parameter.name or "", NO_FILES)

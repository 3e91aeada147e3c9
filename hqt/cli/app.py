"""The `hqt` command: its commands, in the order of its help, and what all of them share."""

from __future__ import annotations

import os
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from hqt import __version__

if TYPE_CHECKING:
    from typer._click import Command, Context

COMMANDS = (
    "new",
    "ls",
    "attach",
    "stop",
    "rm",
    "rename",
    "show",
    "peek",
    "send",
    "wait",
    "restore",
    "check",
    "audit",
    "doctor",
    "harnesses",
    "config",
    "dialog",
    "dash",
    "tmux",
    "completion",
    "notify",
)
"""The commands in the order of the help; each is the module of `hqt.cli` that has its name."""
_plain_typer = partial(typer.Typer, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class _Commands(TyperGroup):
    """Commands whose modules are imported when they are asked for: a run needs one of them."""

    def list_commands(self, ctx: Context) -> list[str]:
        """Return all names, in the order of the help."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Return the command of that name; where there is none, the names that typer may suggest are there."""
        if cmd_name not in COMMANDS:
            for name in COMMANDS:
                self.get_command(ctx, name)
            return None
        if cmd_name not in self.commands:
            alone = _plain_typer()
            import_module(f"hqt.cli.{cmd_name}").add_to(alone)
            self.commands[cmd_name] = typer.main.get_command(alone)
        return self.commands[cmd_name]


app = _plain_typer(
    cls=_Commands,
    help="Coding agents as tmux windows, each, when asked, in a bubblewrap jail.",
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hqt {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def hqt(
    context: typer.Context,
    socket: Annotated[
        str, typer.Option("--socket", "-L", metavar="NAME", help="tmux server, as for tmux -L; a path if it holds a /.")
    ] = "",
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Coding agents as tmux windows, each, when asked, in a bubblewrap jail."""
    del version
    if socket:
        os.environ["HQT_TMUX_SOCKET"] = socket
    if context.invoked_subcommand is None:
        from hqt.cli import ls

        ls.ls()

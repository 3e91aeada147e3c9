"""The `hqt` command: its commands, in the order of its help, and what all of them share."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from hqt import __version__
from hqt.cli import (
    attach,
    audit,
    check,
    completion,
    config,
    dash,
    dialog,
    doctor,
    harnesses,
    ls,
    new,
    peek,
    rename,
    restore,
    rm,
    send,
    show,
    stop,
    tmux,
    wait,
)

app = typer.Typer(
    help="Coding agents as tmux windows, each, when asked, in a bubblewrap jail.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (
    new,
    ls,
    attach,
    stop,
    rm,
    rename,
    show,
    peek,
    send,
    wait,
    restore,
    check,
    audit,
    doctor,
    harnesses,
    config,
    dialog,
    dash,
    tmux,
    completion,
):
    module.add_to(app)


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
        ls.ls()

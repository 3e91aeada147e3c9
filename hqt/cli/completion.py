"""hqt completion: the shells' completion scripts."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from hqt.cli.output import print_line


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
    install: Annotated[bool, typer.Option("--install", help="Put it where that shell looks.")] = False,
) -> None:
    """Print a shell's completion script: eval "$(hqt completion bash)"."""
    from hqt.services import integration

    if not install:
        sys.stdout.write(integration.completion(shell))
        return
    change = integration.completion_change(shell)
    if not change.difference:
        print_line(f"{change.path} is there already")
        return
    change.make()
    print_line(f"wrote {change.path}; a new {shell} has it")
    if shell == "zsh":
        print_line(f"if not: fpath=({change.path.parent} $fpath) before compinit, in .zshrc")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(completion)

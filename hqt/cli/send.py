"""hqt send: type a prompt into a session's harness."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hqt.cli.output import print_line
from hqt.errors import ServiceError, UsageError
from hqt.services import listing
from hqt.services.status import Goal


def send(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A session's name, or the beginning of it.")],
    text: Annotated[str, typer.Argument(metavar="TEXT|-", help="The prompt; - reads it from standard input.")],
    force: Annotated[
        bool, typer.Option("--force", "-f", help="Even over a half-typed draft or a question that it asks.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", "-w", help="Until the end of the prompt's turn.")] = False,
    timeout: Annotated[float | None, typer.Option("--timeout", metavar="SECONDS", min=0, help="With --wait.")] = None,
) -> None:
    """Type a prompt into a session, as if it were pasted, and make sure that it was taken."""
    from hqt.services import sending, watching

    prompt = sys.stdin.read() if text == "-" else text
    if not prompt.strip():
        raise UsageError("the prompt is empty", "hqt send NAME 'what to do'")
    view = listing.find(name)
    sent = sending.send(view, prompt, force=force)
    print_line(sent.line)
    if not wait:
        return
    if watching.turn_of(view, is_queued=sent.is_queued, timeout_s=timeout) == Goal.WAITING:
        raise ServiceError(f"{view.row.name} waits for an answer", f"hqt attach {view.row.name}")
    print_line(f"{view.row.name} is done")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(send)

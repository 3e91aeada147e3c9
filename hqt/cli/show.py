"""hqt show: what a session is, may do, and is made of."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from hqt.cli import choosing
from hqt.cli.output import print_json, print_line

if TYPE_CHECKING:
    from hqt.services.details import Details


def show(
    name: choosing.OptionalName = "",
    argv: Annotated[bool, typer.Option("--argv", help="Only the window's exact command, quoted for a shell.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs; see docs/json.md.")] = False,
) -> None:
    """Show a session's policy, binds and command."""
    from hqt.services.details import details

    found = details(choosing.named(name))
    if argv:
        # Not made harmless: it is to be run or parsed, and shlex has quoted it.
        sys.stdout.write(shlex.join(found.argv) + "\n")
    elif as_json:
        print_json(found.to_json())
    else:
        _print(found)


def _print(found: Details) -> None:
    row = found.view.row
    status = f" with status {found.view.pane.exit_status}" if found.view.pane and found.view.state == "exited" else ""
    print_line(f"{row.name}: {row.harness}, {found.view.state}{status}")
    print_line(f"  project       {row.project}")
    print_line(f"  tmux          {row.socket}" + (f", window {found.view.pane.window}" if found.view.pane else ""))
    print_line(f"  created       {row.created_at}")
    print_line(f"  next attach   {found.next_attach_in_words}")
    if found.usage:
        print_line(f"  used          {found.usage.in_words()}")
    if found.policy is None:
        print_line("  sandbox       none: it can do all that you can")
        return
    print_line(f"  sandbox       {found.policy.in_words()}")
    if found.limits:
        print_line(f"  at most       {found.limits.in_words()}")
    print_line(f"  variables     {', '.join(found.names)}")
    print_line("  binds")
    for bind in found.binds:
        private = f"   (from {bind.src})" if bind.mode in ("ro", "rw") and bind.src != bind.where else ""
        reason = f"   for {bind.reason}" if bind.reason else ""
        print_line(f"    {bind.mode:<9} {bind.where}{private}{reason}")
    for link in found.pinned:
        print_line(f"    pinned    {link}   a link: it stays what it is")
    for note in (*found.weaknesses, *found.notes):
        print_line(f"  note          {note}")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(show)

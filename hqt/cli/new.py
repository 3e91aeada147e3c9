"""hqt new: make a session, start it in a tmux window, and show it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from hqt.cli import terminal
from hqt.errors import UsageError

_TAIL = "hqt.tail"


class _WithTail(TyperCommand):
    """A command that keeps what follows `--` apart: it belongs to the harness, never to an argument left out."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Split at the first `--`."""
        split = args.index("--") if "--" in args else len(args)
        ctx.meta[_TAIL] = args[split + 1 :]
        return super().parse_args(ctx, args[:split])

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Show the tail in the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- ARGS...]"]


def new(
    context: typer.Context,
    project: Annotated[
        Path, typer.Argument(metavar="[PROJECT]", help="The project's folder.", show_default="the current one")
    ] = Path(),
    harness: Annotated[
        str,
        typer.Option(
            "--harness",
            "-H",
            metavar="HARNESS",
            help="An agent of hqt harnesses, or generic.",
            show_default="the first installed",
        ),
    ] = "",
    name: Annotated[
        str,
        typer.Option("--name", "-n", metavar="NAME", help="The session's name.", show_default="PROJECT-HARNESS"),
    ] = "",
    sandbox: Annotated[
        bool | None, typer.Option("--sandbox/--no-sandbox", "-s", help="Run in a jail.", show_default="no jail")
    ] = None,
    read_only: Annotated[
        bool | None, typer.Option("--ro/--rw", help="The project read-only in the jail.", show_default="rw")
    ] = None,
    net: Annotated[
        bool | None, typer.Option("--net/--no-net", help="The network in the jail.", show_default="net")
    ] = None,
    prompt: Annotated[str, typer.Option("--prompt", "-p", metavar="TEXT", help="The first prompt.")] = "",
    prompt_file: Annotated[
        Path | None, typer.Option("--prompt-file", metavar="FILE", help="The first prompt, from a file; - reads it.")
    ] = None,
    bind: Annotated[
        list[str] | None, typer.Option("--bind", metavar="PATH[:rw]", help="A further path for the jail.")
    ] = None,
    force_bind: Annotated[
        list[str] | None,
        typer.Option(
            "--force-bind", metavar="PATH[:rw]", help="The same, where hqt refuses: hqt show says what is open."
        ),
    ] = None,
    env: Annotated[
        list[str] | None, typer.Option("--env", metavar="NAME", help="A variable for the jail, by its name alone.")
    ] = None,
    hide: Annotated[
        list[str] | None,
        typer.Option("--hide", metavar="PATTERN", help="Show what fits of the project empty: .env, secrets/, *.pem."),
    ] = None,
    mcp: Annotated[
        list[str] | None,
        typer.Option("--mcp", metavar="NAME", help="An MCP server that hqt would leave out."),
    ] = None,
    no_toolchains: Annotated[
        bool, typer.Option("--no-toolchains", help="None of the toolchains in the home folder that are in use.")
    ] = False,
    here: Annotated[
        bool, typer.Option("--here", help="A window of this tmux session, not of the session hqt.")
    ] = False,
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="At most so much memory, as 8G.", show_default=False)
    ] = "",
    pids: Annotated[str, typer.Option(metavar="N", help="At most so many processes.", show_default=False)] = "",
    cpu: Annotated[
        str, typer.Option(metavar="CORES", help="At most so many cores, as 2 or 0.5.", show_default=False)
    ] = "",
    check: Annotated[bool, typer.Option("--check", help="Start only if the jail holds; see hqt check.")] = False,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Start it only; print its name.")] = False,
) -> None:
    """Make a session, start it, and show it.

    --ro, --no-net, --bind, --hide, --mcp, --memory, --pids, --cpu and --check mean --sandbox. What follows -- goes to
    the harness:
    hqt new -H generic -s -- make test
    """
    from hqt.cli import started
    from hqt.services.requests import Options, request_for
    from hqt.services.sessions import SessionService

    given = _prompt(prompt, prompt_file)
    request = request_for(
        Options(
            project=project,
            args=tuple(context.meta[_TAIL]),
            harness=harness,
            name=name,
            sandbox=sandbox,
            read_only=read_only,
            net=net,
            prompt=given,
            binds=tuple(bind or ()),
            forced_binds=tuple(force_bind or ()),
            variable_names=tuple(env or ()),
            servers=tuple(mcp or ()),
            hide=tuple(hide or ()),
            toolchains=not no_toolchains,
            here=here,
            size=terminal.size(),
            memory=memory,
            pids=pids,
            cpu=cpu,
            check=check,
        )
    )
    if not detach:
        terminal.require(request.socket)
    outcome = SessionService().create_session(request)
    if detach:
        sys.stdout.write(f"{outcome.view.row.name}\n")
    started.report(outcome, detach=detach)


def _prompt(prompt: str, prompt_file: Path | None) -> str:
    if prompt_file is None:
        return prompt
    if prompt:
        raise UsageError("--prompt and --prompt-file are two prompts", "give one of them")
    try:
        return sys.stdin.read() if str(prompt_file) == "-" else prompt_file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the prompt cannot be read from {prompt_file}: {error}", "name a text file in UTF-8"
        ) from error


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=_WithTail)(new)

"""What people would use instead, on the same work; `bench/install-peers` installs them into .peers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from world import Figure

if TYPE_CHECKING:
    from world import World

_ROOT = Path(__file__).parent.parent
_PEERS = _ROOT / ".peers"


def figures(world: World) -> list[Figure]:
    """Return the peers that are there and do the work here; the others are named, with what they said."""
    srt = _PEERS / "node_modules/.bin/srt"
    codex = _ROOT / ".harnesses/node_modules/.bin/codex"
    mngr, tmuxp = (_PEERS / "bin" / name for name in ("mngr", "tmuxp"))
    workspace = world.base / "fresh.yaml"
    workspace.write_text("session_name: fresh\nwindows: [{panes: [sleep 1000]}]\n")
    commands = {
        "peer: firejail --noprofile true": (["firejail", "--quiet", "--noprofile", "true"], None),
        "peer: firejail --private true": (["firejail", "--quiet", "--noprofile", "--private", "true"], None),
        "peer: srt true (sandbox-runtime)": ([str(srt), "true"], None),
        "peer: codex sandbox true": ([str(codex), "sandbox", "true"], None),
        "peer: tmuxp ls": ([str(tmuxp), "ls"], None),
        "peer: tmuxp load -d": ([str(tmuxp), "load", "-d", str(workspace)], ["tmux", "kill-session", "-t", "=fresh"]),
        "peer: mngr list": ([str(mngr), "list"], None),
    }
    found = []
    for name, (argv, after) in commands.items():
        if failed := _failure(world, argv, after):
            print(f"{name}: left out: {failed}")
        else:
            found.append(Figure(name, world, argv, "import typer", after=after))
    return found


def _failure(world: World, argv: list[str], after: list[str] | None) -> str:
    if not shutil.which(argv[0]):
        return "not installed"
    for command in (argv, after or ["true"]):
        try:
            world.run(*command)
        except subprocess.CalledProcessError as error:
            return (error.stderr or error.stdout).strip()[-200:]
    return ""

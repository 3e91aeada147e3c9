"""Take the pictures of docs/ anew, of real sessions on a tmux server of their own: `make pictures`."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from textual.app import App

REPOSITORY = Path(__file__).parent.parent
PICTURES = REPOSITORY / "docs/pictures"
COLUMNS = 100
AGENT = """#!/bin/sh
# In place of an agent: shows its last argument.
for shown; do :; done
printf '%b\\n' "$shown"
exec sleep 1000
"""
# Each session: its project, its name, its harness and options, what its agent shows, what it is doing.
SESSIONS = (
    (
        "api",
        "api-tests",
        ("generic", "-s", "--no-net"),
        "$ pytest -q\n........................  [100%]\n24 passed in 1.9s",
        "idle",
    ),
    (
        "api",
        "api-fix",
        ("claude", "-s"),
        "Read src/routes.py\n\033[32m+ return 404\033[0m\n\033[31m- return 500\033[0m",
        "working",
    ),
    (
        "site",
        "site",
        ("codex", "-s"),
        "Which of the two layouts do you want?\n  1. the narrow one\n  2. the wide one",
        "waiting",
    ),
    ("notes", "notes", ("generic",), "$", ""),
)


def main() -> None:
    """Start the sessions, take the pictures, and end them."""
    base = Path(tempfile.mkdtemp(prefix="hqt-pictures-", dir="/var/tmp"))  # a jail hides /tmp
    (base / "tmux").mkdir(mode=0o700)
    for name in ("TMUX", "TMUX_PANE", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        os.environ.pop(name, None)
    os.environ |= {"HOME": str(base / "home"), "TMUX_TMPDIR": str(base / "tmux"), "HQT_TMUX_SOCKET": "pictures"}
    os.environ |= {"PYTHONPATH": str(REPOSITORY), "SHELL": "/bin/sh", "TERM": "xterm-256color"}
    programs = base / "home/bin"
    programs.mkdir(parents=True)
    for name in ("claude", "codex", "agent"):
        (programs / name).write_text(AGENT)
        (programs / name).chmod(0o755)
    os.environ["PATH"] = f"{programs}:/usr/bin:/bin"
    try:
        for project, name, kind, shown, doing in SESSIONS:
            start(base / "home" / project, name, kind, shown)
            if doing:
                say(base / "home/.local/state/hqt/sessions", doing)
        os.chdir(base / "home/api")
        take("ls", ["ls"])
        take("check", ["check", "api-tests"])
        from hqt.tui.dash import DashApp  # noqa: PLC0415  # only now HOME is the one to look at
        from hqt.tui.dialog import DialogApp, offer  # noqa: PLC0415

        asyncio.run(show("dash", DashApp(Path.cwd()), keys=["j"], settle_s=2.5))
        asyncio.run(
            show("dialog", DialogApp(offer(Path.cwd())), keys=["tab", "tab", "tab", "tab", "space"], settle_s=0.5)
        )
    finally:
        subprocess.run(["tmux", "-L", "pictures", "kill-server"], check=False, capture_output=True)
        os.chdir("/")
        shutil.rmtree(base)


def start(folder: Path, name: str, kind: tuple[str, ...], shown: str) -> None:
    """Start a session that shows a text."""
    folder.mkdir(parents=True, exist_ok=True)
    arguments = ["agent", shown] if kind[0] == "generic" else [shown]
    hqt("new", str(folder), "-d", "-n", name, "-H", *kind, "--", *arguments)


def say(sessions: Path, doing: str) -> None:
    """Have the newest session say what it is doing, as a harness's hook does."""
    newest = max(sessions.iterdir(), key=lambda path: path.stat().st_ctime_ns)
    (newest / "run/status").write_text(f"{doing}\n")


def hqt(*arguments: str, **environment: str) -> str:
    """Run hqt, and return what it prints."""
    command = [sys.executable, "-m", "hqt", *arguments]
    ended = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **environment})
    return ended.stdout


def take(name: str, arguments: list[str]) -> None:
    """Take a picture of what a command prints on a terminal."""
    printed = hqt(*arguments, FORCE_COLOR="1", COLUMNS=str(COLUMNS))
    console = Console(record=True, width=COLUMNS, file=Path(os.devnull).open("w"))  # noqa: SIM115
    console.print(Text.from_ansi(f"$ hqt {' '.join(arguments)}\n{printed}"))
    save(name, console.export_svg(title=f"hqt {' '.join(arguments)}", unique_id=name))


async def show(name: str, app: App[Any], *, keys: list[str], settle_s: float) -> None:
    """Take a picture of a screen, once these keys were pressed."""
    async with app.run_test(size=(COLUMNS, 30)) as pilot:
        await pilot.pause(settle_s)
        await pilot.press(*keys)
        await pilot.pause(settle_s)
        save(name, app.export_screenshot(title=f"hqt {name}"))


def save(name: str, picture: str) -> None:
    """Keep a picture, without the fonts that it would have a browser fetch from elsewhere."""
    own = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL).replace("Fira Code, monospace", "monospace")
    (PICTURES / f"{name}.svg").write_text(own)


if __name__ == "__main__":
    main()

"""A stand-in for a harness's program: an input line, bracketed paste, and the hooks of Claude Code's `--settings`.

It stands for what the real one does only rarely, or not when a test wants it: see tests/test_real_harnesses.py.
What it is given is kept in `received` in its working folder. `STAND_IN` says what is different about it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import tty
from pathlib import Path

BEGIN, END = b"\x1b[200~", b"\x1b[201~"


def main():
    kinds = os.environ.get("STAND_IN", "").split()
    settings = json.loads(sys.argv[sys.argv.index("--settings") + 1]) if "--settings" in sys.argv else {}

    def hook(event):
        for group in settings.get("hooks", {}).get(event, []):
            if "matcher" not in group or event == "PreToolUse":
                subprocess.run(group["hooks"][0]["command"], shell=True, check=True)

    def draw(line):
        text = line.decode(errors="replace").replace("\r", " ")[-50:]
        hint = "" if line or "no-hint" in kinds else "\x1b[2mAsk me\x1b[0m"
        os.write(1, f"\r\x1b[K❯\xa0{text}{hint}\x1b[{3 + len(text)}G".encode())

    queued: list[bytes] = []
    turn: threading.Timer | None = None

    def ended():
        """End a turn; the next one of those that are queued begins."""
        nonlocal turn
        hook("PreToolUse" if "asks" in kinds else "Stop")
        if queued:
            queued.pop()
            time.sleep(0.3)
            hook("UserPromptSubmit")
            turn = threading.Timer(float(os.environ["TURN_S"]), ended)
            turn.start()
            Path("second-turn").touch()
            turn.join()
            Path("second-turn-ended").touch()

    tty.setraw(0)
    if "slow" in kinds:
        time.sleep(2)
    os.write(1, b"\x1b[?2004h")
    hook("SessionStart")
    line = b""
    draw(line)
    while given := os.read(0, 1 << 16):
        line += given
        if BEGIN in line and END not in line:
            continue
        pasted, line = END in line, line.replace(BEGIN, b"").replace(END, b"")
        is_enter = given.endswith(b"\r") and "deaf" not in kinds and not (pasted and "enter-is-paste" in kinds)
        if is_enter:
            with Path("received").open("ab") as received:
                received.write(line[:-1] + b"\n---\n")
            line = b""
            draw(line)
            if not (turn and turn.is_alive()):
                hook("UserPromptSubmit")
                turn = threading.Timer(float(os.environ["TURN_S"]), ended)
                turn.start()
            elif "queues" in kinds:
                queued.append(line)
        else:
            draw(line)


main()

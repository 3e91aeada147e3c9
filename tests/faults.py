"""Ending hqt in the middle: at its n-th step that another program or the next command could notice.

No fault points are in the program itself: Python tells of every file that is made, changed or removed, and of every
process that is started or signalled (`sys.addaudithook`); SQLite tells of every statement.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from itertools import count

_STEPS = {
    "os.chmod", "os.kill", "os.killpg", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink",
    "os.truncate", "subprocess.Popen",
}  # fmt: skip
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_STATEMENTS = ("BEGIN", "COMMIT", "INSERT", "UPDATE", "DELETE", "ALTER", "CREATE", "VACUUM", "PRAGMA user_version =")


def end_at(wanted):
    """End this process by SIGKILL just before that step, counted from 0."""
    steps = count()

    def step():
        if next(steps) == wanted:
            os.kill(os.getpid(), signal.SIGKILL)

    def audited(event, arguments):
        if event in _STEPS or (event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES):
            step()

    def traced(statement):
        if statement.lstrip().upper().startswith(tuple(map(str.upper, _STATEMENTS))):
            step()

    connect = sqlite3.connect

    def connected(*arguments, **options):
        connection = connect(*arguments, **options)
        connection.set_trace_callback(traced)
        return connection

    sqlite3.connect = connected
    sys.addaudithook(audited)

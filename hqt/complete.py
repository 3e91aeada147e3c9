"""What shell completion asks for: `hqt complete-names` prints every session's name, a tab, and what it is doing.

A completion must be there before the finger has left the key: standard library only, and as little of that as can be
(pathlib's import costs as much as all the rest), so this is the one place besides `hqt.tmux` that asks tmux. A test
holds what it prints against `hqt ls`.
"""

from __future__ import annotations

import _sqlite3 as sqlite3  # sqlite3 adds datetime, collections and adapters: a tenth of a completion
import os
import sys


def main() -> int:
    """Print a line a session; nothing where there is nothing to read."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local/state")
    database = os.path.join(state, "hqt/hqt.db")
    if not os.path.exists(database):
        return 0
    try:
        connection = sqlite3.connect(f"file:{_quoted(database)}?mode=ro", uri=True, timeout=1)
        rows = connection.execute("SELECT id, name, harness, socket FROM session ORDER BY created_at, rowid").fetchall()
    except sqlite3.Error:
        return 1
    states = {socket: _states(socket) for socket in {row[3] for row in rows}}
    for hqt_id, name, harness, socket in rows:
        sys.stdout.write(f"{name}\t{harness}, {states[socket].get(hqt_id, 'stopped')}\n")
    return 0


def _states(socket: str) -> dict[str, str]:
    """Ask a tmux server which sessions have a window, and which of these have ended."""
    reading, writing = os.pipe()
    argv = ["tmux", "-S", socket, "list-panes", "-a", "-f", "#{@hqt_id}", "-F", "#{@hqt_id} #{pane_dead}"]
    files = [
        (os.POSIX_SPAWN_DUP2, writing, 1),
        (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
        (os.POSIX_SPAWN_CLOSE, reading),
    ]
    try:
        child = os.posix_spawnp("tmux", argv, os.environ, file_actions=files)
    except OSError:
        return {}
    finally:
        os.close(writing)
    with open(reading, "rb") as answer:
        lines = answer.read().decode("utf-8", "replace").splitlines()
    os.waitpid(child, 0)
    pairs = [line.partition(" ") for line in lines]
    return {hqt_id: "exited" if dead == "1" else "running" for hqt_id, _, dead in pairs}


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")

"""Where hqt keeps things: the XDG folders, and the folder of one session."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def state_folder() -> Path:
    """Return `$XDG_STATE_HOME/hqt`: the database and one folder for each session."""
    return Path(platformdirs.user_state_dir("hqt"))


def database() -> Path:
    """Return the SQLite file that holds every session's row."""
    return state_folder() / "hqt.db"


def log() -> Path:
    """Return the log's file; the one before it lies beside it."""
    return state_folder() / "hqt.log"


def config_file() -> Path:
    """Return `$XDG_CONFIG_HOME/hqt/config.toml`, which need not exist."""
    return Path(platformdirs.user_config_dir("hqt")) / "config.toml"


def runtime_folder() -> Path:
    """Return `$XDG_RUNTIME_DIR`, or the place where a user manager would put it."""
    return Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")


def sessions_folder() -> Path:
    """Return the folder of the sessions' own folders."""
    return state_folder() / "sessions"


def session_folder(session_id: str) -> Path:
    """Return the private folder of one session: its lock, snapshots and cache."""
    return sessions_folder() / session_id

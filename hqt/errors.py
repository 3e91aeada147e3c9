"""Every error that a person is told of: one root, one line, one hint, one exit code."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What `hqt` ends with; documented in the README and never changed."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NO_SUCH_SESSION = 3
    NO_SANDBOX = 4
    NO_TMUX = 5
    NO_HARNESS = 6
    TIMED_OUT = 7


class HqtError(Exception):
    """Something failed that a person can act on: `message` says what, `hint` says what to do."""

    exit_code = ExitCode.FAILED

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UnexpectedError(HqtError):
    """A fault of hqt's own."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "the log has the rest; hqt doctor --report makes a text to report it with")


class UsageError(HqtError):
    """The command line contradicts itself."""

    exit_code = ExitCode.USAGE


class StateError(HqtError):
    """The database or the state folder cannot be used."""


class ServiceError(HqtError):
    """A session cannot be created, started, stopped or removed."""


class NoSuchSessionError(ServiceError):
    """No session has that name, or several have that prefix."""

    exit_code = ExitCode.NO_SUCH_SESSION


class SandboxUnavailableError(ServiceError):
    """A sandboxed start was asked for and this host cannot make the jail."""

    exit_code = ExitCode.NO_SANDBOX


class TmuxUnavailableError(HqtError):
    """tmux is missing, too old, or does not do what it was told."""

    exit_code = ExitCode.NO_TMUX


class TimedOutError(ServiceError):
    """What was waited for did not come about within the time that was given."""

    exit_code = ExitCode.TIMED_OUT


class HarnessNotInstalledError(ServiceError):
    """The harness's executable is not on the session's PATH."""

    exit_code = ExitCode.NO_HARNESS

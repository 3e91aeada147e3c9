"""The command line: one file a command; it parses, calls a service, and prints. No decisions are made here."""

from __future__ import annotations

import gc
import sys

TYPE_CHECKING = False  # completion imports this: typing's own takes a tenth of it
if TYPE_CHECKING:
    from typing import NoReturn

    from hqt.errors import HqtError

_GARBAGE = 100_000
"""Objects made before the collector looks: what is imported is no garbage, and looking takes a tenth of `hqt ls`."""


def main() -> None:
    """Run `hqt`; every failure that a person can act on is one line and a hint on standard error."""
    if sys.argv[1:] == ["complete-names"]:  # before anything is imported: see hqt.complete
        from hqt import complete

        sys.exit(complete.main())
    gc.set_threshold(_GARBAGE)
    from hqt.cli.app import app
    from hqt.errors import HqtError, UnexpectedError

    try:
        app()
    except HqtError as error:
        _end(error)
    except PermissionError as error:
        _end(HqtError(f"{error.filename}: {error.strerror}", "look at its owner and mode"))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()  # the reader, `head` say, has gone: nothing is wrong
        sys.exit(0)
    except Exception as error:  # noqa: BLE001  # whatever it is, a person gets one line, and the log the rest
        _end(UnexpectedError(f"unexpected {type(error).__name__}: {error}"))


def _end(error: HqtError) -> NoReturn:
    """Say what failed, on standard error and in the log, and end with its exit code."""
    from hqt import log
    from hqt.cli.output import print_error
    from hqt.errors import UnexpectedError
    from hqt.text import visible

    in_full = isinstance(error, UnexpectedError) or log.is_debugging()
    log.logger().error("%s", visible(error.message), exc_info=in_full)
    print_error(error, as_json="--json" in sys.argv)
    sys.exit(int(error.exit_code))

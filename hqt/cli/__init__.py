"""The command line: one file a command; it parses, calls a service, and prints. No decisions are made here."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `hqt`; every failure that a person can act on is one line and a hint on standard error."""
    if sys.argv[1:] == ["complete-names"]:  # before anything is imported: see hqt.complete
        from hqt import complete

        sys.exit(complete.main())
    from hqt.cli.app import app
    from hqt.cli.output import print_error
    from hqt.errors import HqtError

    try:
        app()
    except HqtError as error:
        print_error(error, as_json="--json" in sys.argv)
        sys.exit(int(error.exit_code))
    except PermissionError as error:
        print_error(HqtError(f"{error.filename}: {error.strerror}", "look at its owner and mode"), as_json=False)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()  # the reader, `head` say, has gone: nothing is wrong
        sys.exit(0)

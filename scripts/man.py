"""Write `man/hqt.1` from the command line: `make man`. A test holds it in step."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from command_line import command_line

from hqt.errors import ExitCode

if TYPE_CHECKING:
    from command_line import Command, Parameter

PAGE = Path(__file__).parent.parent / "man/hqt.1"
_FILES = {
    "~/.config/hqt/config.toml": "What can be set, all of it optional: hqt config shows it.",
    "~/.local/state/hqt/hqt.db": "The sessions. It stays when hqt is uninstalled.",
    "~/.local/state/hqt/hqt.log": "What happened, and what failed.",
    "~/.local/state/hqt/sessions": "The private folder of each session: its copies, its cache.",
}
_VARIABLES = {
    "HQT_TMUX_SOCKET": "The tmux server, as -L names it.",
    "HQT_DEBUG": "When set, the log has every call of tmux.",
    "NO_COLOR": "When set, nothing is coloured.",
    "XDG_STATE_HOME, XDG_CONFIG_HOME, XDG_RUNTIME_DIR": "Where the folders above lie.",
}


def page() -> str:
    """Return the page."""
    root, commands = command_line()
    codes = {str(code.value): f"{code.name.capitalize().replace('_', ' ')}." for code in ExitCode}
    parts = [
        '.\\" Made by scripts/man.py from the command line: edit that.',
        '.TH HQT 1 "" "hqt" "User Commands"',
        ".SH NAME",
        "hqt \\- coding agents as tmux windows, each in a jail that needs no permission questions",
        ".SH SYNOPSIS",
        f".B hqt\n{_roff(root.usage)}",
        ".SH DESCRIPTION",
        _roff(root.text),
        ".SH OPTIONS",
        _options(root.options),
        ".SH COMMANDS",
        *(_section(command) for command in commands),
        ".SH EXIT STATUS",
        _table(codes),
        ".SH FILES",
        _table(_FILES),
        ".SH ENVIRONMENT",
        _table(_VARIABLES),
        ".SH SEE ALSO",
        ".BR tmux (1),\n.BR bwrap (1)",
    ]
    return "\n".join(parts) + "\n"


def _section(command: Command) -> str:
    usage = f".B hqt {_roff(command.name)}\n{_roff(command.usage)}"
    return f".SS hqt {_roff(command.name)}\n{usage}\n.PP\n{_roff(command.text)}\n{_options(command.options)}"


def _options(options: list[Parameter]) -> str:
    return _table({", ".join(option.names) + f" {option.metavar}".rstrip(): option.help for option in options})


def _table(rows: dict[str, str]) -> str:
    return "\n".join(f".TP\n.B {_roff(term)}\n{_roff(about)}" for term, about in rows.items())


def _roff(text: str) -> str:
    """Return a text that roff prints as it is: no escape, no dash that is a hyphen, no line that is a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"\n+", "\n.PP\n", re.sub(r"^(?=[.'])", "\\\\&", escaped, flags=re.MULTILINE))


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page())

"""Write docs/reference.md anew from the command line: `make reference`. A test holds it in step."""

from __future__ import annotations

from pathlib import Path

from command_line import root_and_context, visible_commands

from hqt.errors import ExitCode

PAGE = Path(__file__).parent.parent / "docs/reference.md"
_WIDTH = 100
_BEGINNING = """# Commands

Made from the command line by `make reference`. What a command prints with `--json` is in [json.md](json.md); what
can be set in [configuration.md](configuration.md).
"""


def page() -> str:
    """Return the page: the help of hqt, then that of every command, then the exit codes."""
    root, context = root_and_context(terminal_width=_WIDTH, max_content_width=_WIDTH)
    sections = [_BEGINNING, _fenced(root.get_help(context))]
    for command, own in visible_commands(root, context):
        sections.append(f"## hqt {own.info_name}\n\n{_fenced(command.get_help(own))}")
    rows = "\n".join(f"| {code.value} | {code.name.lower().replace('_', ' ')} |" for code in ExitCode)
    sections.append(f"## Exit codes\n\n| code | meaning |\n|---:|---|\n{rows}\n")
    return "\n".join(sections)


def _fenced(text: str) -> str:
    return f"```text\n{text.strip()}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page())

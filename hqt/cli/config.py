"""hqt config: the settings in force, and where each comes from."""

from __future__ import annotations

from typing import Annotated

import typer

from hqt.cli.output import print_json, print_line, print_table


def config(as_json: Annotated[bool, typer.Option("--json", help="For programs; see docs/json.md.")] = False) -> None:
    """Show the settings in force, and where each comes from."""
    from hqt import paths
    from hqt.services import settings

    found = settings.effective()
    if as_json:
        print_json([setting.to_json() for setting in found])
        return
    from rich.text import Text

    from hqt.tables import plain
    from hqt.text import visible

    table = plain("KEY", "VALUE", "FROM")
    for setting in found:
        value = str(setting.value).lower() if isinstance(setting.value, bool) else setting.value or "-"
        table.add_row(setting.key, Text(visible(value)), Text(visible(setting.source), "dim"))
    print_table(table)
    if not paths.config_file().exists():
        print_line()
        print_line(f"There is no {paths.config_file()} yet: docs/configuration.md says what it may hold.")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(config)

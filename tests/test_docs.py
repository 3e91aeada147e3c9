"""The documents: what is made from the code is in step with it, and every link leads somewhere."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#([^)]*))?\)")


def test_the_reference_of_commands_is_in_step_with_the_command_line(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    script = importlib.import_module("reference")
    assert script.PAGE.read_text() == script.page(), "make reference"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_every_heading_that_it_names_is_there(page):
    for path, heading in LINK.findall(page.read_text()):
        if path.startswith(("http://", "https://", "mailto:")):
            continue
        target = page.parent / path
        assert target.exists(), path
        if heading:
            headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
            assert heading in {re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-") for name in headings}, heading


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_is_named_in_a_page_is_there(page):
    named = re.findall(r"`((?:hqt|tests|scripts|docs|tmux|bench|completions)/[\w./-]+\.\w+)`", page.read_text())
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_decision_is_in_their_list():
    folder = ROOT / "docs/decisions"
    pages = {path.name for path in folder.glob("*.md")} - {"README.md"}
    assert {path for path, _ in LINK.findall((folder / "README.md").read_text())} == pages

"""The documents: what is made from the code is in step with it, and every link leads somewhere."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

from hqt import errors

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
ERRORS = {name for name, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.HqtError)}
LINK = re.compile(r"\]\(([^)#\s]+)(?:#([^)]*))?\)")


@pytest.mark.parametrize("name", ["reference", "man"])
def test_what_is_made_from_the_command_line_is_in_step_with_it(name, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    script = importlib.import_module(name)
    assert script.PAGE.read_text() == script.page(), f"make {name}"


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


def test_every_error_is_in_troubleshooting_and_no_other_one():
    page = (ROOT / "docs/troubleshooting.md").read_text()
    told = {row[1] for row in re.finditer(r"^\| `(.+?)` \|", page, re.MULTILINE)}
    assert told == set(_messages())


def _messages():
    """The first argument of every error of hqt's, and of the texts that one is made from, `…` for what it puts in."""
    for path in (ROOT / "hqt").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
                continue
            is_ours = node.func.id in ERRORS or (node.func.id == "ValueError" and path.name == "limits.py")
            first = node.args[0]
            for message in [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]:
                if is_ours and (text := _template(message)) and not text.startswith("not limits"):
                    yield text


def _template(message):
    if isinstance(message, ast.Constant):
        return message.value
    if isinstance(message, ast.JoinedStr):
        parts = [str(part.value) if isinstance(part, ast.Constant) else "…" for part in message.values]
        return "".join(parts).replace("……", "…")
    return ""

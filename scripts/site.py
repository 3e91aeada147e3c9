"""A hook of mkdocs: the README is the site's front page, and the other pages beside it are pages of the site too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

_TOP = Path(__file__).parent.parent
_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "reporting.md",
    "CHANGELOG.md": "changes.md",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie outside docs/."""
    for name, page in _PAGES.items():
        text = _to_pages((_TOP / name).read_text(), "").replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Lead links out of docs/ to the pages that the site has for them."""
    return _to_pages(markdown, "../")


def _to_pages(text: str, beside: str) -> str:
    for name, page in _PAGES.items():
        text = text.replace(f"]({beside}{name}", f"]({page}")
    return text

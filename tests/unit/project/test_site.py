"""The pages become a site: its generated parts are complete and up to date.

Building it takes half a minute and is done by `.ci/run`, where any warning is an error.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import herbrand
from herbrand.errors import MissingExtra

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def api():
    """The program that writes the reference of the library."""
    sys.path.insert(0, str(DOCS / "site"))
    try:
        return importlib.import_module("api")
    finally:
        sys.path.pop(0)


def test_the_reference_describes_every_public_name(api) -> None:
    """Whatever a module lists in `__all__` and defines itself has an entry, and with it its docstring."""
    pages = api.pages()
    described = 0
    for part, names in api.modules().items():
        for name in names:
            try:
                module = importlib.import_module(name)
            except MissingExtra:  # its library is not installed
                continue
            for entry in getattr(module, "__all__", ()):
                value = getattr(module, entry)
                if getattr(value, "__module__", name) != name or isinstance(value, type(sys)):
                    continue
                assert re.search(rf"\{{py:\w+\}} {entry}\b", pages[part]), f"{name}.{entry}"
                described += 1
    assert described > 300
    for name in herbrand.__all__:
        assert f"herbrand.{name}" in pages["index"]


def test_examples_of_docstrings_are_fenced(api) -> None:
    """A session in a docstring does not become a quotation of Markdown."""
    text = api._markdown("First.\n\n>>> 1 + 1\n2\n\n# no heading\n\n    >>> 2\n    2\n")
    assert text.count("```python\n>>> ") == 2
    assert "\\# no heading" in text


def test_every_page_is_in_the_index() -> None:
    """No page is there that the index does not lead to."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    linked = {(DOCS / target).resolve() for target in re.findall(r"\]\(([^)#]+)\)", index)}
    for page in DOCS.rglob("*.md"):
        if page.name != "index.md" and not {"generated", "_build"} & set(page.parts):
            assert page.resolve() in linked, page


def test_diagrams_are_up_to_date() -> None:
    """The pictures are what the program draws."""
    subprocess.run([sys.executable, DOCS / "site" / "diagrams.py", "--check"], check=True, timeout=120)


def test_pictures_have_words_for_those_who_cannot_see_them() -> None:
    """Every picture of a page has an alternative text, and the file is there."""
    seen = 0
    for page in DOCS.rglob("*.md"):
        if "generated" not in page.parts:
            for words, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
                assert len(words) > 10, page
                assert (page.parent / target).exists(), target
                seen += 1
    assert seen > 4

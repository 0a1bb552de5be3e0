"""Pages from templates: what is escaped, and what is an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import UndefinedError

import herbrand
from herbrand.runtime import rendering
from herbrand.runtime.rendering import Markup, render

PACKAGE = Path(herbrand.__file__).parent
TEMPLATES = [
    f"{path.parent.parent.relative_to(PACKAGE).as_posix()}/{path.name}"
    for path in sorted(PACKAGE.rglob("templates/*"))
]
NASTY = "<script>alert(1)</script>\"'&\x1b[31m\n{{ 7 * 7 }}"


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_compile(name: str) -> None:
    """Each is read from the package by the name that `render` takes."""
    assert rendering._ENVIRONMENT.get_template(name).name == name


def test_there_are_templates() -> None:
    """The list above is that of the package."""
    assert "web/frame.html" in TEMPLATES


def test_values_are_text_and_never_markup() -> None:
    """Text is escaped in elements and in attributes, and not taken for a template; only `Markup` stays."""
    page = render(
        "web/problem.html", status=404, message=NASTY, help=Markup("<i>so</i>"), similar=NASTY, details="",
        token=NASTY,
    )  # fmt: skip
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;&amp;") == 4
    assert "49" not in page
    assert "<i>so</i>" in page


def test_a_value_that_is_missing_is_an_error() -> None:
    """A page is never written with a gap where a value was forgotten."""
    with pytest.raises(UndefinedError, match="message"):
        render("web/problem.html", status=404, help="", similar=None, details="", token="")

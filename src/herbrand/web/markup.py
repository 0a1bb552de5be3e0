"""HTML as values: text is escaped unless it was built here.

>>> str(tag("p", "1 < 2", tag("b", "yes"), class_="note"))
'<p class="note">1 &lt; 2<b>yes</b></p>'
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from herbrand.runtime.notebook import Markup

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Child", "Markup", "join", "raw", "tag"]

_EMPTY: Final = frozenset({"meta", "link", "input", "br", "hr", "img"})


Child = Markup | str | int | float | None


def raw(text: str) -> Markup:
    """Take a text for HTML: only what herbrand itself drew or wrote."""
    return Markup(text)


def tag(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """Build an element.

    The name of an attribute may end in `_`, and `_` inside it means `-`; True gives an attribute without
    value, False and None leave it out.
    """
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        spelt = key.rstrip("_").replace("_", "-")
        parts.append(f" {spelt}" if value is True else f' {spelt}="{escape(str(value), quote=True)}"')
    parts.append(">")
    if name in _EMPTY:
        return Markup("".join(parts))
    parts += [_text(child) for child in children]
    parts.append(f"</{name}>")
    return Markup("".join(parts))


def join(children: Iterable[Child]) -> Markup:
    """Put pieces one after another."""
    return Markup("".join(map(_text, children)))


def _text(child: Child) -> str:
    if child is None:
        return ""
    return str(child) if isinstance(child, Markup) else escape(str(child))

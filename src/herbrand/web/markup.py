"""HTML as values: all text is escaped, elements are not.

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
    """Return a text as HTML without escaping; only for output of herbrand itself."""
    return Markup(text)


def tag(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """Build an element.

    In names of attributes a final `_` is dropped and other `_` become `-`.  The value True gives an attribute
    without value; False and None omit it.
    """
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = key.rstrip("_").replace("_", "-")
        parts.append(f" {attribute}" if value is True else f' {attribute}="{escape(str(value), quote=True)}"')
    parts.append(">")
    if name in _EMPTY:
        return Markup("".join(parts))
    parts += [_text(child) for child in children]
    parts.append(f"</{name}>")
    return Markup("".join(parts))


def join(children: Iterable[Child]) -> Markup:
    """Concatenate pieces."""
    return Markup("".join(map(_text, children)))


def _text(child: Child) -> str:
    if child is None:
        return ""
    return str(child) if isinstance(child, Markup) else escape(str(child))

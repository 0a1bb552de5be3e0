"""Put a rulesheet together: sections of rules with comments, and the helper relations that they need."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from textwrap import dedent, wrap
from typing import TYPE_CHECKING, Final

from herbrand.syntax.layout import format_text
from herbrand.syntax.source import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Sheet"]

_WIDTH: Final = 110
_NAME: Final = re.compile(r"[\s(]([a-z_]+)")


@dataclass
class Sheet:
    """A rulesheet that is being written."""

    title: str
    about: list[str]
    """Paragraphs of the comment at the top."""
    sections: list[tuple[str, list[str]]] = field(default_factory=list)

    def section(self, comment: str) -> None:
        """Begin a section."""
        self.sections.append((comment, []))

    def add(self, *rules: str) -> None:
        """Add rules to the section that was begun last, each one once."""
        written = self.sections[-1][1]
        for rule in rules:
            text = dedent(rule).strip()
            if text and text not in written:
                written.append(text)

    def text(self, helpers: Mapping[str, tuple[str, str]]) -> str:
        """Return the sheet with those helper relations that its rules use, directly or not.

        `helpers` gives for each relation a section's comment and its rules.  Those of one section stand
        together.
        """
        text = "\n".join(rule for _, rules in self.sections for rule in rules)
        needed: set[str] = set()
        asked = {name for name in _NAME.findall(text) if name in helpers}
        while asked - needed:
            name = min(asked - needed)
            needed.add(name)
            asked.update(other for other in _NAME.findall(helpers[name][1]) if other in helpers)
        parts = [f";;; {self.title}"]
        for paragraph in self.about:
            parts.append(";;;")
            parts.extend(wrap(paragraph, _WIDTH, initial_indent=";;; ", subsequent_indent=";;; "))
        found: dict[str, list[str]] = {}
        for name, (comment, rules) in helpers.items():
            if name in needed:
                found.setdefault(comment, []).append(rules)
        for comment, written in [*self.sections, *found.items()]:
            if any(written):
                parts += ["", f"; {comment}", "", *written]
        return format_text(Source("\n".join(parts) + "\n", f"{self.title}.kif"), width=_WIDTH)

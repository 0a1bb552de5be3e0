"""Put a rulesheet together: sections of rules with comments, and the helper relations that they need."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from textwrap import dedent, wrap
from typing import TYPE_CHECKING, Final

from herbrand.diagnostic import Source
from herbrand.syntax.layout import format_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from herbrand.evolve.blocks.parameters import NamedNumber, Writing

__all__ = ["SheetWriter"]

_WIDTH: Final = 110
_NAME: Final = re.compile(r"[\s(]([a-z_]+)")


@dataclass
class SheetWriter:
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

    def needs(self, helpers: Mapping[str, tuple[str, str]]) -> set[str]:
        """Return which helper relations the rules use, directly or not."""
        needed: set[str] = set()
        text = "\n".join(rule for _, rules in self.sections for rule in rules)
        asked = {name for name in _NAME.findall(text) if name in helpers}
        while asked - needed:
            name = min(asked - needed)
            needed.add(name)
            asked.update(other for other in _NAME.findall(helpers[name][1]) if other in helpers)
        return needed

    def rules(self, helpers: Mapping[str, tuple[str, str]]) -> str:
        """Return the rules alone, as quickly as that can be done."""
        return "\n".join(rule for _, rules in self._with(helpers, self.needs(helpers)) for rule in rules)

    def text(self, helpers: Mapping[str, tuple[str, str]]) -> str:
        """Return the sheet with those helper relations that its rules use, directly or not.

        `helpers` gives for each relation a section's comment and its rules.  Those of one section stand
        together.
        """
        parts = self._heading(";;;")
        for comment, written in self._with(helpers, self.needs(helpers)):
            parts += ["", f"; {comment}", "", *written]
        return format_text(Source("\n".join(parts) + "\n", f"{self.title}.kif"), width=_WIDTH)

    def ggdl(
        self, helpers: Mapping[str, tuple[str, str]], parameters: Sequence[NamedNumber], writing: Writing
    ) -> str:
        """Return the sheet in GGDL; where its rules name `parameters` they are declared.

        Helper relations that `writing` knows are written as it says.
        """
        from herbrand.syntax import read
        from herbrand.syntax.ggdl.lift import lift

        needed = self.needs(helpers)
        shorter = needed.intersection([*writing.data, *writing.rules])
        sections = self._with(helpers, needed - shorter)
        comments: dict[int, str] = {}
        first = 0
        for comment, written in sections:
            comments[first] = comment
            first += len(read("\n".join(written), "prefix").statements)
        rules = lift(
            read("\n".join(rule for _, written in sections for rule in written), "prefix"), comments=comments
        )
        parts = ["\n".join(self._heading("//"))]
        parts += [parameter.declaration() for parameter in parameters]
        parts.append(
            "\n".join(f"data {name} := {writing.data[name]}" for name in writing.data if name in needed)
        )
        parts.append(rules.rstrip("\n"))
        counting = [writing.rules[name] for name in writing.rules if name in needed]
        parts.append("\n".join(["// Counting", *counting] if counting else []))
        return "\n\n".join(part for part in parts if part) + "\n"

    def _heading(self, mark: str) -> list[str]:
        lines = [f"{mark} {self.title}"]
        for paragraph in self.about:
            lines.append(mark)
            lines.extend(wrap(paragraph, _WIDTH, initial_indent=f"{mark} ", subsequent_indent=f"{mark} "))
        return lines

    def _with(
        self, helpers: Mapping[str, tuple[str, str]], wanted: Collection[str]
    ) -> list[tuple[str, list[str]]]:
        """Return the sections that have rules, those of helper relations last."""
        found: dict[str, list[str]] = {}
        for name, (comment, rules) in helpers.items():
            if name in wanted:
                found.setdefault(comment, []).append(rules)
        return [(comment, rules) for comment, rules in [*self.sections, *found.items()] if any(rules)]

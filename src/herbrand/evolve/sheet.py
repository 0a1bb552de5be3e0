"""Composes a rulesheet from sections of rules with comments and the helper relations that they use."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from textwrap import dedent, wrap
from typing import TYPE_CHECKING, Any, Final

from herbrand.diagnostic import Source
from herbrand.draw.hints import comment_of
from herbrand.syntax.layout import format_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from herbrand.evolve.blocks.parameters import NamedNumber, Writing

__all__ = ["SheetWriter"]

_WIDTH: Final = 110
_NAME: Final = re.compile(r"[\s(]([a-z_]+)")


@dataclass
class SheetWriter:
    """A rulesheet under construction."""

    title: str
    about: list[str]
    """Paragraphs of the comment at the top."""
    drawing: dict[str, Any] = field(default_factory=dict)
    """How to draw the board, where rules do not tell (a hint for `herbrand.draw`)."""
    sections: list[tuple[str, list[str]]] = field(default_factory=list)

    def section(self, comment: str) -> None:
        """Start a section."""
        self.sections.append((comment, []))

    def add(self, *rules: str) -> None:
        """Add rules to the current section, without duplicates."""
        section = self.sections[-1][1]
        for rule in rules:
            text = dedent(rule).strip()
            if text and text not in section:
                section.append(text)

    def needs(self, helpers: Mapping[str, tuple[str, str]]) -> set[str]:
        """Return the helper relations that the rules use, directly or indirectly."""
        needed: set[str] = set()
        text = "\n".join(rule for _, rules in self.sections for rule in rules)
        used = {name for name in _NAME.findall(text) if name in helpers}
        while used - needed:
            name = min(used - needed)
            needed.add(name)
            used.update(other for other in _NAME.findall(helpers[name][1]) if other in helpers)
        return needed

    def rules(self, helpers: Mapping[str, tuple[str, str]]) -> str:
        """Return the rules without comments and layout."""
        return "\n".join(
            rule for _, rules in self._all_sections(helpers, self.needs(helpers)) for rule in rules
        )

    def text(self, helpers: Mapping[str, tuple[str, str]]) -> str:
        """Return the sheet with the helper relations that its rules use.

        `helpers` has the comment of a section and the rules for each relation.
        """
        parts = self._heading(";;;")
        for comment, written in self._all_sections(helpers, self.needs(helpers)):
            parts += ["", f"; {comment}", "", *written]
        return format_text(Source("\n".join(parts) + "\n", f"{self.title}.kif"), width=_WIDTH)

    def ggdl(
        self, helpers: Mapping[str, tuple[str, str]], parameters: Sequence[NamedNumber], writing: Writing
    ) -> str:
        """Return the sheet in GGDL with declarations of `parameters`.

        Helper relations in `writing` are written in its shorter form.
        """
        from herbrand.syntax import read
        from herbrand.syntax.ggdl.lift import lift

        needed = self.needs(helpers)
        shorter = needed.intersection([*writing.data, *writing.rules])
        sections = self._all_sections(helpers, needed - shorter)
        comments: dict[int, str] = {}
        first = 0
        for comment, written in sections:
            comments[first] = comment
            first += len(read("\n".join(written), "prefix").statements)
        text = "\n".join(rule for _, written in sections for rule in written)
        rules = lift(read(text, "prefix"), comments=comments)
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
        return [*lines, mark, comment_of(self.drawing, mark)] if self.drawing else lines

    def _all_sections(
        self, helpers: Mapping[str, tuple[str, str]], wanted: Collection[str]
    ) -> list[tuple[str, list[str]]]:
        """Return the nonempty sections, those of the wanted helper relations last."""
        extra: dict[str, list[str]] = {}
        for name, (comment, rules) in helpers.items():
            if name in wanted:
                extra.setdefault(comment, []).append(rules)
        return [(comment, rules) for comment, rules in [*self.sections, *extra.items()] if any(rules)]

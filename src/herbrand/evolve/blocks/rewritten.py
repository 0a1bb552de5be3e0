"""Rulesheets that were varied rule by rule and no longer correspond to blocks."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from herbrand.draw.hints import comment_of
from herbrand.evolve.blocks.design import Design
from herbrand.syntax import read

__all__ = ["Rewritten"]


@dataclass(frozen=True)
class Rewritten(Design):
    """A rulesheet with its original design and the changes since."""

    sheet: str = ""
    origin: Design | None = None
    """The original design; None for other rulesheets."""
    changes: tuple[str, ...] = ()
    """Descriptions of the changes, the oldest first."""

    def _problems(self) -> list[str]:
        from herbrand.check import check

        diagnostics = check(read(self.sheet, "prefix", self.name)).diagnostics
        return [d.message for d in diagnostics if d.severity.value != "note"]

    def paragraphs(self) -> list[str]:
        """Describe the original design, then the changes."""
        original = [] if self.origin is None else self.origin.paragraphs()
        first = [f"{self.name} comes from {self.origin.name}, whose rules are these:"] if self.origin else []
        return [*first, *original, f"In {self.name}, rules were changed: {'; '.join(self.changes)}."]

    def rulesheet(self) -> str:
        """Return the rulesheet, with its changes in a comment at the end."""
        remarks = "".join(f"; changed: {change}\n" for change in self.changes)
        drawing = comment_of(self.drawing) if self.drawing else ""
        sheet = self.sheet if drawing in self.sheet else f"{drawing}\n{self.sheet}"
        return f"{sheet.rstrip()}\n\n{remarks}"

    def rules_as_text(self) -> str:
        """Return the rules as they are."""
        return self.sheet

    def ggdl(self) -> str:
        """Return the rules in GGDL, without parameters, since changes may affect any number."""
        from herbrand.syntax.ggdl.lift import lift

        comment = "".join(f"// {line}\n" for line in wrap(self.in_words(), 108))
        return f"// {self.name}\n//\n{comment}\n{lift(read(self.sheet, 'prefix', self.name))}"

    @property
    def drawing(self) -> dict[str, Any]:
        """How to draw the board, as in the original design."""
        return {} if self.origin is None else self.origin.drawing

    @property
    def size(self) -> int:
        """Number of rules."""
        return len(read(self.sheet, "prefix", "").statements)

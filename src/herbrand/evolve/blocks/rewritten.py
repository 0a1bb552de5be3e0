"""Rulesheets that were varied rule by rule: no longer what their blocks say."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap

from herbrand.evolve.blocks.design import Design
from herbrand.syntax import read

__all__ = ["Rewritten"]


@dataclass(frozen=True)
class Rewritten(Design):
    """A rulesheet, the design that it was once, and what was changed since."""

    sheet: str = ""
    origin: Design | None = None
    """The design that was printed first; None for a rulesheet from elsewhere."""
    changes: tuple[str, ...] = ()
    """What was done to its rules, in words, oldest first."""

    def _problems(self) -> list[str]:
        from herbrand.check import check

        found = check(read(self.sheet, "prefix", self.name)).diagnostics
        return [d.message for d in found if d.severity.value != "note"]

    def paragraphs(self) -> list[str]:
        """Explain the design that it was, then the changes."""
        told = [] if self.origin is None else self.origin.paragraphs()
        first = [f"{self.name} comes from {self.origin.name}, whose rules are these:"] if self.origin else []
        changes = "; ".join(self.changes)
        return [*first, *told, f"In {self.name}, rules were changed: {changes}."]

    def rulesheet(self) -> str:
        """Return the rulesheet, with its changes in a comment at the end."""
        remarks = "".join(f"; changed: {change}\n" for change in self.changes)
        return f"{self.sheet.rstrip()}\n\n{remarks}"

    def rules_as_text(self) -> str:
        """Return the rules as they are."""
        return self.sheet

    def ggdl(self) -> str:
        """Return the rules in GGDL, without parameters: a change may have been to any number."""
        from herbrand.syntax.ggdl.lift import lift

        told = "".join(f"// {line}\n" for line in wrap(self.in_words(), 108))
        return f"// {self.name}\n//\n{told}\n{lift(read(self.sheet, 'prefix', self.name))}"

    @property
    def size(self) -> int:
        """How many rules there are."""
        return len(read(self.sheet, "prefix", "").statements)

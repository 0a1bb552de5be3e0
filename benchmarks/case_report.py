"""`CaseReport`: how many cases of one kind were tried, and what became of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

__all__ = ["CaseReport"]


@dataclass(slots=True)
class CaseReport:
    """The outcomes of the cases of one kind."""

    kind: str
    tried: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    """How many cases ended in which acceptable way, such as "refused"."""
    failures: list[str] = field(default_factory=list)
    """Each case in which something was lost, and what went wrong."""
    note: str = ""
    """What was measured, in words."""

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {
            "kind": self.kind,
            "tried": self.tried,
            "outcomes": dict(self.outcomes),
            "failures": self.failures,
            **({"note": self.note} if self.note else {}),
        }

"""`Observation`: a remark on how a game behaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Observation"]


@dataclass(frozen=True, slots=True)
class Observation:
    """One remark."""

    kind: str
    text: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """Details, as plain values."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {"kind": self.kind, "text": self.text, **self.evidence}

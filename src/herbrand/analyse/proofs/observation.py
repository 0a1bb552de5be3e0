"""`Observation`: a remark on how a game behaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["KINDS", "Observation"]

KINDS: Final = (
    *("terminal-at-start", "fluent-never-true", "fluent-always-true", "latched-fluent", "move-never-legal"),
    *(
        "role-never-chooses",
        "turn-taking",
        "goal-never-reached",
        "constant-sum",
        "shortest-play",
        "longest-play",
    ),
    *("dead-end", "rule-never-fires", "condition-always-true", "forced-result", "first-move-advantage"),
    *("mobility", "independent-parts", "symmetries", "symmetric-roles"),
)
"""The kinds of remarks; `observe` describes them."""
_UNCERTIFIED: Final = {
    "mobility": "an average that no other program computes",
    "independent-parts": "a remark on the form of the network, not on plays",
    "symmetries": "a number of symmetries that no other program counts",
}


@dataclass(frozen=True, slots=True)
class Observation:
    """One remark."""

    kind: str
    text: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """Details, as plain values."""

    @property
    def uncertified(self) -> str:
        """Why there can be no certificate that other programs check; empty if there can be one."""
        if self.kind == "first-move-advantage" and self.evidence["by"] == "random games":
            return "statistics of random games prove nothing"
        if self.kind == "turn-taking" and any(self.evidence["choosers"][2:]):
            return "a number of states that no other program counts"
        return _UNCERTIFIED.get(self.kind, "")

    def as_command(self, file: str) -> str:
        """Return the command that certifies all remarks of this kind; empty if there is none."""
        return "" if self.uncertified else f"herbrand certify {file} --remarks {self.kind} -o FOLDER"

    def as_json(self) -> dict[str, Any]:
        """Return plain values; `uncertified` is the reason why there can be no certificate, or None."""
        uncertified = self.uncertified or None
        return {"kind": self.kind, "text": self.text, **self.evidence, "uncertified": uncertified}

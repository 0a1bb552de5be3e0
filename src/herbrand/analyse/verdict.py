"""`Verdict`: what is known about one property of a game, and how one can see that it is true.

A verdict is *proved*, *refuted* or *unknown*, never a guess.  What is proved carries a certificate
or a witness, what is refuted a witness, what is unknown says which bound was reached:

| property              | proved by                            | refuted by                                  |
|-----------------------|--------------------------------------|---------------------------------------------|
| `termination`         | certificate                          | `Witness` that runs into a circle           |
| `playability`         | certificate                          | `Witness` to a state where a role is stuck  |
| `goals`               | certificate                          | `Witness` to an end without one goal value  |
| `monotonicity`        | certificate                          | `Witness`: the last step loses goal value   |
| `weak_winnability`    | each role: a `Witness` that wins     | some role: certificate                      |
| `strong_winnability`  | some role: certificate, a strategy   | every role: certificate                     |
| `well_formed`         | the verdicts it is made of           | one of them refuted                         |

Names and readings are those of Genesereth and Thielscher, General Game Playing (2014), chapter 2;
`docs/reference/analysis.md` says exactly what is decided.  A certificate is anything with the
methods of `Certificate`; its `check` must not share code with the search that found it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.machine.state_machine import StateMachine

__all__ = ["PROPERTIES", "Answer", "Certificate", "Moves", "Verdict", "Witness"]

Answer: TypeAlias = Literal["proved", "refuted", "unknown"]

Moves: TypeAlias = "tuple[tuple[str, ...], ...]"
"""A line of play: joint moves as KIF, each in role order."""

PROPERTIES = (
    "termination",
    "playability",
    "weak_winnability",
    "strong_winnability",
    "goals",
    "monotonicity",
    "well_formed",
)
"""The properties, in the order of reports.

`goals`: in every reachable terminal state each role has exactly one goal value, an integer from
0 to 100.  `monotonicity`: such a value is there in every reachable state and never decreases.
"""


class Certificate(Protocol):
    """Evidence that can be checked without trusting the search that found it."""

    @property
    def kind(self) -> str:
        """What it is, in a word or two: "step counter", "inductive invariant", "strategy"."""

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Check it against the rules of the game, by other means than it was found by.

        Returns False when the certificate is wrong.  Raises `BudgetExceeded` when that takes longer
        than `seconds`.
        """

    def as_json(self) -> dict[str, Any]:
        """Return it, or its size and how to get it where it is large, as plain values."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A line of play from the initial state that anybody can replay."""

    moves: Moves
    role: str | None = None
    """Whom it concerns: who is stuck, who wins, who has no goal value."""
    loop: int | None = None
    """For play without end: after all moves the state is the one after the first `loop` moves."""
    shortest: bool = False
    """Whether no shorter line shows the same."""

    def as_command(self, file: str) -> str:
        """Return the command that shows its last state."""
        line = "; ".join(", ".join(joint) for joint in self.moves)
        return f'herbrand show {file} --moves "{line}"' if line else f"herbrand show {file}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known about one property."""

    answer: Answer
    method: str
    """How it was found: "step counter", "exploration", "pdr", "k-induction", ...; "-" for unknown."""
    reason: str = ""
    """A sentence for people: why it is so, or which bound was reached.  Lower case, no full stop."""
    witness: Witness | None = None
    certificate: Certificate | None = None
    checked: bool | None = None
    """Whether the certificate or witness was re-checked: None for not at all."""
    roles: Mapping[str, Verdict] = field(default_factory=dict)
    """What is known for each role, where the property has a verdict for each."""
    seconds: float = 0.0
    """Wall-clock seconds that finding it took."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Numbers worth reporting, as plain values: `bound`, `depth`, `states`, ..."""

    @staticmethod
    def unknown(reason: str, **details: Any) -> Verdict:
        """Return a verdict that nothing is known."""
        return Verdict("unknown", "-", reason, details=details)

    @property
    def is_known(self) -> bool:
        """Whether the property was decided."""
        return self.answer != "unknown"

    def with_(self, **changes: Any) -> Verdict:
        """Return the verdict with some fields changed."""
        return replace(self, **changes)

    def as_json(self) -> dict[str, Any]:
        """Return plain values; `witness` is a list of joint moves."""
        found: dict[str, Any] = {
            "verdict": self.answer,
            "method": self.method,
            "reason": self.reason,
            "witness": None if self.witness is None else [list(joint) for joint in self.witness.moves],
        }
        if self.witness is not None:
            found["shortest"] = self.witness.shortest
            if self.witness.role is not None:
                found["role"] = self.witness.role
            if self.witness.loop is not None:
                found["loop"] = self.witness.loop
        if self.certificate is not None:
            found["certificate"] = {"kind": self.certificate.kind, **self.certificate.as_json()}
        if self.checked is not None:
            found["checked"] = self.checked
        found["seconds"] = round(self.seconds, 3)
        found.update(self.details)
        if self.roles:
            found["roles"] = {role: verdict.as_json() for role, verdict in self.roles.items()}
        return found

    def __str__(self) -> str:
        return self.answer + (f" by {self.method}" if self.is_known else "") + f": {self.reason}"

"""`Verdict`: the answer to one property of a game, with its evidence.

A verdict is *proved*, *refuted* or *unknown*, never a guess.  Proofs carry a certificate or a witness,
refutations a witness, and unknown verdicts name the bound that was reached:

| property              | proved by                            | refuted by                                  |
|-----------------------|--------------------------------------|---------------------------------------------|
| `termination`         | certificate                          | `Witness` that runs into a cycle           |
| `playability`         | certificate                          | `Witness` to a state where a role is stuck  |
| `goals`               | certificate                          | `Witness` to an end without one goal value  |
| `monotonicity`        | certificate                          | `Witness`: the last step loses goal value   |
| `weak_winnability`    | each role: a `Witness` that wins     | some role: certificate                      |
| `strong_winnability`  | some role, or one of two: certificate | every role: certificate                    |
| `well_formed`         | the verdicts that it combines        | one of them refuted                         |

Names and definitions follow Genesereth and Thielscher, General Game Playing (2014), chapter 2;
`docs/reference/analysis.md` defines exactly what is decided.  A certificate is anything with the
methods of `Certificate`; its `check` must not share code with the search that found it.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from herbrand.errors import GameError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from herbrand.machine.state_machine import StateMachine

__all__ = ["PROPERTIES", "Answer", "Certificate", "Compound", "Moves", "Premise", "Verdict", "Witness"]

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

`goals`: each role has exactly one goal value in every reachable terminal state, an integer from
0 to 100.  `monotonicity`: it has one in every reachable state, and the value never decreases.
"""


class Certificate(Protocol):
    """Evidence that can be checked without trusting the search that found it."""

    @property
    def kind(self) -> str:
        """The kind of evidence, in a word or two: "step counter", "inductive invariant", "strategy"."""

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Check it against the rules of the game, independently of the search that found it.

        Returns False when the certificate is wrong.  Raises `BudgetExceeded` when checking takes longer
        than `seconds`.
        """

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values; its size where it is large."""


class Premise(NamedTuple):
    """A certificate that another one rests on, and the game that it is about."""

    game: StateMachine
    certificate: Certificate
    rules: str = ""
    """The name of a file for the rules of that game, where it is another game."""
    folder: str = ""
    """The name of a folder for its files."""


class Compound(ABC):
    """A certificate that rests on others, most of them about another game."""

    @abstractmethod
    def premises(self, game: StateMachine) -> Iterator[Premise]:
        """Yield the certificates that it rests on; raises `GameError` where it does not fit the game."""

    def check_alone(self, game: StateMachine, seconds: float) -> bool:  # noqa: ARG002
        """Check what its premises do not show; see `Certificate.check`."""
        return True

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Check it with its premises; see `Certificate`."""
        deadline = time.monotonic() + seconds
        try:
            return self.check_alone(game, seconds) and all(
                premise.certificate.check(premise.game, max(deadline - time.monotonic(), 0.0))
                for premise in self.premises(game)
            )
        except GameError:
            return False


def certificate_as_json(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate as plain values, with its kind."""
    return {"kind": certificate.kind, **certificate.as_json()}


@dataclass(frozen=True, slots=True)
class Witness:
    """A line of play from the initial state, which can be replayed."""

    moves: Moves
    role: str | None = None
    """The role that is stuck, wins or has no goal value."""
    loop: int | None = None
    """For endless play: the last state equals the state after the first `loop` moves."""
    shortest: bool = False
    """Whether no shorter line shows the same."""

    def as_command(self, file: str) -> str:
        """Return the command that shows its last state."""
        line = "; ".join(", ".join(joint) for joint in self.moves)
        return f'herbrand show {file} --moves "{line}"' if line else f"herbrand show {file}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one property."""

    answer: Answer
    method: str
    """The method that decided it: "step counter", "exploration", "pdr", ...; "-" for unknown."""
    reason: str = ""
    """A sentence for readers: the justification, or the bound that was reached.  Lower case, no full stop."""
    witness: Witness | None = None
    certificate: Certificate | None = None
    checked: bool | None = None
    """Whether the certificate or witness was re-checked: None for not at all."""
    roles: Mapping[str, Verdict] = field(default_factory=dict)
    """The verdict for each role, where the property has one."""
    seconds: float = 0.0
    """Wall-clock seconds spent on it."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Numbers worth reporting, as plain values: `bound`, `depth`, `states`, ..."""

    @staticmethod
    def unknown(reason: str, **details: Any) -> Verdict:
        """Return an unknown verdict."""
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
        report: dict[str, Any] = {
            "verdict": self.answer,
            "method": self.method,
            "reason": self.reason,
            "witness": None if self.witness is None else [list(joint) for joint in self.witness.moves],
        }
        if self.witness is not None:
            report["shortest"] = self.witness.shortest
            if self.witness.role is not None:
                report["role"] = self.witness.role
            if self.witness.loop is not None:
                report["loop"] = self.witness.loop
        if self.certificate is not None:
            report["certificate"] = certificate_as_json(self.certificate)
        if self.checked is not None:
            report["checked"] = self.checked
        report["seconds"] = round(self.seconds, 3)
        report.update(self.details)
        if self.roles:
            report["roles"] = {role: verdict.as_json() for role, verdict in self.roles.items()}
        return report

    def __str__(self) -> str:
        return self.answer + (f" by {self.method}" if self.is_known else "") + f": {self.reason}"

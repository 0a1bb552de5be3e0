"""Strong winnability refuted by exchanging roles: two of them would force a win at the same time.

If a symmetry of the rules maps one role to another, whatever one can force, the other can.  If both could
force a win, both would win where each plays its strategy.  So if two roles never win together, which is a
question about plays, neither can force a win, however large the game is.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from herbrand.analyse.invariants.invariant import has_answer_set
from herbrand.analyse.proofs.unwinnable import never_wins, wins_at_random
from herbrand.analyse.solving.symmetry import Exchanges, permutation_question
from herbrand.analyse.verdict import Compound, Premise, Verdict, certificate_as_json
from herbrand.convert.joint_win import joint_win
from herbrand.errors import GameError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.verdict import Certificate
    from herbrand.machine.state_machine import StateMachine

__all__ = ["ExchangedRoles", "refute_by_exchange"]


@dataclass(frozen=True, slots=True)
class ExchangedRoles(Compound):
    """A proof that a role cannot force a win: another could, too, but they never win together."""

    role: str
    other: str
    images: Mapping[str, str]
    """The permutation, as of `Exchanges`; it maps the role to the other."""
    certificate: Certificate
    """That the first of the two, by name, does not win the game with joint wins (`convert.joint_win`)."""

    kind = "exchanged roles"

    def as_json(self) -> dict[str, Any]:
        """Return the roles, the permutation, and the certificate about the game with joint wins."""
        return {
            "role": self.role,
            "other": self.other,
            "images": dict(self.images),
            "certificate": certificate_as_json(self.certificate),
        }

    def question(self, game: StateMachine) -> str:
        """Return the program for clingo that has no answer set if the permutation preserves the rules.

        Raises `GameError` unless it maps the role to the other, both of them players.
        """
        players = set(game.players)
        exchanges = self.images.get(f"(role {self.role})") == f"(role {self.other})"
        if not exchanges or self.role == self.other or not {self.role, self.other} <= players:
            raise GameError(f"the permutation does not map {self.role} to another player")
        try:
            return permutation_question(game, self.images)
        except ValueError as error:
            raise GameError(f"it is no permutation: {error}") from error

    def check_alone(self, game: StateMachine, seconds: float) -> bool:
        """Check the permutation; see `verdict.Certificate`."""
        return not has_answer_set(self.question(game), time.monotonic() + seconds)

    def premises(self, game: StateMachine) -> Iterator[Premise]:
        """Yield the certificate about joint wins."""
        yield Premise(joint_win(game, self.role, self.other), self.certificate, "together.kif")


def refute_by_exchange(
    game: StateMachine, roles: Sequence[int], budget: Budget
) -> Iterator[tuple[int, Verdict]]:
    """Yield those of some roles, by number, that cannot force 100, with the verdicts that say so.

    Raises `BudgetExceeded`, and `MissingExtra` where no SAT solver is installed.
    """
    state = game.initial_state()
    choices = {role: len(state.legal_moves(role)) for role in game.roles}
    left = {game.roles[number]: number for number in roles}
    exchanges: Exchanges | None = None
    open_pairs: set[frozenset[str]] = set()
    """Of which it was not shown that they never win together."""
    while left:
        name = next(iter(left))
        number = left.pop(name)
        alike = [
            other
            for other in dict.fromkeys((*left, *game.players))
            if choices[other] == choices[name] and other != name and {name, other} not in open_pairs
        ]
        if not alike:  # where roles take turns, only one can move at first
            continue
        exchanges = exchanges or Exchanges(game, budget.share(0.5))
        found = exchanges.find(name, alike)
        if found is None:
            continue
        other, images = found
        share = budget.share(1 / (len(left) // 2 + 1))
        never = _never_together(game, min(name, other), max(name, other), share)
        if never is None:
            open_pairs.add(frozenset((name, other)))
            continue
        yield number, _verdict(ExchangedRoles(name, other, images, never))
        if other in left:
            inverse = {image: one for one, image in images.items()}
            yield left.pop(other), _verdict(ExchangedRoles(other, name, inverse, never))


def _verdict(certificate: ExchangedRoles) -> Verdict:
    reason = f"{certificate.role} and {certificate.other} could exchange roles, but they never win together"
    return Verdict("refuted", ExchangedRoles.kind, reason, certificate=certificate)


def _never_together(game: StateMachine, one: str, two: str, budget: Budget) -> Certificate | None:
    """Return a certificate that the first of two roles does not win the game with joint wins; or None."""
    together = joint_win(game, one, two)
    together.network_within(budget.left)
    role = game.role_index(one)
    return None if wins_at_random(together.expander, role) else never_wins(together, role, budget)

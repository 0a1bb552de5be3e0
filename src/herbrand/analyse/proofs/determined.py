"""Strong winnability of determined games: one of two roles can force a win, whichever it is.

Where play always ends, at most one of two roles chooses at a time, and one of them has won at every end, one
of them can force a win (Zermelo 1913): where the one cannot, the other one can prevent it.  These conditions
are questions about plays, so they are answered for games that are far too large to search.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from herbrand.analyse.exploration.walks import random_states
from herbrand.analyse.proofs.symbolic import prove
from herbrand.analyse.verdict import Compound, Premise, Verdict, certificate_as_json
from herbrand.convert.settled import settled
from herbrand.errors import GameError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.verdict import Certificate
    from herbrand.engine.expand import Expander
    from herbrand.machine.state_machine import StateMachine

__all__ = ["NEEDED", "DeterminedGame", "proof_of", "prove_determined"]

NEEDED: Final = ("termination", "playability")
"""Properties of a game in which a strategy that never loses wins: play always ends, and no role is stuck."""
_GAMES: Final = 512
"""Random games in which idle moves are found, and faults looked for."""
_LOOKING: Final = 2.0
"""The most seconds for them."""


@dataclass(frozen=True, slots=True)
class DeterminedGame(Compound):
    """A proof that one of two roles can force a win, without saying which."""

    idle: Mapping[str, str]
    """The move that each role makes while the other one chooses."""
    termination: Certificate
    playability: Certificate
    ends: Certificate
    """That roles have one goal value at each end of the game where it is settled (`convert.settled`)."""

    kind = "determined game"

    def as_json(self) -> dict[str, Any]:
        """Return the idle moves, and the three certificates."""
        parts = {name: certificate_as_json(getattr(self, name)) for name in (*NEEDED, "ends")}
        return {"idle": dict(self.idle), **parts}

    def premises(self, game: StateMachine) -> Iterator[Premise]:
        """Yield the three certificates."""
        if game.has_percepts:
            raise GameError("a game with percepts need not be determined")
        for name in NEEDED:
            yield Premise(game, getattr(self, name), folder=name)
        yield Premise(settled(game, self.idle), self.ends, "settled.kif", "ends")


def prove_determined(
    game: StateMachine, budget: Budget, known: Mapping[str, Verdict] | None = None
) -> Verdict | None:
    """Return the verdict that one of two roles can force 100; None if that is not shown.

    Of the properties `NEEDED`, those that are not among the `known` verdicts are proved, too.  Raises
    `BudgetExceeded`, and `MissingExtra` where no SAT solver is installed.
    """
    if len(game.roles) != 2 or len(game.players) != 2 or game.has_percepts:
        return None
    began = time.monotonic()
    idle = _idle_moves(game.expander)
    if idle is None:
        return None
    other = settled(game, idle)
    other.network_within(budget.left)
    known = known or {}
    unknown = [name for name in NEEDED if name not in known]
    ends = prove(other, ["goals"], budget.share(1 / (1 + len(unknown))), only_proofs=True)["goals"]
    if ends.answer != "proved" or ends.certificate is None:
        return None
    needed = []
    for place, name in enumerate(NEEDED):
        certificate = proof_of(game, name, budget.share(1 / max(1, len(unknown) - place)), known)
        if certificate is None:
            return None
        needed.append(certificate)
    termination, playability = needed
    one, two = game.roles
    reason = f"{one} or {two} wins at each end, and they take turns, so that one of them can force it"
    determined = DeterminedGame(idle, termination, playability, ends.certificate)
    seconds = time.monotonic() - began
    return Verdict("proved", DeterminedGame.kind, reason, certificate=determined, seconds=seconds)


def proof_of(
    game: StateMachine, name: str, budget: Budget, known: Mapping[str, Verdict] | None = None
) -> Certificate | None:
    """Return the certificate that a game has a property, by its `known` verdict or a new proof; or None."""
    verdict = (known or {}).get(name)
    if verdict is None or not verdict.is_known:
        verdict = prove(game, [name], budget, only_proofs=True)[name]
    return verdict.certificate if verdict.answer == "proved" else None


def _idle_moves(expander: Expander) -> dict[str, str] | None:
    """Return the move that each of two roles makes while the other one chooses, by some random games.

    None if both choose at a time, or neither has 100 at an end.
    """
    waiting = (Counter[int](), Counter[int]())
    only = (Counter[int](), Counter[int]())
    games = random_states(expander, _GAMES, time.monotonic() + _LOOKING)
    for bits in chain([expander.bits(expander.initial)], games):
        states = expander.pack_bits(bits)
        goals = expander.goals(states[expander.terminal(states)])
        legal = expander.legal(states)
        masks = [legal.mask(role)[legal.going] for role in range(2)]
        chooses = [mask.sum(axis=1) > 1 for mask in masks]
        if not (goals == 100).any(axis=1).all() or (chooses[0] & chooses[1]).any():
            return None
        for role in range(2):
            waiting[role].update(masks[role][chooses[1 - role]].argmax(axis=1).tolist())
            only[role].update(masks[role][~chooses[role]].argmax(axis=1).tolist())
    idle = {}
    for role, name in enumerate(expander.roles):
        moves = waiting[role] or only[role]  # any move will do for a role that always chooses
        idle[name] = expander.moves[role][max(moves, key=moves.__getitem__, default=0)]
    return idle

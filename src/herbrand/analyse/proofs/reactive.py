"""Strong winnability proved by reactions: a role that always makes some moves when some fluents are true.

Such as catching what falls: whatever chance and the others do, of which there may be far too much to list.
Reactions are read off the rules, from conditions about a move and a fluent.  They force a win if in the game
restricted to them (`convert.restrict`) every play ends, no role is ever stuck, and the role has won at every
end: a question about plays, as whether somebody can win at all.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from herbrand.analyse.invariants.plain import Exhausted
from herbrand.analyse.proofs.determined import proof_of
from herbrand.analyse.proofs.restricted import preferences_as_json
from herbrand.analyse.proofs.unwinnable import never_wins
from herbrand.analyse.verdict import Compound, Premise, Verdict, certificate_as_json
from herbrand.convert.missed_win import missed_win
from herbrand.convert.restrict import Preference, restrict
from herbrand.errors import GameError
from herbrand.syntax.ground import match
from herbrand.syntax.nodes import Atom

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.verdict import Certificate
    from herbrand.machine.state_machine import StateMachine
    from herbrand.syntax.ground import Ground
    from herbrand.syntax.nodes import Term

    _Named: TypeAlias = Sequence[tuple[str, tuple[Ground, ...]]]
    """Names, with the values of the arguments of a condition."""

__all__ = ["ReactivePlay", "prove_by_reactions"]

_GAMES: Final = 64
"""Random games in which reactions are tried."""
_LONGEST: Final = 2000
"""Steps after which these are cut off, and count as not won."""
_TRIALS: Final = 12
"""Sets of reactions that are tried for each role, at most."""
_TRYING: Final = 0.2
"""Share of the time for that."""
_MOST_PAIRS: Final = 200_000
"""Moves times fluents that a condition is compared with, at most."""
_MOST_REACTIONS: Final = 2_000


@dataclass(frozen=True, slots=True)
class ReactivePlay(Compound):
    """A proof that a role wins every play in which it makes preferred moves where these are legal."""

    role: str
    preferences: tuple[Preference, ...]
    termination: Certificate | None
    """None if `certificate` bounds the length of plays."""
    playability: Certificate
    certificate: Certificate
    """That the role never misses its win in the restricted game (`convert.missed_win`)."""

    kind = "reactive play"

    def as_json(self) -> dict[str, Any]:
        """Return the moves as `RestrictedPlay` does, and the certificates."""
        parts = {name: certificate_as_json(part) for name, part in self._parts().items()}
        parts["certificate"] = certificate_as_json(self.certificate)
        return {"role": self.role, **preferences_as_json(self.preferences), **parts}

    def premises(self, game: StateMachine) -> Iterator[Premise]:
        """Yield the certificates."""
        if game.has_percepts:
            raise GameError("a role need not see what it would have to react to")
        if any(one.role != self.role for one in self.preferences):
            raise GameError(f"others than {self.role} are restricted, too")
        if self.termination is None and not isinstance(self.certificate, Exhausted):
            raise GameError("play need not end")
        for name, part in self._parts().items():
            yield Premise(game, part, folder=name)
        missed = missed_win(restrict(game, self.preferences), self.role)
        yield Premise(missed, self.certificate, "missed.kif", "missed")

    def _parts(self) -> dict[str, Certificate]:
        """Return the certificates about the game itself, by property."""
        parts = {"termination": self.termination, "playability": self.playability}
        return {name: part for name, part in parts.items() if part is not None}


def prove_by_reactions(
    game: StateMachine, roles: Sequence[int], budget: Budget, known: Mapping[str, Verdict] | None = None
) -> Iterator[tuple[int, Verdict]]:
    """Yield the first of some roles, by number, that forces 100 by reactions, with the verdict that says so.

    Termination and playability are proved, too, unless they are among the `known` verdicts.  Raises
    `BudgetExceeded`, and `MissingExtra` where no SAT solver is installed.
    """
    if game.has_percepts:
        return
    began = time.monotonic()
    for place, role in enumerate(roles):
        name = game.roles[role]
        deadline = time.monotonic() + _TRYING * budget.left / (len(roles) - place)
        reactions = _winning_reactions(game, role, deadline)
        if reactions is None:
            continue
        missed = missed_win(restrict(game, reactions), name)
        shown = never_wins(missed, role, budget.share(0.6))
        if shown is None:
            continue
        playability = proof_of(game, "playability", budget.share(0.5), known)
        ends = isinstance(shown, Exhausted)
        termination = None if ends else proof_of(game, "termination", budget.share(1.0), known)
        if playability is None or (termination is None and not ends):
            return
        certificate = ReactivePlay(name, reactions, termination, playability, shown)
        seconds = time.monotonic() - began
        reason = f"{name} wins by {_in_words(reactions)}"
        yield role, Verdict("proved", ReactivePlay.kind, reason, certificate=certificate, seconds=seconds)
        return


def _winning_reactions(game: StateMachine, role: int, deadline: float) -> tuple[Preference, ...] | None:
    """Return reactions with which a role wins all of some random games, made by a greedy search."""
    ways = _reactions(game, role)
    if not ways or time.monotonic() > deadline:
        return None
    scores = {}
    for number, way in enumerate(ways[:_TRIALS]):
        scores[number] = _score(game, role, way, deadline)
        if scores[number] == 100:
            return way
    best, *others = sorted(scores, key=scores.__getitem__, reverse=True)
    chosen, score = ways[best], scores[best]
    for number in others[: _TRIALS - len(scores)]:
        together = (*chosen, *(one for one in ways[number] if one not in chosen))
        reached = _score(game, role, together, deadline)
        if reached > score:
            chosen, score = together, reached
        if score == 100:
            return chosen
    return None


def _score(game: StateMachine, role: int, preferences: tuple[Preference, ...], deadline: float) -> float:
    """Return the average goal value of a role in random games with these preferences, 0 where it is late."""
    left = deadline - time.monotonic()
    if left <= 0:
        return 0.0
    restricted = restrict(game, preferences)
    restricted.network_within(left)
    expander = restricted.expander
    played = expander.rollouts(np.repeat(expander.initial, _GAMES, axis=0), seed=1, max_steps=_LONGEST)
    goals = np.where(played.truncated, 0, np.maximum(played.goals[:, role], 0))
    return float(goals.mean())


def _reactions(game: StateMachine, role: int) -> list[tuple[Preference, ...]]:
    """Return sets of reactions: pairs of a move and a fluent in conditions of the same relation."""
    network, name = game.network, game.rules.roles[role].name
    value_of, text = network.terms.value_of, network.terms.text
    own = network.moves[network.moves[:, 0] == role, 1].tolist()
    moves = [(text(move), (name, value_of(move))) for move in own]
    fluents = [(text(fluent), (value_of(fluent),)) for fluent in network.fluents.tolist()]
    pairs: dict[Any, dict[tuple[str, str], None]] = defaultdict(dict)
    for rule in game.rules.normal.rules:
        conditions = [one for one in rule.body if isinstance(one, Atom)]
        does = [one.args for one in conditions if one.key == ("does", 2)]
        if len(does) != 1:
            continue
        argument = rule.head.args[0].name if rule.head.args else ""
        for condition in conditions:
            if condition.key == ("true", 1):
                found = _instances(does[0], moves, condition.args, fluents)
                pairs[rule.head.key, argument].update(dict.fromkeys(found))
    ways = [
        tuple(Preference(game.roles[role], move, when) for move, when in found)
        for found in pairs.values()
        if 0 < len(found) <= _MOST_REACTIONS
    ]
    return list(dict.fromkeys(ways))


def _instances(
    does: tuple[Term, ...], moves: _Named, condition: tuple[Term, ...], fluents: _Named
) -> Iterator[tuple[str, str]]:
    """Yield the names of moves and fluents that match two conditions of a rule at the same time."""
    fitting = [(fluent, values) for fluent, values in fluents if match(condition, values, {}) is not None]
    if len(fitting) * len(moves) > _MOST_PAIRS:
        return
    for move, values in moves:
        binding = match(does, values, {})
        if binding is not None:
            for fluent, state in fitting:
                if match(condition, state, binding) is not None:
                    yield move, fluent


def _in_words(preferences: tuple[Preference, ...]) -> str:
    """Return some reactions for readers."""
    first = ", ".join(f"{one.move} if {one.when}" for one in preferences[:3])
    return first if len(preferences) <= 3 else f"{first} and {len(preferences) - 3} more reactions"

"""`solve`: what a game is worth to each player, exactly where that can be had."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from herbrand.analyse.knowledge.induction import backward_values
from herbrand.analyse.knowledge.plans import best_reply, regret
from herbrand.analyse.knowledge.unfolding import unfold
from herbrand.errors import BudgetExceeded, GameError, MissingExtra
from herbrand.runtime.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.analyse.knowledge.plans import Plan
    from herbrand.analyse.knowledge.unfolding import Unfolding
    from herbrand.machine.state_machine import StateMachine

__all__ = ["METHODS", "GameValue", "solve"]

METHODS = ("auto", "backward induction", "sequence form", "cfr", "cfr+")
"""What `method=` may be."""
_CLOSE = Fraction(1, 10**6)
_SHOWN_PLANS = 40
"""A notebook shows plans for at most so many information sets."""
MOST_NODES = 200_000
"""States, or states with histories, that are looked at."""


@dataclass(frozen=True, slots=True)
class GameValue:
    """What is known about the value of a game."""

    game: str
    method: str
    """How it was found: one of `METHODS`, "best reply" for one player, or "none"."""
    value: dict[str, Fraction] | None
    """What each player gets on average under best play; None where that is not known exactly."""
    bounds: dict[str, tuple[Fraction, Fraction]] | None = None
    """Between which numbers the value of each player lies, where that is known."""
    reason: str = ""
    """Why there is no value, or what the value rests on; empty when nothing is to be said."""
    strategies: dict[str, dict[str, dict[str, Fraction]]] = field(default_factory=dict)
    """Role, information set, move: the chance of the move; empty for games of perfect information."""
    regret: Fraction | None = None
    """What all players together could gain by each replying best to `strategies`; 0 in equilibrium."""
    sizes: dict[str, int] = field(default_factory=dict)
    """How large the game is: "states", or "nodes", "leaves" and "information_sets"."""

    @property
    def solved(self) -> bool:
        """Whether the exact value is known."""
        return self.value is not None

    @property
    def estimate(self) -> dict[str, float] | None:
        """The value as floating-point numbers: exact, or within a millionth of a point; else None."""
        if self.value is not None:
            return {role: float(value) for role, value in self.value.items()}
        if self.bounds is None or any(high - low > _CLOSE for low, high in self.bounds.values()):
            return None
        return {role: float((low + high) / 2) for role, (low, high) in self.bounds.items()}

    @property
    def exploitability(self) -> Fraction | None:
        """`regret` for each player on average, as it is mostly given in the literature."""
        return None if self.regret is None else self.regret / max(len(self.strategies), 1)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the value, and the plans of a small game."""
        from herbrand.runtime.notebook import block, table

        rows = [(role, str(value)) for role, value in (self.value or {}).items()]
        rows += [
            (role, f"{low} to {high}") for role, (low, high) in ({} if rows else self.bounds or {}).items()
        ]
        plans = [
            (role, seen, ", ".join(f"{move}: {chance}" for move, chance in choice.items()))
            for role, sets in self.strategies.items()
            for seen, choice in sets.items()
        ]
        return block(
            self.game,
            table(rows, ("role", "value"), numbers=(1,)) if rows else "",
            table(plans, ("role", "has seen", "plays")) if 0 < len(plans) <= _SHOWN_PLANS else "",
            self.reason,
            note=f"method: {self.method}",
        )

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON-ready data: numbers, and the value as fractions in "exact" if it is."""
        return {
            "game": self.game,
            "method": self.method,
            "value": self.estimate if self.value is None else {r: _number(v) for r, v in self.value.items()},
            "exact": None if self.value is None else {r: str(v) for r, v in self.value.items()},
            "bounds": None
            if self.bounds is None
            else {r: [float(low), float(high)] for r, (low, high) in self.bounds.items()},
            "reason": self.reason,
            "exploitability": None if self.exploitability is None else float(self.exploitability),
            "sizes": self.sizes,
            "strategies": {
                role: {
                    told: {move: float(p) for move, p in chances.items()} for told, chances in sets.items()
                }
                for role, sets in self.strategies.items()
            },
        }

    def __str__(self) -> str:
        sizes = ", ".join(f"{number} {what.replace('_', ' ')}" for what, number in self.sizes.items())
        lines = [f"{self.game}: {self.method}" + (f", {sizes}" if sizes else "")]
        if self.value is not None:
            lines += [f"  {role} {value} ({float(value):.6g})" for role, value in self.value.items()]
        elif self.bounds is not None:
            lines += [f"  {r} from {float(a):.6g} to {float(b):.6g}" for r, (a, b) in self.bounds.items()]
        if self.reason:
            lines.append(f"  {self.reason}")
        return "\n".join(lines)


def solve(
    game: StateMachine,
    *,
    method: str = "auto",
    engine: str = "auto",
    nodes: int = MOST_NODES,
    rounds: int = 1000,
    limits: Limits = DEFAULT,
) -> GameValue:
    """Return what a game is worth to each player under best play.

    With "auto", games of perfect information are solved by backward induction, games for one player by its
    best reply to chance, and other games of two players with a constant sum by the sequence form.
    For all else, and when a budget ends, there is no value, and `GameValue.reason` says why.  Where the
    sequence form needs scipy and it is not there, "cfr+" gives bounds instead.
    "cfr" and "cfr+" play `rounds` rounds of regret minimisation: the value is then known between bounds,
    provided that there are two players with a constant sum.

        >>> import herbrand
        >>> print(solve(herbrand.load("montyHall")).value)
        {'candidate': Fraction(200, 3)}

    Raises `GameError` for a game that cannot be played, `MissingExtra` where "sequence form" was
    asked for, needs scipy, and it is not there, `ValueError` for an unknown method.
    """
    if method not in METHODS:
        raise ValueError(f"no method {method!r} (methods: {', '.join(METHODS)})")
    if game.rules.errors:
        game.require_playable()
    try:
        if method == "backward induction" or (method == "auto" and not game.has_percepts):
            found, states = backward_values(game, engine=engine, states=nodes, limits=limits)
            value = dict(zip(game.players, found, strict=True))
            return GameValue(game.name, "backward induction", value, _tight(value), sizes={"states": states})
        tree = unfold(game, engine=engine, nodes=nodes, limits=limits)
    except (BudgetExceeded, GameError) as error:
        if isinstance(error, MissingExtra):
            raise
        return GameValue(game.name, "none", None, reason=str(error))
    if method in ("cfr", "cfr+"):
        return _by_regrets(tree, rounds=rounds, plus=method == "cfr+", limits=limits)
    if len(tree.players) == 1:
        best, plan = best_reply(tree, 0, [[]])
        value = {tree.players[0].role: best}
        return _solution(tree, "best reply", value, _tight(value), [plan])
    if len(tree.players) != 2 or tree.constant_sum is None:
        why = "more than two play" if len(tree.players) > 2 else "the goals have no constant sum"
        return GameValue(
            game.name,
            "none",
            None,
            reason=f"hidden information, and {why}: no single value",
            sizes=_sizes(tree),
        )
    from herbrand.analyse.knowledge.sequence_form import equilibrium

    try:
        low, high, plans = equilibrium(tree)
    except MissingExtra as error:
        if method != "auto":
            raise
        near = _by_regrets(tree, rounds=rounds, plus=True, limits=limits)
        return replace(near, reason=f"{near.reason}; {error}") if near.value is None else near
    return _between(tree, "sequence form", low, high, plans)


def _by_regrets(tree: Unfolding, *, rounds: int, plus: bool, limits: Limits) -> GameValue:
    from herbrand.analyse.knowledge.regrets import minimise_regret
    from herbrand.analyse.knowledge.sequence_form import proved_bounds, rounded

    floats, played = minimise_regret(tree, rounds=rounds, plus=plus, limits=limits)
    plans = [rounded(player, plan, 10**6) for player, plan in zip(tree.players, floats, strict=True)]
    method = "cfr+" if plus else "cfr"
    if len(tree.players) == 2 and tree.constant_sum is not None:
        found = _between(tree, method, *proved_bounds(tree, plans), plans)
    else:
        found = _solution(
            tree, method, None, None, plans, "with these players regret minimisation promises no equilibrium"
        )
    found.sizes["rounds"] = played
    return found


def _between(tree: Unfolding, method: str, low: Fraction, high: Fraction, plans: Sequence[Plan]) -> GameValue:
    total = tree.constant_sum
    assert total is not None
    first, second = (player.role for player in tree.players)
    bounds = {first: (low, high), second: (total - high, total - low)}
    value = {first: low, second: total - low} if low == high else None
    reason = "" if value else f"known within {float(high - low):.3g} points"
    return _solution(tree, method, value, bounds, plans, reason)


def _solution(
    tree: Unfolding,
    method: str,
    value: dict[str, Fraction] | None,
    bounds: dict[str, tuple[Fraction, Fraction]] | None,
    plans: Sequence[Plan],
    reason: str = "",
) -> GameValue:
    return GameValue(
        tree.game, method, value, bounds, reason, _strategies(tree, plans), regret(tree, plans), _sizes(tree)
    )


def _strategies(tree: Unfolding, plans: Sequence[Plan]) -> dict[str, dict[str, dict[str, Fraction]]]:
    """Return the choices of the plans; where a plan never comes nothing is said."""
    found: dict[str, dict[str, dict[str, Fraction]]] = {}
    for player, plan in zip(tree.players, plans, strict=True):
        sets = found[player.role] = {}
        for one in player.sets:
            before = plan[one.parent]
            if before:
                sets[str(one)] = {move: plan[one.first + i] / before for i, move in enumerate(one.moves)}
    return found


def _sizes(tree: Unfolding) -> dict[str, int]:
    return {
        "nodes": tree.nodes,
        "leaves": len(tree.leaves),
        "information_sets": sum(len(player.sets) for player in tree.players),
    }


def _tight(value: dict[str, Fraction]) -> dict[str, tuple[Fraction, Fraction]]:
    return {role: (one, one) for role, one in value.items()}


def _number(value: Fraction) -> float | int:
    return value.numerator if value.denominator == 1 else float(value)

"""`solve`: the value of a game for each player, exact where possible."""

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

METHODS = ("auto", "backward induction", "sequence form", "cfr", "cfr+", "exchange of players")
"""The values of `method`."""
_CLOSE = Fraction(1, 10**6)
_SHOWN_PLANS = 40
"""The most information sets whose plans a notebook shows."""
MOST_NODES = 200_000
"""The most states, or states with histories, that are evaluated."""


@dataclass(frozen=True, slots=True)
class GameValue:
    """The value of a game, exact or between bounds."""

    game: str
    method: str
    """One of `METHODS`, "best reply" for one player, or "none"."""
    value: dict[str, Fraction] | None
    """The expected payoff of each player under best play; None where it is not known exactly."""
    bounds: dict[str, tuple[Fraction, Fraction]] | None = None
    """A lower and an upper bound on the value of each player, where known."""
    reason: str = ""
    """Why there is no value, or a caveat; may be empty."""
    strategies: dict[str, dict[str, dict[str, Fraction]]] = field(default_factory=dict)
    """The probability of a move by role, information set and move; empty with perfect information."""
    regret: Fraction | None = None
    """The sum of the players' gains by best replies to `strategies`; 0 in equilibrium."""
    sizes: dict[str, int] = field(default_factory=dict)
    """The size of the game: "states", or "nodes", "leaves" and "information_sets"."""

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
        """`regret` divided by the number of players, as usual in the literature."""
        return None if self.regret is None else self.regret / max(len(self.strategies), 1)

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the value, and the plans of a small game."""
        from herbrand.runtime.notebook import block, table

        rows = [(role, str(value)) for role, value in (self.value or {}).items()]
        rows += [
            (role, f"{low} to {high}") for role, (low, high) in ({} if rows else self.bounds or {}).items()
        ]
        plans = [
            (role, history, ", ".join(f"{move}: {chance}" for move, chance in choice.items()))
            for role, sets in self.strategies.items()
            for history, choice in sets.items()
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
                    history: {move: float(p) for move, p in chances.items()}
                    for history, chances in sets.items()
                }
                for role, sets in self.strategies.items()
            },
        }

    def __str__(self) -> str:
        sizes = ", ".join(f"{number} {unit.replace('_', ' ')}" for unit, number in self.sizes.items())
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
    """Return the value of a game for each player under best play.

    With "auto", games of perfect information are solved by backward induction, games of one player by its
    best reply to chance, and other games of two players with a constant sum by the sequence form.  Games that
    are too large have a value if a symmetry of their rules exchanges the players ("exchange of players").
    In all other cases, and when a budget ends, there is no value, and `GameValue.reason` says why.  Where the
    sequence form needs scipy and it is not installed, "cfr+" gives bounds instead.
    "cfr" and "cfr+" run `rounds` rounds of regret minimisation, which give bounds on the value of games of
    two players with a constant sum.

        >>> import herbrand
        >>> print(solve(herbrand.load("montyHall")).value)
        {'candidate': Fraction(200, 3)}

    Raises `GameError` for a game that cannot be played, `MissingExtra` where the method "sequence form"
    needs scipy and it is not installed, `ValueError` for an unknown method.
    """
    if method not in METHODS:
        raise ValueError(f"no method {method!r} (methods: {', '.join(METHODS)})")
    if game.rules.errors:
        game.require_playable()
    if method == "exchange of players":
        return _by_exchange(game, limits) or GameValue(
            game.name, "none", None, reason="no symmetry was proved that exchanges two players"
        )
    try:
        if method == "backward induction" or (method == "auto" and not game.has_percepts):
            values, states = backward_values(game, engine=engine, states=nodes, limits=limits)
            value = dict(zip(game.players, values, strict=True))
            return GameValue(game.name, "backward induction", value, _tight(value), sizes={"states": states})
        share = 0.6 if method == "auto" and len(game.players) == 2 else 1.0  # the rest is for an exchange
        shared = replace(limits, seconds=share * limits.seconds)
        tree = unfold(game, engine=engine, nodes=nodes, limits=shared)
    except (BudgetExceeded, GameError) as error:
        if isinstance(error, MissingExtra):
            raise
        may_exchange = method == "auto" and isinstance(error, BudgetExceeded)
        exchanged = _by_exchange(game, limits) if may_exchange else None
        return exchanged or GameValue(game.name, "none", None, reason=str(error))
    if method in ("cfr", "cfr+"):
        return _by_regrets(tree, rounds=rounds, plus=method == "cfr+", limits=limits)
    if len(tree.players) == 1:
        best, plan = best_reply(tree, 0, [[]])
        value = {tree.players[0].role: best}
        return _solution(tree, "best reply", value, _tight(value), [plan])
    if len(tree.players) != 2 or tree.constant_sum is None:
        why = "more than two play" if len(tree.players) > 2 else "the goals have no constant sum"
        reason = f"hidden information, and {why}: no single value"
        return GameValue(game.name, "none", None, reason=reason, sizes=_sizes(tree))
    from herbrand.analyse.knowledge.sequence_form import equilibrium

    try:
        low, high, plans = equilibrium(tree)
    except MissingExtra as error:
        if method != "auto":
            raise
        approximate = _by_regrets(tree, rounds=rounds, plus=True, limits=limits)
        if approximate.value is not None:
            return approximate
        return replace(approximate, reason=f"{approximate.reason}; {error}")
    return _between(tree, "sequence form", low, high, plans)


def _by_exchange(game: StateMachine, limits: Limits) -> GameValue | None:
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.knowledge.exchange import value_by_exchange

    value = value_by_exchange(game, budget=Budget(limits.seconds))
    if value is None:
        return None
    reason = "a symmetry of the rules exchanges the players, and their goals have a constant sum"
    return GameValue(game.name, "exchange of players", value, _tight(value), reason)


def _by_regrets(tree: Unfolding, *, rounds: int, plus: bool, limits: Limits) -> GameValue:
    from herbrand.analyse.knowledge.regrets import minimise_regret
    from herbrand.analyse.knowledge.sequence_form import proved_bounds, rounded

    floats, done = minimise_regret(tree, rounds=rounds, plus=plus, limits=limits)
    plans = [rounded(player, plan, 10**6) for player, plan in zip(tree.players, floats, strict=True)]
    method = "cfr+" if plus else "cfr"
    if len(tree.players) == 2 and tree.constant_sum is not None:
        result = _between(tree, method, *proved_bounds(tree, plans), plans)
    else:
        reason = "regret minimisation guarantees an equilibrium only for two players with a constant sum"
        result = _solution(tree, method, None, None, plans, reason)
    result.sizes["rounds"] = done
    return result


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
    """Return the choices of the plans, without information sets that a plan never reaches."""
    strategies: dict[str, dict[str, dict[str, Fraction]]] = {}
    for player, plan in zip(tree.players, plans, strict=True):
        sets = strategies[player.role] = {}
        for information_set in player.sets:
            before = plan[information_set.parent]
            if before:
                sets[str(information_set)] = {
                    move: plan[information_set.first + i] / before
                    for i, move in enumerate(information_set.moves)
                }
    return strategies


def _sizes(tree: Unfolding) -> dict[str, int]:
    return {
        "nodes": tree.nodes,
        "leaves": len(tree.leaves),
        "information_sets": sum(len(player.sets) for player in tree.players),
    }


def _tight(value: dict[str, Fraction]) -> dict[str, tuple[Fraction, Fraction]]:
    return {role: (exact, exact) for role, exact in value.items()}


def _number(value: Fraction) -> float | int:
    return value.numerator if value.denominator == 1 else float(value)

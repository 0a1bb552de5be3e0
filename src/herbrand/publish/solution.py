"""The results of `herbrand solve` as data for a page: the value of every state, or the moves of strategies.

A strategy has the moves of one side, in the states to which it leads.  Where all states of the game can be
listed, their values are published instead: they are smaller than they sound, since sorted states differ
little from each other, and they tell the best moves and their worth in any position.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.solving.solve import GraphSolver
from herbrand.analyse.solving.strategy import check_strategy
from herbrand.errors import GameError, HerbrandError
from herbrand.publish.tables import byte_planes, deflated, tables_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from herbrand.analyse.solving.strategy import CheckedClaim, ReplayedChoice, Strategy
    from herbrand.game import Game

__all__ = ["MOST_BYTES", "PublishedSolution", "published_solution"]

MOST_BYTES: Final = 3_000_000
"""The size of a solution in a page, at most."""
LISTING: Final = (20.0, 1_000_000, 1000.0)
"""Seconds, states and megabytes for the attempt to list all states."""
REPLAYING: Final = 120.0
"""Seconds for replaying a strategy against every reply, if the caller gives no others."""


@dataclass(frozen=True)
class PublishedSolution:
    """A solution of one game, which was checked."""

    claims: tuple[CheckedClaim, ...]
    """The claims that the strategies prove; all were accepted."""
    bounds: dict[str, tuple[int, int]]
    """For each role, the goal values between which its value is proved to lie."""
    states: int
    """The states that it knows."""
    is_complete: bool
    """Whether it knows the values of all states that are not terminal, rather than moves of strategies."""
    packed: str = field(repr=False)
    """The data for `Solution` of `templates/solution.ts.in`, deflated, in base64."""


def published_solution(game: Game, strategy: Strategy, *, seconds: float = REPLAYING) -> PublishedSolution:
    """Check the strategies that `herbrand solve -o` wrote, and prepare them for a page of the game.

    They are replayed against every reply by the rules alone, for at most `seconds`.  Raises `GameError` for
    other rules, a strategy that is refused, or a solution that is too large for a page, and `BudgetExceeded`.
    """
    choices: list[list[ReplayedChoice]] = [[] for _ in strategy.claims]
    claims = check_strategy(
        game, strategy, seconds=seconds, visit=lambda choice: choices[choice.claim].append(choice)
    )
    for one in claims:
        if not one.accepted:
            raise GameError(f"the strategy is refused: {one.claim} is not proved, since {one.reason}")
    bounds = _bounds(game, claims)
    listed = _all_values(game)
    if listed is not None:
        value, packed, states = listed
        for role, goal in value.items():
            if not bounds[role][0] <= goal <= bounds[role][1]:
                raise HerbrandError(f"the value of {role} by listing all states contradicts the strategy")
        if len(packed) <= MOST_BYTES:
            exact = {role: (goal, goal) for role, goal in value.items()}
            return PublishedSolution(tuple(claims), exact, states, is_complete=True, packed=packed)
    return _by_strategies(game, claims, choices, bounds)


def _bounds(game: Game, claims: Iterable[CheckedClaim]) -> dict[str, tuple[int, int]]:
    """Return the least and the greatest goal value that each role can have by the claims."""
    bounds = {}
    goals = tables_of(game)["goals"]
    for number, role in enumerate(game.roles):
        goal_values = sorted(value for owner, value in goals if owner == number and value is not None)
        about = [one.claim for one in claims if one.claim.role.lower() == role.lower()]
        least = max((claim.goal for claim in about if claim.holds), default=0)
        above = min((claim.goal for claim in about if not claim.holds), default=101)
        possible = [value for value in goal_values if least <= value < above]
        bounds[role] = (possible[0], possible[-1]) if possible else (0, 100)
    return bounds


def _by_strategies(
    game: Game,
    claims: list[CheckedClaim],
    choices: list[list[ReplayedChoice]],
    bounds: dict[str, tuple[int, int]],
) -> PublishedSolution:
    network = game.network
    text = network.terms.text
    fluents = {text(fluent).lower(): place for place, fluent in enumerate(network.fluents.tolist())}
    moves = {
        (text(network.roles[role]).lower(), text(move).lower()): number
        for number, (role, move) in enumerate(network.moves.tolist())
    }
    arrays: list[NDArray[Any]] = []
    for some in choices:
        bits = np.zeros((len(some), len(fluents)), np.bool_)
        for row, choice in enumerate(some):
            bits[row, [fluents[fact.lower()] for fact in choice.facts if fact.lower() in fluents]] = True
        numbers = [moves[choice.role.lower(), choice.move.lower()] for choice in some]
        arrays += _table(bits, np.array(numbers, np.int64))
    named = {role.lower(): role for role in game.roles}
    about = {
        "claims": [
            {
                "role": named[one.claim.role.lower()],
                "goal": one.claim.goal,
                "holds": one.claim.holds,
                "states": len(some),
            }
            for one, some in zip(claims, choices, strict=True)
        ],
        "states": 0,
        "values": [],
    }
    packed = _pack(about, arrays)
    if len(packed) > MOST_BYTES:
        raise GameError(
            f"the solution takes {len(packed) / 1e6:.1f} MB, and a page may have one of at most "
            f"{MOST_BYTES / 1e6:g} MB; `herbrand play --opponent \"solved(file='FILE')\"` uses larger ones"
        )
    states = sum(map(len, choices))
    return PublishedSolution(tuple(claims), bounds, states, is_complete=False, packed=packed)


def _all_values(game: Game) -> tuple[dict[str, int], str, int] | None:
    """Return the values in the initial state, and the packed values of all states with their number.

    None if there are too many states, or plays can repeat one: a move that keeps a value need not get nearer
    to the end then.
    """
    budget = Budget(*LISTING)
    space = explore(game.expander, budget=budget)
    if not space.complete or not space.acyclic:
        return None
    try:
        solver = GraphSolver(space, budget)
        leaves = solver.leaves()
        solver.induce(leaves, np.full(len(space.states), -1, np.int32), -1)
    except HerbrandError:  # some end has no goal values: the strategies do not reach it
        return None
    values, codes = np.unique(leaves.round().astype(np.int64), axis=0, return_inverse=True)
    inner = ~space.over
    rows = np.ascontiguousarray(space.states[inner].astype("<u8")).view(np.uint8)
    bits = np.unpackbits(rows, axis=1, count=len(space.expander.fluent_names), bitorder="little")
    about = {"claims": [], "states": int(inner.sum()), "values": values.tolist()}
    packed = _pack(about, _table(bits, codes.ravel()[inner], solver.length[inner]))
    first = dict(zip(game.roles, values[codes.ravel()[0]].tolist(), strict=True))
    return first, packed, about["states"]


def _table(bits: NDArray[Any], *columns: NDArray[Any]) -> list[NDArray[Any]]:
    """Return an array for each byte of a state, the states sorted, and the columns in the same order."""
    rows = np.packbits(bits, axis=1, bitorder="little")
    order = np.lexsort(rows.T[::-1])
    planes = byte_planes(column[order] for column in columns)
    return [*rows[order].T, *(np.frombuffer(plane, np.uint8) for plane in planes)]


def _pack(about: dict[str, Any], arrays: Iterable[NDArray[Any]]) -> str:
    return deflated(about, b"".join(array.tobytes() for array in arrays))

"""Remarks on games with too many states to list, proved by induction.

The candidates are what holds in the states that were explored and in random play; what an invariant of groups
of fluents does not exclude is dropped.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.analyse.proofs.claims import RemarkClaim, find_excluded
from herbrand.analyse.proofs.excluded import sample_of
from herbrand.analyse.proofs.observation import Observation
from herbrand.analyse.proofs.observe import always_true, is_test, never_fires, watched_rules
from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.analyse.proofs.excluded import SampledStates
    from herbrand.machine.state_machine import StateMachine

__all__ = ["inductive_remarks"]

_MOST_ITEMS: Final = 200
"""Fluents or moves of one role, at most, that are tried one by one."""

_ITEMIZED: Final = ("fluent-never-true", "fluent-always-true", "move-never-legal")


def inductive_remarks(game: StateMachine, space: StateSpace, budget: Budget) -> list[Observation]:
    """Return remarks on fluents, moves, choices and rules that hold in all states, without listing them.

    Returns none where the budget does not suffice to prove them.
    """
    try:
        sample = sample_of(space, 0.1 * budget.left)
        _, shown = find_excluded(game, list(_candidates(game, space, sample)), sample, budget)
    except HerbrandError:
        return []
    return list(_remarks(game, space, shown))


def _candidates(game: StateMachine, space: StateSpace, sample: SampledStates) -> Iterator[RemarkClaim]:
    """Yield claims, about one fluent or move each, that no known state refutes."""
    expander = space.expander
    ever, always = (expander.bits(row[None, :])[0] != 0 for row in (space.ever_true, space.always_true))
    seen, always = ever | sample.states.any(axis=0), always & sample.states.all(axis=0)
    for kind, places in (("fluent-never-true", ~seen), ("fluent-always-true", always)):
        some = np.flatnonzero(places).tolist()
        if len(some) <= _MOST_ITEMS:
            yield from (RemarkClaim(kind, {"items": [expander.fluent_names[f]]}) for f in some)
    for r, role in enumerate(expander.roles):
        never = np.flatnonzero(~space.ever_legal[r]).tolist()
        if len(never) <= _MOST_ITEMS:
            moves = [expander.moves[r][m] for m in never]
            yield from (RemarkClaim("move-never-legal", {"role": role, "items": [move]}) for move in moves)
        if not space.branching[r, 1]:
            yield RemarkClaim("role-never-chooses", {"role": role})
    if len(expander.roles) > 1 and not space.choosers[2:].any():
        yield RemarkClaim("turn-taking", {})
    statements = {id(rule): number for number, rule in enumerate(game.tree.statements)}
    for rule in watched_rules(game):
        about = {"rule": statements[id(rule)]}
        yield RemarkClaim("rule-never-fires", about)
        for place, literal in enumerate(rule.body):
            if is_test(rule, literal):
                yield RemarkClaim("condition-always-true", {**about, "condition": place})


def _remarks(game: StateMachine, space: StateSpace, claims: list[RemarkClaim]) -> Iterator[Observation]:
    """Yield remarks, those on single fluents or moves together."""
    idle = {claim.about["rule"] for claim in claims if claim.kind == "rule-never-fires"}
    for (kind, _), some in groupby(claims, key=lambda claim: (claim.kind, claim.about.get("role"))):
        same = list(some)
        if kind in _ITEMIZED:
            items = [item for claim in same for item in claim.about["items"]]
            same = [RemarkClaim(kind, {**same[0].about, "items": items})]
        for claim in same:
            if kind == "rule-never-fires":
                yield never_fires(game, game.tree.statements[claim.about["rule"]])
            elif kind != "condition-always-true":
                choosers = {"choosers": space.choosers.tolist()} if kind == "turn-taking" else {}
                yield Observation(kind, claim.text(game), {**claim.about, **choosers, "by": "induction"})
            elif claim.about["rule"] not in idle:
                rule = game.tree.statements[claim.about["rule"]]
                yield always_true(game, rule, rule.body[claim.about["condition"]])

"""Remarks on how a game behaves: what in its rules never matters, and what always comes out the same.

Only what was looked at completely is remarked on: most remarks need all reachable states.  None of
them is an error; each comes with its evidence.

| kind                   | what it says                                                            |
|------------------------|-------------------------------------------------------------------------|
| `terminal-at-start`    | the game is over before it begins                                       |
| `fluent-never-true`    | possible by the form of the rules, but true in no reachable state       |
| `fluent-always-true`   | true in every reachable state                                           |
| `latched-fluent`       | never false again after it was true                                     |
| `move-never-legal`     | possible by the form of the rules, but legal in no reachable state      |
| `role-never-chooses`   | never has two legal moves                                               |
| `turn-taking`          | how many roles have a choice at once                                    |
| `goal-never-reached`   | a goal value that no terminal state has                                 |
| `constant-sum`         | what one role gains the others lose                                     |
| `rule-never-fires`     | a rule whose body holds in no reachable state, with no joint move       |
| `forced-result`        | with best play the result is certain: a draw, or who wins               |
| `first-move-advantage` | how far ahead the role that moves first is: with best play, in random play  |
| `mobility`             | how many moves a role chooses among, and whether more of them are better |
| `independent-parts`    | fluents and moves that fall into parts without influence on each other  |
| `symmetries`           | exchanges of fluents and moves that leave the rules as they are         |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.budget import Budget
from herbrand.analyse.proofs.observation import Observation
from herbrand.analyse.proofs.tendency import tendencies
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.analyse.solving.solve import Solution
    from herbrand.machine.state_machine import StateMachine
    from herbrand.network.network import Network
    from herbrand.syntax.nodes import Rule

__all__ = ["observe", "rules_that_never_fire"]

_RULE_STATES = 100_000
"""Rules are watched in at most so many states."""
_TRIVIAL = ("role", "base", "input", "init", "sees")


def observe(
    game: StateMachine,
    space: StateSpace | None,
    solution: Solution | None = None,
    *,
    budget: Budget | None = None,
) -> list[Observation]:
    """Return remarks on a game, from its network and, when complete, its states."""
    budget = budget or Budget()
    if space is None:
        return []
    found: list[Observation] = []
    if len(space.over) and space.expanded and space.over[0]:
        found.append(Observation("terminal-at-start", "the game is over before it begins"))
    if space.complete:
        found += _states(space)
        found += _goals(space)
        if solution is not None:
            found += _result(solution)
    found += tendencies(space, solution, budget=budget.share(0.2))
    if space.complete and len(space.states) <= _RULE_STATES and budget.left > 0:
        found += _rules(game, budget)
    found += _parts(game.network)
    if space.complete and len(space.states) <= _RULE_STATES and budget.left > 0:
        found += _symmetries(game, space, budget)
    return found


def _symmetries(game: StateMachine, space: StateSpace, budget: Budget) -> list[Observation]:
    """How the rules can be turned, and how many states are left when turned ones count once."""
    from herbrand.analyse.solving.symmetry import find_symmetries, up_to_symmetry

    try:
        found = find_symmetries(game, budget=budget.share(0.5))
    except BudgetExceeded:
        return []
    if found.order == 1:
        return []
    different = up_to_symmetry(space, found)
    left = "" if different is None else f"; {different} states up to symmetry"
    evidence = {"order": found.order, "states": different, "generators": list(map(dict, found.generators))}
    return [Observation("symmetries", f"the rules have {found.order} symmetries{left}", evidence)]


def _states(space: StateSpace) -> list[Observation]:
    """What fluents and moves do in all states."""
    expander = space.expander
    names = expander.fluent_names
    found = []
    ever = expander.bits(space.ever_true[None, :])[0]
    always = expander.bits(space.always_true[None, :])[0]
    if not ever.all():
        found.append(_some("fluent-never-true", "never true", [names[f] for f in np.flatnonzero(~ever)]))
    if len(space.states) > 1 and always.any():
        found.append(_some("fluent-always-true", "always true", [names[f] for f in np.flatnonzero(always)]))
    latched = _latched(space)
    if latched is not None:
        latched &= ever & ~always
        if latched.any():
            texts = [names[f] for f in np.flatnonzero(latched)]
            found.append(_some("latched-fluent", "never false again once true", texts))
    going = int((~space.over).sum())
    for r, role in enumerate(expander.roles):
        never = np.flatnonzero(~space.ever_legal[r])
        if len(never):
            moves = [expander.moves[r][m] for m in never]
            found.append(_some("move-never-legal", f"never legal for {role}", moves, role=role))
        if going and not space.branching[r, 1]:
            text = f"{role} never has a choice"
            found.append(Observation("role-never-chooses", text, {"role": role}))
    if going and len(expander.roles) > 1:
        most = int(np.flatnonzero(space.choosers)[-1])
        text = (
            "at most one role has a choice at a time"
            if most <= 1
            else f"up to {most} roles choose at once, in {int(space.choosers[2:].sum())} of {going} states"
        )
        found.append(Observation("turn-taking", text, {"choosers": space.choosers.tolist()}))
    return found


def _some(kind: str, what: str, items: Iterable[str], **evidence: Any) -> Observation:
    every = sorted(items)
    shown = ", ".join(every[:5]) + (f" and {len(every) - 5} more" if len(every) > 5 else "")
    return Observation(kind, f"{what}: {shown}", {**evidence, "items": every})


def _latched(space: StateSpace) -> NDArray[np.bool_] | None:
    """Which fluents are in every transition still true if they were true before."""
    if len(space.children) != space.transitions:
        return None
    lost = np.zeros(space.expander.words, np.uint64)
    step = 1 << 16
    for begin in range(0, len(space.states), step):
        end = min(begin + step, len(space.states))
        parents = np.repeat(np.arange(begin, end), np.diff(space.starts[begin : end + 1]))
        children = space.children[space.starts[begin] : space.starts[end]]
        if len(children):
            lost |= np.bitwise_or.reduce(space.states[parents] & ~space.states[children], axis=0)
    kept: NDArray[np.bool_] = ~space.expander.bits(lost[None, :])[0]
    return kept


def _goals(space: StateSpace) -> list[Observation]:
    """Which goal values are never reached, and whether they always have the same sum."""
    from herbrand.engine.playouts import goal_value

    expander, network = space.expander, space.expander.network
    found = []
    ends = space.goals[space.over]
    for r, role in enumerate(expander.roles):
        stated = {
            value
            for owner, term in network.goals.tolist()
            if owner == r and (value := goal_value(network.terms.text(term))) is not None
        }
        missing = sorted(stated - set(ends[:, r].tolist()))
        if missing:
            text = f"{role} never ends with {', '.join(map(str, missing))}"
            found.append(Observation("goal-never-reached", text, {"role": role, "values": missing}))
    players = [r for r, role in enumerate(expander.roles) if role.lower() != "random"]
    mine = ends[:, players].astype(np.int64)
    if len(players) > 1 and len(mine) and (mine >= 0).all():
        sums = mine.sum(axis=1)
        if (sums == sums[0]).all():
            text = f"goal values always add up to {sums[0]}"
            found.append(Observation("constant-sum", text, {"sum": int(sums[0])}))
    return found


def _result(solution: Solution) -> list[Observation]:
    value = solution.value
    if value is None or len(value) < 2:
        return []
    best = max(value.values())
    winners = [role for role, number in value.items() if number == best]
    if len(winners) == len(value):
        text = f"best play ends {best:g} for everybody"
    else:
        text = f"with best play {' and '.join(winners)} is better off"
    return [Observation("forced-result", f"{text}", {"value": dict(value)})]


# -- rules --------------------------------------------------------------------------------------


def _rules(game: StateMachine, budget: Budget) -> list[Observation]:
    from herbrand.errors import HerbrandError

    try:
        never = rules_that_never_fire(game, budget=budget.share(0.5))
    except HerbrandError:
        return []
    found = []
    for rule in never:
        place = game.tree.source.position(rule.span.start)
        text = f"line {place.line}: never fires: {rule}"
        found.append(Observation("rule-never-fires", text, {"line": place.line, "rule": str(rule)}))
    return found


def rules_that_never_fire(game: StateMachine, *, budget: Budget | None = None) -> list[Rule]:
    """Return the rules whose body holds in no reachable state, whatever legal joint move is made.

    The body of each rule becomes something that a role `sees`; then all states are explored with
    their joint moves.  Raises `BudgetExceeded` when that is too much.
    """
    from herbrand.analyse.exploration.explore import explore
    from herbrand.errors import BudgetExceeded
    from herbrand.syntax.nodes import Atom, Constant, Function, Rule

    watched = [rule for rule in game.tree.statements if rule.body and rule.head.name not in _TRIVIAL]
    if not watched or not game.rules.roles:
        return []
    observer = game.rules.roles[0]
    kept = tuple(rule for rule in game.tree.statements if rule.head.key != ("sees", 2))
    extra = tuple(
        Rule(
            Atom("sees", (observer, Function("rule-fires", (Constant(str(i)),)))),
            rule.body,
        )
        for i, rule in enumerate(watched)
    )
    tree = game.tree.with_statements((*kept, *extra))
    copy = type(game)(tree, name=game.name, limits=game.limits)
    expander = copy.expander
    space = explore(expander, budget=budget, edges=False)
    if not space.complete:
        raise BudgetExceeded(space.stopped or "", f"{len(space.states)} states")
    numbers = [int(expander.network.terms.args[term][0]) for term in expander.network.percepts[:, 1].tolist()]
    labels = [int(expander.network.terms.text(number)) for number in numbers]
    fires = np.zeros(len(labels), np.bool_)
    for begin in range(0, len(space.states), 4096):
        states = space.states[begin : begin + 4096]
        for piece in expander.expansions(states):
            if len(piece):
                fires |= expander.percepts(states[piece.parents], piece.moves).any(axis=0)
        over = states[space.over[begin : begin + 4096]]
        if len(over):  # what holds at the end does not depend on moves
            still = np.full((len(over), len(expander.roles)), -1, np.int32)
            fires |= expander.percepts(over, still).any(axis=0)
    fired = {label for label, yes in zip(labels, fires, strict=True) if yes}
    return [rule for i, rule in enumerate(watched) if i not in fired]


# -- factors ------------------------------------------------------------------------------------


def _parts(network: Network) -> list[Observation]:
    """Parts of a game, each with moves, that do not depend on each other."""
    groups = parts(network)
    if len(groups) < 2:
        return []
    text = f"{len(groups)} parts without influence on each other: " + "; ".join(
        f"{len(fluents)} fluents and {len(moves)} moves" for fluents, moves in groups[:6]
    )
    evidence = [{"fluents": fluents, "moves": moves} for fluents, moves in groups]
    return [Observation("independent-parts", text, {"parts": evidence})]


def parts(network: Network) -> list[tuple[list[str], list[str]]]:
    """Return the connected parts that have moves, as fluents and moves.

    Two fluents are connected if one matters for whether the other is true next, or both for whether
    a move is legal; a move is connected with what it changes.  Ends and goals are not looked at.
    """
    first = 1 + len(network.fluents) + len(network.moves)
    leader = np.arange(network.inputs + network.gates)

    def find(node: int) -> int:
        while leader[node] != node:
            leader[node] = leader[leader[node]]
            node = int(leader[node])
        return node

    def join(a: int, b: int) -> None:
        if a > 0 and b > 0:
            leader[find(a)] = find(b)

    from herbrand.network.graph import mark_cone

    wanted = np.concatenate([network.next, network.legal]).astype(np.int32)
    marked = mark_cone(
        network.left, network.right, network.inputs, first, network.feedback, network.loops, wanted
    )
    for gate in np.flatnonzero(marked).tolist():
        node = network.inputs + gate
        join(node, int(network.left[gate]) >> 1)
        join(node, int(network.right[gate]) >> 1)
    for k, source in enumerate(network.feedback.tolist()):
        join(first + k, source >> 1)
    for f, literal in enumerate(network.next.tolist()):
        join(1 + f, literal >> 1)
    for m, literal in enumerate(network.legal.tolist()):
        join(1 + len(network.fluents) + m, literal >> 1)
    text = network.terms.text
    found: dict[int, tuple[list[str], list[str]]] = {}
    for f, term in enumerate(network.fluents.tolist()):
        found.setdefault(find(1 + f), ([], []))[0].append(text(term))
    for m, (_, term) in enumerate(network.moves.tolist()):
        found.setdefault(find(1 + len(network.fluents) + m), ([], []))[1].append(text(term))
    return [(fluents, moves) for fluents, moves in found.values() if fluents and moves]

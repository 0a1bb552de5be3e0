"""Remarks on how a game behaves: rules and moves without effect, forced results, symmetries.

Most remarks need all reachable states.  None of them is an error; each comes with its evidence.

| kind                   | statement                                                               |
|------------------------|-------------------------------------------------------------------------|
| `terminal-at-start`    | the game is over before it begins                                       |
| `fluent-never-true`    | possible by the form of the rules, but true in no reachable state       |
| `fluent-always-true`   | true in every reachable state                                           |
| `latched-fluent`       | stays true once it is true                                              |
| `move-never-legal`     | possible by the form of the rules, but legal in no reachable state      |
| `role-never-chooses`   | never has two legal moves                                               |
| `turn-taking`          | how many roles choose simultaneously                                    |
| `goal-never-reached`   | a goal value that no terminal state has                                 |
| `constant-sum`         | goal values add up to the same number in every terminal state           |
| `shortest-play`, `longest-play` | how long plays are, with the moves of one                      |
| `dead-end`             | states from which no play ends, or no play of one role ends well; the nearest |
| `rule-never-fires`     | a rule whose body holds for no reachable state and joint move           |
| `condition-always-true` | a condition of a rule that holds wherever the others do                |
| `forced-result`        | the result of best play                                                 |
| `first-move-advantage` | the lead of the role that moves first, with best play or in random play |
| `mobility`             | how many moves a role chooses among, and how this correlates with results |
| `independent-parts`    | parts of the game that do not influence each other                      |
| `symmetries`           | permutations of fluents and moves that preserve the rules               |
| `symmetric-roles`      | roles that the rules do not distinguish                                 |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.proofs.excluded import watch
from herbrand.analyse.proofs.observation import Observation
from herbrand.analyse.proofs.plays import dead_ends, lengths
from herbrand.analyse.proofs.tendency import tendencies
from herbrand.analyse.solving.symmetry import find_symmetries, up_to_symmetry
from herbrand.engine.playouts import goal_value
from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.network.graph import mark_cone
from herbrand.syntax.nodes import Atom, Not, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.analyse.solving.solve import Solution
    from herbrand.machine.state_machine import StateMachine
    from herbrand.network.network import Network
    from herbrand.syntax.nodes import Literal, Rule

__all__ = [
    "always_true",
    "contrary",
    "is_test",
    "never_fires",
    "observe",
    "rule_remarks",
    "rules_that_never_fire",
    "state_remarks",
    "watched_rules",
]

_RULE_STATES = 100_000
"""The most states for remarks on rules and symmetries."""
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
    remarks: list[Observation] = []
    if len(space.over) and space.expanded and space.over[0]:
        remarks.append(Observation("terminal-at-start", "the game is over before it begins"))
    if space.complete:
        remarks += state_remarks(space)
        remarks += _goals(space)
        remarks += lengths(space)
        remarks += dead_ends(space)
        if solution is not None:
            remarks += _result(solution)
    remarks += tendencies(space, solution, budget=budget.share(0.2))
    if space.complete and len(space.states) <= _RULE_STATES and budget.left > 0:
        remarks += rule_remarks(game, budget)
    remarks += _parts(game.network)
    remarks += _symmetric_roles(game, budget)
    if space.complete and len(space.states) <= _RULE_STATES and budget.left > 0:
        remarks += _symmetries(game, space, budget)
    return remarks


def _symmetries(game: StateMachine, space: StateSpace, budget: Budget) -> list[Observation]:
    """Report the symmetries of the rules and the number of states up to symmetry."""
    try:
        symmetries = find_symmetries(game, budget=budget.share(0.5))
    except BudgetExceeded:
        return []
    if symmetries.order == 1:
        return []
    different = up_to_symmetry(space, symmetries)
    left = "" if different is None else f"; {different} states up to symmetry"
    evidence = {
        "order": symmetries.order,
        "states": different,
        "generators": list(map(dict, symmetries.generators)),
    }
    return [Observation("symmetries", f"the rules have {symmetries.order} symmetries{left}", evidence)]


def _symmetric_roles(game: StateMachine, budget: Budget) -> list[Observation]:
    """Report the roles that some symmetry of the rules exchanges, whatever the states are."""
    players = game.players
    if len(players) < 2:
        return []
    try:
        symmetries = find_symmetries(game, budget=budget.share(0.3), exchanging=True)
    except BudgetExceeded:
        return []
    groups = {role: {role} for role in players}
    for generator in symmetries.generators:
        for role in players:
            image = generator.get(f"(role {role})", "").removeprefix("(role ").removesuffix(")")
            if image in groups and image not in groups[role]:
                joined = groups[role] | groups[image]
                groups |= dict.fromkeys(joined, joined)
    same = sorted({tuple(r for r in players if r in group) for group in groups.values() if len(group) > 1})
    generators = [dict(generator) for generator in symmetries.generators]
    return [
        Observation(
            "symmetric-roles",
            f"the rules treat {' and '.join(some)} alike",
            {"roles": list(some), "generators": generators},
        )
        for some in same
    ]


def state_remarks(space: StateSpace) -> list[Observation]:
    """Return remarks on fluents, moves and choices over all states."""
    expander = space.expander
    names = expander.fluent_names
    remarks = []
    ever = expander.bits(space.ever_true[None, :])[0]
    always = expander.bits(space.always_true[None, :])[0]
    kinds = [("fluent-never-true", "never true", ~ever)]
    if len(space.states) > 1:
        kinds.append(("fluent-always-true", "always true", always))
    latched = _latched(space)
    if latched is not None:
        kinds.append(("latched-fluent", "stays true once true", latched & ever & ~always))
    for kind, text, places in kinds:
        if places.any():
            remarks.append(_listed(kind, text, [names[f] for f in np.flatnonzero(places)]))
    going = int((~space.over).sum())
    for r, role in enumerate(expander.roles):
        never = np.flatnonzero(~space.ever_legal[r])
        if len(never):
            moves = [expander.moves[r][m] for m in never]
            remarks.append(_listed("move-never-legal", f"never legal for {role}", moves, role=role))
        if going and not space.branching[r, 1]:
            text = f"{role} never has a choice"
            remarks.append(Observation("role-never-chooses", text, {"role": role}))
    if going and len(expander.roles) > 1:
        most = int(np.flatnonzero(space.choosers)[-1])
        text = (
            "at most one role has a choice at a time"
            if most <= 1
            else f"up to {most} roles choose at once, in {int(space.choosers[2:].sum())} of {going} states"
        )
        remarks.append(Observation("turn-taking", text, {"choosers": space.choosers.tolist()}))
    return remarks


def _listed(kind: str, text: str, items: Iterable[str], **evidence: Any) -> Observation:
    texts = sorted(items)
    shown = ", ".join(texts[:5]) + (f" and {len(texts) - 5} more" if len(texts) > 5 else "")
    return Observation(kind, f"{text}: {shown}", {**evidence, "items": texts})


def _latched(space: StateSpace) -> NDArray[np.bool_] | None:
    """Return the fluents that no transition makes false, [fluents]; None without the edges."""
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
    latched: NDArray[np.bool_] = ~space.expander.bits(lost[None, :])[0]
    return latched


def _goals(space: StateSpace) -> list[Observation]:
    """Report goal values that are never reached, and a constant sum."""
    expander, network = space.expander, space.expander.network
    remarks = []
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
            remarks.append(Observation("goal-never-reached", text, {"role": role, "values": missing}))
    players = [r for r, role in enumerate(expander.roles) if role.lower() != "random"]
    goals = ends[:, players].astype(np.int64)
    if len(players) > 1 and len(goals) and (goals >= 0).all():
        sums = goals.sum(axis=1)
        if (sums == sums[0]).all():
            text = f"goal values always add up to {sums[0]}"
            remarks.append(Observation("constant-sum", text, {"sum": int(sums[0])}))
    return remarks


def _result(solution: Solution) -> list[Observation]:
    value = solution.value
    if value is None or len(value) < 2:
        return []
    best = max(value.values())
    winners = [role for role, number in value.items() if number == best]
    if len(winners) == len(value):
        text = f"best play ends with {best:g} for every role"
    else:
        text = f"with best play {' and '.join(winners)} is better off"
    return [Observation("forced-result", f"{text}", {"value": dict(value)})]


# -- rules --------------------------------------------------------------------------------------


def rule_remarks(game: StateMachine, budget: Budget) -> list[Observation]:
    """Return remarks on rules that never fire, and conditions that are always true, with their spans.

    Explores the game; returns none where it has too many states.
    """
    watched = watched_rules(game)
    conditions = [(rule, literal) for rule in watched for literal in rule.body if is_test(rule, literal)]
    bodies = [*(rule.body for rule in watched), *(contrary(*condition) for condition in conditions)]
    try:
        holds = _bodies_that_hold(game, bodies, budget.share(0.5))
    except HerbrandError:
        return []
    never = {id(rule) for rule, fires in zip(watched, holds[: len(watched)], strict=True) if not fires}
    remarks = [never_fires(game, rule) for rule in watched if id(rule) in never]
    for (rule, literal), fails in zip(conditions, holds[len(watched) :], strict=True):
        if not fails and id(rule) not in never:
            remarks.append(always_true(game, rule, literal))
    return remarks


def never_fires(game: StateMachine, rule: Rule) -> Observation:
    """Return the remark that a rule never fires."""
    line = game.tree.source.position(rule.span.start).line
    evidence = {"line": line, "span": [rule.span.start, rule.span.end], "rule": str(rule)}
    evidence["statement"] = _number_of(rule, game.tree.statements)
    return Observation("rule-never-fires", f"line {line}: never fires: {rule}", evidence)


def always_true(game: StateMachine, rule: Rule, literal: Literal) -> Observation:
    """Return the remark that a condition of a rule holds wherever the others do."""
    line = game.tree.source.position(literal.start).line
    text = f"line {line}: always true where the rest of the rule is: {literal} in {rule}"
    span = [literal.start, literal.end]
    evidence = {"line": line, "span": span, "condition": str(literal), "rule": str(rule)}
    evidence |= {"statement": _number_of(rule, game.tree.statements), "place": _number_of(literal, rule.body)}
    return Observation("condition-always-true", text, evidence)


def _number_of(wanted: object, things: Sequence[object]) -> int:
    return next(number for number, thing in enumerate(things) if thing is wanted)


def watched_rules(game: StateMachine) -> list[Rule]:
    """Return the rules of a game that have a body and do more than declare."""
    return [rule for rule in game.tree.statements if rule.body and rule.head.name not in _TRIVIAL]


def is_test(rule: Rule, literal: Literal) -> bool:
    """Return whether a condition only tests: all its variables occur in other positive conditions."""
    if isinstance(literal, Atom) and literal.name == "role":
        return False  # says what a variable stands for
    if not isinstance(literal, Atom) and not (isinstance(literal, Not) and isinstance(literal.literal, Atom)):
        return False
    bound = {
        v.name
        for other in rule.body
        if other is not literal and isinstance(other, Atom)
        for v in variables_of(other)
    }
    needed = {v.name for v in variables_of(literal)}
    others = {v.name for other in rule.body if other is not literal for v in variables_of(other)}
    return needed <= bound and others <= bound


def contrary(rule: Rule, literal: Literal) -> tuple[Literal, ...]:
    """Return the body of a rule with one condition negated."""
    negated = literal.literal if isinstance(literal, Not) else Not(literal)
    return (*(other for other in rule.body if other is not literal), negated)


def rules_that_never_fire(game: StateMachine, *, budget: Budget | None = None) -> list[Rule]:
    """Return the rules whose body holds for no reachable state and legal joint move.

    Raises `BudgetExceeded` when there are too many states.
    """
    watched = watched_rules(game)
    holds = _bodies_that_hold(game, [rule.body for rule in watched], budget)
    return [rule for rule, fires in zip(watched, holds, strict=True) if not fires]


def _bodies_that_hold(
    game: StateMachine, bodies: list[tuple[Literal, ...]], budget: Budget | None
) -> list[bool]:
    """Return which bodies of rules hold for some reachable state and legal joint move.

    A percept watches each; those of all states and joint moves are evaluated.  Raises `BudgetExceeded` when
    there are too many states.
    """
    if not bodies or not game.rules.roles:
        return [True] * len(bodies)
    expander = watch(game, bodies).game.expander
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
        if len(over):  # no moves in terminal states
            no_moves = np.full((len(over), len(expander.roles)), -1, np.int32)
            fires |= expander.percepts(over, no_moves).any(axis=0)
    fired = {label for label, yes in zip(labels, fires, strict=True) if yes}
    return [i in fired for i in range(len(bodies))]


# -- factors ------------------------------------------------------------------------------------


def _parts(network: Network) -> list[Observation]:
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

    Fluents and moves are connected if the same `next` or `legal` condition depends on them, and with the
    fluent or move of the condition.  `terminal` and `goal` are ignored.
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

    wanted = np.concatenate([network.next, network.legal]).astype(np.int32)
    marked = mark_cone(
        network.left, network.right, network.inputs, first, network.feedback, network.loops, wanted
    )
    gates = np.flatnonzero(marked)
    for nodes, literals in (
        (network.inputs + gates, network.left[gates]),
        (network.inputs + gates, network.right[gates]),
        (np.arange(first, network.inputs), network.feedback),
        (np.arange(1, first), wanted),
    ):
        for node, below in zip(nodes.tolist(), (literals >> 1).tolist(), strict=True):
            join(node, below)
    components: dict[int, tuple[list[str], list[str]]] = {}
    for node, term in enumerate([*network.fluents.tolist(), *network.moves[:, 1].tolist()], 1):
        component = components.setdefault(find(node), ([], []))
        component[node > len(network.fluents)].append(network.terms.text(term))
    return [(fluents, moves) for fluents, moves in components.values() if fluents and moves]

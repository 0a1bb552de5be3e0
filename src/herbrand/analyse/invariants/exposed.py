"""Games in which a role sees what would otherwise be inside the network, such as derived atoms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from herbrand.convert.levels import STATE, level_of
from herbrand.diagnostic import Source
from herbrand.errors import HerbrandError
from herbrand.syntax.nodes import Atom, Function, Rule, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.machine.state_machine import StateMachine
    from herbrand.network.network import Network

__all__ = ["derived_relations", "expose", "exposed_atom", "exposed_atoms", "with_percepts"]

Relation = tuple[str, int]
_PREFIX, _SUFFIX = "(view ", ")"
_exposed: WeakKeyDictionary[StateMachine, dict[tuple[Relation, ...], StateMachine]] = WeakKeyDictionary()


def with_percepts(game: StateMachine, rules: Sequence[Rule]) -> StateMachine:
    """Return a game with other percepts; raises `HerbrandError` if their rules are not valid.

    Its own percepts are left out: they do not matter to which states are reachable.
    """
    own = tuple(rule for rule in game.tree.statements if rule.head.key != ("sees", 2))
    # games are equal if their texts are, and results are cached by game
    source = Source("\n".join([game.tree.source.text, *map(str, rules)]), game.tree.source.name)
    tree = replace(game.tree, source=source, statements=(*own, *rules))
    copy = type(game)(tree, name=game.name, limits=game.limits)
    if copy.rules.errors:
        raise HerbrandError(f"the percepts have no valid rules: {copy.rules.errors[0].message}")
    return copy


def expose(game: StateMachine, relations: Iterable[Relation]) -> StateMachine:
    """Return a game whose first role sees the atoms of some relations, see `exposed_atom`."""
    chosen = tuple(sorted(relations))
    games = _exposed.setdefault(game, {})
    if chosen not in games:
        observer = game.rules.roles[0]
        rules = []
        for name, arity in chosen:
            variables = tuple(Variable(f"v{place}") for place in range(arity))
            view = Function("view", (Function(name, variables),))
            rules.append(Rule(Atom("sees", (observer, view)), (Atom(name, variables),)))
        games[chosen] = with_percepts(game, rules)
    return games[chosen]


def exposed_atom(percept: str) -> str:
    """Return the atom that a role sees by a percept of `expose`, "" for other percepts.

    >>> exposed_atom("(view (row 1 x))")
    '(row 1 x)'
    """
    return percept[len(_PREFIX) : -len(_SUFFIX)] if percept.startswith(_PREFIX) else ""


def exposed_atoms(network: Network) -> list[str]:
    """Return what the percepts of a network tell about, in their order; see `exposed_atom`."""
    return [exposed_atom(network.terms.text(term)) for term in network.percepts[:, 1].tolist()]


def derived_relations(game: StateMachine, wanted: Iterable[Relation]) -> list[Relation]:
    """Return the relations with arguments, derived from the state alone, on which some others depend."""
    graph = game.rules.graph
    reached = frozenset[Relation]().union(*(graph.reachable(relation) for relation in wanted))
    keywords = {"true", "legal", "goal", "next", "sees"}
    return [
        (name, arity)
        for name, arity in graph.nodes
        if (name, arity) in reached
        and arity
        and name not in keywords
        and level_of(graph, (name, arity)) == STATE
    ]

"""Forty numbers about a game that may make it harder to reason about: of its rules, and of random games."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Final

from herbrand.machine.trajectory import Trajectory
from herbrand.syntax.nodes import Atom, Constant, Distinct, Function, Not, Or, Variable, children, walk

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.syntax.nodes import Node

__all__ = ["features"]

PLAYS: Final = 8
MAX_STEPS: Final = 100
"""Random games, and the most joint moves of each."""
_TERMS: Final = (Constant, Function, Variable)
PARTS: Final = ("init", "legal", "next", "terminal", "goal", "sees", "base", "input")


def features(game: Game, *, seed: int = 0) -> dict[str, float]:
    """Return the features of a game by name; the same for the same seed.

    Raises `GameError` for a game that cannot be played.
    """
    game.require_playable()
    return {**_of_rules(game), **_of_play(game, seed)}


def _of_rules(game: Game) -> dict[str, float]:
    statements = game.tree.statements
    rules = [rule for rule in statements if rule.body]
    heads = Counter(rule.head.key for rule in statements)
    literals = [node for rule in rules for node in walk(*rule.body) if not isinstance(node, _TERMS)]
    terms = [node for node in walk(*statements) if isinstance(node, _TERMS)]
    bodies = [len(rule.body) for rule in rules]
    relations = Counter(literal.name for literal in literals if isinstance(literal, Atom))
    variables = [len({node for node in walk(rule) if isinstance(node, Variable)}) for rule in rules]
    helpers = {key for key in heads if key[0] not in (*PARTS, "role", "does", "true")}
    numbers: dict[str, float] = {
        "statements": len(statements),
        "facts": len(statements) - len(rules),
        "rules": len(rules),
        "symbols": len(terms) + len(literals),
        "roles": len(game.roles),
        "has chance": game.chance_role is not None,
        "hides information": game.has_percepts,
        "relations": len(heads),
        "helper relations": len(helpers),
        "recursive relations": len(game.rules.graph.recursive),
        "largest arity": max((arity for _, arity in heads), default=0),
        "constants": len({str(term) for term in terms if isinstance(term, Constant)}),
        "functions": len({t.key for t in terms if isinstance(t, Function)}),
        "deepest term": max((_depth(term) for term in terms), default=0),
        "negations": sum(isinstance(literal, Not) for literal in literals),
        "disjunctions": sum(isinstance(literal, Or) for literal in literals),
        "inequalities": sum(isinstance(literal, Distinct) for literal in literals),
        "conditions on the state": relations["true"],
        "conditions on moves": relations["does"],
        "mean conditions": sum(bodies) / max(1, len(bodies)),
        "most conditions": max(bodies, default=0),
        "mean variables": sum(variables) / max(1, len(variables)),
        "most variables": max(variables, default=0),
    }
    return numbers | {f"{part} statements": heads[part, _ARITY[part]] for part in PARTS}


_ARITY: Final = dict.fromkeys(PARTS, 1) | {"legal": 2, "goal": 2, "sees": 2, "input": 2, "terminal": 0}


def _of_play(game: Game, seed: int) -> dict[str, float]:
    chance = Random(seed)
    start = game.initial_state("network" if game.has_network else "rules")
    facts, legal, changed, choosing, lengths = [], [], [], [], []
    for _ in range(PLAYS):
        play = Trajectory(start)
        play.finish(chance, max_steps=MAX_STEPS)
        lengths.append(len(play))
        for before, after in zip(play.states, play.states[1:], strict=False):
            moves = [len(options) for options in before.legal_moves().values()]
            legal.append(sum(moves))
            choosing.append(sum(number > 1 for number in moves))
            changed.append(len(before.facts ^ after.facts))
        facts += [len(state.facts) for state in play.states]
    return {
        "initial facts": len(start.facts),
        "mean facts": _mean(facts),
        "most facts": max(facts),
        "mean legal moves": _mean(legal),
        "most legal moves": max(legal, default=0),
        "mean changed facts": _mean(changed),
        "most changed facts": max(changed, default=0),
        "mean length": _mean(lengths),
        "roles with a choice": _mean(choosing),
    }


def _mean(values: list[int]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


def _depth(node: Node) -> int:
    return 1 + max(map(_depth, children(node)), default=0)

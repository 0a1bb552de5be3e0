"""The facts style: the predicates of the state style, on rules that find the state and the moves as facts.

A state is an argument of `legals/3`, `next/3`, ... as in the state style, but the rules are those of the
literal style.  A state is asserted when it is first asked about, so that all questions about it share the
work, and SWI-Prolog finds fluents by their index.  Relations that depend on no state are evaluated once, when
the program is loaded.  Two to ten times faster than the state style, for one thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.convert.levels import MOVE, STATE, STATIC, level_of
from herbrand.convert.prolog.clauses import INPUTS, ClauseWriter, module, relation_names, template
from herbrand.convert.prolog.state import API, HEAD, QUERIES

if TYPE_CHECKING:
    from collections.abc import Container

    from herbrand.check.rules import Rules
    from herbrand.convert.prolog.clauses import Relation

__all__ = ["facts"]

_MOST: Final = 100_000
"""Answers of a relation that are listed."""
_OWN: Final = (
    *API,
    *(("load", 1), ("load", 2), ("forget", 1), ("choice", 2), ("list_answers", 1), ("list_answers_of", 1)),
)


def facts(rules: Rules, name: str) -> str:
    """Return the rules of a game as a module of SWI-Prolog whose predicates take the state.

    `name` is the name of the game.
    """
    graph = rules.graph
    relations = dict.fromkeys([*INPUTS, *QUERIES, *graph.nodes])
    names = relation_names({key: key for key in relations}, _OWN)
    writer = ClauseWriter(rules, names)
    derived = {rule.head.key for rule in writer.statements if rule.body}

    def patterns(keys: Container[Relation], level: int) -> str:
        return writer.patterns(key for key in graph.nodes if key in keys and level_of(graph, key) == level)

    goals = {key[0]: writer.compose(writer.names[key], arguments) for key, arguments in QUERIES.items()}
    driver = template("facts.pl.in").format(
        **goals,
        name=name.replace("\\", "\\\\").replace("'", "\\'"),
        most=_MOST,
        static=patterns(derived, STATIC),
        state_tables=patterns(graph.recursive, STATE),
        move_tables=patterns(graph.recursive, MOVE),
    )
    exports = (*API[1:], API[0])  # in another order than in the state style, whose rules are read differently
    text = writer.program(relations, "dynamic")
    return module(name, f": states are arguments, then facts.{HEAD}", names, exports, text, driver)

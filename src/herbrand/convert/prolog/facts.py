"""The facts style: the predicates of the state style, on rules that find the state and the moves as facts.

A state is an argument of `legals/3`, `next/3`, ... as in the state style, but the rules are those of the
literal style.  A state is asserted when it is first asked about, so that all questions about it share the
work, and SWI-Prolog finds fluents by their index.  Relations that depend on no state are evaluated once, when
the program is loaded.  Two to ten times faster than the state style, for one thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.convert.levels import MOVE, STATE, STATIC, level_of
from herbrand.convert.prolog.clauses import (
    ClauseWriter,
    clauses,
    declarations,
    module,
    pattern,
    relation_names,
    renamings,
    scattered,
    statements_for,
    template,
)
from herbrand.convert.prolog.state import API, HEAD, QUERIES

if TYPE_CHECKING:
    from herbrand.check.rules import Rules
    from herbrand.convert.prolog.clauses import Relation

__all__ = ["facts"]

_MOST: Final = 100_000
"""Answers of a relation that are listed."""
_INPUTS: Final = (("true", 1), ("does", 2))
_OWN: Final = (
    *API,
    *(("load", 1), ("load", 2), ("forget", 1), ("choice", 2), ("list_answers", 1), ("list_answers_of", 1)),
)


def facts(rules: Rules, name: str) -> str:
    """Return the rules of a game as a module of SWI-Prolog whose predicates take the state.

    `name` is the name of the game.
    """
    statements = statements_for(rules)
    graph = rules.graph
    relations = dict.fromkeys([*_INPUTS, *QUERIES, *graph.nodes])
    names = relation_names({key: key for key in relations}, _OWN)
    writer = ClauseWriter(statements, names)
    defined = {rule.head.key for rule in statements}
    derived = {rule.head.key for rule in statements if rule.body}
    recursive = [key for key in graph.nodes if key in graph.recursive]

    def written(keys: list[Relation]) -> list[Relation]:
        return [(writer.names[key], key[1]) for key in keys]

    def patterns(keys: list[Relation], level: int) -> str:
        return ", ".join(pattern(*pair) for pair in written([k for k in keys if level_of(graph, k) == level]))

    goals = {key[0]: writer.compose(writer.names[key], arguments) for key, arguments in QUERIES.items()}
    driver = template("facts.pl.in").format(
        **goals,
        name=name.replace("\\", "\\\\").replace("'", "\\'"),
        most=_MOST,
        static=patterns([key for key in graph.nodes if key in derived], STATIC),
        state_tables=patterns(recursive, STATE),
        move_tables=patterns(recursive, MOVE),
    )
    return module(
        name,
        [
            f"% The game {name} for SWI-Prolog, written by herbrand: states are arguments, then facts.",
            *HEAD.splitlines(),
            *renamings(names),
        ],
        (*API[1:], API[0]),  # in another order than in the state style, whose rules are read back differently
        [
            *declarations("dynamic", _INPUTS),
            *declarations("dynamic", written([key for key in relations if key not in defined | {*_INPUTS}])),
            *declarations("table", written(recursive)),
            *declarations("discontiguous", written(scattered(statements))),
            "",
            *clauses(rules, statements, writer),
        ],
        driver,
    )

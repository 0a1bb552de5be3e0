"""The literal style: the rules as they are, `true/1` and `does/2` as facts of the current thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.convert.prolog.clauses import INPUTS, ClauseWriter, module, relation_names, template

if TYPE_CHECKING:
    from herbrand.check.rules import Rules

__all__ = ["DRIVER", "literal"]

DRIVER: Final = (("update_state", 1), ("update_inputs", 1), ("forget", 0))
"""Additional predicates that the text defines."""
_INTERFACE: Final = (
    *(("role", 1), ("base", 1), ("input", 2), ("init", 1), ("true", 1), ("does", 2), ("legal", 2)),
    *(("next", 1), ("sees", 2), ("goal", 2), ("terminal", 0)),
)

_HEAD = """.
%
%   ?- findall(P, init(P), Start), update_state(Start).
%   ?- legal(Role, Move).
%   ?- update_inputs([does(Role, Move), ...]), findall(P, next(P), Next).
%
% Answers may come more than once: collect them with findall/3 and sort/2."""


def literal(rules: Rules, name: str) -> str:
    """Return the rules of a game as a module of SWI-Prolog; `name` is the game's.

    Relations are queried by name.  `update_state/1` sets the state from a list of fluents,
    `update_inputs/1` the joint move from a list of `does(Role, Move)`.
    """
    graph = rules.graph
    relations = dict.fromkeys([*_INTERFACE, *graph.nodes])
    names = relation_names({key: key for key in relations}, DRIVER)
    writer = ClauseWriter(rules, names)
    recursive = (key for key in graph.nodes if key in graph.recursive)
    volatile = (key for key in recursive if any(graph.depends_on(key, relation) for relation in INPUTS))
    driver = template("literal.pl.in").format(forget=writer.patterns(volatile))
    text = writer.program(relations, "thread_local")
    return module(name, _HEAD, names, (*_INTERFACE, *DRIVER), text, driver)

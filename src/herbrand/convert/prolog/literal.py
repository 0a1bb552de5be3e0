"""The literal style: the rules as they are, `true/1` and `does/2` as facts of the current thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

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

if TYPE_CHECKING:
    from herbrand.check.rules import Rules

__all__ = ["DRIVER", "literal"]

DRIVER: Final = (("update_state", 1), ("update_inputs", 1), ("forget", 0))
"""Additional predicates that the text defines."""
_INPUTS: Final = (("true", 1), ("does", 2))
_INTERFACE: Final = (
    *(("role", 1), ("base", 1), ("input", 2), ("init", 1), ("true", 1), ("does", 2), ("legal", 2)),
    *(("next", 1), ("sees", 2), ("goal", 2), ("terminal", 0)),
)

_HEAD = """\
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
    statements = statements_for(rules)
    graph = rules.graph
    relations = dict.fromkeys([*_INTERFACE, *graph.nodes])
    names = relation_names({key: key for key in relations}, DRIVER)
    writer = ClauseWriter(statements, names)
    defined = {rule.head.key for rule in statements}
    undefined = [key for key in relations if key not in defined and key not in _INPUTS]
    recursive = [key for key in graph.nodes if key in graph.recursive]

    def written(keys: list[tuple[str, int]]) -> list[tuple[str, int]]:
        return [(writer.names[key], key[1]) for key in keys]

    volatile = [key for key in recursive if any(graph.depends_on(key, relation) for relation in _INPUTS)]
    forget = ", ".join(pattern(*pair) for pair in written(volatile))
    return module(
        name,
        [f"% The game {name} for SWI-Prolog, written by herbrand.", *_HEAD.splitlines(), *renamings(names)],
        (*_INTERFACE, *DRIVER),
        [
            *declarations("thread_local", _INPUTS),
            *declarations("dynamic", written(undefined)),
            *declarations("table", written(recursive)),
            *declarations("discontiguous", written(scattered(statements))),
            "",
            *clauses(rules, statements, writer),
        ],
        template("literal.pl.in").format(forget=forget),
    )

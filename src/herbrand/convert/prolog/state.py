"""The state style: states and joint moves are arguments; nothing is asserted.

| in the rules          | in the program                                           |
|-----------------------|----------------------------------------------------------|
| `(true P)`            | `member(P, State)`                                       |
| `(does R M)`          | `member(does(R, M), Inputs)`                             |
| `(p A)`, static       | `p(A)`                                                   |
| `(p A)`, of the state | `p(State, A)`; `terminal` is `is_terminal(State)`        |
| `(p A)`, of the moves | `p(State, Inputs, A)`; `next` is `next_fluent`           |

`herbrand.syntax.state_arguments` reads the rules back.  They are used by predicates that give each
answer once, in order: `initial/1`, `legals/3`, `actions/2`, `next/3`, `percepts/4`, `values/2` and
`terminal/1`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.convert.levels import DOES, TRUE, level_of
from herbrand.convert.prolog.clauses import ClauseWriter, module, relation_names, template
from herbrand.syntax.nodes import Atom, Or, atoms_of, variables_of

if TYPE_CHECKING:
    from herbrand.check.rules import Rules
    from herbrand.convert.prolog.clauses import Relation
    from herbrand.syntax.nodes import Literal, Rule

__all__ = ["API", "HEAD", "QUERIES", "state_style"]

API: Final = (
    *(("roles", 1), ("initial", 1), ("legals", 3), ("actions", 2), ("next", 3), ("percepts", 4)),
    *(("values", 2), ("terminal", 1)),
)
"""The predicates that the module exports."""
_OWN: Final = (*API, ("forget", 0), ("in_order", 2), ("choice", 2))
_RENAMED: Final = {("next", 1): "next_fluent", ("terminal", 0): "is_terminal"}
_TAKEN: Final = {name: f"g_{name}" for name in _RENAMED.values()}
"""Names that no relation of a game keeps, of any arity: reading back would confuse them."""
QUERIES: Final = {
    ("role", 1): ["Role"],
    ("init", 1): ["Fluent"],
    ("legal", 2): ["Role", "Move"],
    ("next", 1): ["Fluent"],
    ("sees", 2): ["Role", "Percept"],
    ("goal", 2): ["Role", "Value"],
    ("terminal", 0): [],
}
"""The relations that `state.pl.in` queries, with their arguments."""

HEAD = """
%
%   ?- initial(State), actions(State, Actions).
%   ?- initial(State), actions(State, [Inputs|_]), next(State, Inputs, Next).
%   ?- initial(State), ( terminal(State) -> values(State, Values) ; true )."""


def state_style(rules: Rules, name: str) -> str:
    """Return the rules of a game as a module of SWI-Prolog whose predicates take the state.

    `name` is the name of the game.
    """
    graph = rules.graph
    levels = {key: level_of(graph, key) for key in dict.fromkeys([*QUERIES, *graph.nodes])}
    relations = [key for key in levels if key not in (TRUE, DOES)]
    natural = {key: (_RENAMED.get(key, key[0]), key[1] + levels[key]) for key in relations}
    wanted = {
        key: (name if key in _RENAMED else _TAKEN.get(name, name), arity)
        for key, (name, arity) in natural.items()
    }
    names = relation_names(wanted, _OWN)
    writer = _StateWriter(rules, names, levels)
    volatile = writer.patterns(key for key in graph.nodes if key in graph.recursive and levels[key])
    goals = {
        key[0]: writer.compose(writer.names[key], [*("State", "Inputs")[: levels[key]], *arguments])
        for key, arguments in QUERIES.items()
    }
    program = template("state.pl.in").format(**goals, forget=",\n    forget" if volatile else "")
    for clause in ("legals", "next", "percepts", "values", "terminal"):
        program = _mark_unused(program, clause)
    if volatile:
        program += (
            "\n\n% forget: drop the tables of relations that depend on a state.\n"
            f"forget :-\n    forall(member(Goal, [{volatile}]), abolish_table_subgoals(Goal))."
        )
    shown = {natural[key]: names[key] for key in relations}
    return module(name, f": states are arguments.{HEAD}", shown, API, writer.program(relations), program)


class _StateWriter(ClauseWriter):
    """Adds to every relation the arguments on which it depends."""

    def __init__(self, rules: Rules, names: dict[Relation, str], levels: dict[Relation, int]) -> None:
        super().__init__(rules, names, reserved=("State", "Inputs"))
        self.levels = levels
        self.bound_variables: set[str] = set()
        """The variables that are bound before the current literal."""
        self.context = ["State", "Inputs"]

    def arity(self, relation: Relation) -> int:
        """Return the number of arguments of a relation with those for state and moves."""
        return relation[1] + self.levels[relation]

    def statement(self, rule: Rule, after: Rule | None) -> list[str]:
        """Write a clause; an argument that its body does not use begins with `_`."""
        self.bound_variables = set()
        called = {atom.key for literal in rule.body for atom, _ in atoms_of(literal)}
        levels = {self.levels[key] for key in called if key != DOES}
        self.context = [
            "State" if max(levels, default=0) else "_State",
            "Inputs" if 2 in levels or DOES in called else "_Inputs",
        ]
        return super().statement(rule, after)

    def bound(self, literal: Literal, least: int) -> str:
        """Write a literal of a body, and record the variables that it binds."""
        if isinstance(literal, Or):
            before = self.bound_variables
            parts, after = [], []
            for part in literal.literals:
                self.bound_variables = set(before)
                parts.append(super().bound(part, 2))
                after.append(self.bound_variables)
            self.bound_variables = set.intersection(*after)
            return f"({self.or_sign.join(parts)})"
        text = super().bound(literal, least)
        if isinstance(literal, Atom):
            self.bound_variables |= {variable.name for variable in variables_of(literal)}
        return text

    def call(self, atom: Atom) -> str:
        """Write an atom with the state and the moves on which it depends."""
        args = [self.term(arg) for arg in atom.args]
        if atom.key not in (TRUE, DOES):
            return self.compose(self.names[atom.key], [*self.context[: self.levels[atom.key]], *args])
        is_test = {variable.name for variable in variables_of(atom)} <= self.bound_variables
        member = "memberchk" if is_test else "member"
        if atom.key == TRUE:
            return f"{member}({args[0]}, State)"
        return f"{member}(does({', '.join(args)}), Inputs)"


def _mark_unused(program: str, clause: str) -> str:
    """Prefix the arguments of a clause head that its body does not use with `_`."""
    begin = program.index(f"\n{clause}(") + 1
    end = program.index(".\n", begin)
    head, body = program[begin:end].split(":-", 1)
    for argument in ("State", "Inputs", "Role"):
        if argument in head and argument not in body:
            head = head.replace(argument, f"_{argument}")
    return program[:begin] + head + ":-" + body + program[end:]

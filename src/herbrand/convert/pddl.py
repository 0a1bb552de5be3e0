"""Convert games of one role to PDDL 2.2 with conditional effects and derived predicates.

A step of a game is two actions of the plan: one chooses a legal move, then `step` makes the next
state, in which exactly the fluents of `next` are true.

| in the rules                        | in PDDL                                                |
|-------------------------------------|--------------------------------------------------------|
| fluent `(cell 1 b)`                 | `(cell n1 b)`                                          |
| move `(mark 1)`                     | the action `mark`, which makes `(does-mark n1)` true   |
| rules for `next`, `legal`, others   | derived predicates; `next-cell`, `legal-mark`, ...     |
| facts of other relations            | facts of the problem                                   |
| a win: terminal, with 100           | the goal                                               |

PDDL cannot express more than one role, chance, or nested terms, since it has no functions; such games are
rejected.  `moves_of_plan` reads the output of a planner.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from herbrand.check.normal import substituted
from herbrand.convert.levels import needed
from herbrand.errors import GameError, InvalidMoveError
from herbrand.rules.terms import read_term
from herbrand.runtime.rendering import render_program
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Rule, Variable, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from herbrand.check.normal import Substitution
    from herbrand.machine.state_machine import StateMachine
    from herbrand.syntax.nodes import Literal, Node, Term

__all__ = ["domain", "moves_of_plan", "problem", "write"]

_KEYWORDS: Final = """
    action and assign constants define derived domain either effect exists forall functions goal imply init
    not object objects or parameters precondition predicates problem requirements types when choosing step
"""
_RESERVED: Final = frozenset(_KEYWORDS.split())
_FLUENTS: Final = {("true", 1), ("next", 1), ("init", 1)}
_MOVES: Final = {("does", 2), ("legal", 2)}
_Key = tuple[str, int]


def write(game: StateMachine, *, part: str = "domain") -> str:
    """Write the domain or the problem of a game.

    Raises `GameError` where PDDL cannot express the game.
    """
    game.require_playable()
    planner = _Planner(game)
    return planner.domain() if part == "domain" else planner.problem()


def domain(game: StateMachine) -> str:
    """Return the PDDL domain of a game."""
    return write(game, part="domain")


def problem(game: StateMachine) -> str:
    """Return the PDDL problem of a game: its initial state, and 100 for its role at the end."""
    return write(game, part="problem")


def moves_of_plan(game: StateMachine, text: str) -> tuple[str, ...]:
    """Return the moves (as KIF) of a plan that a planner found for the domain and problem of a game.

    The plan has one action a line, such as `(put d c)` or `3: (PUT D C) [1]`; `;` begins a comment, and
    `step`, which follows each move, is not a move.  The moves are not checked for legality.
    Raises `InvalidMoveError` for a line that is not an action of the domain.
    """
    game.require_playable()
    planner = _Planner(game)
    actions = {new: key for key, new in planner.actions.items()}
    objects = {new: name for name, new in planner.objects.items()}
    moves: list[str] = []
    expects_step = False
    for number, line in enumerate(text.splitlines(), 1):
        action = re.sub(r";.*", "", line).strip().lower()
        if not action:
            continue
        match = re.fullmatch(r"(?:[\d.]+\s*:)?\s*\(\s*([^()]+?)\s*\)\s*(?:\[[\d.]+\])?", action)
        name, *args = match[1].split() if match else [""]
        functor, arity = actions.get(name, ("", -1))
        if (name, len(args)) == ("step", 0) and expects_step:
            expects_step = False
        elif arity == len(args) and all(arg in objects for arg in args) and not expects_step:
            expects_step = True
            words = [functor, *(objects[arg] for arg in args)]
            moves.append(f"({' '.join(words)})" if args else functor)
        else:
            after = " after a move" if expects_step else ""
            raise InvalidMoveError(
                f"line {number} of the plan is not an action of the domain{after}: {line.strip()}"
            )
    return tuple(moves)


class _Planner:
    """Writes the domain and the problem of a game."""

    def __init__(self, game: StateMachine) -> None:
        self.game = game
        if len(game.rules.roles) != 1:
            raise GameError(f"PDDL is for games of one role; this one has {len(game.rules.roles)}")
        self.role = game.rules.roles[0]
        if str(self.role).lower() == "random":
            raise GameError("PDDL has no chance, and the only role of this game is `random`")
        self.variables: dict[str, str] = {}
        """The PDDL names of the variables of the current rule."""
        wanted = needed(game.rules.graph) - {("init", 1), ("sees", 2)}
        rules = [rule for rule in game.rules.normal.rules if rule.head.key in wanted]
        self.state = [read_term(fact) for fact in sorted(game.initial_state("rules").facts)]
        self.functors = {
            "fluent": _functors(rules, _FLUENTS, self.state),
            "move": _functors(rules, _MOVES, ()),
        }
        self.rules = list(dict.fromkeys(_flat for rule in rules for _flat in self._instances(rule)))
        for rule in self.rules:
            _refuse_nested(rule)
        for fact in self.state:
            _refuse_deep(fact)
        defined: dict[_Key, list[Rule]] = {}
        for rule in self.rules:
            defined.setdefault(_predicate(rule.head), []).append(rule)
        self.facts = [r for rows in defined.values() if all(r.is_fact for r in rows) for r in rows]
        self.derived = {k: rows for k, rows in defined.items() if not all(r.is_fact for r in rows)}
        self.names = self._predicate_names(defined)
        self.objects = self._object_names()

    # -- rules without nested terms ------------------------------------------------------------

    def _instances(self, rule: Rule) -> Iterator[Rule]:
        """Yield the instances of a rule for the role, with variables for whole fluents or moves replaced."""
        firsts = (atom.args[0] for atom in _atoms(rule) if atom.key in _MOVES | {("role", 1)})
        binding: Substitution = {term.name: self.role for term in firsts if isinstance(term, Variable)}
        if binding:
            rule = substituted(rule, binding)
        for atom in _atoms(rule):
            kind = "fluent" if atom.key in _FLUENTS else "move" if atom.key in _MOVES else None
            if kind is not None and isinstance(atom.args[-1], Variable):
                name = atom.args[-1].name
                for functor, arity in self.functors[kind]:
                    args = tuple(Variable(f"{name}_{i}") for i in range(1, arity + 1))
                    term = Function(functor, args) if args else Constant(functor)
                    yield from self._instances(substituted(rule, {name: term}))
                return
        if rule.head.key in _MOVES and rule.head.args[0] != self.role:
            return
        yield rule

    # -- names -----------------------------------------------------------------------------------

    def _predicate_names(self, defined: Iterable[_Key]) -> dict[_Key, str]:
        keys = {*defined, ("terminal", 0), ("goal", 2)}
        keys |= {_predicate(atom) for atom in _atoms(*self.rules)}
        for functor, arity in self.functors["fluent"]:
            keys |= {(f"true {functor}", arity), (f"next {functor}", arity)}
        for functor, arity in self.functors["move"]:
            keys |= {(f"does {functor}", arity), (f"legal {functor}", arity)}
        # fluents keep their names, relations of the same name get others
        order = sorted(keys, key=lambda key: (not key[0].startswith("true "), key))
        used_names = set(_RESERVED)
        self.actions = {key: _fresh(_spelled(key[0]), used_names) for key in self.functors["move"]}
        shown = {key: key[0].removeprefix("true ") for key in order} | {("goal", 2): "goal-value"}
        return {key: _fresh(_spelled(shown[key]), used_names) for key in order}

    def _object_names(self) -> dict[str, str]:
        names: set[str] = {"100", self.role.name if isinstance(self.role, Constant) else ""}
        for node in walk(*self.rules):
            sides: tuple[Term, ...] = ()
            if isinstance(node, Atom | Distinct):
                sides = _arguments(node) if isinstance(node, Atom) else (node.left, node.right)
            names |= {side.name for side in sides if isinstance(side, Constant)}
        for fact in self.state:
            names |= {arg.name for arg in fact.args}
        if isinstance(self.role, Function):
            raise GameError("the role is a compound term, and PDDL has none")
        used_names = set(_RESERVED)
        return {name: _fresh(_spelled(name), used_names) for name in sorted(names)}

    # -- texts -----------------------------------------------------------------------------------

    def domain(self) -> str:
        return render_program(
            "convert/domain.pddl",
            game=self.game.name,
            name=_spelled(self.game.name),
            objects=sorted(self.objects.values()),
            predicates=[_call(self.names[key], _parameters(key[1])) for key in sorted(self.names)],
            axioms=[self._axiom(rule) for key in sorted(self.derived) for rule in self.derived[key]],
            moves=[self._move(functor, arity) for functor, arity in self.functors["move"]],
            terminal=self.names["terminal", 0],
            effects=list(self._step()),
        )

    def problem(self) -> str:
        facts = [self._atom(rule.head) for rule in self.facts]
        facts += [
            _call(self.names[f"true {fact.name}", len(fact.args)], list(map(self._term, fact.args)))
            for fact in self.state
        ]
        return render_program(
            "convert/problem.pddl",
            game=self.game.name,
            name=_spelled(self.game.name),
            facts=list(dict.fromkeys(facts)),
            terminal=self.names["terminal", 0],
            goal=_call(self.names["goal", 2], [self._term(self.role), self.objects["100"]]),
        )

    def _axiom(self, rule: Rule) -> tuple[str, str]:
        """Return head and body of a derived predicate; arguments except new variables become equations."""
        parameters: list[str] = []
        conditions: list[str] = []
        self.variables = {}
        for number, arg in enumerate(_arguments(rule.head), 1):
            if isinstance(arg, Variable) and arg.name not in self.variables:
                parameters.append(self._term(arg))
            else:
                parameters.append(f"?arg{number}")
                conditions.append(f"(= ?arg{number} {self._term(arg)})")
        conditions += [self._literal(literal) for literal in rule.body]
        local = [name for name in self.variables.values() if name not in parameters]
        body = conditions[0] if len(conditions) == 1 else f"(and {' '.join(conditions)})"
        if local:
            body = f"(exists ({' '.join(local)}) {body})"
        return _call(self.names[_predicate(rule.head)], parameters), body

    def _move(self, functor: str, arity: int) -> dict[str, object]:
        parameters = _parameters(arity)
        return {
            "action": self.actions[functor, arity],
            "parameters": parameters,
            "legal": _call(self.names[f"legal {functor}", arity], parameters),
            "does": _call(self.names[f"does {functor}", arity], parameters),
        }

    def _step(self) -> Iterator[str]:
        """Yield the effects of `step`."""
        for functor, arity in self.functors["fluent"]:
            parameters = _parameters(arity)
            now = _call(self.names[f"true {functor}", arity], parameters)
            then = _call(self.names[f"next {functor}", arity], parameters)
            yield _for_all(parameters, f"(when {then} {now})")
            yield _for_all(parameters, f"(when (and {now} (not {then})) (not {now}))")
        for functor, arity in self.functors["move"]:
            parameters = _parameters(arity)
            done = _call(self.names[f"does {functor}", arity], parameters)
            yield _for_all(parameters, f"(when {done} (not {done}))")

    def _literal(self, literal: Literal) -> str:
        if isinstance(literal, Atom):
            if literal.key in _MOVES and literal.args[0] != self.role:
                return "(or)"  # false: there are no other roles
            return self._atom(literal)
        if isinstance(literal, Not):
            return f"(not {self._literal(literal.literal)})"
        if isinstance(literal, Distinct):
            return f"(not (= {self._term(literal.left)} {self._term(literal.right)}))"
        word = "and" if isinstance(literal, And) else "or"
        return f"({' '.join([word, *map(self._literal, literal.literals)])})"

    def _atom(self, atom: Atom) -> str:
        return _call(self.names[_predicate(atom)], list(map(self._term, _arguments(atom))))

    def _term(self, term: Term) -> str:
        if isinstance(term, Variable):
            if term.name not in self.variables:
                used_names = {*self.variables.values(), *(f"?arg{i}" for i in range(1, 20))}
                self.variables[term.name] = _fresh(f"?{_spelled(term.name)}", used_names)
            return self.variables[term.name]
        assert isinstance(term, Constant)
        return self.objects[term.name]


def _functors(rules: Sequence[Rule], keys: set[_Key], terms: Iterable[Term]) -> list[_Key]:
    """Return the names and arities of the fluents or moves in rules and terms."""
    found_terms = (*terms, *(atom.args[-1] for atom in _atoms(*rules) if atom.key in keys))
    return sorted({term.key for term in found_terms if not isinstance(term, Variable)})


def _predicate(atom: Atom) -> _Key:
    """Return the predicate of an atom: `true cell` for `(true (cell ...))`, else the relation."""
    if atom.key in _FLUENTS | _MOVES:
        term = atom.args[-1]
        assert isinstance(term, Constant | Function)
        return f"{atom.name} {term.name}", len(_arguments(atom))
    return atom.key


def _arguments(atom: Atom) -> tuple[Term, ...]:
    """Return the arguments of the predicate of an atom."""
    if atom.key in _FLUENTS | _MOVES:
        return atom.args[-1].args
    return atom.args


def _refuse_nested(rule: Rule) -> None:
    for atom in _atoms(rule):
        for arg in _arguments(atom):
            if isinstance(arg, Function):
                raise GameError(f"PDDL has no nested terms: `{arg}` in the rule `{rule}`")
    for node in walk(*rule.body):
        if isinstance(node, Distinct) and Function in (type(node.left), type(node.right)):
            raise GameError(f"PDDL cannot compare compound terms: `{node}`")


def _refuse_deep(fact: Term) -> None:
    if any(isinstance(arg, Function) for arg in fact.args):
        raise GameError(f"PDDL has no nested terms: `{fact}` is true initially")


def _atoms(*nodes: Node) -> Iterator[Atom]:
    return (node for node in walk(*nodes) if isinstance(node, Atom))


def _parameters(arity: int) -> list[str]:
    return [f"?x{i}" for i in range(1, arity + 1)]


def _call(name: str, args: Sequence[str]) -> str:
    return f"({' '.join([name, *args])})"


def _for_all(parameters: Sequence[str], text: str) -> str:
    return f"(forall ({' '.join(parameters)}) {text})" if parameters else text


def _spelled(name: str) -> str:
    """Return a valid PDDL name: letters, digits, `-` and `_`, a letter first."""
    text = "".join(c if (c.isalnum() and c.isascii()) or c in "-_" else "-" for c in name.lower())
    return text if text[:1].isalpha() else f"n{text}"


def _fresh(name: str, taken: set[str]) -> str:
    new, number = name, 1
    while new in taken:
        number += 1
        new = f"{name}-{number}"
    taken.add(new)
    return new

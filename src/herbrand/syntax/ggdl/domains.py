"""Domains of fluents and moves, and the `base` and `input` rules that declare them."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from herbrand.errors import BudgetExceeded
from herbrand.syntax.ggdl import nodes as n
from herbrand.syntax.ggdl.effects import argument_names
from herbrand.syntax.ggdl.integers import bind_assigned, tables, with_bounds
from herbrand.syntax.ggdl.program import show
from herbrand.syntax.ggdl.relax import relax
from herbrand.syntax.ground import as_term, instance, match
from herbrand.syntax.names import unused
from herbrand.syntax.nodes import Atom, Constant, Function, Rule, Variable, applied, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from herbrand.syntax.ggdl.program import Fluent, GgdlProgram
    from herbrand.syntax.ggdl.relax import DerivedFacts
    from herbrand.syntax.ground import Ground
    from herbrand.syntax.nodes import Term

__all__ = ["find_domains", "resolve_initial", "sort_key"]

_Part: TypeAlias = "tuple[tuple[Term, ...], tuple[Atom, ...]]"
"""Arguments of a fluent, and the conditions on the variables in them."""
START, OWN_INPUT = "ggdl_start", "ggdl_own_input"


def sort_key(ground: Ground) -> tuple[int, int, str]:
    """Sort key for values without a type: integers, other constants, compound terms."""
    if isinstance(ground, str):
        if ground.lstrip("-").isdecimal():
            return 0, int(ground), ""
        return 1, 0, ground
    return 2, 0, str(as_term(ground))


# -- initial state -------------------------------------------------------------------------------


def resolve_initial(program: GgdlProgram) -> None:
    """Where a place has two initial values, keep that of the more specific `init`."""
    by_fluent: dict[tuple[str, int], list[tuple[int, Rule]]] = {}
    for number, rule in program.rules:
        begun = rule.head.args[0] if rule.head.key == ("init", 1) else None
        if isinstance(begun, Constant | Function):
            by_fluent.setdefault(begun.key, []).append((number, rule))
    for fluent in program.fluents.values():
        entries = by_fluent.get(fluent.key, [])
        if fluent.functional and len(entries) > 1:
            _resolve(program, fluent, entries)


def _rank(program: GgdlProgram, number: int, rule: Rule) -> tuple[Term, ...] | None:
    """Return the argument pattern of an `init`; None for that of a surface, the most general of all."""
    if isinstance(program.sentences[number], n.SurfaceSentence):
        return None
    fluent = rule.head.args[0]
    assert isinstance(fluent, Function)
    return fluent.args[:-1]


def _resolve(program: GgdlProgram, fluent: Fluent, entries: list[tuple[int, Rule]]) -> None:
    values: dict[tuple[Ground, ...], list[tuple[Ground, int]]] = {}
    static = [rule for _, rule in program.rules if rule.head.name not in {"next", "legal", "init"}]
    for index, (_, rule) in enumerate(entries):
        head = Atom(f"{START}_{index}", rule.head.args)
        model = relax(
            [Rule(head, rule.body), *(static if rule.body else ())],
            [("", head.name, 1)],
            tables(program),
            program.universe,
        )
        for (row,) in model.rows(("", head.name, 1)):
            assert not isinstance(row, str)
            values.setdefault(row[1:-1], []).append((row[-1], index))
    patterns = [_rank(program, number, rule) for number, rule in entries]
    chosen: dict[tuple[Ground, ...], tuple[Ground, int]] = {}
    conflict = False
    for place, candidates in values.items():
        if len({value for value, _ in candidates}) == 1:
            chosen[place] = candidates[0]
            continue
        conflict = True
        best = [
            (value, i)
            for value, i in candidates
            if all(other == value or _is_instance(patterns[i], patterns[j]) for other, j in candidates)
        ]
        if not best:
            first, at = candidates[0]
            number, other_rule = next(entries[j] for value, j in candidates if value != first)
            program.report.source = program.sentences[number].source
            program.report.add(
                "E-INIT-CONFLICT",
                f"`{fluent.spelling}` has the initial value `{show(as_term(first))}`, and another",
                other_rule,
                help="the more specific left side wins, but here neither is more specific",
                labels=[(entries[at][1], "the first value")],
            )
            return
        chosen[place] = best[0]
    if not conflict:
        return
    dropped = {id(rule) for _, rule in entries}
    program.rules = [(number, rule) for number, rule in program.rules if id(rule) not in dropped]
    for place, (value, index) in sorted(chosen.items(), key=lambda item: list(map(sort_key, item[0]))):
        number, rule = entries[index]
        span = rule.start, rule.end
        term = fluent.term(tuple(map(as_term, (*place, value))), *span)
        program.add_rule(number, Atom("init", (term,), None, *span))


def _is_instance(special: tuple[Term, ...] | None, general: tuple[Term, ...] | None) -> bool:
    """Whether one pattern is a strict instance of another."""
    if special is None or general is None:
        return general is None and special is not None
    return _covers(general, special) and not _covers(special, general)


def _covers(general: tuple[Term, ...], special: tuple[Term, ...]) -> bool:
    names = {variable.name: f"?{variable.name}" for term in special for variable in variables_of(term)}
    values = [instance(term, names) for term in special]
    return len(general) == len(special) and match(general, values, {}) is not None


# -- domains -------------------------------------------------------------------------------------


def find_domains(program: GgdlProgram) -> None:
    """Compute the domain and the values of every fluent and move; write `base` and `input`."""
    bind_assigned(program)
    rules = [rule for _, rule in with_bounds(program)]
    extra = [
        Rule(Atom(START if rule.head.name == "init" else OWN_INPUT, rule.head.args), rule.body)
        for rule in rules
        if rule.head.key in {("init", 1), ("input", 2)}
    ]
    targets: list[tuple[str, str, int]] = [("", OWN_INPUT, 2)] if program.moves else []
    if any(fluent.functional for fluent in program.fluents.values()):
        targets.append(("", START, 1))
    targets += [("true", fluent.name, fluent.arity) for fluent in program.fluents.values()]
    targets += [("does", name, arity) for name, arity in program.moves]
    try:
        bounded = {table.name: (table.low, table.high) for table in program.bounded.values()}
        model = relax([*rules, *extra], targets, tables(program), program.universe, bounded)
    except BudgetExceeded as error:
        sentence = next(
            (program.sentences[number] for number in program.moves.values()), program.sentences[0]
        )
        program.report.source = sentence.source
        program.report.add(
            "E-MOVE-DOMAIN",
            f"the possible moves cannot be enumerated: {error.spent}",
            sentence.report_span,
            help="moves and fluents must have finitely many arguments",
        )
        return
    for start, end in sorted(model.overflow):
        program.report.source = program.source
        table = program.bounded[start, end]
        program.report.add(
            "W-INT-RANGE",
            f"the result can leave the integers from {table.low} to {table.high}; nothing is assigned then",
            (start, end),
            help="add a condition, or declare a data type that contains the results",
        )
    program.outside = model.outside
    program.rules = with_bounds(program, model.overflow)
    initial: dict[tuple[str, int], set[tuple[Ground, ...]]] = {}
    for (row,) in model.rows(("", START, 1)):
        name, *args = (row,) if isinstance(row, str) else row
        initial.setdefault((str(name), len(args)), set()).add(tuple(args))
    for fluent in program.fluents.values():
        _domain(program, fluent, model.fluents(*fluent.key), initial.get(fluent.key, set()))
    _write_base(program)
    _write_inputs(program, model)


def _domain(
    program: GgdlProgram, fluent: Fluent, rows: set[tuple[Ground, ...]], initial: set[tuple[Ground, ...]]
) -> None:
    if not fluent.functional:
        fluent.domain = tuple(tuple(map(as_term, row)) for row in _sorted(program, fluent, rows))
        return
    places = {row[:-1] for row in rows}
    if fluent.value is not None and all(kind is not None for kind in fluent.arguments):
        places |= set(product(*(_members(program, str(kind)) for kind in fluent.arguments)))
    fluent.domain = tuple(tuple(map(as_term, row)) for row in _sorted(program, fluent, places))
    fluent.total = not fluent.removed and places == {row[:-1] for row in initial}
    values = {row[-1] for row in rows}
    fluent.value = _value_type(program, fluent, values, {row[-1] for row in initial})
    if fluent.value is not None:
        fluent.values = program.type_members(fluent.value) or ()
    else:
        fluent.values = tuple(as_term(value) for value in sorted(values, key=sort_key))


def _members(program: GgdlProgram, kind: str) -> list[Ground]:
    """Return the members of a type as values, in order; none for an unknown type."""
    return [instance(member, {}) for member in program.type_members(kind) or ()]


def _sorted(program: GgdlProgram, fluent: Fluent, rows: set[tuple[Ground, ...]]) -> list[tuple[Ground, ...]]:
    """Sort tuples by the member order of their types, where known."""
    orders: list[dict[Ground, int]] = []
    for i, column in enumerate(map(set, zip(*rows, strict=True))):
        kinds = (fluent.argument_type(i), *_least(program, column))
        orders_of_types = (_members(program, kind) for kind in kinds if kind)
        fitting = next((members for members in orders_of_types if column <= set(members)), [])
        orders.append({member: k for k, member in enumerate(fitting)})
    return sorted(
        rows, key=lambda row: [(orders[i].get(value, -1), sort_key(value)) for i, value in enumerate(row)]
    )


def _least(program: GgdlProgram, values: set[Ground]) -> list[str]:
    """Return the smallest declared types that contain these values."""
    fitting: list[tuple[str, frozenset[Ground]]] = []
    for name in (*program.types, "role"):
        members = frozenset(_members(program, name))
        if values <= members:
            fitting.append((name, members))
    return [name for name, members in fitting if not any(other < members for _, other in fitting)]


def _value_type(
    program: GgdlProgram, fluent: Fluent, values: set[Ground], initial: set[Ground]
) -> str | None:
    sentence = program.sentences[fluent.order]
    program.report.source = sentence.source
    span = sentence.imported or (fluent.start, fluent.end)
    if fluent.value is not None:
        foreign = sorted(values - set(_members(program, fluent.value)), key=sort_key)
        if foreign:
            listed = ", ".join(f"`{show(as_term(value))}`" for value in foreign[:3])
            program.report.add(
                "E-TYPE-MISMATCH",
                f"`{fluent.spelling}` can become {listed}, which is not in its type `{fluent.value}`",
                span,
            )
        return fluent.value
    if not values:
        return None
    least = _least(program, values)
    if len({frozenset(_members(program, name)) for name in least}) > 1:
        program.report.add(
            "E-TYPE-AMBIGUOUS",
            f"the values of `{fluent.spelling}` are all in {' and in '.join(f'`{name}`' for name in least)}",
            span,
            help=f"declare its type: `base {fluent.spelling}… = {least[0]}`",
        )
    if least:
        return least[0]
    for value, name in product(sorted(initial, key=sort_key), program.types):
        if value in _members(program, name):
            others = sorted(values - set(_members(program, name)), key=sort_key)
            program.report.add(
                "E-TYPE-MISMATCH",
                f"`{fluent.spelling}` begins with `{show(as_term(value))}` of type `{name}`, but can become "
                f"`{show(as_term(others[0]))}`, which is not in it",
                span,
                help="put all values into one type with `data`",
            )
            break
    return None


# -- base and input ------------------------------------------------------------------------------


def _column_type(program: GgdlProgram, column: set[Ground], preferred: str | None) -> str | None:
    """Return a type with exactly these members, or None."""
    names = (preferred, *program.types, "role", *program.ranges)
    return next((name for name in names if name and set(_members(program, name)) == column), None)


def _write_base(program: GgdlProgram) -> None:
    own = program.explicit_heads.get("base", [])
    undeclared = program.plain_fluents - program.fluents.keys()
    if not own and undeclared:
        return  # a partial declaration would be wrong
    for fluent in program.fluents.values():
        if fluent.key in own or ("", -1) in own:
            continue
        sentence = program.sentences[fluent.order]
        span = sentence.imported or (fluent.start, fluent.end)
        places = _base_places(program, fluent, span)
        for (args, conditions), (value, kind) in product(places, _base_values(program, fluent, span)):
            head = Atom("base", (fluent.term((*args, *value), *span),), None, *span)
            program.add_rule(fluent.order, head, (*conditions, *kind))


def _base_values(program: GgdlProgram, fluent: Fluent, span: tuple[int, int]) -> list[_Part]:
    """Return the values of a fluent for its `base` rules: a variable and its type, or each value."""
    if not fluent.functional:
        return [((), ())]
    if fluent.value is None:
        return [((value,), ()) for value in fluent.values]
    variable = Variable(unused("v", {v.name for v in argument_names(program, fluent)}), None, *span)
    return [((variable,), (Atom(fluent.value, (variable,), None, *span),))]


def _base_places(program: GgdlProgram, fluent: Fluent, span: tuple[int, int]) -> list[_Part]:
    """Return the other arguments of a fluent for its `base` rules: variables with types, or each tuple."""
    names = tuple(Variable(name.name, None, *span) for name in argument_names(program, fluent))
    if fluent.name == "cell" and program.instances:
        return [(names, (Atom(program.fresh("cell_at"), names, None, *span),))]
    columns = [set(column) for column in zip(*fluent.domain, strict=True)]
    types = [
        _column_type(program, {instance(term, {}) for term in column}, fluent.argument_type(i))
        for i, column in enumerate(columns)
    ]
    if fluent.domain and all(types) and prod(map(len, columns)) == len(fluent.domain):
        return [(names, _typed(types, names, span))]
    return [(place, ()) for place in fluent.domain]


def _typed(
    types: Iterable[str | None], variables: tuple[Variable, ...], span: tuple[int, int]
) -> tuple[Atom, ...]:
    """Return the conditions that variables are of these types."""
    return tuple(
        Atom(str(kind), (variable,), None, *span) for kind, variable in zip(types, variables, strict=True)
    )


def _write_inputs(program: GgdlProgram, model: DerivedFacts) -> None:
    if program.explicit_heads.get("input"):
        declared = model.rows(("", OWN_INPUT, 2))
        roles = {row[0] for row in declared}
        for (name, arity), number in program.moves.items():
            sentence = program.sentences[number]
            for role, *args in sorted(model.actions(name, arity), key=str):
                action: Ground = (name, *args) if args else name
                if role in roles and (role, action) not in declared:
                    program.report.source = sentence.source
                    program.report.add(
                        "W-INPUT",
                        f"`{as_term(action)}` may become legal for `{role}`, but no `input` lists it",
                        sentence.report_span,
                    )
                    break
        return
    legal = set(program.explicit_heads.get("legal", ()))
    if legal - set(program.moves):
        return
    for (name, arity), number in program.moves.items():
        span = program.sentences[number].report_span
        rows = model.actions(name, arity)
        spellings = (act.spelling for act in _legal(program) if act.name == name)
        spelling = next(spellings, name)
        columns = [set(column) for column in zip(*rows, strict=True)]
        types = [_column_type(program, column, "role" if not i else None) for i, column in enumerate(columns)]
        inputs: list[tuple[Term, tuple[Term, ...], tuple[Atom, ...]]]
        if not rows or prod(map(len, columns)) != len(rows) or not all(types[1:]):
            by_values = sorted(rows, key=lambda row: list(map(sort_key, row)))
            inputs = [(as_term(row[0]), tuple(map(as_term, row[1:])), ()) for row in by_values]
        else:
            variables = _variables(program, name, arity, span)
            conditions = _typed(types[1:], variables, span)
            if types[0] is None:  # write out the role if only one can make the move
                movers = map(as_term, sorted(columns[0], key=sort_key))
                inputs = [(mover, variables, conditions) for mover in movers]
            else:
                player = Variable(unused("r", {v.name for v in variables}), None, *span)
                inputs = [(player, variables, (Atom("role", (player,), None, *span), *conditions))]
        for mover, terms, body in inputs:
            act = applied(name, terms, spelling, *span)
            program.add_rule(number, Atom("input", (mover, act), None, *span), body)


def _legal(program: GgdlProgram) -> Iterator[Constant | Function]:
    """Yield the actions in the heads of the rules of `legal`."""
    for _, rule in program.rules:
        if rule.head.key == ("legal", 2) and not isinstance(rule.head.args[1], Variable):
            yield rule.head.args[1]


def _variables(program: GgdlProgram, name: str, arity: int, span: tuple[int, int]) -> tuple[Variable, ...]:
    """Return variables for the arguments of an action, named as in its `legal` rule."""
    for action in _legal(program):
        names = dict.fromkeys(arg.name for arg in action.args if isinstance(arg, Variable))
        if action.key == (name, arity) and len(names) == arity:
            return tuple(Variable(each, None, *span) for each in names)
    return tuple(Variable(f"x{i + 1}" if arity > 1 else "x", None, *span) for i in range(arity))


def check_moves(program: GgdlProgram) -> None:
    """Reject moves with an unbound argument."""
    program.rules = [entry for entry in program.rules if not _is_unbound(program, *entry)]


def _is_unbound(program: GgdlProgram, number: int, rule: Rule) -> bool:
    """Report a move with an argument that nothing limits; return whether it is one."""
    if rule.head.key != ("legal", 2) or not rule.body:
        return False
    sentence = program.sentences[number]
    if not isinstance(sentence, n.MoveSentence):
        return False
    bound = {v.name for literal in rule.body if isinstance(literal, Atom) for v in variables_of(literal)}
    unbound = next((v for v in variables_of(rule.head) if v.name not in bound), None)
    if unbound is None:
        return False
    program.report.source = sentence.source
    program.report.add(
        "E-MOVE-DOMAIN",
        f"nothing limits the values of `?{unbound.spelling}`",
        sentence.imported or (unbound.start, unbound.end),
        help=f"give it a type: `?{unbound.spelling}:T`, or a condition that binds it",
    )
    return True

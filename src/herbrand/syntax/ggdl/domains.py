"""Domains of fluents and moves, and the `base` and `input` rules that declare them."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from herbrand.errors import BudgetExceeded
from herbrand.syntax.ggdl import nodes as n
from herbrand.syntax.ggdl.effects import argument_names
from herbrand.syntax.ggdl.integers import bind_assigned, tables, with_bounds
from herbrand.syntax.ggdl.program import show
from herbrand.syntax.ggdl.relax import from_term, relax
from herbrand.syntax.ground import as_term
from herbrand.syntax.names import fresh
from herbrand.syntax.nodes import Atom, Constant, Function, Rule, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.syntax.ggdl.program import Fluent, GgdlProgram
    from herbrand.syntax.ggdl.relax import DerivedFacts
    from herbrand.syntax.ground import Ground
    from herbrand.syntax.nodes import Term

__all__ = ["find_domains", "resolve_initial", "sort_key"]

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
            first, second = (
                entries[candidates[0][1]],
                next(entries[j] for value, j in candidates if value != candidates[0][0]),
            )
            program.report.source = program.sentences[second[0]].source
            program.report.add(
                "E-INIT-CONFLICT",
                f"`{fluent.spelling}` has the initial value `{show(as_term(candidates[0][0]))}`, and another",
                second[1],
                help="the more specific left side wins, but here neither is more specific",
                labels=[(first[1], "the first value")],
            )
            return
        chosen[place] = best[0]
    if not conflict:
        return
    dropped = {id(rule) for _, rule in entries}
    rules = [(number, rule) for number, rule in program.rules if id(rule) not in dropped]
    for place, (value, index) in sorted(chosen.items(), key=lambda item: list(map(sort_key, item[0]))):
        number, rule = entries[index]
        term = Function(
            fluent.name, tuple(map(as_term, (*place, value))), fluent.spelling, rule.start, rule.end
        )
        rules.append(
            (number, Rule(Atom("init", (term,), None, rule.start, rule.end), (), rule.start, rule.end))
        )
    program.rules = rules


def _is_instance(special: tuple[Term, ...] | None, general: tuple[Term, ...] | None) -> bool:
    """Whether one pattern is a strict instance of another."""
    if special is None or general is None:
        return general is None and special is not None
    return _covers(general, special) and not _covers(special, general)


def _covers(general: tuple[Term, ...], special: tuple[Term, ...]) -> bool:
    binding: dict[str, Term] = {}

    def match(pattern: Term, term: Term) -> bool:
        if isinstance(pattern, Variable):
            return binding.setdefault(pattern.name, term) == term
        if isinstance(pattern, Function) and isinstance(term, Function):
            return pattern.key == term.key and all(map(match, pattern.args, term.args))
        return pattern == term

    return len(general) == len(special) and all(map(match, general, special))


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
        if not isinstance(row, str):
            initial.setdefault((str(row[0]), len(row) - 1), set()).add(row[1:])
        else:
            initial.setdefault((row, 0), set()).add(())
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
    places = {row[:-1] for row in rows} | {tuple(_ground(term) for term in place) for place in fluent.domain}
    if fluent.value is not None and all(kind is not None for kind in fluent.arguments) and not fluent.domain:
        members = [program.type_members(str(kind)) or () for kind in fluent.arguments]
        places |= {tuple(map(_ground, combo)) for combo in product(*members)}
    fluent.domain = tuple(tuple(map(as_term, row)) for row in _sorted(program, fluent, places))
    fluent.total = not fluent.removed and places == {row[:-1] for row in initial}
    values = {row[-1] for row in rows}
    value_type = _value_type(program, fluent, values, {row[-1] for row in initial})
    if value_type is not None:
        fluent.value = value_type
        fluent.values = program.type_members(value_type) or ()
    else:
        fluent.values = tuple(as_term(value) for value in sorted(values, key=sort_key))


def _ground(term: Term) -> Ground:
    ground = from_term(term, {})
    assert ground is not None
    return ground


def _sorted(
    program: GgdlProgram, fluent: Fluent, rows: Iterable[tuple[Ground, ...]]
) -> list[tuple[Ground, ...]]:
    """Sort tuples by the member order of their types, where known."""
    rows = list(rows)
    size = max((len(row) for row in rows), default=0)
    orders: list[dict[Ground, int]] = []
    for i in range(size):
        column = {row[i] for row in rows}
        kind = fluent.arguments[i] if i < len(fluent.arguments) else None
        order: dict[Ground, int] = {}
        for name in (kind, *_least(program, column)):
            members = program.type_members(name) if name else None
            if members is not None and column <= set(map(_ground, members)):
                order = {_ground(member): k for k, member in enumerate(members)}
                break
        orders.append(order)
    return sorted(
        rows, key=lambda row: [(orders[i].get(value, -1), sort_key(value)) for i, value in enumerate(row)]
    )


def _least(program: GgdlProgram, values: set[Ground]) -> list[str]:
    """Return the smallest declared types that contain these values."""
    fitting: list[tuple[str, frozenset[Ground]]] = []
    for name in (*program.types, "role"):
        members = frozenset(map(_ground, program.type_members(name) or ()))
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
        members = set(map(_ground, program.type_members(fluent.value) or ()))
        foreign = sorted(values - members, key=sort_key)
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
    kinds = {frozenset(map(_ground, program.type_members(name) or ())) for name in least}
    if len(kinds) > 1:
        program.report.add(
            "E-TYPE-AMBIGUOUS",
            f"the values of `{fluent.spelling}` are all in {' and in '.join(f'`{name}`' for name in least)}",
            span,
            help=f"declare its type: `base {fluent.spelling}… = {least[0]}`",
        )
    if least:
        return least[0]
    typed = [
        (value, name)
        for value in sorted(initial, key=sort_key)
        for name in program.types
        if value in set(map(_ground, program.types[name].members))
    ]
    if typed:
        value, name = typed[0]
        others = sorted(values - set(map(_ground, program.types[name].members)), key=sort_key)
        program.report.add(
            "E-TYPE-MISMATCH",
            f"`{fluent.spelling}` begins with `{show(as_term(value))}` of type `{name}`, but can become "
            f"`{show(as_term(others[0]))}`, which is not in it",
            span,
            help="put all values into one type with `data`",
        )
    return None


# -- base and input ------------------------------------------------------------------------------


def _column_type(program: GgdlProgram, column: set[Ground], preferred: str | None) -> str | None:
    """Return a type with exactly these members, or None."""
    for name in (preferred, *program.types, "role", *program.ranges):
        if name is None:
            continue
        members = program.type_members(name)
        if members is not None and set(map(_ground, members)) == column:
            return name
    return None


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
        for head, body in _base(program, fluent, span):
            atom = Atom("base", (head,), None, *span)
            program.rules.append((fluent.order, Rule(atom, tuple(body), *span)))


def _base(program: GgdlProgram, fluent: Fluent, span: tuple[int, int]) -> list[tuple[Term, list[Atom]]]:
    """Return the heads and bodies of the `base` rules of a fluent."""
    rows = {tuple(map(_ground, place)) for place in fluent.domain}
    size = fluent.arity - fluent.functional
    value_parts: list[tuple[list[Term], list[Atom]]] = [([], [])]
    if fluent.functional:
        value = Variable(fresh("v", {v.name for v in argument_names(program, fluent)}), None, *span)
        if fluent.value is not None:
            value_parts = [([value], [Atom(fluent.value, (value,), None, *span)])]
        else:
            value_parts = [([term], []) for term in fluent.values]
    names = [Variable(name.name, None, *span) for name in argument_names(program, fluent)]
    at = program.fresh("cell_at")
    place_parts: list[tuple[list[Term], list[Atom]]]
    if fluent.name == "cell" and program.instances:
        place_parts = [(list(names), [Atom(at, tuple(names), None, *span)])]
    else:
        types: list[str | None] = []
        for i in range(size):
            kind = fluent.arguments[i] if i < len(fluent.arguments) else None
            types.append(_column_type(program, {row[i] for row in rows}, kind))
        product_size = 1
        for i in range(size):
            product_size *= len({row[i] for row in rows})
        if rows and all(types) and product_size == len(rows):
            place_parts = [
                (
                    list(names),
                    [Atom(str(kind), (name,), None, *span) for kind, name in zip(types, names, strict=True)],
                )
            ]
        else:
            place_parts = [(list(place), []) for place in fluent.domain]
    terms: list[tuple[Term, list[Atom]]] = []
    for args, conditions in place_parts:
        for value_args, value_conditions in value_parts:
            args_and_value = (*args, *value_args)
            term: Term = (
                Function(fluent.name, args_and_value, fluent.spelling, *span)
                if args_and_value
                else Constant(fluent.name, fluent.spelling, *span)
            )
            terms.append((term, [*conditions, *value_conditions]))
    return terms


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
        rows = model.actions(name, arity)
        sentence = program.sentences[number]
        span = sentence.report_span
        columns = [{row[i] for row in rows} for i in range(arity + 1)] if rows else []
        product_size = 1
        for column in columns:
            product_size *= len(column)
        spelling = next(
            (
                action.spelling
                for _, rule in program.rules
                if rule.head.key == ("legal", 2)
                for action in rule.head.args[1:]
                if isinstance(action, Function | Constant) and action.name == name
            ),
            name,
        )
        types = [_column_type(program, column, "role" if not i else None) for i, column in enumerate(columns)]
        # write out the role if only one can make the move
        if rows and product_size == len(rows) and all(types[1:]):
            variables = _variables(program, name, arity, span)
            conditions = [Atom(str(t), (v,), None, *span) for t, v in zip(types[1:], variables, strict=True)]
            act = _action(name, spelling, variables, span)
            if types[0] is not None:
                player = Variable(fresh("r", {v.name for v in variables}), None, *span)
                body = (Atom("role", (player,), None, *span), *conditions)
                program.rules.append((number, Rule(Atom("input", (player, act), None, *span), body, *span)))
                continue
            for mover in sorted(columns[0], key=sort_key):
                head = Atom("input", (as_term(mover), act), None, *span)
                program.rules.append((number, Rule(head, tuple(conditions), *span)))
            continue
        for row in sorted(rows, key=lambda r: list(map(sort_key, r))):
            act = _action(name, spelling, tuple(map(as_term, row[1:])), span)
            program.rules.append(
                (number, Rule(Atom("input", (as_term(row[0]), act), None, *span), (), *span))
            )


def _variables(program: GgdlProgram, name: str, arity: int, span: tuple[int, int]) -> tuple[Variable, ...]:
    """Return variables for the arguments of an action, named as in its `legal` rule."""
    for _, rule in program.rules:
        action = rule.head.args[1] if rule.head.key == ("legal", 2) else None
        if isinstance(action, Function) and action.key == (name, arity):
            names = [arg.name for arg in action.args if isinstance(arg, Variable)]
            if len(set(names)) == arity:
                return tuple(Variable(each, None, *span) for each in names)
    return tuple(Variable(f"x{i + 1}" if arity > 1 else "x", None, *span) for i in range(arity))


def _action(name: str, spelling: str, args: tuple[Term, ...], span: tuple[int, int]) -> Term:
    return Function(name, args, spelling, *span) if args else Constant(name, spelling, *span)


def check_moves(program: GgdlProgram) -> None:
    """Reject moves with an unbound argument."""
    rules: list[tuple[int, Rule]] = []
    for number, rule in program.rules:
        if (
            rule.head.key == ("legal", 2)
            and rule.body
            and isinstance(program.sentences[number], n.MoveSentence)
        ):
            bound = {
                v.name for literal in rule.body if isinstance(literal, Atom) for v in variables_of(literal)
            }
            unbound = next((v for v in variables_of(rule.head) if v.name not in bound), None)
            if unbound is not None:
                sentence = program.sentences[number]
                program.report.source = sentence.source
                program.report.add(
                    "E-MOVE-DOMAIN",
                    f"nothing limits the values of `?{unbound.spelling}`",
                    sentence.imported or (unbound.start, unbound.end),
                    help=f"give it a type: `?{unbound.spelling}:T`, or a condition that binds it",
                )
                continue
        rules.append((number, rule))
    program.rules = rules

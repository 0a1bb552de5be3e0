"""Declaration of roles, data types with preference orders, and constants."""

from __future__ import annotations

from itertools import chain, pairwise, product
from typing import TYPE_CHECKING

from herbrand.syntax.ggdl import nodes as n
from herbrand.syntax.ggdl.program import DataType, show
from herbrand.syntax.ggdl.report import INSTEAD_OF_TYPE, Refused, did_you_mean
from herbrand.syntax.ggdl.values import Values, integer
from herbrand.syntax.nodes import Atom, Constant

if TYPE_CHECKING:
    from herbrand.syntax.ggdl.program import GgdlProgram
    from herbrand.syntax.nodes import Term

__all__ = ["declare_constants", "declare_roles", "declare_types", "define_type", "named_type"]


def declare_roles(program: GgdlProgram) -> None:
    """Collect the roles in order of declaration."""
    for sentence in program.sentences:
        if isinstance(sentence, n.RoleSentence):
            for name in sentence.names:
                if name.spelling != "_":
                    _role(program, Constant(name.folded, name.spelling, name.start, name.end))
                    if sentence.doc and len(sentence.names) == 1:
                        program.docs.setdefault(name.folded, sentence.doc)
        elif isinstance(sentence, n.PrefixSentence):
            for rule in program.plain_rules.get(id(sentence), ()):
                role = rule.head.args[0] if rule.is_fact and rule.head.key == ("role", 1) else None
                if isinstance(role, Constant):
                    _role(program, role)
        elif isinstance(sentence, n.RuleSentence) and sentence.body is None:
            values = Values(program)
            for head in sentence.heads:
                if isinstance(head, n.FunctionCall) and len(head.args) == 1 and head.folded == "role":
                    argument = head.args[0]
                    if isinstance(argument, n.Name):
                        place = argument.start, argument.end
                        _role(program, Constant(argument.folded, argument.spelling, *place))
                    elif isinstance(argument, n.Number | n.Quoted | n.String):
                        constant = values.literal(argument, argument.start, argument.end)
                        program.roles.setdefault(constant.name, constant)


def _role(program: GgdlProgram, role: Constant) -> None:
    program.roles.setdefault(role.name, role)
    program.declare(role.spelling, "role")


def declare_constants(program: GgdlProgram) -> None:
    """Evaluate `const N := v` and `N <=> v`, which may refer to each other in any order."""
    pending = [s for s in program.sentences if isinstance(s, n.ConstantSentence)]
    names = {s.name for s in pending}
    while pending:
        blocked: list[n.ConstantSentence] = []
        for sentence in pending:
            program.report.source = sentence.source
            needed = _names_in(sentence.value) & names
            if any(s.name in needed and s is not sentence for s in pending):
                blocked.append(sentence)
                continue
            program.declare(sentence.name, "constant")
            try:
                if sentence.name in program.constants:
                    program.report.refuse("E-NAME-CLASH", f"`{sentence.name}` is declared twice", sentence)
                program.constants[sentence.name] = Values(program).term(sentence.value)
            except Refused:
                program.constants.setdefault(sentence.name, Constant("0"))
        if len(blocked) == len(pending):
            for sentence in blocked:
                program.report.add("E-CONST", f"`{sentence.name}` is defined in terms of itself", sentence)
                program.constants[sentence.name] = Constant("0")
            return
        pending = blocked


def _names_in(expr: n.Expr) -> set[str]:
    match expr:
        case n.Name(spelling=spelling):
            return {spelling}
        case n.FunctionCall(args=args):
            return {name for arg in args for name in _names_in(arg)}
        case n.Sum(left=left, right=right):
            return _names_in(left) | _names_in(right)
    return set()


def declare_types(program: GgdlProgram) -> None:
    """Collect the members and preferences of every data type."""
    for sentence in program.sentences:
        if isinstance(sentence, n.RuleSentence) and sentence.body is None:
            _unary_facts(program, sentence)
        elif isinstance(sentence, n.PrefixSentence):
            for rule in program.plain_rules.get(id(sentence), ()):
                head = rule.head
                if not rule.body and len(head.args) == 1 and isinstance(head.args[0], Constant):
                    program.unary_facts.setdefault(head.name, []).append(head.args[0])
    for sentence in program.sentences:
        if isinstance(sentence, n.DataSentence):
            define_type(program, sentence.name.lower())


def _unary_facts(program: GgdlProgram, sentence: n.RuleSentence) -> None:
    values = Values(program)
    for head in sentence.heads:
        if isinstance(head, n.FunctionCall) and len(head.args) == 1:
            count = len(program.report.diagnostics)
            try:
                terms = [values.term(e) for e in values.expanded(head.args[0])]
            except Refused:
                del program.report.diagnostics[count:]
                continue
            program.unary_facts.setdefault(head.folded, []).extend(terms)


def define_type(program: GgdlProgram, name: str, open_ones: tuple[str, ...] = ()) -> tuple[Term, ...] | None:
    """Return the members of a type, evaluating its definition on first use."""
    if name in program.types:
        return program.types[name].members
    sentences = [s for s in program.sentences if isinstance(s, n.DataSentence) and s.name.lower() == name]
    if not sentences:
        return program.type_members(name)
    first, *others = sentences
    report = program.report
    outer_source = report.source
    report.source = first.source
    try:
        if name in open_ones:
            report.refuse("E-CONST", f"the type `{first.name}` contains itself", first)
        for other in others:
            report.add(
                "E-NAME-CLASH",
                f"the type `{other.name}` is declared twice",
                other,
                labels=[(first, "declared here first")],
            )
        members: dict[Term, None] = {}
        pairs: dict[tuple[Term, Term], None] = {}
        for group in first.groups:
            _chain(program, first, group, members, pairs, (*open_ones, name))
        if not members:
            report.refuse("E-RANGE-EMPTY", f"the type `{first.name}` is empty", first)
        program.types[name] = DataType(name, first.name, tuple(members), tuple(pairs), first.doc)
    except Refused:
        program.types[name] = DataType(name, first.name, (integer(0),))
    finally:
        report.source = outer_source
    program.declare(first.name, "type")
    return program.types[name].members


def _chain(
    program: GgdlProgram,
    sentence: n.DataSentence,
    levels: tuple[n.Level, ...],
    members: dict[Term, None],
    pairs: dict[tuple[Term, Term], None],
    open_ones: tuple[str, ...],
) -> None:
    ranks: list[tuple[list[Term], str]] = []
    for level in levels:
        rank: list[Term] = []
        for item in level.items:
            terms = _item(program, item, open_ones)
            members.update(dict.fromkeys(terms))
            rank += terms
            if isinstance(item, n.Interval) and len(levels) > 1:
                pairs.update(dict.fromkeys(pairwise(terms)))
        ranks.append((rank, level.link))
    run: list[list[Term]] = []
    for rank, link in ranks:
        lower = run if link == "<<<" else run[-1:] if link == "<<" else []
        for worse, better in product(chain.from_iterable(lower), rank):
            pairs[worse, better] = None
            if worse == better and link == "<<<":
                program.report.refuse(
                    "E-PREF-CYCLE",
                    f"`{show(worse)}` would be preferred to itself",
                    sentence,
                    help="`<<` relates only neighbours and may be cyclic",
                )
        run = [*run, rank] if link == "<<<" else [rank]


def _item(program: GgdlProgram, item: n.Expr, open_ones: tuple[str, ...]) -> list[Term]:
    values = Values(program)
    if isinstance(item, n.Name) and item.spelling not in program.constants:
        if item.folded in {"role", "roles"}:
            return list(program.roles.values())
        if item.folded in {"int", "string", "bool"}:
            program.report.refuse(
                "E-TYPE-INFINITE",
                f"`{item.spelling}` is not a finite type",
                item,
                help="write a range such as `1 .. 9`",
            )
        inner = define_type(program, item.folded, open_ones) if item.folded != open_ones[-1] else None
        if inner is not None:
            return list(inner)
    elements = values.elements(item) if isinstance(item, n.Comprehension) else values.expanded(item)
    terms = [values.term(element) for element in elements]
    for element in elements:
        _declare_values(program, element)
    return terms


def _declare_values(program: GgdlProgram, expr: n.Expr) -> None:
    if isinstance(expr, n.Name):
        program.declare(expr.spelling, "value")
    elif isinstance(expr, n.FunctionCall):
        for arg in expr.args:
            _declare_values(program, arg)


def named_type(program: GgdlProgram, kind: n.Type) -> str:
    """Return the name of the relation for a type expression; anonymous ranges get a generated one."""
    report = program.report
    if kind.name:
        name = kind.name.lower()
        if name == "roles":
            name = "role"
        if name == "int" and kind.bounds:
            return _bounded(program, kind)
        if name in {"int", "string"}:
            report.refuse(
                "E-TYPE-INFINITE",
                f"`{kind.name}` is not a finite type",
                kind,
                help="write a range such as `1 .. 9`, or declare `data T := 1 .. 9`",
            )
        if name != "role" and program.type_members(name) is None:
            hint = did_you_mean(name, [*program.types, "role"])
            if hint is None and name in INSTEAD_OF_TYPE:
                hint = f"did you mean `{INSTEAD_OF_TYPE[name]}`?"
            report.refuse(
                "E-TYPE-UNKNOWN",
                f"unknown type `{kind.name}`",
                kind,
                help=hint or "declare it with `data`",
            )
        return name
    if kind.options:
        options = [term for option in kind.options for term in _item(program, option, ("",))]
        return range_type(program, tuple(dict.fromkeys(options)))
    assert kind.low is not None
    assert kind.high is not None
    members = Values(program).interval(kind.low, kind.high, kind.start, kind.end)
    return range_type(program, members)


def _bounded(program: GgdlProgram, kind: n.Type) -> str:
    low, high = Values(program).bounds(kind)
    if low is None or high is None:
        program.report.refuse("E-TYPE-INFINITE", "`int` needs two bounds to be finite", kind)
    if low > high:
        program.report.refuse("E-RANGE-EMPTY", f"the range {low} .. {high} is empty", kind)
    return range_type(program, tuple(integer(i) for i in range(low, high + 1)))


def range_type(program: GgdlProgram, members: tuple[Term, ...]) -> str:
    """Return the name of a type with these members, introducing one if necessary."""
    for name, data_type in program.types.items():
        if len(data_type.members) == len(members) and set(data_type.members) == set(members):
            return name
    for name, others in program.ranges.items():
        if set(others) == set(members):
            return name
    first, last = show(members[0]), show(members[-1])
    plain = all(isinstance(m, Constant) for m in (members[0], members[-1]))
    name = f"ggdl_{first}_to_{last}".replace("-", "m") if plain else f"ggdl_range_{len(program.ranges) + 1}"
    if name in program.ranges:
        name = f"{name}_{len(program.ranges) + 1}"
    name = program.fresh(name)
    program.ranges[name] = members
    return name


def type_facts(program: GgdlProgram) -> None:
    """Write the facts of roles, data types and preferences."""
    for number, sentence in enumerate(program.sentences):
        span = sentence.report_span
        if isinstance(sentence, n.RoleSentence):
            for name in sentence.names:
                if name.spelling != "_":
                    program.add_rule(number, Atom("role", (program.roles[name.folded],), None, *span))
        elif isinstance(sentence, n.DataSentence):
            kind = program.types.get(sentence.name.lower())
            if kind is None:
                continue
            for member in kind.members:
                program.add_rule(number, Atom(kind.name, (member,), kind.spelling, *span))
            below = program.fresh(f"{kind.name}_below")
            for worse, better in kind.below:
                program.add_rule(number, Atom(below, (worse, better), None, *span))

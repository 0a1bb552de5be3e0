"""Declaration of fluents, the parts of the state, and views, the derived relations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from herbrand.syntax.ggdl import nodes as n
from herbrand.syntax.ggdl.program import Fluent
from herbrand.syntax.ggdl.scope import call_of
from herbrand.syntax.ggdl.types import named_type
from herbrand.syntax.ggdl.values import Values
from herbrand.syntax.nodes import Atom, Constant, Function
from herbrand.syntax.tokens import ARITY, KEYWORDS

if TYPE_CHECKING:
    from herbrand.diagnostic import Spanned
    from herbrand.syntax.ggdl.program import GgdlProgram
    from herbrand.syntax.ggdl.scope import Application, WorkItem

__all__ = ["declare_fluents"]


def declare_fluents(program: GgdlProgram, items: list[WorkItem]) -> None:
    """Collect the fluents and views that sentences declare; functional relations come first."""
    for work in items:
        with program.report.sentence(work.sentence):
            _views(program, work)
            _declared(program, work)
    for work in items:
        with program.report.sentence(work.sentence):
            _assigned(program, work)
    for work in items:
        program.report.source = work.sentence.source
        _facts(program, work)
    _clashes(program)


def _add(program: GgdlProgram, work: WorkItem, fluent: Fluent, place: Spanned) -> None:
    """Register a fluent that is declared at `place`, or merge it into an earlier declaration."""
    fluent.start, fluent.end, fluent.order = place.start, place.end, work.number
    fluent.declared = isinstance(work.sentence, n.InitSentence | n.BaseSentence | n.RoleSentence)
    first = program.fluents.setdefault(fluent.key, fluent)
    if first is not fluent:
        first.functional = first.functional or fluent.functional
        first.arguments = first.arguments or fluent.arguments
        first.value = first.value or fluent.value
        first.declared = first.declared or fluent.declared
    program.declare(fluent.spelling, "fluent")


# -- views ---------------------------------------------------------------------------------------


def _views(program: GgdlProgram, work: WorkItem) -> None:
    sentence = work.sentence
    if isinstance(sentence, n.PrefixSentence):
        for rule in program.plain_rules.get(id(sentence), ()):
            _head(program, rule.head)
    elif isinstance(sentence, n.RuleSentence):
        for head in sentence.heads:
            _written_head(program, head, work)


def _head(program: GgdlProgram, head: Atom) -> None:
    """Record the relation or fluent that a plain rule defines."""
    term = head.args[-1] if head.args else None
    key = term.key if isinstance(term, Constant | Function) else ("", -1)
    if head.name in {"base", "input", "legal"} and head.args:
        program.explicit_heads.setdefault(head.name, []).append(key)
    if isinstance(term, Constant | Function):
        if head.name == "base" or head.key in {("init", 1), ("next", 1)}:
            program.plain_fluents.add(key)
        if head.key == ("next", 1):
            program.explicit_next.add(key)
    if head.name not in ARITY:
        program.views.add(head.key)


def _written_head(program: GgdlProgram, head: n.Expr, work: WorkItem) -> None:
    call = call_of(head, work.lets)
    if call is None:
        return
    name, _, args = call
    if name in {"init", "next", "base"} and len(args) == 1:
        inner = _applied(args[0], work)
        is_variable = work.sentence.plain and isinstance(args[0], n.Name) and args[0].spelling[0].isupper()
        if inner is not None and not is_variable:
            key = inner.key
            program.plain_fluents.add(key)
            program.declare(inner.spelling, "fluent" if name != "base" else "name")
            if name == "next":
                program.explicit_next.add(key)
            if name == "base":
                program.explicit_heads.setdefault("base", []).append(key)
    elif name in {"input", "legal"} and len(args) == 2:
        act = _applied(args[1], work)
        program.explicit_heads.setdefault(name, []).append(act.key if act else ("", -1))
    elif name not in ARITY:
        program.views.add((name, len(args) + (call.key in work.members)))


def _applied(expr: n.Expr, work: WorkItem) -> Application | None:
    """Return a fluent or an action as a call; None for a variable and for a place of a board."""
    return call_of(expr, work.lets) if isinstance(expr, n.Name | n.FunctionCall | n.Member) else None


# -- declarations --------------------------------------------------------------------------------


def _declared(program: GgdlProgram, work: WorkItem) -> None:
    sentence = work.sentence
    if isinstance(sentence, n.RoleSentence):
        for field in sentence.fields:
            _property(program, work, sentence, field)
    elif isinstance(sentence, n.BaseSentence):
        args: list[str | None] = [named_type(program, kind) for kind in sentence.args]
        value = named_type(program, sentence.value) if sentence.value is not None else None
        fluent = Fluent(
            sentence.name.lower(),
            sentence.name,
            len(args) + (value is not None),
            functional=value is not None,
            arguments=args,
            value=value,
            doc=sentence.doc,
        )
        _add(program, work, fluent, sentence)


def _property(program: GgdlProgram, work: WorkItem, sentence: n.RoleSentence, field: n.RoleField) -> None:
    name, span = field.name.lower(), (field.start, field.end)
    if field.external:
        program.external.add(name)
        return
    program.declare(field.name, "property")
    kind = field.type
    values = Values(program)
    constant = field.value
    if kind is not None and not kind.is_set and kind.name and kind.name.lower() != "bool":
        is_type = (
            kind.name.lower() in {"role", "roles"} or program.type_members(kind.name.lower()) is not None
        )
        is_constant = kind.name in program.constants and kind.name.lower() not in program.types
        if is_constant or not (is_type or kind.name.lower() in {"int", "string"}):
            constant = n.Name(kind.start, kind.end, kind.name)
    if constant is not None:
        term = values.term(constant)
        of_all = any(x.spelling == "_" for x in sentence.names)
        roles = program.roles.values() if of_all else [program.roles[x.folded] for x in sentence.names]
        program.static_properties.add((name, 2))
        program.views.add((name, 2))
        place = sentence.imported or span
        for role in roles:
            program.add_rule(work.number, Atom(name, (role, term), field.name, *place))
        return
    assert kind is not None
    if kind.name.lower() == "bool" and not kind.is_set:
        fluent = Fluent(name, field.name, 1, functional=False, arguments=["role"], kind="bool")
    elif kind.is_set:
        fluent = Fluent(
            name, field.name, 2, functional=False, arguments=["role", named_type(program, kind)], kind="set"
        )
    else:
        value = named_type(program, kind)
        fluent = Fluent(name, field.name, 2, functional=True, arguments=["role"], value=value)
    fluent.doc = sentence.doc
    _add(program, work, fluent, field)


def _assigned(program: GgdlProgram, work: WorkItem) -> None:
    """Declare every relation that is assigned a value as a functional fluent."""
    sentence = work.sentence
    if isinstance(sentence, n.InitSentence | n.NextSentence) and sentence.value is not None:
        _function(program, work, sentence.place)
    for effect in _effects(sentence):
        if effect.sign == "=" and effect.place is not None and not _is_bool(program, work, effect):
            _function(program, work, effect.place)


def _effects(sentence: n.Sentence) -> tuple[n.Consequence, ...]:
    return getattr(sentence, "effects", None) or ()


def _is_bool(program: GgdlProgram, work: WorkItem, effect: n.Consequence) -> bool:
    call = call_of(effect.place, work.lets) if effect.place is not None else None
    if call is None or not isinstance(effect.value, n.Name):
        return False
    fluent = program.fluents.get(call.key)
    return fluent is not None and fluent.kind == "bool" and effect.value.folded in {"true", "false"}


def _function(program: GgdlProgram, work: WorkItem, place: n.Expr) -> None:
    call = call_of(place, work.lets)
    if call is None:
        program.report.refuse("E-EFFECT-TARGET", "only a relation can be assigned a value", place)
    name, spelling, args = call
    if isinstance(place, n.Index) or (isinstance(place, n.Var | n.Name) and name == "cell"):
        return  # boards declare their cells themselves
    if name == "cell" and program.instances and (name, len(args) + 1) in program.fluents:
        program.report.refuse(
            "E-NAME-CLASH",
            f"`cell` with {len(args)} arguments and a value is reserved for boards",
            place,
            help="choose another name",
        )
    if kind := _not_a_target(program, name, spelling, len(args) + 1):
        program.report.refuse(
            "E-EFFECT-TARGET", f"`{spelling}` is {kind} and cannot be assigned a value", place
        )
    types = _types(program, args)
    if isinstance(place, n.Member):
        types[0] = "role"
    doc = work.sentence.doc if isinstance(work.sentence, n.InitSentence) else ""
    fluent = Fluent(name, spelling, len(args) + 1, functional=True, arguments=types, doc=doc)
    is_declaration = isinstance(work.sentence, n.InitSentence | n.NextSentence)
    _add(program, work, fluent, work.sentence if is_declaration else place)


def _types(program: GgdlProgram, args: tuple[n.Expr, ...]) -> list[str | None]:
    """Return the types that are written behind arguments, None where there is none."""
    return [
        named_type(program, arg.type) if isinstance(arg, n.Var) and arg.type is not None else None
        for arg in args
    ]


def _not_a_target(program: GgdlProgram, name: str, spelling: str, arity: int) -> str:
    """Return the kind of an immutable name, such as "a role"; "" if effects may change it."""
    if name in KEYWORDS:
        return "a keyword"
    if spelling in program.constants:
        return "a parameter" if any(p.name == spelling for p in program.parameters) else "a constant"
    if (name, arity) in program.views and (name, arity) not in program.plain_fluents:
        return "a derived relation"
    if name in program.types and arity <= 2:
        return "a type" if spelling == program.types[name].spelling else ""
    if name in program.roles and arity == 1:
        return "a role"
    return ""


def _facts(program: GgdlProgram, work: WorkItem) -> None:
    """Declare every relation that is asserted or retracted without a value as a plain fluent."""
    sentence = work.sentence
    if isinstance(sentence, n.InitSentence) and sentence.value is None:
        _fact(program, work, sentence.place, begins=True)
    for effect in _effects(sentence):
        if effect.sign not in {"+", "~", "+=", "-="} or effect.place is None:
            continue
        call = call_of(effect.place, work.lets)
        if call is None:
            continue
        fluent = program.fluents.get((call.name, len(call.args) + 1))
        if effect.sign in {"+", "~"}:
            if fluent is None or not fluent.functional:
                _fact(program, work, effect.place)
        elif fluent is None:
            fluent = Fluent(call.name, call.spelling, len(call.args) + 1, functional=False, kind="set")
            fluent.start, fluent.end, fluent.order = effect.start, effect.end, work.number
            program.fluents[fluent.key] = fluent
    if not isinstance(sentence, n.ConsequenceSentence) or not isinstance(sentence.body, n.Holds):
        return
    if any(effect.sign == "persist" for effect in sentence.effects):
        call = call_of(sentence.body.atom, work.lets)
        if call is not None and call.key in program.plain_fluents - program.views:
            _fact(program, work, sentence.body.atom)


def _fact(program: GgdlProgram, work: WorkItem, place: n.Expr, *, begins: bool = False) -> None:
    call = call_of(place, work.lets)
    if call is None:
        return
    name, spelling, args = call
    if call.key in program.fluents:
        return
    if name in ARITY or (not begins and _not_a_target(program, name, spelling, len(args))):
        return  # reported when the effect is translated
    arity = len(args) + (call.key in work.members)
    fluent = Fluent(name, spelling, arity, functional=False, arguments=_types(program, args))
    _add(program, work, fluent, work.sentence)


def _first_place(program: GgdlProgram, spelling: str) -> tuple[int, int]:
    match = re.search(rf"(?<!\w){re.escape(spelling)}(?!\w)", program.source.text)
    return match.span() if match else (0, 0)


def _clashes(program: GgdlProgram) -> None:
    """Report names that differ only in case but denote different things."""
    by_folded: dict[str, set[str]] = {}
    for spelling, kinds in program.declared.items():
        if kinds & {"value", "role", "constant", "parameter"} and not kinds & {"type"}:
            by_folded.setdefault(spelling.lower(), set()).add(spelling)
    for spellings in by_folded.values():
        if len(spellings) > 1:
            name, other, *_ = sorted(spellings)
            kinds = program.declared[name] | program.declared[other]
            if kinds <= {"value"} or kinds <= {"role"}:
                continue  # one constant in two spellings
            if "role" in kinds and "value" in kinds and not kinds & {"constant", "parameter"}:
                continue
            first, second = sorted(_first_place(program, spelling) for spelling in (name, other))
            program.report.source = program.source
            program.report.add(
                "E-NAME-CLASH",
                f"`{name}` and `{other}` differ only in case, so they are one name, but mean two things",
                second,
                help="rename one of them",
                labels=[(first, "the other one")],
            )

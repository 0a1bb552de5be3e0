"""Effects and inertia: the `next` rules of fluents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.syntax.ggdl import nodes as n
from herbrand.syntax.ggdl.scope import call_of
from herbrand.syntax.names import fresh
from herbrand.syntax.nodes import Atom, Not, Variable

if TYPE_CHECKING:
    from herbrand.syntax.ggdl.program import Fluent, GgdlProgram
    from herbrand.syntax.ggdl.sentences import Change, Sentences
    from herbrand.syntax.nodes import Term

__all__ = ["argument_names", "write_effects"]


def write_effects(program: GgdlProgram, sentences: Sentences) -> None:
    """Write the `next` rules of effects, and the frame rules that carry everything else over.

    Moves (level 2) override consequences without a move (level 1), which override inertia.
    """
    for fluent in program.fluents.values():
        changes = [change for change in sentences.changes if change.fluent is fluent]
        has_next_rules = fluent.key in program.explicit_next
        declared_only = isinstance(program.sentences[fluent.order], n.BaseSentence) and not changes
        if has_next_rules and not declared_only:
            where = changes[0].scope.sentence if changes else None
            start, end = (where.start, where.end) if where else (fluent.start, fluent.end)
            program.report.source = where.source if where else program.source
            program.report.add(
                "W-FRAME",
                f"`{fluent.spelling}` has explicit `next` rules, so it does not persist by itself",
                (start, end),
                help="add rules for what stays true, or use effects only",
            )
        if fluent.functional:
            _functional(program, sentences, fluent, changes, has_next_rules=has_next_rules)
        else:
            _fact(program, sentences, fluent, changes, has_next_rules=has_next_rules)


def _functional(
    program: GgdlProgram, sentences: Sentences, fluent: Fluent, changes: list[Change], *, has_next_rules: bool
) -> None:
    by_level = {
        level: fresh(f"ggdl_{change}_{fluent.name}", program.used_names)
        for level, change in ((2, "set"), (1, "upd"))
    }
    used = {change.level for change in changes}
    program.effects.update(by_level.values())
    for change in changes:
        emitter, scope = sentences.emitter, change.scope
        program.report.source = scope.sentence.source
        span = scope.span(scope.sentence)
        blocked = (
            [Not(Atom(by_level[2], change.args, None, *span), *span)]
            if change.level == 1 and 2 in used and not has_next_rules
            else []
        )
        if change.value is not None:
            term = fluent.term((*change.args, change.value), *span)
            head = Atom("next", (term,), None, *span)
            emitter.write(head, [[*a, *blocked] for a in change.alternatives], scope)
        if not has_next_rules:
            head = Atom(by_level[change.level], change.args, None, *span)
            emitter.write(head, change.alternatives, scope)
    if has_next_rules:
        return
    number, span = _place(program, fluent, changes)
    args = argument_names(program, fluent)
    value = Variable(fresh("v", {arg.name for arg in args}), None, *span)
    term = fluent.term((*args, value), *span)
    replaced = [Atom(by_level[level], args, None, *span) for level in (2, 1) if level in used]
    _persist(program, number, term, replaced)


def _fact(
    program: GgdlProgram, sentences: Sentences, fluent: Fluent, changes: list[Change], *, has_next_rules: bool
) -> None:
    removed = fresh(f"ggdl_del_{fluent.name}", program.used_names)
    program.effects.add(removed)
    removes = False
    for change in changes:
        scope = change.scope
        program.report.source = scope.sentence.source
        span = scope.span(scope.sentence)
        if change.asserted:
            term = fluent.term(change.args, *span)
            head = Atom("next", (term,), None, *span)
            sentences.emitter.write(head, change.alternatives, scope)
        elif not has_next_rules:
            removes = True
            head = Atom(removed, change.args, None, *span)
            sentences.emitter.write(head, change.alternatives, scope)
    if has_next_rules:
        return
    number, span = _place(program, fluent, changes)
    args = argument_names(program, fluent)
    term = fluent.term(args, *span)
    _persist(program, number, term, [Atom(removed, args, None, *span)] if removes else [])


def _persist(program: GgdlProgram, number: int, term: Term, replaced: list[Atom]) -> None:
    """Write the frame rule of a fluent: it stays true unless an effect replaces it."""
    span = term.start, term.end
    kept = Atom("true", (term,), None, *span)
    unless = (Not(atom, *span) for atom in replaced)
    program.add_rule(number, Atom("next", (term,), None, *span), (kept, *unless))


def _place(program: GgdlProgram, fluent: Fluent, changes: list[Change]) -> tuple[int, tuple[int, int]]:
    """Return where the frame rule of a fluent goes: after the last of its effects."""
    number = max([fluent.order, *(change.number for change in changes)])
    return number, program.sentences[number].report_span


def argument_names(program: GgdlProgram, fluent: Fluent) -> tuple[Variable, ...]:
    """Return variables for the arguments of a fluent, named as in its declaration."""
    size = fluent.arity - fluent.functional
    sentence = program.sentences[fluent.order]
    names: list[str] = []
    if isinstance(sentence, n.InitSentence) and isinstance(sentence.place, n.FunctionCall | n.Member):
        place = call_of(sentence.place, {})
        if place is not None and place.key == (fluent.name, size):
            names = [arg.name if isinstance(arg, n.Var) else "" for arg in place.args]
    if not names and fluent.name == "cell":
        names = ["board", *"ijk"[: size - 1]] if size <= 4 else []
    if not names and fluent.arguments and all(fluent.arguments):
        names = [str(kind)[0] for kind in fluent.arguments]
    usable = len(names) == size and all(names) and len(set(names)) == size
    if not usable:
        names = [f"x{i + 1}" for i in range(size)] if size > 1 else ["x"] * size
    return tuple(Variable(name, None, *sentence.report_span) for name in names)

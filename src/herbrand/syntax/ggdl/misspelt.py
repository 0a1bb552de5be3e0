"""Names that are probably misspelt: values outside of a type, and fluents that are only ever assigned."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from herbrand.syntax.ggdl.program import show
from herbrand.syntax.ggdl.report import did_you_mean
from herbrand.syntax.nodes import Atom, Constant, Function, atoms_of

if TYPE_CHECKING:
    from herbrand.syntax.ggdl.program import Fluent, GgdlProgram
    from herbrand.syntax.nodes import Rule

__all__ = ["check_names"]


def check_names(program: GgdlProgram) -> None:
    """Report compared values that are outside of their types, and fluents that only effects mention."""
    _values(program)
    _targets(program)


def _values(program: GgdlProgram) -> None:
    for source, span, term, fluent, kind in program.compared:
        name = kind or (fluent.value if fluent is not None else None)
        members = program.type_members(name) if name is not None else fluent.values if fluent else None
        if not members or term in members:
            continue
        hint = did_you_mean(term.name, map(show, members))
        if name is None and hint is None:
            continue  # without a type, a value that is never reached may be meant
        listed = ", ".join(f"`{show(member)}`" for member in members[:5])
        subject = f"`{fluent.spelling}`" if fluent is not None else "the variable"
        what = f"its type `{name}`" if name in program.types else "its values"
        program.report.source = source
        program.report.add(
            "E-TYPE-MISMATCH",
            f"{subject} is never `{show(term)}`, which is not among {what}",
            span,
            help=hint or f"it is one of {listed}{', …' * (len(members) > 5)}",
        )


def _targets(program: GgdlProgram) -> None:
    """Report fluents that only effects mention, if another may be meant.

    Without another, such a fluent may serve those who watch the game.
    """
    read = {key for _, rule in program.rules for key in _reads(rule)}
    assigned = {_changed(rule) for _, rule in program.rules}
    declared = program.plain_fluents | {key for key, fluent in program.fluents.items() if fluent.declared}
    for fluent in program.fluents.values():
        meant = _meant(program, fluent, assigned)
        if fluent.key in declared or fluent.key in read or meant is None:
            continue
        program.report.source = program.sentences[fluent.order].source
        program.report.add(
            "E-EFFECT-TARGET",
            f"`{fluent.spelling}` is changed here, but nothing declares or reads it",
            program.sentences[fluent.order].imported or (fluent.start, fluent.end),
            help=f"did you mean `{meant}`? Otherwise declare `{fluent.spelling}` with `init` or `base`",
        )


def _reads(rule: Rule) -> list[tuple[str, int]]:
    """Return the fluents that the conditions of a rule read; a frame rule reads only its own."""
    terms = [
        atom.args[0] for literal in rule.body for atom, _ in atoms_of(literal) if atom.key == ("true", 1)
    ]
    own = rule.head.args[0] if rule.head.key == ("next", 1) else None
    return [term.key for term in terms if isinstance(term, Constant | Function) and term != own]


def _changed(rule: Rule) -> tuple[str, int] | None:
    """Return the fluent that a rule changes; None if it keeps one, or is of another relation."""
    term = rule.head.args[0] if rule.head.key == ("next", 1) else None
    keeps = any(isinstance(x, Atom) and x.key == ("true", 1) and x.args[0] == term for x in rule.body)
    return term.key if isinstance(term, Constant | Function) and not keeps else None


def _meant(program: GgdlProgram, fluent: Fluent, assigned: set[tuple[str, int] | None]) -> str | None:
    """Return the fluent that is probably meant: one of a similar name, or the only one that never changes."""
    others = [other for other in program.fluents.values() if other is not fluent and other.declared]
    close = get_close_matches(fluent.name, [other.name for other in others], n=1)
    unchanged = [other for other in others if other.arity == fluent.arity and other.key not in assigned]
    similar = [other for other in others if other.name in close] or unchanged
    return similar[0].spelling if close or len(unchanged) == 1 else None

"""Surfaces, their instances (boards), `let` places, and built-in components.

Blocks are flattened here: the sentences of a `where` block are taken once for all boards of the
surface (once for each board if the surface has parameters), those of a `let` block with the place that
the name denotes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.syntax.ggdl import nodes as n
from herbrand.syntax.ggdl.program import Fluent, Instance
from herbrand.syntax.ggdl.scope import WorkItem
from herbrand.syntax.ggdl.values import Values, substituted
from herbrand.syntax.nodes import Atom, Constant, Function
from herbrand.syntax.tokens import ARITY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.syntax.ggdl.program import GgdlProgram
    from herbrand.syntax.nodes import Term

__all__ = ["BUILT_IN", "lay_out"]

BUILT_IN: Final = {"AlternatingTurns": "rules/control"}
"""Components that are implemented here, and the path they are imported from."""


def lay_out(program: GgdlProgram) -> list[WorkItem]:
    """Return all sentences to translate, including those in blocks."""
    for sentence in program.sentences:
        if isinstance(sentence, n.SurfaceSentence):
            _surface(program, sentence)
    items: list[WorkItem] = []
    for number, sentence in enumerate(program.sentences):
        with program.report.sentence(sentence):
            items += _flat(program, number, sentence)
    used = {instance.surface.name: instance for instance in program.instances.values()}
    for number, sentence in enumerate(program.sentences):
        if isinstance(sentence, n.SurfaceSentence) and sentence.name in used:
            with program.report.sentence(sentence):
                items += _members(program, number, sentence)
    return items


def _surface(program: GgdlProgram, sentence: n.SurfaceSentence) -> None:
    program.report.source = sentence.source
    if sentence.name.lower() in program.surfaces:
        program.report.add("E-NAME-CLASH", f"the surface `{sentence.name}` is declared twice", sentence)
    program.surfaces[sentence.name.lower()] = sentence
    program.declare(sentence.name, "surface")


def _flat(program: GgdlProgram, number: int, sentence: n.Sentence) -> Iterator[WorkItem]:
    if isinstance(sentence, n.LetSentence):
        yield from _let(number, sentence, {})
    elif isinstance(sentence, n.InitSentence) and sentence.value is not None:
        turns = _turns(sentence.value)
        if turns is not None:
            yield from _alternating(program, number, sentence, turns)
            return
        surface = _surface_of(program, sentence.value)
        if surface is not None:
            _instance(program, sentence, surface)
            return
        yield WorkItem(number, sentence)
    elif not isinstance(sentence, n.SurfaceSentence):
        yield WorkItem(number, sentence)


def _let(number: int, sentence: n.LetSentence, outer: dict[str, n.Expr]) -> Iterator[WorkItem]:
    lets = {**outer, sentence.name: sentence.place}
    for inner in sentence.block:
        inner.imported = sentence.imported
        if isinstance(inner, n.LetSentence):
            yield from _let(number, inner, lets)
        else:
            yield WorkItem(number, inner, lets=lets)


# -- boards --------------------------------------------------------------------------------------


def _surface_of(program: GgdlProgram, value: n.Expr) -> tuple[n.SurfaceSentence, tuple[n.Expr, ...]] | None:
    if not isinstance(value, n.Name | n.FunctionCall):
        return None
    surface = program.surfaces.get(value.folded)
    if surface is not None:
        return surface, value.args
    declared = program.declared.get(value.spelling)
    if isinstance(value, n.FunctionCall) and value.spelling[0].isupper() and not declared:
        program.report.refuse(
            "E-SURFACE",
            f"unknown surface `{value.spelling}`",
            value,
            help="declare it with `surface`, or import it with `consult`",
        )
    return None


def _instance(
    program: GgdlProgram, sentence: n.InitSentence, target: tuple[n.SurfaceSentence, tuple[n.Expr, ...]]
) -> None:
    surface, args = target
    place = sentence.place
    if not isinstance(place, n.Name):
        program.report.refuse("E-SURFACE", "the name of a board takes no arguments", place)
    if len(args) != len(surface.parameters):
        program.report.refuse(
            "E-SURFACE",
            f"the surface `{surface.name}` takes {len(surface.parameters)} arguments, not {len(args)}",
            sentence,
        )
    program.declare(place.spelling, "instance")
    program.instances[place.folded] = Instance(place.folded, place.spelling, surface, sentence, args)


def _members(program: GgdlProgram, number: int, surface: n.SurfaceSentence) -> Iterator[WorkItem]:
    constants, inner = _block(surface)
    members = frozenset(
        (head.folded, len(head.args))
        for sentence, _ in inner
        if isinstance(sentence, n.RuleSentence)
        for head in sentence.heads
        if isinstance(head, n.Name | n.FunctionCall) and head.folded not in ARITY
    )
    boards = [i for i in program.instances.values() if i.surface is surface]
    first: dict[str, Term] = {}
    for board in boards:
        local = _locals(program, board, constants)
        first = first or local
        for name in local:
            program.declare(name, "constant")
        _cells(program, number, board, local)
    for sentence, lets in inner:
        sentence.imported = surface.imported
        if surface.parameters:
            for board in boards:
                local = _locals(program, board, constants)
                yield WorkItem(number, sentence, surface, board.name, lets, members, local)
        else:
            yield WorkItem(number, sentence, surface, None, lets, members, first)


def _block(
    surface: n.SurfaceSentence,
) -> tuple[list[n.ConstantSentence], list[tuple[n.Sentence, dict[str, n.Expr]]]]:
    constants: list[n.ConstantSentence] = []
    inner: list[tuple[n.Sentence, dict[str, n.Expr]]] = []
    for sentence in surface.block:
        if isinstance(sentence, n.ConstantSentence):
            constants.append(sentence)
        elif isinstance(sentence, n.LetSentence):
            inner += [(work.sentence, work.lets) for work in _let(0, sentence, {})]
        else:
            inner.append((sentence, {}))
    return constants, inner


def _locals(program: GgdlProgram, board: Instance, constants: list[n.ConstantSentence]) -> dict[str, Term]:
    """Return the constants visible inside a surface: its parameters, and those of its block."""
    local: dict[str, Term] = {}
    values = Values(program)
    for name, arg in zip(board.surface.parameters, board.args, strict=True):
        program.report.source = board.sentence.source
        local[name] = values.term(arg)
    program.report.source = board.surface.source
    values.local = local
    for constant in constants:
        local[constant.name] = values.term(constant.value)
    return local


def _cells(program: GgdlProgram, number: int, board: Instance, local: dict[str, Term]) -> None:
    """Write the facts about the cells of a board: their places and initial contents."""
    surface, values = board.surface, Values(program)
    values.local = local
    program.report.source = surface.source
    start, end = span = board.sentence.report_span
    cells = surface.cells
    size = len(cells.generators)
    name = Constant(board.name, board.spelling, *span)
    fluent = program.fluents.setdefault(
        ("cell", size + 2),
        Fluent("cell", "cell", size + 2, functional=True, start=start, end=end, order=number, total=True),
    )
    if not fluent.total:
        program.report.refuse(
            "E-NAME-CLASH", f"`cell` with {size + 2} arguments is reserved for boards", surface
        )
    place = program.fresh("cell_at")
    facts = [Atom(surface.name.lower(), (name,), surface.name, *span)]
    initial: list[Atom] = []
    for generated in values.generated(cells.generators, {}):
        indices = tuple(values.term(generated[variable]) for variable, _ in cells.generators)
        value = values.term(substituted(cells.item, generated))
        facts.append(Atom(place, (name, *indices), None, *span))
        cell = Function("cell", (name, *indices, value), None, *span)
        initial.append(Atom("init", (cell,), None, *span))
    for atom in (*facts, *initial):
        program.add_rule(number, atom)


# -- turns ---------------------------------------------------------------------------------------


def _turns(value: n.Expr) -> n.FunctionCall | None:
    if isinstance(value, n.Member) and value.folded == "control" and not value.args:
        value = value.base
    if isinstance(value, n.FunctionCall) and value.spelling in BUILT_IN:
        return value
    return None


def _alternating(
    program: GgdlProgram, number: int, sentence: n.InitSentence, turns: n.FunctionCall
) -> Iterator[WorkItem]:
    """Expand `AlternatingTurns`: roles take turns, and the others have the move `noop`."""
    report = program.report
    if turns.spelling not in program.imported:
        report.refuse(
            "E-NAME-UNDECLARED",
            f"`{turns.spelling}` is not declared",
            turns,
            help=f'write `consult {{ {turns.spelling} }} from "{BUILT_IN[turns.spelling]}"`',
        )
    if len(turns.args) < 2:
        report.refuse("E-SYNTAX", "turns need at least two roles", turns)
    place, source = sentence.place, sentence.source
    if not isinstance(place, n.Name):
        report.refuse("E-SYNTAX", "the name of a control takes no arguments", place)
    span = sentence.start, sentence.end
    where = *span, source
    sentences: list[n.Sentence] = [
        n.InitSentence(*where, place, turns.args[0], None, doc=sentence.doc),
        n.BaseSentence(*where, place.spelling, (), n.Type(*span, "role")),
    ]
    for mover, successor in zip(turns.args, (*turns.args[1:], turns.args[0]), strict=True):
        effect = n.Consequence("=", place, successor, *span)
        turn = n.Comparison(*span, "==", place, mover)
        sentences.append(n.ConsequenceSentence(*where, turn, (effect,)))
    player = n.Var(*span, "p", "p")
    role = n.FunctionCall(*span, "role", (player,))
    waits = n.Negation(*span, n.Holds(*span, n.FunctionCall(*span, place.spelling, (player,))))
    head = n.Doing(*span, role, None, n.Name(*span, "noop"))
    body = n.Conjunction(*span, (n.Holds(*span, role), waits))
    sentences.append(n.MoveSentence(*where, head, body, None))
    for each in sentences:
        each.imported = sentence.imported
        yield WorkItem(number, each)

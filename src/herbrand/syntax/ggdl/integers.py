"""Integers: the interval that a game uses, and tables of comparison and arithmetic.

What an effect assigns to a fluent stays within the interval.  In conditions the results of arithmetic are
exact: tables also have the rows that conditions need beyond it, as the delete relaxation finds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.syntax.ggdl.translate import ARITHMETIC, AT_MOST, LESS
from herbrand.syntax.ggdl.values import as_integer, integer
from herbrand.syntax.nodes import Atom, Constant, Rule, atoms_of, children, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.syntax.ggdl.program import GgdlProgram
    from herbrand.syntax.nodes import Node

__all__ = ["add_bounds", "bounded_tables", "find_universe", "result", "tables", "with_bounds", "write_tables"]

MAX_ROWS = 250_000
"""Maximum number of rows of a table."""


def find_universe(program: GgdlProgram) -> None:
    """Compute the smallest interval that contains every integer of the rules, payoffs excluded."""
    values: set[int] = set()
    for _, rule in program.rules:
        nodes: list[Node] = list(children(rule))
        if rule.head.key == ("goal", 2):
            nodes[0] = rule.head.args[0]
        while nodes:
            node = nodes.pop()
            if isinstance(node, Constant):
                value = as_integer(node)
                if value is not None:
                    values.add(value)
            else:
                nodes.extend(children(node))
    for members in (*(kind.members for kind in program.types.values()), *program.ranges.values()):
        values.update(value for member in members if (value := as_integer(member)) is not None)
    program.universe = (min(values), max(values)) if values else None


def tables(program: GgdlProgram) -> dict[str, str]:
    """Return the names of the comparison and arithmetic relations, each with its operation."""
    names = {program.fresh(name): name for name in (LESS, AT_MOST, *ARITHMETIC.values())}
    return names | {bounded: names[name] for name, bounded in bounded_tables(program).items()}


def bounded_tables(program: GgdlProgram) -> dict[str, str]:
    """Return for each arithmetic relation the one whose results stay among the integers of the game."""
    return {program.fresh(name): program.fresh(f"{name}_within") for name in ARITHMETIC.values()}


def with_bounds(program: GgdlProgram) -> list[Rule]:
    """Return the rules, those of effects with bounded arithmetic where its result is assigned to a fluent.

    The rules of an effect are those of `next`, and of the relations that say that the effect happens.
    """
    names = bounded_tables(program)
    assigned: set[tuple[int, int]] = set()
    for _, rule in program.rules:
        if rule.head.key == ("next", 1):
            values = {variable.name for variable in variables_of(rule.head)}
            assigned |= {
                (literal.start, literal.end)
                for literal in rule.body
                if isinstance(literal, Atom)
                and literal.name in names
                and any(variable.name in values for variable in variables_of(literal.args[-1]))
            }
    return [
        _with_bounds(rule, names, assigned)
        if rule.head.key == ("next", 1) or rule.head.name in program.effects
        else rule
        for _, rule in program.rules
    ]


def _with_bounds(rule: Rule, names: dict[str, str], places: set[tuple[int, int]]) -> Rule:
    """Replace the arithmetic at these places of the text by that of the bounded tables."""
    body = tuple(
        Atom(names[literal.name], literal.args, None, literal.start, literal.end)
        if isinstance(literal, Atom) and literal.name in names and (literal.start, literal.end) in places
        else literal
        for literal in rule.body
    )
    return Rule(rule.head, body, rule.start, rule.end)


def add_bounds(program: GgdlProgram, overflow: set[tuple[int, int]]) -> None:
    """Bound the arithmetic of effects whose result may leave the integers of the game, at these places."""
    names = {name: bounded for name, bounded in bounded_tables(program).items() if name in program.outside}
    program.rules = [
        (number, _with_bounds(rule, names, overflow))
        if rule.head.key == ("next", 1) or rule.head.name in program.effects
        else (number, rule)
        for number, rule in program.rules
    ]


def result(meaning: str, a: int, b: int) -> int | bool:
    """Return the third column of a table for two integers; for comparisons, whether there is a row."""
    if meaning == LESS:
        return a < b
    if meaning == AT_MOST:
        return a <= b
    return a + b if meaning == "ggdl_add" else a - b if meaning == "ggdl_sub" else a * b


def write_tables(program: GgdlProgram) -> None:
    """Write the rows of the tables that rules use."""
    names = tables(program)
    patterns_by_table: dict[str, set[tuple[int | None, ...]]] = {}
    where: dict[str, tuple[int, int, int]] = {}
    for number, rule in program.rules:
        for literal in rule.body:
            for atom, _ in atoms_of(literal):
                if atom.name in names:
                    pattern = tuple(as_integer(arg) for arg in atom.args[:2])
                    patterns_by_table.setdefault(atom.name, set()).add(pattern)
                    where.setdefault(atom.name, (number, rule.start, rule.end))
    if program.universe is None:
        return
    low, high = program.universe
    for name, patterns in patterns_by_table.items():
        _, start, end = where[name]
        rows = 0
        pairs: set[tuple[int, int]] = set()
        for a, b in _pairs(patterns, low, high):
            if (a, b) in pairs:
                continue
            pairs.add((a, b))
            value = result(names[name], a, b)
            if value is False or (value is not True and not low <= value <= high):
                continue
            _write_row(program, name, (a, b) if value is True else (a, b, value), (start, end))
            rows += 1
            if rows > MAX_ROWS:
                program.report.add(
                    "E-TYPE-INFINITE",
                    f"arithmetic over the integers from {low} to {high} needs too large a table",
                    (start, end),
                )
                return
        for row in sorted(program.outside.get(name, ())):
            _write_row(program, name, row, (start, end))


def _write_row(program: GgdlProgram, name: str, row: tuple[int, ...], span: tuple[int, int]) -> None:
    head = Atom(name, tuple(integer(number, *span) for number in row), None, *span)
    program.rules.append((len(program.sentences), Rule(head, (), *span)))


def _pairs(patterns: set[tuple[int | None, ...]], low: int, high: int) -> Iterator[tuple[int, int]]:
    universe = range(low, high + 1)
    for first, second in sorted(patterns, key=str):
        for a in universe if first is None else (first,):
            for b in universe if second is None else (second,):
                yield a, b

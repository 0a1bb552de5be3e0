"""Integers: the interval that a game uses, and tables of comparison and arithmetic.

What an effect assigns to a fluent stays within the type of the fluent, else within the interval.  In
conditions the results of arithmetic are exact: tables also have the rows that conditions need beyond it, as
the delete relaxation finds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.syntax.ggdl.program import BoundedTable
from herbrand.syntax.ggdl.translate import ARITHMETIC, AT_MOST, LESS
from herbrand.syntax.ggdl.values import as_integer, integer
from herbrand.syntax.nodes import Atom, Constant, Function, Rule, atoms_of, walk

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from herbrand.syntax.ggdl.program import GgdlProgram
    from herbrand.syntax.nodes import Literal, Term

__all__ = [
    "BoundedTable",
    "bind_assigned",
    "find_universe",
    "result",
    "tables",
    "with_bounds",
    "write_tables",
]

MAX_ROWS = 250_000
"""Maximum number of rows of a table."""


def find_universe(program: GgdlProgram) -> None:
    """Compute the smallest interval that contains every integer of the rules, payoffs excluded."""
    values: set[int] = set()
    for _, rule in program.rules:
        head = rule.head.args[0] if rule.head.key == ("goal", 2) else rule.head
        terms = [node for node in walk(head, *rule.body) if isinstance(node, Constant)]
        values.update(value for term in terms if (value := as_integer(term)) is not None)
    for members in (*(kind.members for kind in program.types.values()), *program.ranges.values()):
        values.update(value for member in members if (value := as_integer(member)) is not None)
    program.universe = (min(values), max(values)) if values else None


def tables(program: GgdlProgram) -> dict[str, str]:
    """Return the names of the comparison and arithmetic relations, each with its operation."""
    return {program.fresh(name): name for name in (LESS, AT_MOST, *ARITHMETIC.values())} | {
        bounded.name: bounded.meaning for bounded in program.bounded.values()
    }


def bind_assigned(program: GgdlProgram) -> None:
    """Choose for each assigned result of arithmetic, by its place in the text, a table with its interval.

    The interval is that of the declared type of the fluent, else that of the integers of the game.
    """
    if program.universe is None:
        return
    meanings = tables(program)
    by_interval: dict[tuple[str, int, int], BoundedTable] = {}
    for _, rule in program.rules:
        if rule.head.key != ("next", 1):
            continue
        for literal in rule.body:
            if isinstance(literal, Atom) and meanings.get(literal.name) in ARITHMETIC.values():
                result_variable = literal.args[-1]
                if result_variable in walk(rule.head):
                    interval = _interval(program, rule, result_variable)
                    key = literal.name, *interval
                    name = program.fresh(
                        f"{literal.name}_within" + f"_{len(by_interval) + 1}" * bool(by_interval)
                    )
                    table = BoundedTable(name, meanings[literal.name], *interval)
                    table = by_interval.setdefault(key, table)
                    program.bounded[literal.start, literal.end] = table


def _interval(program: GgdlProgram, rule: Rule, value: Term) -> tuple[int, int]:
    """Return the least and the greatest value that a rule of `next` may assign."""
    assert program.universe is not None
    fluent_term = rule.head.args[0]
    if isinstance(fluent_term, Function) and fluent_term.args[-1] == value:
        fluent = program.fluents.get(fluent_term.key)
        if fluent is not None and fluent.value is not None:
            members = [as_integer(member) for member in program.type_members(fluent.value) or ()]
            integers = [member for member in members if member is not None]
            if integers:
                return min(integers), max(integers)
    return program.universe


def with_bounds(
    program: GgdlProgram, places: Container[tuple[int, int]] | None = None
) -> list[tuple[int, Rule]]:
    """Return the rules with bounded tables in effects, at these places of the text, by default at all.

    The rules of an effect are those of `next`, and of the relations that say that the effect happens.
    """
    return [
        (number, _with_bounds(program, rule, places))
        if rule.head.key == ("next", 1) or rule.head.name in program.effects
        else (number, rule)
        for number, rule in program.rules
    ]


def _with_bounds(program: GgdlProgram, rule: Rule, places: Container[tuple[int, int]] | None) -> Rule:
    meanings = tables(program)
    body: list[Literal] = []
    for literal in rule.body:
        place = literal.start, literal.end
        table = program.bounded.get(place) if places is None or place in places else None
        if table and isinstance(literal, Atom) and meanings.get(literal.name) == table.meaning:
            body.append(Atom(table.name, literal.args, None, *place))
        else:
            body.append(literal)
    return Rule(rule.head, tuple(body), rule.start, rule.end)


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
    where: dict[str, tuple[int, int]] = {}
    for _, rule in program.rules:
        for literal in rule.body:
            for atom, _ in atoms_of(literal):
                if atom.name in names:
                    pattern = tuple(as_integer(arg) for arg in atom.args[:2])
                    patterns_by_table.setdefault(atom.name, set()).add(pattern)
                    where.setdefault(atom.name, (rule.start, rule.end))
    if program.universe is None:
        return
    low, high = program.universe
    intervals = {table.name: (table.low, table.high) for table in program.bounded.values()}
    for name, patterns in patterns_by_table.items():
        span = where[name]
        least, most = intervals.get(name, (low, high))
        rows = 0
        pairs: set[tuple[int, int]] = set()
        for a, b in _pairs(patterns, low, high):
            if (a, b) in pairs:
                continue
            pairs.add((a, b))
            value = result(names[name], a, b)
            if value is False or (value is not True and not least <= value <= most):
                continue
            _write_row(program, name, (a, b) if value is True else (a, b, value), span)
            rows += 1
            if rows > MAX_ROWS:
                program.report.add(
                    "E-TYPE-INFINITE",
                    f"arithmetic over the integers from {low} to {high} needs too large a table",
                    span,
                )
                return
        for row in sorted(program.outside.get(name, ())):
            _write_row(program, name, row, span)


def _write_row(program: GgdlProgram, name: str, row: tuple[int, ...], span: tuple[int, int]) -> None:
    head = Atom(name, tuple(integer(number, *span) for number in row), None, *span)
    program.add_rule(len(program.sentences), head)


def _pairs(patterns: set[tuple[int | None, ...]], low: int, high: int) -> Iterator[tuple[int, int]]:
    universe = range(low, high + 1)
    for first, second in sorted(patterns, key=str):
        for a in universe if first is None else (first,):
            for b in universe if second is None else (second,):
                yield a, b

"""Integers: the interval that a game uses, and tables of comparison and arithmetic over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.syntax.ggdl.translate import ARITHMETIC, AT_MOST, LESS
from herbrand.syntax.ggdl.values import as_integer, integer
from herbrand.syntax.nodes import Atom, Constant, Rule, atoms_of, children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.syntax.ggdl.program import GgdlProgram
    from herbrand.syntax.nodes import Node

__all__ = ["find_universe", "result", "tables", "write_tables"]

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
    return {program.fresh(name): name for name in (LESS, AT_MOST, *ARITHMETIC.values())}


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
            args = [integer(a, start, end), integer(b, start, end)]
            if value is not True:
                args.append(integer(value, start, end))
            head = Atom(name, tuple(args), None, start, end)
            program.rules.append((len(program.sentences), Rule(head, (), start, end)))
            rows += 1
            if rows > MAX_ROWS:
                program.report.add(
                    "E-TYPE-INFINITE",
                    f"arithmetic over the integers from {low} to {high} needs too large a table",
                    (start, end),
                )
                return


def _pairs(patterns: set[tuple[int | None, ...]], low: int, high: int) -> Iterator[tuple[int, int]]:
    universe = range(low, high + 1)
    for first, second in sorted(patterns, key=str):
        for a in universe if first is None else (first,):
            for b in universe if second is None else (second,):
                yield a, b

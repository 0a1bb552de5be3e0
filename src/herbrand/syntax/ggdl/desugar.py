"""From sentences to rules: the passes, in order.

| pass | what it does |
|---|---|
| `bind` | parameters get their values |
| `declare_roles`, `declare_constants`, `declare_types` | finite sets and names of values |
| `lay_out` | boards and places: the sentences of blocks are laid out flat |
| `type_facts` | the facts of roles, types and preferences |
| `declare_fluents` | what is part of the state, and what is a view of it |
| `Sentences.write` | each sentence becomes rules; effects are collected |
| `write_effects` | effects become `next` rules; what is not changed lasts |
| `find_universe` | the interval of integers the game needs |
| `resolve_initial` | special initial values win over general ones |
| `check_moves` | arguments of moves are bound |
| `find_domains` | values of the state, possible moves; `base` and `input` |
| `write_tables`, `range_facts` | tables of arithmetic and comparison, ranges without a name |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.syntax.ggdl.boards import lay_out
from herbrand.syntax.ggdl.domains import check_moves, find_domains, resolve_initial
from herbrand.syntax.ggdl.effects import write_effects
from herbrand.syntax.ggdl.fluents import declare_fluents
from herbrand.syntax.ggdl.integers import find_universe, write_tables
from herbrand.syntax.ggdl.parameters import bind
from herbrand.syntax.ggdl.program import Declarations
from herbrand.syntax.ggdl.sentences import Sentences
from herbrand.syntax.ggdl.types import declare_constants, declare_roles, declare_types, type_facts
from herbrand.syntax.nodes import Atom, Rule, atoms_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.syntax.ggdl.program import GgdlProgram
    from herbrand.syntax.ggdl.scope import Work

__all__ = ["declarations", "desugar"]

DECLARING: Final[tuple[Callable[[GgdlProgram], None], ...]] = (
    bind,
    declare_roles,
    declare_constants,
    declare_types,
)
"""Passes that only collect what is declared."""
FINISHING: Final[tuple[Callable[[GgdlProgram], None], ...]] = (
    find_universe,
    resolve_initial,
    check_moves,
    find_domains,
    write_tables,
)
"""Passes over the rules."""


def desugar(program: GgdlProgram) -> tuple[Rule, ...]:
    """Return the rules of plain GDL that a program means; what is wrong goes to its report."""
    for declare in DECLARING:
        declare(program)
    works: list[Work] = lay_out(program)
    type_facts(program)
    declare_fluents(program, works)
    sentences = Sentences(program, works)
    sentences.write()
    write_effects(program, sentences)
    if not program.report.has_errors:  # what follows evaluates the rules
        for finish in FINISHING:
            finish(program)
    range_facts(program)
    order = sorted(range(len(program.rules)), key=lambda i: program.rules[i][0])
    rules: list[Rule] = []
    unique: set[Rule] = set()
    for number, rule in (program.rules[i] for i in order):
        if number < len(program.sentences) and program.sentences[number].plain:
            rules.append(rule)  # what the author repeats stays
        elif rule not in unique:
            unique.add(rule)
            rules.append(rule)
    return tuple(rules)


def range_facts(program: GgdlProgram) -> None:
    """Write the members of the ranges without a name that rules ask for."""
    used = {
        atom.name: (number, rule)
        for number, rule in reversed(program.rules)
        for literal in rule.body
        for atom, _ in atoms_of(literal)
        if atom.name in program.ranges
    }
    for name, (number, rule) in used.items():
        for member in program.ranges[name]:
            head = Atom(name, (member,), None, rule.start, rule.end)
            program.rules.append((number, Rule(head, (), rule.start, rule.end)))


def declarations(program: GgdlProgram) -> Declarations:
    """Return what a program declares beside its rules."""
    return Declarations(
        tuple(program.parameters),
        tuple(sorted(program.given.items())),
        tuple(program.types.values()),
        tuple(program.fluents.values()),
        tuple(sorted(program.strings.items())),
        tuple(dict.fromkeys(name for name, _ in program.moves)),
        tuple(sorted(program.docs.items())),
    )

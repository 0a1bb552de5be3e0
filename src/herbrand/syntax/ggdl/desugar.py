"""Translate sentences to rules: the passes, in order.

| pass | what it does |
|---|---|
| `bind` | parameters get their values |
| `declare_roles`, `declare_constants`, `declare_types` | finite sets and names of values |
| `lay_out` | boards and places: blocks are flattened |
| `type_facts` | the facts of roles, types and preferences |
| `declare_fluents` | which relations are fluents, and which are derived |
| `Sentences.write` | each sentence becomes rules; effects are collected |
| `write_effects` | effects become `next` rules; frame rules carry over what does not change |
| `find_universe` | the interval of integers the game needs |
| `resolve_initial` | specific initial values win over general ones |
| `check_moves` | arguments of moves are bound |
| `find_domains` | values of fluents, possible moves; `base` and `input` |
| `check_names` | names that nothing declares, and fluents that only effects mention |
| `write_tables`, `range_facts` | tables of arithmetic and comparison, members of anonymous ranges |
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from herbrand.syntax.ggdl.boards import lay_out
from herbrand.syntax.ggdl.domains import check_moves, find_domains, resolve_initial
from herbrand.syntax.ggdl.effects import write_effects
from herbrand.syntax.ggdl.fluents import declare_fluents
from herbrand.syntax.ggdl.integers import find_universe, write_tables
from herbrand.syntax.ggdl.misspelt import check_names
from herbrand.syntax.ggdl.parameters import bind
from herbrand.syntax.ggdl.program import Declarations
from herbrand.syntax.ggdl.sentences import Sentences
from herbrand.syntax.ggdl.types import declare_constants, declare_roles, declare_types, type_facts
from herbrand.syntax.nodes import Atom, atoms_of

if TYPE_CHECKING:
    from herbrand.syntax.ggdl.program import GgdlProgram
    from herbrand.syntax.nodes import Rule

__all__ = ["declarations", "desugar"]


def desugar(program: GgdlProgram) -> tuple[Rule, ...]:
    """Translate a program to rules of plain GDL; errors go to its report."""
    bind(program)
    declare_roles(program)
    declare_constants(program)
    declare_types(program)
    items = lay_out(program)
    type_facts(program)
    declare_fluents(program, items)
    sentences = Sentences(program, items)
    sentences.write()
    write_effects(program, sentences)
    if not program.report.has_errors:  # the remaining passes evaluate the rules
        find_universe(program)
        resolve_initial(program)
        check_moves(program)
        find_domains(program)
        check_names(program)
        write_tables(program)
    range_facts(program)
    rules: list[Rule] = []
    unique: set[Rule] = set()
    for number, rule in sorted(program.rules, key=itemgetter(0)):
        if number < len(program.sentences) and program.sentences[number].plain:
            rules.append(rule)  # keep repetitions by the author
        elif rule not in unique:
            unique.add(rule)
            rules.append(rule)
    return tuple(rules)


def range_facts(program: GgdlProgram) -> None:
    """Write the members of the anonymous ranges that rules use."""
    used = {
        atom.name: (number, rule)
        for number, rule in reversed(program.rules)
        for literal in rule.body
        for atom, _ in atoms_of(literal)
        if atom.name in program.ranges
    }
    for name, (number, rule) in used.items():
        for member in program.ranges[name]:
            program.add_rule(number, Atom(name, (member,), None, rule.start, rule.end))


def declarations(program: GgdlProgram) -> Declarations:
    """Return the declarations of a program besides its rules."""
    return Declarations(
        tuple(program.parameters),
        tuple(sorted(program.arguments.items())),
        tuple(program.types.values()),
        tuple(program.fluents.values()),
        tuple(sorted(program.strings.items())),
        tuple(dict.fromkeys(name for name, _ in program.moves)),
        tuple(sorted(program.docs.items())),
    )

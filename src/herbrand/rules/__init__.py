"""Rules as numbers, and the evaluators that work on them directly.

Takes checked rules; gives engines that answer for one state.  Imports `check`, `syntax` and `runtime`.

| module       | what it does                                                                        |
|--------------|-------------------------------------------------------------------------------------|
| `terms`      | `TermTable`: ground terms as numbers                                                |
| `clauses`    | `Program`: predicates and clauses over them, which the grounder reads, too          |
| `interface`  | `Engine`: what every engine answers                                                 |
| `naive`      | `NaiveEngine`: the perfect model from its definition; all others are tested against it |
| `from_rules` | `RulesEngine`: on demand and tabled; runs every rulesheet                           |
| `planner`, `codegen`, `tabling` | its parts: the order of conditions, bodies as Python code, recursion |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.rules.clauses import Program as Program
    from herbrand.rules.from_rules import RulesEngine as RulesEngine
    from herbrand.rules.interface import Engine as Engine
    from herbrand.rules.naive import NaiveEngine as NaiveEngine
    from herbrand.rules.terms import TermTable as TermTable

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "clauses": ("Program",),
        "terms": ("TermTable",),
        "from_rules": ("RulesEngine",),
        "naive": ("NaiveEngine",),
        "interface": ("Engine",),
    },
)

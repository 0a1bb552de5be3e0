"""Rules over numbered terms, and the engines that evaluate them directly.

From checked rules to engines that evaluate one state at a time.  Imports `check`, `syntax` and `runtime`.

| module       | what it does                                                                        |
|--------------|-------------------------------------------------------------------------------------|
| `terms`      | `TermTable`: ground terms as numbers                                                |
| `clauses`    | `Program`: predicates and clauses over them, also used by the grounder              |
| `interface`  | `Engine`: the interface of all engines                                             |
| `naive`      | `NaiveEngine`: the reference, the perfect model from its definition                  |
| `from_rules` | `RulesEngine`: top-down with tabling; runs every rulesheet                         |
| `planner`, `codegen`, `tabling` | its parts: the order of goals, bodies as Python code, recursion |
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

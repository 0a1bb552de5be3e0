"""Prove properties of games: termination, playability, winnability, values, plans, automata.

Takes a `StateMachine`, which every `Game` is; gives verdicts that are proved, refuted or unknown, never
guessed, each with its evidence.  Everything works on packed states (`herbrand.engine.expand`) or on the
network of the game, and is checked independently by the rules (`exploration.replay`).  Imports `machine`
and the packages below it.

| package       | what it gives                                                                   |
|---------------|---------------------------------------------------------------------------------|
| `verdict`, `budget` | answers and limits, as data                                               |
| `exploration` | evidence from states: exhaustive exploration, random play, certificates          |
| `invariants`  | invariants of all reachable states, by induction on the network                 |
| `solving`     | values under best play, plans, guided search                                    |
| `proofs`      | `analyse`: decides properties with everything above                                |
| `certification` | verdicts as files that other programs check                                    |
| `counting`    | reachable states counted by decision diagrams, without listing them             |
| `automata`    | the game as (Q, q0, Σ, δ, F), with exports                                      |
| `knowledge`   | hidden information: knowledge of roles, exact values, epistemic conditions      |
| `trial`       | checks that play sample games, for `herbrand check`                              |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.analyse.automata.automaton import Automaton as Automaton
    from herbrand.analyse.automata.automaton import automaton as automaton
    from herbrand.analyse.budget import Budget as Budget
    from herbrand.analyse.certification.folder import CertifiedVerdict as CertifiedVerdict
    from herbrand.analyse.certification.folder import certify as certify
    from herbrand.analyse.counting.count import StateCount as StateCount
    from herbrand.analyse.counting.count import count_states as count_states
    from herbrand.analyse.exploration.explore import StateSpace as StateSpace
    from herbrand.analyse.exploration.explore import explore as explore
    from herbrand.analyse.exploration.on_disk import DiskExploration as DiskExploration
    from herbrand.analyse.exploration.on_disk import explore_on_disk as explore_on_disk
    from herbrand.analyse.invariants.sat import missing_solver as missing_solver
    from herbrand.analyse.proofs.prove import analyse as analyse
    from herbrand.analyse.solving.plan import Plan as Plan
    from herbrand.analyse.solving.plan import find_plan as find_plan
    from herbrand.analyse.solving.solve import Solution as Solution
    from herbrand.analyse.solving.solve import solve as solve
    from herbrand.analyse.solving.solved_value import SolvedValue as SolvedValue
    from herbrand.analyse.solving.symmetry import find_symmetries as find_symmetries
    from herbrand.analyse.solving.value import value_of as value_of
    from herbrand.analyse.verdict import Verdict as Verdict
    from herbrand.analyse.verdict import Witness as Witness

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "budget": ("Budget",),
        "verdict": ("Verdict", "Witness"),
        "proofs.prove": ("analyse",),
        "invariants.sat": ("missing_solver",),
        "exploration.explore": ("StateSpace", "explore"),
        "exploration.on_disk": ("DiskExploration", "explore_on_disk"),
        "solving.solve": ("Solution", "solve"),
        "solving.plan": ("Plan", "find_plan"),
        "solving.symmetry": ("find_symmetries",),
        "solving.solved_value": ("SolvedValue",),
        "solving.value": ("value_of",),
        "automata.automaton": ("Automaton", "automaton"),
        "certification.folder": ("CertifiedVerdict", "certify"),
        "counting.count": ("StateCount", "count_states"),
    },
)

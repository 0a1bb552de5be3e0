"""Step counters as questions: why the fluents that one relies on are certain, and end the game.

`certain_fluents` lists for each step the fluents that are then true, or false, in every play.  Three
questions have to be unsatisfiable: that the initial state is otherwise than listed for step 0; that a legal
step leads from a state with the fluents of one step to one without those of the next; that the game is not
over with the fluents of the last step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.analyse.exploration.certificates import certain_fluents
from herbrand.analyse.invariants.invariant import RulesProgram
from herbrand.analyse.invariants.plain import RuleClauses

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from herbrand.machine.state_machine import StateMachine

__all__ = ["Certain", "count_by_clauses", "count_by_rules", "list_certain"]

_INITIALLY: Final = "in the initial state the fluents of step 0 are as listed"
_NEXT: Final = "after each legal step from a state with the fluents of one step, those of the next hold"
_OVER: Final = "the game is over after {last} steps, by the fluents of that step"

Certain = list[tuple["NDArray[np.bool_]", "NDArray[np.bool_]"]]
"""The fluents that must, and those that can, be true after 0, 1, 2, ... steps."""


def list_certain(game: StateMachine, most: int, seconds: float) -> Certain | None:
    """Return the certain fluents; None if they do not end the game within `most` steps."""
    return certain_fluents(game.network_within(seconds), most)


def count_by_rules(game: StateMachine, steps: Certain, seconds: float) -> bool:
    """Ask clingo the questions about the rules; return whether all are unsatisfiable."""
    network = game.network_within(seconds)
    rules = RulesProgram(game, seconds)
    terms = [rules.term(network.terms.text(fluent)) for fluent in network.fluents.tolist()]
    last = len(steps) - 1
    facts = [f"must({k},{terms[f]})." for k, (must, _) in enumerate(steps) for f in must.nonzero()[0]]
    facts += [f"never({k},{terms[f]})." for k, (_, can) in enumerate(steps) for f in (~can).nonzero()[0]]
    here = [":- at(K), must(K,F), not true(F).", ":- at(K), never(K,F), true(F).", *rules.unchanging("true")]
    initial = rules.state(game.initial_state("rules").facts)
    if rules.possible([*facts, *initial, *_otherwise(rules, "true", "", "0")], _INITIALLY):
        return False
    if last:
        step = [f"1 {{ at(0..{last - 1}) }} 1.", *here, *rules.step()]
        if rules.possible([*facts, *step, *_otherwise(rules, "next", "at(K), ", "K+1")], _NEXT):
            return False
    return not rules.possible([*facts, f"at({last}).", *here, ":- terminal."], _OVER.format(last=last))


def _otherwise(rules: RulesProgram, relation: str, where: str, step: str) -> list[str]:
    """Constrain the fluents of a relation to be otherwise than listed for a step."""
    return [
        f"wrong :- {where}must({step},F), not {relation}(F).",
        f"wrong :- {where}never({step},F), {relation}(F).",
        *rules.unchanging(relation, "wrong "),
        ":- not wrong.",
    ]


def count_by_clauses(game: StateMachine, steps: Certain, seconds: float) -> bool:
    """Ask a SAT solver the same about the network; return whether all are unsatisfiable."""
    last = len(steps) - 1
    encoding = RuleClauses(game, seconds)
    frame = encoding.frame(initial=True)
    encoding.add([-literal for literal in _literals(frame, steps[0])])
    if encoding.possible(means=_INITIALLY):
        return False
    if last:
        encoding = RuleClauses(game, seconds)
        frame = encoding.frame()
        at = [encoding.new() for _ in steps[:-1]]
        encoding.exactly(at, at_least=True)
        for number, certain in zip(at, steps, strict=False):
            for literal in _literals(frame, certain):
                encoding.add([-number, literal])
        encoding.require_step(frame)
        after = encoding.after(frame)
        expected: dict[int, list[int]] = {}  # the steps before which a literal must be true
        for number, certain in zip(at, steps[1:], strict=True):
            for literal in _literals(after, certain):
                expected.setdefault(literal, []).append(number)
        faults = []
        for literal, numbers in expected.items():
            faults.append(encoding.new())
            encoding.add([-faults[-1], -literal])
            encoding.add([-faults[-1], *numbers])
        encoding.add(faults)
        if encoding.possible(means=_NEXT):
            return False
    encoding = RuleClauses(game, seconds)
    frame = encoding.frame()
    for literal in _literals(frame, steps[-1]):
        encoding.add([literal])
    encoding.add([-encoding.terminal(frame)])
    return not encoding.possible(means=_OVER.format(last=last))


def _literals(frame: int, certain: tuple[NDArray[np.bool_], NDArray[np.bool_]]) -> list[int]:
    """Return the certain fluents as literals of a frame."""
    must, can = certain
    trues, falses = must.nonzero()[0].tolist(), (~can).nonzero()[0].tolist()
    return [*(frame + 1 + f for f in trues), *(-(frame + 1 + f) for f in falses)]

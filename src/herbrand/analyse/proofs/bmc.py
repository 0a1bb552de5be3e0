"""Bounded model checking: shortest lines of play to states of given kinds.

The game is unrolled step by step from its initial state, and at each depth a SAT solver looks
for a line of play that ends there in such a state (Biere, Cimatti, Clarke and Zhu 1999).
Literals that the depth determines (a step counter, whose turn it is) fold to constants while unrolling.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from herbrand.analyse.invariants.sat import Solver
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from herbrand.analyse.invariants.frames import Frame, FrameStep, System
    from herbrand.analyse.invariants.sat import Assignment
    from herbrand.analyse.verdict import Moves

__all__ = ["BoundedSearch", "find_lines", "read_line"]

_LOOK = 500
"""Solver conflicts at each depth to show that no play gets there."""
_MOST_NODES = 60_000_000


@dataclass(slots=True)
class BoundedSearch:
    """The result of a bounded search."""

    lines: dict[str, Moves] = field(default_factory=dict)
    """By name, a line of play to a wanted state; a shortest one if `clean` is one less than its length."""
    clean: dict[str, int] = field(default_factory=dict)
    """By name, the greatest depth up to which no wanted state exists."""
    longest: int | None = None
    """The length of the longest play; None when unknown."""


def find_lines(
    system: System,
    wanted: Mapping[str, Callable[[Frame], int]],
    deadline: float,
    most: int = 10_000,
    *,
    to_end: bool = False,
    patience: int | None = None,
) -> BoundedSearch:
    """Look for states by increasing depth, until all are found or a limit is reached.

    `wanted` gives, by name, the literal of a frame that is to hold; `most` is the depth at
    which the search ends, `deadline` a time of `time.monotonic`.  `to_end` continues when all are
    found, to find the length of the longest play.  `patience` limits the solver conflicts at each depth:
    lines need not be shortest then, but distant states can be found where excluding nearer ones
    would take too long.
    """
    result = BoundedSearch()
    rest = dict(wanted)
    steps: list[FrameStep] = []
    frame = system.initial()
    with suppress(BudgetExceeded), Solver(system.circuit, deadline) as solver:
        for depth in range(most + 1):
            for name, target in list(rest.items()):
                literal = target(frame)
                answer = solver.solve(literal) if patience is None else solver.attempt(patience, literal)
                if answer:
                    result.lines[name] = read_line(system, steps, solver.model())
                    del rest[name]
                elif answer is False:
                    if result.clean.get(name, -1) == depth - 1:
                        result.clean[name] = depth
                    solver.add([literal ^ 1])
            if not (rest or to_end) or system.circuit.nodes > _MOST_NODES:
                break
            if frame.terminal == 1 or solver.impossible(_LOOK):
                result.longest = depth - (frame.terminal != 1)
                break
            step = frame.play(solver)
            if solver.impossible(_LOOK):
                result.longest = depth
                break
            steps.append(step)
            frame = step.after
    return result


def read_line(system: System, steps: list[FrameStep], model: Assignment) -> Moves:
    """Return the joint moves of a satisfying assignment."""
    line = []
    for step in steps:
        joint = []
        for moves in system.moves:
            chosen = [m for m in moves[step.choices[moves] != 0].tolist() if model(int(step.choices[m]))]
            joint.append(system.move_texts[chosen[0]])
        line.append(tuple(joint))
    return tuple(line)

"""Bounded model checking: shortest lines of play to states that are looked for.

The game is unrolled step by step from its initial state, and at each depth a SAT solver is
asked for a line of play that ends there in such a state (Biere, Cimatti, Clarke and Zhu 1999).
What a depth decides by itself (a step counter, whose turn it is) folds away while unrolling.
"""

from __future__ import annotations

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
"""Conflicts spent at each depth on finding out that no play gets there."""
_MOST_NODES = 60_000_000


@dataclass(slots=True)
class BoundedSearch:
    """What a search found."""

    found: dict[str, Moves] = field(default_factory=dict)
    """By name, a line of play to a state that is looked for; a shortest one where `clean` says so."""
    clean: dict[str, int] = field(default_factory=dict)
    """By name, how many steps were searched, without finding one."""
    longest: int | None = None
    """No play is longer than this; None when that is not known."""


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

    `wanted` gives, by name, the literal of a frame that is looked for; `most` is the depth at
    which the search ends, `deadline` a time of `time.monotonic`.  `to_end` goes on when all are
    found, to learn how long plays can be.  With `patience` only so many conflicts are spent on each depth:
    lines need not be shortest then, but ends that are far away can be found where to exclude nearer ones
    would take too long.
    """
    lines = BoundedSearch()
    rest = dict(wanted)
    steps: list[FrameStep] = []
    frame = system.initial()
    with Solver(system.circuit, deadline) as solver:
        try:
            for depth in range(most + 1):
                for name, target in list(rest.items()):
                    literal = target(frame)
                    answer = solver.solve(literal) if patience is None else solver.attempt(patience, literal)
                    if answer:
                        lines.found[name] = read_line(system, steps, solver.model())
                        del rest[name]
                    elif answer is False:
                        if lines.clean.get(name, -1) == depth - 1:
                            lines.clean[name] = depth
                        solver.add([literal ^ 1])
                if not (rest or to_end) or system.circuit.nodes > _MOST_NODES:
                    break
                if frame.terminal == 1 or solver.impossible(_LOOK):
                    lines.longest = depth - (frame.terminal != 1)
                    break
                step = frame.play(solver)
                if solver.impossible(_LOOK):
                    lines.longest = depth
                    break
                steps.append(step)
                frame = step.after
        except BudgetExceeded:
            pass
    return lines


def read_line(system: System, steps: list[FrameStep], model: Assignment) -> Moves:
    """Return the joint moves that a model makes."""
    line = []
    for step in steps:
        joint = []
        for moves in system.moves:
            chosen = [m for m in moves[step.made[moves] != 0].tolist() if model(int(step.made[m]))]
            joint.append(system.move_texts[chosen[0]])
        line.append(tuple(joint))
    return tuple(line)

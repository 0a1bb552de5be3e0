"""Plans of given lengths, by a SAT solver (Kautz and Selman 1992).

The game is unrolled step by step, and the solver looks for a plan of each length.  It has few conflicts for
a length, and in later rounds more (Rintanen, Heljanko and Niemela 2006): to refute a length that is a little
too short takes a solver longest, since filling 50 squares in 49 steps is a problem of pigeons and holes.
Lengths near that of the longest random game are tried as early as short ones.  Where the order of moves does
not matter, as in lights out, they are made in one order.  Failure proves nothing.
"""

from __future__ import annotations

import time
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.sat import Solver
from herbrand.analyse.proofs.bmc import read_line
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from herbrand.analyse.invariants.frames import FrameStep
    from herbrand.analyse.verdict import Moves
    from herbrand.engine.expand import Expander

__all__ = ["line_of_some_length"]

_GAMES = 512
_CONFLICTS = 300
"""Conflicts of the solver for a length in the first round; twice as many in each later one."""
_SHORT = 16
"""Lengths below this are tried in the first round; twice as many in each later one."""
_LONG = 8
"""Likewise, the number of lengths that are tried from that of the longest random game on."""
_MOST_MOVES = 200
"""Most moves of the initial state that are tested for whether their order matters."""
_MOST_STEPS = 1000
_NODES = 3_000_000
"""Nodes of the unrolled circuit after which it does not grow."""


def line_of_some_length(expander: Expander, role: int, value: int, deadline: float) -> Moves | None:
    """Search for a line of play to an end in which a role, by number, has a goal value and no other.

    All roles cooperate.  Returns None when none was found by `deadline`, a time of `time.monotonic`, or when
    there is none of up to 1 000 steps.
    """
    games = expander.rollouts(np.repeat(expander.initial, _GAMES, axis=0), seed=0, max_steps=_MOST_STEPS)
    longest = int(games.lengths[~games.truncated].max(initial=0))
    system = System(expander.network)
    unrolled = _Unrolled(system, role, value, ordered=_all_commute(expander))
    refuted: set[int] = set()
    with suppress(BudgetExceeded), Solver(system.circuit, deadline) as solver:
        for round_number in count():
            scale = 1 << round_number
            lengths = {*range(_SHORT * scale), *range(longest, longest + _LONG * scale)} - refuted
            for length in sorted(lengths):
                if not unrolled.extend(solver, length):
                    break
                ends, answer = unrolled.ends(length), None
                for _ in range(scale):  # between checks of the clock
                    answer = answer if answer is not None else solver.attempt(_CONFLICTS, *ends)
                if answer:
                    return read_line(system, unrolled.steps[:length], solver.model())
                if answer is False:
                    refuted.add(length)
            all_refuted = unrolled.is_complete and len(refuted) == len(unrolled.frames)
            if all_refuted or time.monotonic() > deadline:
                return None
    return None


def _all_commute(expander: Expander) -> bool:
    """Return whether the first two moves lead to the same state in either order, whichever they are.

    Only in games with one role, in which all moves of the initial state stay legal.
    """
    legal = np.flatnonzero(expander.legal(expander.initial).mask(0)[0]).astype(np.int32)
    count = len(legal)
    if len(expander.roles) != 1 or not 1 < count <= _MOST_MOVES:
        return False
    one = expander.step(np.repeat(expander.initial, count, axis=0), legal[:, None])
    going = ~expander.terminal(one)
    if not expander.legal(one).mask(0)[going][:, legal].all():
        return False
    parents = np.repeat(np.arange(count), count)
    two = expander.step(one, np.tile(legal, count)[:, None], parents).reshape(count, count, -1)
    both = going[:, None] & going
    return bool((two == two.transpose(1, 0, 2)).all(axis=2)[both].all())


class _Unrolled:
    """A game, unrolled step by step, of which as many steps are made as the solver is asked for."""

    def __init__(self, system: System, role: int, value: int, *, ordered: bool) -> None:
        self.system, self.role, self.value = system, role, value
        self.ordered = ordered
        """Whether no move is made before one with a smaller number."""
        self.frames = [system.initial()]
        self.steps: list[FrameStep] = []
        self.going: list[int] = []
        """For each step, the literal that it is made; none is made after one that is not."""

    @property
    def is_complete(self) -> bool:
        """Whether no play is longer, or none that fits."""
        is_full = len(self.steps) >= _MOST_STEPS or self.system.circuit.nodes > _NODES
        return is_full or self.frames[-1].terminal == 1

    def extend(self, solver: Solver, length: int) -> bool:
        """Unroll up to a number of steps; return whether plays and time reach that far."""
        while len(self.steps) < length:
            if self.is_complete or time.monotonic() > solver.deadline:
                return False
            step_made = int(self.system.circuit.variables(1)[0])
            if self.going:
                solver.add([step_made ^ 1, self.going[-1]])
            self.going.append(step_made)
            self.steps.append(self.frames[-1].play(solver, when=step_made))
            self.frames.append(self.steps[-1].after)
            if self.ordered and len(self.steps) > 1:
                before, now = (step.choices.tolist() for step in self.steps[-2:])
                smaller = 0
                for move, choice in zip(before, now, strict=True):
                    smaller = self.system.circuit.any_of((smaller, move))
                    solver.add([step_made ^ 1, choice ^ 1, smaller])
        return True

    def ends(self, length: int) -> list[int]:
        """Return the literals that a play ends after a number of steps with the goal value."""
        literals = [self.frames[length].gets(self.role, self.value)]
        if length:
            literals.append(self.going[length - 1])
        if length < len(self.going):
            literals.append(self.going[length] ^ 1)
        return literals

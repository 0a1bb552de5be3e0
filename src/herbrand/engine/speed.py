"""How fast an engine plays: random games for so much processor time, whatever they are.

All games begin together, so that a short measurement sees more of the beginning of long games
than of their end; games that are not over when the time is up count as transitions only.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.errors import BudgetExceeded
from herbrand.runtime.limits import Clock, Limits

if TYPE_CHECKING:
    from herbrand.engine.playouts import Simulation
    from herbrand.network.network import Network
    from herbrand.rules.interface import Engine

__all__ = ["ProcessorTime", "Speed", "efficiency", "measure_engine", "measure_network"]

_PLENTY = 1 << 49
"""More games than are ever played."""


class ProcessorTime(Limits):
    """A limit of processor seconds of this process, not of wall-clock seconds."""

    __slots__ = ()

    def start(self) -> Clock:
        """Start the clock."""
        return _ProcessorClock(self)


class _ProcessorClock(Clock):
    __slots__ = ()

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self.started = time.process_time()
        self.deadline = self.started + limits.seconds

    def spend(self, atoms: int) -> None:
        self.atoms += atoms
        if time.process_time() > self.deadline:
            raise BudgetExceeded(f"{self.limits.seconds:g} processor seconds")

    def elapsed(self) -> float:
        return time.process_time() - self.started


@dataclass(frozen=True, slots=True)
class Speed:
    """What was played in a time; games not over at its end are in `transitions` alone."""

    lanes: int
    """Games played at once."""
    seconds: float
    """Processor seconds."""
    transitions: int
    playouts: int
    stuck: int = 0
    """Playouts that ended because a role had no legal move."""
    stuck_in: str | None = None
    code: str = ""
    """"straight" where the network had machine code of its own, "walked" where not, "" for the rules."""

    @property
    def transitions_per_second(self) -> float:
        """Steps of games for each second of processor time."""
        return self.transitions / self.seconds if self.seconds else 0.0

    @property
    def playouts_per_second(self) -> float:
        """Finished games for each second of processor time."""
        return self.playouts / self.seconds if self.seconds else 0.0


def measure_network(
    network: Network, *, seconds: float, seed: int = 1, max_steps: int = 1000, walk: bool = False
) -> Speed:
    """Play random games on a network, batched, on one core; `walk` does without machine code.

    Programs are ready before the clock starts.
    """
    from herbrand.core import LANES, playing_program
    from herbrand.engine.from_network import BatchSimulator

    program = playing_program(network.circuit)
    played = BatchSimulator(network, walk=walk).play(
        "", playouts=_PLENTY, seed=seed, max_steps=max_steps, limits=ProcessorTime(seconds=seconds)
    )
    return _speed(played, LANES, "walked" if walk or program.why_walked else "straight")


def efficiency(network: Network, speed: Speed) -> float:
    """Return the share of what the processor could do at most that random games on a network make use of.

    That is the functions of three bits that one step needs at least, as often as steps are made, over
    those that one core can compute on values in its registers.
    """
    from herbrand.core import evaluating_program, peak

    functions = len(evaluating_program(network.circuit, arity=3))
    return functions * speed.transitions_per_second / peak()


def measure_engine(engine: Engine, *, seconds: float, seed: int = 1, max_steps: int = 1000) -> Speed:
    """Play random games on an engine, one state after the other."""
    from herbrand.engine.playouts import random_playouts

    played = random_playouts(
        engine, "", playouts=_PLENTY, seed=seed, max_steps=max_steps, limits=ProcessorTime(seconds=seconds)
    )
    return _speed(played, 1)


def _speed(played: Simulation, lanes: int, code: str = "") -> Speed:
    return Speed(
        lanes,
        played.seconds,
        played.transitions,
        played.playouts,
        played.stuck,
        played.stuck_in,
        code,
    )


def _smallest() -> Network:
    """Wire a game of one move: `(next over)` if the only role does `end`, over when it is."""
    from herbrand.ground.program import GroundProgram
    from herbrand.network import wire
    from herbrand.rules.terms import TermTable

    terms = TermTable()
    role, over, end, value = map(terms.constant, ("r", "over", "end", "100"))

    def rows(*row: int) -> Any:
        return np.array([row], np.int64)

    program = GroundProgram(
        terms=terms,
        head=np.array([3, 4], np.int32),
        start=np.array([0, 1, 2], np.int64),
        body=np.array([1, 2], np.int32),
        atoms=4,
        named={
            "true": rows(1, over),
            "does": rows(2, role, end),
            "terminal": rows(3),
            "next": rows(4, over),
            "legal": rows(0, role, end),
            "goal": rows(3, role, value),
        },
    )
    return wire(program, [role])

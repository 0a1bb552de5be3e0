"""Speed of an engine: random games for a fixed amount of processor time.

All games begin together, so that a short measurement covers the beginnings of long games more than
their ends; games that are not over when the time is up count as transitions only.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.errors import BudgetExceeded
from herbrand.runtime.limits import Clock, Limits

if TYPE_CHECKING:
    from herbrand.engine.playouts import Simulation
    from herbrand.network.network import Network
    from herbrand.rules.interface import Engine

__all__ = ["ProcessorTime", "Speed", "efficiency", "measure_engine", "measure_network"]

_PLENTY = 1 << 49
"""More games than any measurement can play."""


class ProcessorTime(Limits):
    """Limits whose seconds are processor time of this process, not wall-clock time."""

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
    """Counts from one measurement; games not over at its end are in `transitions` alone."""

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
    """"straight" for machine code, "walked" for an interpreted lane program, "" for the rules."""

    @property
    def transitions_per_second(self) -> float:
        """Steps per second of processor time."""
        return self.transitions / self.seconds if self.seconds else 0.0

    @property
    def playouts_per_second(self) -> float:
        """Finished games per second of processor time."""
        return self.playouts / self.seconds if self.seconds else 0.0


def measure_network(
    network: Network, *, seconds: float, seed: int = 1, max_steps: int = 1000, walk: bool = False
) -> Speed:
    """Play random games on a network, 512 at a time, on one core; `walk` interprets the lane program.

    Compilation is not measured.
    """
    from herbrand.core import LANES, playing_program
    from herbrand.engine.from_network import BatchSimulator

    program = playing_program(network.circuit)
    simulation = BatchSimulator(network, walk=walk).play(
        "", playouts=_PLENTY, seed=seed, max_steps=max_steps, limits=ProcessorTime(seconds=seconds)
    )
    return _speed(simulation, LANES, "walked" if walk or program.why_walked else "straight")


def efficiency(network: Network, speed: Speed) -> float:
    """Return the share of the processor's peak throughput that random games on a network achieve.

    The numerator is the number of three-input functions that evaluate a state, times the steps per second;
    the denominator, the three-input functions per second that one core can compute on values in its
    registers.
    """
    from herbrand.core import evaluating_program, peak

    functions = len(evaluating_program(network.circuit, arity=3))
    return functions * speed.transitions_per_second / peak()


def measure_engine(engine: Engine, *, seconds: float, seed: int = 1, max_steps: int = 1000) -> Speed:
    """Play random games on an engine, one state at a time."""
    from herbrand.engine.playouts import random_playouts

    simulation = random_playouts(
        engine, "", playouts=_PLENTY, seed=seed, max_steps=max_steps, limits=ProcessorTime(seconds=seconds)
    )
    return _speed(simulation, 1)


def _speed(games: Simulation, lanes: int, code: str = "") -> Speed:
    return Speed(lanes, games.seconds, games.transitions, games.playouts, games.stuck, games.stuck_in, code)

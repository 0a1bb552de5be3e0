"""How fast an engine plays: random games for so much processor time, whatever they are.

All games begin together, so that a short measurement sees more of the beginning of long games
than of their end; games that are not over when the time is up count as transitions only.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.errors import BudgetExceeded
from herbrand.limits import Clock, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from herbrand.network.network import Network
    from herbrand.simulate.interface import Engine
    from herbrand.simulate.playouts import Simulation
    from herbrand.simulate.straight import Straight

__all__ = [
    "WIDTHS",
    "ProcessorTime",
    "Speed",
    "measure_engine",
    "measure_network",
    "prepare",
    "straight_code",
    "telling",
]

WIDTHS = (8, 16)
"""Words in a row that are tried; `64 * width` games are played at once."""
_TRIAL = 0.05
"""Share of the time that is spent on trying each width."""
_PLENTY = 1 << 60


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
    straight: int = 0
    """How many gates of the network had machine code of their own."""

    @property
    def transitions_per_second(self) -> float:
        """Steps of games for each second of processor time."""
        return self.transitions / self.seconds if self.seconds else 0.0

    @property
    def playouts_per_second(self) -> float:
        """Finished games for each second of processor time."""
        return self.playouts / self.seconds if self.seconds else 0.0


def measure_network(
    network: Network,
    *,
    seconds: float,
    lanes: int | None = None,
    seed: int = 1,
    max_steps: int = 1000,
    straight: bool | None = None,
) -> Speed:
    """Play random games on a network, batched, on one core.

    Without `lanes` (a multiple of 64), each of `WIDTHS` is tried first for a twentieth of the
    time, and the faster one is measured for the rest; the trials are not counted.  Call
    `prepare` before, or what is measured includes compiling.  `straight` is whether gates have machine
    code of their own (`straight_code`): None tries both where there is such code already.
    """
    from herbrand.simulate.from_network import BatchSimulator

    def run(width: int, straight: bool, share: float) -> Speed:
        simulator = BatchSimulator(network, width, straight)
        played = simulator.play(
            "", playouts=_PLENTY, seed=seed, max_steps=max_steps, limits=ProcessorTime(seconds=share)
        )
        code = simulator.code(only_kept=True) if straight else None
        return _speed(played, 64 * width, 0 if code is None else code.gates)

    widths = WIDTHS if lanes is None else (lanes // 64,)
    options = [
        (width, tier)
        for width in widths
        for tier in ((False, True) if straight is None else (straight,))
        if not tier or straight or BatchSimulator(network, width).code(only_kept=True) is not None
    ]
    if len(options) == 1:
        return run(*options[0], seconds)
    trials = {option: run(*option, _TRIAL * seconds) for option in options}
    best = max(trials, key=lambda option: trials[option].transitions_per_second)
    return run(*best, seconds * (1 - _TRIAL * len(options)))


def straight_code(
    network: Network, widths: Sequence[int] = WIDTHS, *, seconds: float = 10.0
) -> list[Straight]:
    """Compile the gates of a network where that is expected to take no longer than `seconds` for all widths.

    The code stays loaded, and can be found by others, as long as what is returned is held.
    """
    from herbrand.simulate.from_network import BatchSimulator
    from herbrand.simulate.straight import expected_seconds

    found: list[Straight] = []
    for width in widths:
        left = seconds - sum(code.seconds for code in found)
        code = BatchSimulator(network, width).code(only_kept=expected_seconds(network) > left, seconds=left)
        if code is not None:
            found.append(code)
    return found


def measure_engine(engine: Engine, *, seconds: float, seed: int = 1, max_steps: int = 1000) -> Speed:
    """Play random games on an engine, one state after the other."""
    from herbrand.simulate.playouts import random_playouts

    played = random_playouts(
        engine, "", playouts=_PLENTY, seed=seed, max_steps=max_steps, limits=ProcessorTime(seconds=seconds)
    )
    return _speed(played, 1)


def _speed(played: Simulation, lanes: int, straight: int = 0) -> Speed:
    return Speed(
        lanes,
        played.seconds,
        played.transitions,
        played.playouts,
        played.stuck,
        played.stuck_in,
        straight,
    )


def prepare(widths: Sequence[int] = WIDTHS) -> float:
    """Make the kernels ready, compiling what is not on disk; return the wall-clock seconds."""
    started = time.monotonic()
    from herbrand.simulate.from_network import BatchSimulator

    network = _smallest()
    for width in widths:
        BatchSimulator(network, width, straight=False).play("", playouts=1, seed=1, max_steps=10)
    return time.monotonic() - started


def _smallest() -> Network:
    """Wire a game of one move: `(next over)` if the only role does `end`, over when it is."""
    from herbrand.ground.program import GroundProgram
    from herbrand.network import wire
    from herbrand.program.terms import TermTable

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


@contextlib.contextmanager
def telling(say: Callable[[], None]) -> Iterator[None]:
    """Call `say` once, when the first kernel is about to be compiled because none is on disk."""
    from numba.core import event

    class Listening(event.Listener):
        told = False

        def on_start(self, event: Any) -> None:
            if not self.told and event.data["dispatcher"].py_func.__module__.startswith("herbrand."):
                self.told = True
                say()

        def on_end(self, event: Any) -> None:
            del event

    with event.install_listener("numba:compile", Listening()):
        yield

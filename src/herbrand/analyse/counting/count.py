"""Count the reachable states of a game, step by step, without listing them.

A set of states is a decision diagram, and the next step is its image (`relation`).  A worker process holds
the diagrams, since their operations cannot be interrupted: when time is over it is ended, and the counts of
the steps before remain.

Edelkamp and Kissmann (2008, "Symbolic classification of general two-player games") counted connect four from
such an encoding.  Here variables and their order come from the rules alone, and there is no limit but time
and memory.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from herbrand.analyse.budget import Budget
from herbrand.errors import BudgetExceeded, MissingExtra, optional_import

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from herbrand.analyse.counting.checkpoint import Setup
    from herbrand.analyse.counting.worker import CounterProcess
    from herbrand.machine.state_machine import StateMachine

__all__ = ["StateCount", "StepCount", "count_states", "with_parts"]

_GROUP_SHARE: Final = 0.2
_MOST_GROUP_SECONDS: Final = 60.0
"""Seconds, at most, for finding fluents that share variables."""
_TRIAL_SHARE: Final = 0.03
_TRIALS_SHARE: Final = 0.15
"""Share of the time after which no other order is tried."""
_TRIAL_SECONDS: Final = 0.5
"""Seconds, at most, for trying one order of the variables."""


@dataclass(frozen=True, slots=True)
class StepCount:
    """The states that are first reached after a number of steps."""

    step: int
    states: int
    nodes: int
    """Nodes of the diagram of these states."""
    seconds: float
    """Since the start."""


@dataclass(frozen=True, slots=True)
class StateCount:
    """The numbers of reachable states; without `is_complete`, those of the first steps."""

    by_step: tuple[int, ...]
    """How many states are first reached after 0, 1, 2, ... steps, terminal states included."""
    stopped: str
    """Why the count is not complete: out of time, out of memory, or interrupted; empty if it is complete."""
    nodes: int
    """The most nodes of the diagram of one step."""
    variables: int
    """Boolean variables of a state."""
    order: str
    """The order of the variables, by its name in `encoding.orders`."""
    is_layered: bool
    """Whether it is proved that no state is reached after two different numbers of steps."""
    seconds: float
    megabytes: float
    """Peak memory of the worker process."""

    @property
    def is_complete(self) -> bool:
        """Whether all reachable states are counted."""
        return not self.stopped

    @property
    def states(self) -> int:
        """The number of states that are counted."""
        return sum(self.by_step)

    def as_json(self) -> dict[str, Any]:
        """Return the count as plain values; see `docs/reference/json.md`."""
        return {
            "states": self.states,
            "by_step": list(self.by_step),
            "complete": self.is_complete,
            "stopped": self.stopped or None,
            "nodes": self.nodes,
            "variables": self.variables,
            "order": self.order,
            "layered": self.is_layered,
            "seconds": round(self.seconds, 3),
            "megabytes": self.megabytes,
        }


def count_states(
    game: StateMachine,
    *,
    budget: Budget | None = None,
    checkpoint: Path | None = None,
    progress: Callable[[StepCount], None] | None = None,
) -> StateCount:
    """Count the reachable states of a game within a budget of time and memory; needs the library `oxidd`.

    `checkpoint` is a folder for the last step, from which the next call with the same game goes on.
    `progress` gets each step that is counted.  At the end of the budget, and when it is interrupted, the
    result has the steps up to then.

    Raises `GameError` for a game that cannot be played or a checkpoint of another game, `BudgetExceeded` for
    a game without a network within its limits, and `MissingExtra` without the library.
    """
    with optional_import("counting states", "analyse"):
        from herbrand.analyse.counting.checkpoint import Setup, read_checkpoint, remove_checkpoint
        from herbrand.analyse.counting.worker import CounterProcess
    from herbrand.network.unroll import unrolled

    budget = budget or Budget()
    game.require_playable()
    setup = Setup(unrolled(game.network), checkpoint)
    saved = read_checkpoint(setup)
    by_step = [] if saved is None else list(saved.by_step)
    nodes, is_layered, megabytes, stopped = 0, False, 0.0, ""
    process = CounterProcess()
    try:
        setup = with_parts(setup, process, budget) if saved is None else saved.setup
        process.open(setup, saved, budget.megabytes, budget.left)
        while (step := process.advance(budget.left)).states:
            by_step.append(step.states)
            nodes, is_layered, megabytes = max(nodes, step.nodes), step.is_layered, step.megabytes
            if progress is not None:
                progress(StepCount(len(by_step) - 1, step.states, step.nodes, budget.elapsed))
    except MemoryError:
        stopped = "out of memory"
    except BudgetExceeded:
        stopped = "out of time"
    except KeyboardInterrupt:
        stopped = "interrupted"
    finally:
        process.close()
    if checkpoint is not None and not stopped:
        remove_checkpoint(checkpoint)
    variables = sum(part.bits for part in setup.parts)
    return StateCount(
        tuple(by_step), stopped, nodes, variables, setup.order, is_layered, budget.elapsed, megabytes
    )


def with_parts(setup: Setup, process: CounterProcess, budget: Budget) -> Setup:
    """Choose the parts of a state, and the order in which they need the fewest nodes for some steps."""
    from herbrand.analyse.counting.encoding import orders
    from herbrand.analyse.counting.layers import fit_measure
    from herbrand.analyse.counting.parts import parts_of
    from herbrand.analyse.exploration.walks import play
    from herbrand.analyse.invariants.frames import System
    from herbrand.analyse.invariants.groups import find_groups
    from herbrand.engine.expand import Expander

    network = setup.network
    seconds = min(_MOST_GROUP_SECONDS, _GROUP_SHARE * budget.left)
    sample = play(Expander(network), time.monotonic() + min(1.0, seconds / 4))
    groups = []
    with suppress(BudgetExceeded, MissingExtra):  # otherwise each fluent has a variable of its own
        groups = find_groups(System(network), time.monotonic() + seconds, sample.states)
    candidates = orders(network, parts_of(len(network.fluents), groups))
    tried = [replace(setup, parts=parts, order=name) for name, parts in candidates.items()]
    seconds = min(_TRIAL_SECONDS, _TRIAL_SHARE * budget.left)
    sizes: list[list[int]] = []
    enough = budget.elapsed + _TRIALS_SHARE * budget.left
    for one in tried:
        some, are_all = process.try_order(one, seconds, budget.left)
        sizes.append(some)
        if are_all or budget.elapsed > enough:  # no other is needed, or the relation alone takes long
            break
    most = max(map(len, sizes))
    # those that got far, compared in the steps that all of them made
    far = [i for i, some in enumerate(sizes) if len(some) >= most / 2]
    common = min(len(sizes[i]) for i in far)
    setup = tried[min(far, key=lambda i: sum(sizes[i][:common]))]
    if sample.cycle is not None:
        return setup
    return replace(setup, weights=fit_measure(setup.parts, sample.states, sample.depths))

"""Random playouts and their statistics."""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Self

from herbrand.errors import BudgetExceeded
from herbrand.runtime.limits import UNLIMITED
from herbrand.runtime.numbers import spaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from herbrand.engine.weights import WeightFunction
    from herbrand.rules.interface import Engine
    from herbrand.runtime.limits import Limits

__all__ = ["GoalStatistics", "Simulation", "goal_statistics", "goal_value", "random_playouts", "stuck_in"]


_NORMAL_95 = 1.959963984540054
"""97.5 % quantile of the standard normal distribution."""


@dataclass(frozen=True, slots=True)
class GoalStatistics:
    """The goal values of one role at the end of the finished playouts."""

    mean: float | None
    """None when no playout ended with a value."""
    standard_error: float | None
    """Of the mean; None with fewer than two values."""
    distribution: dict[int, int]
    """How often each value occurred."""
    undefined: int
    """Finished playouts without exactly one value."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """A confidence interval of the mean, 95 %, by the normal approximation; None as `standard_error`."""
        if self.mean is None or self.standard_error is None:
            return None
        return self.mean - _NORMAL_95 * self.standard_error, self.mean + _NORMAL_95 * self.standard_error


@dataclass(frozen=True, slots=True)
class Simulation:
    """Statistics of random playouts."""

    game: str
    engine: str
    seed: int
    playouts: int
    """Playouts played; `truncated` of them reached the step limit, `stuck` of them got stuck."""
    truncated: int
    transitions: int
    lengths: dict[int, int]
    """The number of playouts by their length in steps."""
    goals: dict[str, GoalStatistics]
    seconds: float
    """Processor seconds."""
    note: str | None = None
    """Why this engine was chosen, when there was a choice."""
    stopped: str | None = None
    """Why there are fewer playouts than requested, or None."""
    branching: dict[str, float] = field(default_factory=dict)
    """Mean number of legal moves of each role over the visited non-terminal states.

    Not counted, and empty, where moves have weights.
    """
    stuck: int = 0
    """Playouts that ended, without goals, because a role had no legal move though the game was not over."""
    stuck_in: str | None = None
    """The role without a legal move in the first such state, and the state."""

    @property
    def length(self) -> dict[str, float]:
        """Steps of a playout: "min", "mean" and "max"."""
        if not self.lengths:
            return {"min": 0, "mean": 0.0, "max": 0}
        mean = sum(n * count for n, count in self.lengths.items()) / self.playouts
        return {"min": min(self.lengths), "mean": mean, "max": max(self.lengths)}

    @property
    def length_interval(self) -> tuple[float, float] | None:
        """A confidence interval of the mean length, 95 %; None with fewer than two playouts."""
        return goal_statistics(Counter(self.lengths), 0).interval

    def as_data(self) -> dict[str, Any]:
        """Return all fields, and nothing else, as data that survives JSON; see `from_data`."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """Return the statistics of which `as_data` made data; in JSON all keys are texts."""
        goals = {
            role: GoalStatistics(**{**goal, "distribution": _with_numbers(goal["distribution"])})
            for role, goal in data["goals"].items()
        }
        return cls(**{**data, "goals": goals, "lengths": _with_numbers(data["lengths"])})

    def _repr_html_(self) -> str:
        """Return the goals by role and the lengths of the games, as HTML for notebooks."""
        from herbrand.runtime.notebook import bars, block, table

        rows = []
        for role, goal in self.goals.items():
            mean = None if goal.mean is None else f"{goal.mean:.2f}"
            if mean is not None and goal.interval is not None:
                mean += f" ± {(goal.interval[1] - goal.interval[0]) / 2:.2f}"
            total = max(sum(goal.distribution.values()) + goal.undefined, 1)
            shares = [f"{v}: {100 * n / total:.1f} %" for v, n in sorted(goal.distribution.items())]
            legal = self.branching.get(role)
            rows.append((role, mean, None if legal is None else f"{legal:.2f}", ", ".join(shares)))
        length = self.length
        lines = [f"length {length['min']} to {length['max']}, {length['mean']:.2f} on average"]
        if self.stuck or self.truncated:
            lines.append(f"{self.stuck} got stuck, {self.truncated} were cut off")
        return block(
            self.game,
            table(rows, ("role", "mean goal", "legal moves", "goals"), numbers=(1, 2)),
            bars(self.lengths, f"lengths of {self.playouts} playouts of {self.game}"),
            "; ".join(lines),
            note=f"{spaced(self.playouts)} random playouts, engine: {self.engine}, seed {self.seed}",
        )

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {
            "game": self.game,
            "engine": self.engine,
            "note": self.note,
            "seed": self.seed,
            "playouts": self.playouts,
            "truncated": self.truncated,
            "stuck": self.stuck,
            "stuck_in": self.stuck_in,
            "transitions": self.transitions,
            "length": {
                **self.length,
                "interval_95": self.length_interval,
                "histogram": {str(n): count for n, count in sorted(self.lengths.items())},
            },
            "goals": {
                role: {
                    "mean": goal.mean,
                    "standard_error": goal.standard_error,
                    "interval_95": goal.interval,
                    "distribution": {str(v): n for v, n in sorted(goal.distribution.items())},
                    "undefined": goal.undefined,
                }
                for role, goal in self.goals.items()
            },
            "branching": self.branching,
            "seconds": self.seconds,
            "transitions_per_s": self.transitions / self.seconds if self.seconds else None,
            "stopped": self.stopped,
        }


def _with_numbers(counts: dict[Any, int]) -> dict[int, int]:
    return {int(number): count for number, count in counts.items()}


def random_playouts(
    engine: Engine,
    name: str,
    *,
    playouts: int,
    seed: int,
    max_steps: int,
    limits: Limits = UNLIMITED,
    progress: Callable[[int, int], None] | None = None,
    note: str | None = None,
    weigh: WeightFunction | None = None,
) -> Simulation:
    """Play `playouts` random games on an engine, one at a time.

    Every role chooses among its legal moves, uniformly or in proportion to `weigh(role, move)`.
    A playout longer than `max_steps` is cut off and counted as truncated.  When the time of
    `limits` is up, the result covers the games played so far and has `stopped` set.  A playout is stuck
    where a role has no legal move in a state that is not terminal: the rules do not define what follows.
    The same seed gives the same playouts.
    """
    rng = random.Random(seed)
    text = engine.terms.text
    roles = [text(role) for role in engine.roles]
    lengths: Counter[int] = Counter()
    values: list[Counter[int]] = [Counter() for _ in roles]
    undefined = [0] * len(roles)
    choices = [0] * len(roles)
    truncated = transitions = played = stuck = 0
    example: str | None = None
    stopped = None
    clock = limits.start()
    # engines that wait for a subprocess bring a wall clock: their own process spends no time
    now = getattr(engine, "clock", time.process_time)
    started = now()
    start = engine.initial()
    for _ in range(playouts):
        key, steps = start, 0
        try:
            without: str | None = None
            while not engine.terminal(key) and steps < max_steps:
                clock.spend(0)
                joint = []
                for i, role in enumerate(roles):
                    legal = engine.legal(key, i)
                    if not engine.in_order:
                        legal = sorted(legal, key=text)
                    choices[i] += len(legal)
                    if legal and weigh is not None:
                        joint.extend(rng.choices(legal, [weigh(i, move) for move in legal]))
                    elif legal:
                        joint.append(legal[int(rng.random() * len(legal))])
                    else:
                        without = without or role
                if without is not None:
                    stuck += 1
                    example = example or stuck_in(without, map(text, engine.fluents(key)))
                    break
                key = engine.successor(key, joint)
                steps += 1
                transitions += 1
            finished = without is not None or steps < max_steps or engine.terminal(key)
            if finished and without is None:
                for i in range(len(roles)):
                    goals = [text(value) for value in engine.goals(key, i)]
                    value = goal_value(goals[0]) if len(goals) == 1 else None
                    if value is not None:
                        values[i][value] += 1
                    else:
                        undefined[i] += 1
        except BudgetExceeded as error:
            stopped = str(error)
            break
        truncated += not finished
        lengths[steps] += 1
        played += 1
        if progress is not None:
            progress(played, playouts)
    return Simulation(
        game=name,
        engine=engine.name,
        seed=seed,
        playouts=played,
        truncated=truncated,
        transitions=transitions,
        lengths=dict(lengths),
        goals={
            role: goal_statistics(counts, missing)
            for role, counts, missing in zip(roles, values, undefined, strict=True)
        },
        seconds=now() - started,
        note=note,
        stopped=stopped,
        stuck=stuck,
        stuck_in=example,
        branching={}
        if weigh is not None
        else {role: total / max(transitions + stuck, 1) for role, total in zip(roles, choices, strict=True)},
    )


def stuck_in(role: str, facts: Iterable[str]) -> str:
    """Describe which role is stuck in which state."""
    return f"{role} has no legal move in the state: {' '.join(sorted(facts))}"


def goal_value(text: str) -> int | None:
    """Return the number that a goal value is in canonical decimal notation, None for other terms."""
    is_number = text.isascii() and text.isdigit() and (text == "0" or not text.startswith("0"))
    return int(text) if is_number else None


def goal_statistics(counts: Counter[int], undefined: int) -> GoalStatistics:
    """Return the statistics of goal values from how often each occurred."""
    n = counts.total()
    if not n:
        return GoalStatistics(None, None, {}, undefined)
    mean = sum(value * count for value, count in counts.items()) / n
    error = None
    if n > 1:
        square = sum(count * (value - mean) ** 2 for value, count in counts.items())
        error = math.sqrt(square / (n - 1) / n)
    return GoalStatistics(mean, error, dict(counts), undefined)

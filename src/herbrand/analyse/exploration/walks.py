"""Random play, many games at once: what is frequent shows without being looked for."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from herbrand.core import STUCK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from herbrand.analyse.verdict import Moves
    from herbrand.engine.expand import Expander, Rollouts

__all__ = ["RandomPlay", "found_at_random", "gets", "has_no_goal", "is_stuck", "play"]

_GAMES = 2048
"""Games played at once, when lines are looked for."""
_LIMITS = (300, 3000)
"""Steps after which games are cut off, in turns."""
_LANES = 64
"""Games played at once, step by step."""
_TIMES = 16
_LONGEST = 300
_MOST_STEPS = 6000
"""Different steps that are kept."""
_MOST_STATES = 6000
_KEPT = 16
"""States that are kept after each step."""


def gets(role: int, value: int) -> Callable[[Rollouts], NDArray[np.bool_]]:
    """Tell in which games a role gets a goal value."""
    return lambda rollouts: ~rollouts.truncated & (rollouts.goals[:, role] == value)


def is_stuck(rollouts: Rollouts) -> NDArray[np.bool_]:
    """Tell which games come to a state in which a role cannot move."""
    found: NDArray[np.bool_] = (rollouts.goals == STUCK).any(axis=1)
    return found


def has_no_goal(roles: list[int]) -> Callable[[Rollouts], NDArray[np.bool_]]:
    """Tell which games end without one goal value for one of the roles."""
    return lambda found: ~found.truncated & ~is_stuck(found) & (found.goals[:, roles] < 0).any(axis=1)


def found_at_random(
    expander: Expander, wanted: Mapping[str, Callable[[Rollouts], NDArray[np.bool_]]], deadline: float
) -> dict[str, Moves]:
    """Play at random until the deadline; return by name the shortest line that was met first.

    `wanted` tells, by name, which games are looked for.
    """
    found: dict[str, Moves] = {}
    states = np.repeat(expander.initial, _GAMES, axis=0)
    seed = 0
    while len(found) < len(wanted) and time.monotonic() < deadline:
        limit = _LIMITS[min(seed % 4, 3) // 3]
        rollouts = expander.rollouts(states, seed=seed, max_steps=limit)
        for name, tells in wanted.items():
            games = np.flatnonzero(tells(rollouts))
            if name not in found and len(games):
                first = int(games[rollouts.lengths[games].argmin()])
                found[name] = expander.rollouts(states, seed=seed, max_steps=limit, watched=first).line
        seed += 1
    return found


@dataclass(frozen=True, slots=True)
class RandomPlay:
    """What was seen in random games."""

    changes: NDArray[np.int8]
    """[n, fluents] how steps changed the fluents, each way once: -1, 0 or 1."""
    states: NDArray[np.bool_]
    """[n, fluents] states that were met."""
    circle: Moves | None
    """A line of play into a state for the second time."""
    loop: int = 0
    """After so many steps of that line the state was met first."""

    def of(self, kept: NDArray[np.bool_]) -> RandomPlay:
        """Return the same with some of the fluents."""
        changes = np.unique(self.changes[:, kept], axis=0)
        return replace(self, changes=changes, states=self.states[:, kept])


def play(expander: Expander, deadline: float) -> RandomPlay:
    """Play at random until a state comes back, enough different steps were seen or the time is up."""
    rng = np.random.default_rng(1)
    seen: dict[bytes, None] = {}
    kept = [expander.bits(expander.initial)]

    def found(circle: Moves | None = None, loop: int = 0) -> RandomPlay:
        steps = np.frombuffer(b"".join(list(seen)[:_MOST_STEPS]), np.int8).reshape(-1, expander.fluents)
        return RandomPlay(steps, np.concatenate(kept)[:_MOST_STATES], circle, loop)

    for _ in range(_TIMES):
        states = np.repeat(expander.initial, _LANES, axis=0)
        games = np.arange(_LANES)
        met: list[dict[bytes, int]] = [{states[0].tobytes(): 0} for _ in range(_LANES)]
        history: list[NDArray[np.int32]] = []
        for step in range(1, _LONGEST + 1):
            legal = expander.legal(states)
            on = ~legal.over & (legal.counts() > 0).all(axis=1)
            if not on.any() or len(seen) >= _MOST_STEPS or time.monotonic() > deadline:
                break
            moves = np.zeros((len(states), len(expander.roles)), np.int32)
            for role in range(len(expander.roles)):
                mask = legal.mask(role)
                moves[:, role] = (mask * (rng.random(mask.shape, np.float32) + 1)).argmax(axis=1)
            states, games, moves = states[on], games[on], moves[on]
            made = np.zeros((_LANES, len(expander.roles)), np.int32)
            made[games] = moves
            history.append(made)
            after = expander.step(states, moves)
            bits = expander.bits(after)
            kept.append(bits[:_KEPT])
            changes = bits.astype(np.int8) - expander.bits(states)
            seen.update(dict.fromkeys(row.tobytes() for row in changes))
            for game, row in zip(games.tolist(), after, strict=True):
                first = met[game].setdefault(row.tobytes(), step)
                if first < step:
                    line = tuple(expander.joint_move(made[game]) for made in history)
                    return found(line, first)
            states = after
    return found()

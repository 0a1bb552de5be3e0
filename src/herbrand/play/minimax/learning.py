"""A heuristic value learned from the rules: which nodes of the network tell who will win.

The gates that decide what is legal and when a game ends are the conditions of the rules: two in a row, a
square that is attacked, a way that is open.  States of random games are valued by many random games from
each; a gate or fluent is looked at as a feature of each state, and the values are predicted from them by
ridge regression.  Features are taken up in rounds, those that explain most of what is left first (matching
pursuit, Mallat and Zhang 1993).  How many moves each role has (mobility), what the goal would be now
(progress) and how rare the fluents are that each role makes true (novelty) take part as well.  Then games
are played in which mostly the best successor is taken, and all is learned again with states of those, which
are more like the ones that a search meets.

Novelty is that of width-based search (Lipovetzky and Geffner 2012; Geffner and Geffner 2015), where a state
is novel that makes a fluent true for the first time.  After thousands of games few fluents are new, so it is
counted by degrees: a fluent that is true in the part p of all states is worth -log2 p.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from herbrand.analyse.solving.minimax.judge import SCALE, LinearJudge, no_judge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.core import Valuer
    from herbrand.engine.expand import Expander, Legal, States

__all__ = ["Lesson", "learn"]

_GAMES = 512
_STEPS = 300
"""Steps after which a game is left."""
_SAMPLES = 4096
"""States that are learned from, at most."""
_EACH_STATE = 32
"""Random games that value a state."""
_PIECE = 256
"""States that are valued at once, between looks at the clock."""
_NODES = 16_384
"""Gates that are looked at, at most."""
_ROUNDS = 4
_EACH = 48
"""Features that are taken up in a round."""
_RARE = 40
"""A feature must be true, and false, in so many states."""
_RIDGE = 30.0
_KNOWN = 100
"""Fewer states than this tell nothing."""


class Lesson(NamedTuple):
    """What was learned."""

    judge: LinearJudge
    games: int
    features: int
    explained: float
    """The part of the variance of goals that is explained, in states that were not learned from."""
    seconds: float


def learn(
    expander: Expander, role: int, *, seed: int = 0, deadline: float = float("inf"), novelty: bool = True
) -> Lesson:
    """Learn to value states for a role, until `deadline` on the monotonic clock at the latest.

    Without `novelty`, how rare the fluents of a state are does not count.
    """
    started = time.monotonic()
    generator = np.random.default_rng(seed)
    best = Lesson(no_judge(len(expander.roles)), 0, 0, 0.0, 0.0)
    states, values, games = np.zeros((0, expander.words), np.uint64), np.zeros(0), 0
    made = np.zeros((len(expander.roles), expander.fluents), np.int64)
    for again in range(2):
        met = _met(expander, role, generator, best.judge if again else None, deadline, made)
        middle = time.monotonic() + 0.5 * max(0.0, deadline - time.monotonic())
        found = _valued_by_games(expander, role, met, generator, deadline if again else middle)
        games += len(found) * _EACH_STATE
        states, values = np.concatenate([states, met[: len(found)]]), np.concatenate([values, found])
        known = values >= 0
        if known.sum() < _KNOWN:
            break
        worth = rarity(expander, states[known], made) if novelty else np.zeros_like(made, float)
        judge, features, explained = _regress(expander, role, states[known], values[known], worth, generator)
        best = Lesson(judge, games, features, explained, time.monotonic() - started)
        if not features or time.monotonic() > deadline:
            break
    return best


def _met(
    expander: Expander, role: int, generator: np.random.Generator, judge: LinearJudge | None, deadline: float,
    made: NDArray[np.int64],
) -> States:  # fmt: skip
    """Play games; return states of them in which the game goes on, in any order.

    To `made`, [roles, fluents], is added how often a move of each role made each fluent true, where nobody
    else had a choice.
    """
    states = np.repeat(expander.initial, _GAMES, axis=0)
    valuer = None if judge is None else judge.valuer(expander.network, role)
    met: list[States] = []
    for _ in range(_STEPS):
        legal = expander.legal(states)
        going = np.flatnonzero(~legal.over & (legal.counts() > 0).all(axis=1))
        if not len(going) or time.monotonic() > deadline:
            break
        states = states[going]
        met.append(states)
        joint = _drawn(expander, legal, going, generator)
        if judge is not None and valuer is not None:
            _improve(expander, role, states, legal, going, joint, judge, valuer, generator)
        before, states = expander.bits(states), expander.step(states, joint)
        changed = expander.bits(states) & ~before
        choosing = legal.counts()[going] > 1
        for r in range(len(made)):
            made[r] += changed[choosing[:, r] & (choosing.sum(axis=1) == 1)].sum(axis=0)
    if not met:
        return expander.initial[:0]
    every = np.unique(np.concatenate(met), axis=0)
    return every[generator.permutation(len(every))[:_SAMPLES]]


def _valued_by_games(
    expander: Expander, role: int, states: States, generator: np.random.Generator, deadline: float
) -> NDArray[np.float64]:
    """Return what random games from states give on the average, -1 if that is not known.

    As many of the states as there is time for, from the first.
    """
    found: list[NDArray[np.float64]] = []
    for begin in range(0, len(states), _PIECE):
        if time.monotonic() > deadline:
            break
        some = states[begin : begin + _PIECE]
        ends = expander.rollouts(
            some, seed=int(generator.integers(1 << 62)), each=_EACH_STATE, max_steps=_STEPS
        )
        goals = ends.goals[:, role].astype(float).reshape(len(some), _EACH_STATE)
        valid = goals >= 0
        total = np.where(valid, goals, 0.0).sum(axis=1)
        found.append(np.where(valid.sum(axis=1) > 0, total / np.maximum(valid.sum(axis=1), 1), -1.0))
    return np.concatenate(found) if found else np.zeros(0)


def _drawn(
    expander: Expander, legal: Legal, rows: NDArray[np.int64], generator: np.random.Generator
) -> NDArray[np.int32]:
    """Draw a joint move in each of some states."""
    joint = np.zeros((len(rows), len(expander.roles)), np.int32)
    for r in range(len(expander.roles)):
        mask = legal.mask(r)[rows]
        joint[:, r] = np.where(mask, generator.random(mask.shape, np.float32), -1.0).argmax(axis=1)
    return joint


def _improve(
    expander: Expander, role: int, states: States, legal: Legal, going: NDArray[np.int64],
    joint: NDArray[np.int32], judge: LinearJudge, valuer: Valuer, generator: np.random.Generator,
) -> None:  # fmt: skip
    """Replace most moves by the one after which the value is best for who makes it."""
    for r in range(len(expander.roles)):
        mask = legal.mask(r)[going]
        chosen = np.flatnonzero((mask.sum(axis=1) > 1) & (generator.random(len(going)) < 0.75))
        if not len(chosen):
            continue
        parents, moves = np.nonzero(mask[chosen])
        parents = chosen[parents]
        after = joint[parents].copy()
        after[:, r] = moves
        values = valued(expander, role, expander.step(states, after, parents), judge, valuer)
        values = values if r == role else -values
        values += generator.normal(0.0, 3.0 * SCALE, len(values))
        order = np.lexsort((values, parents))
        last = np.flatnonzero(np.append(np.diff(parents[order]) != 0, True))
        joint[parents[order[last]], r] = moves[order[last]]


def valued(
    expander: Expander, role: int, states: States, judge: LinearJudge, valuer: Valuer | None = None
) -> NDArray[np.float64]:
    """Return the values of states, ends by their goals; `valuer` is the judge's, if there is one."""
    bits = (valuer or judge.valuer(expander.network, role)).features(states)
    legal = expander.legal(states)
    words = (
        bits.view(np.uint8).reshape(len(states), -1) if bits.size else np.zeros((len(states), 0), np.uint8)
    )
    values: NDArray[np.float64] = np.full(len(states), judge.bias)
    for j in range(len(judge.table)):
        values += judge.table[j][words[:, j]]
    if judge.mobility.any():
        values += legal.counts() @ judge.mobility
    if judge.progress.any():
        goals = expander.goals(states)[:, role]
        values += np.where(goals < 0, judge.progress[1], judge.progress[0] * goals)
    values = np.minimum(np.maximum(values, 0.0), 100.0 * SCALE)
    over = np.flatnonzero(legal.over)
    if len(over):
        values[over] = np.maximum(expander.goals(states[over])[:, role], 0) * SCALE
    return values


def rarity(expander: Expander, states: States, made: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what each fluent is worth as a novelty for the role that makes it true, [roles, fluents].

    That is -log2 of the part of the states in which it is true.  A fluent is nobody's if no role makes it
    true more often than every other.
    """
    parts = (expander.bits(states).sum(axis=0) + 1) / (len(states) + 2)
    most = (made > 0) & (made == made.max(axis=0))
    return np.where(most & (most.sum(axis=0) == 1), -np.log2(parts), 0.0)


# -- regression -----------------------------------------------------------------------------


def _regress(
    expander: Expander,
    role: int,
    states: States,
    goals: NDArray[np.float64],
    worth: NDArray[np.float64],
    generator: np.random.Generator,
) -> tuple[LinearJudge, int, float]:
    """Return the weights, how many features have some, and the part of the variance that is explained.

    `worth` says what each fluent is worth as a novelty, see `rarity`.
    """
    network = expander.network
    gates = np.arange(network.inputs, network.inputs + network.cones[0])
    if len(gates) > _NODES:
        gates = np.sort(generator.choice(gates, _NODES, replace=False))
    every = np.concatenate([np.arange(1, 1 + expander.fluents), gates]).astype(np.int32)
    packed = no_judge(len(expander.roles), 2 * every).valuer(network, role).features(states)
    legal = expander.legal(states)
    bits = np.unpackbits(packed.view(np.uint8), axis=1, bitorder="little", count=len(every))
    counts = bits.sum(axis=0, dtype=np.int64)
    some = np.flatnonzero((counts >= _RARE) & (counts <= len(states) - _RARE))
    if len(some):  # of nodes that are always equal, or opposite, one
        signs = bits[:, some] ^ bits[0, some]
        _, unique = np.unique(np.packbits(signs, axis=0).T, axis=0, return_index=True)
        some = some[np.sort(unique)]
    bits, nodes = np.ascontiguousarray(bits[:, some]), every[some]
    base = [np.ones(len(states)), *legal.counts().T.astype(float), *worth @ expander.bits(states).T]
    few = network.cones[2] - network.cones[1] <= network.cones[1]
    if few:
        now = expander.goals(states)[:, role].astype(float)
        base += [np.maximum(now, 0.0), (now < 0).astype(float)]
    fixed = np.stack(base, axis=1)
    trained = np.arange(len(states)) % 4 != 0
    chosen = np.zeros(0, np.int64)
    shares = counts[some] / len(states)
    spread = np.sqrt(shares * (1 - shares))
    best: tuple[float, NDArray[np.int64], NDArray[np.float64]] | None = None
    weights = _ridge(fixed[trained], goals[trained])
    errors = goals - fixed @ weights
    total = float(goals[~trained].var()) or 1.0
    for _ in range(_ROUNDS + 1):
        left = float((errors[~trained] ** 2).mean())
        if best is None or left < best[0] - 1e-3 * total:
            best = left, chosen, weights
        elif best is not None:
            break
        if len(chosen) >= _ROUNDS * _EACH or not len(some):
            break
        score = np.zeros(len(some))
        for begin in range(0, len(some), 1024):
            score[begin : begin + 1024] = errors[trained] @ bits[trained, begin : begin + 1024].astype(
                np.float32
            )
        score = np.abs(score - errors[trained].sum() * shares) / np.maximum(spread, 1e-9)
        score[chosen] = -1.0
        chosen = np.concatenate([chosen, np.argsort(-score)[:_EACH]])
        design = np.concatenate([fixed, bits[:, chosen]], axis=1)
        weights = _ridge(design[trained], goals[trained])
        errors = goals - design @ weights
    assert best is not None
    left, chosen, weights = best
    judge = _judge(expander, nodes[chosen], weights, worth, few=few)
    return judge, len(chosen), max(0.0, 1.0 - left / total)


def _ridge(design: NDArray[np.float64], goals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of the columns, kept small but that of the first."""
    means = design.mean(axis=0, dtype=np.float64)
    spread = design.std(axis=0, dtype=np.float64)
    some = spread > 1e-9  # the others say nothing
    scaled = (design[:, some] - means[some]) / spread[some]
    weights = np.zeros(design.shape[1])
    middle = goals.mean()
    weights[some] = (
        np.linalg.solve(scaled.T @ scaled + _RIDGE * np.eye(scaled.shape[1]), scaled.T @ (goals - middle))
        / spread[some]
    )
    weights[0] = middle - means[1:] @ weights[1:]
    return weights


def _judge(
    expander: Expander, nodes: NDArray[np.int32], weights: NDArray[np.float64],
    worth: NDArray[np.float64], *, few: bool,
) -> LinearJudge:  # fmt: skip
    """Put weights into the form of the search, where the novelty of a fluent is a weight of its own."""
    roles = len(expander.roles)
    start = 1 + 2 * roles + (2 if few else 0)
    of_nodes = np.zeros(1 + max(expander.fluents, int(nodes.max(initial=0))))
    of_nodes[nodes] = weights[start:]
    of_nodes[1 : 1 + expander.fluents] += weights[1 + roles : 1 + 2 * roles] @ worth
    some = np.flatnonzero(np.rint(of_nodes * SCALE)).astype(np.int32)
    words = -(-len(some) // 64)
    mine = np.zeros(64 * words)
    mine[: len(some)] = of_nodes[some] * SCALE
    table = np.zeros((8 * words, 256), np.int32)
    for j in range(8 * words):
        for b in range(8):
            table[j, (np.arange(256) >> b & 1) == 1] += round(float(mine[8 * j + b]))
    progress = weights[1 + 2 * roles : start] * SCALE if few else np.zeros(2)
    return LinearJudge(2 * some, table, weights[1 : 1 + roles] * SCALE, progress, float(weights[0]) * SCALE)

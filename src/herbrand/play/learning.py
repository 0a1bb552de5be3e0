"""An evaluation function learned from the rules, with nodes of the network as features.

The gates behind `legal` and `terminal` are the conditions of the rules: two in a row, an attacked square, an
open path.  Sampled states of playouts are labelled with the mean result of further playouts from each, and
ridge regression predicts these labels from gates and fluents.  Features are added in rounds, by their
correlation with the residuals (matching pursuit, Mallat and Zhang 1993).  Further features are the number of
legal moves of each role (mobility), the current goal value (progress), the rarity of the fluents that each
role makes true (novelty), and threats (`play.threats`) where they explain clearly more.  The second iteration
samples states of games in which roles mostly take the best successor, since those are closer to the states of
a search.

Novelty follows width-based search (Lipovetzky and Geffner 2012; Geffner and Geffner 2015), where a state is
novel if it makes a fluent true for the first time.  After thousands of games few fluents are new, so novelty
is graded here: a fluent that is true in a share p of all states is worth -log2 p.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from herbrand.analyse.solving.minimax.judge import SCALE, LinearJudge, linear_judge, no_judge
from herbrand.engine.expand import unpack
from herbrand.play.threats import NO_GATES, Threats, find_threats, with_gates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.core import Valuer
    from herbrand.engine.expand import Expander, Legal, States

__all__ = ["LearnedJudge", "learn_judge", "sample_states"]

_GAMES = 512
_MAX_STEPS = 300
_MAX_SAMPLES = 4096
"""Sampled states in each iteration, at most."""
_PLAYOUTS = 32
"""Playouts that label a state."""
_BATCH = 256
"""States that are labelled between checks of the clock."""
_MAX_GATES = 16_384
"""Gates considered as features, at most; a random subset of more."""
_ROUNDS = 4
_FEATURES_PER_ROUND = 48
_MIN_SUPPORT = 40
"""Number of states in which a feature must be true, and in which it must be false."""
_RIDGE = 30.0
_NEXT_REGRESSION = 2.0
"""How much longer the regression of the second iteration may take, with up to twice as many states."""
_MIN_GAIN = 0.05
"""Share of the variance that threats, and those in more steps, must explain in addition."""
_MIN_SAMPLES = 100
"""Labelled states below which nothing is learned."""


class LearnedJudge(NamedTuple):
    """A learned evaluation function and how well it fits."""

    judge: LinearJudge
    games: int
    """Playouts that it was learned from."""
    features: int
    """Network nodes with a weight; 0 if nothing was learned."""
    explained: float
    """Share of the variance of goals explained in held-out states, from 0 to 1."""
    seconds: float
    self_played: int = 0
    """Games against itself that improved it."""
    gates: NDArray[np.int32] = NO_GATES
    """[gates, 2] the gates of threats that the literals of the judge need, see `with_gates`; none without."""

    def of(self, role: int, other: int) -> LearnedJudge:
        """Return the values for a role, given that these are for `role`, of two whose goals add up to 100."""
        return self if role == other else self._replace(judge=self.judge.opposed())

    def valuer(self, expander: Expander, role: int) -> Valuer:
        """Return the evaluator of states for the role."""
        return self.judge.valuer(with_gates(expander.network, self.gates), role)


def learn_judge(
    expander: Expander, role: int, *, seed: int = 0, deadline: float = float("inf"), novelty: bool = True,
    threats: bool = True,
) -> LearnedJudge:  # fmt: skip
    """Learn an evaluation function for a role, until `deadline` on the monotonic clock at the latest.

    Without `novelty`, the rarity of fluents is not a feature; without `threats`, the literals of the judge
    are of the game's own network.
    """
    started = time.monotonic()
    generator = np.random.default_rng(seed)
    best = LearnedJudge(no_judge(len(expander.roles)), 0, 0, 0.0, 0.0)
    states, labels, games = np.zeros((0, expander.words), np.uint64), np.zeros(0), 0
    additions = np.zeros((len(expander.roles), expander.fluents), np.int64)
    until = started + 0.5 * max(0.0, deadline - started)
    chosen: Threats | None = None
    candidates = _candidates(expander, generator)
    reader: Valuer | None = None
    for iteration in range(2):
        sample = _sample_states(expander, role, generator, best if iteration else None, until, additions)
        new_labels = _label(expander, role, sample, generator, until)
        games += len(new_labels) * _PLAYOUTS
        states = np.concatenate([states, sample[: len(new_labels)]])
        labels = np.concatenate([labels, new_labels])
        valid = labels >= 0
        if valid.sum() < _MIN_SAMPLES:
            break
        worth = rarity(expander, states[valid], additions) if novelty else np.zeros_like(additions, float)
        began = time.monotonic()
        if reader is None:  # in large games compiling it takes seconds
            reader = no_judge(len(expander.roles), 2 * candidates).valuer(expander.network, role)
        data = expander, role, states[valid], labels[valid], worth, candidates, reader
        fit = _regress(*data, chosen)
        until = deadline - _NEXT_REGRESSION * (time.monotonic() - began)
        for more in find_threats(expander, sample) if threats and not iteration else ():
            if time.monotonic() > until:
                break
            other = _regress(*data, more)
            if other.explained < fit.explained + _MIN_GAIN:
                break
            chosen, fit = more, other
        best = fit._replace(games=games, seconds=time.monotonic() - started)
        if not fit.features or time.monotonic() > until:
            break
    return best


def _sample_states(
    expander: Expander, role: int, generator: np.random.Generator, learned: LearnedJudge | None,
    deadline: float, additions: NDArray[np.int64], games: int = _GAMES,
) -> States:  # fmt: skip
    """Play games, guided by what is learned if anything; return distinct non-terminal states in random order.

    Adds to `additions`, [roles, fluents], how often a move of each role made each fluent true in states where
    no other role had a choice.
    """
    states = np.repeat(expander.initial, games, axis=0)
    valuer = None if learned is None else learned.valuer(expander, role)
    visited: list[States] = []
    for _ in range(_MAX_STEPS):
        legal = expander.legal(states)
        going = np.flatnonzero(legal.going)
        if not len(going) or time.monotonic() > deadline:
            break
        states = states[going]
        visited.append(states)
        joint = legal.sample_joint(generator)[going]
        if learned is not None and valuer is not None:
            _improve_moves(expander, role, states, legal, going, joint, learned.judge, valuer, generator)
        before, states = expander.bits(states), expander.step(states, joint)
        changed = expander.bits(states) & ~before
        choosing = legal.counts()[going] > 1
        for r in range(len(additions)):
            additions[r] += changed[choosing[:, r] & (choosing.sum(axis=1) == 1)].sum(axis=0)
    if not visited:
        return expander.initial[:0]
    distinct = np.unique(np.concatenate(visited), axis=0)
    return distinct[generator.permutation(len(distinct))[:_MAX_SAMPLES]]


def sample_states(
    expander: Expander, generator: np.random.Generator, deadline: float = float("inf"), *, games: int = _GAMES
) -> States:
    """Return distinct states of random games until a deadline, none of them terminal, in random order."""
    additions = np.zeros((len(expander.roles), expander.fluents), np.int64)
    return _sample_states(expander, 0, generator, None, deadline, additions, games)


def _label(
    expander: Expander, role: int, states: States, generator: np.random.Generator, deadline: float
) -> NDArray[np.float64]:
    """Return the mean goal of playouts from each state, -1 where none has a goal value.

    Stops at the deadline: the result may be shorter than `states`.
    """
    labels: list[NDArray[np.float64]] = []
    for begin in range(0, len(states), _BATCH):
        if time.monotonic() > deadline:
            break
        batch = states[begin : begin + _BATCH]
        seed = int(generator.integers(1 << 62))
        ended = expander.rollouts(batch, seed=seed, each=_PLAYOUTS, max_steps=_MAX_STEPS)
        goals = ended.goals[:, role].astype(float).reshape(len(batch), _PLAYOUTS)
        valid = goals >= 0
        total = np.where(valid, goals, 0.0).sum(axis=1)
        labels.append(np.where(valid.sum(axis=1) > 0, total / np.maximum(valid.sum(axis=1), 1), -1.0))
    return np.concatenate(labels) if labels else np.zeros(0)


def _improve_moves(
    expander: Expander, role: int, states: States, legal: Legal, going: NDArray[np.int64],
    joint: NDArray[np.int32], judge: LinearJudge, valuer: Valuer, generator: np.random.Generator,
) -> None:  # fmt: skip
    """Replace three of four moves by the one with the best value for the role that makes it, plus noise."""
    for r in range(len(expander.roles)):
        mask = legal.mask(r)[going]
        chosen = np.flatnonzero((mask.sum(axis=1) > 1) & (generator.random(len(going)) < 0.75))
        if not len(chosen):
            continue
        parents, moves = np.nonzero(mask[chosen])
        parents = chosen[parents]
        after = joint[parents].copy()
        after[:, r] = moves
        values = evaluate_states(expander, role, expander.step(states, after, parents), judge, valuer)
        values = values if r == role else -values
        values += generator.normal(0.0, 3.0 * SCALE, len(values))
        order = np.lexsort((values, parents))
        last = np.flatnonzero(np.append(np.diff(parents[order]) != 0, True))
        joint[parents[order[last]], r] = moves[order[last]]


def evaluate_states(
    expander: Expander, role: int, states: States, judge: LinearJudge, valuer: Valuer | None = None
) -> NDArray[np.float64]:
    """Return the values of states, [states], times `SCALE`; terminal states have their goal values.

    `valuer` is the judge's, if the caller has one already.
    """
    bits = (valuer or judge.valuer(expander.network, role)).features(states)
    legal = expander.legal(states)
    octets = bits.view(np.uint8)
    values: NDArray[np.float64] = np.full(len(states), judge.bias)
    for j in range(len(judge.table)):
        values += judge.table[j][octets[:, j]]
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


def rarity(expander: Expander, states: States, additions: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the novelty of each fluent for the role that makes it true, [roles, fluents].

    That is -log2 of the share of states in which it is true, for the role that makes it true most often
    (`additions`), and 0 for the other roles; 0 for all if two roles make it true equally often.
    """
    shares = (expander.bits(states).sum(axis=0) + 1) / (len(states) + 2)
    is_most = (additions > 0) & (additions == additions.max(axis=0))
    return np.where(is_most & (is_most.sum(axis=0) == 1), -np.log2(shares), 0.0)


# -- regression -----------------------------------------------------------------------------


def _candidates(expander: Expander, generator: np.random.Generator) -> NDArray[np.int32]:
    """Return the nodes that may become features: fluents, and gates behind the legal moves."""
    network = expander.network
    gates = np.arange(network.inputs, network.inputs + network.cones[0])
    if len(gates) > _MAX_GATES:
        gates = np.sort(generator.choice(gates, _MAX_GATES, replace=False))
    return np.concatenate([np.arange(1, 1 + expander.fluents), gates]).astype(np.int32)


def _regress(
    expander: Expander,
    role: int,
    states: States,
    goals: NDArray[np.float64],
    worth: NDArray[np.float64],
    candidates: NDArray[np.int32],
    reader: Valuer,
    threats: Threats | None,
) -> LearnedJudge:
    """Return the evaluation function that fits best, without the number of playouts and seconds.

    `reader` reads the candidates, and `worth` is the novelty of each fluent, see `rarity`.  Every fourth
    state is held out, for stopping and for the explained variance.
    """
    network = expander.network
    if threats is not None:
        candidates = np.concatenate([candidates, threats.nodes])
        reading = no_judge(len(expander.roles), 2 * candidates)
        reader = reading.valuer(with_gates(network, threats.gates), role)
    legal = expander.legal(states)
    bits = unpack(reader.features(states), len(candidates))
    counts = bits.sum(axis=0, dtype=np.int64)
    varying = np.flatnonzero((counts >= _MIN_SUPPORT) & (counts <= len(states) - _MIN_SUPPORT))
    if len(varying):  # of nodes that are equal in all states, or opposite, the first
        signs = bits[:, varying] ^ bits[0, varying]
        _, unique = np.unique(np.packbits(signs, axis=0).T, axis=0, return_index=True)
        varying = varying[np.sort(unique)]
    bits, nodes = np.ascontiguousarray(bits[:, varying]), candidates[varying]
    columns = [np.ones(len(states)), *legal.counts().T.astype(float), *worth @ expander.bits(states).T]
    # progress is a feature only where goals are cheap to evaluate
    has_progress = network.cones[2] - network.cones[1] <= network.cones[1]
    if has_progress:
        progress = expander.goals(states)[:, role].astype(float)
        columns += [np.maximum(progress, 0.0), (progress < 0).astype(float)]
    base = np.stack(columns, axis=1)
    training = np.arange(len(states)) % 4 != 0
    chosen = np.zeros(0, np.int64)
    shares = counts[varying] / len(states)
    deviations = np.sqrt(shares * (1 - shares))
    best: tuple[float, NDArray[np.int64], NDArray[np.float64]] | None = None
    weights = _ridge(base[training], goals[training])
    residuals = goals - base @ weights
    variance = float(goals[~training].var()) or 1.0
    for _ in range(_ROUNDS + 1):
        loss = float((residuals[~training] ** 2).mean())
        if best is not None and loss >= best[0] - 1e-3 * variance:
            break
        best = loss, chosen, weights
        if len(chosen) >= _ROUNDS * _FEATURES_PER_ROUND or not len(varying):
            break
        score = np.zeros(len(varying))
        for begin in range(0, len(varying), 1024):  # in blocks, to bound the float copy of the bits
            block = bits[training, begin : begin + 1024].astype(np.float32)
            score[begin : begin + 1024] = residuals[training] @ block
        score = np.abs(score - residuals[training].sum() * shares) / np.maximum(deviations, 1e-9)
        score[chosen] = -1.0
        chosen = np.concatenate([chosen, np.argsort(-score)[:_FEATURES_PER_ROUND]])
        design = np.concatenate([base, bits[:, chosen]], axis=1)
        weights = _ridge(design[training], goals[training])
        residuals = goals - design @ weights
    assert best is not None
    loss, chosen, weights = best
    judge = _build_judge(expander, nodes[chosen], weights, worth, has_progress=has_progress)
    gates = NO_GATES if threats is None else threats.gates
    return LearnedJudge(judge, 0, len(chosen), max(0.0, 1.0 - loss / variance), 0.0, gates=gates)


def _ridge(design: NDArray[np.float64], goals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of the columns by ridge regression; the first, the intercept, is not penalised."""
    means = design.mean(axis=0, dtype=np.float64)
    deviations = design.std(axis=0, dtype=np.float64)
    varying = deviations > 1e-9
    scaled = (design[:, varying] - means[varying]) / deviations[varying]
    weights = np.zeros(design.shape[1])
    mean = goals.mean()
    gram = scaled.T @ scaled + _RIDGE * np.eye(scaled.shape[1])
    weights[varying] = np.linalg.solve(gram, scaled.T @ (goals - mean)) / deviations[varying]
    weights[0] = mean - means[1:] @ weights[1:]
    return weights


def _build_judge(
    expander: Expander, nodes: NDArray[np.int32], weights: NDArray[np.float64],
    worth: NDArray[np.float64], *, has_progress: bool,
) -> LinearJudge:  # fmt: skip
    """Convert weights to the tables of the search, with novelty folded into the weights of fluents."""
    roles = len(expander.roles)
    start = 1 + 2 * roles + (2 if has_progress else 0)
    node_weights = np.zeros(1 + max(expander.fluents, int(nodes.max(initial=0))))
    node_weights[nodes] = weights[start:]
    node_weights[1 : 1 + expander.fluents] += weights[1 + roles : 1 + 2 * roles] @ worth
    progress = weights[1 + 2 * roles : start] if has_progress else np.zeros(2)
    return linear_judge(
        2 * np.arange(len(node_weights), dtype=np.int32), node_weights, weights[1 : 1 + roles],
        float(weights[0]), progress,
    )  # fmt: skip

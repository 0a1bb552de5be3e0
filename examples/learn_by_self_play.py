"""Learn to play connect four on five columns and four rows by self-play, with numpy alone.

usage: python examples/learn_by_self_play.py [--seconds S] [--seed N] [--games N] [--plot FILE]

Many games are played at once (`herbrand.envs.BatchEnv`).  One small network sees the board from the side of
the player to move and gives chances of moves, illegal ones masked, and the value it expects.  It learns
by proximal policy optimisation (Schulman et al. 2017) with advantages over several steps (Schulman et al.
2016); what is good for the other player is bad for the one before.  Printed, and drawn if a file is
given, is how often it wins against random moves and against a tree search with a short clock.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices are too small for more

import numpy as np
from numpy.typing import NDArray

import herbrand
from herbrand.envs import BatchEnv, Step
from herbrand.play import make_player

Array = NDArray[np.float32]

STEPS = 16  # of each game between two updates
HIDDEN = 128
EPOCHS = 3
PIECES = 4  # of the experience in each epoch
RATE = 1e-3
LAMBDA = 0.9
CLIP = 0.2
ENTROPY = 0.03
EXPLORE = 0.25  # of the moves are any legal ones, so that all kinds of positions are met
CLOCK = 0.02  # seconds that the tree search has for a move


class Network:
    """Two hidden layers; logits of the actions and one value."""

    def __init__(self, inputs: int, actions: int, chance: np.random.Generator) -> None:
        sizes = [(inputs, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, actions + 1)]
        self.weights: list[Array] = []
        for a, b in sizes:
            self.weights.append((chance.standard_normal((a, b)) * np.sqrt(2 / a)).astype(np.float32))
            self.weights.append(np.zeros(b, np.float32))
        self.weights[4] *= np.float32(0.01)
        self._moments = [(np.zeros_like(w), np.zeros_like(w)) for w in self.weights]
        self._updates = 0

    def forward(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """Return the two hidden layers, the logits and the values."""
        w = self.weights
        one = np.maximum(x @ w[0] + w[1], 0)
        two = np.maximum(one @ w[2] + w[3], 0)
        out = two @ w[4] + w[5]
        return one, two, out[:, :-1], np.tanh(out[:, -1])

    def learn(self, x: Array, one: Array, two: Array, slope: Array) -> None:
        """Take a step of Adam (Kingma and Ba 2015) down the slope of the outputs."""
        w = self.weights
        back_two = (slope @ w[4].T) * (two > 0)
        back_one = (back_two @ w[2].T) * (one > 0)
        slopes = [
            x.T @ back_one,
            back_one.sum(0),
            one.T @ back_two,
            back_two.sum(0),
            two.T @ slope,
            slope.sum(0),
        ]
        self._updates += 1
        for weight, (first, second), gradient in zip(w, self._moments, slopes, strict=True):
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            scale = np.sqrt(1 - 0.999**self._updates) / (1 - 0.9**self._updates)
            weight -= (RATE * scale * first / (np.sqrt(second) + 1e-8)).astype(np.float32)


class Learner:
    """A network that plays itself."""

    def __init__(self, game: herbrand.Game, games: int, seed: int) -> None:
        self.chance = np.random.default_rng(seed)
        self.env = BatchEnv(game, games, seed=seed, auto_reset="same")
        contents = [i for i, name in enumerate(self.env.view.names) if name.startswith("cell ")]
        self.sides = [contents, contents[::-1]]  # own stones first: red's for red, yellow's for yellow
        rows, columns, _ = self.env.observation_shape
        self.network = Network(rows * columns * 2, self.env.num_actions, self.chance)
        self.now = self.env.reset()

    def seen(self, now: Step) -> Array:
        """The boards from the side of the players to move, flat."""
        board = now.observation
        mine, other = board[..., self.sides[0]], board[..., self.sides[1]]
        return (
            np.where(now.player[:, None, None, None] == 0, mine, other)
            .reshape(len(board), -1)
            .astype(np.float32)
        )

    def chances(self, logits: Array, legal: NDArray[np.bool_]) -> Array:
        """The chances of the actions; illegal ones have none."""
        logits = np.where(legal, logits, -np.inf)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        found: Array = weights / weights.sum(axis=1, keepdims=True)
        return found

    def choose(self, now: Step, *, best: bool = False) -> NDArray[np.int64]:
        """An action for each game: drawn, or the likeliest."""
        chances = self.chances(self.network.forward(self.seen(now))[2], now.legal)
        if not best:
            chances = (chances / self.chance.exponential(size=chances.shape)).astype(np.float32)
        found: NDArray[np.int64] = chances.argmax(axis=1)
        return found

    def improve(self) -> int:
        """Play some steps of all games and learn from them; return how many moves were made."""
        n, network = self.env.n, self.network
        xs, masks, actions, olds, values, rewards, ends = [], [], [], [], [], [], []
        for _ in range(STEPS):
            now = self.now
            x = self.seen(now)
            _, _, logits, value = network.forward(x)
            chances = (1 - EXPLORE) * self.chances(logits, now.legal)
            chances += EXPLORE * now.legal / now.legal.sum(axis=1, keepdims=True)
            action = (chances / self.chance.exponential(size=chances.shape)).argmax(axis=1)
            self.now = self.env.step(action)
            xs.append(x)
            masks.append(now.legal)
            actions.append(action)
            olds.append(chances[np.arange(n), action])
            values.append(value)
            rewards.append(self.now.rewards[np.arange(n), now.player])
            ends.append(self.now.terminated | self.now.truncated)
        following = network.forward(self.seen(self.now))[3]
        target = following
        returns = []
        for t in reversed(range(STEPS)):  # the next value is the other player's
            target = np.where(ends[t], rewards[t], -((1 - LAMBDA) * following + LAMBDA * target))
            following = values[t]
            returns.append(target)
        x, mask, action, old, value = map(np.concatenate, (xs, masks, actions, olds, values))
        gain = np.concatenate(returns[::-1]).astype(np.float32)
        advantage = gain - value
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        for _ in range(EPOCHS):
            for piece in np.array_split(self.chance.permutation(len(x)), PIECES):
                self._update(x[piece], mask[piece], action[piece], old[piece], advantage[piece], gain[piece])
        return n * STEPS

    def _update(
        self,
        x: Array,
        mask: NDArray[np.bool_],
        action: NDArray[np.int64],
        old: Array,
        advantage: Array,
        gain: Array,
    ) -> None:
        one, two, logits, value = self.network.forward(x)
        chances = self.chances(logits, mask)
        rows = np.arange(len(x))
        ratio = chances[rows, action] / old
        # where clipping is in force nothing is learnt from the move
        active = np.where(advantage > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
        push = np.where(active, ratio * advantage, 0)
        slope = np.zeros((len(x), logits.shape[1] + 1), np.float32)
        slope[:, :-1] = push[:, None] * chances
        slope[rows, action] -= push
        logs = np.log(np.maximum(chances, 1e-9))
        entropy = -(chances * logs).sum(axis=1, keepdims=True)
        slope[:, :-1] += ENTROPY * chances * (logs + entropy)
        slope[:, -1] = (value - gain) * (1 - value**2)
        self.network.learn(x, one, two, (slope / len(x)).astype(np.float32))

    def against_random(self, games: int = 400) -> float:
        """The share of points against random moves; half of the games as either side."""
        env = BatchEnv(self.env.game, games, seed=1, auto_reset="off")
        side = np.arange(games) % 2
        points = np.zeros(games)
        now = env.reset()
        while not env.over.all():
            mine = now.player == side
            now = env.step(np.where(mine, self.choose(now, best=True), env.sample()))
            points += now.rewards[np.arange(games), side] / 2 + np.where(now.terminated, 0.5, 0)
        return float(points.mean())

    def against_search(self, games: int = 20) -> float:
        """The share of points against a tree search of `CLOCK` seconds a move."""
        game, points = self.env.game, 0.0
        env = BatchEnv(game, 1, auto_reset="off")
        for number in range(games):
            side = number % 2
            rival = make_player("mcts", seed=number)
            rival.start(game, game.players[1 - side], 0.1)
            now = env.reset()
            state = game.initial_state()
            while not env.over.all():
                if now.player[0] == side:
                    # the first moves are drawn, so that games differ
                    action = int(self.choose(now, best=len(state.facts) > 4)[0])
                else:
                    action = env.actions[1 - side].index(str(rival.select(state, CLOCK)))
                mover = int(now.player[0])
                joint = {role: str(moves[0]) for role, moves in state.legal_moves().items()}
                joint[game.players[mover]] = env.actions[mover][action]
                state = state.next(joint)
                now = env.step([action])
            points += 0.5 + now.rewards[0, side] / 2
        return float(points / games)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Learn a small connect four by self-play.")
    parser.add_argument("--seconds", type=float, default=300.0, help="processor time for learning")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--games", type=int, default=256, help="games played at once")
    parser.add_argument("--rivals", type=int, default=20, help="games against the tree search at both ends")
    parser.add_argument("--plot", type=Path, help="draw the curve into this file; needs matplotlib")
    options = parser.parse_args()
    if not options.seconds > 0 or options.games < 1 or options.rivals < 1:
        parser.error("--seconds, --games and --rivals must be positive")
    game = herbrand.load("connectFour.ggd", Columns=5, Rows=4)
    learner = Learner(game, options.games, options.seed)
    rows: list[tuple[float, int, float]] = []
    search = [learner.against_search(options.rivals)]
    spent, moves = 0.0, 0
    while True:
        rows.append((spent, moves, learner.against_random()))
        print(f"{rows[-1][0]:6.0f} s  {moves:>11,} moves  against random {rows[-1][2]:.1%}", flush=True)
        if spent >= options.seconds:
            break
        until = min(options.seconds, spent + max(options.seconds / 10, 1.0))
        while spent < until:
            before = time.process_time()
            moves += learner.improve()
            spent += time.process_time() - before
    search.append(learner.against_search(options.rivals))
    print(f"against a tree search of {CLOCK:g} s a move: {search[0]:.1%} before, {search[1]:.1%} after")
    if options.plot is not None:
        plot(options.plot, rows, search)


def plot(file: Path, rows: list[tuple[float, int, float]], search: list[float]) -> None:
    """Draw the shares of points over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([row[0] for row in rows], [100 * row[2] for row in rows], "o-", label="against random moves")
    ends = [rows[0][0], rows[-1][0]]
    axes.plot(ends, [100 * share for share in search], "s", label=f"against tree search, {CLOCK:g} s a move")
    axes.set(
        xlabel="seconds of learning (processor time)",
        ylabel="points, %",
        ylim=(0, 102),
        title="connect four, 5 by 4",
    )
    axes.legend(loc="lower right")
    figure.savefig(file)


if __name__ == "__main__":
    main()

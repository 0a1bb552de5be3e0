"""Learn to play connect four on five columns and four rows by self-play, with numpy alone.

usage: python examples/learn_by_self_play.py [--through INTERFACE] [--seconds S] [--games N] [--plot FILE]

Many games are played at once, as a batch (`herbrand.envs.BatchEnv`) or through another interface
(`games_through.py`).  One small network sees the board from the side of the player to move and gives
probabilities of moves, illegal ones masked, and the expected value.  It learns by proximal policy
optimisation (Schulman et al. 2017) with generalised advantages (Schulman et al. 2016); values change
sign when the turn passes.  The script prints, and with --plot draws, the scores against random moves and
against a tree search of a few hundred playouts a move.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices are too small for more

import numpy as np
from games_through import INTERFACES, Games, Step, games_through
from numpy.typing import NDArray

import herbrand
from herbrand.envs import BatchEnv
from herbrand.play import make_player

Array = NDArray[np.float32]

STEPS = 16  # of each game between two updates
HIDDEN = 128
EPOCHS = 3
MINIBATCHES = 4  # of the experience in each epoch
RATE = 1e-3
LAMBDA = 0.9
CLIP = 0.2
ENTROPY = 0.03
EXPLORE = 0.25  # share of uniformly random moves, so that all kinds of positions occur
RIVAL = 300  # playouts of the tree search for a move


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
    """A network that learns by self-play."""

    def __init__(self, game: herbrand.Game, games: int, seed: int, through: str = "batch") -> None:
        self.chance = np.random.default_rng(seed)
        self.n = games
        self.env = BatchEnv(game, 1)  # for its shapes
        self.games: Games = games_through(through, game, games, seed, self.choose_one)
        contents = [i for i, name in enumerate(self.env.view.names) if name.startswith("cell ")]
        self.sides = [contents, contents[::-1]]  # own stones first: red's for red, yellow's for yellow
        rows, columns, _ = self.env.observation_shape
        self.network = Network(rows * columns * 2, self.env.num_actions, self.chance)
        self.now = self.games.reset()

    def player_view(self, now: Step) -> Array:
        """Return the boards from the side of the players to move, flat."""
        return self.sided(now.observation, now.player)

    def sided(self, board: NDArray[Any], player: NDArray[Any]) -> Array:
        """Return boards with the own stones first, flat."""
        mine, other = board[..., self.sides[0]], board[..., self.sides[1]]
        shown = np.where(player[:, None, None, None] == 0, mine, other)
        flat: Array = shown.reshape(len(board), -1).astype(np.float32)
        return flat

    def policy(self, logits: Array, legal: NDArray[np.bool_]) -> Array:
        """Return the probabilities of the actions, 0 for illegal ones."""
        logits = np.where(legal, logits, -np.inf)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities: Array = weights / weights.sum(axis=1, keepdims=True)
        return probabilities

    def choose_one(self, board: NDArray[Any], mask: NDArray[np.bool_], player: int) -> int:
        """Draw an action for one board, as in learning."""
        logits = self.network.forward(self.sided(board[None], np.array([player])))[2]
        probabilities = self.mixed(logits, mask[None])
        return int((probabilities / self.chance.exponential(size=probabilities.shape)).argmax())

    def mixed(self, logits: Array, legal: NDArray[np.bool_]) -> Array:
        """Return probabilities of actions, with a share of uniform exploration."""
        even = legal / legal.sum(axis=1, keepdims=True)
        probabilities: Array = ((1 - EXPLORE) * self.policy(logits, legal) + EXPLORE * even).astype(
            np.float32
        )
        return probabilities

    def choose(self, now: Step, *, best: bool = False) -> NDArray[np.int64]:
        """Choose an action for each game: drawn, or the likeliest."""
        probabilities = self.policy(self.network.forward(self.player_view(now))[2], now.legal)
        if not best:
            probabilities = (probabilities / self.chance.exponential(size=probabilities.shape)).astype(
                np.float32
            )
        actions: NDArray[np.int64] = probabilities.argmax(axis=1)
        return actions

    def improve(self) -> int:
        """Play some steps of all games and learn from them; return the number of moves."""
        n, network = self.n, self.network
        xs, masks, actions, olds, values, rewards, ends = [], [], [], [], [], [], []
        signs: list[NDArray[np.int64]] = []
        for _ in range(STEPS):
            now = self.now
            x = self.player_view(now)
            _, _, logits, value = network.forward(x)
            probabilities = self.mixed(logits, now.legal)
            action = (probabilities / self.chance.exponential(size=probabilities.shape)).argmax(axis=1)
            self.now = self.games.step(action)
            xs.append(x)
            masks.append(now.legal)
            actions.append(action)
            olds.append(probabilities[np.arange(n), action])
            values.append(value)
            rewards.append(self.now.rewards[np.arange(n), now.player])
            ends.append(self.now.terminated | self.now.truncated)
            signs.append(np.where(self.now.player == now.player, 1, -1))
        following = network.forward(self.player_view(self.now))[3]
        target = following
        returns = []
        for t in reversed(range(STEPS)):  # the next value may be the other player's
            later = signs[t] * ((1 - LAMBDA) * following + LAMBDA * target)
            target = np.where(ends[t], rewards[t], later)
            following = values[t]
            returns.append(target)
        x, mask, action = np.concatenate(xs), np.concatenate(masks), np.concatenate(actions)
        old, value = np.concatenate(olds), np.concatenate(values)
        gain = np.concatenate(returns[::-1]).astype(np.float32)
        advantage = gain - value
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        for _ in range(EPOCHS):
            for piece in np.array_split(self.chance.permutation(len(x)), MINIBATCHES):
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
        probabilities = self.policy(logits, mask)
        rows = np.arange(len(x))
        ratio = probabilities[rows, action] / old
        # clipped moves have no gradient
        active = np.where(advantage > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
        push = np.where(active, ratio * advantage, 0)
        slope = np.zeros((len(x), logits.shape[1] + 1), np.float32)
        slope[:, :-1] = push[:, None] * probabilities
        slope[rows, action] -= push
        logs = np.log(np.maximum(probabilities, 1e-9))
        entropy = -(probabilities * logs).sum(axis=1, keepdims=True)
        slope[:, :-1] += ENTROPY * probabilities * (logs + entropy)
        slope[:, -1] = (value - gain) * (1 - value**2)
        self.network.learn(x, one, two, (slope / len(x)).astype(np.float32))

    def against_random(self, games: int = 400) -> float:
        """Return the share of points against random moves; half of the games as either side."""
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
        """Return the share of points against a tree search of `RIVAL` random games a move."""
        game, points = self.env.game, 0.0
        env = BatchEnv(game, 1, auto_reset="off")
        for number in range(games):
            side = number % 2
            rival = make_player(f"mcts(playouts={RIVAL})", seed=number)
            rival.start(game, game.players[1 - side], 10)
            now = env.reset()
            state = game.initial_state()
            while not env.over.all():
                if now.player[0] == side:
                    # the first moves are drawn, so that games differ
                    action = int(self.choose(now, best=len(state.facts) > 4)[0])
                else:
                    action = env.actions[1 - side].index(str(rival.select(state, 10)))
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
    parser.add_argument(
        "--through",
        nargs="+",
        choices=INTERFACES,
        default=["batch"],
        help="the interfaces that keep the games",
    )
    parser.add_argument("--games", type=int, help="games played at once (256; one by one 32)")
    parser.add_argument("--rivals", type=int, default=20, help="games against the tree search at both ends")
    parser.add_argument("--plot", type=Path, help="draw the curves into this file; needs matplotlib")
    options = parser.parse_args()
    if not options.seconds > 0 or options.rivals < 1 or (options.games is not None and options.games < 1):
        parser.error("--seconds, --games and --rivals must be positive")
    game = herbrand.load("connectFour.ggd", Columns=5, Rows=4)
    curves: dict[str, Curve] = {}
    for through in options.through:
        if len(options.through) > 1:
            print(f"{through}:")
        games = options.games or (256 if through in ("batch", "jax") else 32)
        learner = Learner(game, games, options.seed, through)
        curves[through] = learn(learner, options.seconds, options.rivals)
    if options.plot is not None:
        plot(options.plot, curves)


Curve = tuple[list[tuple[float, int, float]], tuple[float, float]]
"""Seconds, moves and the share of points against random moves; points against search, before and after."""


def learn(learner: Learner, seconds: float, rivals: int) -> Curve:
    """Learn for so many seconds of processor time; print the progress."""
    rows: list[tuple[float, int, float]] = []
    before = learner.against_search(rivals)
    spent, moves = 0.0, 0
    while True:
        rows.append((spent, moves, learner.against_random()))
        print(f"{rows[-1][0]:6.0f} s  {moves:>11,} moves  against random {rows[-1][2]:.1%}", flush=True)
        if spent >= seconds:
            break
        until = min(seconds, spent + max(seconds / 10, 1.0))
        while spent < until:
            begun = time.process_time()
            moves += learner.improve()
            spent += time.process_time() - begun
    after = learner.against_search(rivals)
    print(f"against a tree search of {RIVAL} games a move: {before:.1%} before, {after:.1%} after")
    return rows, (before, after)


def plot(file: Path, curves: dict[str, Curve]) -> None:
    """Draw the shares of points over time, one line for an interface."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    for through, (rows, search) in curves.items():
        (line,) = axes.plot(
            [row[0] for row in rows], [100 * row[2] for row in rows], "o-", ms=4, label=through
        )
        ends = [rows[0][0], rows[-1][0]]
        axes.plot(ends, [100 * share for share in search], "s:", color=line.get_color(), alpha=0.7)
    axes.set(
        xlabel="seconds of learning (processor time)",
        ylabel="points, %",
        ylim=(0, 102),
        title=f"connect four, 5 by 4: against random moves (dots), search of {RIVAL} games a move (squares)",
    )
    axes.title.set_fontsize("small")
    axes.legend(loc="lower right")
    figure.savefig(file)


if __name__ == "__main__":
    main()

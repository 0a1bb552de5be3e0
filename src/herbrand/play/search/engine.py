"""`Search`: one search tree for one game, worked on in rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herbrand.play.search.descent import MAKE, OPEN, descend, is_exact, new_ways
from herbrand.play.search.growth import (
    _add_position,
    attach,
    look_at_sums,
    new_rows,
    open_leaves,
    play_leaves,
    settle,
)
from herbrand.play.search.reading import ranked_arms
from herbrand.play.search.tree import (
    ALONE,
    AMAF,
    ARMS,
    CHANCE,
    EDGES,
    EXPLORATION,
    FULL,
    JOINT,
    OVER,
    POSITIONS,
    REGRET,
    SINGLE,
    SUM,
    WEIGHT,
    forget,
    new_tree,
    position_slot,
)
from herbrand.simulate.expand import Expander
from herbrand.simulate.lanes import describe, rollout, step

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from herbrand.network.network import Network
    from herbrand.simulate.expand import States

__all__ = ["Plan", "Search"]

LANES = 512
"""Random games played at once."""
_WAYS = 512
"""Ways down in one round, at most."""
_ROWS = 8192
"""Joint moves made in one round, at most."""
_IDLE = 100
"""Rounds without a random game after which a search ends: everything in reach is known."""
_LONGEST = 4096
"""Steps of a random game that are remembered, at most."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A way for one role alone to a value."""

    value: float
    moves: dict[bytes, int]
    """The number of the move in each state on the way, by the state's bytes."""
    length: int


class Search:
    """A search tree that grows in rounds, until it is told to stop.

    `memory` is the size of the tree in bytes.  `each` is how many random games are played after every new
    position, on the average; fewer mean a deeper tree.  `exploration` is the constant of UCB1 for values from
    0 to 1.  `max_steps` cuts off games that do not end.  One thread may use it at a time, except that
    `stop[0] = 1` by another makes `round` give up within a step of the games.
    """

    def __init__(
        self,
        network: Network,
        *,
        memory: int = 1 << 29,
        seed: int = 0,
        exploration: float = 0.5,
        each: float = 1.0,
        max_steps: int = 1000,
        regret: bool = False,
        amaf: float = 0.0,
        widest: int = LANES,
    ) -> None:
        self.expander = Expander(network)
        roles = self.expander.roles
        self.chance = next((r for r, name in enumerate(roles) if name.lower() == "random"), -1)
        self.players = [r for r in range(len(roles)) if r != self.chance]
        self.tree = new_tree(self.expander.words, len(roles), memory=memory, seed=seed)
        settings = self.tree.settings
        settings[EXPLORATION] = exploration
        settings[CHANCE] = self.chance
        settings[SINGLE] = len(roles) == 1
        settings[REGRET] = regret
        settings[AMAF] = amaf
        settings[SUM] = -2 if len(self.players) == 2 else -1
        self.each = each
        self.widest = widest
        self.max_steps = max_steps
        self.stop = np.zeros(1, np.int64)
        """Set `stop[0]` to end a round early, from any thread."""
        self.root = -1
        self.playouts = 0
        """Random games played so far."""
        self.plan: Plan | None = None
        """For one role alone: the best that was reached, and how."""
        self._seeds = np.random.SeedSequence(seed)
        self._generator = self._seeds.generate_state(4 * 8, np.uint64)
        self._ways = new_ways(_WAYS, len(roles))
        self._rows = new_rows(_ROWS, len(roles))
        self._per_leaf = 8.0
        self._full = False
        self._v, self._width, self._circuit = self.expander._machine(LANES)

    # -- where the tree stands ------------------------------------------------------------

    def move_to(self, state: States) -> None:
        """Make a packed state, [1, words], the root; what is known below it is kept.

        Forgets what can no longer come when the tree is half full.
        """
        tree = self.tree
        at = int(tree.slots[position_slot(tree, state, 0)]) - 1
        if at < 0:
            self._clear()
            at = int(_add_position(tree, state, 0)[0])
        elif max(tree.used[POSITIONS] / len(tree.games), tree.used[ARMS] / len(tree.move)) > 0.5:
            at = forget(tree, at)
        self.root = at
        self._full = False
        tree.used[FULL] = 0

    def _clear(self) -> None:
        used = self.tree.used
        if used[POSITIONS]:
            self.tree.slots[:] = 0
        if used[EDGES]:
            self.tree.edge_slots[:] = 0
        used[[POSITIONS, ARMS, EDGES]] = 0

    def move_text(self, number: int) -> str:
        """Return a move, by its number among those of all roles, as KIF."""
        bounds = self.expander._bounds
        role = int(np.searchsorted(bounds, number, side="right")) - 1
        return self.expander.moves[role][number - int(bounds[role])]

    # -- growing --------------------------------------------------------------------------

    @property
    def is_solved(self) -> bool:
        """Whether the value of the root is proved for every role."""
        return bool(is_exact(self.tree, self.root) or self.tree.kind[self.root] == OVER)

    @property
    def is_open(self) -> bool:
        """Whether the moves at the root are known."""
        return bool(self.tree.kind[self.root] in (ALONE, JOINT))

    @property
    def positions(self) -> int:
        """How many positions the tree has."""
        return int(self.tree.used[POSITIONS])

    def decided(self, role: int) -> bool:
        """Whether more rounds cannot change the choice of a role at the root."""
        tree, at = self.tree, self.root
        if self.plan is not None and self.plan.value >= 1.0 and self.planned() is not None:
            return True
        return self.is_solved or bool(
            self.is_open and tree.low[at, role] == tree.high[at, role] and not tree.settings[REGRET]
        )

    def planned(self) -> str | None:
        """Return the move of the plan at the root, for one role alone."""
        number = None if self.plan is None else self.plan.moves.get(self.tree.state[self.root].tobytes())
        return None if number is None else self.move_text(number)

    def drawn_arm(self, role: int, chance: Random) -> int:
        """Draw an arm of a role at the root as often as regret matching took it on the average."""
        tree, at = self.tree, self.root
        begin = int(tree.first[at] + tree.sizes[at, :role].sum())
        arms = range(begin, begin + int(tree.sizes[at, role]))
        weights = [float(tree.arm_share[arm]) for arm in arms]
        if tree.kind[at] != JOINT or not sum(weights):
            return ranked_arms(self, at, role)[0]
        return chance.choices(arms, weights)[0]

    def warm(self) -> None:
        """Compile everything by a round at the root, which counts."""
        self.round()

    def round(self) -> bool:
        """Go down some ways, play random games at their ends; return False if that was stopped."""
        tree, ways, rows = self.tree, self._ways, self._rows
        expander, network = self.expander, self.expander.network
        v, width, circuit = self._v, self._width, self._circuit
        most = int(min(_WAYS, max(1, LANES / (self.each * self._per_leaf))))
        tree.settings[WEIGHT] = LANES / most
        n = descend(tree, ways, np.array([self.root], np.int64), most)
        ends = ways.end[:n]
        leaves = ways.position[ways.first[1 : n + 1] - 1][ends == OPEN]
        if self._full:
            used = fresh = play_leaves(ways, n, rows)
            states, parents = tree.state[rows.child[:used]], np.arange(used, dtype=np.int64)
        else:
            legal = np.zeros((len(leaves), int(expander._places[-1])), np.uint64)
            if len(leaves):
                describe(
                    v, width, circuit, tree.state[leaves], network.legal, expander._bounds, expander._places,
                    network.terminal, np.zeros(len(leaves), np.bool_), legal,
                )  # fmt: skip
            used = open_leaves(tree, ways, n, legal, expander._bounds, expander._places, self.widest, rows)
            states = np.zeros((used, expander.words), np.uint64)
            if used:
                step(
                    v, width, circuit, tree.state[rows.parent[:used]], NOTHING, rows.joint[:used],
                    network.next, states, UNSEEN, np.zeros((used, 0), np.uint64),
                )  # fmt: skip
            fresh = attach(tree, rows, used, states)
            opened = len(leaves) + int((ends == MAKE).sum())
            if opened:
                self._per_leaf += 0.1 * (max(1.0, used / opened) - self._per_leaf)
            if tree.used[FULL]:
                self._full = True
            parents = rows.fresh[:fresh]
        games = max(LANES, fresh) if fresh else 0
        goals = np.zeros((games, len(expander.roles)), np.int16)
        lengths = np.zeros(games, np.int64)
        done = True
        played = NO_PLAYED
        if games:
            before = self._generator.copy()
            parents = parents[np.arange(games) * fresh // games]
            if tree.settings[AMAF] and games <= LANES:
                played = np.zeros((int(expander._bounds[-1]), len(width)), np.uint64)
            done = rollout(
                v, width, circuit, states, parents, network.legal, expander._bounds, network.terminal,
                network.next, network.goal, expander._goal_role, expander._goal_value, self._generator,
                self.max_steps, goals, lengths, self.stop, -1, NO_RECORD, played,
            )  # fmt: skip
        if not done:
            settle(tree, ways, n, rows, 0, 0, goals, lengths, not self._full, NO_PLAYED)
            return False
        self.playouts += games
        if games and tree.settings[SUM] != -1:
            look_at_sums(tree, goals[:, self.players])
        settle(tree, ways, n, rows, used, fresh, goals, lengths, not self._full, played)
        if games and tree.settings[SINGLE]:
            best = int(goals[:, 0].argmax())
            value = float(goals[best, 0]) / 100
            if self.plan is None or value > self.plan.value:
                record = np.full((min(self.max_steps, _LONGEST), 1), -1, np.int32)
                rollout(
                    v, width, circuit, states, parents, network.legal, expander._bounds, network.terminal,
                    network.next, network.goal, expander._goal_role, expander._goal_value, before,
                    self.max_steps, goals.copy(), lengths.copy(), NEVER, best, record, NO_PLAYED,
                )  # fmt: skip
                length = int(lengths[best])
                row = int(rows.fresh[best * fresh // games])
                moves = self._way_to(row) + record[: max(0, length), 0].tolist()
                if 0 <= length <= len(record):
                    self._follow(value, moves)
        return True

    def _way_to(self, row: int) -> list[int]:
        """Return the moves of role 0 from the root to where a row leads."""
        ways, rows, tree = self._ways, self._rows, self.tree
        way = int(rows.way[row])
        last = int(ways.first[way + 1]) - 1
        arms = ways.arm[int(ways.first[way]) : last, 0]
        moves: list[int] = tree.move[arms].tolist()
        if not self._full:
            moves.append(int(rows.joint[row, 0]))
        return moves

    def _follow(self, value: float, moves: list[int]) -> None:
        """Keep a plan, checked by making its moves."""
        expander = self.expander
        state = self.tree.state[self.root : self.root + 1].copy()
        found: dict[bytes, int] = {}
        for move in moves:
            found[state.tobytes()] = move
            state = expander.step(state, np.array([[move]], np.int32))
        if expander.terminal(state)[0] and int(expander.goals(state)[0, 0]) == round(100 * value):
            self.plan = Plan(value, found, len(moves))

    def run(self, may_go_on: Callable[[], bool]) -> None:
        """Grow until `may_go_on` says no, `stop` is set, or nothing new is found any more."""
        idle = 0
        while not self.stop[0] and not self.is_solved and may_go_on() and idle < _IDLE:
            before = self.playouts
            self.round()
            idle = 0 if self.playouts > before else idle + 1


NOTHING = np.zeros(0, np.int64)
UNSEEN = np.zeros(0, np.int32)
NEVER = np.zeros(1, np.int64)
NO_PLAYED = np.zeros((0, 8), np.uint64)
NO_RECORD = np.zeros((0, 1), np.int32)

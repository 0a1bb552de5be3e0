"""Information set Monte-Carlo tree search, for games with hidden information.

Before each move, the states that are consistent with the role's history are computed
(`herbrand.analyse.knowledge.possible_states`).  Each playout starts in one of them, drawn by probability.
There is a tree for each role, whose nodes are information sets, sequences of own moves and percepts
(multiple-observer ISMCTS: Cowling, Powley and Whitehouse 2012).  Simultaneous moves are chosen independently,
and UCB1 counts how often a move was available instead of the visits of the node.  The other roles are assumed
to know the state at the root.

That assumption costs much where bluffs matter.  So where a traversal of sampled plays from the initial state
is short enough, regrets are minimised on them (`sampled_regrets`), and the move is drawn by the average
strategy once the information set was visited often enough.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from herbrand.errors import HerbrandError
from herbrand.play.explanation import MoveReport, PlayerReport
from herbrand.play.interface import Player, counted_goals
from herbrand.play.sampled_regrets import SampledRegrets, SampledSet
from herbrand.play.threads import CLOCK_MARGIN
from herbrand.runtime.collector import suspend_full_collections

if TYPE_CHECKING:
    from herbrand.analyse.knowledge.histories import History
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["IsMctsPlayer"]

_STATES = 3_000
_PARTICLES = 300
_BELIEF_SHARE = 0.4
"""Share of a clock for computing the possible states."""
_MIN_BELIEF_SECONDS = 0.01
"""Seconds below which the possible states are not computed."""
_REPLAYS = 20
"""Attempts to replay the history at random, where the possible states are not known."""
_DRAWS = 8
"""Moves of the others that are tried in each step of a replay."""
_MAX_STEPS = 300
_SAMPLED_SHARE = 0.5
"""Share of what is left of a clock after which an information set must have been visited often enough."""
_START_SECONDS = 2.0
"""Seconds of the start clock, at most, for sampling plays."""
_MIN_SAMPLING_SECONDS = 0.02


class _Node:
    """An information set of a role, with the statistics of its moves."""

    __slots__ = ("availability", "children", "counts", "totals")

    def __init__(self) -> None:
        self.counts: dict[Move, int] = {}
        self.totals: dict[Move, float] = {}
        self.availability: dict[Move, int] = {}
        """The number of visits in which each move was legal."""
        self.children: dict[Any, _Node] = {}
        """By own move and percepts."""


class IsMctsPlayer(Player):
    """Information set tree search, from the role's own moves and percepts alone.

    `playouts` is their maximum for a move (None: limited by the clock), `exploration` the constant of UCB1.
    With `sampling`, moves are drawn by strategies learned from sampled plays where that is possible.
    """

    def __init__(
        self,
        seed: int | None = None,
        *,
        playouts: int | None = None,
        exploration: float = 0.7,
        sampling: bool = True,
    ) -> None:
        super().__init__(seed)
        self.playouts = playouts
        self.exploration = exploration
        self.sampling = sampling
        self.history: History = ()
        self._sampled: SampledRegrets | None = None
        self._report: PlayerReport | None = None
        self._has_network = False

    def prepare(self, deadline: float) -> None:
        """Build the network in the background; wait for it until the clock runs out."""
        self.history = ()
        self._report = None
        self._has_network = False
        game = self.game
        self._sampled = SampledRegrets(game, self.chance) if self.sampling and game.has_percepts else None

        def work() -> None:
            import herbrand.analyse.knowledge  # noqa: F401  # slower than a short clock

            try:
                game.initial_state("network")
            except (HerbrandError, MemoryError):
                return
            if self._game is game:
                self._has_network = True

        self.run_in_background(work, deadline - CLOCK_MARGIN)
        if self.playouts is None:
            started = time.monotonic()
            self._sample(started + min(_START_SECONDS, _SAMPLED_SHARE * (deadline - started)), None)

    def receive_history(self, history: History) -> None:
        """Keep the history, from which the possible states are computed."""
        self.history = history

    @suspend_full_collections()
    def select(self, state: State, play_clock: float) -> Move:
        """Return the best move given the role's history; `state` is used only in games without `sees`."""
        started = time.monotonic()
        deadline = started + play_clock - CLOCK_MARGIN
        self._report = None
        weights = self._possible_states(None if self.game.has_percepts else state, _BELIEF_SHARE * play_clock)
        if weights:
            moves = self.options(next(iter(weights)))
        else:  # a role knows its legal moves in any case
            moves = self.options(state)
            weights = self._replay_history(moves, deadline)
        if len(moves) == 1:
            return moves[0]
        if not weights:
            return self.chance.choice(moves)
        drawn = self._draw_by_samples(moves, deadline)
        if drawn is not None:
            return drawn
        search = _Search(self, weights)

        def run() -> None:
            try:
                while self.has_time(deadline) and (self.playouts is None or search.playouts < self.playouts):
                    search.run_playout()
            except HerbrandError as error:
                search.error = str(error)

        if self.has_time(deadline):
            self.run_in_background(run, deadline)
        counts, totals = dict(search.root.counts), dict(search.root.totals)
        means = {move: 100 * totals[move] / count for move, count in counts.items()}
        reports = [MoveReport(str(move), counts.get(move, 0), means.get(move)) for move in moves]
        order = sorted(range(len(moves)), key=lambda k: (-reports[k].visits, -(reports[k].mean or 0.0)))
        best = moves[order[0]] if counts else self.chance.choice(moves)
        notes = (
            f"{search.playouts} playouts from {len(weights)} possible states",
            *([search.error] if search.error else []),
        )
        self._report = PlayerReport(
            "ismcts", self.role, tuple(reports[k] for k in order), time.monotonic() - started,
            search.playouts, len(weights), notes,
        )  # fmt: skip
        return best

    def _sample(self, until: float, plays: int | None) -> SampledSet | None:
        """Learn from sampled plays until a time, or at most so many in all; return the set of the history.

        None where the game has too many histories for that, or too few plays led to this one.
        """
        sampled, most = self._sampled, math.inf if plays is None else plays
        if sampled is None or not self.has_time(until - _MIN_SAMPLING_SECONDS):
            return None

        def run() -> None:
            with suppress(HerbrandError):
                while self.has_time(until) and sampled.is_suitable and sampled.plays < most:
                    sampled.traverse(lambda: not self.has_time(until))

        self.run_in_background(run, until)
        if not sampled.is_suitable:
            self._sampled = None
            return None
        information = sampled.find(self.game.role_index(self.role), self.history)
        return information if information is not None and sampled.has_learned(information) else None

    def _draw_by_samples(self, moves: list[Move], deadline: float) -> Move | None:
        """Learn from sampled plays and draw a move; None if the information set is too rare in them."""
        sampled, started = self._sampled, time.monotonic()
        if sampled is None:
            return None
        plays: list[int | None] = [None, None]
        if self.playouts is not None:
            plays = [sampled.plays + int(share * self.playouts) for share in (_SAMPLED_SHARE, 1.0)]
        if self._sample(started + _SAMPLED_SHARE * (deadline - started), plays[0]) is None:
            return None
        information = self._sample(deadline, plays[1])
        if information is None or information.moves != moves:
            return None
        chances = information.average()
        best = self.chance.choices(range(len(moves)), chances)[0]
        order = sorted(range(len(moves)), key=lambda k: (k != best, -chances[k]))
        visits, totals = information.traversals, information.totals
        reports = tuple(
            MoveReport(str(moves[k]), visits, totals[k] / visits, chance=chances[k]) for k in order
        )
        note = f"draws moves by a strategy learned from {sampled.plays} plays from the start"
        self._report = PlayerReport(
            "ismcts", self.role, reports, time.monotonic() - started, sampled.plays, sampled.sets, (note,)
        )
        return moves[best]

    def _possible_states(self, state: State | None, seconds: float) -> dict[State, float]:
        """Return the states that are consistent with the history, with weights; only `state` if it is given.

        Empty if that takes more than `seconds`.
        """
        if state is not None:
            return {self._on_network(state): 1.0}
        if seconds < _MIN_BELIEF_SECONDS:
            return {}
        from herbrand.analyse.knowledge import possible_states

        try:
            belief = possible_states(
                self.game,
                self.role,
                self.history,
                over=False,
                states=_STATES,
                particles=_PARTICLES,
                limits=replace(self.game.limits, seconds=seconds),
                seed=self.chance.getrandbits(32),
            )
        except HerbrandError:
            return {}
        return {self._on_network(s): float(weight) for s, weight in belief.weights.items()}

    def _replay_history(self, moves: list[Move], deadline: float) -> dict[State, float]:
        """Return a state with these legal moves that a random replay of the history leads to.

        Moves of the others are drawn, a few times in each step, until the role's percepts match.
        """
        for _ in range(_REPLAYS):
            state = self.game.initial_state("rules")
            for step in self.history:
                if state.is_terminal or not state.is_legal(self.role, step.move):
                    break
                joint: dict[str, Move | str] = {}
                for _ in range(_DRAWS):
                    if not self.has_time(deadline):
                        return {}
                    joint = {**self.random_joint_move(state), self.role: step.move}
                    if frozenset(state.percepts(joint, self.role)) == step.percepts:
                        break
                state = state.next(joint)
            else:
                if not state.is_terminal and state.legal_moves(self.role) == moves:
                    return {self._on_network(state): 1.0}
        return {}

    def _on_network(self, state: State) -> State:
        """Return the same state on the network, if that is ready and can represent it."""
        if state.engine == "network" or not self._has_network:
            return state
        try:
            return self.game.state(state.facts, engine="network")
        except HerbrandError:
            return state

    def report(self) -> PlayerReport | None:
        """Return statistics of the search for the last move."""
        return self._report


class _Search:
    """The search for one move."""

    def __init__(self, player: IsMctsPlayer, weights: dict[State, float]) -> None:
        self.game = player.game
        self.chance = player.chance
        self.exploration = player.exploration
        self.states = list(weights)
        self.weights = list(weights.values())
        self.role = self.game.role_index(player.role)
        self.root = _Node()
        self.other_roots: dict[tuple[int, State], _Node] = {}
        """The roots of the other roles, by role and initial state."""
        self.playouts = 0
        self.error = ""

    def run_playout(self) -> None:
        """Descend the trees of all roles, expand, play on at random, and backpropagate."""
        game, roles = self.game, self.game.roles
        state = start = self.chance.choices(self.states, self.weights)[0]
        nodes: list[_Node | None] = [
            self.root if r == self.role else self.other_roots.setdefault((r, start), _Node())
            for r in range(len(roles))
        ]
        path: list[tuple[int, _Node, Move]] = []
        for _ in range(_MAX_STEPS):
            if state.is_terminal:
                break
            legal = state.legal_moves()
            joint: list[Move] = []
            expanded = False
            for r, moves in enumerate(legal.values()):
                node = nodes[r]
                if not moves:
                    return
                if node is None or len(moves) == 1 or roles[r] == game.chance_role:
                    joint.append(moves[0] if len(moves) == 1 else self.chance.choice(moves))
                    continue
                move, is_new = self._select(node, moves)
                expanded = expanded or is_new
                joint.append(move)
                path.append((r, node, move))
            if any(node is not None for node in nodes):
                percepts: Any = state.percepts(joint)
                for r, role in enumerate(roles):
                    node = nodes[r]
                    if node is not None:
                        key = joint[r], percepts[role]
                        nodes[r] = None if expanded else node.children.setdefault(key, _Node())
            state = state.next(joint)
        goals = counted_goals(state)
        for r, node, move in path:
            node.counts[move] = node.counts.get(move, 0) + 1
            node.totals[move] = node.totals.get(move, 0.0) + goals[r] / 100
        self.playouts += 1

    def _select(self, node: _Node, moves: list[Move]) -> tuple[Move, bool]:
        """Return one of the legal moves by UCB1, and whether it is unvisited."""
        unvisited = [move for move in moves if move not in node.counts]
        for move in moves:
            node.availability[move] = node.availability.get(move, 0) + 1
        if unvisited:
            return self.chance.choice(unvisited), True
        best, highest = moves[0], -1.0
        for move in moves:
            count = node.counts[move]
            width = math.sqrt(math.log(node.availability[move] + 1) / count)
            value = node.totals[move] / count + self.exploration * width
            if value > highest:
                best, highest = move, value
        return best, False

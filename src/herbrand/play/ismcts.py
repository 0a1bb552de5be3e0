"""Tree search for games in which the rules hide something: a tree for what each role can know.

Before each move the states that the role can hold possible are found from what it did and saw alone
(`herbrand.analyse.knowledge.possible_states`).  Each game of the search begins in one of them, drawn by
how likely it is, and every role chooses by what *it* knows: there is a tree for each role, whose nodes are
sequences of own moves and percepts (information set Monte-Carlo tree search with several observers: Cowling,
Powley and Whitehouse 2012).  Roles choose at once where the rules say so, and a move counts as often as it
was there to be chosen.  What others knew before is not remembered: each of them is taken to know the state.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from herbrand.errors import HerbrandError
from herbrand.play.explanation import MoveReport, PlayerReport
from herbrand.play.interface import Player
from herbrand.runtime.collector import suspend_full_collections

if TYPE_CHECKING:
    from herbrand.analyse.knowledge.histories import History
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["IsMctsPlayer"]

_STATES = 3_000
_PARTICLES = 300
_SHARE = 0.4
"""How much of a clock may be spent on finding out what is possible."""
_LEAST = 0.01
"""Seconds below which that is not tried."""
_GUESSES = 20
"""How many ways to a possible state are tried where there is no time for finding out all of them."""
_DRAWS = 8
"""How many moves of the others are tried in each step of a way."""
_MARGIN = 0.01
_MAX_STEPS = 300


class _Node:
    """What a role knows at some point: how its moves did, and what it may know next."""

    __slots__ = ("after", "chances", "counts", "totals")

    def __init__(self) -> None:
        self.counts: dict[Move, int] = {}
        self.totals: dict[Move, float] = {}
        self.chances: dict[Move, int] = {}
        """How often a move was there to be chosen."""
        self.after: dict[Any, _Node] = {}
        """The next node by own move and percepts."""


class IsMctsPlayer(Player):
    """For hidden information: searches in what can be known, from its own moves and percepts alone.

    `playouts` is how many games of the search are played for a move at most (None: as many as
    there is time for), `exploration` the constant of UCB1.
    """

    def __init__(
        self, seed: int | None = None, *, playouts: int | None = None, exploration: float = 0.7
    ) -> None:
        super().__init__(seed)
        self.playouts = playouts
        self.exploration = exploration
        self.history: History = ()
        self._explanation: PlayerReport | None = None
        self._builder: threading.Thread | None = None
        self._is_quick = False
        """Whether the network is ready."""

    def prepare(self, deadline: float) -> None:
        """Build the network in the background, which makes every step faster."""
        self.history = ()
        self._explanation = None
        self._is_quick = False
        game = self.game

        def work() -> None:
            import herbrand.analyse.knowledge  # noqa: F401  # takes longer than a short clock

            try:
                game.initial_state("network")
            except (HerbrandError, MemoryError):
                return
            if self._game is game:
                self._is_quick = True

        self._builder = threading.Thread(target=work, daemon=True)
        self._builder.start()
        while self._builder.is_alive() and self.may_go_on(deadline - _MARGIN):
            self._builder.join(0.01)

    def told(self, history: History) -> None:
        """Remember what the role did and saw; nothing else about the match is looked at."""
        self.history = history

    @suspend_full_collections()
    def select(self, state: State, play_clock: float) -> Move:
        """Return the best move by what can be known.  In games with `sees`, `state` is not looked at.

        Where everybody sees every move, the state is what all of them know.
        """
        started = time.monotonic()
        deadline = started + play_clock - _MARGIN
        self._explanation = None
        weights = self._possible(None if self.game.has_percepts else state, _SHARE * play_clock)
        if weights:
            moves = self.options(next(iter(weights)))
        else:  # what it may do a role knows at any rate
            moves = self.options(state)
            weights = self._guess(moves, deadline)
        if len(moves) == 1:
            return moves[0]
        if not weights:
            return self.chance.choice(moves)
        work = _Work(self, weights)
        done = threading.Event()

        def search() -> None:
            try:
                while not done.is_set() and (self.playouts is None or work.played < self.playouts):
                    work.play()
            except HerbrandError as error:
                work.trouble = str(error)
            finally:
                done.set()

        if self.may_go_on(deadline):
            threading.Thread(target=search, daemon=True).start()
            while not done.is_set() and self.may_go_on(deadline):
                done.wait(max(0.0, min(0.02, deadline - time.monotonic())))
            done.set()
        counts, totals = dict(work.root.counts), dict(work.root.totals)
        reports = [
            MoveReport(
                str(move),
                counts.get(move, 0),
                100 * totals[move] / counts[move] if counts.get(move) else None,
            )
            for move in moves
        ]
        order = sorted(range(len(moves)), key=lambda k: (-reports[k].visits, -(reports[k].mean or 0.0)))
        best = moves[order[0]] if counts else self.chance.choice(moves)
        notes = (
            f"{work.played} games from {len(weights)} states that are possible",
            *([work.trouble] if work.trouble else []),
        )
        self._explanation = PlayerReport(
            "ismcts", self.role, tuple(reports[k] for k in order), time.monotonic() - started, work.played,
            len(weights), notes,
        )  # fmt: skip
        return best

    def _possible(self, state: State | None, seconds: float) -> dict[State, float]:
        """Return what can be the state, with weights; from what was told alone, unless nothing is hidden.

        Nothing where that cannot be found out in so many seconds.
        """
        if state is not None:
            return {self._quick(state): 1.0}
        if seconds < _LEAST:
            return {}
        from herbrand.analyse.knowledge import possible_states

        try:
            known = possible_states(
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
        return {self._quick(s): float(weight) for s, weight in known.weights.items()}

    def _guess(self, moves: list[Move], deadline: float) -> dict[State, float]:
        """Return a state in which the role has these moves, to which its own moves lead.

        The others' are drawn, of a few each time those after which the role would have seen what it saw.
        """
        for _ in range(_GUESSES):
            state = self.game.initial_state("rules")
            for step in self.history:
                if state.is_terminal or not state.is_legal(self.role, step.move):
                    break
                joint: dict[str, Move | str] = {}
                for _ in range(_DRAWS):
                    if not self.may_go_on(deadline):
                        return {}
                    joint = {**self.reply(state), self.role: step.move}
                    if frozenset(state.percepts(joint, self.role)) == step.percepts:
                        break
                state = state.next(joint)
            else:
                if not state.is_terminal and state.legal_moves(self.role) == moves:
                    return {self._quick(state): 1.0}
        return {}

    def _quick(self, state: State) -> State:
        """Return the state as the fastest engine has it that is ready."""
        if state.engine == "network" or not self._is_quick:
            return state
        try:
            return self.game.state(state.facts, engine="network")
        except HerbrandError:
            return state

    def report(self) -> PlayerReport | None:
        """Return what was found out before the last move."""
        return self._explanation


class _Work:
    """The search before one move."""

    def __init__(self, player: IsMctsPlayer, weights: dict[State, float]) -> None:
        self.game = player.game
        self.chance = player.chance
        self.width = player.exploration**2
        self.states = list(weights)
        self.weights = list(weights.values())
        self.place = self.game.role_index(player.role)
        self.root = _Node()
        self.others: dict[tuple[int, State], _Node] = {}
        self.played = 0
        self.trouble = ""

    def play(self) -> None:
        """Play one game: by the trees as far as they go, then at random; add its end to the trees."""
        game, roles = self.game, self.game.roles
        state = start = self.chance.choices(self.states, self.weights)[0]
        nodes: list[_Node | None] = [
            self.root if r == self.place else self.others.setdefault((r, start), _Node())
            for r in range(len(roles))
        ]
        path: list[tuple[int, _Node, Move]] = []
        for _ in range(_MAX_STEPS):
            if state.is_terminal:
                break
            legal = state.legal_moves()
            joint: list[Move] = []
            fresh = False
            for r, moves in enumerate(legal.values()):
                node = nodes[r]
                if not moves:
                    return
                if node is None or len(moves) == 1 or roles[r] == game.chance_role:
                    joint.append(moves[0] if len(moves) == 1 else self.chance.choice(moves))
                    continue
                move, new = self._choose(node, moves)
                fresh = fresh or new
                joint.append(move)
                path.append((r, node, move))
            if any(node is not None for node in nodes):
                told: Any = state.percepts(joint)
                for r, role in enumerate(roles):
                    node = nodes[r]
                    if node is not None:
                        nodes[r] = None if fresh else node.after.setdefault((joint[r], told[role]), _Node())
            state = state.next(joint)
        goals = [50 if goal is None else goal for goal in state.goals.values()]
        for r, node, move in path:
            node.counts[move] = node.counts.get(move, 0) + 1
            node.totals[move] = node.totals.get(move, 0.0) + goals[r] / 100
        self.played += 1

    def _choose(self, node: _Node, moves: list[Move]) -> tuple[Move, bool]:
        """Choose by UCB1 among the moves that are there now; return it and whether it is new."""
        unknown = [move for move in moves if move not in node.counts]
        for move in moves:
            node.chances[move] = node.chances.get(move, 0) + 1
        if unknown:
            return self.chance.choice(unknown), True
        best, highest = moves[0], -1.0
        for move in moves:
            count = node.counts[move]
            value = node.totals[move] / count + math.sqrt(
                self.width * math.log(node.chances[move] + 1) / count
            )
            if value > highest:
                best, highest = move, value
        return best, False

"""Regret minimisation on sampled plays, for games whose histories are too many to be listed.

External sampling (Lanctot, Waugh, Zinkevich and Bowling, *Monte Carlo Sampling for Regret Minimization in
Extensive Games*, 2009): plays begin in the initial state; one role tries all of its moves, chance and the
others draw theirs.  What a role learns for an information set so does not depend on cards that it cannot see,
which a search from the present states cannot achieve: there the other roles would know them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from herbrand.play.interface import counted_goals

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from herbrand.analyse.knowledge.histories import History
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["SampledRegrets", "SampledSet"]

_WIDEST: Final = 1000
"""States of one traversal, at most: with more, the game is not suitable."""
_LONGEST: Final = 300
_ATTEMPTS: Final = 3
"""Traversals that may be interrupted before the first one that is complete."""
_MOST_SETS: Final = 300_000
_MOST_STATES: Final = 30_000
"""States whose moves are remembered."""
_ENOUGH: Final = 30
"""Traversals for each information set seen so far, after which the averages are of use, as measured."""
_ENOUGH_HERE: Final = 50
"""The same for the information set in question."""


class SampledSet:
    """The history of one role; where it can choose, an information set with its regrets."""

    __slots__ = ("children", "moves", "played", "regrets", "totals", "traversals")

    def __init__(self) -> None:
        self.children: dict[tuple[str, frozenset[str]], SampledSet] = {}
        """By own move and percepts, in lower case."""
        self.moves: list[Move] = []
        """The legal moves; empty before the first visit."""
        self.regrets: list[float] = []
        self.played: list[float] = []
        """How often the strategies so far played each move, later ones counting more."""
        self.totals: list[float] = []
        """The sum of the goal values after each move."""
        self.traversals = 0
        """How often all moves were tried."""

    def begin(self, moves: list[Move]) -> None:
        """Record the legal moves at the first visit."""
        self.moves = moves
        self.regrets, self.played, self.totals = ([0.0] * len(moves) for _ in range(3))

    def strategy(self) -> list[float]:
        """Return the probabilities of the moves by regret matching."""
        return _normalised([max(regret, 0.0) for regret in self.regrets])

    def average(self) -> list[float]:
        """Return the probabilities of the moves on average, which approach those of an equilibrium."""
        return _normalised(self.played) if any(self.played) else self.strategy()


def _normalised(weights: list[float]) -> list[float]:
    total = sum(weights)
    return [weight / total for weight in weights] if total > 0 else [1 / len(weights)] * len(weights)


class _Interrupted(Exception):
    """A traversal was ended."""


class _Position:
    """A state with what follows from it."""

    __slots__ = ("goals", "legal", "successors")

    def __init__(self, state: State) -> None:
        self.goals = counted_goals(state) if state.is_terminal else None
        self.legal = [] if state.is_terminal else list(state.require_moves().values())
        self.successors: dict[tuple[Move, ...], tuple[State, list[tuple[str, frozenset[str]]]]] = {}
        """By joint move, with the last step of each role's history."""


class SampledRegrets:
    """The regrets of all roles of a game, learned from sampled plays."""

    def __init__(self, game: Game, chance: random.Random) -> None:
        self.game = game
        self.chance = chance
        self.roots = [SampledSet() for _ in game.roles]
        self.traversals = self.plays = self.sets = self.choices = 0
        """Numbers of traversals, plays, histories, and those of them with a choice."""
        self.is_suitable = True
        """Whether a traversal visits few enough states."""
        self._players = [game.role_index(role) for role in game.players]
        self._random = None if game.chance_role is None else game.role_index(game.chance_role)
        self._positions: dict[State, _Position] = {}
        self._left = self._interrupted = 0
        self._place = 0
        """The role that tries all of its moves in the traversal."""
        self._stopped: Callable[[], bool] = bool

    def find(self, role: int, history: History) -> SampledSet | None:
        """Return the information set of a role after a history; None if no play led there."""
        information: SampledSet | None = self.roots[role]
        for step in history:
            if information is None:
                return None
            information = information.children.get(_step(step.move, step.percepts))
        return information

    def has_learned(self, information: SampledSet) -> bool:
        """Whether its average strategy is of use."""
        return self.traversals >= _ENOUGH * self.choices and information.traversals >= _ENOUGH_HERE

    def traverse(self, stopped: Callable[[], bool]) -> None:
        """Sample plays in which one role, each in turn, tries all of its moves."""
        self._left, self._stopped = _WIDEST, stopped
        self._place = self._players[self.traversals % len(self._players)]
        try:
            self._walk(self.game.initial_state(), list(self.roots), 0)
        except _Interrupted:
            self._interrupted += 1
            if self._left <= 0 or (not self.traversals and self._interrupted >= _ATTEMPTS):
                self.is_suitable = False
            return
        self.traversals += 1

    def _walk(self, state: State, sets: list[SampledSet], depth: int) -> float:
        """Return the goal value of the traversing role on average over its own probabilities."""
        self._left -= 1
        if depth > _LONGEST or self.sets > _MOST_SETS:
            self._left = 0
        if self._left <= 0 or self._stopped():
            raise _Interrupted
        position, place = self._position(state), self._place
        if position.goals is not None:
            self.plays += 1
            return float(position.goals[place])
        joint: list[Any] = []
        for role, moves in enumerate(position.legal):
            if len(moves) == 1:
                joint.append(moves[0])
            elif role == self._random:
                joint.append(self.chance.choice(moves))
            else:
                if not sets[role].moves:
                    sets[role].begin(moves)
                    self.choices += 1
                joint.append(None if role == place else self._draw(sets[role]))
        if None not in joint:
            return self._follow(state, position, tuple(joint), sets, depth)
        own = sets[place]
        strategy = own.strategy()
        values = []
        for move in own.moves:
            joint[place] = move
            values.append(self._follow(state, position, tuple(joint), sets, depth))
        mean = sum(chance * value for chance, value in zip(strategy, values, strict=True))
        own.traversals += 1
        for k, value in enumerate(values):
            own.regrets[k] += value - mean
            own.totals[k] += value
        return mean

    def _draw(self, information: SampledSet) -> Move:
        strategy = information.strategy()
        for k, chance in enumerate(strategy):
            information.played[k] += chance * self.traversals
        return self.chance.choices(information.moves, strategy)[0]

    def _follow(
        self, state: State, position: _Position, joint: tuple[Move, ...], sets: list[SampledSet], depth: int
    ) -> float:
        successor = position.successors.get(joint)
        if successor is None:
            percepts = state.percepts(joint).values()
            steps = [_step(str(move), seen) for move, seen in zip(joint, percepts, strict=True)]
            successor = position.successors[joint] = state.next(joint), steps
        after = []
        for one, step in zip(sets, successor[1], strict=True):
            child = one.children.get(step)
            if child is None:
                child = one.children[step] = SampledSet()
                self.sets += 1
            after.append(child)
        return self._walk(successor[0], after, depth + 1)

    def _position(self, state: State) -> _Position:
        position = self._positions.get(state)
        if position is None:
            if len(self._positions) >= _MOST_STATES:
                self._positions.clear()
            position = self._positions[state] = _Position(state)
        return position


def _step(move: str, percepts: Any) -> tuple[str, frozenset[str]]:
    return move.lower(), frozenset(percept.lower() for percept in percepts)

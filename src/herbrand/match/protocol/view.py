"""The match as a player sees it: from what it is told to the state it is in.

Without hidden information every message carries the moves of all roles, and the state follows.
With it a player is told its own move and what it saw; the state is then one of those it can hold
possible (`herbrand.analyse.knowledge.possible_states`), drawn by how likely they are.
"""

from __future__ import annotations

import contextlib
import random
from dataclasses import replace
from typing import TYPE_CHECKING

from herbrand.convert.movereader import MoveReader
from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.game import Game
from herbrand.machine.moves import Move

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.analyse.knowledge.histories import History, HistoryStep
    from herbrand.machine.state import State

__all__ = ["MatchView", "reader_within"]

_STATES = 5_000
_PARTICLES = 300


def reader_within(game: Game, seconds: float) -> MoveReader | None:
    """Return the closed reader of a game; None when its moves cannot be listed in so many seconds."""
    limits = replace(game.limits, seconds=min(seconds, game.limits.seconds))
    try:
        made = MoveReader(Game(game.tree, name=game.name, limits=limits))
    except HerbrandError:
        return None
    made.game = game  # equal to the one it was made of, which need not be kept
    return made


class MatchView:
    """Follows one match for one role.  Nothing it is told makes it fail: what does not fit becomes a note."""

    def __init__(
        self,
        game: Game,
        role: str,
        *,
        reader: MoveReader | None = None,
        seed: int = 0,
        engine: str = "auto",
    ) -> None:
        self.game = game
        self.role = game.roles[game.role_index(role)]
        self.reader = reader
        self.state: State = game.initial_state(engine)
        """The state, or one that the role can hold possible."""
        self.step = 0
        """Joint moves made so far."""
        self.is_sure = True
        """Whether `state` is known to be the state, or a possible one, of the match."""
        self._before: tuple[State, tuple[str, ...]] | None = None
        self._history: list[HistoryStep] = []
        self._own: Move | None = None
        self._chance = random.Random(seed)

    @property
    def history(self) -> History:
        """What the role did and saw, where the rules hide something."""
        return tuple(self._history)

    def quicken(self) -> None:
        """Go on with the network of the game, if there is one and it has the state."""
        if self.state.engine != "network" and self.game.has_network:
            with contextlib.suppress(HerbrandError):
                self.state = self.game.state(self.state.facts, engine="network")

    def chose(self, move: Move) -> None:
        """Remember what this role answered, for managers that do not tell it."""
        self._own = move

    def told_moves(self, moves: Sequence[str] | None) -> list[str]:
        """Go on by a joint move; None (`NIL`) keeps the state.  Returns what was odd."""
        if moves is None:
            return ["asked again from the start"] if self.step else []
        if len(moves) != len(self.game.roles):
            return [f"{len(moves)} moves for {len(self.game.roles)} roles; the state is kept"]
        joint, odd = self._read(moves)
        if odd:
            return odd
        if not self._is_legal(self.state, joint):
            if self._before is not None and self._before[1] == joint:
                return ["the same step was told again"]
            return [f"({' '.join(joint)}) is not legal here; the state is kept"]
        self._before = self.state, joint
        self.state = self.state.next(joint)
        self.step += 1
        return []

    def told_percepts(
        self, own: str | None, percepts: Sequence[str] | None, *, turn: int | None, over: bool, seconds: float
    ) -> list[str]:
        """Go on by the own move and what was seen, thinking for at most `seconds`.

        `own` is None where the manager does not say (then it is what was chosen), `turn` the number
        of the step where it does, `over` whether the match has ended.
        """
        from herbrand.analyse.knowledge.histories import HistoryStep

        if percepts is None:
            return ["asked again from the start"] if self.step else []
        if turn is not None and turn == self.step:
            return ["the same step was told again"]
        if turn is not None and turn != self.step + 1:
            self.is_sure = False
            return [f"step {turn} was told after step {self.step}; the state is kept"]
        try:
            move = self._own if own is None else Move(own)
            seen = frozenset(Move(percept).gdl for percept in percepts)
        except HerbrandError as error:
            return [f"{error}; the state is kept"]
        if move is None:
            return ["no own move to go on by; the state is kept"]
        before = self.state
        self._history.append(HistoryStep(move.gdl, seen))
        self.step += 1
        try:
            self.state = self._possible(over=over, seconds=seconds)
        except HerbrandError as error:
            self.is_sure = False
            self._guess(before, move)
            return [f"what was seen cannot be followed up ({error}); a possible step is guessed"]
        self.is_sure = True
        return []

    def _possible(self, *, over: bool, seconds: float) -> State:
        from herbrand.analyse.knowledge import possible_states

        known = possible_states(
            self.game,
            self.role,
            tuple(self._history),
            over=over,
            states=_STATES,
            particles=_PARTICLES,
            limits=replace(self.game.limits, seconds=max(0.05, seconds)),
            seed=self._chance.getrandbits(32),
        )
        weights = known.weights
        if not weights:
            raise BudgetExceeded("all possible states")
        return self._chance.choices(list(weights), [float(weight) for weight in weights.values()])[0]

    def _guess(self, state: State, own: Move) -> None:
        """Make some joint move with the own one in it."""
        if state.is_terminal:
            return
        joint = {role: self._chance.choice(moves) for role, moves in state.legal_moves().items() if moves}
        if state.is_legal(self.role, own):
            joint[self.role] = own
        if len(joint) == len(self.game.roles):
            self.state = state.next(joint)

    def _read(self, moves: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
        """Bring moves into canonical form; what is no move of its role is odd."""
        found = []
        for role, text in zip(self.game.roles, moves, strict=True):
            index = None if self.reader is None else self.reader.find(role, text)
            if self.reader is not None and index is not None:
                found.append(self.reader.text(role, index))
                continue
            try:
                found.append(Move(text).gdl.lower())
            except HerbrandError as error:
                return (), [f"{error}; the state is kept"]
        return tuple(found), []

    def _is_legal(self, state: State, joint: Sequence[str]) -> bool:
        return not state.is_terminal and all(
            state.is_legal(role, move) for role, move in zip(self.game.roles, joint, strict=True)
        )

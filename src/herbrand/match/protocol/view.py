"""A match as one player sees it: the messages it receives and the state that follows from them.

With complete information every message carries the moves of all roles, which determine the state.  With
hidden information a player receives its own move and its percepts; the state is then sampled from those that
are consistent with them (`herbrand.analyse.knowledge.possible_states`), by probability.
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
from herbrand.match.protocol.messages import PlayMessage, SeesMessage, StopMessage, TurnMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.analyse.knowledge.histories import History, HistoryStep
    from herbrand.machine.state import State

__all__ = ["MatchView", "reader_within"]

_STATES = 5_000
_PARTICLES = 300


def reader_within(game: Game, seconds: float) -> MoveReader | None:
    """Return the closed move reader of a game; None when its moves cannot be listed within `seconds`."""
    limits = replace(game.limits, seconds=min(seconds, game.limits.seconds))
    try:
        reader = MoveReader(Game(game.tree, name=game.name, limits=limits))
    except HerbrandError:
        return None
    reader.game = game  # equal to the copy with tighter limits, which can then be freed
    return reader


class MatchView:
    """The state of one match as one role follows it.

    Inconsistent messages raise nothing: `apply_moves` and `apply_percepts` return notes about them.
    """

    def __init__(
        self, game: Game, role: str, *, reader: MoveReader | None = None, seed: int = 0, engine: str = "auto"
    ) -> None:
        self.game = game
        self.role = game.roles[game.role_index(role)]
        self.reader = reader
        self.state: State = game.initial_state(engine)
        """The current state, or with hidden information one that is consistent with the history."""
        self.step = 0
        """Joint moves made so far."""
        self._previous: tuple[State, tuple[str, ...]] | None = None
        self._history: list[HistoryStep] = []
        self._own: Move | None = None
        self._chance = random.Random(seed)

    @property
    def history(self) -> History:
        """The role's moves and percepts, in games with hidden information."""
        return tuple(self._history)

    def switch_to_network(self) -> None:
        """Continue on the network of the game, if it is built and can represent the state."""
        if self.state.engine != "network" and self.game.has_network:
            with contextlib.suppress(HerbrandError):
                self.state = self.game.state(self.state.facts, engine="network")

    def record_answer(self, move: Move) -> None:
        """Remember this role's answer, for managers that do not repeat it."""
        self._own = move

    def apply(
        self, message: PlayMessage | TurnMessage | SeesMessage | StopMessage, *, seconds: float
    ) -> list[str]:
        """Advance to the state that a message describes, computing for at most `seconds`; return notes."""
        if isinstance(message, TurnMessage):
            return self.apply_percepts(
                message.last, message.percepts, turn=message.turn, over=message.over, seconds=seconds
            )
        if isinstance(message, SeesMessage):
            return self.apply_percepts(None, message.percepts, turn=None, over=False, seconds=seconds)
        if self.game.has_percepts:  # the form of 2010
            over = isinstance(message, StopMessage)
            return self.apply_percepts(None, message.moves, turn=None, over=over, seconds=seconds)
        return self.apply_moves(message.moves)

    def apply_moves(self, moves: Sequence[str] | None) -> list[str]:
        """Advance by a joint move; None (`NIL`) keeps the state.  Return notes about inconsistencies."""
        if moves is None:
            return ["the first step again"] if self.step else []
        if len(moves) != len(self.game.roles):
            return [f"{len(moves)} moves for {len(self.game.roles)} roles; the state is unchanged"]
        joint, notes = self._read(moves)
        if notes:
            return notes
        if self.state.is_terminal or not all(map(self.state.is_legal, self.game.roles, joint)):
            if self._previous is not None and self._previous[1] == joint:
                return ["the same step again"]
            return [f"({' '.join(joint)}) is not legal in this state; the state is unchanged"]
        self._previous = self.state, joint
        self.state = self.state.next(joint)
        self.step += 1
        return []

    def apply_percepts(
        self, own: str | None, percepts: Sequence[str] | None, *, turn: int | None, over: bool, seconds: float
    ) -> list[str]:
        """Advance by the role's own move and its percepts, computing for at most `seconds`.

        `own` and `turn` (the number of the step) are None for managers that do not send them; the move is
        then the recorded answer.  `over` says whether the match has ended.  Return notes about
        inconsistencies.
        """
        from herbrand.analyse.knowledge.histories import HistoryStep

        if percepts is None:
            return ["the first step again"] if self.step else []
        if turn is not None and turn == self.step:
            return ["the same step again"]
        if turn is not None and turn != self.step + 1:
            return [f"step {turn} follows step {self.step}; the state is unchanged"]
        try:
            move = self._own if own is None else Move(own)
            seen = frozenset(Move(percept).gdl for percept in percepts)
        except HerbrandError as error:
            return [f"{error}; the state is unchanged"]
        if move is None:
            return ["own move unknown; the state is unchanged"]
        before = self.state
        self._history.append(HistoryStep(move.gdl, seen))
        self.step += 1
        try:
            self.state = self._sample_state(over=over, seconds=seconds)
        except HerbrandError as error:
            self._guess(before, move)
            return [f"no state found for these percepts ({error}); a legal step is guessed"]
        return []

    def _sample_state(self, *, over: bool, seconds: float) -> State:
        from herbrand.analyse.knowledge import possible_states

        knowledge = possible_states(
            self.game,
            self.role,
            tuple(self._history),
            over=over,
            states=_STATES,
            particles=_PARTICLES,
            limits=replace(self.game.limits, seconds=max(0.05, seconds)),
            seed=self._chance.getrandbits(32),
        )
        weights = knowledge.weights
        if not weights:
            raise BudgetExceeded("all possible states")
        return self._chance.choices(list(weights), [float(weight) for weight in weights.values()])[0]

    def _guess(self, state: State, own: Move) -> None:
        """Advance by a random joint move that contains the role's own move, if that is legal."""
        if state.is_terminal:
            return
        joint = {role: self._chance.choice(moves) for role, moves in state.legal_moves().items() if moves}
        if state.is_legal(self.role, own):
            joint[self.role] = own
        if len(joint) == len(self.game.roles):
            self.state = state.next(joint)

    def _read(self, moves: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
        """Return the moves in canonical form, and notes about unreadable ones."""
        joint = []
        for role, text in zip(self.game.roles, moves, strict=True):
            index = None if self.reader is None else self.reader.find(role, text)
            if self.reader is not None and index is not None:
                joint.append(self.reader.text(role, index))
                continue
            try:
                joint.append(Move(text).gdl.lower())
            except HerbrandError as error:
                return (), [f"{error}; the state is unchanged"]
        return tuple(joint), []

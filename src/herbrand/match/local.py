"""`LocalMatch`: a match in one process, between people, programs and chance."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

from herbrand.analyse.knowledge.filtering import possible_states
from herbrand.analyse.knowledge.histories import history_of
from herbrand.errors import HerbrandError, IllegalMoveError
from herbrand.machine.trajectory import Trajectory
from herbrand.play.registry import make_player
from herbrand.runtime.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from herbrand.analyse.knowledge.knowing import Knowledge
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.explanation import PlayerReport
    from herbrand.play.interface import Player

__all__ = ["LocalMatch"]

KNOWING: Final = Limits(seconds=4)
"""Budget for what a role can know."""
MOST_STATES: Final = 20_000
"""So many states that a role holds possible are listed; beyond, they are sampled."""
PARTICLES: Final = 500


class LocalMatch:
    """A match that goes forward when everybody has chosen, and back when a person wants to.

    `people` are the roles that people play; `programs` gives the names of players for other roles, as
    `herbrand.play.make_player` takes them.  All other roles choose at random.  Programs have `clock` seconds
    for a move and `preparation` seconds when they are first needed.  Where the rules hide something, a
    program gets its history and a state that its role holds possible.  The same seed and the same moves of
    people give the same draws.
    """

    def __init__(
        self,
        game: Game,
        *,
        people: Sequence[str] = (),
        programs: Mapping[str, str] | None = None,
        clock: float = 1.0,
        preparation: float = 5.0,
        seed: int | None = None,
        engine: str = "rules",
    ) -> None:
        self.game = game
        self.people = tuple(people)
        self.programs = dict(programs or {})
        self.clock = clock
        self.preparation = preparation
        self.play = Trajectory.replay(game, (), engine=engine)
        """The states and joint moves so far."""
        self.reports: list[list[PlayerReport]] = []
        """For each joint move what programs reported about theirs."""
        self.chosen: dict[str, str] = {}
        """What people have chosen for the next joint move."""
        self._chance = random.Random(seed)
        self._players: dict[tuple[str, str], Player] = {}
        self._known: dict[str, Knowledge | HerbrandError] = {}
        """What roles can know after the last joint move."""

    @property
    def state(self) -> State:
        """The present state."""
        return self.play.state

    @property
    def hides(self) -> bool:
        """Whether states must not be shown: a person plays, the rules hide something, it is not over."""
        return self.game.has_percepts and bool(self.people) and not self.state.is_terminal

    # -- forward and back -------------------------------------------------------------------

    @property
    def waiting(self) -> list[str]:
        """The people whose choice is awaited: they have several moves and have not chosen yet."""
        if self.state.is_terminal:
            return []
        return [r for r in self.people if r not in self.chosen and len(self.state.legal_moves(r)) > 1]

    def choose(self, role: str, move: Move | str) -> None:
        """Note what a person plays in the next joint move; `IllegalMoveError` if that cannot be."""
        if role not in self.people:
            raise IllegalMoveError(f"{role} is not played by you")
        if self.state.is_terminal or not self.state.is_legal(role, move):
            raise IllegalMoveError(f"no legal move `{str(move)[:80]}` for {role}")
        self.chosen[role] = str(move)

    def advance(self) -> bool:
        """Make a joint move of what people have chosen, programs select and chance draws.

        Return False, and do nothing, while a choice of a person is awaited or when the match is over.
        Raises `GameError` when a role has no legal move.
        """
        if self.state.is_terminal or self.waiting:
            return False
        legal = self.state.require_moves()
        # everything is drawn before a program is asked: the draws do not depend on who plays
        joint = {role: str(self._chance.choice(moves)) for role, moves in legal.items()}
        reports = []
        for role, name in self.programs.items():
            if len(legal[role]) > 1:
                player = self.player(role, name)
                joint[role] = str(self._selected(player, legal[role]))
                report = player.report()
                if report is not None and report.moves:
                    reports.append(report)
        self.play.make({**joint, **self.chosen})
        self.reports.append(reports)
        self._forget()
        return True

    def take_back(self) -> bool:
        """Go back to the last state in which a person had a choice, or one step if nobody is a person.

        Return False, and do nothing, where there is none.
        """
        steps = range(len(self.play) - 1, -1, -1)
        people = set(self.people)
        to = next((step for step in steps if not people or people & set(self.play.choosing(step))), None)
        if to is None:
            return False
        self.play.take_back(to)
        del self.reports[to:]
        self._forget()
        return True

    def _forget(self) -> None:
        self.chosen, self._known = {}, {}

    # -- programs ---------------------------------------------------------------------------

    def player(self, role: str, name: str) -> Player:
        """Return the program `name` ready to play a role, made and started when first asked for.

        Raises `herbrand.play.registry.NoSuchPlayer`.
        """
        player = self._players.get((role, name))
        if player is None:
            player = self._players[role, name] = make_player(name, seed=self._chance.getrandbits(32))
            player.start(self.game, role, self.preparation)
        return player

    def hint(self, role: str, name: str = "mcts") -> tuple[Move, PlayerReport | None]:
        """Return the move that a program would choose for a role, and what it reports about it."""
        player = self.player(role, name)
        return player.select(self.state, max(1.0, self.clock)), player.report()

    def _selected(self, player: Player, moves: Sequence[Move]) -> Move:
        """Return the choice of a program, which is told no more than its role can know."""
        if not self.game.has_percepts:
            return player.select(self.state, self.clock)
        try:
            held = self.knowledge(player.role).weights
        except HerbrandError:
            held = {}
        states = sorted(
            (state for state in held if state.legal_moves(player.role) == moves),
            key=lambda state: sorted(state.facts),
        )
        if not states:  # what it may hold possible cannot be computed: it moves blindly
            return self._chance.choice(moves)
        player.told(history_of(self.play, player.role))
        return player.select(self._chance.choice(states), self.clock)

    # -- what is hidden ---------------------------------------------------------------------

    def knowledge(self, role: str) -> Knowledge:
        """Return what a role can know now; `HerbrandError` where that cannot be computed within seconds."""
        if role not in self._known:
            try:
                self._known[role] = possible_states(
                    self.game,
                    role,
                    history_of(self.play, role),
                    over=False,
                    states=MOST_STATES,
                    particles=PARTICLES,
                    limits=KNOWING,
                )
            except HerbrandError as error:
                self._known[role] = error
        known = self._known[role]
        if isinstance(known, HerbrandError):
            raise known
        return known

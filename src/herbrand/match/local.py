"""`LocalMatch`: a match in one process between people, programs and chance."""

from __future__ import annotations

import random
import threading
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from herbrand.analyse.knowledge.filtering import possible_states
from herbrand.analyse.knowledge.histories import history_of
from herbrand.errors import HerbrandError, IllegalMoveError
from herbrand.machine.trajectory import Trajectory
from herbrand.play.registry import make_player
from herbrand.runtime.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from herbrand.analyse.knowledge.knowing import Knowledge
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.explanation import PlayerReport
    from herbrand.play.interface import Player

__all__ = ["LocalMatch"]

KNOWLEDGE_LIMITS: Final = Limits(seconds=4)
"""Budget for computing the knowledge of a role."""
MAX_STATES: Final = 20_000
"""Most possible states that are enumerated; beyond that, they are sampled."""
PARTICLES: Final = 500
SECOND_TRY: Final = 2.0
"""Play clock of a program that knows nothing about its move after the first."""
PLANNING_SECONDS: Final = 60.0
"""Time of the planner in a puzzle."""
HINT_SECONDS: Final = 5.0
"""Least play clock for a hint if the planner finds no plan."""


class LocalMatch:
    """A match that advances once every person has chosen a move, and whose moves can be taken back.

    `people` are the roles played by people; `programs` maps other roles to player names as in
    `herbrand.play.make_player`.  All remaining roles choose at random.  Programs have `clock` seconds for a
    move and `preparation` seconds when they are first used, after at most `network_seconds` for building the
    network of the game.  In games with hidden information a program gets
    its history and a state sampled from those its role considers possible.  The same seed and the same moves
    of people give the same draws.  With `ponder` programs think while people do.  `on_start(player, role)` is
    called before the match waits for a program that prepares.
    """

    def __init__(
        self,
        game: Game,
        *,
        people: Sequence[str] = (),
        programs: Mapping[str, str] | None = None,
        clock: float = 1.0,
        preparation: float = 5.0,
        network_seconds: float = 0.0,
        seed: int | None = None,
        engine: str = "rules",
        ponder: bool = False,
        on_start: Callable[[str, str], None] | None = None,
    ) -> None:
        self.game = game
        self.people = tuple(people)
        self.programs = dict(programs or {})
        self.clock = clock
        self.preparation = preparation
        self.network_seconds = network_seconds
        self.play = Trajectory.replay(game, (), engine=engine)
        """The states and joint moves so far."""
        self.reports: list[list[PlayerReport]] = []
        """For each joint move, the reports of the programs about their moves."""
        self.chosen: dict[str, str] = {}
        """The moves that people have chosen for the next joint move, by role."""
        self._ponder = ponder
        self._on_start = on_start
        self._chance = random.Random(seed)
        self._players: dict[tuple[str, str], tuple[Player, Future[None]]] = {}
        """By role and name, with what ends when the program has prepared."""
        self._knowledge: dict[str, Knowledge | HerbrandError] = {}
        """The knowledge of each role in the present state, or the error in computing it."""

    @property
    def state(self) -> State:
        """The present state."""
        return self.play.state

    @property
    def is_puzzle(self) -> bool:
        """Whether the game has one role, and nothing is hidden from it."""
        return len(self.game.roles) == 1 and not self.game.has_percepts

    @property
    def hides(self) -> bool:
        """Whether states must not be shown: people play a game with hidden information that is not over."""
        return self.game.has_percepts and bool(self.people) and not self.state.is_terminal

    # -- forward and back -------------------------------------------------------------------

    @property
    def waiting(self) -> list[str]:
        """The people who have several legal moves and have not chosen yet."""
        if self.state.is_terminal:
            return []
        return [r for r in self.people if r not in self.chosen and len(self.state.legal_moves(r)) > 1]

    def choose(self, role: str, move: Move | str) -> None:
        """Set a person's move in the next joint move; `IllegalMoveError` if it is not legal."""
        if role not in self.people:
            raise IllegalMoveError(f"{role} is not played by a person")
        if self.state.is_terminal or not self.state.is_legal(role, move):
            raise IllegalMoveError(f"no legal move `{str(move)[:80]}` for {role}")
        self.chosen[role] = str(move)

    def advance(self) -> bool:
        """Make a joint move of the moves of people, programs and chance.

        Return False, and do nothing, while a person has to choose or when the match is over.
        Raises `GameError` when a role has no legal move.
        """
        if self.state.is_terminal or self.waiting:
            return False
        legal = self.state.require_moves()
        # draw for all roles first, so that the draws do not depend on who plays
        joint = {role: str(self._chance.choice(moves)) for role, moves in legal.items()}
        reports = []
        for role, name in self.programs.items():
            if len(legal[role]) > 1:
                player = self.player(role, name)
                joint[role] = str(self._select(player, legal[role], self.clock))
                report = player.report()
                if report is not None and report.moves and report.best.value is None:
                    # a clock that is too short for one round of playouts would give random moves
                    joint[role] = str(self._select(player, legal[role], max(SECOND_TRY, self.clock)))
                    report = player.report()
                if report is not None and report.moves:
                    reports.append(self._report_on(report, joint[role]))
        self.play.make({**joint, **self.chosen})
        self.reports.append(reports)
        self._clear_step()
        return True

    def replay(self, joint_moves: Iterable[Sequence[str]]) -> None:
        """Make joint moves that were made before, in role order, without asking programs or people."""
        for joint in joint_moves:
            self.play.make(dict(zip(self.game.roles, joint, strict=True)))
            self.reports.append([])
        self._clear_step()

    def take_back(self) -> bool:
        """Go back to the last state in which a person had a choice, or one step if no people play.

        Return False, and do nothing, if there is no such state.
        """
        steps = range(len(self.play) - 1, -1, -1)
        people = set(self.people)
        to = next((step for step in steps if not people or people & set(self.play.choosing(step))), None)
        if to is None:
            return False
        self.play.take_back(to)
        del self.reports[to:]
        self._clear_step()
        return True

    def _clear_step(self) -> None:
        self.chosen, self._knowledge = {}, {}

    def close(self) -> None:
        """Stop all programs."""
        for player, _ in self._players.values():
            player.stop()

    # -- programs ---------------------------------------------------------------------------

    def prepare(self) -> None:
        """Let all programs prepare in the background, and a planner for hints in a puzzle.

        Raises `herbrand.play.NoSuchPlayer`.
        """
        for role, name in self.programs.items():
            self._start(role, name)
        if self.is_puzzle and self.people:
            self._start(self.people[0], "puzzle")

    def player(self, role: str, name: str) -> Player:
        """Return the program `name` for a role, created on first use, when it has prepared.

        Raises `herbrand.play.NoSuchPlayer`.
        """
        is_new = (role, name) not in self._players
        if self._on_start is not None and (is_new or not self._players[role, name][1].done()):
            self._on_start(name, role)
        if is_new:
            self._start(role, name)
        player, started = self._players[role, name]
        started.result()
        return player

    def _start(self, role: str, name: str) -> None:
        """Create a program and let it prepare in a thread."""
        player = make_player(name, seed=self._chance.getrandbits(32), ponder=self._ponder or None)
        started: Future[None] = Future()
        self._players[role, name] = player, started

        def start() -> None:
            if self.network_seconds:
                with suppress(HerbrandError):  # without a network programs evaluate the rules
                    self.game.network_within(self.network_seconds)
            seconds = PLANNING_SECONDS if name == "puzzle" and self.is_puzzle else self.preparation
            try:
                player.start(self.game, role, seconds)
                started.set_result(None)
            except BaseException as error:  # noqa: BLE001  # raised again by `player`
                started.set_exception(error)

        threading.Thread(target=start, daemon=True).start()

    def hint(self, role: str, name: str | None = None) -> tuple[Move, PlayerReport | None]:
        """Return the move that a program would choose for a role, and its report about it.

        The program is by default one that suits the game: a planner for puzzles, which may take a minute from
        the start of the match or the first hint, else a tree search.
        """
        if name is None:
            name = "puzzle" if self.is_puzzle else "ismcts" if self.game.has_percepts else "mcts"
        player = self.player(role, name)
        clock = max(HINT_SECONDS if self.is_puzzle else 1.0, self.clock)
        move = self._select(player, self.state.legal_moves(role), clock)
        report = player.report()
        if report is None:
            return move, None
        if self.is_puzzle:  # that random play solves nothing says nothing
            moves = (one if one.value else replace(one, mean=None) for one in report.moves)
            report = replace(report, moves=tuple(moves))
        return move, self._report_on(report, str(move))

    def _report_on(self, report: PlayerReport, move: str) -> PlayerReport:
        """Return a report as one on the move that was made, without proofs where they are about a guess."""
        if self.game.has_percepts:
            report = report.without_proofs()
        return report.with_choice(move)

    def _select(self, player: Player, moves: Sequence[Move], clock: float) -> Move:
        """Return the choice of a program, which sees no more than its role can know."""
        if not self.game.has_percepts:
            return player.select(self.state, clock)
        try:
            possible = self.knowledge(player.role).weights
        except HerbrandError:
            possible = {}
        states = sorted(
            (state for state in possible if state.legal_moves(player.role) == moves),
            key=lambda state: sorted(state.facts),
        )
        if not states:  # the possible states could not be computed: draw a move
            return self._chance.choice(moves)
        player.receive_history(history_of(self.play, player.role))
        return player.select(self._chance.choice(states), clock)

    # -- hidden information ---------------------------------------------------------------------

    def knowledge(self, role: str) -> Knowledge:
        """Return the knowledge of a role in this state; raises `HerbrandError` beyond the budget."""
        if role not in self._knowledge:
            try:
                self._knowledge[role] = possible_states(
                    self.game,
                    role,
                    history_of(self.play, role),
                    over=False,
                    states=MAX_STATES,
                    particles=PARTICLES,
                    limits=KNOWLEDGE_LIMITS,
                )
            except HerbrandError as error:
                self._knowledge[role] = error
        knowledge = self._knowledge[role]
        if isinstance(knowledge, HerbrandError):
            raise knowledge
        return knowledge

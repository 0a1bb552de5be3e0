"""`Trajectory`: a play of a game so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random
    from typing import Self

    from herbrand.engine.description import GameDescription
    from herbrand.machine.state import JointMove, State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["Trajectory"]


class Trajectory:
    """The states of a play and the joint moves between them; it can be continued and taken back.

    >>> import herbrand
    >>> play = Trajectory.replay(herbrand.load("ticTacToe"), [("(mark 2 2)", "noop")])
    >>> len(play), play.state.legal_moves("xplayer"), play.choices(0)
    (1, [Move('noop')], {'xplayer': '(mark 2 2)'})
    """

    def __init__(self, start: State) -> None:
        self.states = [start]
        """The first state, and the one after each joint move."""
        self.joint_moves: list[tuple[str, ...]] = []
        """KIF texts in role order."""

    @classmethod
    def replay(cls, game: StateMachine, joint_moves: Iterable[JointMove], *, engine: str = "rules") -> Self:
        """Make joint moves from the initial state; raises what `State.next` raises."""
        play = cls(game.initial_state(engine))
        for joint in joint_moves:
            play.make(joint)
        return play

    @property
    def game(self) -> GameDescription:
        """The game that is played."""
        return self.states[0].game

    @property
    def state(self) -> State:
        """The state at the end."""
        return self.states[-1]

    def __len__(self) -> int:
        """Return the number of joint moves."""
        return len(self.joint_moves)

    def make(self, joint_move: JointMove) -> State:
        """Make a joint move and return the state after it; raises what `State.next` raises."""
        after = self.state.next(joint_move)
        self.joint_moves.append(tuple(map(str, self.state.in_order(joint_move))))
        self.states.append(after)
        return after

    def take_back(self, to: int) -> None:
        """Take joint moves back until there are so many."""
        del self.states[to + 1 :], self.joint_moves[to:]

    def finish(self, chance: Random, *, max_steps: int = 10_000) -> None:
        """Make random joint moves until the game ends, a role has no legal move, or so many were made."""
        while len(self) < max_steps and not self.state.is_terminal:
            legal = self.state.legal_moves()
            if not all(legal.values()):
                break
            self.make([chance.choice(moves) for moves in legal.values()])

    def choosing(self, step: int) -> list[str]:
        """Return the roles that had a choice in the state after so many steps."""
        return [role for role, moves in self.states[step].legal_moves().items() if len(moves) > 1]

    def choices(self, step: int) -> dict[str, str]:
        """Return the moves made after so many steps by roles that had a choice; by all where none had."""
        made = dict(zip(self.game.roles, self.joint_moves[step], strict=True))
        choosing = self.choosing(step)
        return {role: made[role] for role in choosing} if choosing else made

    def percepts(self, step: int, role: str) -> tuple[str, ...]:
        """Return what a role saw of the joint move made after so many steps."""
        return self.states[step].percepts(self.joint_moves[step], role)

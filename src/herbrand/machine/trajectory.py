"""`Trajectory`: the states and joint moves of a play."""

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
    """The states of a play and the joint moves between them; moves can be added and taken back.

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
        """Return the play of some joint moves from the initial state; raises as `State.next` does."""
        play = cls(game.initial_state(engine))
        for joint in joint_moves:
            play.make(joint)
        return play

    @property
    def game(self) -> GameDescription:
        """The game."""
        return self.states[0].game

    @property
    def state(self) -> State:
        """The state at the end."""
        return self.states[-1]

    def __len__(self) -> int:
        """Return the number of joint moves."""
        return len(self.joint_moves)

    def make(self, joint_move: JointMove) -> State:
        """Make a joint move and return the state after it; raises as `State.next` does."""
        after = self.state.next(joint_move)
        self.joint_moves.append(tuple(map(str, self.state.in_order(joint_move))))
        self.states.append(after)
        return after

    def take_back(self, to: int) -> None:
        """Take joint moves back until `to` of them are left."""
        del self.states[to + 1 :], self.joint_moves[to:]

    def finish(self, chance: Random, *, max_steps: int = 10_000) -> None:
        """Make random joint moves until the game ends, a role has no legal move, or there are `max_steps`."""
        while len(self) < max_steps and not self.state.is_terminal:
            legal = self.state.legal_moves()
            if not all(legal.values()):
                break
            self.make([chance.choice(moves) for moves in legal.values()])

    def choosing(self, step: int) -> list[str]:
        """Return the roles with several legal moves in the state after `step` steps."""
        return [role for role, moves in self.states[step].legal_moves().items() if len(moves) > 1]

    def choices(self, step: int) -> dict[str, str]:
        """Return the moves made after `step` steps by roles that had a choice; by all roles if none had."""
        joint = dict(zip(self.game.roles, self.joint_moves[step], strict=True))
        choosing = self.choosing(step)
        return {role: joint[role] for role in choosing} if choosing else joint

    def percepts(self, step: int, role: str) -> tuple[str, ...]:
        """Return the percepts of a role for the joint move made after `step` steps."""
        return self.states[step].percepts(self.joint_moves[step], role)

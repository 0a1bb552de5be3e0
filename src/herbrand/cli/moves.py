"""The joint moves of --moves."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import click

from herbrand.cli.output import remark
from herbrand.errors import IllegalMoveError, InvalidMoveError
from herbrand.machine.joint_text import read_joint, split_joints
from herbrand.machine.trajectory import Trajectory

if TYPE_CHECKING:
    from random import Random

    from herbrand.machine.joint_text import MoveSource
    from herbrand.machine.state import State

__all__ = ["line_of_play", "read_move"]


def line_of_play(start: State, moves: str, chance: Random | None = None) -> Trajectory:
    """Play a line from a state; fail for moves that are illegal or come after the end."""
    play = Trajectory(start)
    for number, text in enumerate(split_joints(moves), start=1):
        play.make(read_move(play.state, text, number, chance, is_over=play.state.is_terminal))
    return play


def read_move(
    state: MoveSource, text: str, number: int, chance: Random | None = None, *, is_over: bool
) -> tuple[str, ...]:
    """Parse a joint move of a line, counted from 1; print the move of `random` if `chance` draws it."""
    if is_over:
        raise click.BadParameter(f"the game is over before joint move {number}", param_hint="--moves")
    try:
        with suppress(InvalidMoveError, IllegalMoveError):
            return read_joint(state, text)
        joint = read_joint(state, text, chance)
    except (InvalidMoveError, IllegalMoveError) as error:
        raise click.BadParameter(f"joint move {number}: {error}", param_hint="--moves") from error
    role = state.game.chance_role
    assert role is not None
    remark(f"joint move {number}: {role} draws {joint[state.game.role_index(role)]}")
    return joint

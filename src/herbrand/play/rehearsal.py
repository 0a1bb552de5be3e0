"""A match of two steps with nobody watching, so that code is written and compiled before there is a clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from herbrand.game import Game

__all__ = ["rehearse"]


def rehearse(game: Game, engine: str) -> None:
    """Ask an engine all that is asked in a match; raises as the engine does."""
    state = game.initial_state(engine)
    for _ in range(2):
        legal = state.legal_moves()
        if state.is_terminal or not all(legal.values()):
            break
        joint = [moves[0] for moves in legal.values()]
        state.percepts(joint)
        state = state.next(joint)
        _ = state.goals
    game.state(state.facts, engine=engine).legal_moves()

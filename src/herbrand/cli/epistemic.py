"""`herbrand show` for epistemic games (GDL-III), whose rules refer to the roles' knowledge."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING

from herbrand.cli.moves import read_move
from herbrand.cli.output import columns, count, goals_line, result, write_json
from herbrand.draw.text import table
from herbrand.machine.joint_text import split_joints
from herbrand.machine.moves import Move

if TYPE_CHECKING:
    from herbrand.analyse.knowledge import EpistemicPlay
    from herbrand.game import Game

__all__ = ["show"]


class _MoveSource:
    """The legal moves after a play."""

    def __init__(self, game: Game, play: EpistemicPlay) -> None:
        self.game = game
        self.roles = game.roles
        self.play = play

    def legal_moves(self, role: str) -> list[Move]:
        return list(map(Move, self.play.legal[role]))

    def chance_moves(self) -> dict[Move, Fraction]:
        role = self.game.chance_role
        moves = [] if role is None else self.legal_moves(role)
        return {move: Fraction(1, len(moves)) for move in moves}

    def draw(self, chance: Random) -> Move:
        return chance.choice(list(self.chance_moves()))


def show(game: Game, moves: str, seed: int, *, as_json: bool) -> None:
    """Show the state after the moves, and the knowledge that the rules refer to."""
    from herbrand.analyse.knowledge import EpistemicGame

    epistemic = EpistemicGame(game)
    chance = Random(seed)
    played: list[tuple[str, ...]] = []
    play = epistemic.after(())
    for number, text in enumerate(split_joints(moves), start=1):
        state = _MoveSource(game, play)
        played.append(read_move(state, text, number, chance, is_over=play.is_terminal))
        play = epistemic.after(played)
    if as_json:
        write_json(
            {
                "game": game.name,
                "step": len(played),
                "moves": [list(joint) for joint in played],
                "facts": sorted(play.facts),
                "terminal": play.is_terminal,
                "legal": {role: list(options) for role, options in play.legal.items()},
                "goals": play.goals,
                "known": {role or "everybody": sorted(atoms) for role, atoms in play.known.items()},
            }
        )
        return
    result("\n\n".join(_parts(game, play, len(played))))


def _parts(game: Game, play: EpistemicPlay, steps: int) -> list[str]:
    when = f"{count(steps, 'step')} after the initial state" if steps else "initial state"
    parts = [f"{game.name}, {when}", table(play.facts) or "(no facts)"]
    knowing = [
        f"{role or 'everybody together'} knows\n{columns(sorted(atoms), indent='  ')}"
        for role, atoms in play.known.items()
        if atoms and role != game.chance_role
    ]
    if knowing:
        parts.append("\n".join(knowing))
    if play.is_terminal:
        return [*parts, "the game is over", f"goals: {goals_line(play.goals)}"]
    legal = [f"{role}\n{columns(moves, indent='  ') or '  nothing'}" for role, moves in play.legal.items()]
    return [*parts, "legal moves\n" + "\n".join(legal)]

"""Won positions of connect four on five columns of four: players that count, not time, win all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from herbrand.play import make_player
from herbrand.play.minimax.engine import AlphaBeta

if TYPE_CHECKING:
    from collections.abc import Callable

    import herbrand
    from herbrand.machine.state import State

WON = 12
NODES = 2_000_000


class Perfect:
    """Knows the value of every state, by exact search; its table grows."""

    def __init__(self, game: herbrand.Game) -> None:
        self.game = game
        self.searches = [AlphaBeta(game.network, role, memory=1 << 25, exact=True) for role in range(2)]

    def looked(self, state: State, role: int) -> AlphaBeta:
        """The search of a role, through with a state."""
        search = self.searches[role]
        search.move_to(self.game.expander.pack([state.facts]))
        search.run(NODES)
        assert search.is_solved
        return search

    def winner(self, state: State) -> int | None:
        """The role that can win, if one can."""
        mover = next(r for r, role in enumerate(self.game.roles) if len(state.legal_moves(role)) > 1)
        value = round(self.looked(state, mover).value)
        return None if value == 50 else mover if value == 100 else 1 - mover

    def move(self, state: State, role: int) -> str:
        """A best move; what loses latest, if everything loses."""
        search = self.looked(state, role)
        return search.move_text(search.choice)


def is_won(perfect: Perfect, state: State, winner: int, who: str, seed: int) -> bool:
    """Whether a player wins a position that it can win."""
    game = perfect.game
    player = make_player(who, seed=seed)
    player.start(game, game.roles[winner], 60)
    while not state.is_terminal:
        joint = {role: str(moves[0]) for role, moves in state.legal_moves().items()}
        for r, role in enumerate(game.roles):
            if len(state.legal_moves(role)) > 1:
                joint[role] = str(player.select(state, 600)) if r == winner else perfect.move(state, r)
        state = state.next(joint)
    player.stop()
    return state.goal(game.roles[winner]) == 100


@pytest.mark.slow
@pytest.mark.parametrize(
    "who", ["mcts(playouts=100000, memory=100)", "alphabeta(nodes=200000, threads=1, learning=False)"]
)
def test_no_won_position_is_given_away(
    who: str, small_connect_four: herbrand.Game, random_state: Callable[..., State]
) -> None:
    """After up to six drawn moves, against an opponent that loses as late as it can."""
    perfect = Perfect(small_connect_four)
    tried, seed = 0, 0
    while tried < WON:
        seed += 1
        state = random_state(small_connect_four, seed % 7, seed)
        winner = perfect.winner(state)
        if winner is not None:
            assert is_won(perfect, state, winner, who, seed), (seed, winner)
            tried += 1

"""Won positions of small games: players that count, not time, win all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import herbrand
from herbrand.analyse.solving.minimax.search import AlphaBetaSearch
from herbrand.play import make_player

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.machine.state import State

WON = 12
NODES = 2_000_000


class Perfect:
    """Knows the value of every state, by exact search; its table grows."""

    def __init__(self, game: herbrand.Game) -> None:
        self.game = game
        self.searches = [AlphaBetaSearch(game.network, role, memory=1 << 22, exact=True) for role in range(2)]

    def looked(self, state: State, role: int) -> AlphaBetaSearch:
        """The search of a role, through with a state."""
        search = self.searches[role]
        search.move_to(self.game.expander.pack([state.facts]))
        search.run(NODES)
        assert search.is_solved
        return search

    def winner(self, state: State) -> int | None:
        """The role that can win, if one can."""
        choosing = [r for r, role in enumerate(self.game.roles) if len(state.legal_moves(role)) > 1]
        if not choosing:
            return None
        mover = choosing[0]
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


def lost(game: herbrand.Game, who: str, drawn: int, random_state: Callable[..., State]) -> list[int]:
    """The seeds of won positions, after less than so many drawn moves, that a player does not win."""
    perfect = Perfect(game)
    found: list[int] = []
    tried, seed = 0, 0
    while tried < WON:
        seed += 1
        state = random_state(game, seed % drawn, seed)
        winner = None if state.is_terminal else perfect.winner(state)
        if winner is not None:
            tried += 1
            if not is_won(perfect, state, winner, who, seed):
                found.append(seed)
    return found


@pytest.mark.parametrize("name", ["ticTacToe", "nim"])
@pytest.mark.parametrize(
    "who", ["mcts(playouts=5000, memory=20)", "alphabeta(nodes=10000, threads=1, memory=20, learning=False)"]
)
def test_won_positions_of_small_games_are_won(
    name: str, who: str, random_state: Callable[..., State]
) -> None:
    """Tic-tac-toe and nim, after up to five drawn moves, against an opponent that loses as late as it can."""
    assert lost(herbrand.load(name), who, 6, random_state) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "who", ["mcts(playouts=100000, memory=100)", "alphabeta(nodes=200000, threads=1, learning=False)"]
)
def test_no_won_position_of_connect_four_is_given_away(
    who: str, small_connect_four: herbrand.Game, random_state: Callable[..., State]
) -> None:
    """On five columns of four, after up to six drawn moves."""
    assert lost(small_connect_four, who, 7, random_state) == []

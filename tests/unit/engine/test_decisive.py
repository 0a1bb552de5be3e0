"""Games in which nobody passes by a win: what is legal in the network is what such a role would choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import herbrand
from herbrand import core
from herbrand.engine.decisive import decisive
from herbrand.engine.expand import Expander
from herbrand.play.search.policy import PlayoutPolicy, decisive_network
from herbrand.play.search.tree import Search

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.machine.state import State


def mover(state: State) -> str:
    """Return the role that has a choice, or else any."""
    legal = state.legal_moves()
    return max(legal, key=lambda role: len(legal[role]))


def after(state: State, role: str, move: str) -> State:
    """Return the state after a move of the only role that has a choice."""
    return state.next({**{r: moves[0] for r, moves in state.legal_moves().items()}, role: move})


def winning(state: State, role: str) -> list[str]:
    """Return the moves after which the game is over and won."""
    found = []
    for move in map(str, state.legal_moves(role)):
        end = after(state, role, move)
        if end.is_terminal and end.goal(role) == 100:
            found.append(move)
    return found


def choice(state: State) -> list[str]:
    """Return the moves that are legal in a game of roles that see wins, by asking for every state."""
    role = mover(state)
    wins = winning(state, role)
    if wins:
        return wins
    every = [str(move) for move in state.legal_moves(role)]
    safe = []
    for move in every:
        following = after(state, role, move)
        other = next(r for r in state.game.roles if r != role)
        if following.is_terminal or not winning(following, other):
            safe.append(move)
    return safe or every


@pytest.mark.parametrize("name", ["ticTacToe", "connectFour"])
def test_what_is_legal_is_what_a_role_that_sees_wins_would_choose_from(
    name: str, small_connect_four: herbrand.Game, random_state: Callable[..., State]
) -> None:
    """A win if there is one, else what leaves the other none, else anything; others may do as before."""
    game = small_connect_four if name == "connectFour" else herbrand.load(name)
    network = decisive(game.network)
    assert network is not None
    expander = Expander(network)
    wins = saves = 0
    for seed in range(60):
        state = random_state(game, 3 + seed % 8, seed)
        if state.is_terminal:
            continue
        role = game.roles.index(mover(state))
        legal = expander.legal(expander.pack([state.facts]))
        found = [expander.moves[role][k] for k in np.flatnonzero(legal.mask(role)[0])]
        assert sorted(found) == sorted(choice(state)), sorted(state.facts)
        assert legal.mask(1 - role).sum() == 1
        wins += bool(winning(state, game.roles[role]))
        saves += 1 < len(found) < len(state.legal_moves(game.roles[role])) or len(found) == 1
    assert wins
    assert saves


def test_states_and_ends_are_those_of_the_game() -> None:
    """Of games played in it the last states are terminal in the game, with the same goals."""
    game = herbrand.load("ticTacToe")
    network = decisive(game.network)
    assert network is not None
    expander, plain = Expander(network), game.expander
    line = expander.rollouts(expander.initial, seed=3, watched=0)
    state = plain.initial
    for joint in line.line:
        numbers = [plain.move_numbers[role][move.lower()] for role, move in enumerate(joint)]
        state = plain.step(state, np.array([numbers], np.int32))
    assert plain.terminal(state)[0]
    assert plain.goals(state)[0].tolist() == line.goals[0].tolist()


def test_where_it_is_not_worth_it_there_is_none() -> None:
    """Loops, networks that would become too large, games in which roles choose at once."""
    assert decisive(herbrand.load("hex").network) is None
    assert decisive(herbrand.load("breakthrough").network) is None
    assert decisive(herbrand.load("connectFour").network, gates=1000) is None
    assert decisive_network(herbrand.load("prisonersDilemma").expander, anyway=True) is None
    assert decisive_network(herbrand.load("connectFour").expander) is not None


def test_a_search_that_sees_wins_is_the_same_with_the_kernels_of_all_processors(
    small_connect_four: herbrand.Game,
) -> None:
    """As many games of each move, bit for bit; and the tree has the moves of the game."""
    network = decisive_network(small_connect_four.expander)
    assert network is not None
    counts = []
    for level in core.levels():
        core.use_level(level)
        search = Search(
            small_connect_four.network, memory=1 << 24, seed=1, policy=PlayoutPolicy(network=network)
        )
        search.move_to(search.expander.initial)
        for _ in range(4):
            search.round()
        tree, root = search.tree, search.root
        assert tree.sizes[root].tolist() == [5, 1]
        counts.append(tree.arm_count[int(tree.first[root]) : int(tree.first[root]) + 5].tolist())
    assert all(one == counts[0] for one in counts)
    assert min(counts[0]) > 0

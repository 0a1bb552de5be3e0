"""Tree search: proved values agree with solved games, plans are kept, clocks too, and memory is bounded."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

import pytest

import herbrand
from herbrand.analyse.solving.solve import solve
from herbrand.errors import HerbrandError
from herbrand.play import make_player
from herbrand.play.mcts import MctsPlayer
from herbrand.play.search.features import is_placement_only
from herbrand.play.search.results import reports
from herbrand.play.search.rules_search import RulesSearch
from herbrand.play.search.tree import ALONE, JOINT, OVER, Search

if TYPE_CHECKING:
    import numpy as np

    from herbrand.machine.state import State


def search_of(name: str, **options: object) -> Search:
    """A search at the initial state of a bundled game."""
    search = Search(herbrand.load(name).network, memory=1 << 25, seed=1, **options)  # type: ignore[arg-type]
    search.move_to(search.expander.initial)
    return search


def grown(search: Search, rounds: int) -> Search:
    """The search after so many rounds, or when it is solved."""
    for _ in range(rounds):
        if search.is_solved:
            break
        search.round()
    return search


@pytest.mark.parametrize("name", ["ticTacToe", "nim", "ticTacToe3"])
def test_what_is_proved_is_the_value(name: str) -> None:
    """A search that ends has proved what backward induction finds."""
    search = grown(search_of(name), 3000)
    assert search.is_solved
    solution = solve(herbrand.load(name))
    assert solution.value is not None
    low = search.tree.low[search.root]
    assert {
        role: round(100 * float(value)) for role, value in zip(search.expander.roles, low, strict=True)
    } == {role: round(value) for role, value in solution.value.items()}


def test_every_proved_position_of_tic_tac_toe_is_right() -> None:
    """Bounds hold in every position of the tree, not only at the root."""
    search = grown(search_of("ticTacToe"), 40)
    tree, expander = search.tree, search.expander
    states = tree.state[: search.positions]
    values: dict[bytes, float] = {}

    def value(state: np.ndarray) -> float:
        """What xplayer gets under best play, by minimax."""
        key = state.tobytes()
        if key not in values:
            if expander.terminal(state)[0]:
                values[key] = expander.goals(state)[0, 0] / 100
            else:
                after = expander.expand(state).states
                found = [value(after[i : i + 1]) for i in range(len(after))]
                values[key] = max(found) if state_mover(state) == 0 else min(found)
        return values[key]

    def state_mover(state: np.ndarray) -> int:
        counts = expander.legal(state).counts()[0]
        return int(counts[1] > 1)

    proved = 0
    for at in range(len(states)):
        true = value(states[at : at + 1])
        assert tree.low[at, 0] <= true <= tree.high[at, 0]
        proved += bool(tree.is_exact(at))
    assert proved > 500


def test_a_won_game_is_won_the_short_way(about_to_win: State) -> None:
    """Three in a row is finished at once, and the explanation says that it is proved."""
    player = make_player("mcts", seed=3)
    player.start(about_to_win.game, "xplayer", 600)
    assert player.select(about_to_win, 5) == "(mark 1 3)"
    report = player.report()
    assert report is not None
    assert report.best.move == "(mark 1 3)"
    assert (report.best.proved, report.best.plies) == (100, 1)
    assert "proved in 1 step" in str(report)
    assert report.as_json()["moves"][0]["line"][0] == ["(mark 1 3)", "noop"]


def test_a_plan_is_found_and_followed() -> None:
    """The towers of Hanoi: what one role reached in a random game it reaches again."""
    game = herbrand.load("hanoi")
    player = MctsPlayer(seed=1, playouts=20_000)
    player.start(game, game.roles[0], 600)
    state = game.initial_state()
    while not state.is_terminal:
        state = state.next([player.select(state, 20)])
    search = player._match.search
    assert search is not None
    assert search.plan is not None
    assert state.goal(game.roles[0]) == round(100 * search.plan.value) > 0


def test_games_in_which_a_move_comes_later_are_counted_right() -> None:
    """In tic-tac-toe from two moves before the end: each counted game has the move in it, won or not."""
    game = herbrand.load("ticTacToe")
    state = game.state(
        ["(cell 1 1 x)", "(cell 1 2 o)", "(cell 1 3 x)", "(cell 2 1 o)", "(cell 2 2 b)", "(cell 2 3 b)",
         "(cell 3 1 o)", "(cell 3 2 x)", "(cell 3 3 b)", "(control oplayer)"]
    )  # fmt: skip
    search = Search(game.network, memory=1 << 25, seed=1, amaf=200.0)
    search.move_to(search.expander.pack([state.facts]))
    search.round()
    tree, root = search.tree, search.root
    begin = int(tree.first[root] + tree.sizes[root, 0])
    arms = slice(begin, begin + int(tree.sizes[root, 1]))
    games = tree.amaf_count[arms]
    played = float(tree.games[root])
    # three squares are left, and no game is over before the last: o makes two of the three moves
    assert (games >= tree.arm_count[arms]).all()
    assert float(games.sum()) == 2 * played
    values = tree.amaf_total[arms] / games
    assert ((values >= 0) & (values <= 1)).all()


def test_only_games_of_placing_pieces_count_later_moves() -> None:
    """Where pieces move, or fall, or new moves come up, a move means different things at different times."""
    found = {
        name: is_placement_only(herbrand.load(name).expander)
        for name in ("ticTacToe", "hex", "connectFour", "nim")
    }
    assert found == {"ticTacToe": True, "hex": True, "connectFour": False, "nim": False}


def test_the_same_seed_gives_the_same_search() -> None:
    """With a number of random games instead of a clock, searches repeat themselves."""
    tables = []
    for _ in range(2):
        search = grown(search_of("connectFour"), 5)
        tables.append([(report.move, report.visits, report.mean) for report in reports(search, 0)])
    assert tables[0] == tables[1]


@pytest.mark.parametrize("name", ["connectFour", "tron"])
def test_forgetting_keeps_what_can_still_come(name: str) -> None:
    """What is below the new root is unchanged and found by its state; the rest is gone."""
    search = grown(search_of(name), 6)
    tree = search.tree
    size = int(tree.sizes[search.root].sum())
    begin = int(tree.first[search.root])
    if tree.kind[search.root] == ALONE:
        child = int(tree.arm_child[begin + 2])
    else:
        assert tree.kind[search.root] == JOINT
        child = int(tree.edge_child[tree.arm_child[begin]])
    before = tree.state[child].copy(), float(tree.games[child]), tree.total[child].copy()
    arms = int(tree.first[child])
    moves = tree.move[arms : arms + int(tree.sizes[child].sum())].copy()
    counts = tree.arm_count[arms : arms + len(moves)].copy()
    positions, edges = search.positions, tree.edges
    root = tree.forget(child)
    assert 0 < search.positions < positions
    assert tree.edges <= edges
    assert (tree.state[root] == before[0]).all()
    assert float(tree.games[root]) == before[1]
    assert (tree.total[root] == before[2]).all()
    first = int(tree.first[root])
    assert (tree.move[first : first + len(moves)] == moves).all()
    assert (tree.arm_count[first : first + len(moves)] == counts).all()
    for at in range(search.positions):
        assert tree.find(tree.state[at : at + 1]) == at
    assert size > 1
    search.root = root
    grown(search, 4)
    assert search.positions > len(moves)
    assert (tree.arm_virtual[: tree.arms] == 0).all()


def walk(search: Search) -> tuple[set[int], int]:
    """The positions that can be reached from the root, and how many arms lead from them to positions."""
    tree, reached, stack, links = search.tree, {search.root}, [search.root], 0
    while stack:
        at = stack.pop()
        assert tree.find(tree.state[at : at + 1]) == at
        if tree.kind[at] != ALONE:
            continue
        begin = int(tree.first[at])
        for arm in range(begin, begin + int(tree.sizes[at].sum())):
            child = int(tree.arm_child[arm])
            if child >= 0:
                links += 1
                assert tree.kind[child] <= OVER
                if child not in reached:
                    reached.add(child)
                    stack.append(child)
    return reached, links


@pytest.mark.slow_except("connectFour")
@pytest.mark.parametrize("name", ["connectFour", "checkers"])
def test_a_full_tree_keeps_to_its_memory_and_grows_on(name: str) -> None:
    """Little-visited positions give way, no arm leads to one that did, and the same seed gives the same."""
    values = []
    for _ in range(2):
        search = Search(herbrand.load(name).network, memory=250_000, seed=1)
        search.move_to(search.expander.initial)
        grown(search, 100)
        tree = search.tree
        assert tree.recycled > 500
        assert tree.bytes <= 250_000
        reached, links = walk(search)
        assert len(reached) > 0.9 * tree.positions
        assert links >= len(reached) - 1
        values.append(
            (tree.positions, tree.recycled, tree.games[search.root], tree.total[search.root].tolist())
        )
    assert values[0] == values[1]


def test_what_cannot_be_reached_from_a_new_root_is_freed() -> None:
    """After a few rounds, and no more than the rest of the tree."""
    search = grown(search_of("connectFour"), 60)
    tree = search.tree
    begin = int(tree.first[search.root])
    before, state = tree.positions, tree.state[int(tree.arm_child[begin])].copy().reshape(1, -1)
    search.move_to(state)
    grown(search, 4)
    reached, _ = walk(search)
    assert len(reached) == tree.positions < before


def test_moves_at_once_are_mixed_by_regret_matching() -> None:
    """In rock, paper, scissors the average strategy comes near one third each."""
    search = grown(search_of("rockPaperScissors", regret=True), 150)
    tree, root = search.tree, search.root
    for role in (0, 1):
        begin = int(tree.first[root] + tree.sizes[root, :role].sum())
        shares = tree.arm_share[begin : begin + 3]
        assert (abs(shares / shares.sum() - 1 / 3) < 0.12).all()


def test_the_clock_is_kept() -> None:
    """A move is there when the time is up, also when there is none."""
    game = herbrand.load("breakthrough")
    player = make_player("mcts", seed=1)
    player.start(game, "white", 600)
    state = game.initial_state()
    for clock in (0.0, 0.05, 0.5):
        started, used = time.monotonic(), time.thread_time()
        assert state.is_legal("white", player.select(state, clock))
        assert time.thread_time() - used < clock + 0.5  # of the one who asks
        assert time.monotonic() - started < clock + 10  # the machine may be busy


def test_without_a_network_the_rules_are_searched(
    about_to_win: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fallback finds a win, too, and says what it did."""
    monkeypatch.setattr(MctsPlayer, "_build", lambda *_: None)
    player = MctsPlayer(seed=1, playouts=300)
    player.start(about_to_win.game, "xplayer", 1)
    assert player.select(about_to_win, 20) == "(mark 1 3)"
    report = player.report()
    assert report is not None
    assert "the game has no network" in str(report)


def test_a_network_that_is_ready_while_a_move_is_looked_for_is_used(
    about_to_win: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rules are searched until then; the win is proved then, long before the clock runs out."""
    asked = threading.Event()
    build, by_rules = MctsPlayer._build, MctsPlayer._select_by_rules

    def late(*arguments: Any) -> None:
        asked.wait(60)
        build(*arguments)

    def searched(*arguments: Any, **settings: Any) -> Any:
        asked.set()
        return by_rules(*arguments, **settings)

    monkeypatch.setattr(MctsPlayer, "_build", late)
    monkeypatch.setattr(MctsPlayer, "_select_by_rules", searched)
    player = MctsPlayer(seed=1)
    player.start(about_to_win.game, "xplayer", 0)
    assert player.select(about_to_win, 300) == "(mark 1 3)"
    assert asked.is_set()
    report = player.report()
    assert report is not None
    assert report.moves[0].proved == 100
    player.stop()


def test_what_a_match_found_out_is_let_go_at_its_end(
    about_to_win: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network that is still being made, for which no player waits any more, holds nothing."""
    is_over = threading.Event()

    def building(*_: Any) -> Any:
        is_over.wait(300)
        raise HerbrandError("too late")

    monkeypatch.setattr(MctsPlayer, "_build_probe", building)
    player = MctsPlayer(seed=1)
    player.start(about_to_win.game, "xplayer", 0)
    until = time.monotonic() + 200
    while player._match.search is None and time.monotonic() < until:
        time.sleep(0.01)
    player.select(about_to_win, 0.2)
    assert player.report() is not None
    found = weakref.ref(player._match.search)
    assert found() is not None
    other = MctsPlayer(seed=1)
    other.start(about_to_win.game, "oplayer", 0)
    for either in (player, other):
        either.stop()
    other._builder.join(60)
    assert not other._is_building  # it does not wait for its turn any more
    assert player._is_building
    until = time.monotonic() + 60
    while found() is not None and time.monotonic() < until:
        gc.collect()
        time.sleep(0.01)
    assert found() is None
    assert player.report() is None
    is_over.set()


def test_the_plain_search_keeps_to_its_room() -> None:
    """Positions are kept as long as there is memory for them."""
    game = herbrand.load("connectFour")
    plain = RulesSearch(game.roles[0], 1, memory=0.02)
    plain.move_to(game.initial_state())
    plain.run(lambda: plain.playouts < 30)
    assert 1 < len(plain.nodes) < 10
    assert sum(report.visits for report in plain.reports()) == 30


@pytest.mark.slow_except("eightPuzzle", "prisonersDilemma", "knightsTour", "montyHall")
@pytest.mark.parametrize("name", ["montyHall", "trefoil", "prisonersDilemma", "eightPuzzle", "knightsTour"])
def test_games_of_every_kind_are_played_to_the_end(name: str) -> None:
    """Chance, three roles, moves at once, one role: every move is legal and nothing is left under way."""
    game = herbrand.load(name)
    players = {}
    for role in game.players:
        players[role] = MctsPlayer(seed=1, playouts=600)
        players[role].start(game, role, 600)
    state = game.initial_state()
    while not state.is_terminal:
        joint = {role: player.select(state, 20) for role, player in players.items()}
        if game.chance_role:
            joint[game.chance_role] = state.legal_moves(game.chance_role)[0]
        for role, move in joint.items():
            assert state.is_legal(role, move)
        state = state.next(joint)
    search = players[game.players[0]]._match.search
    assert search is not None
    assert (search.tree.arm_virtual[: search.tree.arms] == 0).all()

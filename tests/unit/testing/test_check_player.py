"""Every player in every bundled game; and that `check_player` finds what is wrong with one."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

import herbrand
from herbrand import games
from herbrand.errors import BudgetExceeded
from herbrand.play import Player, players
from herbrand.play.ismcts import IsMctsPlayer
from herbrand.play.processes import ProcessPlayer
from herbrand.play.registry import NoSuchPlayer, make_player
from herbrand.testing import PlayerCheck, check_player
from herbrand.testing import players as measured

if TYPE_CHECKING:
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

QUICK = ("ticTacToe", "rockPaperScissors", "montyHall", "kuhn", "hanoi")
PLAYERS = tuple(players())
BUNDLED = tuple(name for name in sorted(games.names()) if "evolved" not in games.info(name)["features"])


@pytest.mark.parametrize(
    ("player", "game"),
    [
        # every other pair: each player in several games, each game with several players
        pytest.param(player, game, marks=[pytest.mark.slow] * ((place + number) % 2))
        for place, player in enumerate(PLAYERS)
        for number, game in enumerate(QUICK)
    ],
)
def test_players_pass_in_small_games(player: str, game: str) -> None:
    """Turns, moves at once, chance, hidden cards, one role: legal moves, in time."""
    who = "alphabeta(memory=20)" if player == "alphabeta" else player  # taking more takes time
    start_clock = 1 if game == "kuhn" else 20  # there is always more to learn about hidden cards
    found = check_player(who, herbrand.load(game), start_clock=start_clock, clock=0.05, steps=2, grace=0.5)
    assert found.passed, found.problems
    assert found.steps


@pytest.mark.slow
@pytest.mark.parametrize("game", BUNDLED)
@pytest.mark.parametrize("player", PLAYERS)
def test_players_pass_in_every_bundled_game(player: str, game: str) -> None:
    """Also in the large ones."""
    found = check_player(player, herbrand.load(game), start_clock=10, clock=0.2, steps=5, grace=0.5)
    assert found.passed, found.problems


class Cheat(Player):
    """Does in turn what a player must not do."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(seed)
        self.asked = 0

    def select(self, state: State, play_clock: float) -> Move:
        self.asked += 1
        if self.asked == 3:
            raise LookupError("nothing comes to mind")
        until = time.process_time() + play_clock + 0.2 * (self.asked == 2)
        while time.process_time() < until and play_clock:
            pass
        return self.options(state)[0]


class Foul(Player):
    """Plays a move that nobody has."""

    def select(self, state: State, play_clock: float) -> Move:
        return herbrand.Move("(mark 9 9)")


def announce(monkeypatch: pytest.MonkeyPatch, made: type[Player]) -> None:
    """Let the name `tested` mean a player."""
    monkeypatch.setattr("herbrand.testing.players.make_player", lambda _, seed=None: made(seed))


def test_a_late_player_and_one_that_fails_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lateness is measured, and what is raised is told."""
    announce(monkeypatch, Cheat)
    found = check_player("tested", herbrand.load("rockPaperScissors"), clock=0.05, steps=5)
    assert not found.passed
    assert any("late after a clock of 0.05" in problem for problem in found.problems)
    assert any("LookupError: nothing comes to mind" in problem for problem in found.problems)
    assert found.latest > 0.1


def test_what_measuring_takes_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock runs from the question to the answer; how long threads have waited is looked up before."""
    now = [0.0]

    def waited() -> dict[str, float]:
        now[0] += 1.0
        return {}

    clock = SimpleNamespace(monotonic=lambda: now[0], process_time=lambda: now[0])
    monkeypatch.setattr(measured, "time", clock)
    monkeypatch.setattr(measured, "_waited", waited)
    found = PlayerCheck("nobody", "nothing")
    assert measured._time_call(found, "step 1", 0.0, 0.05, lambda: None)
    assert (found.latest, found.problems) == (0.0, [])
    assert measured._time_call(found, "step 2", 0.5, 0.05, waited)
    assert (found.latest, found.problems) == (0.5, ["step 2: 0.500 s late after a clock of 0.5 s"])


def test_a_foul_move_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not legal is named."""
    announce(monkeypatch, Foul)
    found = check_player("tested", herbrand.load("ticTacToe"))
    assert found.problems == ["step 1 as xplayer: `(mark 9 9)` is not legal"]


def test_a_player_that_dies_costs_a_move() -> None:
    """A process that ends is noted, a legal move is played, and the next move is asked of a new process."""
    game = herbrand.load("ticTacToe")
    player = make_player("process:mcts", seed=1)
    assert isinstance(player, ProcessPlayer)
    player.start(game, "xplayer", 120)
    state = game.initial_state("rules")
    move = player.select(state, 3)
    assert state.is_legal("xplayer", move)
    assert player.incidents == []
    state = state.next([move, "noop"])
    state = state.next(["noop", state.legal_moves("oplayer")[0]])
    process = player._child._process
    assert process is not None
    process.kill()
    process.wait()
    command, player._child.command = player._child.command, ["false"]
    move = player.select(state, 1)
    assert state.is_legal("xplayer", move)
    assert "did not start" in player.incidents[0]
    assert f"played `{move}` at random" in player.incidents[-1]
    player._child.command = command
    known = len(player.incidents)
    assert state.is_legal("xplayer", player.select(state, 60))
    assert len(player.incidents) == known
    player.stop()


def test_only_known_players_get_a_process() -> None:
    """A name that nobody has is refused before a process is started."""
    with pytest.raises(NoSuchPlayer):
        make_player("process:nobody")


class Nothing:
    """A state that tells nothing: whatever is asked of it fails."""

    def __getattribute__(self, name: str) -> object:
        raise AssertionError(f"the player looked at the state: {name}")


def test_search_in_what_can_be_known_cannot_see_the_state() -> None:
    """It chooses legal moves through a whole match without ever looking at the state it is given.

    Two matches in which it did and saw the same have the same moves, whatever is hidden.
    """
    game = herbrand.load("kuhn")
    chosen: dict[tuple[object, ...], Move] = {}
    for deal in ("(deal jack queen)", "(deal jack king)", "(deal king queen)", "(deal king jack)"):
        player = IsMctsPlayer(seed=1, playouts=200)
        player.start(game, "first", 20)
        state = game.initial_state("rules").next(["noop", "noop", deal])
        step = herbrand.analyse.knowledge.histories.HistoryStep(
            "noop", frozenset(game.initial_state("rules").percepts(["noop", "noop", deal], "first"))
        )
        player.receive_history((step,))
        move = player.select(Nothing(), 20)  # type: ignore[arg-type]
        assert state.is_legal("first", move)
        assert chosen.setdefault((step,), move) == move
    assert len(chosen) == 2


def test_moves_are_legal_where_there_is_no_time_to_find_out_what_is_possible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a game with dealt cards a role plays one of those that it has, whatever it can guess of the others'."""

    def give_up(*_: object, **__: object) -> None:
        raise BudgetExceeded("0.01 seconds", "too many states")

    monkeypatch.setattr("herbrand.analyse.knowledge.possible_states", give_up)
    for clock in (0.05, 0.0):
        found = check_player(
            "ismcts", herbrand.game.load("dragres"), start_clock=0.5, clock=clock, steps=8, grace=0.5
        )
        assert found.passed, found.problems
        assert found.steps > 4


def test_what_is_known_is_used() -> None:
    """In Kuhn poker, second with the king calls a bet, and folds the jack."""
    game = herbrand.load("kuhn")
    for card, other, expected in (("king", "jack", "call"), ("jack", "king", "fold")):
        player = IsMctsPlayer(seed=1, playouts=1500)
        player.start(game, "second", 20)
        state = game.initial_state("rules")
        joints = [("noop", "noop", f"(deal {other} {card})"), ("bet", "noop", "noop")]
        player.receive_history(herbrand.analyse.knowledge.history(game, "second", joints))
        assert player.select(state, 20) == expected
        report = player.report()
        assert report is not None
        assert "possible states" in str(report)

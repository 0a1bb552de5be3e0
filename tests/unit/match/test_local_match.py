"""Matches in one process: people, programs and chance, forward and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import herbrand
import herbrand.game
from herbrand.errors import BudgetExceeded, IllegalMoveError
from herbrand.match.local import LocalMatch
from herbrand.play.explanation import MoveReport, PlayerReport
from herbrand.play.registry import NoSuchPlayer
from herbrand.play.simple import RandomPlayer

if TYPE_CHECKING:
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State


def test_a_match_goes_on_when_people_have_chosen() -> None:
    """Nothing happens before; then all moves are made at once."""
    match = LocalMatch(herbrand.load("rockPaperScissors"), people=["left"], seed=1)
    assert match.waiting == ["left"]
    assert not match.advance()
    assert len(match.play) == 0
    match.choose("left", match.state.legal_moves("left")[0])
    assert match.waiting == []
    assert match.advance()
    assert len(match.play) == 1
    assert match.chosen == {}


def test_a_person_can_play_only_what_is_legal_and_its_own() -> None:
    """Anything else is refused, and nothing is noted."""
    match = LocalMatch(herbrand.load("ticTacToe"), people=["xplayer"])
    for role, move, message in (
        ("oplayer", "noop", "not played by a person"),
        ("xplayer", "noop", "no legal move"),
        ("xplayer", "(mark", "no legal move"),
    ):
        with pytest.raises(IllegalMoveError, match=message):
            match.choose(role, move)
    assert match.chosen == {}


def test_moves_are_taken_back_to_where_a_person_chose() -> None:
    """Steps in which only others had a choice are taken back, too; at the start there is nothing."""
    match = LocalMatch(herbrand.load("ticTacToe"), people=["xplayer"], programs={"oplayer": "legal"})
    assert not match.take_back()
    match.choose("xplayer", "(mark 2 2)")
    match.advance()
    match.advance()
    assert len(match.play) == len(match.reports) == 2
    assert match.take_back()
    assert len(match.play) == len(match.reports) == 0
    assert match.waiting == ["xplayer"]


def test_without_people_one_step_is_taken_back() -> None:
    """Whoever watches programs goes back step by step."""
    match = LocalMatch(herbrand.load("ticTacToe"), seed=3)
    while match.advance():
        pass
    assert match.waiting == []
    steps = len(match.play)
    assert steps >= 5
    assert match.take_back()
    assert len(match.play) == steps - 1


def test_the_same_seed_gives_the_same_draws() -> None:
    """Chance and roles that choose at random draw the same, whoever else plays."""

    def draws(programs: dict[str, str]) -> list[str]:
        match = LocalMatch(herbrand.load("kuhn"), programs=programs, seed=5)
        while match.advance():
            pass
        return [joint[match.game.role_index("random")] for joint in match.play.joint_moves][:2]

    assert draws({}) == draws({"second": "legal"})


def test_a_player_that_there_is_not_is_refused_when_it_is_needed() -> None:
    """The name is looked up when the program is made."""
    match = LocalMatch(herbrand.load("ticTacToe"), programs={"xplayer": "nobody"})
    with pytest.raises(NoSuchPlayer):
        match.player("xplayer", "nobody")
    with pytest.raises(NoSuchPlayer):
        match.advance()


def test_programs_see_no_more_than_their_roles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program gets a state its role can hold possible, and its history; if that is unknown, no state."""
    asked: list[Any] = []
    heard: list[int] = []

    class Spy(RandomPlayer):
        def receive_history(self, history: Any) -> None:
            heard.append(len(history))

        def select(self, state: Any, play_clock: float) -> Any:
            asked.append((state, match.state, set(match.knowledge(self.role).weights)))
            return super().select(state, play_clock)

    def make_spy(name: str, *, seed: int | None, ponder: bool | None = None) -> Spy:
        assert name == "spy"
        return Spy(seed)

    def unknown(*_arguments: Any, **_options: Any) -> None:
        raise BudgetExceeded("0 s", "")

    monkeypatch.setattr("herbrand.match.local.make_player", make_spy)
    for seed in range(8):
        match = LocalMatch(herbrand.load("kuhn"), programs={"first": "spy"}, seed=seed)
        while match.advance():
            pass
    assert len(heard) == len(asked) > 0
    assert all(given in held for given, _, held in asked)
    assert any(given != true for given, true, _ in asked)
    monkeypatch.setattr("herbrand.match.local.possible_states", unknown)
    asked.clear()
    match = LocalMatch(herbrand.load("kuhn"), programs={"first": "spy"}, seed=1)
    while match.advance():
        pass
    assert asked == []


def test_a_hint_is_a_legal_move_with_a_report() -> None:
    """The report says what the program found."""
    match = LocalMatch(herbrand.load("ticTacToe"), people=["xplayer"], clock=0.1, preparation=1.0)
    move, report = match.hint("xplayer")
    assert move in match.state.legal_moves("xplayer")
    assert report is not None
    assert report.moves


def test_a_program_is_announced_once_before_it_prepares() -> None:
    """Hints come from one program, which is started with the first of them."""
    started: list[tuple[str, str]] = []
    match = LocalMatch(
        herbrand.load("ticTacToe"),
        people=["xplayer"],
        clock=0.05,
        preparation=0.05,
        on_start=lambda player, role: started.append((player, role)),
    )
    match.hint("xplayer", "legal")
    match.hint("xplayer", "legal")
    assert started == [("legal", "xplayer")]


def test_programs_have_a_network_before_they_prepare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chess was played with 0 playouts: its network takes longer than the preparation."""
    seen = []

    class Watcher(RandomPlayer):
        def prepare(self, deadline: float) -> None:
            """See whether the network is there."""
            del deadline
            seen.append(self.game.has_network)

    monkeypatch.setattr("herbrand.match.local.make_player", lambda *_, **__: Watcher())
    for seconds in (0.0, 60.0):
        game = herbrand.game.load("ticTacToe")
        match = LocalMatch(game, programs={"xplayer": "watcher"}, network_seconds=seconds)
        match.prepare()
        match.player("xplayer", "watcher")
    assert seen == [False, True]


def test_a_match_goes_on_after_moves_that_were_made_before() -> None:
    """Nobody is asked for them, and they can be taken back."""
    match = LocalMatch(herbrand.load("ticTacToe"), people=["xplayer"], programs={"oplayer": "legal"})
    match.replay([("(mark 2 2)", "noop"), ("noop", "(mark 1 1)")])
    assert len(match.play) == len(match.reports) == 2
    assert match.waiting == ["xplayer"]
    assert match.take_back()
    assert len(match.play) == 0


def test_a_report_is_on_the_move_that_was_made() -> None:
    """That comes first, also if the search did not see it; what is proved of a guess is an estimate."""
    moves = MoveReport("a", 5, 60.0, proved=100.0), MoveReport("b", 3, 40.0, at_least=20.0)
    report = PlayerReport("mcts", "x", moves, 0.1)
    assert [one.move for one in report.with_choice("b").moves] == ["b", "a"]
    assert [(one.move, one.visits) for one in report.with_choice("c").moves] == [("c", 0), ("a", 5), ("b", 3)]
    guessed = report.without_proofs().moves
    assert [(one.value, one.proved, one.at_least) for one in guessed] == [
        (100.0, None, 0.0),
        (40.0, None, 0.0),
    ]


def test_a_program_whose_clock_was_too_short_gets_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 0.2 seconds, strong players of chess played at random: a round of playouts took longer."""
    clocks = []

    class Slow(RandomPlayer):
        def select(self, state: State, play_clock: float) -> Move:
            """Note the clock."""
            clocks.append(play_clock)
            return super().select(state, play_clock)

        def report(self) -> PlayerReport:
            """Know something after a second only."""
            return PlayerReport(
                "slow", self.role, (MoveReport("a", 0, 50.0 if clocks[-1] >= 1 else None),), 0.1
            )

    monkeypatch.setattr("herbrand.match.local.make_player", lambda *_, **__: Slow())
    match = LocalMatch(herbrand.load("ticTacToe"), programs={"xplayer": "slow"}, clock=0.2)
    match.advance()
    assert clocks == [0.2, 2.0]
    assert match.reports[0][0].moves[1].value == 50

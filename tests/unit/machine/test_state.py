"""States and moves: values with an honest interface."""

import copy
import pickle
from random import Random

import pytest

import herbrand
from herbrand import GameError, IllegalMoveError, InvalidMoveError, Move
from herbrand.machine.network_state import NetworkState
from herbrand.machine.trajectory import Trajectory


@pytest.fixture
def game() -> herbrand.Game:
    return herbrand.load("ticTacToe")


@pytest.fixture
def state(game: herbrand.Game) -> herbrand.State:
    return game.initial_state()


def test_facts_are_kif(state: herbrand.State) -> None:
    """The facts are the true fluents in single-spaced KIF."""
    assert "(cell 1 1 b)" in state.facts
    assert "(control xplayer)" in state.facts
    assert len(state.facts) == 10


def test_legal_moves_are_sorted_and_single(state: herbrand.State) -> None:
    """Legal moves are sorted, each once, by role or for all roles."""
    moves = state.legal_moves("xplayer")
    assert moves == sorted(set(moves))
    assert len(moves) == 9
    assert state.legal_moves() == {"xplayer": moves, "oplayer": [Move("noop")]}
    assert state.legal_moves("XPLAYER") == moves


@pytest.mark.parametrize(
    "joint",
    [
        ("(mark 1 1)", "noop"),
        ("( MARK 1  1 )", "NOOP"),
        [Move("(mark 1 1)"), Move("noop")],
        {"oplayer": "noop", "xplayer": "(mark 1 1)"},
        {"OPLAYER": "noop", "Xplayer": "(mark 1 1)"},
        "( MARK 1  1 )",
        "(mark 1 1) noop",
        Move("(mark 1 1)"),
    ],
)
def test_joint_moves_in_every_form(state: herbrand.State, joint: object) -> None:
    """Joint moves are given in role order or by role, as moves or texts, in any case."""
    assert "(cell 1 1 x)" in state.next(joint).facts  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("joint", "error"),
    [
        (("(mark 4 4)", "noop"), IllegalMoveError),
        (("(mark 1 1)", "(mark 2 2)"), IllegalMoveError),
        (("(mark 1 1)", "(fly away)"), IllegalMoveError),
        (("(mark 1", "noop"), InvalidMoveError),
        (("(mark ?x 1)", "noop"), InvalidMoveError),
        (("mark 1 1", "noop"), InvalidMoveError),
        (("", "noop"), InvalidMoveError),
        (("noop",), ValueError),
        ({"xplayer": "noop"}, ValueError),
        ({"xplayer": "noop", "oplayer": "noop", "nobody": "noop"}, ValueError),
        ("noop", IllegalMoveError),
        ("(mark 4 4)", IllegalMoveError),
        ("(mark 1", InvalidMoveError),
        ("", IllegalMoveError),
    ],
)
def test_wrong_joint_moves_are_refused(state: herbrand.State, joint: object, error: type[Exception]) -> None:
    """What is not a legal joint move raises the fitting error."""
    with pytest.raises(error):
        state.next(joint)  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ["rules", "network"])
def test_the_move_of_the_one_role_that_has_a_choice_is_enough(engine: str) -> None:
    """It is refused where several have one, and when the game is over."""
    state = herbrand.load("ticTacToe").initial_state(engine)
    for move in ("(mark 2 2)", "(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 3)"):
        state = state.next(move)
    assert state.goals == {"xplayer": 100, "oplayer": 0} or not state.is_terminal
    with pytest.raises(IllegalMoveError, match="must have one move for each of left, right"):
        herbrand.load("rockPaperScissors").initial_state(engine).next("(show rock)")
    over = herbrand.load("lightsOut").initial_state(engine)
    while not over.is_terminal:
        over = over.next(over.legal_moves()[over.roles[0]][0])
    with pytest.raises(IllegalMoveError, match="the game is over"):
        over.next("noop")


@pytest.mark.parametrize("engine", ["rules", "network"])
def test_what_is_no_move_is_not_legal(game: herbrand.Game, engine: str) -> None:
    """Texts that are not ground terms are not legal, and have no percepts."""
    state = game.initial_state(engine)
    assert state.is_legal("xplayer", "(MARK 1 1)")
    for text in ("(mark 4 4)", "(mark ?x 1)", "(mark 1", "", "(fly away)"):
        assert state.is_legal("xplayer", text) is False
    with pytest.raises(IllegalMoveError, match=r"no role has the move `\(fly away\)`"):
        state.percepts(("(fly away)", "noop"))
    with pytest.raises(InvalidMoveError, match=r"is not a ground term|variable"):
        state.percepts(("(mark ?x 1)", "noop"))


def test_moves_are_found_without_reading_texts(
    state: herbrand.State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Successors of the network's states are made in the core, for equal moves too; its own need no look-up."""
    after = state.next(("( MARK 1  1 )", "NOOP"))
    assert type(after) is type(state.next({"oplayer": "noop", "xplayer": Move("(mark 1 1)")})) is type(state)
    monkeypatch.setattr(NetworkState, "_successor_of_equal_moves", None)
    assert state.next([moves[0] for moves in state.legal_moves().values()]) == after


def test_moves_print_as_code() -> None:
    """`repr` of a move evaluates to an equal one."""
    move = Move("( mark 1  1 )")
    assert repr(move) == "Move('(mark 1 1)')"
    assert eval(repr(move)) == move


def test_refusal_names_what_is_legal(state: herbrand.State) -> None:
    """The message of an illegal move says what would have been legal."""
    with pytest.raises(
        IllegalMoveError, match=r"no legal move `\(mark 4 4\)` for xplayer \(legal: \(mark 1 1\)"
    ):
        state.next(("(mark 4 4)", "noop"))


def test_play_to_the_end(state: herbrand.State) -> None:
    """A game is played to its end, its goals are known, and no move follows."""
    for joint in [
        "(mark 1 1)|noop",
        "noop|(mark 2 1)",
        "(mark 1 2)|noop",
        "noop|(mark 2 2)",
        "(mark 1 3)|noop",
    ]:
        assert not state.is_terminal
        state = state.next(joint.split("|"))
    assert state.is_terminal
    assert state.goals == {"xplayer": 100, "oplayer": 0}
    assert list(state.joint_moves()) == []
    with pytest.raises(IllegalMoveError, match="over"):
        state.next(("noop", "(mark 3 3)"))


def test_joint_moves_are_the_product() -> None:
    """The joint moves of a simultaneous game are all combinations."""
    state = herbrand.load("rockPaperScissors").initial_state()
    joint = list(state.joint_moves())
    left, right = (state.legal_moves(role) for role in state.roles)
    assert len(joint) == len(left) * len(right) == 9
    assert len(set(joint)) == 9


def test_states_are_values(game: herbrand.Game, state: herbrand.State) -> None:
    """Equal states are equal and hash alike, however they came about; copies are free."""
    one = state.next(("(mark 1 1)", "noop")).next(("noop", "(mark 2 2)")).next(("(mark 3 3)", "noop"))
    two = state.next(("(mark 3 3)", "noop")).next(("noop", "(mark 2 2)")).next(("(mark 1 1)", "noop"))
    assert one == two
    assert hash(one) == hash(two)
    assert one != state
    assert copy.copy(one) is one
    assert copy.deepcopy(one) is one
    assert game.state(one.facts) == one
    assert len({one, two, state}) == 2


def test_states_pickle(state: herbrand.State) -> None:
    """A pickled state comes back equal, with a game that plays on."""
    later = state.next(("(mark 1 1)", "noop"))
    back = pickle.loads(pickle.dumps([state, later]))
    assert back == [state, later]
    assert hash(back[1]) == hash(later)
    assert back[0].next(("(mark 1 1)", "noop")) == later
    assert back[0].game is back[1].game


def test_the_other_reading_of_case_is_another_game() -> None:
    """A game read with case is not equal to the one without, and stays what it is when pickled."""
    from herbrand.syntax.case import with_case

    folded = herbrand.loads(
        "(role r) (init (n A)) (init (n a)) (legal r go) (goal r 0) (<= terminal (true (n b)))"
    )
    cased = herbrand.Game(with_case(folded.tree))
    assert folded != cased
    assert len(folded.initial_state().facts) == 1
    assert pickle.loads(pickle.dumps(cased.initial_state())).facts == {"(n A)", "(n a)"}


@pytest.mark.parametrize("engine", ["rules", "network"])
def test_facts_can_be_asked_for_as_they_are_printed(engine: str) -> None:
    """Whatever capitals the rules use: one spelling is printed and listed, and questions take any."""
    game = herbrand.loads(
        "(role White) (role black) (init (Turn white)) (init (cell A 1)) "
        "(<= (legal ?p (Mark ?x)) (role ?p) (true (cell ?x 1))) (<= (next (turn Black)) (does WHITE (mark a))) "
        "(<= terminal (true (Turn black))) (goal white 100) (goal Black 0)"
    )
    first = game.initial_state(engine)
    assert first.facts == {"(Turn White)", "(cell A 1)"}
    last = first.next(["(MARK a)", "(mark A)"])
    assert last.is_terminal
    for state in (first, last):
        for fact in str(state).splitlines():
            assert fact in state.facts
            for text in (fact, fact.lower(), fact.upper()):
                assert state.ask(f"(true {text})") == [{}]
                assert str(state.why(text)).startswith(fact)
        assert game.state({fact.upper() for fact in state.facts}, engine) == state
    assert not first.ask("(true (turn black))")


def test_odd_goal_values_are_no_numbers() -> None:
    """A value that is no canonical decimal counts as none, in states and in playouts."""
    game = herbrand.loads(
        "(role r) (init s) (legal r go) (next t) (value ²) (<= (goal r ?n) (value ?n)) (<= terminal (true t))"
    )
    assert game.initial_state().goals == {"r": None}
    for engine in ("rules", "network"):
        assert game.simulate(10, seed=1, engine=engine).goals["r"].undefined == 10


def test_engines_give_equal_states(game: herbrand.Game) -> None:
    """States of different engines are equal when their facts are."""
    one = game.initial_state(engine="rules")
    two = game.initial_state(engine="naive")
    assert one == two
    assert hash(one) == hash(two)
    assert one.next(("(mark 1 1)", "noop")) != two
    assert one.next(("(mark 1 1)", "noop")) == two.next(("(mark 1 1)", "noop"))
    with pytest.raises(ValueError, match="engine"):
        game.initial_state(engine="steam")


def test_moves_compare_without_case() -> None:
    """Moves are equal without case, equal to texts, sorted by text and hashable."""
    assert Move("(Mark 1 1)") == Move("(mark 1  1)") == "( mark 1 1 )"
    assert Move("noop") != "(mark 1 1)"
    assert Move("noop") != "(("
    assert len({Move("Noop"), Move("noop")}) == 1
    assert Move("(move a (square 1 2))").args == ("a", "(square 1 2)")
    assert Move("(move a b)").name == "move"
    assert pickle.loads(pickle.dumps(Move("(mark 1 1)"))) == Move("(mark 1 1)")
    with pytest.raises(InvalidMoveError):
        Move("(mark ?x 1)")


def test_hostile_moves_make_no_terms(state: herbrand.State) -> None:
    """Moves that no rule can make leave no trace in the term table."""
    engine = state.game.engine_object()
    state.legal_moves()
    before = len(engine.terms)
    for i in range(100):
        assert not state.is_legal("xplayer", f"(mark {i}{i}{i} never{i})")
    assert len(engine.terms) == before


def test_ask(state: herbrand.State) -> None:
    """Queries give bindings, sorted and each once."""
    assert state.ask("(true (control ?who))") == [{"who": "xplayer"}]
    assert state.ask("(line x)") == []
    assert state.ask("(role xplayer)") == [{}]
    assert len(state.ask("(true (cell ?x ?y b))")) == 9
    assert state.ask("(true (cell ?x ?x b))") == [{"x": "1"}, {"x": "2"}, {"x": "3"}]
    assert state.ask("terminal") == []


def test_why_shows_the_derivation(state: herbrand.State) -> None:
    """A derivation names rules with their lines and ends in facts of the state."""
    answer = state.why("(legal xplayer (mark 1 1))")
    assert answer.holds
    text = str(answer)
    assert "(cell 1 1 b)   [true in this state]" in text
    assert "by rule, line" in text


def test_why_not_shows_what_failed(state: herbrand.State) -> None:
    """What does not hold is explained by the condition that failed."""
    answer = state.why("(legal oplayer (mark 1 1))")
    assert not answer.holds
    assert "(control oplayer)   [not true in this state]" in str(answer)
    assert state.why("(cell 1 1 x)").holds is False
    assert state.why("(nonsense 1 2)").holds is False


def test_why_after_a_move(state: herbrand.State) -> None:
    """With a joint move, the next fluents can be explained."""
    answer = state.why("(next (cell 1 1 x))", ("(mark 1 1)", "noop"))
    assert answer.holds
    assert "[the move made]" in str(answer)
    with pytest.raises(herbrand.GameError, match="joint move"):
        state.why("(next (cell 1 1 x))")


def test_simulation_is_reproducible(game: herbrand.Game) -> None:
    """The same seed gives the same playouts, whatever was asked before."""
    one = game.simulate(50, seed=3)
    game.initial_state().ask("(line ?x)")
    two = herbrand.load("ticTacToe").simulate(50, seed=3)
    assert one.lengths == two.lengths
    assert one.goals == two.goals
    assert one.playouts == 50
    assert sum(one.lengths.values()) == 50
    assert sum(n * c for n, c in one.lengths.items()) == one.transitions
    assert {"game", "playouts", "transitions", "length", "goals"} <= set(one.as_json())


def test_simulation_mean_length(game: herbrand.Game) -> None:
    """Random tic-tac-toe lasts 7.63 moves in the mean (a known value)."""
    result = game.simulate(1500, seed=11)
    assert abs(result.length["mean"] - 7.63) < 0.15
    assert result.length["min"] == 5
    assert result.length["max"] == 9


def test_simulation_truncates_and_stops(game: herbrand.Game) -> None:
    """Playouts are cut at `max_steps`; a time limit gives what was done so far."""
    cut = game.simulate(10, seed=1, max_steps=3)
    assert cut.truncated == 10
    assert cut.goals["xplayer"].mean is None
    stopped = game.simulate(10**9, seed=1, limits=herbrand.Limits(seconds=0.3))
    assert stopped.stopped
    assert 0 < stopped.playouts < 10**9


@pytest.mark.parametrize("engine", ["rules", "network"])
def test_a_role_without_a_move_ends_a_playout(engine: str) -> None:
    """The playout is counted as stuck, and the first such state is told."""
    game = herbrand.loads(
        "(role a) (init (n 1)) (<= (legal a go) (true (n 2))) (next (n 3)) (goal a 0) (<= terminal (true (n 9)))"
    )
    result = game.simulate(3, seed=0, engine=engine)
    assert (result.playouts, result.stuck, result.transitions) == (3, 3, 0)
    assert result.stuck_in == "a has no legal move in the state: (n 1)"
    assert result.goals["a"].mean is None


def test_a_trajectory_goes_on_and_back(game: herbrand.Game) -> None:
    """It has a state more than joint moves, tells who chose, and can be taken back to any step."""
    play = Trajectory.replay(game, [("(mark 1 1)", "noop"), {"oplayer": "(mark 2 2)", "xplayer": "noop"}])
    assert play.joint_moves == [("(mark 1 1)", "noop"), ("noop", "(mark 2 2)")]
    assert len(play) == 2 == len(play.states) - 1
    assert play.choices(1) == {"oplayer": "(mark 2 2)"}
    assert play.choosing(2) == ["xplayer"]
    assert play.percepts(0, "oplayer") == ("(did xplayer (mark 1 1))", "(did oplayer noop)")
    before = play.states[1]
    play.take_back(1)
    assert play.state is before
    with pytest.raises(IllegalMoveError):
        play.make(("(mark 2 2)", "noop"))
    assert len(play) == 1
    assert play.make(("noop", "(mark 3 3)")) is play.state is play.states[2]
    play.take_back(1)
    play.finish(Random(1), max_steps=3)
    assert len(play) == 3
    play.finish(Random(1))
    assert play.state.is_terminal
    assert play.state == Trajectory.replay(game, play.joint_moves).state


def test_a_role_without_a_move_is_an_error() -> None:
    """Asking for moves says whose fault it is; a random play stops there."""
    game = herbrand.loads(
        "(role a) (init (at 1)) (<= (legal a go) (true (at 1))) (<= (next (at 2)) (does a go))"
        " (goal a 0) (<= terminal (true (at 3)))"
    )
    play = Trajectory.replay(game, ())
    play.finish(Random(1))
    assert len(play) == 1
    with pytest.raises(GameError, match=r"a has no legal move in a state that is not terminal"):
        play.state.require_moves()

"""Games as answer set programs: every encoding has the plays of the game, and the engine its states."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
import sys

import clingo
import pytest

import herbrand
from herbrand.convert import asp
from herbrand.convert.asp.witness import shortest_win
from herbrand.convert.asp.writer import RuleWriter
from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.machine.state import State
from herbrand.runtime.limits import Limits
from herbrand.verify import verify_playouts
from herbrand.verify.in_asp import AnswerSetEngine

ODD = """
(role t) (role 1st) (role a-b)
(init (n 0)) (init (cell 01 +)) (init (cell 1 -7)) (init on) (init (deep (1st n (++ play))))
(succ 0 1) (succ 1 2) (succ 2 3) (number 7) (< 0 1) (< 1 2) (play t) (query n) (won)
(p a) (<= (p a ?x) (true (n ?x))) (<= (p ?t) (true (cell ?t ?y)))
(edge a b) (edge b c) (edge c a) (edge c d)
(<= (path ?x ?y) (path ?x ?z) (edge ?z ?y))
(<= (path ?x ?y) (edge ?x ?y))
(<= (reach ?x) (true (n ?s)) (reach ?y) (edge ?y ?x))
(<= (reach a) (true on))
(<= (legal ?t (go ?i)) (role ?t) (succ ?i ?y) (true (n ?n)) (not (< ?i ?n)))
(<= (legal ?r stay) (role ?r) (or (and (path ?r ?loose) (p ?r)) (p ?loose) (edge ?loose d)))
(<= (legal ?r (same ?x)) (role ?r) (number ?n) (true (cell ?x ?y)) (not (distinct ?z ?x)) (p ?z))
(<= (next (n ?y)) (true (n ?x)) (succ ?x ?y))
(<= (next (n 3)) (true (n 3)))
(<= (next on) (does ?r (go ?x)) (distinct ?x 1))
(<= (next (cell ?x (was ?r ?m))) (does ?r ?m) (true (cell ?x ?any)) (not (and (p ?x) (number ?x))) (depth ?m))
(<= (next (cell ?x ?y)) (true (cell ?x ?y)) (not (or (number ?x) (reach ?y))))
(<= (depth ?m) (does ?r ?m) (distinct ?m stay))
(<= (goal ?r 50) (role ?r) (true on))
(<= (goal ?r 100) (role ?r) (not (true on)))
(<= (sees ?r (seen ?m)) (role ?r) (does ?q ?m) (distinct ?q ?r))
(<= terminal (true (n 2)))
(<= terminal (true (n 3)) (undefined ?x))
"""


@pytest.fixture(scope="module")
def odd():
    game = herbrand.loads(ODD, name="odd")
    assert not game.rules.errors
    return game


def models(text, *, show="does"):
    """All answer sets, each as the set of its shown atoms of a relation."""
    control = clingo.Control(["0", "--warn=none"])
    control.add("base", [], text)
    control.ground([("base", [])])
    found = []
    with control.solve(yield_=True) as handle:
        for model in handle:
            found.append({a for a in model.symbols(shown=True) if a.name == show})  # noqa: PERF401
    return found


def moves(writer, atoms, roles, time=None):
    """The joint move at a time of an answer set, as KIF."""
    chosen = {}
    for atom in atoms:
        actor, move, *when = atom.arguments
        if time is None or when[0].number == time:
            chosen[str(writer.read(str(actor)))] = str(writer.read(str(move)))
    return tuple(chosen[role.lower()] for role in roles) if chosen else None


@pytest.mark.parametrize("name", ["odd", "ticTacToe", "nim", "kuhn", "rockPaperScissors"])
def test_one_step_has_an_answer_set_for_each_joint_move(name, odd):
    """The program without time gives every legal joint move once, with the fluents that follow."""
    game = odd if name == "odd" else herbrand.load(name)
    text = asp.one_step(game.rules, name)
    writer = RuleWriter(game.rules)
    state = game.initial_state()
    expected = {
        tuple(str(m).lower() for m in joint): frozenset(f.lower() for f in state.next(joint).facts)
        for joint in state.joint_moves()
    }
    found = {}
    control = clingo.Control(["0", "--warn=none"])
    control.add("base", [], text)
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        for model in handle:
            shown = model.symbols(shown=True)
            joint = moves(writer, [a for a in shown if a.name == "does"], game.roles)
            assert joint not in found
            found[joint] = frozenset(str(writer.read(str(a.arguments[0]))) for a in shown if a.name == "next")
    assert found == expected


def plays(game, horizon):
    """Every play of at most so many steps, as joint moves; those cut off too."""
    found = set()

    def walk(state, path):
        if state.is_terminal or len(path) == horizon:
            found.add(path)
            return
        for joint in state.joint_moves():
            walk(state.next(joint), (*path, tuple(str(m).lower() for m in joint)))

    walk(game.initial_state(), ())
    return found


@pytest.mark.parametrize(
    ("name", "horizon"),
    [
        pytest.param("odd", 2, marks=pytest.mark.slow),
        ("odd", 1),
        ("nim", 2),
        ("rockPaperScissors", 3),
        ("ticTacToe3", 3),
    ],
)
def test_the_answer_sets_of_a_horizon_are_the_plays(name, horizon, odd):
    """Nothing more and nothing less than what can be played in so many steps."""
    game = odd if name == "odd" else herbrand.load(name)
    writer = RuleWriter(game.rules)
    found = set()
    for atoms in models(asp.temporal(game.rules, name, horizon)):
        path = itertools.takewhile(bool, (moves(writer, atoms, game.roles, t) for t in range(horizon + 1)))
        found.add(tuple(path))
    assert found == plays(game, horizon)


def test_a_role_that_wins_has_fewer_plays():
    """With a role to win, the plays are those that end with 100 for it within the horizon."""
    game = herbrand.load("ticTacToe3")
    role = game.rules.roles[0]
    winning = models(asp.temporal(game.rules, game.name, 4, role))

    def wins(path):
        state = game.initial_state()
        for joint in path:
            state = state.next(joint)
        return state.is_terminal and state.goal(game.roles[0]) == 100

    assert len(winning) == sum(map(wins, plays(game, 4))) > 0


@pytest.mark.parametrize(
    ("name", "role", "length"),
    [
        ("ticTacToe", 0, 5),
        ("ticTacToe", 1, 6),
        ("connectFour", 1, 8),
        ("blocksWorld", 0, 6),
        pytest.param("hanoi", 0, 31, marks=pytest.mark.slow),
    ],
)
def test_a_shortest_win_is_a_witness(name, role, length):
    """The joint moves that clingo finds are legal, end the game, and give the role 100."""
    game = herbrand.load(name)
    path = shortest_win(game.rules, game.rules.roles[role], horizon=40)
    assert path is not None
    assert len(path) == length
    state = game.initial_state()
    for joint in path:
        assert not state.is_terminal
        state = state.next([str(move) for move in joint])
    assert state.is_terminal
    assert state.goal(game.roles[role]) == 100


def checked(game, role, text):
    """The length of the play that the atoms `does` of an answer set tell, which has to be a win."""
    writer = RuleWriter(game.rules)
    atoms = [clingo.parse_term(atom) for atom in re.findall(r"does\(\S+\)", text)]
    state, length = game.initial_state(), 0
    while not state.is_terminal:
        state = state.next(moves(writer, atoms, game.roles, length))
        length += 1
    assert len(atoms) == length * len(game.roles)
    assert state.goal(role) == 100
    return length


INCREMENTAL = [("ticTacToe", "xplayer", 5), ("ticTacToe", "oplayer", 6), ("blocksWorld", "robot", 6)]


@pytest.mark.parametrize(("name", "role", "length"), INCREMENTAL)
def test_incremental_mode_stops_at_a_shortest_win(name, role, length):
    """What `#include <incmode>` does, done here by hand: one step more until there is an answer set."""
    game = herbrand.load(name)
    text = asp.write(game, incremental=True, win=role)
    control = clingo.Control(["--warn=none"])
    control.add("base", [], text.replace("#include <incmode>.", "#program check(t). #external query(t)."))
    found: list[str] = []
    for step in range(12):
        number = clingo.Number(step)
        if step:
            control.release_external(clingo.Function("query", [clingo.Number(step - 1)]))
        control.ground([("step", [number]) if step else ("base", []), ("check", [number])])
        control.assign_external(clingo.Function("query", [number]), True)
        if control.solve(on_model=lambda model: found.append(str(model))).satisfiable:
            break
    assert step == length
    assert checked(game, role, found[0]) == length


@pytest.mark.skipif(shutil.which("clingo") is None, reason="the program clingo is not installed")
@pytest.mark.parametrize(("name", "role", "length"), INCREMENTAL)
def test_the_program_clingo_knows_the_incremental_mode(name, role, length, tmp_path):
    """The file as it is written, run as its comment says."""
    game = herbrand.load(name)
    (tmp_path / "game.lp").write_text(asp.write(game, incremental=True, win=role), encoding="utf-8")
    run = subprocess.run(
        ["clingo", "--warn=none", "-c", "imax=12", "game.lp"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "SATISFIABLE" in run.stdout, run.stdout + run.stderr
    assert "UNSATISFIABLE" not in run.stdout
    assert checked(game, role, run.stdout) == length


def test_no_win_within_a_horizon_is_said():
    """Below the shortest length there is no play; a budget is a budget."""
    game = herbrand.load("ticTacToe")
    assert shortest_win(game.rules, game.rules.roles[0], horizon=4) is None
    with pytest.raises(BudgetExceeded):
        shortest_win(game.rules, game.rules.roles[0], limits=Limits(seconds=0.01))


def test_options_that_contradict_each_other_are_refused():
    """A role to win needs plays; one mode at a time; a role that there is."""
    game = herbrand.load("nim")
    with pytest.raises(HerbrandError, match="needs --horizon"):
        asp.write(game, win="first")
    with pytest.raises(HerbrandError, match="--incremental"):
        asp.write(game, horizon=3, incremental=True)
    with pytest.raises(HerbrandError, match="no role `third`"):
        asp.write(game, horizon=3, win="third")
    assert "#include <incmode>." in asp.write(game, incremental=True, win="FIRST")


@pytest.mark.slow_except("odd", "kuhn", "hex", "montyHall")
@pytest.mark.parametrize("name", ["odd", "nim", "kuhn", "hex", "trefoil", "connectFour", "montyHall"])
def test_the_engine_agrees_with_the_rules(name, odd):
    """States, legal moves, goals, percepts and the end are those of our own evaluation."""
    game = odd if name == "odd" else herbrand.load(name)
    engine = AnswerSetEngine(game.rules)
    state = game.initial_state()
    other = State(game, engine, engine.initial())
    for step in range(12):
        assert other.facts == state.facts
        assert other.is_terminal == state.is_terminal
        assert other.legal_moves() == state.legal_moves()
        assert [other.goal_values(r) for r in game.roles] == [state.goal_values(r) for r in game.roles]
        if state.is_terminal:
            break
        joint = [legal[step * 7 % len(legal)] for legal in state.legal_moves().values()]
        assert [other.percepts(joint, r) for r in game.roles] == [
            state.percepts(joint, r) for r in game.roles
        ]
        # two moves from one state
        first = [legal[0] for legal in state.legal_moves().values()]
        assert other.next(first).facts == state.next(first).facts
        state, other = state.next(joint), other.next(joint)
    assert step > 1
    engine.close()


def test_the_engine_can_be_asked_for_by_name():
    """`engine="asp"` plays and is verified."""
    game = herbrand.load("ticTacToe")
    assert verify_playouts(game, engines=("rules", "asp"), playouts=2, seed=3).ok
    assert game.initial_state("asp").engine == "asp"


def test_an_engine_whose_child_is_killed_goes_on():
    """Between two questions the child may die; the next one is answered."""
    engine = AnswerSetEngine(herbrand.load("nim").rules)
    first = engine.initial()
    assert len(engine.legal(first, 0)) == 12
    engine._child._process.kill()
    engine._child._process.wait()
    move = engine.legal(first, 0)[0], engine.legal(first, 1)[0]
    assert engine.successor(first, move) != first
    engine.close()


COUNTS = """
(role r) (init (n 0)) (<= (legal r go) (true (n ?x))) (<= (next (n ?x)) (true (n ?x))) (goal r 100)
(d 0) (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7) (d 8) (d 9)
(<= (big ?a ?b ?c ?d ?e ?f ?g ?h ?i) (d ?a) (d ?b) (d ?c) (d ?d) (d ?e) (d ?f) (d ?g) (d ?h) (d ?i))
(<= terminal (true (n ?x)) (big ?x 1 2 3 4 5 6 7 8))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a child is limited on Linux only")
def test_grounding_that_takes_too_long_is_stopped():
    """A relation with a thousand million rows is never derived whole: the budget ends it."""
    game = herbrand.loads(COUNTS)
    engine = AnswerSetEngine(game.rules, limits=Limits(seconds=1), megabytes=500)
    with pytest.raises(BudgetExceeded):
        engine.initial()

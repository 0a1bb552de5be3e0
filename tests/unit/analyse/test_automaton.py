"""Games as automata: the example of the text that reads them so, minimisation, chance, exports."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from hypothesis import Phase, given, settings
from strategies import games as random_games

import herbrand
from herbrand import BudgetExceeded, IllegalMoveError
from herbrand.analyse.exploration.explore import Budget, explore
from herbrand.cli.main import cli

if TYPE_CHECKING:
    from herbrand.analyse.automata.automaton import Automaton

POSITION = (
    "(cell 1 1 x) (cell 1 2 x) (cell 1 3 o) (cell 2 1 b) (cell 2 2 o) (cell 2 3 b) "
    "(cell 3 1 b) (cell 3 2 o) (cell 3 3 x) (control white)"
)


def example() -> Automaton:
    """Tic-tac-toe from the position in the text."""
    game = herbrand.load("ticTacToe3")
    facts = [f"({fact}" if not fact.startswith("(") else fact for fact in POSITION.split(" (")]
    return game.automaton(start=game.state(facts))


def test_the_example_of_the_text() -> None:
    """Three joint moves at the start; after (mark 3 1) the board is as printed there, black to move."""
    found = example()
    assert found.symbols(0) == [("(mark 2 1)", "noop"), ("(mark 2 3)", "noop"), ("(mark 3 1)", "noop")]
    after = found.states[found.step(0, ("(mark 3 1)", "noop"))]
    expected = POSITION.replace("(cell 3 1 b)", "(cell 3 1 x)").replace("(control white)", "(control black)")
    assert " ".join(sorted(after)) == " ".join(sorted("(" + f for f in expected[1:].split(" (")))
    assert all(len(symbol) == 2 for symbol in found.alphabet)
    assert found.deterministic
    assert set(found.final.values()) <= {(100, 0), (50, 50), (0, 100)}


def test_all_of_tic_tac_toe() -> None:
    """As many states, ends and transitions as are known; Σ has only what is legal somewhere."""
    found = herbrand.load("ticTacToe").automaton()
    assert (len(found.states), len(found.final), len(found.edges)) == (5478, 958, 16167)
    assert len(found.alphabet) == 18
    outcomes = list(found.final.values())
    assert (outcomes.count((100, 0)), outcomes.count((0, 100)), outcomes.count((50, 50))) == (626, 316, 16)


def agree(game: herbrand.Game, found: Automaton, seed: int) -> None:
    """A random play makes the same moves legal, ends at the same time, with the same goals."""
    chance = random.Random(seed)
    state, number = game.initial_state("rules"), 0
    for _ in range(30):
        assert (number in found.final) == state.is_terminal
        if state.is_terminal:
            assert found.final[number] == tuple(state.goals.values())
            return
        joints = list(state.joint_moves())
        assert set(found.symbols(number)) == {tuple(map(str, joint)) for joint in joints}
        if not joints:
            return
        joint = chance.choice(joints)
        state, number = state.next(joint), found.step(number, joint)


@pytest.mark.slow
@settings(max_examples=4, deadline=None, phases=set(Phase) - {Phase.shrink})
@given(random_games())
def test_random_games_and_their_automata_behave_the_same(text: str) -> None:
    """Also when minimised; and then nothing is left to merge."""
    game = herbrand.loads(text)
    if not explore(game.expander, budget=Budget(seconds=3, states=300)).complete:
        return
    found = game.automaton()
    small = found.minimised()
    assert len(small.states) <= len(found.states)
    assert sum(small.merged or ()) == len(found.states)
    assert len(small.minimised().states) == len(small.states)
    for seed in range(3):
        agree(game, found, seed)
        agree(game, small, seed)


COUNTER = """(role r) (init (n 0)) (init (m 0)) (succ 0 1) (succ 1 2)
(<= (legal r up) (true (n ?x))) (<= (next (n ?y)) (true (n ?x)) (succ ?x ?y))
(next (m 1)) (<= (next seen) (true (m 0)))
(<= terminal (true (n 2))) (<= (goal r 100) (true (n 2)))"""


def test_states_that_behave_the_same_are_merged() -> None:
    """In nim it does not matter which of the piles has how many sticks only for who looks at names."""
    game = herbrand.loads(COUNTER)
    found = game.automaton()
    assert (len(found.states), len(found.minimised().states)) == (3, 3)
    many = herbrand.load("hanoi").automaton()
    assert len(many.minimised().states) < len(many.states)


def test_chance_labels_edges() -> None:
    """Without the moves of `random`, and with the probabilities adding up to one."""
    game = herbrand.loads("""(role random) (role a) (init start) (side 1) (side 2) (side 3)
        (<= (legal random (roll ?n)) (side ?n) (true start)) (<= (legal a watch) (true start))
        (<= (next (got odd)) (does random (roll 1))) (<= (next (got odd)) (does random (roll 3)))
        (<= (next (got even)) (does random (roll 2))) (<= terminal (true (got ?x)))
        (<= (goal a 100) (true (got odd))) (<= (goal a 0) (true (got even)))""")
    found = game.automaton()
    assert found.roles == ("a",)
    assert found.alphabet == (("watch",),)
    assert sorted(p for *_, p in found.edges) == pytest.approx([1 / 3, 2 / 3])
    assert not found.deterministic
    with pytest.raises(IllegalMoveError, match="chance"):
        found.step(0, ["watch"])
    assert "[0.667]" in found.as_dot()
    for name in ("montyHall", "kuhn"):
        automaton = herbrand.load(name).automaton()
        for small in (automaton, automaton.minimised()):
            sums: dict[tuple[int, int], float] = {}
            for source, symbol, _, p in small.edges:
                sums[source, symbol] = sums.get((source, symbol), 0) + p
            assert list(sums.values()) == pytest.approx([1] * len(sums))


def test_too_many_states_are_refused() -> None:
    """Nothing is truncated silently."""
    with pytest.raises(BudgetExceeded):
        herbrand.load("connectFour").automaton(limit=1000)
    with pytest.raises(BudgetExceeded, match=r"0 seconds .*see `seconds`"):
        herbrand.load("connectFour").automaton(seconds=0)
    with pytest.raises(BudgetExceeded, match="drawing"):
        herbrand.load("ticTacToe").automaton().as_svg()


def test_undefined_transitions_raise_and_can_be_completed() -> None:
    """With a sink δ is defined everywhere."""
    found = example()
    with pytest.raises(IllegalMoveError, match="no transition"):
        found.step(0, ("(mark 1 1)", "noop"))
    whole = found.completed()
    sink = len(found.states)
    assert whole.step(0, found.alphabet[0]) in (sink, found.step(0, ("(mark 2 1)", "noop")))
    assert len(whole.edges) == len(whole.states) * len(whole.alphabet)
    assert whole.run([found.alphabet[-1], found.alphabet[-1]]) == sink


def test_exports() -> None:
    """JSON, CSV, Graphviz, SVG and NetworkX tell of the same states and transitions."""
    found = example()
    shape = json.loads(json.dumps(found.as_json()))
    assert len(shape["states"]) == len(found.states)
    assert len(shape["transitions"]) == len(found.edges)
    assert shape["final"].keys() == {str(state) for state in found.final}
    assert found.as_csv().count("\n") == len(found.edges) + 1
    assert found.as_dot().count("doublecircle") == len(found.final)
    drawing = ET.fromstring(found.as_svg())
    circles = [e for e in drawing.iter() if e.get("class") == "state"]
    assert len(circles) == len(found.states)
    networkx = pytest.importorskip("networkx")
    graph = found.as_networkx()
    assert graph.number_of_edges() == len(found.edges)
    assert networkx.is_directed_acyclic_graph(graph)
    assert sum(final for _, final in graph.nodes(data="final")) == len(found.final)


def test_the_command_writes_automata_from_any_state() -> None:
    """`herbrand convert --to automaton`, with a start in the middle, minimised."""
    run = CliRunner().invoke(cli, ["convert", "ticTacToe3", "--to", "automaton", "--from", POSITION])
    assert run.exit_code == 0, run.output
    shape = json.loads(run.output)
    assert shape["states"][0] == sorted("(" + f for f in POSITION[1:].split(" ("))
    arguments = ["convert", "ticTacToe3", "--to", "automaton", "--minimise", "--from", POSITION]
    small = json.loads(CliRunner().invoke(cli, arguments).output)
    assert len(small["states"]) < len(shape["states"])
    run = CliRunner().invoke(cli, ["convert", "connectFour", "--to", "automaton-dot", "--limit", "10"])
    assert run.exit_code == 3
    for target, mark in (
        ("automaton-svg", "<svg"),
        ("automaton-csv", "state,"),
        ("automaton-dot", "digraph"),
    ):
        run = CliRunner().invoke(cli, ["convert", "ticTacToe3", "--to", target, "--from", POSITION])
        assert run.output.startswith(mark)

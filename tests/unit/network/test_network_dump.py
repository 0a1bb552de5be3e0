"""Networks as files: JSON, Graphviz and AIGER give back the network, and AIGER plays the game."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from typing import TYPE_CHECKING

import aiger_reader
import numpy as np
import pytest
from click.testing import CliRunner

import herbrand
from herbrand import BudgetExceeded, GameError
from herbrand.cli.main import cli
from herbrand.engine.on_network import NetworkEngine
from herbrand.network.as_aiger import property_aiger, to_aiger
from herbrand.network.dump import from_json, to_dot, to_json
from herbrand.network.unroll import unrolled

if TYPE_CHECKING:
    from pathlib import Path

    from herbrand.network import Network
    from herbrand.network.aiger import Aiger

GAMES = ["ticTacToe", "nim", "connectFour", "rockPaperScissors", "montyHall", "hanoi", "kuhn", "tron"]

LOOP = """
(role r) (index 1) (index 2) (index 3) (index 4)
(init (edge 1 2)) (init (edge 4 4))
(<= (legal r (join ?x ?y)) (index ?x) (index ?y))
(<= (next (edge ?x ?y)) (true (edge ?x ?y)))
(<= (next (edge ?x ?y)) (does r (join ?x ?y)))
(<= (linked ?x ?y) (true (edge ?x ?y)))
(<= (linked ?x ?z) (linked ?x ?y) (linked ?y ?z))
(<= (goal r 100) (linked 1 4))
(<= (goal r 0) (not (linked 1 4)))
(<= terminal (linked 1 4))
"""
TWO_LOOPS = f"""{LOOP}
(<= (back ?y ?x) (true (edge ?x ?y)) (not (linked 1 3)))
(<= (back ?x ?z) (back ?x ?y) (back ?y ?z))
(<= (goal r 50) (back 4 1))
"""
DEAD_END = """
(role a) (role b) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal a stay) (true (n ?x))) (<= (legal a go) (true (n ?x)))
(<= (legal b wait) (not (true (n 2))))
(<= (next (n ?y)) (true (n ?x)) (does a go) (succ ?x ?y))
(<= (next (n ?x)) (true (n ?x)) (does a stay))
(<= (goal a 100) (true (n 3))) (<= (goal ?r 0) (role ?r) (not (true (n 3))))
(<= terminal (true (n 3)))
"""


def replay(network: Network, graph: Aiger, plays: int, steps: int) -> None:
    """Random play on the network is random play on the graph: outputs and latches agree."""
    engine = NetworkEngine(network)
    text = network.terms.text
    rng = random.Random(3)
    moves = [tuple(row) for row in network.moves.tolist()]
    names = [f"(does {text(network.roles[role])} {text(move)})" for role, move in moves]
    assert set(graph.inputs) == set(names)
    for _ in range(plays):
        key, latches = engine.initial(), graph.reset.tolist()
        for _ in range(steps):
            true = {f"(true {text(fluent)})" for fluent in engine.fluents(key)}
            assert {name for name, on in zip(graph.latches, latches, strict=True) if on} == true
            legal = [engine.legal(key, role) for role in range(len(network.roles))]
            joint = [rng.choice(mine) for mine in legal if mine]
            made = {names[moves.index((role, move))] for role, move in enumerate(joint)}
            following, outputs, _ = aiger_reader.step(graph, latches, [name in made for name in graph.inputs])
            on = {name for name, output in zip(graph.outputs, outputs, strict=True) if output}
            expected = set()
            for role, name in enumerate(map(text, network.roles)):
                expected |= {f"(legal {name} {text(move)})" for move in engine.legal(key, role)}
                expected |= {f"(goal {name} {text(value)})" for value in engine.goals(key, role)}
                if all(legal):
                    seen = map(text, engine.percepts(key, joint, role))
                    expected |= {f"(sees {name} {percept})" for percept in seen}
            assert on == expected | ({"terminal"} if engine.terminal(key) else set())
            if engine.terminal(key) or not all(legal):
                break
            key, latches = engine.successor(key, joint), following


@pytest.mark.parametrize("name", GAMES)
def test_aiger_plays_the_game(name: str) -> None:
    """A file in either form, read back and evaluated gate by gate, plays like the network."""
    network = herbrand.load(name).network
    graph = to_aiger(network)
    for read in (aiger_reader.read(graph.to_bytes()), aiger_reader.read(graph.to_text().encode())):
        assert read.to_text() == graph.to_text()
        replay(network, read, plays=3, steps=30)


@pytest.mark.parametrize(("text", "loops"), [(LOOP, 1), (TWO_LOOPS, 2)])
def test_aiger_of_loops_is_unrolled(text: str, loops: int) -> None:
    """Recursion in a state is written out as often as it turns."""
    network = herbrand.loads(text).network
    assert len(network.loops) == loops
    replay(network, to_aiger(network), plays=15, steps=6)
    with pytest.raises(BudgetExceeded, match="unrolling the loops"):
        unrolled(network, max_gates=10)


@pytest.mark.parametrize("name", GAMES)
def test_networks_come_back_from_their_files(name: str) -> None:
    """JSON gives back the very network; AIGER one with the same text."""
    network = herbrand.load(name).network
    text = json.dumps(to_json(network))
    again = from_json(json.loads(text))
    assert str(again) == str(network)
    assert again.cones == network.cones
    back = aiger_reader.from_aiger(aiger_reader.read(to_aiger(network).to_bytes()))
    assert len(back.fluents) == len(network.fluents)
    assert back.gates == network.gates
    replay(back, to_aiger(network), plays=2, steps=20)


def test_names_keep_their_spelling_in_files() -> None:
    """Upper and lower case are read back, though names are compared without."""
    network = herbrand.loads(DEAD_END.replace("go", "Go").replace("(n ", "(Number ")).network
    assert "(does a Go)" in str(network)
    assert "(true (Number 0))" in str(network)
    assert str(from_json(to_json(network))) == str(network)


def test_dot_names_inputs_and_outputs() -> None:
    """Small networks can be drawn; large ones are refused with their size."""
    network = herbrand.load("nim").network
    dot = to_dot(network)
    assert dot.startswith("digraph network {")
    assert 'label="terminal"' in dot
    assert dot.count(" -> ") == 2 * network.gates + 1 + sum(
        map(len, (network.legal, network.goal, network.sees, network.next, network.feedback))
    )
    nodes = network.inputs + network.gates
    assert to_dot(network, max_nodes=nodes) == dot
    with pytest.raises(GameError, match=f"has {nodes} nodes: more than 10 are not drawn"):
        to_dot(network, max_nodes=10)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "ends too early"),
        (b"hello\n", "the first line must be"),
        (b"aag 1 1 0 0\n", "the first line must be"),
        (b"aag 1 1 0 1 0\n2\n", "ends too early"),
        (b"aag 1 1 0 1 0\nx\n2\n", "invalid literal"),
        (b"aag 1 1 0 1 0\n2\n8\n", "out of bounds"),
        (b"aag 0 1 0 0 0\n2\n", "do not fit"),
        (b"aag 2 1 0 0 1\n2\n4 4 2\n", "depends on itself"),
        (b"aag 3 1 0 0 2\n2\n4 6 2\n6 4 2\n", "depends on itself"),
        (b"aag 3 1 0 0 1\n2\n4 6 2\n", "not defined"),
        (b"aag 2 2 0 0 0\n2\n2\n", "defined twice"),
        (b"aag 1 0 1 0 0\n2 0 2\n", "no reset value"),
        (b"aag 1 0 0 0 0 0 1\n", "only inputs"),
        (b"aig 2 1 0 0 1\n\x00\x00", "depends on itself"),
        (b"aig 1 1 0 1 0\n99\n", "belongs to no variable"),
        (b"aag 999999999999 0 0 0 0\n", "only inputs"),
    ],
)
def test_what_is_not_aiger_is_refused(data: bytes, reason: str) -> None:
    """Every fault of a file is a `GameError` that says what it is."""
    with pytest.raises(GameError, match=reason) as error:
        aiger_reader.read(data)
    assert str(error.value).count("this is not AIGER") <= 1


def test_aiger_of_something_else_is_no_game() -> None:
    """Graphs whose names are not those of a game are refused."""
    with pytest.raises(GameError, match="is not a"):
        aiger_reader.from_aiger(aiger_reader.read(b"aag 1 1 0 0 0\n2\n"))
    with pytest.raises(GameError, match="not those of a game"):
        aiger_reader.from_aiger(aiger_reader.read(b"aag 0 0 0 1 0\n0\no0 fan\n"))


def test_any_order_of_gates_is_read() -> None:
    """The form for people may number and order its gates in any way."""
    graph = aiger_reader.read(b"aag 9 2 0 1 2\n2\n18\n6\n6 5 2\n4 2 18\ni0 a\nc\nremark\n")
    assert graph.inputs == ("a", "")
    assert graph.comment == "remark"
    for a in (False, True):
        for b in (False, True):
            assert aiger_reader.step(graph, [], [a, b])[1] == [a and not (a and b)]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"form": "other"}, "no form"),
        ({"terminal": 10**6}, "belongs to no node"),
        ({"legal": []}, "literals of `legal`"),
        ({"gates": [[0, 10**6]]}, "later one"),
        ({"gates": [[-1, 2]]}, "later one"),
        ({"cones": [1, 0, 3]}, "cones"),
        ({"roles": []}, "no name"),
        ({"fluents": ["(("]}, "InvalidMoveError"),
        ({"next": "x"}, "ValueError"),
    ],
)
def test_what_is_no_network_is_refused(change: dict[str, object], reason: str) -> None:
    """Every fault of a JSON value is a `GameError` that says what it is."""
    value = to_json(herbrand.load("nim").network)
    with pytest.raises(GameError, match=reason):
        from_json({**value, **change})


def test_loops_come_back_from_json_and_are_checked() -> None:
    """A network with loops is read back; loops of gates or feedback that it does not have are refused."""
    network = herbrand.loads(LOOP).network
    value = to_json(network)
    assert str(from_json(value)) == str(network)
    assert from_json(value).loops.tolist() == network.loops.tolist()
    gates, feedback = network.gates, len(network.feedback)
    for loop in ([0, gates + 1, 0, 1], [gates + 1, gates, 0, 1], [0, 1, 0, feedback + 1], [-1, 1, 0, 1]):
        with pytest.raises(GameError, match="a loop goes beyond the gates"):
            from_json({**value, "loops": [loop]})


def run_property(graph: Aiger, choose: list[list[str]]) -> list[list[bool]]:
    """The bad states along a run in which the inputs of these names are on."""
    latches, found = graph.reset.tolist(), []
    for names in choose:
        following, _, bad = aiger_reader.step(graph, latches, [name in names for name in graph.inputs])
        found.append(bad)
        latches = following
    return found


def test_properties_count_only_while_a_play_lasts() -> None:
    """An illegal or missing move ends the play: no bad state counts after it."""
    network = herbrand.loads(DEAD_END).network
    graph = property_aiger(network, ("playability", "terminal", "win a", "goals"))
    assert graph.bad == ("playability", "terminal", "win a", "goals")
    go, wait = "(does a go)", "(does b wait)"
    assert run_property(graph, [[go, wait], [go, wait], [], []]) == [
        [False] * 4, [False] * 4, [True, False, False, False], [False] * 4,
    ]  # fmt: skip
    assert not any(map(any, run_property(graph, [[go], [go, wait], [go, wait], [], []])))
    with pytest.raises(ValueError, match="no property 'win c'"):
        property_aiger(network, ["win c"])


THREE_ROLES = """
(role a) (role b) (role random) (init (turn 0))
(succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal ?r go) (role ?r) (true (turn ?x)) (distinct ?x 2))
(<= (legal a stop) (true (turn ?x)))
(<= (legal b stop) (true (turn 1)))
(<= (legal random stop) (not (true (turn 2))))
(<= (next (turn ?y)) (true (turn ?x)) (does a go) (succ ?x ?y))
(<= (next (turn ?x)) (true (turn ?x)) (does a stop))
(<= (next (left ?r)) (does ?r stop) (distinct ?r a))
(<= (goal a 100) (true (turn 2)))
(<= (goal a 50) (true (left b)))
(<= (goal b 100) (true (left random)))
(<= (goal b 7) (true (turn 1)) (not (true (left random))))
(<= (goal b 0) (true (turn 2)) (not (true (left random))))
(<= terminal (true (left ?r)))
"""


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        (LOOP, {"terminal", "win r"}),
        (DEAD_END, {"playability"}),
        (THREE_ROLES, {"playability", "terminal", "goals", "win a", "win b"}),
    ],
    ids=["one role", "two roles", "three roles"],
)
def test_properties_are_those_of_the_rules(text: str, reached: set[str]) -> None:
    """Whatever the inputs: each role makes its first legal move that is on, and a state is bad as the rules say."""
    game = herbrand.loads(text)
    properties = ["playability", "terminal", "goals", *(f"win {role}" for role in game.roles)]
    graph = property_aiger(game.network, properties)
    chance = random.Random(7)

    def is_bad(state: herbrand.State) -> list[bool]:
        values = [state.goal_values(role) for role in game.roles]
        players = [value for role, value in zip(game.roles, values, strict=True) if role != "random"]
        fair = all(len(value) == 1 and 0 <= int(value[0]) <= 100 for value in players)
        end = state.is_terminal
        stuck = not end and not all(state.legal_moves().values())
        return [stuck, end, end and not fair, *(end and list(value) == ["100"] for value in values)]

    seen = set()
    for _ in range(60):
        state: herbrand.State | None = game.initial_state("rules")
        latches = graph.reset.tolist()
        for _ in range(6):
            inputs = [chance.random() < 0.6 for _ in graph.inputs]
            latches, _, bad = aiger_reader.step(graph, latches, inputs)
            assert bad == (is_bad(state) if state else [False] * len(properties))
            seen.update(name for name, is_on in zip(properties, bad, strict=True) if is_on)
            if state:
                on = [name for name, is_on in zip(graph.inputs, inputs, strict=True) if is_on]
                made = [
                    [name for name in on if name in {f"(does {role} {move})" for move in moves}]
                    for role, moves in state.legal_moves().items()
                ]
                joint = [names[0].split(" ", 2)[2][:-1] for names in made if names]
                state = state.next(joint) if len(joint) == len(made) and not state.is_terminal else None
    assert seen == reached


@pytest.mark.skipif(shutil.which("berkeley-abc") is None, reason="berkeley-abc is not installed")
@pytest.mark.parametrize("name", GAMES)
def test_an_optimiser_reads_the_files(name: str, tmp_path: Path) -> None:
    """Berkeley ABC reads the file and finds what it rewrote equal; the result still plays the game."""
    network = herbrand.load(name).network
    (tmp_path / "game.aig").write_bytes(to_aiger(network).to_bytes())
    script = "read_aiger game.aig; strash; dc2; dc2; write_aiger -s small.aig; cec game.aig small.aig"
    run = subprocess.run(
        ["berkeley-abc", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    small = aiger_reader.read((tmp_path / "small.aig").read_bytes())
    assert len(small.left) <= network.gates, run.stdout
    assert len(small.latches) == len(network.fluents)
    graph = to_aiger(network)
    rng = np.random.default_rng(1)
    for _ in range(20):
        latches = rng.integers(0, 2, len(graph.latches)).astype(bool).tolist()
        inputs = rng.integers(0, 2, len(graph.inputs)).astype(bool).tolist()
        following, outputs, bad = aiger_reader.step(
            small, latches, inputs
        )  # outputs are written as bad states
        assert (following, outputs + bad) == aiger_reader.step(graph, latches, inputs)[:2]
    replay(aiger_reader.from_aiger(small), graph, plays=2, steps=20)


def convert(*words: str) -> tuple[int, bytes, str]:
    """Run `herbrand convert`: exit status, output, remarks."""
    result = CliRunner().invoke(cli, ["convert", *words])
    return result.exit_code, result.stdout_bytes, result.stderr


def test_convert_writes_networks() -> None:
    """Each form of the network is a target of `herbrand convert`, and can be read back."""
    network = herbrand.load("nim").network
    assert convert("nim", "--to", "network")[1].decode() == str(network) + "\n"
    assert str(from_json(json.loads(convert("nim", "--to", "network-json")[1]))) == str(network)
    assert convert("nim", "--to", "network-dot")[1].decode() == to_dot(network)
    assert convert("nim", "--to", "aiger")[1].decode() == to_aiger(network).to_text()
    assert convert("nim", "--to", "aiger", "--binary")[1] == to_aiger(network).to_bytes()
    written = aiger_reader.read(convert("nim", "--to", "aiger", "--bad", "goals, win first")[1])
    assert written.bad == ("goals", "win first")


def test_convert_refuses_what_a_network_cannot() -> None:
    """Large networks are not drawn, unknown states not marked; both say what is possible."""
    status, _, remarks = convert("reversi", "--to", "network-dot")
    assert status == 1
    assert "more than 2000 are not drawn" in remarks
    status, _, remarks = convert("nim", "--to", "aiger", "--bad", "win nobody")
    assert status == 1
    assert "no property 'win nobody' (there are: playability, terminal, goals, win" in remarks

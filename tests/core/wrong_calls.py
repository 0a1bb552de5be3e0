"""Call every function of the compiled core that takes something with wrong things, one after the other.

    python tests/core/wrong_calls.py [--share N] [NAME ...]

Standard output has lines of JSON: ["call", NAME, WHAT] before a call, ["refused", NAME] after one that raised
one of the errors that wrong calls may raise, ["accepted", NAME, MUST] after one that returned, where MUST says
whether it had to raise, and ["raised", NAME, ERROR] for any other exception.  With names only those functions are
called; with a share, each argument is wrong in every N-th way only.  Crashes end the program; what it printed last says where.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import random
import resource
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import herbrand
from herbrand import core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SANITIZED = bool(os.environ.get("HERBRAND_SANITIZED"))
"""The core was built with a sanitizer: no memory limit can be set, and large requests for memory end the program."""
MEMORY = 1 << 30
"""Bytes a process may have: little, because what it gets is filled."""
SECONDS = 120
REFUSED = (TypeError, ValueError, IndexError, OverflowError, MemoryError, RuntimeError)
"""Errors that a wrong call may raise; nanobind's for an object that was not made is a `RuntimeError`."""
DTYPES = ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c16", "O", "M8[s]", "S8")


class Call(NamedTuple):
    """A call that is right: what the wrong ones are made from."""

    function: Callable[..., Any]
    arguments: dict[str, Any]
    afterwards: Callable[[], object] = lambda: None
    positional: bool = False


def i4(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


def i8(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


GAME = herbrand.load("ticTacToe")
NETWORK = GAME.network
CIRCUIT = NETWORK.circuit
WORDS, COLUMNS = CIRCUIT.state_words, CIRCUIT.legal_words
FLUENTS, MOVES, ROLES = CIRCUIT.fluents, CIRCUIT.moves, CIRCUIT.roles
OTHER = herbrand.load("rockPaperScissors").network.circuit
LARGER = herbrand.load("connectFour").network.circuit
NO_CIRCUIT = dict.fromkeys(
    ("left", "right", "feedback", "legal", "move_role", "next", "goal", "goal_role"), i4()
)
EMPTY = core.make_circuit(
    fluents=0,
    roles=0,
    **NO_CIRCUIT,
    loops=np.zeros((0, 4), np.int32),
    terminal=0,
    goal_value=np.zeros(0, np.int16),
    sees=i4(),
    sees_role=i4(),
    initial=np.zeros(1, np.uint64),
    cones=[0, 0, 0],
)


def initial(count: int = 1) -> np.ndarray:
    bits = np.zeros(64 * WORDS, np.bool_)
    bits[:FLUENTS] = NETWORK.initial
    return np.repeat(np.packbits(bits, bitorder="little").view(np.uint64)[None], count, axis=0)


def generator() -> np.ndarray:
    return np.arange(1, 33, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def stop() -> core.Stop:
    ends = core.Stop()
    ends.set_deadline(0.2)
    return ends


def tree(**settings: Any) -> core.SearchTree:
    made = core.SearchTree(CIRCUIT, memory=1 << 20, **settings)
    made.add(initial())
    return made


def grown() -> core.SearchTree:
    made = tree(amaf=10.0)
    core.Round(made, ways=16, rows=64).run(
        0, core.StateEvaluator(CIRCUIT), generator(), core.Stop(), rounds=3, seconds=60.0
    )
    return made


def goes_on(made: core.SearchTree) -> Callable[[], object]:
    """Whatever was done to a tree, it can be grown further."""

    def grow() -> None:
        if made.positions:
            core.Round(made, ways=16, rows=64).run(
                0, core.StateEvaluator(CIRCUIT), generator(), stop(), rounds=3
            )

    return grow


def use(found: object) -> None:
    """Ask a new object for what it is there for: it may have taken what it should have refused."""
    if isinstance(found, core.Circuit):
        words = np.zeros((2, found.state_words), np.uint64)
        expander = core.StateEvaluator(found)
        expander.legal(words)
        expander.goals(words)
        expander.step(words, np.full((2, found.roles), -1, np.int32), sees=True)
        if found.roles < 1000:  # a lane program of more takes seconds to be made
            core.Playouts(found, 600, 1, 20).play(0.1, stop())
        core.StateMemory(found, np.arange(found.moves)).legal()
    elif isinstance(found, core.StateGraph):
        sequence, _ = found.order()
        found.count_plays(sequence)
        found.lasso(np.zeros(3, np.int64), np.arange(3), 99)
    elif isinstance(found, core.Judge):
        core.Valuer(CIRCUIT, 0, found).values(initial(3))
    elif isinstance(found, core.Valuer):
        found.values(initial(3))
    elif isinstance(found, core.AlphaBeta):
        found.move_to(initial()[0])
        found.begin(2)
        found.go_on(stop(), 1000)
    elif isinstance(found, core.Prover):
        found.ask(initial()[0], 0, 50)
        found.go_on(stop(), 1000)
    elif isinstance(found, core.Playouts):
        found.play(0.1, stop())
    elif isinstance(found, core.SearchTree):
        found.add(initial())
        goes_on(found)()
    elif isinstance(found, core.Round):
        found.run(0, core.StateEvaluator(CIRCUIT), generator(), stop(), rounds=2)
    elif isinstance(found, core.StateMemory):
        found.go(initial().tobytes())
        found.legal()
        found.play([0] * ROLES)
    elif isinstance(found, core.Env) and found.observation_bytes < 1 << 20:
        found.sow(np.ones(found.seed_words, np.uint64))
        lanes = len(found.steps)
        fresh, player = np.ones(lanes, np.uint8), np.zeros(lanes, np.uint8)
        sizes = found.observation_bytes, found.legal_bytes
        found.begin(fresh, *(np.zeros(size, np.uint8) for size in sizes), player)


def under_way() -> core.Round:
    made = core.Round(tree(), ways=16, rows=64)
    made.expand(i8(0), most=16, widest=64, weight=1.0)
    return made


def graph() -> core.StateGraph:
    """Three states: 0 has two moves, to 1 and 2; the game is over there."""
    return core.StateGraph(i8(0, 2, 2, 2), i4(1, 2), np.array([[2, 1], [0, 0], [0, 0]], np.int32), 3)


def judge() -> core.Judge:
    return core.Judge(i4(2, 4), np.ones((8, 256), np.int32), np.ones(ROLES), np.ones(2), 50000.0)


def searching() -> core.AlphaBeta:
    made = core.AlphaBeta(CIRCUIT, 0, judge(), core.TranspositionTable(1 << 16), True, True)
    made.move_to(initial()[0])
    made.begin(2)
    return made


def proving() -> core.Prover:
    made = core.Prover(CIRCUIT, 1 << 16, i4(), 2)
    made.ask(initial()[0], 0, 50)
    return made


def diagrams() -> core.Diagrams:
    return core.Diagrams(i4(2, 3, 4), 1 << 20)


def env_settings() -> dict[str, Any]:
    return {
        "circuit": CIRCUIT,
        "lanes": 3,
        "players": i4(0, 1),
        "number": np.array([[0, 1], [CIRCUIT.bounds[1], -1]], np.int32),
        "idle": np.zeros(MOVES, np.uint8),
        "columns": i4(0, 5, -1),
        "chance": -1,
        "by_turns": False,
        "packed": False,
        "percepts": True,
        "reset": 2,
        "max_steps": 10,
        "low": -1.0,
        "high": 1.0,
        "keep": 0,
    }


def begun() -> tuple[core.Env, dict[str, Any]]:
    made = core.Env(**env_settings())
    told = {
        "observation": np.zeros(made.observation_bytes, np.uint8),
        "legal": np.zeros(made.legal_bytes, np.uint8),
        "player": np.zeros(3, np.uint8),
    }
    made.sow(np.arange(1, made.seed_words + 1, dtype=np.uint64))
    made.begin(np.ones(3, np.uint8), **told)
    return made, told


def uses(made: core.Env, told: dict[str, Any]) -> Callable[[], object]:
    def sample() -> None:
        made.sample(np.zeros((3, 2), np.int32))
        made.begin(np.ones(3, np.uint8), **{k: v.copy() for k, v in told.items()})

    return sample


def gates() -> core.GateGraph:
    made = core.GateGraph()
    made.variables(4)
    made.conjunction(2, 4)
    return made


def names() -> core.MoveNames:
    moves = [[object() for _ in range(CIRCUIT.bounds[r + 1] - CIRCUIT.bounds[r])] for r in range(ROLES)]
    return core.MoveNames(memory(), ["x", "o"], moves)


def memory() -> core.StateMemory:
    made = core.StateMemory(CIRCUIT, np.arange(MOVES))
    made.go(initial().tobytes())
    return made


def circuit_parts() -> dict[str, Any]:
    """A game of one fluent and two roles."""
    return {
        "fluents": 1,
        "roles": 2,
        "left": i4(2, 8),
        "right": i4(3, 4),
        "feedback": i4(12),
        "loops": np.array([[1, 2, 0, 1]], np.int32),
        "legal": i4(1, 1),
        "move_role": i4(0, 1),
        "next": i4(12),
        "terminal": 10,
        "goal": i4(1),
        "goal_role": i4(0),
        "goal_value": np.array([100], np.int16),
        "sees": i4(2),
        "sees_role": i4(1),
        "initial": np.zeros(1, np.uint64),
        "cones": [1, 2, 2],
        "alternatives": [(0, [0]), (1, [0])],
    }


def calls() -> dict[str, Callable[[], Call]]:
    """Return what makes a right call of each function, by its name in the stub."""
    made: dict[str, Callable[[], Call]] = {}

    def add(name: str, make: Callable[[], Call]) -> None:
        made[name] = make

    def simple(name: str, **arguments: Any) -> None:
        """A function without a state, or a class."""
        add(name, lambda: Call(getattr(core, name), copied(arguments)))

    def method(name: str, make: Callable[[], Any], arguments: Callable[[], dict[str, Any]]) -> None:
        def call() -> Call:
            owner = make()
            after = goes_on(owner) if isinstance(owner, core.SearchTree) else lambda: None
            return Call(getattr(owner, name.split(".")[1]), arguments(), after)

        add(name, call)

    simple("use_level", level="portable")
    method("Stop.set_deadline", core.Stop, lambda: {"seconds": 1.0})
    simple("make_circuit", **circuit_parts())
    simple("allow_code", allowed=True)
    simple("evaluating_program", circuit=CIRCUIT, arity=2)
    simple("playing_program", circuit=CIRCUIT, assume=True, arity=2)
    method(
        "CompiledProgram.machine_code",
        lambda: core.evaluating_program(CIRCUIT, 2),
        lambda: {"kind": "avx2" if platform.machine() in {"x86_64", "AMD64"} else "none"},
    )

    # states at once
    expander = core.StateEvaluator(CIRCUIT)
    legal = expander.legal(initial(3))[1]
    simple("StateEvaluator", circuit=CIRCUIT)
    method("StateEvaluator.legal", lambda: expander, lambda: {"states": initial(3)})
    method("StateEvaluator.goals", lambda: expander, lambda: {"states": initial(3)})
    method(
        "StateEvaluator.step",
        lambda: expander,
        lambda: {
            "states": initial(2),
            "moves": np.array([[0, 0], [1, 0], [2, -1]], np.int32),
            "parents": i8(0, 1, 1),
            "sees": True,
        },
    )
    method(
        "StateEvaluator.joints",
        lambda: expander,
        lambda: {"bits": legal.copy(), "starts": i8(0, 9, 18, 27), "begin": 3, "size": 20},
    )
    method(
        "StateEvaluator.rollouts",
        lambda: expander,
        lambda: {
            "states": initial(2),
            "parents": i8(0, 1, 1),
            "generator": generator(),
            "max_steps": 20,
            "stop": stop(),
            "watched": 1,
            "played": True,
            "last": True,
        },
    )
    simple("joint_counts", over=np.zeros(3, np.bool_), bits=legal, places=list(CIRCUIT.places))
    simple("Playouts", circuit=CIRCUIT, playouts=600, seed=1, max_steps=20, walk=False)
    method(
        "Playouts.play", lambda: core.Playouts(CIRCUIT, 600, 1, 20), lambda: {"seconds": 1.0, "stop": stop()}
    )

    # trees
    settings = {"most": 1000, "seed": 1, "labelled": False, "exploration": 0.5, "chance": -1, "regret": False}
    simple("SearchTree", circuit=CIRCUIT, memory=1 << 20, **settings, amaf=1.0)
    method("SearchTree.find", tree, lambda: {"state": initial()})
    method("SearchTree.add", tree, lambda: {"state": initial()})
    method("SearchTree.forget", grown, lambda: {"root": 1})
    method("SearchTree.is_exact", grown, lambda: {"position": 1})
    method("SearchTree.after", grown, lambda: {"position": 0, "arms": [0, 9]})
    method(
        "SearchTree.prove", grown, lambda: {"position": 0, "low": [0.0, 0.0], "high": [1.0, 1.0], "plies": 3}
    )
    method("SearchTree.tighten", grown, lambda: {"position": 0})
    method("SearchTree.plant", grown, lambda: {"states": initial(2)})
    method("SearchTree.unsettled", grown, lambda: {"roots": i8(0, 1, -1)})
    method("SearchTree.best_moves", grown, lambda: {"roots": i8(0, 1), "roles": i8(0, 1)})
    method(
        "SearchTree.add_up",
        grown,
        lambda: {"roots": i8(0, 1), "groups": i8(0, 1), "roles": i8(0, 1), "columns": MOVES // 2},
    )
    simple("Round", tree=tree(), ways=16, rows=64)
    method(
        "Round.expand",
        lambda: core.Round(tree(), ways=16, rows=64),
        lambda: {"roots": i8(0, 0), "most": 16, "widest": 64, "weight": 1.0},
    )
    method(
        "Round.backpropagate",
        under_way,
        lambda: {
            "goals": np.array([[100, 0]] * 9, np.int16),
            "lengths": i8(*range(1, 10)),
            "played": np.zeros((MOVES, 1), np.uint64),
        },
    )
    method("Round.line", under_way, lambda: {"fresh": 0})

    def round_run() -> Call:
        made = core.Round(tree(), ways=16, rows=64)
        limits = {"each": 1.0, "widest": 64, "max_steps": 20, "rounds": 2, "seconds": 0.1}
        first = {"root": 0, "players": core.StateEvaluator(CIRCUIT), "generator": generator(), "stop": stop()}
        return Call(made.run, {**first, **limits, "places": np.arange(MOVES)})

    add("Round.run", round_run)

    # exploration
    simple("StateTable", words=1)

    def insert() -> Call:
        table = core.StateTable(1)
        rows = np.array([[5], [7], [5]], np.uint64)
        room = {"states": np.zeros((8, 1), np.uint64), "parents": np.zeros(8, np.int32)}
        return Call(table.insert, {**room, "rows": rows, "origins": i8(0, 1, 2), "first_origin": 0})

    add("StateTable.insert", insert)
    simple("Survey", circuit=CIRCUIT)
    method(
        "Survey.add",
        lambda: core.Survey(CIRCUIT),
        lambda: {
            "states": initial(3),
            "over": np.zeros(3, np.bool_),
            "legal": legal.copy(),
            "counts": np.zeros((3, ROLES), np.int32),
            "starts": i8(0, 0, 0, 0),
        },
    )
    simple(
        "StateGraph",
        starts=i8(0, 2, 2, 2),
        children=i4(1, 2),
        counts=np.array([[2, 1], [0, 0], [0, 0]], np.int32),
        states=3,
    )
    method("StateGraph.order", graph, lambda: {"stop": stop()})
    method("StateGraph.count_plays", graph, lambda: {"sequence": i4(0, 1, 2)})
    method(
        "StateGraph.spread",
        graph,
        lambda: {"low": np.ones(3, np.uint64), "high": np.zeros(3, np.uint64)},
    )
    method(
        "StateGraph.random_values",
        graph,
        lambda: {"sequence": i4(0, 1, 2), "values": np.array([[0.0], [1], [5]])},
    )
    method(
        "StateGraph.force",
        graph,
        lambda: {"target": np.array([False, True, False]), "role": 0, "sequence": i4(0, 1, 2)},
    )
    method("StateGraph.reply", graph, lambda: {"state": 0, "move": 1, "role": 0, "rank": i4(0, 0, -1)})
    method(
        "StateGraph.lasso",
        graph,
        lambda: {"depth": i8(0, 1, 1), "candidates": i4(0, 1, 2).astype(np.int64), "work": 99},
    )
    method(
        "StateGraph.induce",
        graph,
        lambda: {
            "over": np.array([False, True, True]),
            "sequence": i4(0, 1, 2),
            "begin": 0,
            "chance": -1,
            "role": -1,
            "top": 100.0,
            "values": np.array([[0.0, 0], [100, 0], [0, 100]]),
            "length": np.zeros(3, np.int32),
            "best": np.zeros(3, np.int32),
        },
    )
    nodes = 1 + FLUENTS + MOVES + len(NETWORK.feedback) + len(NETWORK.left)
    simple("evaluate_ternary", circuit=CIRCUIT, can=np.ones(nodes, np.bool_), must=np.zeros(nodes, np.bool_))
    simple(
        "distances",
        left=i4(2),
        right=i4(4),
        fluents=3,
        literals=i4(8, 2),
        weights=np.ones(2, np.float32),
        starts=i8(0, 2),
        members=i8(0, 1),
        tables=i8(0),
        steps=np.ones(6, np.float32),
        far=100.0,
        states=np.array([[1], [2], [7]], np.uint64),
    )

    # minimax
    simple("TranspositionTable", bytes=1 << 16)
    method("TranspositionTable.probe", lambda: core.TranspositionTable(1 << 16), lambda: {"key": 5})
    method(
        "TranspositionTable.store",
        lambda: core.TranspositionTable(1 << 16),
        lambda: {"key": 5, "value": 100, "depth": 3, "bound": 0, "proved": True, "move": 2},
    )

    def made_judge() -> Call:
        table = np.ones((8, 256), np.int32)
        return Call(
            core.Judge,
            {
                "literals": i4(2, 4),
                "table": table,
                "mobility": np.ones(ROLES),
                "progress": np.ones(2),
                "bias": 5.0,
            },
        )

    add("Judge", made_judge)
    simple("Valuer", circuit=CIRCUIT, role=0, judge=judge())
    method("Valuer.values", lambda: core.Valuer(CIRCUIT, 0, judge()), lambda: {"states": initial(3)})
    method("Valuer.features", lambda: core.Valuer(CIRCUIT, 0, judge()), lambda: {"states": initial(3)})
    simple(
        "AlphaBeta",
        circuit=CIRCUIT,
        role=0,
        judge=judge(),
        table=core.TranspositionTable(1 << 16),
        exact=True,
        novelty=True,
    )
    method("AlphaBeta.move_to", searching, lambda: {"state": initial()[0]})
    method("AlphaBeta.known_move", searching, lambda: {"state": initial()[0]})
    method("AlphaBeta.begin", searching, lambda: {"depth": 2})
    method("AlphaBeta.go_on", searching, lambda: {"stop": stop(), "most": 1000})

    # proofs
    simple("Prover", circuit=CIRCUIT, bytes=1 << 16, symmetries=i4(), walkers=2)
    method("Prover.ask", proving, lambda: {"state": initial()[0], "role": 0, "goal": 50})
    method("Prover.set_threats", proving, lambda: {"threats": CIRCUIT})
    method("Prover.go_on", proving, lambda: {"stop": stop(), "most": 1000})
    method("Prover.known", proving, lambda: {"states": initial(3)})

    # sets of states
    simple("Diagrams", values=i4(2, 3, 4), bytes=1 << 20)
    method("Diagrams.state", diagrams, lambda: {"values": i4(1, 2, 3)})
    method("Diagrams.relation", diagrams, lambda: {"level": 1, "children": [0, 1, 0, 0, 0, 0, 0, 0, 1]})
    for name in ("unite_relations", "unite", "intersect", "subtract"):
        method(f"Diagrams.{name}", diagrams, lambda: {"a": 1, "b": 1, "stop": stop()})
    method("Diagrams.image", diagrams, lambda: {"states": 1, "relation": 1, "stop": stop()})
    for name in ("collect", "exported"):
        method(f"Diagrams.{name}", diagrams, lambda: {"roots": [1, 0]})
    method(
        "Diagrams.imported",
        diagrams,
        lambda: {
            "levels": np.array([2, 0], np.uint16),
            "children": np.array([0, 1, 0, 1, 1, 2], np.uint32),
            "roots": np.array([3], np.uint32),
        },
    )

    # environments
    add("Env", lambda: Call(core.Env, env_settings()))
    method("Env.sow", lambda: core.Env(**env_settings()), lambda: {"words": np.ones(64, np.uint64)})

    def env_begin() -> Call:
        made, told = begun()
        return Call(made.begin, {"fresh": np.ones(3, np.uint8), **told}, uses(made, told))

    def env_step() -> Call:
        made, told = begun()
        more = {
            "rewards": np.zeros((3, 2), np.float32),
            "terminated": np.zeros(3, np.uint8),
            "truncated": np.zeros(3, np.uint8),
            "percepts": np.zeros(made.percept_bytes, np.uint8),
            "last": np.zeros(made.observation_bytes, np.uint8),
        }
        first = {"actions": np.zeros((3, 2), np.int32), "held": np.array([0, 1, 0], np.uint8)}
        return Call(made.step, {**first, **told, **more}, uses(made, told))

    def env_sample() -> Call:
        made, told = begun()
        return Call(made.sample, {"actions": np.zeros((3, 2), np.int32)}, uses(made, told))

    def env_observe() -> Call:
        made, told = begun()
        return Call(
            made.observe,
            {"columns": i4(1, -1), "packed": False, "out": np.zeros(6, np.uint8)},
            uses(made, told),
        )

    add("Env.begin", env_begin)
    method("Env.room", lambda: core.Env(**env_settings()), lambda: {"bytes": 64})
    add("Env.step", env_step)
    add("Env.sample", env_sample)
    add("Env.observe", env_observe)

    # graphs of gates
    method("GateGraph.variables", gates, lambda: {"count": 3})
    method("GateGraph.conjunction", gates, lambda: {"a": 2, "b": 5})
    method(
        "GateGraph.copy",
        gates,
        lambda: {
            "left": i4(2, 6),
            "right": i4(4, 2),
            "first": 3,
            "begin": 0,
            "end": 2,
            "value": i4(0, 2, 4, 0, 0),
        },
    )
    method("GateGraph.all_of", gates, lambda: {"literals": i4(2, 4, 7)})
    method("GateGraph.only_one", gates, lambda: {"literals": i4(2, 4, 7)})
    simple("strong_components", start=i8(0, 1, 2, 4, 4, 4), edges=i4(1, 2, 1, 3), count=5)
    simple(
        "build_gates",
        order=i4(0, 1, 2),
        component=i4(0, 1, 2),
        rule_start=i8(0, 0, 0, 2),
        rules=i4(0, 1),
        body_start=i8(0, 2, 3),
        body=i4(0, 1, -1),
        literal=i4(2, 4, -1),
        first=3,
        feedback_first=3,
    )
    simple(
        "mark_cone",
        left=i4(2, 8),
        right=i4(4, 2),
        first=4,
        feedback_first=3,
        feedback=i4(10),
        loops=np.array([[1, 2, 0, 1]], np.int32),
        wanted=i4(10, 3),
    )
    state = {"state": np.array([0, 0, 0, 0, 0], np.int8), "uses": i4(0, 0, 0, 1, 1)}
    simple("unknown_cone", left=i4(-1, -1, -1, 2, 6), right=i4(-1, -1, -1, 4, 3), **state, root=4)
    simple("conjuncts", left=i4(2, 6), right=i4(4, 3), first=3, literal=8)
    simple(
        "factor",
        left=i4(2, 6),
        right=i4(4, 3),
        first=3,
        outputs=i4(8, 2, 7),
        group_start=np.array([0, 2], np.int64),
        group=i4(2, 4),
    )
    simple("cone_sizes", left=i4(2, 6), right=i4(4, 3), first=3, literals=i4(8, 2, 7), most=5)

    # one state
    simple("StateMemory", circuit=CIRCUIT, order=np.arange(MOVES))
    key = initial().tobytes()

    def plain(name: str, make: Callable[[], Any], *arguments: Any) -> None:
        """A function of the binding itself, whose arguments have no names."""

        def call() -> Call:
            owner = make()
            given = {str(i): value(owner) if callable(value) else value for i, value in enumerate(arguments)}
            return Call(getattr(owner, name.split(".")[1]), given, positional=True)

        add(name, call)

    plain("StateMemory.go", memory, key)
    plain("StateMemory.legal", memory, 0, key)
    plain("StateMemory.scores", memory, key)
    plain("StateMemory.look_ahead", memory, [0, CIRCUIT.bounds[1]], key)
    plain("StateMemory.play", memory, [0, 0])
    add(
        "MoveNames",
        lambda: Call(
            core.MoveNames,
            {
                "memory": memory(),
                "roles": ["x", "o"],
                "moves": [[object() for _ in range(MOVES // 2)] for _ in range(ROLES)],
            },
        ),
    )
    plain("MoveNames.state", names, key)
    plain(
        "MoveNames.go_on",
        names,
        key,
        lambda owner: [moves[0] for moves in owner.answer(owner.state(key)[0]).values()],
    )
    plain("MoveNames.answer_of_role", names, lambda owner: owner.state(key)[0], 0)
    plain("MoveNames.answer", names, lambda owner: owner.state(key)[0])
    return made


def copied(arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value for name, value in arguments.items()
    }


LARGE = () if SANITIZED else (1 << 31, (1 << 31) - 1, 1 << 40, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
NUMBERS = (-1, 0, 1, 2, -2, 3, 63, 64, 65, 511, 1 << 16, -(1 << 31), -(1 << 63), 1 << 100, *LARGE)
FLOATS = (float("nan"), float("inf"), float("-inf"), -1.0, 0.0, 1e300, 5e-324)


class Wrong(NamedTuple):
    """Something to pass instead."""

    what: str
    value: Any
    must: bool  # whether it has to be refused


def wrong_arrays(array: np.ndarray, written: bool) -> Iterator[Wrong]:
    """Make wrong arrays of a right one; `written`: the call writes into it."""
    for dtype in DTYPES:
        if np.dtype(dtype) != array.dtype:
            with suppress(TypeError, ValueError):
                yield Wrong(f"dtype {dtype}", array.astype(dtype), True)
    if array.itemsize > 1:
        yield Wrong("other byte order", array.astype(array.dtype.newbyteorder()), True)
    yield Wrong("one dimension more", array[None].copy(), True)
    yield Wrong("no dimension", np.zeros((), array.dtype), True)
    yield Wrong("a list", array.tolist(), True)
    yield Wrong("bytes", array.tobytes(), array.dtype != np.uint8)
    if array.ndim == 2:
        yield Wrong("flat", array.reshape(-1).copy(), True)
        if min(array.shape) > 1:
            yield Wrong("columns first", np.asfortranarray(array), True)
    if array.size and array.shape[-1] > 1:
        yield Wrong("every other element", np.repeat(array, 2, axis=-1)[..., ::2], True)
        yield Wrong("backwards", array[..., ::-1], True)
    if array.size > 1 and len(array) > 1:
        yield Wrong("every other row", np.repeat(array, 2, axis=0)[::2], True)
    fixed = array.copy()
    fixed.flags.writeable = False
    yield Wrong("read-only", fixed, written)
    raw = np.zeros(array.nbytes + 1, np.uint8)[1:]
    raw[:] = np.frombuffer(array.tobytes(), np.uint8)
    yield Wrong(
        "not aligned", raw.view(array.dtype).reshape(array.shape), array.size > 0 and array.itemsize > 1
    )
    for axis, length in enumerate(array.shape):
        yield Wrong(f"empty along {axis}", np.take(array, [], axis), must=False)
        yield Wrong(
            f"longer along {axis}",
            np.concatenate([array, np.take(array, [0] if length else [], axis)], axis),
            must=False,
        )
        if length:
            yield Wrong(f"shorter along {axis}", np.take(array, range(length - 1), axis), must=False)
            yield Wrong(f"much longer along {axis}", np.repeat(array, 40, axis), must=False)
    yield from strange_values(array)


def strange_values(array: np.ndarray) -> Iterator[Wrong]:
    """The same arrays with other numbers in them."""
    if not array.size:
        return
    values: tuple[Any, ...] = (True, False)
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        numbers = (
            -1,
            -2,
            0,
            1,
            2,
            7,
            63,
            64,
            100,
            101,
            int(array.max()) + 1,
            1000,
            1 << 20,
            1 << 28,
            info.min,
            info.max,
        )
        values = tuple(n for n in numbers if info.min <= n <= info.max)
    elif array.dtype.kind == "f":
        values = FLOATS
    for value in values:
        with np.errstate(over="ignore"):
            yield Wrong(f"all {value}", np.full_like(array, value), must=False)
            for place in {0, array.size // 2, array.size - 1}:
                changed = array.copy()
                changed.reshape(-1)[place] = value
                yield Wrong(f"[{place}] = {value}", changed, must=False)
    yield Wrong("backwards, contiguous", np.ascontiguousarray(array[::-1]), must=False)


def wrong_sequences(values: list[Any]) -> Iterator[Wrong]:
    """Make wrong lists."""
    yield Wrong("an empty list", [], must=False)
    yield Wrong("a longer list", [*values, *values], must=False)
    yield Wrong("a shorter list", values[:-1], must=False)
    yield Wrong("a list of None", [None] * len(values), must=False)
    yield Wrong("a list of texts", ["x"] * len(values), must=False)
    yield Wrong("a list of lists", [[[]]] * len(values), must=False)
    for number in NUMBERS:
        yield Wrong(f"a list of {number}", [number] * len(values), must=False)
        yield Wrong(f"{number} at last", [*values[:-1], number], must=False)
    for number in FLOATS:
        yield Wrong(f"a list of {number}", [number] * len(values), must=False)


def wrong_values(value: Any, written: bool) -> Iterator[Wrong]:
    """Make wrong things instead of a right one."""
    yield Wrong("an object", object(), True)
    if not isinstance(value, str | bytes):
        yield Wrong("a text", "x", True)
    if isinstance(value, np.ndarray):
        yield from wrong_arrays(value, written)
    elif isinstance(value, bool):
        yield Wrong("None", None, True)
        yield Wrong("the opposite", not value, must=False)
    elif isinstance(value, int):
        yield Wrong("None", None, must=False)
        yield Wrong("a fraction", 1.5, True)
        for number in NUMBERS:
            yield Wrong(str(number), number, must=False)
    elif isinstance(value, float):
        yield Wrong("None", None, True)
        for other in FLOATS:
            yield Wrong(str(other), other, must=False)
    elif isinstance(value, bytes):
        yield Wrong("None", None, must=False)
        for other in (
            b"",
            value[:-1],
            value + value,
            b"\xff" * len(value),
            bytearray(value),
            memoryview(value),
        ):
            yield Wrong(repr(other)[:40], other, must=False)
    elif isinstance(value, list | tuple):
        yield Wrong("None", None, must=False)
        yield from wrong_sequences(list(value))
    elif isinstance(value, str):
        yield Wrong("None", None, True)
        yield Wrong("another text", "\0", True)
    else:
        yield Wrong("None", None, must=False)
        yield Wrong("one that was not made", type(value).__new__(type(value)), True)
        if isinstance(value, core.Circuit):
            yield Wrong("another game", OTHER, must=False)
            yield Wrong("a larger game", LARGER, must=False)
            yield Wrong("an empty game", EMPTY, must=False)
        elif isinstance(value, core.StateEvaluator):
            yield Wrong("that of another game", core.StateEvaluator(OTHER), must=False)
            yield Wrong("that of a larger game", core.StateEvaluator(LARGER), must=False)
        elif isinstance(value, core.Judge):
            no_table = np.zeros((0, 256), np.int32)
            yield Wrong(
                "one of another game", core.Judge(i4(), no_table, np.ones(5), np.ones(2), 0.0), must=False
            )


def report(*line: object) -> None:
    print(json.dumps(line), flush=True)


def try_one(name: str, make: Callable[[], Call], changes: dict[str, Wrong]) -> None:
    """Make a call in which some arguments are wrong."""
    call = make()
    report("call", name, {argument: wrong.what for argument, wrong in changes.items()})
    arguments = {**call.arguments, **{argument: wrong.value for argument, wrong in changes.items()}}
    signal.alarm(SECONDS)
    try:
        found = call.function(*arguments.values()) if call.positional else call.function(**arguments)
        use(found)
        call.afterwards()
        del found
        report("accepted", name, any(wrong.must for wrong in changes.values()))
    except REFUSED:
        report("refused", name)
    except Exception as error:  # noqa: BLE001
        report("raised", name, repr(error))
    finally:
        signal.alarm(0)


def try_all(name: str, make: Callable[[], Call], chance: random.Random, share: int) -> None:
    """Make the right call, then with each argument wrong in every `share`-th way, then with some of them wrong."""
    right = make()
    before = copied(right.arguments)
    report("call", name, {})
    right.function(*right.arguments.values()) if right.positional else right.function(**right.arguments)
    right.afterwards()
    report("right", name)
    all_wrong = {}
    for argument, value in before.items():
        written = isinstance(value, np.ndarray) and value.tobytes() != right.arguments[argument].tobytes()
        all_wrong[argument] = list(wrong_values(value, written))
        if right.positional:  # what is none of the state's moves is an answer of `play`, not an error
            all_wrong[argument] = [wrong._replace(must=False) for wrong in all_wrong[argument]]
        for wrong in all_wrong[argument][chance.randrange(share) :: share]:
            try_one(name, make, {argument: wrong})
    few = [argument for argument, wrong in all_wrong.items() if wrong]
    if len(few) > 1:
        for _ in range(-(-10 // share)):
            some = chance.sample(few, chance.randint(2, min(4, len(few))))
            try_one(
                name,
                make,
                {
                    argument: chance.choice([w for w in all_wrong[argument] if not w.must])
                    for argument in some
                },
            )
    if right.positional:
        for count in (0, 1, 2, 3, 9):
            try_one(
                name,
                lambda: make()._replace(arguments={}),
                {str(i): Wrong("5", 5, must=False) for i in range(count)},
            )


def try_unmade() -> None:
    """Ask objects for all they have that were not initialized."""
    for name, made in vars(core).items():
        if not isinstance(made, type):
            continue
        for attribute in dir(made):
            if attribute.startswith("__"):
                continue
            report("call", "unmade", f"{name}.{attribute}")
            try:
                found = getattr(made.__new__(made), attribute)
                report("accepted", "unmade", not (callable(found) or attribute.isupper()))
            except REFUSED:
                report("refused", "unmade")


def try_views() -> None:
    """Read arrays of objects that are gone, or have changed since."""
    report("call", "views", "objects that are gone")
    made: list[Any] = [grown(), gates(), core.Playouts(CIRCUIT, 600, 1, 20), core.Survey(CIRCUIT), begun()[0]]
    made += [
        expanded.rollouts(initial(), i8(0), generator(), 20, last=True)
        for expanded in [core.StateEvaluator(CIRCUIT)]
    ]
    views = []
    for owner in made:
        for attribute in dir(owner):
            value = None if attribute.startswith("__") else getattr(owner, attribute)
            if isinstance(value, np.ndarray):
                views.append(value)
    made[0].clear()
    made[1].variables(1 << 16)
    sums = [float(np.sum(view)) for view in views]
    del made, owner, value
    gc.collect()
    sums += [float(np.sum(view)) for view in views]
    report("right", "views", len(sums))


def main() -> None:
    """Call one function, or all."""
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    every, chosen, share = calls(), sys.argv[1:], 1
    if chosen[:1] == ["--share"]:
        share, chosen = int(chosen[1]), chosen[2:]
    if chosen == ["--list"]:
        report(*every, "unmade", "views")
        return
    gc.freeze()  # what is collected after each function is what it left
    more = {"unmade": try_unmade, "views": try_views}
    for name in chosen or [*every, *more]:
        if name in more:
            more[name]()
        else:
            try_all(name, every[name], random.Random(name), share)
        gc.collect()
    report("done")


if __name__ == "__main__":
    main()

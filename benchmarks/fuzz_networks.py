"""Fuzz all evaluators of networks with random networks: every back end must give the same bits.

    python benchmarks/fuzz_networks.py [--seconds S | --cases N] [--seed K] [--compile-every N] [--only CASE]

Each case is a random and-inverter graph with roles, moves, goals and percepts, or one at an edge: no moves,
one move, no fluents or thousands, constants and equal literals as outputs, loops, roles that choose at once.
Its meaning is computed gate by gate in numpy, and compared with

- lane programs of two and of three bits, interpreted, and as machine code for AVX-512 and AVX2 that is
  emulated, so that no processor has to have them; the choice of moves as well, for any rank;
- the core, on all levels of kernels that the processor can run, walked and with machine code: states
  evaluated by `core.StateEvaluator` and one by one by `NetworkEngine`, random games by `core.Playouts`;
- the C source that `herbrand convert --to c` writes, for one case in N, if there is a compiler, and the
  WebAssembly module of `--to wasm`, if there is Node.

Circuits with some numbers changed must also be refused with `ValueError`, or work; they never crash and
never hang.

A case that fails is named by its number: `--only CASE` runs it alone.  The tests run some cases;
`--seconds 600` is a good run after a change of the core.
"""

from __future__ import annotations

import argparse
import itertools
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from emulated import EmulatedMachine
from interpreted import InterpretedPlayouts
from wasm_host import NODE, differences

from herbrand import core
from herbrand.convert.lanes.c_language import c_source
from herbrand.convert.wasm import game_module
from herbrand.engine.on_network import NetworkEngine
from herbrand.network import LaneProgram, Network
from herbrand.network.lane_machine import LaneMachine
from herbrand.rules.terms import TermTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    Bits = NDArray[np.bool_]

LANES = core.LANES
CLOCK = 9
"""Bits of a clock that counts steps."""
LATE = 272
"""So many steps are more than random games of the core look at before they assume something."""
MOST_WORK = 100_000
"""Gates times joint moves, above which not all joint moves of all lanes are tried."""
COMPILER = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


# -- random networks --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shape:
    """How large a network is."""

    fluents: int
    moves: tuple[int, ...]
    """Of each role."""
    gates: tuple[int, int, int]
    """Of each cone."""
    goals: int = 4
    percepts: int = 2
    loops: int = 0
    groups: tuple[int, ...] = ()
    """Sizes of groups of fluents of which one is true, and moves on: programs that play may rely on that."""
    late: bool = False
    """Whether that is only so for `LATE` steps, and games go on for as long."""
    constant: float = 0.1
    """The share of outputs that are constants or inputs."""


def random_shape(chance: Generator) -> Shape:
    """Return a shape: mostly small ones, some at an edge, some that fill all registers."""

    def below(most: int) -> int:
        return int(chance.integers(0, most + 1))

    def moves(roles: int, most: int) -> tuple[int, ...]:
        return tuple(below(most) if chance.random() < 0.1 else 1 + below(most - 1) for _ in range(roles))

    gates = (below(60), below(60), below(30))
    kinds = {"small": 0.3, "edge": 0.2, "groups": 0.2, "loops": 0.15}
    kinds |= dict.fromkeys(("many moves", "large", "wide"), 0.05)
    kind = chance.choice(list(kinds), p=list(kinds.values()))
    if kind == "edge":
        return Shape(
            fluents=int(chance.choice([0, 1, 2, 63, 64, 65])),
            moves=tuple(int(m) for m in chance.choice([0, 1, 2, 3, 64, 65], below(3))),
            gates=tuple(int(n) for n in chance.choice([0, 1, 20], 3)),  # type: ignore[arg-type]
            goals=below(3),
            percepts=below(1),
            constant=float(chance.choice([0.0, 0.5, 1.0])),
        )
    if kind == "many moves":
        return Shape(below(20) + 1, moves(1 + below(2), 200), (below(400), below(400), below(50)))
    if kind == "large":
        return Shape(
            below(100) + 1, moves(1 + below(2), 30), (below(2500), below(2500), below(500)), 20, 20, below(2)
        )
    if kind == "wide":
        return Shape(1000 + below(3000), moves(1 + below(2), 4), gates)
    if kind == "groups":
        groups = tuple(2 + below(4) for _ in range(1 + below(2)))
        few = (below(30), below(30), below(30))
        roles = 1 + below(2)
        groups = (roles, *groups) if roles > 1 else groups
        late = bool(chance.random() < 0.3)
        return Shape(sum(groups) + CLOCK * late + below(5), moves(roles, 10), few, groups=groups, late=late)
    loops = 1 + below(3) if kind == "loops" else 0
    return Shape(below(12) + 1, moves(1 + below(2), 6), gates, below(6), below(4), loops)


class _Wiring:
    """Makes the gates of a network, in their order."""

    def __init__(self, chance: Generator, inputs: int) -> None:
        self.chance, self.inputs = chance, inputs
        self.left: list[int] = []
        self.right: list[int] = []

    def literal(self, nodes: Sequence[int]) -> int:
        """Return a random literal of some nodes: of the last ones rather than of the first."""
        place = int(len(nodes) * self.chance.random() ** self.chance.choice([1.0, 0.3]))
        return 2 * nodes[min(place, len(nodes) - 1)] + int(self.chance.integers(0, 2))

    def gate(self, left: int, right: int) -> int:
        self.left.append(left)
        self.right.append(right)
        return self.inputs + len(self.left) - 1

    def gates(self, nodes: list[int], count: int) -> None:
        """Add so many gates over some nodes, and to them."""
        for _ in range(count):
            nodes.append(self.gate(self.literal(nodes), self.literal(nodes)))

    def loop(self, nodes: list[int], back: Sequence[int], count: int) -> list[int]:
        """Add a loop of so many gates over nodes outside and feedback; return the sources of the latter.

        The literals in it only grow with the feedback: ANDs, and ORs, which are the opposites of their nodes.
        """
        own = [2 * node for node in back]
        for _ in range(count):
            left, right = self.chance.choice(own), self.chance.choice(own)
            if self.chance.random() < 0.5:
                right = self.literal(nodes)
            is_or = int(self.chance.integers(0, 2))
            own.append(2 * self.gate(int(left) ^ is_or, int(right) ^ is_or) + is_or)
        nodes += [literal >> 1 for literal in own]
        return [int(self.chance.choice(own)) for _ in back]

    def turns(self, nodes: Sequence[int], shape: Shape) -> list[int]:
        """Return literals of legal moves, most of which need one of the fluents of a group.

        If the first group has a fluent for each role, roles take turns: they wait where theirs is false.
        """
        turns = []
        size = shape.groups[0]
        for role, count in enumerate(shape.moves):
            take_turns = size == len(shape.moves) > 1
            first = 1 + role if take_turns else 1
            members = [first] if take_turns else range(first, first + sum(shape.groups))
            for move in range(count):
                member = 2 * int(self.chance.choice(members))
                alone = move == 0 or self.chance.random() < 0.3
                turns.append(member if alone else 2 * self.gate(member, self.literal(nodes)))
            if take_turns and count > 1:
                turns[-1] = 2 * first + 1
        return turns

    def clock(self, bits: Sequence[int]) -> list[int]:
        """Return the literals of these fluents in the next step, of a clock that counts steps."""
        clock, carry = [], 1
        for bit in bits:
            both = self.gate(2 * bit, carry)
            neither = self.gate(2 * bit + 1, carry ^ 1)
            clock.append(2 * self.gate(2 * both + 1, 2 * neither + 1))
            carry = 2 * both
        return clock


def random_network(chance: Generator, shape: Shape) -> Network:
    """Return a random network of about a shape, whose games come to some length."""
    terms = TermTable()
    roles = tuple(terms.constant(f"role{r}") for r in range(len(shape.moves)))
    fluents = [terms.read(f"(at {g} {i})") for g, size in enumerate(shape.groups) for i in range(size)]
    fluents += [terms.constant(f"fluent{f}") for f in range(shape.fluents - len(fluents))]
    backs = [int(chance.integers(1, 4)) for _ in range(shape.loops)]
    first_move = 1 + shape.fluents
    first_back = first_move + sum(shape.moves)
    wiring = _Wiring(chance, first_back + sum(backs))
    state = list(range(first_move))
    feedback: list[int] = []
    loops: list[tuple[int, int, int, int]] = []
    ends = []
    visible = {0: state}
    turns: list[int] = []
    clock: list[int] = []
    bits = range(1 + sum(shape.groups), 1 + sum(shape.groups) + CLOCK)  # nodes of the clock
    for cone, count in enumerate(shape.gates):
        if cone:
            visible[cone] = visible[0] + (list(range(first_move, first_back)) if cone == 1 else [])
        nodes = visible[cone]
        for loop, size in enumerate(backs):
            if loop % 3 != cone:
                continue
            wiring.gates(nodes, count // 4)
            begin, first = len(wiring.left), len(feedback)
            back = range(first_back + first, first_back + first + size)
            feedback += wiring.loop(nodes, back, 1 + int(chance.integers(8)))
            loops.append((begin, len(wiring.left), first, first + size))
        wiring.gates(nodes, count)
        if cone == 0 and shape.groups:
            turns = wiring.turns(nodes, shape)
        if cone == 1 and shape.late:
            clock = wiring.clock(bits)
            late = wiring.gate(2 * bits[8], 2 * bits[4])
            clock.append(2 * wiring.gate(2 * shape.groups[0] + 1, 2 * late + 1) + 1)  # for the first fluent
        ends.append(len(wiring.left))

    def outputs(count: int, cone: int) -> NDArray[np.int32]:
        nodes = visible[cone]
        literals = [wiring.literal(nodes) for _ in range(count)]
        for i in range(count):
            if chance.random() < shape.constant:
                literals[i] = int(chance.choice([0, 1, 1, wiring.literal(nodes[:first_move]), literals[0]]))
        return np.array(literals, np.int32)

    def pairs(count: int, values: Sequence[str]) -> NDArray[np.int64]:
        count = count if roles else 0
        who = np.sort(chance.integers(0, max(1, len(roles)), count))
        what = [terms.constant(str(chance.choice(values))) for _ in range(count)]
        return np.array([who, what], np.int64).T.reshape(count, 2)

    goals = pairs(shape.goals, ["0", "50", "100", "101", "won"])
    percepts = pairs(shape.percepts, ["this", "that"])
    moves = [(r, terms.constant(f"move{m}")) for r, count in enumerate(shape.moves) for m in range(count)]
    legal, following = outputs(len(moves), 0), outputs(shape.fluents, 1)
    initial = chance.random(shape.fluents) < 0.5
    if turns:
        legal = np.where(chance.random(len(moves)) < 0.1 * (not shape.late), legal, turns)
    place = 0
    for size in shape.groups:
        members = np.arange(place, place + size)
        initial[members] = members == chance.choice(members)
        following[members] = 2 * (1 + np.roll(members, 1))
        place += size
    if shape.late:
        initial[place : place + CLOCK] = False
        following[[*range(place, place + CLOCK), 0]] = clock
    return Network(
        terms=terms,
        roles=roles,
        fluents=np.array(fluents, np.int64),
        moves=np.array(moves, np.int64).reshape(len(moves), 2),
        left=np.array(wiring.left, np.int32),
        right=np.array(wiring.right, np.int32),
        feedback=np.array(feedback, np.int32),
        loops=np.array(loops, np.int32).reshape(len(loops), 4),
        legal=legal.astype(np.int32),
        next=following,
        terminal=0 if shape.late or chance.random() < 0.3 else int(outputs(1, 0)[0]),
        goal=outputs(len(goals), 2),
        goals=goals,
        sees=outputs(len(percepts), 1),
        percepts=percepts,
        initial=initial,
        cones=(ends[0], ends[1], ends[2]),
    )


def random_states(chance: Generator, shape: Shape) -> Bits:
    """[fluents, LANES] of which most keep to the groups of a shape."""
    fluents = random_rows(chance, shape.fluents)
    place = 0
    for size in shape.groups:
        one = np.arange(size)[:, None] == chance.integers(size, size=LANES)
        fluents[place : place + size] = np.where(
            chance.random(LANES) < 0.9, one, fluents[place : place + size]
        )
        place += size
    return fluents


# -- what networks mean -----------------------------------------------------------------------------------


def evaluated(network: Network, fluents: Bits, moves: Bits) -> Callable[[NDArray[np.int32] | int], Bits]:
    """Evaluate a network gate by gate in many states, [fluents, n] and [moves, n].

    Returns a function that gives the values of literals, [..., n].
    """
    values = np.zeros((network.inputs + network.gates, fluents.shape[1]), np.bool_)
    values[1 : 1 + len(fluents)] = fluents
    values[1 + len(fluents) : 1 + len(fluents) + len(moves)] = moves
    first_back = 1 + len(fluents) + len(moves)

    def literals(of: NDArray[np.int32] | int) -> Bits:
        result: Bits = values[np.asarray(of) >> 1] ^ (np.asarray(of)[..., None] & 1).astype(np.bool_)
        return result

    def gates(begin: int, end: int) -> None:
        for g in range(begin, end):
            values[network.inputs + g] = literals(network.left[g]) & literals(network.right[g])

    done = 0
    for first, last, back, back_end in network.loops[np.argsort(network.loops[:, 0])].tolist():
        gates(done, first)
        while True:
            gates(first, last)
            found = literals(network.feedback[back:back_end])
            if np.array_equal(found, values[first_back + back : first_back + back_end]):
                break
            values[first_back + back : first_back + back_end] = found
        done = last
    gates(done, network.gates)
    return literals


def packed(bits: Bits) -> NDArray[np.uint64]:
    """[..., n] as words of 64, the last one filled up with false."""
    missing = -bits.shape[-1] % 64
    padded = np.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, missing)])
    words = np.packbits(np.ascontiguousarray(padded), axis=-1, bitorder="little")
    return np.ascontiguousarray(words).view("<u8").astype(np.uint64)


def unpacked(words: NDArray[np.uint64]) -> Bits:
    """The opposite of `packed`."""
    return np.unpackbits(words.astype("<u8").view(np.uint8), axis=-1, bitorder="little").astype(np.bool_)


def random_rows(chance: Generator, count: int) -> Bits:
    """[count, LANES] bits, true in a share that differs from row to row."""
    share = chance.choice([0.0, 0.1, 0.5, 0.9, 1.0], (count, 1), p=[0.05, 0.2, 0.5, 0.2, 0.05])
    return chance.random((count, LANES)) < share


def same(what: str, expected: Any, actual: Any) -> None:
    """Raise `AssertionError` unless two arrays, or whatever they are, are equal."""
    if isinstance(expected, np.ndarray):
        equal = expected.shape == np.shape(actual) and np.array_equal(expected, actual)
    else:
        equal = expected == actual
    if not equal:
        raise AssertionError(f"{what}: expected {expected!r}, found {actual!r}")


# -- comparisons ------------------------------------------------------------------------------------------


def back_ends(network: Network) -> Iterator[tuple[str, Network, bool]]:
    """Yield each way of the core to evaluate: its name, a copy of the network for it, whether it walks."""
    before = core.level()
    try:
        for level in core.levels():
            core.use_level(level)
            for allowed in (False, True):
                core.allow_code(allowed)
                if allowed and core.why_no_code():
                    continue
                yield (
                    f"{level} {'with' if allowed else 'without'} machine code",
                    replace(network),
                    not allowed,
                )
    finally:
        core.use_level(before)
        core.allow_code(True)


MACHINES: list[tuple[int, str]] = [(2, ""), (3, "")]
"""Bits of functions, and what runs programs of them: machine code that is emulated, or the interpreter."""
if platform.machine().lower() in {"x86_64", "amd64"}:
    MACHINES += [(2, "avx2"), (3, "avx512")]


def machine_for(program: LaneProgram, compiled: core.CompiledProgram, kind: str) -> LaneMachine:
    """Return what runs a program: its machine code of a kind, or the interpreter."""
    return EmulatedMachine(program, compiled, kind) if kind else LaneMachine(program)


def check_evaluation(network: Network, shape: Shape, chance: Generator) -> None:
    """States: by programs that evaluate, by the core for many states, and by the core for one."""
    fluents, any_moves = random_states(chance, shape), random_rows(chance, len(network.moves))
    literals = evaluated(network, fluents, any_moves)
    for arity, kind in MACHINES:
        compiled = core.evaluating_program(network.circuit, arity)
        machine = machine_for(LaneProgram.evaluating(network, arity=arity), compiled, kind)
        program, rows = machine.program, machine.rows
        rows[2 : program.kept] = packed(
            random_rows(chance, program.kept - 2)
        )  # what is left of earlier passes
        machine.state[:] = packed(fluents)
        rows[list(program.move_rows)] = packed(any_moves)
        for stage in ("legal", "next", "goals") if chance.random() < 0.5 else ("legal", "goals", "next"):
            machine.run(stage)
        for name, literal, places in (
            ("legal", network.legal, program.legal_rows),
            ("terminal", np.array([network.terminal]), (program.terminal_row,)),
            ("next", network.next, range(2 + program.states, 2 + 2 * program.states)),
            ("goal", network.goal, program.goal_rows),
            ("sees", network.sees, program.sees_rows),
        ):
            actual = unpacked(rows[list(places)]).reshape(-1, LANES)
            same(f"{name}, {kind or 'interpreted'}", literals(literal), actual)

    number = chance.integers(1, LANES + 1)
    made = np.array([chance.integers(-1, count or 1, number) for count in _sizes(network)], np.int32)
    made = made.reshape(len(network.roles), number)
    made[np.array(_sizes(network), np.int64) == 0] = -1
    fluents = fluents[:, :number]
    one_each = np.zeros((len(network.moves), number), np.bool_)
    firsts = np.cumsum([0, *_sizes(network)])
    for role, mine in enumerate(made):
        one_each[firsts[role] + mine[mine >= 0], np.flatnonzero(mine >= 0)] = True
    literals = evaluated(network, fluents, one_each)
    states = packed(fluents.T) if len(fluents) else np.zeros((number, 1), np.uint64)
    for name, copy, _ in back_ends(network):
        expander = core.StateEvaluator(copy.circuit)
        over, legal = expander.legal(states)
        same(f"terminal, {name}", literals(network.terminal).reshape(-1), over)
        for role in range(len(network.roles)):
            expected = literals(network.legal[firsts[role] : firsts[role + 1]])
            places = copy.circuit.places
            same(f"legal, {name}", packed(expected.T), legal[:, places[role] : places[role + 1]])
        same(f"goals, {name}", _values(network, literals(network.goal)), expander.goals(states))
        following, seen = expander.step(states, np.ascontiguousarray(made.T), None, sees=True)
        if len(fluents):
            same(f"next, {name}", packed(literals(network.next).T), following)
        if len(network.sees):
            same(f"sees, {name}", packed(literals(network.sees).T), seen)
    _check_engine(network, states[:8], made[:, :8], literals)


def _sizes(network: Network) -> list[int]:
    """How many moves each role has."""
    return [int((network.moves[:, 0] == role).sum()) for role in range(len(network.roles))]


def _values(network: Network, goals: Bits) -> NDArray[np.int16]:
    """[n, roles] the goal values of each role."""
    values = np.full((goals.shape[1], len(network.roles)), core.NO_VALUE, np.int16)
    for (role, term), holds in zip(network.goals.tolist(), goals, strict=True):
        text = network.terms.text(term)
        value = int(text) if text.isdigit() and int(text) <= 100 else core.SEVERAL_VALUES
        mine = values[:, role]
        mine[holds] = np.where(mine[holds] == core.NO_VALUE, value, core.SEVERAL_VALUES)
    return values


def _check_engine(
    network: Network,
    states: NDArray[np.uint64],
    made: NDArray[np.int32],
    literals: Callable[[NDArray[np.int32] | int], Bits],
) -> None:
    """States one by one, where only what changes is evaluated again."""
    engine = NetworkEngine(network)
    roles = range(len(network.roles))
    legal, terminal = literals(network.legal), literals(network.terminal).reshape(-1)
    goals, following, sees = literals(network.goal), literals(network.next), literals(network.sees)
    for i, state in enumerate(states):
        key = state.tobytes()
        same("terminal, one by one", bool(terminal[i]), engine.terminal(key))
        for role in roles:
            mine = network.moves[:, 0] == role
            same(
                "legal, one by one",
                set(network.moves[mine & legal[:, i], 1].tolist()),
                set(engine.legal(key, role)),
            )
            expected = network.goals[(network.goals[:, 0] == role) & goals[:, i], 1]
            same("goals, one by one", sorted(expected.tolist()), sorted(engine.goals(key, role)))
        if (made[:, i] < 0).any() or not len(network.fluents):
            continue
        joint = [network.moves[network.moves[:, 0] == role][made[role, i], 1] for role in roles]
        after = packed(following[:, i : i + 1].T)[0].tobytes()
        same("successor, one by one", after, engine.successor(key, joint))
        for role in roles:
            expected = network.percepts[(network.percepts[:, 0] == role) & sees[:, i], 1]
            same("percepts, one by one", sorted(expected.tolist()), sorted(engine.percepts(key, joint, role)))


def check_choice(network: Network, shape: Shape, chance: Generator) -> None:
    """One pass of programs that play, from random states: what they say, and which moves ranks stand for."""
    for assume, (arity, kind) in itertools.product((False, True), MACHINES):
        program = LaneProgram.playing(network, assume=assume, arity=arity)
        play = program.play
        assert play is not None
        machine = machine_for(program, core.playing_program(network.circuit, assume, arity), kind)
        rows = machine.rows
        fluents = random_states(chance, shape)
        active, late, restart = chance.random((3, LANES)) < [[0.9], [0.1], [0.1]]
        rows[2 : program.kept] = packed(random_rows(chance, program.kept - 2))
        machine.state[: len(fluents)] = packed(fluents)
        machine.state[len(fluents) :] = 0
        rows[play.active], rows[play.late] = packed(active), packed(late)
        machine.run("legal")
        meaning = _Pass(network, fluents, active, late)
        conflict = unpacked(rows[play.conflict])
        assert assume or not conflict.any(), "a conflict where nothing is assumed"
        assert not (conflict & ~meaning.playing).any(), "a conflict where nobody plays"
        fine = ~conflict
        same("over", meaning.over, unpacked(rows[play.over]))
        same("playing", meaning.playing, unpacked(rows[play.playing]))
        for role, row in enumerate(play.stuck_roles):
            same("stuck of a role", meaning.stuck[role, fine], unpacked(rows[row])[fine])
        same("stuck", meaning.stuck.any(axis=0)[fine], unpacked(rows[play.stuck])[fine])
        compared = fine & meaning.playing & ~meaning.stuck.any(axis=0) & ~restart
        counts = []
        for choice in play.choices:
            count, again = _number(rows, choice.count), unpacked(rows[choice.again])
            assert not (again & ~meaning.playing & fine).any(), "a draw where nobody plays"
            assert (count > 1)[again & fine].all(), "a draw without a choice"
            drawn = compared & (count > 0) & ~again
            assert (_number(rows, choice.rank) < count)[drawn].all(), "a rank out of range"
            counts.append(np.maximum(count, 1))
        rows[play.restart] = packed(restart)
        machine.run("goals")
        for k, row in enumerate(program.goal_rows):
            same("goal", meaning.goals[k], unpacked(rows[row]))
        machine.run("next")
        after = unpacked(machine.after).reshape(-1, LANES)
        initial = np.broadcast_to(network.initial[:, None], fluents.shape)
        same("the state after a restart", initial[:, restart], after[: len(fluents), restart])
        for role, (first, bits) in enumerate(play.counters):
            actual = _number(machine.after, range(first, first + bits))
            same("the counter of moves", meaning.counted[role, fine], actual[fine])
        _check_ranks(network, machine, counts, compared, meaning.legal)


class _Pass:
    """What holds in one pass of random play, in all lanes."""

    def __init__(self, network: Network, fluents: Bits, active: Bits, late: Bits) -> None:
        literals = evaluated(network, fluents, np.zeros((len(network.moves), LANES), np.bool_))
        self.legal = literals(network.legal)
        terminal = literals(network.terminal).reshape(-1)
        self.over, self.playing = active & terminal, active & ~terminal & ~late
        who = network.moves[:, 0]
        counts = [self.legal[who == role].sum(axis=0) for role in range(len(network.roles))]
        count = np.array(counts, np.int64).reshape(-1, LANES)
        self.stuck = self.playing & (count == 0)
        self.counted = np.where(self.playing, count, 0)
        goals, of = literals(network.goal), network.goals[:, 0]
        only = [goals[of == role].sum(axis=0) == 1 for role in of.tolist()]
        self.goals = [holds & one & self.over for holds, one in zip(goals, only, strict=True)]


def _number(rows: NDArray[np.uint64], of: Sequence[int]) -> NDArray[np.int64]:
    """[lanes] numbers from the rows of their bits, the lowest first."""
    number = np.zeros(LANES, np.int64)
    for bit, row in enumerate(of):
        number += unpacked(rows[row]).astype(np.int64) << bit
    return number


def _check_ranks(
    network: Network, machine: LaneMachine, counts: list[NDArray[np.int64]], compared: Bits, legal: Bits
) -> None:
    """All ranks together lead to the states that all joint moves lead to, each as often."""
    play = machine.program.play
    assert play is not None
    fluents = unpacked(machine.state).reshape(-1, LANES)[: len(network.fluents)]
    ranks = list(itertools.product(*(range(int(count[compared].max(initial=1))) for count in counts)))
    firsts = np.cumsum([0, *_sizes(network)])
    joints = list(itertools.product(*(range(a, b) for a, b in itertools.pairwise(firsts.tolist()))))
    if max(len(ranks), len(joints)) * (network.gates + 50) > MOST_WORK or not compared.any():
        return
    weights = np.random.default_rng(1).integers(0, 1 << 64, (len(fluents), 1), np.uint64)

    def hashes(states: Bits, holds: Bits) -> NDArray[np.uint64]:
        """Return a number for each state, and 0 where it is none."""
        return np.where(holds, (states.astype(np.uint64) * weights).sum(axis=0) | np.uint64(1), np.uint64(0))

    by_rank, by_move = [], []
    for rank in ranks:
        holds = compared.copy()
        for choice, count, number in zip(play.choices, counts, rank, strict=True):
            holds &= number < count
            for bit, row in enumerate(choice.rank):
                machine.rows[row] = machine.rows[number >> bit & 1]
        machine.run("next")
        by_rank.append(hashes(unpacked(machine.after).reshape(-1, LANES)[: len(fluents)], holds))
    for joint in joints:
        made = np.zeros((len(network.moves), LANES), np.bool_)
        made[list(joint)] = True
        following = evaluated(network, fluents, made)(network.next)
        by_move.append(hashes(following, compared & legal[list(joint)].all(axis=0)))
    most = max(len(by_rank), len(by_move))
    actual, expected = (
        np.sort(np.pad(np.array(of), ((most - len(of), 0), (0, 0))), axis=0) for of in (by_rank, by_move)
    )
    same("the states that ranks lead to", expected, actual)


def counts_of(played: core.Playouts | InterpretedPlayouts) -> dict[str, Any]:
    """Return all that is counted of random games."""
    names = ("played", "ended", "truncated", "stuck", "transitions", "stuck_role")
    counts: dict[str, Any] = {name: getattr(played, name) for name in names}
    lengths = played.lengths
    pairs = lengths.items() if isinstance(lengths, dict) else enumerate(lengths.tolist())
    counts["lengths"] = sorted((length, games) for length, games in pairs if games)
    return counts | {"goals": played.goals.tolist(), "choices": played.choices.tolist()}


def check_games(network: Network, shape: Shape, chance: Generator, *, compiled: bool) -> None:
    """Random games from one seed."""
    seed, games = int(chance.integers(0, 1 << 63)), int(chance.choice([1, 511, 513, 1500]))
    max_steps = LATE + 20 if shape.late else int(chance.choice([0, 1, 7, 40]))
    games = min(games, LANES) if shape.late else games
    arity, kind = MACHINES[chance.integers(len(MACHINES))]

    def machine(program: LaneProgram) -> LaneMachine:
        assert program.play is not None
        return machine_for(program, core.playing_program(network.circuit, program.play.assume, arity), kind)

    interpreted = InterpretedPlayouts(network, games, seed, max_steps, arity=arity, machine=machine)
    expected = counts_of(interpreted)
    assert expected["played"] == games
    for name, copy, walks in back_ends(network):
        played = core.Playouts(copy.circuit, games, seed, max_steps, walks)
        assert played.play(600.0, core.Stop())
        assert (played.code == "walked") == walks
        same(f"random games, {name}", expected, counts_of(played))
        if played.stuck:
            bits = unpacked(played.stuck_state)[: len(network.fluents)]
            same(
                f"the state that was stuck, {name}", interpreted.stuck_fluents, np.flatnonzero(bits).tolist()
            )
    if compiled and NODE is not None:
        module = game_module(network, "game")
        assert not (wrong := differences(network, module, games=games, steps=max_steps, longest=4)), wrong
    if compiled and COMPILER is not None:
        words = int(chance.choice([1, 2]))
        flags = [f"-DPART_WORDS={words}", str(chance.choice(["-O0", "-O1", "-O2"]))]
        same("C source", expected, by_c(network, games, seed, max_steps, flags))


def by_c(network: Network, games: int, seed: int, max_steps: int, flags: Sequence[str]) -> dict[str, Any]:
    """Play games by C source; return what it counts, as `counts_of` does."""
    assert COMPILER is not None
    with tempfile.TemporaryDirectory() as folder:
        file, program = Path(folder) / "game.c", Path(folder) / "game"
        file.write_text(c_source(network, "game"), encoding="ascii")
        strict = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        _run([COMPILER, *strict, *flags, str(file), "-o", str(program)])
        words = ["-n", str(games), "--seed", str(seed), "--max-steps", str(max_steps)]
        lines = _run([str(program), *words]).splitlines()
    counts: dict[str, Any] = {"stuck_role": -1, "lengths": [], "goals": [], "choices": []}
    names = [network.terms.text(role) for role in network.roles]
    for line in lines:
        kind, *rest = line.split()
        if line.startswith("stuck in"):
            counts["stuck_role"] = names.index(rest[1])
        elif kind == "length":
            counts["lengths"].append((int(rest[0]), int(rest[1])))
        elif kind in {"goal", "choices"}:
            counts["goals" if kind == "goal" else kind].append(int(rest[-1]))
        else:
            counts[kind] = int(rest[0])
    return counts


def _run(command: list[str]) -> str:
    """Run a command; return what it prints, or raise `AssertionError` with what it says."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # ours
    assert not done.returncode, done.stderr
    return done.stdout


def check_refusal(network: Network, chance: Generator) -> None:
    """A circuit with some numbers changed is refused, or it works."""
    arrays = _arguments(network)
    for _ in range(20):
        changed = dict(arrays)
        for _ in range(chance.integers(1, 4)):
            name = str(chance.choice(list(changed)))
            changed[name] = _changed(changed[name], chance)
        try:
            circuit = core.make_circuit(**changed)
        except (ValueError, TypeError):
            continue
        games = core.Playouts(circuit, 100, 1, 5)
        assert games.play(60.0, core.Stop())
        states = np.zeros((3, circuit.state_words), np.uint64)
        expander = core.StateEvaluator(circuit)
        expander.legal(states)
        expander.goals(states)
        expander.step(states, np.full((3, circuit.roles), -1, np.int32), None, sees=True)


def _arguments(network: Network) -> dict[str, Any]:
    """Return the arguments with which a network makes its circuit."""
    chosen: dict[str, Any] = {}
    make = core.make_circuit
    try:
        core.make_circuit = lambda **arguments: chosen.update(arguments)  # type: ignore[assignment]
        replace(network)._create_circuit()
    finally:
        core.make_circuit = make
    return chosen


def _changed(value: Any, chance: Generator) -> Any:
    """Return a number or an array with something changed."""
    number = int(chance.choice([-1, 0, 1, 2, 3, 100, 1 << 20, (1 << 31) - 1]))
    if isinstance(value, int):
        return number if chance.random() < 0.5 else value + int(chance.integers(-2, 3))
    if isinstance(value, list):
        if not value:
            return [(0, [number])]
        place = int(chance.integers(len(value)))
        old = value[place]
        if isinstance(old, int):
            new: Any = old + int(chance.integers(-3, 4))
        else:  # alternatives: a family, and some fluents
            new = (number, old[1]) if chance.random() < 0.5 else (old[0], [*old[1], number])
        return [*value[:place], new, *value[place + 1 :]]
    if chance.random() < 0.2:
        return value[: chance.integers(len(value) + 1)]
    value = value.copy()
    if value.size:
        place = chance.integers(value.size)
        if chance.random() < 0.5:
            value.flat[place] = value.flat[chance.integers(value.size)]
        else:
            value.flat[place] = np.array(number).astype(value.dtype)
    return value


def check(case: int, *, compiled: bool) -> Network:
    """Make one case and compare everything; raises `AssertionError` at the first difference."""
    chance = np.random.default_rng(case)
    shape = random_shape(chance)
    network = random_network(chance, shape)
    check_evaluation(network, shape, chance)
    check_choice(network, shape, chance)
    check_games(network, shape, chance, compiled=compiled)
    check_refusal(network, chance)
    return network


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on")
    parser.add_argument("--cases", type=int, help="how many cases to try instead")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first case")
    parser.add_argument(
        "--compile-every", type=int, default=10, metavar="N", help="compile C for one case in N"
    )
    parser.add_argument("--only", type=int, help="try this case alone")
    options = parser.parse_args()
    first, last = options.seed, options.seed + (options.cases or sys.maxsize)
    if options.only is not None:
        first, last = options.only, options.only + 1
    deadline = time.monotonic() + options.seconds
    case, failed = first, 0
    levels = ", ".join(core.levels())
    print(f"levels: {levels}; machine code: {core.why_no_code() or 'yes'}; C compiler: {COMPILER or 'none'}")
    while case < last and (options.cases or options.only is not None or time.monotonic() < deadline):
        try:
            check(case, compiled=case % options.compile_every == 0 or options.only is not None)
        except Exception as error:  # noqa: BLE001  # whatever it is, it was found
            failed += 1
            print(f"case {case}: {type(error).__name__}: {str(error)[:1000]}", flush=True)
        case += 1
    print(f"{case - first} cases, {failed} failed")
    raise SystemExit(failed > 0)


if __name__ == "__main__":
    main()

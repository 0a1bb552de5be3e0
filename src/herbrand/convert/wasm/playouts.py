"""Random games from given states in 128 lanes, for any game: code around the stages of a network.

The host writes a table of addresses, then, again and again, a state and a set of lanes (`begin`), and has the
games played (`run`) until enough lanes are idle.  Every role chooses uniformly among its legal moves, in all
lanes at once:

1. *Count.*  The legal moves of the role are added up in binary numbers across rows.
2. *Draw.*  The count times a random fraction of 20 bits, shift and add; the integer part is the rank of the
   move (as in Lemire 2019, without rejection).
3. *Select.*  In each lane, ranks are counted down at every legal move; the move at which one is 0 is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.convert.wasm.assembler import (
    I32,
    I64,
    V128,
    ZEROS,
    FunctionBuilder,
    Value,
    call,
    i32,
    load,
    load8,
)
from herbrand.convert.wasm.binary import Module, Signature
from herbrand.convert.wasm.rows import VECTOR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from herbrand.convert.wasm.assembler import LocalVariable

__all__ = ["FRACTION", "LANES", "TABLE", "define_playouts", "kernel"]

LANES: Final = 128
FRACTION: Final = 20
"""Random bits for each choice; the probabilities of two moves differ by less than 2**-20."""

TABLE: Final = (
    "fluents",  # how many
    "fluent_rows",
    "next_rows",
    "start_rows",  # the states from which games begin
    "state",  # a bit for each fluent, of the state to begin with
    "roles",
    "move_counts",  # [roles] how many moves each role has
    "legal_rows",
    "move_rows",
    "terminal_row",
    "goals",  # how many
    "goal_rows",
    "goal_table",  # [goals, 2] role and value
    "sums",  # [roles, 128] sums of goals
    "longest",  # steps of a game; longer ones count 0
)
"""The parameters that the host writes at address 0, as words of 32 bits: numbers and addresses."""

MASK: Final = 64
"""Address of a row: the lanes in which `begin` begins."""
ACTIVE: Final = 80
"""Address of a row: the lanes in which games are played."""
_PLAYING: Final = 96
_STUCK: Final = 112
GENERATOR: Final = 128
"""Address of four rows: the state of xoshiro256++ in each word of 64 lanes (Blackman and Vigna 2021)."""
CLOCK: Final = 192
"""Address of the number of passes so far; each is a step of all games."""
_OLDEST: Final = 196
"""No game began before this pass."""
_SCRATCH: Final = 208
_QUOTA: Final = 256
"""Address of [128] games that a lane has yet to finish."""
_BORN: Final = _QUOTA + 4 * LANES
"""Address of [128] passes in which the present games began."""
END: Final = _BORN + 4 * LANES
"""The first address that is the host's."""

_WIDTHS: Final = (3, 5, 8, 16)
"""Bits of the number of legal moves for which there is code."""


def kernel() -> bytes:
    """Return a module that imports its memory and the stages."""
    module = Module()
    module.import_memory("host", "memory", 1)
    stages = {name: module.import_function("host", name, Signature()) for name in ("legal", "next", "goals")}
    define_playouts(module, stages)
    return module.encoded()


def define_playouts(module: Module, stages: Mapping[str, int]) -> None:
    """Add and export `begin` and `run`."""
    draws = [(width, _draw(width).define(module)) for width in _WIDTHS]
    choose = _choose(draws).define(module)
    score = _score().define(module)
    finish = _finish().define(module)
    module.export("begin", _begin().define(module))
    late = _late().define(module)
    module.export("run", _run(stages, choose, score, finish, late).define(module))


def _entry(name: str) -> Value:
    return load(I32, 0, 4 * TABLE.index(name))


def _begin() -> FunctionBuilder:
    """In the lanes of the mask, begin so many games from the state, and forget sums."""
    f = FunctionBuilder([I32])
    games = f.param(0)
    mask, bit = f.keep(load(V128, MASK)), f.variable(V128)
    i, offset, address = (f.variable(I32) for _ in range(3))
    with f.times(i, _entry("fluents")):
        f.set(offset, i << 4)
        f.set(bit, ZEROS)
        with f.when((load8(_entry("state") + (i >> 3)) >> (i & 7)) & 1):
            f.set(bit, mask)
        for rows in ("fluent_rows", "start_rows"):
            row = f.keep(_entry(rows) + offset)
            f.store(row, load(V128, row).without(mask) | bit)
    f.store(ACTIVE, load(V128, ACTIVE) | mask)
    with f.each_bit(MASK, VECTOR) as lane:
        f.set(address, lane.number << 2)
        f.store(address, games, _QUOTA)
        f.store(address, load(I32, CLOCK), _BORN)
        f.set(i, 0)
        with f.times(i, _entry("roles") * (4 * LANES), 4 * LANES):
            f.store(_entry("sums") + i + address, i32(0))
    return f


def _random(f: FunctionBuilder, state: Sequence[LocalVariable], out: LocalVariable) -> None:
    """Set a row to random bits, and advance the generator."""
    total = f.keep(state[0].add64(state[3]))
    f.set(out, (total.shift64(23) | total.shift64(-41)).add64(state[0]))
    f.advance(state)


def _draw(width: int) -> FunctionBuilder:
    """Make a random one of the legal moves of a role: parameters are addresses of rows, and of the last + 1.

    The other parameters are the bits of their number, the lowest first.
    """
    f = FunctionBuilder([I32, I32, I32, *[V128] * width])
    legal, move, end = map(f.param, range(3))
    count = [f.param(3 + k) for k in range(width)]
    rank = [f.variable(V128) for _ in range(width)]
    state = [f.keep(load(V128, GENERATOR + VECTOR * i)) for i in range(4)]
    i = f.variable(I32)
    random, carry, addend, value = (f.variable(V128) for _ in range(4))
    with f.times(i, FRACTION):
        _random(f, state, random)
        f.set(carry, ZEROS)
        for k in range(width):
            f.set(addend, count[k] & random)
            f.set(value, rank[k] ^ addend)
            if k:
                f.set(rank[k - 1], value ^ carry)
                f.set(carry, (rank[k] & addend) | (carry & value))
            else:
                f.set(carry, rank[k] & addend)
        f.set(rank[width - 1], carry)
    for i_, row in enumerate(state):
        f.store(GENERATOR + VECTOR * i_, row)
    pending = f.keep(load(V128, _PLAYING))
    here, taken, borrow = (f.variable(V128) for _ in range(3))
    with f.loop() as again:
        f.set(here, load(V128, legal) & pending)
        f.set(taken, here)
        with f.when(here.any()):
            for bit in rank:
                f.set(taken, taken.without(bit))
            f.set(pending, pending ^ taken)
            f.set(borrow, here ^ taken)
            for k, bit in enumerate(rank):
                f.set(bit, bit ^ borrow)
                if k < width - 1:
                    f.set(borrow, borrow & bit)
        f.store(move, taken)
        f.set(legal, legal + VECTOR)
        f.set(move, move + VECTOR)
        f.go(again, legal < end)
    return f


def _choose(draws: Sequence[tuple[int, int]]) -> FunctionBuilder:
    """Make a random legal move of a role: parameters are addresses of rows, and of the last + 1."""
    f = FunctionBuilder([I32, I32, I32])
    legal, move, end = map(f.param, range(3))
    playing, here, carry = f.keep(load(V128, _PLAYING)), f.variable(V128), f.variable(V128)
    count = [f.variable(V128) for _ in range(_WIDTHS[-1])]
    at = f.keep(legal)
    with f.block() as counted, f.loop() as again:
        f.go(counted, at >= end)
        f.set(here, load(V128, at) & playing)
        f.set(at, at + VECTOR)
        for bit in count:
            f.go(again, here.any().equals(0))
            f.set(carry, bit & here)
            f.set(bit, bit ^ here)
            f.set(here, carry)
        f.go(again)
    several: Value = count[1]
    for bit in count[2:]:
        several = several | bit
    f.set(here, several)
    f.set(carry, playing.without(count[0] | here))
    with f.when(carry.any()):
        f.store(_STUCK, load(V128, _STUCK) | carry)
        f.set(playing, playing.without(carry))
        f.store(_PLAYING, playing)
    with f.block() as done:
        with f.when(here.any().equals(0)):
            with f.block() as end_, f.loop() as again:
                f.go(end_, legal >= end)
                f.store(move, load(V128, legal) & playing)
                f.set(legal, legal + VECTOR)
                f.set(move, move + VECTOR)
                f.go(again)
            f.go(done)
        for width, function in draws[:-1]:
            more: Value = count[width]
            for bit in count[width + 1 :]:
                more = more | bit
            with f.when(more.any().equals(0)):
                f.call(function, legal, move, end, *count[:width])
                f.go(done)
        f.call(draws[-1][1], legal, move, end, *count)
    return f


def _score() -> FunctionBuilder:
    """Add the goals of the lanes of a row; a role with several goals has none."""
    f = FunctionBuilder([V128])
    over = f.param(0)
    role, goal, row = (f.variable(I32) for _ in range(3))
    once, twice = f.variable(V128), f.variable(V128)

    def goals_of_role() -> Value:
        return load(I32, _entry("goal_table") + (goal << 3)).equals(role)

    with f.times(role, _entry("roles")):
        f.set(once, ZEROS)
        f.set(twice, ZEROS)
        f.set(goal, 0)
        with f.times(goal, _entry("goals")), f.when(goals_of_role()):
            f.set(row, _entry("goal_rows") + (goal << 4))
            f.set(twice, twice | (once & load(V128, row)))
            f.set(once, once | load(V128, row))
        f.set(goal, 0)
        with f.times(goal, _entry("goals")), f.when(goals_of_role()):
            f.set(row, _entry("goal_rows") + (goal << 4))
            f.store(_SCRATCH, (load(V128, row) & over).without(twice))
            with f.each_bit(_SCRATCH, VECTOR) as lane:
                f.set(row, _entry("sums") + ((lane.number + role * LANES) << 2))
                f.store(row, load(I32, row) + load(I32, _entry("goal_table") + (goal << 3), 4))
    return f


def _late() -> FunctionBuilder:
    """Return the lanes whose games are as long as they may be."""
    f = FunctionBuilder([], V128)
    oldest, age = f.variable(I32), f.variable(I32)
    f.store(_SCRATCH, ZEROS)
    with f.each_bit(ACTIVE, VECTOR) as lane:
        f.set(age, load(I32, CLOCK) - load(I32, lane.number << 2, _BORN))
        with f.when(age >= _entry("longest")):
            f.store(lane.at, load(I64, lane.at, _SCRATCH) | lane.bit, _SCRATCH)
            f.otherwise()
            with f.when(age > oldest):
                f.set(oldest, age)
    f.store(_OLDEST, load(I32, CLOCK) - oldest)
    f.give(load(V128, _SCRATCH))
    return f


def _finish() -> FunctionBuilder:
    """End the games in the lanes of a row; return those that begin another one."""
    f = FunctionBuilder([V128], V128)
    f.store(_SCRATCH, f.param(0))
    address, quota = f.variable(I32), f.variable(I32)
    with f.each_bit(_SCRATCH, VECTOR) as lane:
        f.set(address, lane.number << 2)
        f.set(quota, load(I32, address, _QUOTA) - 1)
        f.store(address, quota, _QUOTA)
        f.store(address, load(I32, CLOCK), _BORN)
        with f.when(quota.equals(0)):
            f.store(lane.at, load(I64, lane.at, ACTIVE) ^ lane.bit, ACTIVE)
    f.give(f.param(0) & load(V128, ACTIVE))
    return f


def _run(stages: Mapping[str, int], choose: int, score: int, finish: int, late: int) -> FunctionBuilder:
    """Play so many steps, or until so many lanes are idle; return how many are."""
    f = FunctionBuilder([I32, I32], I32)
    steps, stop = f.param(0), f.param(1)
    active, over, done, restart = (f.variable(V128) for _ in range(4))
    role, legal, move, size, row, offset = (f.variable(I32) for _ in range(6))
    with f.block() as end, f.loop() as again:
        f.set(active, load(V128, ACTIVE))
        f.go(end, steps.equals(0) | active.any().equals(0))
        f.set(steps, steps - 1)
        f.call(stages["legal"])
        f.set(over, load(V128, _entry("terminal_row")) & active)
        f.set(done, over)
        with f.when(over.any()):
            f.call(stages["goals"])
            f.call(score, over)
        with f.when(load(I32, CLOCK) - load(I32, _OLDEST) >= _entry("longest")):
            f.set(done, done | call(late, V128))
        f.store(_PLAYING, active.without(done))
        f.store(_STUCK, ZEROS)
        f.set(role, 0)
        f.set(legal, _entry("legal_rows"))
        f.set(move, _entry("move_rows"))
        with f.times(role, _entry("roles")):
            f.set(size, load(I32, _entry("move_counts") + (role << 2)) << 4)
            f.call(choose, legal, move, legal + size)
            f.set(legal, legal + size)
            f.set(move, move + size)
        f.call(stages["next"])
        f.set(size, _entry("fluents") << 4)
        f.copy(_entry("fluent_rows"), _entry("next_rows"), size)
        f.store(CLOCK, load(I32, CLOCK) + 1)
        f.set(done, done | load(V128, _STUCK))
        f.go(again, done.any().equals(0))
        f.set(restart, call(finish, V128, done))
        with f.when(restart.any()):
            f.set(offset, 0)
            with f.times(offset, size, VECTOR):
                f.set(row, _entry("fluent_rows") + offset)
                f.store(row, restart.select(load(V128, _entry("start_rows") + offset), load(V128, row)))
        f.go(end, _idle() >= stop)
        f.go(again)
    f.give(_idle())
    return f


def _idle() -> Value:
    active = load(I64, ACTIVE).ones() + load(I64, ACTIVE + 8).ones()
    return i32(LANES) - active.narrow()

"""Random games from the initial state, 512 at a time: the games of the core and of the C source.

The code does what `network.lanes.PlayRows` requires of a caller, with the same random numbers as
`convert/lanes/random_games.c.in`, whose functions have the same names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.convert.wasm.assembler import (
    I32,
    I64,
    V128,
    FunctionBuilder,
    Value,
    call,
    i32,
    i64,
    load,
    load8,
    memory_grow,
    memory_size,
)
from herbrand.convert.wasm.binary import PAGE
from herbrand.convert.wasm.programs import program_stages
from herbrand.convert.wasm.rows import define_stages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.convert.wasm.binary import Module
    from herbrand.network.lanes import Draw, LaneProgram, PlayRows

__all__ = ["define_games"]

LANES: Final = 512
_ROW: Final = LANES // 8
_WORDS: Final = LANES // 64

_FIELDS: Final = (
    "step",  # the number of the next step
    "oldest",  # no unfinished game began before this step
    "max_steps",
    "random",  # for draws by rejection sampling
    "since_flush",
    "program",  # 0, or 1 once an assumption of the first one failed
    "played",
    "ended",
    "truncated",
    "stuck",
    "transitions",
    "stuck_role",
)
"""Numbers of 64 bits, the first in memory; the host reads the last ones."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Addresses of the fields in memory."""

    fields: int
    generator: int
    start: int
    """[512] the step in which the current game of the lane began."""
    quota: int
    """[512] games that the lane has yet to finish, including the present one."""
    goals: int
    choices: int
    stuck_state: int
    """[fluents] bytes: which were true when the first game got stuck."""
    initial: int
    """[fluents] bytes: which are true at first; not cleared."""
    rows: tuple[int, ...]
    """The address of the rows of each program."""
    lengths: int
    """Games by length: up to the end of memory."""

    def field(self, name: str) -> int:
        """Return the address of a number."""
        return self.fields + 8 * _FIELDS.index(name)


@dataclass(frozen=True, slots=True)
class _Program:
    """A lane program in the module."""

    program: LaneProgram
    play: PlayRows
    base: int
    stages: dict[str, int]

    def row(self, number: int) -> int:
        """Return the address of a row."""
        return self.base + _ROW * number


def define_games(module: Module, programs: Sequence[LaneProgram], base: int) -> dict[str, int]:
    """Add and export `start`, `play` and `count`; return the addresses of results, the last of which grows.

    The second program, if there is one, takes over when an assumption of the first fails.
    """
    first = programs[0]
    fluents = len(first.fluents)
    at = base
    places = []
    sizes = {
        "fields": 8 * len(_FIELDS),
        "generator": 4 * _ROW,
        "start": 8 * LANES,
        "quota": 8 * LANES,
        "goals": 8 * len(first.goals),
        "choices": 8 * len(first.roles),
        "stuck_state": fluents,
        "initial": fluents,
    }
    for size in sizes.values():
        places.append(at)
        at += -(-size // _ROW) * _ROW
    defined: list[_Program] = []
    for program in programs:
        assert program.play is not None
        stages, rows = define_stages(
            module, program_stages(program), program.kept, base=at, vectors=_ROW // 16
        )
        defined.append(_Program(program, program.play, at, stages))
        at += _ROW * rows
    rows_of = tuple(one.base for one in defined)
    layout = _Layout(**dict(zip(sizes, places, strict=True)), rows=rows_of, lengths=at)
    module.data(layout.initial, np.asarray(defined[0].play.initial, np.uint8).tobytes())
    _Writer(module, layout, defined).define()
    return {
        **{name: layout.field(name) for name in _FIELDS[6:]},
        "goals": layout.goals,
        "choices": layout.choices,
        "stuck_state": layout.stuck_state,
        "lengths": layout.lengths,
    }


class _Writer:
    """The functions of the runtime."""

    def __init__(self, module: Module, layout: _Layout, programs: Sequence[_Program]) -> None:
        self.module = module
        self.layout = layout
        self.programs = programs
        self.fluents = len(programs[0].program.fluents)

    def define(self) -> None:
        """Add all functions, each after those that it calls."""
        module = self.module
        self.split_mix = self._split_mix().define(module)
        self.below = self._below().define(module)
        self.any = self._any().define(module)
        self.count = self._count().define(module)
        self.find_late = self._find_late().define(module)
        self.end_games = self._end_games().define(module)
        flushes = [self._flush(program).define(module) for program in self.programs]
        steps = [
            self._step(program, flush).define(module)
            for program, flush in zip(self.programs, flushes, strict=True)
        ]
        module.export("start", self._start().define(module))
        module.export("play", self._play(steps, flushes).define(module))
        module.export("count", self._count_all(flushes).define(module))

    # -- numbers and rows -----------------------------------------------------------------------

    def get(self, name: str) -> Value:
        """Return a number in memory."""
        return load(I64, self.layout.field(name))

    def put(self, f: FunctionBuilder, name: str, value: Value) -> None:
        """Change a number in memory."""
        f.store(self.layout.field(name), value)

    def raise_(self, f: FunctionBuilder, name: str, by: Value) -> None:
        """Add to a number in memory."""
        self.put(f, name, self.get(name) + by)

    @staticmethod
    def _split_mix() -> FunctionBuilder:
        """Advance a number in memory; return a random word (SplitMix: Steele, Lea and Flood 2014)."""
        f = FunctionBuilder([I32], I64)
        word = f.keep(load(I64, f.param(0)) + 0x9E3779B97F4A7C15)
        f.store(f.param(0), word)
        f.set(word, (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9)
        f.set(word, (word ^ (word >> 27)) * 0x94D049BB133111EB)
        f.give(word ^ (word >> 31))
        return f

    def _below(self) -> FunctionBuilder:
        """Return a random number below a bound (Lemire 2019)."""
        f = FunctionBuilder([I64], I64)
        bound = f.param(0)
        word, low, high, middle = (f.variable(I64) for _ in range(4))
        half = i64(0xFFFFFFFF)

        def draw() -> None:
            f.set(word, call(self.split_mix, I64, i32(self.layout.field("random"))))
            low_low, high_low = (word & half) * (bound & half), (word >> 32) * (bound & half)
            low_high, high_high = (word & half) * (bound >> 32), (word >> 32) * (bound >> 32)
            f.set(middle, (low_low >> 32) + (high_low & half) + (low_high & half))
            f.set(low, (middle << 32) | (low_low & half))
            f.set(high, high_high + (high_low >> 32) + (low_high >> 32) + (middle >> 32))

        draw()
        with f.when(low < bound):
            threshold = f.keep((i64(0) - bound).remainder(bound))
            with f.block() as end, f.loop() as again:
                f.go(end, low >= threshold)
                draw()
                f.go(again)
        f.give(high)
        return f

    @staticmethod
    def _any() -> FunctionBuilder:
        """Whether a row is true in some lane."""
        f = FunctionBuilder([I32], I32)
        some = load(V128, f.param(0))
        for offset in range(16, _ROW, 16):
            some |= load(V128, f.param(0), offset)
        f.give(some.any())
        return f

    @staticmethod
    def _count() -> FunctionBuilder:
        """Return in how many lanes a row is true."""
        f = FunctionBuilder([I32], I64)
        total = i64(0)
        for word in range(_WORDS):
            total += load(I64, f.param(0), 8 * word).ones()
        f.give(total)
        return f

    def is_any(self, row: int) -> Value:
        """Whether the row at an address is true in some lane."""
        return call(self.any, I32, i32(row))

    def lanes_of(self, row: int) -> Value:
        """Return in how many lanes the row at an address is true."""
        return call(self.count, I64, i32(row))

    # -- games ----------------------------------------------------------------------------------

    def _start(self) -> FunctionBuilder:
        """Begin so many games, truncated after so many steps: parameters are the seed and these numbers."""
        f = FunctionBuilder([I64, I64, I64])
        seed, games, most = map(f.param, range(3))
        layout, first = self.layout, self.programs[0]
        f.fill(i32(layout.fields), 0, i32(layout.initial - layout.fields))
        f.fill(i32(layout.rows[0]), 0, memory_size() * PAGE - layout.rows[0])
        for program in self.programs:
            f.fill(i32(program.row(1)), 255, i32(_ROW))
        self.put(f, "max_steps", most)
        self.put(f, "stuck_role", i64(-1))
        random = layout.field("random")
        f.store(random, seed)
        # the state of this generator seeds the others, and is replaced by its first number at the end
        word = f.keep(call(self.split_mix, I64, i32(random)))
        i = f.variable(I32)
        with f.times(i, 4 * _ROW, 8):
            f.store(i, call(self.split_mix, I64, i32(random)), layout.generator)
        f.store(random, word)
        f.set(i, 0)
        with f.times(i, self.fluents), f.when(load8(i, layout.initial)):
            f.fill(i * _ROW + first.row(2), 255, i32(_ROW))
        lane = f.variable(I64)
        quota = f.variable(I64)
        with f.times(lane, LANES):
            f.set(quota, (games >> 9) + (lane < (games & (LANES - 1))).wide())
            f.store(lane.narrow() << 3, quota, layout.quota)
            with f.when(quota.differs(0)):
                address = f.keep((lane.narrow() >> 6) << 3)
                active = first.row(first.play.active)
                f.store(address, load(I64, address, active) | (i64(1) << lane), active)
        return f

    def _fill_random(self, f: FunctionBuilder, play: PlayRows, rows: int) -> None:
        """Fill rows with random bits: xoshiro256+ in every word (Blackman and Vigna 2021)."""
        if not play.randoms:
            return
        at, part = f.variable(I32), f.variable(I32)
        s = [f.variable(V128) for _ in range(4)]
        generator = self.layout.generator
        f.set(part, 0)
        with f.times(part, _ROW, 16):
            for k in range(4):
                f.set(s[k], load(V128, part, generator + _ROW * k))
            f.set(at, part)
            with f.loop() as again:
                f.store(at, s[0].add64(s[3]), rows)
                f.advance(s)
                f.set(at, at + _ROW)
                f.go(again, at < _ROW * play.randoms)
            for k in range(4):
                f.store(part, s[k], generator + _ROW * k)

    def _draw_again(self, program: _Program, choice: Draw) -> FunctionBuilder:
        """Draw in the lanes in which all attempts of the program failed."""
        f = FunctionBuilder()
        shift, moves, rank = (f.variable(I64) for _ in range(3))
        with f.each_bit(program.row(choice.again), _ROW) as lane:
            f.set(shift, lane.number.wide())
            f.set(moves, i64(0))
            for b, row in enumerate(choice.count):
                f.set(moves, moves | (((load(I64, lane.at, program.row(row)) >> shift) & 1) << b))
            f.set(rank, call(self.below, I64, moves))
            for b, row in enumerate(choice.rank):
                others = load(I64, lane.at, program.row(row)) & (i64(-1) ^ lane.bit)
                f.store(lane.at, others | (((rank >> b) & 1) << shift), program.row(row))
        return f

    def _find_late(self) -> FunctionBuilder:
        """Mark the games that reach the limit of steps with this one in a row, of those that are active."""
        f = FunctionBuilder([I32, I32])
        active, late = f.param(0), f.param(1)
        lane, address, start = f.variable(I32), f.variable(I32), f.variable(I64)
        oldest = f.keep(self.get("step"))
        with f.times(lane, LANES):
            f.set(address, lane >> 3)
            with f.when((load8(active + address) >> (lane & 7)) & 1):
                f.set(start, load(I64, lane << 3, self.layout.start))
                with f.when(self.get("step") - start >= self.get("max_steps")):
                    f.set(address, late + address)
                    f.store8(address, load8(address) | (i32(1) << (lane & 7)))
                    f.otherwise()
                    with f.when(start < oldest):
                        f.set(oldest, start)
        self.put(f, "oldest", oldest)
        return f

    def _end_games(self) -> FunctionBuilder:
        """Count the games that end in the lanes of a row and begin new ones; return 0 if out of memory.

        Lanes with nothing left to play are removed from the row of active ones, the second parameter.
        """
        f = FunctionBuilder([I32, I32], I32)
        ended, active = f.param(0), f.param(1)
        address, needed = f.variable(I32), f.variable(I32)
        length, quota = f.variable(I64), f.variable(I64)
        layout = self.layout
        with f.each_bit(ended, _ROW) as lane:
            f.set(address, lane.number << 3)
            f.set(length, self.get("step") - load(I64, address, layout.start))
            f.store(address, self.get("step") + 1, layout.start)
            f.set(quota, load(I64, address, layout.quota) - 1)
            f.store(address, quota, layout.quota)
            with f.when(quota.equals(0)):
                f.set(address, active + lane.at)
                f.store(address, load(I64, address) ^ lane.bit)
            self.raise_(f, "played", i64(1))
            with f.when(length >= ((memory_size() * PAGE - layout.lengths) >> 3).wide()):
                with f.when(length >= 2**28):
                    f.give(0)
                f.set(needed, ((length.narrow() << 4) >> 16) + 1)
                with f.when(memory_grow(needed).equals(0xFFFFFFFF)):
                    f.give(0)
            f.set(address, length.narrow() << 3)
            f.store(address, load(I64, address, layout.lengths) + 1, layout.lengths)
        f.give(1)
        return f

    def _flush(self, program: _Program) -> FunctionBuilder:
        """Add up and clear the program's counters of legal moves."""
        f = FunctionBuilder()
        for role, (first, bits) in enumerate(program.play.counters):
            address = self.layout.choices + 8 * role
            total = f.keep(load(I64, address))
            for b in range(bits):
                row = program.row(2 + first + b)
                f.set(total, total + (self.lanes_of(row) << b))
                f.fill(i32(row), 0, i32(_ROW))
            f.store(address, total)
        self.put(f, "since_flush", i64(0))
        return f

    def _note_stuck(self, f: FunctionBuilder, program: _Program) -> None:
        """Record the first game that got stuck: the role without a legal move, and the state."""
        words, i = f.variable(I32), f.variable(I32)
        lanes = f.variable(I64)
        with f.block() as done:
            for role, number in enumerate(program.play.stuck_roles):
                row = program.row(number)
                with f.when(self.is_any(row)):
                    self.put(f, "stuck_role", i64(role))
                    f.set(words, 0)
                    with f.loop() as again:
                        f.set(lanes, load(I64, words, row))
                        f.set(words, words + 8)
                        f.go(again, lanes.equals(0))
                    f.set(i, 0)
                    with f.times(i, self.fluents):
                        word = load(I64, (i << 6) + (words - 8), program.row(2))
                        f.store8(i, ((word >> lanes.trailing()) & 1).narrow(), self.layout.stuck_state)
                    f.go(done)

    def _step(self, program: _Program, flush: int) -> FunctionBuilder:
        """Make a step of all games: 1, or 0 if an assumption of the program fails, 2 if out of memory."""
        play = program.play
        draws = [self._draw_again(program, choice).define(self.module) for choice in play.choices]
        f = FunctionBuilder([], I32)
        active, late, restart, over, stuck = (
            program.row(number) for number in (play.active, play.late, play.restart, play.over, play.stuck)
        )
        some_over, some_stuck, limit = (f.variable(I32) for _ in range(3))
        f.fill(i32(late), 0, i32(_ROW))
        f.set(limit, self.get("step") - self.get("oldest") >= self.get("max_steps"))
        with f.when(limit):
            f.call(self.find_late, i32(active), i32(late))
        self._fill_random(f, play, program.row(play.random))
        f.call(program.stages["legal"])
        with f.when(self.is_any(program.row(play.conflict))):
            f.give(0)
        for choice, draw in zip(play.choices, draws, strict=True):
            with f.when(self.is_any(program.row(choice.again))):
                f.call(draw)
        f.set(some_over, self.is_any(over))
        f.set(some_stuck, self.is_any(stuck))
        with f.when(some_over):
            f.call(program.stages["goals"])
            self.raise_(f, "ended", self.lanes_of(over))
            for k, row in enumerate(program.program.goal_rows):
                address = self.layout.goals + 8 * k
                f.store(address, load(I64, address) + self.lanes_of(program.row(row)))
        for part in range(0, _ROW, 16):
            is_late = load(V128, late + part) & load(V128, active + part).without(load(V128, over + part))
            f.store(late + part, is_late)
            f.store(
                restart + part, load(V128, over + part) | load(V128, stuck + part) | load(V128, late + part)
            )
        with f.when(some_stuck):
            self.raise_(f, "stuck", self.lanes_of(stuck))
            with f.when(self.get("stuck_role").equals(-1)):
                self._note_stuck(f, program)
        with f.when(limit):
            self.raise_(f, "truncated", self.lanes_of(late))
        with f.when(some_over | some_stuck | limit):
            f.set(limit, call(self.end_games, I32, i32(restart), i32(active)))
            with f.when(limit.equals(0)):
                f.give(2)
        f.call(program.stages["next"])
        size = _ROW * program.program.states
        f.copy(i32(program.row(2)), i32(program.row(2) + size), i32(size))
        self.raise_(f, "step", i64(1))
        self.raise_(f, "since_flush", i64(1))
        with f.when(self.get("since_flush").equals(play.flush_steps)):
            f.call(flush)
        f.give(1)
        return f

    def _play(self, steps: Sequence[int], flushes: Sequence[int]) -> FunctionBuilder:
        """Play at most so many steps: 1 if all games are over then, 0 if not, -1 if out of memory."""
        f = FunctionBuilder([I32], I32)
        left, status = f.param(0), f.variable(I32)
        first, last = self.programs[0], self.programs[-1]
        with f.block() as end, f.loop() as again:
            f.go(end, self._is_done())
            f.go(end, left.equals(0))
            with f.when(self.get("program").equals(0)):
                f.set(status, call(steps[0], I32))
                f.otherwise()
                f.set(status, call(steps[-1], I32))
            with f.when(status.equals(2)):
                f.give(-1)
            with f.when(status):
                f.set(left, left - 1)
                f.otherwise()
                # the programs differ in their counters
                f.call(flushes[0])
                f.copy(i32(last.row(2)), i32(first.row(2)), i32(_ROW * self.fluents))
                f.copy(i32(last.row(last.play.active)), i32(first.row(first.play.active)), i32(_ROW))
                self.put(f, "program", i64(1))
            f.go(again)
        f.give(self._is_done())
        return f

    def _is_done(self) -> Value:
        """Whether no lane is active in the present program."""
        rows = [i32(one.row(one.play.active)) for one in (self.programs[0], self.programs[-1])]
        offset = rows[1] - rows[0]
        return call(self.any, I32, rows[0] + offset * self.get("program").narrow()).equals(0)

    def _count_all(self, flushes: Sequence[int]) -> FunctionBuilder:
        """Bring the numbers of legal moves and of steps up to date, for the host."""
        f = FunctionBuilder()
        n, lane = f.variable(I32), f.variable(I32)
        total = f.variable(I64)
        with f.when(self.get("program").equals(0)):
            f.call(flushes[0])
            f.otherwise()
            f.call(flushes[-1])
        with f.times(n, (memory_size() * PAGE - self.layout.lengths) >> 3):
            f.set(total, total + n.wide() * load(I64, n << 3, self.layout.lengths))
        with f.times(lane, LANES * 8, 8), f.when(load(I64, lane, self.layout.quota).differs(0)):
            f.set(total, total + (self.get("step") - load(I64, lane, self.layout.start)))
        self.put(f, "transitions", total)
        return f

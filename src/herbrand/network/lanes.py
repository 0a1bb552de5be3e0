"""Lane programs: the intermediate code between networks and machine code, to read, print and translate.

A *row* has one bit for each *lane*; a lane is a state, or a game in progress.  A lane program is
straight-line code over rows.  The rows are numbered:

    0, 1                           false and true in all lanes
    2 .. 2 + states                the state: fluents, and counters in programs that play
    .. + states                    the next state, which the program writes
    .. kept                        rows that other units or the caller read
    .. rows                        temporary rows of a unit, each written once and undefined after it

An operation assigns to row `out` a function of the rows `a`, `b`, `c`, given by its truth table, of which
bit 4 * a + 2 * b + c is the value.

Operations are grouped in *units*, units in three *stages* that the caller runs: `legal`, `next` and `goals`.
A unit with feedback is iterated to its fixpoint: its rows `back` are false at first, and take the values of
their sources, all at once, until nothing changes.

In a program that evaluates, stage `legal` computes the legal moves and `terminal`; stage `next` the next
state and the percepts, for the moves that the caller has written to `move_rows`; stage `goals` the goals of
the state.  `legal` must run before the others.

A program that plays also chooses moves.  `PlayRows` documents the duties of its caller;
`benchmarks/interpreted.py` is the reference, and `herbrand.convert.lanes` writes the same in C.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from herbrand.core import evaluating_program, playing_program
from herbrand.network.formula import formula

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["STAGES", "Draw", "LaneProgram", "PlayRows", "Stage", "operands", "operation"]

Stage = Literal["legal", "next", "goals"]
STAGES: Final[tuple[Stage, ...]] = ("legal", "next", "goals")
_SHARED: Final = ("arity", "states", "kept", "rows", "ops", "units", "back")
"""Fields whose values are those that the core gives."""


@dataclass(frozen=True, slots=True)
class Draw:
    """The rows of one draw, shared by roles of which at most one has to choose in any lane.

    Numbers have one row for each bit, the lowest first.  `rank` is a uniformly random number below `count`
    that selects the move; in the lanes of `again`, all of which have several moves, the caller must draw it.
    """

    roles: tuple[int, ...]
    places: int
    """The number of distinguished moves: moves that are never legal together share a place."""
    count: tuple[int, ...]
    rank: tuple[int, ...]
    """The caller may change these between the stages `legal` and `next`."""
    again: int


@dataclass(frozen=True, slots=True)
class PlayRows:
    """The interface of a program that plays with its caller: row numbers, unless said to be states.

    In every step, the caller writes `active` and `late`, fills the random rows, runs stage `legal`, draws
    in the lanes of `again`, runs stage `goals` if a game is over, writes `restart`, runs stage `next`, and
    copies the next state to the current one.  If any lane is in `conflict` after stage `legal`, the caller
    must continue from the same fluents with a program without `assume`.
    """

    assume: bool
    """Whether the program assumes what held in sampled random games: that some fluents, and the turns of
    some roles, exclude each other."""
    active: int
    """Lanes in which a game is played."""
    late: int
    """Lanes whose game has reached the step limit: no move is chosen."""
    restart: int
    """Lanes whose next state is the initial state."""
    random: int
    """The first of the consecutive rows of random bits."""
    randoms: int
    """The number of these rows."""
    over: int
    """Active lanes in a terminal state."""
    playing: int
    """Active lanes in which moves are chosen."""
    stuck: int
    """Playing lanes in which a role has no legal move."""
    stuck_roles: tuple[int, ...]
    """[roles] the same for each role."""
    conflict: int
    """Playing lanes in which an assumption of the program does not hold."""
    choices: tuple[Draw, ...]
    counters: tuple[tuple[int, int], ...]
    """[roles] states: the first, and the number of bits, of a counter in each lane of the legal moves in the
    states that were played.  The caller must add the counters up and clear them at least every `flush_steps`
    steps, before they overflow."""
    flush_steps: int
    initial: NDArray[np.bool_]
    """[fluents] which are true in the initial state."""


@dataclass(frozen=True, slots=True, eq=False)
class LaneProgram:
    """Straight-line code over rows of lanes, with the names of its inputs and outputs; see the module."""

    roles: tuple[str, ...]
    fluents: tuple[str, ...]
    moves: tuple[tuple[int, str], ...]
    """[moves] role (counted from 0) and move."""
    goals: tuple[tuple[int, str], ...]
    """[goals] role and value."""
    percepts: tuple[tuple[int, str], ...]
    """[percepts] role and percept."""
    arity: int
    """Maximum number of operands of a function."""
    states: int
    kept: int
    rows: int
    ops: NDArray[np.int32] = field(repr=False)
    """[operations, 5] the rows out, a, b, c, and the truth table."""
    units: NDArray[np.int32] = field(repr=False)
    """[units, 4] first operation, last operation + 1, first entry of `back`, last entry + 1."""
    back: NDArray[np.int32] = field(repr=False)
    """[feedback, 2] a row, and its source."""
    stages: dict[Stage, tuple[int, int]]
    """The first unit, and the last one + 1."""
    goal_rows: tuple[int, ...] = field(repr=False)
    """[goals] the goals that hold; in programs that play only in lanes whose game is over and where the
    role has no other goal."""
    move_rows: tuple[int, ...] = field(repr=False, default=())
    """[moves] written by the caller.  This and the following fields only in programs that evaluate."""
    legal_rows: tuple[int, ...] = field(repr=False, default=())
    sees_rows: tuple[int, ...] = field(repr=False, default=())
    terminal_row: int = 0
    play: PlayRows | None = field(repr=False, default=None)
    """Only in programs that play."""

    @classmethod
    def evaluating(cls, network: Network, *, arity: int = 3) -> LaneProgram:
        """Return the program that evaluates a network, with functions of at most `arity` bits: 2 or 3."""
        if arity not in {2, 3}:
            raise ValueError("functions have two or three bits")
        description = evaluating_program(network.circuit, arity).describe()
        return cls._named(network, description, None)

    @classmethod
    def playing(cls, network: Network, *, assume: bool = True, arity: int = 3) -> LaneProgram:
        """Return the program that plays random games, with functions of at most `arity` bits: 2 or 3.

        With `assume` it relies on regularities of sampled games; see `PlayRows`.
        """
        if arity not in {2, 3}:
            raise ValueError("functions have two or three bits")
        description = playing_program(network.circuit, assume, arity).describe()
        rows = ("active", "late", "restart", "random", "randoms", "over", "playing", "stuck", "conflict")
        play = PlayRows(
            assume=assume,
            stuck_roles=tuple(description["stuck_role"]),
            choices=tuple(
                Draw(
                    roles=tuple(choice["roles"]),
                    places=choice["places"],
                    count=tuple(choice["count"]),
                    rank=tuple(choice["rank"]),
                    again=choice["again"],
                )
                for choice in description["choices"]
            ),
            counters=tuple(description["counters"]),
            flush_steps=description["flush_steps"],
            initial=network.initial,
            **{name: description[name] for name in rows},
        )
        return cls._named(network, description, play)

    @classmethod
    def _named(cls, network: Network, description: dict[str, Any], play: PlayRows | None) -> LaneProgram:
        text = network.terms.text

        def pairs(array: NDArray[np.int64]) -> tuple[tuple[int, str], ...]:
            return tuple((role, text(term)) for role, term in array.tolist())

        return cls(
            roles=tuple(map(text, network.roles)),
            fluents=tuple(map(text, network.fluents.tolist())),
            moves=pairs(network.moves),
            goals=pairs(network.goals),
            percepts=pairs(network.percepts),
            stages={stage: description[stage] for stage in STAGES},
            goal_rows=tuple(description["goal_row"]),
            move_rows=tuple(description.get("move_row", ())),
            legal_rows=tuple(description.get("legal_row", ())),
            sees_rows=tuple(description.get("sees_row", ())),
            terminal_row=description.get("terminal_row", 0),
            play=play,
            **{name: description[name] for name in _SHARED},
        )

    def __len__(self) -> int:
        """The number of operations."""
        return len(self.ops)

    @property
    def tables(self) -> NDArray[np.uint8]:
        """[operations] the truth tables."""
        return self.ops[:, 4].astype(np.uint8)

    @property
    def levels(self) -> NDArray[np.int32]:
        """[operations] the number of operations on the longest path from the inputs to each, itself included.

        Feedback rows count as inputs.
        """
        level = [0] * self.rows
        levels = []
        for op in self.ops.tolist():
            level[op[0]] = 1 + max((level[row] for row in operands(op)), default=0)
            levels.append(level[op[0]])
        return np.array(levels, np.int32)

    def statistics(self) -> dict[str, int]:
        """Return the sizes: operations by the number of their operands, units, rows, levels."""
        bits = Counter(map(len, map(operands, self.ops.tolist())))
        return {
            "operations": len(self),
            **{f"of_{count}_bits": bits[count] for count in range(4)},
            "units": len(self.units),
            "loops": int((self.units[:, 2] < self.units[:, 3]).sum()),
            "states": self.states,
            "rows_kept": self.kept,
            "rows": self.rows,
            "levels": int(self.levels.max(initial=0)),
        }

    def inputs(self) -> Iterator[tuple[int, str]]:
        """Yield the rows that are read before they are written, with their names."""
        for i, fluent in enumerate(self.fluents):
            yield 2 + i, f"(true {fluent})"
        for row, (role, move) in zip(self.move_rows, self.moves, strict=False):
            yield row, f"(does {self.roles[role]} {move})"
        if self.play is not None:
            yield from self._counters(self.play, 2, "moves")
            yield from ((getattr(self.play, name), name) for name in ("active", "late", "restart"))
            for i in range(self.play.randoms):
                yield self.play.random + i, f"random {i}"

    def outputs(self, stage: Stage) -> Iterator[tuple[int, str]]:
        """Yield the rows that the caller reads after a stage, with their names.

        Some may be constant, or inputs.
        """
        after = 2 + self.states
        if stage == "goals":
            for row, (role, value) in zip(self.goal_rows, self.goals, strict=True):
                yield row, f"(goal {self.roles[role]} {value})"
        elif stage == "next":
            for i, fluent in enumerate(self.fluents):
                yield after + i, f"(next {fluent})"
            for row, (role, percept) in zip(self.sees_rows, self.percepts, strict=False):
                yield row, f"(sees {self.roles[role]} {percept})"
        elif self.play is None:
            for row, (role, move) in zip(self.legal_rows, self.moves, strict=True):
                yield row, f"(legal {self.roles[role]} {move})"
            yield self.terminal_row, "terminal"
        else:
            yield from self._choosing(self.play, after)

    def _choosing(self, play: PlayRows, after: int) -> Iterator[tuple[int, str]]:
        yield from ((getattr(play, name), name) for name in ("over", "playing", "stuck", "conflict"))
        for row, role in zip(play.stuck_roles, self.roles, strict=True):
            yield row, f"stuck {role}"
        for choice in play.choices:
            roles = " ".join(self.roles[role] for role in choice.roles)
            for name, rows in (("moves", choice.count), ("rank", choice.rank)):
                for bit, row in enumerate(rows):
                    yield row, f"{name} of {roles}, bit {bit}"
            yield choice.again, f"draw again {roles}"
        yield from self._counters(play, after, "next moves")

    def _counters(self, play: PlayRows, start: int, name: str) -> Iterator[tuple[int, str]]:
        for role, (first, bits) in zip(self.roles, play.counters, strict=True):
            for bit in range(bits):
                yield start + first + bit, f"{name} of {role}, bit {bit}"

    def __repr__(self) -> str:
        """Return the kind and the size of the program."""
        kind = "evaluation" if self.play is None else "random play"
        return f"<LaneProgram: {kind}, {len(self)} operations on {self.rows} rows>"

    def __str__(self) -> str:
        """Return the program as text, one operation a line, inputs and outputs by their GDL names."""
        kind = "evaluation" if self.play is None else "random play"
        lines = [f"; lane program: {kind}; r0 is false, r1 is true in all lanes"]
        lines += [f"; {name.replace('_', ' ')} {number}" for name, number in self.statistics().items()]
        lines += [f"in r{row} = {name}" for row, name in self.inputs()]
        ops = self.ops.tolist()
        for stage, (first, last) in self.stages.items():
            lines.append(f"stage {stage}")
            for unit, (begin, end, back, back_end) in enumerate(self.units[first:last].tolist(), first):
                feedback = self.back[back:back_end].tolist()
                lines.append(f"  unit {unit}" + (", repeated until nothing changes" if feedback else ""))
                lines += [f"    r{op[0]} = {operation(op)}" for op in ops[begin:end]]
                lines += [f"    r{row} <- r{source}" for row, source in feedback]
            lines += [f"  out r{row} = {name}" for row, name in self.outputs(stage)]
        return "\n".join(lines)


def operands(op: Sequence[int]) -> tuple[int, ...]:
    """Return the rows that the result of an operation depends on; `op` is a row of `LaneProgram.ops`."""
    _, a, b, c, table = op
    return tuple(
        row
        for row, shift, mask in ((a, 4, 15), (b, 2, 51), (c, 1, 85))
        if (table >> shift & mask) != (table & mask)
    )


def _r(row: int) -> str:
    return f"r{row}"


def operation(op: Sequence[int], name: Callable[[int], str] = _r) -> str:
    """Return an operation as a C expression over words; `name` gives the names of rows.

    Only the `operands` are named; `0` and `~0` are the constants.
    """
    _, a, b, c, table = op
    used = operands(op)
    return formula(table, *(name(row) if row in used else "" for row in (a, b, c)))

"""Lane programs: what networks become between gates and machine code, as values to read, print and translate.

A *row* has one bit for each *lane*; a lane is a state, or a game that is being played.  A lane program is
straight-line code over rows.  The rows are numbered:

    0, 1                           false and true in all lanes
    2 .. 2 + states                the state: fluents, and in programs that play counters
    .. + states                    the state after it, which the program writes
    .. kept                        rows that are read by other units, or by the caller
    .. rows                        rows within a unit, each written once: not to be relied on after it

An operation makes row `out` a function of the rows `a`, `b`, `c`: any function of three bits, by its
table: bit 4 * a + 2 * b + c of it is the value.

Operations stand in *units*, units in three *stages* that the caller runs: `legal`, `next` and `goals`.  A
unit with feedback is repeated: its rows `back` are false at first, and take over the rows of their sources,
all together, until nothing changes.

A program that evaluates has the legal moves and the end of the state after stage `legal`; stage `next` writes
the state after, for the moves that the caller has put into `move_rows`, and what roles see; stage `goals` the
goals of the state.  `legal` runs before the others.

A program that plays has the choice of moves in it.  What its caller does beside running stages stands in
`PlayRows`: `herbrand.engine.interpreted` does it in the plainest way, and `herbrand.convert.lanes` writes it
as C.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from herbrand.core import evaluating_program, playing_program
from herbrand.network.formula import formula

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["Draw", "LaneProgram", "PlayRows", "Stage", "operands", "operation"]

Stage = Literal["legal", "next", "goals"]


@dataclass(frozen=True, slots=True)
class Draw:
    """The rows of one draw: for some roles together, of which at most one has to choose in any lane.

    Numbers have one row for each bit, the lowest first.  `rank` is a number below `count`, each equally
    likely, by which one of the moves is made; in the lanes of `again`, which have several moves, the caller
    draws it.
    """

    roles: tuple[int, ...]
    places: int
    """How many moves are told apart: those that are never legal at once share a place."""
    count: tuple[int, ...]
    rank: tuple[int, ...]
    """The caller may change these between the stages `legal` and `next`."""
    again: int


@dataclass(frozen=True, slots=True)
class PlayRows:
    """What a program that plays shares with its caller: numbers of rows, but for what is said to be states.

    For every step, the caller writes `active` and `late`, fills rows with random bits, runs stage `legal`,
    draws where that has to be done again, runs stage `goals` if a game is over, writes `restart`, runs stage
    `next`, and makes the state after the present one.  If there is a lane in `conflict`, a program without
    `assume` takes over after stage `legal`, with the same fluents.
    """

    assume: bool
    """Whether the program relies on what random games suggest: that some fluents, and the turns of some
    roles, exclude each other."""
    active: int
    """Lanes in which a game is played."""
    late: int
    """Lanes whose game has reached the limit of steps: no move is chosen."""
    restart: int
    """Lanes that have the initial state next."""
    random: int
    """The first of the rows of random bits, which follow each other."""
    randoms: int
    """How many of them there are."""
    over: int
    """Active lanes with a terminal state."""
    playing: int
    """Active lanes in which moves are chosen."""
    stuck: int
    """Lanes among these in which a role has no legal move."""
    stuck_roles: tuple[int, ...]
    """[roles] the same for each role."""
    conflict: int
    """Lanes among these in which what the program assumes is not so."""
    choices: tuple[Draw, ...]
    counters: tuple[tuple[int, int], ...]
    """[roles] states: the first and how many.  In each lane, the sum of the numbers of legal moves in the
    states that were played; the caller adds them up and sets them to 0 at the latest after every
    `flush_steps` steps."""
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
    """How many bits functions have at most."""
    states: int
    kept: int
    rows: int
    ops: NDArray[np.int32] = field(repr=False)
    """[operations, 5] the rows out, a, b, c, and the table."""
    units: NDArray[np.int32] = field(repr=False)
    """[units, 4] first operation, last operation + 1, first entry of `back`, last entry + 1."""
    back: NDArray[np.int32] = field(repr=False)
    """[feedback, 2] a row, and the row that it takes over."""
    stages: dict[Stage, tuple[int, int]]
    """The first unit, and the last one + 1."""
    goal_rows: tuple[int, ...] = field(repr=False)
    """[goals] of the state; in programs that play only where the game is over and the role has no other
    goal."""
    move_rows: tuple[int, ...] = field(repr=False, default=())
    """[moves] written by the caller.  These and the others below only in programs that evaluate."""
    legal_rows: tuple[int, ...] = field(repr=False, default=())
    sees_rows: tuple[int, ...] = field(repr=False, default=())
    terminal_row: int = 0
    play: PlayRows | None = field(repr=False, default=None)
    """Only in programs that play."""

    @classmethod
    def evaluating(cls, network: Network, *, arity: int = 3) -> LaneProgram:
        """Return the program that evaluates a network, of functions of at most `arity` bits: 2 or 3."""
        if arity not in {2, 3}:
            raise ValueError("functions have two or three bits")
        made = evaluating_program(network.circuit, arity).describe()
        return cls._named(network, made, None)

    @classmethod
    def playing(cls, network: Network, *, assume: bool = True, arity: int = 3) -> LaneProgram:
        """Return the program that plays random games, of functions of at most `arity` bits: 2 or 3.

        With `assume` it relies on what random games suggest; see `PlayRows`.
        """
        if arity not in {2, 3}:
            raise ValueError("functions have two or three bits")
        made = playing_program(network.circuit, assume, arity).describe()
        rows = ("active", "late", "restart", "random", "randoms", "over", "playing", "stuck", "conflict")
        play = PlayRows(
            assume=assume,
            stuck_roles=tuple(made["stuck_role"]),
            choices=tuple(
                Draw(
                    roles=tuple(choice["roles"]),
                    places=choice["places"],
                    count=tuple(choice["count"]),
                    rank=tuple(choice["rank"]),
                    again=choice["again"],
                )
                for choice in made["choices"]
            ),
            counters=tuple(made["counters"]),
            flush_steps=made["flush_steps"],
            initial=network.initial,
            **{name: made[name] for name in rows},
        )
        return cls._named(network, made, play)

    @classmethod
    def _named(cls, network: Network, made: dict[str, Any], play: PlayRows | None) -> LaneProgram:
        text = network.terms.text

        def pairs(array: NDArray[np.int64]) -> tuple[tuple[int, str], ...]:
            return tuple((role, text(term)) for role, term in array.tolist())

        return cls(
            roles=tuple(map(text, network.roles)),
            fluents=tuple(map(text, network.fluents.tolist())),
            moves=pairs(network.moves),
            goals=pairs(network.goals),
            percepts=pairs(network.percepts),
            stages={"legal": made["legal"], "next": made["next"], "goals": made["goals"]},
            goal_rows=tuple(made["goal_row"]),
            move_rows=tuple(made.get("move_row", ())),
            legal_rows=tuple(made.get("legal_row", ())),
            sees_rows=tuple(made.get("sees_row", ())),
            terminal_row=made.get("terminal_row", 0),
            play=play,
            **{name: made[name] for name in ("arity", "states", "kept", "rows", "ops", "units", "back")},
        )

    def __len__(self) -> int:
        """How many operations there are."""
        return len(self.ops)

    @property
    def tables(self) -> NDArray[np.uint8]:
        """[operations] the tables."""
        return self.ops[:, 4].astype(np.uint8)

    @property
    def levels(self) -> NDArray[np.int32]:
        """[operations] how many operations stand on the longest way from the inputs to each, itself included.

        What a loop feeds back is an input.
        """
        level = [0] * self.rows
        found = []
        for op in self.ops.tolist():
            level[op[0]] = 1 + max((level[row] for row in operands(op)), default=0)
            found.append(level[op[0]])
        return np.array(found, np.int32)

    def statistics(self) -> dict[str, int]:
        """Return the sizes: operations by the bits that matter to them, units, rows, levels."""
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
        """Yield the rows that are read before they are written, with what they are."""
        for i, fluent in enumerate(self.fluents):
            yield 2 + i, f"(true {fluent})"
        for row, (role, move) in zip(self.move_rows, self.moves, strict=False):
            yield row, f"(does {self.roles[role]} {move})"
        if self.play is not None:
            yield from self._counters(self.play, 2, "moves")
            yield self.play.active, "active"
            yield self.play.late, "late"
            yield self.play.restart, "restart"
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
        """What it does, and how large it is."""
        kind = "evaluation" if self.play is None else "random play"
        return f"<LaneProgram: {kind}, {len(self)} operations on {self.rows} rows>"

    def __str__(self) -> str:
        """The program as text, one operation a line, inputs and outputs by their GDL names."""
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
    """Return the rows that matter to an operation; `op` is a line of `LaneProgram.ops`."""
    _, a, b, c, table = op
    return tuple(
        row
        for row, shift, mask in ((a, 4, 15), (b, 2, 51), (c, 1, 85))
        if (table >> shift & mask) != (table & mask)
    )


def _r(row: int) -> str:
    return f"r{row}"


def operation(op: Sequence[int], name: Callable[[int], str] = _r) -> str:
    """Return what an operation computes, as an expression of C over words of bits; `name` names rows.

    Only rows that matter are named; `0` and `~0` are the constants.
    """
    _, a, b, c, table = op
    used = operands(op)
    return formula(table, *(name(row) if row in used else "" for row in (a, b, c)))

"""Lane programs and networks as operations on rows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from herbrand.convert.wasm.rows import AND, COPY, XOR, Operation, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.network.lanes import LaneProgram
    from herbrand.network.network import Network

__all__ = ["NetworkRows", "network_stages", "program_stages"]


def program_stages(program: LaneProgram) -> dict[str, list[Unit]]:
    """Return the stages of a lane program with functions of two bits."""
    units = []
    for begin, end, back, back_end in program.units.tolist():
        operations = [_operation(op) for op in program.ops[begin:end].tolist()]
        units.append(
            Unit(operations, [(row, source) for row, source in program.back[back:back_end].tolist()])
        )
    return {name: units[first:last] for name, (first, last) in program.stages.items()}


def _operation(op: Sequence[int]) -> Operation:
    """Return an operation from its truth table."""
    out, *rows, table = op
    kind, places, inverted, is_inverted = _function(table)
    literals = [2 * rows[place] + inverse for place, inverse in zip(places, inverted, strict=True)]
    literals += [2 * (table & 1), 0]  # row 1 is true
    return Operation(out, kind, literals[0], literals[1] if kind != COPY else 0, is_inverted)


@cache
def _function(table: int) -> tuple[str, tuple[int, ...], tuple[int, ...], bool]:
    """Return the kind of a truth table, the places and inversions of its operands, and that of its result."""
    weights = [
        weight for weight in (4, 2, 1) if any((table >> i ^ table >> (i | weight)) & 1 for i in range(8))
    ]
    places = tuple((4, 2, 1).index(weight) for weight in weights)
    if not weights:
        return COPY, (), (), False
    if len(weights) == 1:
        return COPY, places, (0,), bool(table & 1)
    if len(weights) > 2:
        raise ValueError("functions of three bits have no instruction")
    values = [table >> (weights[0] * x + weights[1] * y) & 1 for x in (0, 1) for y in (0, 1)]
    if sum(values) == 2:
        return XOR, places, (0, 0), bool(values[0])
    is_inverted = sum(values) == 3
    only = values.index(not is_inverted)
    return AND, places, (int(only < 2), int(only % 2 == 0)), is_inverted


@dataclass(frozen=True, slots=True)
class NetworkRows:
    """Where the inputs and outputs of a network are: first rows of runs.  Rows 0 and 1 are false and true."""

    fluents: int
    moves: int
    """The moves that are made."""
    legal: int
    terminal: int
    next: int
    goals: int
    sees: int
    feedback: int
    sources: int
    """The values that feedback takes."""
    fixed: int
    """The first row of gates."""

    @classmethod
    def of(cls, network: Network) -> NetworkRows:
        """Return the rows of a network."""
        fluents, moves, feedback = len(network.fluents), len(network.moves), len(network.feedback)
        sizes = (fluents, moves, moves, 1, fluents, len(network.goals), len(network.percepts))
        return cls(*accumulate((2, *sizes, feedback, feedback)))


def network_stages(network: Network) -> dict[str, list[Unit]]:
    """Return the gates of a network, in their order: the stages of a program that evaluates states.

    Stage `legal` must run before the others; `next` and `goals` in any order.
    """
    rows = NetworkRows.of(network)
    inputs = network.inputs
    loops = sorted(network.loops.tolist())
    wired: dict[int, list[tuple[int, int]]] = defaultdict(list)
    """The outputs that are copies of nodes, by node: row and literal."""

    def row(node: int) -> int:
        if node >= inputs:
            return rows.fixed + node - inputs
        first_back = inputs - len(network.feedback)
        return rows.feedback + node - first_back if node >= first_back else node + (node > 0)

    def literal(of: int) -> int:
        return 2 if of == 1 else 2 * row(of >> 1) + (of & 1)

    def copies(outputs: Iterable[tuple[int, int]]) -> list[Operation]:
        return [Operation(out, COPY, literal(of)) for out, of in outputs]

    def unit(first: int, last: int, feedback: range = range(0)) -> Unit:
        operations = []
        for gate in range(first, last):
            out = rows.fixed + gate
            a, b = sorted((int(network.left[gate]), int(network.right[gate])))
            operations.append(Operation(out, AND, literal(b), literal(a)))
            operations += copies(wired.pop(inputs + gate, ()))
        operations += copies((rows.sources + i, int(network.feedback[i])) for i in feedback)
        return Unit(operations, [(rows.feedback + i, rows.sources + i) for i in feedback])

    def stage(first: int, last: int, outputs: Iterable[tuple[int, int]]) -> list[Unit]:
        early = []
        for out, of in outputs:
            if inputs + first <= of >> 1 < inputs + last:
                wired[of >> 1].append((out, of))
            else:
                early.append((out, of))
        units = [Unit(copies(early))]
        for begin, end, back, back_end in loops:
            if first <= begin < last and begin < end:
                units += [unit(first, begin), unit(begin, end, range(back, back_end))]
                first = end
        return [*units, unit(first, last)]

    legal, following, goals = network.cones
    sees = enumerate(network.sees.tolist(), rows.sees)
    terminal = (rows.terminal, int(network.terminal))
    return {
        "legal": stage(0, legal, [*enumerate(network.legal.tolist(), rows.legal), terminal]),
        "next": stage(legal, following, [*enumerate(network.next.tolist(), rows.next), *sees]),
        "goals": stage(following, goals, enumerate(network.goal.tolist(), rows.goals)),
    }

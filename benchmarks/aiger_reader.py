"""Read AIGER files, also into networks, and run them: to test what is written, also after other programs.

`read` reads ASCII and binary files, `from_aiger` makes a network of what `to_aiger` wrote, and `step`
evaluates a graph gate by gate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.errors import GameError
from herbrand.network.aiger import Aiger
from herbrand.network.cones import in_cones
from herbrand.network.network import Network
from herbrand.rules.terms import TermTable, read_term
from herbrand.syntax.nodes import Function

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

MAX_VARIABLES = 1 << 28
"""Maximum number of variables of a file."""


def step(
    graph: Aiger, latches: Sequence[bool], inputs: Sequence[bool]
) -> tuple[list[bool], list[bool], list[bool]]:
    """Evaluate the graph gate by gate; return the next latches, the outputs and the bad states."""
    values = [False, *inputs, *latches]

    def value(literal: int) -> bool:
        return values[literal >> 1] ^ bool(literal & 1)

    for a, b in zip(graph.left.tolist(), graph.right.tolist(), strict=True):
        values.append(value(a) and value(b))
    following, outputs, bad = (
        [value(literal) for literal in literals.tolist()]
        for literals in (graph.next, graph.output, graph.bad_literal)
    )
    return following, outputs, bad


def read(data: bytes) -> Aiger:
    """Parse a graph in either format; raises `GameError` if the data is not AIGER.

    ASCII files may number and order gates in any way; they are renumbered.  Files with invariant
    constraints, justice, fairness, or latches without a reset value are rejected.
    """
    try:
        return _Reader(data).graph()
    except (ValueError, IndexError, OverflowError) as error:
        if isinstance(error, GameError):
            raise
        raise GameError(f"this is not AIGER: {error or 'it ends too early'}") from error


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def line(self) -> str:
        end = self.data.find(b"\n", self.position)
        if end < 0:
            raise GameError("this is not AIGER: it ends too early")
        text = self.data[self.position : end].decode("utf-8", "replace")
        self.position = end + 1
        return text

    def numbers(self, least: int, most: int) -> list[int]:
        text = self.line()
        numbers = [int(word) for word in text.split()]
        if not least <= len(numbers) <= most or min(numbers, default=0) < 0:
            raise GameError(f"this is not AIGER: `{text[:40]}` where {least} numbers were expected")
        return numbers

    def graph(self) -> Aiger:
        header = self.line().split()
        if len(header) < 6 or header[0] not in ("aag", "aig"):
            raise GameError("this is not AIGER: the first line must be `aag M I L O A` or `aig M I L O A`")
        sizes = [int(word) for word in header[1:]]
        if min(sizes) < 0 or sizes[0] > MAX_VARIABLES or any(sizes[6:]):
            raise GameError(
                f"`{' '.join(header)}`: only inputs, latches, outputs, gates and bad states are read"
            )
        most, inputs, latches, outputs, gates = sizes[:5]
        bads = sizes[5] if len(sizes) > 5 else 0
        if most < inputs + latches + gates or len(self.data) < latches + outputs + bads + 2 * gates:
            raise GameError(f"`{' '.join(header)}`: these sizes do not fit each other or the file")
        text = header[0] == "aag"
        own = [self.numbers(1, 1)[0] for _ in range(inputs)] if text else []
        rows = []
        for i in range(latches):
            row = self.numbers(2, 3) if text else self.numbers(1, 2)
            if text:
                own.append(row.pop(0))
            rows.append(row if len(row) == 2 else [*row, 0])
            if rows[-1][1] > 1:
                raise GameError(f"latch {i} has no reset value")
        output = np.array([self.numbers(1, 1)[0] for _ in range(outputs)], np.int64)
        bad = np.array([self.numbers(1, 1)[0] for _ in range(bads)], np.int64)
        following = np.array([row[0] for row in rows], np.int64)
        if text:
            table = [self.numbers(3, 3) for _ in range(gates)]
            left, right, place = _renumbered(most, own, table)
            following, output, bad = (_moved(place, part) for part in (following, output, bad))
        else:
            left, right = self.compact(inputs + latches + 1, gates)
        last = 2 * (1 + inputs + latches + gates)
        if any((part >= last).any() for part in (following, output, bad)):
            raise GameError("this is not AIGER: a literal belongs to no variable")
        names, comment = self.symbols(inputs, latches, outputs, bads)
        return Aiger(
            inputs=names["i"],
            latches=names["l"],
            next=following,
            reset=np.array([row[1] == 1 for row in rows], np.bool_),
            left=left,
            right=right,
            outputs=names["o"],
            output=output,
            bad=names["b"],
            bad_literal=bad,
            comment=comment,
        )

    def compact(self, first: int, gates: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        numbers = []
        place, data = self.position, self.data
        for _ in range(2 * gates):
            number = shift = 0
            while True:
                byte = data[place]
                place += 1
                number |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
            numbers.append(number)
        self.position = place
        pairs = np.array(numbers, np.int64).reshape(gates, 2)
        left = 2 * (first + np.arange(gates, dtype=np.int64)) - pairs[:, 0]
        right = left - pairs[:, 1]
        if (pairs[:, 0] < 1).any() or (right < 0).any():
            raise GameError("this is not AIGER: a gate depends on itself or on a later one")
        return left, right

    def symbols(self, *sizes: int) -> tuple[dict[str, tuple[str, ...]], str]:
        names = {kind: [""] * size for kind, size in zip("ilob", sizes, strict=True)}
        comment = ""
        while self.position < len(self.data):
            if self.data[self.position : self.position + 1] == b"c":
                self.line()
                comment = self.data[self.position :].decode("utf-8", "replace").rstrip("\n")
                break
            key, _, name = self.line().partition(" ")
            names[key[:1]][int(key[1:])] = name
        return {kind: tuple(texts) for kind, texts in names.items()}, comment


def _moved(place: NDArray[np.int64], literals: NDArray[np.int64]) -> NDArray[np.int64]:
    moved_literals: NDArray[np.int64] = 2 * place[literals >> 1] + (literals & 1)
    if (moved_literals < 0).any():
        raise GameError("this is not AIGER: a literal belongs to no variable")
    return moved_literals


def _renumbered(
    most: int, own: list[int], table: list[list[int]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Number inputs and latches in their order, then gates topologically."""
    place = np.full(most + 1, -1, np.int64)
    place[0] = 0
    for i, literal in enumerate(own):
        place[literal >> 1] = 1 + i
    gates = {row[0] >> 1: row for row in table}
    if len({*gates, *(literal >> 1 for literal in own)}) < len(own) + len(table):
        raise GameError("this is not AIGER: a variable is defined twice")
    rows: list[tuple[int, int]] = []
    for gate in gates:
        stack = [gate]
        open_gates: set[int] = set()
        while stack:
            top = stack[-1]
            if place[top] >= 0:
                stack.pop()
                continue
            if top not in gates:
                raise GameError(f"this is not AIGER: variable {top} is not defined")
            needs = [x >> 1 for x in gates[top][1:] if place[x >> 1] < 0]
            if needs:
                if top in open_gates:
                    raise GameError(f"this is not AIGER: gate {2 * top} depends on itself")
                open_gates.add(top)
                stack += needs
                continue
            _, a, b = gates[top]
            rows.append((2 * int(place[a >> 1]) + (a & 1), 2 * int(place[b >> 1]) + (b & 1)))
            place[top] = len(own) + len(rows)
            stack.pop()
    pairs = np.array(rows, np.int64).reshape(len(rows), 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy(), place


def from_aiger(graph: Aiger, *, terms: TermTable | None = None) -> Network:
    """Return the network of a graph written by `to_aiger`, possibly optimised by other tools.

    Inputs, latches and outputs are identified by their names.  Bad states count as outputs, since some tools
    write outputs so.  Raises `GameError` if a name is missing or is not a GDL term.
    """
    table = terms or TermTable()
    fluents = _parse_names(table, graph.latches, "true", 1)[:, 0]
    does = _parse_names(table, graph.inputs, "does", 2)
    outputs = list(zip(graph.outputs, graph.output.tolist(), strict=True))
    outputs += zip(graph.bad, graph.bad_literal.tolist(), strict=True)
    kinds = {name.strip("(").split(" ")[0] for name, _ in outputs}
    if not kinds <= {"legal", "terminal", "goal", "sees"} or len(dict(outputs)) < len(outputs):
        raise GameError("the outputs of this AIGER file are not those of a game")
    first, moves = len(fluents), len(does)
    node = np.arange(graph.first + len(graph.left), dtype=np.int64)
    node[1 : 1 + moves] += first
    node[1 + moves : 1 + moves + first] -= moves

    def renumber(literals: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int32]:
        numbers = np.asarray(literals, np.int64)
        result: NDArray[np.int32] = (2 * node[numbers >> 1] + (numbers & 1)).astype(np.int32)
        return result

    def rows(kind: str) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        wanted = [(name, literal) for name, literal in outputs if name.startswith(f"({kind} ")]
        return _parse_names(table, [name for name, _ in wanted], kind, 2), renumber(
            [literal for _, literal in wanted]
        )

    legal_rows, legal = rows("legal")
    goals, goal = rows("goal")
    percepts, sees = rows("sees")
    if sorted(map(tuple, legal_rows.tolist())) != sorted(map(tuple, does.tolist())):
        raise GameError("in this AIGER file the moves that can be legal are not those that can be made")
    place = {tuple(row): i for i, row in enumerate(legal_rows.tolist())}
    roles = _roles(table, graph.comment, [*does[:, 0].tolist(), *goals[:, 0].tolist()])
    number = {role: i for i, role in enumerate(roles)}

    def with_role_numbers(rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([(number[role], term) for role, term in rows.tolist()], np.int64).reshape(-1, 2)

    moves_placed = with_role_numbers(does)
    if (np.diff(moves_placed[:, 0]) < 0).any():
        raise GameError("the inputs of this AIGER file are not in the order of the roles")
    terminal = [literal for name, literal in outputs if name == "terminal"]
    network = Network(
        terms=table,
        roles=roles,
        fluents=fluents.copy(),
        moves=moves_placed,
        left=renumber(np.minimum(graph.left, graph.right)),
        right=renumber(np.maximum(graph.left, graph.right)),
        feedback=np.zeros(0, np.int32),
        loops=np.zeros((0, 4), np.int32),
        legal=legal[[place[tuple(row)] for row in does.tolist()]],
        next=renumber(graph.next),
        terminal=int(renumber(terminal)[0]) if terminal else 0,
        goal=goal,
        goals=with_role_numbers(goals),
        sees=sees,
        percepts=with_role_numbers(percepts),
        initial=graph.reset,
        cones=(0, 0, 0),
    )
    return in_cones(network, network.inputs)


def _parse_names(terms: TermTable, names: Iterable[str], kind: str, arity: int) -> NDArray[np.int64]:
    """Parse names such as `(does role move)` into rows of terms."""
    rows = []
    for name in names:
        term = read_term(name, fold=terms.folds_case) if name else None
        if not isinstance(term, Function) or term.name != kind or len(term.args) != arity:
            raise GameError(f"`{name}` in this AIGER file is not a ({kind} ...)")
        rows.append(tuple(map(terms.intern, term.args)))
    return np.array(rows, np.int64).reshape(len(rows), arity)


def _roles(terms: TermTable, comment: str, used: list[int]) -> tuple[int, ...]:
    """Return the roles in the order of the comment, then those only used in names."""
    declared = [
        terms.read(line.removeprefix("role: ")) for line in comment.splitlines() if line.startswith("role: ")
    ]
    return tuple(dict.fromkeys([*declared, *used]))

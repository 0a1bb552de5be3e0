"""`Network`: a game as an and-inverter graph.  This page documents the encoding.

A *node* is a number; a *literal* is `2 * node + inverted`.  Node 0 is the constant false, so
literal 0 is false and literal 1 is true.  Nodes are numbered so that each depends on smaller
ones only, apart from feedback (below):

    0                          false
    1 .. fluents               the fluents of the state, true or false
    .. + moves                 the moves, one node for each (role, move), true if it is made
    .. + feedback              values fed back inside loops
    the rest                   gates

Gate `g` is node `inputs + g`, with `inputs = 1 + fluents + moves + feedback`; it is true when
both its literals `left[g]` and `right[g]` are.

Rules that are recursive within one state can give cyclic definitions.  A *loop* is a run of
gates `first <= g < last` together with feedback nodes: they start false, the gates are
evaluated, each feedback node takes the value of its literal `source`, and this is repeated
until nothing changes.  All definitions in a loop are monotone, so that the iteration ends at the least
fixpoint, as the semantics of the rules requires.

Outputs are literals: `legal[m]` for move `m`, `next[f]` for fluent `f`, `terminal`,
`goal[k]` for the k-th pair of role and value, `sees[k]` for the k-th pair of role and percept.

Gates are ordered in three runs, the *cones*: first those that `legal` and `terminal` depend on and those
that both `next` and `goal` depend on, then the others of `next` and `sees`, then the others of `goal`.
The second and the third run do not depend on each other.  `cones` has the ends of the three runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from herbrand.core import Circuit
    from herbrand.rules.terms import TermTable

__all__ = ["GOAL_VALUES", "Network"]

_SHOWN_GATES = 40
"""Notebooks show networks up to this size in full."""
GOAL_VALUES = {str(value): value for value in range(101)}
"""The terms that are goal values, with their numbers."""


@dataclass(frozen=True, slots=True)
class Network:
    """An and-inverter graph with the names of its inputs and outputs; see the module."""

    terms: TermTable
    roles: tuple[int, ...]
    """The roles as terms, in textual order."""
    fluents: NDArray[np.int64]
    """[fluents] the fluents as terms."""
    moves: NDArray[np.int64]
    """[moves, 2] role (counted from 0) and move (a term), sorted by role."""
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feedback: NDArray[np.int32]
    """[feedback] the source literal of each feedback node."""
    loops: NDArray[np.int32]
    """[loops, 4] first gate, last gate + 1, first feedback, last feedback + 1."""
    legal: NDArray[np.int32]
    next: NDArray[np.int32]
    terminal: int
    goal: NDArray[np.int32]
    goals: NDArray[np.int64]
    """[goal, 2] role (counted from 0) and value (a term)."""
    sees: NDArray[np.int32]
    percepts: NDArray[np.int64]
    """[sees, 2] role (counted from 0) and percept (a term)."""
    initial: NDArray[np.bool_]
    """[fluents] which are true in the initial state."""
    cones: tuple[int, int, int]
    """The ends of the three runs of gates: legal and terminal, next and sees, goals."""
    _circuit: Circuit | None = field(default=None, init=False, repr=False, compare=False)

    def __getstate__(self) -> list[object]:
        """Return all fields but the copy in the core, which is recreated after unpickling."""
        return [None if f.name == "_circuit" else getattr(self, f.name) for f in fields(self)]

    @property
    def digest(self) -> str:
        """A hash that identifies equal networks, by which files name the game that they belong to."""
        names = [self.terms.text(int(term)) for term in (*self.fluents, *self.moves[:, 1])]
        names += [f"{role} {self.terms.text(value)}" for role, value in self.goals.tolist()]
        digest = blake2b(repr((names, int(self.terminal))).encode(), digest_size=16)
        arrays = (self.left, self.right, self.feedback, self.legal, self.next, self.goal, self.sees)
        for array in (*arrays, self.moves[:, 0], self.initial):
            digest.update(array.tobytes())
        return digest.hexdigest()

    @property
    def circuit(self) -> Circuit:
        """The validated copy of the network in the compiled core, created once and shared.

        Goal values other than integers from 0 to 100 become `core.SEVERAL_VALUES`.
        """
        if self._circuit is None:
            object.__setattr__(self, "_circuit", self._create_circuit())
        assert self._circuit is not None
        return self._circuit

    def _create_circuit(self) -> Circuit:
        import numpy as np

        from herbrand.core import SEVERAL_VALUES, make_circuit
        from herbrand.network.alternatives import alternatives
        from herbrand.network.graph import int32

        texts = map(self.terms.text, self.goals[:, 1].tolist())
        values = [GOAL_VALUES.get(text, SEVERAL_VALUES) for text in texts]
        bits = np.zeros(64 * max(1, -(-len(self.fluents) // 64)), np.bool_)
        bits[: len(self.initial)] = self.initial

        return make_circuit(
            fluents=len(self.fluents),
            roles=len(self.roles),
            left=int32(self.left),
            right=int32(self.right),
            feedback=int32(self.feedback),
            loops=int32(self.loops[np.argsort(self.loops[:, 0])]),
            legal=int32(self.legal),
            move_role=int32(self.moves[:, 0]),
            next=int32(self.next),
            terminal=int(self.terminal),
            goal=int32(self.goal),
            goal_role=int32(self.goals[:, 0]),
            goal_value=np.array(values, np.int16),
            sees=int32(self.sees),
            sees_role=int32(self.percepts[:, 0]),
            initial=np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64, copy=False),
            cones=list(map(int, self.cones)),
            alternatives=alternatives(self.terms, self.fluents.tolist()),
        )

    @property
    def inputs(self) -> int:
        """The node of the first gate."""
        return 1 + len(self.fluents) + len(self.moves) + len(self.feedback)

    @property
    def gates(self) -> int:
        """The number of gates."""
        return len(self.left)

    @property
    def always(self) -> NDArray[np.bool_]:
        """[fluents] which are true in every reachable state: true initially, and `next` is constant true.

        The network may rely on them, so that it is invalid for other states.
        """
        always: NDArray[np.bool_] = self.initial & (self.next == 1)
        return always

    def statistics(self) -> dict[str, int]:
        """Return the sizes."""
        a, b, c = self.cones
        return {
            "fluents": len(self.fluents),
            "moves": len(self.moves),
            "gates": self.gates,
            "gates_legal": a,
            "gates_next": b - a,
            "gates_goal": c - b,
            "loops": len(self.loops),
            "feedback": len(self.feedback),
        }

    def __repr__(self) -> str:
        return f"<Network: {len(self.fluents)} fluents, {len(self.moves)} moves, {self.gates} gates>"

    def _repr_html_(self) -> str:
        """Return the sizes, and a small network as text, as HTML for notebooks."""
        from herbrand.runtime.notebook import block, column, table

        rows = [(name.replace("_", " "), number) for name, number in self.statistics().items()]
        small = column(str(self).split("\n")) if self.gates <= _SHOWN_GATES else ""
        return block("network", table(rows, numbers=(1,)), small)

    @property
    def fluent_names(self) -> list[str]:
        """The fluents as atoms, such as "(true (cell 1 b))"."""
        return [f"(true {self.terms.text(fluent)})" for fluent in self.fluents.tolist()]

    @property
    def move_names(self) -> list[str]:
        """The moves as atoms, such as "(does white noop)"."""
        return self._pair_names("does", self.moves)

    def outputs(self, *relations: str) -> list[tuple[str, int]]:
        """Return the atom and the literal of each output of relations.

        These are "legal", "next", "terminal", "goal" and "sees".
        """
        following = [f"(next {self.terms.text(fluent)})" for fluent in self.fluents.tolist()]
        named = {
            "legal": (self._pair_names("legal", self.moves), self.legal.tolist()),
            "next": (following, self.next.tolist()),
            "terminal": (["terminal"], [self.terminal]),
            "goal": (self._pair_names("goal", self.goals), self.goal.tolist()),
            "sees": (self._pair_names("sees", self.percepts), self.sees.tolist()),
        }
        return [output for name in relations for output in zip(*named[name], strict=True)]

    def _pair_names(self, relation: str, rows: NDArray[np.int64]) -> list[str]:
        text = self.terms.text
        return [f"({relation} {text(self.roles[role])} {text(term)})" for role, term in rows.tolist()]

    def __str__(self) -> str:
        """Return the network as text, one node a line, inputs and outputs by their GDL names."""
        names = ["false", *self.fluent_names, *self.move_names]
        names += [f"back{i}" for i in range(len(self.feedback))]
        names += [f"_{i}" for i in range(self.gates)]

        def show(literal: int) -> str:
            if literal == 1:
                return "true"
            return f"(not {names[literal >> 1]})" if literal & 1 else names[literal >> 1]

        lines = [
            f"{names[self.inputs + i]} = (and {show(a)} {show(b)})"
            for i, (a, b) in enumerate(zip(self.left.tolist(), self.right.tolist(), strict=True))
        ]
        lines += [f"back{i} <- {show(source)}" for i, source in enumerate(self.feedback.tolist())]
        outputs = self.outputs("legal", "next", "terminal", "goal", "sees")
        lines += [f"{atom} = {show(literal)}" for atom, literal in outputs]
        return "\n".join(lines)

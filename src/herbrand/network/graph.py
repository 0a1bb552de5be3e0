"""Functions on the gates of networks, implemented in the core.

Literals are `2 * node + inverted`; `first` is the node of gate 0.  Numbers out of range raise `ValueError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand import core

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "build_gates",
    "cone_sizes",
    "conjuncts",
    "int32",
    "mark_cone",
    "renumbered",
    "strong_components",
    "unknown_cone",
]


def int32(numbers: NDArray[Any]) -> NDArray[np.int32]:
    """Return numbers as the core takes them."""
    return np.ascontiguousarray(numbers, np.int32)


def _int64(numbers: NDArray[Any]) -> NDArray[np.int64]:
    return np.ascontiguousarray(numbers, np.int64)


def renumbered(node: NDArray[np.int64], literals: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return literals after each node has got the number that `node` has for it."""
    return int32(2 * node[literals >> 1] + (literals & 1))


def strong_components(
    start: NDArray[np.int64], edges: NDArray[np.int32], count: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the nodes in topological order, ends of edges first, and the strong component of each.

    The edges of node n are `edges[start[n]:start[n + 1]]`.
    """
    return core.strong_components(_int64(start), int32(edges), count)


def build_gates(
    order: NDArray[np.int32],
    component: NDArray[np.int32],
    rule_start: NDArray[np.int64],
    rules: NDArray[np.int32],
    body_start: NDArray[np.int64],
    body: NDArray[np.int32],
    literal: NDArray[np.int32],
    first: int,
    feedback_first: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Build the gates of all atoms; return left, right, feedback atoms, loops [loops, 4].

    `literal[atom]` has the literals of the inputs, -1 for atoms to be derived, which the call fills in.
    `rules[rule_start[a]:rule_start[a + 1]]` are the rules of atom a, and `body[body_start[r]:body_start[r +
    1]]` is the body of rule r, as in `GroundProgram`.  Feedback nodes are numbered from `feedback_first`.
    Loops are as in `Network`.
    """
    return core.build_gates(
        order, component, _int64(rule_start), int32(rules), _int64(body_start), int32(body),
        literal, first, feedback_first,
    )  # fmt: skip


def mark_cone(
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    first: int,
    feedback_first: int,
    feedback: NDArray[np.int32],
    loops: NDArray[np.int32],
    wanted: NDArray[np.int32],
) -> NDArray[np.bool_]:
    """Return for each gate whether the literals `wanted` depend on it; a loop is included as a whole."""
    marked = core.mark_cone(
        int32(left), int32(right), first, feedback_first, int32(feedback), int32(loops), int32(wanted)
    )
    return marked.view(np.bool_)


def unknown_cone(
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    state: NDArray[np.int8],
    uses: NDArray[np.int32],
    root: int,
) -> NDArray[np.int64]:
    """Return the gates that a node depends on and that are not defined yet, as wide conjunctions.

    The result is a concatenation of rows: a node, the number of its inputs, the inputs as literals.  A gate
    that is used once, and not inverted, is merged into the row of the gate that uses it.
    `state` is 1 for nodes that have a row already, `uses` counts the uses of the gates visited so far; the
    call updates both.  `left` is -1 for nodes that are not gates.
    """
    return core.unknown_cone(left, right, state, uses, root)


def conjuncts(
    left: NDArray[np.int32], right: NDArray[np.int32], first: int, literal: int
) -> NDArray[np.int32]:
    """Return the literals of the maximal conjunction that equals a literal."""
    return core.conjuncts(int32(left), int32(right), first, literal)


def cone_sizes(
    left: NDArray[np.int32], right: NDArray[np.int32], first: int, literals: NDArray[np.int32], most: int
) -> NDArray[np.int64]:
    """Return the number of gates that each literal depends on, capped at `most`."""
    return core.cone_sizes(int32(left), int32(right), first, int32(literals), most)

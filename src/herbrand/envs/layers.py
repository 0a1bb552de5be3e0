"""A network as layers of gates for array programs: every layer is one gather, one AND, one write.

Values are 32-bit words, `[nodes, words]`, one game in each bit; a single game is a batch of one.  Gates are
renumbered so that each layer writes a run of rows.  Loops (`network.network`) are evaluated to
their fixpoint in all games together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from herbrand.network.graph import renumbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["GateLayer", "Layers", "Run", "evaluate", "layers_of"]


UNROLLED: Final = 64
"""Runs of more layers than this are loops in the compiled program, which else takes minutes to compile."""


@dataclass(frozen=True, slots=True)
class GateLayer:
    """Gates that depend only on earlier rows: row `first + i` is the AND of two literals."""

    first: int
    left: NDArray[np.int32]
    right: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Run:
    """Layers evaluated once, or, where there is feedback, until nothing changes."""

    layers: tuple[GateLayer, ...]
    feedback: tuple[int, int]
    """First row fed back, and the row after the last."""
    sources: NDArray[np.int32]
    """The literals that are fed back."""


@dataclass(frozen=True, slots=True)
class Layers:
    """A network by layers; outputs are literals in the new numbering."""

    rows: int
    inputs: int
    runs: tuple[Run, ...]
    outputs: NDArray[np.int32]
    """legal, next, terminal, goal, one after the other."""

    @property
    def widest(self) -> int:
        """The gates of the largest layer."""
        return max((len(layer.left) for run in self.runs for layer in run.layers), default=0)

    @property
    def depth(self) -> int:
        """How many layers there are."""
        return sum(len(run.layers) for run in self.runs)


def layers_of(network: Network) -> Layers:
    """Sort the gates of a network into layers."""
    inputs = network.inputs
    level = np.zeros(inputs + network.gates, np.int64)
    row = np.arange(inputs + network.gates)
    at = inputs
    runs = []
    pieces: list[tuple[int, int, int, int]] = []
    done = 0
    for first, last, begin, end in sorted(network.loops.tolist()):
        pieces += [(done, first, 0, 0), (first, last, begin, end)]
        done = last
    pieces.append((done, network.gates, 0, 0))
    back = inputs - len(network.feedback)
    for first, last, begin, end in pieces:
        level[:] = 0
        for gate in range(first, last):
            level[inputs + gate] = 1 + max(level[network.left[gate] >> 1], level[network.right[gate] >> 1])
        depths = level[inputs + first : inputs + last]
        layers = []
        for depth in range(1, int(depths.max(initial=0)) + 1):
            gates = first + np.flatnonzero(depths == depth)
            row[inputs + gates] = at + np.arange(len(gates))
            left, right = (renumbered(row, side[gates]) for side in (network.left, network.right))
            layers.append(GateLayer(at, left, right))
            at += len(gates)
        runs.append(
            Run(tuple(layers), (back + begin, back + end), renumbered(row, network.feedback[begin:end]))
        )
    outputs = np.concatenate([network.legal, network.next, [network.terminal], network.goal]).astype(np.int32)
    used = tuple(run for run in runs if run.layers)
    return Layers(inputs + network.gates, inputs, used, renumbered(row, outputs))


def _padded(run: Run) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """The layers of a run as arrays [layers, widest], and their first rows."""
    shape = len(run.layers), max(len(layer.left) for layer in run.layers)
    left, right = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    for i, layer in enumerate(run.layers):
        left[i, : len(layer.left)] = layer.left
        right[i, : len(layer.right)] = layer.right
    return left, right, np.array([layer.first for layer in run.layers], np.int32)


def evaluate(layers: Layers, inputs: Any) -> Any:
    """Return the outputs, `[outputs, words]`, for words of fluents and moves, `[fluents + moves, words]`."""
    import jax
    import jax.numpy as jnp

    def read(values: Any, literals: Any) -> Any:
        inverted = (literals & 1).astype(np.uint32) * np.uint32(0xFFFFFFFF)
        return values[literals >> 1] ^ inverted[:, None]

    def deep(run: Run, values: Any) -> Any:
        """Evaluate the layers in a loop; they are padded: values written too far are overwritten later."""
        lefts, rights, firsts = map(jnp.asarray, _padded(run))

        def layer(i: Any, values: Any) -> Any:
            gates = read(values, lefts[i]) & read(values, rights[i])
            return jax.lax.dynamic_update_slice(values, gates, (firsts[i], jnp.int32(0)))

        return jax.lax.fori_loop(0, len(run.layers), layer, values)

    def once(run: Run, values: Any) -> Any:
        if len(run.layers) > UNROLLED:
            return deep(run, values)
        for layer in run.layers:
            gates = read(values, layer.left) & read(values, layer.right)
            values = values.at[layer.first : layer.first + len(layer.left)].set(gates)
        return values

    def fixed(run: Run, values: Any) -> Any:
        first, last = run.feedback

        def going(state: tuple[Any, Any]) -> Any:
            values, old = state
            return jnp.any(values[first:last] != old)

        def again(state: tuple[Any, Any]) -> tuple[Any, Any]:
            values, _ = state
            old = values[first:last]
            values = once(run, values)
            return values.at[first:last].set(read(values, run.sources)), old

        return jax.lax.while_loop(going, again, again((values.at[first:last].set(0), None)))[0]

    values = jnp.zeros((layers.rows + layers.widest, inputs.shape[1]), jnp.uint32)
    values = values.at[1 : 1 + inputs.shape[0]].set(inputs)
    for run in layers.runs:
        values = fixed(run, values) if run.feedback[1] > run.feedback[0] else once(run, values)
    return read(values, layers.outputs)

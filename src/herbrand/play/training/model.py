"""`ValueModel`: predicts goal values from conditions of the rules, and how it is fitted.

The inputs are fluents, gates behind `legal` and `terminal`, threats (`play.threats`), and the number of legal
moves of each role.  Their weighted sum is the logit of the value (logistic regression), one for each *view*.
*Tables* (`training.tables`) add a weight for each combination of eight fluents, such as the contents of four
cells: what a sum of cells cannot tell (n-tuple networks: Bledsoe and Browning 1959; Lucas 2008).
A view is a role whose value is learned; where the goals of two roles always add up to 100 there is one, and
the value of the other role is the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from herbrand.analyse.solving.minimax.judge import SCALE, linear_judge, no_judge, with_tables
from herbrand.engine.expand import unpack
from herbrand.play.learning import LearnedJudge
from herbrand.play.threats import NO_GATES, with_gates
from herbrand.play.training.tables import NO_TABLES, ValueTables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.analyse.solving.minimax.judge import LinearJudge
    from herbrand.core import Valuer
    from herbrand.engine.expand import Expander
    from herbrand.network.network import Network

__all__ = [
    "COUNT_SCALE",
    "DECAY",
    "MOST_LOGIT",
    "RATES",
    "Inputs",
    "Optimizer",
    "Parameters",
    "ValueModel",
    "average",
    "gradients",
    "kept_share",
]

COUNT_SCALE = np.float32(0.05)
"""Factor of the numbers of legal moves, so that they are of the size of other inputs."""
_POINTS = 12.5
"""Goal points for a unit of the logit where the core adds up points: half the slope of the logistic function
at 50, so that few values leave the range.  Values are ordered in the same way."""
RATES = (0.9, 0.999)
"""Decays of the first and second moments of Adam."""
MOST_LOGIT = 30.0
"""Logits are clipped to this size."""
DECAY = 0.01
"""Weight decay, times the learning rate."""
_AVERAGE = 0.998
"""Decay of the moving average of the parameters."""


class Parameters(NamedTuple):
    """What is fitted, or the gradient for it."""

    weights: NDArray[np.float32]
    """[inputs, views]; the inputs are the features, then the scaled number of legal moves of each role."""
    biases: NDArray[np.float32]
    """[views]"""
    tables: NDArray[np.float32]
    """[256 tables, views] for each table, what is added for each combination of its fluents."""
    shared: NDArray[np.float32]
    """[256 kinds, views] the same for all tables of a kind."""


class Inputs(NamedTuple):
    """What a model predicts the values of n states from."""

    rows: NDArray[np.float32]
    """[n, inputs]"""
    places: NDArray[np.int32]
    """[n, tables] the row of `Parameters.tables` for the state."""
    shared: NDArray[np.int32]
    """[n, tables] the same for `Parameters.shared`."""


@dataclass
class ValueModel:
    """Predicts goal values, from 0 to 1, for each view."""

    literals: NDArray[np.int32]
    """[features] literals of the game's network with `gates`."""
    roles: int
    constant_sum: bool
    """Whether there is one view, of the first of two roles whose goals add up to 100."""
    parameters: Parameters
    gates: NDArray[np.int32] = field(default_factory=NO_GATES.copy)
    """[gates, 2] gates that are added to the network, see `with_gates`."""
    tables: ValueTables = NO_TABLES

    @classmethod
    def untrained(
        cls, literals: NDArray[np.int32], roles: int, *, constant_sum: bool,
        gates: NDArray[np.int32] = NO_GATES, tables: ValueTables = NO_TABLES,
    ) -> ValueModel:  # fmt: skip
        """Return a model that predicts 0.5 for all states."""
        views = 1 if constant_sum else roles
        rows = len(literals) + roles, 256 * len(tables.literals), 256 * tables.kinds
        weights, own, shared = (np.zeros((count, views), np.float32) for count in rows)
        zeros = Parameters(weights, np.zeros(views, np.float32), own, shared)
        return cls(literals, roles, constant_sum, zeros, gates, tables)

    def copy(self) -> ValueModel:
        """Return a model with parameters of its own."""
        return replace(self, parameters=Parameters(*(array.copy() for array in self.parameters)))

    def with_tables(self, tables: ValueTables) -> ValueModel:
        """Return a model that predicts the same, with tables of zeros."""
        model = self.untrained(
            self.literals, self.roles, constant_sum=self.constant_sum, gates=self.gates, tables=tables
        )
        weights, biases = (array.copy() for array in self.parameters[:2])
        model.parameters = model.parameters._replace(weights=weights, biases=biases)
        return model

    @property
    def views(self) -> int:
        """The number of outputs."""
        return 1 if self.constant_sum else self.roles

    def judge(self, role: int) -> LinearJudge:
        """Return the values for a role, as the core computes them."""
        view, points = (0, _POINTS * (1 - 2 * role)) if self.constant_sum else (role, _POINTS)
        weights, biases, tables, shared = (points * each[..., view].astype(float) for each in self.parameters)
        count = len(self.literals)
        mobility = weights[count:] * float(COUNT_SCALE)
        linear = linear_judge(self.literals, weights[:count], mobility, 50.0 + float(biases), whole=True)
        if not len(self.tables.literals):
            return linear
        entries = tables.reshape(-1, 256) + shared.reshape(-1, 256)[self.tables.kind]
        return with_tables(linear, self.tables.literals, entries)

    def learned(self, role: int) -> LearnedJudge:
        """Return the values for a role, for players."""
        return LearnedJudge(self.judge(role), 0, len(self.literals), 0.0, 0.0, gates=self.gates)

    def set_judge(self, role: int, judge: LinearJudge) -> None:
        """Take the weights for a role from a judge whose literals are among those of the model."""
        view, sign = (0, 1 - 2 * role) if self.constant_sum else (role, 1)
        count = len(self.literals)
        at = np.arange(len(judge.literals))
        points = judge.table[at // 8, 1 << at % 8] / SCALE
        weights = self.parameters.weights[:, view]
        weights[np.searchsorted(self.literals, judge.literals)] = sign * points / _POINTS
        weights[count:] = sign * judge.mobility / (SCALE * _POINTS * float(COUNT_SCALE))
        self.parameters.biases[view] = sign * (judge.bias / SCALE - 50.0) / _POINTS

    def network(self, expander: Expander) -> Network:
        """Return the network to which the literals belong."""
        return with_gates(expander.network, self.gates)

    def valuers(self, expander: Expander) -> list[Valuer]:
        """Return an evaluator of states for each view."""
        network = self.network(expander)
        return [self.judge(view).valuer(network, view) for view in range(self.views)]

    def reader(self, expander: Expander) -> Valuer:
        """Return the object of the core whose `features` are packed inputs."""
        # with the literals of the judge, so that both share their program
        return no_judge(self.roles, self.judge(0).literals).valuer(self.network(expander), 0)

    @property
    def first_table(self) -> int:
        """The byte of the packed inputs with which the tables begin."""
        return -(-len(self.literals) // 8)

    @property
    def words(self) -> int:
        """The number of words of packed inputs."""
        return -(-(self.first_table + len(self.tables.literals)) // 8)

    def inputs(self, packed: NDArray[np.uint64], counts: NDArray[np.integer]) -> Inputs:
        """Return the inputs for packed features, [n, words], and the numbers of legal moves, [n, roles]."""
        n = len(self.literals)
        rows = np.zeros((len(packed), n + self.roles), np.float32)
        rows[:, :n] = unpack(packed, n)
        rows[:, n:] = counts * COUNT_SCALE
        end = self.first_table + len(self.tables.literals)
        octets = packed.astype("<u8", copy=False).view(np.uint8)[:, self.first_table : end].astype(np.int32)
        return Inputs(rows, octets + self.starts[0], octets + self.starts[1])

    @cached_property
    def starts(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Where each table begins among the entries of its own, and among the shared ones."""
        return 256 * np.arange(len(self.tables.literals), dtype=np.int32), 256 * self.tables.kind

    def predict(self, inputs: Inputs) -> NDArray[np.float32]:
        """Return the predicted values, [n, views]."""
        weights, biases, tables, shared = self.parameters
        logits = inputs.rows @ weights + biases
        if inputs.places.size:
            logits += tables[inputs.places].sum(axis=1) + shared[inputs.shared].sum(axis=1)
        values: NDArray[np.float32] = 1 / (1 + np.exp(-np.clip(logits, -MOST_LOGIT, MOST_LOGIT)))
        return values


def gradients(model: ValueModel, inputs: Inputs, targets: NDArray[np.float32]) -> Parameters:
    """Return the gradient of the mean cross-entropy between predictions and targets, both [n, views]."""
    errors = (model.predict(inputs) - targets) / np.float32(len(targets))
    tables, shared = (
        _sums(places, errors, len(entries))
        for places, entries in zip(inputs[1:], model.parameters[2:], strict=True)
    )
    return Parameters(inputs.rows.T @ errors, errors.sum(axis=0), tables, shared)


def _sums(places: NDArray[np.int32], errors: NDArray[np.float32], entries: int) -> NDArray[np.float32]:
    """Return for each entry the sum of the errors of the states that use it, [entries, views]."""
    sums = np.zeros((entries, errors.shape[1]), np.float32)
    if places.size:
        for view, column in enumerate(errors.T):
            weights = np.repeat(column, places.shape[1])
            sums[:, view] = np.bincount(places.reshape(-1), weights, minlength=entries)
    return sums


def kept_share(steps: int) -> float:
    """Return the share of its own that a moving average keeps in a step; less in the first ones."""
    return min(_AVERAGE, steps / (steps + 10))


def average(averaged: ValueModel, model: ValueModel, steps: int) -> None:
    """Move averaged parameters towards those of a model, in place, after so many steps."""
    keep = kept_share(steps)
    for mean, fitted in zip(averaged.parameters, model.parameters, strict=True):
        mean += np.float32(1 - keep) * (fitted - mean)


class Optimizer:
    """Adam with decoupled weight decay (Kingma and Ba 2015; Loshchilov and Hutter 2019)."""

    def __init__(self, model: ValueModel) -> None:
        self.steps = 0
        self.moments = Parameters(*(np.zeros_like(array) for array in model.parameters))
        self.squares = Parameters(*(np.zeros_like(array) for array in model.parameters))

    @staticmethod
    def scale(rate: float, steps: int) -> float:
        """Return the learning rate times the correction of the moments' bias in a step, from 1."""
        first, second = RATES
        return float(rate * np.sqrt(1 - second**steps) / (1 - first**steps))

    def update(self, model: ValueModel, slopes: Parameters, rate: float) -> None:
        """Change the parameters against the gradient, in place."""
        self.steps += 1
        first, second = RATES
        scale = np.float32(self.scale(rate, self.steps))
        for parameter, slope, moment, square in zip(
            model.parameters, slopes, self.moments, self.squares, strict=True
        ):
            moment += np.float32(1 - first) * (slope - moment)
            square += np.float32(1 - second) * (slope * slope - square)
            parameter -= scale * moment / (np.sqrt(square) + np.float32(1e-8))
            parameter *= np.float32(1 - DECAY * rate)

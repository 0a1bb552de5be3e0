"""`ValueModel`: predicts goal values from conditions of the rules, and how it is fitted.

The inputs are fluents, gates behind `legal` and `terminal`, threats (`play.threats`), and the number of legal
moves of each role.  Their weighted sum is the logit of the value (logistic regression), one for each *view*.
A view is a role whose value is learned; where the goals of two roles always add up to 100 there is one, and
the value of the other role is the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from herbrand.analyse.solving.minimax.judge import SCALE, linear_judge, no_judge
from herbrand.engine.expand import unpack
from herbrand.play.threats import NO_GATES, with_gates

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

    @classmethod
    def untrained(
        cls, literals: NDArray[np.int32], roles: int, *, constant_sum: bool,
        gates: NDArray[np.int32] = NO_GATES,
    ) -> ValueModel:  # fmt: skip
        """Return a model that predicts 0.5 for all states."""
        inputs, views = len(literals) + roles, 1 if constant_sum else roles
        zeros = Parameters(np.zeros((inputs, views), np.float32), np.zeros(views, np.float32))
        return cls(literals, roles, constant_sum, zeros, gates)

    def copy(self) -> ValueModel:
        """Return a model with parameters of its own."""
        parameters = Parameters(*(array.copy() for array in self.parameters))
        return ValueModel(self.literals, self.roles, self.constant_sum, parameters, self.gates)

    @property
    def views(self) -> int:
        """The number of outputs."""
        return 1 if self.constant_sum else self.roles

    def judge(self, role: int) -> LinearJudge:
        """Return the values for a role, as the core computes them."""
        view, points = (0, _POINTS * (1 - 2 * role)) if self.constant_sum else (role, _POINTS)
        weights = points * self.parameters.weights[:, view].astype(float)
        count = len(self.literals)
        bias = 50.0 + points * float(self.parameters.biases[view])
        mobility = weights[count:] * float(COUNT_SCALE)
        return linear_judge(self.literals, weights[:count], mobility, bias, whole=True)

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
        return no_judge(self.roles, self.literals).valuer(self.network(expander), 0)

    def inputs(self, packed: NDArray[np.uint64], counts: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the inputs, [n, inputs], for packed features and the numbers of legal moves, [n, roles]."""
        n = len(self.literals)
        rows = np.zeros((len(packed), n + self.roles), np.float32)
        rows[:, :n] = unpack(packed, n)
        rows[:, n:] = counts * COUNT_SCALE
        return rows

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the predicted values, [n, views]."""
        logits = inputs @ self.parameters.weights + self.parameters.biases
        values: NDArray[np.float32] = 1 / (1 + np.exp(-np.clip(logits, -MOST_LOGIT, MOST_LOGIT)))
        return values


def gradients(model: ValueModel, inputs: NDArray[np.float32], targets: NDArray[np.float32]) -> Parameters:
    """Return the gradient of the mean cross-entropy between predictions and targets, both [n, views]."""
    errors = (model.predict(inputs) - targets) / np.float32(len(inputs))
    return Parameters(inputs.T @ errors, errors.sum(axis=0))


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

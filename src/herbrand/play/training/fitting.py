"""`Fitter`: the states of self-play so far, and how a model is fitted to them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.play.training.model import average, gradients

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.core import Valuer
    from herbrand.engine.expand import Expander
    from herbrand.play.training.model import Optimizer, ValueModel
    from herbrand.play.training.selfplay import Lesson

__all__ = ["Fitter"]

_BUFFER: Final = 300_000
"""Size of the buffer of states."""
_BUFFER_BYTES: Final = 500_000_000
_BATCH: Final = 512
_REUSE: Final = 3.0
"""How often a state is used for fitting, on average."""


class Fitter:
    """Keeps the last states of self-play, with their targets, and fits a model to them by NumPy."""

    def __init__(self, model: ValueModel, expander: Expander) -> None:
        words = model.words
        row = 8 * words + 4 * model.roles + 4 * model.views
        self.capacity = max(_BATCH, min(_BUFFER, _BUFFER_BYTES // row))
        self.reader: Valuer = model.reader(expander)
        self.size = self._next = 0
        self.added = 0
        """States added since the last fit."""
        self._allocate(words, model)

    def _allocate(self, words: int, model: ValueModel) -> None:
        """Make room for the states, with so many words of features each."""
        self._features = np.zeros((self.capacity, words), np.uint64)
        self._counts = np.zeros((self.capacity, model.roles), np.int32)
        self._targets = np.zeros((self.capacity, model.views), np.float32)

    def add(self, lesson: Lesson) -> None:
        """Add states; those of long ago are overwritten."""
        n = min(len(lesson.states), self.capacity)
        rows = (self._next + np.arange(n)) % self.capacity
        self._put(rows, lesson)
        self._next = (self._next + n) % self.capacity
        self.size = min(self.size + n, self.capacity)
        self.added += n

    def _put(self, rows: NDArray[np.int64], lesson: Lesson) -> None:
        """Store the first states of a lesson in these rows."""
        n = len(rows)
        self._features[rows] = self.reader.features(lesson.states[:n])
        self._counts[rows] = lesson.counts[:n]
        self._targets[rows] = lesson.targets[:n]

    def fit(
        self, model: ValueModel, averaged: ValueModel, optimizer: Optimizer, *, rate: float, seed: int
    ) -> float:
        """Fit a model, and its moving average, to states; return the root mean square of the errors before.

        The number of steps is proportional to the number of states added since the last call.  The error is
        in goal points.
        """
        if not self.size:
            return 0.0
        steps = max(1, int(_REUSE * self.added / _BATCH))
        rows = np.random.default_rng([seed, 2, optimizer.steps]).integers(0, self.size, (steps, _BATCH))
        total = self._make_steps(model, averaged, optimizer, rows, rate)
        self.added = 0
        return 100 * math.sqrt(total / steps)

    def _make_steps(
        self,
        model: ValueModel,
        averaged: ValueModel,
        optimizer: Optimizer,
        batches: NDArray[np.int64],
        rate: float,
    ) -> float:
        """Make a step with each batch of rows, [steps, batch]; return the sum of the mean squared errors."""
        total = 0.0
        for rows in batches:
            inputs, targets = model.inputs(self._features[rows], self._counts[rows]), self._targets[rows]
            total += float(((model.predict(inputs) - targets) ** 2).mean())
            optimizer.update(model, gradients(model, inputs, targets), rate)
            average(averaged, model, optimizer.steps)
        return total

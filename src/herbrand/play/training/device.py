"""`DeviceFitter`: fits on an accelerator, by PyTorch.

States are kept in the memory of the device, packed, and a round's batches are drawn beforehand, so that
nothing is copied while steps are made.  On CUDA a step is recorded once as a graph and replayed: its kernels
are so small that launching each of them would take longer than running it.  The parameters return to NumPy
after every round; a training may go on with another device, or without one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.errors import HerbrandError, optional_import
from herbrand.play.training.fitting import Fitter
from herbrand.play.training.model import COUNT_SCALE, DECAY, MOST_LOGIT, RATES, kept_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from herbrand.engine.expand import Expander
    from herbrand.play.training.model import Optimizer, ValueModel
    from herbrand.play.training.selfplay import Lesson

__all__ = ["DeviceFitter"]


class DeviceFitter(Fitter):
    """A `Fitter` on a device of PyTorch; the results differ by rounding only."""

    def __init__(self, device: str, model: ValueModel, expander: Expander) -> None:
        """Move the buffer to a device.

        Raises `MissingExtra` without PyTorch, `HerbrandError` if the device cannot be used.
        """
        with optional_import(f"fitting on `{device}`", "torch"):
            import torch
        self._torch: Any = torch
        try:
            self.device = torch.device(device)
            super().__init__(model, expander)
        except (RuntimeError, AssertionError) as error:  # PyTorch was built without it, or there is none
            reason = str(error).strip().partition("\n")[0]
            raise HerbrandError(f"cannot use the device `{device}`: {reason}") from error

    def _allocate(self, words: int, model: ValueModel) -> None:
        torch = self._torch
        shape = self.capacity, 8 * words
        self._first = model.first_table
        self._starts = [self._there(starts.astype(np.int64)) for starts in model.starts]
        self._bytes = torch.zeros(shape, dtype=torch.uint8, device=self.device)
        self._inputs = torch.zeros((self.capacity, model.roles), dtype=torch.float32, device=self.device)
        self._goals = torch.zeros((self.capacity, model.views), dtype=torch.float32, device=self.device)
        self._shifts = torch.arange(8, dtype=torch.uint8, device=self.device)

    def _put(self, rows: NDArray[np.int64], lesson: Lesson) -> None:
        there, n = self._there(rows), len(rows)
        features = self.reader.features(lesson.states[:n])
        packed = np.ascontiguousarray(features).astype("<u8", copy=False).view(np.uint8)
        self._bytes[there] = self._there(packed.reshape(n, self._bytes.shape[1]))
        self._inputs[there] = self._there((lesson.counts[:n] * COUNT_SCALE).astype(np.float32))
        self._goals[there] = self._there(lesson.targets[:n])

    def _there(self, array: NDArray[Any]) -> Any:
        """Return a copy of an array on the device."""
        return self._torch.from_numpy(np.array(array)).to(self.device)

    def _make_steps(
        self,
        model: ValueModel,
        averaged: ValueModel,
        optimizer: Optimizer,
        batches: NDArray[np.int64],
        rate: float,
    ) -> float:
        torch = self._torch
        groups: tuple[Sequence[NDArray[np.float32]], ...] = (
            model.parameters,
            averaged.parameters,
            optimizer.moments,
            optimizer.squares,
        )
        there = [[self._there(array) for array in group] for group in groups]
        # what changes from step to step: the scale of Adam's update, and what the moving average takes over
        numbers = np.arange(optimizer.steps + 1, optimizer.steps + len(batches) + 1)
        scales = [optimizer.scale(rate, int(steps)) for steps in numbers]
        shares = [1.0 - kept_share(int(steps)) for steps in numbers]
        schedule = self._there(np.array([scales, shares], np.float32).T.copy())
        rows, step = self._there(batches), torch.zeros(1, dtype=torch.int64, device=self.device)
        total = torch.zeros((), dtype=torch.float64, device=self.device)

        def make_step() -> None:
            self._step(there, rows[step][0], schedule[step][0], total, rate)
            step.add_(1)

        with torch.no_grad():
            if self.device.type == "cuda" and len(batches) > 1:
                self._replay(make_step, len(batches), [*there, [total, step]])
            else:
                for _ in batches:
                    make_step()
        for group, tensors in zip(groups, there, strict=True):
            for array, tensor in zip(group, tensors, strict=True):
                array[...] = tensor.cpu().numpy()
        optimizer.steps += len(batches)
        return float(total)

    def _step(self, groups: list[list[Any]], rows: Any, schedule: Any, total: Any, rate: float) -> None:
        """Make one step: `gradients`, `Optimizer.update` and `average` of the model, on the device."""
        torch = self._torch
        parameters, averaged, moments, squares = groups
        weights, biases, *entries = parameters
        packed = self._bytes[rows]
        bits = (packed.unsqueeze(-1) >> self._shifts) & 1
        features = len(weights) - self._inputs.shape[1]
        inputs = torch.cat([bits.flatten(1)[:, :features].float(), self._inputs[rows]], dim=1)
        logits = torch.addmm(biases, inputs, weights)
        octets = packed[:, self._first : self._first + len(self._starts[0])].long()
        places = [octets + starts for starts in self._starts]
        for some, where in zip(entries, places, strict=True):
            logits += some[where].sum(dim=1)
        logits.clamp_(-MOST_LOGIT, MOST_LOGIT)
        errors = torch.sigmoid(logits) - self._goals[rows]
        total += (errors * errors).mean().double()
        errors /= len(rows)
        slopes = [inputs.T @ errors, errors.sum(dim=0)]
        for some, where in zip(entries, places, strict=True):
            each = errors.repeat_interleave(where.shape[1], dim=0)
            slopes.append(torch.zeros_like(some).index_add_(0, where.flatten(), each))
        for parameter, mean, slope, moment, square in zip(
            parameters, averaged, slopes, moments, squares, strict=True
        ):
            moment.lerp_(slope, 1 - RATES[0])
            square.lerp_(slope * slope, 1 - RATES[1])
            parameter -= schedule[0] * moment / (square.sqrt() + 1e-8)
            parameter *= 1 - DECAY * rate
            mean += schedule[1] * (parameter - mean)

    def _replay(self, make_step: Any, steps: int, groups: list[list[Any]]) -> None:
        """Record a step as a CUDA graph and replay it so often."""
        torch = self._torch
        saved = [[tensor.clone() for tensor in group] for group in groups]
        stream = torch.cuda.Stream(self.device)
        stream.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(stream):  # libraries allocate what they need the first time
            make_step()
        torch.cuda.current_stream(self.device).wait_stream(stream)
        for group, copies in zip(groups, saved, strict=True):
            for tensor, copy in zip(group, copies, strict=True):
                tensor.copy_(copy)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            make_step()
        for _ in range(steps):
            graph.replay()

"""`Training`: the common interface of all ways to train a player."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from herbrand.game import Game

__all__ = ["Training"]


class Training(ABC):
    """The training of a player for one game, which can be written to a file and gone on with."""

    unit: str
    """The unit of its length besides seconds: "game" or "round"."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.seconds = self.cpu_seconds = 0.0
        """Time of training, and processor time of this process."""
        self.snapshots: list[Any] = []
        """The progress at some times: data classes with at least `seconds`."""

    @property
    @abstractmethod
    def done(self) -> int:
        """How many games or rounds it has lasted."""

    @property
    def converged(self) -> str:
        """Why more training would not change the player; empty while it can."""
        return ""

    def start_clock(self) -> Callable[[], None]:
        """Return a function that updates `seconds` and `cpu_seconds`, which go on from now."""
        wall, cpu = self.seconds - time.monotonic(), self.cpu_seconds - time.process_time()

        def update() -> None:
            self.seconds, self.cpu_seconds = wall + time.monotonic(), cpu + time.process_time()

        return update

    @abstractmethod
    def run(
        self,
        *,
        seconds: float = math.inf,
        games: float = math.inf,
        executor: Executor | None = None,
        device: str | None = None,
        listener: Callable[[Any, Any], None] | None = None,
    ) -> None:
        """Train until it has lasted `seconds`, or so many games or rounds, both in all, or has converged.

        `listener` is called now and then with the training, and with the snapshot that was taken, if one was.
        Tasks that can be run elsewhere are given to the `executor`.  Methods that fit by PyTorch use its
        `device`; others raise `HerbrandError` for one.
        """

    @abstractmethod
    def progress(self) -> str:
        """Return how far it is, in a few words."""

    @abstractmethod
    def describe(self, snapshot: Any) -> str:
        """Return a snapshot as a line of text."""

    @abstractmethod
    def summary(self) -> list[tuple[str, str]]:
        """Return the results as names and values."""

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """Return the results as JSON-ready data."""

    @abstractmethod
    def chart(self) -> tuple[str, float, list[tuple[float, float]]]:
        """Return the title of a plot, the least distance of its lines, and points (seconds, value)."""

"""The files of a listing of states in a folder: sorted codes by step, and a journal of the progress.

`states-0007` has the codes (`codes`) of the states of step 7 in order, `run-0002` those of successors that
are not merged yet.  `explore.json` says what is finished; it is replaced as a whole.
"""

from __future__ import annotations

import json
import shutil
import time
from bisect import bisect_left
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from herbrand.analyse.counting.parts import StatePart, parts_of
from herbrand.analyse.exploration.codes import StateCoder
from herbrand.errors import BudgetExceeded, GameError, MissingExtra
from herbrand.runtime.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.exploration.codes import Codes
    from herbrand.engine.expand import Expander
    from herbrand.machine.state_machine import StateMachine

__all__ = ["NOT_LAYERED", "TOLERANCE", "Journal", "StateFiles"]

_FORMAT: Final = 2
_NAME: Final = "explore.json"
TOLERANCE: Final = 1e-6
"""The unit of weights."""
NOT_LAYERED: Final = "states are reached after different numbers of steps, or may be"
_GROUP_SECONDS: Final = 60.0
_WIDEST: Final = 16
"""Bits of a part, at most."""


@dataclass(slots=True)
class Journal:
    """The progress of an exploration on disk."""

    game: str
    """Digest of the network."""
    parts: list[tuple[tuple[int, ...], bool]]
    weights: list[list[int]] | None
    """For each part and value; None where states may be reached after different numbers of steps."""
    by_step: list[int] = field(default_factory=list)
    terminal: list[int] = field(default_factory=list)
    transitions: int = 0
    expanded: int = 0
    """States of the last step that are expanded."""
    terminal_here: int = 0
    """How many of these are terminal."""
    runs: list[int] = field(default_factory=list)
    """The numbers of codes in the runs of the next step."""
    splits: list[int] = field(default_factory=list)
    """First words at which ranges begin, after the first, once all runs are written."""
    merged: list[int] = field(default_factory=list)
    """The numbers of new codes in the ranges that are finished."""
    complete: bool = False
    keep: bool = False
    """Whether the files of all steps stay."""


class StateFiles:
    """The files of one game in a folder, whose journal is read or begun.

    Raises `GameError` for a folder with other files, or of another game, or that is damaged.
    """

    def __init__(
        self, expander: Expander, folder: Path, budget: Budget, disk: float, *, keep: bool = False
    ) -> None:
        """`disk` is the limit of all files in megabytes.

        With `keep` the files of all steps stay, and a game is refused if states are reached after different
        numbers of steps.
        """
        self.folder = folder
        self.budget = budget
        self.disk = disk
        self.expander = expander
        self.peak = 0.0
        """Megabytes of files, at most so far."""
        folder.mkdir(parents=True, exist_ok=True)
        self.journal = self._read_journal() or self._begin()
        self._require_kept(keep)
        parts = [StatePart(tuple(fluents), is_exact) for fluents, is_exact in self.journal.parts]
        self.code = StateCoder(parts, self.expander.words)
        self.row = 8 * self.code.size
        """Bytes of a code."""

    @classmethod
    def of(cls, game: StateMachine, folder: Path, budget: Budget, disk: float, *, keep: bool = False) -> Self:
        """Return the files of a game; `BudgetExceeded` if it has no network within its limits."""
        from herbrand.engine.expand import Expander
        from herbrand.network.unroll import unrolled

        game.require_playable()
        return cls(Expander(unrolled(game.network)), folder, budget, disk, keep=keep)

    @staticmethod
    def stopped_by(work: Callable[[], None]) -> str:
        """Do work that can be continued; return why it ended before its end, or an empty text."""
        try:
            work()
        except KeyboardInterrupt:
            return "interrupted"
        except MemoryError:
            return "out of memory"
        except BudgetExceeded as error:
            return error.spent
        return ""

    def save(self) -> None:
        """Write the journal."""
        write_atomically(self.folder / _NAME, json.dumps({"format": _FORMAT, **asdict(self.journal)}))

    def require_time(self) -> None:
        """Raise `BudgetExceeded` if none is left."""
        if self.budget.left <= 0:
            raise BudgetExceeded(f"{self.budget.seconds:.3g} seconds")

    # -- files ----------------------------------------------------------------------------

    def layer(self, step: int) -> Path:
        """Return the file of a step."""
        return self.folder / f"states-{step:04}"

    def run(self, number: int) -> Path:
        """Return the file of a run."""
        return self.folder / f"run-{number:04}"

    def remove_others(self) -> None:
        """Remove files that the journal does not name, and data written after it."""
        journal = self.journal
        last = len(journal.by_step) - 1
        sizes = {self.run(number): count for number, count in enumerate(journal.runs)}
        if journal.merged:
            sizes[self.layer(last + 1)] = sum(journal.merged)
        if journal.keep or not journal.complete:
            first = last if journal.weights is not None and not journal.keep else 0
            sizes |= {self.layer(step): journal.by_step[step] for step in range(first, last + 1)}
        for path in self.folder.iterdir():
            if path not in sizes and path.name.startswith(("states-", "run-")):
                path.unlink()
        for path, count in sizes.items():
            if not path.exists() or path.stat().st_size < count * self.row:
                raise GameError(f"`{path}` is damaged: remove the folder and begin again")
            with path.open("r+b") as file:
                file.truncate(count * self.row)

    def megabytes(self) -> float:
        """Return the size of all files."""
        return sum(path.stat().st_size for path in self.folder.iterdir()) / 1e6

    def write(self, path: Path, rows: NDArray[np.uint64] | NDArray[np.uint8]) -> None:
        """Append codes, or bytes, to a file, if the limits of space allow it."""
        megabytes = self.megabytes() + rows.nbytes / 1e6
        if megabytes > self.disk:
            raise BudgetExceeded(f"{self.disk:g} MB of disk")
        if rows.nbytes > shutil.disk_usage(self.folder).free:
            raise BudgetExceeded("the space that is free on the disk")
        self.peak = max(self.peak, megabytes)
        with path.open("ab") as file:
            rows.astype(rows.dtype.newbyteorder("<"), copy=False).tofile(file)

    def read(self, path: Path, begin: int, end: int) -> Codes:
        """Return the codes in places of a file."""
        count = (end - begin) * self.code.size
        codes = np.fromfile(path, "<u8", count, offset=begin * self.row)
        return codes.astype(np.uint64, copy=False).reshape(-1, self.code.size)

    def position(self, path: Path, count: int, word: int) -> int:
        """Return the first place in a sorted file whose first word is at least `word`."""
        with path.open("rb") as file:

            def word_at(place: int) -> int:
                file.seek(place * self.row)
                return int.from_bytes(file.read(8), "little")

            return bisect_left(range(count), word, key=word_at)

    def between(self, path: Path, count: int, low: int, high: int) -> Codes:
        """Return the codes of a sorted file whose first word is from `low` to below `high`."""
        return self.read(path, self.position(path, count, low), self.position(path, count, high))

    # -- the journal ----------------------------------------------------------------------

    def _read_journal(self) -> Journal | None:
        path = self.folder / _NAME
        if not path.exists():
            if any(self.folder.iterdir()):
                raise GameError(f"`{self.folder}` has other files: name another folder")
            return None
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data.pop("format") != _FORMAT:
                raise ValueError("another format")
            journal = Journal(**data)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise GameError(f"`{path}` is not readable: {error}") from error
        if journal.game != self.expander.network.digest:
            raise GameError(f"`{self.folder}` has the states of another game: name another folder")
        return journal

    def _require_kept(self, keep: bool) -> None:
        """Keep files from now on, if none is gone and each state belongs to one step."""
        journal = self.journal
        if keep and journal.weights is None:
            raise GameError(NOT_LAYERED)
        if keep and not journal.keep:
            if journal.complete or len(journal.by_step) > 1:
                raise GameError(f"the first states of `{self.folder}` were removed: name another folder")
            journal.keep = True

    def _begin(self) -> Journal:
        """Choose the parts of a state, and weights that tell its step."""
        from herbrand.analyse.counting.layers import fit_measure
        from herbrand.analyse.exploration.walks import play
        from herbrand.analyse.invariants.frames import System
        from herbrand.analyse.invariants.groups import find_groups

        network = self.expander.network
        seconds = min(_GROUP_SECONDS, 0.2 * self.budget.left)
        # usually a second; on a busy machine too few games would give wrong weights
        sample = play(self.expander, time.monotonic() + min(20.0, seconds))
        groups = []
        with suppress(BudgetExceeded, MissingExtra):  # otherwise each fluent has a bit of its own
            groups = find_groups(System(network), time.monotonic() + seconds, sample.states)
        parts = []
        for part in parts_of(len(network.fluents), groups):
            alone = [StatePart((fluent,), is_exact=False) for fluent in part.fluents]
            parts += [part] if part.bits <= _WIDEST else alone
        weights = None
        if sample.cycle is None:
            fitted = fit_measure(parts, sample.states, sample.depths)
            if fitted is not None:
                weights = [[round(weight / TOLERANCE) for weight in row] for row in fitted]
        return Journal(network.digest, [(part.fluents, part.is_exact) for part in parts], weights)

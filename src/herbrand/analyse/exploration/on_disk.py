"""Exploring games with more states than memory holds: sorted files, and duplicates that are found later.

Breadth first, with delayed duplicate detection (Korf 2003, "Delayed duplicate detection: extended
abstract"; Korf 2008, "Linear-time disk-based implicit graph search"; Edelkamp, Jabbar and Schrödl 2004,
"External A*"):

1. The states of a step are read one after the other and expanded, thousands at a time.  Successors are
   collected in memory; when it is full they are sorted and written to a file, a *run*, each once.
2. Runs are merged, a range of codes after the other, so that the ranges fit into memory.  What is in the
   files of earlier steps is left out, and the rest is the file of the next step.

Where a sum of weights tells how many steps were made, as the number of discs does, no state can be reached
after two different numbers of steps: earlier files are not read again but removed.  The weights are fitted
to random games, and compared with the step of every state that is found, so that the result does not depend
on them.

The journal (`state_files`) says what is finished: after each run and each range.  A process that is killed
loses what it did since then.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.codes import difference, sorted_set
from herbrand.analyse.exploration.state_files import NOT_LAYERED, TOLERANCE, Journal, StateFiles
from herbrand.errors import GameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from herbrand.analyse.exploration.codes import Codes
    from herbrand.engine.expand import States
    from herbrand.machine.state_machine import StateMachine

__all__ = ["DiskExploration", "DiskStep", "explore_on_disk"]

_CHUNK: Final = 1 << 17
"""States that are expanded at once, at most."""
_JOINTS: Final = 1 << 19
"""Successors that are computed at once."""
_RUN_SHARE: Final = 0.35
"""Share of the memory for the successors of a run, which are copied once when they are sorted."""
_RANGE_SHARE: Final = 0.2
"""Share of the memory for the codes of a range."""
_SAMPLES: Final = 1 << 12
"""Codes of each run by which the ranges are chosen."""
_COMPACT: Final = 0.6
"""A run is written when it has this share of its room after duplicates were removed."""


@dataclass(frozen=True, slots=True)
class DiskStep:
    """The states that are first reached after a number of steps."""

    step: int
    states: int
    seconds: float
    """Since this call began."""
    rate: float | None
    """States of the step before that were expanded in a second; None if a call before this one began it."""
    megabytes: float
    """Of files, in units of 10**6 bytes."""


@dataclass(frozen=True, slots=True)
class DiskExploration:
    """The numbers of reachable states; without `is_complete`, those of the first steps."""

    by_step: tuple[int, ...]
    """How many states are first reached after 0, 1, 2, ... steps, terminal states included."""
    terminal: tuple[int, ...]
    """How many of them are terminal; of the last step only if it was expanded."""
    transitions: int
    """Joint moves in the states that were expanded."""
    stopped: str
    """Why the exploration is not complete; empty if it is."""
    is_layered: bool
    """Whether no state is reached after two different numbers of steps."""
    bits: int
    """Bits of a code, and ..."""
    bytes: int
    """... bytes of a state on disk."""
    seconds: float
    """Of this call."""
    peak_megabytes: float
    """The most that files took in this call."""

    @property
    def is_complete(self) -> bool:
        """Whether all reachable states were explored."""
        return not self.stopped

    @property
    def states(self) -> int:
        """The number of states that were found."""
        return sum(self.by_step)

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "states": self.states,
            **asdict(self),
            "complete": self.is_complete,
            "stopped": self.stopped or None,
            "seconds": round(self.seconds, 3),
        }


def explore_on_disk(
    game: StateMachine,
    folder: Path,
    *,
    budget: Budget | None = None,
    disk: float = math.inf,
    progress: Callable[[DiskStep], None] | None = None,
) -> DiskExploration:
    """List all reachable states of a game in sorted files of a folder, and count them.

    `budget` limits seconds and memory (not the number of states), `disk` the megabytes of files.  The next
    call with the same game and folder resumes where this one ended, for any reason.  `progress` gets
    each finished step.  When all is explored the files of states are removed, and the counts remain.

    Raises `GameError` for a game that cannot be played or a folder of another game, and `BudgetExceeded`
    for a game without a network within its limits.
    """
    return explore_files(StateFiles.of(game, folder, budget or Budget(), disk), progress)


def explore_files(files: StateFiles, progress: Callable[[DiskStep], None] | None) -> DiskExploration:
    """List all states in files, or go on with it; see `explore_on_disk`."""
    explorer = _DiskExplorer(files, progress)
    return explorer.result(files.stopped_by(explorer.run))


class _OtherStepError(Exception):
    """The weights do not tell the step of a state."""


class _DiskExplorer:
    def __init__(self, files: StateFiles, progress: Callable[[DiskStep], None] | None) -> None:
        self.files = files
        self.budget = files.budget
        self.code = files.code
        self.progress = progress
        self.expander = files.expander
        self.began: float | None = None
        """When the current step was begun, if in this call."""
        weights = self.journal.weights
        self.sums = None if weights is None else self.code.summing(weights)
        """The sum of the weights of states, which tells their step."""
        self._start()

    @property
    def journal(self) -> Journal:
        return self.files.journal

    def result(self, stopped: str) -> DiskExploration:
        journal = self.journal
        return DiskExploration(
            tuple(journal.by_step),
            tuple(journal.terminal),
            journal.transitions,
            stopped,
            journal.weights is not None,
            self.code.bits,
            self.files.row,
            self.budget.elapsed,
            self.files.peak,
        )

    def run(self) -> None:
        """Explore step after step, until there are no new states."""
        while not self.journal.complete:
            self.began = time.monotonic() if self.journal.expanded == 0 and not self.journal.splits else None
            if not self.journal.splits:
                self._expand()
            try:
                self._merge()
            except _OtherStepError:  # the files of earlier steps, which are needed now, may be gone
                old = self.journal
                if old.keep:
                    raise GameError(NOT_LAYERED) from None
                self.files.journal = Journal(old.game, old.parts, None)
                self.sums = None
                self.files.save()
                self._start()

    def _start(self) -> None:
        """Write the initial state, unless there is one, and remove files of an interrupted call."""
        if not self.journal.by_step:
            self.files.layer(0).unlink(missing_ok=True)
            self.files.write(self.files.layer(0), self.code.encode(self.expander.initial))
            self.journal.by_step = [1]
            self.files.save()
        self.files.remove_others()

    # -- expanding ------------------------------------------------------------------------

    def _expand(self) -> None:
        """Write the successors of the last step as runs."""
        journal = self.journal
        path, count = self.files.layer(len(journal.by_step) - 1), journal.by_step[-1]
        room = max(4 * _JOINTS, int(_RUN_SHARE / 2 * self.budget.megabytes * 1e6 / self.files.row))
        buffer = np.empty((room, self.code.size), np.uint64)
        used, expanded, terminal = 0, journal.expanded, journal.terminal_here
        transitions = journal.transitions
        while expanded < count:
            self.files.require_time()
            states = self.code.decode(self.files.read(path, expanded, min(expanded + _CHUNK, count)))
            over = edges = 0
            for successors, ended in self._successors(states):
                if used + len(successors) > room:
                    used = self._compact(buffer, used)
                    if used > _COMPACT * room:
                        # successors of a part of this chunk, duplicated if it is expanded again
                        self._finish_run(buffer[:used], expanded, terminal, transitions)
                        used = 0
                buffer[used : used + len(successors)] = successors
                used += len(successors)
                edges += len(successors)
                over += ended
            expanded += len(states)
            terminal += over
            transitions += edges
        rest = sorted_set(buffer[:used])
        del buffer
        self._finish_run(rest, expanded, terminal, transitions)
        self._split()

    def _successors(self, states: States) -> Iterator[tuple[Codes, int]]:
        """Yield the codes of successors in chunks, the first with the number of terminal states."""
        legal = self.expander.legal(states)
        ended = int(legal.over.sum())
        for expansion in self.expander.expansions(states, legal, joints=_JOINTS):
            yield self.code.encode(expansion.states), ended
            ended = 0

    def _compact(self, buffer: Codes, used: int) -> int:
        """Sort the used part of a buffer and remove duplicates; return how much is used then."""
        codes = sorted_set(buffer[:used])
        buffer[: len(codes)] = codes
        return len(codes)

    def _finish_run(self, codes: Codes, expanded: int, terminal: int, transitions: int) -> None:
        journal = self.journal
        if len(codes):
            path = self.files.run(len(journal.runs))
            path.unlink(missing_ok=True)
            self.files.write(path, codes)
            journal.runs.append(len(codes))
        journal.expanded, journal.terminal_here, journal.transitions = expanded, terminal, transitions
        self.files.save()

    def _split(self) -> None:
        """Choose ranges of codes that fit into memory."""
        most = max(1, int(_RANGE_SHARE * self.budget.megabytes * 1e6 / self.files.row))
        samples = []
        for number, count in enumerate(self.journal.runs):
            step = -(-count // _SAMPLES)
            with self.files.run(number).open("rb") as file:
                for at in range(0, count, step):
                    file.seek(at * self.files.row)
                    samples.append((int.from_bytes(file.read(8), "little"), step))
        samples.sort()
        splits, size = [0], 0
        for word, weight in samples:
            if size + weight > most and word > splits[-1]:
                splits.append(word)
                size = 0
            size += weight
        self.journal.splits = splits
        self.files.save()

    # -- merging --------------------------------------------------------------------------

    def _merge(self) -> None:
        """Write the new states of the runs as the next step."""
        journal = self.journal
        step = len(journal.by_step)
        path = self.files.layer(step)
        while len(journal.merged) < len(journal.splits):
            self.files.require_time()
            codes = self._range(len(journal.merged))
            if self.sums is not None:
                self._require_step(codes, step)
            if len(codes):
                self.files.write(path, codes)
            journal.merged.append(len(codes))
            self.files.save()
        new = sum(journal.merged)
        journal.terminal.append(journal.terminal_here)
        if new:
            journal.by_step.append(new)
        journal.complete = not new
        journal.expanded = journal.terminal_here = 0
        journal.runs, journal.splits, journal.merged = [], [], []
        self.files.save()
        self.files.remove_others()
        if self.progress is not None and new:
            elapsed = None if self.began is None else max(1e-6, time.monotonic() - self.began)
            rate = elapsed and journal.by_step[step - 1] / elapsed
            self.progress(DiskStep(step, new, self.budget.elapsed, rate, self.files.megabytes()))

    def _range(self, number: int) -> Codes:
        """Return the codes of a range of all runs that are in no earlier step."""
        journal, files = self.journal, self.files
        low, high = [*journal.splits, 1 << 64][number : number + 2]
        parts = [files.between(files.run(run), count, low, high) for run, count in enumerate(journal.runs)]
        codes = sorted_set(np.concatenate(parts)) if parts else np.empty((0, self.code.size), np.uint64)
        del parts
        if journal.weights is None:
            for step, count in enumerate(journal.by_step):
                codes = difference(codes, files.between(files.layer(step), count, low, high))
        return codes

    def _require_step(self, codes: Codes, step: int) -> None:
        """Raise `_OtherStepError` if the weights of a state are not those of this step."""
        assert self.sums is not None
        due = round(step / TOLERANCE)
        for begin in range(0, len(codes), _CHUNK):
            sums = self.sums(self.code.decode(codes[begin : begin + _CHUNK]))
            if np.abs(sums - due).max() > len(self.journal.parts):
                raise _OtherStepError

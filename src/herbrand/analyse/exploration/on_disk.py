"""Exploring games with more states than memory holds: sorted files, and duplicates that are found later.

Breadth first, with delayed duplicate detection (Korf 2003, "Delayed duplicate detection: extended
abstract"; Korf 2008, "Linear-time disk-based implicit graph search"; Edelkamp, Jabbar and Schrödl 2004,
"External A*"):

1. The states of a step are read one after the other and expanded, thousands at a time.  Successors are
collected
   in memory; when it is full they are sorted and written to a file, a *run*, each once.
2. Runs are merged, a range of codes after the other, so that the ranges fit into memory.  What is in the
files of
   earlier steps is left out, and the rest is the file of the next step.

Where a sum of weights tells how many steps were made, as the number of discs does, no state can be reached
after two different numbers of steps: earlier files are not read again but removed.  The weights are fitted
to random games, and compared with the step of every state that is found, so that the result does not depend
on them.

`explore.json` in the folder says what is finished: after each run and each range.  A process that is killed
loses what it did since then.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from herbrand.analyse.budget import Budget
from herbrand.analyse.counting.parts import StatePart, parts_of
from herbrand.analyse.exploration.codes import StateCoder, difference, sorted_set
from herbrand.errors import BudgetExceeded, GameError, MissingExtra
from herbrand.runtime.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from herbrand.analyse.exploration.codes import Codes
    from herbrand.engine.expand import States
    from herbrand.machine.state_machine import StateMachine
    from herbrand.network.network import Network

__all__ = ["DiskExploration", "DiskStep", "explore_on_disk"]

_FORMAT: Final = 1
_NAME: Final = "explore.json"
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
_TOLERANCE: Final = 1e-6
_GROUP_SECONDS: Final = 60.0
_WIDEST: Final = 16
"""Bits of a part, at most."""


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


@dataclass(slots=True)
class _Journal:
    """What is finished."""

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
    call with the same game and folder goes on where this one ended, for whatever reason.  `progress` gets
    each finished step. When all is explored the files of states are removed, and the counts remain.

    Raises `GameError` for a game that cannot be played or a folder of another game, and `BudgetExceeded`
    for a game without a network within its limits.
    """
    from herbrand.network.unroll import unrolled

    budget = budget or Budget()
    game.require_playable()
    folder.mkdir(parents=True, exist_ok=True)
    explorer = _DiskExplorer(unrolled(game.network), folder, budget, disk, progress)
    stopped = ""
    try:
        explorer.run()
    except KeyboardInterrupt:
        stopped = "interrupted"
    except MemoryError:
        stopped = "out of memory"
    except BudgetExceeded as error:
        stopped = error.spent
    return explorer.result(stopped)


class _OtherStepError(Exception):
    """The weights do not tell the step of a state."""


class _DiskExplorer:
    def __init__(
        self,
        network: Network,
        folder: Path,
        budget: Budget,
        disk: float,
        progress: Callable[[DiskStep], None] | None,
    ) -> None:
        from herbrand.engine.expand import Expander

        self.folder = folder
        self.budget = budget
        self.disk = disk
        self.progress = progress
        self.expander = Expander(network)
        self.peak = 0.0
        self.began: float | None = None
        """When the current step was begun, if in this call."""
        self.journal = self._read_journal(network) or self._begin(network)
        parts = [StatePart(tuple(fluents), is_exact) for fluents, is_exact in self.journal.parts]
        self.code = StateCoder(parts, self.expander.words)
        self.row = 8 * self.code.size
        weights = self.journal.weights
        self.sums = None if weights is None else self.code.summing(weights)
        """The sum of the weights of states, which tells their step."""
        self._start()

    def result(self, stopped: str) -> DiskExploration:
        journal = self.journal
        return DiskExploration(
            tuple(journal.by_step),
            tuple(journal.terminal),
            journal.transitions,
            stopped,
            journal.weights is not None,
            self.code.bits,
            self.row,
            self.budget.elapsed,
            self.peak,
        )

    def run(self) -> None:
        """Explore step after step, until there are no new states."""
        while not self.journal.complete:
            self.began = time.monotonic() if self.journal.expanded == 0 and not self.journal.splits else None
            if not self.journal.splits:
                self._expand()
            try:
                self._merge()
            except _OtherStepError:  # the files of earlier steps, which are needed now, are gone
                self.journal = _Journal(self.journal.game, self.journal.parts, None)
                self.sums = None
                self._save()
                self._start()

    def _start(self) -> None:
        """Write the initial state, unless there is one, and remove files of an interrupted call."""
        if not self.journal.by_step:
            self._layer(0).unlink(missing_ok=True)
            self._write(self._layer(0), self.code.encode(self.expander.initial))
            self.journal.by_step = [1]
            self._save()
        self._remove_others()

    # -- the journal ----------------------------------------------------------------------

    def _read_journal(self, network: Network) -> _Journal | None:
        path = self.folder / _NAME
        if not path.exists():
            if any(self.folder.iterdir()):
                raise GameError(f"`{self.folder}` has other files: name another folder")
            return None
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data.pop("format") != _FORMAT:
                raise ValueError("another format")
            journal = _Journal(**data)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise GameError(f"`{path}` is not readable: {error}") from error
        if journal.game != _digest(network):
            raise GameError(f"`{self.folder}` has the states of another game: name another folder")
        return journal

    def _begin(self, network: Network) -> _Journal:
        """Choose the parts of a state, and weights that tell its step."""
        from herbrand.analyse.counting.layers import fit_measure
        from herbrand.analyse.exploration.walks import play
        from herbrand.analyse.invariants.frames import System
        from herbrand.analyse.invariants.groups import find_groups

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
                weights = [[round(weight / _TOLERANCE) for weight in mine] for mine in fitted]
        return _Journal(_digest(network), [(part.fluents, part.is_exact) for part in parts], weights)

    def _save(self) -> None:
        write_atomically(self.folder / _NAME, json.dumps({"format": _FORMAT, **asdict(self.journal)}))

    # -- files ----------------------------------------------------------------------------

    def _layer(self, step: int) -> Path:
        return self.folder / f"states-{step:04}"

    def _run(self, number: int) -> Path:
        return self.folder / f"run-{number:04}"

    def _remove_others(self) -> None:
        """Remove files that the journal does not name, and what was written after it."""
        journal = self.journal
        last = len(journal.by_step) - 1
        sizes = {self._run(number): count for number, count in enumerate(journal.runs)}
        if journal.merged:
            sizes[self._layer(last + 1)] = sum(journal.merged)
        if not journal.complete:
            first = last if journal.weights is not None else 0
            sizes |= {self._layer(step): journal.by_step[step] for step in range(first, last + 1)}
        for path in self.folder.iterdir():
            if path not in sizes and path.name.startswith(("states-", "run-")):
                path.unlink()
        for path, count in sizes.items():
            if not path.exists() or path.stat().st_size < count * self.row:
                raise GameError(f"`{path}` is damaged: remove the folder and begin again")
            with path.open("r+b") as file:
                file.truncate(count * self.row)

    def _megabytes(self) -> float:
        return sum(path.stat().st_size for path in self.folder.iterdir()) / 1e6

    def _write(self, path: Path, codes: Codes) -> None:
        """Append codes to a file, if the limits of space allow it."""
        megabytes = self._megabytes() + codes.nbytes / 1e6
        if megabytes > self.disk:
            raise BudgetExceeded(f"{self.disk:g} MB of disk")
        if codes.nbytes > shutil.disk_usage(self.folder).free:
            raise BudgetExceeded("the space that is free on the disk")
        self.peak = max(self.peak, megabytes)
        with path.open("ab") as file:
            codes.astype("<u8", copy=False).tofile(file)

    def _read(self, path: Path, begin: int, end: int) -> Codes:
        count = (end - begin) * self.code.size
        with path.open("rb") as file:
            codes = np.fromfile(file, "<u8", count, offset=begin * self.row)
        return codes.astype(np.uint64, copy=False).reshape(-1, self.code.size)

    def _position(self, path: Path, count: int, word: int) -> int:
        """Return the first place in a sorted file whose first word is at least `word`."""
        low, high = 0, count
        with path.open("rb") as file:
            while low < high:
                middle = (low + high) // 2
                file.seek(middle * self.row)
                if int.from_bytes(file.read(8), "little") < word:
                    low = middle + 1
                else:
                    high = middle
        return low

    # -- expanding ------------------------------------------------------------------------

    def _require_time(self) -> None:
        if self.budget.left <= 0:
            raise BudgetExceeded(f"{self.budget.seconds:.3g} seconds")

    def _expand(self) -> None:
        """Write the successors of the last step as runs."""
        journal = self.journal
        path, count = self._layer(len(journal.by_step) - 1), journal.by_step[-1]
        room = max(4 * _JOINTS, int(_RUN_SHARE / 2 * self.budget.megabytes * 1e6 / self.row))
        buffer = np.empty((room, self.code.size), np.uint64)
        used, expanded, terminal = 0, journal.expanded, journal.terminal_here
        transitions = journal.transitions
        while expanded < count:
            self._require_time()
            states = self.code.decode(self._read(path, expanded, min(expanded + _CHUNK, count)))
            over = made = 0
            for successors, ended in self._successors(states):
                if used + len(successors) > room:
                    used = self._compact(buffer, used)
                    if used > _COMPACT * room:
                        # successors of a part of this chunk, which come again if it is expanded again
                        self._finish_run(buffer[:used], expanded, terminal, transitions)
                        used = 0
                buffer[used : used + len(successors)] = successors
                used += len(successors)
                made += len(successors)
                over += ended
            expanded += len(states)
            terminal += over
            transitions += made
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
            path = self._run(len(journal.runs))
            path.unlink(missing_ok=True)
            self._write(path, codes)
            journal.runs.append(len(codes))
        journal.expanded, journal.terminal_here, journal.transitions = expanded, terminal, transitions
        self._save()

    def _split(self) -> None:
        """Choose ranges of codes that fit into memory."""
        runs = self.journal.runs
        most = max(1, int(_RANGE_SHARE * self.budget.megabytes * 1e6 / self.row))
        samples = []
        for number, count in enumerate(runs):
            step = -(-count // _SAMPLES)
            with self._run(number).open("rb") as file:
                for at in range(0, count, step):
                    file.seek(at * self.row)
                    samples.append((int.from_bytes(file.read(8), "little"), step))
        samples.sort()
        splits, size = [0], 0
        for word, weight in samples:
            if size + weight > most and word > splits[-1]:
                splits.append(word)
                size = 0
            size += weight
        self.journal.splits = splits
        self._save()

    # -- merging --------------------------------------------------------------------------

    def _merge(self) -> None:
        """Write the new states of the runs as the next step."""
        journal = self.journal
        step = len(journal.by_step)
        path = self._layer(step)
        while len(journal.merged) < len(journal.splits):
            self._require_time()
            codes = self._range(len(journal.merged))
            if self.sums is not None:
                self._require_step(codes, step)
            if len(codes):
                self._write(path, codes)
            journal.merged.append(len(codes))
            self._save()
        new = sum(journal.merged)
        journal.terminal.append(journal.terminal_here)
        if new:
            journal.by_step.append(new)
        journal.complete = not new
        journal.expanded = journal.terminal_here = 0
        journal.runs, journal.splits, journal.merged = [], [], []
        self._save()
        self._remove_others()
        if self.progress is not None and new:
            spent = None if self.began is None else max(1e-6, time.monotonic() - self.began)
            rate = spent and journal.by_step[step - 1] / spent
            self.progress(DiskStep(step, new, self.budget.elapsed, rate, self._megabytes()))

    def _range(self, number: int) -> Codes:
        """Return the codes of a range of all runs that are in no earlier step."""
        journal = self.journal
        low = journal.splits[number]
        high = journal.splits[number + 1] if number + 1 < len(journal.splits) else 1 << 64
        parts = [self._between(self._run(run), count, low, high) for run, count in enumerate(journal.runs)]
        codes = sorted_set(np.concatenate(parts)) if parts else np.empty((0, self.code.size), np.uint64)
        del parts
        if journal.weights is None:
            for step, count in enumerate(journal.by_step):
                codes = difference(codes, self._between(self._layer(step), count, low, high))
        return codes

    def _between(self, path: Path, count: int, low: int, high: int) -> Codes:
        return self._read(path, self._position(path, count, low), self._position(path, count, high))

    def _require_step(self, codes: Codes, step: int) -> None:
        """Raise `_OtherStepError` if the weights of a state are not those of this step."""
        assert self.sums is not None
        due = round(step / _TOLERANCE)
        for begin in range(0, len(codes), _CHUNK):
            sums = self.sums(self.code.decode(codes[begin : begin + _CHUNK]))
            if np.abs(sums - due).max() > len(self.journal.parts):
                raise _OtherStepError


def _digest(network: Network) -> str:
    names = [*network.fluent_names, *network.move_names, str(int(network.terminal))]
    digest = hashlib.blake2b("\n".join(names).encode(), digest_size=16)
    for array in (network.left, network.right, network.legal, network.next, network.initial):
        digest.update(array.tobytes())
    return digest.hexdigest()

"""Values of games with more states than memory holds: backward induction over the files of a listing.

All states are listed in sorted files first (`exploration.on_disk`).  Then, from the last step to the first
one, the states of a step are read in order and expanded; their successors are sorted and looked up in the
file of the next step, whose values are known by then (Edelkamp, Jabbar and Schrödl 2004, "External A*";
Schaeffer et al. 2003, "Building the checkers 10-piece endgame databases").  `values-0007` has one byte for
each state in the order of `states-0007`: what the first role gets under best play.

Every state has to be reached after one number of steps only, which listing them shows; so all successors are
in the file of the next step.  At most one role chooses in each state, there is no chance, and the goal
values of two roles add up to the same number at each end.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.on_disk import explore_files
from herbrand.analyse.exploration.state_files import StateFiles
from herbrand.analyse.solving.solved_value import SolvedValue
from herbrand.errors import GameError
from herbrand.runtime.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from herbrand.analyse.exploration.codes import Codes
    from herbrand.analyse.exploration.on_disk import DiskStep
    from herbrand.engine.expand import Expander, Legal, States
    from herbrand.machine.state_machine import StateMachine

    Values = NDArray[np.uint8]
    """The goal values of the first role, [n]."""

__all__ = ["METHOD", "solve_on_disk"]

METHOD: Final = "backward induction on disk"
_FORMAT: Final = 1
_NAME: Final = "solve.json"
_CHUNK: Final = 1 << 17
"""States that are read at once, at least."""
_SHARE: Final = 0.25
"""Share of the memory for successors, and again for codes of the next step."""
_JOINTS: Final = 1 << 22
"""Successors that are looked up at once, where the codes of the next step are all in memory."""
_MORE: Final = 64
"""Codes that are read beyond a block, since some may have the same first word."""


def solve_on_disk(
    game: StateMachine,
    folder: Path,
    *,
    budget: Budget | None = None,
    disk: float = math.inf,
    moves: bool = False,
    progress: Callable[[DiskStep], None] | None = None,
    solved: Callable[[int, int], None] | None = None,
) -> SolvedValue:
    """Return the value of a game, with all its states in sorted files of a folder.

    `budget` limits seconds and memory, `disk` the megabytes of files: those of a state and one more byte for
    each.  The next call with the same game and folder resumes where this one ended.  `progress` gets each
    step that was listed, then `solved` each step whose values are known, with the number of its states.
    `moves` asks for the value of every first move.

    Raises `GameError` for a game to which this does not apply: with chance, hidden information, more than
    two roles, two roles that choose at once, goal values that do not add up to a constant, or states that
    are reached after different numbers of steps.  Raises `BudgetExceeded` for a game without a network
    within its limits.
    """
    budget = budget or Budget()
    game.require_complete_information()
    if game.chance_role is not None or len(game.roles) > 2:
        raise GameError("games with chance or more than two roles are not solved on disk")
    files = StateFiles.of(game, folder, budget, disk, keep=True)
    listed = explore_files(files, progress)
    stopped = listed.stopped
    if not stopped:
        induction = _Induction(files, solved)
        stopped = files.stopped_by(induction.run)
        if not stopped:
            return induction.value(moves=moves)
    unknown = dict.fromkeys(game.roles, (0.0, 100.0))
    return SolvedValue(METHOD, unknown, None, states=listed.states, seconds=budget.elapsed, stopped=stopped)


class _Induction:
    def __init__(self, files: StateFiles, solved: Callable[[int, int], None] | None) -> None:
        self.files = files
        self.expander: Expander = files.expander
        self.report = solved
        self.by_step = files.journal.by_step
        self.roles = self.expander.roles
        room = 1e6 * files.budget.megabytes * _SHARE
        size, words = files.code.size, self.expander.words
        self.joints = max(1 << 10, int(room / (8 * (2 * words + 2 * size + 4))))
        """Successors that are looked up at once, at most: each time the codes of the next step are read."""
        self.block = max(1 << 10, int(room / (files.row + 1)))
        """Codes of the next step that are in memory at once."""
        self._whole_step: tuple[int, tuple[int, int, Codes, Values]] | None = None
        """A step whose codes and values are all in memory."""
        self.first, self.sum = self._read()

    # -- what is finished -----------------------------------------------------------------

    def _path(self, step: int) -> Path:
        return self.files.folder / f"values-{step:04}"

    def _read(self) -> tuple[int, int | None]:
        """Return the first step whose values are known, and the sum of goal values."""
        path = self.files.folder / _NAME
        if not path.exists():
            return len(self.by_step), None
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            first, total = int(data["first"]), data["sum"]
            if data["format"] != _FORMAT or not 0 <= first <= len(self.by_step):
                raise ValueError("another format")
            for step in range(first, len(self.by_step)):
                if self._path(step).stat().st_size != self.by_step[step]:
                    raise ValueError(f"`{self._path(step).name}` has another size")
        except (ValueError, TypeError, KeyError, OSError) as error:
            raise GameError(f"`{path}` is damaged: {error}; remove the folder and begin again") from error
        return first, None if total is None else int(total)

    def _save(self) -> None:
        data = {"format": _FORMAT, "first": self.first, "sum": self.sum}
        write_atomically(self.files.folder / _NAME, json.dumps(data))

    # -- induction ------------------------------------------------------------------------

    def run(self) -> None:
        """Find the values of step after step, from the last one."""
        while self.first:
            step = self.first - 1
            self._path(step).unlink(missing_ok=True)
            begin, branching = 0, 1.0
            is_whole = step + 1 == len(self.by_step) or self.by_step[step + 1] <= self.block
            joints = min(self.joints, _JOINTS) if is_whole else self.joints
            while begin < self.by_step[step]:
                self.files.require_time()
                end = min(begin + max(_CHUNK, int(joints / branching)), self.by_step[step])
                states = self.files.code.decode(self.files.read(self.files.layer(step), begin, end))
                legal = self.expander.legal(states)
                successors = legal.joint_counts()
                branching = max(1.0, float(successors.mean()))
                self.files.write(self._path(step), self._values(states, legal, successors, step, joints))
                begin = end
            self.first = step
            self._save()
            if self.report is not None:
                self.report(step, self.by_step[step])

    def _values(
        self, states: States, legal: Legal, successors: NDArray[np.int64], step: int, joints: int
    ) -> Values:
        """Return the values of states of a step, of which `successors` are the numbers of joint moves.

        Those of the next step are known.
        """
        values = np.zeros(len(states), np.uint8)
        ends = np.flatnonzero(legal.over)
        if len(ends):
            values[ends] = self._at_the_end(states[ends])
        others = np.flatnonzero(~legal.over)
        if not len(others):
            return values
        counts = legal.counts()[others]
        self._require_one_choice(states, others, counts)
        minimizes = counts[:, -1] > 1 if len(self.roles) > 1 else np.zeros(len(others), np.bool_)
        starts = np.concatenate([[0], np.cumsum(successors[others])]).astype(np.int64)
        rows = _rows_of(legal, others)
        begin = 0
        while begin < len(others):
            end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + joints, "right")) - 1)
            here = others[begin:end]
            expansion = self.expander.expand(states[here], _rows_of(rows, slice(begin, end)))
            successor_values = self.look_up(step + 1, self.files.code.encode(expansion.states))
            # the minimum of some values is 255 less the maximum of their complements
            flip = minimizes[begin:end]
            successor_values = np.where(flip[expansion.parents], 255 - successor_values, successor_values)
            best = np.maximum.reduceat(successor_values, starts[begin:end] - starts[begin])
            values[here] = np.where(flip, 255 - best, best)
            begin = end
        return values

    def _at_the_end(self, states: States) -> Values:
        """Return the goal values of the first role in terminal states."""
        goals = self.expander.goals(states)
        wrong = (goals < 0).any(axis=1) | (goals > 100).any(axis=1)
        sums = goals.sum(axis=1)
        if len(self.roles) > 1 and not wrong.any():
            if self.sum is None:
                self.sum = int(sums[0])
            wrong = sums != self.sum
        if wrong.any():
            goal = goals[int(wrong.argmax())].tolist()
            raise GameError(
                f"the game may end with the goal values {goal}: only games whose values add up to the same "
                "number at each end are solved on disk"
            )
        return goals[:, 0].astype(np.uint8)

    def _require_one_choice(
        self, states: States, others: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> None:
        wrong = (counts == 0).any(axis=1) | ((counts > 1).sum(axis=1) > 1)
        if not wrong.any():
            return
        number = int(wrong.argmax())
        facts = " ".join(sorted(self.expander.facts(states[others[number]][None, :])[0]))
        why = "two roles choose at once" if counts[number].all() else "a role has no legal move"
        raise GameError(f"{why} in {facts}: such games are not solved on disk")

    # -- looking up -----------------------------------------------------------------------

    def look_up(self, step: int, codes: Codes) -> Values:
        """Return the values of states of a step."""
        order = np.argsort(codes[:, 0])
        wanted = codes[order]
        result = np.empty(len(codes), np.uint8)
        begin = 0
        while begin < len(wanted):
            at, size, block, values = self._block(step, wanted[begin, 0])
            last = block[size - 1, 0] if at + size < self.by_step[step] else np.uint64((1 << 64) - 1)
            end = begin + int(np.searchsorted(wanted[begin:, 0], last, "right"))
            part = wanted[begin:end]
            places = np.searchsorted(block[:, 0], part[:, 0])
            other = _differ(block, places, part)
            while len(other):  # another code with the same first word
                places[other] += 1
                if (places[other] >= len(block)).any():
                    path = self.files.layer(step)
                    raise GameError(f"`{path}` is damaged: remove the folder and begin again")
                other = other[_differ(block, places[other], part[other])]
            result[order[begin:end]] = values[places]
            begin = end
        return result

    def _block(self, step: int, word: np.uint64) -> tuple[int, int, Codes, Values]:
        """Return codes of a step from a word on: the place of the first, their number, codes and values."""
        if self._whole_step is not None and self._whole_step[0] == step:
            return self._whole_step[1]
        count, path = self.by_step[step], self.files.layer(step)
        is_whole = count <= self.block
        at = 0 if is_whole else self.files.position(path, count, int(word))
        end = min(at + self.block + _MORE, count)
        values = self._read_values(step, at, end)
        block = at, min(self.block, end - at), self.files.read(path, at, end), values
        self._whole_step = (step, block) if is_whole else None
        return block

    # -- the result -----------------------------------------------------------------------

    def value(self, *, moves: bool) -> SolvedValue:
        """Return the value of the initial state, the first moves, and best play."""
        states, line = self.expander.initial, []
        first: list[tuple[str, float]] = []
        chooser = None
        for step in range(len(self.by_step)):
            legal = self.expander.legal(states)
            if legal.over[0]:
                break
            expansion = self.expander.expand(states, legal)
            values = self.look_up_few(step + 1, self.files.code.encode(expansion.states))
            counts = legal.counts()[0]
            role = int(counts.argmax())
            best = int(values.argmin() if role else values.argmax())
            if not step and counts[role] > 1:
                chooser = self.roles[role]
                texts = [self.expander.moves[role][number] for number in expansion.moves[:, role]]
                first = list(zip(texts, self._of(role, values), strict=True))
            line.append(expansion.joint_move(best))
            states = expansion.states[best : best + 1]
        root = self._read_values(0, 0, 1)
        value = {role: self._of(number, root)[0] for number, role in enumerate(self.roles)}
        best_of = max((number for _, number in first), default=0.0)
        return SolvedValue(
            METHOD,
            {role: (number, number) for role, number in value.items()},
            value,
            chooser,
            tuple(move for move, number in first if number == best_of),
            {move: (number, number) for move, number in first} if moves else {},
            tuple(line),
            sum(self.by_step),
            seconds=self.files.budget.elapsed,
        )

    def look_up_few(self, step: int, codes: Codes) -> Values:
        """Return the values of a few states of a step, without reading the whole file."""
        count, path = self.by_step[step], self.files.layer(step)
        values = np.empty(len(codes), np.uint8)
        for number, code in enumerate(codes):
            at = self.files.position(path, count, int(code[0]))
            block = self.files.read(path, at, min(at + _MORE, count))
            place = at + int((block == code).all(axis=1).argmax())
            values[number] = self._read_values(step, place, place + 1)[0]
        return values

    def _read_values(self, step: int, begin: int, end: int) -> Values:
        """Return the values of the states in places of a step."""
        return np.fromfile(self._path(step), np.uint8, end - begin, offset=begin)

    def _of(self, role: int, values: Values) -> list[float]:
        """Return the goal values of a role."""
        total = self.sum or 0
        return [float(total - value if role else value) for value in values.tolist()]


def _rows_of(legal: Legal, rows: NDArray[np.int64] | slice) -> Legal:
    """Return the legal moves of some of the states."""
    from herbrand.engine.expand import Legal

    return Legal(legal.over[rows], np.ascontiguousarray(legal.bits[rows]), legal.places, legal.sizes)


def _differ(block: Codes, places: NDArray[np.int64], codes: Codes) -> NDArray[np.int64]:
    """Return which codes are not at their places in a block."""
    inside = np.minimum(places, len(block) - 1)
    return np.flatnonzero((places >= len(block)) | (block[inside] != codes).any(axis=1))

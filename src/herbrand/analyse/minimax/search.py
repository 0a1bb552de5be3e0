"""`Search`: one alpha-beta search after another, each deeper, for one role."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.minimax.descent import (
    DEEPEST,
    HEURISTIC,
    MINE,
    NOBODY,
    NODES,
    RESULT,
    SIMULTANEOUS,
    begin,
    go_on,
    new_frames,
    new_root,
)
from herbrand.analyse.minimax.nodes import SCALE, evaluate_root, mover_of, new_rows, no_judge, rules_of
from herbrand.analyse.minimax.table import new_table, probe
from herbrand.simulate.expand import Expander
from herbrand.simulate.lanes import EXTRA_ROWS

if TYPE_CHECKING:
    from herbrand.analyse.minimax.nodes import Judge
    from herbrand.analyse.minimax.table import Table
    from herbrand.network.network import Network
    from herbrand.simulate.expand import Legal, States

__all__ = ["Search", "steps_to"]

_ROWS = 1 << 15
"""States on the stack, at most."""
_FEW = 64
"""Legal moves up to which one word holds all successors."""
_LONGEST = 20


class Search:
    """Searches from one state after another, for a role that everybody else is taken to play against.

    `memory` is the size of the transposition table in bytes; a `table` of another search for the same role
    may be used instead, also by another thread at the same time.  With `exact`, no successor is searched
    less deeply than others, which finds proofs sooner and good moves later.  With `novelty`, a successor in
    which fluents are true that were so in none of the states searched from is looked at sooner.
    """

    def __init__(
        self,
        network: Network,
        role: int,
        *,
        memory: int = 1 << 26,
        judge: Judge | None = None,
        table: Table | None = None,
        exact: bool = False,
        ahead: int = 0,
        novelty: bool = True,
    ) -> None:
        self.expander = Expander(network)
        self.role = role
        roles = len(self.expander.roles)
        self.judge = no_judge(roles) if judge is None else judge
        self.table = new_table(memory) if table is None else table
        self.ahead = ahead
        """How much deeper the first iteration is, so that threads with one table differ."""
        self.stride = 1
        """How much deeper each iteration is than the one before."""
        self.rules = rules_of(self.expander, role)
        moves = len(network.moves)
        self.rows = new_rows(self.expander, len(self.judge.literals), max(_ROWS, 4 * moves))
        self.frames = new_frames(moves)
        self.frames.numbers[[MINE, NOBODY]] = role, exact
        self.notes = new_root(moves)
        self.seen = np.zeros(self.expander.words if novelty else 0, np.uint64)
        """The fluents that were true in some state searched from; empty if that does not matter."""
        self.stop = np.zeros(1, np.int64)
        """Set `stop[0]` to end a slice early, from any thread."""
        wide = int(self.expander.legal(self.expander.initial).counts().max()) > _FEW
        self._width = (0,) * (8 if wide else 1)
        size = network.inputs + network.gates + EXTRA_ROWS + self.expander.fluents
        self._v = np.zeros(size * len(self._width), np.uint64)
        self._circuit = self.expander._circuit
        self.depth = 0
        """The last iteration that ended."""
        self.value = 50.0
        """What it says, from 0 to 100."""
        self.is_solved = False
        """Whether that is proved."""
        self.choice = -1
        """The move it chooses, by its number among the moves of all roles."""
        self.lanes_rate = max(1, 2_000_000 // (network.gates * len(self._width) + 1000))
        """States that are expanded in about a hundredth of a second."""
        self._under_way = False
        self.opened: list[int] = []
        """The states that each iteration from this root expanded."""

    def move_to(self, state: States) -> None:
        """Make a packed state, [1, words], the root."""
        self.rows.state[0] = state[0]
        self.seen |= state[0, : len(self.seen)]
        self.depth, self.value, self.is_solved, self.choice = 0, 50.0, False, -1
        self.notes.value[:] = -1
        self.notes.nodes[:] = 0
        numbers = self.frames.numbers
        numbers[[SIMULTANEOUS, NODES]] = 0
        self.opened = []
        self.frames.history[:] //= 8
        self._under_way = False
        evaluate_root(self._v, self._width, self._circuit, self.rules, self.judge, self.rows)

    @property
    def chooser(self) -> int:
        """The role that has a choice at the root; negative if there is not just one."""
        return int(mover_of(self.rules, self.rows, 0))

    @property
    def nodes(self) -> int:
        """States expanded since the root was set."""
        return int(self.frames.numbers[NODES])

    @property
    def is_simultaneous(self) -> bool:
        """Whether a state was met in which several roles have a choice."""
        return bool(self.frames.numbers[SIMULTANEOUS])

    @property
    def is_done(self) -> bool:
        """Whether searching on finds nothing new."""
        return self.is_solved or self.depth >= DEEPEST

    def slice(self, most: int | None = None) -> None:
        """Search on for about so many states; about a hundredth of a second if nothing is said."""
        if self.is_done:
            return
        frames = self.frames
        if not self._under_way:
            begin(frames, 1 + self.ahead if not self.depth else self.depth + self.stride)
            self._under_way = True
            self.notes.value[:] = -1
        ended = go_on(
            self._v, self._width, self._circuit, self.rules, self.judge, self.rows, frames, self.table,
            self.seen, self.notes, self.stop, self.lanes_rate if most is None else most,
        )  # fmt: skip
        if frames.tried[0] > 0 and frames.phase[0] == 1 and abs(int(frames.best[0])) < 1 << 19:
            self.choice = int(frames.choice[0])
        if ended:
            self._under_way = False
            self.opened.append(self.nodes - sum(self.opened))
            self.depth = int(frames.depth[0])
            self.value = float(frames.numbers[RESULT]) / SCALE
            self.is_solved = not frames.numbers[HEURISTIC]
            self.choice = int(frames.choice[0])

    def run(self, nodes: int) -> None:
        """Search until so many states were expanded, or nothing new is found."""
        while self.nodes < nodes and not self.is_done and not self.stop[0]:
            self.slice()

    def move_text(self, number: int) -> str:
        """Return a move, by its number among those of all roles, as KIF."""
        bounds = self.expander._bounds
        role = int(np.searchsorted(bounds, number, side="right")) - 1
        return self.expander.moves[role][number - int(bounds[role])]

    def proofs(self) -> list[tuple[int, float, int, int]]:
        """Return what is proved of moves at the root: the move, its value from 0 to 1, the bound, steps.

        Of the last iteration, as far as it came.
        """
        found = []
        for k in range(int(self.frames.successors[0]) if self.choice >= 0 else 0):
            value = int(self.notes.value[k])
            if value >= 0 and self.notes.proved[k]:
                goal = round(value / SCALE) / 100
                steps = steps_to(value) or max(1, self.depth)
                found.append((int(self.rows.move[1 + k]), goal, int(self.notes.bound[k]), steps))
        return found

    def joint_move(self, legal: Legal, move: int) -> list[int] | None:
        """Return the joint move, by numbers, in which a move of all roles is made; None if it is not legal.

        `legal` is about one state, in which no more than one role has a choice.
        """
        joint = []
        for role, first in enumerate(self.expander._bounds[:-1].tolist()):
            mine = np.flatnonzero(legal.mask(role)[0])
            if len(mine) != 1 and move - first not in mine:
                return None
            joint.append(int(mine[0]) if len(mine) == 1 else move - first)
        return joint

    def line(self) -> tuple[tuple[str, ...], ...]:
        """Return the moves that are expected, as far as the table knows them."""
        expander = self.expander
        state = self.rows.state[:1].copy()
        line: list[tuple[str, ...]] = []
        probing = new_rows(expander, len(self.judge.literals), 1)
        move = self.choice
        while len(line) < _LONGEST and move >= 0:
            legal = expander.legal(state)
            if legal.over[0]:
                break
            joint = self.joint_move(legal, move)
            if joint is None:
                return tuple(line)
            line.append(expander.joint_move(joint))
            state = expander.step(state, np.array([joint], np.int32))
            probing.state[0] = state[0]
            evaluate_root(self._v, self._width, self._circuit, self.rules, self.judge, probing)
            data = int(probe(self.table, probing.key[0]))
            move = (data >> 33 & 0x3FFFFFFF) - 1 if data else -1
        return tuple(line)


def steps_to(value: int) -> int:
    """How many steps a proved value is away; see `descent._at`."""
    rest = value % SCALE
    return rest if rest < SCALE // 2 else SCALE - rest

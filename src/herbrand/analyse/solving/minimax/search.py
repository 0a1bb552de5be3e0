"""`AlphaBetaSearch`: one alpha-beta search after another, each deeper, for one role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.analyse.solving.minimax.judge import SCALE, no_judge
from herbrand.core import AlphaBeta, RootMove, Stop, TranspositionTable
from herbrand.engine.expand import Expander

if TYPE_CHECKING:
    from herbrand.analyse.solving.minimax.judge import LinearJudge
    from herbrand.engine.expand import Legal, States
    from herbrand.network.network import Network

__all__ = ["DEEPEST", "AlphaBetaSearch", "steps_to"]

DEEPEST: Final = 200
"""Steps from the root that are looked at, at most."""
_FEW = 64
"""Legal moves up to which a state is expanded soon."""
_LONGEST = 20


class AlphaBetaSearch:
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
        judge: LinearJudge | None = None,
        table: TranspositionTable | None = None,
        exact: bool = False,
        ahead: int = 0,
        novelty: bool = True,
    ) -> None:
        self.expander = Expander(network)
        self.role = role
        self.judge = no_judge(len(self.expander.roles)) if judge is None else judge
        self.table = TranspositionTable(memory) if table is None else table
        self.ahead = ahead
        """How much deeper the first iteration is, so that threads with one table differ."""
        self.stride = 1
        """How much deeper each iteration is than the one before."""
        self.core = AlphaBeta(network.circuit, role, self.judge.compiled, self.table, exact, novelty)
        self.stop = Stop()
        """Ends a slice early, from any thread."""
        self.depth = 0
        """The last iteration that ended."""
        self.value = 50.0
        """What it says, from 0 to 100."""
        self.is_solved = False
        """Whether that is proved."""
        self.choice = -1
        """The move it chooses, by its number among the moves of all roles."""
        wide = int(self.expander.legal(self.expander.initial).counts().max()) > _FEW
        self.pace = max(1, 2_000_000 // (network.gates * (8 if wide else 1) + 1000))
        """States that are expanded in about a hundredth of a second."""
        self._root = self.expander.initial
        self._under_way = False
        self.opened: list[int] = []
        """The states that each iteration from this root expanded."""

    def move_to(self, state: States) -> None:
        """Make a packed state, [1, words], the root."""
        self.core.move_to(state[0])
        self._root = np.array(state[:1])
        self.depth, self.value, self.is_solved, self.choice = 0, 50.0, False, -1
        self.opened = []
        self._under_way = False

    @property
    def chooser(self) -> int:
        """The role that has a choice at the root; negative if there is not just one."""
        return self.core.chooser()

    @property
    def nodes(self) -> int:
        """States expanded since the root was set."""
        return self.core.nodes

    @property
    def is_simultaneous(self) -> bool:
        """Whether a state was met in which several roles have a choice."""
        return self.core.is_simultaneous

    @property
    def is_done(self) -> bool:
        """Whether searching on finds nothing new."""
        return self.is_solved or self.depth >= DEEPEST

    def slice(self, most: int | None = None) -> None:
        """Search on for about so many states; about a hundredth of a second if nothing is said."""
        if self.is_done:
            return
        if not self._under_way:
            self.core.begin(1 + self.ahead if not self.depth else self.depth + self.stride)
            self._under_way = True
        ended = self.core.go_on(self.stop, self.pace if most is None else most)
        choice = self.core.choice()
        if choice >= 0:
            self.choice = choice
        if ended:
            self._under_way = False
            self.opened.append(self.nodes - sum(self.opened))
            self.depth = self.core.depth()
            self.value = self.core.value() / SCALE
            self.is_solved = self.core.is_solved()

    def run(self, nodes: int) -> None:
        """Search until so many states were expanded, or nothing new is found."""
        while self.nodes < nodes and not self.is_done and not self.stop.is_set:
            self.slice()

    def move_text(self, number: int) -> str:
        """Return a move, by its number among those of all roles, as KIF."""
        bounds = self.expander.network.circuit.bounds
        role = int(np.searchsorted(bounds, number, side="right")) - 1
        return self.expander.moves[role][number - bounds[role]]

    def root(self) -> list[RootMove]:
        """Return what is known about each move at the root; nothing as long as there is no choice."""
        return self.core.root() if self.choice >= 0 else []

    def proofs(self) -> list[tuple[int, float, int, int]]:
        """Return what is proved of moves at the root: the move, its value from 0 to 1, the bound, steps.

        Of the last iteration, as far as it came.
        """
        found = []
        for move in self.root():
            if move.proved and move.value >= 0:
                goal = round(move.value / SCALE) / 100
                steps = steps_to(move.value) or max(1, self.depth)
                found.append((move.move, goal, move.bound, steps))
        return found

    def joint_move(self, legal: Legal, move: int) -> list[int] | None:
        """Return the joint move, by numbers, in which a move of all roles is made; None if it is not legal.

        `legal` is about one state, in which no more than one role has a choice.
        """
        joint = []
        for role, first in enumerate(self.expander.network.circuit.bounds[:-1]):
            mine = np.flatnonzero(legal.mask(role)[0])
            if len(mine) != 1 and move - first not in mine:
                return None
            joint.append(int(mine[0]) if len(mine) == 1 else move - first)
        return joint

    def line(self) -> tuple[tuple[str, ...], ...]:
        """Return the moves that are expected, as far as the table knows them."""
        expander = self.expander
        state = self._root
        line: list[tuple[str, ...]] = []
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
            move = self.core.known_move(state[0])
        return tuple(line)


def steps_to(value: int) -> int:
    """How many steps a proved value is away; which is moved by its distance."""
    rest = value % SCALE
    return rest if rest < SCALE // 2 else SCALE - rest

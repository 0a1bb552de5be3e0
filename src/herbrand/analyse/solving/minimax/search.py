"""`AlphaBetaSearch`: alpha-beta with iterative deepening, for one role."""

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
"""The greatest depth of an iteration."""
_FEW = 64
"""The most legal moves of a state that is cheap to expand."""
_LONGEST = 20


class AlphaBetaSearch:
    """Searches from one state after another for a role; all others are assumed to play against it.

    `memory` is the size of the transposition table in bytes; a `table` of another search for the same role
    may be used instead, also concurrently by another thread.  With `exact`, late moves are not
    reduced, which finds proofs sooner and good moves later.  With `novelty`, successors with fluents that
    were true in none of the earlier roots come earlier in the move order.
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
        """Extra depth of the first iteration, so that threads that share a table differ."""
        self.stride = 1
        """Extra depth of each further iteration."""
        self.core = AlphaBeta(network.circuit, role, self.judge.compiled, self.table, exact, novelty)
        self.stop = Stop()
        """Ends a slice early, from any thread."""
        self.depth = 0
        """The depth of the last finished iteration."""
        self.value = 50.0
        """Its value, from 0 to 100."""
        self.is_solved = False
        """Whether the value is proved."""
        self.choice = -1
        """Its best move, by number among the moves of all roles; -1 for none."""
        wide = int(self.expander.legal(self.expander.initial).counts().max()) > _FEW
        self.pace = max(1, 2_000_000 // (network.gates * (8 if wide else 1) + 1000))
        """About the number of states that are expanded in 10 ms."""
        self._root = self.expander.initial
        self._is_running = False
        self.opened: list[int] = []
        """The numbers of states that each iteration from this root expanded."""

    def move_to(self, state: States) -> None:
        """Make a packed state, [1, words], the root."""
        self.core.move_to(state[0])
        self._root = np.array(state[:1])
        self.depth, self.value, self.is_solved, self.choice = 0, 50.0, False, -1
        self.opened = []
        self._is_running = False

    @property
    def chooser(self) -> int:
        """The only role that has a choice at the root; negative if there is none or several."""
        return self.core.chooser()

    @property
    def nodes(self) -> int:
        """States expanded since the root was set."""
        return self.core.nodes

    @property
    def is_simultaneous(self) -> bool:
        """Whether some searched state has several roles with a choice."""
        return self.core.is_simultaneous

    @property
    def is_done(self) -> bool:
        """Whether further search is useless."""
        return self.is_solved or self.depth >= DEEPEST

    def slice(self, most: int | None = None) -> None:
        """Continue for about `most` states, by default for about 10 ms."""
        if self.is_done:
            return
        if not self._is_running:
            self.core.begin(1 + self.ahead if not self.depth else self.depth + self.stride)
            self._is_running = True
        ended = self.core.go_on(self.stop, self.pace if most is None else most)
        choice = self.core.choice()
        if choice >= 0:
            self.choice = choice
        if ended:
            self._is_running = False
            self.opened.append(self.nodes - sum(self.opened))
            self.depth = self.core.depth()
            self.value = self.core.value() / SCALE
            self.is_solved = self.core.is_solved()

    def run(self, nodes: int) -> None:
        """Search until `nodes` states were expanded or further search is useless."""
        while self.nodes < nodes and not self.is_done and not self.stop.is_set:
            self.slice()

    def move_text(self, number: int) -> str:
        """Return a move, by its number among those of all roles, as KIF."""
        bounds = self.expander.network.circuit.bounds
        role = int(np.searchsorted(bounds, number, side="right")) - 1
        return self.expander.moves[role][number - bounds[role]]

    def root(self) -> list[RootMove]:
        """Return the results for each move at the root; empty before the first one."""
        return self.core.root() if self.choice >= 0 else []

    def proofs(self) -> list[tuple[int, float, int, int]]:
        """Return the proved moves at the root, each with its value from 0 to 1, the bound, and steps."""
        proofs = []
        for move in self.root():
            if move.proved and move.value >= 0:
                goal = round(move.value / SCALE) / 100
                steps = steps_to(move.value) or max(1, self.depth)
                proofs.append((move.move, goal, move.bound, steps))
        return proofs

    def joint_move(self, legal: Legal, move: int) -> list[int] | None:
        """Return the joint move, by number, that contains a move; None if it is illegal.

        `legal` is that of one state, in which at most one role has a choice.
        """
        joint = []
        for role, first in enumerate(self.expander.network.circuit.bounds[:-1]):
            legal_numbers = np.flatnonzero(legal.mask(role)[0])
            if len(legal_numbers) != 1 and move - first not in legal_numbers:
                return None
            joint.append(int(legal_numbers[0]) if len(legal_numbers) == 1 else move - first)
        return joint

    def expected_turn(self, state: States) -> States | None:
        """Return the state in which the role chooses next if the others make the best moves in the table.

        `state` is packed, [1, words], and not one where the role chooses; None if that is not known.
        """
        expander = self.expander
        for _ in range(_LONGEST):
            legal = expander.legal(state)
            if legal.over[0]:
                return None
            choosing = [role for role, count in enumerate(legal.counts()[0].tolist()) if count > 1]
            if choosing == [self.role]:
                return state
            move = self.core.known_move(state[0]) if choosing else 0
            joint = self.joint_move(legal, move) if len(choosing) < 2 and move >= 0 else None
            if joint is None:
                return None
            state = expander.step(state, np.array([joint], np.int32))
        return None

    def line(self) -> tuple[tuple[str, ...], ...]:
        """Return the principal variation, up to the first state that is not in the table."""
        expander = self.expander
        state = self._root
        line: list[tuple[str, ...]] = []
        move = self.choice
        while len(line) < _LONGEST and move >= 0:
            legal = expander.legal(state)
            joint = None if legal.over[0] else self.joint_move(legal, move)
            if joint is None:
                return tuple(line)
            line.append(expander.joint_move(joint))
            state = expander.step(state, np.array([joint], np.int32))
            move = self.core.known_move(state[0])
        return tuple(line)


def steps_to(value: int) -> int:
    """Return the distance of a proved end from its shifted value."""
    rest = value % SCALE
    return rest if rest < SCALE // 2 else SCALE - rest

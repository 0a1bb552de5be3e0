"""Monte-Carlo tree search, the strongest player for most games."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from herbrand.errors import HerbrandError
from herbrand.play.explanation import Explanation
from herbrand.play.interface import Player

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.search.engine import Search
    from herbrand.play.search.plain import PlainSearch
    from herbrand.simulate.expand import States

__all__ = ["MctsPlayer"]

MARGIN = 0.01
"""Seconds before the end of a clock at which the search is stopped."""
PATIENCE = 0.02
"""Seconds that a search may take to stop."""
_AMAF = 200.0


class MctsPlayer(Player):
    """Grows a tree of the moves that look best, judged by hundreds of random games at a time.

    `memory` is how many megabytes the tree may take, `playouts` how many random games are played for a
    move at most (None: as many as there is time for), `each` how many are played after each new
    position, `exploration` the constant of UCB1, `max_steps` what cuts off games that do not end.
    `amaf` is after how many games a move's own mean counts as much as games in which it came later (0:
    such games are not counted; None: 200 where pieces are only placed, else 0, as measured).
    With `regret`, roles that move at once choose by regret matching, and the move is drawn as they do.
    """

    def __init__(
        self,
        seed: int | None = None,
        *,
        memory: float = 512.0,
        playouts: int | None = None,
        each: float = 1.0,
        exploration: float = 0.5,
        max_steps: int = 1000,
        regret: bool = False,
        amaf: float | None = None,
    ) -> None:
        super().__init__(seed)
        self.memory = memory
        self.playouts = playouts
        self.each = each
        self.exploration = exploration
        self.max_steps = max_steps
        self.regret = regret
        self.amaf = amaf
        self._search: Search | None = None
        self._plain: PlainSearch | None = None
        self._builder: threading.Thread | None = None
        self._thinker: threading.Thread | None = None
        self._report: Callable[[], Explanation] | None = None

    # -- getting ready --------------------------------------------------------------------

    @property
    def _is_building(self) -> bool:
        return self._builder is not None and self._builder.is_alive()

    def prepare(self, deadline: float) -> None:
        """Build the network and compile in the background; wait for it until the clock runs out."""
        self._search = self._plain = None
        self._report = None
        self._builder = threading.Thread(
            target=self._build, args=(self.game, self.chance.getrandbits(32)), daemon=True
        )
        self._builder.start()
        while self._builder.is_alive() and self.may_go_on(deadline - MARGIN):
            self._builder.join(0.01)

    def _build(self, game: Game, seed: int) -> None:
        from herbrand.play.search.engine import Search
        from herbrand.play.search.features import only_placing

        try:
            amaf = self.amaf
            if amaf is None:
                amaf = _AMAF if only_placing(game.expander) else 0.0
            search = Search(
                game.network,
                memory=int(self.memory * 1e6),
                seed=seed,
                exploration=self.exploration,
                each=self.each,
                max_steps=self.max_steps,
                regret=self.regret,
                amaf=amaf,
            )
            search.move_to(search.expander.initial)
            search.warm()
        except (HerbrandError, MemoryError):
            return
        if self._game is game:
            self._search = search

    # -- choosing -------------------------------------------------------------------------

    def select(self, state: State, play_clock: float) -> Move:
        """Return the best move when time is up, or when the best is proved."""
        started = time.monotonic()
        deadline = started + play_clock - MARGIN
        moves = self.options(state)
        self._report = None
        if len(moves) == 1:
            return moves[0]
        search = self._search
        if search is not None and self._is_idle():
            try:
                packed = _packed(search, state)
            except HerbrandError:  # a state that the network does not have
                pass
            else:
                return self._by_search(search, packed, moves, started, deadline)
        return self._by_rules(state, moves, started, deadline)

    def _is_idle(self) -> bool:
        """Whether the search has ended that was stopped before."""
        if self._thinker is not None and self._thinker.is_alive():
            self._thinker.join(PATIENCE)
            return not self._thinker.is_alive()
        return True

    def _by_search(
        self, search: Search, packed: States, moves: list[Move], started: float, deadline: float
    ) -> Move:
        from herbrand.play.search.reading import ranked_arms

        search.move_to(packed)
        before = search.playouts
        most = self.playouts
        role = self.game.role_index(self.role)
        self._think(
            search,
            lambda: not search.decided(role) and (most is None or search.playouts - before < most),
            deadline,
        )
        seconds = time.monotonic() - started
        self._report = lambda: _explain(search, self.role, seconds, search.playouts - before)
        by_text = {str(move).lower(): move for move in moves}
        planned = search.planned()
        if planned is not None and planned.lower() in by_text:
            return by_text[planned.lower()]
        if not search.is_open:
            return self.chance.choice(moves)
        if self.regret:
            arm = search.drawn_arm(role, self.chance)
        else:
            arm = ranked_arms(search, search.root, role)[0]
        return by_text.get(search.move_text(int(search.tree.move[arm])).lower(), moves[0])

    def _think(self, search: Search, may_go_on: Callable[[], bool], deadline: float) -> None:
        """Search until the deadline, in a thread of its own: nothing it does can make the answer late."""
        if not self.may_go_on(deadline):
            return
        search.stop[0] = 0
        done = threading.Event()

        def work() -> None:
            try:
                search.run(may_go_on)
            finally:
                done.set()

        self._thinker = threading.Thread(target=work, daemon=True)
        self._thinker.start()
        while not done.is_set() and self.may_go_on(deadline):
            done.wait(max(0.0, min(0.05, deadline - time.monotonic())))
        search.stop[0] = 1
        done.wait(PATIENCE)

    def _by_rules(self, state: State, moves: list[Move], started: float, deadline: float) -> Move:
        """Search by evaluating the rules, while there is no network, or where there is none."""
        from herbrand.play.search.plain import PlainSearch

        if self._plain is None:
            self._plain = PlainSearch(self.role, self.chance.getrandbits(32), exploration=self.exploration)
        plain = self._plain
        if not self.may_go_on(deadline):
            return self.chance.choice(moves)
        plain.move_to(state)
        ended = threading.Event()
        before, most = plain.playouts, self.playouts

        def may_go_on() -> bool:
            return not ended.is_set() and (most is None or plain.playouts - before < most)

        def work() -> None:
            try:
                plain.run(may_go_on)
            finally:
                ended.set()

        threading.Thread(target=work, daemon=True).start()
        while not ended.is_set() and self.may_go_on(deadline):
            ended.wait(max(0.0, min(0.05, deadline - time.monotonic())))
        ended.set()
        found = plain.reports()
        seconds = time.monotonic() - started
        why = "the network is not ready yet" if self._is_building else "there is no network"
        note = f"{plain.playouts - before} random games by evaluating the rules: {why}"
        self._report = lambda: Explanation(
            "mcts", self.role, tuple(found), seconds, plain.playouts - before, len(plain.nodes), (note,)
        )
        by_text = {str(move): move for move in moves}
        return by_text.get(found[0].move, moves[0]) if found else self.chance.choice(moves)

    def report(self) -> Explanation | None:
        """Return what was found out before the last move; None if there was nothing to choose."""
        return None if self._report is None else self._report()


def _packed(search: Search, state: State) -> States:
    """Return a state in the form of the expander; `GameError` if it is not one of the network."""
    import numpy as np

    if state.engine == "network":
        packed = np.frombuffer(state._key, np.uint64).reshape(1, -1)
        if packed.shape[1] == search.expander.words:
            return packed.copy()
    return search.expander.pack([state.facts])


def _explain(search: Search, role: str, seconds: float, playouts: int) -> Explanation:
    from herbrand.play.search.reading import reports

    found = reports(search, search.expander.roles.index(role))
    notes = [f"{playouts} random games in {seconds:.2f} s"]
    plan = search.plan
    planned = search.planned()
    if plan is not None and planned is not None:
        notes.append(f"follows a plan that ends with {100 * plan.value:g}")
        found.sort(key=lambda report: report.move != planned)
    return Explanation(
        "mcts", role, tuple(found), seconds, round(float(search.tree.games[search.root])), search.positions,
        tuple(notes),
    )  # fmt: skip

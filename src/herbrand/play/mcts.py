"""Monte-Carlo tree search, the strongest player for most games."""

from __future__ import annotations

import os
import threading
import time
import weakref
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from herbrand.errors import HerbrandError
from herbrand.play.explanation import PlayerReport
from herbrand.play.interface import Player
from herbrand.play.team import MARGIN, PATIENCE, Team, cores
from herbrand.runtime.collector import suspend_full_collections

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.core import Stop
    from herbrand.engine.expand import Expander
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.search.beam import Beam
    from herbrand.play.search.engine import Search
    from herbrand.play.search.plain import PlainSearch
    from herbrand.play.search.probe import Probe
    from herbrand.play.search.style import Style

__all__ = ["MctsPlayer"]

_AMAF = 200.0
_THREADS = 2
_LESSON = 20.0
"""Seconds for learning what states are worth, at most."""
_SLICE = 0.002
"""Seconds of rounds after which a thread looks up, unless a number of games decides."""
_PONDERS = 60.0
"""Seconds of thinking in the time of others, at most."""
_PROBE_MEMORY = 0.125
"""The part of the memory that looking for proofs takes."""

_turn = threading.Lock()
"""Held by whoever makes a search: one is made after the other, and the rest wait with empty hands."""


def _begin_anew() -> None:
    """Let a copy of this process wait for nobody who stayed in the other one."""
    global _turn
    _turn = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


@dataclass(slots=True, eq=False, weakref_slot=True)
class _Findings:
    """What was found out in one match, which the player lets go of at its end.

    Who looks for more keeps to the findings with which it began, so that nothing that is found when the match
    has ended, or the next one has begun, is taken for that of another.
    """

    search: Search | None = None
    probe: Probe | None = None
    beam: Beam | None = None
    plain: PlainSearch | None = None
    report: Callable[[], PlayerReport] | None = None


class MctsPlayer(Player):
    """Grows a tree of the moves that look best, judged by hundreds of random games at a time.

    `memory` is how many megabytes the tree may take, `playouts` how many random games are played for a
    move at most (None: as many as there is time for), `each` how many are played after each new
    position, `exploration` the constant of UCB1, `max_steps` what cuts off games that do not end.
    `amaf` is after how many games a move's own mean counts as much as games in which it came later (0:
    such games are not counted; None: 200 where pieces are only placed, else 0, as measured).
    With `regret`, roles that move at once choose by regret matching, and the move is drawn as they do.
    Where two take turns, an exact search looks for proofs meanwhile (`probe`), in a part of the time.
    `threads` is how many grow the tree together (None: two if there are so many processors); with `playouts`
    there is one, and the same questions have the same answers.  With `ponder` it thinks on after its move,
    for a minute at most, until the next is asked for.

    How the games after a leaf are played: with `decisive`, no role passes by a win, or makes a move after
    which the other has one, if it can help it (None: where that costs little, as measured); with `mast`,
    moves that went with good results in random games before the match are chosen more often; with `cutoff`,
    games of two that share a constant sum end after so many steps and count what `minimax.learning` finds
    their last state worth.  With `beam`, one role alone also looks step by step for a way through the
    states that promise most.
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
        probe: bool = True,
        threads: int | None = None,
        ponder: bool = False,
        beam: bool = True,
        decisive: bool | None = None,
        mast: bool = False,
        cutoff: int | None = None,
    ) -> None:
        super().__init__(seed)
        self.memory = memory
        self.playouts = playouts
        self.each = each
        self.exploration = exploration
        self.max_steps = max_steps
        self.regret = regret
        self.amaf = amaf
        self.probe = probe
        self.ponder = ponder
        self.beam = beam
        self.decisive = decisive
        self.mast = mast
        self.cutoff = cutoff
        self.threads = min(_THREADS, cores()) if threads is None else threads
        self._found = _Findings()
        self._builder: threading.Thread | None = None
        self._team = Team()

    # -- getting ready --------------------------------------------------------------------

    @property
    def _slice(self) -> float:
        return _SLICE if self.playouts is None else 0.0

    @property
    def _is_building(self) -> bool:
        return self._builder is not None and self._builder.is_alive()

    def prepare(self, deadline: float) -> None:
        """Build the network and the search in the background; wait for it until the clock runs out."""
        self._team.halt()
        self._found = _Findings()
        found, seed = weakref.ref(self._found), self.chance.getrandbits(32)
        self._builder = threading.Thread(
            target=self._build, args=(found, self.game, self.role, seed, deadline), daemon=True
        )
        self._builder.start()
        while self._builder.is_alive() and self.may_go_on(deadline - MARGIN):
            self._builder.join(0.01)

    def _build(
        self, found: weakref.ref[_Findings], game: Game, player: str, seed: int, deadline: float
    ) -> None:
        """Add to the findings what takes long to make; holds none of them while it makes the next."""
        from herbrand.play.search.beam import Beam
        from herbrand.play.search.style import PLAIN

        role = game.role_index(player)
        opposed = len(game.players) == 2 and game.chance_role is None
        probed = self.probe and not self.regret and opposed

        def is_over() -> bool:
            return self.stopped or self._found is not found()

        def is_added(name: str, make: Callable[[], Any]) -> bool:
            turn = _turn
            while not is_over():
                if turn.acquire(timeout=0.05):
                    try:
                        made = make()
                    finally:
                        turn.release()
                    findings = found()
                    if findings is not None:
                        setattr(findings, name, made)
                    return not is_over()
            return False

        try:
            network = game.network
            alone = self.beam and len(game.roles) == 1
            if alone and not is_added("beam", lambda: Beam(network, seed=seed, max_steps=self.max_steps)):
                return
            if not is_added("search", lambda: self._made_search(game, seed, PLAIN, probed=probed)):
                return
            if probed and not is_added("probe", lambda: self._made_probe(game, role)):
                return
            style = self._learned(game.expander, role, seed, deadline, judged=opposed)
            if style is not PLAIN and not is_added(
                "search", lambda: self._made_search(game, seed, style, probed=probed)
            ):
                return
        except (HerbrandError, MemoryError):
            return

    def _made_search(self, game: Game, seed: int, style: Style, *, probed: bool) -> Search:
        """Return a search at the initial state, of whose moves something is known."""
        from herbrand.play.search.engine import Search
        from herbrand.play.search.features import only_placing

        amaf = self.amaf
        if amaf is None:
            amaf = _AMAF if only_placing(game.expander) else 0.0
        memory = self.memory * 1e6
        search = Search(
            game.network,
            memory=int(memory * (1 - _PROBE_MEMORY) if probed else memory),
            seed=seed,
            exploration=self.exploration,
            each=self.each,
            max_steps=self.max_steps,
            regret=self.regret,
            amaf=amaf,
            threads=self.threads if self.playouts is None else 1,
            style=style,
        )
        search.move_to(search.expander.initial)
        search.round()  # so that there is an answer where there is no time at all
        return search

    def _learned(self, expander: Expander, role: int, seed: int, deadline: float, *, judged: bool) -> Style:
        """Return how games are to be played, after learning what that takes."""
        from herbrand.play.minimax.learning import learn
        from herbrand.play.search.style import PLAIN, mast_weights, sighted

        style = PLAIN
        if judged and self.decisive is not False:
            network = sighted(expander, anyway=self.decisive is True)
            if network is not None:
                style = style._replace(network=network)
        if self.mast:
            style = style._replace(weights=mast_weights(expander, seed=seed))
        if self.cutoff is not None and judged:
            until = time.monotonic() + max(1.0, min(_LESSON, deadline - time.monotonic() - 0.5))
            lesson = learn(expander, role, seed=seed, deadline=until)
            if lesson.features:
                style = style._replace(cutoff=self.cutoff, judge=lesson.judge, role=role)
        return style

    def _made_probe(self, game: Game, role: int) -> Probe:
        """Return a look ahead that is to be moved to a state."""
        from herbrand.play.search.probe import Probe

        return Probe(game.network, role, memory=int(_PROBE_MEMORY * self.memory * 1e6))

    # -- choosing -------------------------------------------------------------------------

    @suspend_full_collections()
    def select(self, state: State, play_clock: float) -> Move:
        """Return the best move when time is up, or when the best is proved."""
        started = time.monotonic()
        deadline = started + play_clock - MARGIN
        found, moves = self._found, self.options(state)
        found.report = None
        if len(moves) == 1:
            return moves[0]
        waiting = found.search is None
        search = self._entered(found, state, max(PATIENCE, min(1.0, 0.5 * (deadline - started))))
        if search is None:
            move = self._by_rules(found, state, moves, started, deadline, waiting=waiting)
            if waiting and self.may_go_on(deadline):
                search = self._entered(found, state, PATIENCE)
            if search is None:
                return move
        found.plain = None
        return self._by_search(found, search, moves, started, deadline)

    def consider(self, state: State, seconds: float) -> Move:
        """Search in this thread alone, for so much processor time; `HerbrandError` where it cannot."""
        found = self._found
        search = self._entered(found, state, PATIENCE)
        if search is None:
            raise HerbrandError(f"there is no network of {self.game.name}")
        for stop in _stops(found, search):
            stop.clear()
        until = time.thread_time() + seconds

        def left() -> float:
            return until - time.thread_time()

        search.run(self._asked(found, search, lambda: left() > 0, left, threads=1), seconds=self._slice)
        return self._chosen(search, self.options(state))

    def _entered(self, found: _Findings, state: State, seconds: float) -> Search | None:
        """Return the search, at the state, in so many seconds; None if it cannot search it."""
        search, probe, beam = found.search, found.probe, found.beam
        if search is None or not self._team.end(seconds):
            return None
        from herbrand.play.search.reading import packed

        try:
            root = packed(search.expander, state)
        except HerbrandError:  # a state that the network does not have
            return None
        search.move_to(root)
        if probe is not None:
            probe.move_to(root)
        if beam is not None:
            beam.move_to(root)
        return search

    def _by_search(
        self, found: _Findings, search: Search, moves: list[Move], started: float, deadline: float
    ) -> Move:
        before, most = search.playouts, self.playouts

        def more() -> bool:
            return most is None or search.playouts - before < most

        def grow(worker: int) -> bool:
            asked = self._asked(found, search, more, lambda: deadline - time.monotonic(), threads=threads)
            search.run(asked, worker, seconds=self._slice)
            return True

        threads = len(search.workers)
        works = [partial(grow, worker) for worker in range(threads)]
        stops = _stops(found, search)
        ended = self._team.think(works, stops, self.may_go_on, deadline - (MARGIN if self.ponder else 0.0))
        if found.probe is not None and ended:
            found.probe.tell(search)
        seconds = time.monotonic() - started
        played, role = search.playouts - before, self.role
        move = self._chosen(search, moves)
        if self.ponder and ended and not self.stopped:
            explanation = _explain(search, role, seconds, played)
            found.report = lambda: explanation
            self._go_on(found, search)
        else:
            found.report = lambda: _explain(search, role, seconds, played)
        return move

    def _go_on(self, found: _Findings, search: Search) -> None:
        """Let the tree grow in the time of others, until the next move is asked for."""
        until = time.monotonic() + _PONDERS

        def grow(worker: int) -> bool:
            search.run(lambda: time.monotonic() < until and not self.stopped, worker, seconds=_SLICE)
            return True

        self._team.begin(
            [partial(grow, worker) for worker in range(len(search.workers))], _stops(found, search)
        )

    def stop(self) -> None:
        """End the match, and all threads."""
        super().stop()
        self._team.halt()
        self._found = _Findings()

    def _asked(
        self,
        found: _Findings,
        search: Search,
        may_go_on: Callable[[], bool],
        left: Callable[[], float],
        *,
        threads: int,
    ) -> Callable[[], bool]:
        """Return what each of some threads asks between rounds; it looks for proofs then, now and then.

        `left` says how many seconds there still are.
        """
        role = self.game.role_index(self.role)
        probe, beam = found.probe, found.beam
        began, before = time.thread_time(), search.playouts
        most = self.playouts

        def ask() -> bool:
            if probe is not None:
                if probe.may_go_on:
                    if most is not None:  # so that the same questions have the same answers
                        played = search.playouts - before
                        share = probe.share(most - played)
                        wanted = (1 - share) * probe.engine.nodes < share * played
                    else:
                        share = probe.share(probe.rate * left())
                        wanted = probe.spent < share * threads * (time.thread_time() - began)
                    if wanted:
                        probe.slice()
                probe.tell(search)
            if beam is not None and beam.may_go_on:
                if beam.games <= search.playouts - before:
                    beam.slice()
                beam.tell(search)
            return may_go_on() and not search.decided(role)

        return ask

    def _chosen(self, search: Search, moves: list[Move]) -> Move:
        """Return the move that the search found best."""
        from herbrand.play.search.reading import ranked_arms

        role = self.game.role_index(self.role)
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

    def _by_rules(
        self,
        found: _Findings,
        state: State,
        moves: list[Move],
        started: float,
        deadline: float,
        *,
        waiting: bool,
    ) -> Move:
        """Search by evaluating the rules, where there is no network; if `waiting`, until there is one."""
        from herbrand.play.search.plain import PlainSearch

        plain = found.plain
        if plain is None:
            plain = found.plain = PlainSearch(
                self.role, self.chance.getrandbits(32), exploration=self.exploration, memory=self.memory
            )
        if not self.may_go_on(deadline):
            return self.chance.choice(moves)
        plain.move_to(state)
        ended = threading.Event()
        before, most = plain.playouts, self.playouts

        def may_go_on() -> bool:
            return not ended.is_set() and (most is None or plain.playouts - before < most)

        def work() -> None:
            try:
                with suppress(HerbrandError):  # the rules take too long: what is known so far decides
                    plain.run(may_go_on)
            finally:
                ended.set()

        threading.Thread(target=work, daemon=True).start()
        while not ended.is_set() and self.may_go_on(deadline) and not (waiting and found.search is not None):
            ended.wait(max(0.0, min(0.05, deadline - time.monotonic())))
        ended.set()
        best = plain.best()
        seconds, role = time.monotonic() - started, self.role
        why = "the network is not ready yet" if self._is_building else "there is no network"
        played = plain.playouts - before
        note = f"{played} random games by evaluating the rules: {why}"
        found.report = lambda: PlayerReport(
            "mcts", role, tuple(plain.reports()), seconds, played, len(plain.nodes), (note,)
        )
        return best if best is not None else self.chance.choice(moves)

    def report(self) -> PlayerReport | None:
        """Return what was found out before the last move; None if there was nothing to choose."""
        report = self._found.report
        return None if report is None else report()


def _stops(found: _Findings, search: Search) -> list[Stop]:
    """Return what ends the work of all threads."""
    return [search.stop] if found.probe is None else [search.stop, found.probe.engine.stop]


def _explain(search: Search, role: str, seconds: float, playouts: int) -> PlayerReport:
    from herbrand.play.search.reading import reports

    found = reports(search, search.expander.roles.index(role))
    notes = [f"{playouts} random games in {seconds:.2f} s"]
    plan = search.plan
    planned = search.planned()
    if plan is not None and planned is not None:
        notes.append(f"follows a plan that ends with {100 * plan.value:g}")
        found.sort(key=lambda report: report.move != planned)
    return PlayerReport(
        "mcts", role, tuple(found), seconds, round(float(search.tree.games[search.root])), search.positions,
        tuple(notes),
    )  # fmt: skip

"""`MctsPlayer`: Monte-Carlo tree search, the strongest player for most games."""

from __future__ import annotations

import os
import threading
import time
import weakref
from contextlib import suppress
from dataclasses import KW_ONLY, InitVar, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from herbrand.errors import HerbrandError
from herbrand.play.background import start_thread
from herbrand.play.explanation import PlayerReport
from herbrand.play.interface import Player
from herbrand.play.threads import (
    CLOCK_MARGIN,
    JOIN_TIMEOUT,
    SEARCH_THREADS,
    ThreadTeam,
    available_cores,
    join_seconds,
    ponder_seconds,
)
from herbrand.runtime.collector import suspend_full_collections

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.core import Stop
    from herbrand.engine.expand import Expander
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.search.beam import Beam
    from herbrand.play.search.policy import PlayoutPolicy
    from herbrand.play.search.probe import Probe
    from herbrand.play.search.rules_search import RulesSearch
    from herbrand.play.search.tree import Search

__all__ = ["MctsPlayer"]

_EXPLORATION = 0.5
_AMAF = 1000.0
_AMAF_EXPLORATION = 0.03
"""The constant of UCB1 with AMAF, which tells good moves from bad ones before they are tried."""
_AMAF_WIDEST = 16
"""Moves of a new position that are tried at once with AMAF."""
_REFERENCE = 100.0
"""Playouts from which a position has AMAF values of its own."""
_LEARNING_SECONDS = 20.0
"""Seconds for learning an evaluation function, at most."""
_SLICE = 0.002
"""Seconds of rounds after which a thread polls, unless a number of playouts ends the search."""
_PROBE_MEMORY = 0.125
"""Share of the memory for the transposition table of the proof search."""

_build_lock = threading.Lock()
"""Held while a search is built: searches are large, and waiting builders hold none."""


def _reset_build_lock() -> None:
    """Replace the lock in a forked child, where the thread that held it does not exist."""
    global _build_lock
    _build_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_build_lock)


@dataclass(slots=True, eq=False, weakref_slot=True)
class _MatchData:
    """The searches of one match, released at its end.

    A background thread refers to the object with which it started, so that a result that comes after the
    match has ended is never used in the next one.
    """

    search: Search | None = None
    probe: Probe | None = None
    beam: Beam | None = None
    rules_search: RulesSearch | None = None
    report: Callable[[], PlayerReport] | None = None


@dataclass(eq=False)
class MctsPlayer(Player):
    """Monte-Carlo tree search with hundreds of playouts at a time.

    With `playouts`, the same seed gives the same moves.
    """

    seed: InitVar[int | None] = None
    _: KW_ONLY
    memory: float = 512.0
    """The size of the tree in megabytes."""
    playouts: int | None = None
    """The most playouts for a move; None: limited by the clock."""
    each: float = 1.0
    """Playouts for each new position."""
    exploration: float | None = None
    """The constant of UCB1; None: 0.5, with AMAF 0.03, as measured."""
    max_steps: int = 1000
    """The length at which playouts are cut off."""
    regret: bool = False
    """Whether simultaneous moves are chosen by regret matching, and the move played is drawn from the average
    strategy."""
    amaf: float | None = None
    """Playouts after which a move's own mean weighs as much as its AMAF value; 0: no AMAF; None: 1000 in
    games where pieces are only placed, else 0, as measured."""
    probe: bool = True
    """Whether an exact search for proofs takes a share of the time in two-player games."""
    threads: int | None = None
    """Threads that grow the tree; None: two, if there are two processors.  With `playouts` there is one."""
    ponder: bool = False
    """Whether the search uses the rest of the start clock and continues while others think, for at most a
    minute or two play clocks; not with `playouts`.  It takes processor time from others on the machine."""
    beam: bool = True
    """Whether a beam search runs beside the tree in one-role games."""
    decisive: bool | None = None
    """Whether roles in playouts play winning moves and avoid moves that let the opponent win; None: where
    that is cheap, as measured."""
    mast: bool = False
    """Whether moves in playouts are weighted by their results in playouts before the match."""
    cutoff: int | None = None
    """Steps after which playouts of two-player constant-sum games end with the value of a learned evaluation
    function."""

    def __post_init__(self, seed: int | None) -> None:
        super().__init__(seed)
        self._match = _MatchData()
        self._builder: threading.Thread | None = None
        self._team = ThreadTeam()

    # -- preparation ----------------------------------------------------------------------

    @property
    def _slice(self) -> float:
        return _SLICE if self.playouts is None else 0.0

    @property
    def _ponders(self) -> bool:
        return self.ponder and self.playouts is None

    @property
    def _is_building(self) -> bool:
        return self._builder is not None and self._builder.is_alive()

    def prepare(self, deadline: float) -> None:
        """Build the network and the search in the background; wait for it until the clock runs out.

        With `ponder`, search until then and, in the background, until the first move is to be chosen.
        """
        self._team.request_stop()
        self._match = _MatchData()
        arguments = weakref.ref(self._match), self.game, self.role, self.chance.getrandbits(32), deadline
        self._builder = self.run_in_background(partial(self._build, *arguments), deadline - CLOCK_MARGIN)
        match = self._match
        search = match.search
        if self._ponders and search is not None and not self._is_building:
            self._ponder_in_background(match, search, deadline - time.monotonic(), until=deadline)

    def _build(
        self, match_ref: weakref.ref[_MatchData], game: Game, player: str, seed: int, deadline: float
    ) -> None:
        """Build the searches of a match one after another; keeps no reference to them."""
        from herbrand.play.search.beam import Beam
        from herbrand.play.search.policy import UNIFORM

        role = game.role_index(player)
        opposed = len(game.players) == 2 and game.chance_role is None
        probed = self.probe and not self.regret and opposed

        def is_over() -> bool:
            return self.stopped or self._match is not match_ref()

        def add(name: str, build: Callable[[], Any]) -> bool:
            """Build and store one search; return False if the match is over."""
            lock = _build_lock
            while not is_over():
                if lock.acquire(timeout=0.05):
                    try:
                        if is_over():  # meanwhile
                            return False
                        search = build()
                    finally:
                        lock.release()
                    match = match_ref()
                    if match is not None:
                        setattr(match, name, search)
                    return not is_over()
            return False

        try:
            network = game.network
            alone = self.beam and len(game.roles) == 1
            if alone and not add("beam", lambda: Beam(network, seed=seed, max_steps=self.max_steps)):
                return
            if not add("search", lambda: self._build_search(game, seed, UNIFORM, probed=probed)):
                return
            if probed and not add("probe", lambda: self._build_probe(game, role)):
                return
            policy = self._learn_policy(game.expander, role, seed, deadline, judged=opposed)
            if policy is not UNIFORM:
                add("search", lambda: self._build_search(game, seed, policy, probed=probed))
        except (HerbrandError, MemoryError):
            return

    def _build_search(self, game: Game, seed: int, policy: PlayoutPolicy, *, probed: bool) -> Search:
        """Return a search at the initial state, after one round."""
        from herbrand.play.search.features import is_placement_only
        from herbrand.play.search.tree import LANES, Search

        amaf = self.amaf
        if amaf is None:
            amaf = _AMAF if is_placement_only(game.expander) else 0.0
        exploration = self.exploration
        if exploration is None:
            exploration = _AMAF_EXPLORATION if amaf else _EXPLORATION
        memory = self.memory * 1e6
        search = Search(
            game.network,
            memory=int(memory * (1 - _PROBE_MEMORY) if probed else memory),
            seed=seed,
            exploration=exploration,
            each=self.each,
            max_steps=self.max_steps,
            regret=self.regret,
            amaf=amaf,
            reference=_REFERENCE if amaf else 0.0,
            widest=_AMAF_WIDEST if amaf else LANES,
            threads=(self.threads or min(SEARCH_THREADS, available_cores())) if self.playouts is None else 1,
            policy=policy,
        )
        search.move_to(search.expander.initial)
        search.round()  # so that a clock of 0 seconds has an answer
        return search

    def _learn_policy(
        self, expander: Expander, role: int, seed: int, deadline: float, *, judged: bool
    ) -> PlayoutPolicy:
        """Return the playout policy, after learning what it needs."""
        from herbrand.play.learning import learn_judge
        from herbrand.play.search.policy import UNIFORM, decisive_network, learn_mast_weights

        policy = UNIFORM
        if judged and self.decisive is not False:
            network = decisive_network(expander, anyway=self.decisive is True)
            if network is not None:
                policy = policy._replace(network=network)
        if self.mast:
            policy = policy._replace(weights=learn_mast_weights(expander, seed=seed))
        if self.cutoff is not None and judged:
            left = deadline - time.monotonic()
            until = time.monotonic() + max(1.0, min(_LEARNING_SECONDS, left - 0.5))
            learned = learn_judge(expander, role, seed=seed, deadline=until, threats=False)
            if learned.features:
                policy = policy._replace(cutoff=self.cutoff, judge=learned.judge, role=role)
        return policy

    def _build_probe(self, game: Game, role: int) -> Probe:
        from herbrand.play.search.probe import Probe

        return Probe(game.network, role, memory=int(_PROBE_MEMORY * self.memory * 1e6))

    # -- selecting a move -----------------------------------------------------------------

    @suspend_full_collections()
    def select(self, state: State, play_clock: float) -> Move:
        """Return the best move when the clock runs out, or earlier when it is proved."""
        started = time.monotonic()
        deadline = started + play_clock - CLOCK_MARGIN
        match, moves = self._match, self.options(state)
        match.report = None
        if len(moves) == 1:
            if self._ponders and play_clock > 2 * JOIN_TIMEOUT:
                search = self._search_at(match, state, join_seconds(play_clock))
                if search is not None and not self.stopped:
                    self._ponder_in_background(match, search, play_clock)
            return moves[0]
        waiting = match.search is None
        search = self._search_at(match, state, join_seconds(deadline - started))
        if search is None:
            move = self._select_by_rules(match, state, moves, started, deadline, waiting=waiting)
            if waiting and self.has_time(deadline):
                search = self._search_at(match, state, JOIN_TIMEOUT)
            if search is None:
                return move
        match.rules_search = None
        return self._select_by_search(match, search, moves, started, play_clock)

    def consider(self, state: State, seconds: float) -> Move:
        """Search in this thread for `seconds` of processor time; `HerbrandError` without a network."""
        match = self._match
        search = self._search_at(match, state, JOIN_TIMEOUT)
        if search is None:
            raise HerbrandError(f"no network of {self.game.name}")
        for stop in _stops(match, search):
            stop.clear()
        until = time.thread_time() + seconds

        def left() -> float:
            return until - time.thread_time()

        poll = self._poll_function(match, search, lambda: left() > 0, left, threads=1)
        search.run(poll, seconds=self._slice)
        return self._best_move(search, self.options(state))

    def _search_at(self, match: _MatchData, state: State, timeout: float) -> Search | None:
        """Return the search with the state as root; None if it is not built or cannot represent the state.

        Waits up to `timeout` seconds for threads that still ponder.
        """
        search = match.search
        if search is None or not self._team.stop_and_join(timeout):
            return None
        from herbrand.play.search.results import pack_state

        try:
            root = pack_state(search.expander, state)
        except HerbrandError:  # the network cannot represent the state
            return None
        for each in (search, match.probe, match.beam):
            if each is not None:
                each.move_to(root)
        return search

    def _select_by_search(
        self, match: _MatchData, search: Search, moves: list[Move], started: float, play_clock: float
    ) -> Move:
        deadline = started + play_clock - CLOCK_MARGIN
        before, bound = search.playouts, self.playouts

        def needs_playouts() -> bool:
            return bound is None or search.playouts - before < bound

        tasks = self._tasks(match, search, needs_playouts, lambda: deadline - time.monotonic())
        stop_time = deadline - (CLOCK_MARGIN if self._ponders else 0.0)
        ended = self._team.run_until(stop_time, tasks, _stops(match, search), self)
        if match.probe is not None and ended:
            match.probe.report_to(search)
        seconds = time.monotonic() - started
        played, role = search.playouts - before, self.role
        move = self._best_move(search, moves)
        if self._ponders and ended and not self.stopped:
            report = _make_report(search, role, seconds, played)
            match.report = lambda: report
            self._ponder_in_background(match, search, play_clock)
        else:
            match.report = lambda: _make_report(search, role, seconds, played)
        return move

    def _ponder_in_background(
        self, match: _MatchData, search: Search, clock: float, *, until: float | None = None
    ) -> None:
        """Grow the tree until the next `select`, `stop`, or the end of what a clock of `clock` allows.

        With `until`, also wait for it until then, unless the value is proved.
        """
        end = time.monotonic() + ponder_seconds(clock)

        def left() -> float:
            return end - time.monotonic()

        def keep_going() -> bool:
            return left() > 0 and self._match is match and not self.stopped

        tasks = self._tasks(match, search, keep_going, left)
        ended = self._team.start(tasks, _stops(match, search))
        if until is not None:
            self.wait_for(ended, until - CLOCK_MARGIN)

    def stop(self) -> None:
        """End the match and all threads."""
        super().stop()
        self._team.request_stop()
        self._match = _MatchData()

    def _tasks(
        self, match: _MatchData, search: Search, keep_going: Callable[[], bool], left: Callable[[], float]
    ) -> list[Callable[[], bool]]:
        """Return what each thread does to grow the tree, see `_poll_function`."""
        threads = len(search.workers)

        def grow(worker: int) -> bool:
            poll = self._poll_function(match, search, keep_going, left, threads=threads)
            search.run(poll, worker, seconds=self._slice)
            return True

        return [partial(grow, worker) for worker in range(threads)]

    def _poll_function(
        self,
        match: _MatchData,
        search: Search,
        keep_going: Callable[[], bool],
        left: Callable[[], float],
        *,
        threads: int,
    ) -> Callable[[], bool]:
        """Return the function that each thread calls between rounds to learn whether to continue.

        It also runs slices of the proof search and the beam search, each for its share of the time or, with a
        number of playouts, of the work, so that the result does not depend on the clock.  `left` returns the
        remaining seconds.
        """
        role = self.game.role_index(self.role)
        probe, beam = match.probe, match.beam
        began, before = time.thread_time(), search.playouts
        bound = self.playouts

        def poll() -> bool:
            if probe is not None:
                if probe.can_improve:
                    if bound is not None:
                        played = search.playouts - before
                        share = probe.time_share(bound - played)
                        is_due = (1 - share) * probe.engine.nodes < share * played
                    else:
                        share = probe.time_share(probe.rate * left())
                        is_due = probe.spent < share * threads * (time.thread_time() - began)
                    if is_due:
                        probe.run_slice()
                probe.report_to(search)
            if beam is not None and beam.can_improve:
                if beam.games <= search.playouts - before:
                    beam.run_step()
                beam.report_to(search)
            return keep_going() and not search.is_decided(role)

        return poll

    def _best_move(self, search: Search, moves: list[Move]) -> Move:
        """Return the best move at the root, or one drawn from the average strategy with `regret`."""
        from herbrand.play.search.results import draw_arm, ranked_arms

        role = self.game.role_index(self.role)
        by_text = {str(move).lower(): move for move in moves}
        planned = search.planned_move()
        if planned is not None and planned.lower() in by_text:
            return by_text[planned.lower()]
        if not search.is_open:
            return self.chance.choice(moves)
        if self.regret:
            arm = draw_arm(search, role, self.chance)
        else:
            arm = ranked_arms(search, search.root, role)[0]
        return by_text.get(search.move_text(int(search.tree.move[arm])).lower(), moves[0])

    def _select_by_rules(
        self,
        match: _MatchData,
        state: State,
        moves: list[Move],
        started: float,
        deadline: float,
        *,
        waiting: bool,
    ) -> Move:
        """Search by evaluating the rules; if `waiting`, until the search on the network is built."""
        from herbrand.play.search.rules_search import RulesSearch

        rules_search = match.rules_search
        if rules_search is None:
            exploration = _EXPLORATION if self.exploration is None else self.exploration
            rules_search = match.rules_search = RulesSearch(
                self.role, self.chance.getrandbits(32), exploration=exploration, memory=self.memory
            )
        if not self.has_time(deadline):
            return self.chance.choice(moves)
        rules_search.move_to(state)
        ended = threading.Event()
        before, bound = rules_search.playouts, self.playouts

        def keep_going() -> bool:
            return not ended.is_set() and (bound is None or rules_search.playouts - before < bound)

        def work() -> None:
            try:
                with suppress(HerbrandError):  # evaluation went over budget: the playouts so far decide
                    rules_search.run(keep_going)
            finally:
                ended.set()

        start_thread(work, ended.set)
        while not ended.is_set() and self.has_time(deadline) and not (waiting and match.search is not None):
            ended.wait(max(0.0, min(0.05, deadline - time.monotonic())))
        ended.set()
        best = rules_search.best()
        seconds, role = time.monotonic() - started, self.role
        reason = "the network is not ready yet" if self._is_building else "the game has no network"
        played = rules_search.playouts - before
        note = f"{played} playouts by evaluating the rules: {reason}"
        match.report = lambda: PlayerReport(
            "mcts", role, tuple(rules_search.reports()), seconds, played, len(rules_search.nodes), (note,)
        )
        return best if best is not None else self.chance.choice(moves)

    def report(self) -> PlayerReport | None:
        """Return statistics of the search for the last move; None if there was only one legal move."""
        make_report = self._match.report
        return None if make_report is None else make_report()


def _stops(match: _MatchData, search: Search) -> list[Stop]:
    """Return the flags that end the search threads."""
    return [search.stop] if match.probe is None else [search.stop, match.probe.engine.stop]


def _make_report(search: Search, role: str, seconds: float, playouts: int) -> PlayerReport:
    from herbrand.play.search.results import reports

    moves = reports(search, search.expander.roles.index(role))
    notes = [f"{playouts} playouts in {seconds:.2f} s"]
    plan = search.plan
    planned = search.planned_move()
    if plan is not None and planned is not None:
        value = 100 * plan.value
        notes.append(f"follows a plan to goal value {value:g}")
        moves.sort(key=lambda report: report.move != planned)
        if moves and (moves[0].value or 0.0) < value:  # playouts do not follow the plan
            proved = value if value >= 100 else None  # nothing is better
            moves[0] = replace(moves[0], mean=value, at_least=value, proved=proved)
    return PlayerReport(
        "mcts", role, tuple(moves), seconds, round(float(search.tree.games[search.root])), search.positions,
        tuple(notes),
    )  # fmt: skip

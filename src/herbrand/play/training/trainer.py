"""`Trainer`: rounds of self-play and fitting, compared with earlier selves."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from herbrand.errors import GameError
from herbrand.play.learning import learn_judge, sample_states
from herbrand.play.search.features import adds_up, takes_turns
from herbrand.play.threats import NO_GATES
from herbrand.play.training.fitting import Fitter
from herbrand.play.training.interface import Training
from herbrand.play.training.model import Optimizer, Parameters, ValueModel
from herbrand.play.training.selfplay import play_match, self_play
from herbrand.play.training.tables import find_tables
from herbrand.runtime.cluster import Runner, Task, values
from herbrand.runtime.cluster.tasks import ThisProcess
from herbrand.runtime.numbers import spaced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Executor, Future

    from herbrand.engine.expand import Expander
    from herbrand.game import Game
    from herbrand.play.learning import LearnedJudge
    from herbrand.play.training.selfplay import Lesson
    from herbrand.runtime.cluster import TaskResult

    Chooser: TypeAlias = Callable[[Game, Mapping[str, ValueModel], int, float], tuple[str, list[str]]]
    """Returns which of some models plays best, or `TREES`, and why, with a seed and in so many seconds."""

__all__ = ["PLAYS", "TREES", "Settings", "Snapshot", "Trainer", "chosen_model", "is_suitable"]

_SUCCESSORS: Final = 20_000
"""About as many successors are evaluated together."""
_FEWEST_GAMES, _MOST_GAMES = 16, 256
_ROUND: Final = 0.1
"""Share of the time that is left for the games of a task, where that is limited."""
_RATE, _LAST_RATE = 1e-3, 1e-4
"""Learning rates at the beginning and at the end."""
_MOST_FLUENTS: Final = 1024
_RANDOM_GAMES: Final = 0.3
"""Share of a limited time for learning values of roles without any from random games."""
_SAMPLE: Final = 128
"""Random games in which fluents have to vary to become inputs."""
_MATCHES: Final = 200
"""Games against an earlier self."""
_COMPARING: Final = 0.2
"""Share of the time for games against earlier selves, where that is limited."""
_BETTER: Final = 0.52
"""The score from which a self counts as better than the best before."""
_HIGHEST_SCORE: Final = 0.99
"""Scores are bounded by this before they become differences of ratings."""
_TABLES_FROM: Final = 0.2
"""Share of a training without tables."""
_FEWEST_BEFORE_TABLES: Final = 4096
"""Games without tables, at least."""
_CHOOSING: Final = 0.1
"""Share of a training for quick games that choose how `learned` plays."""
_CHOOSING_ALSO_AT: Final = 0.6
"""Share of a training after which they are played, too, half as long, for whoever ends it early."""
_CHOOSING_FROM: Final = 20.0
"""Seconds of training below which nothing is chosen."""
TREES: Final = "trees"
"""The choice of tree search without values."""
PLAYS: Final = {
    "best": "the values of self-play",
    "sums": "the values of self-play without tables",
    "first": "the values of random games",
    TREES: "tree search without values",
}
"""How a player can play by a training, in words."""
_NO_JUDGES: Final[Mapping[int, LearnedJudge]] = MappingProxyType({})
_OPENING: Final = 0.25
"""Share of a game, at most, in which moves are drawn at its beginning."""


def is_suitable(game: Game) -> bool:
    """Whether values can be learned by self-play: roles take turns, nothing is hidden or left to chance."""
    return not game.has_percepts and game.chance_role is None and takes_turns(game.expander)


def chosen_model(choice: str, best: ValueModel, earlier: Mapping[str, ValueModel]) -> ValueModel:
    """Return the model that plays by a choice: before there were quick games, the best one without tables."""
    return earlier.get(choice or "sums", best)


@dataclass(frozen=True, slots=True)
class Settings:
    """What determines a training, besides its length."""

    seed: int = 0
    batch: int = 2
    """Tasks of self-play in each round: with many workers, their number or a multiple."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The progress of a training at one time."""

    games: float
    states: float
    seconds: float
    """Wall-clock seconds of training."""
    score: float
    """Against the best self before, from 0 to 1."""
    elo: float
    """The rating of that best self plus the difference for this score; the model at
    the beginning has 0."""
    error: float
    """Root mean square of the errors of prediction, in goal points."""


class Trainer(Training):
    """Learns values of one game by self-play.

    While the games of a round are played, the states of the round before are fitted, so that the result does
    not depend on the number of workers.  First the values are sums of conditions, then, where the game has
    boards, with tables (`training.tables`).  Quick games at the end choose between these, the values of
    random games with which it began, and tree search without values.
    """

    unit = "game"

    def __init__(self, game: Game, settings: Settings, model: ValueModel) -> None:
        super().__init__(game)
        self.expander = game.expander
        self.settings = settings
        self.model = model
        """The moving average of the fitted parameters (Polyak and Juditsky 1992), for self-play."""
        self.fitted = model.copy()
        self.best = model.copy()
        """The model of the best snapshot."""
        self.earlier: dict[str, ValueModel] = {"first": model.copy()}
        """Models that may play better: of the beginning, and, once tables are learned, the best "sums"."""
        self.has_boards = True
        """Whether there may be tables."""
        self.chooser: Chooser | None = None
        """Plays quick games after a long training, see `choose_player`."""
        self.choice = ""
        """Which plays best in quick games: "best", one of the earlier models, or "trees", for tree search
        without values; empty as long as there were none."""
        self.quick_games: list[str] = []
        """Their results, in words."""
        self.optimizer = Optimizer(model)
        self.games = self.states = self.rounds = 0
        self.length = 20.0
        """The mean length of games, in steps."""
        self.snapshots: list[Snapshot] = []

    @property
    def done(self) -> int:
        """The number of games."""
        return self.games

    @classmethod
    def start(
        cls,
        game: Game,
        settings: Settings,
        judges: Mapping[int, LearnedJudge] = _NO_JUDGES,
        *,
        until: float = math.inf,
    ) -> Trainer:
        """Choose the inputs and return a training at its beginning; `GameError` if the game is unsuitable.

        It begins with the values of `judges`, by role; for roles without one, values are learned from random
        games, as far as that goes until a time on the monotonic clock.
        """
        if not is_suitable(game):
            raise GameError(
                f"values of `{game.name}` cannot be learned by self-play: they need perfect information, "
                "roles that take turns, and no chance"
            )
        expander = game.expander
        ended = expander.rollouts(expander.initial, seed=settings.seed, each=512, max_steps=400)
        model = _first_model(expander, settings.seed, judges, until, constant_sum=adds_up(ended))
        trainer = cls(game, settings, model)
        trainer.length = float(ended.lengths.mean())
        return trainer

    @property
    def result(self) -> ValueModel:
        """The model that plays."""
        return chosen_model(self.choice, self.best, self.earlier)

    def parameters(self) -> dict[str, Parameters]:
        """Return all that changes during training, by prefixes of names of arrays; "" is the best model."""
        return {
            "": self.best.parameters,
            "average_": self.model.parameters,
            "fitted_": self.fitted.parameters,
            "moments_": self.optimizer.moments,
            "squares_": self.optimizer.squares,
        }

    def run(
        self,
        *,
        seconds: float = math.inf,
        games: float = math.inf,
        executor: Executor | None = None,
        device: str | None = None,
        until: float = math.inf,
        snapshots: int = 20,
        listener: Callable[[Any, Any], None] | None = None,
    ) -> None:
        """Train until it has lasted `seconds`, or so many `games` were played, both in all.

        Games that are not over at `until`, on the monotonic clock of the machine, teach nothing.

        `listener` is called after every round, with the snapshot that was taken, if one was; there are about
        so many `snapshots` evenly over the training.  Self-play is by tasks for the `executor`, see
        `runtime.cluster`.  Fitting is on a `device` of PyTorch ("cuda", "cpu"), by NumPy without one.
        """
        runner = Runner(executor if executor is not None else ThisProcess())
        update_clock = self.start_clock()

        def share() -> float:
            update_clock()
            if self.seconds >= seconds or self.games >= games:  # also where no time is left at all
                return 1.0
            return max(self.seconds / seconds, self.games / games)

        is_long = math.isinf(until)
        if self.chooser is not None and not math.isinf(seconds):  # the rest is for quick games
            seconds -= _CHOOSING * max(0.0, seconds - self.seconds)
        if share() >= 1.0:
            return
        fitter = _make_fitter(device, self.model, self.expander)
        now = share()
        snapshots_taken = math.floor(now * snapshots)
        began, compared = time.monotonic(), 0.0
        most = _MOST_GAMES if is_long else _FEWEST_GAMES  # until it is known how long they take
        pending = self._send_round(runner, until, most)
        try:
            while pending:
                lessons: list[Lesson] = values([future.result() for future in pending])
                for lesson in lessons:
                    self.games += lesson.games
                    self.states += len(lesson.states)
                lengths = [lesson.steps for lesson in lessons if lesson.games]
                self.length = max(1.0, float(np.mean(lengths))) if lengths else self.length
                before, now = now, share()
                if not is_long:
                    most = _games_in_time(lessons, until - time.monotonic())
                pending = self._send_round(runner, until, most) if now < 1.0 else []
                if is_long and self._can_begin_tables(now):
                    self._begin_tables()
                    fitter = _make_fitter(device, self.model, self.expander)
                for lesson in lessons:
                    fitter.add(lesson)
                error = fitter.fit(
                    self.fitted, self.model, self.optimizer,
                    rate=_RATE + (_LAST_RATE - _RATE) * now, seed=self.settings.seed,
                )  # fmt: skip
                snapshot = None
                has_time = compared <= _COMPARING * (time.monotonic() - began) or is_long
                if math.floor(now * snapshots) > snapshots_taken and (has_time or now >= 1.0):
                    snapshots_taken = math.floor(now * snapshots)
                    compared -= time.monotonic()
                    snapshot = self._take_snapshot(error)
                    compared += time.monotonic()
                update_clock()
                if is_long and before < _CHOOSING_ALSO_AT <= now < 1.0:
                    self._choose(_CHOOSING / 2 * self.seconds)
                if listener is not None:
                    listener(self, snapshot)
        finally:
            for future in pending:
                future.cancel()
        if is_long:
            self._choose(_CHOOSING * self.seconds)
            update_clock()

    def _can_begin_tables(self, share: float) -> bool:
        """Whether, after a share of the training, sums have been learned long enough."""
        is_time = _TABLES_FROM <= share < 1.0 and self.games >= _FEWEST_BEFORE_TABLES
        return is_time and self.has_boards and "sums" not in self.earlier and self.model.constant_sum

    def _begin_tables(self) -> None:
        """Go on with tables from the best sums."""
        states = sample_states(self.expander, np.random.default_rng([self.settings.seed, 4]), games=_SAMPLE)
        tables = find_tables(self.game, self.expander.bits(states).mean(axis=0))
        self.has_boards = len(tables.literals) > 0
        if not self.has_boards:
            return
        self.earlier["sums"] = self.best
        if self.choice == "best":
            self.choice = "sums"  # that is what was chosen
        self.model = self.best.with_tables(tables)
        self.fitted, self.best, self.optimizer = self.model.copy(), self.model.copy(), Optimizer(self.model)

    def _choose(self, seconds: float) -> None:
        """Let quick games decide how `learned` plays, in so many seconds."""
        if self.chooser is not None and self.seconds >= _CHOOSING_FROM and self.model.constant_sum:
            models = {"best": self.best, **dict(reversed(self.earlier.items()))}
            self.choice, self.quick_games = self.chooser(self.game, models, self.settings.seed, seconds)

    def _send_round(self, runner: Runner, until: float, most: int) -> list[Future[TaskResult]]:
        """Send the tasks of a round of self-play, of `most` games each at most."""
        self.rounds += 1
        model, opening = self.model.copy(), self._opening
        futures = []
        for part in range(self.settings.batch):
            seed = (self.settings.seed, 1, self.rounds, part)
            arguments = (self.game, model, seed, opening, most, until)
            futures.append(runner.submit(Task(f"train-{self.rounds:06}-{part:03}", play_part, arguments)))
        return futures

    @property
    def _opening(self) -> int:
        """The most moves drawn at the beginning of a game."""
        return max(1, int(_OPENING * self.length))

    @property
    def elo(self) -> float:
        """The rating of the best model, as in `Snapshot.elo`."""
        return next((s.elo for s in reversed(self.snapshots) if s.score >= _BETTER), 0.0)

    def _take_snapshot(self, error: float) -> Snapshot:
        """Play against the best self before, and take its place if the score is better."""
        generator = np.random.default_rng([self.settings.seed, 3, self.games])
        score = play_match(
            self.expander,
            (self.model.valuers(self.expander), self.best.valuers(self.expander)),
            generator, games=_MATCHES, constant_sum=self.model.constant_sum, openings=self._opening,
        )  # fmt: skip
        bounded = min(max(score, 1 - _HIGHEST_SCORE), _HIGHEST_SCORE)
        elo = self.elo + 400 * math.log10(bounded / (1 - bounded))
        self.snapshots.append(Snapshot(self.games, self.states, self.seconds, score, elo, error))
        if score >= _BETTER:
            self.best = self.model.copy()
        return self.snapshots[-1]

    def progress(self) -> str:
        """Return games and rating in a few words."""
        return f"{spaced(self.games)} games, Elo {self.elo:+.0f}"

    def describe(self, snapshot: Snapshot) -> str:
        """Return a snapshot as a line of text."""
        return (
            f"{snapshot.seconds:6.0f} s  {spaced(snapshot.games):>9} games  error {snapshot.error:4.1f}  "
            f"{snapshot.score:4.0%} against the best before  Elo {snapshot.elo:+5.0f}"
        )

    def summary(self) -> list[tuple[str, str]]:
        """Return the results as names and values."""
        return [
            ("games", spaced(self.games)),
            ("positions", spaced(self.states)),
            ("minutes", f"{self.seconds / 60:.1f}"),
            ("conditions of the rules", str(len(self.model.literals))),
            *([("tables", str(len(self.model.tables.literals)))] if "sums" in self.earlier else []),
            *([("Elo above the beginning", f"{self.elo:.0f}")] if self.snapshots else []),
            *([("quick games", "; ".join(self.quick_games))] if self.quick_games else []),
            *([("plays by", PLAYS[self.choice])] if self.choice else []),
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the results as JSON-ready data."""
        return {
            "games": self.games,
            "states": self.states,
            "inputs": len(self.model.literals),
            "tables": len(self.model.tables.literals),
            "choice": self.choice,
            "quick_games": self.quick_games,
            "snapshots": [asdict(snapshot) for snapshot in self.snapshots],
        }

    def chart(self) -> tuple[str, float, list[tuple[float, float]]]:
        """Return the ratings of the snapshots; the first model has 0."""
        title = f"{self.game.name}: Elo above the values at the beginning"
        return title, 50.0, [(0.0, 0.0), *((one.seconds, one.elo) for one in self.snapshots)]


def _make_fitter(device: str | None, model: ValueModel, expander: Expander) -> Fitter:
    """Return the fitter of a model, on a device of PyTorch or, without one, by NumPy.

    Raises `MissingExtra` without PyTorch, `HerbrandError` for a device that is not there.
    """
    if device is None:
        return Fitter(model, expander)
    from herbrand.play.training.device import DeviceFitter

    return DeviceFitter(device, model, expander)


def play_part(
    game: Game, model: ValueModel, seed: tuple[int, ...], opening: int, most: int, until: float = math.inf
) -> Lesson:
    """Play the games of one task of a round, in a worker."""
    expander = game.expander
    width = max(1, int(expander.legal(expander.initial).joint_counts()[0]))
    games = min(most, max(_FEWEST_GAMES, _SUCCESSORS // width))
    return self_play(
        expander, model.valuers(expander), np.random.default_rng(seed), games=games,
        constant_sum=model.constant_sum, openings=opening, until=until,
    )  # fmt: skip


def _games_in_time(lessons: list[Lesson], seconds: float) -> int:
    """Return how many games of a task take a share of so many seconds, by how long the last ones took."""
    played = sum(lesson.games for lesson in lessons)
    pace = sum(lesson.seconds for lesson in lessons) / max(1, played)
    return min(_MOST_GAMES, max(_FEWEST_GAMES, int(_ROUND * seconds / max(pace, 1e-9))))


def _first_model(
    expander: Expander, seed: int, judges: Mapping[int, LearnedJudge], until: float, *, constant_sum: bool
) -> ValueModel:
    """Return the model to begin with: the values of `judges`, or those that random games teach.

    Its inputs are fluents that vary, and those gates and threats that explain the results of random games
    best.
    """
    roles = len(expander.roles)
    states = sample_states(expander, np.random.default_rng([seed, 0]), until, games=_SAMPLE)
    shares = expander.bits(states).mean(axis=0) if len(states) else np.zeros(expander.fluents)
    spread = shares * (1 - shares)
    fluents = np.argsort(-spread, kind="stable")[:_MOST_FLUENTS]
    literals_of_fluents = 2 * (1 + fluents[spread[fluents] > 0])
    learned_judges = dict(judges)
    gates = max((each.gates for each in learned_judges.values()), key=len, default=NO_GATES)
    now = time.monotonic()
    until = now + _RANDOM_GAMES * (until - now)
    for role in range(roles):
        if role in learned_judges or (constant_sum and (role or learned_judges)):
            continue  # with a constant sum one is enough
        learned = learn_judge(expander, role, seed=seed, deadline=until, novelty=False)
        shared = min(len(gates), len(learned.gates))
        if not np.array_equal(gates[:shared], learned.gates[:shared]):  # from states that tell other threats
            learned = learn_judge(expander, role, seed=seed, deadline=until, novelty=False, threats=False)
        learned_judges[role] = learned
        gates = max(gates, learned.gates, key=len)
    literals_of_judges = [each.judge.literals for each in learned_judges.values()]
    literals = np.unique(np.concatenate([literals_of_fluents, *literals_of_judges]))
    model = ValueModel.untrained(literals.astype(np.int32), roles, constant_sum=constant_sum, gates=gates)
    for role, learned in learned_judges.items():
        model.set_judge(role, learned.judge)
    return model

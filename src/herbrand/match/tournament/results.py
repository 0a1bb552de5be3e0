"""Scores, standings and ratings from matches."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from herbrand.match.tournament.plan import ladder_order
from herbrand.match.tournament.ratings import rate, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from herbrand.match.tournament.plan import Encounter, TournamentPlan

__all__ = ["Leg", "Meeting", "ReplacedMoves", "Results", "summarise"]

_REASONS: Final = {
    "illegal": "illegal",
    "unreadable": "illegal",
    "timeout": "late",
    "ignored": "late",
    "connection": "crashed",
    "unsigned": "crashed",
    "failed": "crashed",
}
"""For each kind of problem, the count of `ReplacedMoves` in which it is included."""


@dataclass(frozen=True, slots=True)
class ReplacedMoves:
    """The number of replaced moves, by the problem with the player's answers."""

    illegal: int = 0
    """Not legal, or unreadable."""
    late: int = 0
    """Not there in time, or no longer asked for."""
    crashed: int = 0
    """Not there because the player failed or could not be reached, or another one answered in its place."""

    @classmethod
    def count(cls, kinds: Mapping[str, int]) -> ReplacedMoves:
        """Return the sums of numbers by kind of problem."""
        sums = Counter[str]()
        for kind, number in kinds.items():
            sums[_REASONS.get(kind, "crashed")] += number
        return cls(**sums)

    def __add__(self, other: ReplacedMoves) -> ReplacedMoves:
        return ReplacedMoves(
            self.illegal + other.illegal, self.late + other.late, self.crashed + other.crashed
        )

    @property
    def total(self) -> int:
        """All of them."""
        return self.illegal + self.late + self.crashed

    def __str__(self) -> str:
        parts = [f"{number} {reason}" for reason, number in asdict(self).items() if number]
        return f"{self.total} ({', '.join(parts)})" if len(parts) > 1 else (parts or ["0"])[0]


@dataclass(frozen=True, slots=True)
class Leg:
    """One match of an encounter."""

    match: str
    seats: tuple[str, ...]
    """The players of the roles that choose."""
    goals: tuple[int | None, ...] | None
    """Of these roles; None before the match is played, or if it was not completed."""
    reason: str | None
    """How it ended; None before its end."""
    steps: int = 0
    replaced: tuple[ReplacedMoves, ...] = ()
    """In the order of `seats`."""
    forfeit: str | None = None
    """The player that forfeited."""

    @property
    def is_over(self) -> bool:
        """Whether the match has ended."""
        return self.reason is not None

    def goal(self, player: str) -> float | None:
        """Return the mean goal value of a player's roles."""
        if self.goals is None:
            return None
        own = [goal for goal, name in zip(self.goals, self.seats, strict=True) if name == player]
        defined = [goal for goal in own if goal is not None]
        return sum(defined) / len(defined) if defined and len(defined) == len(own) else None


@dataclass(frozen=True, slots=True)
class Meeting:
    """An encounter with its matches."""

    encounter: Encounter
    legs: tuple[Leg, ...]

    @property
    def is_over(self) -> bool:
        """Whether all matches have been played."""
        return all(leg.is_over for leg in self.legs)

    def results(self) -> list[float]:
        """Return the scores of the first player: one for each match, or one for both in games with one role.

        Scores compare goal values; a player that forfeits loses.  Matches without a result do not count.
        """
        if len(self.encounter.players) < 2:
            return []
        one, two = self.encounter.players
        if len(self.legs[0].seats) == 1:
            first, second = (
                leg.goal(name) if leg.forfeit is None else -1  # less than any goal value
                for leg, name in zip(self.legs, (one, two), strict=True)
            )
            return [] if first is None or second is None else [_score(first, second)]
        scores = []
        for leg in self.legs:
            if leg.forfeit is not None:
                scores.append(0.0 if leg.forfeit == one else 1.0)
                continue
            goal, other = leg.goal(one), leg.goal(two)
            if goal is not None and other is not None:
                scores.append(_score(goal, other))
        return scores

    def shares(self) -> dict[str, float]:
        """Return each player's share of the points; empty without a result."""
        scores = self.results()
        if not scores:
            return {}
        one, two = self.encounter.players
        share = sum(scores) / len(scores)
        return {one: share, two: 1 - share}


def _score(goal: float, other: float) -> float:
    return 0.5 if goal == other else float(goal > other)


_SCORE_HEADER: Final = ("wins", "draws", "losses", "points", "of", "95 % interval", "mean goal", "replaced")


def _score_cells(row: Mapping[str, Any]) -> list[str]:
    """Return the cells of `_SCORE_HEADER`; the interval is that of a point's share, from 0 to 1."""
    interval = row["interval"]
    return [
        *(str(row[key]) for key in ("wins", "draws", "losses")),
        f"{row['score']:g}",
        str(row["games"]),
        "" if interval is None else f"{interval[0]:.2f} – {interval[1]:.2f}",
        f"{row['goals']:.1f}",
        str(ReplacedMoves(**row["replaced"])),
    ]


class _Tally:
    """The results of one player, in one game or in all."""

    def __init__(self) -> None:
        self.scores: list[float] = []
        self.goals: list[float] = []
        self.replaced = ReplacedMoves()

    def as_row(self) -> dict[str, Any]:
        """Return the numbers that `Results.by_game` has."""
        score, games = sum(self.scores), len(self.scores)
        interval = [round(bound, 4) for bound in wilson_interval(score / games, games)] if games else None
        return {
            "wins": sum(own > 0.5 for own in self.scores),
            "draws": self.scores.count(0.5),
            "losses": sum(own < 0.5 for own in self.scores),
            "score": score,
            "games": games,
            "interval": interval,
            "goals": round(sum(self.goals) / len(self.goals), 2) if self.goals else 0.0,
            "replaced": asdict(self.replaced),
        }


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a tournament."""

    name: str
    kind: str
    rounds: int
    players: tuple[str, ...]
    games: tuple[str, ...]
    matches: int
    played: int
    table: list[dict[str, Any]]
    """A row for each player, the highest rating first: `player`, `elo`, `margin` (half the 95 % interval),
    `wins`, `draws`, `losses`, `score`, `games` (scored matches), `interval` (the 95 % interval of `score` /
    `games` by Wilson; None without games), `goals` (the mean), `byes`, `forfeits`, and `replaced`: how many
    of its moves were `illegal`, `late` or `crashed`."""
    head_to_head: dict[str, dict[str, dict[str, float]]]
    """By player and opponent: `score` and `games`."""
    by_game: dict[str, dict[str, dict[str, Any]]]
    """By game and player: `wins`, `draws`, `losses`, `score`, `games`, `interval`, `goals` and `replaced`, as
    in `table`."""
    progress: list[dict[str, float]]
    """The points of each player after each encounter."""
    ladder: list[str] | None
    """The players in the order of the ladder, the highest first; None for other kinds."""
    unsettled: list[dict[str, str]]
    """Matches without a result: `match`, `game`, `reason`."""

    def standings(self) -> tuple[list[str], list[list[str]]]:
        """Return the table for display: column headings, and a row of strings for each player."""
        rows = [
            [row["player"], f"{row['elo']:.0f}", f"{row['margin']:.0f}", *_score_cells(row)]
            for row in self.table
        ]
        return ["player", "Elo", "±", *_SCORE_HEADER], rows

    def game_standings(self) -> tuple[list[str], list[list[str]]]:
        """Return the scores by game for display, as `standings`, the players in the same order."""
        names = [row["player"] for row in self.table]
        rows = [
            [game, name, *_score_cells(scores[name])]
            for game, scores in self.by_game.items()
            for name in names
            if name in scores
        ]
        return ["game", "player", *_SCORE_HEADER], rows

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return asdict(self)


def summarise(plan: TournamentPlan, meetings: Sequence[Meeting]) -> Results:
    """Compute standings and ratings."""
    names = list(plan.players)
    absences = {name: {"byes": 0, "forfeits": 0} for name in names}
    total = {name: _Tally() for name in names}
    head: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in names}
    games: dict[str, dict[str, _Tally]] = {game: defaultdict(_Tally) for game in plan.games}
    results: list[tuple[str, str, float]] = []
    progress: list[dict[str, float]] = []
    points = dict.fromkeys(names, 0.0)
    unsettled = []
    for meeting in meetings:
        game = meeting.encounter.game
        if len(meeting.encounter.players) == 1:
            absences[meeting.encounter.players[0]]["byes"] += 1
            continue
        one, two = meeting.encounter.players
        for leg in meeting.legs:
            for name, moves in zip(leg.seats, leg.replaced, strict=False):
                for tally in (total[name], games[game][name]):
                    tally.replaced += moves
            if leg.forfeit is not None:
                absences[leg.forfeit]["forfeits"] += 1
            for name in dict.fromkeys(leg.seats):
                value = leg.goal(name)
                if value is not None:
                    for tally in (total[name], games[game][name]):
                        tally.goals.append(value)
            if leg.is_over and leg.goals is None and leg.forfeit is None:
                unsettled.append({"match": leg.match, "game": game, "reason": str(leg.reason)})
        for score in meeting.results():
            results.append((one, two, score))
            for name, other, own in ((one, two, score), (two, one, 1 - score)):
                for tally in (total[name], games[game][name]):
                    tally.scores.append(own)
                head[name][other].append(own)
                points[name] += own
        if meeting.is_over:
            progress.append(dict(points))
    legs = [leg for meeting in meetings for leg in meeting.legs]
    past = [(meeting.encounter, meeting.shares()) for meeting in meetings]
    ladder = ladder_order(plan, past) if plan.kind == "ladder" else None
    table = [
        {
            "player": rating.player,
            "elo": round(rating.elo, 1),
            "margin": round(rating.margin, 1),
            **total[rating.player].as_row(),
            **absences[rating.player],
        }
        for rating in rate(names, results)
    ]
    return Results(
        plan.name,
        plan.kind,
        plan.rounds,
        tuple(names),
        tuple(plan.games),
        len(legs),
        sum(1 for leg in legs if leg.is_over),
        table,
        {
            one: {two: {"score": sum(scores), "games": len(scores)} for two, scores in row.items()}
            for one, row in head.items()
        },
        {
            game: {name: tallies[name].as_row() for name in names if name in tallies}
            for game, tallies in games.items()
        },
        progress,
        ladder,
        unsettled,
    )

"""Tournament plans and pairings.

- *Round robin*: in each round all players meet each other in every game.
- *Swiss*: in each round players with similar scores meet, without rematches if possible; the games take
  turns. With an odd number of players one has a bye, which counts as a win; none has two before all have had
  one.
- *Ladder*: players start in the given order, and neighbours meet (first and second, third and fourth, then
  second and third, and so on); a lower player who wins changes places with the loser.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeAlias

from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Past: TypeAlias = Sequence[tuple["Encounter", Mapping[str, float]]]
    """Encounters with their scores, each a player's share of the points from 0 to 1."""

__all__ = ["KINDS", "Encounter", "TournamentError", "TournamentPlan", "draw_seed", "encounters"]

KINDS: Final = ("round-robin", "swiss", "ladder")
_MAX_TRIES: Final = 20_000
"""Pairs tried in the search for a round without rematches."""


class TournamentError(HerbrandError, ValueError):
    """A tournament plan or tournament database is invalid."""


@dataclass(frozen=True, slots=True)
class TournamentPlan:
    """The settings that determine a tournament."""

    name: str
    games: Mapping[str, str]
    """The rules of each game, as sent to players."""
    players: Mapping[str, str]
    """By name: a player of `herbrand players`, `process:NAME`, or HOST:PORT, with a slash if it has the token
    in HERBRAND_TOKEN, and with #KEY if its replies are signed with this public key."""
    kind: str = "round-robin"
    rounds: int = 1
    opening: int = 0
    """Number of random joint moves that begin each match."""
    seed: int = 0
    start_clock: int = 5
    play_clock: int = 1
    substitute: str = "random"
    forfeit_after: int | None = None
    """How many moves of a player are replaced before it loses the match; None for no limit."""
    max_steps: int = 10_000
    scramble: bool = False
    """Whether the names in the rules are scrambled for players, differently in each encounter."""
    roles: Mapping[str, int] = field(default_factory=dict)
    """Number of roles of each game that choose."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise TournamentError(f"unknown kind of tournament `{self.kind}` (one of {', '.join(KINDS)})")
        if len(self.players) < 2:
            raise TournamentError("a tournament needs at least two players")
        if not self.games:
            raise TournamentError("a tournament needs at least one game")
        if self.rounds < 1 or self.opening < 0:
            raise TournamentError("rounds must be at least 1, and opening must not be negative")


@dataclass(frozen=True, slots=True)
class Encounter:
    """Two players and a game; a bye has one player and no matches."""

    round: int
    number: int
    """In its round, from 0."""
    game: str
    players: tuple[str, ...]
    """Two names, or one with a bye."""

    def legs(self, roles: int) -> list[tuple[str, ...]]:
        """Return the player of each role for each match of the encounter.

        With more than two roles the players alternate; a game with one role is played once by each.
        """
        if len(self.players) < 2:
            return []
        one, two = self.players
        if roles == 1:
            return [(one,), (two,)]
        pairs = ((one, two), (two, one))
        return [tuple(pair[place % 2] for place in range(roles)) for pair in pairs]


def draw_seed(*parts: object) -> int:
    """Return a seed of 63 bits derived from the parts.

    >>> draw_seed(1, "ticTacToe") == draw_seed(1, "ticTacToe") != draw_seed(2, "ticTacToe")
    True
    """
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def encounters(plan: TournamentPlan, number: int, past: Past) -> list[Encounter]:
    """Return the encounters of a round (from 1), given the previous ones with their scores."""
    if plan.kind == "round-robin":
        pairs: list[tuple[str, tuple[str, ...]]] = [
            (game, pair) for game in plan.games for pair in combinations(plan.players, 2)
        ]
    else:
        game = list(plan.games)[(number - 1) % len(plan.games)]
        couples = _swiss(plan, past) if plan.kind == "swiss" else _neighbours(plan, number, past)
        pairs = [(game, couple) for couple in couples]
    return [Encounter(number, at, game, pair) for at, (game, pair) in enumerate(pairs)]


def _swiss(plan: TournamentPlan, past: Past) -> list[tuple[str, ...]]:
    names = list(plan.players)
    score = dict.fromkeys(names, 0.0)
    byes = dict.fromkeys(names, 0)
    meetings: dict[frozenset[str], int] = {}
    for encounter, scores in past:
        if len(encounter.players) == 1:
            score[encounter.players[0]] += 1.0
            byes[encounter.players[0]] += 1
            continue
        meetings[frozenset(encounter.players)] = meetings.get(frozenset(encounter.players), 0) + 1
        for name, share in scores.items():
            score[name] += share
    order = sorted(names, key=lambda name: (-score[name], names.index(name)))
    if len(order) % 2 == 0:
        return [*(_pairs(order, meetings) or _nearest(order, meetings))]
    by_bye = sorted(order, key=lambda name: (byes[name], score[name], -order.index(name)))
    eligible = [name for name in by_bye if byes[name] == byes[by_bye[0]]]
    for resting in eligible:  # the lowest player has the bye, unless that forces a rematch
        pairs = _pairs([name for name in order if name != resting], meetings)
        if pairs is not None:
            return [*pairs, (resting,)]
    return [*_nearest([name for name in order if name != eligible[0]], meetings), (eligible[0],)]


def _pairs(order: Sequence[str], meetings: Mapping[frozenset[str], int]) -> list[tuple[str, ...]] | None:
    """Pair close neighbours without rematches; None if the search finds no such pairing."""
    tries = _MAX_TRIES

    def pair(rest: tuple[str, ...]) -> list[tuple[str, ...]] | None:
        nonlocal tries
        if not rest:
            return []
        for at in range(1, len(rest)):
            tries -= 1
            if tries < 0:
                return None
            if frozenset((rest[0], rest[at])) not in meetings:
                others = pair(rest[1:at] + rest[at + 1 :])
                if others is not None:
                    return [(rest[0], rest[at]), *others]
        return None

    return pair(tuple(order))


def _nearest(order: Sequence[str], meetings: Mapping[frozenset[str], int]) -> list[tuple[str, ...]]:
    """Pair each player with the next one that it has meetings least often."""
    rest = list(order)
    pairs: list[tuple[str, ...]] = []
    while rest:
        first = rest.pop(0)
        other = min(rest, key=lambda name: (meetings.get(frozenset((first, name)), 0), rest.index(name)))
        rest.remove(other)
        pairs.append((first, other))
    return pairs


def _neighbours(plan: TournamentPlan, number: int, past: Past) -> list[tuple[str, ...]]:
    order = ladder_order(plan, past)
    return [(order[at], order[at + 1]) for at in range((number - 1) % 2, len(order) - 1, 2)]


def ladder_order(plan: TournamentPlan, past: Past) -> list[str]:
    """Return the players in the order of the ladder, the highest first."""
    order = list(plan.players)
    for encounter, scores in past:
        higher, lower = encounter.players
        if scores.get(lower, 0.0) > scores.get(higher, 0.0):
            at, below = order.index(higher), order.index(lower)
            order[at], order[below] = lower, higher
    return order

"""What is to be played, and who meets whom.

- *Round robin*: in each round everybody meets everybody in every game.
- *Swiss*: in each round players with about the same score meet, if possible such as have not met; the games
  take turns.  With an odd number one has a bye, which counts as a win; nobody has two before all had one.
- *Ladder*: in the order in which players were given, neighbours meet (first with second, third with
  fourth, then second with third, and so on); who wins stands higher afterwards.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Final

from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["KINDS", "Encounter", "TournamentError", "TournamentPlan", "draw_seed", "encounters"]

KINDS: Final = ("round-robin", "swiss", "ladder")


_TRIES: Final = 20_000
"""Pairs that are tried for a round in which nobody meets again."""


class TournamentError(HerbrandError, ValueError):
    """A tournament cannot be held as asked; the message says why."""


@dataclass(frozen=True, slots=True)
class TournamentPlan:
    """All that decides a tournament."""

    name: str
    games: Mapping[str, str]
    """The rules of each game, as they are sent to players."""
    players: Mapping[str, str]
    """Who plays under each name: a player of `herbrand players`, `process:NAME`, or HOST:PORT."""
    kind: str = "round-robin"
    rounds: int = 1
    opening: int = 0
    """So many random joint moves begin each match."""
    seed: int = 0
    start_clock: int = 5
    play_clock: int = 1
    substitute: str = "random"
    max_steps: int = 10_000
    scramble: bool = False
    """Whether players are told the games under other names, which differ from encounter to encounter."""
    roles: Mapping[str, int] = field(default_factory=dict)
    """How many roles of each game choose."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise TournamentError(f"no kind of tournament `{self.kind}` (there are {', '.join(KINDS)})")
        if len(self.players) < 2:
            raise TournamentError("a tournament is between two players at least")
        if not self.games:
            raise TournamentError("a tournament is about one game at least")
        if self.rounds < 1 or self.opening < 0:
            raise TournamentError("there is one round at least, and an opening is not shorter than nothing")


@dataclass(frozen=True, slots=True)
class Encounter:
    """Two players and a game; in a bye there is no second player and nothing is played."""

    round: int
    number: int
    """In its round, from 0."""
    game: str
    players: tuple[str, ...]
    """Two names, or one with a bye."""

    def legs(self, roles: int) -> list[tuple[str, ...]]:
        """Return for each match of it who sits where.

        With more than two roles the two take turns around the table; a game of one role is played by each
        alone.
        """
        if len(self.players) < 2:
            return []
        one, two = self.players
        if roles == 1:
            return [(one,), (two,)]
        pairs = ((one, two), (two, one))
        return [tuple(pair[place % 2] for place in range(roles)) for pair in pairs]


def draw_seed(*parts: object) -> int:
    """Return a seed of 63 bits that the parts decide.

    >>> draw_seed(1, "ticTacToe") == draw_seed(1, "ticTacToe") != draw_seed(2, "ticTacToe")
    True
    """
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def encounters(
    plan: TournamentPlan, number: int, past: Sequence[tuple[Encounter, Mapping[str, float]]]
) -> list[Encounter]:
    """Return the encounters of a round (from 1), given those of the rounds before and their scores.

    A score is the share of the points of the encounter, 1 for a player that won everything.
    """
    if plan.kind == "round-robin":
        pairs: list[tuple[str, tuple[str, ...]]] = [
            (game, pair) for game in plan.games for pair in combinations(plan.players, 2)
        ]
    else:
        game = list(plan.games)[(number - 1) % len(plan.games)]
        couples = _swiss(plan, past) if plan.kind == "swiss" else _neighbours(plan, number, past)
        pairs = [(game, couple) for couple in couples]
    return [Encounter(number, at, game, pair) for at, (game, pair) in enumerate(pairs)]


def _swiss(
    plan: TournamentPlan, past: Sequence[tuple[Encounter, Mapping[str, float]]]
) -> list[tuple[str, ...]]:
    names = list(plan.players)
    score = dict.fromkeys(names, 0.0)
    byes = dict.fromkeys(names, 0)
    met: dict[frozenset[str], int] = {}
    for encounter, scores in past:
        if len(encounter.players) == 1:
            score[encounter.players[0]] += 1.0
            byes[encounter.players[0]] += 1
            continue
        met[frozenset(encounter.players)] = met.get(frozenset(encounter.players), 0) + 1
        for name, share in scores.items():
            score[name] += share
    order = sorted(names, key=lambda name: (-score[name], names.index(name)))
    if len(order) % 2 == 0:
        return [*(_pairs(order, met) or _nearest(order, met))]
    outs = sorted(order, key=lambda name: (byes[name], score[name], -order.index(name)))
    fair = [name for name in outs if byes[name] == byes[outs[0]]]
    for out in fair:  # the lowest, unless somebody would have to be met again
        found = _pairs([name for name in order if name != out], met)
        if found is not None:
            return [*found, (out,)]
    return [*_nearest([name for name in order if name != fair[0]], met), (fair[0],)]


def _pairs(order: Sequence[str], met: Mapping[frozenset[str], int]) -> list[tuple[str, ...]] | None:
    """Pair neighbours as far as nobody meets again; None where that is not possible, or not found."""
    tries = _TRIES

    def pair(rest: tuple[str, ...]) -> list[tuple[str, ...]] | None:
        nonlocal tries
        if not rest:
            return []
        for at in range(1, len(rest)):
            tries -= 1
            if tries < 0:
                return None
            if frozenset((rest[0], rest[at])) not in met:
                found = pair(rest[1:at] + rest[at + 1 :])
                if found is not None:
                    return [(rest[0], rest[at]), *found]
        return None

    return pair(tuple(order))


def _nearest(order: Sequence[str], met: Mapping[frozenset[str], int]) -> list[tuple[str, ...]]:
    """Pair each with the next that it has met least."""
    rest = list(order)
    found: list[tuple[str, ...]] = []
    while rest:
        first = rest.pop(0)
        other = min(rest, key=lambda name: (met.get(frozenset((first, name)), 0), rest.index(name)))
        rest.remove(other)
        found.append((first, other))
    return found


def _neighbours(
    plan: TournamentPlan, number: int, past: Sequence[tuple[Encounter, Mapping[str, float]]]
) -> list[tuple[str, ...]]:
    order = ladder_order(plan, past)
    return [(order[at], order[at + 1]) for at in range((number - 1) % 2, len(order) - 1, 2)]


def ladder_order(plan: TournamentPlan, past: Sequence[tuple[Encounter, Mapping[str, float]]]) -> list[str]:
    """Return who stands where on the ladder, the highest first."""
    order = list(plan.players)
    for encounter, scores in past:
        higher, lower = encounter.players
        if scores.get(lower, 0.0) > scores.get(higher, 0.0):
            at, below = order.index(higher), order.index(lower)
            order[at], order[below] = lower, higher
    return order

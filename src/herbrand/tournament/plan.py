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

__all__ = ["KINDS", "Encounter", "Plan", "TournamentError", "draw_seed", "encounters"]

KINDS: Final = ("round-robin", "swiss", "ladder")


class TournamentError(HerbrandError, ValueError):
    """A tournament cannot be held as asked; the message says why."""


@dataclass(frozen=True, slots=True)
class Plan:
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
    plan: Plan, number: int, past: Sequence[tuple[Encounter, Mapping[str, float]]]
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


def _swiss(plan: Plan, past: Sequence[tuple[Encounter, Mapping[str, float]]]) -> list[tuple[str, ...]]:
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
    rest = sorted(names, key=lambda name: (-score[name], names.index(name)))
    found: list[tuple[str, ...]] = []
    last: tuple[str, ...] | None = None
    if len(rest) % 2:
        out = min(reversed(rest), key=lambda name: (byes[name], score[name]))
        rest.remove(out)
        last = (out,)
    while rest:
        first = rest.pop(0)
        place = {name: at for at, name in enumerate(rest)}
        other = min(rest, key=lambda name: (met.get(frozenset((first, name)), 0), place[name]))
        rest.remove(other)
        found.append((first, other))
    return [*found, last] if last else found


def _neighbours(
    plan: Plan, number: int, past: Sequence[tuple[Encounter, Mapping[str, float]]]
) -> list[tuple[str, ...]]:
    order = ladder_order(plan, past)
    return [(order[at], order[at + 1]) for at in range((number - 1) % 2, len(order) - 1, 2)]


def ladder_order(plan: Plan, past: Sequence[tuple[Encounter, Mapping[str, float]]]) -> list[str]:
    """Return who stands where on the ladder, the highest first."""
    order = list(plan.players)
    for encounter, scores in past:
        higher, lower = encounter.players
        if scores.get(lower, 0.0) > scores.get(higher, 0.0):
            at, below = order.index(higher), order.index(lower)
            order[at], order[below] = lower, higher
    return order

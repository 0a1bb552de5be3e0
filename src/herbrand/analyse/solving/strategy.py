"""Strategies in files: taken from the proofs of a search, checked against every reply by the rules alone.

A `Strategy` makes claims, each of the form "ROLE gets at least GOAL" (the role's strategy) or "ROLE gets less
than GOAL" (the strategy of all others against it), and has for each claim a table of states with the move to
be made there.  Its file is a NumPy archive (`.npz`) of plain arrays: `about`, JSON as bytes, and for claim
number k the arrays `states_k`, uint64 [n, words] with bit i for the i-th fluent that `about` lists, sorted,
and `moves_k`, int32 [n], numbers in the list of moves there.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from herbrand.analyse.exploration.replay import goal_of
from herbrand.analyse.solving.forcing import EFFORTS
from herbrand.errors import BudgetExceeded, GameError, HerbrandError
from herbrand.runtime.arrays import read_arrays, write_arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from herbrand.analyse.solving.by_search import SearchedValue
    from herbrand.analyse.solving.forcing import ForcedGoals
    from herbrand.engine.expand import States
    from herbrand.machine.state_machine import StateMachine

__all__ = [
    "CheckedClaim",
    "Claim",
    "ReplayedChoice",
    "Strategy",
    "check_strategy",
    "make_strategy",
    "read_strategy",
]

_FORMAT: Final = "herbrand strategy 1"
_CHUNK: Final = 1 << 13
"""States that are expanded together."""
_LARGEST_FILE: Final = 4 << 30
"""Bytes of the arrays of a file, at most."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The result that a strategy guarantees against every reply."""

    role: str
    goal: int
    holds: bool
    """Whether the role gets at least the goal value; False: the others see to it that it gets less."""

    def __str__(self) -> str:
        return f"{self.role} gets {'at least' if self.holds else 'less than'} {self.goal}"


@dataclass(frozen=True)
class Strategy:
    """A strategy for each of some claims about one game."""

    game: str
    digest: str
    """`digest_of` the rules."""
    fluents: tuple[str, ...]
    moves: tuple[tuple[str, str], ...]
    """Pairs of a role and a move."""
    claims: tuple[Claim, ...]
    tables: tuple[tuple[NDArray[np.uint64], NDArray[np.int32]], ...] = field(repr=False)
    """For each claim the states in which the side that follows the strategy has a choice, and its moves."""

    def __len__(self) -> int:
        return sum(len(states) for states, _ in self.tables)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {fluent.lower(): place for place, fluent in enumerate(self.fluents)}

    @cached_property
    def _numbers(self) -> tuple[dict[bytes, int], ...]:
        return tuple(
            dict(zip(_row_bytes(states), moves.tolist(), strict=True)) for states, moves in self.tables
        )

    def _key(self, facts: Iterable[str]) -> bytes:
        """Pack a state; facts that are no fluents of the strategy do not matter to it."""
        row = np.zeros(max(1, -(-len(self.fluents) // 64)), "<u8")
        for fact in facts:
            place = self._places.get(fact.lower())
            if place is not None:
                row[place >> 6] |= np.uint64(1) << np.uint64(place & 63)
        return row.tobytes()

    def move_for(self, claim: int, facts: Iterable[str]) -> tuple[str, str] | None:
        """Return the role and the move of a claim's strategy in a state; None where it has none."""
        number = self._numbers[claim].get(self._key(facts))
        return None if number is None else self.moves[number]

    def advice(self, role: str, facts: Iterable[str]) -> tuple[str, Claim] | None:
        """Return a move for a role in a state with the claim that it serves; None where there is none."""
        facts = tuple(facts)
        for number, claim in enumerate(self.claims):
            if (claim.role.lower() == role.lower()) == claim.holds:
                choice = self.move_for(number, facts)
                if choice is not None and choice[0].lower() == role.lower():
                    return choice[1], claim
        return None

    def write(self, path: Path | str) -> None:
        """Write the strategy to a file."""
        about = {
            "format": _FORMAT,
            "game": self.game,
            "digest": self.digest,
            "fluents": self.fluents,
            "moves": self.moves,
            "claims": list(map(asdict, self.claims)),
        }
        arrays: dict[str, Any] = {"about": np.frombuffer(json.dumps(about).encode(), np.uint8)}
        for number, (states, moves) in enumerate(self.tables):
            arrays[f"states_{number}"] = states.astype("<u8", copy=False)
            arrays[f"moves_{number}"] = moves.astype("<i4", copy=False)
        write_arrays(path, arrays)


def _row_bytes(states: NDArray[np.uint64]) -> list[bytes]:
    """Return the rows of packed states as bytes."""
    rows = np.ascontiguousarray(states.astype("<u8", copy=False))
    size = 8 * states.shape[1]
    data = rows.tobytes()
    return [data[at : at + size] for at in range(0, len(data), size)]


def digest_of(game: StateMachine) -> str:
    """Return a digest of the rules that does not depend on their order, layout and comments."""
    rules = sorted(str(statement).lower() for statement in game.rules.tree.statements)
    return hashlib.sha256("\n".join(rules).encode()).hexdigest()


def read_strategy(path: Path | str) -> Strategy:
    """Read a strategy from a file; `HerbrandError` if it is none."""
    try:
        arrays = read_arrays(path, _LARGEST_FILE)
        about = json.loads(arrays["about"].tobytes())
        if about["format"] != _FORMAT:
            raise ValueError("another format")
        claims = tuple(Claim(str(c["role"]), int(c["goal"]), bool(c["holds"])) for c in about["claims"])
        fluents = tuple(map(str, about["fluents"]))
        moves = tuple((str(role), str(move)) for role, move in about["moves"])
        words = max(1, -(-len(fluents) // 64))
        tables = []
        for number in range(len(claims)):
            states, numbers = arrays[f"states_{number}"], arrays[f"moves_{number}"]
            if states.dtype != np.dtype("<u8") or states.ndim != 2 or states.shape[1] != words:
                raise ValueError("states of another shape")
            if numbers.dtype != np.dtype("<i4") or numbers.shape != states.shape[:1]:
                raise ValueError("moves of another shape")
            if len(numbers) and (numbers.min() < 0 or numbers.max() >= len(moves)):
                raise ValueError("a move without a name")
            tables.append((states.astype(np.uint64, copy=False), numbers.astype(np.int32, copy=False)))
        return Strategy(str(about["game"]), str(about["digest"]), fluents, moves, claims, tuple(tables))
    except (ValueError, KeyError, TypeError) as error:
        raise HerbrandError(f"`{path}` is not a strategy that `herbrand solve` wrote ({error})") from error


# -- from proofs ------------------------------------------------------------------------------


def make_strategy(
    forced: ForcedGoals, searched: SearchedValue, *, progress: Callable[[int], None] | None = None
) -> Strategy:
    """Return strategies for all that a search from the initial state proved.

    Raises `BudgetExceeded` at the end of the budget of `forced`.
    """
    game, expander = forced.game, forced.expander
    claims: list[Claim] = []
    tables = []
    for number, role in enumerate(forced.roles):
        if number == 1 and searched.sum is not None:
            break  # the claims about the first role have strategies of both
        interval, goals = searched.bounds[role], forced.goals[number]
        above = next((goal for goal in goals if goal > interval.high), None)
        for goal, holds in ((interval.low, True), (above, False)):
            if goal is None or goal == goals[0]:
                continue
            claims.append(Claim(role, goal, holds))
            tables.append(_table(forced, number, goal, holds=holds, progress=progress))
    if not claims:
        raise GameError("nothing is proved that needs a strategy")
    by_role = zip(expander.roles, expander.moves, strict=True)
    moves = tuple((role, move) for role, names in by_role for move in names)
    digest = digest_of(game)
    return Strategy(game.name, digest, expander.fluent_names, moves, tuple(claims), tuple(tables))


def _table(
    forced: ForcedGoals, role: int, goal: int, *, holds: bool, progress: Callable[[int], None] | None
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return the states of one strategy, sorted, and its moves by their numbers among those of all roles."""
    expander = forced.expander
    wanted = 1 if holds else -1
    seen = set(_row_bytes(expander.initial))
    queue: list[States] = [expander.initial]
    own_states: list[States] = []
    chosen: list[NDArray[np.int32]] = []
    while queue:
        states = queue.pop()
        if len(states) > _CHUNK:
            queue.append(states[_CHUNK:])
            states = states[:_CHUNK]
        if forced.budget.left <= 0:
            spent = f"{forced.budget.seconds:.3g} seconds"
            raise BudgetExceeded(spent, f"a strategy of more than {len(seen)} states")
        states = states[~expander.terminal(states)]
        if not len(states):
            continue
        counts = expander.legal(states).counts()
        chooser = np.where((counts > 1).any(axis=1), counts.argmax(axis=1), -1)
        is_own = (chooser == role) if holds else (chooser >= 0) & (chooser != role)
        after = expander.expand(states)
        starts = np.searchsorted(after.parents, np.arange(len(states) + 1))
        verdicts, work = forced.known(after.states, role, goal)
        follow = np.ones(len(after), np.bool_)
        picks = np.zeros(len(states), np.int64)
        for i in np.flatnonzero(is_own).tolist():
            begin, end = int(starts[i]), int(starts[i + 1])
            pick = _pick(forced, after.states[begin:end], verdicts[begin:end] == wanted,
                         work[begin:end], (role, goal, holds))  # fmt: skip
            follow[begin:end] = False
            follow[begin + pick] = True
            picks[i] = begin + pick
        if is_own.any():
            own_states.append(states[is_own])
            movers = chooser[is_own]
            rows = after.moves[picks[is_own]]
            chosen.append((rows[np.arange(len(rows)), movers] + expander.bounds[movers]).astype(np.int32))
        fresh = []
        successors = after.states[follow]
        for k, row in enumerate(_row_bytes(successors)):
            if row not in seen:
                seen.add(row)
                fresh.append(k)
        if fresh:
            queue.append(successors[fresh])
        if progress is not None:
            progress(len(seen))
    if not own_states:
        return np.zeros((0, expander.words), np.uint64), np.zeros(0, np.int32)
    all_states, all_moves = np.concatenate(own_states), np.concatenate(chosen)
    order = np.lexsort(all_states.T[::-1])
    return all_states[order], all_moves[order]


def _pick(
    forced: ForcedGoals,
    successors: States,
    good: NDArray[np.bool_],
    work: NDArray[np.uint8],
    claim: tuple[int, int, bool],
) -> int:
    """Return the successor that the strategy goes to; proves one again if the table has lost all of them."""
    role, goal, holds = claim
    places = np.flatnonzero(good)
    if len(places):
        return int(places[np.argmin(work[places])])
    for effort in EFFORTS:
        for k in range(len(successors)):
            state = successors[k : k + 1]
            if forced.attempt(state, role, goal, forced.budget.left, expanded=effort) is holds:
                return k
    if forced.budget.left <= 0:
        raise BudgetExceeded(f"{forced.budget.seconds:.3g} seconds", "for a state of a strategy")
    raise GameError("a state of the strategy was not proved")


# -- by the rules -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim that was replayed."""

    claim: Claim
    accepted: bool
    reason: str
    """Why it is refused; empty if it is accepted."""
    states: int
    """States visited."""


@dataclass(frozen=True, slots=True)
class ReplayedChoice:
    """A move of a strategy, in a state to which it leads."""

    claim: int
    """The number of the claim."""
    facts: tuple[str, ...]
    role: str
    move: str


def check_strategy(
    game: StateMachine,
    strategy: Strategy,
    *,
    seconds: float,
    progress: Callable[[int], None] | None = None,
    visit: Callable[[ReplayedChoice], None] | None = None,
) -> list[CheckedClaim]:
    """Replay a strategy against every reply of the others, by evaluating the rules.

    `visit` gets each move of the strategy, in the order in which the states are reached.  Nothing is shared
    with the search, the network and its packed states.  A play must end: a strategy under which a state can
    repeat is refused.  Raises `BudgetExceeded` after `seconds`, and `GameError` if the strategy is one for
    other rules.
    """
    if strategy.digest != digest_of(game):
        raise GameError(f"the strategy is one for other rules than those of `{game.name}`")
    deadline = time.monotonic() + seconds
    return [
        _replay(game, strategy, number, deadline, progress, visit) for number in range(len(strategy.claims))
    ]


def _replay(
    game: StateMachine,
    strategy: Strategy,
    number: int,
    deadline: float,
    progress: Callable[[int], None] | None,
    visit: Callable[[ReplayedChoice], None] | None,
) -> CheckedClaim:
    claim = strategy.claims[number]
    engine = game.engine_object("rules")
    text = engine.terms.text
    roles = [role.lower() for role in game.roles]
    if claim.role.lower() not in roles:
        return CheckedClaim(claim, accepted=False, reason=f"there is no role `{claim.role}`", states=0)
    subject = roles.index(claim.role.lower())
    first = engine.initial()
    finished: set[Any] = set()
    on_path: set[Any] = {first}

    def refused(reason: str) -> CheckedClaim:
        return CheckedClaim(claim, accepted=False, reason=reason, states=len(finished) + len(on_path))

    def replies(key: Any) -> list[tuple[int, ...]] | str:
        """Return the joint moves that the strategy allows in a state, or why it fails there."""
        if engine.terminal(key):
            goal = goal_of(game, key, subject)
            if goal is None or (goal >= claim.goal) != claim.holds:
                return f"a play ends with {goal} for {claim.role}"
            return []
        legal = [sorted(set(engine.legal(key, role))) for role in range(len(roles))]
        if not all(legal):
            return "a role has no legal move"
        choosing = [r for r in range(len(roles)) if len(legal[r]) > 1]
        followers = [r for r in choosing if (r == subject) == claim.holds]
        if followers and len(choosing) > 1:
            return "several roles choose at the same time"
        for chooser in followers:  # at most one
            facts = tuple(map(text, engine.fluents(key)))
            choice = strategy.move_for(number, facts)
            if choice is None:
                return f"no move for {roles[chooser]} in a state that can be reached"
            role, move = choice
            moves = [m for m in legal[chooser] if text(m).lower() == move.lower()]
            if role.lower() != roles[chooser] or not moves:
                return f"`{move}` is not a legal move of {roles[chooser]}"
            legal[chooser] = moves
            if visit is not None:
                visit(ReplayedChoice(number, facts, game.roles[chooser], text(moves[0])))
        return list(product(*legal))

    answer = replies(first)
    if isinstance(answer, str):
        return refused(answer)
    path: list[tuple[Any, list[tuple[int, ...]]]] = [(first, answer)]
    while path:
        key, left = path[-1]
        if not left:
            path.pop()
            on_path.discard(key)
            finished.add(key)
            if len(finished) % 1000 == 0:
                if progress is not None:
                    progress(len(finished))
                if time.monotonic() > deadline:
                    raise BudgetExceeded("time for checking", f"{len(finished)} states checked")
            continue
        after = engine.successor(key, left.pop())
        if after in finished:
            continue
        if after in on_path:
            return refused("a play can return to an earlier state")
        answer = replies(after)
        if isinstance(answer, str):
            return refused(answer)
        on_path.add(after)
        path.append((after, answer))
    return CheckedClaim(claim, accepted=True, reason="", states=len(finished))

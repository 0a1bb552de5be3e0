"""Which states a role can hold possible, and how likely each is.

`possible_states` goes forward through a history: from each state that is possible it makes every
joint move with the role's own move in it, and keeps what is reached with the percepts that the
role had (Thielscher 2010; percepts are compared as sets).  The game goes on as long as there are
moves, so that terminal states on the way are left out.

The weight of a state is the chance of the plays that lead to it, given the history.  `random`
chooses evenly, which is the meaning of the rules; the other players are *taken* to choose evenly
among their legal moves, too, since nothing is known about them.

A step is made by evaluating the rules while there are few joint moves, and on the game's
network, all joint moves at once, when there are many.  With more possible states than asked for,
the exact set is given up for a sample (a particle filter: Gordon, Salmond and Smith 1993);
`Knowledge.exact` says so.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from herbrand.analyse.knowledge.knowing import Knowledge
from herbrand.engine.description import AUTO_GROUND_SECONDS
from herbrand.errors import BudgetExceeded, GameError
from herbrand.machine.state import State
from herbrand.runtime.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.analyse.knowledge.histories import History, HistoryStep
    from herbrand.machine.state_machine import StateMachine
    from herbrand.runtime.limits import Clock

__all__ = ["ImpossibleHistory", "possible_states"]

MOST_STATES = 100_000
"""Possible states beyond which a sample is taken."""
PARTICLES = 2_000
"""States in a sample."""
WORTH_A_NETWORK = 3_000
"""Joint moves in one step that are worth building the network for."""


class ImpossibleHistory(GameError):
    """No play gives the role this history."""


def possible_states(
    game: StateMachine,
    role: str,
    history: History,
    *,
    over: bool | None = None,
    engine: str = "auto",
    states: int = MOST_STATES,
    particles: int = PARTICLES,
    seed: int = 0,
    limits: Limits = DEFAULT,
) -> Knowledge:
    """Return the states that a role holds possible after a history, with their weights.

    `over` says whether the role has been told that the game is over (True) or goes on (False);
    None when it knows neither.  `engine` is "rules", "network", or "auto" for whichever is
    quicker.  With more than `states` possible states a sample of `particles` is taken, by the
    `seed`; with `particles=0` `BudgetExceeded` is raised instead.  Raises `ImpossibleHistory` when no play
    fits, and `BudgetExceeded` when time is up or the sample dies out.
    """
    place = game.role_index(role)
    clock = limits.start()
    level: _Level = _RulesLevel(game, place, {game.engine_object("rules").initial(): Fraction(1)})
    if engine == "network":
        level = level.on_network()
    elif engine not in ("auto", "rules"):
        raise ValueError(f"no engine {engine!r} (engines: auto, rules, network)")
    chance = Random(seed)
    sampled_at: int | None = None
    may_ground = engine == "auto"
    for number, step in enumerate(history, start=1):
        if may_ground and level.joint_moves(step) > WORTH_A_NETWORK:
            may_ground = False
            try:
                game.network_within(min(AUTO_GROUND_SECONDS, limits.seconds))
            except BudgetExceeded:
                pass
            else:
                level = level.on_network()
        after = None if sampled_at else level.followed(step, states, clock)
        if after is None:
            if not particles:
                raise BudgetExceeded(f"{states} possible states", f"after {number} of {len(history)} steps")
            sampled_at = sampled_at or number
            after = level.sampled(step, particles, chance, clock)
        if not after.size:
            told = f"step {number} of {len(history)}, `{step}`"
            if sampled_at:
                raise BudgetExceeded(f"{particles} particles", f"none of them fits {told}")
            raise ImpossibleHistory(
                f"no play gives {game.roles[place]} this history: nothing is possible after {told}"
            )
        level = after
    weights = level.weights()
    if over is not None:
        weights = {state: weight for state, weight in weights.items() if state.is_terminal is over}
        if not weights:
            raise ImpossibleHistory(
                f"no play gives {game.roles[place]} this history and {'is over' if over else 'goes on'}"
            )
    total = sum(weights.values(), Fraction(0))
    ordered = sorted(weights.items(), key=lambda one: (-one[1], sorted(one[0].facts)))
    return Knowledge(
        game, game.roles[place], history, {state: weight / total for state, weight in ordered}, not sampled_at
    )


class _Level(Protocol):
    """What is possible after some steps."""

    size: int

    def joint_moves(self, step: HistoryStep) -> int:
        """Return about how many joint moves the next step has to make."""

    def followed(self, step: HistoryStep, most: int, clock: Clock) -> _Level | None:
        """Return what is possible one step later; None when that is more than `most` states."""

    def sampled(self, step: HistoryStep, count: int, chance: Random, clock: Clock) -> _Level:
        """Return a sample of what is possible one step later."""

    def on_network(self) -> _Level:
        """Return the same level, to be followed on the network."""

    def weights(self) -> Mapping[State, Fraction]:
        """Return the states with their weights, which need not add up to one."""


class _RulesLevel:
    """Follows states one by one, by the rules."""

    def __init__(self, game: StateMachine, place: int, level: dict[Any, Fraction]) -> None:
        self.game = game
        self.place = place
        self.machine = game.engine_object("rules")
        self.level = level
        self.size = len(level)

    def joint_moves(self, step: HistoryStep) -> int:
        del step
        total = 0
        for key in self.level:
            ways = 1
            for i in range(len(self.game.roles)):
                if i != self.place:
                    ways *= len(self.machine.legal(key, i))
            total += ways
            if total > WORTH_A_NETWORK:
                break
        return total

    def followed(self, step: HistoryStep, most: int, clock: Clock) -> _RulesLevel | None:
        after: dict[Any, Fraction] = {}
        for key, weight in self.level.items():
            options = self._options(key, step)
            if options is None:
                continue
            ways = 1
            for moves in options:
                ways *= len(moves)
            for joint in product(*options):
                clock.spend(0)
                if self._fits(key, joint, step):
                    reached = self.machine.successor(key, joint)
                    after[reached] = after.get(reached, Fraction(0)) + weight / ways
                    if len(after) > most:
                        return None
        return _RulesLevel(self.game, self.place, after)

    def sampled(self, step: HistoryStep, count: int, chance: Random, clock: Clock) -> _RulesLevel:
        open_keys = [
            (key, options) for key in self.level if (options := self._options(key, step)) is not None
        ]
        found: Counter[Any] = Counter()
        if not open_keys:
            return _RulesLevel(self.game, self.place, {})
        weights = [float(self.level[key]) for key, _ in open_keys]
        tried = 0
        while found.total() < count and (tried < 50 * count or found):
            clock.spend(0)
            if tried >= 200 * count:
                break
            tried += 1
            key, options = chance.choices(open_keys, weights)[0]
            joint = [moves[int(chance.random() * len(moves))] for moves in options]
            if self._fits(key, joint, step):
                found[self.machine.successor(key, joint)] += 1
        return _RulesLevel(self.game, self.place, {key: Fraction(n, count) for key, n in found.items()})

    def on_network(self) -> _NetworkLevel:
        expander = self.game.expander
        text = self.machine.terms.text
        keys = list(self.level)
        packed = expander.pack([map(text, self.machine.fluents(key)) for key in keys])
        return _NetworkLevel(self.game, self.place, packed, [self.level[key] for key in keys])

    def weights(self) -> Mapping[State, Fraction]:
        return {State(self.game, self.machine, key): weight for key, weight in self.level.items()}

    def _options(self, key: Any, step: HistoryStep) -> list[list[int]] | None:
        """Return what each role may do, the role itself only its move; None where the step cannot be made."""
        machine = self.machine
        if machine.terminal(key):
            return None
        options = [list(machine.legal(key, i)) for i in range(len(self.game.roles))]
        own = machine.terms.find(machine.terms.parse(step.move))
        if own is None or own not in options[self.place]:
            return None
        options[self.place] = [own]
        return options

    def _fits(self, key: Any, joint: Any, step: HistoryStep) -> bool:
        text = self.machine.terms.text
        if self.game.has_percepts:
            seen = {text(term).lower() for term in self.machine.percepts(key, joint, self.place)}
        else:
            pairs = zip(self.game.roles, joint, strict=True)
            seen = {f"(did {role} {text(move)})".lower() for role, move in pairs}
        return seen == {percept.lower() for percept in step.percepts}


class _NetworkLevel:
    """Follows all states at once, on the network."""

    def __init__(self, game: StateMachine, place: int, packed: Any, weights: list[Fraction]) -> None:
        self.game = game
        self.place = place
        self.expander = game.expander
        self.packed = packed
        self.known = weights
        self.size = len(weights)

    def joint_moves(self, step: HistoryStep) -> int:
        legal = self._legal(step)
        return int(legal.joint_counts().sum())

    def _legal(self, step: HistoryStep) -> Any:
        """Return what is legal, for the role itself only its move."""
        import numpy as np

        legal = self.expander.legal(self.packed)
        first, last = legal.places[self.place], legal.places[self.place + 1]
        number = self.expander.move_numbers[self.place].get(step.move.lower())
        own = np.zeros(last - first, np.uint64)
        if number is not None:
            own[number // 64] = np.uint64(1) << np.uint64(number % 64)
        legal.bits[:, first:last] &= own
        return legal

    def _seen(self, step: HistoryStep, states: Any, moves: Any) -> Any:
        """Return which of the joint moves, made in these states, show the role what it saw."""
        import numpy as np

        network = self.expander.network
        text = network.terms.text
        told = {percept.lower() for percept in step.percepts}
        if self.game.has_percepts:
            mine = network.percepts[:, 0] == self.place
            names = [text(term).lower() for term in network.percepts[mine, 1].tolist()]
            if not told <= set(names):
                return np.zeros(len(moves), np.bool_)
            wanted = np.array([name in told for name in names], np.bool_)
            return (self.expander.percepts(states, moves)[:, mine] == wanted).all(axis=1)
        fits = np.ones(len(moves), np.bool_)
        numbers = self.expander.move_numbers
        for i, role in enumerate(self.game.roles):
            start = f"(did {role} ".lower()
            said = [percept[len(start) : -1] for percept in told if percept.startswith(start)]
            number = numbers[i].get(said[0]) if len(said) == 1 else None
            fits &= moves[:, i] == (-1 if number is None else number)
        return fits if len(told) == len(self.game.roles) else np.zeros(len(moves), np.bool_)

    def followed(self, step: HistoryStep, most: int, clock: Clock) -> _NetworkLevel | None:
        import numpy as np

        legal = self._legal(step)
        ways = legal.joint_counts().tolist()
        found: dict[bytes, Fraction] = {}
        for piece in self.expander.expansions(self.packed, legal, joints=1 << 16):
            clock.spend(0)
            if not len(piece):
                continue
            kept = np.flatnonzero(self._seen(step, self.packed[piece.parents], piece.moves))
            if not len(kept):
                continue
            rows = np.column_stack([piece.states[kept], piece.parents[kept].astype(np.uint64)])
            pairs, counts = np.unique(rows, axis=0, return_counts=True)
            for row, count in zip(pairs, counts.tolist(), strict=True):
                parent = int(row[-1])
                key = row[:-1].tobytes()
                found[key] = found.get(key, Fraction(0)) + self.known[parent] * Fraction(count, ways[parent])
            if len(found) > most:
                return None
        return self._made(found)

    def _made(self, found: Mapping[bytes, Fraction]) -> _NetworkLevel:
        import numpy as np

        rows = np.frombuffer(b"".join(found), np.uint64).reshape(-1, self.expander.words).copy()
        return _NetworkLevel(self.game, self.place, rows, list(found.values()))

    def sampled(self, step: HistoryStep, count: int, chance: Random, clock: Clock) -> _NetworkLevel:
        import numpy as np

        from herbrand.engine.expand import any_of

        generator = np.random.default_rng(chance.getrandbits(64))
        legal = self._legal(step)
        alive = np.flatnonzero(legal.joint_counts() > 0)
        found: Counter[bytes] = Counter()
        if len(alive):
            shares = np.array([float(self.known[i]) for i in alive])
            shares /= shares.sum()
            masks = [legal.mask(i) for i in range(len(self.game.roles))]
            for _ in range(200):
                clock.spend(0)
                parents = generator.choice(alive, size=count, p=shares)
                moves = np.column_stack([any_of(mask[parents], generator) for mask in masks]).astype(np.int32)
                states = self.packed[parents]
                kept = np.flatnonzero(self._seen(step, states, moves))
                if len(kept):
                    reached = self.expander.step(states[kept], moves[kept])
                    room = count - found.total()
                    found.update(row.tobytes() for row in reached[:room])
                if found.total() >= count:
                    break
        return self._made({key: Fraction(n, count) for key, n in found.items()})

    def on_network(self) -> _NetworkLevel:
        return self

    def weights(self) -> Mapping[State, Fraction]:
        import numpy as np

        machine = self.game.engine_object("network")
        fluents = self.expander.network.fluents
        bits = self.expander.bits(self.packed)
        return {
            State(self.game, machine, machine.key(fluents[np.flatnonzero(row)].tolist())): weight
            for row, weight in zip(bits, self.known, strict=True)
        }

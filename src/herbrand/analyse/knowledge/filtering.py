"""Belief states: the states that a role considers possible, and their probabilities.

`possible_states` runs forward through a history: from each possible state it makes every joint move
that contains the role's own move, and keeps the successors with the percepts that the
role had (Thielscher 2010; percepts are compared as sets).  Terminal states before the last step are
dropped, since the game went on.

The weight of a state is the probability of the plays that lead to it, given the history.  `random`
chooses uniformly, by the meaning of the rules; the other players are *assumed* to choose uniformly
among their legal moves.

Steps evaluate the rules while there are few joint moves, and the game's network, with all joint
moves at once, when there are many.  Beyond the limit on possible states, the exact set is replaced by a
sample (a particle filter: Gordon, Salmond and Smith 1993), and `Knowledge.exact` is false.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod
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
"""The most possible states before a sample replaces them."""
PARTICLES = 2_000
"""The number of states in a sample."""
WORTH_A_NETWORK = 3_000
"""The joint moves in one step for which building the network pays off."""


class ImpossibleHistory(GameError):
    """No play has this history for the role."""


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
    """Return the states that a role considers possible after a history, with their weights.

    `over` is whether the role knows that the game is over (True) or not (False); None for neither.
    `engine` is "rules", "network", or "auto" for the faster one.  With more than `states` possible states, a
    sample of `particles` is drawn with `seed`; with `particles=0`, `BudgetExceeded` is raised instead.
    Raises `ImpossibleHistory` when no play fits, and `BudgetExceeded` when time is up or the sample dies
    out.
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
        after = None if sampled_at else level.advance(step, states, clock)
        if after is None:
            if not particles:
                raise BudgetExceeded(f"{states} possible states", f"after {number} of {len(history)} steps")
            sampled_at = sampled_at or number
            after = level.sample(step, particles, chance, clock)
        if not after.size:
            description = f"step {number} of {len(history)}, `{step}`"
            if sampled_at:
                raise BudgetExceeded(f"{particles} particles", f"none of them fits {description}")
            raise ImpossibleHistory(
                f"no play gives {game.roles[place]} this history: nothing is possible after {description}"
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
    ordered = sorted(weights.items(), key=lambda entry: (-entry[1], sorted(entry[0].facts)))
    return Knowledge(
        game, game.roles[place], history, {state: weight / total for state, weight in ordered}, not sampled_at
    )


class _Level(Protocol):
    """The possible states after some steps."""

    size: int

    def joint_moves(self, step: HistoryStep) -> int:
        """Return about how many joint moves the next step must evaluate."""

    def advance(self, step: HistoryStep, most: int, clock: Clock) -> _Level | None:
        """Return the possible states one step later; None if there are more than `most`."""

    def sample(self, step: HistoryStep, count: int, chance: Random, clock: Clock) -> _Level:
        """Return a sample of the possible states one step later."""

    def on_network(self) -> _Level:
        """Return the same level, evaluated on the network."""

    def weights(self) -> Mapping[State, Fraction]:
        """Return the states with their weights, which need not add up to one."""


class _RulesLevel:
    """Advances states one by one, by the rules."""

    def __init__(self, game: StateMachine, place: int, level: dict[Any, Fraction]) -> None:
        self.game = game
        self.place = place
        self.machine = game.engine_object("rules")
        self.level = level
        self.size = len(level)

    def joint_moves(self, step: HistoryStep) -> int:
        del step
        total = 0
        others = [i for i in range(len(self.game.roles)) if i != self.place]
        for key in self.level:
            total += prod(len(self.machine.legal(key, i)) for i in others)
            if total > WORTH_A_NETWORK:
                break
        return total

    def advance(self, step: HistoryStep, most: int, clock: Clock) -> _RulesLevel | None:
        after: dict[Any, Fraction] = {}
        for key, weight in self.level.items():
            options = self._options(key, step)
            if options is None:
                continue
            joint_count = prod(map(len, options))
            for joint in product(*options):
                clock.spend(0)
                if self._fits(key, joint, step):
                    successor = self.machine.successor(key, joint)
                    after[successor] = after.get(successor, Fraction(0)) + weight / joint_count
                    if len(after) > most:
                        return None
        return _RulesLevel(self.game, self.place, after)

    def sample(self, step: HistoryStep, count: int, chance: Random, clock: Clock) -> _RulesLevel:
        open_keys = [
            (key, options) for key in self.level if (options := self._options(key, step)) is not None
        ]
        samples: Counter[Any] = Counter()
        if not open_keys:
            return _RulesLevel(self.game, self.place, {})
        weights = [float(self.level[key]) for key, _ in open_keys]
        for tried in range(200 * count):
            if samples.total() >= count or (tried >= 50 * count and not samples):
                break
            clock.spend(0)
            key, options = chance.choices(open_keys, weights)[0]
            joint = [moves[int(chance.random() * len(moves))] for moves in options]
            if self._fits(key, joint, step):
                samples[self.machine.successor(key, joint)] += 1
        return _RulesLevel(self.game, self.place, {key: Fraction(n, count) for key, n in samples.items()})

    def on_network(self) -> _NetworkLevel:
        expander = self.game.expander
        text = self.machine.terms.text
        keys = list(self.level)
        packed = expander.pack([map(text, self.machine.fluents(key)) for key in keys])
        return _NetworkLevel(self.game, self.place, packed, [self.level[key] for key in keys])

    def weights(self) -> Mapping[State, Fraction]:
        return {State(self.game, self.machine, key): weight for key, weight in self.level.items()}

    def _options(self, key: Any, step: HistoryStep) -> list[list[int]] | None:
        """Return the moves of each role, for the role itself only its own one; None if that is illegal."""
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
            percepts = {text(term).lower() for term in self.machine.percepts(key, joint, self.place)}
        else:
            pairs = zip(self.game.roles, joint, strict=True)
            percepts = {f"(did {role} {text(move)})".lower() for role, move in pairs}
        return percepts == {percept.lower() for percept in step.percepts}


class _NetworkLevel:
    """Advances all states at once, on the network."""

    def __init__(self, game: StateMachine, place: int, packed: Any, weights: list[Fraction]) -> None:
        self.game = game
        self.place = place
        self.expander = game.expander
        self.packed = packed
        self.chances = weights
        self.size = len(weights)

    def joint_moves(self, step: HistoryStep) -> int:
        legal = self._legal(step)
        return int(legal.joint_counts().sum())

    def _legal(self, step: HistoryStep) -> Any:
        """Return the legal moves, only the remembered one of the role itself."""
        import numpy as np

        legal = self.expander.legal(self.packed)
        first, last = legal.places[self.place], legal.places[self.place + 1]
        number = self.expander.move_numbers[self.place].get(step.move.lower())
        own = np.zeros(last - first, np.uint64)
        if number is not None:
            own[number // 64] = np.uint64(1) << np.uint64(number % 64)
        legal.bits[:, first:last] &= own
        return legal

    def _fitting(self, step: HistoryStep, states: Any, moves: Any) -> Any:
        """Return which of the joint moves, made in these states, give the role its percepts."""
        import numpy as np

        network = self.expander.network
        text = network.terms.text
        percepts = {percept.lower() for percept in step.percepts}
        if self.game.has_percepts:
            own = network.percepts[:, 0] == self.place
            names = [text(term).lower() for term in network.percepts[own, 1].tolist()]
            if not percepts <= set(names):
                return np.zeros(len(moves), np.bool_)
            wanted = np.array([name in percepts for name in names], np.bool_)
            return (self.expander.percepts(states, moves)[:, own] == wanted).all(axis=1)
        fits = np.ones(len(moves), np.bool_)
        numbers = self.expander.move_numbers
        for i, role in enumerate(self.game.roles):
            start = f"(did {role} ".lower()
            moved = [percept[len(start) : -1] for percept in percepts if percept.startswith(start)]
            number = numbers[i].get(moved[0]) if len(moved) == 1 else None
            fits &= moves[:, i] == (-1 if number is None else number)
        return fits if len(percepts) == len(self.game.roles) else np.zeros(len(moves), np.bool_)

    def advance(self, step: HistoryStep, most: int, clock: Clock) -> _NetworkLevel | None:
        import numpy as np

        legal = self._legal(step)
        ways = legal.joint_counts().tolist()
        weights: dict[bytes, Fraction] = {}
        for piece in self.expander.expansions(self.packed, legal, joints=1 << 16):
            clock.spend(0)
            if not len(piece):
                continue
            fitting = np.flatnonzero(self._fitting(step, self.packed[piece.parents], piece.moves))
            if not len(fitting):
                continue
            rows = np.column_stack([piece.states[fitting], piece.parents[fitting].astype(np.uint64)])
            pairs, counts = np.unique(rows, axis=0, return_counts=True)
            for row, count in zip(pairs, counts.tolist(), strict=True):
                parent = int(row[-1])
                key = row[:-1].tobytes()
                weights[key] = weights.get(key, Fraction(0)) + self.chances[parent] * Fraction(
                    count, ways[parent]
                )
            if len(weights) > most:
                return None
        return self._from_weights(weights)

    def _from_weights(self, weights: Mapping[bytes, Fraction]) -> _NetworkLevel:
        import numpy as np

        rows = np.frombuffer(b"".join(weights), np.uint64).reshape(-1, self.expander.words).copy()
        return _NetworkLevel(self.game, self.place, rows, list(weights.values()))

    def sample(self, step: HistoryStep, count: int, chance: Random, clock: Clock) -> _NetworkLevel:
        import numpy as np

        from herbrand.engine.expand import sample_true

        generator = np.random.default_rng(chance.getrandbits(64))
        legal = self._legal(step)
        alive = np.flatnonzero(legal.joint_counts() > 0)
        samples: Counter[bytes] = Counter()
        if len(alive):
            shares = np.array([float(self.chances[i]) for i in alive])
            shares /= shares.sum()
            masks = [legal.mask(i) for i in range(len(self.game.roles))]
            for _ in range(200):
                clock.spend(0)
                parents = generator.choice(alive, size=count, p=shares)
                moves = np.column_stack([sample_true(mask[parents], generator) for mask in masks]).astype(
                    np.int32
                )
                states = self.packed[parents]
                fitting = np.flatnonzero(self._fitting(step, states, moves))
                if len(fitting):
                    successors = self.expander.step(states[fitting], moves[fitting])
                    room = count - samples.total()
                    samples.update(row.tobytes() for row in successors[:room])
                if samples.total() >= count:
                    break
        return self._from_weights({key: Fraction(n, count) for key, n in samples.items()})

    def on_network(self) -> _NetworkLevel:
        return self

    def weights(self) -> Mapping[State, Fraction]:
        import numpy as np

        machine = self.game.engine_object("network")
        fluents = self.expander.network.fluents
        bits = self.expander.bits(self.packed)
        return {
            State(self.game, machine, machine.key(fluents[np.flatnonzero(row)].tolist())): weight
            for row, weight in zip(bits, self.chances, strict=True)
        }

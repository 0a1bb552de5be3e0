"""The steps of a game as relations between sets of states, one for each effect that joint moves have.

With the moves of a joint move as constants most gates vanish.  Its relation is the condition under which it
is legal, and the parts of the state that it changes (partitioned transition relations; Burch, Clarke and Long
1991).  Where a part gets one of a few values, the condition is split; other changes become relations between
variables and primed ones.  Joint moves with the same effect are merged.  `state_sets` applies them to large
sets.

Parts that change by themselves, such as a counter of steps, have one known value after each step: only the
effects that are possible then are looked at.  Effects of which a few parts show that they are never possible,
such as a disc that lies above a hole, are left out: the values that each small set of parts can have together
are overestimated, as if its neighbours had all of theirs (Cho, Hachtel, Macii, Plessier and Somenzi 1996).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from oxidd.util import BooleanOperator

from herbrand.errors import BudgetExceeded
from herbrand.network.unroll import unrolled

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from herbrand.analyse.counting.encoding import Diagram, Encoding
    from herbrand.network.network import Network

__all__ = ["MoveEffect", "Relation"]

_MOST_JOINT_MOVES = 50_000
MOST_CASES = 64
"""Cases of the new values of one joint move; beyond them, values are relations."""
_CLUSTER_NODES = 2000
"""Conjuncts are combined up to this size."""
_SMALL_NODES = 20_000
"""Conditions are diagrams up to this size; larger ones are taken apart."""
_MOST_TOGETHER = 8
"""Parts whose common values are overestimated."""
_MOST_PROJECTIONS = 20_000
"""Steps of sets of parts after which the estimate is given up."""


@dataclass(slots=True)
class MoveEffect:
    """An effect of joint moves."""

    condition: Diagram
    """The states, without looking at whether the game is over, in which some joint move has the effect."""
    constants: dict[int, int]
    """The new value of each part that gets the same one in all of these states."""
    values: Diagram
    """The states with these new values."""
    relations: dict[int, list[Diagram]]
    """For each other part that changes, the new values of its variables, as primed ones."""
    ends: frozenset[int] = frozenset()
    """The conditions for going on that may fail afterwards, if all of them held before."""

    @property
    def changed(self) -> tuple[int, ...]:
        """The parts that may get another value."""
        return (*self.constants, *self.relations)


class Relation:
    """All steps of a game, on an encoding of its states."""

    def __init__(self, network: Network, encoding: Encoding) -> None:
        self.encoding = encoding
        self._network = network = unrolled(network)
        inputs = [encoding.false, *encoding.literals, *[encoding.false] * len(network.moves)]
        self._values: dict[int, Diagram] = dict(enumerate(inputs))
        """The diagrams of nodes while no move is made."""
        self._left, self._right = network.left.tolist(), network.right.tolist()
        self._first_move, self._inputs = 1 + len(network.fluents), network.inputs
        self._dependents = self._find_dependents()
        self._small: dict[int, Diagram | None] = dict(self._values)
        self.not_over, self.large = self._conjuncts(int(network.terminal) ^ 1)
        """Sets and literals whose conjunction says in which states the game goes on."""
        codes = encoding.codes(network.initial.nonzero()[0].tolist())
        self.initial = encoding.state(codes)
        independent = self._independent_parts()
        dependent = [i for i in range(len(encoding.parts)) if i not in independent]
        self.initial_codes = {part: codes[part] for part in dependent}
        """The initial value of each part that depends on moves."""
        self.effects = self._possible(self._merged(dependent), independent)
        self._find_ends()
        self._timed = frozenset(
            number for number, some in enumerate(self.not_over) if self._support(some) & independent
        )
        """Conditions for going on that depend on parts that change by themselves."""
        self._clock = list(self._effects((), encoding.true, sorted(independent)))
        self._clock_parts = encoding.cube(independent)
        self._moments = [self.initial.exists(encoding.cube(dependent))]
        self._numbers = {self._moments[0]: 0}
        self._active: dict[int, list[MoveEffect]] = {}
        self._ending: dict[tuple[int, int], list[Diagram]] = {}
        self._choosers: dict[int, list[int]] = {}
        self.goals: list[tuple[int, str, int]] = [
            (role, network.terms.text(value), literal)
            for (role, value), literal in zip(network.goals.tolist(), network.goal.tolist(), strict=True)
        ]
        """For each goal value of a role, the literal that is true in the states in which it holds."""
        self._legal: list[list[Diagram]] = [[] for _ in network.roles]
        for role, literal in zip(network.moves[:, 0].tolist(), network.legal.tolist(), strict=True):
            self._legal[role].append(self._diagram(literal))
        for gate in [node for node in self._values if node >= self._inputs]:
            del self._values[gate]  # the diagrams of gates are not needed any more

    # -- from gates to diagrams ---------------------------------------------------------------

    def _find_dependents(self) -> list[list[int]]:
        """Return for each move the gates that depend on it, ascending."""
        masks = [0] * (self._inputs + len(self._left))
        count = len(self._network.moves)
        for move in range(count):
            masks[self._first_move + move] = 1 << move
        dependents: list[list[int]] = [[] for _ in range(count)]
        for gate, (a, b) in enumerate(zip(self._left, self._right, strict=True), self._inputs):
            mask = masks[a >> 1] | masks[b >> 1]
            masks[gate] = mask
            while mask:
                lowest = mask & -mask
                dependents[lowest.bit_length() - 1].append(gate)
                mask ^= lowest
        return dependents

    def _independent_parts(self) -> set[int]:
        """Return the parts whose next values depend on no move and on no part but these."""
        encoding = self.encoding
        supports = [0] * (self._inputs + len(self._left))
        for fluent, part in enumerate(encoding.part_of):
            supports[1 + fluent] = 1 << part
        moves = 1 << len(encoding.parts)
        supports[self._first_move : self._inputs] = [moves] * (self._inputs - self._first_move)
        for gate, (a, b) in enumerate(zip(self._left, self._right, strict=True), self._inputs):
            supports[gate] = supports[a >> 1] | supports[b >> 1]
        following = self._network.next.tolist()
        needs = [
            reduce(or_, (supports[following[fluent] >> 1] for fluent in part.fluents))
            for part in encoding.parts
        ]
        independent = {part for part, need in enumerate(needs) if not need & moves}
        while True:
            mask = sum(1 << part for part in independent)
            dependent = {part for part in independent if needs[part] & ~mask}
            if not dependent:
                return independent
            independent -= dependent

    def _diagram(self, literal: int, own: dict[int, Diagram] | None = None) -> Diagram:
        """Return the diagram of a literal; `own` has the nodes that depend on moves that are made."""
        values = self._values
        if own is not None and literal >> 1 in own:
            diagram = own[literal >> 1]
            return ~diagram if literal & 1 else diagram
        for node in self.gates_below(literal, values):
            a, b = self.operands(2 * node)
            values[node] = _literal(values[a >> 1], a) & _literal(values[b >> 1], b)
        return _literal(values[literal >> 1], literal)

    def _with_moves(self, joint: Sequence[int]) -> dict[int, Diagram]:
        """Return the diagrams of the nodes that depend on some moves, when these are made."""
        own = {self._first_move + move: self.encoding.true for move in joint}
        for gate in sorted({gate for move in joint for gate in self._dependents[move]}):
            a, b = self._left[gate - self._inputs], self._right[gate - self._inputs]
            left = self._diagram(a, own)
            own[gate] = left & self._diagram(b, own) if left.satisfiable() else left
        return own

    def _conjuncts(self, literal: int) -> tuple[list[Diagram], list[int]]:
        """Return the conjuncts of a literal: small diagrams, combined, and large conditions."""
        leaves: dict[int, None] = {}
        stack = [literal]
        while stack:
            one = stack.pop()
            if one & 1 or one >> 1 < self._inputs:
                leaves[one] = None
            else:
                stack += reversed(self.operands(one))
        clusters: list[Diagram] = []
        large = []
        for leaf in leaves:
            diagram = self.small(leaf)
            if diagram is None:
                large.append(leaf)
                continue
            if clusters:
                both = clusters[-1] & diagram
                if both.node_count() <= _CLUSTER_NODES:
                    clusters[-1] = both
                    continue
            clusters.append(diagram)
        return clusters, large

    def small(self, literal: int) -> Diagram | None:
        """Return the states in which a literal is true, if they and those of its gates are small diagrams."""
        cache = self._small
        for node in self.gates_below(literal, cache):
            sides = self.operands(2 * node)
            left, right = (cache[side >> 1] for side in sides)
            both = None
            if left is not None and right is not None:
                both = _literal(left, sides[0]) & _literal(right, sides[1])
            cache[node] = None if both is None or both.node_count() > _SMALL_NODES else both
        diagram = cache[literal >> 1]
        return None if diagram is None else _literal(diagram, literal)

    def operands(self, literal: int) -> tuple[int, int]:
        """Return the literals of which the gate of a literal is the conjunction."""
        gate = (literal >> 1) - self._inputs
        return self._left[gate], self._right[gate]

    def gates_below(
        self, literal: int, evaluated: Container[int], is_leaf: Callable[[int], bool] = lambda _: False
    ) -> Iterator[int]:
        """Yield the nodes that a literal needs and that are not in `evaluated`, operands first.

        The caller adds each to `evaluated` before it asks for the next one; those of leaves are not needed.
        """
        stack = [literal >> 1]
        while stack:
            node = stack[-1]
            if node in evaluated:
                stack.pop()
                continue
            sides = () if is_leaf(node) else self.operands(2 * node)
            missing = [side >> 1 for side in sides if side >> 1 not in evaluated]
            stack += missing
            if not missing:
                yield node

    # -- steps ----------------------------------------------------------------------------------

    def _joint_moves(self) -> Iterator[tuple[tuple[int, ...], Diagram]]:
        """Yield the joint moves that some state allows, and those states."""
        network = self._network
        legal = [self._diagram(literal) for literal in network.legal.tolist()]
        owner = network.moves[:, 0].tolist()
        by_role = [
            [m for m, role in enumerate(owner) if role == wanted and legal[m].satisfiable()]
            for wanted in range(len(network.roles))
        ]
        count = 0

        def extend(joint: tuple[int, ...], states: Diagram) -> Iterator[tuple[tuple[int, ...], Diagram]]:
            nonlocal count
            if len(joint) == len(by_role):
                count += 1
                if count > _MOST_JOINT_MOVES:
                    raise BudgetExceeded(f"{_MOST_JOINT_MOVES} joint moves", "in the transition relation")
                yield joint, states
                return
            for move in by_role[len(joint)]:
                both = states & legal[move]
                if both.satisfiable():
                    yield from extend((*joint, move), both)

        yield from extend((), self.encoding.true)

    def _merged(self, parts: Sequence[int]) -> list[MoveEffect]:
        """Return the effects of joint moves on some parts, those of equal moves merged."""
        merged: dict[tuple[object, ...], MoveEffect] = {}
        for joint, states in self._joint_moves():
            for effect in self._effects(joint, states, parts):
                relations = tuple((number, *some) for number, some in effect.relations.items())
                key = (tuple(effect.constants.items()), relations)
                if key in merged:
                    merged[key].condition |= effect.condition
                else:
                    merged[key] = effect
        return list(merged.values())

    def _effects(self, joint: Sequence[int], states: Diagram, parts: Sequence[int]) -> Iterator[MoveEffect]:
        """Yield the effects on some parts of a joint move that is legal in some states."""
        encoding = self.encoding
        own = self._with_moves(joint)
        following = self._network.next.tolist()
        cases: list[tuple[Diagram, list[tuple[int, int]]]] = [(states, [])]
        relations: dict[int, list[Diagram]] = {}
        for number in parts:
            part = encoding.parts[number]
            after = [self._diagram(following[fluent], own) for fluent in part.fluents]
            same = encoding.true
            for fluent, diagram in zip(part.fluents, after, strict=True):
                same &= ~(diagram ^ encoding.literals[fluent])
            if not (states & ~same).satisfiable():
                continue
            values = list(zip((part.code(fluent) for fluent in part.fluents), after, strict=True))
            if not part.is_exact:
                values.insert(0, (0, ~reduce(or_, after)))
            split = list(_split(cases, number, same, values))
            if len(split) <= MOST_CASES:
                cases = split
            else:
                pairs = zip(encoding.primed[number], self._functions(number, values), strict=True)
                relations[number] = [~(primed ^ function) for primed, function in pairs]
        for condition, constants in cases:
            fixed = reduce(and_, (encoding.value(*pair) for pair in reversed(constants)), encoding.true)
            yield MoveEffect(condition, dict(constants), fixed, relations)

    def _functions(self, number: int, values: Sequence[tuple[int, Diagram]]) -> list[Diagram]:
        """Return the next value of each variable of a part."""
        return [
            reduce(or_, (diagram for code, diagram in values if code >> bit & 1), self.encoding.false)
            for bit in range(self.encoding.parts[number].bits)
        ]

    def _possible(self, effects: list[MoveEffect], independent: set[int]) -> list[MoveEffect]:
        """Return the effects without those that an overestimate of the states excludes.

        Independent parts are taken to have any value.
        """
        encoding = self.encoding
        supports = [self._support(effect.condition) - independent for effect in effects]
        pairs = list(zip(effects, supports, strict=True))
        together = {frozenset(support | set(effect.changed)) for effect, support in pairs}
        sets = [some for some in together if 1 < len(some) <= _MOST_TOGETHER]
        others = [encoding.cube(set(range(len(encoding.parts))) - some) for some in sets]
        estimates = [self.initial.exists(cube) for cube in others]

        def estimate(support: set[int]) -> Diagram:
            states = encoding.true
            for some, one in zip(sets, estimates, strict=True):
                if not some.isdisjoint(support):
                    both = states & one
                    if both.node_count() <= _CLUSTER_NODES:  # without it the estimate is still one
                        states = both
            return states

        steps = 0
        grows = True
        while grows:
            grows = False
            for effect, support in pairs:
                states = None
                for i, some in enumerate(sets):
                    if some.isdisjoint(effect.changed):
                        continue
                    steps += 1
                    if steps > _MOST_PROJECTIONS:
                        return effects
                    if states is None:
                        states = self._image(effect, estimate(support | set(effect.changed)))
                    more = estimates[i] | states.exists(others[i])
                    if more != estimates[i]:
                        estimates[i] = more
                        grows = True
        return [effect for effect, support in pairs if (effect.condition & estimate(support)).satisfiable()]

    def _support(self, diagram: Diagram) -> set[int]:
        """Return the parts on which a set of states depends."""
        cubes = ((part, self.encoding.cube((part,))) for part in range(len(self.encoding.parts)))
        return {part for part, cube in cubes if diagram.exists(cube) != diagram}

    # -- steps of sets --------------------------------------------------------------------------------

    def moment(self, step: int) -> int:
        """Return the first step after which the parts that change by themselves are as after this one."""
        moments = self._moments
        while len(moments) <= step:
            after = (self._image(effect, moments[-1]) for effect in self._clock)
            moments.append(reduce(or_, after, self.encoding.false))
            self._numbers.setdefault(moments[-1], len(moments) - 1)
        return self._numbers[moments[step]]

    def at(self, step: int, states: Diagram) -> Diagram:
        """Return the states of a set after some steps, without the parts that change by themselves."""
        moment = self._moments[self.moment(step)]
        return states.apply_exists(BooleanOperator.AND, moment, self._clock_parts)

    def active_effects(self, step: int) -> list[MoveEffect]:
        """Return the effects that are possible after some steps, without the parts whose values are known."""
        moment = self.moment(step)
        if moment not in self._active:
            effects = [
                replace(
                    effect,
                    condition=self.at(step, effect.condition),
                    relations={
                        part: [self.at(step, one) for one in some] for part, some in effect.relations.items()
                    },
                )
                for effect in self.effects
            ]
            self._active[moment] = [effect for effect in effects if effect.condition.satisfiable()]
        return self._active[moment]

    def ending(self, step: int) -> list[Diagram]:
        """Return sets whose intersection has the states after some steps in which the game goes on.

        Those are left out that hold because the game went on before.
        """
        moments = (self.moment(step - 1) if step else -1, self.moment(step))
        if moments not in self._ending:
            may_fail = frozenset(range(len(self.not_over)))
            if step:
                may_fail = self._timed.union(*(effect.ends for effect in self.active_effects(step - 1)))
            some = (self.at(step, self.not_over[number]) for number in sorted(may_fail))
            self._ending[moments] = [conjunct for conjunct in some if conjunct != self.encoding.true]
        return self._ending[moments]

    def choosers(self, step: int) -> list[int]:
        """Return the roles that may have more than one legal move after some steps, whatever else holds."""
        moment = self.moment(step)
        if moment not in self._choosers:
            self._choosers[moment] = [
                role
                for role, legal in enumerate(self._legal)
                if sum(self.at(step, states).satisfiable() for states in legal) > 1
            ]
        return self._choosers[moment]

    def stuck(self, step: int) -> list[Diagram]:
        """Return for each role the states after some steps, even unreachable ones, without a legal move."""
        return [self.at(step, ~reduce(or_, legal, self.encoding.false)) for legal in self._legal]

    def _find_ends(self) -> None:
        """Find for each effect the conditions for going on that may fail after it."""
        few = len(self.not_over) * len(self.effects) <= _MOST_PROJECTIONS
        for effect in self.effects:
            effect.ends = frozenset(
                number
                for number, going in enumerate(self.not_over)
                if not few or (self._image(effect, going) & ~going).satisfiable()
            )

    def _image(self, effect: MoveEffect, states: Diagram) -> Diagram:
        encoding = self.encoding
        changed = encoding.cube(effect.changed)
        if not effect.relations:
            return states.apply_exists(BooleanOperator.AND, effect.condition, changed) & effect.values
        states &= effect.condition
        if not states.satisfiable():
            return states
        *relations, last = (relation for some in effect.relations.values() for relation in some)
        for relation in relations:
            states &= relation
        states = states.apply_exists(BooleanOperator.AND, last, changed)
        return encoding.unprimed(states, effect.relations) & effect.values


def _literal(diagram: Diagram, literal: int) -> Diagram:
    return ~diagram if literal & 1 else diagram


def _split(
    cases: Sequence[tuple[Diagram, list[tuple[int, int]]]],
    number: int,
    same: Diagram,
    values: Sequence[tuple[int, Diagram]],
) -> Iterator[tuple[Diagram, list[tuple[int, int]]]]:
    """Yield the cases by the new value of a part, or none where it keeps its value, up to too many."""
    count = 0
    for condition, constants in cases:
        unchanged = condition & same
        if unchanged.satisfiable():
            count += 1
            yield unchanged, constants
        other = condition & ~same
        for code, diagram in values if other.satisfiable() else ():
            both = other & diagram
            if both.satisfiable():
                count += 1
                yield both, [*constants, (number, code)]
        if count > MOST_CASES:
            return

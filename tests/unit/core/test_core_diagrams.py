"""Decision diagrams of the core, against sets of tuples."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from herbrand.core import Diagrams, Stop
from herbrand.errors import Stopped

if TYPE_CHECKING:
    from collections.abc import Iterable

VALUES = (2, 3, 4, 2, 3)
State = tuple[int, ...]
Pairs = set[tuple[State, State]]


def diagrams(megabytes: float = 8) -> Diagrams:
    """Return the diagrams of the levels of these tests."""
    return Diagrams(np.array(VALUES, np.int32), int(megabytes * 1e6))


def set_of(sets: Diagrams, states: Iterable[State]) -> int:
    """Return the set of some states."""
    result = 0
    for state in states:
        result = sets.unite(result, sets.state(np.array(state, np.int32)))
    return result


def relation_of(sets: Diagrams, fixed: dict[int, tuple[int, int]]) -> tuple[int, Pairs]:
    """Return the relation that replaces one value by another in some levels, and its pairs."""
    relation = 1
    for level in sorted(fixed, reverse=True):
        n = VALUES[level]
        before, after = fixed[level]
        children = [0] * (n * n)
        children[before * n + after] = relation
        relation = sets.relation(level, children)
    pairs = set()
    for state in itertools.product(*map(range, VALUES)):
        if all(state[level] == before for level, (before, _) in fixed.items()):
            pairs.add((state, tuple(fixed.get(k, (0, value))[1] for k, value in enumerate(state))))
    return relation, pairs


def some_states(random: np.random.Generator) -> set[State]:
    """Return a random set of states."""
    every = list(itertools.product(*map(range, VALUES)))
    share = random.choice([0.02, 0.3, 0.9])
    return {state for state in every if random.random() < share}


@pytest.mark.parametrize("seed", range(5))
def test_operations_are_those_of_sets(seed: int) -> None:
    """Unions, intersections, differences, images under several effects, and the numbers of states."""
    random = np.random.default_rng(seed)
    sets = diagrams()
    for _ in range(10):
        a, b = some_states(random), some_states(random)
        of_a, of_b = set_of(sets, a), set_of(sets, b)
        assert sets.unite(of_a, of_b) == set_of(sets, a | b)  # equal sets are equal numbers
        assert sets.intersect(of_a, of_b) == set_of(sets, a & b)
        assert sets.subtract(of_a, of_b) == set_of(sets, a - b)
        relation, pairs = 0, set()
        for _ in range(4):
            levels = random.choice(len(VALUES), random.integers(0, 4), replace=False).tolist()
            one, some = relation_of(
                sets,
                {k: (int(random.integers(VALUES[k])), int(random.integers(VALUES[k]))) for k in levels},
            )
            relation = sets.unite_relations(relation, one)
            pairs |= some
        image = sets.image(of_a, relation)
        assert image == set_of(sets, {after for before, after in pairs if before in a})
        assert sets.collect([of_a])[0] == len(a)


def test_what_is_named_survives_a_collection() -> None:
    """The others are forgotten, and their places used again."""
    sets = diagrams()
    kept = {(0, 1, 2, 0, 1), (1, 2, 3, 1, 2)}
    relation, pairs = relation_of(sets, {1: (1, 2)})
    of_kept = set_of(sets, kept)
    set_of(sets, itertools.product(*map(range, VALUES)))
    before = sets.nodes
    states, nodes = sets.collect([of_kept, relation])
    assert (states, nodes) == (2, sets.nodes - 1)
    assert sets.nodes < before
    assert sets.image(of_kept, relation) == set_of(sets, {b for a, b in pairs if a in kept})
    assert sets.subtract(of_kept, set_of(sets, kept)) == 0


def test_sets_go_through_arrays() -> None:
    """Into other diagrams with the same levels."""
    sets, others = diagrams(), diagrams()
    states = some_states(np.random.default_rng(3))
    of_states, first = set_of(sets, states), set_of(sets, [min(states)])
    arrays = sets.exported([of_states, 0, 1, first])
    assert sets.unite(of_states, first) == of_states  # as before
    again, empty, zeros, least = others.imported(*arrays)
    assert (empty, zeros) == (0, 1)
    assert again == set_of(others, states)
    assert least == set_of(others, [min(states)])


def test_damaged_arrays_are_refused() -> None:
    """Whatever they say, nothing is read outside of them."""
    sets = diagrams()
    levels, children, roots = sets.exported([set_of(sets, some_states(np.random.default_rng(4)))])
    for bad in (
        (levels[:-1], children, roots),
        (levels, children[:-1], roots),
        (levels, children, roots + 1),
        (levels[::-1].copy(), children, roots),
        (levels + np.uint16(9), children, roots),
        (levels, children + np.uint32(len(levels)), roots),
    ):
        with pytest.raises(ValueError, match=r"level|child|node"):
            sets.imported(*bad)


def test_wrong_arguments_are_refused() -> None:
    """Relations are no sets, children are of later levels, and forgotten nodes are unknown."""
    sets = diagrams()
    relation, _ = relation_of(sets, {2: (1, 2)})
    some = set_of(sets, [(1, 1, 1, 1, 1)])
    with pytest.raises(ValueError, match="no set"):
        sets.unite(some, relation)
    with pytest.raises(ValueError, match="no relation"):
        sets.image(some, some)
    with pytest.raises(ValueError, match="later levels"):
        sets.relation(2, [relation] * 16)
    with pytest.raises(ValueError, match="no such value"):
        sets.state(np.array([2, 0, 0, 0, 0], np.int32))
    with pytest.raises(ValueError, match="no such node"):
        sets.collect([1 << 29])
    with pytest.raises(ValueError, match="2 to 4"):
        Diagrams(np.array([5], np.int32), 1 << 20)


def test_numbers_may_be_large_and_too_large() -> None:
    """Up to 2 ** 128 states are counted."""
    for levels in (60, 63, 70):
        sets = Diagrams(np.full(levels, 4, np.int32), 1 << 20)
        every = 1
        # from any value to any: all states are successors of zeros
        for level in range(levels):
            every = sets.image(every, sets.relation(level, [1] * 16))
        if levels < 64:
            assert sets.collect([every])[0] == 4**levels
        else:
            with pytest.raises(OverflowError):
                sets.collect([every])
        assert sets.collect([1])[0] == 1


def test_operations_end_when_they_are_told_to() -> None:
    """And with their memory."""
    sets = Diagrams(np.full(40, 4, np.int32), 1 << 20)
    random = np.random.default_rng(1)
    stop = Stop()
    stop.set()

    def many(stop: Stop | None) -> None:
        states = 0
        for _ in range(100_000):
            states = sets.unite(states, sets.state(random.integers(0, 4, 40, dtype=np.int32)), stop)

    with pytest.raises(Stopped):
        many(stop)
    with pytest.raises(MemoryError):
        many(None)
    assert sets.collect([1]) == (1, 0)
    assert sets.nodes == 0

"""Take out common factors: `(a and b) or (a and c)` becomes `a and (b or c)`.

Gates that only one other gate uses are seen as one conjunction of many literals, and those under an
inverted edge as terms of a disjunction.  In each disjunction the literal that most terms share is
taken out, again and again (as in algebraic factoring; Brayton and McMullen 1982).  Then pairs
of literals that many conjunctions share get a gate of their own, the most frequent first.

Rules make many such: each move of a piece repeats what all moves of the piece need.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.network.cones import in_cones
from herbrand.network.gates import Gates

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.network.network import Network
    from herbrand.network.passes.exclusive import Exclusive

__all__ = ["factor"]

_WIDE = 48
"""Of conjunctions with more literals, only neighbours are looked at as pairs."""


class _Conjunctions:
    """Conjunctions of any number of literals, equal ones being one; number `n` is node `first + n`."""

    def __init__(self, first: int, exclusive: Exclusive | None) -> None:
        self.first = first
        self.rows: list[tuple[int, ...]] = []
        self._known: dict[tuple[int, ...], int] = {}
        self._exclusive = exclusive

    def of(self, literals: Iterable[int]) -> int:
        """Return the literal of a conjunction."""
        row = set(literals)
        row.discard(1)
        if 0 in row or any(literal ^ 1 in row for literal in row):
            return 0
        if self._exclusive is not None:
            kept = self._exclusive.reduced(row)
            if kept is None:
                return 0
            row = kept
        if len(row) < 2:
            return row.pop() if row else 1
        key = tuple(sorted(row))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = 2 * (self.first + len(self.rows))
            self.rows.append(key)
            if self._exclusive is not None:
                self._exclusive.learn(found, key)
        return found

    def none_of(self, terms: list[frozenset[int]]) -> int:
        """Return the literal that no term is true, a term being true when all its literals are."""
        rest = [term for term in dict.fromkeys(terms) if not any(literal ^ 1 in term for literal in term)]
        if any(not term for term in rest):
            return 0
        count = Counter(literal for term in rest for literal in term)
        parts: list[int] = []
        while len(rest) > 1:
            literal, most = max(count.items(), key=lambda pair: (pair[1], pair[0]), default=(0, 0))
            if most < 2:
                break
            sharing = [term for term in rest if literal in term]
            rest = [term for term in rest if literal not in term]
            for term in sharing:
                for other in term:
                    count[other] -= 1
            inner = self.none_of([term - {literal} for term in sharing])
            parts.append(self.of((literal, inner ^ 1)) ^ 1)
        parts += [self.of(term) ^ 1 for term in rest]
        return self.of(parts)


def factor(network: Network, exclusive: Exclusive | None = None) -> Network:
    """Return an equal network with fewer gates; one with loops is returned as it is.

    With `exclusive` it is equal in the states that `exclusive` tells of.
    """
    if len(network.loops):
        return network
    first = network.inputs
    left, right = network.left.tolist(), network.right.tolist()
    outputs = np.concatenate((network.legal, network.next, [network.terminal], network.goal, network.sees))
    uses = np.bincount(
        np.concatenate((network.left, network.right, outputs)) >> 1, minlength=first + network.gates
    ).tolist()
    for literal in (outputs >> 1).tolist():
        uses[literal] = 2  # outputs keep their gate
    inner: list[Any] = [None] * (first + network.gates)  # of gates with one use: literals and terms
    value = [2 * node for node in range(first)] + [0] * network.gates
    made = _Conjunctions(first, exclusive)
    for g in range(network.gates):
        literals: list[int] = []
        terms: list[frozenset[int]] = []
        for literal in (left[g], right[g]):
            node = literal >> 1
            if node < first or uses[node] > 1:
                literals.append(value[node] ^ (literal & 1))
            elif literal & 1:
                terms.append(_closed(made, inner[node]))
                inner[node] = None
            else:
                literals += inner[node][0]
                terms += inner[node][1]
                inner[node] = None
        if uses[first + g] > 1:
            if terms:
                literals.append(made.none_of(terms))
            value[first + g] = made.of(literals)
        else:
            inner[first + g] = literals, terms

    def moved(literals: Any) -> Any:
        return np.array([value[x >> 1] ^ (x & 1) for x in literals.tolist()], np.int32)

    new = {name: moved(getattr(network, name)) for name in ("legal", "next", "goal", "sees")}
    terminal = int(moved(np.array([network.terminal]))[0])
    gates, place = _shared(made, [*(x for row in new.values() for x in row.tolist()), terminal])

    def placed(literals: Any) -> Any:
        return np.array([place[x >> 1] ^ (x & 1) for x in literals.tolist()], np.int32)

    small = replace(
        network,
        left=np.array(gates.left, np.int32),
        right=np.array(gates.right, np.int32),
        terminal=place[terminal >> 1] ^ (terminal & 1),
        **{name: placed(row) for name, row in new.items()},
    )
    small = in_cones(small, first)
    return small if small.gates < network.gates else network


def _closed(made: _Conjunctions, parts: tuple[list[int], list[frozenset[int]]]) -> frozenset[int]:
    """Return a conjunction as a term."""
    literals, terms = parts
    return frozenset([*literals, made.none_of(terms)] if terms else literals) - {1}


def _shared(made: _Conjunctions, outputs: list[int]) -> tuple[Gates, list[int]]:
    """Make gates of conjunctions, pairs that several share first.

    Returns the gates, and for each node of `made` the literal it has become.
    """
    first = made.first
    rows: list[set[int] | None] = [None] * len(made.rows)
    stack = [x >> 1 for x in outputs]
    while stack:
        node = stack.pop()
        if node >= first and rows[node - first] is None:
            rows[node - first] = set(made.rows[node - first])
            stack += [x >> 1 for x in made.rows[node - first]]
    extra: list[tuple[int, int]] = []
    where: defaultdict[tuple[int, int], set[int]] = defaultdict(set)

    def pairs(row: set[int]) -> list[tuple[int, int]]:
        ordered = sorted(row)
        if len(ordered) > _WIDE:
            return list(pairwise(ordered))
        return [(a, b) for i, b in enumerate(ordered) for a in ordered[:i]]

    for n, row in enumerate(rows):
        if row is not None and len(row) > 1:
            for pair in pairs(row):
                where[pair].add(n)
    heap = [(-len(users), pair) for pair, users in where.items() if len(users) > 1]
    heapq.heapify(heap)
    base = first + len(made.rows)
    while heap:
        count, pair = heapq.heappop(heap)
        users = where.get(pair, set())
        now = {n for n in users if pair[0] in rows[n] and pair[1] in rows[n]}  # type: ignore[operator]
        if len(now) < 2:
            continue
        if len(now) < -count:
            where[pair] = now
            heapq.heappush(heap, (-len(now), pair))
            continue
        literal = 2 * (base + len(extra))
        extra.append(pair)
        fresh: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        for n in now:
            row = rows[n]
            assert row is not None
            row.difference_update(pair)
            if len(row) <= _WIDE:
                for other in row:
                    fresh[other, literal].add(n)
            row.add(literal)
        for new, users in fresh.items():
            if len(users) > 1:
                where[new] = users
                heapq.heappush(heap, (-len(users), new))
        where.pop(pair, None)
    while where:  # when all is freed in one go, no other thread runs meanwhile
        where.popitem()
    return _gates(first, rows, extra, outputs)


def _gates(
    first: int, rows: list[set[int] | None], extra: list[tuple[int, int]], outputs: list[int]
) -> tuple[Gates, list[int]]:
    """Make the gates in the order in which outputs need them, conjunctions balanced."""
    base = first + len(rows)
    gates = Gates(first)
    place = [2 * node for node in range(first)] + [-1] * (len(rows) + len(extra))
    for output in outputs:
        stack = [output >> 1]
        while stack:
            node = stack[-1]
            if place[node] >= 0:
                stack.pop()
                continue
            row: Iterable[int] = extra[node - base] if node >= base else rows[node - first] or ()
            missing = [x >> 1 for x in row if place[x >> 1] < 0]
            if missing:
                stack += missing
                continue
            place[node] = _balanced(gates, [place[x >> 1] ^ (x & 1) for x in row])
            stack.pop()
    return gates, place


def _balanced(gates: Gates, literals: list[int]) -> int:
    """Return the conjunction of literals, older ones joined first."""
    heap = sorted(literals)
    heapq.heapify(heap)
    while len(heap) > 1:
        heapq.heappush(heap, gates.conjunction(heapq.heappop(heap), heapq.heappop(heap)))
    return heap[0] if heap else 1

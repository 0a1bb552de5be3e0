"""The arrays of a search tree, and how it forgets what can no longer come.

Positions are numbered from 0 in the order in which they were met.  Each has a row in every array
that begins with `[positions]`.  When a position is opened its arms, the legal moves of role 0, then
of role 1 and so on, get consecutive places in every array that begins with `[arms]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from herbrand.compiled import compiled
from herbrand.simulate.memory import zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ALONE", "AMAF", "ARMS", "BUSY", "CHANCE", "EDGES", "EXPLORATION", "FULL", "JOINT", "LEAF", "OVER",
    "POSITIONS", "REGRET", "SERIAL", "SINGLE", "SUM", "WEIGHT", "Tree", "add_edge", "edge_slot", "forget",
    "hashed", "mixed", "new_tree", "position_slot",
]  # fmt: skip

LEAF: Final = 0
"""A position that was valued but not opened."""
ALONE: Final = 1
"""At most one role has a choice."""
JOINT: Final = 2
"""Several roles have a choice."""
OVER: Final = 3
"""The game is over, or stuck."""

EXPLORATION: Final = 0
"""Places in `Tree.settings`: the constant of UCB1."""
WEIGHT: Final = 1
"""What a way that is under way counts, in random games."""
SUM: Final = 2
"""What the goals of the two players add up to, from 0 to 2; -1 if that differs, -2 while it is not known."""
CHANCE: Final = 3
"""The number of the role `random`; -1 without one."""
SINGLE: Final = 4
"""1 if only one role, and no chance, plays: then the best that was reached counts besides the mean."""
REGRET: Final = 5
"""1 if roles that move at once choose by regret matching, 0 for UCB1."""
AMAF: Final = 6
"""Random games after which a move's own mean counts as much as that of games with it later; 0 for never."""

BUSY: Final = 1 << 62
"""In `Tree.seen`: random games from this position are under way, and it is not to be opened."""

POSITIONS: Final = 0
"""Places in `Tree.used`: how many positions there are."""
ARMS: Final = 1
FULL: Final = 2
"""1 when something did not fit."""
SERIAL: Final = 3
"""The number of the last way down."""
EDGES: Final = 4
_U = np.uint64


class Tree(NamedTuple):
    """A search tree; values are goals divided by 100."""

    state: NDArray[np.uint64]
    """[positions, words] packed states."""
    slots: NDArray[np.int32]
    """Hash table with open addressing: 1 + the position, or 0."""
    games: NDArray[np.float64]
    """[positions] random games played at or under it."""
    total: NDArray[np.float64]
    """[positions, roles] the sums of their values."""
    best: NDArray[np.float64]
    """[positions] the highest value that role 0 reached in one of them."""
    low: NDArray[np.float64]
    """[positions, roles] what a role can make sure of, proved."""
    high: NDArray[np.float64]
    """[positions, roles] what a role can get at most, proved."""
    plies: NDArray[np.int32]
    """[positions] how many steps a proof looks ahead."""
    kind: NDArray[np.uint8]
    mover: NDArray[np.int16]
    """[positions] the role that has a choice; 0 if none has."""
    first: NDArray[np.int64]
    """[positions] the first arm."""
    sizes: NDArray[np.int32]
    """[positions, roles] how many arms each role has."""
    seen: NDArray[np.int64]
    """[positions] the number of the last way that came by."""
    move: NDArray[np.int32]
    """[arms] the move, by its number among the moves of all roles."""
    arm_count: NDArray[np.float64]
    arm_total: NDArray[np.float64]
    """[arms] the values of the role that has the arm."""
    arm_virtual: NDArray[np.int32]
    """[arms] ways that are under way through it."""
    arm_child: NDArray[np.int32]
    """[arms] the position after it, where only one role has a choice; -1 if it has not been made."""
    amaf_count: NDArray[np.float32]
    """[arms] random games from here in which the role made the move now or later (all moves as first)."""
    amaf_total: NDArray[np.float32]
    """[arms] the role's values in them."""
    arm_regret: NDArray[np.float64]
    arm_share: NDArray[np.float64]
    """[arms] for regret matching: cumulated regret and cumulated strategy."""
    edge_slots: NDArray[np.int32]
    """Hash table of the joint moves that were made where several roles have a choice: 1 + the edge, or 0."""
    edge_key: NDArray[np.uint64]
    """[edges] a number for state and joint move."""
    edge_parent: NDArray[np.int32]
    edge_child: NDArray[np.int32]
    edge_next: NDArray[np.int32]
    """[edges] the edge made before from the same position, or -1; where several roles have a choice,
    `arm_child` of the first arm is the last edge."""
    used: NDArray[np.int64]
    random: NDArray[np.uint64]
    """[1] the state of the random numbers."""
    settings: NDArray[np.float64]


def new_tree(words: int, roles: int, *, memory: int, most: int = 1 << 27, seed: int = 0) -> Tree:
    """Make an empty tree that takes at most about so many bytes, and has at most `most` positions.

    The memory is asked for, but used only as the tree grows.
    """
    arms_each = 2  # every position but the first is behind an arm; those without choice need more
    row = -(-(2 + 3 * roles) // 8) * 8
    position = 8 * words + 8 * row + 4 + 1 + 2 + 8 + 4 * roles + 8 + 12 + 28
    arm = 4 + 8 + 8 + 4 + 4 + 4 + 4 + 8 + 8
    positions = int(max(2_000, min(most, memory // (position + arms_each * arm))))
    arms = max(100_000, arms_each * positions)
    slots = 1 << (2 * positions - 1).bit_length()
    f8, i8, i4, u8 = np.float64, np.int64, np.int32, np.uint64
    # what is asked of a position that may be chosen stands together, at the beginning of a line of the cache
    flat = zeros(positions * row + 8, f8)
    shift = -(flat.ctypes.data // 8) % 8
    table = flat[shift : shift + positions * row].reshape(positions, row)
    tree = Tree(
        state=zeros((positions, words), u8),
        slots=zeros(slots, i4),
        games=table[:, 0],
        best=table[:, 1],
        total=table[:, 2 : 2 + roles],
        low=table[:, 2 + roles : 2 + 2 * roles],
        high=table[:, 2 + 2 * roles : 2 + 3 * roles],
        plies=zeros(positions, i4),
        kind=zeros(positions, np.uint8),
        mover=zeros(positions, np.int16),
        first=zeros(positions, i8),
        sizes=zeros((positions, roles), i4),
        seen=zeros(positions, i8),
        move=zeros(arms, i4),
        arm_count=zeros(arms, f8),
        arm_total=zeros(arms, f8),
        arm_virtual=zeros(arms, i4),
        arm_child=zeros(arms, i4),
        amaf_count=zeros(arms, np.float32),
        amaf_total=zeros(arms, np.float32),
        arm_regret=zeros(arms, f8),
        arm_share=zeros(arms, f8),
        edge_slots=zeros(slots, i4),
        edge_key=zeros(positions, u8),
        edge_parent=zeros(positions, i4),
        edge_child=zeros(positions, i4),
        edge_next=zeros(positions, i4),
        used=np.zeros(8, i8),
        random=np.array([(seed * 0x9E3779B97F4A7C15 + 0x1234567) % (1 << 64)], u8),
        settings=np.zeros(8, f8),
    )
    tree.settings[SUM] = -2
    return tree


def forget(tree: Tree, root: int) -> int:
    """Drop every position that cannot be reached from `root` in the tree; return the root's new number."""
    moved = np.full(int(tree.used[POSITIONS]), -1, np.int32)
    opened = _mark(tree, root, moved)
    order = opened[np.argsort(tree.first[opened], kind="stable")]
    kept = np.flatnonzero(moved >= 0)
    moved[kept] = np.arange(len(kept), dtype=np.int32)
    _slide_arms(tree, order, moved)
    _slide(tree, kept, moved)
    return int(moved[root])


@compiled
def _mark(tree, root, moved):
    """Set `moved` of all positions below the root to 0; return those that are open."""
    stack = np.empty(len(moved), np.int64)
    opened = np.empty(len(moved), np.int64)
    opens = 0
    stack[0], top = root, 1
    moved[root] = 0
    while top:
        top -= 1
        at = stack[top]
        if tree.kind[at] == ALONE:
            size = np.int64(0)
            for r in range(tree.sizes.shape[1]):
                size += tree.sizes[at, r]
            for a in range(tree.first[at], tree.first[at] + size):
                child = tree.arm_child[a]
                if child >= 0 and moved[child] < 0:
                    moved[child] = 0
                    stack[top] = child
                    top += 1
        elif tree.kind[at] == JOINT:
            edge = tree.arm_child[tree.first[at]]
            while edge >= 0:
                child = tree.edge_child[edge]
                if moved[child] < 0:
                    moved[child] = 0
                    stack[top] = child
                    top += 1
                edge = tree.edge_next[edge]
        else:
            continue
        opened[opens] = at
        opens += 1
    return opened[:opens].copy()


@compiled
def _slide_arms(tree, order, moved):
    """Move the arms of open positions, given in the order of their arms, to the front."""
    to = np.int64(0)
    for at in order:
        size = np.int64(0)
        for r in range(tree.sizes.shape[1]):
            size += tree.sizes[at, r]
        come = tree.first[at]
        tree.first[at] = to
        for k in range(size):
            tree.move[to + k] = tree.move[come + k]
            tree.arm_count[to + k] = tree.arm_count[come + k]
            tree.arm_total[to + k] = tree.arm_total[come + k]
            tree.arm_virtual[to + k] = tree.arm_virtual[come + k]
            tree.amaf_count[to + k] = tree.amaf_count[come + k]
            tree.amaf_total[to + k] = tree.amaf_total[come + k]
            tree.arm_regret[to + k] = tree.arm_regret[come + k]
            tree.arm_share[to + k] = tree.arm_share[come + k]
            child = tree.arm_child[come + k]
            tree.arm_child[to + k] = moved[child] if child >= 0 and tree.kind[at] == ALONE else -1
        to += size
    tree.used[ARMS] = to


@compiled
def _slide(tree, kept, moved):
    """Move positions and edges to the front, and find them anew."""
    for to in range(len(kept)):
        come = kept[to]
        tree.state[to] = tree.state[come]
        tree.games[to] = tree.games[come]
        tree.total[to] = tree.total[come]
        tree.best[to] = tree.best[come]
        tree.low[to] = tree.low[come]
        tree.high[to] = tree.high[come]
        tree.plies[to] = tree.plies[come]
        tree.kind[to] = tree.kind[come]
        tree.mover[to] = tree.mover[come]
        tree.first[to] = tree.first[come]
        tree.sizes[to] = tree.sizes[come]
        tree.seen[to] = tree.seen[come]
    tree.used[POSITIONS] = len(kept)
    tree.slots[:] = 0
    for at in range(len(kept)):
        place = position_slot(tree, tree.state, at)
        tree.slots[place] = at + 1
    edges = tree.used[EDGES]
    tree.used[EDGES] = 0
    if edges:
        tree.edge_slots[:] = 0
    for e in range(edges):
        parent, child = tree.edge_parent[e], tree.edge_child[e]
        if moved[parent] >= 0 and moved[child] >= 0:
            add_edge(tree, tree.edge_key[e], moved[parent], moved[child])


# -- finding ------------------------------------------------------------------------------


@compiled
def mixed(word):
    """Scatter a word (the finaliser of Steele, Lea and Flood's SplitMix, 2014)."""
    word = (word ^ (word >> _U(30))) * _U(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> _U(27))) * _U(0x94D049BB133111EB)
    return word ^ (word >> _U(31))


@compiled
def hashed(states, i):
    """Return a number for the i-th packed state."""
    key = _U(0x9E3779B97F4A7C15)
    for j in range(states.shape[1]):
        key = mixed(key ^ states[i, j]) + _U(0x9E3779B97F4A7C15)
    return key


@compiled
def position_slot(tree, states, i):
    """Return the slot of the i-th packed state: it holds its position, or 0 if the tree has none."""
    mask = _U(len(tree.slots) - 1)
    place = hashed(states, i) & mask
    while True:
        at = tree.slots[place] - 1
        if at < 0:
            return np.int64(place)
        same = True
        for j in range(states.shape[1]):
            if tree.state[at, j] != states[i, j]:
                same = False
                break
        if same:
            return np.int64(place)
        place = (place + _U(1)) & mask


@compiled
def edge_slot(tree, key):
    """Return the slot of a joint move by its key; it holds 0 if that was not made yet."""
    mask = _U(len(tree.edge_slots) - 1)
    place = key & mask
    while tree.edge_slots[place] and tree.edge_key[tree.edge_slots[place] - 1] != key:
        place = (place + _U(1)) & mask
    return np.int64(place)


@compiled
def add_edge(tree, key, parent, child):
    """Remember the position after a joint move, if there is room and it is new."""
    place = edge_slot(tree, key)
    edge = tree.used[EDGES]
    if tree.edge_slots[place] or edge == len(tree.edge_key):
        return
    tree.used[EDGES] = edge + 1
    tree.edge_slots[place] = edge + 1
    tree.edge_key[edge] = key
    tree.edge_parent[edge] = parent
    tree.edge_child[edge] = child
    tree.edge_next[edge] = tree.arm_child[tree.first[parent]]
    tree.arm_child[tree.first[parent]] = edge

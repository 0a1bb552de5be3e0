"""One state of a network, kept between questions, so that the next question costs what has changed.

There are two ways to bring the gates up to date.  *Walking* evaluates all gates of a cone: a
nanosecond for each.  *Reckoning* follows the changes alone, which players of General Game
Playing call forward dead reckoning: where a node changes, each gate that reads it changes as well if its
other operand is true, and is marked as due; a sweep over what is due, in topological order, makes these
changes, and more become due.  A gate that gets its second mark has none: both operands have changed, and
it has not.  So what is due is always just what differs from the noted operands, and nothing is
evaluated.  Gates that nobody asks for stay due until somebody does; goals, asked for at the
end, are walked.  A change costs some ten times as much as a walked gate, so this pays where a step
changes little.  `Memory.reckons` says which way is taken.  In place of walking there can be
machine code of the network's own (`straight_state`): some three times as fast as walking, but made for it.

A loop is the least fixpoint of monotone gates.  What lets it only grow, it grows by: the sweep goes
on from the fixpoint before.  What could let it shrink spoils it, and it is evaluated anew; `_spoils`
tells the one from the other.  A stone more on the board of hex costs no more than its neighbours.

The outputs are packed bits: the legal moves of each role, the next state, goals, percepts.

Compiled code gets the address of a header of 64-bit numbers: sizes, then the addresses of
arrays.  Each array that Python passed itself would cost as much as evaluating a hundred gates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.builtin import Entry
from herbrand.compiled import compiled, inlined
from herbrand.simulate.raw import (
    call,
    load_byte,
    load_int,
    load_long,
    load_short,
    load_word,
    store_byte,
    store_int,
    store_short,
    store_word,
)
from herbrand.simulate.vectors import lowest_bit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from herbrand.network.network import Network
    from herbrand.simulate.straight_state import StateCode

__all__ = ["Memory", "Told", "enter", "follow", "forward", "score"]

_U = np.uint64
_SIZES = (
    *("reckons", "known", "fluents", "moves", "roles", "inputs", "loop_count", "state_words"),
    *("legal_end", "next_end", "gates", "feedback_first"),
    *("word_next", "word_terminal", "word_goal", "word_sees", "words"),
    *("none", "true", "false", "list", "tuple", "index_error", "reckon", "legal_code", "next_code"),
)
_ARRAYS = (
    *("values", "due", "state", "entering", "outputs", "word_of", "left", "right", "fan_start", "fan"),
    *("literals", "loops", "feedback", "old", "joint", "made", "place"),
    *("bits", "first_move", "order", "spoiled", "listed", "lists"),
)
(
    RECKONS, KNOWN, FLUENTS, MOVES, ROLES, INPUTS, LOOP_COUNT, STATE_WORDS,
    LEGAL_END, NEXT_END, GATES, FEEDBACK_FIRST,
    WORD_NEXT, WORD_TERMINAL, WORD_GOAL, WORD_SEES, WORDS,
    NONE, TRUE, FALSE, LIST, TUPLE, INDEX_ERROR, RECKON, LEGAL_CODE, NEXT_CODE,
    VALUES, DUE, STATE, ENTERING, OUTPUTS, WORD_OF, LEFT, RIGHT, FAN_START, FAN,
    LITERALS, LOOPS, FEEDBACK, OLD, JOINT, MADE, PLACE,
    BITS, FIRST_MOVE, ORDER, SPOILED, LISTED, LISTS,
) = range(0, 8 * (len(_SIZES) + len(_ARRAYS)), 8)  # fmt: skip
"""Where they stand in the header, in bytes."""


class Memory:
    """What compiled code works on: a network's single state and what follows from it.

    At first all fluents are false and nothing is evaluated.
    """

    def __init__(self, network: Network, order: NDArray[np.int64]) -> None:
        """`order[m]` is the move whose legality is output m: sorted by role, then as answers shall be."""
        fluents, moves, roles = len(network.fluents), len(network.moves), len(network.roles)
        nodes = network.inputs + network.gates
        counts = np.bincount(network.moves[:, 0], minlength=roles)
        starts = np.concatenate([[0], np.cumsum(counts)])
        # outputs: each role's moves, the next state, terminal, goals, percepts; all begin a word
        literals = [
            *(network.legal[order[starts[r] : starts[r + 1]]] for r in range(roles)),
            *(network.next, np.array([network.terminal], np.int32), network.goal, network.sees),
        ]
        firsts = np.concatenate([[0], np.cumsum([(len(part) + 63) // 64 for part in literals])])
        word_of, (word_next, word_terminal, word_goal, word_sees, words) = (
            firsts[:roles],
            firsts[roles:].tolist(),
        )
        bits = np.concatenate(
            [64 * first + np.arange(len(part)) for first, part in zip(firsts, literals, strict=False)]
        )
        literal = np.concatenate(literals)
        shown = np.zeros(64 * words, np.int32)
        shown[bits] = literal
        marks = _marks(network)
        sources, fan = _fans(network, literal, bits + len(marks))
        due = np.packbits(np.append(marks, shown & 1).astype(np.bool_), bitorder="little").view(np.uint64)
        self._told = told = Told([*word_of.tolist(), word_next])
        places = np.zeros(moves, np.int32)
        places[order] = np.arange(moves) - starts[network.moves[order, 0]]
        loops = network.loops[np.argsort(network.loops[:, 0])].astype(np.int32)
        longest = int((loops[:, 1] - loops[:, 0]).max(initial=0))
        state_words = (fluents + 63) // 64
        sizes = (
            *(1, 0, fluents, moves, roles, network.inputs, len(loops), state_words, *network.cones),
            *(1 + fluents + moves, word_next, word_terminal, word_goal, word_sees, words),
            *map(id, (None, True, False, list, tuple, IndexError)),
            *(_CODE.address, 0, 0),
        )
        self.arrays: dict[str, NDArray[Any]] = {
            "values": _all_false(nodes),
            "due": due[: len(marks) // 64],
            "state": np.zeros(state_words, np.uint64),
            "entering": np.zeros(state_words, np.uint64),
            "outputs": due[len(marks) // 64 :],
            "word_of": np.append(word_of, word_next).astype(np.int32),
            "left": network.left,
            "right": network.right,
            "fan_start": np.searchsorted(sources, np.arange(nodes + 1)).astype(np.int32),
            "fan": fan,
            "literals": shown,
            "loops": loops,
            "feedback": network.feedback,
            "old": np.zeros(longest + len(network.feedback), np.uint8),
            "joint": np.zeros(roles, np.int32),
            "made": np.full(roles, -1, np.int32),
            "place": places,
            "bits": np.bincount(bits >> 6, minlength=words).astype(np.int32),
            "first_move": starts.astype(np.int32),
            "order": order.astype(np.int32),
            "spoiled": np.zeros(network.gates // 64 + 2, np.uint64),
            "listed": told.words,
            "lists": told.addresses,
        }
        self.network = network
        self._code: StateCode | None = None
        self._due, self._at_first = due, due.copy()
        self.sizes = dict(zip(_SIZES, map(int, sizes), strict=True))
        for name, array in self.arrays.items():
            self.arrays[name] = np.ascontiguousarray(array)
        self._header = np.array(
            [*self.sizes.values(), *(self.arrays[name].ctypes.data for name in _ARRAYS)], np.int64
        )
        self.address: int = self._header.ctypes.data
        """What compiled code is called with."""

    @property
    def code(self) -> StateCode | None:
        """Machine code that takes the place of walking over the gates for all but goals.

        After it was set, a state must be entered anew.
        """
        return self._code

    @code.setter
    def code(self, code: StateCode | None) -> None:
        self._code = code
        addresses = (0, 0) if code is None else (code.legal, code.next)
        self._header[LEGAL_CODE // 8], self._header[NEXT_CODE // 8] = addresses
        self.reckons = self.reckons

    @property
    def reckons(self) -> bool:
        """Whether changes are followed, instead of walking over all gates.

        After it was set, a state must be entered anew.
        """
        return bool(self._header[RECKONS // 8])

    @reckons.setter
    def reckons(self, value: bool) -> None:
        arrays = self.arrays
        self._header[RECKONS // 8], self._header[KNOWN // 8] = value, 0
        # back to the beginning: nothing true, nothing made, nothing evaluated
        arrays["values"][:] = _all_false(len(arrays["values"]) // 2)
        arrays["state"][:] = 0
        arrays["made"][:] = -1
        arrays["spoiled"][:] = 0
        self._due[:] = self._at_first


class Told:
    """Lists of moves that were given out, one for each role, and what is in them; kept by compiled code."""

    def __init__(self, word_of: Sequence[int]) -> None:
        """`word_of` are the words of the outputs at which the moves of each role begin, and their end."""
        self.lists: list[list[object]] = [[] for _ in word_of[1:]]
        self.words = np.zeros(int(word_of[-1]), np.uint64)
        """Which moves are in the lists, as the outputs have it."""
        self.addresses = np.array([id(made) for made in self.lists], np.int64)


def _all_false(nodes: int) -> NDArray[np.uint8]:
    """Return the values of all literals, a byte each, where each node is false."""
    return np.tile(np.array([0, 1], np.uint8), nodes)


def _marks(network: Network) -> NDArray[np.int32]:
    """Return what is due where all nodes are false, by gate and by feedback; in whole words of 64."""
    due = np.append(network.left & network.right, network.feedback) & 1
    return np.append(due, np.zeros(-len(due) % 64, np.int32))


def _fans(
    network: Network, literals: NDArray[np.int32], bits: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return what reads each node: the nodes, sorted, and an entry for each of them.

    An entry is the bit that changes with the node, times four, and in the upper half the literal that
    must be true for that.  The bits are those of the gates, of the feedback (whose bits follow, and need
    nothing), and of the outputs, of which the literals and bits are given.  The two lowest bits of
    an entry say whether a loop is spoiled when the node becomes false (1) and true (2).
    """
    left, right, gates = network.left, network.right, np.arange(network.gates)
    spoils = _spoils(network)
    followed = gates < network.cones[1]  # goals are walked: nothing else reads their gates
    twice = left >> 1 == right >> 1
    a, b = followed & ~(twice & (left != right)), followed & ~twice
    free = np.append(network.feedback, literals)
    sources = np.concatenate([left[a], right[b], free]) >> 1
    needed = np.concatenate([np.where(twice, 1, right)[a], left[b], np.ones_like(free)])
    changing = np.concatenate([gates[a], gates[b], network.gates + np.arange(len(network.feedback)), bits])
    entries = needed.astype(np.int64) << 32 | changing << 2
    entries[: a.sum() + b.sum()] |= np.append(spoils[0, a], spoils[1, b])
    order = np.argsort(sources, kind="stable")
    return sources[order], entries[order]


def _spoils(network: Network) -> NDArray[np.int64]:
    """Return for the left and the right operand of each gate by which of its changes it spoils a loop.

    The gates between a feedback and its source are monotone, with an odd number of inversions
    before the source or with an even one.  Where what comes from outside changes so that the
    source can only rise, the least fixpoint only grows (Tarski 1955), and all values that were
    reached stay below it.
    """
    spoils = np.zeros((2, network.gates), np.int64)
    first, back = network.inputs, network.inputs - len(network.feedback)
    for a, b, c, d in network.loops.tolist():
        operands = list(zip(network.left[a:b].tolist(), network.right[a:b].tolist(), strict=True))
        inside = set(range(back + c, back + d))
        for node, pair in enumerate(operands, first + a):
            if any(literal >> 1 in inside for literal in pair):
                inside.add(node)
        # by node: whether the way to a source is even (1), odd (2), both
        ways = dict.fromkeys(inside, 0)
        for literal in network.feedback[c:d].tolist():
            if literal >> 1 in inside:
                ways[literal >> 1] |= 1 + (literal & 1)
        for node in range(first + b - 1, first + a - 1, -1):
            way = ways.get(node, 0)
            for literal in operands[node - first - a] if way else ():
                if literal >> 1 in inside:
                    ways[literal >> 1] |= _OPPOSITE[way] if literal & 1 else way
        monotone = all(ways[node] < 2 for node in range(back + c, back + d))
        for node in inside.difference(range(back, first)):
            way = ways[node] if monotone else 3
            for side, literal in enumerate(operands[node - first - a]):
                if literal >> 1 not in inside:
                    spoils[side, node - first] = _OPPOSITE[way] if literal & 1 else way
    return spoils


_OPPOSITE = (0, 2, 1, 3)


@compiled
def _value(values, literal):
    return load_byte(values + literal)


@compiled
def _set(values, node, value):
    """Set a node: its literal and the opposite one, which stand side by side."""
    at = values + 2 * node
    store_byte(at, value)
    store_byte(at + 1, value ^ 1)


# -- reckoning ----------------------------------------------------------------------------


@inlined
def _change(values, due, spoiled, start, fan, node):
    """Change the value of a node, and what changes with it: outputs at once, gates become due."""
    both = load_short(values + 2 * node) ^ 0x0101
    store_short(values + 2 * node, both)
    spoiling = 1 + (both & 1)
    for at in range(fan + 8 * load_int(start + 4 * node), fan + 8 * load_int(start + 4 * node + 4), 8):
        entry = load_long(at)
        bit = (entry & 0xFFFFFFFF) >> 2
        word = due + 8 * (bit >> 6)
        store_word(word, load_word(word) ^ (_U(_value(values, entry >> 32)) << _U(bit & 63)))
        if entry & spoiling:
            word = spoiled + 8 * (bit >> 6)
            store_word(word, load_word(word) | (_U(1) << _U(bit & 63)))


@compiled
def _flip(h, node):
    """Change the value of one node."""
    values, due, spoiled = load_long(h + VALUES), load_long(h + DUE), load_long(h + SPOILED)
    _change(values, due, spoiled, load_long(h + FAN_START), load_long(h + FAN), node)


@compiled
def _next(marks, begin, end):
    """Return the first mark from `begin` on, or `end`."""
    if begin >= end:
        return end
    word = begin >> 6
    bits = load_word(marks + 8 * word) >> _U(begin & 63)
    if bits:
        return min(begin + lowest_bit(bits), end)
    last = (end - 1) >> 6
    while word < last:
        word += 1
        bits = load_word(marks + 8 * word)
        if bits:
            return min(64 * word + lowest_bit(bits), end)
    return end


@compiled
def _clean(marks, begin, end):
    """Remove the marks `begin <= i < end`."""
    i = _next(marks, begin, end)
    while i < end:
        word = marks + 8 * (i >> 6)
        store_word(word, load_word(word) & ~(_U(1) << _U(i & 63)))
        i = _next(marks, i + 1, end)


@compiled
def _flip_loop(h, loop):
    """Evaluate a whole loop anew and flip what changed."""
    a, b, c, d = load_int(loop), load_int(loop + 4), load_int(loop + 8), load_int(loop + 12)
    values, new = load_long(h + VALUES), load_long(h + OLD)
    gates, back = load_long(h + INPUTS), load_long(h + FEEDBACK_FIRST)
    count = b - a + d - c
    for i in range(count):
        store_byte(new + i, _value(values, 2 * _in_loop(i, gates + a, b - a, back + c)))
    _repeat(h, loop)
    # back to what was, all of it: flipping looks at other operands
    for i in range(count):
        node = _in_loop(i, gates + a, b - a, back + c)
        value = _value(values, 2 * node)
        _set(values, node, load_byte(new + i))
        store_byte(new + i, value)
    for i in range(count):
        node = _in_loop(i, gates + a, b - a, back + c)
        if _value(values, 2 * node) != load_byte(new + i):
            _flip(h, node)
    last = load_long(h + GATES)
    _clean(load_long(h + DUE), a, b)
    _clean(load_long(h + DUE), last + c, last + d)
    _clean(load_long(h + SPOILED), a, b)


@compiled
def _in_loop(i, first_gate, gates, first_back):
    return first_gate + i if i < gates else first_back + i - gates


@compiled
def _grow(h, loop):
    """Bring a loop up to date from the fixpoint before; return whether that was possible."""
    a, b, c, d = load_int(loop), load_int(loop + 4), load_int(loop + 8), load_int(loop + 12)
    values, due, spoiled = load_long(h + VALUES), load_long(h + DUE), load_long(h + SPOILED)
    back, gates = load_long(h + FEEDBACK_FIRST), load_long(h + GATES)
    while True:
        _sweep_gates(h, a, b)
        if _next(spoiled, a, b) < b:
            return False
        f = _next(due, gates + c, gates + d) - gates
        if f == d:
            return True
        while f < d:
            if _value(values, 2 * (back + f)):
                return False
            _clean(due, gates + f, gates + f + 1)
            _flip(h, back + f)
            f = _next(due, gates + f + 1, gates + d) - gates


@compiled
def _sweep_gates(h, begin, end):
    """Make the changes of the gates `begin <= g < end` that are due, and of those that become due."""
    values, due, spoiled = load_long(h + VALUES), load_long(h + DUE), load_long(h + SPOILED)
    start, fan, first = load_long(h + FAN_START), load_long(h + FAN), load_long(h + INPUTS)
    for at in range(begin & -64, end, 64):
        word = due + (at >> 3)
        bits = load_word(word)
        if bits:
            within = ~_U(0) << _U(max(begin - at, 0)) & ~_U(0) >> _U(max(at + 64 - end, 0))
            bits &= within
        while bits:
            bit = lowest_bit(bits)
            store_word(word, load_word(word) ^ (_U(1) << _U(bit)))
            _change(values, due, spoiled, start, fan, first + at + bit)
            bits = load_word(word) & within


@compiled
def _sweep(h, begin, end):
    """Bring the gates `begin <= g < end` up to date, loops included."""
    loop, spoiled = load_long(h + LOOPS), load_long(h + SPOILED)
    last_loop = loop + 16 * load_long(h + LOOP_COUNT)
    while loop < last_loop and load_int(loop) < end:
        a, b = load_int(loop), load_int(loop + 4)
        _sweep_gates(h, begin, a)
        if _next(spoiled, a, b) < b or not _grow(h, loop):
            _flip_loop(h, loop)
        begin = b
        loop += 16
    _sweep_gates(h, begin, end)


# -- walking ------------------------------------------------------------------------------


@compiled
def _evaluate(h, begin, end):
    """Evaluate the gates `begin <= g < end`."""
    values = load_long(h + VALUES)
    left, right = load_long(h + LEFT) + 4 * begin, load_long(h + RIGHT) + 4 * begin
    node = load_long(h + INPUTS) + begin
    for _ in range(end - begin):
        _set(values, node, _value(values, load_int(left)) & _value(values, load_int(right)))
        node += 1
        left += 4
        right += 4


@compiled
def _repeat(h, loop):
    """Evaluate a whole loop anew, from false to its fixpoint."""
    a, b, c, d = load_int(loop), load_int(loop + 4), load_int(loop + 8), load_int(loop + 12)
    values, back, feedback = load_long(h + VALUES), load_long(h + FEEDBACK_FIRST), load_long(h + FEEDBACK)
    for f in range(c, d):
        _set(values, back + f, 0)
    changed = True
    while changed:
        _evaluate(h, a, b)
        changed = False
        for f in range(c, d):
            value = _value(values, load_int(feedback + 4 * f))
            if value != _value(values, 2 * (back + f)):
                _set(values, back + f, value)
                changed = True


@compiled
def _walk(h, begin, end):
    """Evaluate the gates `begin <= g < end`, loops to their fixpoints."""
    loop = load_long(h + LOOPS)
    last_loop = loop + 16 * load_long(h + LOOP_COUNT)
    while loop < last_loop and load_int(loop) < begin:
        loop += 16
    while loop < last_loop and load_int(loop) < end:
        _evaluate(h, begin, load_int(loop))
        _repeat(h, loop)
        begin = load_int(loop + 4)
        loop += 16
    _evaluate(h, begin, end)


@compiled
def _show(h, begin, end):
    """Write the words `begin <= w < end` of the outputs."""
    values, literals, outputs = load_long(h + VALUES), load_long(h + LITERALS), load_long(h + OUTPUTS)
    count = load_long(h + BITS)
    for w in range(begin, end):
        bits = _U(0)
        for b in range(load_int(count + 4 * w)):
            bits |= _U(_value(values, load_int(literals + 256 * w + 4 * b))) << _U(b)
        store_word(outputs + 8 * w, bits)


# -- both ways ----------------------------------------------------------------------------

_LEGAL, _NEXT, _GOAL = 1, 2, 4
"""What is up to date, in `known`."""


@compiled
def _put(h, node, value):
    """Set an input."""
    if load_long(h + RECKONS):
        _flip(h, node)
    else:
        _set(load_long(h + VALUES), node, value)


@compiled
def _forget(h, kept):
    store_word(h + KNOWN, load_word(h + KNOWN) & _U(kept))


@compiled
def _know(h, what):
    """Bring one kind of outputs up to date."""
    known = load_long(h + KNOWN)
    if known & what:
        return
    store_word(h + KNOWN, _U(known | what))
    a, b, c = load_long(h + LEGAL_END), load_long(h + NEXT_END), load_long(h + GATES)
    if load_long(h + RECKONS) and what != _GOAL:
        _sweep(h, 0, a if what == _LEGAL else b)
        return
    terminal, goal = load_long(h + WORD_TERMINAL), load_long(h + WORD_GOAL)
    following, sees, words = load_long(h + WORD_NEXT), load_long(h + WORD_SEES), load_long(h + WORDS)
    code = load_long(h + (LEGAL_CODE if what == _LEGAL else NEXT_CODE))
    if code and what != _GOAL:
        call(code, load_long(h + VALUES), load_long(h + OUTPUTS), 0)
    elif what == _LEGAL:
        _walk(h, 0, a)
        _show(h, 0, following)
        _show(h, terminal, terminal + 1)
    elif what == _NEXT:
        _walk(h, a, b)
        _show(h, following, terminal)
        _show(h, sees, words)
    else:
        _walk(h, b, c)
        _show(h, goal, sees)


@compiled
def _go(h, words):
    """Take over the state whose words are at an address, and forget the joint move."""
    state = load_long(h + STATE)
    for w in range(load_long(h + STATE_WORDS)):
        new = load_word(words + 8 * w)
        bits = load_word(state + 8 * w) ^ new
        store_word(state + 8 * w, new)
        while bits:
            bit = lowest_bit(bits)
            bits &= bits - _U(1)
            _put(h, 1 + 64 * w + bit, np.int64((new >> _U(bit)) & _U(1)))
    made = load_long(h + MADE)
    for _ in range(load_long(h + ROLES)):
        if load_int(made) >= 0:
            _put(h, 1 + load_long(h + FLUENTS) + load_int(made), 0)
            store_int(made, -1)
        made += 4
    _forget(h, 0)


@compiled
def _make(h):
    """Set the inputs of the joint move that stands in the memory."""
    first = 1 + load_long(h + FLUENTS)
    joint, made = load_long(h + JOINT), load_long(h + MADE)
    for _ in range(load_long(h + ROLES)):
        before, now = load_int(made), load_int(joint)
        if before != now:
            if before >= 0:
                _put(h, first + before, 0)
            _put(h, first + now, 1)
            store_int(made, now)
        joint += 4
        made += 4
    _forget(h, _LEGAL | _GOAL)


@compiled
def _is_at(h, words):
    """Whether the state whose words are at an address is the present one."""
    state = load_long(h + STATE)
    for w in range(load_long(h + STATE_WORDS)):
        if load_word(state + 8 * w) != load_word(words + 8 * w):
            return False
    return True


@compiled
def _enter(h, words):
    if not (load_long(h + KNOWN) & _LEGAL and _is_at(h, words)):
        _go(h, words)
        _know(h, _LEGAL)
    return load_long(load_long(h + OUTPUTS) + 8 * load_long(h + WORD_TERMINAL)) & 1


@compiled
def _forward(h):
    outputs, word_of = load_long(h + OUTPUTS), load_long(h + WORD_OF)
    if load_long(outputs + 8 * load_long(h + WORD_TERMINAL)) & 1:
        return -1
    joint, place = load_long(h + JOINT), load_long(h + PLACE)
    for r in range(load_long(h + ROLES)):
        bit = load_int(place + 4 * load_int(joint + 4 * r))
        word = load_word(outputs + 8 * (load_int(word_of + 4 * r) + (bit >> 6)))
        if not (word >> _U(bit & 63)) & _U(1):
            return -2 - r
    _make(h)
    _know(h, _NEXT)
    # copied, because going there changes the outputs
    following, entering = outputs + 8 * load_long(h + WORD_NEXT), load_long(h + ENTERING)
    for w in range(load_long(h + STATE_WORDS)):
        store_word(entering + 8 * w, load_word(following + 8 * w))
    return _enter(h, entering)


_ENTER, _FORWARD, _FOLLOW, _SCORE = range(4)


def _reckon(h, what, words):
    if what == _ENTER:
        return _enter(h, words)
    if what == _FORWARD:
        return _forward(h)
    if what == _FOLLOW:
        _make(h)
        _know(h, _NEXT)
    else:
        _know(h, _GOAL)
    return 0


_CODE = Entry(_reckon)


@compiled
def enter(h, words):
    """Go to the state whose words are at an address; return whether it is terminal."""
    return call(load_long(h + RECKON), h, _ENTER, words)


@compiled
def forward(h):
    """Make the joint move that stands in the memory, and go to the next state.

    Returns whether that is terminal; or, and then the state stays, -1 if the present one is terminal,
    -2 - r if the move of role r is not legal.
    """
    return call(load_long(h + RECKON), h, _FORWARD, 0)


@compiled
def follow(h):
    """Evaluate what the joint move that stands in the memory gives in the present state, legal or not."""
    call(load_long(h + RECKON), h, _FOLLOW, 0)


@compiled
def score(h):
    """Bring the goals of the present state up to date."""
    call(load_long(h + RECKON), h, _SCORE, 0)

"""One state of a network, kept between questions, so that the next question costs what has changed.

There are two ways to bring the gates up to date.  *Walking* evaluates all gates of a cone: a
nanosecond for each.  *Reckoning* follows the changes alone, which players of General Game
Playing call forward dead reckoning: flipping an input marks the gates above it as dirty; a
sweep over the dirty gates, in topological order, evaluates each once, and marks what depends
on it if its value changed; gates that nobody asks for stay dirty until somebody does.  A dirty
gate costs some ten times as much as a walked one, so this pays where a step changes little.
`Memory.reckons` says which way is taken.

The outputs are packed bits: the legal moves of each role, the next state, goals, percepts.

Compiled code gets the address of a header of 64-bit numbers: sizes, then the addresses of
arrays.  Each array that Python passed itself would cost as much as evaluating a hundred gates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.builtin import Entry
from herbrand.compiled import compiled
from herbrand.simulate.raw import (
    call,
    load_byte,
    load_int,
    load_long,
    load_word,
    store_byte,
    store_int,
    store_word,
)
from herbrand.simulate.vectors import lowest_bit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["Memory", "enter", "follow", "forward", "score"]

_U = np.uint64
_SIZES = (
    *("reckons", "known", "fluents", "moves", "roles", "inputs", "loop_count", "state_words"),
    *("legal_end", "next_end", "goal_end", "feedback_first"),
    *("word_next", "word_terminal", "word_goal", "word_sees", "words"),
    *("none", "true", "false", "list", "tuple", "index_error", "reckon"),
)
_ARRAYS = (
    *("values", "dirty", "state", "entering", "outputs", "word_of", "left", "right", "fan_start", "fan"),
    *("out_start", "out", "literals", "loops", "feedback", "old", "joint", "made", "place"),
    *("bits", "first_move", "order"),
)
(
    RECKONS, KNOWN, FLUENTS, MOVES, ROLES, INPUTS, LOOP_COUNT, STATE_WORDS,
    LEGAL_END, NEXT_END, GOAL_END, FEEDBACK_FIRST,
    WORD_NEXT, WORD_TERMINAL, WORD_GOAL, WORD_SEES, WORDS,
    NONE, TRUE, FALSE, LIST, TUPLE, INDEX_ERROR, RECKON,
    VALUES, DIRTY, STATE, ENTERING, OUTPUTS, WORD_OF, LEFT, RIGHT, FAN_START, FAN,
    OUT_START, OUT, LITERALS, LOOPS, FEEDBACK, OLD, JOINT, MADE, PLACE,
    BITS, FIRST_MOVE, ORDER,
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
        outputs = np.zeros(64 * words, np.bool_)
        outputs[bits] = literal & 1 != 0
        shown = np.zeros(64 * words, np.int32)
        shown[bits] = literal
        by_node = np.argsort(literal >> 1, kind="stable")
        sources = np.concatenate([network.left >> 1, network.right >> 1])
        by_source = np.argsort(sources, kind="stable")
        places = np.zeros(moves, np.int32)
        places[order] = np.arange(moves) - starts[network.moves[order, 0]]
        loops = network.loops[np.argsort(network.loops[:, 0])].astype(np.int32)
        longest = int((loops[:, 1] - loops[:, 0]).max(initial=0))
        state_words = (fluents + 63) // 64
        sizes = (
            *(1, 0, fluents, moves, roles, network.inputs, len(loops), state_words, *network.cones),
            *(1 + fluents + moves, word_next, word_terminal, word_goal, word_sees, words),
            *map(id, (None, True, False, list, tuple, IndexError)),
            _CODE.address,
        )
        self.arrays: dict[str, NDArray[Any]] = {
            "values": _all_false(nodes),
            "dirty": _first_bits(network.gates),
            "state": np.zeros(state_words, np.uint64),
            "entering": np.zeros(state_words, np.uint64),
            "outputs": np.packbits(outputs, bitorder="little").view(np.uint64),
            "word_of": np.append(word_of, word_next).astype(np.int32),
            "left": network.left,
            "right": network.right,
            "fan_start": np.searchsorted(sources[by_source], np.arange(nodes + 1)).astype(np.int32),
            "fan": np.tile(np.arange(network.gates, dtype=np.int32), 2)[by_source],
            "out_start": np.searchsorted((literal >> 1)[by_node], np.arange(nodes + 1)).astype(np.int32),
            "out": bits[by_node].astype(np.int32),
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
        }
        self.gates = network.gates
        self.sizes = dict(zip(_SIZES, map(int, sizes), strict=True))
        for name, array in self.arrays.items():
            self.arrays[name] = np.ascontiguousarray(array)
        self._header = np.array(
            [*self.sizes.values(), *(self.arrays[name].ctypes.data for name in _ARRAYS)], np.int64
        )
        self.address: int = self._header.ctypes.data
        """What compiled code is called with."""

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
        arrays["dirty"][:] = _first_bits(self.gates)
        arrays["outputs"][:] = np.packbits(arrays["literals"] & 1 != 0, bitorder="little").view(np.uint64)


def _all_false(nodes: int) -> NDArray[np.uint8]:
    """Return the values of all literals, a byte each, where each node is false."""
    return np.tile(np.array([0, 1], np.uint8), nodes)


def _first_bits(count: int) -> NDArray[np.uint64]:
    """Return words of which the first bits are set; one word more than needed."""
    words = np.zeros(count // 64 + 2, np.uint64)
    words[: count // 64] = _U(0xFFFFFFFFFFFFFFFF)
    words[count // 64] = _U((1 << (count % 64)) - 1)
    return words


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


@compiled
def _flip(h, node):
    """Change the value of a node and the outputs that show it, and mark what depends on it."""
    values = load_long(h + VALUES)
    _set(values, node, 1 - _value(values, 2 * node))
    dirty = load_long(h + DIRTY)
    start, fan = load_long(h + FAN_START) + 4 * node, load_long(h + FAN)
    for i in range(load_int(start), load_int(start + 4)):
        gate = load_int(fan + 4 * i)
        word = dirty + 8 * (gate >> 6)
        store_word(word, load_word(word) | (_U(1) << _U(gate & 63)))
    start, out, outputs = load_long(h + OUT_START) + 4 * node, load_long(h + OUT), load_long(h + OUTPUTS)
    for i in range(load_int(start), load_int(start + 4)):
        bit = load_int(out + 4 * i)
        word = outputs + 8 * (bit >> 6)
        store_word(word, load_word(word) ^ (_U(1) << _U(bit & 63)))


@compiled
def _next_dirty(dirty, gate, end):
    """Return the first dirty gate from `gate` on, or `end`."""
    if gate >= end:
        return end
    word = gate >> 6
    bits = load_word(dirty + 8 * word) >> _U(gate & 63)
    if bits:
        return min(gate + lowest_bit(bits), end)
    last = (end - 1) >> 6
    while word < last:
        word += 1
        bits = load_word(dirty + 8 * word)
        if bits:
            return min(64 * word + lowest_bit(bits), end)
    return end


@compiled
def _clean(dirty, gate):
    word = dirty + 8 * (gate >> 6)
    store_word(word, load_word(word) & ~(_U(1) << _U(gate & 63)))


@compiled
def _flip_loop(h, loop):
    """Evaluate a whole loop anew and flip what changed."""
    a, b, c, d = load_int(loop), load_int(loop + 4), load_int(loop + 8), load_int(loop + 12)
    values, old, dirty = load_long(h + VALUES), load_long(h + OLD), load_long(h + DIRTY)
    gates, back = load_long(h + INPUTS), load_long(h + FEEDBACK_FIRST)
    for g in range(a, b):
        store_byte(old + g - a, _value(values, 2 * (gates + g)))
    for f in range(c, d):
        store_byte(old + b - a + f - c, _value(values, 2 * (back + f)))
    _repeat(h, loop)
    for i in range(b - a + d - c):
        node = gates + a + i if i < b - a else back + c + i - (b - a)
        before = load_byte(old + i)
        if _value(values, 2 * node) != before:
            _set(values, node, before)
            _flip(h, node)
    g = _next_dirty(dirty, a, b)
    while g < b:
        _clean(dirty, g)
        g = _next_dirty(dirty, g + 1, b)


@compiled
def _sweep(h, begin, end):
    """Evaluate the dirty gates `begin <= g < end`, and what becomes dirty there."""
    values, dirty = load_long(h + VALUES), load_long(h + DIRTY)
    left, right, first = load_long(h + LEFT), load_long(h + RIGHT), load_long(h + INPUTS)
    loop = load_long(h + LOOPS)
    last_loop = loop + 16 * load_long(h + LOOP_COUNT)
    while loop < last_loop and load_int(loop) < begin:
        loop += 16
    at = begin
    while True:
        stop = end if loop == last_loop else min(load_int(loop), end)
        g = _next_dirty(dirty, at, stop)
        while g < stop:
            _clean(dirty, g)
            value = _value(values, load_int(left + 4 * g)) & _value(values, load_int(right + 4 * g))
            if value != _value(values, 2 * (first + g)):
                _flip(h, first + g)
            g = _next_dirty(dirty, g + 1, stop)
        if stop == end:
            return
        at = load_int(loop + 4)
        if _next_dirty(dirty, stop, at) < at:
            _flip_loop(h, loop)
        loop += 16


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
    a, b, c = load_long(h + LEGAL_END), load_long(h + NEXT_END), load_long(h + GOAL_END)
    if load_long(h + RECKONS):
        _sweep(h, b if what == _GOAL else 0, a if what == _LEGAL else b if what == _NEXT else c)
        return
    terminal, goal = load_long(h + WORD_TERMINAL), load_long(h + WORD_GOAL)
    following, sees, words = load_long(h + WORD_NEXT), load_long(h + WORD_SEES), load_long(h + WORDS)
    if what == _LEGAL:
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

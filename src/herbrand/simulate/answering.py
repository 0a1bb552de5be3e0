"""What Python asks about the single state of a `reckoning.Memory`, as functions that it calls directly.

`me` is a tuple that begins with an address: of the header of a memory, or, in the questions about moves
as objects, of that of a `Naming`.  None is the answer to what is not as it should be (a move that is not
legal, a key of another network); what is wrong then Python finds out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.builtin import (
    Builtin,
    as_number,
    bytes_at,
    bytes_length,
    forget_error,
    in_list,
    in_tuple,
    insert_in_list,
    keep,
    list_length,
    new_bytes,
    new_dict,
    new_list,
    new_number,
    new_tuple,
    put_in_dict,
    put_in_list,
    put_in_tuple,
    release,
    set_error,
    set_slice,
    slice_of_list,
    tuple_length,
    type_of,
)
from herbrand.compiled import compiled
from herbrand.simulate import reckoning as at
from herbrand.simulate.raw import load_int, load_long, load_word, store_int, store_word
from herbrand.simulate.vectors import count_ones, lowest_bit

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ALL", "Naming", "answer", "answer_of_role", "go", "go_on", "legal", "look_ahead", "play"]
__all__ += ["scores", "state"]

_U = np.uint64
_MEMORY, _TABLE, _SHIFT, _OBJECTS, _ROLES, _LISTED, _LISTS = range(0, 56, 8)
"""Where things stand in the header of a `Naming`, in bytes."""
_SPREAD = 0x9E3779B97F4A7C15
"""2**64 by the golden ratio: multiplied by it, addresses are spread over the table (Knuth, volume 3, 6.4)."""


_FEW = 8
"""Fewer legal moves than that are listed anew."""


class Naming:
    """The objects that stand for moves and roles, where compiled code finds them."""

    def __init__(self, memory: at.Memory, roles: Sequence[str], moves: Sequence[Sequence[object]]) -> None:
        """`moves[r][i]` is the object for the i-th move of role r; no object may stand there twice."""
        objects = [move for mine in moves for move in mine]
        bits = max(1, (2 * len(objects)).bit_length())
        table = np.zeros((1 << bits, 2), np.int64)
        for place, move in enumerate(objects):
            slot = (id(move) * _SPREAD & (1 << 64) - 1) >> (64 - bits)
            while table[slot, 0]:
                slot = (slot + 1) & (1 << bits) - 1
            table[slot] = id(move), place
        addresses = np.array([*map(id, objects), 0], np.int64)
        names = np.array([*map(id, roles)], np.int64)
        told = at.Told(memory.arrays["word_of"].tolist())
        arrays = (addresses, names, told.words, told.addresses)
        header = np.array(
            [memory.address, table.ctypes.data, 64 - bits, *(array.ctypes.data for array in arrays)], np.int64
        )
        self.me: tuple[Any, ...] = (
            header.ctypes.data,
            *(memory, table, *arrays, header, objects, tuple(roles), told),
        )


# -- pieces -------------------------------------------------------------------------------


@compiled
def _header(me):
    return as_number(in_tuple(me, 0))


@compiled
def _given(thing):
    keep(thing)
    return thing


@compiled
def _none(h):
    forget_error()
    return _given(load_long(h + at.NONE))


@compiled
def _truth(h, value):
    return _given(load_long(h + at.TRUE) if value else load_long(h + at.FALSE))


@compiled
def _enter(h, key):
    """Go to the state of a key; return whether it is terminal, -1 for what is no key."""
    if bytes_length(key) != 8 * load_long(h + at.STATE_WORDS):
        return -1
    return at.enter(h, bytes_at(key))


@compiled
def _kind(h, things):
    """Return 1 for a list of a thing for each role, 2 for such a tuple, 0 for anything else."""
    kind, roles = type_of(things), load_long(h + at.ROLES)
    release(kind)
    if kind == load_long(h + at.LIST) and list_length(things) == roles:
        return 1
    if kind == load_long(h + at.TUPLE) and tuple_length(things) == roles:
        return 2
    return 0


@compiled
def _thing(things, kind, i):
    return in_list(things, i) if kind == 1 else in_tuple(things, i)


@compiled
def _ones(words, begin, end):
    count = 0
    for w in range(begin, end):
        count += count_ones(load_word(words + 8 * w))
    return np.int64(count)


@compiled
def _object(objects, place):
    """Return a new reference to a move: a number, or the object that stands for it."""
    return _given(load_long(objects + 8 * place)) if objects else new_number(place)


@compiled
def _new_list(words, begin, end, objects, count):
    made = new_list(count)
    if made == 0:
        return 0
    i = 0
    for w in range(begin, end):
        bits = load_word(words + 8 * w)
        while bits:
            put_in_list(made, i, _object(objects, 64 * (w - begin) + lowest_bit(bits)))
            i += 1
            bits &= bits - _U(1)
    return made


@compiled
def _numbers(words, begin, end):
    """Return a list of the places of the bits that are set in the words `begin <= w < end`."""
    return _new_list(words, begin, end, 0, _ones(words, begin, end))


@compiled
def _update(told, words, listed, begin, end, objects):
    """Change a list of what is set in the words `listed` to one of what is set in `words`, and those too."""
    before = 0
    for w in range(begin, end):
        new = load_word(words + 8 * w)
        bits = load_word(listed + 8 * w) ^ new
        while bits:
            bit = bits & -bits
            i = before + np.int64(count_ones(new & (bit - _U(1))))
            if new & bit:
                thing = _object(objects, 64 * (w - begin) + lowest_bit(bit))
                failed = thing == 0 or insert_in_list(told, i, thing) < 0
                if thing:
                    release(thing)
            else:
                failed = set_slice(told, i, i + 1, 0) < 0
            if failed:
                return False
            store_word(listed + 8 * w, load_word(listed + 8 * w) ^ bit)
            bits ^= bit
        before += np.int64(count_ones(new))
    return True


@compiled
def _listing(words, begin, end, listed, told, objects):
    """Return a list of what is set in the words `begin <= w < end`: numbers, or objects in their place.

    Long lists are kept, in `told`, with the words they are for, in `listed`: a copy of what was told
    before, with the few changes since then, is made in a fraction of the time.
    """
    count, changes = _ones(words, begin, end), np.int64(0)
    if count < _FEW:
        return _new_list(words, begin, end, objects, count)
    for w in range(begin, end):
        changes += np.int64(count_ones(load_word(words + 8 * w) ^ load_word(listed + 8 * w)))
    if 3 * changes < count:
        if not _update(told, words, listed, begin, end, objects):
            return 0
        return slice_of_list(told, 0, count)
    made = _new_list(words, begin, end, objects, count)
    if made:
        if set_slice(told, 0, list_length(told), made) < 0:
            release(made)
            return 0
        for w in range(begin, end):
            store_word(listed + 8 * w, load_word(words + 8 * w))
    return made


@compiled
def _moves(n, words, role):
    """Return a list of the legal moves of a role, as objects."""
    h = load_long(n + _MEMORY)
    word_of = load_long(h + at.WORD_OF) + 4 * role
    begin, end = load_int(word_of), load_int(word_of + 4)
    objects = load_long(n + _OBJECTS) + 8 * load_int(load_long(h + at.FIRST_MOVE) + 4 * role)
    return _listing(
        words, begin, end, load_long(n + _LISTED), load_long(load_long(n + _LISTS) + 8 * role), objects
    )


@compiled
def _pair(first, second):
    made = new_tuple(2)
    put_in_tuple(made, 0, first)
    put_in_tuple(made, 1, second)
    return made


@compiled
def _answers(h):
    """Return the legal moves of all roles as bits."""
    return new_bytes(load_long(h + at.OUTPUTS), 8 * load_long(h + at.WORD_NEXT))


@compiled
def _place_of(n, move):
    """Return the place of a move among the moves of all roles; -1 if it is none of the objects."""
    table, shift = load_long(n + _TABLE), load_long(n + _SHIFT)
    last = (np.int64(1) << (64 - shift)) - 1
    slot = np.int64((_U(move) * _U(_SPREAD)) >> _U(shift))
    while True:
        found = load_long(table + 16 * slot)
        if found == move:
            return load_long(table + 16 * slot + 8)
        if found == 0:
            return -1
        slot = (slot + 1) & last


# -- questions in numbers -----------------------------------------------------------------


def _go(me, key):
    h = _header(me)
    terminal = _enter(h, key)
    return _none(h) if terminal < 0 else _truth(h, terminal)


@compiled
def _legal_of(h, role):
    word_of, told = load_long(h + at.WORD_OF) + 4 * role, load_long(load_long(h + at.LISTS) + 8 * role)
    begin, end = load_int(word_of), load_int(word_of + 4)
    return _listing(load_long(h + at.OUTPUTS), begin, end, load_long(h + at.LISTED), told, 0)


def _legal(me, arguments, count):
    h = _header(me)
    roles = load_long(h + at.ROLES)
    if count > 0:
        role = as_number(load_long(arguments))
        if role < 0 or role >= roles:
            set_error(load_long(h + at.INDEX_ERROR))
            return 0
        if count > 1 and _enter(h, load_long(arguments + 8)) < 0:
            return _none(h)
        return _legal_of(h, role)
    made = new_list(roles)
    for role in range(roles):
        put_in_list(made, role, _legal_of(h, role))
    return made


def _scores(me, arguments, count):
    h = _header(me)
    if count > 0 and _enter(h, load_long(arguments)) < 0:
        return _none(h)
    at.score(h)
    return _numbers(load_long(h + at.OUTPUTS), load_long(h + at.WORD_GOAL), load_long(h + at.WORD_SEES))


def _look_ahead(me, arguments, count):
    h, inputs = _header(me), load_long(arguments)
    if count > 1 and _enter(h, load_long(arguments + 8)) < 0:
        return _none(h)
    kind = _kind(h, inputs)
    if kind == 0:
        return _none(h)
    for role in range(load_long(h + at.ROLES)):
        move = as_number(_thing(inputs, kind, role))
        if move < 0 or move >= load_long(h + at.MOVES):
            return _none(h)
        store_int(load_long(h + at.JOINT) + 4 * role, move)
    at.follow(h)
    outputs = load_long(h + at.OUTPUTS)
    following = outputs + 8 * load_long(h + at.WORD_NEXT)
    return _pair(
        new_bytes(following, 8 * load_long(h + at.STATE_WORDS)),
        _numbers(outputs, load_long(h + at.WORD_SEES), load_long(h + at.WORDS)),
    )


def _play(me, moves):
    h = _header(me)
    kind = _kind(h, moves)
    if kind == 0:
        return _none(h)
    joint, first, order = load_long(h + at.JOINT), load_long(h + at.FIRST_MOVE), load_long(h + at.ORDER)
    for role in range(load_long(h + at.ROLES)):
        number = as_number(_thing(moves, kind, role))
        place = load_int(first) + number
        first += 4
        if number < 0 or place >= load_int(first):
            return _none(h)
        store_int(joint, load_int(order + 4 * place))
        joint += 4
    terminal = at.forward(h)
    return _none(h) if terminal < 0 else _truth(h, terminal)


go = Builtin(_go)
"""`go(key)`: whether the state is terminal, to which it goes."""
legal = Builtin(_legal)
"""`legal([role[, key]])`: the numbers of the legal moves, without a role a list for each of them.

`IndexError` for a role that is none.
"""
scores = Builtin(_scores)
"""`scores([key])`: the goals that hold, as places among the goals of the network."""
look_ahead = Builtin(_look_ahead)
"""`look_ahead(inputs[, key])`: the key of the next state, and the percepts by their places."""
play = Builtin(_play)
"""`play(moves)`: whether the state is terminal, to which it goes; None where a move is not legal."""


# -- questions in objects -----------------------------------------------------------------


def _state(me, key):
    h = load_long(_header(me) + _MEMORY)
    terminal = _enter(h, key)
    return _none(h) if terminal < 0 else _pair(_answers(h), _truth(h, terminal))


def _go_on(me, arguments, count):
    n = _header(me)
    h, moves = load_long(n + _MEMORY), load_long(arguments + 8)
    kind = _kind(h, moves)
    if kind == 0:
        return _none(h)
    joint, first, order = load_long(h + at.JOINT), load_long(h + at.FIRST_MOVE), load_long(h + at.ORDER)
    for role in range(load_long(h + at.ROLES)):
        place = _place_of(n, _thing(moves, kind, role))
        if place < load_int(first) or place >= load_int(first + 4):
            return _none(h)
        store_int(joint, load_int(order + 4 * place))
        first += 4
        joint += 4
    if _enter(h, load_long(arguments)) < 0:
        return _none(h)
    terminal = at.forward(h)
    if terminal < 0:
        return _none(h)
    made = new_tuple(3)
    put_in_tuple(made, 0, new_bytes(load_long(h + at.STATE), 8 * load_long(h + at.STATE_WORDS)))
    put_in_tuple(made, 1, _answers(h))
    put_in_tuple(made, 2, _truth(h, terminal))
    return made


def _answer_of_role(me, arguments, count):
    return _moves(_header(me), bytes_at(load_long(arguments)), as_number(load_long(arguments + 8)))


def _answer(me, answers):
    n = _header(me)
    names, words = load_long(n + _ROLES), bytes_at(answers)
    made = new_dict()
    for role in range(load_long(load_long(n + _MEMORY) + at.ROLES)):
        moves = _moves(n, words, role)
        put_in_dict(made, load_long(names + 8 * role), moves)
        release(moves)
    return made


state = Builtin(_state)
"""`state(key)`: the answers about a state, for `answer`, and whether it is terminal."""
go_on = Builtin(_go_on)
"""`go_on(key, moves)`: the key of the next state and what `state` tells about it."""
answer_of_role = Builtin(_answer_of_role)
"""`answer_of_role(answers, role)`: the legal moves of a role."""
answer = Builtin(_answer)
"""`answer(answers)`: the legal moves by role."""

ALL = (go, legal, scores, look_ahead, play, state, go_on, answer_of_role, answer)

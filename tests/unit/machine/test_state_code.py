"""The number of a state, and the state of a number."""

from __future__ import annotations

from pathlib import Path

import pytest

import herbrand
from herbrand import GameError

GOLDEN = Path(__file__).resolve().parent.parent.parent / "golden" / "ggdl"


@pytest.mark.parametrize(("name", "size", "start"), [("rps", 16, 0), ("nim", 32, None), ("coin", 9, 0)])
def test_23_every_code_is_a_state_and_back(name, size, start):
    """A bijection on all codes of the small worked examples."""
    game = herbrand.load(GOLDEN / f"{name}.ggd")
    code = game.state_code
    assert code.size == size
    states = [code.decode(n) for n in range(size)]
    assert len(set(states)) == size
    assert [code.encode(facts) for facts in states] == list(range(size))
    if start is not None:
        assert code.encode(game.initial_state()) == start


@pytest.mark.parametrize("n", [3, 4, 5])
def test_23_tic_tac_toe(n):
    """2 * 3^(n^2) states; 26,244 after x marks the first cell and o passes, when n is three."""
    game = herbrand.load(GOLDEN / "ttt.ggd", BoardSize=n)
    code = game.state_code
    assert code.size == 2 * 3 ** (n * n)
    assert [slot.place for slot in code.slots[:2]] == ["boardcontrol", "(cell 1 1)"]
    state = game.initial_state()
    assert code.encode(state) == 0
    state = state.next(("(mark 1 1)", "noop"))
    assert code.encode(state) == 3 ** (n * n) + 3 ** (n * n - 1)
    assert game.state(code.decode(code.encode(state))) == state
    if n == 3:
        assert code.encode(state) == 26_244


def test_23_the_code_does_not_depend_on_the_order_of_sentences():
    """Only the order of data types counts."""
    one = "role x, o\ndata t := 1 .. 2\ndata m := b | roles\ninit F(?i:t) := b\ninit Turn := x\nx -> go(?i:t) ==> F(?i) = o\nx -> stop ==> Turn = o"
    lines = one.split("\n")
    other = "\n".join([lines[0], lines[6], lines[5], lines[4], lines[3], lines[2], lines[1]])
    turned = one.replace("b | roles", "roles | b")
    codes = [herbrand.loads(text, "ggdl").state_code for text in (one, other, turned)]
    assert codes[0].slots == codes[1].slots
    assert codes[0].slots != codes[2].slots
    assert codes[0].size == codes[2].size == 18


def test_what_is_no_state_has_no_code():
    """Two values for one place, a missing value, a strange fact, a number out of range."""
    game = herbrand.load(GOLDEN / "ttt.ggd")
    facts = set(game.initial_state().facts)
    code = game.state_code
    with pytest.raises(GameError, match=r"two values for `\(cell 1 1\)`"):
        code.encode(facts | {"(cell 1 1 x)"})
    with pytest.raises(GameError, match="no value for `boardcontrol`"):
        code.encode([fact for fact in facts if "ontrol" not in fact])
    with pytest.raises(GameError, match="is no base proposition"):
        code.encode([*facts, "(cell 9 9 x)"])
    for number in (-1, code.size):
        with pytest.raises(ValueError, match="they are 0 to 39365"):
            code.decode(number)


def test_plain_games_have_codes_too():
    """Every base proposition is a bit; all states of a playout have different codes where they differ."""
    game = herbrand.load("nim")
    code = game.state_code
    assert code.size == 2 ** len(game.base)
    state = game.initial_state()
    seen = {}
    while not state.is_terminal:
        number = code.encode(state)
        assert game.state(code.decode(number)) == state
        seen[number] = state
        state = state.next([state.legal_moves(role)[-1] for role in game.roles])
    assert len(seen) > 2


def test_relations_without_values_are_bits():
    """A relation that is no function has a digit of radix 2 for each tuple of its arguments, in order of the type."""
    text = "role x\ndata t := 2 | 10 | a\nbase Lit(t)\nx -> go(?i:t) ==> Lit(?i)"
    code = herbrand.loads(text, "ggdl").state_code
    bits = ["(lit 2)", "(lit 10)", "(lit a)"]
    assert [slot.place for slot in code.slots] == bits
    assert [slot.facts for slot in code.slots] == [(None, bit) for bit in bits]
    assert [code.decode(1 << place) for place in range(3)] == [frozenset([bit]) for bit in reversed(bits)]

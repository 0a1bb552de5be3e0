"""The features 50 to 59 of the checklist of GGDL: the closed reader made from a game.

The numbers go on from `test_ggdl_checklist.py`; `test_movereader.py` looks closer at the reader itself.
"""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest

import herbrand
from herbrand import MoveReader
from herbrand.convert.movereader import MoveReadError
from herbrand.errors import IllegalMoveError
from herbrand.machine.moves import Move

GOLDEN = Path(__file__).resolve().parent.parent.parent / "golden" / "ggdl"
GAMES = ("ttt", "rps", "nim", "notakto", "coin")


def reader_of(name, **given):
    """The reader of an example of the language."""
    return MoveReader(herbrand.load(GOLDEN / f"{name}.ggd", **given))


@pytest.mark.parametrize("name", GAMES)
def test_50_exactly_the_possible_moves_are_accepted(name):
    """Every move in both notations, in any case and spacing; no change of one token that is not a move too."""
    reader = reader_of(name)
    chance = random.Random(50)
    for role in reader.roles:
        moves = [str(move) for move in reader.moves(role)]
        possible = {move.lower() for move in moves}
        words = sorted({token for move in moves for token in re.findall(r"[()]|[^\s()]+", move)} | {"none"})
        for index, move in enumerate(moves):
            infix = reader.text(role, index, "infix")
            for text in (move, infix, move.upper(), f"  {infix.title()}\n", move.replace(" ", "\t \t")):
                assert reader.find(role, text) == index
            tokens = re.findall(r"[()]|[^\s()]+", move)
            for _ in range(10):
                changed = list(tokens)
                place = chance.randrange(len(tokens))
                changed[place : place + chance.randrange(2)] = [chance.choice(words)]
                try:
                    meant = str(Move(" ".join(changed))).lower()
                except herbrand.InvalidMoveError:
                    meant = ""
                assert (reader.find(role, " ".join(changed)) is None) == (meant not in possible)


def test_51_no_rules_are_needed_to_read():
    """A reader that has lost its game, rules and all, reads on."""
    reader = reader_of("ttt")
    reader.game = None
    assert str(reader.read("x", "mark(3,2)")) == "(mark 3 2)"
    assert reader.joint("(noop (mark 1 1))") == (9, 0)
    with pytest.raises(MoveReadError, match=r"did you mean `\(mark 1 1\)`"):
        reader.read("x", "(mark 1 7)")


def test_52_static_conditions_narrow_the_moves():
    """What no state can make legal is no move; what only the state forbids is one."""
    heaps = reader_of("nim")
    assert [str(move) for move in heaps.moves("first")] == [
        *(f"(take {h} {k})" for h in (1, 2) for k in (1, 2, 3)),
        "wait",
    ]
    assert heaps.find("first", "(take 1 0)") is None
    graph = """
    role walker
    adjacent(a, b) adjacent(b, c) adjacent(c, d) adjacent(d, a)
    init Place := a
    walker -> go(?x, ?y) :- adjacent(?x, ?y) and Place == ?x ==> Place = ?y
    terminal :- Place == d
    walker $= 100 :- Place == d
    """
    steps = MoveReader(herbrand.loads(graph, "ggdl"))
    assert [str(move) for move in steps.moves("walker")] == ["(go a b)", "(go b c)", "(go c d)", "(go d a)"]
    assert steps.find("walker", "(go c d)") == 2  # not legal at first, but possible
    assert steps.find("walker", "(go a c)") is None  # each of its words can stand there, together they cannot


def test_53_parameters_change_the_reader():
    """A board of another size has other moves."""
    small, large = reader_of("ttt", BoardSize=3), reader_of("ttt", BoardSize=4)
    assert (small.count("x"), large.count("x")) == (10, 17)
    assert small.find("x", "(mark 4 1)") is None
    assert str(large.read("x", "(mark 4 1)")) == "(mark 4 1)"
    assert reader_of("ttt", BoardSize=5).find("x", "(mark 6 1)") is None


def test_54_input_of_the_author_wins():
    """Where `input` is written the moves are those it lists; a legal move outside of it is reported."""
    text = """
    role a
    data t := 1 .. 3
    input(a, go(1)) input(a, go(2))
    a -> go(?x:t) ==> Done = ?x
    terminal :- Done(_)
    a $= 100 :- Done(_)
    """
    game = herbrand.loads(text, "ggdl")
    assert "input-too-narrow" in [d.check for d in game.diagnostics]
    reader = MoveReader(game)
    assert [str(move) for move in reader.moves("a")] == ["(go 1)", "(go 2)"]
    assert reader.find("a", "(go 3)") is None


HOSTILE = [
    *(
        "(mark ?x 1)",
        "?x",
        "(mark (mark 1 1) 1)",
        "(<= (mark 1 1) true)",
        "mark(1,1) :- true",
        "(mark 1 1) ; no",
    ),
    *(
        "(mark 1 1) (mark 1 1)",
        "mark(1, 1) noop",
        "(mark 1 1",
        "mark 1 1)",
        ")(",
        "((mark 1 1))",
        "mark()",
        "()",
    ),
    *("", " ", "\x00", "(mark 1 1)\x00", "mark(1;1)", "(mark 1 01)", "(mark 1 1.0)", "(does x (mark 1 1))"),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_55_hostile_texts_are_refused(text):
    """Variables, nesting, rules, comments, two moves, brackets that do not match: an error, and nothing else."""
    reader = reader_of("ttt")
    assert reader.find("x", text) is None
    with pytest.raises(MoveReadError) as caught:
        reader.read("x", text)
    assert caught.value.code in {"E-MOVE-SYNTAX", "E-MOVE-LENGTH"}


def test_55_time_is_linear_in_the_length():
    """Ten megabytes of anything are refused at once, unread."""
    reader = reader_of("ttt")
    for piece in ("(", "mark(", "(mark 1 1) ", "x -> "):
        text = piece * (10_000_000 // len(piece))
        started = time.process_time()
        assert reader.find("x", text) is None
        assert reader.refusal("x", text).code == "E-MOVE-LENGTH"
        assert time.process_time() - started < 0.5


@pytest.mark.parametrize("name", GAMES)
def test_56_index_and_order(name):
    """Indexes count the moves of a role from 0, sorted; index, text and index again, in both notations."""
    reader = reader_of(name)
    for role in reader.roles:
        moves = reader.moves(role)
        assert list(moves) == sorted(moves)
        for index, move in enumerate(moves):
            for notation in ("prefix", "infix"):
                assert reader.find(role, reader.text(role, index, notation)) == index
            assert reader.move(role, index) == move
        with pytest.raises(IndexError):
            reader.text(role, len(moves))
    if name == "ttt":
        assert (reader.find("x", "mark(1,1)"), reader.find("x", "noop")) == (0, 9)


def test_57_updates_of_a_manager():
    """Joint moves and `does` facts in the order of the roles, each once; `nil`; percepts of a role."""
    reader = reader_of("ttt")
    said = (4, 9)
    for text in ("((mark 2 2) noop)", "(mark(2, 2), noop)", "( ( MARK 2 2 ) NOOP )"):
        assert reader.joint(text) == said
    for text in (
        "(does x (mark 2 2)) (does o noop)",
        "does(x, mark(2, 2)) does(o, noop)",
        "x -> mark(2, 2)\no -> noop",
    ):
        assert reader.does(text) == said
    assert reader.joint("nil") is None
    wrong = (
        *("(does o noop) (does x (mark 2 2))", "(does x noop) (does x noop)", "(does x noop)"),
        *("(does x noop) (does z noop)", "(does x noop) (does o noop) (does o noop)"),
    )
    for text in wrong:
        with pytest.raises(MoveReadError) as caught:
            reader.does(text)
        assert caught.value.code == "E-UPDATE-SYNTAX"
    for text in ("(noop)", "(noop noop noop)", "((mark 2 2) (mark 2 4))"):
        with pytest.raises(MoveReadError):
            reader.joint(text)
    coin = reader_of("coin")
    assert coin.seen("guesser", "((coin heads))") == ("(Coin heads)",)
    assert coin.seen("guesser", "(coin(tails))") == ("(Coin tails)",)
    assert coin.seen("guesser", "()") == ()
    with pytest.raises(MoveReadError):
        coin.seen("guesser", "((coin edge))")


def test_58_errors_say_where_and_what_could_follow():
    """The place of the first wrong token, the tokens possible there, and texts that begin so."""
    reader = reader_of("nim")
    for text, position, expected in (
        ("(take 3 1)", 6, ("1", "2")),
        ("take(2, 0)", 8, ("1", "2", "3")),
        ("(take 1", 7, ("1", "2", "3")),
        ("wait wait", 5, ("end of text",)),
        ("(wave)", 1, ("take",)),
    ):
        with pytest.raises(MoveReadError) as caught:
            reader.read("first", text)
        assert (caught.value.position, caught.value.expected) == (position, expected), text
    assert reader.complete("first", "(take 2 ") == ["(take 2 1)", "(take 2 2)", "(take 2 3)"]
    assert reader.complete("first", "w") == ["wait"]
    assert reader.complete("first", "take(1, 3") == ["take(1, 3)"]


def test_59_narrowing_to_what_is_legal():
    """A narrowed reader accepts the legal moves of a state alone, under their indexes."""
    game = herbrand.load(GOLDEN / "ttt.ggd")
    reader = MoveReader(game)
    state = game.initial_state().next(("(mark 2 2)", "noop"))
    here = reader.narrow(state)
    for role in game.roles:
        legal = {str(move) for move in state.legal_moves(role)}
        for index, move in enumerate(reader.moves(role)):
            assert here.find(role, str(move)) == (index if str(move) in legal else None)
    with pytest.raises(IllegalMoveError, match="not legal for o now"):
        here.read("o", "mark(2, 2)")


def test_letters_and_their_accents_may_be_written_apart():
    """A name is the same whether an accent is part of its letter or follows it (NFC), in games and in moves."""
    apart, together = "cafe\u0301", "caf\u00e9"
    rules = """
    role solo
    data place := caf\u00e9 | bar
    init At := bar
    solo -> go(?p:place) ==> At = ?p
    terminal :- At(caf\u00e9)
    solo $= 100
    """
    game = herbrand.loads(rules.replace(together, apart), notation="ggdl")
    assert game.roles == ("solo",)
    reader = MoveReader(game)
    assert [str(move) for move in reader.moves("solo")] == [
        str(m) for m in MoveReader(herbrand.loads(rules, notation="ggdl")).moves("solo")
    ]
    for text in (f"(go {apart})", f"go({together.upper()})", f"(GO {apart.upper()})"):
        assert str(reader.read("solo", text)) == f"(go {together})"

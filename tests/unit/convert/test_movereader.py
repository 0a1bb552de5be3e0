"""Closed readers: exactly the possible moves, in every spelling, and whatever else arrives is refused."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import random
import re
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from strategies import games

import herbrand
from herbrand.cli.main import cli
from herbrand.convert.movereader import MoveError, MoveReader, MoveReadError, emit
from herbrand.convert.movereader.automaton import build
from herbrand.convert.movereader.runtime import Terms
from herbrand.errors import GameError, HerbrandError, IllegalMoveError, InvalidMoveError
from herbrand.machine.moves import Move

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GAMES = (
    "ticTacToe",
    "rockPaperScissors",
    "nim",
    "kuhn",
    "montyHall",
    "connectFour",
    "breakthrough",
    "amazons",
)
NODE = shutil.which("node")


@pytest.fixture(scope="module")
def reader() -> MoveReader:
    return MoveReader(herbrand.load("ticTacToe"))


def declaring(*moves: str) -> herbrand.Game:
    """A game of one role with these moves."""
    rest = "(role a) (init (p 1)) (<= (legal ?r ?m) (input ?r ?m)) (<= terminal (true q)) (goal a 0)"
    return herbrand.loads(rest + " ".join(f"(input a {move})" for move in moves))


def spellings(text: str, infix: str, role: str) -> list[str]:
    """Ways to write one move."""
    spaced = text.replace("(", " ( ").replace(")", " )\n")
    answers = [f"{role} -> {text}", f"{role}->{infix}", f" {role.upper()}  ->{spaced}"]
    return [text, text.upper(), spaced, infix, infix.replace(", ", " ,\t"), *answers]


@pytest.mark.parametrize("name", GAMES)
def test_every_move_is_read_in_every_spelling(name: str) -> None:
    """Index, prefix text and infix text are one to one, and `moves` is `game.inputs`."""
    game = herbrand.load(name)
    reader = MoveReader(game)
    for role in game.roles:
        moves = reader.moves(role)
        assert moves == game.inputs[role] or not game.inputs[role]
        assert len(moves) == reader.count(role) > 0
        for index, move in enumerate(moves):
            assert reader.move(role, index) == move
            for text in spellings(move.gdl, reader.text(role, index, "infix"), role):
                assert reader.find(role, text) == index, text
                assert reader.read(role, text) == move
        canonical = [move.gdl for move in moves]
        assert reader.find_many(role, canonical) == list(range(len(moves)))
        given = [text for move in canonical for text in spellings(move, move, role)[:4]]
        assert reader.find_many(role, given) == [reader.find(role, text) for text in given]


@pytest.mark.parametrize("name", GAMES)
def test_every_change_of_one_token_that_is_no_other_move_is_refused(name: str) -> None:
    """The reader accepts what the general reader of terms says is in `game.inputs`, and nothing else."""
    game = herbrand.load(name)
    reader = MoveReader(game)
    chance = random.Random(1)
    for role in game.roles:
        moves = reader.moves(role)
        possible = set(moves)
        words = sorted({token for move in moves for token in re.findall(r"[()]|[^\s()]+", move.gdl)} | {"zz"})
        for move in chance.sample(moves, min(8, len(moves))):
            tokens = re.findall(r"[()]|[^\s()]+", move.gdl)
            for _ in range(12):
                changed = list(tokens)
                place = chance.randrange(len(changed) + 1)
                kind = chance.randrange(3)
                if kind == 0:
                    changed.insert(place, chance.choice(words))
                elif place < len(changed):
                    changed[place : place + 1] = [chance.choice(words)] if kind == 1 else []
                text = " ".join(changed)
                try:
                    meant: Move | None = Move(text)
                except InvalidMoveError:
                    meant = None
                index = reader.find(role, text)
                assert (index is not None) == (meant in possible), text
                assert reader.find_many(role, [text]) == [index]
                if index is None:
                    with pytest.raises(MoveReadError):
                        reader.read(role, text)
                else:
                    assert moves[index] == meant


@given(games())
@settings(max_examples=4, suppress_health_check=list(HealthCheck))
def test_any_game_has_a_reader_of_its_inputs(text: str) -> None:
    """Whatever the game, `moves(role)` and `game.inputs` agree, and every legal move has an index."""
    game = herbrand.loads(text)
    try:
        state = game.initial_state()
        reader = MoveReader(game)
    except HerbrandError:
        assume(False)
        raise
    for role in game.roles:
        for index, move in enumerate(reader.moves(role)):
            assert reader.find(role, str(move)) == index
            assert reader.find(role, reader.text(role, index, "infix")) == index
        if not game.declared("input", 2):
            assert {str(m) for m in state.legal_moves(role)} <= {str(m) for m in reader.moves(role)}


def test_order_is_that_of_the_inputs_even_where_tokens_sort_otherwise() -> None:
    """Signs before `)` in the alphabet sort differently in texts and in tokens; the index does not care."""
    game = declaring("(f x)", "(f x!)", "(f x#y)", "go")
    reader = MoveReader(game)
    assert reader.moves("a") == game.inputs["a"]
    assert reader.terms("a").order is not None
    for index, move in enumerate(reader.moves("a")):
        assert reader.find("a", str(move)) == index
        assert reader.text("a", index) == str(move)


def test_many_infix_texts_are_found_in_a_table_that_no_text_makes_grow() -> None:
    """Infix texts are laid out when first asked for; what else is read finds its index without them."""
    game = herbrand.load("breakthrough")
    reader = MoveReader(game)
    (role, _), (terms, _) = game.roles, (reader.terms(role) for role in game.roles)
    texts = [str(move) for move in reader.moves(role)]
    assert reader.find_many(role, texts) == list(range(len(texts)))
    assert terms._table is not None
    assert len(terms._table) == len(texts)
    infix = [reader.text(role, i, "infix") for i in range(len(texts))]
    compact, odd = (
        [text.replace(" ", "") for text in infix],
        [text.upper().replace(",", " ,") for text in infix],
    )
    for many in (infix, compact, odd, texts):
        assert reader.find_many(role, many) == list(range(len(texts)))
    size = len(terms._table)
    assert size <= 3 * len(texts)
    assert reader.find_many(role, [f"move({i}, {i})" for i in range(1000)] + odd[:5]) == [None] * 1000 + list(
        range(5)
    )
    assert len(terms._table) == size


@given(st.data())
@settings(max_examples=12, deadline=None)
def test_many_texts_with_any_white_space_are_found_together(data: st.DataObject) -> None:
    """White space around signs and more of it between names changes nothing; inside a name it does."""
    reader = _shared_reader(herbrand.load("ticTacToe"))
    nested = MoveReader(declaring("(put (at 1 2) (at 2 3))", "(f x!)", "(f x#y)", "go"))
    space, some = st.text(" \t\n\r\f\v", max_size=3), st.text(" \t\n\r\f\v", min_size=1, max_size=3)
    for readers, role in ((reader, "xplayer"), (nested, "a")):
        texts = []
        for index in range(readers.count(role)):
            for notation in ("prefix", "infix"):
                parts = re.findall(r"[(),]|[^ (),]+|(?<![(,]) (?![(,)])", readers.text(role, index, notation))
                words = [data.draw(some) if part == " " else data.draw(space) + part for part in parts]
                texts.append("".join(words) + data.draw(space))
        expected = [index for index in range(readers.count(role)) for _ in range(2)]
        assert readers.find_many(role, texts) == expected
        assert [readers.find(role, text) for text in texts] == expected
        broken = [text.replace("mar", "ma r").replace("pu", "p u") for text in texts]
        changed = [new for new, old in zip(broken, texts, strict=True) if new != old]
        assert readers.find_many(role, changed) == [None] * len(changed)
        assert readers.find_many(role, [*texts, "no\0op"]) == [*expected, None]


def test_nested_terms_and_names_that_infix_cannot_spell() -> None:
    """Compound arguments are read; a name that infix cannot spell is read as it is and as it is renamed."""
    game = declaring("(put (at 1 (b c)) x-1)", "(put k x-1)", "k")
    reader = MoveReader(game)
    assert reader.text("a", 0, "infix") == "put(at(1, b(c)), x_1)"
    for text in ("put(at(1,b(c)),x-1)", "PUT(AT(1,B(C)),X_1)", "(put (at 1 (b c)) x-1)"):
        assert reader.find("a", text) == 0, text
    for text in (
        "put(at(1,b(c)))",
        "put(at(1,b()),x-1)",
        "put(at,x-1)",
        "put((at 1 (b c)) x-1)",
        "put(k x-1)",
    ):
        assert reader.find("a", text) is None, text
    assert reader.find("a", "(k)") == reader.find("a", "k")
    assert reader.find("a", "k()") is None


def test_a_role_without_declared_moves_gets_the_possible_ones() -> None:
    """Where a sheet declares `input` for some roles only, the others have what can ever be legal."""
    game = herbrand.loads(
        "(role a) (role b) (input a go) (legal a go) (legal b stay) (init p) (<= terminal (true q)) (<= (goal ?r 0) (role ?r))"
    )
    assert [str(move) for move in MoveReader(game).moves("b")] == ["stay"]


def test_a_role_may_have_no_move_at_all() -> None:
    """The empty set refuses everything, and says so."""
    reader = MoveReader(
        herbrand.loads("(role a) (init p) (<= terminal (true p)) (<= (legal a noop) (true q)) (goal a 0)")
    )
    assert reader.count("a") == 0
    assert reader.find("a", "noop") is None
    with pytest.raises(MoveReadError):
        reader.read("a", "noop")
    assert reader.complete("a", "") == []


def test_two_terms_with_one_spelling_are_refused() -> None:
    """An index must mean one term."""
    with pytest.raises(GameError, match="both spelled"):
        build(["(f a)", "(F A)"])


@pytest.mark.parametrize(
    ("text", "code", "position", "suggestion"),
    [
        ("(mark 1 4)", "E-MOVE-SYNTAX", 8, "(mark 1 1)"),
        ("(mrak 2 2)", "E-MOVE-SYNTAX", 1, "(mark 2 2)"),
        ("mark(2 2)", "E-MOVE-SYNTAX", 7, "mark(2, 2)"),
        ("mark 1 1", "E-MOVE-SYNTAX", 0, None),
        ("(mark 1 1) noop", "E-MOVE-SYNTAX", 11, None),
        ("(mark ?x 1)", "E-MOVE-SYNTAX", 6, None),
        ("(<= (mark 1 1) noop)", "E-MOVE-SYNTAX", 1, None),
        ("", "E-MOVE-SYNTAX", 0, None),
        ("noop ; comment", "E-MOVE-SYNTAX", 5, None),
        ("(" * 100, "E-MOVE-SYNTAX", 1, None),
        ("(" * 100_000, "E-MOVE-LENGTH", None, None),
        ("oplayer -> noop", "E-MOVE-ROLE", 0, None),
        ("xplayer -> (mark 1 9)", "E-MOVE-SYNTAX", 19, "(mark 1 1)"),
    ],
)
def test_what_is_no_move_is_refused_with_place_and_help(
    reader: MoveReader, text: str, code: str, position: int | None, suggestion: str | None
) -> None:
    """An error has a code, the place of the first token that cannot stand there, and what could."""
    with pytest.raises(MoveReadError) as caught:
        reader.read("xplayer", text)
    error = caught.value
    assert isinstance(error, InvalidMoveError)
    assert error.code == code
    assert position is None or error.position == position
    assert suggestion is None or error.suggestion == suggestion
    assert len(str(error)) < 400
    assert not text or reader.find_many("xplayer", [text]) == [None]


def test_expected_tokens_lead_to_a_move(reader: MoveReader) -> None:
    """Following what errors say is expected writes a move, in both notations."""
    for start in ("", "mark("):
        text = start
        for _ in range(20):
            if reader.find("xplayer", text) is not None:
                break
            expected = reader.refusal("xplayer", text).expected
            assert expected
            text += ("" if start else " ") + expected[0]
        assert reader.find("xplayer", text) is not None


def test_completion_gives_moves_that_begin_so(reader: MoveReader) -> None:
    """Completions are moves in the notation of the text, in order, up to a limit."""
    assert reader.complete("xplayer", "(mark 3") == ["(mark 3 1)", "(mark 3 2)", "(mark 3 3)"]
    assert reader.complete("xplayer", "( MARK 3 2") == ["(mark 3 2)"]
    assert reader.complete("xplayer", "mark(2,") == ["mark(2, 1)", "mark(2, 2)", "mark(2, 3)"]
    assert reader.complete("xplayer", "xplayer -> ma", 2) == ["mark(1, 1)", "mark(1, 2)"]
    assert reader.complete("xplayer", "no") == ["noop"]
    assert len(reader.complete("xplayer", "", 100)) == 10
    assert reader.complete("xplayer", "(mark 4") == []
    assert reader.complete("xplayer", "x" * 10_000) == []


def test_narrowing_reads_only_what_is_legal_now() -> None:
    """A narrowed reader follows the state: indexes stay, what was played is no longer read."""
    game = herbrand.load("ticTacToe")
    reader = MoveReader(game)
    state = game.initial_state().next(("(mark 2 2)", "noop"))
    here = reader.narrow(state)
    for role in game.roles:
        legal = [str(move) for move in state.legal_moves(role)]
        assert [reader.text(role, index) for index in here.legal(role)] == legal
        for index, move in enumerate(reader.moves(role)):
            assert (here.find(role, str(move)) == index) == (str(move) in legal)
    with pytest.raises(IllegalMoveError, match="not legal for oplayer now"):
        here.read("oplayer", "mark(2, 2)")
    with pytest.raises(MoveReadError):
        here.read("oplayer", "(mark 2 4)")
    assert here.read("OPLAYER", "(mark 2 1)") == "(mark 2 1)"
    assert here.complete("oplayer", "(mark 2") == ["(mark 2 1)", "(mark 2 3)"]


def test_joint_moves(reader: MoveReader) -> None:
    """A joint move has one move for each role in order, in either notation; nil is none."""
    assert reader.joint("NIL") is None
    assert reader.joint(" nil\r\n") is None
    for text in (
        "((mark 1 1) noop)",
        "(( mark 1 1 ) noop )",
        "(mark(1,1), noop)",
        "((MARK 1 1) NOOP)",
    ):
        assert reader.joint_moves(text) == (Move("(mark 1 1)"), Move("noop")), text
    for text in (
        "()", "(noop)", "(noop noop noop)", "(noop, noop noop)", "(noop (mark 1 1)", "noop noop", "(mark(1,1) noop)",
        "((mark 1 1) noop) x", "(nil nil)", "(" * 50_000, "((mark 1 1), noop)", "",
    ):  # fmt: skip
        with pytest.raises(MoveReadError) as caught:
            reader.joint(text)
        assert caught.value.code == "E-UPDATE-SYNTAX"


def test_a_constant_before_a_parenthesis_is_no_function() -> None:
    """`(noop (mark 1 1))` is two moves in prefix, although it looks like `noop(...)`."""
    reader = MoveReader(herbrand.load("ticTacToe"))
    assert reader.joint("(noop (mark 1 1))") == (reader.index("xplayer", "noop"), 0)
    assert reader.joint("(noop(mark 1 1))") == reader.joint("(noop, mark(1,1))")


def test_moves_told_as_facts(reader: MoveReader) -> None:
    """`does` facts and arrows name each role once, in order."""
    index = reader.index("oplayer", "noop")
    for text in (
        "(does xplayer (mark 1 1)) (does oplayer noop)",
        "does(xplayer, mark(1,1)) does(oplayer, noop)",
        "xplayer -> mark(1,1)\noplayer->noop",
        "XPLAYER->(mark 1 1) (does oplayer noop)",
    ):
        assert reader.does(text) == (0, index), text
    for text in (
        "(does oplayer noop) (does xplayer (mark 1 1))",
        "(does xplayer (mark 1 1))",
        "(does xplayer (mark 1 1)) (does oplayer noop) (does oplayer noop)",
        "(does xplayer (mark 1 9)) (does oplayer noop)",
        "(does xplayer (mark 1 1) (does oplayer noop))",
        "does(xplayer mark(1,1)) does(oplayer, noop)",
        "",
        "x" * 100_000,
    ):
        with pytest.raises(MoveReadError):
            reader.does(text)


def test_states_are_read_as_facts() -> None:
    """Both forms of a state give what `State.facts` gives, along a game."""
    game = herbrand.load("ticTacToe")
    reader = MoveReader(game)
    state = game.initial_state()
    chance = random.Random(3)
    while not state.is_terminal:
        facts = sorted(state.facts)
        assert reader.facts(f"( {' '.join(facts)} )") == state.facts
        assert reader.facts(" ".join(f"(true {fact})" for fact in facts).upper()) == state.facts
        state = state.next({role: chance.choice(moves) for role, moves in state.legal_moves().items()})
    for text in (
        "((cell 1 1))",
        "(true (cell 1 1 b)",
        "(cell 1 1 b)",
        "(true (cell 1 1 b)) (cell 1 1 b)",
        "",
    ):
        with pytest.raises(MoveReadError):
            reader.facts(text)


@pytest.mark.parametrize("name", ["kuhn", "montyHall"])
def test_percepts_are_those_of_the_rules(name: str) -> None:
    """Whatever a role sees in random games is read back; what only others see need not be."""
    game = herbrand.load(name)
    reader = MoveReader(game)
    chance = random.Random(2)
    seen = 0
    for _ in range(10):
        state = game.initial_state()
        while not state.is_terminal:
            joint = {role: chance.choice(moves) for role, moves in state.legal_moves().items()}
            for role in game.roles:
                percepts = state.percepts(joint, role)
                seen += len(percepts)
                assert reader.seen(role, f"({' '.join(percepts)})") == percepts
            state = state.next(joint)
    assert seen
    assert reader.percepts(game.roles[0], "()") == reader.percepts(game.roles[0], "nil") == ()
    with pytest.raises(MoveReadError):
        reader.percepts(game.roles[0], "((no such thing))")


def test_a_game_without_sees_has_no_percepts(reader: MoveReader) -> None:
    """Percepts are rejected in a game without them."""
    with pytest.raises(MoveReadError, match="no percepts"):
        reader.percepts("xplayer", "()")


@given(st.text(alphabet="()mark123noop ,->;?\t\n\x00é", max_size=120))
@settings(max_examples=80)
def test_no_text_breaks_a_reader(text: str) -> None:
    """Any text is a move of the game or an error; nothing else happens."""
    game = herbrand.load("ticTacToe")
    reader = _shared_reader(game)
    index = reader.find("xplayer", text)
    assert reader.find_many("xplayer", [text]) == [index]
    if index is None:
        error = reader.refusal("xplayer", text)
        assert 0 <= error.position <= max(len(text), reader.terms("xplayer").longest)
        assert error.suggestion is None or reader.find("xplayer", error.suggestion) is not None
    for move in reader.complete("xplayer", text):
        assert reader.find("xplayer", move) is not None
    for read in (reader.joint, reader.does, reader.state):
        with contextlib.suppress(MoveError):
            read(text)


_READERS: dict[str, MoveReader] = {}


def _shared_reader(game: herbrand.Game) -> MoveReader:
    if game.name not in _READERS:
        _READERS[game.name] = MoveReader(game)
    return _READERS[game.name]


@pytest.mark.parametrize(
    "piece", ["(", ")", "mark ", "(mark ", "noop ", "mark(", ",", "a", " ", "->", "xplayer->", "\x00", "é"]
)
def test_time_is_linear_in_what_a_stranger_sends(reader: MoveReader, piece: str) -> None:
    """A megabyte of anything is refused within the time that a good update of that size may take."""
    text = piece * (1_000_000 // len(piece))
    started = time.process_time()
    assert reader.find("xplayer", text) is None
    assert reader.refusal("xplayer", text).code in {"E-MOVE-LENGTH", "E-MOVE-ROLE"}
    for read in (reader.joint, reader.does, reader.state):
        with pytest.raises(MoveReadError):
            read(text)
    assert time.process_time() - started < 1.0
    longest = reader.terms("xplayer").longest
    started = time.process_time()
    for _ in range(10):
        reader.refusal("xplayer", text[:longest])
    assert time.process_time() - started < 2.0


@pytest.mark.slow
def test_ninety_thousand_moves_share_a_small_table() -> None:
    """A move from square to square with an arrow has ninety thousand instances and a few hundred states."""
    squares = [(x, y) for x in range(10) for y in range(10)]
    lines = [
        (a, b)
        for a in squares
        for b in squares
        if a != b and (a[0] == b[0] or a[1] == b[1] or abs(a[0] - b[0]) == abs(a[1] - b[1]))
    ]
    reach: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for a, b in lines:
        reach.setdefault(a, []).append(b)
    texts = sorted(f"(move {a[0]} {a[1]} {b[0]} {b[1]} {c[0]} {c[1]})" for a, b in lines for c in reach[b])
    assert len(texts) > 80_000
    tables = build(texts)
    terms = Terms(tables.tokens, tables.states, order=tables.order)
    assert len(terms) == len(texts)
    assert len(tables.states) < 5_000
    for index in range(0, len(texts), 997):
        assert terms.text(index) == texts[index]
        assert terms.find(texts[index]) == index
    assert terms.find_many(texts[::101]) == list(range(0, len(texts), 101))
    assert terms.find("(move 0 0 1 2 1 3)") is None


# -- modules that need nothing else ---------------------------------------------------------


@pytest.mark.parametrize("name", ["ticTacToe", "montyHall", "breakthrough"])
def test_the_python_module_reads_the_same(name: str, tmp_path: Path) -> None:
    """A generated module needs no herbrand and has the same answers."""
    reader = MoveReader(herbrand.load(name))
    file = tmp_path / "moves_of_game.py"
    file.write_text(emit(reader, "python"), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("moves_of_game", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.reader.roles == reader.roles
    for role, text in _questions(reader):
        assert module.reader.find(role, text) == reader.find(role, text), text
    for role in reader.roles:
        assert [module.reader.text(role, i) for i in range(reader.count(role))] == [
            str(move) for move in reader.moves(role)
        ]
    facts = sorted(reader.game.initial_state().facts)
    assert [module.reader.fluent(i) for i in module.reader.state(f"({' '.join(facts)})")] == facts
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import moves_of_game as m; "
        "assert not any(k.startswith('herbrand') for k in sys.modules); print(m.reader.count(m.reader.roles[0]))"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.strip() == str(reader.count(reader.roles[0]))


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.slow_except("ticTacToe", "montyHall")
@pytest.mark.parametrize("name", ["ticTacToe", "montyHall", "breakthrough"])
def test_the_javascript_module_reads_the_same(name: str, tmp_path: Path) -> None:
    """The TypeScript module without its types runs under node and has the same answers."""
    reader = MoveReader(herbrand.load(name))
    (tmp_path / "moves.mjs").write_text(emit(reader, "javascript"), encoding="utf-8")
    got = _ask_node(reader, tmp_path, "moves.mjs", [])
    _compare_with_node(reader, got)


def _node_strips_types() -> list[str] | None:
    """The options with which this node runs TypeScript, or None."""
    for options in ([], ["--experimental-strip-types"]):
        command = [str(NODE), *options, "--input-type=module-typescript", "-e", "const x: number = 1"]
        if NODE and not subprocess.run(command, capture_output=True, timeout=60, check=False).returncode:
            return options
    return None


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_typescript_module_reads_the_same(tmp_path: Path) -> None:
    """The TypeScript module runs as it is where node can do that."""
    options = _node_strips_types()
    if options is None:
        pytest.skip("this node runs no TypeScript (22.6 or later does)")
    reader = MoveReader(herbrand.load("ticTacToe"))
    (tmp_path / "moves.ts").write_text(emit(reader, "typescript"), encoding="utf-8")
    _compare_with_node(reader, _ask_node(reader, tmp_path, "moves.ts", options))


def test_typescript_is_javascript_with_types() -> None:
    """The two differ by the types alone, none of which is left in JavaScript."""
    reader = MoveReader(herbrand.load("ticTacToe"))
    typed, plain = emit(reader, "typescript"), emit(reader, "javascript")
    assert "interface" in typed
    assert "interface" not in plain
    assert ": string" not in plain
    assert "private" not in plain
    assert not any(sign in typed + plain for sign in "‹›")
    assert len(plain) < len(typed)
    with pytest.raises(ValueError, match="no language"):
        emit(reader, "cobol")


def _questions(reader: MoveReader) -> list[tuple[str, str]]:
    """Texts that are moves, and texts that nearly are."""
    chance = random.Random(5)
    asked = []
    for role in reader.roles:
        for index in chance.sample(range(reader.count(role)), min(60, reader.count(role))):
            text, infix = reader.text(role, index), reader.text(role, index, "infix")
            asked += [(role, spelled) for spelled in spellings(text, infix, role)]
            place = chance.randrange(len(text))
            asked += [(role, text[:place] + text[place + 1 :]), (role, infix[:-1]), (role, f"({text})")]
            asked += [(role, f"{text} x"), (role, text.replace(" ", ", ")), (role, infix.replace(",", ""))]
    return asked


def _updates(reader: MoveReader) -> list[tuple[str, ...]]:
    """What a manager might say, method first, and what it might not."""
    chance = random.Random(6)
    joint = [reader.text(role, chance.randrange(reader.count(role))) for role in reader.roles]
    said = list(zip(reader.roles, joint, strict=True))
    infix = [reader.text(role, reader.index(role, move), "infix") for role, move in said]
    facts = sorted(reader.game.initial_state().facts)
    good = [
        ("joint", f"({' '.join(joint)})"),
        ("joint", f"( {', '.join(infix)} )".upper()),
        ("joint", "NIL"),
        ("does", " ".join(f"(does {role} {move})" for role, move in said)),
        ("does", " ".join(f"{role.upper()}->{move}" for role, move in said)),
        ("does", "\n".join(f"does({role}, {move})" for role, move in zip(reader.roles, infix, strict=True))),
        ("state", f"({' '.join(facts)})"),
        ("state", " ".join(f"(true {fact})" for fact in facts)),
        *(
            ("percepts", role, text)
            for role in reader.roles
            for text in ("()", "nil", "(opened)", "((opened 1))")
        ),
        *(("percepts", role, f"({text})") for role in reader.roles for text in _told(reader, role)),
    ]
    bad = []
    for method, *rest in good:
        for _ in range(4):
            text = rest[-1]
            place = chance.randrange(len(text))
            bad += [
                (method, *rest[:-1], text[:place] + text[place + 1 :]),
                (method, *rest[:-1], text[:place]),
            ]
        bad += [(method, *rest[:-1], f"{text} x"), (method, *rest[:-1], "x" * 200_000)]
    return [*good, *bad]


def _told(reader: MoveReader, role: str) -> list[str]:
    terms = reader.percept_terms(role)
    return [] if terms is None else list(terms.texts())[:5]


def _answer(make: Callable[[], Any]) -> Any:
    try:
        found = make()
    except MoveError as error:
        return [str(error), error.code, error.position, error.found, list(error.expected), error.suggestion]
    return list(found) if isinstance(found, tuple) else found


_COMPLETED = ("", "(", "m", "(mark 2", "mark(2,", "c")


def _ask_node(reader: MoveReader, folder: Path, module: str, options: list[str]) -> dict[str, Any]:
    asked = {"questions": _questions(reader), "updates": _updates(reader), "completed": _COMPLETED}
    (folder / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    (folder / "ask.mjs").write_text(
        f"""
import {{ readFileSync }} from "node:fs";
import {{ reader, MoveError }} from "./{module}";
const asked = JSON.parse(readFileSync("asked.json", "utf-8"));
const answer = (make) => {{
  try {{ return make(); }}
  catch (e) {{ return e instanceof MoveError ? [e.message, e.code, e.position, e.found, e.expected, e.suggestion] : String(e); }}
}};
console.log(JSON.stringify({{
  roles: reader.roles,
  found: asked.questions.map(([r, text]) => reader.find(r, text)),
  many: reader.roles.map((r) => reader.findMany(r, asked.questions.map(([, text]) => text))),
  texts: reader.roles.map((r) => Array.from({{ length: reader.count(r) }}, (_, i) => [reader.text(r, i), reader.text(r, i, "infix")])),
  complete: asked.completed.map((text) => reader.complete(reader.roles[0], text)),
  errors: asked.questions.map(([r, text]) => answer(() => reader.index(r, text))),
  updates: asked.updates.map(([method, ...rest]) => answer(() => reader[method](...rest))),
}}));
""",
        encoding="utf-8",
    )
    run = subprocess.run(
        [str(NODE), *options, "ask.mjs"], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert not run.returncode, run.stderr
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


def _compare_with_node(reader: MoveReader, got: dict[str, Any]) -> None:
    """Indexes, texts, completions and errors, their words and suggestions included, are the same."""
    questions, updates = _questions(reader), _updates(reader)
    assert got["roles"] == list(reader.roles)
    assert got["found"] == [reader.find(who, text) for who, text in questions]
    texts = [text for _, text in questions]
    assert got["many"] == [reader.find_many(role, texts) for role in reader.roles]
    assert got["texts"] == [
        [[reader.text(who, i), reader.text(who, i, "infix")] for i in range(reader.count(who))]
        for who in reader.roles
    ]
    assert got["complete"] == [reader.complete(reader.roles[0], text) for text in _COMPLETED]
    suggested = 0
    for (who, text), answer in zip(questions, got["errors"], strict=True):
        expected = _answer(lambda who=who, text=text: reader.index(who, text))  # type: ignore[misc]
        assert answer == expected, text
        suggested += isinstance(expected, list) and expected[-1] is not None
    assert suggested > 20
    for (method, *rest), answer in zip(updates, got["updates"], strict=True):
        assert answer == _answer(lambda method=method, rest=rest: getattr(reader, method)(*rest)), rest  # type: ignore[misc]


@pytest.mark.skipif(shutil.which("tsc") is None, reason="tsc (npm install typescript) is not installed")
def test_the_typescript_module_has_the_right_types(tmp_path: Path) -> None:
    """The compiler of TypeScript finds no fault in a module, as strict as it can be."""
    (tmp_path / "moves.ts").write_text(
        emit(MoveReader(herbrand.load("montyHall")), "typescript"), encoding="utf-8"
    )
    command = [str(shutil.which("tsc")), "--strict", "--noEmit", "--target", "es2022", "--module", "es2022"]
    outcome = subprocess.run(
        [*command, "--noUnusedLocals", "--noImplicitReturns", "moves.ts"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert not outcome.returncode, outcome.stdout


# -- the command ----------------------------------------------------------------------------


def run(*words: str) -> tuple[int, str]:
    """Exit status and output of a command."""
    outcome = CliRunner().invoke(cli, ["reader", *words], catch_exceptions=False)
    return outcome.exit_code, outcome.output


def test_the_command_describes_reads_completes_and_writes(tmp_path: Path) -> None:
    """`herbrand reader` shows the tables, answers about texts, and writes modules."""
    code, output = run("ticTacToe", "--json")
    assert code == 0
    assert json.loads(output)["roles"][0]["moves"] == 10
    code, output = run("ticTacToe", "--read", "mark(1,3)", "--read", "(mark 1 4)", "--json")
    assert code == 1
    rows = json.loads(output)
    assert rows[0] == {"text": "mark(1,3)", "move": "(mark 1 3)", "index": 2}
    assert rows[1]["code"] == "E-MOVE-SYNTAX"
    assert run("ticTacToe", "--as", "oplayer", "--complete", "no") == (0, "noop\n")
    file = tmp_path / "moves.py"
    assert run("ticTacToe", "--to", "python", "-o", str(file))[0] == 0
    assert "reader = " in file.read_text(encoding="utf-8")
    assert run("ticTacToe", "--as", "nobody", "--read", "x")[0] == 2
    assert run("ticTacToe", "-o", "x")[0] == 2
    assert run("ticTacToe", "--to", "python", "--read", "x")[0] == 2

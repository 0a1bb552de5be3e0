"""What is wrong with a GGDL text is found, named and placed; nothing breaks the reader."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest

import herbrand
from herbrand.check import check
from herbrand.check.catalogue import CHECKS, find
from herbrand.check.render import text as render
from herbrand.diagnostic import Source
from herbrand.syntax import read
from herbrand.syntax.ggdl import NAMES, read_ggdl

GOLDEN = Path(__file__).resolve().parent.parent.parent / "golden" / "ggdl"

FAULTS = {
    "E-LEX": ('role a\np(?x) :- q(?x) and ?x # "open', '"open'),
    "E-SYNTAX": ("role a { size 3 }", "3"),
    "E-DIALECT": ("role a\na $+ 10 :- q(1)", "$+"),
    "E-NAME-UNDECLARED": ("role a\na -> go(Left) :- role(a)", "Left"),
    "E-NAME-AMBIGUOUS": ("role a\ndata Hand := l | r\na -> show(Hand) :- role(a)", "Hand"),
    "E-NAME-CLASH": ("init ^ N :: int default 1\ninit ^ N :: int default 2", "init ^ N :: int default 2"),
    "E-CONST": ("data t := 1 .. ?n", "?n"),
    "E-RANGE-EMPTY": ("data t := 3 .. 1", "3 .. 1"),
    "E-PARAM-MISSING": ("role a\ninit ^ N :: int >= 1", "init ^ N :: int >= 1"),
    "E-PARAM-DEFAULT": ("init ^ N :: int >= 3 default 2", "2"),
    "E-TYPE-UNKNOWN": ("role a\na -> go(?x:t)", "t"),
    "E-TYPE-INFINITE": ("role a\na -> go(?x:int)", "int"),
    "E-TYPE-AMBIGUOUS": ("role r\ndata a := x | y\ndata b := x | z\ninit F := x", "init F := x"),
    "E-TYPE-MISMATCH": ("role r\ndata a := x | y\nbase F = a\ninit F := w", "base F = a"),
    "E-PREF-CYCLE": ("data t := a <<< b <<< a", "data t := a <<< b <<< a"),
    "E-PREF-TYPE": ("role a\np(?x) :- q(?x) and ?x >> a\nq(a)", "?x >> a"),
    "E-ROLE-PROP": ("role a { n^^: string }\nterminal :- a.n == x", "a.n"),
    "E-INIT-DYNAMIC": ("role a\ninit F := 1\ninit G := 2 :- F == 1", "F"),
    "E-INIT-CONFLICT": ("role a\ninit F := 1\ninit F := 2", "init F := 2"),
    "E-DOES-SCOPE": ("role a, b\n?p -> go :- b -> stop", "b -> stop"),
    "E-MOVE-DOMAIN": ("role a\ninit F := 1\n?p -> go(?x) :- F == 1", "?x"),
    "E-EFFECT-TARGET": ("role a\nv(1)\na -> go ==> v(1)", "v(1)"),
    "E-EFFECT-CONFLICT": ("role a\na -> go ==> F = 1 and F = 2", "F = 2"),
    "E-PERSIST-TARGET": ("role a\nv(1)\nv(1) ==> persist", "v(1)"),
    "E-GOAL-RANGE": ("role a\na $= 101 :- q(1)", "101"),
    "E-SURFACE": ("role a\ninit b := Chess(8)", "Chess(8)"),
    "E-CONSULT-NOTFOUND": ('consult { A } from "nowhere"\nrole a', '"nowhere"'),
    "E-CONSULT-NAME": ('consult { A } from "boards/square"\nrole a', "A"),
    "E-ARITY": ("role a\ninit turn := a\nterminal :- turn(a, a)", "turn(a, a)"),
    "S2": ("role a\ninit (\n F := 1\na -> go :- role(a)", "("),
    "S12": ("role a\ninit x\nfar(?x) :- q(?x) r(?x)", "r(?x)"),
    "S13": ("role a\ninit x\nfar(?x) :- q(?x) and", "and"),
    "W-STYLE": ("enum t := a", "enum"),
    "W-NAME-DECLARED": ("data t := X\np(a) :- q(X)", "X"),
    "W-IMPLICIT-TRUE": ("role a\ninit Lamp := on\nterminal :- lamp(off)", "lamp(off)"),
    "W-FLUENT-VIEW": ("init open\nopen :- door(1)\nterminal :- open", "open"),
    "W-FRAME": ("role a\n(<= (next (at 2)) (true (at 3)))\na -> go ==> At = 1", "a -> go ==> At = 1"),
    "W-INT-RANGE": ("role a\ninit N := 0\na -> up ==> N = N + 1", "N + 1"),
    "W-INPUT": ("role a\ndata t := 1 | 2\ninput(a, go(1))\na -> go(?x:t)", "a -> go(?x:t)"),
}
ELSEWHERE = {
    *("E-PARAM-RANGE", "E-PARAM-TYPE", "E-PARAM-UNKNOWN", "E-ROLE-NONE"),
    *("E-CONSULT-CYCLE", "E-IMPORT-CLASH", "W-HOOK-UNUSED"),
}


def found(text, **given):
    """The findings of the reader and the checks about a text, worst first."""
    return list(check(read(text, "ggdl", parameters=given or None)).diagnostics)


def test_every_code_is_a_check_with_a_page():
    """Each code of the language is reported as a check of the catalogue, and tested here or beside."""
    for code, name in NAMES.items():
        assert name in CHECKS, code
        assert code in FAULTS or code in ELSEWHERE, code
        if CHECKS[name].notation == "ggdl":
            assert find(code).name == name


@pytest.mark.parametrize("code", FAULTS)
def test_a_fault_is_found_where_it_is(code):
    """The check that the code stands for reports the place, with a message and mostly with help."""
    text, place = FAULTS[code]
    fitting = [d for d in found(text) if d.check == NAMES[code]]
    assert fitting, [(d.check, d.message) for d in found(text)]
    (first, *_) = fitting
    assert text[first.span.start : first.span.end].startswith(place)
    assert first.is_error == (not code.startswith("W-"))
    assert first.message[0].islower() or not first.message[0].isalpha()
    assert not first.message.endswith(".")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"N": 2}, "E-PARAM-RANGE"),
        ({"N": 21}, "E-PARAM-RANGE"),
        ({"N": "big"}, "E-PARAM-TYPE"),
        ({"N": True}, "E-PARAM-TYPE"),
        ({"M": 3}, "E-PARAM-UNKNOWN"),
    ],
)
def test_values_of_parameters_are_refused(given, code):
    """A value out of range, of another kind, for no parameter; the range is named."""
    text = "role a\ninit ^ N :: int >= 3 <= 20 default 3"
    (wrong,) = [d for d in found(text, **given) if d.check == NAMES[code]]
    if code != "E-PARAM-UNKNOWN":
        assert "3 to 20" in wrong.message
    else:
        assert wrong.help == "its parameters: `N`"
    with pytest.raises(herbrand.GameError, match=re.escape(wrong.message)):
        herbrand.loads(text, "ggdl", parameters=given).initial_state()


def test_plain_games_have_no_parameters():
    """A value for a parameter of a game that is not in GGDL is refused too."""
    wrong = herbrand.loads("(role a)", N=3).diagnostics
    assert [d.check for d in wrong if "parameter" in d.check] == ["parameter-unknown"]


MISTAKES = [
    ("terminal :- turn = b", "=", "`=` assigns a value, which no condition does", "write `==` to compare"),
    ("terminal :- trun == b", "trun", "`trun` is not declared, so it never equals `b`", "did you mean `turn`?"),
    ("terminal :- hue == gren", "gren", "`hue` is never `gren`, which is not among its type `col`",
     "did you mean `green`?"),
    ("p(?x) :- ?x:col # blu", "blu", "the variable is never `blu`, which is not among its type `col`",
     "did you mean `blue`?"),
    ("terminal :- turn(a, b)", "turn(a, b)", "`turn` takes 0 arguments, not 2",
     "to ask for its value, write `turn == …`"),
    ("?p -> go :- role(?p) ==> role = a", "role", "`role` is a keyword and cannot be assigned a value", None),
    ("?p -> go :- role(?p) ==> trn = b", "trn", "`trn` is changed here, but nothing declares or reads it",
     "did you mean `turn`? Otherwise declare `trn` with `init` or `base`"),
    ("?p -> dye(?c:col) :- role(?p) ==> paint = ?c", "paint",
     "`paint` is changed here, but nothing declares or reads it",
     "did you mean `hue`? Otherwise declare `paint` with `init` or `base`"),
    ("a -> go(c:col) :- turn(a)", ":", "expected `,` or `)`, found `:`", "write `?c:col` for a variable with a type"),
    ("init b : = a", ":", "expected the end of a sentence, found `:`", "write `:=` as one sign"),
    ("init ^ N :: integer >= 1 default 2", "integer", "unknown type `integer`", "write `int`"),
    ("init ^ N :: int 1..5 default 3", "1", "expected `default`, found `1`",
     "write, for example, `init ^ N :: int >= 1 <= 9 default 3`"),
    ("init ^ N :: int >= 3 <= 5 default 9\ndata idx := 1 .. N", "9",
     "the default `9` of `N` is not an integer from 3 to 5", None),
    ("data idx := 3 .. 1", "3 .. 1", "the range 3 .. 1 is empty", "did you mean `1 .. 3`?"),
    ('init s := "abc', '"abc', "an unterminated quotation", "close it on its line"),
    ("int s := a", "int", "`int` begins no sentence that gives a value", "write `init`"),
    ("?p -> go(?n:integer) :- role(?p)", "integer", "unknown type `integer`", "did you mean `int`?"),
    ("init (\n G := 1\n H := 2\n?p -> go :- turn(?p)", "(", "this `(` is never closed", "insert `)` where it ends"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "place", "message", "help_text"), MISTAKES, ids=[m[0] for m in MISTAKES]
)
def test_one_mistake_gives_one_error_with_its_remedy(sentence, place, message, help_text):
    """What people write by mistake is named at its place, once."""
    text = f"role a, b\ndata col := red | green | blue\ninit turn := a\ninit hue := red\n{sentence}\n"
    text += "?p -> wait :- role(?p) and ?p # turn ==> turn = a\n?p $= 100 :- role(?p)"
    (wrong,) = [d for d in found(text) if d.is_error and d.check != "missing-keyword"]
    assert (wrong.message, wrong.help) == (message, help_text)
    assert text[wrong.span.start : wrong.span.end].startswith(place)


def test_a_prefix_sentence_that_is_never_closed_ends_before_the_next_sentence():
    """It does not swallow the rest of the text: one error about its own parenthesis, none about others."""
    text = "role a\ninit turn := a\n(<= (legal ?p foo (role ?p))\n?p -> go(?i:role) :- turn(?p)\nterminal :- turn == a\na $= 9"
    assert [d.check for d in found(text) if d.is_error] == ["misplaced-parenthesis"]


def test_an_argument_may_have_a_union_of_types():
    """`base marking(blank | roles)`, as its author writes it."""
    tree = read(
        "role x, o\nbase marking(blank | roles)\nbase cell(1 .. 2) = blank | roles\ninit cell(1) := blank",
        "ggdl",
    )
    assert not tree.diagnostics
    members = [str(rule) for rule in tree.statements if rule.head.name == "ggdl_blank_to_o"]
    assert members == ["(ggdl_blank_to_o blank)", "(ggdl_blank_to_o x)", "(ggdl_blank_to_o o)"]
    marking = next(fluent for fluent in tree.ggdl.fluents if fluent.name == "marking")
    assert marking.arguments == ["ggdl_blank_to_o"]


AUCTION = """
role a, b
init ^ C :: int >= 1 <= 9 default 3
init ^ L :: int >= 1 <= 9 default 4
data coin := 0 .. C
data lot := 0 .. L
base lots = lot
base purse(roles) = coin
init lots := 0
init purse(?p:roles) := C
?p -> bid(?c:coin) :- ?c <= purse(?p) ==> purse(?p) = purse(?p) - ?c
not done ==> lots = lots + 1
done :- lots == L
terminal :- done
?p $= 100 :- role(?p)
"""


@pytest.mark.parametrize("values", [{}, {"C": 5}, {"C": 9, "L": 2}, {"L": 9}])
def test_a_program_stays_valid_with_other_parameters(values):
    """What is assigned stays in the type of its fluent, however large the integers of other types are."""
    game = herbrand.loads(AUCTION, "ggdl", parameters=values)
    assert not game.rules.errors
    state = game.initial_state()
    for _ in range(values.get("L", 4)):
        assert not state.is_terminal
        state = state.next({"a": "(bid 0)", "b": "(bid 0)"})
    assert state.is_terminal


def test_no_role():
    """A game without roles is told so."""
    assert "missing-keyword" in [d.check for d in found("init F := 1")]


DIALECTS = [
    "F :: T -> T -> U", "var n int", "export default x", "output {( )}", "meta {( )}", "^name := x",
    "phase one", "include x as y", "func f", "basis f", "play subgame x", "for i in x",
    "a -> go ==> F \\=> 1", "p(?x) :- q(?x) and #r(_) == 1", "p(?x) :- q(?x) and |r| == 1",
    "p :- ?x #= 3", "p(?x) :- forall(?x, q(?x)) and ?x == 1", "data t := *a | b", "p :- q => r",
    "legal { p: m }", "next{F <- v}", "Board := Surface(3)", "p(?x) :- ?x \\in t and q(?x)",
    "p(?x) :- ?x has y and q(?x)", "p(?x) :- exists(q(?x)) and ?x == 1",
    "legal ( p->a :- q(1) )", "p(1) :- all { q(1) ; r(1) }", "p(1) :- { q(1) ; r(1) }", "---\ntitle: x\n---",
    "init S := ```text```", "x := {( a: 1 )}", "p {( q )}", "init b := #Line<T>", "Line<T> where T > 3",
    "a -> go <== b", "a $5 :- q(1)", "p(?x) :- forany(?x, q(?x)) and ?x == 1",
    "p(?x) :- all(?x, q(?x)) and ?x == 1", "p(?x) :- any(?x, q(?x)) and ?x == 1",
    "p(?x) :- ?x in zip(q, r)", "p(?x) :- ?x in reverse(q)", "p(?x) :- sum(?k of q(?k)) == ?x",
    "p :- q(?x) and ?x #< 3", "p :- q(?x) and ?x #> 3", "p :- q(?x) and ?x =>= 3",
    "data a := 1 | 2\ndata b := 3 | 4\ndata t := a * b", "data a := 1 | 2\ndata t := a + 1",
    "data t := FROZEN(?i in 1..2) | b",
]  # fmt: skip


@pytest.mark.parametrize("text", DIALECTS)
def test_other_dialects_are_recognised(text):
    """Constructs of neighbouring languages are refused by name, and what to write is said."""
    wrong = [d for d in found(f"role a\n{text}\n") if d.is_error]
    assert "other-dialect" in [d.check for d in wrong], [(d.check, d.message) for d in wrong]
    assert next(d for d in wrong if d.check == "other-dialect").help


def test_several_errors_are_reported_at_once():
    """Reading goes on behind a faulty sentence, in blocks too."""
    text = """role a, b
data t := 1 .. 2
?p -> go(?x:nowhere) :- role(?p)
data u := 3 .. 1
init ( F(?x:t) := 1
?p -> stop :- role(?p)
surface S <=> {[ b | \\i <- 1 .. 2 ]} where (
  p(?x :- q
  r(1)
)
a $= 1000 :- r(1)
terminal :- F(1) == 1
"""
    wrong = [d for d in found(text) if d.is_error]
    lines = {d.source.position(d.span.start).line for d in wrong}
    assert {3, 4, 11} <= lines
    assert len({d.check for d in wrong}) >= 4


def test_an_error_of_a_later_stage_points_at_the_ggdl_line():
    """Unsafe and unstratified rules are reported where their sentence stands."""
    text = "role a\ninit F := 1\na -> go :- F == 1\nterminal :- F == 2\na $= 0\np(?x, ?y) :- F == ?x and ?x # 2\n"
    (wrong,) = [d for d in found(text) if d.is_error]
    assert wrong.check == "unsafe-variable"
    assert wrong.source.position(wrong.span.start) == (6, 7)
    shown = render([wrong])
    assert "6 | p(?x, ?y) :- F == ?x and ?x # 2" in shown
    assert "`?y` in the head is not bound" in shown
    loop = "role a\ninit F := 1\nodd(?x) :- F == ?x and not odd(?x)\n"
    (cycle,) = [d for d in found(loop) if d.check == "unstratified-negation"]
    assert cycle.source.position(cycle.span.start).line == 3
    moves = "role a\ninit F := 1\nbusy :- a -> go and F == 1\nterminal :- busy\n"
    assert "legal-depends-on-does" in [d.check for d in found(moves)]


def test_errors_in_imported_files_are_about_those_files(tmp_path):
    """What is wrong with a library is reported there, not at the place of the import."""
    (tmp_path / "lib.ggd").write_text("v(?x) :- ?x in nowhere and q(?x)\n")
    main = tmp_path / "main.ggd"
    main.write_text('role a\nconsult { v } from "lib"\n')
    wrong = [d for d in herbrand.load(main).tree.diagnostics if d.is_error]
    assert [(d.check, Path(d.source.name).name) for d in wrong] == [("unknown-type", "lib.ggd")]
    (tmp_path / "lib.ggd").write_text("v(?x, ?y) :- q(?x) and ?x in {{ 1 }}\n")
    (unsafe,) = [d for d in herbrand.load(main).diagnostics if d.check == "unsafe-variable"]
    assert Path(unsafe.source.name).name == "main.ggd"
    assert unsafe.source.position(unsafe.span.start).line == 2


TOKEN = re.compile(r"\w+|\s+|[^\w\s]+")


def test_nothing_breaks_the_reader():
    """Texts with tokens removed, doubled, exchanged and inserted give findings, never exceptions."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(GOLDEN.rglob("*.ggd"))]
    pool = [token for text in texts for token in TOKEN.findall(text) if token.strip()]
    rng = random.Random(11)
    wrong = 0
    for _ in range(100):
        tokens = TOKEN.findall(rng.choice(texts))
        for _ in range(rng.choice((1, 1, 2, 4))):
            at = rng.randrange(len(tokens))
            tokens[at : at + rng.randrange(2)] = [rng.choice(pool)] * rng.randrange(3)
        tree = read_ggdl(Source("".join(tokens), str(GOLDEN / "x.ggd")))
        wrong += any(d.is_error for d in check(tree).diagnostics)
    assert wrong > 30


@pytest.mark.parametrize(
    "text",
    [
        "role a\np :- " + "(" * 5000,
        "role a\np :- " + "not " * 5000 + "q",
        "role a\np(" * 3000,
        "init x " + "{" * 4000,
        "role a\ndata t := " + "1 .. 2 | " * 3000 + "1",
        "role a\ndata t := 1 .. 99999999999",
        "role a\np :- " + " and ".join("(q or r)" for _ in range(40)) + " and x == y",
        "role a\ninit N := 0\na -> up(?k:t) ==> N = N + ?k\ndata t := 0 .. 100",
        "role a\ninit F := s(0)\na -> up ==> F = s(F)",
        "\x00\x01" * 200,
        "role a\nconsult { " + "A, " * 2000 + '} from "x"',
    ],
    ids=range(11),
)
def test_hostile_texts_are_refused_in_time(text):
    """Deep, long and endless texts cost little and end in findings."""
    started = time.process_time()
    assert any(d.is_error for d in check(read_ggdl(Source(text))).diagnostics)
    assert time.process_time() - started < 20

"""The features of GGDL, one by one, in the order of the language's checklist (`docs/reference/ggdl.md`).

Number 23 stands in `test_state_code.py`; 50 to 59, about the reader of moves, in `test_ggdl_checklist_moves.py`.
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

import herbrand
from herbrand.diagnostic import Source
from herbrand.syntax import read
from herbrand.syntax.ggdl import parameters_of
from herbrand.syntax.ggdl.values import mangled
from herbrand.syntax.infix import read_infix
from herbrand.syntax.printer import print_tree
from herbrand.syntax.reader import read_prefix
from herbrand.verify import verify_same

GOLDEN = Path(__file__).resolve().parent.parent.parent / "golden" / "ggdl"
PROBE = "\ninit ggdl_probe\n"


def tree(text, **given):
    """Read a text as GGDL; it has to be free of errors."""
    found = read(text, "ggdl", parameters=given or None)
    wrong = [d.message for d in found.diagnostics if d.is_error]
    assert not wrong, wrong
    return found


def rules(text, about=None, **given):
    """The rules that a text means, as prefix text; `about` keeps those with this head."""
    found = [str(rule) for rule in tree(text, **given).statements]
    if about is None:
        return found
    return [r for r in found if re.match(rf"(\(<= )?\(?{re.escape(about)}(?![\w])", r)]


def codes(text, **given):
    """The names of the checks that find something wrong with a text."""
    return [d.check for d in read(text, "ggdl", parameters=given or None).diagnostics]


def game(text, **given):
    """A game that can be played: what is missing is added."""
    found = herbrand.loads(text, "ggdl", parameters=given or None)
    wrong = [d.message for d in found.diagnostics if d.is_error]
    assert not wrong, wrong
    return found


BASIC = """
role a, b
?p -> wait :- role(?p)
terminal :- done(1)
done(0)
?p $= 50 :- role(?p)
"""


def facts(state):
    return {fact.lower() for fact in state.facts}


# -- lexical matters and the superset -------------------------------------------------------------


def sheets():
    return sorted(p for p in Path(herbrand.__file__).parent.joinpath("games").glob("*.kif"))


@pytest.mark.slow_except(*(str(path) for path in sheets()[::3]))
@pytest.mark.parametrize("path", sheets(), ids=lambda p: p.stem)
def test_01_prefix_rulesheets_are_unchanged(path):
    """The same rules as from the reader of prefix text, also with a GGDL sentence behind them."""
    text = path.read_text(encoding="utf-8")
    plain = read_prefix(Source(text))
    assert read(text, "ggdl").statements == plain.statements
    probed = tree(text + PROBE)
    rest = [r for r in probed.statements if "ggdl_probe" not in str(r)]
    assert rest == list(plain.statements)
    assert "(init ggdl_probe)" in map(str, probed.statements)
    assert "(<= (next ggdl_probe) (true ggdl_probe))" in map(str, probed.statements)


def renamed(statements):
    """Rules with their variables numbered."""
    out = []
    for rule in statements:
        names = {}
        out.append(re.sub(r"\?[^\s()]+", lambda m: names.setdefault(m[0], f"?{len(names)}"), str(rule)))  # noqa: B023
    return out


@pytest.mark.slow_except(*(str(path) for path in sheets()[1::4]))
@pytest.mark.parametrize("path", sheets(), ids=lambda p: p.stem)
def test_02_infix_rulesheets_are_unchanged(path):
    """The same rules as from the reader of infix text, also with a GGDL sentence behind them."""
    text = print_tree(read_prefix(Source(path.read_text(encoding="utf-8"))), "infix").text
    plain = read_infix(Source(text))
    assert read(text, "ggdl").statements == plain.statements
    probed = tree(text + PROBE)
    rest = [r for r in probed.statements if "ggdl_probe" not in str(r)]
    assert renamed(rest) == renamed(plain.statements)


def test_02_a_variable_for_a_whole_fluent_stays_one():
    """`next(Q)` of a plain rule has a variable, and declares nothing."""
    assert "(<= (next ?q) (keep ?q) (true ?q))" in rules("next(Q) :- keep(Q) & true(Q)\nkeep(a)" + PROBE)


def test_01_inputs_of_plain_moves_are_not_listed():
    """One GGDL sentence in a plain sheet asks for nothing but its own: 100^6 declared inputs do not matter."""
    numbers = " ".join(f"(n {i})" for i in range(100))
    variables = " ".join("?" + v for v in "abcdef")
    declared = f"(<= (input a (m {variables})) {' '.join(f'(n {v})' for v in variables.split())})"
    found = tree(f"(role a)\n{numbers}\n{declared}\n(<= (legal a ?m) (input a ?m)){PROBE}")
    assert declared in [str(rule) for rule in found.statements]


def test_03_prefix_infix_and_ggdl_in_one_file():
    """Sentences of all notations stand together, several prefix ones on a line."""
    found = rules(
        """
        (role a) (role b) (succ 1 2)
        next_to(X, Y) :- succ(X, Y)
        (<= (far ?x ?y)
            (succ ?x ?y) (not (next_to ?y ?x)))
        data index := 1 .. 2
        near(?x:index, ?y) :- ?x in index and succ(?x, ?y)
        (<= terminal (far 1 2)) (open)
        """
    )
    assert found[:3] == ["(role a)", "(role b)", "(succ 1 2)"]
    assert "(<= (next_to ?x ?y) (succ ?x ?y))" in found
    assert "(<= (far ?x ?y) (succ ?x ?y) (not (next_to ?y ?x)))" in found
    assert "(<= (near ?x ?y) (index ?x) (succ ?x ?y))" in found
    assert found[-2:] == ["(<= terminal (far 1 2))", "open"]


def test_04_comments():
    """`//`, `%`, `%%`, `;`, `;;` are comments, `;` between groups of data separates."""
    text = """
    // one
    % two
    %% three
    ; four
    ;; five
    # six
    /* seven
       eight */
    data hand := rock << paper; left | right   // nine
    (p a) ; ten (q b)
    (q a) ;; eleven
    r(a) ;; twelve
    """
    assert rules(text) == [
        *("(hand rock)", "(hand paper)", "(hand left)", "(hand right)", "(hand_below rock paper)"),
        *("(p a)", "(q a)", "(r a)"),
    ]
    assert len(read(text, "ggdl").comments) == 11


def test_05_words_of_ggdl_are_ordinary_names_elsewhere():
    """Relations called `data`, `in`, `default`, `from`, `let`, `surface`, `persist` in plain rules."""
    text = """
    data(a) index(3)
    in(1,2) default(x) from(a,b) let(c) surface(d) persist(e) when(f) const(g) type(h) consult(i)
    near(X) :- in(X,Y) & default(Z)
    in(1,1)
    """
    plain = read_infix(Source(text)).statements
    assert read(text, "ggdl").statements == plain
    rest = tree(text + PROBE).statements
    assert [r for r in rest if "ggdl_probe" not in str(r)] == list(plain)


def test_06_capitalised_names():
    """Variables in plain rules, constants where declared, errors where neither."""
    text = "data hand := ROCK | PAPER\nbeats(X, Y) :- succ(X, Y)\nwins(?x) :- ?x == ROCK"
    found = rules(text)
    assert "(<= (beats ?x ?y) (succ ?x ?y))" in found
    assert "(wins rock)" in found
    assert "undeclared-name" in codes("won(?x) :- ?x == Rock and role(?x)")
    assert "ambiguous-name" in codes("data Hand := rock\nwon(?x) :- ?x == Hand and role(?x)")
    assert "declared-name" in codes("data hand := X | Y\nfull(a) :- cell(X)")


def test_07_case_does_not_count():
    """`Cell` and `cell` are one relation; `Hand` may be a type and `hand` a relation."""
    found = rules(
        "data mark := b | x\ninit Cell(1) := b\n(<= open (true (cell 1 b)))\ndata Hand := l | r\nhand2(l)"
    )
    assert "(init (cell 1 b))" in found
    assert "(hand l)" in found
    assert "name-clash" in codes("const Blank := 1\ndata mark := blank | x")


def test_08_strings():
    """A string that is a lower-case constant is that constant, any other one of its own."""
    assert [mangled(x) for x in ("o", "X", "", "-", "12", "not")] == [
        "o", "s__58_", "s_", "s__2d_", "12", "s_not",
    ]  # fmt: skip
    texts = ["".join(p) for k in range(3) for p in product("a_Z-5 ", repeat=k)]
    assert len({mangled(x) for x in texts}) == len(texts)
    found = tree('data mark := "o" | "X"\np("o")\np("X")')
    assert [str(r) for r in found.statements if r.head.name == "p"] == ["(p o)", "(p s__58_)"]
    assert found.ggdl is not None
    assert dict(found.ggdl.strings) == {"s__58_": "X"}


def test_09_full_stops():
    """They may end sentences; without blanks they reach members; two are a range."""
    found = rules("role a { size: 3 }.\np(1 .. 2).\nq(x).\nbig(?p) :- role(?p) and ?p.size == 3.\nr(a).")
    assert "(<= (big ?p) (role ?p) (size ?p 3))" in found
    assert {"(p 1)", "(p 2)", "(q x)", "(r a)", "(size a 3)"} <= set(found)


@pytest.mark.parametrize(
    ("normal", "others"),
    [
        ("p(?x) :- q(?x) and r(?x)", ["p(?x) :- q(?x) & r(?x)", "p(?x) :- q(?x) && r(?x)",
                                      "p(?x) :- q(?x), r(?x)", "p(?x) ⇐ q(?x) ∧ r(?x)",
                                      "p(?x) <= q(?x) & r(?x)", "p(?x) <- q(?x) & r(?x)"]),
        ("p(?x:h) :- q(?x) and (r(?x) or s(?x))", ["p(?x:h) :- q(?x) and (r(?x) | s(?x))",
                                               "p(?x:h) :- q(?x) and (r(?x) || s(?x))",
                                               "p(?x:h) :- q(?x) and (r(?x) ; s(?x))",
                                               "p(?x:h) :- q(?x) and or(r(?x), s(?x))"]),
        ("p(?x) :- q(?x) and not r(?x)", ["p(?x) :- q(?x) and ~r(?x)", "p(?x) :- q(?x) and \\+ r(?x)",
                                         "p(?x) :- q(?x) and not(r(?x))", "p(?x) :- q(?x) and ¬r(?x)"]),
        ("p(?x) :- q(?x) and ?x # a", [f"p(?x) :- q(?x) and ?x {s} a" for s in ("=/=", "!=", "<#>", "\\=", "≠")]
            + ["p(?x) :- q(?x) and distinct(?x, a)"]),
        ("p(?x) :- q(?x) and ?x == a", ["p(?x) :- q(?x) and ?x === a"]),
        ("p(?x) :- h(?x) and ?x >> l", ["p(?x) :- h(?x) and ?x >>> l", "p(?x) :- h(?x) and l << ?x",
                                       "p(?x) :- h(?x) and l <<< ?x"]),
        ("init F := a", ["init F = a", "init (F := a)", "init ( F := a ; )", "init { F := a }"]),
        ("a $= 100 :- q(1)", ["goal(a) = 100 :- q(1)", "goal a = 100 :- q(1)", "a.goal(100) :- q(1)",
                              "goal(a, 100) :- q(1)"]),
        ("const N := 3\np(N)", ["N <=> 3\np(N)", "N =:= 3\np(N)", "const N = 3\np(N)"]),
        ("p(?x:h) :- q(?x)", ["p(?x in h) :- q(?x)", "p(?x) :- ?x in h and q(?x)"]),
        ("data u := a | b", ["data u (a | b)", "enum u = a || b", "type u :: a | b", "data u = a|b"]),
    ],
    ids=lambda x: x[:24] if isinstance(x, str) else "",
)  # fmt: skip
def test_10_operator_alternatives(normal, others):
    """Each spelling of an operator gives the same rules as the usual one."""
    head = "role a\ndata h := l << r << a\nq(1) q(a)\nr(a) s(a)\n"
    expected = sorted(rules(head + normal))
    for other in others:
        assert sorted(rules(head + other)) == expected, other


# -- declarations --------------------------------------------------------------------------------


def test_11_parameters():
    """Defaults and given values, bounds on both sides, use in ranges and in arithmetic."""
    text = "init ^ N :: int > 1 < 6 default 3\ninit ^ Twice :: int default 2 * N\ndata row := 1 .. N\np(N + Twice - 1)"
    assert rules(text, "p") == ["(p 8)"]
    assert rules(text, "p", N=5) == ["(p 14)"]
    assert rules(text, "row", N=2) == ["(row 1)", "(row 2)"]
    for value, wrong in ((1, "parameter-range"), (6, "parameter-range"), ("x", "parameter-type")):
        assert wrong in codes(text, N=value)
    assert "parameter-unknown" in codes(text, M=3)
    assert "parameter-missing" in codes("init ^ N :: int\np(N)")
    assert "parameter-default" in codes("init ^ N :: int >= 3 default 2\np(N)")
    assert rules("init ^ On :: bool default true\np :- On\nq :- not On\nr(1)") == ["p", "(r 1)"]
    kinds = "data size := small | large\ninit ^ S :: size default small\np(S)"
    assert rules(kinds, "p", S="large") == ["(p large)"]
    assert "parameter-range" in codes(kinds, S="huge")
    assert not any("twice" in r or "(n " in r for r in rules(text))


def test_12_parameters_are_known_without_translating():
    """Name, type, bounds, default and documentation; a blank line keeps a comment away."""
    text = """
    // How wide
    // the board is.
    init ^ Width :: int >= 3 <= 20 default 3
    init ^ Height :: int >= 1 default 2   // how high it is

    // Something else.

    init ^ Flag :: bool default false
    init (
      // inside of a group
      ^ Deep :: int default 1
    )
    broken broken(((
    """
    width, height, flag, deep = parameters_of(Source(text))
    assert (width.name, width.type, width.low, width.high, width.default) == ("Width", "int", 3, 20, 3)
    assert width.doc == "How wide\nthe board is."
    assert (height.low, height.high, height.doc) == (1, None, "how high it is")
    assert (flag.type, flag.default, flag.doc) == ("bool", False, "")
    assert deep.doc == "inside of a group"
    assert [p.range for p in (width, height, flag)] == ["3 to 20", "at least 1", "true or false"]


def test_13_data_types():
    """Ranges, other types, roles; members in the order in which they are first named."""
    text = "role x, o\ndata index ( 1 .. 3 )\ndata all := blank | roles | index | blank | 3\ndata sq := {[ at(\\i) | \\i <- 1 .. 2 ]}"
    assert rules(text, "all") == [f"(all {m})" for m in ("blank", "x", "o", "1", "2", "3")]
    assert rules(text, "sq") == ["(sq (at 1))", "(sq (at 2))"]
    assert "empty-type" in codes("data t := 3 .. 1")
    assert "not-a-constant" in codes("data t := a | t2 | t\ndata t2 := t")
    assert "infinite-type" in codes("data t := int")
    assert rules("index(1) index(2)\np(?x:index) :- q(?x)\nq(1)", "p") == ["(<= (p ?x) (index ?x) (q ?x))"]


def test_14_preference():
    """`<<` joins neighbours and may go round, `<<<` is transitive, `|` ranks equal, `;` keeps apart."""

    def below(items):
        return {tuple(r.strip("()").split()[1:]) for r in rules(f"data t := {items}", "t_below")}

    assert below("a << b << c << a") == {("a", "b"), ("b", "c"), ("c", "a")}
    assert below("a <<< b <<< c") == {("a", "b"), ("b", "c"), ("a", "c")}
    assert below("a | b << c") == {("a", "c"), ("b", "c")}
    assert below("a << b; c << d") == {("a", "b"), ("c", "d")}
    assert below("1 .. 3 << x") == {("1", "2"), ("2", "3"), ("1", "x"), ("2", "x"), ("3", "x")}
    assert "preference-cycle" in codes("data t := a <<< b <<< a")
    head = "role r\ndata t := a << b\nq(a)\n"
    assert rules(head + "p(?x) :- q(?x) and ?x >> a", "p") == ["(<= (p ?x) (q ?x) (t_below a ?x))"]
    assert "preference-type" in codes("data t := a << b\ndata u := a << c\nq(a)\np(?x) :- q(?x) and ?x << a")


def test_15_partitions_in_facts():
    """Alternatives and ranges in facts stand for one fact each."""
    assert rules("p(1 | 2, a | b)") == ["(p 1 a)", "(p 1 b)", "(p 2 a)", "(p 2 b)"]
    assert rules("q(1 .. 4)") == ["(q 1)", "(q 2)", "(q 3)", "(q 4)"]
    assert rules("base A :- .\nq(1 .. 2)", "a") == ["a"]


def test_16_role_properties():
    """Typed, constant, `bool` and set properties; each role has its own; `_` means all."""
    text = """
    data mark := x | o
    role a { hand: mark; size: 3; ready: bool; has: []mark }
    role b { hand: mark, size: 4 }
    role _ { tired: bool }
    init a.hand := x
    ?p -> take(?m:mark) :- role(?p) ==> (?p.hand = ?m, ?p.tired = true)
    a -> put(?m) :- ?m in a.has ==> a.has -= ?m
    a -> get(?m:mark) :- not a.ready ==> (a.has += ?m; a.ready = true)
    terminal :- a.ready == true and a.tired and b.size == 4
    ?p $= 0 :- role(?p)
    """
    found = game(text)
    assert {"(size a 3)", "(size b 4)"} <= {str(r) for r in found.tree.statements}
    state = found.initial_state()
    assert facts(state) == {"(hand a x)"}
    state = state.next(("(get o)", "(take o)"))
    assert facts(state) == {"(hand a x)", "(hand b o)", "(has a o)", "(ready a)", "(tired b)"}
    assert "(put o)" in map(str, state.legal_moves("a"))
    state = state.next(("(put o)", "(take x)"))
    assert facts(state) == {"(hand a x)", "(hand b x)", "(ready a)", "(tired b)"}
    assert not state.is_terminal
    assert state.next(("(take x)", "(take x)")).is_terminal
    assert "external-property" in codes("role a { name^^: string }\nterminal :- a.name == x")


def test_17_members_are_another_spelling():
    """`a.f(b)` is `f(a, b)` for properties, views, `does` and `goal`."""
    head = "role a\ndata m := x\ninit a.hand := x\ninit Over := 0\n"
    pairs = [
        ("p :- a.hand == x", "p :- hand(a) == x"),
        ("v(?r) :- role(?r)\np :- a.v", "v(?r) :- role(?r)\np :- v(a)"),
        ("w(?r, 1) :- role(?r)\np :- a.w(1)", "w(?r, 1) :- role(?r)\np :- w(a, 1)"),
        ("a.does(go) ==> Over = 1", "a -> go and role(a) ==> Over = 1"),
        ("a.goal(7) :- a.hand == x", "goal(a, 7) :- hand(a) == x"),
    ]
    for one, two in pairs[:3] + pairs[4:]:
        assert rules(head + one) == rules(head + two), one
    assert "(<= (next (over 1)) (does a go))" in rules(head + pairs[3][0])


def test_18_facts_that_last():
    """`init fact` lasts until it is negated, `init(fact)` is gone after one step."""
    text = """
    role a
    init lamp(1)
    init(spark)
    a -> off :- lamp(1) ==> ~lamp(1)
    a -> wait :- role(a)
    terminal :- not lamp(1)
    a $= 0 :- role(a)
    """
    state = game(text).initial_state()
    assert facts(state) == {"(lamp 1)", "spark"}
    state = state.next(("wait",))
    assert facts(state) == {"(lamp 1)"}
    assert facts(state.next(("off",))) == set()


def test_19_initial_values():
    """Typed places, conditions and groups say the same; a two-place relation has n^2 tuples."""
    head = "role x\ndata index := 1 .. 3\ndata mark := b | x\n"
    typed = rules(head + "init Cell(?i:index, ?j:index) := b", "init")
    assert typed == ["(<= (init (cell ?i ?j b)) (index ?i) (index ?j))"]
    assert rules(head + "init Cell(?i, ?j) := b :- index(?i) and index(?j)", "init") == typed
    assert rules(head + "init (\n Cell(?i:index, ?j:index) := b\n Turn := x\n)", "init") == [
        *typed,
        "(init (turn x))",
    ]
    found = tree(head + "init Cell(?i:index, ?j:index) := b")
    assert found.ggdl is not None
    (cell,) = found.ggdl.fluents
    assert len(cell.domain) == 9
    assert cell.total
    assert "dynamic-init" in codes(head + "init Turn := x\ninit Cell(?i:index) := b :- Turn == x")


def test_20_special_initial_values_win():
    """A left side that is an instance of another wins; two of one rank are an error."""
    head = "role x\ndata index := 1 .. 2\ndata mark := b | x | o\n"
    found = rules(head + "init Cell(?i:index, ?j:index) := b\ninit Cell(1, 2) := x", "init")
    assert found == [
        "(init (cell 1 1 b))",
        "(init (cell 2 1 b))",
        "(init (cell 2 2 b))",
        "(init (cell 1 2 x))",
    ]
    rows = rules(
        head + "init Cell(1, 2) := x\ninit Cell(?i:index, ?j:index) := b\ninit Cell(?i:index, 2) := o", "init"
    )
    assert set(rows) == {
        "(init (cell 1 1 b))",
        "(init (cell 2 1 b))",
        "(init (cell 1 2 x))",
        "(init (cell 2 2 o))",
    }
    assert "conflicting-init" in codes(head + "init Cell(1, 1) := x\ninit Cell(1, 1) := o")
    assert "conflicting-init" in codes(head + "init Cell(1, ?j:index) := x\ninit Cell(?i:index, 1) := o")


def test_21_types_of_values():
    """The least type that holds all values; none where no type does; two are ambiguous."""
    text = "role x, o\ndata marking := blank | roles\ninit Cell(1) := blank\ninit Turn := x\ninit Count := 7\nx -> go ==> Turn = o"
    found = tree(text)
    assert found.ggdl is not None
    kinds = {f.name: (f.value, len(f.values)) for f in found.ggdl.fluents}
    assert kinds == {"cell": ("marking", 3), "turn": ("role", 2), "count": (None, 1)}
    base = rules(text, "base")
    assert "(<= (base (cell 1 ?v)) (marking ?v))" in base
    assert "(base (count 7))" in base
    assert "ambiguous-type" in codes("role r\ndata a := x | y\ndata b := x | z\ninit F := x")
    assert "type-mismatch" in codes("role r\ndata a := x | y\ninit F := x\nr -> go ==> F = w")
    assert "type-mismatch" in codes("role r\ndata a := x | y\nbase F = a\nr -> go ==> F = w")


def test_22_partial_functions():
    """Without a value both `#` and `==` fail, and the negation of `==` holds."""
    text = """
    role ann, bob { shows: Sign }
    data Sign := stone << paper
    differ :- ann.shows # paper
    same   :- ann.shows == paper
    no     :- not (ann.shows == paper)
    ?p -> throw(?s:Sign) :- role(?p) ==> ?p.shows = ?s
    terminal :- same
    ?p $= 0 :- role(?p)
    """
    state = game(text).initial_state()
    assert facts(state) == set()
    assert [bool(state.ask(q)) for q in ("differ", "same", "no")] == [False, False, True]
    state = state.next(("(throw stone)", "(throw stone)"))
    assert [bool(state.ask(q)) for q in ("differ", "same", "no")] == [True, False, True]
    state = state.next(("(throw paper)", "(throw stone)"))
    assert [bool(state.ask(q)) for q in ("differ", "same", "no")] == [False, True, False]


def test_24_declared_functions():
    """`base F(T) = U` and `base F = U` say domain and values before anything has one."""
    text = "role r\ndata t := 1 | 2\ndata u := a | b\nbase F(t) = u\nbase G = u\nbase On(t)\nr -> go(?x:t) ==> (F(?x) = a, On(?x))"
    assert rules(text, "base") == [
        "(<= (base (f ?t ?v)) (t ?t) (u ?v))",
        "(<= (base (g ?v)) (u ?v))",
        "(<= (base (on ?t)) (t ?t))",
    ]


def test_25_constants():
    """`const` and `<=>`, in any order, leave no trace."""
    assert rules("p(B)\nB <=> A + 1\nconst A := 2\nconst Far := at(A, x)\nq(Far)") == [
        "(p 3)",
        "(q (at 2 x))",
    ]
    assert "name-clash" in codes("const A := 1\nconst A := 2")
    assert "not-a-constant" in codes("const A := B\nconst B := A")


# -- rules ---------------------------------------------------------------------------------------

STATE = "role a, b\ndata t := 1 | 2\ninit Turn := a\ninit F(?x:t) := 1\ninit G(?x:t) := 2\nrole_of(1, a)\n"


def body(text, about="p"):
    (found,) = rules(STATE + text, about)
    return found


def test_26_values_in_terms():
    """A functional relation stands for its value, nested too, in conditions and in effects."""
    assert body("p(?r) :- role(?r) and ?r # Turn") == (
        "(<= (p ?r) (true (turn ?turn)) (role ?r) (distinct ?r ?turn))"
    )
    assert body("p(?x) :- t(?x) and F(?x) == G(?x)") == (
        "(<= (p ?x) (t ?x) (true (f ?x ?f)) (true (g ?x ?f)))"
    )
    assert body("p :- F(G(1)) == 2") == "(<= p (true (g 1 ?g)) (true (f ?g 2)))"
    assert body("p :- F(1) == F(1)") == "(<= p (true (f 1 ?f)))"
    found = rules(STATE + "a -> go ==> F(1) = G(F(2))", "next")
    assert "(<= (next (f 1 ?g)) (does a go) (true (f 2 ?f)) (true (g ?f ?g)))" in found


def test_27_relations_of_values():
    """With one argument more the relation itself is meant."""
    assert body("p(?r) :- Turn(?r)") == "(<= (p ?r) (true (turn ?r)))"
    assert body("p(?v) :- F(1, ?v)") == "(<= (p ?v) (true (f 1 ?v)))"


def test_28_typed_variables():
    """A type is a condition, once, wherever the variable stands."""
    assert body("p(?x:t) :- F(?x:t) == ?y and t(?y)") == "(<= (p ?x) (t ?x) (true (f ?x ?y)) (t ?y))"
    assert body("p(?x in t)") == "(<= (p ?x) (t ?x))"
    assert body("p :- q(?r:role)\nq(a)") == "(<= p (role ?r) (q ?r))"
    assert body("p(?x:1..2)") == "(<= (p ?x) (t ?x))"
    assert body("p(?x:int >= 5 <= 6)") == "(<= (p ?x) (ggdl_5_to_6 ?x))"
    assert "unknown-type" in codes("p(?x:nowhere)")
    assert "infinite-type" in codes("p(?x:int)")


def test_29_membership():
    """In a type, the roles, a range, a collection, a set of a role; and not in them."""
    assert body("p(?x) :- ?x in t") == "(<= (p ?x) (t ?x))"
    assert body("p(?x) :- ?x in roles") == "(<= (p ?x) (role ?x))"
    assert body("p(?x) :- t(?x) and ?x not in {{ 1 }}") == "(<= (p ?x) (t ?x) (distinct ?x 1))"
    assert rules(STATE + "p(?x) :- ?x in {{ a, b }}", "p") == ["(p a)", "(p b)"]
    assert body("p(?x) :- ?x in 4 .. 9") == "(<= (p ?x) (ggdl_4_to_9 ?x))"
    assert body("p(?x) :- t(?x) and ?x not in 1 .. 2") == "(<= (p ?x) (t ?x) (not (t ?x)))"
    assert body("p :- 2 in {{ F(_) }}") == "(<= p (true (f ?any 2)))"
    assert body("p :- 2 not in {{ F(_) }}") == "(<= p (not ggdl_some_f))"


def test_30_collections():
    """All elements of one are among those of the other, and the other way round."""
    assert body("p(?m) :- {{ ?m }} === {{ F(1 .. 2) }}") == "(<= (p ?m) (true (f 1 ?m)) (true (f 2 ?m)))"
    assert body("p(?m) :- {{ ?m }} === {{ F(_) }}") == "(<= (p ?m) (true (f 1 ?m)) (true (f 2 ?m)))"
    assert body("p(?m) :- {{ ?m }} === {[ F(3 - \\k) | \\k <- t ]}") == (
        "(<= (p ?m) (true (f 2 ?m)) (true (f 1 ?m)))"
    )
    assert rules(STATE + "p :- {{ 1, 2 }} === {{ F(1), F(2) }}", "p") == [
        "(<= p (true (f 1 1)) (true (f 2 2)))",
        "(<= p (true (f 1 2)) (true (f 2 1)))",
    ]
    assert "ggdl-syntax" in codes(STATE + "p({{ 1 }})")


def test_31_negation_with_local_variables():
    """What stands only inside a negation is "for some": it gets a view."""
    head = STATE + "line(1)\nq(1)\n"
    assert rules(head + "p :- not Line(_)", "p") == ["(<= p (not ggdl_some_line))"]
    assert "(<= ggdl_some_line (line ?any))" in rules(head + "p :- not Line(_)")
    both = rules(head + "p(?x:t) :- not (line(?x) and q(?x))")
    assert "(<= (p ?x) (t ?x) (not (ggdl_some_1 ?x)))" in both
    assert "(<= (ggdl_some_1 ?x) (line ?x) (q ?x))" in both
    assert body("p(?x:t) :- not (?x # 1)") == "(<= (p 1) (t 1))"
    assert rules(head + "p(?x:t) :- not not q(?x)", "p") == ["(<= (p ?x) (t ?x) (q ?x))"]
    unsafe = rules(head + "p(?x:t, ?y:t) :- not (?x # 1 and ?y # 2)")
    assert "(<= (ggdl_some_1 ?x ?y) (t ?x) (t ?y) (distinct ?x 1) (distinct ?y 2))" in unsafe


def test_32_or_at_any_depth():
    """Each alternative becomes a rule; `and` binds stronger than `or`, `not` than both."""
    head = "q(1) r(1) s(1) u(1)\n"
    plain = rules(head + "p :- q(1) or r(1) and s(1)\ninit x", "p")
    assert plain == ["(<= p (or (q 1) (and (r 1) (s 1))))"], "a plain rule stays what it is"
    head += "role a\ninit x\n"
    assert rules(head + "p :- q(1) or r(1) && s(1)", "p") == ["(<= p (q 1))", "(<= p (r 1) (s 1))"]
    assert rules(head + "p :- (q(1) || r(1)) and (s(1) or u(1))", "p") == [
        "(<= p (q 1) (s 1))", "(<= p (q 1) (u 1))", "(<= p (r 1) (s 1))", "(<= p (r 1) (u 1))",
    ]  # fmt: skip
    assert rules(head + "p :- not q(1) and r(1)", "p") == ["(<= p (not (q 1)) (r 1))"]
    assert rules(head + "p :- not (q(1) or r(1) and 1 == 1)", "p") == ["(<= p (not (q 1)) (not (r 1)))"]


def test_33_integers():
    """Comparison and arithmetic over the integers of the game; outside of them nothing happens."""
    text = """
    role a
    data n := 0 .. 3
    init N := 1
    a -> add(?k:n) :- ?k > 0 ==> N = N + ?k
    a -> double :- 2 * N <= 3 ==> N = 2 * N
    terminal :- N >= 3
    a $= 0 :- role(a)
    """
    found = game(text)
    assert "integer-range" in [d.check for d in found.diagnostics]
    state = found.initial_state()
    assert sorted(map(str, state.legal_moves("a"))) == ["(add 1)", "(add 2)", "(add 3)", "double"]
    assert facts(state.next(("(add 2)",))) == {"(n 3)"}
    assert facts(state.next(("(add 3)",))) == {"(n 1)"}, "1 + 3 is no integer of this game"
    assert facts(state.next(("double",))) == {"(n 2)"}
    assert "double" not in map(str, state.next(("double",)).legal_moves("a"))
    assert rules("p :- 1 < 2\nq :- 2 < 1 \nr(2 * 3 - 1)\ns(-2 + 1)") == ["p", "(r 5)", "(s -1)"]


def test_34_move_rules():
    """Legality and consequence in one sentence or two; every way to name the one who moves."""
    head = STATE
    whole = rules(head + "?p -> go(?x:t) :- Turn(?p) ==> F(?x) = 2")
    split = rules(head + "(?p -> go(?x:t)) :- Turn(?p)\n?p -> go(?x:t) :- Turn(?p) ==> F(?x) = 2")
    assert set(whole) == set(split)
    legal = "(<= (legal ?p go) (role ?p) (true (turn ?p)))"
    for subject in ("?p", "?p:role", "role(?p)", "role ?p"):
        assert rules(head + f"{subject} -> go :- Turn(?p)", "legal") == [legal], subject
    assert rules(head + "a -> go :- Turn(a)", "legal") == ["(<= (legal a go) (true (turn a)))"]
    for other in ("input(?p, go) :- Turn(?p) ==> F(1) = 2", "legal(?p, go) :- Turn(?p) ==> F(1) = 2",
                  "?p -> go :: Turn(?p) ==> F(1) = 2"):  # fmt: skip
        assert rules(head + other) == rules(head + "?p -> go :- Turn(?p) ==> F(1) = 2"), other
    assert "move-domain" in codes(head + "?p -> go(?x) :- Turn(?p)")
    assert "legal-depends-on-does" in codes(head + "?p -> go :- b -> stop")


def test_35_effects_belong_to_conditions():
    """Of two rules for one action only the one whose condition holds has its effects."""
    text = (
        STATE
        + """
    ?p -> push :- Turn(?p) and F(1) == 1 ==> F(1) = 2
    ?p -> push :- Turn(?p) and F(1) == 2 ==> G(1) = 1
    b -> wait :- role(b)
    terminal :- G(1) == 1
    ?p $= 0 :- role(?p)
    """
    )
    state = game(text).initial_state()
    state = state.next(("push", "wait"))
    assert {"(f 1 2)", "(g 1 2)"} <= facts(state)
    state = state.next(("push", "wait"))
    assert {"(f 1 2)", "(g 1 1)"} <= facts(state)


def test_36_moves_without_condition():
    """Legal for all typed arguments, unless another sentence says when they are legal."""
    assert rules(STATE + "?p -> go(?x:t)", "legal") == ["(<= (legal ?p (go ?x)) (role ?p) (t ?x))"]
    both = rules(STATE + "?p -> go(?x:t) :- Turn(?p)\n?p -> go(?x:t) ==> F(?x) = 2")
    assert [r for r in both if "(legal" in r] == ["(<= (legal ?p (go ?x)) (role ?p) (t ?x) (true (turn ?p)))"]
    assert "(<= (next (f ?x 2)) (role ?p) (t ?x) (does ?p (go ?x)))" in both
    assert rules(STATE + "(legal a go)\n?p -> go ==> F(1) = 2", "legal") == ["(legal a go)"]


def test_37_effects_read_the_old_state():
    """Two values can be swapped in one step."""
    text = (
        STATE
        + "a -> swap ==> F(1) = G(1) and G(1) = F(1)\nb -> wait\nterminal :- F(1) == 2\n?p $= 0 :- role(?p)"
    )
    state = game(text).initial_state().next(("swap", "wait"))
    assert {"(f 1 2)", "(g 1 1)", "(f 2 1)", "(g 2 2)"} <= facts(state)
    assert "effect-conflict" in codes(STATE + "a -> go ==> F(1) = 1 and F(1) = 2")


def test_38_levels_of_effects():
    """Consequences without a move win over lasting, moves win over them; asserting over retracting."""
    text = """
    role a
    data n := 0 .. 9
    init Heat := 5
    init Fuel := 5
    init lit
    Heat == 5 ==> Heat = 4
    Heat ==> persist
    a -> stoke ==> Heat = 9
    a -> wait
    a -> both ==> (lit, ~lit)
    a -> blow ==> ~lit
    terminal :- Heat == 0
    a $= 0 :- role(a)
    """
    start = game(text).initial_state()
    assert facts(start.next(("wait",))) == {"(heat 4)", "(fuel 5)", "lit"}
    assert facts(start.next(("wait",)).next(("wait",))) == {"(heat 4)", "(fuel 5)", "lit"}
    assert facts(start.next(("stoke",))) == {"(heat 9)", "(fuel 5)", "lit"}
    assert "lit" in facts(start.next(("both",)))
    assert "lit" not in facts(start.next(("blow",)))
    without = text.replace("Heat ==> persist", "")
    assert [str(r) for r in game(without).tree.statements] == [str(r) for r in game(text).tree.statements]
    assert "persist-target" in codes("role a\nv(1)\nv(1) ==> persist")


def test_39_own_next_rules():
    """Who writes `next` rules for something decides alone what lasts of it; nothing else changes."""
    text = STATE + "(<= (next (turn b)) (true (turn a)))\na -> go ==> F(1) = 2"
    assert codes(text).count("own-frame") == 1
    kept = [r for r in rules(text, "next") if "(turn" in r]
    assert kept == ["(<= (next (turn b)) (true (turn a)))"]
    assert "(<= (next (g ?x ?v)) (true (g ?x ?v)))" in rules(text, "next")
    both = STATE + "(<= (next (turn b)) (true (turn a)))\na -> go ==> Turn = a"
    assert "own-frame" in codes(both)
    turn = [r for r in rules(both, "next") if "(turn" in r]
    assert turn == ["(<= (next (turn b)) (true (turn a)))", "(<= (next (turn a)) (does a go))"]


def test_40_payoffs():
    """Several share a condition; a variable is a role; older spellings."""
    assert rules(STATE + "a $= 100, b $= 0 :- F(1) == 2", "goal") == [
        "(<= (goal a 100) (true (f 1 2)))", "(<= (goal b 0) (true (f 1 2)))",
    ]  # fmt: skip
    assert rules(STATE + "?p $= 50 :- F(1) == 2", "goal") == ["(<= (goal ?p 50) (role ?p) (true (f 1 2)))"]
    assert rules(STATE + "role(?p) $= 100 - 1", "goal") == ["(<= (goal ?p 99) (role ?p))"]
    for wrong in ("a $= 101", "a $= -1", "a $= high", "goal(a, 200)"):
        assert "goal-value" in codes(STATE + f"{wrong} :- F(1) == 2"), wrong


def test_41_views_with_capitals():
    """Views and `terminal` as in plain rules, with or without capitals."""
    assert rules(STATE + "Done :- F(1) == 2\nterminal :- Done\nterminal :- not Done and Half(1)\nHalf(1)", "terminal") == [
        "(<= terminal done)", "(<= terminal (not done) (half 1))",
    ]  # fmt: skip


def test_42_chance_and_percepts():
    """`random` and `sees` as in GDL-II; without them a game is plain GDL."""
    coin = herbrand.load(GOLDEN / "coin.ggd")
    assert coin.roles == ("random", "guesser")
    assert [r for r in map(str, coin.tree.statements) if "sees" in r] == [
        "(<= (sees guesser (coin ?s)) (does guesser (call ?any)) (true (coin ?s)))"
    ]
    for name in ("ttt", "nim", "rps"):
        text = str(herbrand.load(GOLDEN / f"{name}.ggd").tree)
        assert "sees" not in text
        assert "random" not in text


SURFACE = """
surface Row(N) <=> {[ FREE | \\i <- 1 .. N ]} where (
  FREE <=> "-"
  let ?c = @[?i] {
    ?c -> Put(?m) :- ?c == FREE ==> ?c = ?m
    ?c ==> persist
  }
  Full :- not (FREE in {{ @[_] }})
  First(?m) :- @[1] == ?m and ?m # FREE
)
"""


def test_43_surfaces():
    """An instance has cells with initial values, members, and places with indices."""
    text = (
        SURFACE + "role a\ninit left := Row(2)\ninit right := Row(3)\np(?v) :- left[2] == ?v\nq :- right.Full"
    )
    found = rules(text)
    assert {"(row left)", "(cell_at left 2)", "(cell_at right 3)", "(init (cell right 3 s__2d_))"} <= set(
        found
    )
    assert "(cell_at left 3)" not in found
    assert "(<= (p ?v) (true (cell left 2 ?v)))" in found
    assert "(<= q (full right))" in found
    assert "surface" in codes("role a\ninit b := Nothing(3)")
    assert "surface" in codes(SURFACE + "role a\ninit b := Row(1, 2)")
    assert "surface" in codes("role a\np :- @[1] == x")
    assert "surface" in codes(SURFACE + "role a\ninit b := Row(2)\np :- b.Nothing(1)")
    assert "name-clash" in codes(SURFACE + "role a\ninit b := Row(2)\ninit cell(b, 1) := x")


def test_44_places_and_located_moves():
    """A hook adds its condition and effects to moves at its places; two boards do not interfere."""
    text = (
        SURFACE
        + """
    role a, b
    init left := Row(2)
    init right := Row(2)
    ?p @ left[_] -> Put(x) :- role(?p)
    ?p @ right[?i] -> Put(?m:sign) :- role(?p) and ?i > 1 ==> Last = ?i
    data sign := x | o
    data place := 1 .. 2
    base Last = place
    terminal :- left.Full
    ?p $= 0 :- role(?p)
    """
    )
    found = game(text)
    state = found.initial_state()
    moves = {str(m).lower() for m in state.legal_moves("a")}
    assert moves == {"(put left 1 x)", "(put left 2 x)", "(put right 2 x)", "(put right 2 o)"}
    state = state.next(("(put left 1 x)", "(put right 2 o)"))
    assert {"(cell left 1 x)", "(cell right 2 o)", "(cell left 2 s__2d_)", "(last 2)"} <= facts(state)
    assert {str(m).lower() for m in state.legal_moves("a")} == {"(put left 2 x)"}
    assert "unused-hook" in codes(SURFACE + "role a\ninit left := Row(2)")
    assert "surface" in codes(SURFACE + "role a\ninit l := Row(2)\na @ l[1, 1] -> Put(x)")
    assert "surface" in codes(SURFACE + "role a\ninit l := Row(2)\na @ m[1] -> Put(x)")
    square = SURFACE.replace("\\i <- 1 .. N", "\\i <- 1 .. N, \\j <- 1 .. N").replace("@[_]", "@[_, _]")
    assert "surface" in codes(square + "role a\ninit l := Row(2)\na @ l[1, 1] -> Put(x)")


def test_45_imports(tmp_path):
    """Files beside the importing one, then the library; endings may be left out; dependencies come along."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "more.ggd").write_text(
        "role z\ndata colour := red | green\nwarm(?c) :- ?c in colour and hot(?c)\nhot(red)\nother(1)\n"
    )
    main = tmp_path / "main.ggd"
    main.write_text('consult { warm } from "lib/more"\nrole a\np(?c) :- warm(?c)')
    found = list(map(str, herbrand.load(main).tree.statements))
    assert {"(colour red)", "(hot red)", "(<= (p ?c) (warm ?c))"} <= set(found)
    assert "(other 1)" not in found
    assert "(role z)" not in found
    main.write_text('import { MNKBoard } from "@boards/MNK"\nrole a\ninit b := MNKBoard(2, 2, 2)')
    assert "(cell_at b 2 2)" in list(map(str, herbrand.load(main).tree.statements))

    def wrong(text):
        main.write_text(text)
        return [d.check for d in herbrand.load(main).tree.diagnostics]

    assert wrong('consult { A } from "nowhere"\nrole a') == ["consult-not-found"]
    assert wrong('consult { A } from "lib/more"\nrole a') == ["consult-name"]
    assert "import-clash" in wrong('consult { colour } from "lib/more"\ndata colour := blue\nrole a')
    (tmp_path / "other.ggd").write_text("data colour := pink")
    assert "import-clash" in wrong(
        'consult { colour } from "lib/more"\nconsult { colour } from "other"\nrole a'
    )
    (tmp_path / "round.ggd").write_text('consult { q } from "main"\nq(1)')
    assert "consult-cycle" in wrong('consult { q } from "round"\nrole a')


@pytest.mark.parametrize("roles", [("a", "b"), ("a", "b", "c")])
def test_45_turns_go_round(roles):
    """`AlternatingTurns` of two and three roles; whose turn it is not can only pass."""
    text = f"""
    consult {{ AlternatingTurns }} from "rules/control"
    role {", ".join(roles)}
    init control := AlternatingTurns({", ".join(roles)}).control
    ?p -> go :- control(?p)
    terminal :- never(1)
    never(0)
    ?p $= 0 :- role(?p)
    """
    state = game(text).initial_state()
    for k in range(7):
        turn = roles[k % len(roles)]
        assert facts(state) == {f"(control {turn})"}
        legal = {role: [str(m) for m in state.legal_moves(role)] for role in roles}
        assert legal == {role: ["go" if role == turn else "noop"] for role in roles}
        state = state.next([legal[role][0] for role in roles])
    assert "undeclared-name" in codes("role a, b\ninit c := AlternatingTurns(a, b).control")


def test_46_the_constructs_of_the_published_games():
    """Our own texts with the constructs of the published ones: choice with values, a board of marks."""
    choice = """
    role left, right { show: Hand; Title^^: string }
    data Hand := (ROCK) << PAPER << SCISSORS << ROCK ; UNKNOWN
    init ( left.show := UNKNOWN ; right.show := UNKNOWN )
    role(?p) -> throw(?hand) :- Hand(?hand) and ?hand <#> UNKNOWN ==> ?p.show = ?hand
    Even :- left.show == right.show
    terminal :- not Even
    left $= 100, right $= 0 :- left.show >> right.show
    left $= 0, right $= 100 :- left.show << right.show
    """
    state = game(choice).initial_state()
    assert facts(state) == {"(show left unknown)", "(show right unknown)"}
    assert len(state.legal_moves("left")) == 3
    end = state.next(("(throw rock)", "(throw scissors)"))
    assert end.is_terminal
    assert end.goals == {"left": 100, "right": 0}
    board = """
    consult { AlternatingTurns } from "rules/control"
    consult { TicTacToeBoard } from "boards/MNK"
    role x, o
    init control := AlternatingTurns(x, o).control
    init board := TicTacToeBoard
    role(?p) @ board[_, _] -> Mark(?p) :- control(?p)
    terminal :- board.Line(_) or not board.Open
    ?p $= 100 :- role(?p) and board.Line(?p)
    ?p $= 0   :- role(?p) and board.Line(?q) and ?p # ?q
    ?p $= 50  :- role(?p) and not board.Line(_)
    """
    found, plain = game(board), herbrand.load(GOLDEN / "ttt.ggd")
    one, two = found.simulate(1500, seed=1), plain.simulate(1500, seed=2)
    assert one.length["min"] == 5
    assert one.length["max"] == 9
    assert abs(one.goals["x"].mean - two.goals["x"].mean) < 5
    start = found.initial_state()
    assert not start.is_terminal
    literal = board.replace(
        'consult { TicTacToeBoard } from "boards/MNK"',
        """
    surface TicTacToeBoard <=> {[ b | \\r <- 1 .. 3, \\c <- 1 .. 3 ]} where (
      let ?cell = @[?r, ?c] { ?cell -> Mark(?m) :- ?cell == b ==> ?cell = ?m }
      Open :- b in {{ @[_, _] }}
      Line(?m) :- {{ ?m }} === {{ @[?r, 1 .. 3] }}
    )""",
    )
    assert game(literal).initial_state().is_terminal, "a line of blanks is a line, as it is written"


OLDER = [
    ("init F = 1", "init F := 1"),
    ("init { F := 1 }", "init F := 1"),
    ("init F := 1\na -> go ==> F := 2", "init F := 1\na -> go ==> F = 2"),
    ("init F := 1\na -> go ==> F <- 2", "init F := 1\na -> go ==> F = 2"),
    ("init F := 1\nnext F <- 2 :- a.does(go)", "init F := 1\na -> go and q(1) or a -> go ==> F = 2"),
    ("init F := 1\nnext(F = 2) :- a -> go", "init F := 1\na -> go or a -> go ==> F = 2"),
    ("enum t := 1 | 2", "data t := 1 | 2"),
    ("type t := 1 | 2", "data t := 1 | 2"),
    ("init F := 1\nwhen F == 1 ==> F = 2", "init F := 1\nF == 1 ==> F = 2"),
    ("init F := 1\na -> go :: F == 1 ==> F = 2", "init F := 1\na -> go :- F == 1 ==> F = 2"),
]


@pytest.mark.parametrize(("older", "usual"), OLDER, ids=[older for older, _ in OLDER])
def test_47_older_and_later_spellings(older, usual):
    """They mean the same, and are noted."""
    head = "role a\nq(1)\n"
    old, new = set(rules(head + older)), set(rules(head + usual))
    new = {r for r in new if "(q 1)" not in r or r == "(q 1)"}
    assert old == new
    assert "older-spelling" in codes(head + older)


def test_48_operations():
    """An operation occurs when a role does it or another one that occurs calls it."""
    text = """
    role a
    init heat(0)
    init F := 0
    legal(a, push) :- role(a)
    legal(a, wait) :- role(a)
    push :: F == 0 & warm ==> F = 1
    warm :: heat(0) ==> ~heat(0) & heat(1)
    terminal :- F == 1
    a $= 0 :- role(a)
    """
    state = game(text).initial_state()
    assert facts(state.next(("wait",))) == {"(heat 0)", "(f 0)"}
    assert facts(state.next(("push",))) == {"(heat 1)", "(f 1)"}


def test_49_two_rulesheets_are_compared_in_play():
    """The comparison that the worked examples are tested with sees when games differ."""
    one, two = herbrand.load(GOLDEN / "nim.ggd"), herbrand.load(GOLDEN / "nim.kif")
    assert verify_same(one, two, declarations=True, playouts=20).ok
    other = herbrand.load(GOLDEN / "nim.ggd", HeapSize=2)
    assert not verify_same(other, two, playouts=5).ok

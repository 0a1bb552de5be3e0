"""What single constructs of GGDL mean, and what is said about faulty ones: one row for each."""

from __future__ import annotations

import re

import pytest

from herbrand.syntax import read

REFUSED = [
    ("surface S <=> {[ b | \\i <- 1 .. 2 ]}\nsurface s <=> {[ b | \\i <- 1 .. 2 ]}", "surface s <=> {[ b | \\i <- 1 .. 2 ]}", "the surface `s` is declared twice"),
    ("surface S <=> {[ b | \\i <- 1 .. 2 ]}\ninit b(1) := S", "b(1)", "the name of a board takes no arguments"),
    ('consult { AlternatingTurns } from "rules/control"\ninit c := AlternatingTurns(a)', "AlternatingTurns(a)", "turns need at least two roles"),
    ('consult { AlternatingTurns } from "rules/control"\ninit c(1) := AlternatingTurns(a, b)', "c(1)", "the name of a control takes no arguments"),
    ("a -> 3 :- q(1)", "3", "an action is a name with arguments"),
    ("p :- 'Hello'", "'Hello'", "`'Hello'` is not a condition"),
    ('p("a\\qb")', '"a\\qb"', "a string with an escape sequence that JSON does not define"),
    ("p(?x) :- ?x in {[ \\i | \\i of 1 .. 3 ]}", "of", "expected `<-`, found `of`"),
    ("p(?x) :- ?x in {[ \\i | 3 <- t ]}", "3", "expected a generator such as `\\row`, found `3`"),
    ("init F(?x:3) := 1", ")", "expected a type, found `)`"),
    ("?p q :- r", "?p", "this cannot be the head of a rule"),
    ("init 3 := 1", "3", "this cannot be the head of a rule"),
    ("-> go", "->", "expected the end of a sentence, found `->`"),
    ("init ^ N :: int default 1\na -> go ==> N = 2", "N", "`N` is a parameter and cannot be assigned a value"),
    ("C <=> 3\na -> go ==> C = 2", "C", "`C` is a constant and cannot be assigned a value"),
    ("a -> go ==> a = 2", "a", "`a` is a role and cannot be assigned a value"),
    ("a -> go ==> 3 = 1", "3", "only a relation can be assigned a value"),
    ("a -> go ==> ~3", "3", "this is not a fluent"),
    ("init F := 1\na -> go ==> F += 1", "F", "`F` is not a fluent, so no effect can change it"),
    ("init ^ N :: nowhere default 3", "nowhere", "unknown type `nowhere` for a parameter"),
    ("init ^ N :: int >= 5 <= 3 default 4", "init ^ N :: int >= 5 <= 3 default 4", "the range 5 .. 3 is empty"),
    ("init ^ N :: int <= 20 default 30", "30", "the default `30` of `N` is not an integer, at most 20"),
    (") p(1)", ")", "expected a value, found `)`"),
    ("base A :- b", "b", "expected `.`, found `b`"),
    ("init ( F := 1", "(", "this `(` is never closed"),
    ("let ?x 3 { p(1) }", "3", "expected `=`, found `3`"),
    ("surface S { p }", "{", "expected `<=>`, found `{`"),
    ("surface S <=> b", "b", "expected the cells `{[ … ]}`, found `b`"),
    ("surface S <=> {{ b }}", "{{ b }}", "the cells of a surface must be a comprehension `{[ … ]}`"),
    ("consult { A } from boards", "boards", "expected the path of a file in quotes, found `boards`"),
    ("p <= q :- r(1)", ":-", "expected the end of a sentence, found `:-`"),
    ("p(1 <= 2", "(", "this `(` is never closed"),
    ("exists(q", "(", "this `(` is never closed"),
    ("?x == 1 :- q", "?x == 1", "this cannot be the head of a rule"),
    ("?x == 1 and a -> go ==> 3", "3", "this is not a fluent"),
    ("a -> go ==> ( F = 1", "(", "this `(` is never closed"),
    ("surface Row <=> {[ e | \\i <- 1 .. 2 ]} where (\n  Open :- e in {{ @[_] }}\n)\ninit b := Row\na @ b -> Put(x)", "b", "the place of a move is written `board[i, j]`"),
    ("surface Row <=> {[ e | \\i <- 1 .. 2 ]} where (\n  Open :- e in {{ @[_] }}\n)\ninit b := Row\nterminal :- b[1]", "b[1]", "a place is not a condition"),
    ("surface Row <=> {[ e | \\i <- 1 .. 2 ]} where (\n  Open :- e in {{ @[_] }}\n)\ninit b := Row\nterminal :- b[1, 2] == x", "b[1, 2]", "no board has this place"),
    ("surface Row <=> {[ e | \\i <- 1 .. 2 ]} where (\n  Open :- e in {{ @[_] }}\n)\ninit b := Row\nterminal :- b.Closed", "b.Closed", "the board `b` has no `Closed` with 0 arguments"),
    ("q(1)\nq(1) ==> persist", "q(1)", "only a fluent can persist"),
    ("init F := 1\nF == 1 ==> persist", "F == 1", "only a fluent can persist"),
    ("p(?x) :- q(?x) and ?x == b + 1", "b", "`b` is not an integer"),
    ("a { n^^: int }\np(a.n)", "{", "expected the end of a sentence, found `{`"),
    ("role b { n^^: int }\np(b.n)", "b.n", "`b.n` is external: it describes a player and is not part of the rules"),
    ("role b { n^^: int }\nterminal :- b.n(3)", "b.n(3)", "`b.n(3)` is external: it describes a player and is not part of the rules"),
    ("p :- a $= 3", "a $= 3", "a payoff is not a condition"),
    ("terminal :- Left -> go", "Left", "unknown role `Left`"),
    ("terminal :- {{ 1 }} < {{ 2 }}", "{{ 1 }} < {{ 2 }}", "collections are compared with `===`"),
    ("terminal :- {{ 1 }} === {{ }}", "{{ 1 }} === {{ }}", "an empty collection equals nothing"),
    ("init F(?x) := 1 :- q(?x)\nq(1)\nterminal :- {{ 1 }} === {{ F(_) }}", "_", "the values of `_` are not known here"),
    ("p(?x) :- q(?x) and ?x in int", "int", "`int` is not a finite type"),
    ("init F(?x:int >= 3) := 1", "int >= 3", "`int` needs two bounds to be finite"),
    ("init F(?x:int >= 3 <= 1) := 1", "int >= 3 <= 1", "the range 3 .. 1 is empty"),
    ("p(?x) :- ?x in {[ \\i | \\i <- nowhere ]}", "nowhere", "a generator must range over a type, a range or a collection of constants"),
    ("N <=> 3\np(?x) :- ?x in {[ \\i | \\i <- N ]}", "N", "a generator must range over a type, a range or a collection of constants"),
    ("p(?x) :- ?x in {[ \\i | \\i <- 1 .. 400, \\j <- 1 .. 300 ]}", "{[ \\i | \\i <- 1 .. 400, \\j <- 1 .. 300 ]}", "a collection with too many elements"),
    ("p(3 .. 1)", "3 .. 1", "the range 3 .. 1 is empty"),
    ("p(?x) :- ?x in {(q, r)}", "(", "a record `{( … )}` belongs to another dialect"),
    ("p(?x) :- ?x \\in {{ 1 }}", "\\in", "`\\in` belongs to another dialect"),
    ("init F(?x:1+2) := 1", "1+2", "sums and products of types belong to another dialect"),
    ("var x", "var", "`var` belongs to another dialect"),
    ("init F := 1\nF(1) := 3", ":=", "expected the end of a sentence, found `:=`"),
    ("x := new Grid", "x", "an instance without `init` belongs to another dialect"),
    ("a -> go(?x) :- ?x == #r", "#", "`#` belongs to another dialect"),
    ("init x = 3 and", "and", "expected a condition, found `and`"),
    ("p [1", "[", "this `[` is never closed"),
    ("q(1)\np(?x) :- q(?x) ==> F = 1 <= 2", "==>", "expected the end of a rule, found `==>`"),
    ("init F := 1\np(X) :- F == X & (q(X) | not q(X))\n", "X", "`X` is not declared"),
    ("p(1). #Line(1)", "#", "`#Name` belongs to another dialect"),
    ("next F(1)", "", "expected `=`, found the end of the text"),
    ("role(a) @ b", "", "expected `->`, found the end of the text"),
    ("(?x) == 1 :- q", "==", "expected the end of a sentence, found `==`"),
    ("p :- q[1. r(1)]", "[", "this `[` is never closed"),
    ("p(X) :- q(X) & (r -> s).", "X", "`X` is not declared"),
    ("init ^ N :: 1 .. 5 default 6", "6", "the default `6` of `N` is not an integer from 1 to 5"),
    ("?x == 3 and p <== q", "<==", "`<==` belongs to another dialect"),
    ("3 == 4 :- x. p(1)", "3 == 4", "this cannot be the head of a rule"),
]  # fmt: skip
"""Texts, what of each is marked, and the message."""

MEANINGS = [
    ("let ?c = F(?i) { let ?d = ?c { p(?i) :- ?d == 1 } }\ninit F(?i:t) := 1\ndata t := 1 .. 2", "(<= (p ?i) (true (f ?i 1)))"),
    ("p(?x) :- q(?x) and ?x == -(1 + 2)", "(<= (p -3) (q -3))"),
    ("p(?x) :- q(?x) and ?x == -?x\nq(0)", "(<= (p ?x) (q ?x) (ggdl_sub 0 ?x ?x))"),
    ("p() :- q()", "(<= p q)"),
    ("p('Hello') :- q(1)", "(<= (p hello) (q 1))"),
    ('p("a\\nb")', "(p s_a_a_b)"),
    ("p(?x) :- ?x in {[ \\i | \\i in 1 .. 3 ]}", "(p 1) (p 2) (p 3)"),
    ("a -> go ==> p(1) += 3", "(<= (next (p 1 3)) (does a go)) (<= (next (p ?x1 ?x2)) (true (p ?x1 ?x2))) (base (p 1 3))"),
    ("init p := 1\na -> go ==> p = 1 and persist", "(init (p 1)) (base (p 1)) (<= (next (p 1)) (does a go)) (<= (next (p ?v)) (true (p ?v)) (not ggdl_set_p))"),
    ("init p := 1\na -> go ==> ~p\na -> up ==> ~p(1)", "(init (p 1)) (base (p 1)) (<= (next (p ?v)) (true (p ?v)) (not ggdl_set_p))"),
    ("init p := 1\na -> go ==> p(2)", "(init (p 1)) (base (p 1)) (base (p 2)) (<= (next (p 2)) (does a go)) (<= (next (p ?v)) (true (p ?v)) (not ggdl_set_p))"),
    ("(init (p 1))\np(?x) ==> persist", "(init (p 1)) (<= (next (p ?x)) (true (p ?x))) (base (p 1))"),
    ("p(?x) ==> persist\n(init (p 1))", "(<= (next (p ?x)) (true (p ?x))) (base (p 1)) (init (p 1))"),
    ("base p :- .", "p"),
    ("p <= q and r", "(<= p q r)"),
    ("p <= q\n(r 1)", "(<= p q)"),
    ("q <= r ==> p = 1", "(<= (next (p 1)) (ggdl_le q r)) (<= (next (p ?v)) (true (p ?v)) (not ggdl_upd_p))"),
    ("p <= q.\nr(1) ==> F = 1", "(<= p q)"),
    ("surface S <=> {[ b | \\i <- 1 .. 2 ]} ( p(?x) :- @[?x] == b )\ninit one := S", "(<= (p ?board ?x) (s ?board) (true (cell ?board ?x b)))"),
    ("surface S <=> {[ b | \\i <- 1 .. 2 ]} where { p(?x) :- @[?x] == b }\ninit one := S", "(<= (p ?board ?x) (s ?board) (true (cell ?board ?x b)))"),
    ("p(?x) :- q(?x) and ?x == (1 + 2) * ?x\nq(0)", "(<= (p ?x) (q ?x) (ggdl_mul 3 ?x ?x))"),
    ("let c = F { p(?x) :- q(?x) and ?x == c }\ninit F := 1", "(<= (p ?x) (q ?x) (true (f ?x)))"),
    ("role b { on: bool }\np(?x) :- q(?x) and ?x == on", "(<= (p on) (q on))"),
    ("role b { on: bool }\np :- not b.on == true", "(<= p (not (true (on b))))"),
    ("role b { on: bool }\np :- b.on # true", "(<= p (not (true (on b))))"),
    ("data T := x | y\np(?u) :- q(?u, T)", "(<= (p ?u) (q ?u ?t))"),
    ("surface Row <=> {[ e | \\i <- 1 .. 2 ]} where (\n  Open :- e in {{ @[_] }}\n)\ninit b := Row\np :- b.Open", "(<= p (open b))"),
    ("p :- a @ b[1] -> go", "(<= p (does a (go b 1)))"),
    ("surface Row <=> {[ e | \\i <- 1 .. 2 ]} where (\n  Open :- e in {{ @[_] }}\n)\ninit b := Row\np :- a @ b[1] -> Put(e)\na @ b[1] -> Put(e)", "(<= p (does a (put b 1 e)))"),
    ("init F := 1\np(?x) :- q(?x) and not (?x == F and not r(?x))", "(<= (p ?x) (q ?x) (not (ggdl_some_f ?x)))"),
    ("p(?x) :- q(?x) and not (?y == ?x and not r(?y))", "(<= (p ?x) (q ?x) (r ?x))"),
    ("p(?x) :- q(?x) and not (?y == ?x and not (r(?y) and ?z == ?y and q(?z)))", "(<= (p ?z) (q ?z) (r ?z))"),
    ("p(?x) :- q(?x) and not (1 == 2)", "(<= (p ?x) (q ?x))"),
    ("p(?x) :- q(?x) and not (1 == 1)", ""),
    ("p(?x) :- q(?x) and not (?y == 2 and ?y # 2)", "(<= (p ?x) (q ?x))"),
    ("p(?x) :- q(?x) and not (?y == 2 and ?y # 3)", ""),
    ("p(?x) :- q(?x) and not (?y == ?x and ?y # 3)", "(<= (p 3) (q 3))"),
    ("p(?x) :- q(?x) and not (?y == ?x and not (?y # 3))", "(<= (p ?x) (q ?x) (distinct ?x 3))"),
    ("p(?x) :- q(?x) and not (f(?y) == g(?y) and r(?y))", "(<= (p ?x) (q ?x))"),
    ("p(?x) :- q(?x) and not (?y == ?y and r(?y))", "(<= (p ?x) (q ?x) (not ggdl_some_r))"),
    ("p(?x) :- q(?x) and ?y == ?x and f(?y) # g(?x)", "(<= (p ?y) (q ?y))"),
    ("p(?x) :- q(?x) and ?y == ?x and f(?y) # f(?x)", ""),
    ("init F := 1\np :- true(?x) and F == ?y and F == ?z and q(?y, ?z)", "(<= p (true ?x) (true (f ?y)) (true (f ?z)) (q ?y ?z))"),
    ("data t := 1 .. 3\np(?x) :- q(?y) and ?x:t == ?y:t", "(<= (p ?x) (t ?x) (q ?x))"),
    ("p(?x) :- ?x in {{ 1, 3, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12 }} and q(?x)", "(<= (p ?x) (ggdl_1_to_12 ?x) (q ?x))"),
    ("data t := h(1) | g\ninit F(?x:t) := 1\np :- {{ 1 }} === {{ F(_) }}", "(<= p (true (f (h 1) 1)) (true (f g 1)))"),
    ("data t := 'Q' | g\ninit F(?x:t) := 1\np :- {{ 1 }} === {{ F(_) }}", "(<= p (true (f q 1)) (true (f g 1)))"),
    ("role b { hand: t }\ndata t := 1 .. 3\np :- {{ 1 }} === {{ _.hand }}", "(<= p (true (hand a 1)) (true (hand b 1)))"),
    ("p(?x) :- ?x in {[ \\j | \\i <- 1 .. 2, \\j <- {[ \\k | \\k <- 1 .. \\i ]} ]}", "(p 1) (p 2)"),
    ("p(?x) :- ?x in {[ a.n(\\i) | \\i <- 1 .. 2 ]}", "(p (n a 1)) (p (n a 2))"),
    ("p(?x) :- ?x in {[ \\j | \\i <- 1 .. 2, \\j <- {{ \\i, 1 | 2 }} ]}", "(<= (p ?x) (ggdl_1_to_2 ?x))"),
    ('role 3\nrole("s")\nrole(\'t\')\nrole(4)\np(?x) :- 3 -> ?x', "(<= (p ?x) (does 3 ?x))"),
    ("(p 1 ; comment\n 2)", "(p 1 2)"),
    ("surface S <=> {[ b | \\i <- 1 .. 2 ]} where (\n p(?x) :- @[?x] == b.\n ). q(1)\ninit one := S", "(<= (p ?board ?x) (s ?board) (true (cell ?board ?x b)))"),
    ("p(?x) :- q(?x) and ?x in 1 .. 2\np(1 .. 2)", "(<= (p ?x) (q ?x) (ggdl_1_to_2 ?x)) (p 1) (p 2)"),
    ("p(?x) :- ?x in 1 .. 2 and ?x in 2 .. 3 and q(?x)", "(<= (p ?x) (ggdl_1_to_2 ?x) (ggdl_2_to_3 ?x) (q ?x))"),
    ("for(x)\np(1)", "(p 1)"),
    ("next(p)", "(next p)"),
    ("legal(a, go) :- q(1) ==> p = 1", "(<= (next (p 1)) (does a go) (q 1)) (<= (next (p ?v)) (true (p ?v)) (not ggdl_set_p))"),
    ("role(a) p(1)", "(p 1)"),
    ("role A\np(1)", "(p 1)"),
    ("surface Row <=> {[ e | \\i <- 1 .. 2 ]} where (\n  Hot(?x) :- @[?x] == e\n  q(1) ==> Hot(1)\n  p(?x) :- Hot(?x)\n)\ninit b := Row\n", "(<= (p ?board ?x) (row ?board) (hot ?board ?x))"),
    ("p(LEFT)\ndata t := left | LEFT", "(p left)"),
    ("p(?x) :- (?x) == 1 and q(?x)", "(<= (p 1) (q 1))"),
    ("p(?x) :- q(?x) and (?x + 1) * 2 == 4\nq(1)", "(<= (p ?x) (q ?x) (ggdl_add ?x 1 ?sum) (ggdl_mul ?sum 2 4))"),
    ("// The first player.\nrole b\n/* the other */\nrole c\np(1)", "(p 1)"),
    ("role(?x) :- q(?x)\np(?x) :- role(?x)", "(<= (p ?x) (role ?x))"),
    ("D <=> 3\np(X) :- q(X, D) & ~D != X.", "(<= (p ?x) (q ?x 3) (not (distinct 3 ?x)))"),
    ("init ^ N :: 1 .. 5 default 3\np(N)", "(p 3)"),
    ("init F(1) := 1\np(?x) :- F(?x) == 1", "(<= (p ?x) (true (f ?x 1)))"),
    ("p(?x) :- q(?x) and not (r(?y) and f(1) == f(2) and ?x == ?x)", "(<= (p ?x) (q ?x))"),
    ("init F := 1\np(?x) :- q(?x) and not (not (F == ?x))", "(<= (p ?x) (q ?x) (true (f ?x)))"),
    ("init a.p := 1", "(init (p a 1)) (<= (next (p ?x ?v)) (true (p ?x ?v))) (<= (base (p ?x 1)) (role ?x))"),
    ("init p(?x, ?x) := 1 :- q(?x)", "(<= (init (p ?x ?x 1)) (q ?x)) (<= (next (p ?x1 ?x2 ?v)) (true (p ?x1 ?x2 ?v)))"),
    ("p(1) :- q(1). q(1)", "(<= (p 1) (q 1))"),
    ("init F := new g\np(F)", "(<= (p ?f) (true (f ?f)))"),
    ("p(X) :- q(X) & distinct(X, Y) & r(Y).", "(<= (p ?x) (q ?x) (distinct ?x ?y) (r ?y))"),
    ("init p(?x:t) := 1\ninit p(?x) := 2 :- ?x == 2\ndata t := 1 .. 2", "(<= (next (p ?x ?v)) (true (p ?x ?v))) (init (p 1 1)) (<= (base (p ?x ?v)) (t ?x) (t ?v)) (init (p 2 2))"),
]  # fmt: skip
"""Texts, and their rules about `p`."""


@pytest.mark.parametrize(("text", "place", "message"), REFUSED)
def test_a_faulty_construct_is_refused_where_it_is(text, place, message):
    """The first error has this message and marks this part of the text."""
    text = f"role a\n{text}"
    wrong = next(d for d in read(text, "ggdl").diagnostics if d.is_error)
    assert (text[wrong.span.start : wrong.span.end], wrong.message) == (place, message)


@pytest.mark.parametrize(("text", "rules"), MEANINGS)
def test_a_construct_means_these_rules(text, rules):
    """The rules with `p` in their heads are these, and no others."""
    tree = read(f"role a\n{text}", "ggdl")
    assert not [d.message for d in tree.diagnostics if d.is_error]
    about_p = re.compile(r"(\(<= )?(\((init|base|next) )?\(?p(?![\w(])")
    assert " ".join(rule for rule in map(str, tree.statements) if about_p.match(rule)) == rules


@pytest.mark.parametrize(
    ("parameter", "argument", "value"),
    [
        ("init ^ P :: 1 .. 5 default 3", 4, "4"),
        ("init ^ P :: bool default true", "false", "false"),
        ("init ^ P :: bool default true", False, "false"),
        ("data t := red | Green\ninit ^ P :: t default red", "green", "green"),
    ],
)
def test_a_parameter_takes_a_value_of_its_type(parameter, argument, value):
    """As Python's value or as text; the case of names does not matter."""
    tree = read(f"{parameter}\nrole a\np(P)", "ggdl", parameters={"P": argument})
    assert f"(p {value})" in map(str, tree.statements)


def test_a_rule_is_not_joined_with_the_effect_on_the_next_line():
    """`<=` between terms is a comparison only in the condition of an effect."""
    tree = read("role a\np <= q\nq(1) ==> F = 1", "ggdl")
    assert not tree.diagnostics
    assert "(<= p q)" in map(str, tree.statements)


@pytest.mark.parametrize(
    ("sentence", "rule"),
    [
        ("near(1, 2)", "(<= (near ?board 1 2) (s ?board))"),
        ("near(1, 2) :- q(1)", "(<= (near ?board 1 2) (s ?board) (q 1))"),
    ],
)
def test_a_plain_rule_of_a_surface_is_about_its_boards_only(sentence, rule):
    """The variable that stands for the board is bound."""
    surface = f"surface S <=> {{[ b | \\i <- 1 .. 2 ]}} where (\n  {sentence}\n)"
    tree = read(f"role a\n{surface}\ninit one := S", "ggdl")
    assert rule in map(str, tree.statements)


def test_the_negation_of_a_contradiction_is_left_out():
    """No relation without rules is introduced for it."""
    tree = read("role a\nq(1)\np(?x) :- q(?x) and not (?x == 1 and ?x == 2)", "ggdl")
    assert "(<= (p ?x) (q ?x))" in map(str, tree.statements)

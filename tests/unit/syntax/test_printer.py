"""Printing in three notations: signs, parentheses, names, comments."""

from __future__ import annotations

import pytest
from tree_builder import f, fact, rule, sheet, v

from herbrand.syntax import read
from herbrand.syntax.printer import print_tree


@pytest.mark.parametrize(
    ("prefix", "infix", "prolog"),
    [
        ("(role white)", "role(white)", "role(white)."),
        ("(<= (q ?y) (p a ?y) (not (r ?y)))", "q(Y) :-\n    p(a,Y) &\n    ~r(Y)",
         "q(Y) :-\n    p(a, Y),\n    \\+ r(Y)."),
        ("(<= q (or a (and b c)) d)", "q :-\n    (a | b & c) &\n    d",
         "q :-\n    (a ; b, c),\n    d."),
        ("(<= q (and (or a b) c))", "q :- ((a | b) & c)", "q :- ((a ; b), c)."),
        ("(<= q (not (or a b)))", "q :- ~(a | b)", "q :- \\+ (a ; b)."),
        ("(<= q (or a b))", "q :- a | b", "q :- (a ; b)."),
        ("(<= (q ?x) (distinct ?x a) (p ?x))", "q(X) :-\n    distinct(X,a) &\n    p(X)",
         "q(X) :-\n    p(X),\n    X \\== a."),
        ("(<= (q ?x) (not (r ?x ?y)) (p ?x) (s ?y) t)", "q(X) :-\n    ~r(X,Y) &\n    p(X) &\n    s(Y) &\n    t",
         "q(X) :-\n    p(X),\n    s(Y),\n    \\+ r(X, Y),\n    t."),
        ("(<= (q ?x) (p ?x ?other))", "q(X) :- p(X,Other)", "q(X) :- p(X, _Other)."),
        ("(<= q (or))", "q :- distinct(0,0)", "q :- 0 \\== 0."),
        ("(<= q (not (distinct a b)) r)", "q :-\n    ~distinct(a,b) &\n    r", "q :-\n    \\+ (a \\== b),\n    r."),
        ("(<= q (not (and (or r))) (or (and s)))", "q :-\n    ~r &\n    s", "q :-\n    \\+ r,\n    s."),
    ],
)  # fmt: skip
def test_signs(prefix, infix, prolog):
    """Each connective is written with the sign of the notation, in parentheses where it must."""
    tree = read(prefix, "prefix")
    assert print_tree(tree).text == prefix + "\n"
    assert print_tree(tree, "infix").text == infix + "\n"
    assert print_tree(tree, "prolog").text == prolog + "\n"


def test_comments_take_the_sign_of_the_notation():
    """Comments of lines and blocks, before, behind and after statements."""
    tree = read("p(a). % x\n/* one\n * two */\nq(b). /* behind */\n#!shell\n", "infix")
    assert print_tree(tree).text == "(p a)  ; x\n; one\n; two\n(q b)  ; behind\n;!shell\n"
    assert print_tree(tree, "prolog").text == "p(a).  % x\n\n% one\n% two\nq(b).  % behind\n%!shell\n"


def test_rules_are_broken_as_in_prefix():
    """Two literals get a line each; a single one stays beside its head as long as the line has 80 columns."""
    for notation, sign, stop in (("infix", " &", ""), ("prolog", ",", ".")):
        two = print_tree(read("(<= p a b)", "prefix"), notation).text
        assert two == f"p :-\n    a{sign}\n    b{stop}\n"
        for length, between in ((75 - len(stop), " "), (76 - len(stop), "\n    ")):
            one = print_tree([rule(f("p"), f("a" * length))], notation).text
            assert one == f"p :-{between}{'a' * length}{stop}\n"


def test_names_are_renamed_in_infix_and_quoted_in_prolog():
    """What the book's infix cannot spell is renamed without collisions, and reported; Prolog quotes."""
    tree = read("(p ++ -- c___ 01 2pawns a-b -1 7)", "prefix")
    infix = print_tree(tree, "infix")
    assert infix.renamed == {"++": "c____2", "--": "c____3", "01": "c_01", "a-b": "a_b"}
    assert "p(c____2,c____3,c___,c_01,2pawns,a_b,-1,7)" in infix.text
    assert infix.text.startswith("% renamed")
    assert [d.check for d in infix.diagnostics] == ["unusual-character"] * 4
    prolog = print_tree(tree, "prolog")
    assert prolog.renamed == {}
    assert prolog.text == "p('++', '--', c___, '01', '2pawns', 'a-b', -1, 7).\n"


def test_numbers_are_quoted_in_prolog_only_where_they_are_predicates():
    """The constant stays a number, which programs that read the facts expect."""
    tree = read("(1 2) (p 1 (1 x)) 3", "prefix")
    text = print_tree(tree, "prolog").text
    assert text.split() == ["'1'(2).", "p(1,", "'1'(x)).", "'3'."]
    assert print_tree(read(text, "prolog"), "prefix").text.split("\n") == ["(1 2)", "(p 1 (1 x))", "3", ""]


def test_portable_prefix():
    """Portable prefix text has only letters, digits, `_` and `-` in names."""
    printed = print_tree(read("(p ++ a-b)", "prefix"), portable=True)
    assert printed.renamed == {"++": "c___"}
    assert printed.text.splitlines()[-1] == "(p c___ a-b)"


def test_quoted_names_that_prefix_cannot_spell():
    """Blanks, parentheses and question marks are replaced on the way to prefix."""
    printed = print_tree(read("p('two words','?x','a;b')", "infix"))
    assert printed.renamed == {"two words": "two_words", "?x": "c__x", "a;b": "a_b"}
    assert printed.text.splitlines()[-1] == "(p two_words c__x a_b)"


def test_case_twins_are_in_the_table():
    """A name that the reader had to rename is reported and in the table of renamings."""
    printed = print_tree(read("p(whiteking) p(whiteKing)", "infix"))
    assert printed.renamed == {"whiteKing": "whiteking_2"}
    assert [d.check for d in printed.diagnostics] == ["case-collision"]


def test_variables():
    """Variables begin with a capital; what has no letter first gets a V; collisions get a number."""
    tree = read("(<= (p ?x ?_x ?a-b ?a_b) (q ?x ?_x ?a-b ?a_b))", "prefix")
    assert print_tree(tree, "infix").text == "p(X,V_x,A_b,A_b_2) :- q(X,V_x,A_b,A_b_2)\n"


def test_spelling_is_kept_on_request():
    """Canonical text is lower case; with `spelling` names look as they were written first."""
    tree = read("(Role White) (<= (p ?X) (q ?X whiteKing))", "prefix")
    assert print_tree(tree).text == "(role white)\n(<= (p ?x) (q ?x whiteking))\n"
    assert print_tree(tree, spelling=True).text == "(Role White)\n(<= (p ?X) (q ?X whiteKing))\n"
    assert "q(X,whiteKing)" in print_tree(tree, "infix", spelling=True).text


def test_comments_stay_with_their_statements():
    """Comments before and behind a statement are kept and get the sign of the notation."""
    text = ";;; Roles\n(role x) ; first\n; second\n(role o)\n; end\n"
    tree = read(text, "prefix")
    assert print_tree(tree).text == ";;; Roles\n(role x)  ; first\n; second\n(role o)\n; end\n"
    infix = print_tree(tree, "infix").text
    assert infix == "%%% Roles\nrole(x)  % first\n\n% second\nrole(o)\n% end\n"
    assert print_tree(read(infix, "infix")).text == print_tree(tree).text


def test_a_fact_with_a_variable_is_not_read_as_a_conjunct():
    """The rule before such a fact ends with a full stop even in the book's style."""
    tree = sheet(rule("a", "b"), fact(f("p", v.x)))
    text = print_tree(tree, "infix").text
    assert text == "a :- b.\n\np(X)\n"
    assert read(text, "infix") == tree


def test_unknown_notations_are_refused():
    """Only the three notations can be printed."""
    with pytest.raises(ValueError, match="unknown notation"):
        print_tree((), "latex")

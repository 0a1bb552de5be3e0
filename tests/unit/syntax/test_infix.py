"""Reading infix and Prolog notation: what is accepted, what is repaired, what is refused by name."""

from __future__ import annotations

import pytest

from herbrand.diagnostic import apply_fixes
from herbrand.syntax import read
from herbrand.syntax.tokens import MAX_DEPTH


def checks(text: str, notation: str = "infix") -> list[str]:
    return [d.check for d in read(text, notation).diagnostics]


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("p(a,Y)", "(p a ?y)"),
        ("q(Y) :- p(a,Y) & p(Y,c)", "(<= (q ?y) (p a ?y) (p ?y c))"),
        ("q(Y) <= p(a,Y), p(Y,c).", "(<= (q ?y) (p a ?y) (p ?y c))"),
        ("q ⇐ a ∧ ¬b", "(<= q a (not b))"),
        ("q ← a and not b", "(<= q a (not b))"),
        ("q(Y) :- p(Y) & (r(Y) | s(Y))", "(<= (q ?y) (p ?y) (or (r ?y) (s ?y)))"),
        ("q :- a & b | c", "(<= q (or (and a b) c))"),
        ("q :- a, (b ; \\+ c).", "(<= q a (or b (not c)))"),
        ("q :- ~true(x) & not(open)", "(<= q (not (true x)) (not open))"),
        ("q(X) :- p(X) & X # a & X \\= b & X != c & X \\== d & X ≠ e & distinct(X,f)",
         ("(<= (q ?x) (p ?x) (distinct ?x a) (distinct ?x b) (distinct ?x c) (distinct ?x d) (distinct ?x e)"
         " (distinct ?x f))")),
        ("p(X) :- q(X,_,_).", "(<= (p ?x) (q ?x ?_1 ?_2))"),
        ("p('Two words', 'it''s', 'it\\'\\'s')", "(p two words it's it''s)"),
        ("p(-1, 2pawns, a-b, 1.5)", "(p -1 2pawns a-b 1.5)"),
        ("open. terminal.", "open\nterminal"),
        ("p(a) % one\nq // two\n/* three\n four */ r ;; five", "(p a)\nq\nr"),
        ("; whole line\n# another\np :- (a\n; b)", "(<= p (or a b))"),
        ("q(not(a), or)", "(q (not a) or)"),
    ],
)  # fmt: skip
def test_accepted(text, prefix):
    """Each spelling is read without errors as the prefix text beside it."""
    tree = read(text, "infix")
    assert str(tree) == prefix
    assert not [d for d in tree.diagnostics if d.is_error]


@pytest.mark.parametrize(
    ("text", "check", "prefix"),
    [
        ("p(X) :- q(X) true(r(X))", "missing-conjunction", "(<= (p ?x) (q ?x) (true (r ?x)))"),
        ("p(X) :- q(X)\n  r(X) & s", "missing-conjunction", "(<= (p ?x) (q ?x) (r ?x) s)"),
        ("p :- a &\nq :- b", "dangling-conjunction", "(<= p a)\n(<= q b)"),
        ("p :- a & & b", "dangling-conjunction", "(<= p a b)"),
        ("p :- a &", "dangling-conjunction", "(<= p a)"),
        ("p :- a)) & b", "extra-parenthesis", "(<= p a b)"),
        ("p(a)\nq(f(b)\nr(c)", "unclosed-parenthesis", "(p a)\n(q (f b))\n(r c)"),
        ("p(X :- q(X)", "unclosed-parenthesis", "(<= (p ?x) (q ?x))"),
        ("p :- (a & b", "unclosed-parenthesis", "(<= p (and a b))"),
        ("Cell(X) :- q(X)", "list-without-name", "(<= (cell ?x) (q ?x))"),
        ("p(a b)", "unreadable-token", "(p a b)"),
        ("p()", "superfluous-parentheses", "p"),
        ("p (a)", "misplaced-parenthesis", "(p a)"),
        ("p :-", "rule-without-body", "p"),
        ("p(a) & q(b)", "misplaced-literal", "(p a)\n(q b)"),
    ],
)
def test_repaired(text, check, prefix):
    """A mistake is named, the statement is kept as repaired, and its fixes give a text with that meaning."""
    tree = read(text, "infix")
    assert check in [d.check for d in tree.diagnostics]
    assert str(tree) == prefix
    fixed, applied = apply_fixes(text, tree.diagnostics)
    assert applied
    again = read(fixed, "infix")
    for _ in range(2):  # two signs that are one too many take two rounds
        fixed, _applied = apply_fixes(fixed, again.diagnostics)
        again = read(fixed, "infix")
    assert str(again) == prefix
    assert not [d for d in again.diagnostics if d.is_error]


@pytest.mark.parametrize(
    ("text", "check", "word"),
    [
        ("p :- [a,b]", "prolog-only", "lists"),
        ("p([H|T]) :- q", "prolog-only", "lists"),
        ("p :- q, !", "prolog-only", "cuts"),
        ("p(X) :- X is Y + 1", "prolog-only", "arithmetic"),
        ("p(N-1)", "prolog-only", "arithmetic"),
        ("p(X) :- q(X), X < 3", "prolog-only", "arithmetic"),
        ('p("a")', "prolog-only", "strings"),
        ("p :- (a -> b ; c)", "prolog-only", "if-then-else"),
        ("p(X) :- X = a", "prolog-only", "equality"),
        ("?- p(X)", "prolog-only", "queries"),
        ("c :: d ==> e", "transition-rule", "transition"),
        ("p :- a :- b", "nested-rule", "arrow"),
        (":- a", "rule-without-head", "head"),
        ("~p", "misplaced-literal", "negation"),
        ("p :- distinct(a)", "wrong-operand-count", "two"),
        ("p :- ()", "empty-list", "empty parentheses"),
        ("p(?)", "nameless-variable", "name"),
        ("p(a) $$", "unreadable-token", "$$"),
        ("/* open", "unreadable-token", "never closed"),
        ("p\0", "not-text", "NUL"),
    ],
)
def test_refused(text, check, word):
    """What GDL does not have is refused by name, and only its own statement is lost."""
    for whole in (text, f"good(a).\n{text}"):
        tree = read(whole, "infix")
        finding = next(d for d in tree.diagnostics if d.is_error)
        assert finding.check == check
        assert word in finding.message
    if check != "not-text":
        assert str(read(f"good(a).\n{text}\n", "infix")).startswith("(good a)")


def test_every_error_at_once():
    """Mistakes in several statements are all reported, each at its line."""
    text = "p :- [a]\nq(a\nr :- s &\nt :- u\nv(X) :- X is 1\nw\n"
    tree = read(text, "infix")
    assert [(d.check, tree.source.position(d.span.start).line) for d in tree.diagnostics] == [
        ("prolog-only", 1), ("unclosed-parenthesis", 2), ("dangling-conjunction", 3), ("prolog-only", 5),
    ]  # fmt: skip
    assert str(tree) == "(q a)\n(<= r s)\n(<= t u)\nw"


def test_names_that_differ_by_case_stay_apart():
    """Infix text minds case: two constants, or two variables of a rule, are kept apart and reported."""
    tree = read("p(whiteKing) p(whiteking)", "infix")
    assert str(tree) == "(p whiteking)\n(p whiteking_2)"
    assert [d.check for d in tree.diagnostics] == ["case-collision"]
    assert str(read("p(Xa,XA) :- q(XA,Xa)", "infix")) == "(<= (p ?xa ?xa_2) (q ?xa_2 ?xa))"


def test_anonymous_variables_are_new():
    """`_` never meets a variable that is named alike."""
    assert str(read("p(_1,_) :- q(_1,_)", "infix")) == "(<= (p ?_1 ?_2) (q ?_1 ?_3))"


def test_a_ground_atom_that_looks_like_a_conjunct_is_noted():
    """It is read as a statement, with a note."""
    tree = read("p :- q\n  r(a)", "infix")
    assert str(tree) == "(<= p q)\n(r a)"
    assert [(d.check, d.severity.value) for d in tree.diagnostics] == [("missing-conjunction", "note")]


def test_a_semicolon_that_may_mean_or_is_noted():
    """A comment line that reads as a literal is noted, prose is not."""
    assert checks("p :- a\n; b(X)\n") == ["ambiguous-semicolon"]
    assert checks("p :- a\n; the next rule says more\n") == []


def test_question_mark_variables_are_noted():
    """Variables of the prefix notation are read and noted once."""
    assert checks("p(?x) :- q(?x)") == ["mixed-notation"]


@pytest.mark.parametrize("text", ["p :- " + "(" * 50_000, "p(" * 50_000, "p :- " + "~" * 50_000 + "a"])
def test_nesting_has_a_limit(text):
    """Nesting beyond the limit is one finding, not a crash; the limit itself is reached."""
    assert "too-deep" in checks(text)
    deep = "f(" * (MAX_DEPTH - 2) + "a" + ")" * (MAX_DEPTH - 2)
    tree = read(f"p({deep})", "infix")
    assert tree.diagnostics == ()
    assert len(tree.statements) == 1


def test_findings_are_capped():
    """A text of mistakes gives a bounded list that says how many were left out."""
    found = read("&" * 5_000, "infix").diagnostics
    assert len(found) == 200
    assert "4800 more" in found[-1].notes[-1]

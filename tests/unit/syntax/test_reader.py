"""The reader of prefix text: what it accepts, what it reports and where, what it repairs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from herbrand import syntax
from herbrand.diagnostic import Severity, Source, apply_fixes
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Or, Variable
from herbrand.syntax.reader import read_prefix
from herbrand.syntax.repair import CarefulReader
from herbrand.syntax.tokens import MAX_DEPTH, MAX_FINDINGS, DiagnosticCollector, Spellings

if TYPE_CHECKING:
    from herbrand.syntax.tree import Tree

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "prefix"


def read(text: str) -> Tree:
    return read_prefix(Source(text))


def checks(text: str) -> list[str]:
    return [d.check for d in read(text).diagnostics]


def repaired(text: str, rounds: int = 5) -> str:
    """The text with all fixes applied, again and again until there are none."""
    for _ in range(rounds):
        text, applied = apply_fixes(text, read(text).diagnostics)
        if not applied:
            break
    return text


# -- what is accepted ----------------------------------------------------------------------


def test_every_kind_of_node_with_its_place() -> None:
    """Each node of the tree knows the text it was read from."""
    text = "(<= (Legal ?R (mark 1 ?y)) open (not (p a)) (or q (distinct ?y 1)))"
    (rule,) = read(text).statements
    head, is_open, negated, either = rule.head, *rule.body
    assert (head.name, head.spelling) == ("legal", "Legal")
    assert isinstance(head.args[0], Variable)
    assert (head.args[0].name, head.args[0].spelling) == ("r", "R")
    assert isinstance(head.args[1], Function)
    assert isinstance(is_open, Atom)
    assert isinstance(negated, Not)
    assert isinstance(either, Or)
    assert isinstance(either.literals[1], Distinct)
    assert isinstance(either.literals[1].right, Constant)
    nodes = (rule, head, head.args[0], head.args[1], is_open, negated, either, either.literals[1])
    assert [text[n.start : n.end] for n in nodes] == [
        text,
        "(Legal ?R (mark 1 ?y))",
        "?R",
        "(mark 1 ?y)",
        "open",
        "(not (p a))",
        "(or q (distinct ?y 1))",
        "(distinct ?y 1)",
    ]


@pytest.mark.parametrize("arrow", ["<=", "⇐", "←", ":-"])
@pytest.mark.parametrize("space", ["", " ", "\n\t", " ; why\n"])
def test_arrows(arrow: str, space: str) -> None:
    """All signs for "if" mean the same, glued to the parenthesis or not."""
    tree = read(f"({space}{arrow} (p ?x) (q ?x))")
    assert str(tree) == "(<= (p ?x) (q ?x))"
    assert not tree.diagnostics


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("", ""),
        (" \t\r\n\f\v", ""),
        ("\ufeff(p a)", "(p a)"),
        ("; (p a)", ""),
        ("open", "open"),
        ("(p a);c\r(p b)", "(p a)\n(p b)"),
        ("(p\u00a0a)", "(p a)"),
        ("(p 1 01 -1)", "(p 1 01 -1)"),
        ("(init(cell 1 1 b))", "(init (cell 1 1 b))"),
        ("(<=(p ?x)(q ?x)(not(r ?x)))", "(<= (p ?x) (q ?x) (not (r ?x)))"),
        ("(<= terminal(true (step 9)))", "(<= terminal (true (step 9)))"),
        ("(<= (p ?x) (NOT (q ?x)) (Or (r ?x) s))", "(<= (p ?x) (not (q ?x)) (or (r ?x) s))"),
        ("((role a) (role b)\n(<= (p ?x) (q ?x))) ; sent", "(role a)\n(role b)\n(<= (p ?x) (q ?x))"),
        ("(p\n(a b)\n(c d))", "(p (a b) (c d))"),
    ],
)
def test_plain_texts(text: str, meaning: str) -> None:
    """These texts are read without a word."""
    tree = read(text)
    assert str(tree) == meaning
    assert [d for d in tree.diagnostics if d.severity is not Severity.WARNING] == []


def test_comments_are_kept_with_their_places() -> None:
    """Every comment is in the tree once and in order, also around and inside broken statements."""
    text = "; one\n(p a) ; two\n(<= p ; three\n  (q a\n; four\n(<= r (s a)) ; five\n((t) a) ; six\n"
    found = [c.text for c in read(text).comments]
    assert found == ["; one", "; two", "; three", "; four", "; five", "; six"]
    assert all(text[c.start : c.end] == c.text for c in read(text).comments)
    wrapped = "; one\n(; two\n(p a) ; three\n) ; four"
    assert [c.text for c in read(wrapped).comments] == ["; one", "; two", "; three", "; four"]


def test_connectives_stay_in_the_tree() -> None:
    """Nested connectives are kept as written, for the checks and the normal form to see."""
    (rule,) = read("(<= p (not (or a (and b (not c)))))").statements
    assert rule.body == (Not(Or((Atom("a"), And((Atom("b"), Not(Atom("c"))))))),)


# -- what is reported ----------------------------------------------------------------------

VIOLATIONS = [
    ("(++ 1 2)", "unusual-character", "++"),
    ("(p ?)", "nameless-variable", "?"),
    ("(<= p (q ?))", "nameless-variable", "?"),
    ("(p A) (q a)", "inconsistent-case", "a"),
    ("(<= (p ?X) (q ?x))", "inconsistent-case", "?x"),
    ("(role x))", "extra-parenthesis", ")"),
    ("(role x)) )\n(p a)", "extra-parenthesis", ") )"),
    ("(<= (p ?x)) (q ?x))", "extra-parenthesis", ")"),
    ("(role x", "unclosed-parenthesis", "("),
    ("((role x)", "unclosed-parenthesis", "("),
    ("((p) a)", "list-without-name", "((p) a)"),
    ("(p ((f a) b))", "list-without-name", "((f a) b)"),
    ("(p (?f a))", "list-without-name", "?f"),
    ("(?f a)", "list-without-name", "?f"),
    ("(<= p ((role x)))", "list-without-name", "((role x))"),
    ("(<= ((p a)) q)", "list-without-name", "((p a))"),
    ("(p ())", "empty-list", "()"),
    ("()", "empty-list", "()"),
    ("(<= p q ())", "empty-list", "()"),
    ("(not (p a))", "misplaced-literal", "(not (p a))"),
    ("(distinct a b)", "misplaced-literal", "(distinct a b)"),
    ("?x", "misplaced-literal", "?x"),
    ("(<= p ?x)", "misplaced-literal", "?x"),
    ("(<= (not p) q)", "misplaced-literal", "(not p)"),
    ("(<=)", "rule-without-head", "(<=)"),
    ("(<= p q (<= q r))", "nested-rule", "(<= q r)"),
    ("(<= p (<= q r))", "nested-rule", "(<= q r)"),
    ("(<= p (distinct a))", "wrong-operand-count", "(distinct a)"),
    ("(<= p (distinct a b c))", "wrong-operand-count", "(distinct a b c)"),
    ("(<= p (not))", "wrong-operand-count", "(not)"),
    ("(<= p (not q r))", "wrong-operand-count", "(not q r)"),
    ("(<= p (or))", "empty-or", "(or)"),
    ("(<= (p a))", "rule-without-body", "(<= (p a))"),
    ("(<= (terminal) p)", "superfluous-parentheses", "(terminal)"),
    ("(<= p (q))", "superfluous-parentheses", "(q)"),
    ("(p (f))", "superfluous-parentheses", "(f)"),
    ("(<= p (or a (or b c)))", "nested-or", "(or b c)"),
    ("(<= p (or (and a b) c))", "explicit-and", "(and a b)"),
    ("role(white)", "infix-in-prefix", "role(white)"),
    ("(<= p (does random deal(?p,?c)))", "infix-in-prefix", "deal(?p,?c)"),
    ("(<= p (true(?x)))", "infix-in-prefix", "true(?x)"),
    ("(<= p q & r)", "infix-in-prefix", "&"),
    ("(<= p ~(q a))", "infix-in-prefix", "~"),
    ("(p <= q)", "infix-in-prefix", "<="),
    ("((p ?x) :- (q ?x))", "infix-in-prefix", ":-"),
    ("(<= p (q <= r))", "infix-in-prefix", "(q <= r)"),
    ("(mark 1,2)", "comma-in-name", "1,2"),
    ("(<= (p ?x) (cell ?x, 1))", "comma-in-name", "?x,"),
    ("(<= (base (f ?p) (role ?p)))", "misplaced-parenthesis", "(base (f ?p) (role ?p))"),
    ("(<= p (distinct ?x a (true b)))", "misplaced-parenthesis", "(distinct ?x a (true b))"),
    ("(init (not a))", "reserved-name", "not"),
    ("(p <=)", "reserved-name", "<="),
    ("(p a <=)", "reserved-name", "<="),
    ("(<= p (q not))", "reserved-name", "not"),
    ("(<= p or)", "reserved-name", "or"),
    ("(<= p (true (distinct ?x b)))", "reserved-name", "(distinct ?x b)"),
    ("(p a)\0", "not-text", "\0"),
    ("(p " * (MAX_DEPTH + 1) + ")" * (MAX_DEPTH + 1), "too-deep", "("),
]


@pytest.mark.parametrize(("text", "check", "place"), VIOLATIONS)
def test_each_violation_gives_exactly_its_check(text: str, check: str, place: str) -> None:
    """The smallest text that breaks a rule is reported once, at the exact place."""
    diagnostics = read(text).diagnostics
    assert [d.check for d in diagnostics] == [check]
    (found,) = diagnostics
    assert text[found.span.start : found.span.end] == place
    assert found.help
    assert found.message[0] == found.message[0].lower()
    assert not found.message.endswith(".")


@pytest.mark.parametrize(("text", "check", "place"), VIOLATIONS)
def test_every_repair_repairs(text: str, check: str, place: str) -> None:
    """A text with all fixes applied has no error and no fix left; without one it is unchanged."""
    tree = read(text)
    fixed = repaired(text)
    if tree.diagnostics[0].fix is None:
        assert fixed == text
    else:
        assert [d for d in read(fixed).diagnostics if d.is_error or d.fix] == []
        if check not in {"empty-list", "rule-without-head"}:
            assert read(fixed) == tree, "the tolerant tree is the tree of the repaired text"


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("(role x", "(role x)"),
        ("(<= p (q ?x", "(<= p (q ?x))"),
        ("(role a\n(role b)\n", "(role a)\n(role b)\n"),
        ("(<= p\n   (q ?x\n   (r ?x))\n\n(<= s (t a))", "(<= p\n   (q ?x)\n   (r ?x))\n\n(<= s (t a))"),
        ("(<= (p ?x)\n    (q ?x)\n(<= r (s a))", "(<= (p ?x)\n    (q ?x))\n(<= r (s a))"),
        ("(<= (p ?x))\n    (q ?x)\n    (not (r ?x)))", "(<= (p ?x)\n    (q ?x)\n    (not (r ?x)))"),
        ("(role x))\n", "(role x)\n"),
        ("(<= p q (<= r s))", "(<= p q) (<= r s)"),
        (
            "(<= (base (turnstart ?p) (role ?p) (distinct ?p random)))",
            "(<= (base (turnstart ?p)) (role ?p) (distinct ?p random))",
        ),
        ("(p f(g(a),?b))", "(p (f (g a) ?b))"),
        ("(p f(?x,g(?y,h(?z))))", "(p (f ?x (g ?y (h ?z))))"),
        ("(<= p q(?x))", "(<= p (q ?x))"),
        ("(<= (p ?x) (q(?x)))", "(<= (p ?x) (q ?x))"),
        ("(cell 1,2 , 3)", "(cell 1 2  3)"),
        ("(<= p (f(?x))(g)(h)i)", "(<= p (f ?x) g h i)"),
    ],
)
def test_repairs(text: str, fixed: str) -> None:
    """The repair is the one a person would make."""
    assert repaired(text) == fixed


def test_all_errors_are_found_at_once() -> None:
    """A fault hides no other: neither in the same statement nor in those behind it."""
    text = "(<= (p ?) (q (?f)) (not))\n(r ())\n(s a)\n(t (u b)\n(<= v (w 1,2))\n)"
    assert checks(text) == [
        "nameless-variable",
        "list-without-name",
        "wrong-operand-count",
        "empty-list",
        "unclosed-parenthesis",
        "comma-in-name",
        "extra-parenthesis",
    ]
    assert "(s a)" in str(read(text))


def test_unclosed_parenthesis_is_reported_where_it_was_opened() -> None:
    """Not at the end of the text, and the place where the repair goes is labelled."""
    text = "(role a)\n(role b\n(role c)\n"
    (found,) = read(text).diagnostics
    assert found.source.position(found.span.start) == (2, 1)
    assert text[found.labels[0].span.start :][:2] == "b\n"
    assert str(read(text)) == "(role a)\n(role b)\n(role c)"


def test_names_are_reported_once() -> None:
    """One finding a name, with a label at the first spelling."""
    tree = read("(p whiteWin a+) (q whitewin a+) (r WHITEWIN A+) (<= (s ?X) (t ?X)) (<= (s ?x) (t ?x))")
    assert [d.check for d in tree.diagnostics] == [
        "unusual-character",
        "inconsistent-case",
        "inconsistent-case",
    ]
    names = {d.message.split("`")[1]: d for d in tree.diagnostics}
    label = names["whitewin"].labels[0]
    assert tree.source.text[label.span.start : label.span.end] == "whiteWin"
    assert "and in 1 more way" in names["whitewin"].message


def test_findings_are_capped() -> None:
    """A text that is nothing but faults does not give thousands of findings, and errors stay."""
    diagnostics = read("(p (f))\n" * 5000 + "(p ?)").diagnostics
    assert len(diagnostics) == MAX_FINDINGS + 1
    assert diagnostics[-1].check == "nameless-variable"
    assert any("not listed" in note for note in diagnostics[-1].notes)


# -- size ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50_000,
        ")" * 50_000,
        "(p " * 100_000 + ")" * 50_000,
        "(<= p " + "(not " * 25_000 + "q" + ")" * 25_000 + ")\n(role a)",
        "p(" * 20_000,
        "(a\n" * 4_000,
        "(a\n(b c)\n" * 2_000,
        "(<= a\n" * 2_500 + ")" * 2_500,
        "(a (b\n   (c\n" * 1_500,
        "~" * 10_000 + "(a)",
        "(p " + "a," * 25_000 + ")",
        "(<= (p ?x)) (q ?x))" * 800,
        "( " * 150 + "\n" + "(a b) " * 15_000,
    ],
    ids=range(13),
)
def test_monsters_take_linear_time(text: str) -> None:
    """Deep, torn and endless texts are read in a moment and reported."""
    started = time.process_time()
    tree = read(text)
    assert time.process_time() - started < 3
    assert any(d.is_error for d in tree.diagnostics)
    assert len(tree.diagnostics) <= 3 * MAX_FINDINGS


def test_deep_nesting_is_one_error_and_reading_goes_on() -> None:
    """Up to the limit everything works, also comparing; beyond it the statement is skipped."""
    for opening in ("(p ", "(<= p (or a ", "p(", "(<= p (not "):
        count = opening.count("(")
        levels = MAX_DEPTH // count
        text = opening * levels + "a" + ")" * (levels * count)
        tree = read(text)
        assert "too-deep" not in checks(text)
        assert tree == read(text)
        assert hash(tree) == hash(read(text))
        assert len(str(tree)) >= 0
    deep = "(p " * (MAX_DEPTH + 1) + ")" * (MAX_DEPTH + 1)
    assert checks(f"(role a) {deep} (role b)") == ["too-deep"]
    assert str(read(f"(role a) {deep} (role b)")) == "(role a)\n(role b)"


@pytest.mark.slow
def test_fifty_megabytes() -> None:
    """A sheet of 50 MB is read completely; one without an end is given up with one error."""
    line = "(<= (next (cell ?x ?y b)) (true (cell ?x ?y b)) (does w (mark ?m ?n)))\n"
    tree = read(line * (50_000_000 // len(line)))
    assert len(tree.statements) == 50_000_000 // len(line)
    assert not tree.diagnostics
    del tree
    assert checks("(" * 50_000_000) == ["too-deep"]


def test_too_large() -> None:
    """A text beyond all measure is refused before any work."""

    class Endless(str):
        __slots__ = ()

        def __len__(self) -> int:
            return 10**9

    assert [d.check for d in read(Endless("(p a)")).diagnostics] == ["too-large"]


@pytest.mark.parametrize("notation", ["prefix", "infix", "prolog", "ggdl"])
def test_a_number_with_thousands_of_digits_is_refused(notation: str) -> None:
    """In every notation, with its place: it is not to be converted, which Python refuses from 4301 on."""
    digits = "9" * 4001
    (error,) = syntax.read(f"(p {digits})" if notation == "prefix" else f"p({digits}).", notation).diagnostics
    assert error.check == "too-large"
    assert "4001 digits" in error.message
    assert error.span.end - error.span.start == 4001
    assert not [d for d in syntax.read(f"(p {digits[1:]})").diagnostics if d.check == "too-large"]


def test_binary_junk_is_one_error() -> None:
    """A picture or an archive is told apart from a rulesheet with a typing error."""
    junk = "".join(chr(i % 32) for i in range(1, 5000) if i % 32)
    assert checks(junk) == ["not-text"]
    assert not read(junk).statements


# -- goldens and the corpus ----------------------------------------------------------------


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.kif")), ids=lambda f: f.stem)
def test_golden(file: Path, update: bool) -> None:
    """Findings and repaired text of whole sheets are as reviewed."""
    text = file.read_text(encoding="utf-8")
    tree = read(text)
    lines = []
    for d in tree.diagnostics:
        line, column = tree.source.position(d.span.start)
        lines.append(f"{line}:{column} {d.severity.value}[{d.check}] {d.message}; help: {d.help}")
        lines += [f"    {tree.source.position(x.span.start)[:2]} {x.message}" for x in d.labels]
    written = "\n".join([*lines, "---- read as", str(tree), "---- repaired", repaired(text)])
    golden = file.with_suffix(".txt")
    if update:
        golden.write_text(written, encoding="utf-8")
    assert written == golden.read_text(encoding="utf-8")


def test_there_are_goldens() -> None:
    """The folder is where the test looks for it."""
    assert len(list(GOLDEN.glob("*.kif"))) >= 3


def test_corpus_reads_without_errors(corpus_dir: Path) -> None:
    """Real sheets give no error; those that the reference validator blames for capitals, a warning."""
    verdicts = (corpus_dir / "manifest.csv").read_text(encoding="utf-8").splitlines()
    blamed = {row.split(",")[0] for row in verdicts if "Inconsistent capitalization" in row}
    warned = set()
    files = sorted((corpus_dir / "rulesheets").glob("*.kif"))
    assert files
    for file in files:
        tree = read(file.read_bytes().decode("utf-8", errors="replace"))
        assert not [d for d in tree.diagnostics if d.is_error], file.name
        assert tree.statements
        if any(d.check == "inconsistent-case" and "`?" not in d.message for d in tree.diagnostics):
            warned.add(file.stem)
    assert warned == blamed


@pytest.mark.corpus
def test_quick_and_careful_reader_agree(corpus_dir: Path) -> None:
    """On every real sheet the reader that repairs builds the tree that the quick one builds."""
    for file in sorted((corpus_dir / "rulesheets").glob("*.kif")):
        source = Source(file.read_bytes().decode("utf-8", errors="replace"))
        tree, report = read_prefix(source), DiagnosticCollector(source)
        careful = CarefulReader(source.text, Spellings(), report, [], [])
        at = 0
        while at < len(source.text):
            at = careful.read_statement(at, len(source.text))
        assert tuple(careful.statements) == tree.statements, file.name
        assert [(s.start, s.end) for s in careful.statements] == [(s.start, s.end) for s in tree.statements]
        assert [c.start for c in careful.comments] == [c.start for c in tree.comments]

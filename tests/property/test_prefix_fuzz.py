"""Prefix text of any kind: the reader survives it, tells the truth about places, and repairs."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from herbrand.diagnostic import Source, apply_fixes
from herbrand.syntax.layout import format_text
from herbrand.syntax.nodes import Node, children
from herbrand.syntax.reader import read_prefix
from herbrand.syntax.repair import CarefulReader
from herbrand.syntax.tokens import MAX_FINDINGS, DiagnosticCollector, Spellings

if TYPE_CHECKING:
    from pathlib import Path

    from herbrand.syntax.tree import Tree

SHEET = """; A small sheet with everything in it.
(role white) (role Black)
(init (cell 1 1 b))  ; a corner
(init (control white))

(<= (legal ?w (mark ?x ?y))
    (true (cell ?x ?y b)) ; free
    (true (control ?w)))
(<= (next (cell ?m ?n ?x))
    ; nothing was put there
    (true (cell ?m ?n ?x))
    (does ?r (mark ?j ?k))
    (or (distinct ?m ?j) (distinct ?n ?k)))
(⇐ terminal (not open))
(<= open (true (cell ?m ?n b)))
(<= (goal ?r 100) (role ?r) (not (or open (and (line ?r) (lost ?r)))))
(++ 0 1)
"""
PIECES = [
    "(",
    ")",
    " ",
    "\n",
    "(<= ",
    "?",
    "?x",
    ",",
    ";",
    "not",
    "(or ",
    "&",
    "~",
    "f(",
    "()",
    "<=",
    "\t",
    "\0",
    "\ufeff",
]


def read(text: str) -> Tree:
    return read_prefix(Source(text))


def inspect(text: str) -> Tree:
    """Read a text and see that everything in the tree lies within it."""
    tree = read(text)
    assert len(tree.diagnostics) <= 3 * MAX_FINDINGS
    places = [(d.span.start, d.span.end) for d in tree.diagnostics]
    assert places == sorted(places, key=lambda place: place[0])
    places += [(x.span.start, x.span.end) for d in tree.diagnostics for x in d.labels]
    places += [(e.span.start, e.span.end) for d in tree.diagnostics if d.fix for e in d.fix.edits]
    nodes: list[Node] = list(tree.statements)
    while nodes:
        node = nodes.pop()
        nodes += children(node)
        places.append((node.start, node.end))
        assert node.start < node.end
    assert all(0 <= start <= end <= len(text) for start, end in places)
    assert all(text[c.start : c.end] == c.text for c in tree.comments)
    starts = [c.start for c in tree.comments]
    assert starts == sorted(set(starts))
    again = read(str(tree))
    # what is just text among comments may have too many control characters without them
    assert again == tree or [d.check for d in again.diagnostics] == ["not-text"]
    return tree


def settles(text: str) -> None:
    """Fix a text again and again: after ten times at most there is nothing more to be fixed."""
    for _ in range(10):
        text, applied = apply_fixes(text, inspect(text).diagnostics)
        if not applied:
            return
    pytest.fail(f"still fixed after ten times: {text!r}")


@settings(deadline=None)
@given(st.text(max_size=100))
@example("%")
@example("// a\n(role b) # c\n/* d\n(role e) */ (role f) /*")
@example("%% a sheet\n%(role a)\n%; b\n% c")
def test_any_text(text: str) -> None:
    """No text makes the reader fail."""
    inspect(text)


@settings(deadline=None)
@given(st.lists(st.sampled_from([*PIECES, "a", "p", "(p", "role", "true"]), max_size=40).map("".join))
def test_any_tokens(text: str) -> None:
    """Nor does any sequence of the signs that mean something, and fixes come to an end."""
    settles(text)


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 6))
def test_mutated_sheet(rng: random.Random, times: int) -> None:
    """A sheet with characters deleted, doubled, swapped and put in is read, and fixes do no harm."""
    settles(mutated(SHEET, rng, times))


def mutated(text: str, rng: random.Random, times: int) -> str:
    for _ in range(times):
        at = rng.randrange(len(text))
        kind = rng.randrange(4)
        if kind == 0:
            text = text[:at] + text[at + rng.choice((1, 1, 1, 9)) :]
        elif kind == 1:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif kind == 2:
            text = text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]
        else:
            text = text[:at] + text[at:].replace(")", "", 1)
    return text or "("


@settings(deadline=None)
@given(st.integers(0, SHEET.count("(") + SHEET.count(")") - 1))
def test_one_lost_parenthesis(number: int) -> None:
    """Each parenthesis of a sheet may be lost: it is reported, and at most one other statement suffers."""
    at = [i for i, character in enumerate(SHEET) if character in "()"][number]
    text = SHEET[:at] + SHEET[at + 1 :]
    tree = inspect(text)
    assert any(d.is_error for d in tree.diagnostics)
    whole = read(SHEET).statements
    assert len([s for s in whole if s not in tree.statements]) <= 2


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 4), st.integers(10, 120))
def test_format_keeps_everything(rng: random.Random, times: int, width: int) -> None:
    """Every text without errors, however crooked, keeps tree and comments and is formatted once for all."""
    text = mutated(SHEET, rng, times) if times else SHEET
    before = read(text)
    if any(d.is_error or d.check == "left-over-text" for d in before.diagnostics):
        return
    formatted = format_text(Source(text), width=width)
    after = read(formatted)
    assert after == before
    assert [c.text for c in after.comments] == [c.text.rstrip() for c in before.comments]
    assert format_text(Source(formatted), width=width) == formatted


SYMBOLS = st.sampled_from(["a", "p", "?x", "?Y", "open", "12", "terminal"])
WORDS = st.sampled_from(["p", "q", "f", "not", "or", "distinct", "and", "true", "role", "next"])
LISTS = st.recursive(
    SYMBOLS,
    lambda inner: st.builds(
        lambda word, parts: f"({' '.join([word, *parts])})", WORDS, st.lists(inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.lists(LISTS | st.lists(LISTS, max_size=4).map(lambda parts: f"(<= {' '.join(parts)})"), max_size=6))
def test_quick_and_careful_reader_agree(statements: list[str]) -> None:
    """The reader that repairs, used for everything, gives the tree and the findings of the two together."""
    source = Source("\n".join(statements))
    careful = CarefulReader(source.text, Spellings(), report := DiagnosticCollector(source), [], [])
    at = 0
    while at < len(source.text):
        at = careful.read_statement(at, len(source.text))
    tree = read_prefix(source)
    assert tuple(careful.statements) == tree.statements
    own = [d for d in tree.diagnostics if d.check not in ("inconsistent-case", "unusual-character")]
    assert list(report.diagnostics()) == own


@pytest.mark.corpus
def test_mutated_corpus(corpus_dir: Path) -> None:
    """Real sheets with faults put in are read, in every case."""
    rng = random.Random(7)
    files = sorted((corpus_dir / "rulesheets").glob("*.kif"))
    assert files
    for file in files:
        text = file.read_bytes().decode("utf-8", errors="replace")[:20_000]
        inspect(mutated(text, rng, 5))

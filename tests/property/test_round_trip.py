"""Reading what was printed gives the tree back, in every notation."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import trees

from herbrand.diagnostic import apply_fixes
from herbrand.syntax import read, read_bytes, read_file
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Or, Rule, Variable
from herbrand.syntax.printer import in_binding_order, print_tree, simplified
from herbrand.syntax.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from herbrand.syntax.nodes import Node

NOTATIONS = ("prefix", "infix", "prolog")


def renamed(rule: Rule, table: Mapping[str, str]) -> Rule:
    """The rule with names as the table says, and variables numbered from left to right."""
    variables: dict[str, Variable] = {}

    def change(node: Node):
        if isinstance(node, Variable):
            return variables.setdefault(node.name, Variable(f"v{len(variables)}"))
        if isinstance(node, Constant):
            return Constant(table.get(node.name, node.name))
        if isinstance(node, Function | Atom):
            return type(node)(table.get(node.name, node.name), tuple(map(change, node.args)))
        if isinstance(node, Not):
            return Not(change(node.literal))
        if isinstance(node, And | Or):
            return type(node)(tuple(map(change, node.literals)))
        if isinstance(node, Distinct):
            return Distinct(change(node.left), change(node.right))
        return Rule(change(node.head), tuple(map(change, node.body)))

    return change(rule)


def expected(tree: Tree, notation: str, table: Mapping[str, str]) -> list[Rule]:
    """What reading a printed tree must give: renamed, and for Prolog with tests behind their binders."""
    rules = []
    for rule in tree.statements:
        body = rule.body
        if notation != "prefix":
            body = tuple(map(simplified, body))
        if notation == "prolog":
            body = in_binding_order(body)
        rules.append(renamed(Rule(rule.head, body), table))
    return rules


def assert_round_trip(tree: Tree, notation: str, *, portable: bool = False) -> None:
    printed = print_tree(tree, notation, portable)
    again = read(printed.text, notation)
    assert not [d for d in again.diagnostics if d.is_error], printed.text
    assert [renamed(rule, {}) for rule in again.statements] == expected(tree, notation, printed.renamed)


@given(tree=trees())
@settings(max_examples=7, deadline=None)
def test_plain_names_come_back_as_they_were(tree):
    """A tree whose names every notation can spell is read back unchanged, and nothing is renamed."""
    for notation in NOTATIONS:
        printed = print_tree(tree, notation)
        assert printed.renamed == {}
        assert printed.diagnostics == ()
        assert_round_trip(tree, notation)
        if notation != "prolog":
            simple = Tree(
                tuple(Rule(r.head, tuple(map(simplified, r.body))) for r in tree.statements), tree.source
            )
            assert read(printed.text, notation).statements == simple.statements


@given(tree=trees(odd=True))
@settings(max_examples=6, deadline=None)
def test_odd_names_come_back_as_reported(tree):
    """Names that a notation cannot spell come back as the table of renamings says, never merged."""
    for notation, portable in product(NOTATIONS, (False, True)):
        printed = print_tree(tree, notation, portable)
        assert len(set(printed.renamed.values())) == len(printed.renamed)
        assert_round_trip(tree, notation, portable=portable)


@pytest.mark.parametrize("name", ["%", "#", "//", "/*", "%%x", "#1", "//a"])
def test_names_that_begin_comments_elsewhere_come_back(name: str) -> None:
    """Alone, as a condition, and as a term."""
    statements = (Rule(Atom(name, ()), ()), Rule(Atom("p", (Constant(name),)), (Atom(name, ()),)))
    assert read(print_tree(statements).text, "prefix").statements == statements


@given(
    text=st.text("pqXY_?()&|,;~.'\"%:-<=[]! \n#/*\\1a+", max_size=60),
    notation=st.sampled_from(["infix", "prolog", "auto"]),
)
@settings(max_examples=80, deadline=None)
def test_any_text_is_read(text, notation):
    """No text makes the reader raise, every place lies inside the text, and fixes apply."""
    tree = read(text, notation)
    for found in tree.diagnostics:
        assert 0 <= found.span.start <= found.span.end <= len(text)
        assert found.message
    apply_fixes(text, tree.diagnostics)
    for statement in tree.statements:
        assert 0 <= statement.start < statement.end <= len(text)


@given(data=st.binary(max_size=80))
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_read(data):
    """No bytes make the reader raise."""
    read_bytes(data)


@given(tree=trees(), data=st.data())
@settings(max_examples=7, deadline=None)
def test_a_broken_statement_does_not_hurt_those_before_it(tree, data):
    """Junk behind good statements leaves the good ones as they are."""
    text = print_tree(tree, "prolog").text
    junk = data.draw(st.text("()&|,;~.:-[]!", max_size=8))
    broken = read(f"{text}\n{junk}", "prolog")
    good = read(text, "prolog").statements
    assert broken.statements[: len(good)] == good


def test_the_collection_comes_back(corpus_dir: Path, request: pytest.FixtureRequest):
    """Rulesheets of the collection survive prefix, infix and Prolog: with --corpus all small ones, else some."""
    files = sorted((corpus_dir / "rulesheets").glob("*.kif"))
    small = [path for path in files if path.stat().st_size < 4_000]
    assert len(small) > 50
    for path in small if request.config.getoption("--corpus") else small[::4]:
        tree = read_file(path)
        for notation in NOTATIONS:
            assert_round_trip(tree, notation)


@pytest.mark.corpus
def test_the_large_sheets_of_the_collection_come_back(corpus_dir: Path):
    """The large rulesheets, which take longer, survive as well."""
    files = sorted((corpus_dir / "rulesheets").glob("*.kif"))
    large = [path for path in files if path.stat().st_size >= 4_000]
    assert large
    for path in large:
        tree = read_file(path)
        for notation in NOTATIONS:
            assert_round_trip(tree, notation)

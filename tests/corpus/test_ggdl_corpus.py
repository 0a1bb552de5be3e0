"""Plain rulesheets are GGDL as they are: the outside collection through the reader of GGDL."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest

import herbrand
from herbrand.convert.notation import ggdl, infix
from herbrand.diagnostic import Source
from herbrand.syntax import read_file
from herbrand.syntax.ggdl import read_ggdl
from herbrand.syntax.infix import read_infix
from herbrand.syntax.printer import print_tree
from herbrand.verify import verify_same

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from herbrand.syntax.nodes import Rule

pytestmark = pytest.mark.corpus

PROBE = "\ninit ggdl_probe\n"
LARGE = 200_000
"""Larger sheets take too long sentence by sentence."""


def sheets(folder: Path) -> list[Path]:
    found = sorted(p for p in folder.joinpath("rulesheets").glob("*.kif") if p.stat().st_size < LARGE)
    assert len(found) > 200
    return found


def numbered(statements: Iterable[Rule]) -> list[str]:
    """Rules with their variables numbered, those about the probe left out."""
    found = []
    for rule in statements:
        names: dict[str, str] = {}
        text = re.sub(r"\?[^\s()]+", lambda m: names.setdefault(m[0], f"?{len(names)}"), str(rule))  # noqa: B023
        if "ggdl_probe" not in text:
            found.append(text)
    return found


def test_01_every_prefix_sheet_means_the_same(corpus_dir: Path) -> None:
    """Read as GGDL, alone and with a GGDL sentence behind it."""
    for path in sheets(corpus_dir):
        plain = read_file(path)
        assert read_ggdl(plain.source).statements == plain.statements, path.name
        probed = read_ggdl(Source(plain.source.text + PROBE))
        assert not [d for d in probed.diagnostics if d.is_error], path.name
        assert numbered(probed.statements) == numbered(plain.statements), path.name


def test_02_every_sheet_printed_as_infix_means_the_same(corpus_dir: Path) -> None:
    """The same for the other notation; variables may have other names."""
    for path in sheets(corpus_dir):
        text = print_tree(read_file(path), "infix").text
        plain = read_infix(Source(text))
        assert read_ggdl(Source(text)).statements == plain.statements, path.name
        probed = read_ggdl(Source(text + PROBE))
        assert numbered(probed.statements) == numbered(plain.statements), path.name


@pytest.mark.slow
def test_every_sheet_is_lifted_to_the_same_game(corpus_dir: Path) -> None:
    """`convert --to ggdl`, read back: no error, and the same rules, or the same states, moves and goals in random play."""
    by_rules = by_play = 0
    for path in sorted(corpus_dir.joinpath("rulesheets").glob("*.kif")):
        started = time.process_time()
        plain = herbrand.load(path)
        game = herbrand.loads(infix(plain).text, "infix")  # names with `-` are written another way there
        lifted = herbrand.loads(ggdl(game, playouts=1), "ggdl", name="lifted")
        assert not [d.message for d in lifted.diagnostics if d.is_error], path.name
        if sorted(numbered(game.rules.normal.rules)) == sorted(numbered(lifted.rules.normal.rules)):
            by_rules += 1
            continue
        report = verify_same(game, lifted, playouts=1, seed=2, max_steps=10)
        assert report.ok, (path.name, report.difference)
        assert time.process_time() - started < 300, path.name
        by_play += 1
    assert by_rules + by_play > 200
    assert by_play > 100

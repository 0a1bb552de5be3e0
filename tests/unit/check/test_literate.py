"""The Markdown files of golden/diagnostics: each block gives exactly the diagnostics written in it.

A block ```` ```kif ```` (or `hrf`, `prolog`) is a rulesheet. A comment such as

    ; error: [unsafe-variable] "not bound"

at the end of a line says that this line has such an error, with this text in its message; one line may have
several.  What is missing and what is surplus both fail.  Words behind `kif`: `prelude` adds a small playable
sheet behind the block, `notes` looks at notes too, `strict` checks strictly, `select=NAME` reports
one check.  A block ```` ```text ```` that follows is the full rendering; `--update` or HERBRAND_UPDATE=1
rewrites it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from herbrand.check import check, render
from herbrand.check.catalogue import CHECKS
from herbrand.diagnostic import Diagnostic, Severity
from herbrand.syntax import read
from herbrand.syntax.ggdl import NAMES as GGDL_CODES

FOLDER = Path(__file__).resolve().parent.parent.parent / "golden" / "diagnostics"
BLOCK = re.compile(
    r"^```(?P<notation>kif|hrf|prolog)(?P<words>[^\n]*)\n(?P<text>.*?)^```\n"
    r"(?:\n*^```text\n(?P<shown>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
EXPECTED = re.compile(r'(error|warning|note): \[([a-z-]+)\](?: "([^"]*)")?')
PRELUDE = """
(role robot)
(base (at 1))
(base (at 2))
(input robot move)
(init (at 1))
(legal robot move)
(<= (next (at 2)) (does robot move))
(<= terminal (true (at 2)))
(<= (goal robot 100) (true (at 2)))
(<= (goal robot 0) (not (true (at 2))))
"""
NOTATION = {"kif": "prefix", "hrf": "infix", "prolog": "prolog"}


@dataclass(frozen=True)
class Block:
    """One rulesheet of a page."""

    page: Path
    line: int
    notation: str
    words: tuple[str, ...]
    text: str
    shown: str | None
    shown_at: tuple[int, int]

    def found(self) -> list[Diagnostic]:
        text = self.text + (PRELUDE if "prelude" in self.words else "")
        tree = read(text, NOTATION[self.notation], self.page.name)
        select = [word.removeprefix("select=") for word in self.words if word.startswith("select=")]
        rules = check(tree, strict="strict" in self.words, select=select or None)
        return [d for d in rules.diagnostics if "notes" in self.words or d.severity is not Severity.NOTE]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, m.start()) + 1,
            m["notation"],
            tuple(m["words"].split()),
            m["text"],
            m["shown"],
            m.span("shown"),
        )
        for m in BLOCK.finditer(text)
    ]


PAGES = sorted(FOLDER.glob("*.md"))
BLOCKS = [block for page in PAGES for block in blocks(page)]


def _expected(text: str) -> list[tuple[int, str, str, str]]:
    return [
        (number, m[1], m[2], m[3] or "")
        for number, line in enumerate(text.splitlines(), 1)
        for m in EXPECTED.finditer(line)
    ]


def test_there_are_pages_and_every_page_has_blocks() -> None:
    """A collection that finds nothing fails."""
    assert len(PAGES) >= 8
    for page in PAGES:
        assert blocks(page), f"{page.name} has no block"
        fences = len(re.findall(r"^```(?:kif|hrf|prolog)", page.read_text(encoding="utf-8"), re.MULTILINE))
        assert fences == len(blocks(page)), f"{page.name} has a block that cannot be read"


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: f"{b.page.stem}:{b.line}")
def test_a_block_gives_exactly_what_it_says(block: Block) -> None:
    """Every expected diagnostic is found on its line, and no other one."""
    expected = _expected(block.text)
    found = block.found()
    surplus = []
    for d in found:
        line = d.source.position(d.span.start).line
        for wanted in expected:
            if wanted[:3] == (line, d.severity.value, d.check) and wanted[3] in d.message:
                expected.remove(wanted)
                break
        else:
            surplus.append(f"line {line}: {d.severity.value}: [{d.check}] {d.message}")
    missing = [f"line {line}: {level}: [{name}] {text!r}" for line, level, name, text in expected]
    assert not surplus, "surplus:\n" + "\n".join(surplus) + "\nmissing:\n" + "\n".join(missing)
    assert not missing, "missing:\n" + "\n".join(missing)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_renderings_are_as_shown(page: Path, update: bool) -> None:
    """The text blocks are what `herbrand check` prints; at least one page has one."""
    update = update or os.environ.get("HERBRAND_UPDATE") == "1"
    text = page.read_text(encoding="utf-8")
    for block in reversed(blocks(page)):
        if block.shown is not None:
            start, end = block.shown_at
            text = text[:start] + render.text(block.found()) + "\n" + text[end:]
    if update:
        page.write_text(text, encoding="utf-8")
    assert text == page.read_text(encoding="utf-8")


OTHER_TESTS = (
    "syntax/test_ggdl_errors.py",
    "syntax/test_ggdl_checklist.py",
    "analyse/test_epistemic.py",
    "check/test_check_knowing.py",
    "syntax/test_left_over.py",
)


def test_every_check_has_a_case() -> None:
    """Each check that looks at text only occurs in some block, or in tests of its own."""
    shown = {name for block in BLOCKS for _, _, name, _ in _expected(block.text)}
    elsewhere = {"not-utf-8", "too-deep", "too-large", "not-text"}
    wanted = {check.name for check in CHECKS.values() if check.stage != "play"}
    code = {name: code for code, name in GGDL_CODES.items()}
    tests = [(Path(__file__).parents[1] / name).read_text(encoding="utf-8") for name in OTHER_TESTS]
    elsewhere |= {
        name
        for name in wanted - shown
        if any(f'"{name}"' in text or f'"{code.get(name)}"' in text for text in tests)
    }
    assert wanted - shown == elsewhere
    assert any(block.shown for block in BLOCKS)

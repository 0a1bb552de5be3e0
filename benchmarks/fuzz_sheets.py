"""`python benchmarks/fuzz_sheets.py`: damaged rulesheets for the readers and what stands behind them.

Texts are bundled games in each notation, and the texts of a kept corpus, with pieces deleted, doubled, moved,
swapped for pieces of other sheets, nested and replaced by signs of any notation.  Reading and checking
must not raise; formatting and converting may raise `HerbrandError` only; nothing may take long.

The same seed gives the same texts.  Prints JSON, and exits with 1 if there was a failure; `--keep DIR` writes
the texts that failed, shortened as far as the same failure remains.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from herbrand import games
from herbrand.check import check
from herbrand.convert.notation import infix, prefix
from herbrand.convert.prolog import write as prolog
from herbrand.errors import HerbrandError
from herbrand.game import Game
from herbrand.syntax import NOTATIONS, read
from herbrand.syntax.layout import format_text
from herbrand.syntax.printer import print_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["FuzzReport", "fuzz", "run_text"]

SLOW: Final = 20.0
"""Processor seconds for one text that count as a hang."""
LONGEST: Final = 40_000
"""Characters of a text."""
SHEETS: Final = ("ticTacToe", "nim", "montyHall", "lightsOut", "tron", "kuhn", "hanoi", "connectFour.ggd")
SIGNS: Final = (
    *"(){}[]?&|~,.;'\"\\#@%=+-*_X\n\t\0\x1b\ufeff\u202eé",
    *("<=", ":-", "?x", "/*", "*/", "//", "..", "==", "!=", "-1", "()", "99999999999999999999"),
    *("not", "or", "and", "distinct", "true", "does", "next", "role", "legal", "goal", "terminal", "sees"),
    *("random", "move", "type", "if", "else", "in", "rule", "include", "parameter"),
)
RESERVED: Final = "reserved-name"
NESTING: Final = ("(", "{", "[", "f(", "(not ", "~", "- ", "not ", "p(X) :- ", "(<= ")


@dataclass(slots=True)
class FuzzReport:
    """What became of the texts."""

    texts: int = 0
    readable: int = 0
    """Texts without errors."""
    slowest: float = 0.0
    """Processor seconds of the slowest text."""
    failures: dict[str, str] = field(default_factory=dict)
    """A text for each place that failed."""
    notations: Counter[str] = field(default_factory=Counter)

    def as_json(self) -> dict[str, Any]:
        """Return the counts and the places of failures."""
        return {
            "texts": self.texts,
            "readable": self.readable,
            "notations": dict(self.notations),
            "slowest_s": round(self.slowest, 2),
            "failures": sorted(self.failures),
        }


def run_text(text: str, notation: str) -> bool:
    """Read and check a text and write it in every way; return whether it has no errors.

    What was read without errors must read back without errors from every notation.  Raises whatever should
    not have been raised, and `TimeoutError` for a text that takes `SLOW` seconds of processor time.
    """
    began = time.process_time()
    tree = read(text, notation)
    rules = check(tree)
    for diagnostic in rules.diagnostics:
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(tree.source.text) + 1, diagnostic
        str(diagnostic)
    errors = [diagnostic for diagnostic in tree.diagnostics if diagnostic.is_error]
    # a check finds connectives as names, which not all notations can write
    if not errors and all(diagnostic.check != RESERVED for diagnostic in rules.diagnostics):
        for notation_ in ("prefix", "infix", "prolog"):
            again = read(print_tree(tree, notation_).text, notation_)
            wrong = [diagnostic.message for diagnostic in again.diagnostics if diagnostic.is_error]
            assert not wrong, f"as {notation_}: {wrong[0]}"
    game = Game(tree)
    for write in (_formatted, prefix, infix, prolog):
        try:
            write(game)
        except HerbrandError:
            continue  # it says why there is no such text
    if time.process_time() - began > SLOW:
        raise TimeoutError(f"{time.process_time() - began:.0f} s for {len(text)} characters")
    return not rules.errors


def _formatted(game: Game) -> str:
    return format_text(game.tree.source) if game.tree.notation == "prefix" else ""


def sheets() -> list[tuple[str, str]]:
    """Return the undamaged texts with their notations."""
    texts = []
    for name in SHEETS:
        path = games.path(name)
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ggd":
            texts.append((text, "ggdl"))
            continue
        game = Game(read(text, "prefix"))
        written = prolog(game)
        texts += [(text, "prefix"), (infix(game).text, "infix")]
        texts.append((written if isinstance(written, str) else written.text, "prolog"))
    return texts


def damaged(chance: random.Random, text: str, others: Iterable[str]) -> str:
    """Return a text with one to six damages."""
    pieces = list(others)
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice((1, 2, 5, 20, 100)))
        piece = text[start:end]
        match chance.randrange(8):
            case 0:
                text = text[:start] + text[end:]
            case 1:
                text = text[:end] + piece + text[end:]
            case 2:
                text = text[:start] + chance.choice(SIGNS) + text[end:]
            case 3:
                text = text[:start] + " " + chance.choice(SIGNS) + " " + text[start:]
            case 4:
                other = chance.choice(pieces)
                at = chance.randrange(len(other) + 1)
                text = text[:start] + other[at : at + chance.choice((5, 50, 500))] + text[end:]
            case 5:
                place = chance.randrange(len(text) + 1)
                rest = text[:start] + text[end:]
                text = rest[:place] + piece + rest[place:]
            case 6:
                sign, times = chance.choice(NESTING), chance.choice((3, 60, 250, 3000))
                text = text[:start] + sign * times + text[start:]
            case _:
                text = text[:start] + chr(chance.randrange(0x250)) + text[start:]
    return text[:LONGEST]


def place_of(error: BaseException) -> str:
    """Return where an error was raised, which tells failures apart."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    if isinstance(error, RecursionError):
        return "RecursionError"
    return f"{type(error).__name__} in {Path(last.filename).name}:{last.name}"


def fuzz(
    seed: int,
    *,
    seconds: float,
    texts: int | None = None,
    corpus: Iterable[tuple[str, str]] = (),
    progress: Callable[[FuzzReport], None] | None = None,
) -> FuzzReport:
    """Run texts for `seconds` of processor time, at most `texts` of them; `corpus` comes first."""
    chance = random.Random(seed)
    report = FuzzReport()
    kept = list(corpus)
    origins = sheets() + kept
    queue = list(kept)
    stop = time.process_time() + seconds
    while time.process_time() < stop and (texts is None or report.texts < texts):
        if queue:
            text, notation = queue.pop()
        else:
            text, notation = chance.choice(origins)
            text = damaged(chance, text, [other for other, _ in origins])
            notation = chance.choice((notation, notation, notation, "auto", *NOTATIONS))
        began = time.process_time()
        try:
            report.readable += run_text(text, notation)
        except Exception as error:  # noqa: BLE001  # every one of them is what is looked for
            report.failures.setdefault(f"{place_of(error)} ({notation})", text)
        report.texts += 1
        report.notations[notation] += 1
        report.slowest = max(report.slowest, time.process_time() - began)
        if progress is not None:
            progress(report)
    return report


def shortened(text: str, notation: str) -> str:
    """Return a text with the same failure from which no piece can be removed."""

    def failure(text: str) -> str | None:
        try:
            run_text(text, notation)
        except Exception as error:  # noqa: BLE001  # any failure is one to keep
            return place_of(error)
        return None

    wanted = failure(text)
    size = len(text) // 2
    while size:
        start = 0
        while start < len(text):
            shorter = text[:start] + text[start + size :]
            if failure(shorter) == wanted:
                text = shorter
            else:
                start += size
        size //= 2
    return text


def read_corpus(folder: Path) -> list[tuple[str, str]]:
    """Return the texts of a folder, whose endings are names of notations."""
    return [
        (path.read_text(encoding="utf-8", errors="surrogateescape"), path.suffix[1:])
        for path in sorted(folder.iterdir())
        if path.suffix[1:] in (*NOTATIONS, "auto")
    ]


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(prog="python benchmarks/fuzz_sheets.py", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="processor seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="folder of texts to begin with")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write texts that failed there")
    options = parser.parse_args()
    corpus = [] if options.corpus is None else read_corpus(options.corpus)
    report = fuzz(options.seed, seconds=options.seconds, corpus=corpus)
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
        for place, text in report.failures.items():
            notation = place.rpartition("(")[2].rstrip(")")
            text = shortened(text, notation)
            name = hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:12]
            (options.keep / f"{name}.{notation}").write_text(text, encoding="utf-8", errors="surrogateescape")
    print(json.dumps({"seed": options.seed, **report.as_json()}, indent=1))
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())

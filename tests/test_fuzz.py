"""Damaged rulesheets: the kept corpus, and a few seeded ones; `benchmarks/fuzz_sheets.py` runs more."""

from __future__ import annotations

import random
from pathlib import Path

import fuzz_sheets as fuzz
import pytest

CORPUS = fuzz.read_corpus(Path(__file__).parent / "fuzz")


@pytest.mark.parametrize("number", range(len(CORPUS)))
def test_a_text_that_went_wrong_once(number: int) -> None:
    fuzz.run_text(*CORPUS[number])


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_no_damage_breaks_a_reader(seed: int) -> None:
    report = fuzz.fuzz(seed, seconds=600, texts=20 if seed == 1 else 3_000)
    assert not report.failures
    assert 0 < report.readable < report.texts


def test_a_failure_is_reported_and_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fuzzer itself, on a reader that cannot stand a sign."""

    def read(text: str, notation: str) -> bool:
        if "%" in text:
            raise IndexError(notation)
        return True

    monkeypatch.setattr(fuzz, "run_text", read)
    report = fuzz.fuzz(3, seconds=600, texts=200)
    assert report.failures
    assert all(place.startswith("IndexError in test_fuzz.py:read (") for place in report.failures)
    assert fuzz.shortened(next(iter(report.failures.values())), "prefix") == "%"


def test_the_same_seed_gives_the_same_texts() -> None:
    texts = [
        [fuzz.damaged(random.Random(seed), "(role a)", ["p(X)"]) for _ in range(3)] for seed in (5, 5, 6)
    ]
    assert texts[0] == texts[1] != texts[2]

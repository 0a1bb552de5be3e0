"""The page about measures has every measure and every source."""

from __future__ import annotations

from pathlib import Path

from herbrand.games import names
from herbrand.measure import CATALOGUE, SOURCES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "measures.md"


def test_every_measure_and_source_is_on_the_page() -> None:
    """Names stand in the tables of formulas, sources in the list, bundled games in the table of results."""
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in CATALOGUE if f"`{name}`" not in text] == []
    flowing = " ".join(text.split())
    assert [source for source in SOURCES.values() if source not in flowing] == []
    assert [name for name in names() if f"| {name}" not in text] == []

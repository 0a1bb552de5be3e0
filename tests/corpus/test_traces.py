"""Replay of recorded matches of real rulesheets: state, legal moves, end and goals in every step."""

from pathlib import Path

import pytest

import herbrand
from herbrand.verify import verify_trace

FAST = [
    "ticTacToe",
    "connectFour",
    "breakthrough",
    "checkers",
    "reversi",
    "chess",
    "eightPuzzle",
    "hanoi",
    "lightsOn",
    "blocksWorldSerial",
    "wargame01",
    "alexChess",
    "tron_10x10",
    "hex",
    "pentago",
    "firefighter",
    "god",
    "laikLee_hex",
    "urmAdd",
    "gt_two_thirds_2p",
    "ruleDepthExponential",
    "merrills",
    "racer4",
    "speedChess",
    "amazonsSuicide",
]
LARGE = {"alexChess", "amazonsSuicide", "chess", "laikLee_hex", "merrills", "racer4"}
"""The rules play these: their networks take long (`--corpus` makes them all), or more than there is."""

LONG = {
    "alexChess",
    "amazonsSuicide",
    "checkers",
    "chess",
    "gt_two_thirds_2p",
    "hex",
    "speedChess",
    "urmAdd",
    "wargame01",
}
"""Each of these takes as long as ten others."""


def replay(corpus: Path, name: str, engine: str = "auto") -> None:
    game = herbrand.load(corpus / "rulesheets" / f"{name}.kif")
    report = verify_trace(game, corpus / "traces" / f"{name}.jsonl.gz", engine=engine)
    assert report.ok, f"{name}: {report.difference}"


@pytest.mark.slow_except(
    "ticTacToe",
    "connectFour",
    "breakthrough",
    "eightPuzzle",
    "hanoi",
    "lightsOn",
    "blocksWorldSerial",
    "tron_10x10",
    "pentago",
    "firefighter",
    "ruleDepthExponential",
    "merrills",
)
@pytest.mark.parametrize("name", FAST)
def test_fast_subset(corpus_dir: Path, name: str) -> None:
    """These sheets, among them the awkward ones, agree with their traces."""
    if not (corpus_dir / "rulesheets" / f"{name}.kif").exists():
        pytest.skip(f"{name} is not in this collection")
    replay(corpus_dir, name, "rules" if name in LARGE else "auto")


@pytest.mark.corpus
def test_every_trace(corpus_dir: Path) -> None:
    """Every sheet of the collection agrees with its trace, as far as the trace goes."""
    names = sorted(path.name.removesuffix(".jsonl.gz") for path in (corpus_dir / "traces").glob("*.jsonl.gz"))
    assert len(names) > 200
    wrong = []
    for name in names:
        try:
            replay(corpus_dir, name)
        except Exception as error:  # noqa: BLE001  # collect them all
            wrong.append(f"{name}: {error}")
    assert not wrong, "\n".join(wrong)

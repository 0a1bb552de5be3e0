"""Traces and comparisons of engines find the first difference, and only real ones."""

import gzip
import json
from pathlib import Path

import pytest

import herbrand
from herbrand.errors import HerbrandError
from herbrand.verify import verify_playouts, verify_trace


def record(game: herbrand.Game, joints: list[tuple[str, ...]]) -> list[dict[str, object]]:
    """Make the trace of one match."""
    records: list[dict[str, object]] = [
        {"type": "game", "game": game.name, "roles": list(game.roles)},
        {"type": "match", "match": 0, "seed": 1},
    ]
    state = game.initial_state()
    for step, joint in enumerate([*joints, None]):
        legal = [[str(m) for m in state.legal_moves(role)] for role in game.roles]
        records.append(
            {
                "type": "step",
                "match": 0,
                "step": step,
                "terminal": state.is_terminal,
                "goals": [state.goals[role] for role in game.roles],
                "move": joint,
                "state_n": len(state.facts),
                "legal_n": [len(moves) for moves in legal],
                "state": sorted(state.facts),
                "legal": legal,
            }
        )
        if joint is not None:
            state = state.next(joint)
    records.append({"type": "end", "status": "ok"})
    return records


def write(path: Path, records: list[dict[str, object]]) -> Path:
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(r) + "\n" for r in records)
    return path


@pytest.fixture
def game() -> herbrand.Game:
    return herbrand.load("ticTacToe")


@pytest.fixture
def records(game: herbrand.Game) -> list[dict[str, object]]:
    return record(game, [("(mark 1 1)", "noop"), ("noop", "(mark 2 2)")])


def test_a_true_trace_agrees(tmp_path: Path, game: herbrand.Game, records: list[dict[str, object]]) -> None:
    """A trace that is right is confirmed, state by state."""
    report = verify_trace(game, write(tmp_path / "t.jsonl.gz", records))
    assert report.ok
    assert report.states == 3


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("terminal", True, "terminal"),
        ("goals", [100, 0], "goal xplayer"),
        ("state", ["(cell 1 1 b)"], "state"),
        ("legal", [["(mark 1 1)"], ["(mark 1 2)"]], "legal xplayer"),
    ],
)
def test_every_kind_of_difference_is_found(
    tmp_path: Path, game: herbrand.Game, records: list[dict[str, object]], key: str, value: object, what: str
) -> None:
    """A wrong entry is reported with its step and the moves that lead there."""
    records[3][key] = value
    report = verify_trace(game, write(tmp_path / "t.jsonl.gz", records))
    assert report.difference is not None
    assert report.difference.what == what
    assert report.difference.step == 1
    assert report.difference.moves == ("((mark 1 1) noop)",)
    assert report.states == 1


def test_hashes_and_counts_are_compared(
    tmp_path: Path, game: herbrand.Game, records: list[dict[str, object]]
) -> None:
    """Where the terms are left out, their number and their hash decide."""
    records[3].pop("state")
    path = write(tmp_path / "t.jsonl.gz", records)
    assert verify_trace(game, path).ok
    records[3]["state_sha256"] = "0" * 64
    report = verify_trace(game, write(path, records))
    assert report.difference is not None
    assert "SHA-256" in report.difference.expected


def test_illegal_moves_in_a_trace_are_reported(
    tmp_path: Path, game: herbrand.Game, records: list[dict[str, object]]
) -> None:
    """A move that is not legal ends the replay with a difference, not with a traceback."""
    records[2]["move"] = ["(mark 9 9)", "noop"]
    report = verify_trace(game, write(tmp_path / "t.jsonl.gz", records))
    assert report.difference is not None
    assert report.difference.what == "move"


@pytest.mark.parametrize("junk", [b"", b"\x1f\x8b junk", b"not json\n", b"[1]\n", b'{"type":"step"}\n'])
def test_what_is_no_trace_is_refused(tmp_path: Path, game: herbrand.Game, junk: bytes) -> None:
    """Broken files give one clear error."""
    path = tmp_path / ("t.jsonl.gz" if junk.startswith(b"\x1f") else "t.jsonl")
    path.write_bytes(junk)
    with pytest.raises(HerbrandError, match="trace"):
        verify_trace(game, path)


def test_trace_recorded_with_case(tmp_path: Path) -> None:
    """A trace of a system that tells case apart is replayed in that reading, and it is said."""
    text = """(role r) (init (n 1)) (Row 1 2) (row 2 3) (legal r go) (goal r 0) (<= terminal (true (n 3)))
    (<= (next (n ?y)) (true (n ?x)) (row ?x ?y))"""
    records = [
        {"type": "game", "roles": ["r"]},
        {"type": "match", "match": 0},
        {
            "type": "step",
            "step": 0,
            "terminal": False,
            "goals": [0],
            "move": ["go"],
            "state_n": 1,
            "legal_n": [1],
            "state": ["(n 1)"],
            "legal": [["go"]],
        },
        {
            "type": "step",
            "step": 1,
            "terminal": False,
            "goals": [0],
            "move": None,
            "state_n": 0,
            "legal_n": [1],
            "state": [],
            "legal": [["go"]],
        },
    ]
    report = verify_trace(herbrand.loads(text), write(tmp_path / "t.jsonl.gz", records))
    assert report.ok
    assert any("with case" in remark for remark in report.remarks)


def test_engines_are_compared(game: herbrand.Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two engines that differ are found out, with the moves that lead to the state."""
    from herbrand.simulate.naive import NaiveEngine

    assert verify_playouts(game, playouts=1, seed=1).ok
    original = NaiveEngine.terminal

    def wrong(self: NaiveEngine, key: frozenset[int]) -> bool:
        return original(self, key) or len([f for f in key if self.terms.text(f).endswith(" b)")]) < 7

    monkeypatch.setattr(NaiveEngine, "terminal", wrong)
    report = verify_playouts(herbrand.load("ticTacToe"), playouts=1, seed=1)
    assert report.difference is not None
    assert report.difference.what == "terminal"
    assert len(report.difference.moves) == 3

"""Traces and comparisons of engines find the first difference, and only real ones."""

import gzip
import json
from pathlib import Path

import pytest

import herbrand
from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.rules.naive import NaiveEngine
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
    from herbrand.rules.naive import NaiveEngine

    assert verify_playouts(game, playouts=1, seed=1).ok
    original = NaiveEngine.terminal

    def wrong(self: NaiveEngine, key: frozenset[int]) -> bool:
        return original(self, key) or len([f for f in key if self.terms.text(f).endswith(" b)")]) < 7

    monkeypatch.setattr(NaiveEngine, "terminal", wrong)
    report = verify_playouts(herbrand.game.load("ticTacToe"), playouts=1, seed=1)
    assert report.difference is not None
    assert report.difference.what == "terminal"
    assert len(report.difference.moves) == 3


class Lying(NaiveEngine):
    """An engine with one fault."""

    name = "naive"
    fault = ""

    def legal(self, key, role):
        moves = super().legal(key, role)
        return moves[1:] if self.fault == "legal" and len(key) == 10 and role == 1 else moves

    def terminal(self, key):
        return super().terminal(key) or self.fault == "terminal"

    def goals(self, key, role):
        return [] if self.fault == "goal" else super().goals(key, role)

    def successor(self, key, moves):
        after = super().successor(key, moves)
        return frozenset(sorted(after)[1:]) if self.fault == "state" else after

    def initial(self):
        first = super().initial()
        return frozenset(sorted(first)[1:]) if self.fault == "initial" else first

    def percepts(self, key, moves, role):
        return [*super().percepts(key, moves, role), self.roles[0]] if self.fault == "percepts" else []


@pytest.mark.parametrize(
    ("fault", "what", "atom"),
    [
        ("legal", "legal oplayer", "(legal oplayer noop)"),
        ("terminal", "terminal", "terminal"),
        ("goal", "goal xplayer", "(goal xplayer 50)"),
        ("state", "state", "(next (c"),
        ("initial", "state", "(init (c"),
    ],
)
def test_a_difference_of_engines_is_explained_from_each_side(game, fault, what, atom, monkeypatch):
    """The state, the first differing atom, what each engine says of it, and what the rules say."""
    engine = Lying(game.rules)
    engine.fault = fault
    monkeypatch.setitem(game._engines, "naive", engine)
    report = verify_playouts(game, engines=("rules", "naive"), playouts=3)
    difference = report.difference
    assert difference is not None
    assert difference.what == what
    right, wrong = difference.sides
    assert (right.engine, wrong.engine) == ("rules", "naive")
    assert right.atom.startswith(atom)
    assert right.agrees
    assert not wrong.agrees
    assert right.holds is not wrong.holds
    text = str(report.difference)
    assert "state: (cell 1 1 " in text
    assert f"naive says that {right.atom} {'holds' if wrong.holds else 'does not hold'}, but" in text
    assert f"rules says that {right.atom} {'holds' if right.holds else 'does not hold'}, because" in text


def test_percepts_are_compared(monkeypatch):
    """What roles see belongs to the comparison where the rules give any."""
    kuhn = herbrand.load("montyHall")
    engine = Lying(kuhn.rules)
    engine.fault = "percepts"
    monkeypatch.setitem(kuhn._engines, "naive", engine)
    report = verify_playouts(kuhn, engines=("rules", "naive"), playouts=3)
    assert report.difference is not None
    assert report.difference.what.startswith("percepts")


class Tired(NaiveEngine):
    """An engine that gives up after some questions."""

    left = 20

    def terminal(self, key):
        self.left -= 1
        if self.left < 0:
            raise BudgetExceeded("20 questions")
        return super().terminal(key)


def test_an_engine_that_gives_up_is_left_out(game, monkeypatch):
    """The others are compared to the end; the report says who gave up, why, and after how many states."""
    monkeypatch.setitem(game._engines, "naive", Tired(game.rules))
    report = verify_playouts(game, engines=("rules", "naive", "network"), playouts=4)
    assert report.ok
    assert report.unsupported == {"naive": "over budget: 20 questions"}
    assert 0 < report.compared["naive"] <= 20 < report.compared["network"]
    assert report.remarks == ("naive gave up: over budget: 20 questions",)


def test_nothing_compared_is_no_agreement(game, monkeypatch):
    """When no other engine answers at all, its error is raised."""
    tired = Tired(game.rules)
    tired.left = 0
    monkeypatch.setitem(game._engines, "naive", tired)
    with pytest.raises(BudgetExceeded):
        verify_playouts(game, engines=("rules", "naive"))

"""Machine code of its own for each network plays the same games as the walked gates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import herbrand
from herbrand.simulate import kept, straight
from herbrand.simulate.from_network import BatchSimulator
from herbrand.simulate.rows import share_rows
from herbrand.simulate.speed import measure_network, straight_code

if TYPE_CHECKING:
    from pathlib import Path

    from herbrand.network.network import Network

CONNECTED = """
    (role r) (init (free 1)) (init (free 2)) (init (free 3)) (init (free 4)) (init (free 5)) (init (free 6))
    (edge 1 2) (edge 2 3) (edge 3 4) (edge 4 5) (edge 5 6) (edge 6 1) (edge 2 5)
    (<= (link ?a ?b) (edge ?a ?b)) (<= (link ?a ?b) (edge ?b ?a))
    (<= (legal r (take ?n)) (true (free ?n)))
    (<= (next (free ?n)) (true (free ?n)) (not (does r (take ?n))))
    (<= (reached 1) (true (free 1)))
    (<= (reached ?b) (reached ?a) (link ?a ?b) (true (free ?b)))
    (<= terminal (not (reached 4)))
    (<= (goal r 100) (true (free 1)))
    (<= (goal r 0) (not (true (free 1))))"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Code is kept in a folder of the test."""
    monkeypatch.setattr(kept, "folder", lambda: tmp_path / "code")
    return tmp_path / "code"


def games(network: Network, width: int, tier: bool | None) -> Any:
    """Play some games; what counts of them."""
    played = BatchSimulator(network, width, tier).play("", playouts=3000, seed=5, max_steps=60)
    return played.transitions, played.lengths, {r: g.distribution for r, g in played.goals.items()}


@pytest.mark.parametrize(("name", "width"), [("connectFour", 8), ("connectFour", 16), ("liarsDice", 8)])
def test_both_tiers_play_the_same_games(name: str, width: int) -> None:
    """The same seed gives the same games, however the gates are evaluated."""
    network = herbrand.load(name).network
    simulator = BatchSimulator(network, width, straight=True)
    code = simulator.code()
    assert code is not None
    assert code.gates == network.gates
    assert games(network, width, True) == games(network, width, False)


def test_loops_are_walked_between_pieces() -> None:
    """What is recursive within a state is repeated to its fixpoint, the rest has code."""
    network = herbrand.loads(CONNECTED).network
    assert len(network.loops)
    code = straight.straighten(network, share_rows(network), 8)
    assert code is not None
    inside = sum(last - first for first, last, _, _ in network.loops.tolist())
    assert 0 < code.gates == network.gates - inside
    assert games(network, 8, True) == games(network, 8, False)


def test_pieces_can_be_small_and_some_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that cross from piece to piece go through their rows; what is not compiled is walked."""
    monkeypatch.setattr(straight, "_PIECE", 37)
    network = herbrand.load("connectFour").network
    rows = share_rows(network)
    whole = straight.straighten(network, rows, 8)
    assert whole is not None
    assert len(whole.pieces) > 10
    expected = games(network, 8, False)
    assert games(network, 8, True) == expected
    part = straight.Straight(whole.pieces[::2], 0.0, 0, whole)
    monkeypatch.setattr(straight, "straighten", lambda *_, **__: part)
    assert games(network, 8, True) == expected


def test_no_time_means_no_code(own_folder: Path) -> None:
    """When the time is up, what is ready is used, and only whole code is kept."""
    network = herbrand.load("nim").network
    code = straight.straighten(network, share_rows(network), 8, seconds=-1)
    assert code is not None
    assert (code.gates, len(code.pieces)) == (0, 0)
    assert not own_folder.exists()


def test_code_is_found_on_disk(own_folder: Path) -> None:
    """A second process compiles nothing; other widths and other networks are other code."""
    network = herbrand.load("nim").network
    rows = share_rows(network)
    assert straight.straighten(network, rows, 8, only_kept=True) is None
    first = straight.straighten(network, rows, 8)
    assert first is not None
    assert straight.straighten(network, rows, 8) is first
    gates = first.gates
    del first
    again = straight.straighten(network, rows, 8, only_kept=True)
    assert again is not None
    assert (again.seconds, again.gates) == (0, gates)
    assert straight.straighten(network, rows, 16, only_kept=True) is None
    assert len(list(own_folder.iterdir())) == 1


def test_code_of_another_version_of_the_compiler_is_not_used(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another llvmlite made stays on disk, and new code stands beside it."""
    network = herbrand.load("nim").network
    rows = share_rows(network)
    assert straight.straighten(network, rows, 8) is not None
    monkeypatch.setattr("llvmlite.__version__", "0.0.1")
    assert straight.straighten(network, rows, 8, only_kept=True) is None
    assert straight.straighten(network, rows, 8) is not None
    assert len(list(own_folder.iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"herbrand straight 1\n", None])
def test_damaged_code_is_made_again(own_folder: Path, damage: bytes | None) -> None:
    """A file that is not whole is thrown away, not run."""
    network = herbrand.load("nim").network
    rows = share_rows(network)
    made = straight.straighten(network, rows, 8)
    assert made is not None
    del made
    (file,) = own_folder.iterdir()
    data = bytearray(file.read_bytes())
    data[-5] ^= 1
    file.write_bytes(bytes(data) if damage is None else damage)
    assert straight.straighten(network, rows, 8, only_kept=True) is None
    assert not file.exists()
    assert straight.straighten(network, rows, 8) is not None


def test_a_full_or_missing_disk_is_no_error(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that cannot be kept is used all the same."""
    own_folder.write_text("not a folder")
    network = herbrand.load("nim").network
    assert games(network, 8, True) == games(network, 8, False)
    monkeypatch.setattr(kept, "folder", lambda: None)
    assert games(network, 8, True) == games(network, 8, False)


def test_the_folder_does_not_grow_for_ever(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not used for longest goes first."""
    monkeypatch.setattr(kept, "KEPT_BYTES", 2500)
    for name in ("a", "b", "c"):
        kept.write(name, [bytes(1000)])
        assert kept.read(name) == [bytes(1000)]
    assert len(list(own_folder.glob("*.bin"))) == 2


def test_code_is_made_only_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short run walks; a long one is compiled when walking took as long as that will take."""
    network = herbrand.load("nim").network
    made: list[int] = []
    original = straight.straighten

    def note(*args: Any, **options: Any) -> Any:
        if not options["only_kept"]:
            made.append(1)
        return original(*args, **options)

    monkeypatch.setattr(straight, "straighten", note)
    expected = games(network, 8, False)
    monkeypatch.setattr(straight, "expected_seconds", lambda _: 5.0)
    assert games(network, 8, None) == expected
    assert not made
    monkeypatch.setattr(straight, "expected_seconds", lambda _: 0.0)
    assert games(network, 8, None) == expected
    assert made


def test_the_faster_tier_is_measured() -> None:
    """Where there is code, both tiers are tried; it can be asked for, or not."""
    network = herbrand.load("ticTacToe").network
    codes = straight_code(network, (8,))
    assert codes[0].gates == network.gates
    assert measure_network(network, seconds=0.1, lanes=512, straight=True).straight == network.gates
    assert measure_network(network, seconds=0.1, lanes=512, straight=False).straight == 0
    assert measure_network(network, seconds=0.2, lanes=512).straight in (0, network.gates)
    assert np.array_equal(codes[0].pieces[:, 0], np.sort(codes[0].pieces[:, 0]))

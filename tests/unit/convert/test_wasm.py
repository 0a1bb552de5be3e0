"""Games as WebAssembly: bit by bit what the interpreters of lane programs compute, in Node."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from wasm_host import NODE, ask_node, differences

import herbrand
from herbrand import games
from herbrand.cli.main import cli
from herbrand.convert.lanes.programs import playing_programs
from herbrand.convert.wasm import wasm
from herbrand.convert.wasm.assembler import I32, I64, ZEROS, FunctionBuilder, i32, i64, load
from herbrand.convert.wasm.binary import Module, Signature, signed, unsigned
from herbrand.convert.wasm.programs import _operation
from herbrand.convert.wasm.rows import AND, COPY, XOR

if TYPE_CHECKING:
    from collections.abc import Callable

needs_node = pytest.mark.skipif(NODE is None, reason="running WebAssembly needs node")

UNEVEN = """
    (role a) (role b) (init (n 0)) (init (m 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
    (<= (legal a (take ?x)) (true (n ?y)) (above ?x ?y)) (<= (above ?x ?y) (succ ?y ?x))
    (<= (above ?x ?z) (succ ?y ?x) (above ?y ?z))
    (legal a stay) (<= (legal b go) (true (n ?x)) (succ ?x ?y)) (<= (legal b wait) (not (true (n 4))))
    (<= (next (n ?x)) (does a (take ?x))) (<= (next (n ?x)) (does a stay) (true (n ?x)))
    (<= (next (m ?y)) (does b go) (true (m ?x)) (succ ?x ?y)) (<= (next (m ?x)) (does b wait) (true (m ?x)))
    (<= terminal (true (m 4))) (<= terminal (true (n 4)) (true (m 3)))
    (<= (goal a 100) (true (n 4))) (<= (goal a 30) (true (m 4)))
    (goal b 50) (<= (goal b 70) (true (n 3)))"""
"""Games of different lengths; b is stuck at times, and has two goals at others."""
LATE_CONFLICT = """
    (role r) (init (at 1)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8)
    (carry 0) (<= (carry ?m) (succ ?n ?m) (carry ?n) (true (bit ?n)))
    (<= (next (bit ?n)) (carry ?n) (not (true (bit ?n))))
    (<= (next (bit ?n)) (true (bit ?n)) (not (carry ?n)))
    (<= (legal r (go ?p)) (true (at ?p))) (<= (legal r (stay ?p)) (true (at ?p)))
    (<= (next (at 1)) (does r (go 2))) (<= (next (at 1)) (does r (stay 1)))
    (<= (next (at 2)) (does r (go 1))) (<= (next (at 2)) (does r (stay 2)))
    (<= (next (at ?p)) (does r (go ?q)) (at ?p) late) (at 1) (at 2) (<= late (true (bit 8)) (true (bit 4)))
    (<= terminal (true (bit 8)) (true (bit 5)))
    (<= (goal r 100) (true (at 1))) (<= (goal r 0) (not (true (at 1))))"""
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
MOVELESS = (
    "(role a) (role b) (init p) (legal a go) (<= (next p) (true p)) (<= terminal (not (true p))) (goal a 7)"
)


@needs_node
@pytest.mark.slow_except("ticTacToe", "kuhn", "montyHall")
@pytest.mark.parametrize("name", [name for name in games.names() if name != "chess"])
def test_modules_compute_what_the_core_and_the_interpreter_do(name: str) -> None:
    """Random games, states, and games from given states; `benchmarks/wasm.py` compares them at length."""
    game = herbrand.load(name)
    try:
        network = game.network
    except herbrand.BudgetExceeded:
        pytest.skip("no network")
    assert not differences(network, wasm(game))


@needs_node
@pytest.mark.parametrize("text", [UNEVEN, CONNECTED, MOVELESS], ids=["uneven", "connected", "moveless"])
def test_games_that_end_in_all_ways(text: str) -> None:
    """Over, stuck, and too long; a role without moves, one with several goals; what is recursive in a state."""
    game = herbrand.loads(text)
    module = wasm(game)
    assert not differences(game.network, module, interpreted=True)
    assert not differences(game.network, module, games=3, steps=0, longest=0)
    (counts,) = ask_node(module, {"kind": "games", "seed": 1, "games": 900, "steps": 3})
    assert text == CONNECTED or counts["stuck"] > 100


@needs_node
def test_a_program_without_assumptions_takes_over() -> None:
    """Where a regularity of sampled games ends later than any of them, the games go on, as in the core."""
    game = herbrand.loads(LATE_CONFLICT)
    assert len(playing_programs(game.network, arity=2)) == 2
    assert not differences(game.network, wasm(game), games=600, steps=400)


@needs_node
def test_long_games_are_counted_in_memory_that_grows() -> None:
    """Lengths beyond the pages of the module."""
    game = herbrand.loads(
        "(role a) (init p) (legal a go) (<= (next p) (true p)) (<= terminal (true q)) (goal a 0)"
    )
    (counts,) = ask_node(wasm(game), {"kind": "games", "seed": 1, "games": 2, "steps": 70_000})
    assert counts["lengths"] == {"70000": 2}
    assert counts["transitions"] == 140_000


@needs_node
def test_modules_say_what_is_where() -> None:
    """A section has the names of the game, in the order of rows."""
    game = herbrand.load("kuhn")
    (about,) = ask_node(wasm(game), {"kind": "about"})
    assert about["roles"] == list(game.roles)
    network = game.network
    assert about["fluents"] == [network.terms.text(fluent) for fluent in network.fluents.tolist()]
    assert about["initial"] == network.initial.nonzero()[0].tolist()


@needs_node
def test_the_program_of_the_page_runs(tmp_path: Path) -> None:
    """`docs/reference/wasm.md` shows how games are played and counted."""
    page = Path(__file__).parents[3] / "docs" / "reference" / "wasm.md"
    program = page.read_text(encoding="utf-8").split("```js\n")[1].split("```")[0]
    (tmp_path / "connectFour.wasm").write_bytes(wasm(herbrand.load("connectFour")))
    (tmp_path / "play.mjs").write_text(program, encoding="utf-8")
    assert NODE is not None
    command = [NODE, "play.mjs"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not done.stderr
    assert done.stdout.startswith("100000 games, 21")
    assert re.search(r"^red 100: 55\d\d\d$", done.stdout, re.MULTILINE)


def test_commands_write_modules_to_files_only(tmp_path: Path) -> None:
    """A pipe gets the bytes, a terminal does not."""
    file = tmp_path / "game.wasm"
    done = CliRunner().invoke(cli, ["convert", "ticTacToe", "--to", "wasm", "-o", str(file)])
    assert done.exit_code == 0
    assert file.read_bytes() == wasm(herbrand.load("ticTacToe"))
    piped = CliRunner().invoke(cli, ["convert", "ticTacToe", "--to", "wasm"])
    assert piped.stdout_bytes == file.read_bytes()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="a terminal is made as on Unix")
def test_a_terminal_gets_no_binary() -> None:
    """The command says what to do instead."""
    master, terminal = os.openpty()
    command = [sys.executable, "-m", "herbrand", "convert", "ticTacToe", "--to", "wasm"]
    done = subprocess.run(command, stdout=terminal, stderr=subprocess.PIPE, text=True, check=False)
    os.close(terminal)
    with suppress(OSError):  # nothing was written
        assert not os.read(master, 100)
    os.close(master)
    assert done.returncode == 2
    assert "with -o FILE" in done.stderr


# -- the encoder ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "encode", "encoded"),
    [
        (0, unsigned, "00"),
        (127, unsigned, "7f"),
        (624485, unsigned, "e58e26"),
        (2**32 - 1, unsigned, "ffffffff0f"),
        (-1, signed, "7f"),
        (63, signed, "3f"),
        (64, signed, "c000"),
        (-64, signed, "40"),
        (-123456, signed, "c0bb78"),
    ],
)
def test_numbers_are_leb128(number: int, encode: Callable[[int], bytes], encoded: str) -> None:
    """The examples of the format's description, and limits of one byte."""
    assert encode(number).hex() == encoded


def test_types_are_checked() -> None:
    """A mistake in the code of a module is an error when it is written."""
    f = FunctionBuilder([I32], I64)
    for wrong in (
        lambda: i32(1) + i64(1),
        lambda: ZEROS & i64(1),
        lambda: load(I64, i64(0)),
        lambda: i32(1).narrow(),
        lambda: f.set(f.param(0), i64(1)),
        lambda: f.give(i32(1)),
        lambda: f.store8(i32(0), i64(1)),
        lambda: i64(1).any(),
    ):
        with pytest.raises(TypeError, match="is needed"):
            wrong()
    module = Module()
    f.give(1)
    f.define(module)
    with pytest.raises(ValueError, match="come first"):
        module.import_function("host", "f", Signature())


def test_operations_are_their_tables() -> None:
    """Functions of at most two bits, at any places, are one operation; the others are refused."""
    for table in range(256):
        used = [w for w in (4, 2, 1) if any((table >> i ^ table >> (i ^ w)) & 1 for i in range(8))]
        if len(used) == 3:
            with pytest.raises(ValueError, match="three bits"):
                _operation((9, 3, 4, 5, table))
            continue
        operation = _operation((9, 3, 4, 5, table))
        for bits in range(8):
            rows = {0: 0, 1: 1, 3: bits >> 2, 4: bits >> 1 & 1, 5: bits & 1}
            a, b = (rows.get(literal >> 1, 0) ^ (literal & 1) for literal in (operation.a, operation.b))
            value = {COPY: a, AND: a & b, XOR: a ^ b}[operation.kind] ^ operation.is_inverted
            assert value == table >> bits & 1, (table, bits)

"""Lane programs as values: printed, interpreted, and written as C, they play the games that the core plays."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from interpreted import InterpretedPlayouts

import herbrand
from herbrand import games
from herbrand.convert.lanes import c
from herbrand.convert.lanes.chunks import cut
from herbrand.core import Playouts, Stop, playing_program
from herbrand.engine.on_network import NetworkEngine
from herbrand.network import LaneProgram
from herbrand.network.formula import formula
from herbrand.network.lane_machine import LaneMachine
from herbrand.network.lanes import operands

if TYPE_CHECKING:
    from pathlib import Path

    from herbrand.game import Game
    from herbrand.network import Network

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
BOTH_AT_ONCE = """
    (role a) (role b) (init (step 1)) (init (step 2)) (succ 1 2) (succ 2 3)
    (move rock) (move paper) (move scissors)
    (<= (legal ?r ?m) (role ?r) (move ?m))
    (<= (next (chose ?r ?m)) (does ?r ?m))
    (<= terminal (true (chose ?r ?m)))
    (<= (goal ?r 100) (role ?r) (true (chose a ?m)) (true (chose b ?m)))
    (<= (goal ?r 0) (role ?r) (true (chose a ?m)) (not (true (chose b ?m))))"""
ONE_DEAD_END = """
    (role a) (role b) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3)
    (<= (legal a stay) (true (n ?x))) (<= (legal a go) (true (n ?x)))
    (<= (legal b wait) (not (true (n 2))))
    (<= (next (n ?y)) (true (n ?x)) (does a go) (succ ?x ?y))
    (<= (next (n ?x)) (true (n ?x)) (does a stay))
    (<= (goal a 100) (true (n 3))) (<= (goal ?r 0) (role ?r) (not (true (n 3))))
    (<= terminal (true (n 3)))"""
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
"""Two places are never taken at once in the first 272 steps, which is as far as random games look."""
SHEETS = {
    "loop": CONNECTED,
    "at once": BOTH_AT_ONCE,
    "dead end": ONE_DEAD_END,
    "late conflict": LATE_CONFLICT,
}
SMALL = ["rockPaperScissors", "nim", "ticTacToe", "montyHall", *SHEETS]


def game_of(name: str) -> Game:
    return herbrand.loads(SHEETS[name], name=name) if name in SHEETS else herbrand.load(name)


def limit_of(name: str) -> int:
    """How many steps to play at most."""
    return 400 if name == "late conflict" else 40


def counted(network: Network, playouts: int, seed: int, max_steps: int) -> dict[str, Any]:
    """Play games with the core; all that is counted of them."""
    played = Playouts(network.circuit, playouts, seed, max_steps)
    assert played.play(600.0, Stop())
    lengths = {length: games for length, games in enumerate(played.lengths.tolist()) if games}
    return _counts(played) | {"lengths": lengths}


def _counts(played: Any) -> dict[str, Any]:
    names = ("played", "ended", "truncated", "stuck", "transitions")
    numbers: dict[str, Any] = {name: getattr(played, name) for name in names}
    return numbers | {"goals": played.goals.tolist(), "choices": played.choices.tolist()}


def test_formulas_are_their_tables() -> None:
    """Every function of three bits, evaluated on all of them."""
    for table in range(256):
        text = formula(table, "x", "y", "z")
        for row in range(8):
            bits = {"x": -(row >> 2 & 1), "y": -(row >> 1 & 1), "z": -(row & 1)}
            assert eval(text, bits) & 1 == table >> row & 1, (table, row)


@pytest.mark.parametrize("name", ["connectFour", "hex", *SHEETS])
@pytest.mark.parametrize("arity", [2, 3])
def test_rows_are_what_the_page_says(name: str, arity: int) -> None:
    """Rows within a unit are written once and then read; outputs are kept; nothing writes the state."""
    network = game_of(name).network
    evaluating = LaneProgram.evaluating(network, arity=arity)
    for program in (
        evaluating,
        *(LaneProgram.playing(network, assume=assume, arity=arity) for assume in (False, True)),
    ):
        assert len(program) == len(program.ops) > 0
        assert 0 <= program.ops[:, 4].min() <= program.ops[:, 4].max() < 256
        assert max(len(operands((0, 0, 1, 2, table))) for table in program.tables.tolist()) == arity
        assert 0 <= program.ops[:, :3].min() <= program.ops[:, :3].max() < program.rows
        assert (program.ops[:, 0] >= 2 + program.states).all()
        for begin, end, *_ in program.units.tolist():
            written: set[int] = set()
            for op in program.ops[begin:end].tolist():
                assert all(row < program.kept or row in written for row in operands(op))
                assert op[0] < program.kept or op[0] not in written
                written.add(op[0])
        rows = [row for stage in program.stages for row, _ in program.outputs(stage)]
        assert max(rows) < program.kept
        assert program.levels.max() == program.statistics()["levels"] > 1


@pytest.mark.parametrize("name", ["ticTacToe", "rockPaperScissors", "loop"])
def test_printed_programs_mean_what_they_say(name: str) -> None:
    """The text, read as Python over integers of 512 bits, gives the rows that the machine gives."""
    program = LaneProgram.evaluating(game_of(name).network)
    machine = LaneMachine(program)
    chance = np.random.default_rng(1)
    machine.rows[2 : program.kept] = chance.integers(0, 1 << 64, (program.kept - 2, 8), np.uint64)
    full = (1 << 512) - 1
    rows = {f"r{i}": int.from_bytes(row.tobytes(), "little") for i, row in enumerate(machine.rows)}
    for stage in ("legal", "next", "goals"):
        machine.run(stage)
    text = str(program)
    outputs = dict(re.findall(r"^  out (r\d+) = (.+)$", text, re.MULTILINE))
    for unit in re.split(r"^  unit ", text, flags=re.MULTILINE)[1:]:
        feedback = re.findall(r"^    (r\d+) <- (r\d+)$", unit, re.MULTILINE)
        assert bool(feedback) == ("repeated" in unit.split("\n")[0])
        rows.update(dict.fromkeys((row for row, _ in feedback), 0))
        while True:
            for row, value in re.findall(r"^    (r\d+) = (.+)$", unit, re.MULTILINE):
                rows[row] = eval(value, rows) & full
            found = {row: rows[source] for row, source in feedback}
            if all(rows[row] == value for row, value in found.items()):
                break
            rows.update(found)
    assert len(outputs) > 5
    assert "(next" in "".join(outputs.values())
    for row, output in outputs.items():
        assert rows[row] == int.from_bytes(machine.rows[int(row[1:])].tobytes(), "little"), output


@pytest.mark.slow_except("connectFour", "kuhn", "loop")
@pytest.mark.parametrize("name", ["connectFour", "tron", "kuhn", "loop"])
def test_evaluating_programs_say_what_the_network_says(name: str) -> None:
    """In the states of random games: legal moves, the end, goals, what roles see, the next state."""
    network = game_of(name).network
    engine = NetworkEngine(network)
    program = LaneProgram.evaluating(network)
    machine = LaneMachine(program)
    chance = np.random.default_rng(4)
    moves = [tuple(move) for move in network.moves.tolist()]
    key = engine.initial()
    for _ in range(20):
        true = set(engine.fluents(key))
        machine.rows[2 : 2 + program.states] = 0
        machine.state[[i for i, f in enumerate(network.fluents.tolist()) if f in true]] = 1

        def holds(rows: tuple[int, ...] | range) -> set[int]:
            return {i for i, row in enumerate(rows) if machine.rows[row, 0] & np.uint64(1)}

        machine.run("legal")
        legal = [set(engine.legal(key, role)) for role in range(len(network.roles))]
        assert {moves[m] for m in holds(program.legal_rows)} == {
            (r, m) for r, mine in enumerate(legal) for m in mine
        }
        assert bool(holds((program.terminal_row,))) == engine.terminal(key)
        machine.run("goals")
        goals = {tuple(network.goals[k].tolist()) for k in holds(program.goal_rows)}
        assert goals == {(r, v) for r in range(len(network.roles)) for v in engine.goals(key, r)}
        if engine.terminal(key):
            key = engine.initial()
            continue
        joint = [chance.choice(sorted(mine)) for mine in legal]
        machine.rows[list(program.move_rows)] = 0
        machine.rows[[program.move_rows[moves.index((r, m))] for r, m in enumerate(joint)]] = 1
        machine.run("next")
        seen = {tuple(network.percepts[k].tolist()) for k in holds(program.sees_rows)}
        assert seen == {(r, p) for r in range(len(network.roles)) for p in engine.percepts(key, joint, r)}
        key = engine.successor(key, joint)
        after = holds(range(2 + program.states, 2 + 2 * program.states))
        assert {network.fluents[f] for f in after} == set(engine.fluents(key))


@pytest.mark.parametrize(
    ("name", "arity"),
    [
        *((name, 3) for name in SMALL),
        ("nim", 2),
        ("loop", 2),
        pytest.param("connectFour", 3, marks=pytest.mark.slow),
    ],
)
def test_interpreted_programs_play_the_games_of_the_core(name: str, arity: int) -> None:
    """From one seed: every number that is counted."""
    game = game_of(name)
    played = InterpretedPlayouts(game.network, 500, 9, limit_of(name), arity=arity)
    core = counted(game.network, 500, 9, limit_of(name))
    assert _counts(played) | {"lengths": dict(sorted(played.lengths.items()))} == core
    if name == "late conflict":
        taken_over = Playouts(game.network.circuit, 500, 9, 400)
        assert taken_over.play(60.0, Stop())
        assert taken_over.conflicts == 1
    if name == "dead end":
        assert core["stuck"] > 100
        assert [str(game.network.terms.text(game.network.fluents[f])) for f in played.stuck_fluents] == [
            "(n 2)"
        ]


@pytest.mark.skipif(platform.machine().lower() not in {"x86_64", "amd64"}, reason="no encoder here")
@pytest.mark.parametrize(("kind", "arity"), [("avx512", 3), ("avx2", 2)])
@pytest.mark.slow_except("connectFour", "kuhn", "loop")
@pytest.mark.parametrize("name", ["connectFour", "breakthrough", "kuhn", "loop", "late conflict"])
def test_machine_code_is_right_also_on_other_processors(name: str, kind: str, arity: int) -> None:
    """Its bytes, executed by an emulator, play the games of the core."""
    from emulated import EmulatedMachine

    network = game_of(name).network

    def machine(program: LaneProgram) -> LaneMachine:
        assert program.play is not None
        compiled = playing_program(network.circuit, program.play.assume, arity)
        return EmulatedMachine(program, compiled, kind)

    played = InterpretedPlayouts(network, 500, 3, limit_of(name), arity=arity, machine=machine)
    assert _counts(played) | {"lengths": dict(sorted(played.lengths.items()))} == counted(
        network, 500, 3, limit_of(name)
    )


def test_machine_code_of_unknown_kinds_is_refused() -> None:
    """What there is no encoder for, and AVX2 for functions of three bits."""
    program = playing_program(herbrand.load("nim").network.circuit, arity=3)
    for kind in ("sse", "avx2"):
        with pytest.raises(ValueError, match=r"AVX2 has|machine code is"):
            program.machine_code(kind)


@pytest.mark.parametrize("name", ["connectFour", "loop"])
def test_chunks_compute_what_the_program_computes(name: str) -> None:
    """However small they are: no row of memory is used again too early."""
    program = LaneProgram.playing(game_of(name).network)
    for size in (1, 7, 64, 10**6):
        chunks = cut(program, size)
        assert program.kept <= chunks.rows <= program.rows
        for unit, (begin, end) in zip(chunks.units, program.units[:, :2].tolist(), strict=True):
            ops = [tuple(op) for op in program.ops[begin:end].tolist()]
            made = [op for chunk in unit for op in chunk.operations]
            read = {row for op in made for row in operands(op)}
            left_out = {op[0] for op in ops} - {op[0] for op in made}
            assert made == [op for op in ops if op[0] not in left_out]
            assert all(row >= program.kept and row not in read for row in left_out)
            memory: dict[int, int] = {}  # which row's value stands where
            for chunk in unit:
                written: set[int] = set()
                for op in chunk.operations:
                    for row in operands(op):
                        assert row in (chunk.local if row in written else chunk.memory)
                        if row not in written and row >= program.kept:
                            assert memory[chunk.memory[row]] == row
                    written.add(op[0])
                for row in written & set(chunk.memory):
                    assert row >= program.kept or chunk.memory[row] == row
                    memory[chunk.memory[row]] = row


COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)] or ["cc"] * bool(shutil.which("cc"))
NO_COMPILER = "no C compiler: gcc, clang or cc"


def compiled(source: str, folder: Path, *flags: str, compiler: str | None = None) -> Path:
    """Compile a source file without a warning."""
    file, program = folder / "game.c", folder / "game"
    file.write_text(source, encoding="ascii")
    command = [
        compiler or COMPILERS[0],
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        "-O1",
        *flags,
    ]
    done = subprocess.run(
        [*command, file, "-o", program], capture_output=True, text=True, check=False, timeout=3600
    )
    assert done.returncode == 0, done.stderr[:2000]
    assert not done.stderr
    return program


def run_program(program: Path, *words: str) -> tuple[dict[str, Any], str]:
    """What a compiled game printed: as `counted` has it, and as text."""
    done = subprocess.run([program, *words], capture_output=True, text=True, check=True, timeout=600)
    found: dict[str, Any] = {"lengths": {}, "goals": [], "choices": []}
    for line in done.stdout.splitlines():
        what, number = line.rsplit(" ", 1)
        kind, *rest = what.split()
        if kind == "length":
            found["lengths"][int(rest[0])] = int(number)
        elif kind in {"goal", "choices"}:
            found["goals" if kind == "goal" else kind].append(int(number))
        elif not rest:
            found[kind] = int(number)
    return found, done.stdout


@pytest.mark.skipif(not COMPILERS, reason=NO_COMPILER)
@pytest.mark.slow_except("loop", "dead end")
@pytest.mark.parametrize("name", [*SMALL, "connectFour"])
def test_c_source_plays_the_games_of_the_core(name: str, tmp_path: Path) -> None:
    """It compiles without a warning, and counts the same from one seed."""
    game = game_of(name)
    program = compiled(c(game), tmp_path, "-march=native")
    words = ("-n", "1500", "--seed", "9", "--max-steps", str(limit_of(name)))
    found, text = run_program(program, *words)
    assert found == counted(game.network, 1500, 9, limit_of(name))
    if name == "dead end":
        assert "stuck in b (n 2)" in text


@pytest.mark.slow
@pytest.mark.skipif(not COMPILERS, reason=NO_COMPILER)
@pytest.mark.parametrize("name", games.names())
def test_c_source_of_every_bundled_game(name: str, tmp_path: Path) -> None:
    """As above, on all of them; chess has a quarter of a million operations."""
    game = herbrand.load(name)
    try:
        network = game.network
    except herbrand.BudgetExceeded:
        pytest.skip("no network")
    found, _ = run_program(compiled(c(game), tmp_path), "-n", "700", "--seed", "5", "--max-steps", "60")
    assert found == counted(network, 700, 5, 60)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in games.names() if name not in {"chess", "amazons", "hex"}])
def test_interpreting_every_bundled_game(name: str) -> None:
    """Interpreted programs play what the core plays on all games but the largest."""
    try:
        network = herbrand.load(name).network
    except herbrand.BudgetExceeded:
        pytest.skip("no network")
    played = InterpretedPlayouts(network, 40, 5, 12)
    assert _counts(played) | {"lengths": dict(sorted(played.lengths.items()))} == counted(network, 40, 5, 12)


@pytest.mark.skipif(not COMPILERS, reason=NO_COMPILER)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_c_source_is_the_same_for_all_compilers(compiler: str, tmp_path: Path) -> None:
    """With vectors or one word at a time."""
    source = c(herbrand.load("rockPaperScissors"))
    texts = set()
    for words in (1, 4):
        flags = (f"-DPART_WORDS={words}", *(["-Wno-psabi"] if words > 2 else []))
        texts.add(run_program(compiled(source, tmp_path, *flags, compiler=compiler), "-n", "2000")[1])
    assert len(texts) == 1


EMBEDDED = """
#define NIM_INTERFACE_ONLY
#include "nim.c"
#include <stdio.h>
int main(void) {
    nim_games *games = nim_new(3, 1000, 100);
    nim_counts counts;
    int i, steps = 0;
    while (nim_play(games, 1) == 0) ++steps;
    counts = nim_count(games);
    printf("%d %d %d\\n", (int)counts.played, (int)counts.transitions, steps);
    for (i = 0; i < NIM_GOALS; ++i)
        printf("%s %s %d\\n", nim_role[nim_goal[i].role], nim_goal[i].value, (int)counts.goal[i]);
    nim_free(games);
    return nim_new(3, -1, 100) != NULL;
}
"""


@pytest.mark.skipif(not COMPILERS, reason=NO_COMPILER)
def test_c_source_inside_another_program(tmp_path: Path) -> None:
    """As the comment at its top says."""
    game = herbrand.load("nim")
    (tmp_path / "nim.c").write_text(c(game), encoding="ascii")
    (tmp_path / "main.c").write_text(EMBEDDED)
    flags = [COMPILERS[0], "-std=c99", "-Wall", "-Wextra", "-Werror"]
    for file, defined in (("nim", ["-DNIM_NO_MAIN"]), ("main", [])):
        subprocess.run([*flags, *defined, "-c", f"{file}.c"], cwd=tmp_path, check=True, timeout=300)
    subprocess.run([*flags, "nim.o", "main.o", "-o", "main"], cwd=tmp_path, check=True, timeout=300)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True, timeout=60)
    first, *goals = done.stdout.splitlines()
    core = counted(game.network, 1000, 3, 100)
    played, transitions, steps = map(int, first.split())
    assert (played, transitions) == (1000, core["transitions"])
    assert steps >= max(core["lengths"])
    assert [int(line.split()[-1]) for line in goals] == core["goals"]


@pytest.mark.skipif(not COMPILERS, reason=NO_COMPILER)
def test_c_source_refuses_wrong_words(tmp_path: Path) -> None:
    """With a line of help and status 2."""
    program = compiled(c(herbrand.load("rockPaperScissors")), tmp_path)
    for words in (["-n"], ["-n", "-3"], ["-n", "3x"], ["--seed", ""], ["--games", "3"], ["--help"]):
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stdout) == (2, "")
        assert "usage" in done.stderr


@pytest.mark.skipif(not COMPILERS, reason=NO_COMPILER)
def test_c_source_of_names_that_c_cannot_read(tmp_path: Path) -> None:
    """Names of roles, fluents and games that would end a comment or a string, or are no identifiers."""
    sheet = r"""
        (role a*/b) (role x??/) (init (*/\\ %d ä))
        (<= (legal ?r ok) (role ?r)) (<= (legal a*/b /*) (role a*/b))
        (<= (next /*x) (true (*/\\ %d ä))) (<= terminal (true /*x)) (<= (goal ?r 50) (role ?r))"""
    game = herbrand.loads(sheet, name="42 ways */ out")
    found, text = run_program(compiled(c(game), tmp_path), "-n", "10")
    assert found["played"] == 10
    assert "goal a*/b 50 10" in text
    assert "goal x??/ 50 10" in text


def test_programs_of_other_numbers_of_bits_are_refused() -> None:
    """Functions have two or three bits."""
    network = herbrand.load("nim").network
    for make in (LaneProgram.playing, LaneProgram.evaluating):
        with pytest.raises(ValueError, match="two or three bits"):
            make(network, arity=4)


def test_convert_writes_programs_and_source(tmp_path: Path) -> None:
    """From the command line."""
    from click.testing import CliRunner

    from herbrand.cli.main import cli

    run = CliRunner().invoke(cli, ["convert", "nim", "--to", "lanes", "--program", "evaluating"])
    assert run.exit_code == 0
    assert "out r" in run.stdout
    assert "= terminal" in run.stdout
    run = CliRunner().invoke(cli, ["convert", "nim", "--to", "lanes"])
    assert "random 0" in run.stdout
    file = tmp_path / "nim.c"
    run = CliRunner().invoke(cli, ["convert", "nim", "--to", "c", "-o", os.fspath(file)])
    assert run.exit_code == 0
    assert file.read_text() == c(herbrand.load("nim")).rstrip("\n") + "\n"

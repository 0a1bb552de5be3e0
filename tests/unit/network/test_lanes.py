"""Lane programs: walked or with machine code, for any processor, they play the very same games."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import herbrand
from herbrand import core, games
from herbrand.core import Playouts, Stop
from herbrand.engine.expand import new_generator
from herbrand.network import LaneProgram

if TYPE_CHECKING:
    from collections.abc import Iterator

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
BOTH_AT_ONCE = """
    (role a) (role b) (init (step 1)) (init (step 2)) (succ 1 2) (succ 2 3)
    (move rock) (move paper) (move scissors)
    (<= (legal ?r ?m) (role ?r) (move ?m))
    (<= (next (chose ?r ?m)) (does ?r ?m))
    (<= terminal (true (chose ?r ?m)))
    (<= (goal ?r 100) (role ?r) (true (chose a ?m)) (true (chose b ?m)))
    (<= (goal ?r 0) (role ?r) (true (chose a ?m)) (not (true (chose b ?m))))"""


@pytest.fixture
def levels() -> Iterator[None]:
    """Whatever a test chooses is taken back."""
    before = core.level()
    yield
    core.use_level(before)
    core.allow_code(True)


def outcome(network: Network, playouts: int = 3000, *, walk: bool = False, max_steps: int = 60) -> Any:
    """Play some games; all that is counted of them."""
    played = Playouts(network.circuit, playouts, 5, max_steps, walk)
    assert played.play(60.0, Stop())
    return (
        *(played.played, played.transitions, played.truncated, played.stuck, played.stuck_role),
        *(played.lengths.tolist(), played.goals.tolist(), played.choices.tolist()),
    )


@pytest.mark.usefixtures("levels")
@pytest.mark.parametrize("name", ["connectFour", "liarsDice", "rockPaperScissors", "hex", "breakthrough"])
def test_every_back_end_plays_the_same_games(name: str) -> None:
    """The same seed gives the same games on every level of the processor, walked and with machine code."""
    network = herbrand.load(name).network
    found = {}
    for level in core.levels():
        core.use_level(level)
        for walk in (True, False):
            found[level, walk] = outcome(network, 600, walk=walk)
    assert len(set(map(str, found.values()))) == 1


@pytest.mark.slow_except
@pytest.mark.parametrize("name", [name for name in games.names() if name != "chess"])
def test_machine_code_plays_what_is_walked(name: str) -> None:
    """On all bundled games."""
    game = herbrand.load(name)
    try:
        network = game.network
    except herbrand.BudgetExceeded:
        pytest.skip("no network")
    assert outcome(network, 700, walk=True) == outcome(network, 700)


def test_loops_are_repeated_to_their_fixpoint() -> None:
    """What is recursive within a state: as by the rules."""
    game = herbrand.loads(CONNECTED)
    network = game.network
    assert len(network.loops)
    assert outcome(network) == outcome(network, walk=True)
    by_rules = game.simulate(4000, seed=1, engine="rules")
    by_network = game.simulate(4000, seed=1, engine="network")
    assert by_network.length["mean"] == pytest.approx(by_rules.length["mean"], abs=0.1)
    assert by_network.goals["r"].mean == pytest.approx(by_rules.goals["r"].mean, abs=5)


GUARDED = """
(role walker)
(place a) (place b) (place c) (place d)
(<= (base (wall ?x)) (place ?x))
(<= (base (at ?x)) (place ?x))
(<= (input walker (build ?x)) (place ?x))
(<= (input walker (go ?x)) (place ?x))
(init (at a))
(<= (legal walker (build ?x)) (place ?x))
(<= (legal walker (go ?x)) (place ?x))
(next_to a b) (next_to b c) (next_to c d) (next_to d a)
(<= (reached ?x) (true (at ?x)))
(<= (reached ?y) (reached ?x) (next_to ?x ?y) (not (true (wall ?y))))
(<= (next (wall ?x)) (true (wall ?x)))
(<= (next (wall ?x)) (does walker (build ?x)))
(<= (next (at ?x)) (does walker (go ?x)))
(<= (next (at ?x)) (true (at ?x)) (true (wall ?x)))
(<= terminal (reached c))
(<= (goal walker 100) (reached b))
(<= (goal walker 0) (not (reached b)))
"""
"""What is reached grows with fluents that are true, and with others that are false."""


@pytest.mark.parametrize("name", ["hex", "guarded"])
def test_loops_go_on_from_their_last_result_only_where_they_may(name: str) -> None:
    """Later states, earlier ones and those of other games, in any order and in any lane."""
    game = herbrand.load("hex") if name == "hex" else herbrand.loads(GUARDED)
    generator = np.random.default_rng(1)
    expander, words = game.expander, game.expander.words
    assert len(game.network.loops)
    if name == "hex":
        states = expander.core.rollouts(
            expander.initial, np.zeros(512, np.int64), new_generator(3), 60, last=True
        ).last
        paths = [expander.initial.repeat(512, axis=0), states, expander.initial.repeat(512, axis=0), states]
        blocks = [states[generator.permutation(512)] for _ in range(6)] + paths
    else:
        blocks = [generator.integers(0, 1 << expander.fluents, (512, words), np.uint64) for _ in range(20)]
    for block in blocks:
        fresh = type(expander)(game.network)
        assert np.array_equal(expander.terminal(block), fresh.terminal(block))
        assert np.array_equal(expander.goals(block), fresh.goals(block))


def test_roles_that_choose_at_once_draw_by_themselves() -> None:
    """A draw that serves several roles would have them always make the same move."""
    game = herbrand.loads(BOTH_AT_ONCE)
    played = game.simulate(9000, seed=3, engine="network")
    assert played.goals["a"].mean == pytest.approx(100 / 3, abs=3)
    assert outcome(game.network) == outcome(game.network, walk=True)


def test_a_limit_of_steps_ends_games() -> None:
    """Games that reach it count as truncated, and have that length."""
    network = herbrand.load("breakthrough").network
    played = Playouts(network.circuit, 2000, 1, 20)
    assert played.play(60.0, Stop())
    assert played.played == 2000
    lengths = played.lengths
    assert lengths[20] >= played.truncated > 1000
    assert not lengths[21:].any()
    assert played.ended + played.truncated == 2000


@pytest.mark.usefixtures("levels")
def test_without_an_encoder_programs_are_walked() -> None:
    """Where machine code is not allowed the games are the same, and it is said why."""
    expected = outcome(herbrand.load("nim").network)
    core.allow_code(False)
    assert "switched off" in core.why_no_code()
    program = core.playing_program(herbrand.game.load("nim").network.circuit)
    assert (program.code, program.code_bytes) == ("walked", 0)
    assert program.why_walked == core.why_no_code()
    assert outcome(herbrand.game.load("nim").network) == expected


RUN_REFUSED = """
import ctypes, struct, sys
import herbrand
from herbrand import core
from herbrand.core import Playouts, Stop
from herbrand.engine.expand import new_generator
from herbrand.network import LaneProgram

libc = ctypes.CDLL(None, use_errno=True)
numbers = {{"x86_64": (10, 0xC000003E), "aarch64": (226, 0xC00000B7)}}

def refuse_by_filter():
    # a filter of system calls (seccomp): mprotect with PROT_EXEC fails with EACCES
    import platform
    call, machine = numbers[platform.machine()]
    program = [(0x20, 0, 0, 4), (0x15, 0, 5, machine), (0x20, 0, 0, 0), (0x15, 0, 3, call),
               (0x20, 0, 0, 32), (0x45, 0, 1, 4), (0x06, 0, 0, 0x00050000 | 13), (0x06, 0, 0, 0x7FFF0000)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    class Filter(ctypes.Structure):
        _fields_ = [("size", ctypes.c_ushort), ("lines", ctypes.c_void_p)]
    found = Filter(len(program), ctypes.addressof(text))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(found), 0, 0):
        sys.exit(f"unsupported: seccomp, error {{ctypes.get_errno()}}")

def refuse_by_kernel():
    if libc.prctl(65, 1, 0, 0, 0):  # PR_SET_MDWE: memory that was written is never executed
        sys.exit(f"unsupported: PR_SET_MDWE, error {{ctypes.get_errno()}}")

network = herbrand.load("nim").network
before = core.playing_program(herbrand.load("ticTacToe").network.circuit).code if {late} else "walked"
{how}()
program = core.playing_program(network.circuit)
games = Playouts(network.circuit, 3000, 5, 60)
games.play(60.0, Stop())
print(before, program.code, games.code, core.why_no_code(), program.why_walked, network.circuit.why_walked, sep="|")
print(games.lengths.tolist(), games.goals.tolist(), games.choices.tolist())
from herbrand.cli.main import cli
for words in (["bench", "nim", "--seconds", "0.05"], ["--version", "--verbose"]):
    cli.main(words, standalone_mode=False)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux to refuse executable memory")
@pytest.mark.parametrize(
    ("how", "late"),
    [("refuse_by_filter", False), ("refuse_by_kernel", True)],
    ids=["by a filter at first", "by the kernel later"],
)
def test_where_executable_memory_is_refused_programs_are_walked(how: str, late: bool) -> None:
    """The games are the same, and programs, circuits, `bench` and `--version --verbose` say why."""
    text = RUN_REFUSED.format(how=how, late=late)
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=120
    )
    if done.stderr.startswith("unsupported"):
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    said, counted, *shown = done.stdout.splitlines()
    before, program, played, *reasons = said.split("|")
    refused = "the system refuses memory that can be executed"
    if "no encoder" in core.why_no_code():
        refused = core.why_no_code()
    else:
        assert before == ("walked" if not late else code_of("ticTacToe"))
    assert (program, played) == ("walked", "walked")
    assert reasons == [refused] * 3
    expected = outcome(herbrand.load("nim").network)
    assert counted == " ".join(map(str, expected[-3:]))
    assert f"nim: walked: {refused}" in shown
    assert any(line.endswith(f"none, programs are walked: {refused}") for line in shown)


def code_of(name: str) -> str:
    """What runs the program that plays a game here."""
    return core.playing_program(herbrand.load(name).network.circuit).code


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="no /proc/self/maps to read")
def test_memory_is_never_writable_and_executable_at_once() -> None:
    """While games are played, and while programs are made and freed."""

    def regions() -> list[str]:
        return [line.split()[1] for line in Path("/proc/self/maps").read_text().splitlines()]

    def executable() -> int:
        """Bytes."""
        lines = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
        ends = [where.split("-") for where, kind, *_ in lines if "x" in kind]
        return sum(int(end, 16) - int(begin, 16) for begin, end in ends)

    done = threading.Event()
    seen: list[list[str]] = []

    def watch() -> None:
        while not done.is_set():
            seen.append(regions())

    before = executable()
    watcher = threading.Thread(target=watch)
    watcher.start()
    programs = []
    for name in ("nim", "connectFour", "breakthrough"):
        network = herbrand.game.load(name).network
        programs.append(core.playing_program(network.circuit))
        outcome(network, 600)
    done.set()
    watcher.join()
    assert len(seen) > 10
    assert not [kind for found in seen for kind in found if "w" in kind and "x" in kind]
    assert executable() >= before + sum(program.code_bytes for program in programs)


def test_a_call_ends_when_told() -> None:
    """By its seconds, and by a stop that is set before."""
    network = herbrand.load("connectFour").network
    games_left = Playouts(network.circuit, 1 << 40, 1, 100)
    assert not games_left.play(0.05, Stop())
    some = games_left.played
    assert some > 0
    stop = Stop()
    stop.set()
    assert not games_left.play(60.0, stop)


@pytest.mark.parametrize(
    "wrong",
    [
        {"left": np.array([10**6], np.int32)},
        {"terminal": -1},
        {"legal": np.zeros(3, np.int32)},
        {"loops": np.array([[0, 5, 0, 1]], np.int32)},
        {"cones": [5, 1, 0]},
        {"goal_value": np.array([101], np.int16)},
    ],
)
def test_a_wrong_circuit_is_refused(wrong: dict[str, Any]) -> None:
    """Numbers out of range are errors, never crashes."""
    none = np.zeros(0, np.int32)
    right: dict[str, Any] = {
        "fluents": 2, "roles": 1, "left": np.array([2], np.int32), "right": np.array([4], np.int32),
        "feedback": none, "loops": np.zeros((0, 4), np.int32), "legal": np.array([1], np.int32),
        "move_role": np.zeros(1, np.int32),
        "next": np.array([8, 3], np.int32), "terminal": 2, "goal": np.array([8], np.int32),
        "goal_role": np.zeros(1, np.int32), "goal_value": np.array([50], np.int16), "sees": none,
        "sees_role": none, "initial": np.zeros(1, np.uint64), "cones": [1, 1, 1],
    }  # fmt: skip
    core.make_circuit(**right)
    with pytest.raises(ValueError, match="no circuit"):
        core.make_circuit(**(right | wrong))
    with pytest.raises(TypeError):
        core.make_circuit(**(right | {"left": np.array([2.0])}))


def places(network: Network, *, assume: bool = True) -> list[tuple[tuple[int, ...], int, int]]:
    """Return the roles, the places and the bits of each choice on a network."""
    play = LaneProgram.playing(network, assume=assume).play
    assert play is not None
    return [(choice.roles, choice.places, len(choice.count)) for choice in play.choices]


def test_moves_that_exclude_each_other_share_a_place() -> None:
    """Roles that take turns choose by one tree; those that move at once have one each."""
    assert places(herbrand.load("connectFour").network) == [((0, 1), 7, 3)]
    assert places(herbrand.load("rockPaperScissors").network) == [((0,), 3, 2), ((1,), 3, 2)]


LATE = """
    (role r) (init (step 0)) (init (at 1)) {steps}
    (<= (legal r (go ?p)) (true (at ?p)))
    (<= (legal r (stay ?p)) (true (at ?p)))
    (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
    (<= (next (at 1)) (true (at 2)) (does r (go 2)))
    (<= (next (at 1)) (true (at 1)) (does r (stay 1)))
    (<= (next (at 2)) (true (at 1)) (does r (go 1)))
    (<= (next (at 2)) (true (at 2)) (does r (stay 2)))
    (<= (next (at 1)) (true (step 300)))
    (<= (next (at 2)) (true (step 300)))
    (<= (next (won)) (true (step 301)) (does r (go 1)))
    (<= terminal (true (step 302)))
    (<= (goal r 100) (true (won)))
    (<= (goal r 0) (not (true (won))))"""


def test_what_is_taken_for_granted_is_checked_in_every_step() -> None:
    """Two places are never taken at once, until step 301: then another program takes over."""
    steps = " ".join(f"(succ {n} {n + 1})" for n in range(302))
    game = herbrand.loads(LATE.replace("{steps}", steps))
    circuit = game.network.circuit
    assert places(game.network) == [((0,), 2, 2)]
    assert places(game.network, assume=False) == [((0,), 4, 3)]
    played = Playouts(circuit, 4096, 1, 400)
    assert played.play(60.0, Stop())
    assert played.conflicts == 1
    assert played.lengths.nonzero()[0].tolist() == [302]
    # of four moves that are legal then, one wins
    assert played.goals.max() == pytest.approx(4096 * 3 / 4, rel=0.05)
    assert played.goals.min() == pytest.approx(4096 / 4, rel=0.15)
    # two moves in every step but the 302nd, in which there are four
    assert played.choices.tolist() == [4096 * (2 * 301 + 4)]
    assert outcome(game.network, 600, max_steps=400) == outcome(game.network, 600, walk=True, max_steps=400)

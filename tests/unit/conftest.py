"""Fixtures: positions to play from, players in processes of their own, the published JSON schemas."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import herbrand
from herbrand.match.protocol.processes import parse_port, player_command
from herbrand.play.learning import learn_judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from herbrand.machine.state import State
    from herbrand.play.learning import LearnedJudge


def _work_begins(process: subprocess.Popen[Any]) -> None:
    stat = Path(f"/proc/{process.pid}/stat")
    if not stat.is_file():
        time.sleep(3)
        return
    until, spent = time.monotonic() + 60, 0.0
    while spent < 0.7 and time.monotonic() < until:
        time.sleep(0.05)
        spent = sum(map(int, stat.read_text(encoding="ascii").rpartition(")")[2].split()[11:13]))
        spent /= os.sysconf("SC_CLK_TCK")


@pytest.fixture
def work_begins() -> Callable[[subprocess.Popen[Any]], None]:
    """Wait until a command that will be at work for long has started, told by the processor time it has used."""
    return _work_begins


@pytest.fixture
def about_to_win() -> State:
    """Tic-tac-toe: `xplayer` wins now with `(mark 1 3)`, and only so."""
    state = herbrand.load("ticTacToe").initial_state()
    for joint in (
        ("(mark 1 1)", "noop"),
        ("noop", "(mark 2 1)"),
        ("(mark 1 2)", "noop"),
        ("noop", "(mark 2 2)"),
    ):
        state = state.next(joint)
    return state


@pytest.fixture(scope="session")
def small_connect_four() -> herbrand.Game:
    """Connect four on five columns of four."""
    return herbrand.load("connectFour.ggd", parameters={"Columns": 5, "Rows": 4})


@pytest.fixture(scope="session")
def learned() -> tuple[herbrand.Game, LearnedJudge]:
    """Breakthrough, and what is learned for white from its random games."""
    game = herbrand.load("breakthrough")
    return game, learn_judge(game.expander, 0, seed=1, deadline=time.monotonic() + 120)


@pytest.fixture
def random_state() -> Callable[[herbrand.Game, int, int], State]:
    """`random_state(game, steps, seed)` is the state after some random joint moves, not terminal."""

    def reached(game: herbrand.Game, steps: int, seed: int) -> State:
        chance = random.Random(seed)
        state = game.initial_state()
        for _ in range(steps):
            after = state.next([chance.choice(legal) for legal in state.legal_moves().values()])
            if after.is_terminal:
                break
            state = after
        return state

    return reached


@pytest.fixture
def tree_memory() -> Callable[[int], float]:
    """`tree_memory(pid)`: the sum of the most megabytes that a process and each of its descendants have had."""

    def measured(pid: int) -> float:
        children: dict[int, list[int]] = {}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with suppress(OSError):  # it has ended
                    status = (folder / "stat").read_text(encoding="ascii", errors="replace")
                    parent = int(status.rpartition(")")[2].split()[1])
                    children.setdefault(parent, []).append(int(folder.name))
        total, family = 0.0, [pid]
        while family:
            member = family.pop()
            family += children.get(member, [])
            with suppress(OSError):
                status = Path(f"/proc/{member}/status").read_text(encoding="ascii", errors="replace")
                most = re.search(r"VmHWM:\s+(\d+)", status)
                total += int(most[1]) / 1024 if most else 0.0
        return total

    return measured


@pytest.fixture
def player_process(tmp_path: Path) -> Callable[..., AbstractContextManager[tuple[int, int, Path]]]:
    """`with player_process("legal", "--seed", "1") as (port, pid, log)`; an interrupt ends it as it should."""

    @contextmanager
    def started(player: str, *options: str) -> Iterator[tuple[int, int, Path]]:
        log = tmp_path / "player.log"
        if "--memory" not in options:
            options = (*options, "--memory", "300")
        with log.open("w") as file:
            process = subprocess.Popen(
                player_command(player, *options), stderr=file, env={**os.environ, "NO_COLOR": "1"}
            )
        try:
            until = time.monotonic() + 60
            while (port := parse_port(log.read_text(encoding="utf-8"))) is None and time.monotonic() < until:
                time.sleep(0.05)
            assert port is not None
            yield port, process.pid, log
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=20) == 130

    return started


@pytest.fixture
def fits_schema() -> Callable[[Any, str], None]:
    """Return a function that asserts that a value is as a schema of `docs/reference/schemas` says."""
    jsonschema = pytest.importorskip("jsonschema")

    def check(value: Any, name: str) -> None:
        file = Path(__file__).parents[2] / "docs" / "reference" / "schemas" / f"{name}.schema.json"
        schema = json.loads(file.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft202012Validator(schema).validate(value)

    return check

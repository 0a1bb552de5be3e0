"""The first match on a machine: nothing is there from before, and nothing may be left behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from herbrand.match.protocol.processes import parse_port, player_command

if TYPE_CHECKING:
    from collections.abc import Iterator

SMALL = 80
"""Megabytes of a player that has searched, without its tree."""
FEW = 5_000
"""Random games in a second that no player at full strength plays so few of, on whatever machine."""
PLAYING = """
import json
import time

import herbrand
from herbrand.play import make_player

game = herbrand.load("connectFour")
played = []
for _ in range(2):
    player = make_player("mcts", seed=1)
    player.start(game, "red", 1.0)
    state = game.initial_state()
    before = time.process_time()
    move = player.select(state, 1.0)
    spent = time.process_time() - before
    played.append([player.report().visits, spent, state.is_legal("red", move)])
    player.stop()
print(json.dumps(played))
"""


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a process whose home and cache are empty and cannot be written to."""
    cache, home = tmp_path / "cache", tmp_path / "home"
    for folder in (cache, home):
        folder.mkdir(mode=0o500)
    yield {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(cache), "NO_COLOR": "1"}
    assert [*cache.iterdir(), *home.iterdir()] == []  # the superuser could have written


def test_the_first_move_of_a_process_is_searched_at_full_strength(fresh: dict[str, str]) -> None:
    """A player makes as many random games for its first move as others, later in the same process, for theirs."""
    words = [sys.executable, "-c", PLAYING]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, env=fresh)
    assert (ended.returncode, ended.stderr) == (0, "")
    played = json.loads(ended.stdout)
    assert all(is_legal for _, _, is_legal in played)
    first, *others = [
        visits / seconds for visits, seconds, _ in played
    ]  # of the processor: others use it, too
    assert first > FEW
    assert first > max(others) / 4


def test_the_first_match_of_a_process_is_played_in_time(fresh: dict[str, str], tmp_path: Path) -> None:
    """Over the network, with short clocks: no move is late or illegal, and nothing is said but who plays."""
    log = tmp_path / "player.log"
    with log.open("w") as file:
        player = subprocess.Popen(player_command("mcts", "--seed", "1"), stderr=file, env=fresh)
    try:
        until = time.monotonic() + 120
        while (port := parse_port(log.read_text(encoding="utf-8"))) is None and time.monotonic() < until:
            time.sleep(0.05)
        assert port is not None
        small = ["connectFour.ggd", "--param", "Columns=4", "--param", "Rows=4"]
        words = [*small, "--player", f"127.0.0.1:{port}", "--player", "random", "--seed", "1"]
        clocks = ["--start-clock", "2", "--play-clock", "1"]
        manager = [sys.executable, "-m", "herbrand", "match", *words, *clocks, "--json"]
        ended = subprocess.run(manager, capture_output=True, text=True, timeout=300, check=False, env=fresh)
        assert (ended.returncode, ended.stderr) == (0, "")
        match = json.loads(ended.stdout)
        assert match["problems"] == []
        assert sum(match["goals"].values()) == 100  # it came to its end
        until = time.monotonic() + 60
        while megabytes(player.pid) > SMALL and time.monotonic() < until:  # it lets go of its tree
            time.sleep(0.05)
        assert megabytes(player.pid) <= SMALL
    finally:
        player.send_signal(signal.SIGINT)
        assert player.wait(timeout=60) == 130
    said = log.read_text(encoding="utf-8").splitlines()
    assert len(said) == 4, said
    assert said[1].endswith("plays red (roles: red, yellow)")
    assert "over: red " in said[2]
    assert said[3] == "interrupted"


def megabytes(pid: int) -> float:
    """The memory of a process now; 0 where the system does not tell."""
    status = Path(f"/proc/{pid}/status")
    found = re.search(r"VmRSS:\s+(\d+)", status.read_text(encoding="ascii")) if status.is_file() else None
    return int(found[1]) / 1024 if found else 0.0

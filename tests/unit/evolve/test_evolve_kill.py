"""The command is killed in the middle of a search, and goes on as if nothing had been."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill so"),
]
BATCH = 16


def command(folder: Path) -> list[str]:
    """Two batches of games of tricks, looked at in one process."""
    return [
        *(sys.executable, "-m", "herbrand", "evolve", "--out", str(folder), "--seed", "5"),
        *("--family", "tricks", "--batches", "2", "--jobs", "1"),
    ]


def games(folder: Path) -> list[dict[str, Any]]:
    """What was found, without what a clock decided: how much was proved in time, and seconds."""
    found = json.loads((folder / "games.json").read_text(encoding="utf-8"))
    return [{**game, "seconds": {}, "proofs": {}} for game in found]


def kept(folder: Path) -> int:
    """How many candidates are in the database."""
    try:
        with sqlite3.connect(f"file:{folder / 'search.db'}?mode=ro", uri=True) as database:
            return int(database.execute("select count(*) from candidates").fetchone()[0])
    except sqlite3.Error:
        return 0


def group_lives(group: int) -> bool:
    """Whether there is any process left in a group."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_killed_search_goes_on(tmp_path: Path) -> None:
    """After SIGKILL nothing that was finished is lost, no process stays, and the same archive is found."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run(command(whole), check=True, capture_output=True, timeout=600)
    with subprocess.Popen(
        command(killed), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        end = time.monotonic() + 600
        while kept(killed) < BATCH and time.monotonic() < end:
            time.sleep(0.05)
        process.kill()
        assert process.wait(60) == -signal.SIGKILL
    assert kept(killed) == BATCH
    end = time.monotonic() + 60
    while group_lives(process.pid) and time.monotonic() < end:
        time.sleep(0.1)
    assert not group_lives(process.pid)
    assert not (killed / "games.json").exists()
    again = subprocess.run(command(killed), check=True, capture_output=True, text=True, timeout=600)
    assert f"resuming after {BATCH} candidates" in again.stderr
    assert kept(killed) == 2 * BATCH
    assert games(killed) == games(whole) != []

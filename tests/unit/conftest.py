"""Fixtures for tests that meet players in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from herbrand.ggp.processes import player_words, port_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path


@pytest.fixture
def player_process(tmp_path: Path) -> Callable[..., AbstractContextManager[tuple[int, int, Path]]]:
    """`with player_process("legal", "--seed", "1") as (port, pid, log)`; an interrupt ends it as it should."""

    @contextmanager
    def started(player: str, *options: str) -> Iterator[tuple[int, int, Path]]:
        log = tmp_path / "player.log"
        with log.open("w") as file:
            process = subprocess.Popen(
                player_words(player, *options), stderr=file, env={**os.environ, "NO_COLOR": "1"}
            )
        try:
            until = time.monotonic() + 60
            while (port := port_in(log.read_text(encoding="utf-8"))) is None and time.monotonic() < until:
                time.sleep(0.05)
            assert port is not None
            yield port, process.pid, log
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=20) == 130

    return started

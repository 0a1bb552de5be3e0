"""`ProcessSeat`: a player of herbrand in a process of its own.

The process is `herbrand player` on a free port of this machine, so that whatever the player does, it
cannot take the manager down: one that crashes or hangs is a player that does not answer.  Starting the
process is not counted against a clock.  It ends with the manager, also one that is killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
from typing import TYPE_CHECKING

from herbrand.match.protocol.seats import Exchange, RemoteSeat

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.match.protocol.messages import StartMessage

__all__ = ["ProcessSeat", "player_words", "port_in"]

START_SECONDS = 60.0
"""How long the process may take until it listens."""


def player_words(player: str, *options: str) -> list[str]:
    """Return the words of the command that starts a player on a free port, which it says first of all."""
    return [sys.executable, "-m", "herbrand", "player", "--port", "0", "--player", player, *options]


def port_in(line: str) -> int | None:
    """Return the port that the first line of a player names; None when it says something else.

    >>> port_in("mcts plays on 127.0.0.1:9147; interrupt to stop")
    9147
    """
    port = re.search(r":([0-9]+);", line)
    return None if port is None else int(port[1])


class ProcessSeat(RemoteSeat):
    """A seat whose player is started with the match and ended after it."""

    remembers = False

    def __init__(self, player: str, *, name: str | None = None, seed: int | None = None) -> None:
        super().__init__("127.0.0.1", 0, name=name or f"process:{player}")
        self.player = player
        self.seed = seed
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """The number of the process, while there is one."""
        return None if self._process is None else self._process.pid

    async def begin(self, game: Game, message: StartMessage, *, seconds: float) -> Exchange:
        """Start the process, then send START."""
        await self._end()
        words = player_words(self.player, "--until-eof")
        if self.seed is not None:
            words += ["--seed", str(self.seed)]
        try:
            async with asyncio.timeout(START_SECONDS):
                self._process = await asyncio.create_subprocess_exec(
                    *words,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=asyncio.subprocess.PIPE,
                )
                assert self._process.stderr is not None
                first = (await self._process.stderr.readline()).decode(errors="replace")
        except (OSError, ValueError, TimeoutError) as error:
            return Exchange(None, "failed", 0.0, (f"the player did not start: {error}",))
        port = port_in(first)
        if port is None:
            return Exchange(None, "failed", 0.0, (f"the player did not start: {first.strip()[:200]}",))
        self.port = port
        self._reading = asyncio.create_task(_drain(self._process.stderr))
        return await super().begin(game, message, seconds=seconds)

    async def close(self) -> None:
        """End the process."""
        await self._end()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if self._reading is not None:
            self._reading.cancel()
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _drain(stream: asyncio.StreamReader) -> None:
    """Read on, so that a player that writes much does not wait for a reader."""
    while await stream.read(65536):
        pass

"""`ProcessSeat`: a player in a subprocess.

The subprocess runs `herbrand player` on a free local port: a player that crashes or hangs merely fails to
answer, and cannot take the manager down.  Starting the process does not count against a clock.  It ends with
the manager, even if that is killed.  It asks for a token, so that no other user of the computer can play it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from typing import TYPE_CHECKING

from herbrand.match.protocol.seats import Exchange, RemoteSeat
from herbrand.runtime.tokens import TOKEN_VARIABLE, new_token

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.match.protocol.messages import StartMessage

__all__ = ["ProcessSeat", "parse_port", "player_command"]

MEGABYTES = 300
"""Memory limit of the process: there may be several on the machine."""
START_SECONDS = 60.0
"""How long the process may take to start listening."""


def player_command(player: str, *options: str) -> list[str]:
    """Return the command that starts a player on a free port, which its first line of output names."""
    return [sys.executable, "-m", "herbrand", "player", "--port", "0", "--player", player, *options]


def parse_port(line: str) -> int | None:
    """Return the port that a player's first line of output names; None for any other line.

    >>> parse_port("mcts plays on 127.0.0.1:9147; interrupt to stop")
    9147
    """
    port = re.search(r":([0-9]+);", line)
    return None if port is None else int(port[1])


class ProcessSeat(RemoteSeat):
    """A seat whose player process lives for one match.

    With `ponder` its player thinks while others do: for seats that have processors of their own.
    """

    remembers = False

    def __init__(
        self, player: str, *, name: str | None = None, seed: int | None = None, ponder: bool = False
    ) -> None:
        super().__init__("127.0.0.1", 0, name=name or f"process:{player}", token=new_token())
        self.player = player
        self.seed = seed
        self.ponder = ponder
        self._process: asyncio.subprocess.Process | None = None
        self._drainer: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """The process id, while the process runs."""
        return None if self._process is None else self._process.pid

    async def begin(self, game: Game, message: StartMessage, *, seconds: float) -> Exchange:
        """Start the process, then send START."""
        await self.close()
        command = player_command(self.player, "--until-eof", "--ponder" if self.ponder else "--no-ponder")
        command += ["--memory", str(MEGABYTES)]
        if self.seed is not None:
            command += ["--seed", str(self.seed)]
        try:
            async with asyncio.timeout(START_SECONDS):
                self._process = await asyncio.create_subprocess_exec(
                    *command,
                    env={**os.environ, TOKEN_VARIABLE: self.token},
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=asyncio.subprocess.PIPE,
                )
                assert self._process.stderr is not None
                first = (await self._process.stderr.readline()).decode(errors="replace")
        except (OSError, ValueError, TimeoutError) as error:
            return Exchange(None, "failed", 0.0, (f"the player did not start: {error}",))
        port = parse_port(first)
        if port is None:
            return Exchange(None, "failed", 0.0, (f"the player did not start: {first.strip()[:200]}",))
        self.port = port
        self._drainer = asyncio.create_task(_drain(self._process.stderr))
        return await super().begin(game, message, seconds=seconds)

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if self._drainer is not None:
            self._drainer.cancel()
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _drain(stream: asyncio.StreamReader) -> None:
    """Discard output, so that a verbose player does not block on a full pipe."""
    while await stream.read(65536):
        pass

"""`HumanSeat`: a seat for a person at the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sys
import threading
import time
from functools import cache
from typing import TYPE_CHECKING

from herbrand.cli.output import columns, count, painter, result
from herbrand.cli.play import matching_moves
from herbrand.errors import HerbrandError
from herbrand.match.protocol.messages import AbortMessage, PlayMessage, StopMessage, TurnMessage
from herbrand.match.protocol.seats import Exchange
from herbrand.match.protocol.view import MatchView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.match.protocol.messages import Message, StartMessage

__all__ = ["HumanSeat"]

_SHOWN = 60


class _Lines:
    """Lines from standard input, read by a daemon thread."""

    def __init__(self) -> None:
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self.turn = asyncio.Lock()
        """Held while a person is asked, so that prompts do not interleave."""

    async def line(self, prompt: str) -> str | None:
        """Return the next line; None at the end of input."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._read, name="keyboard", daemon=True)
            self._thread.start()
        sys.stdout.write(prompt)
        sys.stdout.flush()
        while True:
            try:
                return self._lines.get_nowait()
            except queue.Empty:
                await asyncio.sleep(0.05)

    def forget(self) -> None:
        """Discard terminal input for a prompt that timed out; input from files is kept."""
        if not sys.stdin.isatty():
            return
        with contextlib.suppress(ImportError):  # without termios a partial line remains
            import termios

            with contextlib.suppress(termios.error):
                termios.tcflush(sys.stdin, termios.TCIFLUSH)
        with contextlib.suppress(queue.Empty):
            while True:
                self._lines.get_nowait()

    def _read(self) -> None:
        try:
            for line in sys.stdin:
                self._lines.put(line)
        except (OSError, ValueError):
            pass
        while True:  # signal the end of input to every later call
            self._lines.put(None)
            time.sleep(0.1)


@cache
def _lines() -> _Lines:
    return _Lines()


class HumanSeat:
    """Shows a person the information of a role, and asks for moves until the input is clear or time is up."""

    remembers = False

    def __init__(self, *, name: str = "human") -> None:
        self.name = name
        self._view: MatchView | None = None

    async def begin(self, game: Game, message: StartMessage, *, seconds: float) -> Exchange:
        """Announce the role."""
        del seconds
        self._view = MatchView(game, message.role)
        result(f"you play {message.role}, with {count(message.play_clock, 'second')} for each move")
        return Exchange("ready", None, 0.0)

    async def tell(self, message: Message, *, seconds: float) -> Exchange:
        """Follow the match."""
        self._follow(message, seconds)
        return Exchange("informed", None, 0.0)

    async def ask(self, message: Message, *, seconds: float) -> Exchange:
        """Ask the person for a move."""
        view = self._view
        if isinstance(message, AbortMessage | StopMessage) or (
            isinstance(message, TurnMessage) and message.over
        ):
            return Exchange("done", None, 0.0)
        if view is None or not isinstance(message, PlayMessage | TurnMessage):
            return Exchange("busy", None, 0.0)
        started = time.monotonic()
        try:
            self._follow(message, seconds)
            legal = view.state.legal_moves(view.role)
            if len(legal) == 1:
                view.record_answer(legal[0])
                return Exchange(str(legal[0]), None, time.monotonic() - started)
            async with asyncio.timeout(seconds), _lines().turn:
                move = await self._choose(view, legal, message)
        except TimeoutError:
            _lines().forget()
            result("\nout of time")
            return Exchange(None, "timeout", time.monotonic() - started, ("no move in time",))
        except HerbrandError as error:
            return Exchange(None, "failed", time.monotonic() - started, (str(error),))
        if move is None:
            return Exchange(None, "failed", time.monotonic() - started, ("end of standard input",))
        view.record_answer(move)
        return Exchange(str(move), None, time.monotonic() - started)

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _follow(self, message: Message, seconds: float) -> None:
        assert self._view is not None
        if isinstance(message, PlayMessage | TurnMessage):
            self._view.apply(message, seconds=min(5.0, 0.2 * seconds))

    async def _choose(
        self, view: MatchView, legal: Sequence[Move], message: PlayMessage | TurnMessage
    ) -> Move | None:
        if isinstance(message, TurnMessage):  # the state of the view is only a sample
            seen = " ".join(message.percepts or ()) or "nothing"
            result(f"\n{view.role} saw {seen}\n")
        else:
            result(f"\n{view.game.artist.text(view.state, paint=painter())}\n")
        if len(legal) <= _SHOWN:
            width = len(str(len(legal)))
            result(f"{view.role} can play")
            result(columns((f"{i:>{width}} {m}" for i, m in enumerate(legal, start=1)), indent="  "))
        else:
            result(f"{view.role} has {count(len(legal), 'legal move')}: type part of one")
        while True:
            line = await _lines().line(f"{view.role}> ")
            if line is None:
                return None
            matches = matching_moves(line.strip(), legal)
            if len(matches) == 1:
                return matches[0]
            if matches:
                result(f"which one?\n{columns(map(str, matches[:_SHOWN]), indent='  ')}")
            elif line.strip():
                result(f"no legal move contains `{line.strip()[:60]}`")

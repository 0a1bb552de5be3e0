"""`check_player`: test a player against the contract of `herbrand.play.Player` in one game."""

from __future__ import annotations

import json
import random
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from herbrand.analyse.knowledge.histories import HistoryStep
from herbrand.machine.moves import Move
from herbrand.play import make_player

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.game import Game
    from herbrand.machine.state import State
    from herbrand.play import Player

__all__ = ["PlayerCheck", "check_player"]


@dataclass
class PlayerCheck:
    """The result of a check; `problems` is empty if the player passed."""

    player: str
    game: str
    steps: int = 0
    """Number of joint moves made."""
    moves: int = 0
    """Number of moves requested from the player."""
    latest: float = 0.0
    """Largest delay of an answer beyond its clock, in seconds."""
    problems: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether there are no problems."""
        return not self.problems


def check_player(
    player_name: str,
    game: Game,
    *,
    start_clock: float = 5.0,
    clock: float = 0.1,
    steps: int = 30,
    grace: float = 0.05,
    seed: int = 1,
) -> PlayerCheck:
    """Let a player play all roles of a game, and check its answers.

    Each role but chance has its own instance, for at most `steps` joint moves; the first move has a clock of
    0 seconds, and finally a player is stopped while it thinks.  Answers must be legal moves in time (at most
    `grace` seconds late, not counting time in which other processes had the processor); reports must be for
    the right role and convertible to JSON.  Exceptions are problems.  In games with percepts, players get
    their histories.
    """
    check = PlayerCheck(player_name, game.name)
    chance = random.Random(seed)
    players: dict[str, Player] = {}
    for place, role in enumerate(game.players):
        players[role] = make_player(player_name, seed=seed + place)
        start = partial(players[role].start, game, role, start_clock)
        if not _time_call(check, f"start as {role}", start_clock, grace, start):
            return check
    state = game.initial_state("rules")
    histories: dict[str, list[HistoryStep]] = {role: [] for role in players}
    while not state.is_terminal and check.steps < steps:
        joint: dict[str, Move] = {}
        for role, legal in state.legal_moves().items():
            if not legal:
                return check  # an error in the game
            joint[role] = chance.choice(legal)
        for role, player in players.items():
            player.receive_history(tuple(histories[role]))
            move = _request_move(check, player, role, state, clock if check.steps else 0.0, grace)
            if move is None:
                return check
            joint[role] = move
        if game.has_percepts:
            for role in players:
                seen = state.percepts(joint, role)
                histories[role].append(HistoryStep(Move(str(joint[role])).gdl, frozenset(seen)))
        state = state.next(joint)
        check.steps += 1
    if not state.is_terminal:
        _check_stop(check, players, histories, state)
    for player in players.values():
        player.stop()
    return check


def _request_move(
    check: PlayerCheck, player: Player, role: str, state: State, clock: float, grace: float
) -> Move | None:
    """Request a move; None if there was none or it was illegal."""
    answer: list[Move] = []
    where = f"step {check.steps + 1} as {role}"
    if not _time_call(check, where, clock, grace, lambda: answer.append(player.select(state, clock))):
        return None
    check.moves += 1
    move = answer[0]
    if not state.is_legal(role, move):
        check.problems.append(f"{where}: `{move}` is not legal")
        return None
    try:
        report = player.report()
        if report is not None and report.moves:
            json.dumps(report.as_json())
            str(report)
            if report.role != role:
                check.problems.append(f"{where}: the report is for {report.role}")
    except Exception as error:  # noqa: BLE001  # any exception is a problem of the player
        check.problems.append(f"{where}: the report raised {type(error).__name__}: {error}")
    return move


def _time_call(
    check: PlayerCheck, where: str, clock: float, grace: float, call: Callable[[], object]
) -> bool:
    """Time a call and record its delay; return False if it raised an exception."""
    waited = _waited()  # before the clock starts, since this can wait for the interpreter lock
    started, used = time.monotonic(), time.process_time()
    try:
        call()
    except Exception as error:  # noqa: BLE001  # any exception is a problem of the player
        check.problems.append(f"{where}: {type(error).__name__}: {error}")
        return False
    late = time.monotonic() - started - clock
    if late > grace:  # do not count time lost to other processes
        others = sum(seconds - waited.get(thread, 0.0) for thread, seconds in _waited().items())
        late = min(late - others, time.process_time() - used - clock)
    check.latest = max(check.latest, late)
    if late > grace:
        check.problems.append(f"{where}: {late:.3f} s late after a clock of {clock:g} s")
    return True


def _waited() -> dict[str, float]:
    """Return the seconds that each thread has waited for a processor; empty if the system does not tell.

    All threads count, since this thread may wait for the interpreter lock while the holder waits for a
    processor.
    """
    seconds = {}
    for path in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError, ValueError, IndexError):
            seconds[path.parent.name] = int(path.read_text(encoding="ascii").split()[1]) / 1e9
    return seconds


def _check_stop(
    check: PlayerCheck, players: dict[str, Player], histories: dict[str, list[HistoryStep]], state: State
) -> None:
    """Stop a player that has a minute to think; it must answer within ten seconds."""
    role = next((r for r in players if len(state.legal_moves(r)) > 1), None)
    if role is None:
        return
    player = players[role]
    player.receive_history(tuple(histories[role]))
    timer = threading.Timer(0.1, player.stop)
    timer.start()
    started = time.monotonic()
    try:
        player.select(state, 60.0)
    except Exception as error:  # noqa: BLE001  # any exception is a problem of the player
        check.problems.append(f"when stopped: {type(error).__name__}: {error}")
    timer.join()
    if time.monotonic() - started > 10.0:
        check.problems.append("it continued to think after it was stopped")

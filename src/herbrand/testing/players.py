"""`check_player`: does a player do what `herbrand.play.Player` promises, in one game?"""

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
    """What came out; `problems` is empty when the player passed."""

    player: str
    game: str
    steps: int = 0
    """Joint moves made."""
    moves: int = 0
    """Moves that the player was asked for."""
    latest: float = 0.0
    """Seconds that an answer came after its clock had run out, at worst."""
    problems: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether nothing was wrong."""
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
    """Let a player play all roles of a game, and look at what it answers.

    Every role but chance is played by a player of its own, for at most `steps` joint moves; then one
    is asked with a clock of 0 seconds, and one is stopped while it thinks.  What is checked: answers are
    legal moves, in time (at most `grace` seconds after the clock, less the time that others had the
    processor), and a report is about the move that was made and can be written as
    JSON.  What a player raises is a problem.  Players are told what they saw where the rules hide something.
    """
    found = PlayerCheck(player_name, game.name)
    chance = random.Random(seed)
    players: dict[str, Player] = {}
    for place, role in enumerate(game.players):
        players[role] = make_player(player_name, seed=seed + place)
        start = partial(players[role].start, game, role, start_clock)
        if not _timed(found, f"start as {role}", start_clock, grace, start):
            return found
    state = game.initial_state("rules")
    histories: dict[str, list[HistoryStep]] = {role: [] for role in players}
    while not state.is_terminal and found.steps < steps:
        joint: dict[str, Move] = {}
        for role, legal in state.legal_moves().items():
            if not legal:
                return found  # a fault of the game
            joint[role] = chance.choice(legal)
        for role, player in players.items():
            player.told(tuple(histories[role]))
            move = _asked(found, player, role, state, clock if found.steps else 0.0, grace)
            if move is None:
                return found
            joint[role] = move
        if game.has_percepts:
            for role in players:
                seen = state.percepts(joint, role)
                histories[role].append(HistoryStep(Move(str(joint[role])).gdl, frozenset(seen)))
        state = state.next(joint)
        found.steps += 1
    if not state.is_terminal:
        _stopped(found, players, histories, state)
    for player in players.values():
        player.stop()
    return found


def _asked(
    found: PlayerCheck, player: Player, role: str, state: State, clock: float, grace: float
) -> Move | None:
    """Ask for a move; None if there is none to go on with."""
    answer: list[Move] = []
    where = f"step {found.steps + 1} as {role}"
    if not _timed(found, where, clock, grace, lambda: answer.append(player.select(state, clock))):
        return None
    found.moves += 1
    move = answer[0]
    if not state.is_legal(role, move):
        found.problems.append(f"{where}: `{move}` is not legal")
        return None
    try:
        report = player.report()
        if report is not None and report.moves:
            json.dumps(report.as_json())
            str(report)
            if report.role != role:
                found.problems.append(f"{where}: the report is for {report.role}")
    except Exception as error:  # noqa: BLE001  # whatever it is, it is a problem of the player
        found.problems.append(f"{where}: the report raised {type(error).__name__}: {error}")
    return move


def _timed(found: PlayerCheck, where: str, clock: float, grace: float, call: Callable[[], object]) -> bool:
    """Make a call and note how late it came back; return whether it raised nothing."""
    waited = _waited()  # takes long itself while another thread has the interpreter's lock
    started, used = time.monotonic(), time.process_time()
    try:
        call()
    except Exception as error:  # noqa: BLE001  # whatever it is, it is a problem of the player
        found.problems.append(f"{where}: {type(error).__name__}: {error}")
        return False
    late = time.monotonic() - started - clock
    if late > grace:  # the machine may be busy: what counts is what this process did
        others = sum(seconds - waited.get(thread, 0.0) for thread, seconds in _waited().items())
        late = min(late - others, time.process_time() - used - clock)
    found.latest = max(found.latest, late)
    if late > grace:
        found.problems.append(f"{where}: {late:.3f} s late after a clock of {clock:g} s")
    return True


def _waited() -> dict[str, float]:
    """Return for how many seconds each thread has waited for a processor; nothing where the system is silent.

    This thread waits for the interpreter's lock while another, which has it, waits for a processor.
    """
    found = {}
    for path in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError, ValueError, IndexError):
            found[path.parent.name] = int(path.read_text(encoding="ascii").split()[1]) / 1e9
    return found


def _stopped(
    found: PlayerCheck, players: dict[str, Player], histories: dict[str, list[HistoryStep]], state: State
) -> None:
    """Stop a player while it thinks for a minute; it must answer soon."""
    role = next((r for r in players if len(state.legal_moves(r)) > 1), None)
    if role is None:
        return
    player = players[role]
    player.told(tuple(histories[role]))
    timer = threading.Timer(0.1, player.stop)
    timer.start()
    started = time.monotonic()
    try:
        player.select(state, 60.0)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is a problem of the player
        found.problems.append(f"when stopped: {type(error).__name__}: {error}")
    timer.join()
    if time.monotonic() - started > 10.0:
        found.problems.append("it went on thinking after it was stopped")

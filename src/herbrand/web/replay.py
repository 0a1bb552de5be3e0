"""Recorded matches in the subprocess: their positions and expected goals."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from herbrand.machine.trajectory import Trajectory
from herbrand.web.inspector import game_of

if TYPE_CHECKING:
    from herbrand.machine.state import State

__all__ = ["Replay"]

GAMES: Final = 256
"""Random games from each state."""
MAX_STEPS: Final = 400
"""Limit on the number of states evaluated; longer matches are sampled."""

Joints = tuple[tuple[str, ...], ...]


@lru_cache(maxsize=2)
def _states(text: str, name: str, moves: Joints) -> list[State]:
    """Return the states of a match, the initial one first."""
    game = game_of(text, "prefix", name, "")
    game.require_playable()
    return Trajectory.replay(game, moves).states


class Replay:
    """Actions on recorded matches."""

    ACTIONS: Final = ("replay", "words", "curve", "export_record", "import_record")

    def replay(self, text: str, name: str, moves: list[list[str]], step: int) -> dict[str, Any]:
        """Return picture and caption of the state after a number of steps."""
        from herbrand.draw.artist import caption

        joints = tuple(map(tuple, moves))
        states = _states(text, name, joints)
        step = max(0, min(step, len(states) - 1))
        state, last = states[step], []
        if step:
            legal = states[step - 1].legal_moves().values()
            last = [move for move, some in zip(joints[step - 1], legal, strict=True) if len(some) > 1]
        artist = game_of(text, "prefix", name, "").artist
        tables = not artist.has_boards
        drawing = artist.draw(state, last=last, control=False, stacked=True, style=False, tables=tables)
        return {
            "step": step,
            "svg": drawing.svg,
            "said": " ".join(caption(state)),
            "decided": list(artist.deciding_cells(state)),
            "colours": dict(artist.colours),
        }

    def words(self, text: str, name: str, moves: list[list[str]]) -> list[list[str]]:
        """Return the joint moves in words."""
        say = game_of(text, "prefix", name, "").artist.say
        return [[say(move) for move in joint] for joint in moves]

    def export_record(self, database: str, match: str) -> dict[str, Any]:
        """Return a record as a JSON document, with all its states."""
        from herbrand.match.records import Store
        from herbrand.match.records.document import write_document

        with Store(database, write=False, check=False) as store:
            record = store.load(match)
        record.settings.pop("friends", None)  # secrets
        return write_document(record)

    def import_record(self, text: str, rules: dict[str, str] | None = None) -> dict[str, Any]:
        """Read a JSON document, of ggp-base with the rules of its game; return it as one of herbrand.

        Raises `RecordError` for one that contradicts the rules.
        """
        from herbrand.match.records import RecordError, Verifier
        from herbrand.match.records.document import read_document, write_document

        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise RecordError(f"the file is not JSON: {error}") from error
        record = read_document(data, game_of(**rules) if rules else None)
        findings = Verifier().verify(record)
        if findings:
            where = "" if findings[0].step is None else f"step {findings[0].step}: "
            raise RecordError(f"the record contradicts the rules: {where}{findings[0].text}")
        return write_document(record)

    def curve(self, text: str, name: str, moves: list[list[str]]) -> dict[str, Any]:
        """Return the mean goals of each role in random games from the states of a match.

        `steps` are the evaluated states; `values` has, by role, the mean at each of them (None without a goal
        value).
        """
        game = game_of(text, "prefix", name, "")
        states = _states(text, name, tuple(map(tuple, moves)))
        stride = -(-len(states) // MAX_STEPS)
        steps = sorted({*range(0, len(states), stride), len(states) - 1})
        expander = game.expander
        packed = expander.pack([states[step].facts for step in steps])
        goals = expander.rollouts(packed, seed=1, each=GAMES, max_steps=500).goals
        values: dict[str, list[float | None]] = {}
        for place, role in enumerate(game.roles):
            if role == game.chance_role:
                continue
            means = goals[:, place].reshape(len(steps), GAMES)
            values[role] = [
                round(float(goal.mean()), 1) if len(goal := row[row >= 0]) else None for row in means
            ]
        return {"steps": steps, "values": values, "games": GAMES, "colours": dict(game.artist.colours)}

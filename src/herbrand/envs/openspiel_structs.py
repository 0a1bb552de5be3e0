"""States, actions, observations and matches of OpenSpiel as JSON values, and images of states.

OpenSpiel 2.0 reads these dictionaries from the methods `_to_struct`, `_action_to_struct`,
`_struct_to_actions` and `_to_observation_struct` of a state, and gives one to `new_initial_state`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.errors import GameError, IllegalMoveError
from herbrand.machine.moves import Move

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ImageObserver", "action_struct", "actions_of", "node_parts", "observation_struct", "state_struct"]

_CHANCE = -1


def state_struct(node: Any) -> dict[str, Any]:
    """Return a state of the tree: the facts, and the moves already chosen in it."""
    table = node.table
    form, game = table.form, table.game
    struct: dict[str, Any] = {
        "game": game.name,
        "facts": sorted(node.state.facts),
        "step": node.steps,
        "to_move": _to_move(node),
        "chosen": {
            role: form.actions[p][node.chosen[p]]
            for p, role in enumerate(form.players)
            if node.chosen and node.chosen[p] is not None
        },
    }
    if node.drawn is not None:
        struct["drawn"] = form.chance_moves[node.drawn]
    if table.has_percepts:
        struct["percepts"] = {
            role: [list(line) for line in lines]
            for role, lines in zip(form.players, node.informed, strict=True)
        }
    if node.state.is_terminal:
        struct["goals"] = dict(node.state.goals)
    return struct


def action_struct(node: Any, player: int, action: int) -> dict[str, Any]:
    """Return a move with its role, name and arguments."""
    table = node.table
    form, game = table.form, table.game
    role = game.chance_role if player == _CHANCE else form.players[player]
    move = Move((form.chance_moves if player == _CHANCE else form.actions[player])[action])
    return {"role": role, "move": str(move), "name": move.name, "arguments": list(move.args)}


def actions_of(node: Any, struct: dict[str, Any] | str) -> list[int]:
    """Return the numbers of the action of a dictionary as `action_struct` gives it; `move` is enough.

    Without `role` it is that of the player to move.  Raises `IllegalMoveError` for a move that there is not.
    """
    value = json.loads(struct) if isinstance(struct, str) else struct
    table = node.table
    role = value.get("role") or _to_move(node)
    try:
        return [table.form.number(role, Move(str(value["move"])))]
    except KeyError:
        raise IllegalMoveError(f"{role} has no move `{str(value.get('move'))[:80]}`") from None


def observation_struct(node: Any, player: int) -> dict[str, Any]:
    """Return the information of a player: its role, its legal moves, and the state or its percepts."""
    table = node.table
    form = table.form
    role = form.players[player]
    struct: dict[str, Any] = {"game": table.game.name, "role": role, "to_move": _to_move(node)}
    if table.has_percepts:
        struct["percepts"] = [list(line) for line in node.informed[player]]
    else:
        struct["facts"] = sorted(node.state.facts)
    own = node.chosen[player] if node.chosen else None
    if own is not None:
        struct["chosen"] = form.actions[player][own]
    if not node.state.is_terminal:
        struct["legal"] = [str(move) for move in node.state.legal_moves(role)]
    return struct


def node_parts(table: Any, struct: Any) -> dict[str, Any]:
    """Return what makes a state of the tree from a dictionary, a struct of OpenSpiel, or JSON.

    The facts are enough.  Raises `GameError` for facts or moves that the game does not have.
    """
    value = struct
    if not isinstance(struct, dict):
        value = json.loads(struct if isinstance(struct, str) else struct.to_json())
    form, game = table.form, table.game
    try:
        state = game.state(value["facts"], engine="network")
        chosen = value.get("chosen") or {}
        percepts = value.get("percepts") or {}
        drawn = value.get("drawn")

        def number(role: str) -> int | None:
            return form.number(role, chosen[role]) if role in chosen else None

        return {
            "state": state,
            "chosen": tuple(map(number, form.players)) if chosen else (),
            "informed": tuple(tuple(map(tuple, percepts.get(role, ()))) for role in form.players),
            "steps": int(value.get("step", 0)),
            "drawn": None if drawn is None else form.number(game.chance_role, drawn),
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise GameError(f"no state of {game.name}: {error}") from error


def _to_move(node: Any) -> str | None:
    """Return the role that acts; None for all at once and at the end."""
    table = node.table
    if node.waiting == _CHANCE:
        return str(table.game.chance_role)
    return str(table.form.players[node.waiting]) if node.waiting >= 0 else None


class ImageObserver:
    """The picture of a state as pixels, the same size for every state: boards alone."""

    def __init__(self, table: Any, size: int) -> None:
        """`size` is the longer side in pixels.  Raises `GameError` for a game that hides information."""
        if table.has_percepts:
            raise GameError("a picture would show what the game hides")
        self._artist = table.game.artist
        drawing = self._drawing(table.start.state)
        self._zoom = size / max(drawing.width, drawing.height)
        first = self._pixels(table.start.state)
        self.tensor = np.zeros(first.size, np.float32)
        """The picture, flat: red, green and blue from 0 to 1."""
        self.dict = {"image": self.tensor.reshape(first.shape)}
        """The same as [height, width, 3]."""

    def set_from(self, state: Any, player: int) -> None:
        """Draw a state; all players see the same."""
        del player
        shown = self._pixels(state.at.state)
        image = self.dict["image"]
        height, width = np.minimum(image.shape[:2], shown.shape[:2])
        image.fill(1)
        image[:height, :width] = shown[:height, :width] / np.float32(255)

    def string_from(self, state: Any, player: int) -> str:
        """Return the description of the picture in words."""
        del player
        return str(self._drawing(state.at.state).text)

    def _drawing(self, state: Any) -> Any:
        return self._artist.draw(state, extras=not self._artist.has_boards, control=False)

    def _pixels(self, state: Any) -> NDArray[Any]:
        from herbrand.draw import pixels

        return pixels(self._drawing(state), zoom=self._zoom)

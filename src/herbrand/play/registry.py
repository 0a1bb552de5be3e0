"""Players by name: those of herbrand, and those that other packages announce.

A package announces a player in its `pyproject.toml`:

    [project.entry-points."herbrand.players"]
    deep = "my_package.players:DeepPlayer"

where `DeepPlayer(seed=None)` makes a `Player`.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from herbrand.play.interface import Player

__all__ = ["GROUP", "NoSuchPlayer", "PlayerInfo", "make_player", "players"]

GROUP: Final = "herbrand.players"
"""The group of entry points."""

_OWN: Final = {
    "legal": "herbrand.play.simple:LegalPlayer",
    "random": "herbrand.play.simple:RandomPlayer",
    "greedy": "herbrand.play.greedy:GreedyPlayer",
    "montecarlo": "herbrand.play.montecarlo:MonteCarloPlayer",
    "mcts": "herbrand.play.mcts:MctsPlayer",
    "alphabeta": "herbrand.play.alphabeta:AlphaBetaPlayer",
    "puzzle": "herbrand.play.puzzle:PuzzlePlayer",
    "solved": "herbrand.play.solved:SolvedPlayer",
    "ismcts": "herbrand.play.ismcts:IsMctsPlayer",
    "meta": "herbrand.play.meta:MetaPlayer",
}


class NoSuchPlayer(HerbrandError, LookupError):
    """No player has this name, or it cannot be imported."""


@dataclass(frozen=True, slots=True)
class PlayerInfo:
    """Where a player comes from."""

    name: str
    target: str
    """Module and class, `package.module:Class`."""
    package: str
    """The distribution that announces it."""

    def load(self) -> type[Player]:
        """Import the class; `NoSuchPlayer` if that fails."""
        module, _, attribute = self.target.partition(":")
        try:
            found: type[Player] = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise NoSuchPlayer(
                f"player `{self.name}` of {self.package} cannot be imported: {error}"
            ) from error
        return found


def players() -> dict[str, PlayerInfo]:
    """Return the players there are by name; herbrand's own names cannot be taken by others."""
    found = {name: PlayerInfo(name, target, "herbrand") for name, target in _OWN.items()}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        package = entry.dist.name if entry.dist is not None else "?"
        found.setdefault(entry.name, PlayerInfo(entry.name, entry.value, package))
    return found


def make_player(name: str, *, seed: int | None = None, memory: float | None = None) -> Player:
    """Make a player by its name; `NoSuchPlayer` if there is none, saying what may have been meant.

    `process:NAME` makes one that lets the player NAME choose in a process of its own.  A name may have
    settings, those that the player's class takes: `mcts(playouts=2000, ponder=True)`.  `memory` is how many
    megabytes those may take that keep a tree or a table, None for what they choose themselves.
    """
    if name.startswith("process:"):
        from herbrand.play.processes import ProcessPlayer

        make_player(name.removeprefix("process:"))
        return ProcessPlayer(name.removeprefix("process:"), seed)
    bare, _, rest = name.partition("(")
    bare = bare.strip()
    known = players() if bare not in _OWN else {bare: PlayerInfo(bare, _OWN[bare], "herbrand")}
    if bare not in known:
        near = get_close_matches(bare, known, n=1)
        hint = f"did you mean `{near[0]}`? " if near else ""
        raise NoSuchPlayer(f"no player `{bare}` ({hint}players: {', '.join(known)})")
    made = known[bare].load()
    settings = _settings(name, made) if rest else {}
    if memory is not None and "memory" in inspect.signature(made).parameters:
        settings.setdefault("memory", memory)
    return made(seed=seed, **settings)


def _settings(text: str, made: type[Player]) -> dict[str, Any]:
    """Read what stands in the parentheses after a name; `NoSuchPlayer` for what the player does not take."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        given = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise NoSuchPlayer(f"`{text}`: settings are written like `mcts(playouts=2000)`") from error
    taken = [name for name in inspect.signature(made).parameters if name not in ("self", "seed")]
    unknown = [name for name in given if name not in taken]
    if unknown:
        bare = text.partition("(")[0]
        settings = f"it takes {', '.join(taken)}" if taken else "it takes none"
        raise NoSuchPlayer(f"player `{bare}` has no setting `{unknown[0]}` ({settings})")
    return given

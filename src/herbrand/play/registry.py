"""Players by name: those of herbrand, and those that other packages announce.

A package announces a player in its `pyproject.toml`:

    [project.entry-points."herbrand.players"]
    deep = "my_package.players:DeepPlayer"

where `DeepPlayer(seed=None)` makes a `Player`.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from inspect import signature
from typing import TYPE_CHECKING, Final

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

    `process:NAME` makes one that lets the player NAME choose in a process of its own.  `memory` is how many
    megabytes those may take that keep a tree or a table, None for what they choose themselves.
    """
    if name.startswith("process:"):
        from herbrand.play.processes import ProcessPlayer

        make_player(name.removeprefix("process:"))
        return ProcessPlayer(name.removeprefix("process:"), seed)
    known = players() if name not in _OWN else {name: PlayerInfo(name, _OWN[name], "herbrand")}
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean `{near[0]}`? " if near else ""
        raise NoSuchPlayer(f"no player `{name}` ({hint}players: {', '.join(known)})")
    made = known[name].load()
    if memory is not None and "memory" in signature(made).parameters:
        return made(seed=seed, memory=memory)  # type: ignore[call-arg]
    return made(seed=seed)

"""Players by name: herbrand's own, and those that other packages register.

A package registers a player in its `pyproject.toml`:

    [project.entry-points."herbrand.players"]
    deep = "my_package.players:DeepPlayer"

where `DeepPlayer(seed=None)` returns a `Player`.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from herbrand.play.interface import Player

__all__ = ["GROUP", "NoSuchPlayer", "PlayerInfo", "make_player", "players"]

GROUP: Final = "herbrand.players"
"""The entry-point group."""

_BUILTIN: Final = {
    "legal": "herbrand.play.simple:LegalPlayer",
    "random": "herbrand.play.simple:RandomPlayer",
    "greedy": "herbrand.play.simple:GreedyPlayer",
    "montecarlo": "herbrand.play.montecarlo:MonteCarloPlayer",
    "mcts": "herbrand.play.mcts:MctsPlayer",
    "alphabeta": "herbrand.play.alphabeta:AlphaBetaPlayer",
    "puzzle": "herbrand.play.puzzle:PuzzlePlayer",
    "solved": "herbrand.play.solved:SolvedPlayer",
    "learned": "herbrand.play.learned:LearnedPlayer",
    "ismcts": "herbrand.play.ismcts:IsMctsPlayer",
    "meta": "herbrand.play.meta:MetaPlayer",
    "beginner": "herbrand.play.levels:Beginner",
    "casual": "herbrand.play.levels:Casual",
    "club": "herbrand.play.levels:Club",
    "strong": "herbrand.play.levels:Strong",
    "expert": "herbrand.play.levels:Expert",
}


class NoSuchPlayer(HerbrandError, LookupError):
    """No player has this name, or it cannot be imported."""


@dataclass(frozen=True, slots=True)
class PlayerInfo:
    """A registered player and the package that provides it."""

    name: str
    target: str
    """Module and class, `package.module:Class`."""
    package: str
    """The distribution that registers it."""

    @property
    def about(self) -> str:
        """How it plays, in a sentence; `NoSuchPlayer` if it cannot be imported."""
        return next(iter((self.load().__doc__ or "").strip().splitlines()), "")

    def load(self) -> type[Player]:
        """Import the class; `NoSuchPlayer` if that fails."""
        module, _, attribute = self.target.partition(":")
        try:
            player_class: type[Player] = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise NoSuchPlayer(
                f"player `{self.name}` of {self.package} cannot be imported: {error}"
            ) from error
        return player_class


def players() -> dict[str, PlayerInfo]:
    """Return all registered players by name; herbrand's own names take precedence."""
    from importlib.metadata import entry_points  # as slow as all else that a process for players imports

    infos = {name: PlayerInfo(name, target, "herbrand") for name, target in _BUILTIN.items()}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        package = entry.dist.name if entry.dist is not None else "?"
        infos.setdefault(entry.name, PlayerInfo(entry.name, entry.value, package))
    return infos


def make_player(
    name: str, *, seed: int | None = None, memory: float | None = None, ponder: bool | None = None
) -> Player:
    """Create a player by name; `NoSuchPlayer`, with a suggestion, if there is none.

    `process:NAME` runs the player NAME in a subprocess.  Arguments of the player's class may follow the name
    as settings: `mcts(playouts=2000, ponder=True)`.  `memory` bounds the tree or table of players that have
    one, in megabytes, and `ponder` is whether players that can think while others do; None leaves their
    default, and settings after the name come first.
    """
    if name.startswith("process:"):
        from herbrand.play.processes import ProcessPlayer

        make_player(name.removeprefix("process:"))
        return ProcessPlayer(name.removeprefix("process:"), seed, ponder=bool(ponder))
    bare, _, arguments = name.partition("(")
    bare = bare.strip()
    infos = players() if bare not in _BUILTIN else {bare: PlayerInfo(bare, _BUILTIN[bare], "herbrand")}
    if bare not in infos:
        near = get_close_matches(bare, infos, n=1)
        hint = f"did you mean `{near[0]}`? " if near else ""
        raise NoSuchPlayer(f"no player `{bare}` ({hint}players: {', '.join(infos)})")
    player_class = infos[bare].load()
    settings = _parse_settings(name, player_class) if arguments else {}
    for setting, value in (("memory", memory), ("ponder", ponder)):
        if value is not None and setting in inspect.signature(player_class).parameters:
            settings.setdefault(setting, value)
    return player_class(seed=seed, **settings)


def _parse_settings(text: str, player_class: type[Player]) -> dict[str, Any]:
    """Parse the settings after a name; `NoSuchPlayer` for a setting that the player does not have."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        settings = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise NoSuchPlayer(f"`{text}`: settings are written like `mcts(playouts=2000)`") from error
    accepted = [name for name in inspect.signature(player_class).parameters if name not in ("self", "seed")]
    unknown = [name for name in settings if name not in accepted]
    if unknown:
        bare = text.partition("(")[0]
        hint = f"it takes {', '.join(accepted)}" if accepted else "it takes none"
        raise NoSuchPlayer(f"player `{bare}` has no setting `{unknown[0]}` ({hint})")
    return settings

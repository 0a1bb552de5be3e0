"""The targets of `herbrand convert --to`, imported on demand.

To add a target, write a function `(game, **options) -> str | bytes | Printed` in the package of its stage and
add it to `targets.toml`, with new options.  Help, completion and the reference page of the command line are
generated from these tables.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.game import Game
    from herbrand.syntax.printer import Printed

__all__ = ["OPTIONS", "TARGETS", "Option", "Target"]


@dataclass(frozen=True, slots=True)
class Option:
    """An option of one or more targets, passed to their functions by name."""

    help: str
    type: Literal["flag", "int", "str"] | list[str] = "flag"
    """A flag, a number, a text, or one of several choices."""
    default: bool | int | str | None = None
    metavar: str | None = None
    least: int | None = None
    """The smallest valid integer."""


@dataclass(frozen=True, slots=True)
class Target:
    """An output format."""

    help: str
    """A short description."""
    function: str
    """Its function as "module:name"."""
    options: tuple[str, ...] = ()
    """Names of its options in `OPTIONS`."""

    def write(self, game: Game, **options: Any) -> str | bytes | Printed:
        """Convert a game; raises the exceptions of the target's function."""
        module, name = self.function.split(":")
        function: Callable[..., str | bytes | Printed] = getattr(import_module(module), name)
        return function(game, **options)


_FILE: Final = tomllib.loads(Path(__file__).with_name("targets.toml").read_text(encoding="utf-8"))

TARGETS: Final = {
    name: Target(**{**entry, "options": tuple(entry.get("options", ()))})
    for name, entry in _FILE["targets"].items()
}
"""The targets by name, in the order of the help."""

OPTIONS: Final = {name: Option(**entry) for name, entry in _FILE["options"].items()}
"""The options by name."""

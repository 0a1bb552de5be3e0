"""A game with the encoding of its states, and the last counted step in a folder.

`count.json` names the file with the diagrams, a NumPy archive of plain arrays (`Diagrams.exported`).  It is
replaced only when that is complete, so that a process that is killed leaves the step before.  A checkpoint is
trusted: its counts are not computed again.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from herbrand.analyse.counting.parts import StatePart
from herbrand.errors import GameError
from herbrand.runtime.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from herbrand.core import Diagrams
    from herbrand.network.network import Network

__all__ = ["Checkpoint", "Setup", "read_checkpoint", "remove_checkpoint"]

_FORMAT: Final = 2
_ARRAYS: Final = ("levels", "children", "roots")
_NAME: Final = "count.json"


@dataclass(frozen=True, slots=True)
class Setup:
    """A game, and how its states are encoded."""

    network: Network
    """Without loops."""
    checkpoint: Path | None = None
    """A folder for the last step."""
    parts: Sequence[StatePart] = ()
    """In the order of the variables."""
    order: str = ""
    """The name of that order."""
    weights: Sequence[Sequence[float]] | None = None
    """For each part and value: a measure that may prove that no state is reached twice (`layers`)."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The states of the last counted step."""

    setup: Setup
    by_step: tuple[int, ...]
    file: str = ""
    """The name of the file with the diagrams."""
    moments: tuple[int, ...] = ()
    """The moments (`Relation.moment`) of the sets of all states so far, where states can be reached twice."""

    def save(self, diagrams: Diagrams, sets: Sequence[int]) -> None:
        """Write the states of the last step, and all states of each moment."""
        setup, folder = self.setup, self.setup.checkpoint
        assert folder is not None
        folder.mkdir(parents=True, exist_ok=True)
        file = f"step-{len(self.by_step) - 1}.npz"
        with (folder / file).open("wb") as out:
            np.savez(out, **dict(zip(_ARRAYS, diagrams.exported(sets), strict=True)))
        content = {
            "format": _FORMAT,
            "digest": setup.network.digest,
            "by_step": self.by_step,
            "file": file,
            "moments": self.moments,
            "order": setup.order,
            "parts": [[part.fluents, part.is_exact] for part in setup.parts],
            "weights": setup.weights,
        }
        write_atomically(str(folder / _NAME), json.dumps(content))
        _remove_diagrams(folder, but=file)

    def load(self, diagrams: Diagrams) -> list[int]:
        """Return the states of the last step, and all states of each moment."""
        assert self.setup.checkpoint is not None
        with np.load(self.setup.checkpoint / self.file, allow_pickle=False) as arrays:
            levels, children, roots = (arrays[name] for name in _ARRAYS)
            return diagrams.imported(levels, children, roots)


def read_checkpoint(setup: Setup) -> Checkpoint | None:
    """Return the checkpoint in the folder of a game; None where there is none.

    Raises `GameError` for one of another game, or that cannot be read.
    """
    folder = setup.checkpoint
    if folder is None or not (folder / _NAME).is_file():
        return None
    try:
        content: dict[str, Any] = json.loads((folder / _NAME).read_text(encoding="utf-8"))
        if content["format"] != _FORMAT:
            raise GameError(f"{folder} has a checkpoint of another version (remove {_NAME} to begin again)")
        if content["digest"] != setup.network.digest:
            raise GameError(f"{folder} has the checkpoint of another game (choose another folder)")
        parts = [StatePart(tuple(fluents), is_exact) for fluents, is_exact in content["parts"]]
        restored = Setup(setup.network, folder, parts, content["order"], content["weights"])
        moments = tuple(map(int, content["moments"]))
        saved = Checkpoint(restored, tuple(map(int, content["by_step"])), str(content["file"]), moments)
        if not (folder / saved.file).is_file():
            raise KeyError(saved.file)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        if isinstance(error, GameError):
            raise
        raise GameError(f"{folder} has no complete checkpoint (remove {_NAME} to begin again)") from error
    return saved


def remove_checkpoint(folder: Path) -> None:
    """Remove the checkpoint of a count that is complete."""
    with suppress(OSError):
        (folder / _NAME).unlink(missing_ok=True)
        _remove_diagrams(folder)


def _remove_diagrams(folder: Path, but: str = "") -> None:
    for path in folder.glob("step-*.*"):
        if path.name != but:
            path.unlink(missing_ok=True)

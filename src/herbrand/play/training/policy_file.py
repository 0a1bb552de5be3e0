"""The file of a training by regret minimisation: plain arrays, see `archive`.

`about` also has the roles, all moves as KIF, and the progress.  For the role with number r there are
`keys_r`, `counts_r`, `moves_r`, `chances_r` and `values_r`, the arrays of a `StrategyTable`.  `regrets_r` and
`totals_r`, float64 [sequences], are for going on.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from herbrand.analyse.knowledge.behaviour import BehaviourStrategy, StrategyTable, average_strategy
from herbrand.analyse.knowledge.histories import KEY_BYTES
from herbrand.play.training.archive import (
    checked_array,
    format_of,
    natural,
    read_archive,
    reading,
    restore_progress,
    write_archive,
)
from herbrand.play.training.file import VALUES_FORMAT
from herbrand.play.training.regrets import RegretSnapshot, RegretTrainer

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from herbrand.game import Game

__all__ = ["holds_policy", "read_policy", "read_regrets", "write_regrets"]

_FORMAT: Final = "herbrand behaviour 1"
_TYPES: Final = {
    "keys": ("|u1", 2),
    "counts": ("<i4", 1),
    "moves": ("<i4", 1),
    "chances": ("<f8", 1),
    "values": ("<f4", 1),
}
"""The arrays of a `StrategyTable` in a file: their types and numbers of dimensions."""
_MOST_SNAPSHOTS: Final = 1000


def write_regrets(path: Path | str, trainer: RegretTrainer) -> None:
    """Write a training to a file, all of it or nothing."""
    strategy, exploitability = average_strategy(trainer.minimiser)
    about = {
        "roles": list(strategy.tables),
        "moves": list(strategy.moves),
        "rounds": trainer.done,
        "exploitability": exploitability,
        "snapshots": [asdict(snapshot) for snapshot in trainer.snapshots],
    }
    arrays: dict[str, NDArray[Any]] = {}
    for number, (table, learner) in enumerate(
        zip(strategy.tables.values(), trainer.minimiser.learners, strict=True)
    ):
        for name, (dtype, _) in _TYPES.items():
            arrays[f"{name}_{number}"] = getattr(table, name).astype(dtype)
        arrays[f"regrets_{number}"] = learner.regret.astype("<f8")
        arrays[f"totals_{number}"] = learner.total.astype("<f8")
    write_archive(path, _FORMAT, trainer, about, arrays)


def holds_policy(path: Path | str, game: Game) -> bool:
    """Whether a file of a training has strategies, not values; `HerbrandError` if it is not for the game."""
    return format_of(path, game, _FORMAT, VALUES_FORMAT) == _FORMAT


def _read(
    path: Path | str, game: Game
) -> tuple[dict[str, Any], dict[str, NDArray[Any]], BehaviourStrategy, float]:
    about, arrays = read_archive(path, game, _FORMAT)
    with reading(path):
        if tuple(about["roles"]) != tuple(game.players):
            raise ValueError("other roles")
        moves = tuple(map(str, about["moves"]))
        tables = {role: _table(arrays, number, len(moves)) for number, role in enumerate(game.players)}
        return about, arrays, BehaviourStrategy(moves, tables), float(about["exploitability"])


def read_policy(path: Path | str, game: Game) -> tuple[BehaviourStrategy, float]:
    """Return the strategies of a file, and how exploitable they are, in goal points.

    Raises `HerbrandError` for a file that is damaged, too large, or for other rules.
    """
    return _read(path, game)[2:]


def read_regrets(path: Path | str, game: Game) -> RegretTrainer:
    """Return the training of a file, to go on with; raises as `read_policy` and `RegretTrainer.start` do."""
    about, arrays, _, _ = _read(path, game)
    trainer = RegretTrainer.start(game)
    with reading(path):
        for number, learner in enumerate(trainer.minimiser.learners):
            for name, array in (("regrets", learner.regret), ("totals", learner.total)):
                saved = checked_array(arrays[f"{name}_{number}"], "<f8", 1)
                if saved.shape != array.shape or not (np.isfinite(saved) & (saved >= 0)).all():
                    raise ValueError(f"the {name} do not fit the game")
                array[...] = saved
        trainer.minimiser.rounds = natural(about["rounds"])
        restore_progress(trainer, about, _snapshot, _MOST_SNAPSHOTS)
    return trainer


def _snapshot(data: dict[str, Any]) -> RegretSnapshot:
    return RegretSnapshot(natural(data["rounds"]), float(data["seconds"]), float(data["exploitability"]))


def _table(arrays: dict[str, NDArray[Any]], number: int, moves: int) -> StrategyTable:
    """Return the strategy of a role; `ValueError` for arrays that do not fit each other."""
    arrays_of_role = {name: checked_array(arrays[f"{name}_{number}"], *kind) for name, kind in _TYPES.items()}
    table = StrategyTable(**arrays_of_role)
    choices = len(table.moves)
    if table.keys.shape[1] != KEY_BYTES or len(table.keys) != len(table.counts):
        raise ValueError("keys of another size")
    if (table.counts < 1).any() or not table.counts.sum(dtype=np.int64) == choices == len(table.chances):
        raise ValueError("moves that do not fit the information sets")
    if len(table.values) != choices or ((table.moves < 0) | (table.moves >= moves)).any():
        raise ValueError("moves out of range")
    if not (table.chances >= 0).all() or not (np.isnan(table.values) | (np.abs(table.values) < 101)).all():
        raise ValueError("probabilities or values out of range")
    sets = np.repeat(np.arange(len(table.counts)), table.counts)
    sums = np.bincount(sets, table.chances, len(table.counts))
    if not (np.abs(sums - 1) < 1e-6).all():
        raise ValueError("probabilities that do not add up to 1")
    return table

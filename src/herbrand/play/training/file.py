"""The file of a training by self-play: plain arrays, see `archive`.

`about` also has the digest of the network, roles, settings, and progress.  `gates`, int32 [gates, 2], are
added to that network (`play.threats`), and `literals`, int32 [features], are numbers in the result;
`weights`, float32 [features + roles, views], and `biases`, float32 [views], are those of the best model.
Where that has tables, `table_literals`, int32 [tables, 8], and `table_kinds`, int32 [tables], say of what,
and `tables` and `shared`, float32 [256 tables or kinds, views], are their entries; arrays
that begin with `first_` and `sums_` are those of `Trainer.earlier`.  The other arrays are for going on.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from herbrand.errors import GameError, HerbrandError
from herbrand.play.training.archive import (
    checked_array,
    natural,
    read_archive,
    reading,
    restore_progress,
    write_archive,
)
from herbrand.play.training.model import Parameters, ValueModel
from herbrand.play.training.tables import ValueTables
from herbrand.play.training.trainer import TREES, Settings, Snapshot, Trainer, chosen_model, is_suitable

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from herbrand.game import Game
    from herbrand.machine.state_machine import StateMachine

__all__ = ["VALUES_FORMAT", "read_model", "read_self_play", "write_self_play"]

VALUES_FORMAT: Final = "herbrand training 4"
_MOST_INPUTS: Final = 100_000
_MOST_GATES: Final = 100_000
_MOST_TABLES: Final = 10_000
_MOST_SNAPSHOTS: Final = 100_000
_MOST_RESULTS: Final = 10
_LONGEST_RESULT: Final = 200


def _add(arrays: dict[str, NDArray[Any]], prefix: str, parameters: Parameters) -> None:
    """Add parameters, without empty ones, to the arrays of a file."""
    for name, array in zip(Parameters._fields, parameters, strict=True):
        if array.size:
            arrays[prefix + name] = array.astype("<f4")


class _Contents(NamedTuple):
    """What a file has."""

    about: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    model: ValueModel
    """The best model."""
    earlier: dict[str, ValueModel]
    """As in `Trainer`."""
    choice: str
    """The same."""


def network_digest(game: StateMachine) -> str:
    """Return a digest of the network of a game, whose nodes the literals of a model are."""
    network = game.expander.network
    digest = hashlib.sha256()
    for name in game.expander.fluent_names:
        digest.update(name.lower().encode() + b"\n")
    for array in (network.left, network.right, np.array(network.cones)):
        digest.update(np.ascontiguousarray(array, "<i8").tobytes())
    return digest.hexdigest()


def write_self_play(path: Path | str, trainer: Trainer) -> None:
    """Write a training to a file, all of it or nothing."""
    about = {
        "network": network_digest(trainer.game),
        "roles": list(trainer.expander.roles),
        "constant_sum": trainer.model.constant_sum,
        "settings": asdict(trainer.settings),
        "games": trainer.games,
        "states": trainer.states,
        "rounds": trainer.rounds,
        "length": trainer.length,
        "steps": trainer.optimizer.steps,
        "choice": trainer.choice,
        "quick_games": trainer.quick_games,
        "snapshots": [asdict(snapshot) for snapshot in trainer.snapshots],
    }
    arrays: dict[str, NDArray[Any]] = {
        "gates": trainer.model.gates.astype("<i4"),
        "literals": trainer.model.literals.astype("<i4"),
    }
    if "sums" in trainer.earlier:
        arrays["table_literals"] = trainer.model.tables.literals.astype("<i4")
        arrays["table_kinds"] = trainer.model.tables.kind.astype("<i4")
    for name, model in trainer.earlier.items():
        _add(arrays, f"{name}_", model.parameters)
    for prefix, parameters in trainer.parameters().items():
        _add(arrays, prefix, parameters)
    write_archive(path, VALUES_FORMAT, trainer, about, arrays)


def _read(path: Path | str, game: Game) -> _Contents:
    """Return the contents of a file; `HerbrandError` if it is not for this game."""
    about, arrays = read_archive(path, game, VALUES_FORMAT)
    if not is_suitable(game):
        raise GameError(f"`{path}` has values of positions, which `{game.name}` does not have")
    with reading(path):
        network, constant_sum = about["network"], about["constant_sum"] is True
        literals = checked_array(arrays["literals"], "<i4", 1)
        gates = checked_array(arrays["gates"], "<i4", 2)
        if len(literals) > _MOST_INPUTS or len(gates) > _MOST_GATES or gates.shape[1] != 2:
            raise ValueError("too many inputs")
    if network != network_digest(game):
        raise HerbrandError(f"`{path}` was learned by another version of herbrand: train again")
    with reading(path):
        expander = game.expander
        plain = ValueModel.untrained(
            literals.astype(np.int32), len(expander.roles), constant_sum=constant_sum,
            gates=gates.astype(np.int32),
        )  # fmt: skip
        if constant_sum and plain.roles != 2:
            raise ValueError("a constant sum without two roles")
        model, earlier = plain, {"first": plain.copy()}
        if "table_literals" in arrays:
            if not constant_sum:
                raise ValueError("tables without a constant sum")
            model, earlier["sums"] = plain.with_tables(_tables(arrays)), plain.copy()
        for name, each in (("", model), *((f"{name}_", each) for name, each in earlier.items())):
            each.parameters = _parameters(arrays, name, each)
        model.reader(expander)
        choice = str(about["choice"])
        if choice not in ("", "best", TREES, *earlier):
            raise ValueError("another choice")
    return _Contents(about, arrays, model, earlier, choice)


def _tables(arrays: dict[str, NDArray[Any]]) -> ValueTables:
    """Return the tables of a file."""
    literals = checked_array(arrays["table_literals"], "<i4", 2)
    kinds = checked_array(arrays["table_kinds"], "<i4", 1)
    if not 0 < len(literals) <= _MOST_TABLES or literals.shape != (len(kinds), 8):
        raise ValueError("too many tables, or none")
    if not 0 <= kinds.min() <= kinds.max() < len(kinds):
        raise ValueError("kinds of tables out of range")
    return ValueTables(literals.astype(np.int32), kinds.astype(np.int32))


def read_model(path: Path | str, game: Game) -> ValueModel | None:
    """Return the model of a file that plays a game; None where tree search without values plays better.

    Raises `HerbrandError` for a file that is damaged, too large, or for other rules, and for an unsuitable
    game.
    """
    contents = _read(path, game)
    if contents.choice == TREES:
        return None
    return chosen_model(contents.choice, contents.model, contents.earlier)


def read_self_play(path: Path | str, game: Game) -> Trainer:
    """Return the training of a file, to go on with; raises as `read_model` does."""
    about, arrays, model, earlier, choice = _read(path, game)
    with reading(path):
        settings = Settings(**{name: int(value) for name, value in about["settings"].items()})
        trainer = Trainer(game, settings, model)
        trainer.earlier, trainer.choice = earlier, choice
        trainer.quick_games = [str(words)[:_LONGEST_RESULT] for words in about["quick_games"][:_MOST_RESULTS]]
        for prefix, parameters in trainer.parameters().items():
            for array, saved in zip(parameters, _parameters(arrays, prefix, model), strict=True):
                array[...] = saved
        for name in ("games", "states", "rounds"):
            setattr(trainer, name, natural(about[name]))
        trainer.optimizer.steps = natural(about["steps"])
        restore_progress(trainer, about, _snapshot, _MOST_SNAPSHOTS)
        trainer.length = max(0.0, float(about["length"]))
    return trainer


def _snapshot(data: dict[str, Any]) -> Snapshot:
    return Snapshot(**{name: float(value) for name, value in data.items()})


def _parameters(arrays: dict[str, NDArray[Any]], prefix: str, model: ValueModel) -> Parameters:
    """Return the parameters with a prefix, for a model of the same shapes."""
    parameters = []
    for name, like in zip(Parameters._fields, model.parameters, strict=True):
        if not like.size:
            parameters.append(like)
            continue
        array = checked_array(arrays[prefix + name], "<f4", like.ndim)
        if array.shape != like.shape or not (np.abs(array) < 1e6).all():
            raise ValueError(f"{prefix}{name} do not fit the inputs")
        parameters.append(array.astype(np.float32))
    return Parameters(*parameters)

"""The file of a training by self-play: plain arrays, see `archive`.

`about` also has the digest of the network, roles, settings, and progress.  `gates`, int32 [gates, 2], are
added to that network (`play.threats`), and `literals`, int32 [features], are numbers in the result;
`weights`, float32 [features + roles, views], and `biases`, float32 [views], are those of the best model.  The
other arrays are for going on.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

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
from herbrand.play.training.trainer import Settings, Snapshot, Trainer, is_suitable

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from herbrand.game import Game
    from herbrand.machine.state_machine import StateMachine

__all__ = ["VALUES_FORMAT", "read_model", "read_self_play", "write_self_play"]

VALUES_FORMAT: Final = "herbrand training 3"
_MOST_INPUTS: Final = 100_000
_MOST_GATES: Final = 100_000
_MOST_SNAPSHOTS: Final = 100_000


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
        "snapshots": [asdict(snapshot) for snapshot in trainer.snapshots],
    }
    arrays: dict[str, NDArray[Any]] = {
        "gates": trainer.model.gates.astype("<i4"),
        "literals": trainer.model.literals.astype("<i4"),
    }
    for prefix, parameters in trainer.parameters().items():
        for name, array in zip(Parameters._fields, parameters, strict=True):
            arrays[prefix + name] = array.astype("<f4")
    write_archive(path, VALUES_FORMAT, trainer, about, arrays)


def _read(path: Path | str, game: Game) -> tuple[dict[str, Any], dict[str, NDArray[Any]], ValueModel]:
    """Return the contents of a file and the model that plays; `HerbrandError` if it is not for this game."""
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
        model = ValueModel.untrained(
            literals.astype(np.int32), len(expander.roles), constant_sum=constant_sum,
            gates=gates.astype(np.int32),
        )  # fmt: skip
        if constant_sum and model.roles != 2:
            raise ValueError("a constant sum without two roles")
        model.parameters = _parameters(arrays, "", model)
        model.reader(expander)
    return about, arrays, model


def read_model(path: Path | str, game: Game) -> ValueModel:
    """Return the model of a file that plays a game.

    Raises `HerbrandError` for a file that is damaged, too large, or for other rules, and for an unsuitable
    game.
    """
    return _read(path, game)[2]


def read_self_play(path: Path | str, game: Game) -> Trainer:
    """Return the training of a file, to go on with; raises as `read_model` does."""
    about, arrays, model = _read(path, game)
    with reading(path):
        settings = Settings(**{name: int(value) for name, value in about["settings"].items()})
        trainer = Trainer(game, settings, model)
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
        array = checked_array(arrays[prefix + name], "<f4", like.ndim)
        if array.shape != like.shape or not (np.abs(array) < 1e6).all():
            raise ValueError(f"{prefix}{name} do not fit the inputs")
        parameters.append(array.astype(np.float32))
    return Parameters(*parameters)

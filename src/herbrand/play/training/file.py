"""The file of a training: a NumPy archive (`.npz`) of plain arrays.

`about` is JSON as bytes: the digests of the rules and of the network, roles, settings, and progress.
`literals`, int32 [features], are numbers in that network; `weights`, float32 [features + roles, views], and
`biases`, float32 [views], are those of the model that plays.  The other arrays are for going on.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from herbrand.analyse.solving.strategy import digest_of
from herbrand.errors import HerbrandError
from herbrand.play.training.model import Parameters, ValueModel
from herbrand.play.training.trainer import Settings, Snapshot, Trainer, require_suitable
from herbrand.runtime.arrays import read_arrays, write_arrays

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from herbrand.game import Game
    from herbrand.machine.state_machine import StateMachine

__all__ = ["read_model", "read_training", "write_training"]

_FORMAT: Final = "herbrand training 1"
_LARGEST: Final = 64_000_000
"""Bytes of the arrays of a file, at most."""
_MOST_INPUTS: Final = 100_000
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


def write_training(path: Path | str, game: Game, trainer: Trainer) -> None:
    """Write a training to a file, which never has a part of it only."""
    about = {
        "format": _FORMAT,
        "game": game.name,
        "rules": digest_of(game),
        "network": network_digest(game),
        "roles": list(trainer.expander.roles),
        "constant_sum": trainer.model.constant_sum,
        "settings": asdict(trainer.settings),
        "games": trainer.games,
        "states": trainer.states,
        "rounds": trainer.rounds,
        "seconds": trainer.seconds,
        "cpu_seconds": trainer.cpu_seconds,
        "length": trainer.length,
        "steps": trainer.optimizer.steps,
        "snapshots": [asdict(snapshot) for snapshot in trainer.snapshots],
    }
    arrays: dict[str, NDArray[Any]] = {
        "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
        "literals": trainer.model.literals.astype("<i4"),
    }
    for prefix, parameters in trainer.parameters().items():
        for name, array in zip(Parameters._fields, parameters, strict=True):
            arrays[prefix + name] = array.astype("<f4")
    write_arrays(path, arrays)


def _read(path: Path | str, game: Game) -> tuple[dict[str, Any], dict[str, NDArray[Any]], ValueModel]:
    """Return the contents of a file and the model that plays; `HerbrandError` if it is not for this game."""
    try:
        arrays = read_arrays(path, _LARGEST)
        about = json.loads(arrays["about"].tobytes())
        if about["format"] != _FORMAT:
            raise ValueError("another format")
        rules, network, constant_sum = about["rules"], about["network"], about["constant_sum"] is True
        literals = _checked(arrays["literals"], "<i4", 1)
        if len(literals) > _MOST_INPUTS:
            raise ValueError("too many inputs")
    except OSError as error:
        raise HerbrandError(f"cannot read `{path}`: {(error.strerror or str(error)).lower()}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(path, error) from error
    if rules != digest_of(game):
        name = str(about.get("game", ""))[:80]
        raise HerbrandError(f"`{path}` was learned for other rules than those of `{game.name}` ({name!r})")
    require_suitable(game)
    if network != network_digest(game):
        raise HerbrandError(f"`{path}` was learned by another version of herbrand: train again")
    try:
        expander = game.expander
        model = ValueModel.untrained(
            literals.astype(np.int32), len(expander.roles), constant_sum=constant_sum
        )
        if constant_sum and model.roles != 2:
            raise ValueError("a constant sum without two roles")
        model.parameters = _parameters(arrays, "", model)
        model.reader(expander)
    except (ValueError, KeyError) as error:
        raise _damaged(path, error) from error
    return about, arrays, model


def read_model(path: Path | str, game: Game) -> ValueModel:
    """Return the model of a file that plays a game.

    Raises `HerbrandError` for a file that is damaged, too large, or for other rules, and for an unsuitable
    game.
    """
    return _read(path, game)[2]


def read_training(path: Path | str, game: Game) -> Trainer:
    """Return the training of a file, to go on with; raises as `read_model` does."""
    about, arrays, model = _read(path, game)
    try:
        settings = Settings(**{name: int(value) for name, value in about["settings"].items()})
        trainer = Trainer(game, settings, model)
        for prefix, parameters in trainer.parameters().items():
            for array, saved in zip(parameters, _parameters(arrays, prefix, model), strict=True):
                array[...] = saved
        for name in ("games", "states", "rounds"):
            setattr(trainer, name, _natural(about[name]))
        trainer.optimizer.steps = _natural(about["steps"])
        for name in ("seconds", "cpu_seconds", "length"):
            setattr(trainer, name, max(0.0, float(about[name])))
        listed = about["snapshots"]
        if len(listed) > _MOST_SNAPSHOTS:
            raise ValueError("too many snapshots")
        trainer.snapshots = [
            Snapshot(**{name: float(value) for name, value in one.items()}) for one in listed
        ]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise _damaged(path, error) from error
    return trainer


def _damaged(path: Path | str, error: Exception) -> HerbrandError:
    return HerbrandError(f"`{path}` is not a file that `herbrand train` wrote, or damaged ({error})")


def _natural(value: Any) -> int:
    number = int(value)
    if not 0 <= number < 1 << 60:
        raise ValueError("a number out of range")
    return number


def _checked(array: NDArray[Any], dtype: str, dimensions: int) -> NDArray[Any]:
    if array.dtype != np.dtype(dtype) or array.ndim != dimensions:
        raise ValueError("an array of another type")
    return array


def _parameters(arrays: dict[str, NDArray[Any]], prefix: str, model: ValueModel) -> Parameters:
    """Return the parameters with a prefix, for a model of the same shapes."""
    found = []
    for name, like in zip(Parameters._fields, model.parameters, strict=True):
        array = _checked(arrays[prefix + name], "<f4", like.ndim)
        if array.shape != like.shape or not (np.abs(array) < 1e6).all():
            raise ValueError(f"{prefix}{name} do not fit the inputs")
        found.append(array.astype(np.float32))
    return Parameters(*found)

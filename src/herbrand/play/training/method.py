"""The method of training that suits a game, behind one interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.play.training.choosing import choose_player
from herbrand.play.training.file import read_self_play, write_self_play
from herbrand.play.training.policy_file import holds_policy, read_regrets, write_regrets
from herbrand.play.training.regrets import RegretTrainer
from herbrand.play.training.trainer import Trainer, is_suitable

if TYPE_CHECKING:
    from pathlib import Path

    from herbrand.game import Game
    from herbrand.play.training.interface import Training
    from herbrand.play.training.trainer import Settings

__all__ = ["read_training", "start_training", "write_training"]


def start_training(game: Game, settings: Settings) -> Training:
    """Return a training at its beginning: by self-play, or by regret minimisation where that does not suit.

    Self-play needs perfect information, no chance, and roles that take turns.  Raises `GameError` for a
    game for which neither is possible.
    """
    return _choosing(Trainer.start(game, settings)) if is_suitable(game) else RegretTrainer.start(game)


def write_training(path: Path | str, training: Training) -> None:
    """Write a training to a file, all of it or nothing."""
    if isinstance(training, Trainer):
        write_self_play(path, training)
    elif isinstance(training, RegretTrainer):
        write_regrets(path, training)
    else:
        raise TypeError(f"no file for {type(training).__name__}")


def read_training(path: Path | str, game: Game) -> Training:
    """Return the training of a file, to go on with.

    Raises `HerbrandError` for a file that is damaged, too large, or for other rules.
    """
    return read_regrets(path, game) if holds_policy(path, game) else _choosing(read_self_play(path, game))


def _choosing(trainer: Trainer) -> Trainer:
    """Let quick games choose how a player plays after a training, and return it."""
    trainer.chooser = choose_player
    return trainer

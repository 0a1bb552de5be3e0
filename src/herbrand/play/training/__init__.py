"""Values of a game, learned by self-play from its rules.

    >>> import herbrand
    >>> from herbrand.play.training import Settings, Trainer
    >>> trainer = Trainer.start(herbrand.load("nim"), Settings(seed=1))
    >>> trainer.run(games=1000)
    >>> trainer.games
    1024

| module     | what it does                                                                         |
|------------|--------------------------------------------------------------------------------------|
| `model`    | `ValueModel`: predicts goal values from conditions of the rules                      |
| `selfplay` | games of a model against itself, hundreds at a time, and the values that they teach  |
| `trainer`  | `Trainer`: rounds of self-play and fitting, compared with earlier selves             |
| `file`     | the file of a training, for players and to go on                                     |
| `chart`    | the plot of its progress                                                             |

Sources: learning from terminal evaluation (Cohen-Solal and Cazenave 2020, arXiv 2012.10700), TD(lambda)
(Sutton 1988), logistic evaluation functions for alpha-beta (Buro 1995).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.play.training.file import read_model as read_model
    from herbrand.play.training.file import read_training as read_training
    from herbrand.play.training.file import write_training as write_training
    from herbrand.play.training.model import ValueModel as ValueModel
    from herbrand.play.training.trainer import Settings as Settings
    from herbrand.play.training.trainer import Snapshot as Snapshot
    from herbrand.play.training.trainer import Trainer as Trainer

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "file": ("read_model", "read_training", "write_training"),
        "model": ("ValueModel",),
        "trainer": ("Settings", "Snapshot", "Trainer"),
    },
)

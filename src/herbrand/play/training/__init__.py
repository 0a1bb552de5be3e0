"""Players trained for one game, from its rules alone.

    >>> import herbrand
    >>> from herbrand.play.training import Settings, start_training
    >>> training = start_training(herbrand.load("nim"), Settings(seed=1))
    >>> training.run(games=1000)
    >>> training.done
    1024

Where roles take turns and nothing is hidden, values of positions are learned by self-play.  In small games
with hidden information, chance or simultaneous moves, regret minimisation learns strategies:

    >>> training = start_training(herbrand.load("kuhn"), Settings())
    >>> training.run(games=100)
    >>> training.summary()[-1]
    ('exploitability', '0.0321 points')

| module        | what it does                                                                         |
|---------------|--------------------------------------------------------------------------------------|
| `method`      | the method that suits a game, its start and its files                                |
| `interface`   | `Training`: what all methods have in common                                          |
| `trainer`     | `Trainer`: rounds of self-play and fitting, compared with earlier selves             |
| `model`       | `ValueModel`: predicts goal values from conditions of the rules                      |
| `tables`      | what it counts together: the cells of rows and squares of a board                    |
| `selfplay`    | games of a model against itself, hundreds at a time, and the values that they teach  |
| `fitting`     | how a model is fitted to them; `device`: the same on an accelerator                  |
| `choosing`    | how a player plays best by what it learned                                           |
| `quick`       | seconds of it before a match, for `alphabeta`                                        |
| `regrets`     | `RegretTrainer`: rounds of regret minimisation, with measured exploitability         |
| `archive`     | what all files have in common                                                        |
| `file`        | the file of a training by self-play, for players and to go on                        |
| `policy_file` | the same for one by regret minimisation                                              |
| `chart`       | the plot of its progress                                                             |

Sources: learning from terminal evaluation (Cohen-Solal and Cazenave 2020, arXiv 2012.10700), TD(lambda)
(Sutton 1988), logistic evaluation functions for alpha-beta (Buro 1995), n-tuple networks (Bledsoe and
Browning 1959; Lucas 2008); for regret minimisation see
`herbrand.analyse.knowledge.regrets`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.play.training.file import read_model as read_model
    from herbrand.play.training.interface import Training as Training
    from herbrand.play.training.method import read_training as read_training
    from herbrand.play.training.method import start_training as start_training
    from herbrand.play.training.method import write_training as write_training
    from herbrand.play.training.model import ValueModel as ValueModel
    from herbrand.play.training.policy_file import read_policy as read_policy
    from herbrand.play.training.regrets import RegretTrainer as RegretTrainer
    from herbrand.play.training.trainer import Settings as Settings
    from herbrand.play.training.trainer import Snapshot as Snapshot
    from herbrand.play.training.trainer import Trainer as Trainer

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "file": ("read_model",),
        "interface": ("Training",),
        "method": ("read_training", "start_training", "write_training"),
        "model": ("ValueModel",),
        "policy_file": ("read_policy",),
        "regrets": ("RegretTrainer",),
        "trainer": ("Settings", "Snapshot", "Trainer"),
    },
)

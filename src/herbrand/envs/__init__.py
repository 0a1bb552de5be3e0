"""Games as environments for learning programs.

| where        | what it is                                                                             |
|--------------|----------------------------------------------------------------------------------------|
| `batch`      | `BatchEnv`: up to a million games moved along together, as numpy arrays                |
| `planes`     | what a learner sees of a state: planes of a board, or bare fluents                     |
| `turns`      | whether a game goes by turns, and whose turn it is                                     |
| `single`     | what interfaces that look at one game at a time have in common                         |
| `openspiel`  | games for OpenSpiel                                                                    |
| `session`    | one game played on in place, for the next two                                          |
| `pettingzoo` | all agents together, or one after the other                                            |
| `gymnasium`  | one agent, the other roles filled by players; batches of such games                    |
| `pgx`, `layers` | games in JAX, with the interface of Pgx                                             |
| `language`   | questions for language models, with exact answers and a grader                         |

GDL lets every role move in every step.  Most learning programs want one player at a time, a fixed
number of actions, and a mask that says which are legal.  The *actions* of a role are its moves
that can ever be legal, numbered in the order of their texts; all interfaces use the same numbers.
The role `random` is no player: its moves are drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.envs.batch import BatchEnv as BatchEnv
    from herbrand.envs.batch import BatchStep as BatchStep
    from herbrand.envs.single import Form as Form
    from herbrand.envs.single import form_of as form_of

__all__, __getattr__, __dir__ = exports(
    __name__, {"batch": ("BatchEnv", "BatchStep"), "single": ("Form", "form_of")}
)

"""Hidden information and chance: knowledge of roles, and values of games.

`sees` defines the percepts of a role after each joint move (GDL-II: M. Thielscher, *A
General Game Description Language for Incomplete Information Games*, AAAI 2010).  A role
remembers its own moves and percepts: its *history*.  Plays with the same history form an
*information set*, and a role *knows* the facts that hold in all states in which these plays end.

| module          | what it gives                                                                |
|-----------------|------------------------------------------------------------------------------|
| `histories`     | what a role remembers of a play: moves and percepts                          |
| `filtering`     | `possible_states`: the states that a role considers possible, with weights   |
| `knowing`       | `Knowledge`: the facts that hold in all of them                              |
| `unfolding`     | the whole game as information sets and sequences of own moves                |
| `induction`     | exact values of games with perfect information                              |
| `sequence_form` | exact values of two-player games, by a linear program and a rational proof   |
| `regrets`       | strategies by counterfactual regret minimisation, for larger games         |
| `behaviour`     | strategies as tables, which players look up by history                     |
| `exchange`      | exact values of games in which the players can change places                |
| `solving`       | `solve`: the value of a game by the method that applies                    |
| `uniform`       | what a role can force for certain with what it knows                         |
| `perfection`    | `perfect_information`: whether anything is hidden at all                     |
| `gdl2`          | the target `gdl2` of `herbrand convert`                                      |
| `efg`           | the target `efg` of `herbrand convert`: the tree of all plays                |
| `epistemic`     | `EpistemicGame`: rules with knowledge conditions (GDL-III)                 |

| in the rules              | here                                                |
|---------------------------|-----------------------------------------------------|
| `random`                  | exact weights, `State.chance_moves`, `State.outcomes` |
| `sees`                    | `State.percepts`                                    |
| legal moves with the same history | `unfolding.InformationSet`                  |
| goals at the end          | `GameValue.value`, as fractions                      |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.analyse.knowledge.epistemic import EpistemicGame as EpistemicGame
    from herbrand.analyse.knowledge.epistemic import EpistemicPlay as EpistemicPlay
    from herbrand.analyse.knowledge.filtering import possible_states as possible_states
    from herbrand.analyse.knowledge.histories import history as history
    from herbrand.analyse.knowledge.knowing import Knowledge as Knowledge
    from herbrand.analyse.knowledge.perfection import perfect_information as perfect_information
    from herbrand.analyse.knowledge.solving import GameValue as GameValue
    from herbrand.analyse.knowledge.solving import solve as solve
    from herbrand.analyse.knowledge.unfolding import Unfolding as Unfolding
    from herbrand.analyse.knowledge.unfolding import unfold as unfold

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "epistemic": ("EpistemicGame", "EpistemicPlay"),
        "filtering": ("possible_states",),
        "histories": ("history",),
        "knowing": ("Knowledge",),
        "perfection": ("perfect_information",),
        "solving": ("GameValue", "solve"),
        "unfolding": ("Unfolding", "unfold"),
    },
)

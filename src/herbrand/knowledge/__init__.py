"""Hidden information and chance: who knows what, and what a game is worth.

The rules say with `sees` what a role is told after each joint move (GDL-II: M. Thielscher, *A
General Game Description Language for Incomplete Information Games*, AAAI 2010).  A role
remembers its own moves and what it was told: its *history*.  Plays with the same history are
one *information set*, and what holds in all states that they end in is what the role *knows*.

| module          | what it gives                                                                |
|-----------------|------------------------------------------------------------------------------|
| `histories`     | what a role remembers of a play                                              |
| `filtering`     | `possible_states`: which states a role holds possible, and how likely each is |
| `knowing`       | `Knowledge`: what holds in all of them                                       |
| `unfolding`     | the whole game as information sets and sequences of own moves                |
| `induction`     | exact values of games in which everybody sees everything                     |
| `sequence_form` | exact values of two-player games, by a linear program and a rational proof   |
| `regrets`       | strategies by counterfactual regret minimisation, for what is too large      |
| `solving`       | `solve`: the value of a game by whichever of these fits                      |
| `perfection`    | `perfect_information`: whether anything is hidden at all                     |
| `gdl2`          | the target `gdl2` of `herbrand convert`                                      |
| `efg`           | the target `efg` of `herbrand convert`: the tree of all plays                |
| `epistemic`     | `EpistemicGame`: rules that ask what roles know (GDL-III)                    |

| in the rules              | here                                                |
|---------------------------|-----------------------------------------------------|
| `random`                  | exact weights, `State.chance_moves`, `State.outcomes` |
| `sees`                    | `State.percepts`                                    |
| legal moves with the same history | `unfolding.InformationSet`                  |
| goals at the end          | `Solution.value`, as fractions                      |
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from herbrand.knowledge.epistemic import EpistemicGame as EpistemicGame
    from herbrand.knowledge.epistemic import EpistemicPlay as EpistemicPlay
    from herbrand.knowledge.filtering import possible_states as possible_states
    from herbrand.knowledge.histories import history as history
    from herbrand.knowledge.knowing import Knowledge as Knowledge
    from herbrand.knowledge.perfection import perfect_information as perfect_information
    from herbrand.knowledge.solving import Solution as Solution
    from herbrand.knowledge.solving import solve as solve
    from herbrand.knowledge.unfolding import Unfolding as Unfolding
    from herbrand.knowledge.unfolding import unfold as unfold

_HOME = {
    "EpistemicGame": "herbrand.knowledge.epistemic",
    "EpistemicPlay": "herbrand.knowledge.epistemic",
    "Knowledge": "herbrand.knowledge.knowing",
    "Solution": "herbrand.knowledge.solving",
    "Unfolding": "herbrand.knowledge.unfolding",
    "history": "herbrand.knowledge.histories",
    "perfect_information": "herbrand.knowledge.perfection",
    "possible_states": "herbrand.knowledge.filtering",
    "solve": "herbrand.knowledge.solving",
    "unfold": "herbrand.knowledge.unfolding",
}

__all__ = [*sorted(_HOME)]  # noqa: PLE0604  # the names are strings


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'herbrand.knowledge' has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    return value

"""States and moves: a game as a state machine.

| in the rules      | engine                | here                                  |
|-------------------|-----------------------|---------------------------------------|
| `(true p)`        | key of the state      | `State.facts`                         |
| `(legal r m)`     | term numbers          | `State.legal_moves(role)` of `Move`   |
| `(does r m)`, next| `successor`           | `State.next(joint_move)`              |
| `(goal r n)`      | term numbers          | `State.goals`, `State.goal_values`    |
| `terminal`        | `terminal`            | `State.is_terminal`                   |

A `Trajectory` has the states of a play and the joint moves between them.

`Move` and `State` are immutable values: hashable, picklable, and copying returns the object itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.machine.moves import Move as Move
    from herbrand.machine.state import State as State
    from herbrand.machine.state_code import StateCode as StateCode
    from herbrand.machine.state_machine import StateMachine as StateMachine
    from herbrand.machine.trajectory import Trajectory as Trajectory

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "moves": ("Move",),
        "state": ("State",),
        "state_machine": ("StateMachine",),
        "trajectory": ("Trajectory",),
        "state_code": ("StateCode",),
    },
)

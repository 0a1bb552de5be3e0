"""States, moves and goals: a game as players see it.

| in the rules      | engine                | here                                  |
|-------------------|-----------------------|---------------------------------------|
| `(true p)`        | key of the state      | `State.facts`                         |
| `(legal r m)`     | term numbers          | `State.legal_moves(role)` of `Move`   |
| `(does r m)`, next| `successor`           | `State.next(joint_move)`              |
| `(goal r n)`      | term numbers          | `State.goals`, `State.goal_values`    |
| `terminal`        | `terminal`            | `State.is_terminal`                   |

A `Trajectory` is a play so far: states and the joint moves between them.

`Move` and `State` are values: immutable, hashable, picklable, their own copies.
"""

"""The compiled core: everything that loops over states, games and trees.

Arrays are numpy's, contiguous and of the types that are named; a wrong one is a `TypeError` or a
`ValueError`, never a crash.  Long calls let other threads run, and end when their `Stop` says so.
"""

from __future__ import annotations

from herbrand.core._core import (
    AlphaBeta,
    Circuit,
    CompiledProgram,
    Ended,
    Env,
    EnvOutcome,
    GateGraph,
    Judge,
    MoveNames,
    Playouts,
    RootMove,
    Round,
    SearchTree,
    StateEvaluator,
    StateGraph,
    StateMemory,
    StateTable,
    Stop,
    Survey,
    TranspositionTable,
    Valuer,
    Watchdog,
    allow_code,
    build_gates,
    code_kind,
    compiler,
    cone_sizes,
    conjuncts,
    distances,
    evaluate_ternary,
    evaluating_program,
    factor,
    joint_counts,
    level,
    levels,
    make_circuit,
    mark_cone,
    peak,
    playing_program,
    strong_components,
    unknown_cone,
    use_level,
    why_no_code,
)

__all__ = [
    "LANES",
    "NO_VALUE",
    "SEVERAL_VALUES",
    "STUCK",
    "AlphaBeta",
    "Circuit",
    "CompiledProgram",
    "Ended",
    "Env",
    "EnvOutcome",
    "GateGraph",
    "Judge",
    "MoveNames",
    "Playouts",
    "RootMove",
    "Round",
    "SearchTree",
    "StateEvaluator",
    "StateGraph",
    "StateMemory",
    "StateTable",
    "Stop",
    "Survey",
    "TranspositionTable",
    "Valuer",
    "Watchdog",
    "allow_code",
    "build_gates",
    "code_kind",
    "compiler",
    "cone_sizes",
    "conjuncts",
    "distances",
    "evaluate_ternary",
    "evaluating_program",
    "factor",
    "joint_counts",
    "level",
    "levels",
    "make_circuit",
    "mark_cone",
    "peak",
    "playing_program",
    "strong_components",
    "unknown_cone",
    "use_level",
    "why_no_code",
]

LANES = 512
"""States or games that are evaluated together, one in each bit of a row."""
NO_VALUE = -1
"""In place of a goal value: none holds."""
SEVERAL_VALUES = -2
"""In place of a goal value: several hold, or one that is not a number from 0 to 100."""
STUCK = -3
"""In place of a goal value: a role has no legal move though the game is not over."""

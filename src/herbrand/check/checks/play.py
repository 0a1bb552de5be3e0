"""Checks that need states.

`herbrand.analyse.trial` plays the game a little and reports them.
"""

from __future__ import annotations

from typing import Final

from herbrand.check.checks.base import ERROR, NOTE, WARNING, Check, checks_in

__all__ = [
    "IMPOSSIBLE_DECLARATION",
    "INITIAL_STATE_TERMINAL",
    "KNOWLEDGE",
    "NEVER_TRUE",
    "NO_GOAL",
    "NO_LEGAL_MOVE",
    "PLAY",
    "SEVERAL_GOALS",
    "UNDECLARED_BASE",
    "UNDECLARED_INPUT",
    "UNDECLARED_PERCEPT",
    "UNKNOWN_END",
    "UNKNOWN_GOAL",
    "UNKNOWN_LEGAL_MOVES",
]

INITIAL_STATE_TERMINAL: Final = Check("initial-state-terminal", "", WARNING, stage="play")
UNDECLARED_BASE: Final = Check("undeclared-base", "B3", ERROR, stage="play", spec=True)
UNDECLARED_INPUT: Final = Check("undeclared-input", "B4", ERROR, stage="play", spec=True)
IMPOSSIBLE_DECLARATION: Final = Check("impossible-declaration", "B5", NOTE, stage="play")
SEVERAL_GOALS: Final = Check("several-goals", "G2", ERROR, stage="play", spec=True)
NO_GOAL: Final = Check("no-goal", "G3", ERROR, stage="play", spec=True)
NO_LEGAL_MOVE: Final = Check("role-without-legal-move", "P2", WARNING, stage="play")
NEVER_TRUE: Final = Check("never-true", "", WARNING, stage="play")
PLAY: Final = checks_in(globals())
"""Checks of states reached by random play."""

UNKNOWN_LEGAL_MOVES: Final = Check("unknown-legal-moves", "I10", WARNING, stage="play")
UNKNOWN_END: Final = Check("unknown-end", "", NOTE, stage="play")
UNKNOWN_GOAL: Final = Check("unknown-goal", "", NOTE, stage="play")
UNDECLARED_PERCEPT: Final = Check("undeclared-percept", "", WARNING, stage="play")
KNOWLEDGE: Final = (UNKNOWN_LEGAL_MOVES, UNKNOWN_END, UNKNOWN_GOAL, UNDECLARED_PERCEPT)
"""Checks of the knowledge of roles in random plays."""

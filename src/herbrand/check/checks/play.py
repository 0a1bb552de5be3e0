"""Documentation of the checks that need states.

`herbrand.analyse.trial` plays the game a little and reports them.
"""

from __future__ import annotations

from typing import Final

from herbrand.check.checks.base import ERROR, NOTE, WARNING, Check

__all__ = [
    "IMPOSSIBLE_DECLARATION",
    "INITIAL_STATE_TERMINAL",
    "KNOWLEDGE",
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

INITIAL_STATE_TERMINAL: Final = Check(
    "initial-state-terminal", "", WARNING, "the game is over before it begins",
    "Reports a sheet whose first state is terminal.",
    "No move can be made. Usually a rule for `terminal` holds on the empty board, such as a line of "
    "blanks.",
    "(<= terminal (line ?x))\n(<= (line ?x) (true (cell 1 ?x)) (true (cell 2 ?x)))\n"
    "(init (cell 1 b))\n(init (cell 2 b))",
    "State more precisely when the game ends:\n\n    (<= terminal (line ?x) (distinct ?x b))",
    stage="play",
)  # fmt: skip
UNDECLARED_BASE: Final = Check(
    "undeclared-base", "B3", ERROR, "something is true that `base` does not list",
    "Reports the first fluent found in a state that no `base` declares, though there are `base` "
    "statements.",
    "Systems that build the game from `base` play a different game.",
    "(base (n 1))\n(init (n 2))",
    "Declare it:\n\n    (base (n 1))\n    (base (n 2))",
    stage="play", spec=True,
)  # fmt: skip
UNDECLARED_INPUT: Final = Check(
    "undeclared-input", "B4", ERROR, "a move is legal that `input` does not list",
    "Reports the first legal move found that no `input` declares, though there are `input` statements.",
    "Systems that build the game from `input` do not know the move.",
    "(input robot go)\n(legal robot stop)",
    "Declare it:\n\n    (input robot go)\n    (input robot stop)",
    stage="play", spec=True,
)  # fmt: skip
IMPOSSIBLE_DECLARATION: Final = Check(
    "impossible-declaration", "B5", NOTE, "`base` or `input` lists something impossible",
    "Reports how many declared fluents and moves no play can reach, even when negated "
    "conditions are ignored.",
    "They cost time and memory in systems that build the game from them.",
    "(base (n 1))\n(base (n 99))\n(init (n 1))",
    "Declare what is possible:\n\n    (base (n 1))",
    stage="play",
)  # fmt: skip
SEVERAL_GOALS: Final = Check(
    "several-goals", "G2", ERROR, "a role has several goal values",
    "Reports the first state found in which rules give a role more than one value: an error in a terminal "
    "state, a warning elsewhere.",
    "The result of the game is then not defined.",
    "(<= (goal robot 100) (true done))\n(<= (goal robot 50) (true started))",
    "Let the conditions exclude each other:\n\n    (<= (goal robot 50) (true started) (not (true done)))",
    stage="play", spec=True,
)  # fmt: skip
NO_GOAL: Final = Check(
    "no-goal", "G3", ERROR, "a role has no goal value at the end",
    "Reports the first terminal state found in which no rule gives a role a value.",
    "The result of the game is then not defined.",
    "(<= terminal (true (step 10)))\n(<= (goal robot 100) (true done))",
    "Cover the other cases:\n\n    (<= (goal robot 0) (not (true done)))",
    stage="play", spec=True,
)  # fmt: skip
NO_LEGAL_MOVE: Final = Check(
    "role-without-legal-move", "P2", WARNING, "a role has no legal move, and the game is not over",
    "Reports the first state found that is not terminal and in which a role cannot move; an error when "
    "that role is `random` (I6).",
    "The game stops there; managers treat it as an error in the rulesheet.",
    "(<= (legal robot go) (true ready))",
    "Give a move in every state:\n\n    (<= (legal robot wait) (not (true ready)))",
    stage="play",
)  # fmt: skip
PLAY: Final = (
    INITIAL_STATE_TERMINAL,
    UNDECLARED_BASE,
    UNDECLARED_INPUT,
    IMPOSSIBLE_DECLARATION,
    SEVERAL_GOALS,
    NO_GOAL,
    NO_LEGAL_MOVE,
)
"""Checks of states reached by random play."""

UNKNOWN_LEGAL_MOVES: Final = Check(
    "unknown-legal-moves", "I10", WARNING, "a role cannot know what it may do",
    "Reports the first play found after which a role considers states possible in which it has different "
    "legal moves.",
    "A player has to choose a legal move. It can compute its legal moves only if they are the same in all "
    "states that fit its own moves and its percepts.",
    "(<= (legal bob (take ?x)) (true (hidden ?x)))",
    "Tell the role what its moves depend on, or let them depend on what it knows:\n\n"
    "    (<= (sees bob (there_is ?x)) (does random (hide ?x)))",
    stage="play",
)  # fmt: skip
UNKNOWN_END: Final = Check(
    "unknown-end", "", NOTE, "a role cannot know from the rules whether the game is over",
    "Reports the first play found after which a role considers both a terminal and another state possible.",
    "This is harmless where a manager announces the end. A player that has only the rules "
    "and its percepts cannot know it.",
    "(<= terminal (true (hit ?secret)))",
    "Let every role see what ends the game:\n\n    (<= (sees ?r over) (role ?r) (does bob (hit ?secret)))",
    stage="play",
)  # fmt: skip
UNKNOWN_GOAL: Final = Check(
    "unknown-goal", "", NOTE, "a role cannot know its result",
    "Reports the first end of a play at which a role considers states possible in which it has different "
    "goal values.",
    "The players do not learn who has won.",
    "(<= (goal first 100) (true (holds first ?a)) (true (holds second ?b)) (beats ?a ?b))",
    "Show what decides the game when it ends:\n\n"
    "    (<= (sees ?r (shown ?card)) (role ?r) last_move (true (holds ?other ?card)))",
    stage="play",
)  # fmt: skip
UNDECLARED_PERCEPT: Final = Check(
    "undeclared-percept", "", WARNING, "something is seen that `percept` does not list",
    "Reports the first percept found that no `percept` declares, though there are `percept` statements.",
    "Systems that build the game from its declarations do not know it.",
    "(percept bob heads)\n(<= (sees bob tails) (does random tails))",
    "Declare it:\n\n    (percept bob heads)\n    (percept bob tails)",
    stage="play",
)  # fmt: skip
KNOWLEDGE: Final = (UNKNOWN_LEGAL_MOVES, UNKNOWN_END, UNKNOWN_GOAL, UNDECLARED_PERCEPT)
"""Checks of what roles can know in random plays."""

"""The game as an automaton (Q, q0, Σ, δ, F), joint moves as input symbols, with exports.

Takes a game; gives an `Automaton`, whole or minimised, as JSON, DOT or SVG.  Imports `exploration`.
"""

from __future__ import annotations

from herbrand.analyse.automata.automaton import Automaton

__all__ = ["Automaton"]

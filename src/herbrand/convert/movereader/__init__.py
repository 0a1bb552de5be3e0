"""Readers that accept what can be said in one game, and nothing else.

What a player may answer is finite: the moves that its role can ever make.  What a manager tells
players is made of the same moves, of percepts and of fluents.  So text from outside needs no
general reader and never meets the rules: `MoveReader(game)` compiles these sets into tables, and
a text is a walk through a table (Damm's observation on GGDL: "a compiler could produce a parser
that would only accept legal moves").

    game.inputs ──build──→ Tables ──→ Terms, ClosedReader ──→ MoveReader (this package)
                                                          └─→ a module of its own, in Python or TypeScript

| file            | what it does                                                                   |
|-----------------|--------------------------------------------------------------------------------|
| `automaton`     | a list of terms as the smallest acyclic automaton over tokens                   |
| `runtime`       | the reading core, which imports nothing of herbrand                             |
| `reader`        | `MoveReader`: the core for a `Game`, with `Move` and `State`; `narrow`          |
| `emit`          | the core with the tables of one game as a module of its own                     |
| `reader.ts.in`  | the core in TypeScript; without what stands in `‹ ›` it is JavaScript           |
"""

from __future__ import annotations

from herbrand.convert.movereader.emit import emit
from herbrand.convert.movereader.reader import MoveReader, MoveReadError, NarrowedReader
from herbrand.convert.movereader.runtime import MoveError

__all__ = ["MoveError", "MoveReadError", "MoveReader", "NarrowedReader", "emit"]

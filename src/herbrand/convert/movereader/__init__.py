"""Parsers for the messages of one game, which accept nothing else.

The moves that a role can ever make are finite, and the messages of a manager consist of the same
moves, of percepts and of fluents.  So untrusted text needs no
general parser and never reaches the rules: `MoveReader(game)` compiles these sets into tables, and
parsing a text is a walk through a table (Damm's observation on GGDL: "a compiler could produce a parser
that would only accept legal moves").

    game.inputs ──build──→ Tables ──→ Terms, ClosedReader ──→ MoveReader (this package)
                                                          └─→ a standalone module in Python or TypeScript

| file            | what it does                                                                   |
|-----------------|--------------------------------------------------------------------------------|
| `automaton`     | a list of terms as the minimal acyclic automaton over tokens                    |
| `runtime`       | the parser core, which imports nothing of herbrand                              |
| `reader`        | `MoveReader`: the core for a `Game`, with `Move` and `State`; `narrow`          |
| `emit`          | the core with the tables of one game as a standalone module                     |
| `reader.ts.in`  | the core in TypeScript; without the parts in `‹ ›` it is JavaScript             |
"""

from __future__ import annotations

from herbrand.convert.movereader.emit import emit
from herbrand.convert.movereader.reader import MoveReader, MoveReadError, NarrowedReader
from herbrand.convert.movereader.runtime import MoveError

__all__ = ["MoveError", "MoveReadError", "MoveReader", "NarrowedReader", "emit"]

"""An oracle for language models: tools that check, run, explain, prove and repair games, over MCP.

What comes in are texts of rulesheets and moves, written by a model and hostile until proved otherwise; what
goes out is bounded data.  The server never evaluates rules: subprocesses do, with limits on time and memory.

| module    | what it does                                                                    |
|-----------|---------------------------------------------------------------------------------|
| `server`  | the tools, resources and prompts of the Model Context Protocol                  |
| `tools`   | in the subprocess: one function for each tool, JSON in and out                  |
| `bounds`  | cuts answers that are too long, and says so                                     |
| `worker`  | main program of the subprocess                                                  |
| `stream`  | an endless list of tasks, each of which can be asked for by its number          |
| `play`    | a match in which language models play by text                                   |
| `verifiers`, `verifiers_tools`, `reasoning_gym`, `openenv`, `textarena` | both for these packages |
| `study`, `features` | the design of a study, and numbers about games that may explain its results |

`texts/` has what models read: guides to GDL and GGDL, and the prompts.  Imports `web`, whose subprocesses and
actions on texts it shares, and the packages below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.oracle.features import features as features
    from herbrand.oracle.play import TextMatch as TextMatch
    from herbrand.oracle.server import make_server as make_server
    from herbrand.oracle.stream import EVOLVED as EVOLVED
    from herbrand.oracle.stream import TaskStream as TaskStream
    from herbrand.oracle.stream import evolved_game as evolved_game

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "features": ("features",),
        "play": ("TextMatch",),
        "server": ("make_server",),
        "stream": ("EVOLVED", "TaskStream", "evolved_game"),
    },
)

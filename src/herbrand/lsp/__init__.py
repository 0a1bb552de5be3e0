"""The language server: diagnostics, navigation and editing of rulesheets in editors.

It implements the Language Server Protocol (version 3.17) on standard input and output, started by
`herbrand lsp`; it needs the extra `herbrand[lsp]` (pygls).  `docs/howto/editors.md` explains the setup of
editors.

| module | what it does |
|---|---|
| `server` | handlers of the protocol's messages, background work |
| `document` | open texts and what is derived from them |
| `places` | conversion between offsets and the protocol's positions |
| `names`, `names_ggdl` | all occurrences of names with their meaning |
| `findings` | diagnostics and code actions |
| `hover`, `keywords` | descriptions of names and keywords |
| `complete`, `signature` | completion; the arguments of the name that is being written |
| `edit` | renaming, formatting |
| `outline`, `tokens` | symbols, folding, selections; semantic tokens |
| `sizes`, `remarks` | sizes of relations; remarks on rules of small games; both computed in subprocesses |

Like the other front ends it only uses the library and has no logic about games of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.lsp.server import make_server as make_server

__all__, __getattr__, __dir__ = exports(
    __name__,
    {"server": ("make_server",)},
)

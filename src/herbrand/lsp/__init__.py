"""The language server: what `herbrand check` and the other commands know, shown in an editor while one types.

Editors speak the Language Server Protocol (version 3.17): they send a text and its changes, and ask
what stands at a place.  `herbrand lsp` answers on standard input and output; it needs the extra
`herbrand[lsp]` (pygls).  `docs/howto/editors.md` tells how editors are set up.

| module | what |
|---|---|
| `server` | the messages, and what takes longer than a keystroke |
| `document` | an open text, what it says now |
| `places` | offsets and the protocol's lines and columns |
| `names`, `names_ggdl` | every name where it stands, and what it is |
| `findings` | diagnostics and repairs |
| `hover`, `keywords` | what a name means |
| `complete` | what could be written next |
| `edit` | renaming, formatting |
| `outline`, `tokens` | symbols, folding, selections; colours |
| `sizes` | how large relations get, found out by a child process |

Like the other front ends it only asks the library and holds no knowledge of its own about games.
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

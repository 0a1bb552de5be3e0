"""Drawing states for people: as text, and as SVG.

`herbrand.draw.text.draw` looks for a board among the facts of a state and prints it with
letters; `table` lists the facts that are not part of one.  `herbrand.draw.artist.Artist` draws
the states of a game as SVG and says what to click for a move:

| step         | what it does                                                                       |
|--------------|------------------------------------------------------------------------------------|
| `vocabulary` | the fluents and moves there may be, and some states                                |
| `layers`     | which arguments of a fluent are coordinates, which content                         |
| `together`   | fluents that say one thing only together; towers, lists, whose turn it is          |
| `layout`     | boards of the layers; what runs across, what counts upward, hexagons               |
| `looks`      | what a content looks like; `pieces` draws it                                       |
| `svg`        | the picture: `boards`, and `beside` them cards, lamps, tables                      |
| `links`, `clicks` | which places of the picture a move refers to                                  |
| `hints`      | what a file says that cannot be told from the rules                                |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.draw.artist import Artist as Artist
    from herbrand.draw.text import draw as draw
    from herbrand.draw.text import table as table

__all__, __getattr__, __dir__ = exports(
    __name__,
    {"artist": ("Artist",), "text": ("draw", "table")},
)

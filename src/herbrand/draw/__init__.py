"""Drawing states for people: as text, SVG and pixels.

`herbrand.draw.artist.Artist` draws the states of a game and says what to click for a move;
`herbrand.draw.text.draw` draws facts alone as text, `table` lists them.  What is a board is decided in
one place, `boards`; everything below only shows it:

| module       | what it does                                                                       |
|--------------|------------------------------------------------------------------------------------|
| `boards`     | the recogniser: which fluents are boards, how they lie, what stands where          |
| `text`       | boards and tables as text                                                          |
| `looks`      | what a content looks like; `pieces` draws it                                       |
| `svg`        | the picture: `grids`, and `beside` them cards, lamps, tables                       |
| `raster`     | the picture as PNG or pixels                                                       |
| `clicks`     | which cells of the picture a move refers to                                        |
| `hints`      | what a file says that cannot be recognised from the rules                          |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.draw.artist import Artist as Artist
    from herbrand.draw.raster import pixels as pixels
    from herbrand.draw.raster import png as png
    from herbrand.draw.text import draw as draw
    from herbrand.draw.text import table as table

__all__, __getattr__, __dir__ = exports(
    __name__, {"artist": ("Artist",), "raster": ("pixels", "png"), "text": ("draw", "table")}
)

"""`herbrand draw`: draw a state as SVG or PNG."""

from __future__ import annotations

import sys

import click

from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.moves import line_of_play
from herbrand.cli.options import MOVES
from herbrand.cli.output import painter, remark, result

__all__ = ["command"]


@click.command("draw")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@MOVES
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="The file to write, .svg or .png; by default SVG to standard output, or text if that is a terminal.",
)
@click.option("--board-only", is_flag=True, help="Omit facts that are not on a board.")
@click.option("--describe", is_flag=True, help="Print a description of the picture instead.")
def command(
    file: str, notation: str, moves: str | None, output: str | None, board_only: bool, describe: bool
) -> None:
    """Draw a state as a picture: SVG or PNG.

    Boards are recognised among the facts; other facts are drawn as towers, cards, lamps or a table. The
    cells of the last moves are marked. Colours follow the viewer's preference for light or dark. A file
    NAME.drawing.json beside NAME.kif can give hints for the drawing. PNG needs herbrand[pictures].
    """
    from herbrand.draw.artist import Artist, caption
    from herbrand.runtime.files import write_atomically

    game = read_game(file, notation)
    artist = Artist.of(game)
    play = line_of_play(game.initial_state("rules"), moves or "")
    state = play.state
    last = list(play.choices(len(play) - 1).values()) if len(play) else []
    drawing = artist.draw(state, last=last, lines=caption(state), extras=not board_only)
    if describe:
        result(drawing.text)
    elif output is None and sys.stdout.isatty():
        result(artist.text(state, last=last, paint=painter()))
        remark("-o FILE.svg or -o FILE.png writes the picture")
    elif output is None:
        result(drawing.svg)
    else:
        if output.lower().endswith(".png"):
            from herbrand.draw.raster import png

            write_atomically(output, png(drawing, zoom=2))
        else:
            write_atomically(output, drawing.svg + "\n")
        remark(f"wrote {output}")

"""Pictures as pixels, where the library that makes them is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import cli
from herbrand.draw.raster import pixels
from herbrand.draw.style import VARIABLES
from herbrand.draw.svg import Drawing

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("resvg_py", reason="needs herbrand[pictures]")


@pytest.mark.slow_except("dark")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pixels_have_the_colours_of_the_theme(theme: Literal["light", "dark"]) -> None:
    """The colours of paper, cells, lines and frame are there, and a larger zoom gives a larger picture."""
    game = herbrand.load("ticTacToe")
    picture = game.artist.draw(game.initial_state("rules").next(("(mark 1 1)", "noop")))
    assert pixels(picture).shape == (round(picture.height), round(picture.width), 3)
    shown = pixels(picture, theme=theme, zoom=2)
    assert shown.shape[0] == pytest.approx(2 * picture.height, abs=1)
    colours = {"#" + bytes(colour).hex() for colour in np.unique(shown.reshape(-1, 3), axis=0)}
    assert {VARIABLES[theme][name] for name in ("paper", "cell", "line", "frame")} <= colours


def test_the_number_of_pixels_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A huge picture is made smaller."""
    monkeypatch.setattr("herbrand.draw.raster.MAX_PIXELS", 1_000_000)
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90000 30000" width="90000" height="30000"></svg>'
    assert pixels(Drawing(svg, 90_000, 30_000, ""), zoom=4).size <= 3.05 * 1_000_000


def test_the_command_writes_png(tmp_path: Path) -> None:
    """`herbrand draw -o FILE.png` writes a PNG file."""
    path = tmp_path / "state.PNG"
    done = CliRunner().invoke(cli, ["draw", "ticTacToe", "--moves", "(mark 1 1)", "-o", str(path)])
    assert done.exit_code == 0, done.output
    assert path.read_bytes().startswith(b"\x89PNG\r\n")

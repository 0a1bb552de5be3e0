"""Charts of playouts."""

from pathlib import Path

import pytest

import herbrand
from herbrand.cli.main import main
from herbrand.draw.charts import save_chart


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    """The message lists the endings; nothing is written."""
    result = herbrand.load("ticTacToe").simulate(5, seed=1)
    with pytest.raises(herbrand.HerbrandError, match=r"\.svg, \.png, \.pdf"):
        save_chart(result, tmp_path / "chart.txt")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow_except("ticTacToe")
@pytest.mark.parametrize("game", ["ticTacToe", "hanoi", "montyHall"])
def test_charts_are_pictures(game: str, tmp_path: Path) -> None:
    """An SVG names the game and its roles, a PNG begins as one."""
    pytest.importorskip("matplotlib")
    result = herbrand.load(game).simulate(20, seed=1, engine="rules")
    save_chart(result, tmp_path / "chart.svg")
    save_chart(result, tmp_path / "chart.png")
    assert (tmp_path / "chart.svg").read_text(encoding="utf-8").count("<path") > 5
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`simulate --plot` writes the picture besides the report."""
    pytest.importorskip("matplotlib")
    file = tmp_path / "t.svg"
    with pytest.raises(SystemExit) as stopped:
        main(["simulate", "ticTacToe", "-n", "20", "--seed", "1", "--plot", str(file)])
    assert not stopped.value.code
    assert file.exists()
    assert "±" in capsys.readouterr().out

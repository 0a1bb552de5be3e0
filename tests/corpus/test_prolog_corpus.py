"""Every sheet of the collection as a program for SWI-Prolog."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

import herbrand
from herbrand.convert.prolog import program
from herbrand.verify.diff import diff

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.corpus


@pytest.mark.skipif(shutil.which("swipl") is None, reason="swipl (SWI-Prolog) is not installed")
@pytest.mark.parametrize("style", ["literal", "state", "facts"])
def test_every_sheet_loads_without_a_warning(style: str, corpus_dir: Path, tmp_path: Path) -> None:
    """SWI-Prolog prints nothing while it loads any of the sheets."""
    sheets = sorted((corpus_dir / "rulesheets").glob("*.kif"))
    assert len(sheets) > 200
    said = {}
    for sheet in sheets:
        game = herbrand.load(sheet)
        file = tmp_path / "game.pl"
        file.write_text(program(game.rules, game.name, style), encoding="utf-8")
        done = subprocess.run(
            ["swipl", "-q", "-f", "none", "-g", "halt", str(file)],
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if done.stdout or done.stderr or done.returncode:
            said[game.name] = done.stdout + done.stderr
    assert not said


@pytest.mark.parametrize("style", ["literal", "state", "facts"])
def test_every_sheet_is_read_back_from_prolog(style: str, corpus_dir: Path) -> None:
    """Reading either style gives the rules again; where Prolog needed them solved, the game at least."""
    sheets = sorted((corpus_dir / "rulesheets").glob("*.kif"))
    verdicts = {}
    for sheet in sheets:
        game = herbrand.load(sheet)
        again = herbrand.loads(program(game.rules, game.name, style), "prolog")
        assert not [d for d in again.diagnostics if d.is_error], game.name
        verdicts[game.name] = diff(game, again, states=200, seconds=300).verdict
    other = {name: verdict for name, verdict in verdicts.items() if verdict != "rules"}
    assert "differs" not in other.values(), other
    assert len(other) < 0.05 * len(verdicts), other

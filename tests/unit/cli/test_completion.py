"""Completion in the shells themselves: the tab key in bash, zsh and fish."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from herbrand.cli.main import cli

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source herbrand.bash; PS1='ready''> '\n"),
    "zsh": (
        ["zsh", "-f", "-i"],
        "autoload -U compinit; compinit -u -D; source ./herbrand.zsh; PS1='ready''> '\n",
    ),
    "fish": (
        ["fish", "--no-config", "-i"],
        "source herbrand.fish; function fish_prompt; echo 'ready''> '; end\n",
    ),
}


@pytest.mark.slow_except("bash")
@pytest.mark.parametrize("shell", SHELLS)
def test_the_tab_key_completes_games_and_files(
    shell: str, tmp_path: Path, terminal: Callable[..., Any]
) -> None:
    """`herbrand play conn<tab>` is connectFour, `own<tab>` a file; a beginning of several shows them all."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    command = tmp_path / "herbrand"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m herbrand "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    script = CliRunner().invoke(cli, ["completion", shell], catch_exceptions=False).stdout
    (tmp_path / f"herbrand.{shell}").write_text(script, encoding="utf-8")
    (tmp_path / "ownGame.kif").write_text("(role me)", encoding="utf-8")
    words, setup = SHELLS[shell]
    program = terminal(*words)
    program.send(setup)
    program.until("ready> ")
    program.send("herbrand play conn\t")
    program.until("connectFour")
    program.send("\x15herbrand play own\t")
    program.until("ownGame.kif")
    program.send("\x15herbrand check t\t\t")
    program.until("ticTacToe")
    program.until("tron")

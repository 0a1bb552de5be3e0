"""Witnesses of weak winnability by clingo."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from herbrand.convert.asp import program_of_steps
from herbrand.errors import BudgetExceeded, InternalError
from herbrand.runtime.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from herbrand.check.rules import Rules
    from herbrand.syntax.nodes import Term

__all__ = ["shortest_win"]

_SCRIPT: Final = """
import clingo, json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
control = clingo.Control(["--warn=none"])
control.add("base", [], text)
control.add("check", [sys.argv[3]], "#external query(" + sys.argv[3] + ").")
joints = None
for step in range(int(sys.argv[2]) + 1):
    now = clingo.Number(step)
    parts = [("check", [now]), ("step", [now]) if step else ("base", [])]
    if step:
        control.release_external(clingo.Function("query", [clingo.Number(step - 1)]))
    control.ground(parts)
    control.assign_external(clingo.Function("query", [now]), True)
    with control.solve(yield_=True) as models:
        for model in models:
            joints = [[str(argument) for argument in atom.arguments] for atom in model.symbols(shown=True)]
            break
    if joints is not None:
        break
print(json.dumps(joints))
"""


def shortest_win(
    rules: Rules, role: Term, *, horizon: int = 50, limits: Limits = DEFAULT
) -> tuple[tuple[Term, ...], ...] | None:
    """Return the joint moves of a shortest play that ends with 100 for a role, with all roles cooperating.

    Each joint move is in role order; () when the initial state is such an end; None when no play of at
    most `horizon` steps ends so.  clingo runs in a child process; raises
    `BudgetExceeded` after `limits.seconds`.
    """
    program = program_of_steps(rules, "game", role)
    text = program.text.replace("#include <incmode>.\n", "")
    with tempfile.TemporaryDirectory(prefix="herbrand-") as folder:
        file = Path(folder) / "game.lp"
        file.write_text(text, encoding="utf-8")
        command = [sys.executable, "-c", _SCRIPT, str(file), str(horizon), program.now]
        try:
            process = subprocess.run(  # noqa: S603  # our own interpreter
                command,
                capture_output=True,
                timeout=limits.seconds,
                check=False,
                stdin=subprocess.DEVNULL,
                text=True,
            )
        except subprocess.TimeoutExpired:
            raise BudgetExceeded(f"{limits.seconds:g} seconds", "in the search for a play") from None
    if process.returncode:
        if process.returncode < 0 or "bad_alloc" in process.stderr:
            raise BudgetExceeded("the process limits of the operating system", "in the search for a play")
        raise InternalError(f"clingo rejected the program: {process.stderr.strip()[-300:]}")
    atoms = json.loads(process.stdout)
    if atoms is None:
        return None
    places = {other: i for i, other in enumerate(rules.roles)}
    steps: dict[int, dict[int, Term]] = {}
    for actor, move, time in atoms:
        steps.setdefault(int(time), {})[places[program.writer.read(actor)]] = program.writer.read(move)
    return tuple(tuple(steps[time][i] for i in range(len(places))) for time in sorted(steps))

"""Property directed reachability by an external model checker, Berkeley ABC, where it is installed.

The plays of a game are exported as AIGER (`network.as_aiger.property_aiger`).  The answer is an inductive
invariant, as clauses over fluents, or a line of play; neither is trusted: callers check both.
Method: Bradley 2011 (IC3), Een, Mishchenko and Brayton 2011.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from herbrand.engine.on_network import NetworkEngine
from herbrand.network.as_aiger import property_aiger
from herbrand.runtime.memory import limited_command

if TYPE_CHECKING:
    from herbrand.analyse.verdict import Moves
    from herbrand.network.network import Network

__all__ = ["Outcome", "run_pdr", "tool"]

_MEGABYTES = 4000


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of the model checker; empty if it has none."""

    clauses: tuple[tuple[tuple[int, bool], ...], ...] | None = None
    """An inductive invariant: each clause demands that one of its fluents, by index, has its value.

    With merged signals it may be one only together with why they are equal.
    """
    line: Moves | None = None
    """A line of play to such a state."""
    never: bool = False
    """Whether no such state is reachable."""


def tool() -> str | None:
    """Return the path of the model checker; None where it is not installed."""
    return shutil.which("berkeley-abc") or shutil.which("abc")


def run_pdr(network: Network, wanted: str, seconds: float, *, merge: bool = False) -> Outcome:
    """Ask whether a state can be reached; `wanted` as `property_aiger` names it.

    `merge` first merges signals that are equal by induction, which decides more, but gives clauses only
    over those that are left.  Returns an empty outcome when time was up or the tool is missing.
    """
    program = tool()
    if program is None or seconds < 1:
        return Outcome()
    graph = property_aiger(network, [wanted])
    names = tuple(f"l{i}" for i in range(len(graph.latches)))
    plain = replace(graph, latches=names, inputs=("",) * len(graph.inputs), bad=("",), comment="")
    first = "strash; scorr" if merge else "strash"
    script = f"read_aiger game.aig; {first}; pdr -d -I invariant.pla -T {int(seconds)}; write_cex -a line.cex"
    with tempfile.TemporaryDirectory(prefix="herbrand-") as folder:
        place = Path(folder)
        (place / "game.aig").write_bytes(plain.to_bytes())
        try:
            done = subprocess.run(  # noqa: S603  # a program the user installed, our own script
                limited_command([program, "-c", script], _MEGABYTES),
                cwd=place,
                capture_output=True,
                timeout=seconds + 2,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except (subprocess.TimeoutExpired, OSError):
            return Outcome()
        text = done.stdout.decode(errors="replace")
        if re.search(r"was asserted in frame", text) and (place / "line.cex").exists():
            return Outcome(line=_line(network, (place / "line.cex").read_text()))
        if "Property proved" in text or "is trivially UNSAT" in text or "Networks are equivalent" in text:
            file = place / "invariant.pla"
            if not file.exists():
                return Outcome(never=True, clauses=())
            return Outcome(never=True, clauses=_clauses(network, file.read_text()))
    return Outcome()


def _clauses(network: Network, text: str) -> tuple[tuple[tuple[int, bool], ...], ...]:
    """Read the invariant: each line is a set of states that is never reached, by values of latches.

    The latch for finished plays is dropped from clauses: it is off in all states of a play.
    """
    latches: list[int] = []
    clauses = []
    initial = network.initial.tolist()
    fluents = len(network.fluents)
    for line in text.splitlines():
        if line.startswith(".ilb"):
            latches = [int(name[1:]) for name in line.split()[1:]]
        elif line and line[0] in "01-":
            values = line.split()[0]
            clauses.append(
                tuple(
                    (latch, (value == "0") ^ initial[latch])
                    for latch, value in zip(latches, values, strict=True)
                    if value != "-" and latch < fluents
                )
            )
    return tuple(clauses)


def _line(network: Network, text: str) -> Moves | None:
    """Read a counterexample as a line of play; None if it is not one."""
    rows = [row for row in text.replace("# DONE", " ").split() if set(row) <= set("01x")]
    moves = len(network.moves)
    inputs = [row for row in rows if len(row) == moves]
    engine = NetworkEngine(network)
    name = network.terms.text
    all_moves = network.moves.tolist()
    key = engine.initial()
    line: list[tuple[str, ...]] = []
    for row in inputs[:-1]:
        if engine.terminal(key):
            return None
        joint = []
        for role in range(len(network.roles)):
            legal = set(engine.legal(key, role))
            wanted = [m for m, bit in enumerate(row) if bit == "1" and all_moves[m][0] == role]
            terms = [all_moves[m][1] for m in wanted if all_moves[m][1] in legal]
            if not terms:
                return None
            joint.append(terms[0])
        line.append(tuple(map(name, joint)))
        key = engine.successor(key, joint)
    return tuple(line)

"""Grounding: computes all rule instances that can matter in some reachable state.

`ground` writes the program as text for clingo's grounder, runs the grounder in a child process under a
budget, and parses its output into a `GroundProgram`.  The result over-approximates: it may contain atoms that
never become true.  Rules with many variables are decomposed first (`decompose`).  Huge relations are split by
the arguments that their derivations use (`narrow`); if that is not enough, all large relations are restricted
to the instances that the rules call (`demand`).  `sizes` estimates how large relations are.

| in the program | in the ground program             |
|----------------|-----------------------------------|
| clause         | its instances that may fire       |
| fact           | evaluated away                    |
| `true`, `does` | inputs                            |
| fluent that never changes (`fixed`) | fact         |
"""

from __future__ import annotations

import time
from threading import TIMEOUT_MAX, Lock
from typing import TYPE_CHECKING

from herbrand.errors import BudgetExceeded
from herbrand.runtime.limits import DEFAULT, seconds_left, time_spent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.check.rules import Rules
    from herbrand.ground.program import GroundProgram
    from herbrand.runtime.limits import Limits

__all__ = ["ground"]

_GROUNDING = Lock()
"""Held while a grounder runs: concurrent grounders would multiply the memory needed."""


def ground(
    rules: Rules,
    *,
    limits: Limits = DEFAULT,
    megabytes: int | None = None,
    shrink: bool = True,
    wanted: Iterable[tuple[str, int]] | None = None,
) -> GroundProgram:
    """Ground the rules of a game.

    `wanted` are the relations (name, arity) to ground besides those that define states and moves; by default
    all keywords of the language.  `shrink` decomposes rules first and treats fluents that never change as
    facts; the result is then valid only for states in which these have their initial values.  The grounder
    may use `limits.seconds` and `megabytes` of memory (by default `limits.megabytes`).  Its output may take a
    twentieth of that memory, since the network built from it takes many times as much.  Only one thread
    grounds at a time.  Raises `BudgetExceeded` if the budget is not enough.
    """
    from herbrand.ground.clingo_child import grounder
    from herbrand.ground.encode import INTERFACE, encode
    from herbrand.ground.fixed import fix
    from herbrand.rules.clauses import Program
    from herbrand.rules.terms import TermTable

    started = time.monotonic()
    terms = TermTable(rules.spelling, folds_case=rules.tree.folds_case)
    program = Program(rules.normal.rules, terms)
    if shrink:
        fix(program)
    text = encode(program, INTERFACE if wanted is None else wanted, shrink=shrink)
    memory = limits.megabytes if megabytes is None else megabytes
    seconds = min(limits.seconds, seconds_left())
    if not _GROUNDING.acquire(timeout=min(seconds, TIMEOUT_MAX)):
        raise BudgetExceeded(time_spent(seconds), "waiting for another thread to ground")
    try:
        with grounder(text, seconds=seconds, megabytes=memory) as output:
            # imported here so that numpy loads while the grounder runs
            from herbrand.ground.aspif import parse_aspif
            from herbrand.ground.program import GroundProgram

            head, start, body, atoms, named = parse_aspif(output, terms, max_bytes=(memory << 20) // 20)
    finally:
        _GROUNDING.release()
    return GroundProgram(terms, head, start, body, atoms, named, time.monotonic() - started)

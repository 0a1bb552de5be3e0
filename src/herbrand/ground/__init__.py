"""Grounding: every rule instance that can matter in some reachable state.

`ground` writes the program as text for clingo's grounder, runs it in a child process under a
budget, and reads back a `GroundProgram`.  The result over-approximates: it may list atoms that
never become true.  On the way rules with many variables are decomposed (`decompose`).  Where
some relation would be huge, it is taken apart by the arguments that its derivations look at
(`narrow`), or if that is not enough, all large ones are restricted to what is asked of them
(`demand`); `sizes` says what is large.  `naive` does the same in the plainest way, for tests.

| in the program | in the ground program             |
|----------------|-----------------------------------|
| clause         | all its instances that may fire   |
| fact           | gone, folded into the rules       |
| `true`, `does` | inputs                            |
| fluent that never changes (`fixed`) | fact         |
"""

from __future__ import annotations

import time
from threading import TIMEOUT_MAX, Lock
from typing import TYPE_CHECKING

from herbrand.errors import BudgetExceeded
from herbrand.runtime.limits import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.check.rules import Rules
    from herbrand.ground.program import GroundProgram
    from herbrand.runtime.limits import Limits

__all__ = ["ground"]

_GROUNDING = Lock()
"""Held while a grounder runs: several at once would need several times the memory."""


def ground(
    rules: Rules,
    *,
    limits: Limits = DEFAULT,
    megabytes: int | None = None,
    shrink: bool = True,
    wanted: Iterable[tuple[str, int]] | None = None,
) -> GroundProgram:
    """Ground the rules of a game.

    `wanted` are the relations (name, arity) that must be there besides those that make
    states and moves; by default all that the language gives a meaning.  `shrink` decomposes
    rules first, and takes fluents that never change for facts: what results says nothing about
    states in which they are otherwise.
    The grounder may take `limits.seconds` of processor time, and four times that by the clock, and
    `megabytes` of memory (by default `limits.megabytes`).  What it gives may take a twentieth of
    that, because making a network of it takes many times as much.  Threads ground one after another.
    Raises `BudgetExceeded` when these are not enough.
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
    most = limits.megabytes if megabytes is None else megabytes
    if not _GROUNDING.acquire(timeout=max(0.0, min(limits.seconds, TIMEOUT_MAX))):
        raise BudgetExceeded(f"{limits.seconds:g} seconds", "waiting for another thread that grounds")
    try:
        with grounder(text, seconds=limits.seconds, megabytes=most) as output:
            # numpy is loaded while the grounder runs
            from herbrand.ground.aspif import parse_aspif
            from herbrand.ground.program import GroundProgram

            head, start, body, atoms, named = parse_aspif(output, terms, most=(most << 20) // 20)
    finally:
        _GROUNDING.release()
    return GroundProgram(terms, head, start, body, atoms, named, time.monotonic() - started)

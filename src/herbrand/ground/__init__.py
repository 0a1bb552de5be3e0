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

import re
import time
from collections import Counter
from contextlib import contextmanager
from threading import TIMEOUT_MAX, Lock
from typing import TYPE_CHECKING

from herbrand.errors import BudgetExceeded
from herbrand.runtime.limits import DEFAULT, seconds_left, time_spent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from herbrand.check.rules import Rules
    from herbrand.ground.program import GroundProgram
    from herbrand.rules.terms import TermTable
    from herbrand.runtime.limits import Limits

__all__ = ["count_instances", "ground"]

_NAMED = re.compile(rb"^4 \d+ ([a-z_]+)", re.MULTILINE)
"""A line of the grounder's output that names an atom."""

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
    started = time.monotonic()
    wanted = None if wanted is None else list(wanted)
    with _grounding(rules, limits, megabytes, wanted, shrink=shrink) as (terms, output, memory):
        # imported here so that numpy loads while the grounder runs
        from herbrand.ground.aspif import parse_aspif
        from herbrand.ground.encode import labels
        from herbrand.ground.program import GroundProgram

        head, start, body, atoms, named = parse_aspif(output, terms, max_bytes=(memory << 20) // 20)
    for label, (name, _) in zip(labels(wanted or ()), wanted or (), strict=True):
        if label in named:
            named[name] = named.pop(label)
    return GroundProgram(terms, head, start, body, atoms, named, time.monotonic() - started)


def count_instances(
    rules: Rules, wanted: Iterable[tuple[str, int]], *, limits: Limits = DEFAULT, megabytes: int | None = None
) -> dict[tuple[str, int], int]:
    """Return the number of ground instances of each of the `wanted` relations (name, arity).

    Several times as fast as `ground`, whose budget and errors it has.
    """
    from herbrand.ground.encode import labels

    wanted = list(wanted)
    counts: Counter[bytes] = Counter()
    with _grounding(rules, limits, megabytes, wanted, shrink=True) as (_, output, _):
        for chunk in output:
            counts.update(_NAMED.findall(chunk))
    return {key: counts[label.encode()] for label, key in zip(labels(wanted), wanted, strict=True)}


@contextmanager
def _grounding(
    rules: Rules,
    limits: Limits,
    megabytes: int | None,
    wanted: Sequence[tuple[str, int]] | None,
    *,
    shrink: bool,
) -> Iterator[tuple[TermTable, Iterator[bytes], int]]:
    """Run the grounder; the context value has the terms, the output, and the megabytes it may take."""
    from herbrand.ground.clingo_child import grounder
    from herbrand.ground.encode import INTERFACE, encode
    from herbrand.ground.fixed import fix
    from herbrand.rules.clauses import Program
    from herbrand.rules.terms import TermTable

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
            yield terms, output, memory
    finally:
        _GROUNDING.release()

"""Compare an engine with a recorded trace.

Trace files are JSON lines, plain or gzipped: a "game" line with the roles, then for each
match a "match" line and its "step" lines, then an "end" line.  A step has `terminal`,
`goals` and the joint `move` (null in the last step), the number of fluents and of legal
moves of each role (`state_n`, `legal_n`), their SHA-256 over the sorted terms joined by line
feeds (`state_sha256`, `legal_sha256`), and the terms themselves where there are few
(`state`, `legal`).
"""

from __future__ import annotations

import gzip
import hashlib
import json
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herbrand.errors import HerbrandError, InvalidMoveError
from herbrand.syntax.case import with_case
from herbrand.verify.report import Difference, Report, shown, surplus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["read_trace", "verify_trace"]


def verify_trace(
    game: StateMachine,
    path: str | Path,
    *,
    engine: str = "auto",
    progress: Callable[[int], None] | None = None,
) -> Report:
    """Replay a trace file and compare state, legal moves, terminal and goals of every step.

    Terms are compared without case.  When the rules spell a name in several ways and the trace
    disagrees, the trace is compared once more with a case-sensitive reading of the rules, since
    the system that recorded it may be case-sensitive; a remark mentions that.  Raises `HerbrandError` for a
    file that is not a trace, `OSError` when it cannot be opened.
    """
    steps = list(read_trace(Path(path)))
    report = _replay(game, steps, engine, progress)
    if report.ok or not any(d.check == "inconsistent-case" for d in game.tree.diagnostics):
        return report
    cased = _replay(
        type(game)(with_case(game.tree), name=game.name, limits=game.limits), steps, engine, progress
    )
    if not cased.ok:
        return report
    remark = "agrees only when names are compared with case, as in the recording system"
    return Report(cased.states, None, (*cased.remarks, remark), cased.seconds, cased.engine)


def read_trace(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a trace file; raises as `verify_trace` does."""
    open_text = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with open_text(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                record = json.loads(line)
                if not isinstance(record, dict) or "type" not in record:
                    raise HerbrandError(f"{path}:{number}: not a trace record")
                yield record
    except (ValueError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise HerbrandError(f"{path}:{number + 1}: not a trace file: {error}") from None
    if not number:
        raise HerbrandError(f"{path}: not a trace file: it is empty")


def _replay(
    game: StateMachine, records: Iterable[dict[str, Any]], engine: str, progress: Callable[[int], None] | None
) -> Report:
    state: State | None = None
    remarks: list[str] = []
    moves: list[str] = []
    states = match = 0
    exact = not {d.check for d in game.tree.diagnostics} & {"inconsistent-case", "superfluous-parentheses"}
    initial = game.initial_state(engine)
    started = time.process_time()

    def report(difference: Difference | None) -> Report:
        return Report(states, difference, tuple(remarks), time.process_time() - started, initial.engine)

    for record in records:
        kind = record["type"]
        if kind == "game":
            remarks += _compare_text(game, record)
            if [r.lower() for r in record.get("roles", [])] != [r.lower() for r in game.roles]:
                return report(Difference(0, 0, "roles", str(record.get("roles")), str(list(game.roles))))
        elif kind == "match":
            match, state, moves = record.get("match", match), initial, []
        elif kind == "step":
            if state is None:
                raise HerbrandError("not a trace: a step precedes its match")
            step = record.get("step", len(moves))
            for what, expected, got in _compare(state, record, exact=exact):
                return report(Difference(match, step, what, expected, got, tuple(moves)))
            states += 1
            if progress is not None:
                progress(states)
            move = record.get("move")
            if move is not None:
                moves.append(f"({' '.join(move)})")
                try:
                    state = state.next([_plain(term) for term in move])
                except (HerbrandError, ValueError) as error:
                    return report(Difference(match, step, "move", " ".join(move), str(error), tuple(moves)))
        elif kind == "end" and record.get("status") != "ok":
            remarks.append(f"the recording ended early: {record.get('error') or record.get('status')}")
    return report(None)


def _compare_text(game: StateMachine, record: dict[str, Any]) -> Iterator[str]:
    recorded = record.get("sha256")
    name = Path(game.tree.source.name)
    if recorded and name.is_file() and hashlib.sha256(name.read_bytes()).hexdigest() != recorded:
        yield "the trace was recorded from a different text of the rules"


def _compare(state: State, record: dict[str, Any], *, exact: bool) -> Iterator[tuple[str, str, str]]:
    """Yield each difference between a state and a step record: aspect, expected, got."""
    yield from _compare_terms("state", sorted(state.facts), record, "state", None, exact=exact)
    terminal = state.is_terminal
    if terminal != record.get("terminal"):
        yield "terminal", str(record.get("terminal")), str(terminal)
    for i, role in enumerate(state.roles):
        moves = [move.gdl for move in state.legal_moves(role)]
        yield from _compare_terms(f"legal {role}", moves, record, "legal", i, exact=exact)
        recorded = record["goals"][i]
        goal = state.goal(role)
        if goal != recorded:
            yield f"goal {role}", str(recorded), f"{goal} {list(state.goal_values(role))}"


def _compare_terms(
    what: str, got: Sequence[str], record: dict[str, Any], name: str, role: int | None, *, exact: bool
) -> Iterator[tuple[str, str, str]]:
    def recorded(key: str) -> Any:
        value = record.get(key)
        return value if role is None or value is None else value[role]

    terms = recorded(name)
    if terms is not None:
        missing, extra = surplus(map(_plain, terms), got)
        if missing or extra:
            yield what, f"also {shown(missing)}", f"also {shown(extra)}"
    elif recorded(f"{name}_n") != len(got):
        yield what, f"{recorded(f'{name}_n')} terms", f"{len(got)} terms"
    elif exact and recorded(f"{name}_sha256") is not None:
        digest = hashlib.sha256("\n".join(got).encode()).hexdigest()
        if digest != recorded(f"{name}_sha256"):
            yield what, f"SHA-256 {recorded(f'{name}_sha256')}", f"SHA-256 {digest}"


def _plain(text: str) -> str:
    """Return a recorded term in canonical spelling: `f` for `(f)`."""
    from herbrand.machine.moves import Move

    try:
        return Move(text).gdl if "(" in text else text
    except InvalidMoveError:
        raise HerbrandError(f"not a trace: `{text}` is not a term") from None

"""Linear tabling: solves every call of a recursive predicate once, cycles to their fixpoint.

Every call of a recursive predicate has an `AnswerTable`.  A call to a table that is being solved uses the
answers so far.  The outermost call of such a cycle, its leader, is repeated until a round adds no answer to
any table of the cycle; then all of them are complete (Zhou, Sato and Shen, "Linear tabling strategies
and optimizations", TPLP 8, 2008).  The dependency of a call is recorded as `low`, the depth of the outermost
unfinished call whose answers it has read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import GameError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["AnswerTable", "Evaluation"]

_FREE: Final = 1 << 60


class AnswerTable:
    """The answers to one call of a recursive predicate."""

    __slots__ = ("active", "answers", "done", "low", "out", "pending", "stamp")

    def __init__(self) -> None:
        self.out: dict[Any, None] = {}
        self.answers: list[Any] = []
        """The final answers if `done`."""
        self.done = False
        self.active = False
        self.pending = False
        self.stamp = -1
        self.low = _FREE


class Evaluation:
    """The calls in progress of one engine."""

    __slots__ = ("changes", "depth", "low", "pending", "round")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Discard all calls in progress, after an exception."""
        self.depth = 0
        self.low = _FREE
        self.round = 0
        self.changes = 0
        self.pending: list[AnswerTable] = []

    def recall(self, table: AnswerTable) -> list[Any] | None:
        """Return the answers so far if the table is being solved or was solved in this round, else None."""
        if table.active or table.stamp == self.round:
            self.low = min(self.low, table.low)
            return list(table.out)
        return None

    def solve(self, table: AnswerTable, clauses: Callable[..., None], *args: Any) -> list[Any]:
        """Solve a call; its answers may be incomplete if it depends on an unfinished caller."""
        outer, started = self.low, self.round
        self.depth = depth = self.depth + 1
        first = len(self.pending)
        fresh = not table.pending
        if fresh:
            table.pending = True
            self.pending.append(table)
        table.active = True
        table.low = depth
        out = table.out
        while True:
            table.stamp = self.round
            changes, before = self.changes, len(out)
            self.low = _FREE
            clauses(*args[:1], out, *args[1:])
            self.changes += len(out) != before
            low = self.low
            if low != depth or self.changes == changes:
                break
            self.round += 1
        table.active = False
        self.depth = depth - 1
        answers = list(out)
        if low >= depth:
            # a table that the last round did not solve again may lack answers: discard it
            for finished in self.pending[first:] if fresh else [table]:
                if finished.stamp == self.round:
                    finished.done = True
                    finished.answers = list(finished.out)
                else:
                    finished.pending = False
                    finished.stamp = -1
            if fresh:
                del self.pending[first:]
            self.low, self.round = outer, started
        else:
            table.low = low
            self.low = min(outer, low)
        return answers

    def settled(self, call: Callable[..., Any], *args: Any) -> Any:
        """Return the answer of a call that is negated inside its own component.

        If the rules are stratified, the answer depends on no unfinished call; otherwise `GameError` is
        raised.
        """
        outer, self.low = self.low, _FREE
        answer = call(*args)
        if self.low != _FREE:
            raise GameError("the rules are not stratified: a fact depends on its own negation")
        self.low = outer
        return answer

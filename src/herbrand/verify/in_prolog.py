"""The Prolog engine: SWI-Prolog evaluates the exported rules.

The output of `herbrand convert --to prolog` is loaded into a child process, and every query about a state is
one line to it and one line back.  Slow, but independent of the other evaluators, for comparison.  Creating an
engine looks for the program `swipl`.
"""

from __future__ import annotations

import shutil
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from herbrand.convert.prolog import program
from herbrand.convert.prolog.clauses import ground_term
from herbrand.errors import BudgetExceeded, GameError, MissingProgram
from herbrand.runtime.limits import DEFAULT, Limits
from herbrand.runtime.line_process import LineProcess
from herbrand.verify.child_engine import ChildEngine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.check.rules import Rules

__all__ = ["PrologEngine", "find_swipl"]

_STATES: Final = 64
"""The most answers in the cache."""


def find_swipl() -> str:
    """Return the path of SWI-Prolog; raises `MissingProgram` when it is not installed."""
    path = shutil.which("swipl")
    if path is None:
        raise MissingProgram(
            "the engine `prolog`", "swipl", "SWI-Prolog 9; Debian: apt install swi-prolog-nox"
        )
    return path


class PrologEngine(ChildEngine):
    """Evaluates states with SWI-Prolog; `style` is that of the exported text, "literal" or "state"."""

    name = "prolog"

    def __init__(
        self, rules: Rules, *, limits: Limits = DEFAULT, style: str = "literal", megabytes: int = 2000
    ) -> None:
        super().__init__(rules, limits)
        swipl = find_swipl()
        self._answers: OrderedDict[tuple[frozenset[int], str], list[int]] = OrderedDict()
        folder = self._folder
        (folder / "game.pl").write_text(program(rules, "game", style), encoding="utf-8")
        parts = ("server.pl", "answers_literal.pl" if style == "literal" else "answers_state.pl")
        server = "\n".join(Path(__file__).with_name(part).read_text(encoding="utf-8") for part in parts)
        (folder / "server.pl").write_text(server.replace("@@", "game"), encoding="utf-8")
        limit = f"={megabytes}m"
        command = [swipl, "-q", "-f", "none", f"--stack-limit{limit}", f"--table-space{limit}"]
        files = [str(folder / "game.pl"), str(folder / "server.pl")]
        self._child = LineProcess("swipl", [*command, "-g", "serve", "-t", "halt", *files])

    # -- the Engine interface -------------------------------------------------------------

    def initial(self) -> frozenset[int]:
        """Return the fluents of the initial state."""
        return frozenset(self._query(frozenset(), (), "init"))

    def legal(self, key: frozenset[int], role: int) -> list[int]:
        """Return the legal moves of a role."""
        return self._cached(key, f"legal({self._text(self.roles[role])})")

    def terminal(self, key: frozenset[int]) -> bool:
        """Return whether the state is terminal."""
        return bool(self._cached(key, "terminal"))

    def goals(self, key: frozenset[int], role: int) -> list[int]:
        """Return the goal values of a role."""
        return self._cached(key, f"goal({self._text(self.roles[role])})")

    def successor(self, key: frozenset[int], moves: Sequence[int]) -> frozenset[int]:
        """Return the state after a joint move."""
        return frozenset(self._query(key, moves, "next"))

    def percepts(self, key: frozenset[int], moves: Sequence[int], role: int) -> list[int]:
        """Return the percepts of a role after a joint move."""
        return self._query(key, moves, f"sees({self._text(self.roles[role])})")

    # -- queries --------------------------------------------------------------------------

    def _cached(self, key: frozenset[int], question: str) -> list[int]:
        """Return the answer for a state from the cache, or query it."""
        with self._lock:
            answers = self._answers.get((key, question))
            if answers is None:
                answers = self._answers[key, question] = self._query(key, (), question)
                if len(self._answers) > _STATES:
                    self._answers.popitem(last=False)
            return answers

    def _query(self, key: frozenset[int], moves: Sequence[int], question: str) -> list[int]:
        with self._lock:
            if not self._child.is_running:
                self._state = None
            text = self._text
            state = "same" if key == self._state else f"[{', '.join(map(text, key))}]"
            pairs = zip(self.roles, moves, strict=True) if moves else ()
            inputs = ", ".join(f"does({text(role)}, {text(move)})" for role, move in pairs)
            self._state = None
            answer = self._child.ask(f"ask({state}, [{inputs}], {question}).", self.limits.seconds)
            status, *terms = answer.split("\t")
            if status == "resource":
                raise BudgetExceeded(f"the limit of swipl on {terms[0]}", f"in the query {question}")
            if status != "ok":
                raise GameError(f"swipl cannot answer {question}: {' '.join(terms)}")
            self._state = key
            return [self._number(term) for term in terms]

    def _written(self, number: int) -> str:
        return ground_term(self.terms, number)

    def _read(self, text: str) -> int:
        return self.terms.read(text)

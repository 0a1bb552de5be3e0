"""The answer set engine: clingo's grounder evaluates the exported rules.

The rules are those of `herbrand convert --to asp`, in three parts: static relations, relations of a state,
and relations of a joint move.  A child process grounds the first part once; each query adds the facts of a
state with a new time stamp and grounds the second or third part for it.  Stratified rules have one answer
set, so that grounding decides every atom.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from herbrand.convert.asp.writer import RuleWriter
from herbrand.convert.levels import DOES, INTERFACE, MOVE, STATE, STATIC, TRUE
from herbrand.errors import BudgetExceeded, GameError
from herbrand.runtime.limits import DEFAULT, Limits
from herbrand.runtime.line_process import LineProcess, ProcessDied
from herbrand.runtime.memory import limiting_script
from herbrand.verify.child_engine import ChildEngine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.check.rules import Rules

__all__ = ["AnswerSetEngine"]

_SCRIPT: Final = r"""
import json, sys
import clingo
with open(sys.argv[1], encoding="utf-8") as file:
    TEXT = file.read()
NOW, STATES = sys.argv[2], 16
control, time, moved, fresh = None, 0, False, 0

def facts(atoms):
    global fresh
    fresh += 1
    control.add(f"facts{fresh}", [NOW], "".join(atom + "." for atom in atoms))
    control.ground([(f"facts{fresh}", [clingo.Number(time)])])

def enter(state):
    global control, time, moved
    if control is None or time >= STATES:
        control, time = clingo.Control(["--warn=none"]), 0
        control.add("base", [], TEXT)
        control.ground([("base", [])])
    time, moved = time + 1, False
    facts(state)
    control.ground([("state", [clingo.Number(time)])])

def answer(names):
    extensions = {}
    now = clingo.Number(time)
    for key, name, arity, timed in names:
        rows = []
        for atom in control.symbolic_atoms.by_signature(name, arity + timed):
            arguments = atom.symbol.arguments
            if not timed or arguments[-1] == now:
                if not atom.is_fact:
                    return {"error": f"the truth of {atom.symbol} is open after grounding"}
                rows.append([str(argument) for argument in arguments[:arity]])
        extensions[key] = rows
    return extensions

last = None
for line in sys.stdin:
    query = json.loads(line)
    try:
        if query["state"] is not None:
            last = query["state"]
            enter(last)
        if query["moves"]:
            if moved:
                enter(last)
            facts(query["moves"])
            control.ground([("move", [clingo.Number(time)])])
            moved = True
        reply = answer(query["ask"])
    except MemoryError:
        reply = {"memory": True}
        control = None
    except RuntimeError as error:
        reply = {"memory": True} if "bad_alloc" in str(error) else {"error": str(error)}
        control = None
    print(json.dumps(reply), flush=True)
"""


class AnswerSetEngine(ChildEngine):
    """Evaluates states with clingo."""

    name = "asp"

    def __init__(self, rules: Rules, *, limits: Limits = DEFAULT, megabytes: int = 4000) -> None:
        super().__init__(rules, limits)
        self._writer = RuleWriter(rules, only_needed=True)
        self._now = self._writer.fresh_constant("t")
        self._answers: dict[str, list[tuple[int, ...]]] = {}
        file = self._folder / "game.lp"
        file.write_text(self._program(), encoding="utf-8")
        script = limiting_script(megabytes) + _SCRIPT
        self._child = LineProcess("clingo", [sys.executable, "-c", script, str(file), self._now])
        self._megabytes = megabytes

    def _program(self) -> str:
        writer, now = self._writer, self._now
        lines = ["#program base.", *writer.section(STATIC), *writer.undefined(timed=True)]
        lines += [f"#program state({now}).", *writer.section(STATE, now)]
        lines += [f"#program move({now}).", *writer.section(MOVE, now)]
        return "\n".join(lines) + "\n"

    # -- the Engine interface -------------------------------------------------------------

    def initial(self) -> frozenset[int]:
        """Return the fluents of the initial state."""
        with self._lock:
            return frozenset(row[0] for row in self._query((), (), [("init", 1)])["init"])

    def legal(self, key: frozenset[int], role: int) -> list[int]:
        """Return the legal moves of a role."""
        return [row[1] for row in self._state_answers(key)["legal"] if row[0] == self.roles[role]]

    def terminal(self, key: frozenset[int]) -> bool:
        """Return whether the state is terminal."""
        return bool(self._state_answers(key)["terminal"])

    def goals(self, key: frozenset[int], role: int) -> list[int]:
        """Return the goal values of a role."""
        return [row[1] for row in self._state_answers(key)["goal"] if row[0] == self.roles[role]]

    def successor(self, key: frozenset[int], moves: Sequence[int]) -> frozenset[int]:
        """Return the state after a joint move."""
        return frozenset(row[0] for row in self._move_answers(key, moves, ("next", 1)))

    def percepts(self, key: frozenset[int], moves: Sequence[int], role: int) -> list[int]:
        """Return the percepts of a role after a joint move."""
        return [row[1] for row in self._move_answers(key, moves, ("sees", 2)) if row[0] == self.roles[role]]

    # -- queries --------------------------------------------------------------------------

    def _state_answers(self, key: frozenset[int]) -> dict[str, list[tuple[int, ...]]]:
        """Return the relations of a state, from the cache for the last one."""
        with self._lock:
            if key != self._state or not self._child.is_running:
                relations = [relation for relation in INTERFACE if self._writer.levels[relation] <= STATE]
                self._state = None
                self._answers = self._query(key, (), relations)
                self._state = key
            return {"legal": [], "goal": [], "terminal": [], **self._answers}

    def _move_answers(
        self, key: frozenset[int], moves: Sequence[int], relation: tuple[str, int]
    ) -> list[tuple[int, ...]]:
        """Return the rows of a relation for a joint move."""
        with self._lock:
            answers = self._state_answers(key)
            if relation[0] in answers:  # independent of the moves
                return answers[relation[0]]
            self._state = None
            rows = self._query(None, moves, [relation])[relation[0]]
            self._state = key
            return rows

    def _query(
        self, state: Iterable[int] | None, moves: Sequence[int], relations: Sequence[tuple[str, int]]
    ) -> dict[str, list[tuple[int, ...]]]:
        writer, now, text = self._writer, self._now, self._text
        true = None if state is None else [writer.atom(TRUE, [text(fluent)], now) for fluent in state]
        pairs = zip(self.roles, moves, strict=True) if moves else ()
        does = [writer.atom(DOES, [text(role), text(move)], now) for role, move in pairs]
        names = [(key[0], writer.names[key], key[1], int(writer.levels[key] > STATIC)) for key in relations]
        query = json.dumps({"state": true, "moves": does, "ask": names})
        try:
            answer: dict[str, Any] = json.loads(self._child.ask(query, self.limits.seconds))
        except ProcessDied as error:
            raise BudgetExceeded("the process limits of the operating system", str(error)) from None
        if "memory" in answer:
            raise BudgetExceeded(f"{self._megabytes} MB", "while grounding a state")
        if "error" in answer:
            raise GameError(f"clingo cannot answer: {answer['error']}")
        return {name: [tuple(map(self._number, row)) for row in rows] for name, rows in answer.items()}

    def _written(self, number: int) -> str:
        return self._writer.term(self.terms.term(number))

    def _read(self, text: str) -> int:
        return self.terms.intern(self._writer.read(text))

"""`RulesEngine`: evaluates the checked rules directly, without grounding.

This engine runs every rulesheet, including those that are too large to ground.  Goals are proved top-down
with a table for every call, so that only what a query needs is computed, and only once; recursive calls are
iterated to their fixpoint (`tabling`), rule bodies are reordered (`planner`) and compiled to Python functions
(`codegen`).  The answers are those of the perfect model of the stratified rules with `true` and `does`
(`naive` computes that model from its definition; tests compare the two).

Static relations are computed once; tables that depend on the state live as long as its `TabledState`, of
which the engine caches the most recent ones.
"""

from __future__ import annotations

import sys
import time
from collections import OrderedDict, defaultdict
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, TypeVar

from herbrand.errors import BudgetExceeded, GameError
from herbrand.rules.clauses import STATIC, Predicate, Program
from herbrand.rules.codegen import Compiler, index_rows
from herbrand.rules.interface import FluentKeys
from herbrand.rules.planner import Planner, Statistics
from herbrand.rules.tabling import AnswerTable, Evaluation
from herbrand.rules.terms import TermTable
from herbrand.runtime.limits import DEFAULT, Limits, require_time, seconds_left, time_spent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.check.rules import Rules
    from herbrand.rules.clauses import Pattern
    from herbrand.syntax.nodes import Atom

__all__ = ["RulesEngine"]

_Answer = TypeVar("_Answer")
_MODELS: Final = 16
"""The number of states whose tables are cached."""
_EXTENSION_ATOMS: Final = 60_000
_EXTENSION_SECONDS: Final = 1.0
"""Budget for computing one static relation whole; if it is exceeded, calls are tabled one by one."""
_RECURSION: Final = 60_000
"""Recursion limit in Python frames; calls between generated functions need no C stack."""


class _Indexes(dict[int, Any]):
    """Indexes over the fluents of a state by slot, each built on first use.

    There is no reference to the `TabledState`: a reference cycle would keep the tables of every state alive
    until the cyclic garbage collector runs, which stops all threads.
    """

    __slots__ = ("engine", "groups")

    def __init__(self, engine: RulesEngine, groups: dict[int, list[tuple[int, ...]]]) -> None:
        self.engine = engine
        self.groups = groups

    def __missing__(self, slot: int) -> Any:
        functor, mask = self.engine.compiler.slots[slot]
        index = self[slot] = index_rows(self.groups.get(functor, ()), mask)
        return index


class TabledState:
    """A state with its tables."""

    __slots__ = ("engine", "facts", "groups", "indexes", "tables")

    def __init__(self, engine: RulesEngine, facts: frozenset[int]) -> None:
        self.engine = engine
        self.facts = facts
        groups: dict[int, list[tuple[int, ...]]] = {}
        functor, args = engine.terms.functor, engine.terms.args
        for fact in facts:
            groups.setdefault(functor[fact], []).append(args[fact])
        self.groups = groups
        self.indexes = _Indexes(engine, groups)
        self.tables: defaultdict[str, dict[Any, Any]] = defaultdict(dict)


class MoveModel:
    """A state and a joint move, with the tables that depend on both."""

    __slots__ = ("by_role", "moves", "state", "tables")

    def __init__(self, state: TabledState, moves: Sequence[tuple[int, int]]) -> None:
        self.state = state
        self.moves = moves
        self.by_role = dict(moves)
        self.tables: defaultdict[str, dict[Any, Any]] = defaultdict(dict)


class RulesEngine(FluentKeys):
    """Evaluates checked rules.  Thread-safe: a lock serialises calls."""

    name = "rules"
    in_order = False

    def __init__(self, rules: Rules, *, limits: Limits = DEFAULT) -> None:
        if rules.errors:
            raise GameError(f"{rules.tree.source.name} has errors", rules.errors)
        self.limits = limits
        self.terms = TermTable(
            rules.spelling, limit=max(1000, min(limits.atoms * 4, 2**31)), folds_case=rules.tree.folds_case
        )
        self.program = Program(rules.normal.rules, self.terms)
        self.roles = tuple(map(self.terms.intern, rules.roles))
        self.statistics = Statistics()
        self._lock = RLock()
        self._evaluation = Evaluation()
        self._atoms_derived = 0
        self._checkpoint = 0
        self._deadline = 0.0
        self._running = False
        self._static = TabledState(self, frozenset())
        namespace: dict[str, Any] = {
            "AR": self.terms.args,
            "CONS": self.terms.cons,
            "EVAL": self._evaluation,
            "FN": self.terms.functor,
            "S": self._static,
            "TABLE": AnswerTable,
            "TICK": self._tick,
        }
        planner = Planner(self.statistics, len(self.roles), self._tick)
        self.compiler = Compiler(self.program, planner, namespace, rules.tree.source.name)
        self._models: OrderedDict[frozenset[int], TabledState] = OrderedDict()
        self._extend()
        relation = self.program.relation
        self._legal = relation("legal", 2)
        self._goal = relation("goal", 2)
        self._terminal = relation("terminal", 0)
        self._next = relation("next", 1)
        self._sees = relation("sees", 2)
        initial = self._initial = frozenset(self.static_extension("init", 1))
        for functor, rows in TabledState(self, initial).groups.items():
            self.statistics.observe(self.program.fluent(functor), rows)
        by_component = sorted(self.program.predicates, key=lambda p: p.component)
        self._guarded(lambda: planner.estimate(by_component))

    # -- the Engine interface -------------------------------------------------------------

    def initial(self) -> frozenset[int]:
        """Return the key of the initial state: its fluents."""
        return self._initial

    def legal(self, key: frozenset[int], role: int) -> list[int]:
        """Return the legal moves of a role."""
        answer: list[int] = self._run(self._legal, "bf", key, None, self.roles[role])
        return answer

    def successor(self, key: frozenset[int], moves: Sequence[int]) -> frozenset[int]:
        """Return the state after a joint move."""
        return frozenset(self._run(self._next, "f", key, moves))

    def terminal(self, key: frozenset[int]) -> bool:
        """Return whether the state is terminal."""
        answer: bool = self._run(self._terminal, "", key, None)
        return answer

    def goals(self, key: frozenset[int], role: int) -> list[int]:
        """Return the goal values of a role."""
        answer: list[int] = self._run(self._goal, "bf", key, None, self.roles[role])
        return answer

    def percepts(self, key: frozenset[int], moves: Sequence[int], role: int) -> list[int]:
        """Return the percepts of a role."""
        answer: list[int] = self._run(self._sees, "bf", key, moves, self.roles[role])
        return answer

    # -- further questions ----------------------------------------------------------------

    def static_extension(self, name: str, arity: int) -> list[Any]:
        """Return all rows of a static relation, such as `base`."""
        predicate = self.program.relation(name, arity)
        return self._guarded(lambda: self._whole(predicate))

    def answers(self, key: frozenset[int], moves: Sequence[int] | None, atom: Atom) -> list[tuple[int, ...]]:
        """Return the argument tuples of all instances of an atom that hold, each once.

        For `(true ...)` the tuple is the fluent, for `(does ...)` role and move.
        """
        relation = atom.name, len(atom.args)
        patterns = tuple(map(self.program.pattern, atom.args))
        if relation == ("true", 1):
            rows: list[tuple[int, ...]] = [(fact,) for fact in key]
        elif relation == ("does", 2):
            rows = list(zip(self.roles, moves or (), strict=False))
        else:
            predicate = self.program.relations.get(relation)
            if predicate is None:
                return []
            mask = "".join("b" if isinstance(p, int) else "f" for p in patterns)
            answers = self._run(predicate, mask, key, moves, *(p for p in patterns if isinstance(p, int)))
            rows = _whole_rows(answers, patterns, mask)
        return [row for row in rows if self._matches(patterns, row)]

    def _matches(self, patterns: Sequence[Pattern], row: Sequence[int]) -> bool:
        bound: dict[str, int] = {}
        stack = list(zip(patterns, row, strict=True))
        while stack:
            pattern, value = stack.pop()
            if isinstance(pattern, int):
                if pattern != value:
                    return False
            elif isinstance(pattern, str):
                if bound.setdefault(pattern, value) != value:
                    return False
            elif self.terms.functor[value] != pattern[0]:
                return False
            else:
                stack += zip(pattern[1:], self.terms.args[value], strict=True)
        return True

    # -- running --------------------------------------------------------------------------

    def _run(
        self, predicate: Predicate, mask: str, key: frozenset[int], moves: Sequence[int] | None, *args: int
    ) -> Any:
        if predicate.level > 1 and moves is None:
            raise GameError(f"`{predicate.name}` depends on the moves, and no move was made")

        def work() -> Any:
            if predicate.kind == "facts":
                rows = self.compiler.rows(predicate, mask)
                return _look_up(rows, mask, args)
            model: TabledState | MoveModel = self._model(key)
            if predicate.level > 1:
                assert moves is not None
                model = MoveModel(self._model(key), list(zip(self.roles, moves, strict=True)))
            return self.compiler.function(predicate, mask)(model, *args)

        return self._guarded(work)

    def _guarded(self, work: Callable[[], _Answer], limits: Limits | None = None) -> _Answer:
        """Run `work` under the lock and the budget; discard all tables if it fails."""
        with self._lock:
            if self._running:
                return work()
            require_time()
            limits = limits or self.limits
            self._atoms_derived = 0
            self._checkpoint = 512
            self._allowed = limits.atoms
            self._deadline = time.monotonic() + min(limits.seconds, seconds_left())
            recursion_limit = sys.getrecursionlimit()
            sys.setrecursionlimit(max(recursion_limit, _RECURSION))
            self._running = True
            try:
                return work()
            except BaseException as error:
                self._clean()
                if isinstance(error, RecursionError):
                    reason = "recursion in the rules is too deep"
                    raise BudgetExceeded(f"{_RECURSION} nested calls", reason) from None
                raise
            finally:
                self._running = False
                sys.setrecursionlimit(recursion_limit)

    def _clean(self) -> None:
        self._evaluation.reset()
        self.compiler.forget()  # some functions may be declared but not compiled
        self._models.clear()
        self._static.tables.clear()

    def _tick(self, amount: int) -> None:
        """Count work, and check the limits from time to time."""
        self._atoms_derived += amount
        if self._atoms_derived >= self._checkpoint:
            self._checkpoint = self._atoms_derived + 512
            if self._atoms_derived > self._allowed:
                raise BudgetExceeded(f"{self._allowed} atoms", "while evaluating the rules")
            if time.monotonic() > self._deadline:
                raise BudgetExceeded(time_spent(self.limits.seconds), f"{self._atoms_derived} atoms derived")

    def _model(self, key: frozenset[int]) -> TabledState:
        models = self._models
        model = models.get(key)
        if model is None:
            model = models[key] = TabledState(self, key)
            if len(models) > _MODELS:
                models.popitem(last=False)
        else:
            models.move_to_end(key)
        return model

    # -- preparation ----------------------------------------------------------------------

    def _extend(self) -> None:
        """Compute the static relations that are cheap to compute whole, callees first."""
        for predicate in self.program.predicates:
            if predicate.kind == "facts":
                self.statistics.observe(predicate, predicate.rows)
        limits = Limits(
            min(_EXTENSION_SECONDS, self.limits.seconds), min(_EXTENSION_ATOMS, self.limits.atoms)
        )
        static = [p for p in self.program.predicates if p.level == STATIC and p.kind == "rules"]
        for predicate in sorted(static, key=lambda p: p.component):
            if predicate.name.startswith("or ") or predicate.name in ("base", "input"):
                continue
            try:
                rows = self._guarded(lambda p=predicate: self._whole(p), limits)  # type: ignore[misc]
            except (BudgetExceeded, GameError):
                continue
            if predicate.arity == 1:
                rows = [(value,) for value in rows]
            elif predicate.arity == 0:
                rows = [()] if rows else []
            predicate.rows = dict.fromkeys(rows)
            predicate.clauses = []
            predicate.kind = "facts"
            predicate.recursive = False
            self.statistics.observe(predicate, rows)
            self.compiler.forget()

    def _whole(self, predicate: Predicate) -> Any:
        mask = "f" * predicate.arity
        if predicate.kind == "facts":
            rows = index_rows(predicate.rows, mask)
            return bool(rows) if not mask else rows
        if predicate.level != STATIC:
            raise GameError(f"`{predicate.name}` depends on the state")
        return self.compiler.function(predicate, mask)(self._static)


def _whole_rows(answers: Any, patterns: Sequence[Pattern], mask: str) -> list[tuple[int, ...]]:
    """Return complete rows from the answers of a masked call and its bound arguments."""
    args = [p if isinstance(p, int) else -1 for p in patterns]
    free = [i for i, letter in enumerate(mask) if letter == "f"]
    if not free:
        return [tuple(args)] if answers else []
    rows = []
    for answer in answers:
        row = list(args)
        for i, value in zip(free, (answer,) if len(free) == 1 else answer, strict=True):
            row[i] = value
        rows.append(tuple(row))
    return rows


def _look_up(rows: Any, mask: str, args: tuple[int, ...]) -> Any:
    key = args[0] if len(args) == 1 else args
    if "f" not in mask:
        return key in rows
    return rows.get(key, []) if args else rows

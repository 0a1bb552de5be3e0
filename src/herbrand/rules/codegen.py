"""Compiles clauses to Python: one function for each binding pattern of a predicate.

A binding pattern is a *mask* with one letter for each argument: "b" bound, "f" free (its values are
returned), "e" exists (any value will do).  The function of a mask takes the model and the bound arguments
and returns the answers, each once: a list of values for one "f", of tuples for several, a bool for none.
Functions are generated on first use, together with all that they call; `HERBRAND_DUMP=dir` writes their
source to that folder.

Names in generated code: `M` the model of a state, `D` that of a state with a joint move, `FN`/`AR`/`CONS`
the term table (functor, arguments, construction), `K..` an index of static rows, `X..` an index of the
fluents of the state, `p..` a predicate with a mask, `c..` one of its clauses, `r..` the rest of a clause,
outlined.
"""

from __future__ import annotations

import linecache
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from herbrand.rules.clauses import MOVE, STATIC, Call, Differ, DisjunctionCall, goal_variables, variables
from herbrand.rules.planner import is_bound_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from herbrand.rules.clauses import Clause, Goal, Pattern, Predicate, Program
    from herbrand.rules.planner import Planner

__all__ = ["Compiler", "index_rows"]

MAX_LOOPS: Final = 12
"""Maximum nesting of loops in one function; Python allows twenty blocks."""
UNCOUNTED_LOOPS: Final = 2
"""Loops nested deeper than this count their iterations against the budget."""


def index_rows(rows: Any, mask: str) -> Any:
    """Index the "f" columns of rows by their "b" columns.

    Returns a set of keys if there are no "f" columns, a list of answers if there are no "b" columns, else a
    dict from key to list of answers.  One column is a bare value, several are a tuple.
    """
    keys = [i for i, letter in enumerate(mask) if letter == "b"]
    values = [i for i, letter in enumerate(mask) if letter == "f"]
    key, value = _picker(keys), _picker(values)
    if not values:
        return {key(row) for row in rows}
    if not keys:
        return list(dict.fromkeys(map(value, rows)))
    index: dict[Any, Any] = {}
    if "e" in mask:
        for row in rows:
            index.setdefault(key(row), {})[value(row)] = None
        return {k: list(v) for k, v in index.items()}
    for row in rows:
        k = key(row)
        if k in index:
            index[k].append(value(row))
        else:
            index[k] = [value(row)]
    return index


def _picker(columns: list[int]) -> Callable[[tuple[int, ...]], Any]:
    from operator import itemgetter

    return itemgetter(*columns) if columns else lambda _row: ()


class Compiler:
    """Generates and loads the functions of one program."""

    def __init__(self, program: Program, planner: Planner, namespace: dict[str, Any], label: str) -> None:
        self.program = program
        self.planner = planner
        self.namespace = namespace
        self.label = label
        self._names: dict[tuple[int, str], str] = {}
        self._waiting: list[tuple[Predicate, str, str]] = []
        self.serial = count()
        self.slots: list[tuple[int, str]] = []
        """Functor and mask of each index over the fluents of a state."""
        self._slots: dict[tuple[int, str], int] = {}
        self._files = 0

    def function(self, predicate: Predicate, mask: str) -> Callable[..., Any]:
        """Return the function that answers calls of a predicate with a mask."""
        name = self.function_name(predicate, mask)
        self._flush()
        function: Callable[..., Any] = self.namespace[name]
        return function

    def forget(self) -> None:
        """Discard all functions, after predicates or statistics have changed."""
        self._names.clear()
        self._waiting.clear()
        for name in [name for name in self.namespace if name.startswith("K")]:
            del self.namespace[name]

    def function_name(self, predicate: Predicate, mask: str) -> str:
        """Return the name of the function of a predicate and a mask; queue it for generation if it is new."""
        name = self._names.get((predicate.number, mask))
        if name is None:
            plain = re.sub(r"\W", "_", predicate.name)
            name = self._names[predicate.number, mask] = f"p{next(self.serial)}_{plain}_{mask}"
            self._waiting.append((predicate, mask, name))
        return name

    def _flush(self) -> None:
        lines: list[str] = []
        while self._waiting:
            predicate, mask, name = self._waiting.pop()
            lines += self._predicate(predicate, mask, name)
        if not lines:
            return
        text = "\n".join(lines) + "\n"
        self._files += 1
        filename = f"<herbrand:{self.label}/rules {self._files}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        dump = os.environ.get("HERBRAND_DUMP")
        if dump:
            Path(dump).mkdir(parents=True, exist_ok=True)
            name = f"{Path(self.label).name}.rules{self._files}.py"
            (Path(dump) / name).write_text(text, encoding="utf-8")
        exec(compile(text, filename, "exec"), self.namespace)  # noqa: S102  # our own code

    # -- source --------------------------------------------------------------------------

    def rows_name(self, predicate: Predicate, mask: str) -> str:
        """Return the name of the index of a predicate's static rows for a mask."""
        name = f"K{predicate.number}_{mask}"
        if name not in self.namespace:
            self.namespace[name] = index_rows(predicate.rows, mask)
        return name

    def rows(self, predicate: Predicate, mask: str) -> Any:
        """Return the index of a predicate's static rows for a mask."""
        return self.namespace[self.rows_name(predicate, mask)]

    def slot(self, functor: int, mask: str) -> int:
        """Return the number of the index over the fluents with a functor, for a mask."""
        number = self._slots.get((functor, mask))
        if number is None:
            number = self._slots[functor, mask] = len(self.slots)
            self.slots.append((functor, mask))
        return number

    def expression(self, pattern: Pattern, names: dict[str, str]) -> str:
        """Return a Python expression for a pattern whose variables are bound."""
        if isinstance(pattern, int):
            return str(pattern)
        if isinstance(pattern, str):
            return names[pattern]
        return f"CONS[({pattern[0]}, {', '.join(self.expression(p, names) for p in pattern[1:])})]"

    def _predicate(self, predicate: Predicate, mask: str, name: str) -> list[str]:
        parameters = [f"a{i}" for i, letter in enumerate(mask) if letter == "b"]
        is_test = "f" not in mask
        model = "D" if predicate.level == MOVE else "M"
        lines: list[str] = []
        calls: list[tuple[str, str]] = []
        for clause in predicate.clauses:
            guard, clause_name = self._clause(clause, mask, lines)
            calls.append(
                (guard, f"{clause_name}({', '.join([model, *(['out'] * (not is_test)), *parameters])})")
            )
        key = _tuple(parameters)
        facts = self.rows_name(predicate, mask) if predicate.rows else None
        parts = [f"({key} in {facts})"] if facts else []
        parts += [f"({guard} and {call})" if guard else call for guard, call in calls]
        test = " or ".join(parts) or "False"
        rows = f"dict.fromkeys({_lookup(facts, parameters, key)})" if facts else "{}"
        statements: list[str] = []
        for guard, call in calls:
            statements += [f"    if {guard}:", f"        {call}"] if guard else [f"    {call}"]
        lines.append(f"# {predicate!r} {mask}")
        head = [
            f"def {name}({', '.join([model, *parameters])}):",
            f"    memo = {'S' if predicate.level == STATIC else model}.tables[{name!r}]",
        ]
        if predicate.recursive:
            lines.append(f"def {name}_all({', '.join([model, 'out', *parameters])}):")
            if is_test:
                lines += [f"    if {test}:", "        out[()] = None"]
            else:
                known = [f"    out.update({rows})"] if facts else []
                lines += [*known, *statements, "    TICK(len(out))"]
            return [*lines, *head, *_table_look_up(name, model, parameters, is_test=is_test)]
        head.append(f"    result = memo.get({key})")
        if is_test:
            body = ["    if result is None:", "        TICK(1)", f"        result = memo[{key}] = {test}"]
        else:
            body = [
                "    if result is not None:",
                "        return result",
                f"    out = {rows}",
                *statements,
                f"    result = memo[{key}] = list(out)",
                "    TICK(len(result) + 1)",
            ]
        return [*lines, *head, *body, "    return result"]

    def _clause(self, clause: Clause, mask: str, lines: list[str]) -> tuple[str, str]:
        """Generate the function of one clause; return the guard on its call and its name."""
        name = f"c{next(self.serial)}"
        guards = [
            f"a{i} == {arg}"
            for i, (arg, letter) in enumerate(zip(clause.head, mask, strict=True))
            if letter == "b" and isinstance(arg, int)
        ]
        outputs = [arg for arg, letter in zip(clause.head, mask, strict=True) if letter == "f"]
        parameters = [f"a{i}" for i, letter in enumerate(mask) if letter == "b"]
        body = _Body(self, clause, name, parameters, outputs if "f" in mask else None)
        for i, (arg, letter) in enumerate(zip(clause.head, mask, strict=True)):
            if letter == "b" and not isinstance(arg, int):
                body.match(f"a{i}", arg)
        body.write(list(clause.body))
        lines.append(f"# {clause.text}")
        lines += body.finish()
        return " and ".join(guards), name


def _table_look_up(name: str, model: str, parameters: list[str], *, is_test: bool) -> list[str]:
    """Generate the body of the function of a recursive predicate, which has `memo` already."""
    key = _tuple(parameters)
    solve = f"EVAL.solve({', '.join(['table', f'{name}_all', model, *parameters])})"
    final, partial, solved = "table.answers", "result", solve
    if is_test:
        final, partial, solved = (f"bool({answer})" for answer in (final, partial, solved))
    return [
        f"    table = memo.get({key})",
        "    if table is None:",
        "        TICK(1)",
        f"        table = memo[{key}] = TABLE()",
        "    elif table.done:",
        f"        return {final}",
        "    else:",
        "        result = EVAL.recall(table)",
        "        if result is not None:",
        f"            return {partial}",
        f"    return {solved}",
    ]


def _tuple(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _lookup(rows: str, bound: Sequence[str], key: str) -> str:
    return f"{rows}.get({key}, ())" if bound else rows


@dataclass(eq=False)
class _Body:
    """Generates the function of one clause, or of the outlined rest of one."""

    compiler: Compiler
    clause: Clause
    name: str
    parameters: Sequence[str]
    outputs: Sequence[Pattern] | None
    """The patterns of one answer, or None when the function is a test."""
    names: dict[str, str] = field(default_factory=dict)
    loops: int = 0
    lines: list[str] = field(default_factory=list)
    hoisted: dict[int, None] = field(default_factory=dict)
    needs_state: bool = False
    outlined: list[str] = field(default_factory=list)
    _temporaries: Iterator[int] = field(default_factory=count)

    @property
    def model(self) -> str:
        """The name of the model in the code."""
        return "D" if self.clause.predicate.level == MOVE else "M"

    def finish(self) -> list[str]:
        """Return the lines of the function and of those outlined from it."""
        parameters = [self.model, *(["out"] if self.outputs is not None else []), *self.parameters]
        head = [f"def {self.name}({', '.join(parameters)}):"]
        if self.model == "D" and (self.needs_state or self.hoisted):
            head.append("    M = D.state")
        head += [f"    X{slot} = M.indexes[{slot}]" for slot in self.hoisted]
        tail = [] if self.outputs is not None else ["    return False"]
        return [*self.outlined, *head, *self.lines, *tail]

    def add(self, line: str) -> None:
        """Append a line at the current nesting."""
        self.lines.append("    " * (self.loops + 1) + line)

    def fail_if(self, condition: str) -> None:
        """Generate code that leaves this branch if the condition holds."""
        self.add(f"if {condition}:")
        leave = "continue" if self.loops else "return" if self.outputs is not None else "return False"
        self.add(f"    {leave}")

    def match(self, value: str, pattern: Pattern) -> None:
        """Generate code that matches a value with a pattern and binds its variables."""
        if isinstance(pattern, int):
            self.fail_if(f"{value} != {pattern}")
        elif isinstance(pattern, str):
            if pattern in self.names:
                self.fail_if(f"{value} != {self.names[pattern]}")
            else:
                self.names[pattern] = value
        else:
            self.fail_if(f"FN[{value}] != {pattern[0]}")
            parts = [self._fresh(part) for part in pattern[1:]]
            self.add(f"{', '.join(parts)}, = AR[{value}]")
            for part, sub in zip(parts, pattern[1:], strict=True):
                self.match(part, sub)

    def _fresh(self, pattern: Pattern) -> str:
        hint = re.sub(r"\W|^(?=\d)", "_", pattern) if isinstance(pattern, str) else "t"
        return f"{hint}_{next(self._temporaries)}"

    # -- goals ---------------------------------------------------------------------------

    def write(self, goals: list[Goal]) -> None:
        """Generate code that proves the goals in the planner's order and then adds the answer."""
        while goals:
            goals = self._split_off(goals)
            if not goals:
                break
            if self._answer_known() and self._enumerates(goals):
                self._test_rest(goals)
                return
            if self.loops >= MAX_LOOPS:
                self._outline(goals)
                return
            tests = self.compiler.planner.tests(goals, set(self.names), self.clause)
            if tests is not None:  # their order needs no search, which is quadratic
                for goal in tests:
                    self._goal(goal, [])
                break
            chosen = self.compiler.planner.choose(goals, set(self.names), self.clause)
            self._goal(goals.pop(chosen), goals)
        self._answer()

    def _answer(self) -> None:
        if self.outputs is None:
            self.add("return True")
        else:
            self.add(f"out[{self._output()}] = None")

    def _output(self) -> str:
        assert self.outputs is not None
        return _tuple([self.compiler.expression(p, self.names) for p in self.outputs])

    def _answer_known(self) -> bool:
        return self.outputs is not None and all(is_bound_pattern(p, set(self.names)) for p in self.outputs)

    def _enumerates(self, goals: Sequence[Goal]) -> bool:
        """Whether some goal has unbound variables."""
        return any(goal_variables(goal) - set(self.names) for goal in goals)

    def _test_rest(self, goals: list[Goal]) -> None:
        """Generate a search for one proof of the rest, since all variables of the answer are bound."""
        key = self._output()
        unknown = f"{key} not in out and " if self.loops else ""
        self.add(f"if {unknown}{self._rest(goals)}:")
        self.add(f"    out[{key}] = None")

    def _outline(self, goals: list[Goal]) -> None:
        """Continue in another function, because loops are nested too deep."""
        if self.outputs is None:
            self.add(f"if {self._rest(goals)}:")
            self.add("    return True")
        else:
            self.add(self._rest(goals, self.outputs))

    def _rest(self, goals: list[Goal], outputs: Sequence[Pattern] | None = None) -> str:
        """Generate a function for the goals; return its call."""
        used = {v for goal in goals for v in goal_variables(goal)}
        for pattern in outputs or ():
            used.update(variables(pattern))
        shared = [v for v in self.names if v in used]
        name = f"r{next(self.compiler.serial)}"
        names = {variable: f"v{i}" for i, variable in enumerate(shared)}
        body = _Body(self.compiler, self.clause, name, list(names.values()), outputs, names)
        body.write(list(goals))
        self.outlined += body.finish()
        out = [] if outputs is None else ["out"]
        return f"{name}({', '.join([self.model, *out, *(self.names[v] for v in shared)])})"

    def _split_off(self, goals: list[Goal]) -> list[Goal]:
        """Prove goals separately that share no unbound variables with the rest; return the rest."""
        bound = set(self.names)
        groups: list[tuple[set[str], list[Goal]]] = []
        for goal in goals:
            free = goal_variables(goal) - bound
            connected = [group for group in groups if group[0] & free] if free else []
            if not free:
                groups.append((set(), [goal]))
                continue
            for group in connected:
                groups.remove(group)
                free |= group[0]
            members = [g for group in connected for g in group[1]] + [goal]
            groups.append((free, members))
        loops = [group for group in groups if group[0]]
        output_variables = {v for p in self.outputs or () for v in variables(p)}
        independent = [g for g in loops if not g[0] & output_variables]
        if len(loops) < 2 or not independent:
            return goals
        if len(independent) == len(loops) and self.outputs is None:
            independent = independent[1:]
        # tests first: they are cheap and may avoid the loops
        for goal in [g for group in groups if not group[0] for g in group[1]]:
            self._goal(goal, [])
        rest: list[Goal] = []
        for group in loops:
            if group in independent:
                self.fail_if(f"not {self._rest(group[1])}")
            else:
                rest += group[1]
        return rest

    def _goal(self, goal: Goal, rest: Sequence[Goal]) -> None:
        if isinstance(goal, Differ):
            left, right = (self.compiler.expression(p, self.names) for p in (goal.left, goal.right))
            self.fail_if(f"{left} == {right}")
        elif isinstance(goal, DisjunctionCall):
            if set(goal.args) <= set(self.names):
                self.fail_if(f"not ({self._condition(goal)})")
            else:
                self._enumerate(Call(goal.predicate, goal.args), rest)
        elif goal.negated or set(self._mask(goal, rest)[0]) <= {"b"}:
            condition = self._condition(goal)
            self.fail_if(condition[4:] if condition.startswith("not ") else f"not {condition}")
        else:
            self._enumerate(goal, rest)

    def _condition(self, goal: Goal) -> str:
        """Return a Python expression for a goal whose variables are all bound."""
        if isinstance(goal, Differ):
            left, right = (self.compiler.expression(p, self.names) for p in (goal.left, goal.right))
            return f"{left} != {right}"
        if isinstance(goal, DisjunctionCall):
            inside = {v for part in goal.disjuncts for g in part for v in goal_variables(g)}
            if not inside <= set(self.names):
                return self._call(Call(goal.predicate, goal.args), "b" * len(goal.args))
            parts = [" and ".join(map(self._condition, part)) or "True" for part in goal.disjuncts]
            return f"({' or '.join(f'({part})' for part in parts)})"
        call = self._call(goal, "b" * len(goal.args))
        return f"not {call}" if goal.negated else call

    def _call(self, goal: Call, mask: str) -> str:
        """Return the expression for the answers of a call; a truth value if the mask has no "f"."""
        predicate = goal.predicate
        bound_args = [
            self.compiler.expression(arg, self.names)
            for arg, letter in zip(goal.args, mask, strict=True)
            if letter == "b"
        ]
        key = _tuple(bound_args)
        if predicate.kind == "fluents":
            self.needs_state = True
            return f"({key} in M.facts)" if mask == "b" else "M.facts"
        if predicate.kind == "does":
            return f"(D.by_role.get({bound_args[0]}) == {bound_args[1]})"
        if predicate.kind in ("fluent", "facts"):
            if predicate.kind == "fluent":
                slot = self.compiler.slot(predicate.functor, mask)
                self.hoisted[slot] = None
                rows = f"X{slot}"
            else:
                rows = self.compiler.rows_name(predicate, mask)
            if "f" in mask:
                return _lookup(rows, bound_args, key)
            return f"({key} in {rows})" if bound_args or not mask else f"bool({rows})"
        function = self.compiler.function_name(predicate, mask)
        if self.model == "D" and predicate.level != MOVE:
            self.needs_state = True
        model = "D" if predicate.level == MOVE else "M"
        if goal.negated and predicate.component == self.clause.predicate.component:
            return f"EVAL.settled({', '.join([function, model, *bound_args])})"
        return f"{function}({', '.join([model, *bound_args])})"

    def _enumerate(self, goal: Call, rest: Sequence[Goal]) -> None:
        """Generate the loop over the answers of a goal with unbound variables."""
        if goal.predicate.kind == "does":
            self._does(goal)
            return
        mask, wanted = self._mask(goal, rest)
        call = self._call(goal, mask)
        if not wanted:
            self.fail_if(f"not {call}")
            return
        targets = list(map(self._fresh, wanted))
        self._loop(f"for {', '.join(targets)} in {call}:")
        for target, pattern in zip(targets, wanted, strict=True):
            self.match(target, pattern)

    def _loop(self, header: str) -> None:
        self.add(header)
        self.loops += 1
        if self.loops > UNCOUNTED_LOOPS:
            self.add("TICK(1)")

    def _mask(self, goal: Call, rest: Sequence[Goal]) -> tuple[str, list[Pattern]]:
        """Return the mask to call with and the patterns of its "f" arguments."""
        bound = set(self.names)
        later = {v for g in rest for v in goal_variables(g)}
        later.update(v for p in self.outputs or () for v in variables(p))
        occurrences = Counter(v for arg in goal.args for v in variables(arg))
        recursive = goal.predicate.component == self.clause.predicate.component
        mask, wanted = "", []
        for arg in goal.args:
            if is_bound_pattern(arg, bound) and not (recursive and isinstance(arg, tuple)):
                mask += "b"
            elif isinstance(arg, str) and occurrences[arg] == 1 and arg not in later:
                mask += "e"
            else:
                mask += "f"
                wanted.append(arg)
        return mask, wanted

    def _does(self, goal: Call) -> None:
        role, move = goal.args
        value = self._fresh("move")
        if is_bound_pattern(role, set(self.names)):
            self.add(f"{value} = D.by_role.get({self.compiler.expression(role, self.names)})")
            self.fail_if(f"{value} is None")
        else:
            role_name = self._fresh("role")
            self._loop(f"for {role_name}, {value} in D.moves:")
            self.match(role_name, role)
        self.match(value, move)

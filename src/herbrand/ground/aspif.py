"""Parses clingo's intermediate format (aspif) with numpy, not rule by rule in Python.

Lines are `1 0 1 HEAD 0 N LIT...` for rules, `1 1 ...` for choices and `4 LEN TEXT N COND...` for the names of
atoms (Gebser et al., "Theory solving made easy with clingo 5", Technical Communications of ICLP 2016).
"""

from __future__ import annotations

import re
from collections import deque
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from herbrand.errors import BudgetExceeded, InternalError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from herbrand.rules.terms import TermTable

__all__ = ["parse_aspif"]

_TOKEN = re.compile(rb"f\d+\(|\d+|[a-z_]+\(?|\)")


def parse_aspif(
    chunks: Iterator[bytes], terms: TermTable, *, max_bytes: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], int, dict[str, NDArray[np.int64]]]:
    """Return `head`, `start`, `body`, `atoms` and `named` of a `GroundProgram`.

    `chunks` yields whole lines and raises at the end if the output is incomplete.  Facts whose atom occurs in
    no rule body and has no name are dropped.  Raises `BudgetExceeded` as soon as rules and names take more
    than `max_bytes`.
    """
    heads: list[NDArray[np.int32]] = []
    lengths: list[NDArray[np.int32]] = []
    bodies: list[NDArray[np.int32]] = []
    facts: list[NDArray[np.int32]] = []
    name_lines: list[bytes] = []
    size = 0
    first = next(chunks, b"")
    if not first.startswith(b"asp 1 "):
        raise InternalError("the grounder's output is not aspif")
    for chunk in chain((first,), chunks):
        lines = chunk.split(b"\n")
        names = [line for line in lines if line.startswith(b"4 ")]
        name_lines += names
        rule_lines = [line for line in lines if line.startswith(b"1 0 ")]
        try:
            rows = _numbers([line for line in rule_lines if line.endswith(b" 0 0")]).reshape(-1, 6)
            head, length, body = _rules([line for line in rule_lines if not line.endswith(b" 0 0")])
        except (ValueError, IndexError) as error:
            deque(chunks, maxlen=0)  # raises if the grounder was killed, which can garble its last lines
            raise InternalError("unexpected form of a rule in the grounder's output") from error
        facts.append(rows[:, 3].copy())  # a view would keep all rows alive
        heads.append(head)
        lengths.append(length)
        bodies.append(body)
        size += sum(part.nbytes for part in (facts[-1], head, length, body)) + sum(map(len, names))
        if size > max_bytes:
            rules = sum(map(len, heads))
            raise BudgetExceeded(
                f"{max_bytes >> 20} MB of ground rules", f"while grounding: {rules} rules so far"
            )
    named = _names(name_lines, terms)
    body = np.concatenate(bodies)
    used = np.concatenate([np.abs(body), *(rows[:, 0].astype(np.int32) for rows in named.values())])
    all_facts = np.concatenate(facts)
    is_fact = np.zeros(max(int(used.max(initial=0)), int(all_facts.max(initial=0))) + 1, bool)
    is_fact[all_facts] = True
    is_used = np.zeros_like(is_fact)
    is_used[used] = True
    used_facts = np.flatnonzero(is_fact & is_used).astype(np.int32)
    head = np.concatenate([*heads, used_facts])
    start = np.concatenate(([0], np.cumsum(np.concatenate(lengths)), np.full(len(used_facts), len(body))))
    largest = max(int(head.max(initial=0)), int(used.max(initial=0)))
    return head, start.astype(np.int64), body, largest, named


def _rules(lines: list[bytes]) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the heads, the body lengths and the concatenated bodies of rules."""
    numbers = _numbers(lines)
    counts = np.fromiter((line.count(b" ") + 1 for line in lines), dtype=np.int64, count=len(lines))
    first = np.cumsum(counts) - counts
    if not ((numbers[first + 2] == 1).all() and (numbers[first + 4] == 0).all()):
        raise ValueError("not all rules have one head and a plain body")
    is_body = np.ones(len(numbers), dtype=bool)
    for k in range(6):
        is_body[first + k] = False
    return numbers[first + 3], numbers[first + 5], numbers[is_body]


def _numbers(lines: list[bytes]) -> NDArray[np.int32]:
    if not lines:
        return np.zeros(0, np.int32)
    return np.fromstring(b" ".join(lines), dtype=np.int32, sep=" ")


def _names(name_lines: list[bytes], terms: TermTable) -> dict[str, NDArray[np.int64]]:
    rows_of: dict[str, list[list[int]]] = {}
    for line in name_lines:
        _, length, rest = line.split(b" ", 2)
        text, condition = rest[: int(length)], rest[int(length) :].split()
        relation, args = _atom(text, terms)
        if int(condition[0]) > 1:
            raise InternalError("the grounder named a conjunction of atoms")
        atom = int(condition[1]) if int(condition[0]) else 0
        rows_of.setdefault(relation, []).append([atom, *args])
    return {name: np.array(rows, dtype=np.int64) for name, rows in rows_of.items()}


def _atom(text: bytes, terms: TermTable) -> tuple[str, list[int]]:
    """Parse an atom such as `legal(3,f7(1,2))` into its relation and the term numbers of its arguments."""
    cons = terms.cons
    stack: list[list[int]] = []
    relation = ""
    for token in _TOKEN.findall(text):
        if token == b")":
            args = stack.pop()
            if not stack:
                return relation, args
            stack[-1].append(cons[tuple(args)])
        elif token.endswith(b"("):
            if stack:
                stack.append([int(token[1:-1])])
            else:
                relation = token[:-1].decode()
                stack.append([])
        elif stack:
            stack[-1].append(int(token))
        else:
            return token.decode(), []
    raise InternalError(f"cannot parse the name of an atom: {text!r}")

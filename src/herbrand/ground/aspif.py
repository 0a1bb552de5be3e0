"""Reading clingo's intermediate format without a Python step for each rule.

Lines are `1 0 1 HEAD 0 N LIT...` for rules, `1 1 ...` for choices and `4 LEN TEXT N COND...`
for the names of atoms (Gebser et al., "aspif", Technical Communications of ICLP 2016).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from herbrand.errors import InternalError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.program.terms import TermTable

__all__ = ["parse_aspif"]

_TOKEN = re.compile(rb"f\d+\(|\d+|[a-z_]+\(?|\)")


def parse_aspif(
    text: bytes, terms: TermTable
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], int, dict[str, NDArray[np.int64]]]:
    """Return head, start, body, number of atoms and the named atoms; see `GroundProgram`."""
    lines = text.split(b"\n")
    if not lines[0].startswith(b"asp 1 "):
        raise InternalError("the grounder gave no aspif")
    rules = [line for line in lines if line.startswith(b"1 0 ")]
    shown = [line for line in lines if line.startswith(b"4 ")]
    numbers = np.fromstring(b" ".join(rules), dtype=np.int64, sep=" ") if rules else np.zeros(0, np.int64)
    counts = np.fromiter((line.count(b" ") + 1 for line in rules), dtype=np.int64, count=len(rules))
    offsets = np.concatenate(([0], np.cumsum(counts)))
    first = offsets[:-1]
    if rules and not ((numbers[first + 2] == 1).all() and (numbers[first + 4] == 0).all()):
        raise InternalError("the grounder gave a rule of another form")
    head = numbers[first + 3].astype(np.int32) if rules else np.zeros(0, np.int32)
    lengths = numbers[first + 5] if rules else np.zeros(0, np.int64)
    start = np.concatenate(([0], np.cumsum(lengths)))
    is_body = np.ones(len(numbers), dtype=bool)
    for k in range(6):
        is_body[first + k] = False
    body = numbers[is_body].astype(np.int32)
    named = _names(shown, terms)
    largest = max(
        int(head.max(initial=0)),
        int(np.abs(body).max(initial=0)),
        max((int(rows[:, 0].max(initial=0)) for rows in named.values()), default=0),
    )
    return head, start, body, largest, named


def _names(shown: list[bytes], terms: TermTable) -> dict[str, NDArray[np.int64]]:
    found: dict[str, list[list[int]]] = {}
    for line in shown:
        _, length, rest = line.split(b" ", 2)
        text, condition = rest[: int(length)], rest[int(length) :].split()
        relation, args = _atom(text, terms)
        if int(condition[0]) > 1:
            raise InternalError("the grounder named an atom by a conjunction")
        atom = int(condition[1]) if int(condition[0]) else 0
        found.setdefault(relation, []).append([atom, *args])
    return {name: np.array(rows, dtype=np.int64) for name, rows in found.items()}


def _atom(text: bytes, terms: TermTable) -> tuple[str, list[int]]:
    """Read `legal(3,f7(1,2))`: the relation and the numbers of its arguments."""
    cons = terms.cons
    stack: list[list[int]] = []
    relation = ""
    for token in _TOKEN.findall(text):
        if token == b")":
            done = stack.pop()
            if not stack:
                return relation, done
            stack[-1].append(cons[tuple(done)])
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
    raise InternalError(f"the grounder named an atom {text!r}")

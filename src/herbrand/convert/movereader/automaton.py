"""Build the minimal acyclic automaton over the tokens of a list of terms.

The construction is the incremental one for sorted words (Daciuk, Mihov, Watson and Watson,
*Incremental construction of minimal acyclic finite-state automata*, Computational Linguistics
26(1), 2000): words come in order, so that all states outside the path of the newest word are complete and
can be shared with equal ones.  The numbering of words by their rank is due to Lucchesi and Kowaltowski
(*Applications of finite automata representing large vocabularies*, 1993).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.errors import GameError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Tables", "build"]

_TOKEN = re.compile(r"[(),]|[^ \t\n\r\f\v(),]+")


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of `runtime.Terms`."""

    tokens: tuple[str, ...]
    """Names and signs in display spelling, sorted by their folded text."""
    states: tuple[tuple[int, ...], ...]
    """For each state, pairs of token and next state; state 0 is the end of a term, the last one the start."""
    order: tuple[int, ...] | None
    """The index of the n-th term of the automaton; None where that is n."""

    @property
    def edges(self) -> int:
        """The number of edges, which determines the size of the tables."""
        return sum(map(len, self.states)) // 2


def build(texts: Sequence[str], *, folds_case: bool = True) -> Tables:
    """Return the automaton of a list of terms in prefix notation.

    The index of a term is its position in the list.  Raises `GameError` when two terms are spelled alike.
    """
    fold = str.lower if folds_case else str
    shown: dict[str, str] = {}
    split = [_TOKEN.findall(text) for text in texts]
    for tokens in split:
        for token in tokens:
            shown.setdefault(fold(token), token)
    names = sorted(shown)
    number = {name: n for n, name in enumerate(names)}
    words = [tuple([number[fold(token)] for token in tokens]) for tokens in split]
    order = sorted(range(len(words)), key=words.__getitem__)
    registered: dict[tuple[int, ...], int] = {(): 0}
    path: list[list[int]] = [[]]
    previous: tuple[int, ...] = ()

    def close(depth: int) -> None:
        """Register the states of the current path below a depth."""
        while len(path) > depth + 1:
            node = tuple(path.pop())
            path[-1].append(registered.setdefault(node, len(registered)))

    for place in order:
        word = words[place]
        common = 0
        for a, b in zip(previous, word, strict=False):
            if a != b:
                break
            common += 1
        if common == len(word):
            raise GameError(f"two terms are both spelled `{texts[place]}`")
        close(common)
        for token in word[common:]:
            path[-1].append(token)
            path.append([])
        previous = word
    close(0)
    states = (*registered, tuple(path[0]))
    sorted_already = all(rank == place for rank, place in enumerate(order))
    return Tables(tuple(shown[name] for name in names), states, None if sorted_already else tuple(order))

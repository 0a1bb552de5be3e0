"""`Engine`: the interface of engines.

A *key* is an immutable, hashable representation of a state; only the engine that created it
can interpret it.  Terms are numbers of the engine's `TermTable`; roles are counted from 0 in
textual order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.rules.terms import TermTable

__all__ = ["Engine", "FluentKeys"]


class Engine(Protocol):
    """Evaluates the states of one game."""

    name: str
    """The value of `engine=` that selects it, such as "rules" or "network"."""
    in_order: bool
    """Whether `legal` returns moves in the order of their texts."""
    terms: TermTable
    roles: tuple[int, ...]

    def initial(self) -> Any:
        """Return the key of the initial state."""

    def key(self, fluents: Iterable[int]) -> Any:
        """Return the key of the state in which exactly these fluents are true."""

    def fluents(self, key: Any) -> Iterable[int]:
        """Return the fluents that are true, in any order, each once."""

    def legal(self, key: Any, role: int) -> Sequence[int]:
        """Return the legal moves of a role, in a fixed but arbitrary order, each once."""

    def successor(self, key: Any, moves: Sequence[int]) -> Any:
        """Return the state after a joint move, one move a role; legality is not checked."""

    def terminal(self, key: Any) -> bool:
        """Return whether the state ends the game."""

    def goals(self, key: Any, role: int) -> Sequence[int]:
        """Return the goal values of a role as terms; there may be none or several."""

    def percepts(self, key: Any, moves: Sequence[int], role: int) -> Sequence[int]:
        """Return the percepts of a role for a joint move (GDL-II), as terms."""


class FluentKeys:
    """An engine, in part: the key of a state is the set of its fluents."""

    def key(self, fluents: Iterable[int]) -> frozenset[int]:
        """Return the key of the state with these fluents."""
        return frozenset(fluents)

    def fluents(self, key: frozenset[int]) -> frozenset[int]:
        """Return the fluents of a state."""
        return key

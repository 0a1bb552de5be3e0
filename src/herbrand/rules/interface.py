"""What an engine offers to the machine.

A *key* is an engine's own immutable, hashable form of a state; only the engine that made it
can read it.  Terms are numbers of the engine's `TermTable`; roles are counted from 0 in
textual order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.rules.terms import TermTable

__all__ = ["Engine"]


class Engine(Protocol):
    """Computes the answers of one game."""

    name: str
    """"rules" or "network"."""
    in_order: bool
    """Whether `legal` gives the moves in the order of their texts."""
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
        """Return the goal values of a role as terms; may be none or several."""

    def percepts(self, key: Any, moves: Sequence[int], role: int) -> Sequence[int]:
        """Return what a role sees of a joint move (GDL-II), as terms."""

"""`MoveReader`: the closed reader of a game, for `Game`, `State` and `Move`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from herbrand.convert.movereader.automaton import Tables, build
from herbrand.convert.movereader.runtime import ClosedReader, MoveError, Terms
from herbrand.errors import IllegalMoveError, InvalidMoveError
from herbrand.machine.moves import Move
from herbrand.syntax.names import constant_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["GameTerms", "MoveReadError", "MoveReader", "NarrowedReader"]


class MoveReadError(MoveError, InvalidMoveError):
    """A text is not a possible move; see `MoveError` for the attributes."""


class GameTerms(Terms):
    """Terms of a game, with their tables."""

    error = MoveReadError

    def __init__(self, tables: Tables, *, infix: dict[str, str], folds_case: bool) -> None:
        super().__init__(tables.tokens, tables.states, order=tables.order, infix=infix, folds_case=folds_case)
        self.tables = tables
        self.folds_case = folds_case


class MoveReader(ClosedReader):
    """Reads moves, joint moves, percepts and states of one game from text.

        >>> import herbrand
        >>> reader = herbrand.MoveReader(herbrand.load("ticTacToe"))
        >>> reader.read("xplayer", "MARK(1, 3)")
        Move('(mark 1 3)')
        >>> reader.find("xplayer", "xplayer -> (mark 1 3)"), reader.find("xplayer", "(mark 1 4)")
        (2, None)
        >>> reader.joint("((mark 1 1) noop)")
        (0, 9)

    The index of a move is its position in `moves(role)`, which is `game.inputs[role]`: as declared by
    `input`, or derived for roles without declarations.  Creating the reader evaluates the rules once,
    reading never does.  Raises `GameError` for a game that cannot be played and
    `BudgetExceeded` when its moves cannot be listed within the limits.
    """

    error = MoveReadError

    def __init__(self, game: StateMachine) -> None:
        self.game = game
        self._shared: dict[tuple[str, ...], GameTerms] = {}
        inputs = game.inputs
        listed = []
        for role in game.roles:
            moves = tuple(move.gdl for move in inputs.get(role, ()))
            if not moves:  # the rules declare moves, but none for this role
                moves = game.possible.inputs.get(role, ())
            listed.append(self._terms(moves))
        super().__init__(game.roles, listed)

    def terms(self, role: str) -> GameTerms:
        """Return the moves of a role as a set of terms; `ValueError` if there is no such role."""
        terms = super().terms(role)
        assert isinstance(terms, GameTerms)
        return terms

    def moves(self, role: str) -> tuple[Move, ...]:
        """Return all moves of a role in the order of their indexes."""
        return tuple(map(Move.trusted, self.terms(role).texts()))

    def move(self, role: str, index: int) -> Move:
        """Return the move with an index; `IndexError` if there is none."""
        return Move.trusted(self.text(role, index))

    def read(self, role: str, text: str) -> Move:
        """Return the move that a text spells; raise `MoveReadError` for other texts."""
        return self.move(role, self.index(role, text))

    def narrow(self, state: State) -> NarrowedReader:
        """Return a reader that accepts only the legal moves of a state."""
        return NarrowedReader(self, state.legal_moves())

    def joint_moves(self, text: str) -> tuple[Move, ...] | None:
        """Read a joint move as `Move`s; None for `nil`."""
        indexes = self.joint(text)
        if indexes is None:
            return None
        return tuple(self.move(role, index) for role, index in zip(self.roles, indexes, strict=True))

    def facts(self, text: str) -> frozenset[str]:
        """Read a state in the form of `State.facts`."""
        return frozenset(map(self.fluent, self.state(text)))

    def seen(self, role: str, text: str) -> tuple[str, ...]:
        """Read a list of percepts in the form of `State.percepts`: sorted texts."""
        return tuple(sorted(self.percept(role, index) for index in self.percepts(role, text)))

    def fluent_terms(self) -> GameTerms:
        """Return the fluents (`game.base`) as a set of terms, built on first use."""
        return self._terms(self.game.base)

    def percept_terms(self, role: str) -> GameTerms | None:
        """Return the possible percepts of a role, built on first use; None without `sees`."""
        self.terms(role)
        if self._percept_texts is None:
            return None
        return self._terms(self._percept_texts[self.game.roles[self._numbers[self.fold(role)]]])

    def _terms(self, texts: Sequence[str]) -> GameTerms:
        """Return a set of terms; equal sets are shared."""
        key = tuple(texts)
        if key not in self._shared:
            self._shared[key] = self.terms_of(key)
        return self._shared[key]

    def terms_of(self, texts: Sequence[str]) -> GameTerms:
        """Return a new set of terms."""
        folds = self.game.tree.folds_case
        return GameTerms(build(texts, folds_case=folds), infix=self.infix_names, folds_case=folds)

    @cached_property
    def infix_names(self) -> dict[str, str]:
        """Names that are invalid in infix notation, with their infix spellings."""
        written, renamed = constant_names(self.game.tree.statements, "infix")
        return {name: written[name] for name in renamed}

    @cached_property
    def _percept_texts(self) -> Mapping[str, tuple[str, ...]] | None:
        """The possible percepts of each role, over-approximated; None where there is no `sees`."""
        return _possible_percepts(self.game)


class NarrowedReader:
    """Reads only the moves that are legal in one state; indexes are those of the full reader.

    >>> import herbrand
    >>> game = herbrand.load("ticTacToe")
    >>> initial = herbrand.MoveReader(game).narrow(game.initial_state())
    >>> initial.find("oplayer", "noop"), initial.find("xplayer", "noop")
    (9, None)
    >>> initial.complete("xplayer", "(mark 3")
    ['(mark 3 1)', '(mark 3 2)', '(mark 3 3)']
    """

    def __init__(self, reader: MoveReader, legal: Mapping[str, Sequence[Move]]) -> None:
        self.reader = reader
        self._legal = {role: [move.gdl for move in moves] for role, moves in legal.items()}
        self._built: dict[str, GameTerms] = {}

    def terms(self, role: str) -> GameTerms:
        """Return the legal moves of a role as a set of terms."""
        self.reader.terms(role)
        name = self.reader.game.roles[self.reader.game.role_index(role)]
        if name not in self._built:
            self._built[name] = self.reader.terms_of(self._legal[name])
        return self._built[name]

    def find(self, role: str, text: str) -> int | None:
        """Return the index of a legal move in the full reader, or None."""
        index = self.reader.find(role, text)
        if index is None or self.terms(role).find(self.reader.text(role, index)) is None:
            return None
        return index

    def read(self, role: str, text: str) -> Move:
        """Return the legal move that a text spells.

        Raises `MoveReadError` for a text that is not a move of the role in any state, `IllegalMoveError` for
        a move that is illegal in this one.
        """
        move = self.reader.read(role, text)
        terms = self.terms(role)
        if terms.find(move.gdl) is None:
            nearest = terms.nearest(move.gdl)
            listed = ", ".join(f"`{terms.text(i)}`" for i in range(min(6, len(terms))))
            more = f" and {len(terms) - 6} more" if len(terms) > 6 else ""
            hint = f"; did you mean `{nearest}`?" if nearest else ""
            raise IllegalMoveError(
                f"`{move}` is not legal for {role} now (legal: {listed or 'nothing'}{more}){hint}"
            )
        return move

    def complete(self, role: str, text: str, limit: int = 20) -> list[str]:
        """Return legal moves that begin with a text, at most `limit`."""
        return self.terms(role).complete(text, limit)

    def legal(self, role: str) -> list[int]:
        """Return the indexes of the legal moves of a role, sorted."""
        return sorted(self.reader.index(role, text) for text in self.terms(role).texts())


def _possible_percepts(game: StateMachine) -> dict[str, tuple[str, ...]] | None:
    """Return the possible percepts of each role (relaxed reachability, as `herbrand.ground.possible`)."""
    from herbrand.ground import ground

    heads = [rule.head for rule in game.rules.normal.rules]
    if not any(head.name == "sees" and len(head.args) == 2 for head in heads):
        return None
    game.require_playable()
    program = ground(game.rules, limits=game.limits, wanted=[("sees", 2)])
    text = program.terms.text
    percepts: dict[str, set[str]] = {role: set() for role in game.roles}
    for role, percept in program.arguments("sees"):
        percepts.setdefault(text(role), set()).add(text(percept))
    return {role: tuple(sorted(percepts[role])) for role in game.roles}

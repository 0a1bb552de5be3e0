"""Parsing of moves as people write them, on the command line and elsewhere.

Joint moves are separated by `;`.  Each consists of moves in role order, separated by commas or blanks, or
enclosed in one pair of parentheses; a role with one legal move may be omitted, as may `random`, whose move is
then drawn.  For example, these are the same joint move of a game with two roles:

    (mark 1 1), noop      (mark 1 1) noop      ((mark 1 1) noop)      (mark 1 1)

Terms may be in infix notation as well: `mark(1,1), noop`.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

from herbrand.errors import IllegalMoveError, InvalidMoveError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction
    from random import Random

    from herbrand.engine.description import GameDescription
    from herbrand.machine.moves import Move

__all__ = ["MoveSource", "in_kif", "normal", "read_joint", "split_joints", "split_terms"]

_TOKEN = re.compile(r"[()]|[^\s()]+")
_GLUED = re.compile(r"[\w'\"]\(")
"""How a term in infix notation begins."""
_SHOWN = 8


class MoveSource(Protocol):
    """The part of a `State` that has its legal moves."""

    @property
    def game(self) -> GameDescription:
        """The game."""

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles."""

    def legal_moves(self, role: str) -> list[Move]:
        """Return the legal moves of a role."""

    def chance_moves(self) -> Mapping[Move, Fraction]:
        """Return the legal moves of the role `random` with their probabilities."""

    def draw(self, chance: Random) -> Move:
        """Draw the move of the role `random`."""


def split_terms(text: str) -> list[str]:
    """Split a text into its terms, in KIF with single blanks; infix terms are separated by commas.

    >>> split_terms("(mark 1  1)noop")
    ['(mark 1 1)', 'noop']
    >>> split_terms("mark(1,1), noop")
    ['(mark 1 1)', 'noop']
    """
    return (_infix_terms(text) if _GLUED.search(text) else None) or _kif_terms(text)


def in_kif(text: str) -> str:
    """Return a term, or an atom, in KIF; unchanged if it is not in infix notation.

    >>> in_kif("true(cell(1,1,x))")
    '(true (cell 1 1 x))'
    """
    terms = _infix_terms(text) if _GLUED.search(text) else None
    return " ".join(terms) if terms else text


def _infix_terms(text: str) -> list[str] | None:
    """Return the terms of a text in infix notation, or in Prolog's; None if it is neither."""
    from herbrand.syntax import read

    tree = read(f"terms({text.strip().rstrip('.')})", "prolog" if "'" in text else "infix")
    if len(tree.statements) != 1 or tree.diagnostics or tree.statements[0].body:
        return None
    return [str(term) for term in tree.statements[0].head.args]


def _kif_terms(text: str) -> list[str]:
    terms: list[str] = []
    depth = 0
    for token in _TOKEN.findall(text):
        if token == ")":
            depth -= 1
            if depth < 0:
                raise InvalidMoveError(f"unexpected closing parenthesis in `{text.strip()}`")
            terms[-1] += token
        elif depth == 0:
            terms.append(token)
        else:
            terms[-1] += token if terms[-1].endswith("(") else f" {token}"
        if token == "(":
            depth += 1
    if depth:
        raise InvalidMoveError(f"missing closing parenthesis in `{text.strip()}`")
    return terms


def normal(text: str) -> str:
    """Return the canonical spelling of a move: lower case, single blanks.

    >>> normal(" ( Mark 1   1 ) ")
    '(mark 1 1)'
    """
    return " ".join(split_terms(text)).lower().replace("( ", "(").replace(" )", ")")


def split_joints(text: str) -> list[str]:
    """Split a line of play into joint moves, ignoring a final semicolon."""
    pieces = [piece.strip() for piece in text.split(";")]
    if pieces and not pieces[-1]:
        pieces.pop()
    return pieces


def read_joint(state: MoveSource, text: str, chance: Random | None = None) -> tuple[str, ...]:
    """Parse one joint move for a state; roles with one legal move may be omitted.

    So may the role `random` if `chance` is given, which draws its move.  Raises `InvalidMoveError` for
    unreadable or ambiguous text, `IllegalMoveError` for illegal moves.
    """
    legal = [state.legal_moves(role) for role in state.roles]
    if chance is None or len(state.chance_moves()) < 2:
        return _parse(state.roles, legal, text)
    try:
        return _parse(state.roles, legal, text)
    except (IllegalMoveError, InvalidMoveError) as refusal:
        drawn = [
            [state.draw(chance)] if role == state.game.chance_role else moves
            for role, moves in zip(state.roles, legal, strict=True)
        ]
        try:
            return _parse(state.roles, drawn, text)
        except (IllegalMoveError, InvalidMoveError):
            raise refusal from None


def _parse(roles: Sequence[str], legal: Sequence[Sequence[Move]], text: str) -> tuple[str, ...]:
    parts = text.split(",") if "," in text and not _GLUED.search(text) else split_terms(text)
    moves = list(map(normal, parts))
    if not all(moves):
        raise InvalidMoveError(f"an empty move in `{text}`")
    readings = _assignments(legal, moves)
    if not readings and len(moves) == 1 and moves[0].startswith("("):
        inner = split_terms(moves[0][1:-1])
        if len(inner) <= len(roles) and (inner_readings := _assignments(legal, inner)):
            moves, readings = inner, inner_readings
    if len(readings) == 1:
        return readings[0]
    if readings:
        first, second = readings[0], readings[1]
        raise InvalidMoveError(f"`{text}` is ambiguous: `{', '.join(first)}` or `{', '.join(second)}`")
    raise IllegalMoveError(_explain_mismatch(roles, legal, moves, text))


def _assignments(legal: Sequence[Sequence[Move]], moves: Sequence[str]) -> list[tuple[str, ...]]:
    """Return all assignments of the moves to roles in order that omit only roles without a choice."""
    if len(moves) > len(legal):
        return []
    texts = [{normal(str(move)): str(move) for move in options} for options in legal]
    assignments: list[tuple[str, ...]] = []
    for chosen in combinations(range(len(legal)), len(moves)):
        if any(texts[role].get(move) is None for role, move in zip(chosen, moves, strict=True)):
            continue
        if any(len(texts[role]) != 1 for role in range(len(legal)) if role not in chosen):
            continue
        plan = dict(zip(chosen, moves, strict=True))
        assignments.append(
            tuple(
                texts[r][plan[r]] if r in plan else next(iter(texts[r].values())) for r in range(len(legal))
            )
        )
    return list(dict.fromkeys(assignments))


def _explain_mismatch(
    roles: Sequence[str], legal: Sequence[Sequence[Move]], moves: Sequence[str], text: str
) -> str:
    """Return why the moves are not a joint move."""
    all_legal = {normal(str(move)) for options in legal for move in options}
    illegal = [move for move in moves if move not in all_legal]
    choosing = [i for i, options in enumerate(legal) if len(options) > 1] or list(range(len(roles)))
    if illegal:
        alternatives = "; ".join(f"{roles[i]}: {_some(legal[i])}" for i in choosing)
        return f"no legal move `{illegal[0]}` ({alternatives})"
    return f"`{text}` must have one move for each of {', '.join(roles[i] for i in choosing)}, in this order"


def _some(moves: Sequence[Move]) -> str:
    shown = ", ".join(map(str, moves[:_SHOWN])) or "none"
    return shown + (f", … {len(moves) - _SHOWN} more" if len(moves) > _SHOWN else "")

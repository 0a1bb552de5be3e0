"""How moves are written on the command line.

Joint moves are separated by `;`.  Within one, the moves stand in role order, separated by
commas, or by blanks, or in one pair of parentheses; a role with a single legal move may be
left out, and so may `random`, whose move is then drawn.  All of these are the same joint move
of a game for two:

    (mark 1 1), noop      (mark 1 1) noop      ((mark 1 1) noop)      (mark 1 1)
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

from herbrand.errors import IllegalMoveError, InvalidMoveError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["normal", "read_joint", "split_joints", "split_terms"]

_TOKEN = re.compile(r"[()]|[^\s()]+")
_SHOWN = 8


def split_terms(text: str) -> list[str]:
    """Split KIF text into its terms, each with single blanks.

    >>> split_terms("(mark 1  1)noop")
    ['(mark 1 1)', 'noop']
    """
    terms: list[str] = []
    depth = 0
    for token in _TOKEN.findall(text):
        if token == ")":
            depth -= 1
            if depth < 0:
                raise InvalidMoveError(f"a parenthesis closes nothing in `{text.strip()}`")
            terms[-1] += token
        elif depth == 0:
            terms.append(token)
        else:
            terms[-1] += token if terms[-1].endswith("(") else f" {token}"
        if token == "(":
            depth += 1
    if depth:
        raise InvalidMoveError(f"a parenthesis is not closed in `{text.strip()}`")
    return terms


def normal(text: str) -> str:
    """Return a move in the form in which two spellings of the same move are equal.

    >>> normal(" ( Mark 1   1 ) ")
    '(mark 1 1)'
    """
    return " ".join(split_terms(text)).lower().replace("( ", "(").replace(" )", ")")


def split_joints(text: str) -> list[str]:
    """Split a line of play into joint moves; one empty piece at the end is nothing."""
    pieces = [piece.strip() for piece in text.split(";")]
    if pieces and not pieces[-1]:
        pieces.pop()
    return pieces


def read_joint(state: State, text: str, chance: Random | None = None) -> tuple[str, ...]:
    """Read one joint move for a state; whoever can do only one thing may be left out.

    So may the role `random` when there is a `chance` to draw its move.
    """
    legal = [state.legal_moves(role) for role in state.roles]
    if chance is None or len(state.chance_moves()) < 2:
        return _fitting(state.roles, legal, text)
    try:
        return _fitting(state.roles, legal, text)
    except (IllegalMoveError, InvalidMoveError) as refusal:
        drawn = [
            [state.draw(chance)] if role == state.game.chance_role else moves
            for role, moves in zip(state.roles, legal, strict=True)
        ]
        try:
            return _fitting(state.roles, drawn, text)
        except (IllegalMoveError, InvalidMoveError):
            raise refusal from None


def _fitting(roles: Sequence[str], legal: Sequence[Sequence[Move]], text: str) -> tuple[str, ...]:
    given = (
        [normal(part) for part in text.split(",")] if "," in text else list(map(normal, split_terms(text)))
    )
    if not all(given):
        raise InvalidMoveError(f"an empty move in `{text}`")
    fits = _assignments(legal, given)
    if not fits and len(given) == 1 and given[0].startswith("("):
        inside = split_terms(given[0][1:-1])
        if len(inside) <= len(roles) and (listed := _assignments(legal, inside)):
            given, fits = inside, listed
    if len(fits) == 1:
        return fits[0]
    if fits:
        first, second = fits[0], fits[1]
        raise InvalidMoveError(
            f"`{text}` can be read in several ways, as `{', '.join(first)}` or as `{', '.join(second)}`"
        )
    raise IllegalMoveError(_no_fit(roles, legal, given, text))


def _assignments(legal: Sequence[Sequence[Move]], given: Sequence[str]) -> list[tuple[str, ...]]:
    """Return every way to give the moves to roles in order that leaves out only roles without choice."""
    if len(given) > len(legal):
        return []
    texts = [{normal(str(move)): str(move) for move in moves} for moves in legal]
    found: list[tuple[str, ...]] = []
    for chosen in combinations(range(len(legal)), len(given)):
        if any(texts[role].get(move) is None for role, move in zip(chosen, given, strict=True)):
            continue
        if any(len(texts[role]) != 1 for role in range(len(legal)) if role not in chosen):
            continue
        plan = dict(zip(chosen, given, strict=True))
        found.append(
            tuple(
                texts[r][plan[r]] if r in plan else next(iter(texts[r].values())) for r in range(len(legal))
            )
        )
    return list(dict.fromkeys(found))


def _no_fit(roles: Sequence[str], legal: Sequence[Sequence[Move]], given: Sequence[str], text: str) -> str:
    """Say what is wrong with a joint move that fits nobody."""
    known = {normal(str(move)) for moves in legal for move in moves}
    wrong = [move for move in given if move not in known]
    movers = [i for i, moves in enumerate(legal) if len(moves) > 1] or list(range(len(roles)))
    if wrong:
        options = "; ".join(f"{roles[i]}: {_some(legal[i])}" for i in movers)
        return f"no legal move `{wrong[0]}` ({options})"
    who = ", ".join(roles[i] for i in movers)
    return f"`{text}` does not say what each of {who} does, in this order"


def _some(moves: Sequence[Move]) -> str:
    shown = ", ".join(map(str, moves[:_SHOWN])) or "none"
    return shown + (f", … {len(moves) - _SHOWN} more" if len(moves) > _SHOWN else "")

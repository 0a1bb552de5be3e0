"""Strong winnability refuted by a restricted game, in which all others prefer some moves, such as passing.

Who does not win there, where all that is left is one's own play, cannot force a win: the others may play like
that.  Such proofs need no search through replies, and are found where the game itself is far too large.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from herbrand.analyse.exploration.walks import random_states
from herbrand.analyse.proofs.unwinnable import never_wins, wins_at_random
from herbrand.analyse.verdict import Compound, Premise, Verdict, certificate_as_json
from herbrand.convert.restrict import Preference, restrict
from herbrand.errors import GameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.verdict import Certificate
    from herbrand.engine.expand import Expander
    from herbrand.machine.state_machine import StateMachine

__all__ = ["RestrictedPlay", "preferences_as_json", "refute", "refute_by_preferences", "refuted"]

_GAMES: Final = 256
"""Random games in which moves are looked for."""
_LOOKING: Final = 1.0
"""The most seconds for them."""
_OFTEN: Final = 0.5
"""Share of the choices of a role in which one of its preferred moves has to be legal."""


@dataclass(frozen=True, slots=True)
class RestrictedPlay(Compound):
    """A proof that a role does not win while others make preferred moves where these are legal."""

    role: str
    preferences: tuple[Preference, ...]
    certificate: Certificate
    """That the role does not win in the restricted game."""

    kind = "restricted play"

    def as_json(self) -> dict[str, Any]:
        """Return the preferred moves of each role, and the certificate about the restricted game."""
        return {
            "role": self.role,
            **preferences_as_json(self.preferences),
            "certificate": certificate_as_json(self.certificate),
        }

    def premises(self, game: StateMachine) -> Iterator[Premise]:
        """Yield the certificate about the restricted game."""
        if any(one.role == self.role for one in self.preferences):
            raise GameError(f"{self.role} is restricted, too")
        yield Premise(restrict(game, self.preferences), self.certificate, "restricted.kif")


def preferences_as_json(preferences: Iterable[Preference]) -> dict[str, Any]:
    """Return the preferred moves of each role.

    Those that are preferred only when a fluent is true follow as `replies`, each with its fluent.
    """
    preferred: dict[str, list[str]] = {}
    replies: dict[str, list[list[str]]] = {}
    for one in preferences:
        if one.when:
            replies.setdefault(one.role, []).append([one.when, one.move])
        else:
            preferred.setdefault(one.role, []).append(one.move)
    return {"preferred": preferred, **({"replies": replies} if replies else {})}


def refute_by_preferences(
    game: StateMachine, roles: Sequence[int], budget: Budget
) -> Iterator[tuple[int, Verdict]]:
    """Yield those of some roles, by number, that cannot force 100, with the verdicts that say so.

    Raises `BudgetExceeded`, and `MissingExtra` where no SAT solver is installed.
    """
    expander = game.expander
    passes = _passes(expander)
    for place, role in enumerate(roles):
        preferred = {number: mask for number, mask in passes.items() if number != role}
        if preferred and not wins_at_random(expander, role, _allowed(expander, preferred)):
            preferences = tuple(
                Preference(game.roles[number], expander.moves[number][move])
                for number, mask in preferred.items()
                for move in np.flatnonzero(mask).tolist()
            )
            moves = " or ".join(sorted({one.move for one in preferences}))
            reason = f"{game.roles[role]} does not win if the others make the move {moves} whenever they can"
            verdict = refute(game, role, preferences, reason, budget.share(1 / (len(roles) - place)))
            if verdict is not None:
                yield role, verdict


def refute(
    game: StateMachine, role: int, preferences: tuple[Preference, ...], reason: str, budget: Budget
) -> Verdict | None:
    """Return the verdict that a role cannot force 100, since it never wins against preferred moves.

    None if that is not shown; `reason` says what the others do.
    """
    began = time.monotonic()
    shown = never_wins(restrict(game, preferences), role, budget)
    return None if shown is None else refuted(game.roles[role], preferences, shown, reason, began)


def refuted(
    role: str, preferences: tuple[Preference, ...], certificate: Certificate, reason: str, began: float
) -> Verdict:
    """Return the verdict with the certificate that a role does not win against preferred moves."""
    restricted = RestrictedPlay(role, preferences, certificate)
    seconds = time.monotonic() - began
    return Verdict("refuted", RestrictedPlay.kind, reason, certificate=restricted, seconds=seconds)


def _passes(expander: Expander) -> dict[int, NDArray[np.bool_]]:
    """Return, for roles by number, which moves can be preferred: those without arguments, such as `noop`.

    Only roles that can often make one of them instead of another move are in it.
    """
    passes = {
        number: np.array(["(" not in move for move in moves], np.bool_)
        for number, moves in enumerate(expander.moves)
    }
    passes = {number: mask for number, mask in passes.items() if mask.any()}
    choices, offers = Counter[int](), Counter[int]()
    for bits in random_states(expander, _GAMES, time.monotonic() + _LOOKING) if passes else ():
        legal = expander.legal(expander.pack_bits(bits))
        going = legal.going
        for number, mask in passes.items():
            moves = legal.mask(number)[going]
            offered, other = moves[:, mask].any(axis=1), moves[:, ~mask].any(axis=1)
            choices[number] += int((moves.sum(axis=1) > 1).sum())
            offers[number] += int((offered & other).sum())
    return {number: mask for number, mask in passes.items() if offers[number] > _OFTEN * choices[number]}


def _allowed(expander: Expander, preferred: Mapping[int, NDArray[np.bool_]]) -> NDArray[np.uint64]:
    """Return the preferred moves of some roles, and all moves of the others, packed."""
    masks = [preferred.get(number, np.ones(size, np.bool_)) for number, size in enumerate(expander.sizes)]
    return expander.pack_moves(masks)

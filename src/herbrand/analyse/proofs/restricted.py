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

from herbrand.analyse.exploration import by_states
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.exploration.walks import random_states
from herbrand.analyse.proofs.symbolic import prove
from herbrand.analyse.verdict import Verdict
from herbrand.convert.restrict import Preference, restrict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.verdict import Certificate
    from herbrand.engine.expand import Expander
    from herbrand.machine.state_machine import StateMachine

__all__ = ["RestrictedPlay", "refute_by_preferences"]

_GAMES: Final = 256
"""Random games in which moves are looked for, and in which a role may not win."""
_LOOKING: Final = 1.0
"""The most seconds for each of the two."""
_EXPLORING: Final = 0.3
"""Share of the time for listing the states of a restricted game."""
_OFTEN: Final = 0.5
"""Share of the choices of a role in which one of its preferred moves has to be legal."""


@dataclass(frozen=True, slots=True)
class RestrictedPlay:
    """A proof that a role does not win while all others make preferred moves where these are legal."""

    role: str
    preferences: tuple[Preference, ...]
    certificate: Certificate
    """That the role does not win in the restricted game."""

    kind = "restricted play"

    def as_json(self) -> dict[str, Any]:
        """Return the preferred moves of each role, and the certificate about the restricted game."""
        preferred: dict[str, list[str]] = {}
        for one in self.preferences:
            preferred.setdefault(one.role, []).append(one.move)
        return {
            "role": self.role,
            "preferred": preferred,
            "certificate": {"kind": self.certificate.kind, **self.certificate.as_json()},
        }

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Check the certificate about the restricted game; see `verdict.Certificate`."""
        if any(one.role == self.role for one in self.preferences):
            return False
        return self.certificate.check(restrict(game, self.preferences), seconds)


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
        if preferred and not _wins(expander, role, preferred):
            preferences = tuple(
                Preference(game.roles[number], expander.moves[number][move])
                for number, mask in preferred.items()
                for move in np.flatnonzero(mask).tolist()
            )
            verdict = _refute(game, role, preferences, budget.share(1 / (len(roles) - place)))
            if verdict is not None:
                yield role, verdict


def _refute(
    game: StateMachine, role: int, preferences: tuple[Preference, ...], budget: Budget
) -> Verdict | None:
    """Return the verdict that a role cannot force 100 against preferred moves; None if not shown."""
    began = time.monotonic()
    name = game.roles[role]
    restricted = restrict(game, preferences)
    restricted.network_within(budget.left)
    verdict = by_states.weak(explore(restricted.expander, budget=budget.share(_EXPLORING)), role, 100)
    if not verdict.is_known:
        weak = prove(restricted, ["weak_winnability"], budget.share(1.0), only_proofs=True)
        verdict = weak["weak_winnability"].roles[restricted.roles[role]]
    if verdict.answer != "refuted" or verdict.certificate is None:
        return None
    moves = " or ".join(sorted({one.move for one in preferences}))
    reason = f"{name} does not win if the others make the move {moves} whenever they can"
    certificate = RestrictedPlay(name, preferences, verdict.certificate)
    return Verdict(
        "refuted", RestrictedPlay.kind, reason, certificate=certificate, seconds=time.monotonic() - began
    )


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


def _wins(expander: Expander, role: int, preferred: Mapping[int, NDArray[np.bool_]]) -> bool:
    """Return whether a role gets 100 in a random game in which the others prefer these moves."""
    masks = [preferred.get(number, np.ones(size, np.bool_)) for number, size in enumerate(expander.sizes)]
    until = time.monotonic() + _LOOKING
    for bits in random_states(expander, _GAMES, until, expander.pack_moves(masks)):
        states = expander.pack_bits(bits)
        if (expander.goals(states[expander.terminal(states)])[:, role] == 100).any():
            return True
    return False

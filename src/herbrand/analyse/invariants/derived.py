"""Certificates that some states are unreachable, by groups of derived atoms of which one is true at a time.

The groups are found by `dependencies`, and checked like those of `plain`: every gate has its own variable and
clauses, and the solver is CaDiCaL.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from herbrand.analyse.invariants.exposed import expose, exposed_atoms
from herbrand.analyse.invariants.plain import RuleClauses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.analyse.invariants.invariant import Invariant
    from herbrand.machine.state_machine import StateMachine

__all__ = ["Dependencies", "DerivedGroup"]

_ONE_AT_A_TIME: Final = "of each group of atoms one is true at a time, given that of the groups before it"


class DerivedGroup(NamedTuple):
    """Atoms that the state determines, of which never two are true."""

    atoms: tuple[str, ...]
    some: bool
    """Whether one of them always is."""


@dataclass(frozen=True, slots=True)
class Dependencies:
    """No wanted state is reachable, because of what one atom of a relation says about the others.

    In every state in which the invariant holds, each group has one true atom, if those before it do; and with
    all of them the state is not a wanted one.
    """

    wanted: str
    """The unreachable states, as in `Invariant.wanted`."""
    groups: tuple[DerivedGroup, ...]
    relations: tuple[tuple[str, int], ...]
    """The relations of the atoms, by name and number of arguments."""
    invariant: Invariant
    """A strengthening that holds in every reachable state."""

    kind = "functional dependencies"

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "never": self.wanted,
            "groups": [{"atoms": list(atoms), "one_is_true": some} for atoms, some in self.groups],
            "relations": [{"name": name, "arguments": arity} for name, arity in self.relations],
            "invariant": self.invariant.as_json(),
        }

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Check the invariant on the rules, then the groups; see `verdict.Certificate`."""
        started = time.monotonic()
        if not self.invariant.check(game, seconds):
            return False
        return self.check_groups(game, seconds - (time.monotonic() - started))

    def check_groups(self, game: StateMachine, seconds: float) -> bool:
        """Check that the groups follow from the invariant, and exclude the states."""
        encoding = RuleClauses(expose(game, self.relations), seconds)
        frame = encoding.frame()
        encoding.require(frame, self.invariant)
        broken, all_hold = _define(encoding, frame, self.groups)
        if encoding.possible(broken, means=_ONE_AT_A_TIME):
            return False
        encoding.add([all_hold])
        return not encoding.possible(
            encoding.wanted(frame, self.wanted), means=f"the groups of atoms exclude: {self.wanted}"
        )


def _define(encoding: RuleClauses, frame: int, groups: Sequence[DerivedGroup]) -> tuple[int, int]:
    """Return a variable that implies that one of some groups does not hold and those before it do.

    The second variable implies that all of them hold.
    """
    network = encoding.network
    signed = encoding.signed(frame, network.sees)
    atoms = dict(zip(exposed_atoms(network), signed, strict=True))
    earlier_hold = 0
    ways = []
    for names, some in groups:
        literals = [atoms.get(name, frame) for name in names]  # the network has no atoms that never hold
        first, holds = encoding.new(), encoding.new()
        ways.append(first)
        if earlier_hold:
            encoding.add([-first, earlier_hold])
            encoding.add([-holds, earlier_hold])
        encoding.add([-first, *encoding.group_faults(literals, some=some)])
        encoding.exactly(literals, at_least=some, when=holds)
        earlier_hold = holds
    broken = encoding.new()
    encoding.add([-broken, *ways])
    return broken, earlier_hold

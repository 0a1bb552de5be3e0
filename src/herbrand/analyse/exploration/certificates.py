"""Certificates of what was found by exploration, and how the rules alone check them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from herbrand.analyse.exploration.replay import ReplayedState, goals_of, walk
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.check.step_counter import StepCounter
    from herbrand.machine.state_machine import StateMachine

__all__ = ["CounterCertificate", "Policy", "Spoiler", "StateSet"]

_PER_SECOND = 20_000
"""More transitions than this the rules cannot make in a second."""


@dataclass(frozen=True)
class StateSet:
    """All reachable states, each of which has been looked at.

    `claim` says what holds in all of them: "playable", "goals", "monotonic", "ranked" (each
    transition makes the longest way from the start longer), or "below" with `role` and `value`: no
    terminal state has that goal value for the role.
    """

    space: StateSpace = field(repr=False)
    claim: str
    role: str | None = None
    value: int = 100

    kind = "state set"

    def as_json(self) -> dict[str, Any]:
        """Return the sizes; exploring again gives the states."""
        return {"states": len(self.space.states), "transitions": self.space.transitions}

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Walk through the game by its rules: no state may be missing, and the claim must hold in each.

        Raises `BudgetExceeded` at once where there is no hope to finish in time.
        """
        if self.space.transitions > _PER_SECOND * seconds:
            raise BudgetExceeded(f"{seconds:g} seconds", f"{self.space.transitions} transitions to check")
        facts = self.space.expander.facts(self.space.states)
        numbers = self.space.longest if self.claim == "ranked" else range(len(facts))
        ranks = {
            frozenset(map(str.lower, state)): int(rank) for state, rank in zip(facts, numbers, strict=True)
        }
        text = {}
        met = 0
        goals: dict[Any, list[int | None]] = {}
        role = None if self.role is None else game.role_index(self.role)
        players = [r for r, name in enumerate(game.roles) if name.lower() != "random"]
        waiting: list[tuple[Any, Any]] = []
        for node, successors in walk(game, seconds):
            rank = ranks.get(node.facts)
            if rank is None:
                return False
            met += 1
            if self.claim == "playable" and not node.over and not all(node.legal):
                return False
            if self.claim in ("goals", "below", "monotonic") and (node.over or self.claim == "monotonic"):
                values = goals_of(game, node)
                if self.claim != "below" and None in [values[r] for r in players]:
                    return False
                if role is not None and values[role] == self.value:
                    return False
                goals[node.key] = values
            if self.claim in ("ranked", "monotonic"):
                text[node.key] = rank
                waiting += ((node.key, after) for _, after in successors)
        if self.claim == "ranked" and any(text[after] <= text[before] for before, after in waiting):
            return False
        if self.claim == "monotonic" and any(
            (goals[after][r] or 0) < (goals[before][r] or 0) for before, after in waiting for r in players
        ):
            return False
        return met == len(ranks)


@dataclass(frozen=True)
class CounterCertificate:
    """Propositions that are certain after each step, whatever is played, until the game is over."""

    counter: StepCounter

    kind = "step counter"

    def as_json(self) -> dict[str, Any]:
        """Return the bound and the propositions that end the game."""
        return {"bound": self.counter.bound, "last": list(self.counter.last)}

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Evaluate the network of the game with unknown moves: `terminal` must become certain by then."""
        from herbrand.analyse.exploration.ternary import certain_end

        found = certain_end(game.network_within(seconds), self.counter.bound)
        return found is not None and found <= self.counter.bound


@dataclass(frozen=True)
class Policy:
    """A strategy: a role, and what it does in every state that can come up when it does so.

    Against anything the others do, `random` among them, it leads to a terminal state in which the
    role has the goal value `value`.
    """

    role: str
    moves: dict[frozenset[str], str] = field(repr=False)
    """The move by the facts of the state."""
    value: int = 100
    steps: int = 0
    """After so many steps the game is over at the latest."""

    kind = "strategy"

    def as_json(self) -> dict[str, Any]:
        """Return its size, and the first move."""
        return {"states": len(self.moves), "steps": self.steps, "role": self.role}

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Play it by the rules against every reply; every line must end, and end with the value."""
        terms = game.engine_object("rules").terms
        role = game.role_index(self.role)
        moves = {frozenset(map(str.lower, facts)): move.lower() for facts, move in self.moves.items()}
        edges: dict[Any, list[Any]] = {}
        complete = True

        def follow(node: ReplayedState) -> list[tuple[int, ...]]:
            nonlocal complete
            move = moves.get(node.facts)
            mine = [m for m in node.legal[role] if terms.text(m).lower() == move]
            if not mine or not all(node.legal):
                complete = False
                return []
            return list(product(*(mine if r == role else legal for r, legal in enumerate(node.legal))))

        for node, successors in walk(game, seconds, allowed=follow):
            if node.over and goals_of(game, node)[role] != self.value:
                return False
            edges[node.key] = [after for _, after in successors]
        return complete and _acyclic(edges)


@dataclass(frozen=True)
class Spoiler:
    """Why a role cannot force anything: a reply of the others to each of its moves, from each state.

    All states that come up so are ones that are not terminal or have another goal value, for ever.
    """

    role: str
    replies: dict[tuple[frozenset[str], str], tuple[str, ...]] = field(repr=False)
    """The joint move by the facts of the state and the move of the role in it."""
    value: int = 100

    kind = "spoiling strategy"

    def as_json(self) -> dict[str, Any]:
        """Return its size."""
        return {"replies": len(self.replies), "role": self.role}

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Play the replies by the rules against every move of the role; it must never get the value."""
        terms = game.engine_object("rules").terms
        role = game.role_index(self.role)
        replies = {
            (frozenset(map(str.lower, facts)), move.lower()): tuple(map(str.lower, joint))
            for (facts, move), joint in self.replies.items()
        }
        complete = True

        def follow(node: ReplayedState) -> list[tuple[int, ...]]:
            nonlocal complete
            if not all(node.legal):
                return []
            found = []
            for move in node.legal[role]:
                joint = replies.get((node.facts, terms.text(move).lower()))
                numbers = []
                for r, legal in enumerate(node.legal):
                    text = None if joint is None else joint[r]
                    numbers += [m for m in legal if terms.text(m).lower() == text][:1]
                if len(numbers) != len(node.legal) or numbers[role] != move:
                    complete = False
                    return []
                found.append(tuple(numbers))
            return found

        for node, _ in walk(game, seconds, allowed=follow):
            if node.over and goals_of(game, node)[role] == self.value:
                return False
        return complete


def _acyclic(edges: dict[Any, list[Any]]) -> bool:
    """Whether a graph has no circle (depth first, without recursion)."""
    done: set[Any] = set()
    for root, children in edges.items():
        if root in done:
            continue
        path, on_path = [(root, iter(children))], {root}
        while path:
            node, rest = path[-1]
            child = next(rest, None)
            if child is None:
                path.pop()
                on_path.discard(node)
                done.add(node)
            elif child in on_path:
                return False
            elif child not in done:
                path.append((child, iter(edges[child])))
                on_path.add(child)
    return True

"""Certificates of verdicts by exploration, which the rules alone can check."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.exploration.replay import ReplayedState, goal_of, goals_of, walk
from herbrand.errors import BudgetExceeded
from herbrand.network.ternary import TernarySimulation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.check.step_counter import StepCounter
    from herbrand.machine.state_machine import StateMachine
    from herbrand.network.network import Network

__all__ = [
    "CounterCertificate",
    "Policy",
    "SpoiledBeliefs",
    "Spoiler",
    "StateSet",
    "UniformPolicy",
    "certain_end",
    "certain_fluents",
]

_PER_SECOND = 20_000
"""An upper bound on the transitions that the rule evaluator computes in a second."""


@dataclass(frozen=True)
class StateSet:
    """All reachable states, with a claim that was checked in each.

    `claim` is "playable", "goals", "monotonic", "ranked" (each transition
    increases the longest distance from the start), or "below" with `role` and `value`: no
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

        Raises `BudgetExceeded` at once where the check cannot finish in time.
        """
        if self.space.transitions > _PER_SECOND * seconds:
            raise BudgetExceeded(f"{seconds:g} seconds", f"{self.space.transitions} transitions to check")
        facts = self.space.expander.facts(self.space.states)
        numbers = self.space.longest if self.claim == "ranked" else range(len(facts))
        ranks = {
            frozenset(map(str.lower, state)): int(rank) for state, rank in zip(facts, numbers, strict=True)
        }
        rank_of = {}
        visited = 0
        goals: dict[Any, list[int | None]] = {}
        role = None if self.role is None else game.role_index(self.role)
        players = [r for r, name in enumerate(game.roles) if name.lower() != "random"]
        transitions: list[tuple[Any, Any]] = []
        for node, successors in walk(game, seconds):
            rank = ranks.get(node.facts)
            if rank is None:
                return False
            visited += 1
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
                rank_of[node.key] = rank
                transitions += ((node.key, after) for _, after in successors)
        if self.claim == "ranked" and any(rank_of[after] <= rank_of[before] for before, after in transitions):
            return False
        if self.claim == "monotonic" and any(
            (goals[after][r] or 0) < (goals[before][r] or 0) for before, after in transitions for r in players
        ):
            return False
        return visited == len(ranks)


@dataclass(frozen=True)
class CounterCertificate:
    """Fluents that are certain after each step of any play, until the game is over."""

    counter: StepCounter

    kind = "step counter"

    def as_json(self) -> dict[str, Any]:
        """Return the bound and the fluents that end the game."""
        return {"bound": self.counter.bound, "last": list(self.counter.last)}

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Evaluate the network of the game with unknown moves: `terminal` becomes certain by then.

        Raises `BudgetExceeded` where it does not: ternary simulation is weaker than the search for counters.
        """
        bound = self.counter.bound
        if certain_end(game.network_within(seconds), bound) is None:
            raise BudgetExceeded("ternary simulation", f"it is not certain that play ends in {bound} steps")
        return True


@dataclass(frozen=True)
class Policy:
    """A strategy: the move of a role in every state that is reachable when it plays these moves.

    Against all moves of the others, including `random`, it leads to a terminal state in which the
    role has the goal value `value`.
    """

    role: str
    moves: dict[frozenset[str], str] = field(repr=False)
    """The move by the facts of the state."""
    value: int = 100
    steps: int = 0
    """A bound on the steps until the game is over."""

    kind = "strategy"

    def as_json(self) -> dict[str, Any]:
        """Return its size, steps and role."""
        return {"states": len(self.moves), "steps": self.steps, "role": self.role}

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Play it by the rules against every reply; every line must end with the value."""
        terms = game.engine_object("rules").terms
        role = game.role_index(self.role)
        moves = {frozenset(map(str.lower, facts)): move.lower() for facts, move in self.moves.items()}
        edges: dict[Any, list[Any]] = {}
        complete = True

        def follow(node: ReplayedState) -> list[tuple[int, ...]]:
            nonlocal complete
            move, options = moves.get(node.facts), list(node.legal)
            options[role] = tuple(m for m in options[role] if terms.text(m).lower() == move)
            if not all(options):
                complete = False
                return []
            return list(product(*options))

        for node, successors in walk(game, seconds, allowed=follow):
            if node.over and goals_of(game, node)[role] != self.value:
                return False
            edges[node.key] = [after for _, after in successors]
        return complete and _acyclic(edges)


@dataclass(frozen=True)
class UniformPolicy:
    """A strategy of a role that does not see everything: its move for each set of possible states.

    Against all moves of the others, including `random`, it leads to a terminal state in which the role has
    the goal value `value`.
    """

    role: str
    moves: dict[frozenset[frozenset[str]], str] = field(repr=False)
    """The move by the facts of the possible states, in lower case."""
    value: int = 100

    kind = "uniform strategy"

    def as_json(self) -> dict[str, Any]:
        """Return its size and role."""
        return {"beliefs": len(self.moves), "role": self.role}

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Play it by the rules against every reply, and derive what the role perceives from them as well."""
        beliefs = _Beliefs(game, self.role, self.value, seconds)
        edges: dict[frozenset[Any], list[frozenset[Any]]] = {}
        queue = [beliefs.first]
        while queue:
            belief = queue.pop()
            if belief not in edges:
                move = self.moves.get(beliefs.facts(belief), "").lower()
                following = beliefs.after(belief, move)
                if following is None:
                    return False
                edges[belief] = following
                queue += following
        return _acyclic(edges)


@dataclass(frozen=True)
class SpoiledBeliefs:
    """What a role that does not see everything can be shown after each of its moves, so that it never wins.

    From each set of states in which the game may be, as far as it knows, each move that is legal in all of
    them can end without the goal value, or leads to another such set.
    """

    role: str
    leads: dict[tuple[frozenset[frozenset[str]], str], frozenset[frozenset[str]]] = field(repr=False)
    """The possible states after a move, by the facts of those before it, in lower case, and the move.

    Moves that can end the game without the value are left out.
    """
    value: int = 100

    kind = "spoiled beliefs"

    def as_json(self) -> dict[str, Any]:
        """Return its size and role."""
        return {"moves": len(self.leads), "role": self.role}

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Make every move by the rules, and derive what the role perceives from them as well."""
        beliefs = _Beliefs(game, self.role, self.value, seconds)
        leads = {(belief, move.lower()): after for (belief, move), after in self.leads.items()}
        seen = {beliefs.first}
        queue = [beliefs.first]
        while queue:
            belief = queue.pop()
            facts = beliefs.facts(belief)
            for move in beliefs.moves(belief):
                following = beliefs.after(belief, move)
                if following is None:
                    continue
                wanted = leads.get((facts, move))
                chosen = [one for one in following if beliefs.facts(one) == wanted]
                if not chosen:
                    return False
                if chosen[0] not in seen:
                    seen.add(chosen[0])
                    queue += chosen
        return True


class _Beliefs:
    """Sets of states that a role can consider possible, by the rules."""

    def __init__(self, game: StateMachine, role: str, value: int, seconds: float) -> None:
        self.game, self.role, self.value = game, game.role_index(role), value
        self.engine = game.engine_object("rules")
        self.first = frozenset([self.engine.initial()])
        self.deadline = time.monotonic() + seconds

    def facts(self, belief: frozenset[Any]) -> frozenset[frozenset[str]]:
        """Return the facts of its states, in lower case."""
        text = self.engine.terms.text
        return frozenset(frozenset(text(f).lower() for f in self.engine.fluents(state)) for state in belief)

    def moves(self, belief: frozenset[Any]) -> list[str]:
        """Return the moves of the role that are legal in all states, in lower case."""
        text = self.engine.terms.text
        legal = [{text(move).lower() for move in self.engine.legal(state, self.role)} for state in belief]
        return sorted(set.intersection(*legal))

    def after(self, belief: frozenset[Any], move: str) -> list[frozenset[Any]] | None:
        """Return the sets that can follow a move; None if it may be illegal or end without the value."""
        engine, text = self.engine, self.engine.terms.text
        groups: dict[frozenset[str], set[Any]] = {}
        for state in belief:
            legal = [sorted(set(engine.legal(state, r))) for r in range(len(self.game.roles))]
            legal[self.role] = [one for one in legal[self.role] if text(one).lower() == move]
            if not all(legal):
                return None
            for joint in product(*legal):
                if time.monotonic() > self.deadline:
                    raise BudgetExceeded("the time for a check", "of what a role can consider possible")
                after = engine.successor(state, joint)
                if not engine.terminal(after):
                    percepts = frozenset(text(term) for term in engine.percepts(state, joint, self.role))
                    groups.setdefault(percepts, set()).add(after)
                elif goal_of(self.game, after, self.role) != self.value:
                    return None
        return list(map(frozenset, groups.values()))


@dataclass(frozen=True)
class Spoiler:
    """A counter-strategy: a reply of the others to each move of a role, in each state that replies lead to.

    None of these states is terminal with the goal value for the role.
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
            joints = []
            for move in node.legal[role]:
                joint = replies.get((node.facts, terms.text(move).lower()))
                numbers = []
                for r, legal in enumerate(node.legal):
                    text = None if joint is None else joint[r]
                    numbers += [m for m in legal if terms.text(m).lower() == text][:1]
                if len(numbers) != len(node.legal) or numbers[role] != move:
                    complete = False
                    return []
                joints.append(tuple(numbers))
            return joints

        for node, _ in walk(game, seconds, allowed=follow):
            if node.over and goals_of(game, node)[role] == self.value:
                return False
        return complete


def _acyclic(edges: dict[Any, list[Any]]) -> bool:
    """Return whether a graph has no cycle (depth-first search without recursion)."""
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


def certain_end(network: Network, most: int) -> int | None:
    """Return a bound of at most `most` steps on the length of plays; None if the simulation shows none."""
    steps = certain_fluents(network, most)
    return None if steps is None else len(steps) - 1


def certain_fluents(network: Network, most: int) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]] | None:
    """Return which fluents are true for certain, and which may be, after 0, 1, 2, ... steps of any play.

    After the last of these steps, at most `most`, the game is over for certain; None if that is not shown.

    In ternary simulation, the initial state is known and moves are unknown; whatever `next` then certainly is
    holds after one step of any play.  Once `terminal` must be true, every play has ended.
    """
    simulation = TernarySimulation(network)
    can, must, fluents = simulation.can, simulation.must, simulation.fluents
    can[fluents] = must[fluents] = network.initial
    terminal = np.array([network.terminal])
    steps: list[tuple[NDArray[np.bool_], NDArray[np.bool_]]] = []
    seen: set[bytes] = set()
    for _ in range(most + 1):
        simulation.evaluate()
        steps.append((must[fluents].astype(np.bool_), can[fluents].astype(np.bool_)))
        if simulation.certain(terminal)[0]:
            return steps
        mark = np.packbits([must[fluents], can[fluents]]).tobytes()
        if mark in seen:
            return None
        seen.add(mark)
        must[fluents], can[fluents] = simulation.certain(network.next), simulation.possible(network.next)
    return None

"""Verdicts on each property from the graph of explored states.

An incomplete exploration can still refute, since all its states are reachable.  It can prove that a
state can be reached or forced, never that there is none.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.exploration.certificates import Policy, Spoiler, StateSet
from herbrand.analyse.verdict import Verdict, Witness
from herbrand.runtime.numbers import spaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.exploration.explore import StateSpace

__all__ = ["goal_verdict", "monotonicity", "playability", "strong", "strong_of", "termination", "weak"]

_CHUNK = 1 << 16
"""States that are looked at at once."""
_WORK = 50_000_000
"""Edges that the search for a shortest cycle may visit."""
_STRATEGY = 100_000
"""Moves of the largest strategy that is written down; more take minutes to write and longer to check."""
METHOD = "exploration"


def _explored(space: StateSpace) -> str:
    return f"in {spaced(space.expanded)} states, up to {space.depth} steps deep"


def _all(space: StateSpace) -> str:
    return f"all {spaced(len(space.states))} reachable states"


def termination(space: StateSpace) -> Verdict:
    """Decide whether every play ends: whether the graph has no cycle."""
    if not len(space.children) and space.transitions:
        return Verdict.unknown("the edges of the graph were not stored")
    if space.acyclic:
        if not space.complete:
            return Verdict.unknown(f"no cycle found {_explored(space)}")
        reason = f"no state among {_all(space)} recurs; the longest play has {space.longest_play} steps"
        ranked, details = StateSet(space, "ranked"), {"bound": space.longest_play}
        return Verdict("proved", METHOD, reason, certificate=ranked, details=details)
    depth = np.searchsorted(space.levels, np.arange(len(space.states)), side="right") - 1
    cycle, finished = space.graph.lasso(depth, space.unsorted, _WORK)
    if not cycle:
        return Verdict.unknown("there is a cycle, but no witness was found within the budget")
    prefix = space.line_to(cycle[0])
    around = space.line_along([*cycle, cycle[0]])
    witness = Witness((*prefix, *around), loop=len(prefix), shortest=finished and space.complete)
    reason = f"after {len(prefix)} steps, {len(cycle)} more lead back to the same state"
    return Verdict("refuted", METHOD, reason, witness)


def playability(space: StateSpace) -> Verdict:
    """Decide whether every role can always move."""
    if len(space.stuck):
        state = int(space.stuck[0])
        legal = space.expander.legal(space.states[state : state + 1]).counts()[0]
        role = space.expander.roles[int(np.flatnonzero(legal == 0)[0])]
        witness = Witness(space.line_to(state), role=role, shortest=True)
        reason = f"{role} has no legal move after {len(witness.moves)} steps, and the game is not over"
        return Verdict("refuted", METHOD, reason, witness, details={"stuck_states": len(space.stuck)})
    if not space.complete:
        return Verdict.unknown(f"no role without a legal move found {_explored(space)}")
    reason = f"every role has a legal move in {_all(space)} that are not terminal"
    return Verdict("proved", METHOD, reason, certificate=StateSet(space, "playable"))


def goal_verdict(space: StateSpace, roles: Sequence[int]) -> Verdict:
    """Decide whether each of the roles has exactly one goal value in every terminal state."""
    wrong = space.over[:, None] & (space.goals[:, list(roles)] < 0)
    bad = np.flatnonzero(wrong.any(axis=1))
    if len(bad):
        state = int(bad[0])
        role = space.expander.roles[roles[int(wrong[state].argmax())]]
        witness = Witness(space.line_to(state), role=role, shortest=True)
        return Verdict("refuted", METHOD, f"the game ends without one goal value for {role}", witness)
    if not space.complete:
        return Verdict.unknown(f"no terminal state without goal values found {_explored(space)}")
    reason = f"each role has one goal value in all {spaced(space.terminal_states)} terminal states"
    return Verdict("proved", METHOD, reason, certificate=StateSet(space, "goals"))


def monotonicity(space: StateSpace, roles: Sequence[int]) -> Verdict:
    """Decide whether each role has a goal value in every state and it never decreases."""
    chosen = list(roles)
    if not space.expanded:
        return Verdict.unknown("no state was expanded")
    expanded = space.states[: space.expanded]
    chunks = (expanded[i : i + _CHUNK] for i in range(0, space.expanded, _CHUNK))
    values = np.concatenate(list(map(space.expander.goals, chunks)))[:, chosen]
    missing = np.flatnonzero((values < 0).any(axis=1))
    first, before = (int(missing[0]), -1) if len(missing) else (len(space.states), -1)
    for begin in range(0, space.expanded if len(space.children) else 0, _CHUNK):
        if first < begin:
            break
        starts = space.starts[begin : min(begin + _CHUNK, space.expanded) + 1]
        parents = np.repeat(np.arange(begin, begin + len(starts) - 1), np.diff(starts))
        children = space.children[starts[0] : starts[-1]]
        is_expanded = children < space.expanded
        parents, children = parents[is_expanded], children[is_expanded]
        lower = np.flatnonzero((values[children] < values[parents]).any(axis=1))
        if len(lower):
            if parents[lower[0]] < first:
                before, first = int(parents[lower[0]]), int(children[lower[0]])
            break
    if before >= 0:
        role = space.expander.roles[chosen[int((values[first] < values[before]).argmax())]]
        line = (*space.line_to(before), *space.line_along([before, first]))
        return Verdict("refuted", METHOD, f"a step lowers the goal value of {role}", Witness(line, role=role))
    if len(missing):
        role = space.expander.roles[chosen[int((values[first] < 0).argmax())]]
        witness = Witness(space.line_to(first), role=role, shortest=True)
        reason = f"{role} does not have exactly one goal value in some state"
        return Verdict("refuted", METHOD, reason, witness)
    if not space.complete or (space.transitions and not len(space.children)):
        return Verdict.unknown(f"no decreasing goal value found {_explored(space)}")
    reason = f"goal values never decrease in {_all(space)}"
    return Verdict("proved", METHOD, reason, certificate=StateSet(space, "monotonic"))


def weak(space: StateSpace, role: int, value: int) -> Verdict:
    """Decide whether a role gets a goal value in some terminal state."""
    name = space.expander.roles[role]
    won = np.flatnonzero(space.over & (space.goals[:, role] == value))
    if len(won):
        line = space.line_to(int(won[0]))
        reason = f"{name} gets {value} after {len(line)} steps"
        return Verdict("proved", METHOD, reason, Witness(line, role=name, shortest=True))
    if not space.complete:
        return Verdict.unknown(f"no terminal state with {value} for {name} found {_explored(space)}")
    reason = f"{name} gets {value} in none of {spaced(space.terminal_states)} terminal states"
    return Verdict("refuted", METHOD, reason, certificate=StateSet(space, "below", name, value))


def strong(
    space: StateSpace, role: int, target: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Compute the states from which a role can force a terminal state of `target`.

    Returns for each state the number of steps, or -1, and which of the role's legal moves achieves it.
    The role knows the state, but not the simultaneous moves of the others.
    """
    return space.graph.force(target, role, space.sequence if space.acyclic else None)


def strong_of(space: StateSpace, role: int, value: int) -> Verdict:
    """Decide whether a role can force a goal value, by a strategy that reacts to the state."""
    started = time.monotonic()
    name = space.expander.roles[role]
    if space.transitions and not len(space.children):
        return Verdict.unknown("the edges of the graph were not stored")
    target = space.over & (space.goals[:, role] == value)
    if space.complete and not target.any():
        return weak(space, role, value)
    rank, move = strong(space, role, target)
    if rank[0] >= 0:
        steps = int(rank[0])
        policy = _policy(space, role, move, value, steps)
        reason, details = f"{name} can force {value} within {steps} steps", {"steps": steps}
        seconds = time.monotonic() - started
        return Verdict("proved", METHOD, reason, certificate=policy, seconds=seconds, details=details)
    if not space.complete:
        return Verdict.unknown(f"no way for {name} to force {value} found {_explored(space)}")
    spoiler = _spoiler(space, role, rank, value)
    reason = f"whatever {name} does, the others can prevent {value}"
    return Verdict("refuted", METHOD, reason, certificate=spoiler, seconds=time.monotonic() - started)


def move_of(space: StateSpace, state: int, role: int, number: int) -> str:
    """Return the `number`-th legal move of a role in a state as text."""
    mask = space.expander.legal(space.states[state : state + 1]).mask(role)[0]
    return space.expander.moves[role][int(np.flatnonzero(mask)[number])]


def edges_with_move(space: StateSpace, state: int, role: int, number: int) -> NDArray[np.int64]:
    """Return the edges of a state in which a role makes its `number`-th move."""
    counts = space.counts[state].astype(np.int64)
    grid = np.arange(space.starts[state], space.starts[state + 1]).reshape(counts)
    edges: NDArray[np.int64] = grid.take(number, axis=role).reshape(-1)
    return edges


def _policy(space: StateSpace, role: int, move: NDArray[np.int32], value: int, steps: int) -> Policy | None:
    """Collect the moves in all states that are reachable when the role plays them; None for too many."""
    visited, queue = {0}, [0]
    moves: dict[frozenset[str], str] = {}
    facts = space.expander.facts
    for state in queue:
        if len(moves) >= _STRATEGY:
            return None
        if space.over[state]:
            continue
        number = int(move[state])
        moves[facts(space.states[state : state + 1])[0]] = move_of(space, state, role, number)
        for child in space.children[edges_with_move(space, state, role, number)].tolist():
            if child not in visited:
                visited.add(child)
                queue.append(child)
    return Policy(space.expander.roles[role], moves, value, steps)


def _spoiler(space: StateSpace, role: int, rank: NDArray[np.int32], value: int) -> Spoiler | None:
    """Collect replies that keep the role from ever forcing the value; None for too many."""
    visited, queue = {0}, [0]
    replies: dict[tuple[frozenset[str], str], tuple[str, ...]] = {}
    for state in queue:
        if len(replies) >= _STRATEGY:
            return None
        if space.over[state] or not space.counts[state].all():
            continue
        facts = space.expander.facts(space.states[state : state + 1])[0]
        expansion = space.expander.expand(space.states[state : state + 1])
        for number in range(int(space.counts[state, role])):
            edge = space.graph.reply(state, number, role, rank)
            joint = expansion.joint_move(edge - int(space.starts[state]))
            replies[facts, joint[role]] = joint
            child = int(space.children[edge])
            if child not in visited:
                visited.add(child)
                queue.append(child)
    return Spoiler(space.expander.roles[role], replies, value)

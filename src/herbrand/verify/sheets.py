"""Compare two rulesheets that use the same names."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from herbrand.verify.report import Difference, Report, shown, surplus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["verify_same"]


def verify_same(
    game: StateMachine,
    other: StateMachine,
    *,
    playouts: int = 10,
    seed: int = 0,
    max_steps: int = 200,
    declarations: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Report:
    """Play random games by two rulesheets at once; report the first state in which they differ.

    Roles, fluents, legal moves, the end, goals and percepts are compared, with `declarations` also
    `base` and `input`.  Names must agree except for case.
    """
    started = time.process_time()

    def report(states: int, difference: Difference | None) -> Report:
        return Report(states, difference, (), time.process_time() - started, f"{game.name}/{other.name}")

    for what, expected, got in _declared(game, other, with_inputs=declarations):
        return report(0, Difference(0, 0, what, expected, got))
    rng = random.Random(seed)
    states = 0
    for playout in range(playouts):
        first, second = game.initial_state("rules"), other.initial_state("rules")
        moves: list[str] = []
        while True:
            for what, expected, got in _differences(first, second, (game.name, other.name)):
                return report(states, Difference(playout, len(moves), what, expected, got, tuple(moves)))
            states += 1
            if progress is not None:
                progress(states)
            legal = first.legal_moves()
            if first.is_terminal or len(moves) >= max_steps or not all(legal.values()):
                break
            joint = [str(rng.choice(legal[role])).lower() for role in game.roles]
            for role, other_role in zip(game.roles, other.roles, strict=True):
                percepts, other_percepts = first.percepts(joint, role), second.percepts(joint, other_role)
                if _folded(percepts) != _folded(other_percepts):
                    what, texts = f"percepts {role}", (" ".join(percepts), " ".join(other_percepts))
                    return report(states, Difference(playout, len(moves), what, *texts, tuple(moves)))
            moves.append(f"({' '.join(joint)})")
            first, second = first.next(joint), second.next(joint)
    return report(states, None)


def _declared(
    game: StateMachine, other: StateMachine, *, with_inputs: bool
) -> Iterator[tuple[str, str, str]]:
    """Yield differences in roles and, optionally, in base propositions and inputs."""
    pairs: list[tuple[str, Sequence[str], Sequence[str]]] = [("roles", game.roles, other.roles)]
    if with_inputs:
        pairs.append(("base", _folded(game.base), _folded(other.base)))
        other_inputs = {role.lower(): moves for role, moves in other.inputs.items()}
        for role, moves in game.inputs.items():
            pairs.append((f"input {role}", _folded(moves), _folded(other_inputs.get(role.lower(), ()))))
    for what, first, second in pairs:
        if [x.lower() for x in first] == [x.lower() for x in second]:
            continue
        missing, surplus = sorted(set(first) - set(second)), sorted(set(second) - set(first))
        yield (
            what,
            f"{game.name}: also {shown(missing)}" if missing else f"{game.name}: {shown(first)}",
            f"{other.name}: also {shown(surplus)}" if surplus else f"{other.name}: {shown(second)}",
        )


def _folded(terms: Iterable[object]) -> list[str]:
    return sorted(str(term).lower() for term in terms)


def _differences(first: State, second: State, names: tuple[str, str]) -> Iterator[tuple[str, str, str]]:
    def compare(what: str, a: Iterable[str], b: Iterable[str]) -> Iterator[tuple[str, str, str]]:
        only, other = surplus(a, b)
        if only or other:
            yield what, f"{names[0]}: also {shown(only)}", f"{names[1]}: also {shown(other)}"

    yield from compare("state", first.facts, second.facts)
    if first.is_terminal != second.is_terminal:
        yield "terminal", str(first.is_terminal), str(second.is_terminal)
    for role, other_role in zip(first.roles, second.roles, strict=True):
        yield from compare(
            f"legal {role}", map(str, first.legal_moves(role)), map(str, second.legal_moves(other_role))
        )
        yield from compare(f"goal {role}", first.goal_values(role), second.goal_values(other_role))

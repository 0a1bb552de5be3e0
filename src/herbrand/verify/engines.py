"""Compare engines in the states of random games."""

from __future__ import annotations

import random
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from herbrand.errors import BudgetExceeded, GameError, HerbrandError, MissingExtra, MissingProgram
from herbrand.verify.report import Difference, Report, Side, shown, surplus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["verify_playouts"]

_GIVES_UP = (BudgetExceeded, GameError, MissingExtra, MissingProgram, MemoryError)
"""Exceptions of an engine that cannot answer; the comparison continues without it."""
_Found: TypeAlias = tuple[str, str, str, str]
"""The aspect of a difference, the first differing atom, and the surplus of each state."""


def verify_playouts(
    game: StateMachine,
    *,
    engines: Sequence[str] = ("rules", "naive"),
    playouts: int = 10,
    seed: int = 0,
    max_steps: int = 200,
    seconds: float | None = None,
    progress: Callable[[int], None] | None = None,
) -> Report:
    """Play random games on several engines at once; report the first state in which two differ.

    The first engine is the reference: moves are drawn from its legal moves, and every other engine is
    compared with it in fluents, legal moves, the end of the game, goals and percepts.  An engine that
    cannot answer is dropped, with the reason in `Report.unsupported`.  Raises the error of the first
    engine, or of the last other one if nothing was compared.  No state is compared after `seconds`, counted
    from when all engines are ready.
    """
    game.require_playable()
    started = time.process_time()
    comparison = _Comparison(game, engines)
    deadline = None if seconds is None else time.monotonic() + seconds
    rng = random.Random(seed)
    difference = None
    for playout in range(playouts):
        difference = comparison.play(playout, rng, max_steps, deadline, progress)
        if difference is not None or not comparison.others or _is_over(deadline):
            break
    if comparison.failure is not None and not any(comparison.compared.values()):
        raise comparison.failure
    remarks = tuple(f"{name} gave up: {reason}" for name, reason in comparison.unsupported.items())
    spent = time.process_time() - started
    by_engine = comparison.compared, comparison.unsupported
    return Report(comparison.states, difference, remarks, spent, "/".join(engines), *by_engine)


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() > deadline


class _Comparison:
    """A reference engine, and the others until they cannot answer."""

    def __init__(self, game: StateMachine, engines: Sequence[str]) -> None:
        self.game = game
        self.states = 0
        self.compared = dict.fromkeys(engines[1:], 0)
        self.unsupported: dict[str, str] = {}
        self.failure: BaseException | None = None
        self.first = game.initial_state(engines[0])
        self.others: dict[str, State] = {}
        for name in engines[1:]:
            with self._dropping(name):
                self.others[name] = game.initial_state(name)

    @contextmanager
    def _dropping(self, name: str) -> Iterator[None]:
        """Drop an engine from the comparison when it cannot answer."""
        try:
            yield
        except _GIVES_UP as error:
            self.failure = error
            self.unsupported[name] = str(error) or type(error).__name__
            self.others.pop(name, None)

    def play(
        self,
        playout: int,
        rng: random.Random,
        max_steps: int,
        deadline: float | None,
        progress: Callable[[int], None] | None,
    ) -> Difference | None:
        """Play one game; return the first difference."""
        state, others = self.first, dict(self.others)
        before: State | None = None
        joint: list[Move] = []
        moves: list[str] = []
        while True:
            for name, other in others.items():
                with self._dropping(name):
                    for what, atom, expected, got in _differences(self.game, state, other, before, joint):
                        facts = sorted((before if what == "state" and before else state).facts)
                        sides = _sides(self.game, state, other, before, joint, what, atom)
                        return Difference(
                            playout, len(moves), what, expected, got, tuple(moves), tuple(facts), sides
                        )
                    self.compared[name] += 1
            others = {name: other for name, other in others.items() if name in self.others}
            self.states += 1
            if progress is not None:
                progress(self.states)
            if state.is_terminal or len(moves) >= max_steps or not others or _is_over(deadline):
                return None
            legal = state.legal_moves()
            if not all(legal.values()):
                return None
            joint = [rng.choice(legal[role]) for role in self.game.roles]
            moves.append(f"({' '.join(map(str, joint))})")
            before, state = state, state.next(joint)
            successors = {}
            for name, other in others.items():
                with self._dropping(name):
                    successors[name] = other.next(joint)
            others = successors


def _differences(
    game: StateMachine, first: State, second: State, before: State | None, joint: Sequence[Move]
) -> Iterator[_Found]:
    """Yield each difference."""

    def compare(what: str, make: str, a: Iterable[str], b: Iterable[str]) -> Iterator[_Found]:
        only, other = surplus(a, b)
        if only or other:
            sides = f"{first.engine}: also {shown(only)}", f"{second.engine}: also {shown(other)}"
            yield what, make.format((only or other)[0]), *sides

    yield from compare("state", "(next {})" if before else "(init {})", first.facts, second.facts)
    if before is not None and game.has_percepts:
        previous = game.state(before.facts, second.engine)
        for role in first.roles:
            percepts = before.percepts(joint, role), previous.percepts(joint, role)
            yield from compare(f"percepts {role}", f"(sees {role} {{}})", *percepts)
    if first.is_terminal != second.is_terminal:
        sides = f"{first.engine}: {first.is_terminal}", f"{second.engine}: {second.is_terminal}"
        yield "terminal", "terminal", *sides
    for role in first.roles:
        legal = map(str, first.legal_moves(role)), map(str, second.legal_moves(role))
        yield from compare(f"legal {role}", f"(legal {role} {{}})", *legal)
        goals = first.goal_values(role), second.goal_values(role)
        yield from compare(f"goal {role}", f"(goal {role} {{}})", *goals)


def _sides(
    game: StateMachine,
    first: State,
    second: State,
    before: State | None,
    joint: Sequence[Move],
    what: str,
    atom: str,
) -> tuple[Side, ...]:
    """Return the answers of two engines for an atom, with the explanation by the rules."""
    inner = atom[1:-1].split(" ", 1)[1] if atom.startswith("(") else atom
    is_state = what == "state"
    try:
        queried = before if before is not None and (is_state or what.startswith("percepts")) else first
        moves = list(joint) if queried is before and before is not None else None
        explanation = queried.why(atom, moves)
        holds, why = explanation.holds, str(explanation)
    except (HerbrandError, ValueError) as error:
        holds, why = None, f"no explanation: {error}"
    sides = []
    for state in (first, second):
        if is_state:
            says = inner in {fact.lower() for fact in state.facts}
        elif what == "terminal":
            says = state.is_terminal
        elif what.startswith("percepts"):
            assert before is not None
            role, percept = inner.split(" ", 1)
            queried_state = game.state(before.facts, state.engine)
            says = percept in {p.lower() for p in queried_state.percepts(joint, role)}
        else:
            role, value = inner.split(" ", 1)
            values = state.goal_values(role) if what.startswith("goal") else map(str, state.legal_moves(role))
            says = value in {text.lower() for text in values}
        sides.append(Side(state.engine, atom, says, why, holds == says))
    return tuple(sides)

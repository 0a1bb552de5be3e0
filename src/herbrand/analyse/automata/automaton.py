"""A game as a finite automaton: Q, q0, Σ, δ and F.

| part | attributes                                                                              |
|------|-----------------------------------------------------------------------------------------|
| Q    | `states`: the reachable states, numbered in the order of discovery                      |
| q0   | state 0: the initial state, or any other given start                                    |
| Σ    | `alphabet`: the joint moves that are legal somewhere, `noop`s included                  |
| δ    | `edges`, `step`: defined where the state is not terminal and each role's move is legal  |
| F    | `final`: the terminal states, each with the goal value of every role (a Moore machine)  |

The automaton is deterministic, except where the game has the role `random`: then its moves, which are equally
likely, are not part of the symbols, and each edge has a probability instead.

`minimised` merges states that no sequence of joint moves distinguishes by legal moves, final states or
goal values (Moore 1956).  Such states differ as sets of facts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.automata.automaton_svg import draw
from herbrand.analyse.budget import Budget
from herbrand.errors import BudgetExceeded, GameError, IllegalMoveError, optional_import

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["LIMIT", "Automaton", "automaton"]

LIMIT = 100_000
"""The default limit on states."""

FORM = "herbrand automaton 1"
"""The identifier of the JSON format, with its version."""

_SHOWN_STATES = 60
"""The most states of a drawing in a notebook."""

Symbol = tuple[str, ...]


@dataclass(frozen=True)
class Automaton:
    """A finite automaton; state 0 is the start."""

    name: str
    roles: tuple[str, ...]
    """The roles whose moves make up a symbol, without `random`."""
    states: tuple[frozenset[str], ...]
    """The facts of each state; in a minimised automaton, of one of the merged states."""
    alphabet: tuple[Symbol, ...]
    edges: tuple[tuple[int, int, int, float], ...]
    """(state, number of the symbol, successor, probability), sorted."""
    final: Mapping[int, tuple[int | None, ...]]
    """The goal values of the roles in each final state."""
    merged: tuple[int, ...] | None = None
    """In a minimised automaton, the number of states that were merged into each."""

    @cached_property
    def _delta(self) -> dict[int, dict[int, list[tuple[int, float]]]]:
        delta: dict[int, dict[int, list[tuple[int, float]]]] = {}
        for source, symbol, target, chance in self.edges:
            delta.setdefault(source, {}).setdefault(symbol, []).append((target, chance))
        return delta

    @cached_property
    def _numbers(self) -> dict[Symbol, int]:
        return {tuple(map(str.lower, symbol)): i for i, symbol in enumerate(self.alphabet)}

    @property
    def deterministic(self) -> bool:
        """Whether δ has at most one value everywhere."""
        return all(len(to) == 1 for by_symbol in self._delta.values() for to in by_symbol.values())

    def symbols(self, state: int) -> list[Symbol]:
        """Return the legal joint moves in a state."""
        return [self.alphabet[symbol] for symbol in self._delta.get(state, {})]

    def step(self, state: int, symbol: Iterable[Any]) -> int:
        """Return δ(state, symbol); `IllegalMoveError` where it is not defined or up to chance."""
        moves = tuple(map(str, symbol))
        number = self._numbers.get(tuple(map(str.lower, moves)))
        after = None if number is None else self._delta.get(state, {}).get(number)
        if after is None:
            raise IllegalMoveError(f"no transition `{', '.join(moves)}` from state {state}")
        if len(after) > 1:
            raise IllegalMoveError(f"chance decides what follows `{', '.join(moves)}` in state {state}")
        return after[0][0]

    def run(self, word: Iterable[Iterable[Any]]) -> int:
        """Return the state after some joint moves from state 0."""
        state = 0
        for symbol in word:
            state = self.step(state, symbol)
        return state

    def minimised(self) -> Automaton:
        """Return the equivalent automaton with the fewest states."""
        classes: list[int] = []
        numbers: dict[Any, int] = {}
        for state in range(len(self.states)):
            signature = (self.final.get(state), tuple(sorted(self._delta.get(state, {}))))
            classes.append(numbers.setdefault(signature, len(numbers)))
        count = len(numbers)
        steps = [
            [after for _, after in sorted(self._delta.get(state, {}).items())]
            for state in range(len(self.states))
        ]
        while True:
            numbers = {}
            finer = []
            for state, following in enumerate(steps):
                # a deterministic step, the usual case, needs no sum of probabilities
                behaviour = (
                    classes[after[0][0]] if len(after) == 1 else _by_class(after, classes)
                    for after in following
                )
                finer.append(numbers.setdefault((classes[state], *behaviour), len(numbers)))
            classes = finer
            if len(numbers) == count:
                return self._quotient(classes, count)
            count = len(numbers)

    def _quotient(self, classes: list[int], count: int) -> Automaton:
        """Merge the states of each class; classes are numbered by their first state."""
        first = [-1] * count
        size = [0] * count
        for state, number in enumerate(classes):
            size[number] += 1
            if first[number] < 0:
                first[number] = state
        edges: dict[tuple[int, int, int], float] = {}
        for number, state in enumerate(first):
            for symbol, after in self._delta.get(state, {}).items():
                for target, chance in after:
                    key = (number, symbol, classes[target])
                    edges[key] = edges.get(key, 0.0) + chance
        return replace(
            self,
            states=tuple(self.states[state] for state in first),
            edges=tuple((*key, chance) for key, chance in sorted(edges.items())),
            final={number: self.final[state] for number, state in enumerate(first) if state in self.final},
            merged=tuple(size),
        )

    def completed(self) -> Automaton:
        """Return the automaton with an additional sink, the target of all undefined transitions."""
        sink = len(self.states)
        edges = list(self.edges)
        for state in range(sink + 1):
            defined = self._delta.get(state, {})
            edges += [(state, s, sink, 1.0) for s in range(len(self.alphabet)) if s not in defined]
        return replace(self, states=(*self.states, frozenset()), edges=tuple(sorted(edges)))

    # -- exports --------------------------------------------------------------------------

    def as_json(self) -> dict[str, Any]:
        """Return plain values; probabilities only where chance decides."""
        deterministic = self.deterministic
        document: dict[str, Any] = {
            "form": FORM,
            "name": self.name,
            "roles": list(self.roles),
            "start": 0,
            "states": [sorted(facts) for facts in self.states],
            "alphabet": [list(symbol) for symbol in self.alphabet],
            "transitions": [list(edge[:3] if deterministic else edge) for edge in self.edges],
            "final": {
                str(state): dict(zip(self.roles, goals, strict=True)) for state, goals in self.final.items()
            },
            "deterministic": deterministic,
        }
        if self.merged is not None:
            document["merged"] = list(self.merged)
        return document

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Automaton:
        """Return the automaton that `as_json` describes; raises `GameError` for other values."""
        if not isinstance(value, dict) or value.get("form") != FORM:
            raise GameError(f"not an automaton in JSON (`form` is not {FORM!r})")
        try:
            roles = tuple(value["roles"])
            return cls(
                name=value["name"],
                roles=roles,
                states=tuple(map(frozenset, value["states"])),
                alphabet=tuple(map(tuple, value["alphabet"])),
                edges=tuple(
                    (s, a, t, chance[0] if chance else 1.0) for s, a, t, *chance in value["transitions"]
                ),
                final={
                    int(state): tuple(goals[role] for role in roles)
                    for state, goals in value["final"].items()
                },
                merged=tuple(value["merged"]) if "merged" in value else None,
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise GameError(f"not an automaton in JSON: {error}") from error

    def as_csv(self) -> str:
        """Return the transitions as CSV: state, joint move, successor, probability."""
        lines = ["state,joint move,next,probability"]
        for source, symbol, target, chance in self.edges:
            move = "; ".join(self.alphabet[symbol]).replace('"', '""')
            lines.append(f'{source},"{move}",{target},{chance:.12g}')
        return "\n".join(lines) + "\n"

    def as_dot(self) -> str:
        """Return a graph for Graphviz; final states have two circles and their goal values."""
        lines = [
            f'digraph "{_quoted(self.name)}" {{',
            "  rankdir=LR; node [shape=circle, fontsize=10]; edge [fontsize=9];",
            '  "" [shape=none, width=0, height=0]; "" -> q0;',
        ]
        for state, facts in enumerate(self.states):
            tip = _quoted("\\n".join(sorted(facts)))
            if state in self.final:
                goals = " ".join("-" if g is None else str(g) for g in self.final[state])
                lines.append(f'  q{state} [shape=doublecircle, label="q{state}\\n{goals}", tooltip="{tip}"];')
            else:
                lines.append(f'  q{state} [tooltip="{tip}"];')
        for (source, target), labels in self._arrows().items():
            text = _quoted(
                "\\n".join(labels[:6]) + (f"\\n... {len(labels) - 6} more" if len(labels) > 6 else "")
            )
            lines.append(f'  q{source} -> q{target} [label="{text}"];')
        return "\n".join([*lines, "}"]) + "\n"

    def as_networkx(self) -> Any:
        """Return a `networkx.MultiDiGraph`; nodes are numbers with `facts`, `final` and `goals`."""
        with optional_import("graphs for NetworkX", "networkx"):
            import networkx as nx
        graph = nx.MultiDiGraph(name=self.name, start=0)
        for state, facts in enumerate(self.states):
            goals = self.final.get(state)
            graph.add_node(
                state,
                facts=facts,
                final=goals is not None,
                goals=None if goals is None else dict(zip(self.roles, goals, strict=True)),
            )
        for source, symbol, target, chance in self.edges:
            graph.add_edge(source, target, key=symbol, move=self.alphabet[symbol], probability=chance)
        return graph

    def __repr__(self) -> str:
        return f"<Automaton of {self.name}: {len(self.states)} states, {len(self.edges)} edges>"

    def _repr_svg_(self) -> str | None:
        """Return the drawing for notebooks, if there are few states."""
        return self.as_svg() if len(self.states) <= _SHOWN_STATES else None

    def as_svg(self, *, most: int = 200) -> str:
        """Return a drawing, the states in columns by their distance from the start.

        Raises `BudgetExceeded` for more than `most` states.
        """
        if len(self.states) > most:
            raise BudgetExceeded(f"{most} states in a drawing", f"there are {len(self.states)}")
        return draw(str(self), self.states, self.final, self.depths(), self._arrows())

    def _arrows(self) -> dict[tuple[int, int], list[str]]:
        """Return the labels of the edges by source and target."""
        labels: dict[tuple[int, int], list[str]] = {}
        for source, symbol, target, chance in self.edges:
            text = ", ".join(self.alphabet[symbol])
            if chance < 1:
                text += f" [{chance:.3g}]"
            labels.setdefault((source, target), []).append(text)
        return labels

    def depths(self) -> list[int]:
        """Return the distance of each state from state 0; -1 if unreachable."""
        depths = [-1] * len(self.states)
        depths[0] = 0
        queue = [0]
        for state in queue:
            for after in self._delta.get(state, {}).values():
                for target, _ in after:
                    if depths[target] < 0:
                        depths[target] = depths[state] + 1
                        queue.append(target)
        return depths

    def __str__(self) -> str:
        return (
            f"{self.name}: {len(self.states)} states, {len(self.final)} of them final, "
            f"{len(self.alphabet)} symbols, {len(self.edges)} transitions"
        )


def _by_class(after: list[tuple[int, float]], classes: list[int]) -> int | tuple[tuple[int, float], ...]:
    """Return the probability of each class after a step; the class alone if there is only one."""
    chances: dict[int, float] = {}
    for target, chance in after:
        chances[classes[target]] = chances.get(classes[target], 0.0) + chance
    if len(chances) == 1:
        return classes[after[0][0]]
    return tuple((number, round(chance, 12)) for number, chance in sorted(chances.items()))


def automaton(
    game: StateMachine, *, start: State | None = None, limit: int = LIMIT, seconds: float = 60.0
) -> Automaton:
    """Return the automaton of a game, from the initial state or from another one.

    Raises `BudgetExceeded` for more than `limit` states, or when exploration takes longer than `seconds`.
    """
    from herbrand.analyse.exploration.explore import explore

    game.require_playable()
    expander = game.expander
    first = None if start is None else expander.pack([start.facts])
    space = explore(expander, start=first, budget=Budget(seconds, limit))
    if not space.complete or len(space.states) > limit:
        too_long = len(space.states) <= limit
        hint = f"{len(space.states)} states found; see `seconds`" if too_long else "see `limit`"
        raise BudgetExceeded(space.stopped or f"{limit} states", hint)
    chance = expander.chance
    players = [r for r in range(len(expander.roles)) if r != chance]
    sources: list[int] = []
    moves: list[Symbol] = []
    for begin in range(0, len(space.states), 4096):
        for piece in expander.expansions(space.states[begin : begin + 4096]):
            sources += (begin + piece.parents).tolist()
            moves += [
                tuple(expander.moves[r][m] for r, m in enumerate(joint) if r != chance)
                for joint in piece.moves.tolist()
            ]
    draws = np.ones(len(sources)) if chance < 0 else space.counts[sources, chance]
    chances = (1.0 / np.maximum(draws, 1)).tolist()
    alphabet = tuple(sorted(set(moves)))
    numbers = {symbol: i for i, symbol in enumerate(alphabet)}
    edges: dict[tuple[int, int, int], float] = {}
    for source, move, target, p in zip(sources, moves, space.children.tolist(), chances, strict=True):
        key = (source, numbers[move], target)
        edges[key] = edges.get(key, 0.0) + p
    goals = space.goals[:, players].tolist()
    return Automaton(
        name=game.name,
        roles=tuple(expander.roles[r] for r in players),
        states=tuple(expander.facts(space.states)),
        alphabet=alphabet,
        edges=tuple((*key, p) for key, p in sorted(edges.items())),
        final={
            state: tuple(None if g < 0 else g for g in goals[state])
            for state in np.flatnonzero(space.over).tolist()
        },
    )


def _quoted(text: str) -> str:
    return text.replace('"', '\\"')


def _facts(text: str) -> list[str]:
    """Read the facts of a state; `(true f)` is the same as `f`."""
    from herbrand.machine.moves import Move
    from herbrand.rules.terms import read_term
    from herbrand.syntax.nodes import Function

    term = read_term(f"(state {text})")
    if not isinstance(term, Function):
        return []
    facts = [
        arg.args[0] if isinstance(arg, Function) and arg.key == ("true", 1) else arg for arg in term.args
    ]
    return [str(Move(str(fact))) for fact in facts]


def _with_options(game: StateMachine, options: Mapping[str, Any]) -> Automaton:
    """Return the automaton with the options of `herbrand convert`."""
    facts: str | None = options.get("from")
    start = None if facts is None else game.state(_facts(facts))
    result = automaton(game, start=start, limit=options.get("limit") or LIMIT, seconds=game.limits.seconds)
    return result.minimised() if options.get("minimise") else result


def write_json(game: StateMachine, **options: Any) -> str:
    """Write the automaton of a game as JSON."""
    import json

    return json.dumps(_with_options(game, options).as_json(), indent=1, ensure_ascii=False) + "\n"


def write_dot(game: StateMachine, **options: Any) -> str:
    """Write the automaton of a game for Graphviz."""
    return _with_options(game, options).as_dot()


def write_csv(game: StateMachine, **options: Any) -> str:
    """Write the transitions of the automaton of a game as CSV."""
    return _with_options(game, options).as_csv()


def write_svg(game: StateMachine, **options: Any) -> str:
    """Draw the automaton of a small game."""
    return _with_options(game, options).as_svg()

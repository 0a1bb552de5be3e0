"""The extensive form of a game as a text for Gambit and OpenSpiel (.efg).

The tree has all plays.  In a joint move, `random` chooses first, then the others in role order, without
seeing earlier choices: the information sets are the histories of the players.
A role with one legal move has no node.  The format is that of Gambit (R. D. McKelvey,
A. M. McLennan and T. L. Turocy, *Gambit: Software Tools for Game Theory*).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from herbrand.analyse.knowledge.states import legal_moves, single_goal
from herbrand.errors import BudgetExceeded, GameError

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine
    from herbrand.runtime.limits import Limits

__all__ = ["write"]

MOST_NODES = 100_000
"""The most nodes of the tree, which does not share subtrees."""


def write(game: StateMachine, *, nodes: int = MOST_NODES, limits: Limits | None = None) -> str:
    """Return the tree of all plays as text, one line for each node.

    Raises `BudgetExceeded` when there are more than `nodes` nodes or time is up (`limits`, by default those
    of the game), `GameError` when a role has no legal move, no single goal value at the end, or cannot know
    its legal moves.
    """
    return "\n".join(_Tree(game, nodes, limits or game.limits).lines()) + "\n"


class _Tree:
    """Writes the nodes in depth-first order."""

    def __init__(self, game: StateMachine, nodes: int, limits: Limits) -> None:
        self.game = game
        self.machine = game.engine_object("auto")
        self.text = self.machine.terms.text
        self.chance = None if game.chance_role is None else game.role_index(game.chance_role)
        self.players = [i for i in range(len(game.roles)) if i != self.chance]
        self.order = ([] if self.chance is None else [self.chance]) + self.players
        self.most = nodes
        self.clock = limits.start()
        self.limits = limits
        self.histories: dict[tuple[int, int, int, tuple[int, ...]], int] = {}
        self.sets: dict[tuple[int, int], tuple[int, tuple[int, ...]]] = {}
        """The number and legal moves of each information set, by player and history."""
        self.counts = [0] * len(game.roles)
        self.chances = 0
        self.outcomes: dict[tuple[int, ...], int] = {}

    def lines(self) -> list[str]:
        """Return the lines of the text."""
        names = " ".join(_quoted(self.game.roles[i]) for i in self.players)
        lines = [f"EFG 2 R {_quoted(self.game.name)} {{ {names} }}", '""', ""]
        start = (0,) * len(self.game.roles)
        stack: list[tuple[Any, tuple[int, ...], tuple[int, ...], list[tuple[int, ...]] | None]] = [
            (self.machine.initial(), start, (), None)
        ]
        while stack:
            key, histories, chosen, legal = stack.pop()
            if len(lines) - 3 > self.most:
                raise BudgetExceeded(f"{self.most} nodes of the game tree")
            if self.clock.elapsed() > self.limits.seconds:
                raise BudgetExceeded(f"{self.limits.seconds:g} seconds", f"{len(lines) - 3} nodes")
            if legal is None:
                if self.machine.terminal(key):
                    lines.append(self._end(key))
                    continue
                legal = legal_moves(self.game, self.machine, key)
            while len(chosen) < len(self.order) and len(legal[self.order[len(chosen)]]) == 1:
                chosen = (*chosen, legal[self.order[len(chosen)]][0])
            if len(chosen) < len(self.order):
                role = self.order[len(chosen)]
                lines.append(self._node(role, histories, legal[role]))
                stack += [(key, histories, (*chosen, move), legal) for move in reversed(legal[role])]
                continue
            joint = [0] * len(self.order)
            for role, move in zip(self.order, chosen, strict=True):
                joint[role] = move
            stack.append((self.machine.successor(key, joint), self._grown(key, histories, joint), (), None))
        return lines

    def _grown(self, key: Any, histories: tuple[int, ...], joint: list[int]) -> tuple[int, ...]:
        extended = list(histories)
        for i in self.players:
            percepts = tuple(joint)
            if self.game.has_percepts:
                percepts = tuple(sorted(set(self.machine.percepts(key, joint, i))))
            key_after = i, histories[i], joint[i], percepts
            extended[i] = self.histories.setdefault(key_after, len(self.histories) + 1)
        return tuple(extended)

    def _node(self, role: int, histories: tuple[int, ...], moves: tuple[int, ...]) -> str:
        if role == self.chance:
            self.chances += 1
            share = Fraction(1, len(moves))
            options = " ".join(f"{_quoted(self.text(move))} {share}" for move in moves)
            return f'c "" {self.chances} "" {{ {options} }} 0'
        information_set = role, histories[role]
        if information_set not in self.sets:
            self.counts[role] += 1
            self.sets[information_set] = self.counts[role], moves
        number, expected = self.sets[information_set]
        if expected != moves:
            raise GameError(f"{self.game.roles[role]} cannot know its legal moves")
        options = " ".join(_quoted(self.text(move)) for move in moves)
        return f'p "" {self.players.index(role) + 1} {number} "" {{ {options} }} 0'

    def _end(self, key: Any) -> str:
        goals = tuple(single_goal(self.game, self.machine, key, i) for i in self.players)
        number = self.outcomes.setdefault(goals, len(self.outcomes) + 1)
        return f't "" {number} "" {{ {" ".join(map(str, goals))} }}'


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

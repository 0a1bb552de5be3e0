"""`State`: the true fluents, legal moves, successors, percepts and goals of a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from operator import methodcaller
from typing import TYPE_CHECKING, Any, overload

from herbrand.engine.playouts import goal_value
from herbrand.errors import GameError, IllegalMoveError, InvalidMoveError
from herbrand.machine.joint_text import read_joint
from herbrand.machine.moves import Move

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from herbrand.engine.description import GameDescription
    from herbrand.machine.explain import Explanation
    from herbrand.rules.interface import Engine

__all__ = ["JointMove", "State"]

JointMove = Sequence[Move | str] | Mapping[str, Move | str] | Move
"""One move for each role, in role order or by role; where one role alone has a choice, its move."""


class State:
    """One state of a game.  Immutable, hashable and picklable; copying returns the state itself.

    Created by `Game.initial_state`, `Game.state` and `State.next`.  Everything is computed on demand, and may
    raise `BudgetExceeded`.
    """

    __slots__ = ("_engine", "_hash", "game", "key")

    game: GameDescription
    """The game that the state belongs to."""

    def __init__(self, game: GameDescription, engine: Engine, key: Any) -> None:
        self.game = game
        self._engine = engine
        self.key = key
        """The engine's representation of the state."""
        self._hash: int | None = None

    # -- what is true ---------------------------------------------------------------------

    @property
    def facts(self) -> frozenset[str]:
        """The true fluents as KIF, such as "(cell 1 1 b)"."""
        return frozenset(map(self._engine.terms.text, self._engine.fluents(self.key)))

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles in the order of the joint moves."""
        return self.game.roles

    @property
    def engine(self) -> str:
        """The name of the state's engine, "rules" or "network"."""
        return self._engine.name

    @property
    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self._engine.terminal(self.key)

    @overload
    def legal_moves(self) -> dict[str, list[Move]]: ...
    @overload
    def legal_moves(self, role: str) -> list[Move]: ...
    def legal_moves(self, role: str | None = None) -> list[Move] | dict[str, list[Move]]:
        """Return the legal moves of a role, sorted, without duplicates; without a role those of all by role.

        In a terminal state the moves that the rules give are returned, but cannot be made.
        Raises `ValueError` for a role that the game does not have.
        """
        if role is None:
            return {name: self.legal_moves(name) for name in self.roles}
        text = self._engine.terms.text
        moves = sorted(map(text, self._engine.legal(self.key, self.game.role_index(role))))
        return [Move.trusted(move) for move in moves]

    @overload
    def require_moves(self) -> dict[str, list[Move]]: ...
    @overload
    def require_moves(self, role: str) -> list[Move]: ...
    def require_moves(self, role: str | None = None) -> list[Move] | dict[str, list[Move]]:
        """Return the legal moves as `legal_moves` does; `GameError` if a role has none."""
        if role is None:
            return {name: self.require_moves(name) for name in self.roles}
        moves = self.legal_moves(role)
        if not moves:
            raise GameError(f"{role} has no legal move in a state that is not terminal")
        return moves

    def is_legal(self, role: str, move: Move | str) -> bool:
        """Return whether a move is legal for a role; False for a text that is not a ground term."""
        legal = self._engine.legal(self.key, self.game.role_index(role))
        try:
            return self._find(move) in legal
        except InvalidMoveError:
            return False

    def joint_moves(self) -> Iterator[tuple[Move, ...]]:
        """Yield every legal joint move, lazily; none in a terminal state."""
        if not self.is_terminal:
            yield from product(*(self.legal_moves(role) for role in self.roles))

    @property
    def goals(self) -> dict[str, int | None]:
        """The goal value of each role, 0 to 100; None unless the rules give exactly one.

        Only the values in terminal states count as results.
        """
        return {role: self.goal(role) for role in self.roles}

    def goal(self, role: str) -> int | None:
        """Return the goal value of a role; None unless there is exactly one that is a number."""
        values = self.goal_values(role)
        return goal_value(values[0]) if len(values) == 1 else None

    def goal_values(self, role: str) -> tuple[str, ...]:
        """Return all goal values that the rules give a role, as KIF, sorted."""
        text = self._engine.terms.text
        values = set(map(text, self._engine.goals(self.key, self.game.role_index(role))))
        return tuple(sorted(values, key=lambda value: (len(value), value)))

    # -- what follows ---------------------------------------------------------------------

    def next(self, joint_move: JointMove) -> State:
        """Return the state after a joint move.

        `joint_move` has one move for each role: a sequence in role order, or a mapping by role; moves are
        `Move`s or KIF texts.  Where only one role has a choice, its move is enough.

        Raises `IllegalMoveError` if a move is not legal or the state is terminal, `InvalidMoveError` if one
        cannot be parsed, `ValueError` if roles are missing or unknown.
        """
        moves = self.in_order(joint_move)
        if self.is_terminal:
            raise IllegalMoveError("the game is over: no move can be made in a terminal state")
        numbers = []
        for i, (role, move) in enumerate(zip(self.roles, moves, strict=True)):
            legal = self._engine.legal(self.key, i)  # first: it numbers the terms of the moves
            number = self._find(move)
            if number is None or number not in legal:
                raise IllegalMoveError(self._illegal_move_message(role, move))
            numbers.append(number)
        return State(self.game, self._engine, self._engine.successor(self.key, numbers))

    @overload
    def percepts(self, joint_move: JointMove) -> dict[str, tuple[str, ...]]: ...
    @overload
    def percepts(self, joint_move: JointMove, role: str) -> tuple[str, ...]: ...
    def percepts(
        self, joint_move: JointMove, role: str | None = None
    ) -> tuple[str, ...] | dict[str, tuple[str, ...]]:
        """Return the percepts of a role for a joint move in this state, sorted; without a role, by role.

        In a game with `sees` these are the terms p for which `sees(role, p)` holds in this state together
        with the move (Thielscher 2010).  In other games every role sees every move: `(did ROLE MOVE)` for
        each role, in role order.  There are no percepts before the first move.
        """
        if role is None:
            return {name: self.percepts(joint_move, name) for name in self.roles}
        index = self.game.role_index(role)
        numbers = []
        for i, move in enumerate(self.in_order(joint_move)):
            self._engine.legal(self.key, i)
            number = self._find(move)
            if number is None:
                raise IllegalMoveError(f"no role has the move `{move}`")
            numbers.append(number)
        text = self._engine.terms.text
        if not self.game.has_percepts:
            pairs = zip(self.roles, map(text, numbers), strict=True)
            return tuple(f"(did {name} {move})" for name, move in pairs)
        return tuple(sorted(set(map(text, self._engine.percepts(self.key, numbers, index)))))

    # -- chance ---------------------------------------------------------------------------

    def chance_moves(self) -> dict[Move, Fraction]:
        """Return the legal moves of the role `random` with their probabilities, sorted.

        The distribution is uniform (Thielscher 2010).  Empty in terminal states and in games without chance.
        """
        role = self.game.chance_role
        if role is None or self.is_terminal:
            return {}
        moves = self.legal_moves(role)
        return dict.fromkeys(moves, Fraction(1, len(moves))) if moves else {}

    @property
    def is_chance(self) -> bool:
        """Whether `random` is the only role with a choice."""
        if len(self.chance_moves()) < 2:
            return False
        return all(len(self.legal_moves(r)) == 1 for r in self.roles if r != self.game.chance_role)

    def draw(self, chance: Random) -> Move:
        """Draw the move of the role `random`; `IllegalMoveError` if it has none."""
        moves = list(self.chance_moves())
        if not moves:
            raise IllegalMoveError("no chance move in this state")
        return moves[int(chance.random() * len(moves))]

    def random_joint_move(self, chance: Random) -> dict[str, Move]:
        """Draw a legal move for each role uniformly; `GameError` if a role has none."""
        return {role: chance.choice(moves) for role, moves in self.require_moves().items()}

    def outcomes(self, moves: Mapping[str, Move | str]) -> dict[State, Fraction]:
        """Return the possible successors for given moves of the players, with their probabilities.

        `moves` has a move for each role but `random`, whose distribution is `chance_moves`; probabilities of
        equal states are added.

            >>> import herbrand
            >>> state = herbrand.load("montyHall").initial_state()
            >>> sorted(map(str, state.outcomes({"candidate": "(choose 1)"}).values()))
            ['1/3', '1/3', '1/3']
        """
        role = self.game.chance_role
        if role is None:
            return {self.next(moves): Fraction(1)}
        probabilities: dict[State, Fraction] = {}
        for move, weight in self.chance_moves().items():
            after = self.next({**moves, role: move})
            probabilities[after] = probabilities.get(after, Fraction(0)) + weight
        return probabilities

    def ask(self, query: str) -> list[dict[str, str]]:
        """Return the variable bindings for which an atom holds in this state, sorted, without duplicates.

        A ground atom that holds gives `[{}]`, one that does not gives `[]`.

            >>> import herbrand
            >>> state = herbrand.load("ticTacToe").initial_state()
            >>> state.ask("(true (control ?who))")
            [{'who': 'xplayer'}]
        """
        from herbrand.machine.explain import answers

        return answers(self.game, self._rules_key(), query)

    def why(self, fact: str, joint_move: JointMove | None = None) -> Explanation:
        """Explain why a legal move, a fluent, a goal or any other atom holds, or does not.

        `fact` is KIF: an atom such as "(legal white (mark 1 1))" or a fluent.  A joint move is needed for
        relations that depend on the moves, such as `next` and `does`.  `str()` of the result draws the
        derivation as a tree.
        """
        from herbrand.machine.explain import explain

        moves = None if joint_move is None else self.in_order(joint_move)
        return explain(self.game, self._rules_key(), fact, moves)

    def _rules_key(self) -> Any:
        rules = self.game.engine_object("rules")
        return self.key if self._engine is rules else rules.key(map(rules.terms.read, self.facts))

    # -- reading moves --------------------------------------------------------------------

    def in_order(self, joint_move: JointMove) -> list[Move | str]:
        """Return the moves of a joint move in role order, as `next` reads it.

        Raises `ValueError` if roles are missing or unknown; for a single move `IllegalMoveError` if it is
        none of the role that has a choice, or if several have one.
        """
        if isinstance(joint_move, Mapping):
            by_role = {self.roles[self.game.role_index(role)]: move for role, move in joint_move.items()}
            missing = [role for role in self.roles if role not in by_role]
            if missing:
                raise ValueError(f"no move for {', '.join(missing)}")
            return [by_role[role] for role in self.roles]
        if isinstance(joint_move, Move | str):
            if self.is_terminal:
                raise IllegalMoveError("the game is over: no move can be made in a terminal state")
            return list(read_joint(self, str(joint_move)))
        moves = list(joint_move)
        if len(moves) != len(self.roles):
            raise ValueError(f"{len(moves)} moves for {len(self.roles)} roles ({', '.join(self.roles)})")
        return moves

    def _find(self, move: Move | str) -> int | None:
        """Return the number of a move's term, or None; does not add terms.

        The terms of legal moves have numbers once the legal moves have been computed.
        """
        number = self._engine.terms.find(self._engine.terms.parse(str(move)))
        if number is None and not isinstance(move, Move):
            Move(move)  # raises `InvalidMoveError` for a text that is not a ground term
        return number

    def _illegal_move_message(self, role: str, move: Move | str) -> str:
        legal = [str(m) for m in self.legal_moves(role)]
        shown = ", ".join(legal[:6])
        more = f", ... {len(legal) - 6} more" if len(legal) > 6 else ""
        return f"no legal move `{move}` for {role} (legal: {shown or 'none'}{more})"

    # -- value semantics ------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        if self._engine is other._engine:
            return bool(self.key == other.key)
        return self.game == other.game and self._folded() == other._folded()

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = self._engine.terms.hash_of(self._engine.fluents(self.key))
        return self._hash

    def _folded(self) -> frozenset[str]:
        return frozenset(fact.lower() for fact in self.facts)

    def __copy__(self) -> State:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        return self

    # -- in notebooks ---------------------------------------------------------------------

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return the state as text, picture and clickable picture, by MIME type, for notebooks."""
        del include, exclude  # the notebook chooses among all types
        return self.game.notebook_view(self)

    def __reduce__(self) -> tuple[Any, ...]:
        rebuild = methodcaller("state", tuple(sorted(self.facts)), engine=self._engine.name)
        return rebuild, (self.game,)

    def __str__(self) -> str:
        return "\n".join(sorted(self.facts))

    def __repr__(self) -> str:
        facts = sorted(self.facts)
        shown = " ".join(facts[:4]) + (f" ... {len(facts) - 4} more" if len(facts) > 4 else "")
        return f"<State of {self.game.name}: {shown}>"

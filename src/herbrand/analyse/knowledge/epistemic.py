"""GDL-III: rules with knowledge conditions, evaluated level by level.

`(knows r p)` in a body holds when p holds in every state that r cannot distinguish from the actual one, and
`(knows p)` when p is common knowledge: all players know it, know that all know it, and so on (M.
Thielscher, *GDL-III: A Proposal to Extend the Game Description Language to General Epistemic
Games*, ECAI 2016).  p is an atom written as a term: of a relation of the rules, or else a fluent.

Legal moves, successors and goals then depend on the histories, not on the state alone, so that the engines,
which only have states, cannot play such a game.  Here all plays of the same length are evaluated together (a
*level*).  For each role, plays with the same history form an equivalence class; rules are applied relation by
relation in all plays of the level, and `knows` is decided on the classes as soon as its argument is
derived.  Common knowledge is decided on the transitive closure of the classes of all players.  `knows` must
not be recursive, also through other rules: its argument must depend neither on it in the same step nor on
the moves that are being made.

This follows the definition literally, by `rules.naive`, and is meant for small games.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from typing import TYPE_CHECKING

from herbrand.engine.playouts import goal_value
from herbrand.errors import BudgetExceeded, GameError, IllegalMoveError
from herbrand.rules.naive import perfect_model, rule_groups
from herbrand.rules.terms import TermTable
from herbrand.runtime.limits import DEFAULT, Limits
from herbrand.syntax.nodes import Atom, Function, Not, Rule, Variable, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from herbrand.machine.state_machine import StateMachine
    from herbrand.runtime.limits import Clock
    from herbrand.syntax.ground import Ground
    from herbrand.syntax.nodes import Literal, Term

__all__ = ["EpistemicGame", "EpistemicPlay"]

MOST_PLAYS = 5_000
"""The most plays of one level."""

_Model = dict[str, set[tuple["Ground", ...]]]
_Fact = tuple["Ground", ...]
_Key = tuple[frozenset["Ground"], tuple[int, ...]]
"""The fluents of a state, and the number of the history of each player."""


@dataclass(frozen=True)
class EpistemicPlay:
    """All plays that end in one state with the same histories, with the facts after them."""

    facts: frozenset[str]
    """The fluents that are true."""
    histories: dict[str, int]
    """The number of each player's history; equal numbers in a level mean equal histories."""
    legal: dict[str, tuple[str, ...]]
    is_terminal: bool
    goals: dict[str, int | None]
    known: dict[str, frozenset[str]]
    """The known facts among those in `knows` conditions, by player; under "" common knowledge."""

    def knows(self, role: str | None, atom: str) -> bool:
        """Return whether a role (None for common knowledge) knows an atom of a `knows` condition."""
        return atom in self.known["" if role is None else role]


class EpistemicGame:
    """A game whose rules may have `knows` conditions.

        >>> import herbrand
        >>> game = EpistemicGame(herbrand.loads('''
        ...     (role ann) (role random) (init start) (side heads) (side tails) (goal ann 0)
        ...     (<= (legal random (toss ?s)) (side ?s)) (<= (legal ann wait) (not (knows ann up)))
        ...     (<= (legal ann cheer) (knows ann up)) (<= (sees ann ?s) (does random (toss ?s)))
        ...     (<= (next (shows ?s)) (does random (toss ?s))) (<= up (true (shows heads)))
        ...     (<= terminal (true never))'''))
        >>> game.after([("wait", "(toss heads)")]).legal["ann"]
        ('cheer',)
        >>> game.after([("wait", "(toss tails)")]).legal["ann"]
        ('wait',)

    Raises `GameError` for a game with errors, and where `knows` is recursive.
    """

    def __init__(self, game: StateMachine, *, plays: int = MOST_PLAYS, limits: Limits = DEFAULT) -> None:
        game.require_sound()
        self.game = game
        self.most = plays
        self.limits = limits
        statements = game.rules.normal.rules
        self._relations = {rule.head.key for rule in statements}
        self._topics = _topic_relations(statements, self._relations)
        self._passes = _passes(statements, self._relations)
        self._depth = max((_nesting(term) for term in _topics(statements)), default=0)
        self._terms = TermTable(game.rules.spelling)
        self._roles = tuple(role.lower() for role in game.roles)
        self._players = tuple(i for i, role in enumerate(game.roles) if role != game.chance_role)
        self._levels: list[dict[_Key, EpistemicPlay]] = []
        self._models: list[dict[_Key, set[_Fact]]] = []
        """For each level, the `knows` facts in each play."""
        self._histories: dict[tuple[int, int, Ground, frozenset[Ground]], int] = {}

    @cached_property
    def _start(self) -> _Key:
        model = perfect_model(list(chain(*self._passes)), (), self.limits.start())
        return frozenset(fact[1] for fact in model.get("init", ())), (0,) * len(self._players)

    def levels(self, steps: int) -> Iterator[tuple[EpistemicPlay, ...]]:
        """Yield the plays of 0, 1, ... `steps` joint moves, up to the last level with plays.

        Raises `BudgetExceeded` with too many plays, or when time is up.
        """
        for step in range(steps + 1):
            level = self._level(step)
            if not level:
                return
            yield tuple(level.values())

    def after(self, joint_moves: Iterable[Sequence[str]]) -> EpistemicPlay:
        """Return the play after these joint moves, each in role order, from the beginning.

        All other plays of each level are evaluated, too, since roles may not know the actual one.
        Raises `IllegalMoveError` for a move that is not legal.
        """
        key = self._start
        play = self._level(0)[key]
        for step, joint in enumerate(joint_moves):
            moves = [self._terms.value_of(self._terms.read(str(move))) for move in joint]
            for role, move in zip(self.game.roles, moves, strict=True):
                if play.is_terminal or self._text(move) not in play.legal[role]:
                    legal = "none: the game is over" if play.is_terminal else ", ".join(play.legal[role])
                    raise IllegalMoveError(f"no legal move `{self._text(move)}` for {role} (legal: {legal})")
            key = self._following(step, key, moves, self.limits.start())
            play = self._level(step + 1)[key]
        return play

    # -- levels -----------------------------------------------------------------------------

    def _level(self, step: int) -> dict[_Key, EpistemicPlay]:
        while len(self._levels) <= step:
            clock = self.limits.start()
            keys = self._next_keys(len(self._levels) - 1, clock) if self._levels else [self._start]
            self._describe(keys, clock)
        return self._levels[step]

    def _next_keys(self, step: int, clock: Clock) -> list[_Key]:
        keys: dict[_Key, None] = {}
        for key, play in self._levels[step].items():
            if play.is_terminal:
                continue
            options = [
                [self._terms.value_of(self._terms.read(m)) for m in play.legal[r]] for r in self.game.roles
            ]
            for joint in product(*options):
                keys[self._following(step, key, joint, clock)] = None
                if len(keys) > self.most:
                    raise BudgetExceeded(f"{self.most} plays", f"of {step + 1} joint moves")
        return list(keys)

    def _following(self, step: int, key: _Key, joint: Sequence[Ground], clock: Clock) -> _Key:
        """Return the key of the play after a joint move: its state and histories."""
        facts, histories = key
        premises: list[_Fact] = [("true", fluent) for fluent in facts]
        premises += [("does", role, move) for role, move in zip(self._roles, joint, strict=True)]
        premises += self._models[step][key]
        model = perfect_model(list(chain(*self._passes)), premises, clock)
        extended = []
        for i, history in zip(self._players, histories, strict=True):
            if self.game.has_percepts:
                percepts = frozenset(
                    fact[2] for fact in model.get("sees", ()) if len(fact) == 3 and fact[1] == self._roles[i]
                )
            else:
                percepts = frozenset((role, move) for role, move in zip(self._roles, joint, strict=True))
            step_key = (i, history, joint[i], percepts)
            extended.append(self._histories.setdefault(step_key, len(self._histories) + 1))
        return frozenset(fact[1] for fact in model.get("next", ())), tuple(extended)

    def _describe(self, keys: list[_Key], clock: Clock) -> None:
        """Evaluate all plays of a level, pass by pass."""
        known: dict[_Key, set[_Fact]] = {key: set() for key in keys}
        classes = self._classes(keys)
        models: dict[_Key, _Model] = {key: {"true": {("true", f) for f in key[0]}} for key in keys}
        for groups in self._passes:
            for key in keys:
                premises = [fact for rows in models[key].values() for fact in rows]
                models[key] = perfect_model(groups, [*premises, *known[key]], clock)
            for _ in range(self._depth):
                self._learn(keys, classes, models, known)
        self._models.append(known)
        self._levels.append({key: self._play(key, models[key], known[key]) for key in keys})

    def _classes(self, keys: list[_Key]) -> list[tuple[tuple[str, ...], dict[_Key, list[_Key]]]]:
        """Return the class of each play for each player, and last for common knowledge."""
        classes: list[tuple[tuple[str, ...], dict[_Key, list[_Key]]]] = []
        joined: dict[_Key, list[_Key]] = {key: [key] for key in keys}
        for p, i in enumerate(self._players):
            by_history: dict[int, list[_Key]] = {}
            for key in keys:
                by_history.setdefault(key[1][p], []).append(key)
            classes.append(((self._roles[i],), {key: by_history[key[1][p]] for key in keys}))
            for members in by_history.values():
                first = joined[members[0]]
                for key in members[1:]:
                    other = joined[key]
                    if other is not first:
                        first += other
                        for member in other:
                            joined[member] = first
        return [*classes, ((), joined)]

    def _learn(
        self,
        keys: list[_Key],
        classes: list[tuple[tuple[str, ...], dict[_Key, list[_Key]]]],
        models: dict[_Key, _Model],
        known: dict[_Key, set[_Fact]],
    ) -> None:
        """Add `knows` facts for all topics that hold in all plays of a class."""
        topics = {key: self._holding(key, models[key], known[key]) for key in keys}
        for role, members in classes:
            shared: dict[int, set[Ground]] = {}
            for key in keys:
                plays = members[key]
                if id(plays) not in shared:
                    shared[id(plays)] = set.intersection(*(topics[play] for play in plays))
                known[key] |= {("knows", *role, topic) for topic in shared[id(plays)]}

    def _holding(self, key: _Key, model: _Model, known: set[_Fact]) -> set[Ground]:
        """Return the topics of `knows` conditions that hold in a play, as terms."""
        topics: set[Ground] = set()
        for name, arity in self._topics:
            if (name, arity) == ("", 0):
                topics |= key[0]
            elif name == "knows":
                deepest = self._depth - 1
                topics |= {fact for fact in known if len(fact) == arity + 1 and _levels_of(fact) <= deepest}
            else:
                rows = model.get(name, ())
                topics |= {fact if arity else name for fact in rows if len(fact) == arity + 1}
        return topics

    def _play(self, key: _Key, model: _Model, known: set[_Fact]) -> EpistemicPlay:
        legal: dict[str, tuple[str, ...]] = {}
        goals: dict[str, int | None] = {}
        knowledge: dict[str, frozenset[str]] = {}
        for role, name in zip(self.game.roles, self._roles, strict=True):
            rows = [fact[2] for fact in model.get("legal", ()) if len(fact) == 3 and fact[1] == name]
            legal[role] = tuple(sorted(map(self._text, rows)))
            values = [self._text(f[2]) for f in model.get("goal", ()) if len(f) == 3 and f[1] == name]
            goals[role] = goal_value(values[0]) if len(values) == 1 else None
            knowledge[role] = frozenset(self._text(f[2]) for f in known if len(f) == 3 and f[1] == name)
        knowledge[""] = frozenset(self._text(fact[1]) for fact in known if len(fact) == 2)
        return EpistemicPlay(
            frozenset(map(self._text, key[0])),
            {self.game.roles[i]: h for i, h in zip(self._players, key[1], strict=True)},
            legal,
            bool(model.get("terminal")),
            goals,
            knowledge,
        )

    # -- terms ------------------------------------------------------------------------------

    def _text(self, value: Ground) -> str:
        return self._terms.text(self._terms.number_of(value))


# -- the rules ----------------------------------------------------------------------------------


def _conditions(literals: Iterable[Literal]) -> Iterator[Atom]:
    return (node for node in walk(*literals) if isinstance(node, Atom))


def _topics(rules: Iterable[Rule]) -> Iterator[Term]:
    """Yield the argument of each `knows` condition, its topic."""
    for rule in rules:
        for atom in _conditions(rule.body):
            if atom.name == "knows" and atom.args:
                yield atom.args[-1]


def _nesting(topic: Term) -> int:
    """Return the nesting depth of a `knows` with this topic."""
    is_nested = isinstance(topic, Function) and topic.name == "knows"
    return 1 + (_nesting(topic.args[-1]) if is_nested else 0)


def _levels_of(fact: Ground) -> int:
    """Return the nesting depth of `knows` in a fact."""
    return 1 + _levels_of(fact[-1]) if isinstance(fact, tuple) and fact[0] == "knows" else 0


def _relation(topic: Term, relations: set[tuple[str, int]]) -> tuple[str, int]:
    """Return the relation of a topic; ("", 0) for fluents."""
    if isinstance(topic, Variable):
        raise GameError(f"`knows` of the variable `{topic}`: it needs an atom with a name")
    key = topic.key
    is_atom = key in relations or key == ("true", 1) or (key[0] == "knows" and key[1] in (1, 2))
    return key if is_atom else ("", 0)


def _nested(topic: Term, relations: set[tuple[str, int]]) -> Iterator[tuple[Term, tuple[str, int]]]:
    """Yield a topic and, while it is a `knows` itself, the topic of that; each with its relation."""
    yield topic, _relation(topic, relations)
    while isinstance(topic, Function) and _relation(topic, relations)[0] == "knows":
        topic = topic.args[-1]
        yield topic, _relation(topic, relations)


def _topic_relations(rules: Iterable[Rule], relations: set[tuple[str, int]]) -> set[tuple[str, int]]:
    """Return the relations of all topics, including those of nested `knows`."""
    return {key for topic in _topics(rules) for _, key in _nested(topic, relations)}


def _passes(rules: Sequence[Rule], relations: set[tuple[str, int]]) -> list[list[list[Rule]]]:
    """Order the rules in groups, and the groups in passes: a group with `knows` conditions begins a new pass.

    Raises `GameError` where a topic depends on the `knows` condition, or on moves.
    """
    shadows: list[Rule] = []
    original: dict[int, Rule] = {}
    for rule in rules:
        innermost = [list(_nested(topic, relations))[-1] for topic in _topics([rule])]
        # a negative edge: the topic must be in an earlier group
        extra = [Not(Atom(key[0], topic.args)) for topic, key in innermost if key in relations]
        shadow = Rule(rule.head, (*rule.body, *extra))
        shadows.append(shadow)
        original[id(shadow)] = rule
    _refuse_moves(shadows, {key for key in _topic_relations(rules, relations) if key in relations})
    try:
        groups = rule_groups(shadows)
    except GameError as error:
        raise GameError(f"the argument of `knows` depends on it, or {error}") from error
    passes: list[list[list[Rule]]] = [[]]
    for group in groups:
        mapped = [original[id(shadow)] for shadow in group]
        if any(True for _ in _topics(mapped)):
            passes.append([])
        passes[-1].append(mapped)
    return passes


def _refuse_moves(rules: Iterable[Rule], topics: set[tuple[str, int]]) -> None:
    """Raise `GameError` where a topic depends on the moves being made."""
    uses: dict[tuple[str, int], set[tuple[str, int]]] = {}
    for rule in rules:
        uses.setdefault(rule.head.key, set()).update(atom.key for atom in _conditions(rule.body))
    for key in sorted(topics):
        visited, stack = {key}, [key]
        while stack:
            for other in uses.get(stack.pop(), ()):
                if other == ("does", 2):
                    raise GameError(f"`{key[0]}` in `knows` depends on the moves being made")
                if other not in visited:
                    visited.add(other)
                    stack.append(other)

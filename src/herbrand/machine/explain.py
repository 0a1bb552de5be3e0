"""Derivations: why an atom holds in a state, or why it does not.

`explain` searches for a derivation in the rules: each step names its statement, each leaf is a fact, a fluent
of the state, a move, or a test.  For an atom that does not hold, it shows for every rule with a matching head
how far the best attempt got and which condition failed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from herbrand.check.normal import is_ground, renamed_apart, substitute, substituted, unifier
from herbrand.errors import BudgetExceeded, GameError, InvalidMoveError
from herbrand.rules.from_rules import RulesEngine
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Or, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.check.normal import Substitution
    from herbrand.engine.description import GameDescription
    from herbrand.machine.moves import Move
    from herbrand.syntax.nodes import Literal, Rule, Term

__all__ = ["DerivationStep", "Explanation", "answers", "explain"]

_STEPS = 20_000
"""Goals tried in the search for one explanation, at most."""
_DEPTH = 300
"""Depth of a derivation, at most."""
_REASONS = 3
"""Levels of failed goals that are explained."""


@dataclass(frozen=True, slots=True)
class DerivationStep:
    """One node of an explanation."""

    text: str
    """A ground atom or literal as KIF."""
    reason: str
    """Why it holds or fails: "fact", "true in this state", "by rule", "no rule", ..."""
    holds: bool
    line: int | None = None
    """Line of the statement that the step uses, if any."""
    children: tuple[DerivationStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether an atom holds in a state, and its derivation.  `str()` draws the tree."""

    holds: bool
    root: DerivationStep

    def __str__(self) -> str:
        return "\n".join(_draw(self.root, "", ""))

    def _repr_html_(self) -> str:
        """Return the tree as HTML, for notebooks."""
        from herbrand.runtime.notebook import column

        return column(str(self).split("\n"))

    def as_json(self) -> dict[str, Any]:
        """Return the tree as JSON-ready data."""
        return _json(self.root)


def _json(step: DerivationStep) -> dict[str, Any]:
    return {
        "text": step.text,
        "holds": step.holds,
        "reason": step.reason,
        "line": step.line,
        "children": [_json(child) for child in step.children],
    }


def _draw(step: DerivationStep, first: str, rest: str) -> Iterator[str]:
    place = f", line {step.line}" if step.line is not None else ""
    mark = "" if step.holds else "not derivable: "
    yield f"{first}{mark}{step.text}   [{step.reason}{place}]"
    for i, child in enumerate(step.children):
        last = i == len(step.children) - 1
        yield from _draw(child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))


def answers(game: GameDescription, state: Any, query: str) -> list[dict[str, str]]:
    """Return the bindings under which the atom `query` holds in a state; see `State.ask`."""
    search = _Derivations(game, state, None)
    atom = search.read(query)
    names = list(dict.fromkeys(v.name for v in variables_of(atom)))
    text = search.engine.terms.text
    intern = search.engine.terms.intern
    bindings = [{name: text(intern(binding[name])) for name in names} for binding in search.instances(atom)]
    return sorted(bindings, key=lambda binding: tuple(binding.values()))


def explain(
    game: GameDescription, state: Any, fact: str, joint_move: Sequence[Move | str] | None
) -> Explanation:
    """Explain why an atom holds in a state or why it does not; see `State.why`.

    `state` is the state's key in the game's rule evaluator; the joint move is in role order.
    """
    search = _Derivations(game, state, joint_move)
    atom = search.read(fact)
    for binding in search.instances(atom):
        proved = substituted(atom, binding)
        step = search.derive(proved, ())
        if step is None:
            raise BudgetExceeded(f"{_STEPS} goals", f"while explaining `{proved}`")
        return Explanation(True, step)
    return Explanation(False, search.failure(atom, 0))


class _Derivations:
    """Searches for derivations; the rule evaluator tells which atoms hold."""

    def __init__(self, game: GameDescription, state: Any, joint_move: Sequence[Move | str] | None) -> None:
        engine = game.engine_object("rules")
        assert isinstance(engine, RulesEngine)
        self.engine = engine
        self.source = game.tree.source
        normal = game.rules.normal
        self.rules: dict[tuple[str, int], list[tuple[Rule, Rule]]] = {}
        for rule, origin in zip(normal.rules, normal.origins, strict=True):
            self.rules.setdefault(rule.head.key, []).append((rule, origin))
        self.key = state
        self.moves = None if joint_move is None else [engine.terms.read(str(move)) for move in joint_move]
        self.steps = 0
        self.proved: dict[Atom, DerivationStep] = {}

    def read(self, text: str) -> Atom:
        """Parse an atom; a fluent stands for `(true fluent)`."""
        term = self.engine.terms.parse(text)
        if isinstance(term, Variable):
            raise InvalidMoveError(f"`{text}` is a variable, not an atom")
        atom = Atom(term.name, term.args, term.spelling)
        is_relation = atom.key in self.rules or atom.key in (("true", 1), ("does", 2))
        return atom if is_relation else Atom("true", (term,))

    def instances(self, atom: Atom) -> Iterator[Substitution]:
        """Yield the bindings of the atom's variables under which it holds."""
        predicate = self.engine.program.relations.get(atom.key)
        depends = atom.key == ("does", 2) or (predicate is not None and predicate.level > 1)
        if depends and self.moves is None:
            raise GameError(f"`{atom}` depends on the moves: a joint move is required")
        term = self.engine.terms.term
        for row in self.engine.answers(self.key, self.moves, atom):
            binding = unifier(zip(atom.args, map(term, row), strict=True))
            if binding is not None:
                yield binding

    def derive(self, atom: Atom, above: tuple[Atom, ...]) -> DerivationStep | None:
        """Return a derivation of a ground atom that holds, not from any of the atoms above it."""
        earlier = self.proved.get(atom)
        if earlier is not None:
            return replace(earlier, reason="as above", children=()) if earlier.children else earlier
        if atom in above or len(above) > _DEPTH:
            return None
        step = self._derive(atom, above)
        if step is not None:
            self.proved[atom] = step
        return step

    def _derive(self, atom: Atom, above: tuple[Atom, ...]) -> DerivationStep | None:
        text = self._text(atom)
        if atom.key == ("true", 1):
            return DerivationStep(self._text(atom.args[0]), "true in this state", holds=True)
        if atom.key == ("does", 2):
            return DerivationStep(text, "the move made", holds=True)
        for rule, origin in self.rules.get(atom.key, ()):
            line = self._line(origin)
            binding = unifier(zip(rule.head.args, atom.args, strict=True))
            if binding is None:
                continue
            if rule.is_fact:
                return DerivationStep(text, "fact", holds=True, line=line)
            for children in self._prove(list(rule.body), binding, (*above, atom)):
                return DerivationStep(text, "by rule", holds=True, line=line, children=tuple(children))
        return None

    def _prove(
        self, goals: list[Literal], binding: Substitution, above: tuple[Atom, ...]
    ) -> Iterator[list[DerivationStep]]:
        """Yield the derivations of all goals, in the order in which they are proved."""
        self.steps += 1
        if self.steps > _STEPS:
            raise BudgetExceeded(f"{_STEPS} goals", "while explaining")
        if not goals:
            yield []
            return
        goal, rest = self._chosen(goals, binding)
        if isinstance(goal, And):
            yield from self._prove([*goal.literals, *rest], binding, above)
        elif isinstance(goal, Or):
            for part in goal.literals:
                yield from self._prove([part, *rest], binding, above)
        elif isinstance(goal, Atom):
            pattern = substituted(goal, binding)
            for solution in self.instances(pattern):
                proved = substituted(pattern, solution)
                for more in self._prove(rest, {**binding, **solution}, above):
                    step = self.derive(proved, above)
                    if step is None:
                        break
                    yield [step, *more]
        elif self._test(goal, binding):
            text = self._text(substituted(goal, binding))
            reason = "different" if isinstance(goal, Distinct) else "not derivable"
            for more in self._prove(rest, binding, above):
                yield [DerivationStep(text, reason, holds=True), *more]

    def _chosen(self, goals: list[Literal], binding: Substitution) -> tuple[Literal, list[Literal]]:
        """Return the next goal, and the rest: ready tests, then atoms in textual order, then disjunctions."""

        def rank(i: int) -> int:
            goal = goals[i]
            if not isinstance(goal, Not | Distinct):
                return 1 + (Atom, And, Or).index(type(goal))
            is_ready = all(is_ground(substitute(variable, binding)) for variable in variables_of(goal))
            return 0 if is_ready else 4

        first = min(range(len(goals)), key=rank)
        return goals[first], goals[:first] + goals[first + 1 :]

    def _test(self, goal: Literal, binding: Substitution) -> bool:
        if isinstance(goal, Distinct):
            return substitute(goal.left, binding) != substitute(goal.right, binding)
        assert isinstance(goal, Not)
        assert isinstance(goal.literal, Atom)
        return not any(True for _ in self.instances(substituted(goal.literal, binding)))

    # -- why not --------------------------------------------------------------------------

    def failure(self, atom: Atom, depth: int) -> DerivationStep:
        """Return why no instance of an atom holds."""
        text = self._text(atom)
        if atom.key == ("true", 1):
            return DerivationStep(self._text(atom.args[0]), "not true in this state", holds=False)
        if atom.key == ("does", 2):
            return DerivationStep(text, "not the move made", holds=False)
        attempts = []
        for rule, origin in self.rules.get(atom.key, ()):
            renamed = renamed_apart(rule)
            binding = unifier(zip(renamed.head.args, atom.args, strict=True))
            if binding is None or rule.is_fact:
                continue
            done, failed, best = self._furthest(list(renamed.body), binding)
            below = self._failed(failed, best, depth)
            reason = f"{done} of {len(rule.body)} conditions hold, then"
            attempts.append(DerivationStep(str(origin.head), reason, False, self._line(origin), (below,)))
        reason = "every rule fails" if attempts else "no rule gives it"
        return DerivationStep(text, reason, False, None, tuple(attempts))

    def _furthest(
        self, goals: list[Literal], binding: Substitution
    ) -> tuple[int, Literal | None, Substitution]:
        """Return the number of goals that the best attempt proved, the goal that failed, and its binding."""
        if not goals or self.steps > _STEPS:
            return 0, None, binding
        self.steps += 1
        goal, rest = self._chosen(goals, binding)
        best: tuple[int, Literal | None, Substitution] = (0, goal, binding)
        if isinstance(goal, And):
            return self._furthest([*goal.literals, *rest], binding)
        if isinstance(goal, Or):
            for part in goal.literals:
                attempt = self._furthest([part, *rest], binding)
                if attempt[0] > best[0] or attempt[1] is None:
                    best = attempt
            return best if best[0] else (0, goal, binding)
        if isinstance(goal, Atom):
            for solution in self.instances(substituted(goal, binding)):
                done, failed, under = self._furthest(rest, {**binding, **solution})
                if done + 1 > best[0]:
                    best = (done + 1, failed, under)
            return best
        if self._test(goal, binding):
            done, failed, under = self._furthest(rest, binding)
            return done + 1, failed, under
        return best

    def _failed(self, goal: Literal | None, binding: Substitution, depth: int) -> DerivationStep:
        if goal is None:
            return DerivationStep("...", "search was cut short", holds=False)
        ground = substituted(goal, binding)
        if isinstance(ground, Atom):
            if depth + 1 < _REASONS:
                return self.failure(ground, depth + 1)
            return DerivationStep(self._text(ground), "does not hold", holds=False)
        if isinstance(ground, Not) and isinstance(ground.literal, Atom):
            for solution in self.instances(ground.literal):
                step = self.derive(substituted(ground.literal, solution), ())
                if step is not None:
                    return DerivationStep(self._text(ground), "because this holds", False, None, (step,))
        reason = "the same term" if isinstance(ground, Distinct) else "does not hold"
        return DerivationStep(self._text(ground), reason, holds=False)

    # -- texts ----------------------------------------------------------------------------

    def _line(self, statement: Rule) -> int:
        return self.source.position(statement.start).line

    def _text(self, node: Literal | Term) -> str:
        spelling = self.engine.terms.spelling
        if isinstance(node, Constant | Function | Atom):
            name = spelling.get(node.name, node.name)
            return f"({' '.join([name, *map(self._text, node.args)])})" if node.args else name
        if isinstance(node, Variable):
            return f"?{node.name.rstrip(chr(39))}"
        if isinstance(node, Not):
            return f"(not {self._text(node.literal)})"
        if isinstance(node, Distinct):
            return f"(distinct {self._text(node.left)} {self._text(node.right)})"
        return f"({' '.join([type(node).__name__.lower(), *map(self._text, node.literals)])})"

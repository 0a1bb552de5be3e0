"""Sheets with faults that leave no doubt about their meaning are read as they are meant.

Published rulesheets have faults that the systems of their authors never noticed: nothing asked for the
faulty statement, or the system read it in the only sensible way.  This module decides which of them are
tolerated, and is the only place that does; the reader alone skips what is no statement at all.  Every fault
stays reported, as a warning that says how the sheet is read; in strict mode nothing is tolerated.

| fault                                                          | read as                          |
|----------------------------------------------------------------|----------------------------------|
| an error in statements on which nothing in the game depends     | without these statements         |
| `(location gold 1 2)` where faulty `base` facts declare it      | `(true (location gold 1 2))`     |
| the role of `legal`, `goal`, `sees` or `input` is not bound     | with the condition `(role ?r)`   |
| a variable that occurs only in one `not`                        | a negated helper relation        |
| a helper relation that does not bind its arguments              | its conditions where it is used  |
| `sees` as a condition                                           | a relation that `sees` reports   |
| the goal value `00`                                             | `0`                              |
| `terminal` needs what nobody does, through a helper relation    | evaluated before anybody moves   |
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from herbrand.check.checks import safety
from herbrand.check.checks.base import KEYWORDS, WARNING, Sheet, nearest
from herbrand.check.checks.goals import is_goal_value
from herbrand.check.checks.names import RELATION_AND_FUNCTION
from herbrand.check.unfolding import Inlining, plain
from herbrand.diagnostic import Edit, Fix, Span
from herbrand.syntax.names import fresh
from herbrand.syntax.nodes import (
    And,
    Atom,
    Constant,
    Function,
    Not,
    Or,
    Rule,
    Variable,
    atoms_of,
    rebuilt,
    variables_of,
    walk,
)
from herbrand.syntax.printer import print_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from collections.abc import Set as AbstractSet
    from typing import Any

    from herbrand.check.relations import Relation
    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.nodes import Literal, Term
    from herbrand.syntax.tree import Skipped, Tree

__all__ = ["corrected"]

ROUNDS: Final = 10
"""How often a sheet is corrected: unfolding a helper relation can show that another one needs it, too."""

_ASKED: Final = KEYWORDS.keys() - {"base", "input"}
"""The keywords that a game is queried for; `base` and `input` only declare what the other rules imply."""
_HEADS: Final = frozenset({"init", "next", "legal", "goal", "terminal"})
_COMPLETE: Final = frozenset({"role", "legal", "goal", "terminal"})
_HEADED_BY_ROLE: Final = frozenset({("legal", 2), ("goal", 2), ("sees", 2), ("input", 2)})
_BEFORE_MOVES: Final = frozenset({("legal", 2), ("goal", 2), ("terminal", 0)})
_UNSAFE: Final = frozenset({"unsafe-variable", "unsafe-negation", "unsafe-distinct", "non-ground-fact"})
_ACROSS: Final = frozenset({"nested-rule", "unclosed-parenthesis", "extra-parenthesis"})
"""Errors that make the boundaries of statements uncertain."""
_DOES: Final = ("does", 2)
_SEES: Final = ("sees", 2)


def corrected(tree: Tree, find: Callable[[Tree], list[Diagnostic]]) -> Tree:
    """Return a tree with tolerable faults corrected, their errors turned into warnings among its diagnostics.

    `find` returns what the checks find in a tree, besides the diagnostics of the reader.  A tree without
    errors, with none that can be corrected, or of no complete game is returned as it is.  Texts in GGDL have
    one reading only.
    """
    defined = {rule.head.name for rule in tree.statements} | {skipped.name for skipped in tree.skipped}
    if tree.ggdl is not None or not defined >= _COMPLETE:
        return tree
    written = {id(rule) for rule in tree.statements}
    for unfolds in (True, False):  # a helper that only moves its fault to other rules keeps it
        new = tree
        for _ in range(ROUNDS):
            errors = [d for d in (*new.diagnostics, *find(new)) if d.is_error]
            correction = _Correction(new, errors, written, unfolds=unfolds) if errors else None
            if correction is None or not correction.warnings:
                break
            new = correction.result()
        if not any(error.check in _UNSAFE for error in errors):
            break
    return new


class _Correction:
    """One round of correction: replaces statements, and turns errors into warnings."""

    def __init__(
        self, tree: Tree, errors: list[Diagnostic], written: AbstractSet[int], *, unfolds: bool
    ) -> None:
        self.tree = tree
        self.written = written
        """The statements that are still as in the text, by `id`."""
        self.sheet = Sheet(tree)
        self.is_prefix = tree.notation == "prefix"
        self.text = tree.source.text
        self.changes: dict[int, list[Rule]] = {}
        """The replacements of statements, by the `id` of the statement."""
        self.places: tuple[Rule | Skipped, ...] = (*tree.statements, *tree.skipped)
        self.warnings: dict[int, Diagnostic] = {}
        """The warnings that take the place of errors, by the `id` of the error."""
        self.names = {node.name for node in walk(*tree.statements) if isinstance(node, Atom | Function)}
        self.unbinding: set[Relation] = set()
        """Helper relations that were unfolded or cannot be."""
        self.unfolds = unfolds
        self.asides: set[str] = set()
        """Names of relations whose statements are ignored."""
        needed = self._needed()
        inside: list[tuple[Diagnostic, Rule]] = []
        for error in errors:
            place = None if error.check in _ACROSS else self._place(error)
            if place is None:
                continue
            name = _head_name(place)
            if name is not None and name not in needed and not self._is_slip(place, name):
                self._set_aside(error, name)
            elif isinstance(place, Rule):
                inside.append((error, place))
        if "base" in self.asides:
            self._query_fluents()
        for error, rule in inside:
            if id(rule) not in self.changes and error.check in _CORRECTIONS:
                _CORRECTIONS[error.check](self, error, rule)

    def result(self) -> Tree:
        """Return the corrected tree."""
        statements: list[Rule] = []
        for rule in self.tree.statements:
            if rule.head.name not in self.asides:
                statements += self.changes.get(id(rule), [rule])
        unchanged = [d for d in self.tree.diagnostics if id(d) not in self.warnings]
        return replace(
            self.tree,
            statements=tuple(statements),
            diagnostics=(*unchanged, *self.warnings.values()),
            skipped=tuple(one for one in self.tree.skipped if one.name not in self.asides),
        )

    def tolerate(
        self,
        error: Diagnostic,
        note: str,
        *,
        help: str | None = None,  # noqa: A002  # the name of the field
        fix: Fix | None = None,
    ) -> None:
        """Turn an error into a warning whose note says how the sheet is read."""
        self.warnings[id(error)] = replace(
            error,
            severity=WARNING,
            notes=(*error.notes, note),
            help=help or error.help,
            fix=error.fix or (fix if self.is_prefix else None),
        )

    def fresh(self, name: str) -> str:
        """Return a name that the sheet does not have."""
        return fresh(name, self.names)

    def _rewriting(self, title: str, changes: Mapping[int, list[Rule]]) -> Fix | None:
        """Return the fix that puts other statements in the place of some, by `id`.

        None if some are not those of the text: they have a fix once the changes before are made there.
        """
        if not self.written >= changes.keys():
            return None
        edits = []
        for rule in self.tree.statements:
            if id(rule) in changes:
                new = changes[id(rule)]
                place = Span(rule.start, rule.end) if new else self._lines_of(rule.start, rule.end)
                text = "\n".join(print_tree([one], spelling=True).text.strip() for one in new)
                edits.append(Edit(place, text))
        return Fix(title, tuple(edits))

    # -- statements that nothing needs ----------------------------------------------------------

    def _place(self, error: Diagnostic) -> Rule | Skipped | None:
        """Return the innermost statement that an error is in."""
        places = [one for one in self.places if one.start <= error.span.start < one.end]
        return max(places, key=lambda one: one.start, default=None)

    def _needed(self) -> set[str]:
        """Return the names of all relations on which something that a game is asked for may depend."""
        if not self.is_prefix and any(d.is_error for d in self.tree.diagnostics):
            return {rule.head.name for rule in self.tree.statements}  # the missing part may use all of them
        uses: dict[str, set[str]] = {}
        for rule, atom, _ in self.sheet.body_atoms:
            names = uses.setdefault(rule.head.name, set())
            names.add(atom.name)
            if atom.name == "knows":
                names.update(term.name for term in atom.args)
        anywhere: set[str] = set()
        for skipped in self.tree.skipped:  # what could not be read may have used anything that it mentions
            words = set(re.findall(r"[^\s()]+", self.text[skipped.start : skipped.end].lower()))
            if skipped.name is None:
                anywhere |= words
            else:
                uses.setdefault(skipped.name, set()).update(words)
        needed: set[str] = set()
        stack = [*_ASKED, *anywhere]
        while stack:
            name = stack.pop()
            if name not in needed:
                needed.add(name)
                stack += uses.get(name, ())
        return needed

    def _is_slip(self, place: Rule | Skipped, name: str) -> bool:
        """Whether a statement that nothing needs was probably meant as one that the game needs."""
        if name in ("base", "input"):
            return False
        words = re.findall(r"[^\s()]+", self.text[place.start : place.end].lower())
        is_rule = not any(map(str.isalnum, name)) or not _HEADS.isdisjoint(words)
        return is_rule or nearest(name, _ASKED | self.undefined) is not None

    @cached_property
    def undefined(self) -> set[str]:
        """The names of relations that are used but not defined."""
        used = {atom.name for _, atom, _ in self.sheet.body_atoms}
        return used - self.sheet.defined_names.keys() - KEYWORDS.keys()

    def _set_aside(self, error: Diagnostic, name: str) -> None:
        fix = None
        if name not in self.asides:
            self.asides.add(name)
            places = [one for one in self.places if _head_name(one) == name]
            edits = tuple(Edit(self._lines_of(one.start, one.end), "") for one in places)
            fix = Fix(f"delete the statements about `{name}`", edits)
        self.tolerate(
            error,
            f"nothing in the game depends on `{name}`, so its statements are ignored",
            help=f"correct it, or delete what is said about `{name}`",
            fix=fix,
        )

    def _lines_of(self, start: int, end: int) -> Span:
        """Return the span of a statement, with its lines if there is nothing else on them."""
        first = self.text.rfind("\n", 0, start) + 1
        last = self.text.find("\n", end) + 1 or len(self.text)
        is_alone = not self.text[first:start].strip() and not self.text[end:last].strip()
        return Span(first, last) if is_alone else Span(start, end)

    # -- fluents as conditions ------------------------------------------------------------------

    def _query_fluents(self) -> None:
        """Read conditions on fluents that set-aside `base` statements declare as `true` of them."""
        fluents = {_declared(rule.head) for rule in self.tree.statements if rule.head.name == "base"}
        fluents -= {rule.head.key for rule in self.tree.statements}
        for rule in self.tree.statements:
            bare = [atom for literal in rule.body for atom, _ in atoms_of(literal) if atom.key in fluents]
            for atom in bare:
                shown = self.sheet.quote(atom)
                edits = (Edit(Span(atom.start, atom.start), "(true "), Edit(Span(atom.end, atom.end), ")"))
                self.warnings[id(atom)] = self.sheet.report(
                    RELATION_AND_FUNCTION,
                    atom,
                    f"{shown} is a condition, but `base` declares it as part of the state",
                    help=f"write `{self.sheet.apply('true', shown.strip('`'))}`",
                    notes=("it is read so",),
                    fix=Fix("write `true`", edits) if self.is_prefix else None,
                )

            if bare:
                body = tuple(_queried(literal, fluents) for literal in rule.body)
                self.changes[id(rule)] = [Rule(rule.head, body, rule.start, rule.end)]

    # -- variables that nothing binds -----------------------------------------------------------

    def bind(self, error: Diagnostic, rule: Rule) -> None:
        """Bind the role in a head by `role`, or unfold the relation, if it is a helper."""
        head = rule.head
        role = head.args[0] if head.args else None
        if head.key in _HEADED_BY_ROLE and isinstance(role, Variable):
            if role.name not in safety.binds(rule.body):
                self._bind_role(error, rule, role)
        else:
            self.unfold(error, rule)

    def _bind_role(self, error: Diagnostic, rule: Rule, role: Variable) -> None:
        condition = Atom("role", (role,), None, role.start, role.end)
        self.changes[id(rule)] = [Rule(rule.head, (condition, *rule.body), rule.start, rule.end)]
        shown = self.sheet.variable(role).strip("`")
        written = self.sheet.apply("role", shown)
        head = rule.head
        before, after = ("", "") if rule.body else ("(<= ", ")")
        edits = (
            Edit(Span(head.start, head.start), before),
            Edit(Span(head.end, head.end), f" {written}{after}"),
        )
        self.tolerate(
            error,
            f"it is read with the condition `{written}`, since only roles can stand there",
            help=f"add the condition `{written}`",
            fix=Fix(f"add `{written}`", edits[1:] if rule.body else edits),
        )

    def negate_helper(self, error: Diagnostic, rule: Rule) -> None:
        """Read a variable that occurs only in one `not` as "there is none", by a helper relation."""
        negated = [
            (literal, atom)
            for literal in rule.body
            for atom, negative in atoms_of(literal)
            if negative and atom.start <= error.span.start < atom.end
        ]
        if len(negated) != 1:
            return
        literal, atom = negated[0]
        bound = safety.binds(rule.body)
        loose = {v.name for v in variables_of(atom)} - bound
        elsewhere = Counter(v.name for v in variables_of(rule)) - Counter(v.name for v in variables_of(atom))
        if not loose or any(name in elsewhere for name in loose):
            self.unfold(error, rule)
            return
        bound_variables = dict.fromkeys(v for v in variables_of(atom) if v.name in bound)
        inner = atom.args[0] if atom.name in ("true", "does") else atom
        name = self.fresh(f"some_{inner.name}" if isinstance(inner, Function | Constant | Atom) else "some")
        helper = Atom(name, tuple(bound_variables), None, atom.start, atom.end)

        def replaced(node: Any) -> Any:
            return helper if node is atom else rebuilt(node, replaced)

        body = tuple(replaced(part) if part is literal else part for part in rule.body)
        definition = Rule(helper, (atom,), rule.start, rule.end)
        self.changes[id(rule)] = [Rule(rule.head, body, rule.start, rule.end), definition]
        shown = self.sheet.apply(name, *(self.sheet.variable(v).strip("`") for v in bound_variables))
        names = dict.fromkeys(self.sheet.variable(v) for v in variables_of(atom) if v.name in loose)
        edits = (
            Edit(Span(atom.start, atom.end), shown),
            Edit(Span(rule.end, rule.end), f"\n(<= {shown} {self.text[atom.start : atom.end]})"),
        )
        self.tolerate(
            error,
            f"it is read as: there is no {' and '.join(names)}",
            help="negate a helper relation without the variable",
            fix=Fix("negate a helper relation", edits),
        )

    def unfold(self, error: Diagnostic, rule: Rule) -> None:
        """Put the conditions of the helper relation that a rule defines where it is used.

        Only if that binds all variables.
        """
        relation, name = rule.head.key, rule.head.name
        if name in KEYWORDS:
            return
        note = f"the conditions of `{name}` are read where it is used, as Prolog does"
        if relation in self.unbinding:
            if any(note in warning.notes for warning in self.warnings.values()):
                self.tolerate(error, note)
            return
        self.unbinding.add(relation)
        rules = self.sheet.definitions[relation]
        users = {id(rule): rule for rule, atom, _ in self.sheet.body_atoms if atom.key == relation}
        is_changed = not users.keys().isdisjoint(self.changes)
        if not self.unfolds or not users or is_changed or relation in self.sheet.graph.recursive:
            return
        unfolding = Inlining(relation, rules, self.fresh)
        unfolded = {number: unfolding.rule(user) for number, user in users.items()}
        if None in unfolded.values():
            return
        changes = {user: plain(new) for user, new in unfolded.items() if new}
        changes |= {id(rule): [] for rule in rules}
        self.changes |= changes
        self.tolerate(error, note, fix=self._rewriting(f"write the conditions of `{name}` there", changes))

    # -- the rest -------------------------------------------------------------------------------

    def rename_percepts(self, error: Diagnostic, _rule: Rule) -> None:
        """Read `sees` as a relation of another name, which the players see."""
        note = "it is read as a relation of its own, all of which is seen"
        atoms = (node for node in walk(*self.tree.statements) if isinstance(node, Atom))
        places = [atom for atom in atoms if atom.key == _SEES]
        if any(note in warning.notes for warning in self.warnings.values()):
            self.tolerate(error, note)
            return
        if any(id(rule) in self.changes for rule in self.tree.statements):
            return  # in the next round, when the other changes are made
        name = self.fresh("seen")

        def renamed(node: Any) -> Any:
            if isinstance(node, Atom) and node.key == _SEES:
                return Atom(name, node.args, None, node.start, node.end)
            return rebuilt(node, renamed)

        role, percept = Variable("r"), Variable("p")
        last = next((rule for rule in reversed(self.tree.statements) if rule.head.key == _SEES), None)
        for rule in self.tree.statements:
            self.changes[id(rule)] = [renamed(rule)]
        edits = [Edit(_name_span(self.text, atom), name) for atom in places]
        if last is not None:
            seen = Rule(Atom("sees", (role, percept)), (Atom(name, (role, percept)),), last.start, last.end)
            self.changes[id(last)].append(seen)
            edits.append(Edit(Span(last.end, last.end), f"\n{seen}"))
        self.tolerate(error, note, fix=Fix(f"define `{name}`, and `sees` by it", tuple(edits)))

    def shorten_goal(self, error: Diagnostic, rule: Rule) -> None:
        """Read a goal value without its leading zeros."""
        role, value = rule.head.args
        if not isinstance(value, Constant) or not re.fullmatch("0+[0-9]*", value.name):
            return
        short = value.name.lstrip("0") or "0"
        if is_goal_value(short):
            head = Atom("goal", (role, Constant(short, None, value.start, value.end)), rule.head.spelling)
            head.start, head.end = rule.head.start, rule.head.end
            self.changes[id(rule)] = [Rule(head, rule.body, rule.start, rule.end)]
            fix = Fix(f"write `{short}`", (Edit(value.span, short),))
            self.tolerate(error, f"it is read as {short}", help=f"write `{short}`", fix=fix)

    def evaluate_before_moves(self, error: Diagnostic, _rule: Rule) -> None:
        """Give `legal`, `goal` and `terminal` versions of their helpers in which nobody has moved.

        A rule that could never hold then is an error.
        """
        if self.changes:
            return  # in the next round, or reported once for all
        graph = self.sheet.graph
        moving = [key for key in graph.nodes if key[0] not in KEYWORDS and graph.depends_on(key, _DOES)]
        names: dict[Relation, str | None] = {key: self.fresh(f"{key[0]}_before") for key in moving}
        copies: dict[Relation, list[Rule]] = {}
        while copies.keys() != {key for key, name in names.items() if name}:  # those without rules are false
            copies = {key: [] for key, name in names.items() if name}
            for key, rules in copies.items():
                for rule in self.sheet.definitions.get(key, ()):
                    body = _before_moves(rule, names)
                    if body is not None:
                        head = Atom(str(names[key]), rule.head.args, None, rule.head.start, rule.head.end)
                        rules.append(Rule(head, body, rule.start, rule.end))
            names = {key: name if copies.get(key) else None for key, name in names.items()}
        changed: list[tuple[Rule, Rule]] = []
        for rule in self.tree.statements:
            if rule.head.key in _BEFORE_MOVES:
                body = _before_moves(rule, names)
                if body is None:
                    return
                if body != rule.body:
                    changed.append((rule, Rule(rule.head, body, rule.start, rule.end)))
        changes = {id(rule): [new] for rule, new in changed}
        by_name = {name: key for key, name in names.items() if name}
        stack = [new for _, new in changed]
        while stack:
            for atom, _ in atoms_of(And(stack.pop().body)):
                if atom.name in by_name:
                    key = by_name.pop(atom.name)
                    first = self.sheet.definitions[key][0]
                    changes.setdefault(id(first), [first]).extend(copies[key])
                    stack += copies[key]
        self.changes |= changes
        fix = self._rewriting("write the conditions that hold before anybody moves", changes)
        self.tolerate(
            error, "it is evaluated as if nobody had moved: conditions on `does` fail there", fix=fix
        )


_CORRECTIONS: Final[dict[str, Callable[[_Correction, Diagnostic, Rule], None]]] = {
    "unsafe-variable": _Correction.bind,
    "non-ground-fact": _Correction.bind,
    "unsafe-negation": _Correction.negate_helper,
    "unsafe-distinct": _Correction.unfold,
    "sees-in-body": _Correction.rename_percepts,
    "goal-value": _Correction.shorten_goal,
    "legal-depends-on-does": _Correction.evaluate_before_moves,
}
"""The methods that may correct an error, by the name of its check."""


def _head_name(place: Rule | Skipped) -> str | None:
    return place.head.name if isinstance(place, Rule) else place.name


def _declared(head: Atom) -> Relation | None:
    """Return the name and arity of the fluent that a `base` statement of any dialect declares."""
    if not head.args or isinstance(head.args[0], Variable):
        return None
    first = head.args[0]
    return (first.name, len(head.args) - 1) if len(head.args) > 1 else first.key


def _queried(literal: Any, fluents: set[Relation | None]) -> Any:
    """Return a literal in which atoms that are fluents are queries of the state."""
    if not isinstance(literal, Atom):
        return rebuilt(literal, lambda part: _queried(part, fluents))
    if literal.key not in fluents:
        return literal
    fluent = literal
    place = (fluent.start, fluent.end)
    term: Term = (
        Function(fluent.name, fluent.args, fluent.spelling, *place)
        if fluent.args
        else Constant(fluent.name, fluent.spelling, *place)
    )
    return Atom("true", (term,), None, *place)


def _name_span(text: str, atom: Atom) -> Span:
    """Return the span of the name of an atom in prefix notation."""
    start = text.find(atom.spelling or atom.name, atom.start)
    return Span(start, start + len(atom.name))


def _before_moves(rule: Rule, names: dict[Relation, str | None]) -> tuple[Literal, ...] | None:
    """Return the body of a rule where `does` fails, with relations renamed; None if it cannot hold.

    A relation without a name has no rules then.
    """

    def folded(literal: Literal) -> Literal | bool:
        if isinstance(literal, Atom):
            if literal.key == _DOES:
                return False
            if literal.key not in names:
                return literal
            name = names[literal.key]
            return Atom(name, literal.args, None, literal.start, literal.end) if name else False
        if isinstance(literal, Not):
            inner = folded(literal.literal)
            return not inner if isinstance(inner, bool) else Not(inner, literal.start, literal.end)
        if not isinstance(literal, And | Or):
            return literal
        absorbing = isinstance(literal, Or)
        parts = [part for part in map(folded, literal.literals) if part is not (not absorbing)]
        if absorbing in parts:
            return absorbing
        return rebuilt_junction(literal, parts) if parts else not absorbing

    def rebuilt_junction(literal: And | Or, parts: Iterable[Any]) -> Literal:
        return type(literal)(tuple(parts), literal.start, literal.end)

    body = folded(And(rule.body))
    if isinstance(body, bool):
        return () if body else None
    return body.literals if isinstance(body, And) else (body,)

"""Translate sentences of GGDL to rules of GDL: facts, rules, payoffs, initial values, moves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, NoReturn

from herbrand.syntax.ggdl import nodes as n
from herbrand.syntax.ggdl.literals import Equal
from herbrand.syntax.ggdl.report import Refused
from herbrand.syntax.ggdl.rule_emitter import RuleEmitter
from herbrand.syntax.ggdl.scope import OWN_BOARD, Application
from herbrand.syntax.ggdl.translate import Translator
from herbrand.syntax.ggdl.values import as_integer
from herbrand.syntax.nodes import Atom, Constant, Function, Rule, Variable
from herbrand.syntax.tokens import ARITY

if TYPE_CHECKING:
    from herbrand.syntax.ggdl.literals import Alternative
    from herbrand.syntax.ggdl.program import Fluent, GgdlProgram
    from herbrand.syntax.ggdl.scope import Scope, WorkItem
    from herbrand.syntax.nodes import Term

__all__ = ["Change", "Sentences"]

_VARIABLE: Final = re.compile(r"\?(\w+)")


@dataclass(slots=True)
class Change:
    """One effect in terms of GDL: the change of a fluent, and its conditions."""

    fluent: Fluent
    args: tuple[Term, ...]
    value: Term | None
    """The new value of a functional fluent; None if it is removed, or for a plain fluent."""
    asserted: bool
    """Whether the fluent (with this value) holds afterwards."""
    level: int
    """2 where the trigger contains a move, else 1."""
    alternatives: list[Alternative]
    scope: Scope
    number: int


@dataclass(slots=True)
class _Hook:
    work: WorkItem
    sentence: n.MoveSentence
    action: tuple[str, int]
    used: bool = False


class Sentences:
    """Translates the sentences of a program, and collects its changes for `herbrand.syntax.ggdl.effects`."""

    def __init__(self, program: GgdlProgram, items: list[WorkItem]) -> None:
        self.program = program
        self.report = program.report
        self.items = items
        self.translator = Translator(program)
        self.emitter = RuleEmitter(program)
        self.changes: list[Change] = []
        self.persistent: set[tuple[str, int]] = set()
        self.legal_actions: set[tuple[str, int]] = set()
        """Actions with a sentence that defines when they are legal."""
        self.hooks = [
            _Hook(work, work.sentence, _action(work.sentence.head.action).key)
            for work in items
            if isinstance(work.sentence, n.MoveSentence) and self._is_hook(work)
        ]

    def write(self) -> None:
        """Translate every sentence."""
        for work in self.items:
            sentence = work.sentence
            if not isinstance(sentence, n.MoveSentence) or self._is_hook(work):
                continue
            if sentence.body is not None or sentence.head.place is not None:
                self.legal_actions.add(_action(sentence.head.action).key)
        self.legal_actions.update(self.program.explicit_heads.get("legal", ()))
        for work in self.items:
            rule_count = len(self.program.rules)
            try:
                self._one(work)
            except Refused:
                del self.program.rules[rule_count:]
        for hook in self.hooks:
            if not hook.used:
                self.report.source = hook.sentence.source
                self.report.add(
                    "W-HOOK-UNUSED",
                    f"no move `r @ board[…] -> {hook.action[0]}(…)` uses this",
                    hook.sentence.report_span,
                    help="a rule about a place takes effect only through such a move",
                )

    def _one(self, work: WorkItem) -> None:
        match work.sentence:
            case n.PrefixSentence():
                for rule in self.program.plain_rules.get(id(work.sentence), ()):
                    self.program.rules.append((work.number, rule))
            case n.RuleSentence():
                self._rule(work, work.sentence)
            case n.InitSentence():
                self._init(work, work.sentence)
            case n.GoalSentence():
                self._goal(work, work.sentence)
            case n.MoveSentence():
                if not self._is_hook(work):
                    self._move(work, work.sentence)
            case n.ConsequenceSentence():
                self._consequence(work, work.sentence)
            case n.OperationSentence():
                self._operation(work, work.sentence)
            case n.NextSentence():
                scope = self.translator.scope(work)
                sentence = work.sentence
                effect = n.Consequence("=", sentence.place, sentence.value, sentence.start, sentence.end)
                alternatives = self.translator.body(sentence.body, scope)
                self._effect(effect, alternatives, scope, level=2)

    # -- rules -----------------------------------------------------------------------------------

    def _rule(self, work: WorkItem, sentence: n.RuleSentence) -> None:
        for head in sentence.heads:
            heads = self.translator.values.expanded(head) if sentence.body is None else [head]
            for expanded in heads:
                scope = self.translator.scope(work)
                out: Alternative = []
                atom = self._head(expanded, scope, out)
                if sentence.plain:
                    self._plain_rule(atom, sentence, scope, out)
                    continue
                alternatives = self.translator.body(sentence.body, scope, out)
                if atom.key == ("goal", 2):
                    self._check_value(atom.args[1], sentence)
                self.emitter.write(atom, alternatives, scope)

    def _plain_rule(self, head: Atom, sentence: n.RuleSentence, scope: Scope, out: Alternative) -> None:
        """Add a plain rule unchanged, except that values of names become conditions.

        A rule of a surface holds for each of its boards.
        """
        literals = self.translator.plain_body(sentence.body, scope, out)
        board = scope.board
        boards = scope.typed[board.name] if isinstance(board, Variable) and board in head.args else ()
        body = (*boards, *(x for x in out if isinstance(x, Atom)), *literals)
        span = scope.span(sentence)
        self.program.rules.append((scope.work.number, Rule(head, body, *span)))

    def _head(self, expr: n.Expr, scope: Scope, out: Alternative) -> Atom:
        call = self.translator.call_of(expr, scope)
        assert call is not None
        name, spelling, args = call
        if name in ARITY:
            return self.translator.keyword(name, spelling, args, expr, scope, out)
        return Atom(name, self.translator.arguments(call, scope, out), spelling, *scope.span(expr))

    def _goal(self, work: WorkItem, sentence: n.GoalSentence) -> None:
        for payoff in sentence.payoffs:
            scope = self.translator.scope(work)
            out: Alternative = []
            role = self.translator.subject(payoff.role, scope, out)
            value = self.translator.term(payoff.value, scope, out)
            self._check_value(value, payoff)
            head = Atom("goal", (role, value), None, *scope.span(payoff))
            self.emitter.write(head, self.translator.body(sentence.body, scope, out), scope)

    def _check_value(self, value: Term, place: n.Sentence | n.Located) -> None:
        number = as_integer(value)
        if isinstance(value, Variable) or (number is not None and 0 <= number <= 100):
            return
        start, end = value.start, value.end
        if end <= start:
            start, end = place.start, place.end
        self.report.refuse(
            "E-GOAL-RANGE", f"the payoff `{value}` is not an integer from 0 to 100", (start, end)
        )

    def _init(self, work: WorkItem, sentence: n.InitSentence) -> None:
        scope = self.translator.scope(work)
        out: Alternative = []
        fluent = self.translator.fluent_of(sentence.place, scope)
        call = self.translator.call_of(sentence.place, scope)
        if call is None:
            self.report.refuse("E-SYNTAX", "only a relation can hold initially", sentence.place)
        name, spelling, args = call
        span = scope.span(sentence.place)
        if sentence.value is None:
            inner: Term = self.translator.pattern(sentence.place, scope, out)
        else:
            if fluent is None:
                raise Refused  # the place was reported when it was declared
            terms = self.translator.fluent_args(args, fluent, scope, out)
            self._domain_types(fluent, terms, scope)
            value = self.translator.term(sentence.value, scope, out)
            inner = Function(name, (*terms, value), spelling, *span)
        alternatives = self.translator.body(sentence.body, scope, out)
        for literal in chain(out, *alternatives):
            if isinstance(literal, Atom) and literal.name in {"true", "does"}:
                self.report.refuse(
                    "E-INIT-DYNAMIC",
                    "the initial state depends on the current state",
                    literal,
                    help="conditions of `init` may use static relations only",
                )
        head = Atom("init", (inner,), None, *span)
        self.emitter.write(head, alternatives, scope)

    def _domain_types(self, fluent: Fluent, terms: tuple[Term, ...], scope: Scope) -> None:
        """Give untyped variables the types of the declaration."""
        for term, kind in zip(terms, fluent.arguments, strict=False):
            if isinstance(term, Variable) and kind is not None and term.name not in scope.typed:
                scope.typed[term.name] = [self.translator.type_atom(kind, term)]

    # -- operations ------------------------------------------------------------------------------

    def _operation(self, work: WorkItem, sentence: n.OperationSentence) -> None:
        """Translate `head :: conditions ==> effects`: it occurs when a role does it or another calls it."""
        scope = self.translator.scope(work)
        out: Alternative = []
        occurs, action = self._occurs(sentence.head, scope, out)
        body = sentence.body
        parts = body.parts if isinstance(body, n.Conjunction) else (body,)
        calls = [part for part in parts if isinstance(part, n.Holds) and self._operation_key(part.atom)]
        conditions = n.Conjunction(body.start, body.end, tuple(part for part in parts if part not in calls))
        role = scope.fresh("role", sentence)
        span = scope.span(sentence.head)
        does = Atom("does", (role, action), None, *span)
        self.emitter.write(occurs, [[*out, does]], scope)
        triggers = self.translator.body(conditions, scope, [occurs, *out])
        for call in calls:
            inner: Alternative = []
            called, _ = self._occurs(call.atom, scope, inner)
            self.emitter.write(called, [[*trigger, *inner] for trigger in triggers], scope)
        if sentence.effects:
            self.effects(sentence.effects, triggers, scope, level=2)

    def _operation_key(self, expr: n.Expr) -> tuple[str, int] | None:
        key = _action(expr).key
        heads = (w.sentence.head for w in self.items if isinstance(w.sentence, n.OperationSentence))
        return key if any(key == _action(head).key for head in heads) else None

    def _occurs(self, expr: n.Expr, scope: Scope, out: Alternative) -> tuple[Atom, Term]:
        action = self.translator.pattern(expr, scope, out)
        name = self.program.fresh(f"ggdl_op_{_action(expr).name}")
        return Atom(name, action.args, None, *scope.span(expr)), action

    # -- moves -----------------------------------------------------------------------------------

    def _is_hook(self, work: WorkItem) -> bool:
        sentence = work.sentence
        if not isinstance(sentence, n.MoveSentence):
            return False
        subject = sentence.head.subject
        if isinstance(subject, n.Index):
            return True
        if isinstance(subject, n.Var):
            return subject.name in work.lets
        return isinstance(subject, n.Name) and subject.folded in work.lets

    def _move(self, work: WorkItem, sentence: n.MoveSentence) -> None:
        if sentence.head.place is not None:
            self._located(work, sentence)
            return
        scope = self.translator.scope(work)
        out: Alternative = []
        role = self.translator.subject(sentence.head.subject, scope, out)
        action = self.translator.pattern(sentence.head.action, scope, out)
        self._forbid_moves(sentence.body)
        alternatives = self.translator.body(sentence.body, scope, out)
        self._legal_and_effects(role, action, alternatives, scope)

    def _legal_and_effects(
        self, role: Term, action: Term, alternatives: list[Alternative], scope: Scope
    ) -> None:
        sentence = scope.sentence
        assert isinstance(sentence, n.MoveSentence)
        head = sentence.head
        span = scope.span(head)
        key = action.key if isinstance(action, Function) else (str(action), 0)
        self.program.moves.setdefault(key, scope.work.number)
        if sentence.doc and key[0] not in self.program.docs:
            self.program.docs[key[0]] = sentence.doc
        if sentence.body is not None or head.place is not None or key not in self.legal_actions:
            atom = Atom("legal", (role, action), None, *span)
            self.emitter.write(atom, alternatives, scope)
        if sentence.effects:
            does = Atom("does", (role, action), None, *span)
            triggers: list[Alternative] = [[does, *alternative] for alternative in alternatives]
            self.effects(sentence.effects, triggers, scope, level=2)

    def _forbid_moves(self, body: n.Formula | None) -> None:
        doing = _doing_in(body)
        if doing is not None:
            self.report.refuse(
                "E-DOES-SCOPE",
                "legality depends on a move of the same step",
                doing,
                help="conditions on moves are allowed only in consequences",
            )

    def _located(self, work: WorkItem, sentence: n.MoveSentence) -> None:
        """Translate a move at a place of a board, adding the conditions and effects of its hooks."""
        place = sentence.head.place
        assert place is not None
        action = _action(sentence.head.action)
        fitting = [hook for hook in self.hooks if hook.action == action.key and self._fits(hook, place)]
        self._forbid_moves(sentence.body)
        hooks: list[_Hook | None] = [*fitting] or [None]
        for hook in hooks:
            scope = self.translator.scope(work)
            out: Alternative = []
            role = self.translator.subject(sentence.head.subject, scope, out)
            spot = self._spot(place, work, scope, out)
            terms = self.translator.terms(action.args, scope, out)
            move = Function(action.name, (*spot, *terms), action.spelling, *scope.span(sentence.head))
            at = Atom(self.program.fresh("cell_at"), spot, None, *scope.span(place))
            alternatives = self.translator.body(sentence.body, scope, [*out, at])
            if hook is None:
                self._legal_and_effects(role, move, alternatives, scope)
                continue
            hook.used = True
            conditions, inner = self._hooked(hook, spot, terms, scope)
            combined = [[*own, *hooked] for own in alternatives for hooked in conditions]
            self._legal_and_effects(role, move, combined, scope)
            if hook.sentence.effects:
                does = Atom("does", (role, move), None, *scope.span(sentence.head))
                triggers: list[Alternative] = [[does, *alternative] for alternative in combined]
                self.report.source = hook.sentence.source
                inner.typed.update({k: v for k, v in scope.typed.items() if k not in inner.typed})
                self.effects(hook.sentence.effects, triggers, inner, level=2)
                self.report.source = sentence.source

    def _fits(self, hook: _Hook, place: n.Expr) -> bool:
        """Whether a hook belongs to the board of a place."""
        if not isinstance(place, n.Index) or not isinstance(place.base, n.Name):
            return True
        board = self.program.instances.get(place.base.folded)
        if board is None:
            return True
        if hook.work.instance is not None:
            return hook.work.instance == board.name
        return hook.work.surface is board.surface

    def _spot(self, place: n.Expr, work: WorkItem, scope: Scope, out: Alternative) -> tuple[Term, ...]:
        call = self.translator.call_of(place, scope)
        if not isinstance(place, n.Index) and not (call is not None and call.name == "cell" and work.lets):
            self.report.refuse("E-SURFACE", "the place of a move is written `board[i, j]`", place)
        assert call is not None
        board = call.args[0]
        if isinstance(board, n.Name):
            instance = self.program.instances.get(board.folded)
            if instance is None:
                self.report.refuse(
                    "E-SURFACE",
                    f"`{board.spelling}` is not a board",
                    board,
                    help=f"declare one: `init {board.spelling} := Surface`",
                )
            size = len(instance.surface.cells.generators)
            if size != len(call.args) - 1:
                self.report.refuse(
                    "E-SURFACE",
                    f"a place of `{board.spelling}` has {size} indices, not {len(call.args) - 1}",
                    place,
                )
        return self.translator.terms(call.args, scope, out)

    def _hooked(
        self, hook: _Hook, spot: tuple[Term, ...], terms: tuple[Term, ...], outer: Scope
    ) -> tuple[list[Alternative], Scope]:
        """Translate the condition of a hook for a place and arguments."""
        scope = self.translator.scope(hook.work)
        words = set(_VARIABLE.findall(scope.sentence.source.text[scope.sentence.start : scope.sentence.end]))
        scope.used |= outer.used
        for word in sorted(map(str.lower, words)):  # a hook shares no variables with the move that uses it
            scope.rename[word] = scope.fresh(word, scope.sentence).name
        subject = hook.sentence.head.subject
        place = self.translator.call_of(subject, scope)
        assert place is not None
        out: Alternative = []
        scope.typed.clear()
        scope.board = spot[0]
        if len(place.args) != len(spot):
            indices, size = len(place.args) - 1, len(spot) - 1
            self.report.source = hook.sentence.source
            self.report.refuse(
                "E-SURFACE", f"a place of this surface has {size} indices, not {indices}", subject
            )
        patterns = (*place.args, *_action(hook.sentence.head.action).args)
        for pattern, term in zip(patterns, (*spot, *terms), strict=True):
            if pattern is not OWN_BOARD:
                out.append(Equal(self.translator.term(pattern, scope, out), term))
        conditions = self.translator.body(hook.sentence.body, scope, out)
        outer.typed.update({k: v for k, v in scope.typed.items() if k not in outer.typed})
        outer.used |= scope.used
        outer.generated |= scope.generated
        scope.generated |= outer.generated
        return conditions, scope

    # -- consequences ----------------------------------------------------------------------------

    def _consequence(self, work: WorkItem, sentence: n.ConsequenceSentence) -> None:
        scope = self.translator.scope(work)
        if all(effect.sign == "persist" for effect in sentence.effects):
            self._persist(sentence, scope)
            return
        alternatives = self.translator.body(sentence.body, scope)
        level = 2 if _doing_in(sentence.body) is not None else 1
        self.effects(sentence.effects, alternatives, scope, level=level)

    def _persist(self, sentence: n.ConsequenceSentence, scope: Scope) -> None:
        body = sentence.body
        if isinstance(body, n.Holds):
            if self.translator.fluent_of(body.atom, scope) is not None:
                return
            call = self.translator.call_of(body.atom, scope)
            if call is not None and call.key in self.program.fluents:
                return
        self.report.refuse(
            "E-PERSIST-TARGET",
            "only a fluent can persist",
            body,
            help="write `F(args) ==> persist` for a functional relation or a fact",
        )

    def effects(
        self, effects: tuple[n.Consequence, ...], triggers: list[Alternative], scope: Scope, *, level: int
    ) -> None:
        """Record the changes of simultaneous effects."""
        changes: list[tuple[Change, n.Consequence]] = []
        for effect in effects:
            if effect.sign == "persist":
                continue
            change = self._effect(effect, triggers, scope, level=level)
            for other, first in changes:
                if (
                    other.fluent is change.fluent
                    and other.args == change.args
                    and isinstance(other.value, Constant)
                    and isinstance(change.value, Constant)
                    and other.value != change.value
                ):
                    self.report.refuse(
                        "E-EFFECT-CONFLICT",
                        f"conflicting values for one place: `{other.value}` and `{change.value}`",
                        effect,
                        labels=[(first, "the other value")],
                    )
            changes.append((change, effect))

    def _effect(
        self, effect: n.Consequence, triggers: list[Alternative], scope: Scope, *, level: int
    ) -> Change:
        out: Alternative = []
        fluent, args, value, asserted = self._target(effect, scope, out)
        alternatives: list[Alternative] = [[*trigger, *out] for trigger in triggers]
        change = Change(fluent, args, value, asserted, level, alternatives, scope, scope.work.number)
        self.changes.append(change)
        return change

    def _target(
        self, effect: n.Consequence, scope: Scope, out: Alternative
    ) -> tuple[Fluent, tuple[Term, ...], Term | None, bool]:
        """Return the fluent that an effect changes, its arguments and new value, and whether it will hold."""
        place = effect.place
        assert place is not None
        fluent = self.translator.fluent_of(place, scope)
        call = self.translator.call_of(place, scope)
        if call is None:
            self.report.refuse("E-EFFECT-TARGET", "this is not a fluent", place)
        name, spelling, args = call
        asserted = effect.sign in {"=", "+", "+="}
        if effect.sign == "=":
            assert effect.value is not None
            boolean = self.program.fluents.get(call.key)
            if boolean is not None and boolean.kind == "bool" and isinstance(effect.value, n.Name):
                return boolean, self.translator.terms(args, scope, out), None, effect.value.folded == "true"
            if fluent is None:
                self._no_target(effect, spelling)
            terms = self.translator.fluent_args(args, fluent, scope, out)
            return fluent, terms, self.translator.term(effect.value, scope, out), True
        if effect.sign in {"+=", "-="}:
            set_fluent = self.program.fluents.get((name, len(args) + 1))
            assert effect.value is not None
            if set_fluent is None or set_fluent.kind != "set":
                self._no_target(effect, spelling)
            return set_fluent, self.translator.terms((*args, effect.value), scope, out), None, asserted
        if fluent is not None and not asserted:  # `~F(a)` removes the value
            fluent.removed = True
            return fluent, self.translator.fluent_args(args, fluent, scope, out), None, False
        plain = self.program.fluents.get((name, len(args) + (call.key in scope.work.members)))
        if plain is None:
            self._no_target(effect, spelling)
        terms = self.translator.arguments(call, scope, out)
        if not plain.functional:
            return plain, terms, None, asserted
        *some, last = terms  # the relational spelling of a value
        if not asserted:
            plain.removed = True
            span = scope.span(place)
            out.append(Atom("true", (plain.term(terms, *span),), None, *span))
        return plain, tuple(some), last if asserted else None, asserted

    def _no_target(self, effect: n.Consequence, spelling: str) -> NoReturn:
        place = effect.place
        assert place is not None
        if self.report.knows("E-EFFECT-TARGET", place):
            raise Refused
        self.report.refuse(
            "E-EFFECT-TARGET",
            f"`{spelling}` is not a fluent, so no effect can change it",
            place,
            help="derived relations, types, roles and parameters do not change",
        )


def _action(expr: n.Expr) -> Application:
    if isinstance(expr, n.Name | n.FunctionCall):
        return Application(expr.folded, expr.spelling, expr.args)
    return Application("", "", ())


def _doing_in(formula: n.Formula | None) -> n.Doing | n.Holds | None:
    """Return the first condition on a move in a formula."""
    match formula:
        case n.Doing():
            return formula
        case n.Holds(atom=n.FunctionCall() | n.Member() as atom) if atom.folded == "does":
            return formula
        case n.Conjunction(parts=parts) | n.Disjunction(parts=parts):
            return next((doing for part in parts if (doing := _doing_in(part)) is not None), None)
        case n.Negation(inner=inner):
            return _doing_in(inner)
    return None

"""Translate expressions and conditions of GGDL to terms and literals of GDL."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Final, NoReturn

from herbrand.syntax.ggdl import nodes as n
from herbrand.syntax.ggdl.literals import Equal, NegatedConjunction
from herbrand.syntax.ggdl.program import Fluent, show
from herbrand.syntax.ggdl.report import did_you_mean
from herbrand.syntax.ggdl.scope import Scope, call_of, resolve_let
from herbrand.syntax.ggdl.types import named_type, range_type
from herbrand.syntax.ggdl.values import Values, as_expression, as_integer, calculated, integer
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Or, Variable, applied
from herbrand.syntax.tokens import ARITY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.syntax.ggdl.literals import Alternative, Literal
    from herbrand.syntax.ggdl.program import GgdlProgram
    from herbrand.syntax.ggdl.scope import Application, WorkItem
    from herbrand.syntax.nodes import Literal as CoreLiteral
    from herbrand.syntax.nodes import Term

__all__ = ["Translator"]

MAX_ALTERNATIVES: Final = 4096
"""Maximum number of alternatives of a condition in disjunctive normal form."""
FEW: Final = 3
"""Maximum number of constants of a range that is expanded; a longer one becomes a relation."""
FLUENT_AT: Final = {"true": 0, "next": 0, "init": 0, "base": 0, "does": 1, "legal": 1, "input": 1}
"""Index of the keyword argument that is a fluent or an action, which is not evaluated."""
LESS, AT_MOST = "ggdl_lt", "ggdl_le"
ARITHMETIC: Final = {"+": "ggdl_add", "-": "ggdl_sub", "*": "ggdl_mul"}
_QUANTIFIERS: Final = frozenset({"forall", "forany", "zip", "reverse", "exists"})
_SHORT_QUANTIFIERS: Final = frozenset({"all", "any"})
"""Rejected in GGDL sentences only: in plain ones they are probably names."""
_RESULT: Final = {"+": "sum", "-": "difference", "*": "product"}


class Translator:
    """Translates expressions and conditions of a program."""

    def __init__(self, program: GgdlProgram) -> None:
        self.program = program
        self.report = program.report
        self.values = Values(program)
        self.tables = {name: program.fresh(name) for name in (LESS, AT_MOST, *ARITHMETIC.values())}
        self.hinted: set[tuple[str, int]] = set()

    # -- places ----------------------------------------------------------------------------------

    def scope(self, work: WorkItem) -> Scope:
        """Open the scope of a sentence."""
        self.report.source = work.sentence.source
        self.values.local = work.local
        scope = Scope(work, self.program.declared)
        if work.surface is not None:
            if work.instance is not None:
                name = self.program.instances[work.instance]
                scope.board = Constant(name.name, name.spelling, *scope.span(name.sentence))
            else:
                scope.board = scope.fresh("board", work.sentence)
                kind = Atom(work.surface.name.lower(), (scope.board,), work.surface.name, *scope.span((0, 0)))
                scope.typed[scope.board.name] = [kind]
        return scope

    def call_of(self, expr: n.Expr, scope: Scope) -> Application | None:
        """Return an expression as a call; refuse `@[…]` where no board is implied."""
        place = resolve_let(expr, scope.work.lets)
        if isinstance(place, n.Index) and place.base is None and scope.board is None:
            self.report.refuse("E-SURFACE", "`@[…]` is used outside of a surface", place)
        return call_of(place, {})

    def fluent_of(self, expr: n.Expr, scope: Scope) -> Fluent | None:
        """Return the functional fluent that an expression reads, or None."""
        call = self.call_of(expr, scope)
        if call is None:
            return None
        name, spelling, args = call
        if isinstance(expr, n.Name) and name == spelling.lower() and not args:
            declared = self.program.declared.get(spelling, set())
            if declared & {"value", "role", "parameter", "constant"} and "fluent" not in declared:
                return None
        fluent = self.program.fluents.get((name, len(args) + 1 + (call.key in scope.work.members)))
        return fluent if fluent is not None and fluent.functional else None

    # -- terms -----------------------------------------------------------------------------------

    def term(self, expr: n.Expr, scope: Scope, out: Alternative) -> Term:
        """Translate an expression, appending its conditions to `out`."""
        start, end = scope.span(expr)
        match expr:
            case n.Number() | n.String() | n.Quoted():
                return self.values.literal(expr, start, end)
            case n.Var(name=name, spelling=spelling):
                if name in scope.work.lets:
                    return self.read(expr, scope, out)
                self._typed(expr, scope)
                if name in scope.rename:
                    return Variable(scope.rename[name], None, start, end)
                return Variable(name, spelling, start, end)
            case n.Anonymous():
                if expr.start < 0 and scope.board is not None:
                    return scope.board
                return scope.fresh("any", expr)
            case n.Generator(name=name):
                self.report.refuse("E-SYNTAX", f"the generator variable `\\{name}` is unbound", expr)
            case n.Name():
                return self._name(expr, scope, out)
            case n.FunctionCall() | n.Member() | n.Index():
                return self._call(expr, scope, out)
            case n.Sum(sign=sign, left=left, right=right):
                return self._sum(sign, left, right, expr, scope, out)
        self.report.refuse(
            "E-SYNTAX",
            "a collection or range is not allowed here",
            expr,
            help="collections are allowed after `in`, next to `===`, in `data` and in `surface`",
        )

    def _typed(self, variable: n.Var, scope: Scope) -> None:
        if variable.type is None:
            return
        name = named_type(self.program, variable.type)
        variable_name = scope.rename.get(variable.name, variable.name)
        term = Variable(variable_name, variable.spelling, *scope.span(variable))
        scope.restrict(term, self.type_atom(name, term))
        scope.types.setdefault(variable_name, name)

    def type_atom(self, name: str, term: Term) -> Atom:
        """Return the condition that a term is a member of a type."""
        kind = self.program.types.get(name)
        return Atom(name, (term,), kind.spelling if kind else None, term.start, term.end)

    def _sum(
        self, sign: str, left: n.Expr, right: n.Expr, expr: n.Expr, scope: Scope, out: Alternative
    ) -> Term:
        left_term, right_term = self.term(left, scope, out), self.term(right, scope, out)
        start, end = scope.span(expr)
        a, b = as_integer(left_term), as_integer(right_term)
        if a is not None and b is not None:
            return integer(calculated(sign, a, b), start, end)
        if (b == 0 and sign in {"+", "-"}) or (b == 1 and sign == "*"):
            return left_term
        for part, written in ((left_term, left), (right_term, right)):
            if not isinstance(part, Variable) and as_integer(part) is None:
                self.report.refuse("E-CONST", f"`{show(part)}` is not an integer", written)
        result = scope.fresh(_RESULT[sign], expr)
        out.append(Atom(self.tables[ARITHMETIC[sign]], (left_term, right_term, result), None, start, end))
        return result

    def _name(self, expr: n.Name, scope: Scope, out: Alternative) -> Term:
        spelling = expr.spelling
        start, end = scope.span(expr)
        if spelling.lower() in scope.work.lets:
            return self.read(expr, scope, out)
        value = self.values.named(spelling)
        declared = self.program.declared.get(spelling, set())
        if value is not None or declared:
            if scope.plain and spelling[0].isupper():
                self.report.add(
                    "W-NAME-DECLARED",
                    f"`{spelling}` is declared, so it is not a variable here",
                    (start, end),
                    help=f"write `?{spelling.lower()}` if a variable is meant",
                )
            if isinstance(value, Constant):
                return Constant(value.name, value.spelling, start, end)
            if value is not None:
                return value
        if self.fluent_of(expr, scope) is not None:
            return self.read(expr, scope, out)
        fluent = self.program.fluents.get((expr.folded, 1))
        is_property = fluent is not None and fluent.kind == "bool"
        if is_property or not spelling[0].isupper() or (declared and declared != {"type"}):
            return Constant(expr.folded, spelling, start, end)
        if scope.plain:
            return Variable(expr.folded, spelling, start, end)
        if declared:
            self.report.refuse(
                "E-NAME-AMBIGUOUS",
                f"`{spelling}` is a type, but a value is expected here",
                expr,
                help=f"write `?{spelling.lower()}` for a variable, `?x:{spelling}` for one of the type",
            )
        self.report.refuse(
            "E-NAME-UNDECLARED",
            f"`{spelling}` is not declared",
            expr,
            help=f"write `?{spelling}` for a variable, or declare it",
        )

    def _call(self, expr: n.FunctionCall | n.Member | n.Index, scope: Scope, out: Alternative) -> Term:
        if not scope.plain:
            if isinstance(expr, n.Index) or self.fluent_of(expr, scope) is not None:
                return self.read(expr, scope, out)
            call = self.call_of(expr, scope)
            assert call is not None
            name, _, args = call
            if len(args) == 1 and isinstance(args[0], n.Var) and isinstance(expr, n.FunctionCall):
                kind = "role" if name == "roles" else name
                if kind == "role" or kind in self.program.types:
                    term = self.term(args[0], scope, out)
                    assert isinstance(term, Variable)
                    scope.restrict(term, self.type_atom(kind, term))
                    return term
            if isinstance(expr, n.Member):
                return self._member(expr, call, scope, out)
        return self.pattern(expr, scope, out)

    def _member(self, expr: n.Member, call: Application, scope: Scope, out: Alternative) -> Term:
        name, spelling, args = call
        if name in self.program.external:
            self.external(expr)
        if (name, len(args) + 1) in self.program.static_properties:
            start, end = scope.span(expr)
            value = scope.fresh(name, expr)
            terms = self.terms(args, scope, out)
            out.append(Atom(name, (*terms, value), spelling, start, end))
            return value
        return self.pattern(expr, scope, out)

    def external(self, expr: n.Expr) -> NoReturn:
        """Refuse the use of an external property."""
        text = self.report.text_of(expr)
        message = f"`{text}` is external: it describes a player and is not part of the rules"
        self.report.refuse("E-ROLE-PROP", message, expr)

    def pattern(self, expr: n.Expr, scope: Scope, out: Alternative) -> Term:
        """Translate a fluent or an action itself: its top level is not evaluated."""
        call = self.call_of(expr, scope) if not isinstance(expr, n.Var) else None
        if call is None:
            return self.term(expr, scope, out)
        name, spelling, args = call
        if isinstance(expr, n.Name) and scope.plain and spelling[0].isupper():
            return self._name(expr, scope, out)
        start, end = scope.span(expr)
        terms = self.terms(args, scope, out)
        if (name, len(args)) in scope.work.members or (name, len(args) - 1) in scope.work.members:
            fluent = self.program.fluents.get((name, len(args) + 1))
            if fluent is not None and scope.board is not None:
                terms = (scope.board, *terms)
        return applied(name, terms, spelling, start, end)

    def read(self, expr: n.Expr, scope: Scope, out: Alternative) -> Term:
        """Translate a reference to the value of a functional fluent in the current state."""
        fluent = self.fluent_of(expr, scope)
        call = self.call_of(expr, scope)
        if fluent is None or call is None:
            self.report.refuse("E-SURFACE", "no board has this place", expr)
        args = self.fluent_args(call.args, fluent, scope, out)
        start, end = scope.span(expr)
        value = scope.fresh(fluent.name, expr)
        out.append(Atom("true", (fluent.term((*args, value), start, end),), None, start, end))
        return value

    def terms(self, exprs: tuple[n.Expr, ...], scope: Scope, out: Alternative) -> tuple[Term, ...]:
        """Translate expressions, appending their conditions to `out`."""
        return tuple(self.term(expr, scope, out) for expr in exprs)

    def arguments(self, call: Application, scope: Scope, out: Alternative) -> tuple[Term, ...]:
        """Translate the arguments of a relation, with the board prepended for members of surfaces."""
        terms = self.terms(call.args, scope, out)
        if call.key in scope.work.members and scope.board is not None:
            return (scope.board, *terms)
        return terms

    def fluent_args(
        self, args: tuple[n.Expr, ...], fluent: Fluent, scope: Scope, out: Alternative
    ) -> tuple[Term, ...]:
        """Translate the arguments of a fluent, with the board prepended for fluents of boards."""
        terms = self.terms(args, scope, out)
        if len(terms) + int(fluent.functional) < fluent.arity and scope.board is not None:
            terms = (scope.board, *terms)
        return terms

    # -- atoms -----------------------------------------------------------------------------------

    def atom(self, expr: n.Expr, scope: Scope, out: Alternative) -> Atom | bool:
        """Translate an atom of a body; True or False if it is constant."""
        if isinstance(expr, n.Var) and expr.name not in scope.work.lets:
            message = f"the variable `{self.report.text_of(expr)}` is not a condition"
            self.report.refuse("E-SYNTAX", message, expr)
        if isinstance(expr, n.Name) and expr.spelling in self.program.bools:
            return self.program.bools[expr.spelling]
        call = self.call_of(expr, scope)
        if call is None:
            self.report.refuse("E-SYNTAX", f"`{self.report.text_of(expr)}` is not a condition", expr)
        name, spelling, args = call
        start, end = scope.span(expr)
        if isinstance(expr, n.Index):
            self.report.refuse("E-SYNTAX", "a place is not a condition", expr)
        if name in ARITY or (name == "roles" and len(args) == 1):
            return self.keyword("role" if name == "roles" else name, spelling, args, expr, scope, out)
        if name in self.program.external and isinstance(expr, n.Member):
            self.external(expr)
        terms = self.arguments(call, scope, out)
        key = name, len(terms)
        if self.is_fluent(key):
            if key in self.program.views:
                self._both(key, spelling, start, end)
            elif not (scope.plain and isinstance(scope.sentence, n.PrefixSentence)):
                if scope.plain:
                    self.report.add(
                        "W-IMPLICIT-TRUE",
                        f"`{spelling}` is read as `true({spelling}…)`",
                        (start, end),
                        help="it is a fluent",
                    )
                return Atom("true", (applied(name, terms, spelling, start, end),), None, start, end)
        is_quantifier = name in _QUANTIFIERS or (name in _SHORT_QUANTIFIERS and not scope.plain)
        if is_quantifier and key not in self.program.views:
            self._quantifier(spelling, expr)
        self._known_surface(expr, key, scope)
        if key not in self.program.views and not self.is_fluent(key):
            self._other_arity(key, spelling, (start, end), scope)
        return Atom(name, terms, spelling, start, end)

    def _other_arity(self, key: tuple[str, int], spelling: str, place: tuple[int, int], scope: Scope) -> None:
        """Report a relation that exists with other numbers of arguments only."""
        name, arity = key
        fluents = [fluent for fluent in self.program.fluents.values() if fluent.name == name]
        arities = {view_arity for view, view_arity in self.program.views if view == name}
        arities |= {fluent.arity - fluent.functional for fluent in fluents}
        if not arities or (arity == 1 and (name in self.program.types or name == "role")):
            return
        if scope.plain and not any(fluent.functional for fluent in fluents):
            return  # the checks of plain rules compare the numbers of arguments
        some = " or ".join(map(str, sorted(arities)))
        functional = next((fluent for fluent in fluents if fluent.functional), None)
        arguments = f"({', '.join('…' for _ in range(functional.arity - 1))})" if functional else ""
        self.report.add(
            "E-ARITY",
            f"`{spelling}` takes {some} argument{'' if arities == {1} else 's'}, not {arity}",
            place,
            help=f"to ask for its value, write `{spelling}{arguments.replace('()', '')} == …`"
            if functional
            else None,
        )

    def _quantifier(self, spelling: str, expr: n.Expr) -> NoReturn:
        self.report.refuse(
            "E-DIALECT",
            f"`{spelling}` belongs to another dialect",
            expr,
            help="use `F(_)`, `not`, or define a relation",
        )

    def _known_surface(self, expr: n.Expr, key: tuple[str, int], scope: Scope) -> None:
        """Refuse unknown members of a board."""
        if not isinstance(expr, n.Member) or not isinstance(expr.base, n.Name):
            return
        instance = self.program.instances.get(expr.base.folded)
        if instance is not None and key not in self.program.views and not self.is_fluent(key):
            self.report.refuse(
                "E-SURFACE",
                f"the board `{expr.base.spelling}` has no `{expr.spelling}` with {len(expr.args)} arguments",
                scope.span(expr),
            )

    def is_fluent(self, key: tuple[str, int]) -> bool:
        """Whether a fluent with this name and arity exists."""
        return key in self.program.fluents or key in self.program.plain_fluents

    def _both(self, key: tuple[str, int], spelling: str, start: int, end: int) -> None:
        if key not in self.hinted:
            self.hinted.add(key)
            self.report.add(
                "W-FLUENT-VIEW",
                f"`{spelling}` is both a derived relation and a fluent: read as the relation",
                (start, end),
                help=f"write `true({spelling}…)` for the fluent",
            )

    def keyword(
        self, name: str, spelling: str, args: tuple[n.Expr, ...], expr: n.Expr, scope: Scope, out: Alternative
    ) -> Atom:
        """Translate an atom of a keyword; its fluent or action is not evaluated."""
        at = FLUENT_AT.get(name, -1)
        terms = tuple(
            self.pattern(arg, scope, out) if i == at else self.term(arg, scope, out)
            for i, arg in enumerate(args)
        )
        return Atom(name, terms, spelling, *scope.span(expr))

    # -- conditions ------------------------------------------------------------------------------

    def plain_body(self, formula: n.Formula | None, scope: Scope, out: Alternative) -> list[CoreLiteral]:
        """Translate the condition of a plain rule literally."""
        if formula is None:
            return []
        literal = self._plain(formula, scope, out)
        return list(literal.literals) if isinstance(literal, And) else [literal]

    def _plain(self, formula: n.Formula, scope: Scope, out: Alternative) -> CoreLiteral:
        span = scope.span(formula)
        match formula:
            case n.Conjunction(parts=parts):
                return And(tuple(self._plain(part, scope, out) for part in parts), *span)
            case n.Disjunction(parts=parts):
                return Or(tuple(self._plain(part, scope, out) for part in parts), *span)
            case n.Negation(inner=inner):
                return Not(self._plain(inner, scope, out), *span)
            case n.Comparison(left=left, right=right):
                return Distinct(self.term(left, scope, out), self.term(right, scope, out), *span)
            case n.Holds(atom=atom):
                literal = self.atom(atom, scope, out)
                if isinstance(literal, bool):
                    return And((), *span) if literal else Or((), *span)
                return literal
        self.report.refuse("E-SYNTAX", "not allowed in the condition of a plain rule", formula)

    def body(
        self, formula: n.Formula | None, scope: Scope, before: Iterable[Literal] = ()
    ) -> list[Alternative]:
        """Translate a condition to disjunctive normal form: alternatives, each a conjunction.

        Each begins with the literals `before`.
        """
        if formula is None:
            return [[*before]]
        alternatives = self._dnf(formula, scope)
        self._limit(len(alternatives), formula)
        return [[*before, *alternative] for alternative in alternatives]

    def _limit(self, count: int, formula: n.Formula) -> None:
        if count > MAX_ALTERNATIVES:
            self.report.refuse(
                "E-SYNTAX",
                f"this condition has {count} alternatives, more than {MAX_ALTERNATIVES}",
                formula,
                help="define a relation for part of it",
            )

    def _dnf(self, formula: n.Formula, scope: Scope) -> list[Alternative]:
        match formula:
            case n.Conjunction(parts=parts):
                alternatives: list[Alternative] = [[]]
                for part in parts:
                    right = self._dnf(part, scope)
                    self._limit(len(alternatives) * len(right), formula)
                    alternatives = [[*a, *b] for a, b in product(alternatives, right)]
                return alternatives
            case n.Disjunction(parts=parts):
                return [alternative for part in parts for alternative in self._dnf(part, scope)]
            case n.Negation(inner=inner):
                return self._negated(inner, scope)
            case n.Holds(atom=atom):
                out: Alternative = []
                literal = self.atom(atom, scope, out)
                if isinstance(literal, bool):
                    return [out] if literal else []
                return [[*out, literal]]
            case n.Comparison():
                return self._comparison(formula, scope)
            case n.Membership(item=item, collection=collection):
                return self._membership(formula, item, collection, scope)
            case n.Doing():
                return [self.does(formula, scope)]
            case n.Payoff():
                self.report.refuse("E-SYNTAX", "a payoff is not a condition", formula)

    def _negated(self, inner: n.Formula, scope: Scope) -> list[Alternative]:
        if isinstance(inner, n.Negation):
            return self._dnf(inner.inner, scope)
        if isinstance(inner, n.Comparison) and inner.sign == "#":
            out: Alternative = []
            left, right = self.term(inner.left, scope, out), self.term(inner.right, scope, out)
            if not out:
                return [[Equal(left, right)]]
        conjunction: Alternative = []
        for alternative in self._dnf(inner, scope):
            if not alternative:
                return []
            conjunction.append(NegatedConjunction(alternative))
        return [conjunction]

    def does(self, doing: n.Doing, scope: Scope) -> Alternative:
        """Translate `r -> m` as a condition."""
        out: Alternative = []
        role = self.subject(doing.subject, scope, out)
        if doing.place is not None:
            place = self.call_of(doing.place, scope)
            assert place is not None
            name, spelling, args = self.call_of(doing.action, scope) or ("", "", ())
            terms = self.terms((*place.args, *args), scope, out)
            action: Term = Function(name, terms, spelling, *scope.span(doing))
        else:
            action = self.pattern(doing.action, scope, out)
        return [*out, Atom("does", (role, action), None, *scope.span(doing))]

    def subject(self, expr: n.Expr, scope: Scope, out: Alternative) -> Term:
        """Translate the role of a move; a variable is restricted to roles."""
        if isinstance(expr, n.Name):
            start, end = scope.span(expr)
            role = self.program.roles.get(expr.folded)
            if role is None and expr.spelling[0].isupper() and expr.spelling not in self.program.declared:
                self.report.refuse(
                    "E-NAME-UNDECLARED",
                    f"unknown role `{expr.spelling}`",
                    expr,
                    help=f"write `?{expr.spelling}` for a variable, or declare the role",
                )
            return Constant(expr.folded, expr.spelling, start, end)
        term = self.term(expr, scope, out)
        if isinstance(term, Variable):
            atom = Atom("role", (term,), None, term.start, term.end)
            conditions = scope.typed.setdefault(term.name, [])
            if atom not in conditions:
                conditions.insert(0, atom)
        return term

    def _boolean(self, formula: n.Comparison, scope: Scope) -> n.Formula | None:
        """Rewrite `r.ready == true` to `r.ready`; None for other comparisons."""
        for place, constant in ((formula.left, formula.right), (formula.right, formula.left)):
            if not isinstance(constant, n.Name) or constant.folded not in {"true", "false"}:
                continue
            call = self.call_of(place, scope)
            if call is None:
                continue
            fluent = self.program.fluents.get(call.key)
            if fluent is None or fluent.kind != "bool" or formula.sign not in {"==", "#"}:
                continue
            holds = n.Holds(formula.start, formula.end, place)
            positive = (constant.folded == "true") == (formula.sign == "==")
            return holds if positive else n.Negation(formula.start, formula.end, holds)
        return None

    def _comparison(self, formula: n.Comparison, scope: Scope) -> list[Alternative]:
        sign, left, right = formula.sign, formula.left, formula.right
        if any(isinstance(side, n.SetLiteral | n.Comprehension) for side in (left, right)):
            if sign not in {"==", "==="}:
                self.report.refuse("E-SYNTAX", "collections are compared with `===`", formula)
            return self._dnf(self._same_set(formula, scope), scope)
        boolean = self._boolean(formula, scope)
        if boolean is not None:
            return self._dnf(boolean, scope)
        out: Alternative = []
        first, second = self.term(left, scope, out), self.term(right, scope, out)
        start, end = scope.span(formula)
        if sign in {"==", "===", "#"}:
            self._plausible((left, first), (right, second), scope)
        if sign in {"==", "==="}:
            return [[*out, Equal(first, second)]]
        if sign == "#":
            return [[*out, Distinct(first, second, start, end)]]
        if sign in {"<<", ">>"}:
            kind = self._preference(formula, scope)
            pair = (first, second) if sign == "<<" else (second, first)
            return [[*out, Atom(self.program.fresh(f"{kind}_below"), pair, None, start, end)]]
        if sign in {">", ">="}:
            first, second = second, first
        a, b = as_integer(first), as_integer(second)
        if a is not None and b is not None:
            return [out] if (a < b if sign in {"<", ">"} else a <= b) else []
        table = self.tables[LESS if sign in {"<", ">"} else AT_MOST]
        return [[*out, Atom(table, (first, second), None, start, end)]]

    def _plausible(self, left: tuple[n.Expr, Term], right: tuple[n.Expr, Term], scope: Scope) -> None:
        """Look at a comparison with a name that nothing declares: it may be misspelt."""
        for (side, term), (other, opposite) in ((left, right), (right, left)):
            if not isinstance(side, n.Name) or not isinstance(term, Constant) or scope.plain:
                continue
            if self.program.declared.get(side.spelling) or self.values.named(side.spelling) is not None:
                continue
            span = scope.span(side)
            fluent, kind = self.fluent_of(other, scope), self._type_of(other, scope)
            if fluent is not None or kind is not None:
                self.program.compared.append((self.report.source, span, term, fluent, kind))
                continue
            if not isinstance(opposite, Constant) or opposite == term:
                continue
            hint = did_you_mean(side.spelling, self.program.declared)
            self.report.add(
                "E-NAME-UNDECLARED",
                f"`{side.spelling}` is not declared, so it never equals `{show(opposite)}`",
                span,
                help=hint or "declare a fluent or a type with it",
            )

    def _preference(self, formula: n.Comparison, scope: Scope) -> str:
        """Return the type whose preference order a comparison uses."""
        ordered = [kind for kind in self.program.types.values() if kind.below]
        kinds: dict[str, None] = {}
        for side in (formula.left, formula.right):
            name = self._type_of(side, scope)
            if name is not None:
                kinds[name] = None
                continue
            fluent = self.fluent_of(side, scope)
            if fluent is None and isinstance(side, n.Name | n.Quoted | n.Number | n.String | n.FunctionCall):
                before = len(self.report.diagnostics)
                term = self.values.term(side)
                del self.report.diagnostics[before:]
                fitting = [kind.name for kind in ordered if term in kind.members]
                kinds.update(dict.fromkeys(fitting))
        names = [name for name in kinds if any(kind.name == name for kind in ordered)]
        if not kinds and len(ordered) == 1:
            return ordered[0].name
        if len(names) != 1:
            count = "no type" if not names else "more than one type"
            self.report.refuse(
                "E-PREF-TYPE",
                f"{count} defines which of the two is preferred",
                scope.span(formula),
                help="give a variable a type: `?x:T`, where `data T` has `<<`",
            )
        return names[0]

    def _type_of(self, expr: n.Expr, scope: Scope) -> str | None:
        if isinstance(expr, n.Var) and expr.name not in scope.work.lets:
            return scope.types.get(scope.rename.get(expr.name, expr.name))
        fluent = self.fluent_of(expr, scope)
        return fluent.value if fluent is not None else None

    def _same_set(self, formula: n.Comparison, scope: Scope) -> n.Formula:
        start, end = formula.start, formula.end
        left, right = (
            [e for element in self.values.elements(side) for e in self._every(element, scope)]
            for side in (formula.left, formula.right)
        )
        if not left or not right:
            self.report.refuse("E-SYNTAX", "an empty collection equals nothing", (start, end))

        def one_of(item: n.Expr, others: list[n.Expr]) -> n.Formula:
            parts = tuple(n.Comparison(item.start, item.end, "==", other, item) for other in others)
            return parts[0] if len(parts) == 1 else n.Disjunction(start, end, parts)

        parts = [one_of(item, left) for item in right]
        if len(left) > 1:
            parts += [one_of(item, right) for item in left]
        return n.Conjunction(start, end, tuple(parts))

    def _every(self, element: n.Expr, scope: Scope) -> list[n.Expr]:
        """Replace `_` in the arguments of a functional fluent by all values of that position."""
        call = self.call_of(element, scope)
        if call is None or not any(isinstance(arg, n.Anonymous) for arg in call.args):
            return [element]
        fluent = self.fluent_of(element, scope)
        choices: list[list[n.Expr]] = []
        for i, arg in enumerate(call.args):
            if not isinstance(arg, n.Anonymous) or arg.start < 0:
                choices.append([arg])
                continue
            kind = fluent.argument_type(i) if fluent is not None else None
            members = self.program.type_members(kind) if kind is not None else None
            if members is None:
                self.report.refuse(
                    "E-CONST",
                    "the values of `_` are not known here",
                    arg,
                    help="write the range, such as `1 .. 3`",
                )
            choices.append([as_expression(member, arg.start, arg.end) for member in members])
        if isinstance(element, n.Member):
            return [replace(element, base=base, args=tuple(args)) for base, *args in product(*choices)]
        if isinstance(element, n.Index):
            return [replace(element, args=args) for args in product(*choices[1:])]
        place = element.start, element.end
        return [n.FunctionCall(*place, call.spelling, args) for args in product(*choices)]

    def _membership(
        self, formula: n.Membership, item: n.Expr, collection: n.Expr, scope: Scope
    ) -> list[Alternative]:
        if isinstance(collection, n.Name) and collection.folded in {"int", "string"}:
            self.report.refuse("E-TYPE-INFINITE", f"`{collection.spelling}` is not a finite type", collection)
        call = self.call_of(collection, scope)
        if call is not None:
            fluent = self.program.fluents.get((call.name, len(call.args) + 1))
            if fluent is not None and fluent.kind == "set":
                args = (*call.args, item)
                atom = n.FunctionCall(formula.start, formula.end, call.spelling, args)
                return self._dnf(n.Holds(formula.start, formula.end, atom), scope)
        if isinstance(collection, n.Name):
            kind = n.Type(collection.start, collection.end, collection.spelling)
            name = named_type(self.program, kind)
            return self._of_type(name, item, scope)
        if isinstance(collection, n.Interval):
            members = self.values.members(collection)
            assert members is not None
            if isinstance(item, n.Var | n.Name | n.FunctionCall | n.Member | n.Index):
                return self._of_type(range_type(self.program, members), item, scope)
        if isinstance(collection, n.FunctionCall) and collection.folded in _QUANTIFIERS:
            self._quantifier(collection.spelling, collection)
        elements = self.values.elements(collection)
        ground = [e for e in elements if isinstance(e, n.Number | n.Quoted | n.String)]
        if len(elements) > FEW and len(ground) == len(elements):
            members = tuple(dict.fromkeys(map(self.values.term, elements)))
            return self._of_type(range_type(self.program, members), item, scope)
        alternatives: list[Alternative] = []
        for element in elements:
            out: Alternative = []
            item_term, element_term = self.term(item, scope, out), self.term(element, scope, out)
            alternatives.append([*out, Equal(item_term, element_term)])
        return alternatives

    def _of_type(self, name: str, item: n.Expr, scope: Scope) -> list[Alternative]:
        out: list[Literal] = []
        term = self.term(item, scope, out)
        if isinstance(term, Variable):
            scope.types.setdefault(term.name, name)
        return [[*out, self.type_atom(name, term)]]

"""The lower half of the infix parser: terms, and the recording of diagnostics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.diagnostic import Edit, Fix, Label, Severity, Span
from herbrand.syntax import infix_tokens as t
from herbrand.syntax.names import unused
from herbrand.syntax.nodes import Atom, Constant, Variable, applied
from herbrand.syntax.tokens import MAX_DEPTH, DiagnosticCollector

if TYPE_CHECKING:
    from typing import Unpack

    from herbrand.diagnostic import Source
    from herbrand.syntax.nodes import Term
    from herbrand.syntax.tokens import Details

__all__ = [
    "ARITHMETIC",
    "CONNECTIVES",
    "ENDS",
    "ERROR",
    "NAMES",
    "NOTE",
    "STARTS_LITERAL",
    "STARTS_TERM",
    "WARNING",
    "Abandon",
    "TermReader",
]

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
NAMES: Final = frozenset({t.NAME, t.NUMBER, t.QUOTED})
STARTS_TERM: Final = frozenset({*NAMES, t.VARIABLE})
STARTS_LITERAL: Final = frozenset({*STARTS_TERM, t.LEFT, t.NOT})
CONNECTIVES: Final = frozenset({t.AND, t.COMMA, t.OR})
ENDS: Final = frozenset({t.END_OF_FILE, t.STOP})
_SIGNS: Final = {
    "!": ("cuts", "order has no meaning in GDL, so there is nothing to cut"),
    "->": ("if-then-else", "write one rule for each case, with `~` for the else case"),
    "*->": ("if-then-else", "write one rule for each case, with `~` for the else case"),
    "-->": ("grammar rules", "write `:-` between head and body"),
    "?-": ("queries", "a rulesheet contains only facts and rules"),
    "=": ("equality", "write the term in place of the variable; `distinct(s,t)` says that terms differ"),
    "==": ("equality", "write the term in place of the variable; `distinct(s,t)` says that terms differ"),
    "=@=": ("equality", "write the term in place of the variable; `distinct(s,t)` says that terms differ"),
    "=..": ("term construction", "write the term itself"),
    "{": ("braces", "use parentheses"),
    "}": ("braces", "use parentheses"),
}
ARITHMETIC: Final = ("arithmetic", "list the numbers as facts, such as `succ(1,2)`")
_LIST: Final = ("lists", "use a compound term such as `pair(a,b)`, or one fact for each element")
_STRING: Final = ("strings", "write a constant, in single quotes if it needs them")


class Abandon(Exception):  # control flow, not an error
    """The statement cannot be repaired; its diagnostic has been recorded."""


class TermReader:
    """Parses terms of a tokenized text and collects diagnostics; a subclass adds statements."""

    def __init__(self, source: Source, dialect: str) -> None:
        self.source = source
        self.dialect = dialect
        self.tokens = tokens = t.tokenize(source)
        self.kinds, self.starts = tokens.kinds, tokens.starts
        self.ends, self.texts = tokens.ends, tokens.texts
        self.at = 0
        self.diagnostics = DiagnosticCollector(source)
        self.and_sign = "," if dialect == "prolog" else "&"
        self.first = 0
        self.is_invalid = False
        self.opened: list[int] = []
        self.closed_at = -1
        self.variables: dict[str, Variable] = {}
        self.variable_names: dict[str, int] = {}
        self.anonymous = 0
        self.numbered: set[str] | None = None
        self.question_mark: int | None = None

    # -- terms -----------------------------------------------------------------------------------

    def term(self, depth: int) -> Term:
        """Parse a term, recursively: one Python frame per level of nesting."""
        at = self.at
        kind = self.kinds[at]
        text = self.texts[at]
        start = self.starts[at]
        if kind == t.VARIABLE:
            if not self.is_applied(at):
                self.at = at + 1
                return self.variable(at)
            name, spelling = self.capital_name(at)
        elif kind in NAMES or self.is_word(at):
            name = self.tokens.names[text]
            spelling = t.unquote(text) if kind == t.QUOTED else text
            if kind == t.QUOTED and not t.is_closed(text):
                self.report(
                    "unreadable-token",
                    "a quoted constant that is not closed on its line",
                    at,
                    help="write `'` where it ends",
                    drop=True,
                )
        else:
            return self.no_term()
        self.at = at + 1
        if self.kinds[at + 1] != t.LEFT or not self.is_call(at):
            return Constant(name, spelling, start, self.ends[at])
        if depth >= MAX_DEPTH:
            self.too_deep(at)
        opening = at + 1
        self.at = opening + 1
        self.opened.append(opening)
        args: list[Term] = []
        if self.kinds[self.at] == t.RIGHT:
            end = self.ends[self.at]
            self.report(
                "superfluous-parentheses",
                f"`{text}()` is the same as `{text}`",
                Span(start, end),
                severity=WARNING,
                help=f"write `{text}`",
                fix=Fix("delete the parentheses", (Edit(Span(self.starts[opening], end), ""),)),
            )
            self.at += 1
        else:
            while True:
                args.append(self.term(depth + 1))
                kind = self.kinds[self.at]
                if kind == t.COMMA:
                    self.at += 1
                elif kind == t.RIGHT:
                    self.at += 1
                    break
                elif not self.between_arguments(opening):
                    break
        self.opened.pop()
        end = self.ends[self.at - 1]
        return applied(name, tuple(args), spelling, start, end)

    def between_arguments(self, opening: int) -> bool:
        """Handle an unexpected token after an argument; return whether another argument follows."""
        at = self.at
        kind = self.kinds[at]
        if self.closed_at == at:
            return False
        is_closed = opening in self.tokens.closed_by
        if (
            kind in ENDS
            or kind == t.IF
            or (not is_closed and (kind in {t.AND, t.OR, t.NOT, t.DIFFERENT} or self.begins_statement(at)))
        ):
            self.unclosed(at)
            return False
        if self.is_adjacent_number(at) or kind in {t.REFUSED, t.TRANSITION}:
            self.refuse()
        if kind in STARTS_TERM:
            end = self.ends[at - 1]
            self.report(
                "unreadable-token",
                f"missing `,` between the arguments of `{self.texts[opening - 1]}`",
                Span(end, end),
                help="write `,` here",
                fix=Fix("insert `,`", (Edit(Span(end, end), ","),)),
            )
            return True
        self.unexpected(f"among the arguments of `{self.texts[opening - 1]}`")
        return False

    def no_term(self) -> Term:
        """Handle a token that cannot begin a term where one is expected."""
        at = self.at
        kind = self.kinds[at]
        if kind in {t.LEFT_LIST, t.JUNK} or (kind == t.REFUSED and self.texts[at][0] == '"'):
            return self.placeholder()
        if self.opened and self.kinds[self.opened[-1] - 1] in {*STARTS_TERM, t.AND, t.OR, t.NOT}:
            before = self.kinds[at - 1]
            if kind == t.RIGHT and before == t.COMMA:
                self.report(
                    "unreadable-token",
                    "no argument after this `,`",
                    at - 1,
                    fix=Fix("delete it", (Edit(self.span(at - 1), ""),)),
                    drop=True,
                )
                return Constant("")
            if kind in ENDS or kind == t.IF:
                self.unclosed(at)
                self.is_invalid = True
                return Constant("")
            if kind == t.COMMA:
                self.report("unreadable-token", "no argument before this `,`", at, drop=True)
                return Constant("")
        self.unexpected("where a term is expected")
        raise Abandon

    def placeholder(self) -> Constant:
        """Report and skip a list, a string, a cut or junk; the statement will be discarded."""
        at = self.at
        kind = self.kinds[at]
        self.is_invalid = True
        if kind == t.LEFT_LIST:
            closing = self.tokens.closed_by.get(at)
            if closing is None:
                self.refuse(_LIST)
            assert closing is not None
            self.refusal(_LIST, Span(self.starts[at], self.ends[closing]))
            self.at = closing + 1
        elif kind == t.JUNK:
            self.junk()
        else:
            self.refusal(self.feature(at), self.span(at))
            self.at += 1
        return Constant("", None, self.starts[at], self.ends[self.at - 1])

    def variable(self, at: int) -> Variable:
        """Parse a variable; each `_` is a new one."""
        text = self.texts[at]
        seen = self.variables.get(text)
        if seen is not None:
            return Variable(seen.name, text, self.starts[at], self.ends[at])
        if text == "_":
            self.anonymous += 1
            while f"_{self.anonymous}" in self.numbered_variables():
                self.anonymous += 1
            return Variable(f"_{self.anonymous}", text, self.starts[at], self.ends[at])
        spelling = text
        if text[0] == "?":
            spelling = text[1:]
            if not spelling:
                self.report(
                    "nameless-variable",
                    "a variable without a name",
                    at,
                    help="write a name after the question mark, or `_`",
                    drop=True,
                )
            elif self.question_mark is None:
                self.question_mark = at
        name = self.variable_name(spelling, at)
        return Variable(name, spelling, self.starts[at], self.ends[at])

    def numbered_variables(self) -> set[str]:
        """Return the variables of the text whose names anonymous ones must avoid, such as `_1`."""
        if self.numbered is None:
            self.numbered = {
                text.lstrip("?")
                for text in self.texts
                if text and text[0] in "_?" and text.lstrip("?")[1:].isdecimal()
            }
        return self.numbered

    def variable_name(self, spelling: str, at: int) -> str:
        """Fold the name of a variable; if two of a rule collide, the later one gets a suffix."""
        variable = self.variables.get(spelling)
        if variable is not None:
            return variable.name
        folded = spelling.lower()
        name = unused(folded, self.variable_names)
        if name != folded:
            first = self.variable_names[folded]
            self.report(
                "case-collision",
                f"`{spelling}` and `{self.texts[first]}` are two variables that differ only in case: "
                f"read as `{name}` and `{folded}`",
                at,
                severity=WARNING,
                labels=(Label(self.span(first), f"`{self.texts[first]}` is used here"),),
                help="use one spelling if it is the same variable",
            )
        self.variable_names[name] = at
        self.variables[spelling] = Variable(name, spelling, self.starts[at], self.ends[at])
        return name

    def capital_name(self, at: int) -> tuple[str, str]:
        """Report a variable used as a name, and return the constant that was probably intended."""
        text = self.texts[at]
        stem = text.lstrip("_?") or "c"
        fixed = stem[0].lower() + stem[1:]
        self.report(
            "list-without-name",
            f"the variable `{text}` is used as a name",
            at,
            help=f"names begin with a lower-case letter: `{fixed}`",
            fix=Fix(f"write `{fixed}`", (Edit(self.span(at), fixed),)),
        )
        return fixed.lower(), fixed

    def begins_statement(self, at: int) -> bool:
        """Whether a token is where statements begin: first on its line, indented no deeper than this one."""
        tokens = self.tokens
        return (
            self.kinds[at] in STARTS_TERM
            and tokens.is_first_on_line(at)
            and tokens.column(at) <= tokens.column(self.first)
        )

    def is_applied(self, at: int) -> bool:
        """Whether a parenthesis follows without a space."""
        return self.kinds[at + 1] == t.LEFT and self.starts[at + 1] == self.ends[at]

    def is_call(self, at: int) -> bool:
        """Whether the parenthesis after a name holds its arguments, even if spaces precede it."""
        left = at + 1
        if self.starts[left] == self.ends[at]:
            return True
        tokens = self.tokens
        closing = tokens.closed_by.get(left)
        if closing is None or tokens.line(left) != tokens.line(at):
            return False
        if tokens.connectives_before[closing] != tokens.connectives_before[left]:
            return False
        gap = Span(self.ends[at], self.starts[left])
        self.report(
            "misplaced-parenthesis",
            f"a space between `{self.texts[at]}` and its arguments",
            gap,
            severity=WARNING,
            help="delete it",
            fix=Fix("delete the space", (Edit(gap, ""),)),
        )
        return True

    def is_word(self, at: int) -> bool:
        """Whether a token is `and`, `or` or `not`: a name where a term is expected."""
        return self.kinds[at] in {t.AND, t.OR, t.NOT} and self.texts[at][0].isalpha()

    def is_adjacent_number(self, at: int) -> bool:
        """Whether a negative number directly follows a term, as in `N-1`."""
        return (
            self.kinds[at] == t.NUMBER
            and self.texts[at][0] == "-"
            and at > 0
            and self.starts[at] == self.ends[at - 1]
            and self.kinds[at - 1] in {*STARTS_TERM, t.RIGHT}
        )

    def as_atom(self, term: Term, where: str) -> Atom:
        """Turn a parsed term into an atom."""
        assert not isinstance(term, Variable)
        if where == "head" and term.name == "distinct":
            self.report(
                "misplaced-literal",
                "`distinct` cannot be defined",
                Span(term.start, term.end),
                help="it is built in and allowed only in bodies",
                drop=True,
            )
        return Atom(term.name, term.args, term.spelling, term.start, term.end)

    # -- diagnostics -----------------------------------------------------------------------------

    def span(self, token: int) -> Span:
        """Return the span of a token."""
        return Span(self.starts[token], self.ends[token])

    def texts_of(self, at: int) -> str:
        """Return the text of a token, cut to 40 characters."""
        return self.texts[at][:40]

    def report(
        self,
        check: str,
        message: str,
        place: int | Span,
        *,
        severity: Severity = ERROR,
        drop: bool = False,
        **details: Unpack[Details],
    ) -> None:
        """Record a diagnostic at a token or at a range of the text; with `drop`, discard the statement."""
        self.is_invalid |= drop
        span = self.span(place) if isinstance(place, int) else place
        self.diagnostics.error(check, message, span, severity=severity, **details)

    def too_deep(self, token: int) -> None:
        """Report excessive nesting and abandon the statement."""
        self.report(
            "too-deep",
            f"more than {MAX_DEPTH} nested parentheses",
            token,
            help="split the statement with helper relations",
        )
        raise Abandon

    def extra_parenthesis(self) -> None:
        """Report an unmatched closing parenthesis and skip it."""
        self.report(
            "extra-parenthesis",
            "`)` closes nothing",
            self.at,
            help="delete it",
            fix=Fix("delete `)`", (Edit(self.span(self.at), ""),)),
        )
        self.at += 1

    def unclosed(self, at: int) -> None:
        """Report all parentheses open before token `at`, once, at the outermost."""
        if self.closed_at == at:
            return
        self.closed_at = at
        count = len(self.opened)
        end = self.ends[at - 1]
        it, more = ("it", "") if count == 1 else ("them", f", and {count - 1} more inside it")
        self.report(
            "unclosed-parenthesis",
            f"`(` is never closed{more}",
            self.opened[0],
            labels=tuple(Label(self.span(token), "also open") for token in self.opened[1:6]),
            help=f"write `{')' * min(count, 10)}` where it ends",
            fix=Fix(f"close {it} before the next statement", (Edit(Span(end, end), ")" * count),)),
        )

    def unexpected(self, where: str) -> None:
        """Report an unexpected token by its kind and abandon the statement."""
        at = self.at
        kind = self.kinds[at]
        if kind in {t.REFUSED, t.TRANSITION, t.LEFT_LIST, t.RIGHT_LIST}:
            self.refuse()
        if kind == t.JUNK:
            self.junk()
            raise Abandon
        if kind == t.END_OF_FILE:
            end = len(self.source.text)
            span = Span(self.ends[at - 1] if at else end, end)
            self.report("unreadable-token", f"the text ends {where}", span)
            raise Abandon
        self.report("unreadable-token", f"unexpected `{self.texts_of(at)}` {where}", at, drop=True)
        if kind == t.STOP:
            raise Abandon
        self.at += 1
        raise Abandon

    def junk(self) -> None:
        """Report a run of unexpected characters as one."""
        first = self.at
        while self.kinds[self.at] == t.JUNK:
            self.at += 1
        span = Span(self.starts[first], self.ends[self.at - 1])
        shown = self.source.text[span.start : min(span.end, span.start + 20)]
        self.report("unreadable-token", f"unexpected characters `{shown}`", span)

    def feature(self, at: int) -> tuple[str, str]:
        """Return the Prolog feature that a token belongs to, and what to write instead."""
        kind, text = self.kinds[at], self.texts[at]
        if kind in {t.LEFT_LIST, t.RIGHT_LIST} or (
            text == "!" and self.kinds[at - 1] in STARTS_TERM and self.opened
        ):
            return _LIST
        if text[0] == '"':
            return _STRING
        return _SIGNS.get(text, ARITHMETIC)

    def refusal(self, feature: tuple[str, str], span: Span) -> None:
        """Report a Prolog feature that GDL does not have."""
        construct, instead = feature
        self.report("prolog-only", f"GDL has no {construct}", span, help=instead)

    def refuse(self, feature: tuple[str, str] | None = None) -> None:
        """Report an operator of Prolog or later HRF by name, and abandon the statement."""
        at = self.at
        self.is_invalid = True
        if self.kinds[at] == t.TRANSITION:
            self.report(
                "transition-rule",
                f"`{self.texts[at]}` belongs to transition rules, which are not GDL",
                at,
                help="write `next(p) :- ...` rules",
            )
        else:
            self.refusal(feature or self.feature(at), self.span(at))
        self.at += 1
        raise Abandon

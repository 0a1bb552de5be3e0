r"""Parse the infix notations: textbook style (`&`, `~`, no full stop) and Prolog (`,`, `\+`, `.`).

One grammar covers both, since published rulesheets mix them; the dialect is only what a file
claims to be, and selects the connective that a fix inserts.

    sheet     = { statement } ;
    statement = atom [ IF body ] [ "." ] ;
    body      = conj { OR conj } ;          conj = unary { AND unary } ;
    unary     = NOT unary | "(" body ")" | term DIFFERENT term | atom ;
    term      = VARIABLE | NUMBER | CONSTANT [ "(" [ term { "," term } ] ")" ] ;

Without full stops a statement ends where the next token cannot continue it.  This hides two
mistakes: a missing conjunction sign, and a surplus one before the next rule.
The Stanford reader silently turns both into different rules; here they are errors
(`missing-conjunction`, `dangling-conjunction`) with a fix, and the repaired rule is kept.

The parser never raises.  An unrecoverable error discards its statement, not the neighbours: parsing
resumes after the next full stop or at the next line that is not indented deeper than the statement.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from herbrand.diagnostic import Diagnostic, Edit, Fix, Label, Span
from herbrand.runtime.collector import suspend_collector
from herbrand.syntax import infix_tokens as t
from herbrand.syntax.infix_terms import (
    ARITHMETIC,
    CONNECTIVES,
    ENDS,
    ERROR,
    NAMES,
    NOTE,
    STARTS_LITERAL,
    STARTS_TERM,
    WARNING,
    Abandon,
    TermReader,
)
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Or, Rule, Variable
from herbrand.syntax.tokens import MAX_DEPTH
from herbrand.syntax.tree import Tree

if TYPE_CHECKING:
    from herbrand.diagnostic import Source
    from herbrand.syntax.nodes import Comment, Literal

__all__ = ["read_infix"]

_INNER: Final = frozenset({*CONNECTIVES, t.RIGHT, t.RIGHT_LIST, t.DIFFERENT})
"""Tokens that never begin a statement, not even a malformed one."""
_NEVER_HEADS: Final = frozenset({"true", "does", "distinct"})
_DIRECTIVES: Final = frozenset(
    {
        *("dynamic", "discontiguous", "table", "module", "use_module", "ensure_loaded", "initialization"),
        *("multifile", "set_prolog_flag", "thread_local", "style_check", "redefine_system_predicate"),
        *("include", "encoding", "if"),
    }
)


@dataclass(slots=True)
class _Group:
    """A body, or a parenthesised group inside one, while it is being parsed."""

    opening: int
    """Index of the opening parenthesis token; -1 for the body itself."""
    negations: list[int]
    """Indices of the negation tokens before the parenthesis."""
    alternatives: list[list[Literal]] = field(default_factory=list)
    conjuncts: list[Literal] = field(default_factory=list)
    joined: int | None = None
    """Index of the last connective token: the pending one, or the one before the last literal."""


def read_infix(source: Source, dialect: str = "infix") -> Tree:
    """Read a rulesheet in infix or Prolog notation; errors become diagnostics of the tree.

    `dialect` is "infix" or "prolog".  Time is linear in the length of the text.

        >>> from herbrand.diagnostic import Source
        >>> print(read_infix(Source("goal(x,100) :- line(x) & ~line(o)")))
        (<= (goal x 100) (line x) (not (line o)))
        >>> tree = read_infix(Source("p(X) :- q(X) true(r)"))
        >>> tree.diagnostics[0].check, str(tree)
        ('missing-conjunction', '(<= (p ?x) (q ?x) (true r))')
    """
    if "\0" in source.text:
        return Tree((), source, dialect, (), (_not_text(source),))
    with suspend_collector():  # trees have no cycles, and collecting takes a third of the time
        return _Parser(source, dialect).tree()


def _not_text(source: Source) -> Diagnostic:
    at = source.text.index("\0")
    message = "not a text file: it contains a NUL character"
    return Diagnostic(
        "not-text", ERROR, message, source, Span(at, at + 1), help="use a text file encoded in UTF-8"
    )


class _Parser(TermReader):
    """Parses one sheet."""

    def __init__(self, source: Source, dialect: str) -> None:
        super().__init__(source, dialect)
        self.statements: list[Rule] = []
        self.skipped: list[Span] = []
        """Conditional blocks (`:- if` to `:- endif`), which are meant for Prolog systems only."""

    # -- the sheet -------------------------------------------------------------------------------

    def tree(self) -> Tree:
        self.report_tokens()
        while self.kinds[self.at] != t.END_OF_FILE:
            self.statement()
        if self.question_mark is not None:
            self.report(
                "mixed-notation",
                f"`{self.texts[self.question_mark]}` is a variable of the prefix notation",
                self.question_mark,
                severity=NOTE,
                help="write variables with a capital first letter, such as `X`",
            )
        return Tree(
            tuple(self.statements), self.source, self.dialect, self.comments(), self.diagnostics.diagnostics()
        )

    def comments(self) -> tuple[Comment, ...]:
        """Return the comments outside of skipped conditional blocks."""
        return tuple(
            c for c in self.tokens.comments if not any(s.start <= c.start < s.end for s in self.skipped)
        )

    def report_tokens(self) -> None:
        """Report the problems noticed by the tokenizer."""
        unclosed = self.tokens.unclosed_comment
        if unclosed is not None:
            span = Span(unclosed.start, unclosed.start + 2)
            self.report(
                "unreadable-token",
                "`/*` starts a comment that is never closed",
                span,
                help="write `*/` where the comment ends",
            )
        for comment in self.tokens.semicolons:
            self.report(
                "ambiguous-semicolon",
                "`;` at the start of a line begins a comment",
                Span(comment.start, comment.start + 1),
                severity=NOTE,
                help='if it means "or", put the alternatives into parentheses or write `|`',
            )
        for first, first_at, second, second_at in self.tokens.case_twins:
            name = self.tokens.names[second]
            self.report(
                "case-collision",
                f"`{second}` and `{first}` differ only in case: read as `{name}`",
                second_at,
                severity=WARNING,
                labels=(Label(self.span(first_at), f"`{first}` is used here"),),
                help="use one spelling if it is one name, and different names if it is not",
            )

    def statement(self) -> None:
        """Parse one statement; always consumes at least one token."""
        first = self.first = self.at
        self.is_invalid = False
        self.opened.clear()
        self.closed_at = -1
        self.variables = {}
        self.variable_names = {}
        self.anonymous = 0
        try:
            self.clause(first)
        except Abandon:
            self.synchronise()
        if self.at == first:  # no progress would be a bug; do not loop forever
            self.at += 1

    def clause(self, first: int) -> None:
        kind = self.kinds[first]
        if not (kind in NAMES or (kind == t.VARIABLE and self.is_applied(first))):
            self.misplaced_start(first, kind)
            return
        term = self.term(0)
        head = self.as_atom(term, "head")
        kind = self.kinds[self.at]
        body: tuple[Literal, ...] = ()
        end = self.ends[self.at - 1]
        if kind == t.IF:
            arrow = self.at
            self.at += 1
            if self.kinds[self.at] in {t.TRANSITION, t.REFUSED}:
                self.refuse()
            body = self.body(arrow)
            end = self.ends[self.at - 1] if self.at > arrow + 1 else self.ends[arrow]
        elif kind in CONNECTIVES:
            self.report(
                "misplaced-literal",
                f"`{self.texts[self.at]}` joins statements",
                self.at,
                help="facts need no connective; a conjunction follows a head and `:-`",
                fix=Fix("delete the sign", (Edit(self.span(self.at), ""),)),
            )
            self.at += 1
        elif kind == t.DIFFERENT:
            self.at += 1
            self.term(0)
            self.misplaced(first, "a comparison")
        elif kind == t.RIGHT:
            self.extra_parenthesis()
        elif kind not in ENDS and kind not in STARTS_LITERAL:
            self.unexpected("after a statement")
        if self.kinds[self.at] == t.STOP:
            self.at += 1
        if not self.is_invalid:
            self.statements.append(Rule(head, body, self.starts[first], end))

    def misplaced_start(self, first: int, kind: int) -> None:
        """Report and skip tokens that cannot begin a statement."""
        if kind == t.IF:
            self.headless(first)
        elif kind in CONNECTIVES:
            self.dangling(first)
            self.at += 1
        elif kind == t.RIGHT:
            self.extra_parenthesis()
        elif kind == t.STOP:
            self.report(
                "unreadable-token",
                "a full stop without a statement before it",
                first,
                fix=Fix("delete the full stop", (Edit(self.span(first), ""),)),
            )
            self.at += 1
        elif kind in {t.NOT, t.LEFT, t.VARIABLE}:
            subjects = {
                t.NOT: "a negation",
                t.LEFT: "a parenthesis",
                t.VARIABLE: f"the variable `{self.texts[first]}`",
            }
            self.misplaced(first, subjects[kind])
            raise Abandon
        else:
            self.unexpected("at the start of a statement")

    def misplaced(self, token: int, subject: str) -> None:
        self.report(
            "misplaced-literal",
            f"{subject} cannot be a statement",
            token,
            help="a statement is a fact such as `role(x)` or a rule such as `p(X) :- q(X)`",
            drop=True,
        )

    def headless(self, arrow: int) -> None:
        """Report a rule without head, or skip a Prolog directive."""
        word = self.texts[arrow + 1] if self.kinds[arrow + 1] == t.NAME else ""
        if word in _DIRECTIVES:
            self.report("prolog-only", f"the Prolog directive `{word}` is skipped", arrow, severity=NOTE)
        else:
            self.report(
                "rule-without-head",
                "a rule without a head",
                arrow,
                help="write what the body implies before the arrow",
            )
        self.at += 1
        self.synchronise()
        if word == "if":
            self.pass_conditional()

    def pass_conditional(self) -> None:
        """Skip everything between `:- if(...)` and its `:- endif`: it is meant for Prolog only."""
        depth, start = 1, self.span(self.first).start
        while depth and self.kinds[self.at] != t.END_OF_FILE:
            self.first = self.at
            if self.kinds[self.at] == t.IF and self.tokens.is_first_on_line(self.at):
                depth += {"if": 1, "endif": -1}.get(self.texts[self.at + 1], 0)
            self.at += 1
        self.skipped.append(Span(start, self.span(self.at).start))
        if not depth:
            self.synchronise()

    def synchronise(self) -> None:
        """Skip to where the next statement probably begins."""
        tokens = self.tokens
        column = tokens.column(self.first)
        at = max(self.at, self.first + 1)
        while (kind := self.kinds[at]) != t.END_OF_FILE:
            if kind == t.STOP:
                at += 1
                break
            if kind not in _INNER and tokens.is_first_on_line(at) and tokens.column(at) <= column:
                break
            at += 1
        self.at = at

    # -- bodies ----------------------------------------------------------------------------------

    def body(self, arrow: int) -> tuple[Literal, ...]:
        """Parse the body after the arrow, up to the end of the statement."""
        groups = [_Group(-1, [])]
        depth = 0
        while True:
            # Before a literal.
            group = groups[-1]
            negations: list[int] = []
            while self.kinds[self.at] == t.NOT:
                negations.append(self.at)
                self.at += 1
            token = self.at
            kind = self.kinds[token]
            depth_here = depth + len(negations)
            if depth_here >= MAX_DEPTH:
                self.too_deep(negations[0] if negations else token)
            if kind == t.LEFT:
                depth = depth_here + 1
                self.at += 1
                self.opened.append(token)
                groups.append(_Group(token, negations))
                continue
            if kind in STARTS_TERM:
                literal = self.simple_literal(depth_here)
                group.conjuncts.append(self.negate(literal, negations))
            elif not self.no_literal(groups, negations):
                continue
            # After a literal.
            while True:
                group = groups[-1]
                verdict = self.after_literal(groups, negations[0] if negations else token)
                if verdict == "more":
                    break
                if verdict == "end":
                    return self.finish(groups[0], arrow)
                if verdict == "again":
                    continue
                groups.pop()
                self.opened.pop()
                depth -= 1 + len(group.negations)
                groups[-1].conjuncts.append(self.negate(self.grouped(group), group.negations))
                token, negations = group.opening, group.negations

    def simple_literal(self, depth: int) -> Literal:
        """Read an atom or a comparison."""
        first = self.at
        term = self.term(depth)
        kind = self.kinds[self.at]
        if kind == t.DIFFERENT:
            self.at += 1
            if self.kinds[self.at] not in STARTS_TERM and not self.is_word(self.at):
                self.unexpected(f"where the right side of `{self.texts[self.at - 1]}` is expected")
            right = self.term(depth)
            return Distinct(term, right, self.starts[first], self.ends[self.at - 1])
        if kind in {t.REFUSED, t.TRANSITION} or self.is_adjacent_number(self.at):
            self.refuse()
        if (
            kind == t.NAME
            and self.texts[self.at] in {"is", "mod", "rem", "div"}
            and isinstance(term, Variable)
        ):
            self.refuse(ARITHMETIC)
        if isinstance(term, Variable):
            self.report(
                "misplaced-literal",
                f"the variable `{self.texts[first]}` is used as a literal",
                first,
                help="a literal is an atom such as `p(X)`",
                drop=True,
            )
            return Atom("true", (term,), None, term.start, term.end)
        if term.name == "distinct":
            return self.distinct(term)
        return self.as_atom(term, "literal")

    def distinct(self, term: Constant | Function) -> Literal:
        args = term.args
        if len(args) == 2:
            return Distinct(args[0], args[1], term.start, term.end)
        self.report(
            "wrong-operand-count",
            f"`distinct` takes two terms, not {len(args)}",
            Span(term.start, term.end),
            help="write `distinct(X,Y)`",
            drop=True,
        )
        return Atom("distinct", args, None, term.start, term.end)

    def negate(self, literal: Literal, negations: list[int]) -> Literal:
        """Wrap a literal in its negations."""
        for token in reversed(negations):
            literal = Not(literal, self.starts[token], literal.end)
        return literal

    def no_literal(self, groups: list[_Group], negations: list[int]) -> bool:
        """Handle a token that does not start a literal where one is expected.

        Returns True if parsing continues as after a literal, False if a literal is still expected.
        """
        group, at = groups[-1], self.at
        kind = self.kinds[at]
        if negations:
            self.unexpected("after a negation")
        if kind in CONNECTIVES:
            if self.is_word(at) and self.kinds[at + 1] == t.LEFT and self.starts[at + 1] == self.ends[at]:
                self.unexpected("where a literal is expected")
            self.dangling(at)  # of two connectives in a row the second is dropped
            self.at += 1
            return False
        if kind in ENDS or kind == t.RIGHT:
            if group.joined is not None:
                self.dangling(group.joined)
                group.joined = None
                return True
            if len(groups) > 1:
                if kind == t.RIGHT and not group.conjuncts:
                    self.report("empty-list", "empty parentheses", group.opening, drop=True)
                return True
            if kind == t.RIGHT:
                self.extra_parenthesis()
                return False
            return True
        if kind == t.IF:
            self.report("nested-rule", "two arrows in one rule", at, help="write one arrow for each rule")
            raise Abandon
        if kind in {t.LEFT_LIST, t.JUNK} or (kind == t.REFUSED and self.texts[at] == "!"):
            place = self.placeholder()
            if kind == t.JUNK and self.kinds[self.at] in STARTS_LITERAL:
                return False
            group.conjuncts.append(Atom("true", start=place.start, end=place.end))
            return True
        self.unexpected("where a literal is expected")
        return False

    def after_literal(self, groups: list[_Group], literal_start: int) -> str:
        """Decide how to continue after a literal.

        Returns "more" (another literal), "close" (the innermost parenthesis), "end" (of the
        statement), or "again" when a token was skipped.
        """
        group, at = groups[-1], self.at
        kind = self.kinds[at]
        is_inside = group.opening >= 0
        if kind in CONNECTIVES:
            if kind == t.OR:
                group.alternatives.append(group.conjuncts)
                group.conjuncts = []
            elif kind == t.AND or not is_inside:
                self.and_sign = self.texts[at]
            group.joined = at
            self.at += 1
            return "more"
        if kind == t.RIGHT:
            if is_inside:
                self.at += 1
                return "close"
            self.extra_parenthesis()
            return "again"
        if is_inside and self.closed_at == at:
            return "close"
        if kind in ENDS:
            if is_inside:
                self.unclosed(at)
                return "close"
            return "end"
        if kind == t.IF:
            return self.arrow_in_body(groups, literal_start)
        if kind in STARTS_LITERAL:
            if self.closed_at == at and self.begins_statement(at):
                return "end"
            if is_inside and group.opening not in self.tokens.closed_by and self.begins_statement(at):
                self.unclosed(at)
                return "close"
            if is_inside or self.must_continue(at):
                self.missing(at)
                group.joined = None
                return "more"
            self.maybe_missing(at)
            return "end"
        if kind == t.DIFFERENT:
            self.unexpected("after a complete literal")
        self.unexpected("after a literal")
        return "end"

    def arrow_in_body(self, groups: list[_Group], literal_start: int) -> str:
        """Handle an arrow after a literal of a body: the literal is the head of the next rule."""
        group, at = groups[-1], self.at
        is_head = bool(group.conjuncts) and isinstance(group.conjuncts[-1], Atom)
        first_on_line = self.tokens.is_first_on_line(literal_start)
        starts_line = first_on_line and self.tokens.column(literal_start) <= self.tokens.column(self.first)
        is_inside = group.opening >= 0
        if is_head and is_inside and starts_line:
            self.unclosed(literal_start)
        elif is_head and not is_inside and group.joined is not None:
            self.dangling(group.joined)
        elif (
            is_head and not is_inside and len(group.conjuncts) == 1 and not group.alternatives and starts_line
        ):
            pass  # `finish` reports the rule without body
        else:
            self.report(
                "nested-rule",
                "a second arrow in one rule",
                at,
                labels=(Label(self.span(self.first), "the rule begins here"),),
                help="end the rule before the head of the next one",
            )
            raise Abandon
        group.conjuncts.pop()
        group.joined = None
        self.at = literal_start
        if is_inside:
            self.closed_at = literal_start
            return "close"
        return "end"

    def must_continue(self, at: int) -> bool:
        """Whether the literal at `at` cannot begin a statement, so a connective before it is missing."""
        kind = self.kinds[at]
        if kind in {t.LEFT, t.NOT}:
            return True
        after = at + 1
        if self.kinds[after] == t.LEFT:
            after = self.tokens.closed_by.get(after, after) + 1
        if self.kinds[after] == t.IF:
            return False
        if kind == t.VARIABLE or self.kinds[after] == t.DIFFERENT:
            return True
        if kind == t.NAME and self.tokens.names[self.texts[at]] in _NEVER_HEADS:
            return True
        return t.VARIABLE in self.kinds[at:after]

    def maybe_missing(self, at: int) -> None:
        """Report a ground atom after a rule that is laid out like one of its conjuncts."""
        tokens = self.tokens
        after = at + 1
        if self.kinds[after] == t.LEFT:
            after = tokens.closed_by.get(after, after) + 1
        if self.kinds[after] == t.IF or self.kinds[at - 1] == t.STOP:
            return
        if tokens.is_first_on_line(at) and tokens.column(at) <= tokens.column(self.first):
            return
        place = "indented" if tokens.is_first_on_line(at) else "placed"
        self.report(
            "missing-conjunction",
            f"`{self.texts_of(at)}` is {place} like a conjunct but read as a statement: "
            f"missing `{self.and_sign}`?",
            at,
            severity=NOTE,
        )

    def missing(self, at: int) -> None:
        """Report a missing connective between two literals."""
        end = self.ends[at - 1]
        sign = self.and_sign
        text = "," if sign == "," else f" {sign}"
        self.report(
            "missing-conjunction",
            f"missing `{sign}` before `{self.texts_of(at)}`",
            Span(end, end),
            labels=(Label(self.span(at), "this literal belongs to the same rule"),),
            help=f"write `{sign}` here",
            fix=Fix(f"insert `{sign}`", (Edit(Span(end, end), text),)),
        )

    def dangling(self, token: int) -> None:
        """Report a connective without a literal on one side."""
        sign = self.texts[token]
        after = self.kinds[token + 1] in STARTS_LITERAL and self.kinds[token - 1] in {
            *CONNECTIVES,
            t.IF,
            t.LEFT,
        }
        problem = "has no literal before it" if after else "has no literal after it"
        span = self.span(token)
        start = span.start
        while start > 0 and self.source.text[start - 1] in " \t":
            start -= 1
        if start == 0 or self.source.text[start - 1] in "\r\n":
            start = span.start
        self.report(
            "dangling-conjunction",
            f"`{sign}` {problem}",
            span,
            help="delete it",
            fix=Fix(f"delete `{sign}`", (Edit(Span(start, span.end), ""),)),
        )

    def grouped(self, group: _Group) -> Literal:
        """Return the literal of a parenthesised group."""
        literal = self.joined(group)
        if literal is None:
            self.is_invalid = True
            span = self.span(group.opening)
            return Atom("true", start=span.start, end=span.end)
        return literal

    def joined(self, group: _Group) -> Literal | None:
        if not group.alternatives:
            return self.conjunction(group.conjuncts)
        parts = [self.conjunction(part) for part in (*group.alternatives, group.conjuncts) if part]
        literals = tuple(part for part in parts if part is not None)
        if len(literals) == 1:
            return literals[0]
        for part in literals:
            if isinstance(part, Or):
                self.report(
                    "nested-or",
                    "a disjunction inside a disjunction",
                    part.span,
                    severity=NOTE,
                    help="write all alternatives side by side",
                )
        return Or(literals, literals[0].start, literals[-1].end)

    def conjunction(self, conjuncts: list[Literal]) -> Literal | None:
        if len(conjuncts) < 2:
            return conjuncts[0] if conjuncts else None
        literal = And(tuple(conjuncts), conjuncts[0].start, conjuncts[-1].end)
        self.report(
            "explicit-and",
            "a conjunction inside another connective",
            literal.span,
            severity=NOTE,
            help="some systems cannot read `and`; use a helper relation",
        )
        return literal

    def finish(self, top: _Group, arrow: int) -> tuple[Literal, ...]:
        if top.alternatives:
            literal = self.joined(top)
            return (literal,) if literal is not None else ()
        if not top.conjuncts and not self.is_invalid:
            self.report(
                "rule-without-body",
                "a rule without a body",
                arrow,
                severity=WARNING,
                help="a fact is written without the arrow",
                fix=Fix("delete the arrow", (Edit(self.span(arrow), ""),)),
            )
        return tuple(top.conjuncts)

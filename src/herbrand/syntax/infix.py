"""Read the infix notations: the book's style (`&`, `~`, no full stop) and Prolog's (`,`, `\\+`, `.`).

One grammar reads both, since published rulesheets mix them; the dialect is only what a file
claims to be and decides which sign a repair uses.

    sheet     = { statement } ;
    statement = atom [ IF body ] [ "." ] ;
    body      = conj { OR conj } ;          conj = unary { AND unary } ;
    unary     = NOT unary | "(" body ")" | term DIFFERENT term | atom ;
    term      = VARIABLE | NUMBER | CONSTANT [ "(" [ term { "," term } ] ")" ] ;

Without full stops a statement ends where the next token cannot continue it.  This is where two
mistakes hide: a conjunction sign that is missing and one too many before the next rule.
Stanford's own reader turns both into other rules without a word; here they are errors
(`missing-conjunction`, `dangling-conjunction`) with a fix, and the repaired rule is kept.

The reader never raises.  What cannot be repaired costs its statement, not its neighbours: reading
goes on after the next full stop or with the next line that begins no deeper than the statement did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.diagnostic import Diagnostic, Edit, Fix, Label, Severity
from herbrand.syntax import infix_tokens as t
from herbrand.syntax.source import Span
from herbrand.syntax.tree import And, Atom, Constant, Distinct, Function, Not, Or, Rule, Tree, Variable

if TYPE_CHECKING:
    from herbrand.syntax.source import Source
    from herbrand.syntax.tree import Literal, Term

__all__ = ["MAX_DEPTH", "MAX_DIAGNOSTICS", "read_infix"]

MAX_DEPTH: Final = 400
"""Parentheses and negations inside each other; more are refused."""
MAX_DIAGNOSTICS: Final = 200
"""After so many findings a text is not a rulesheet; the rest is counted, not listed."""

_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
_NAMES: Final = frozenset({t.NAME, t.NUMBER, t.QUOTED})
_STARTS_TERM: Final = frozenset({*_NAMES, t.VARIABLE})
_STARTS_LITERAL: Final = frozenset({*_STARTS_TERM, t.LEFT, t.NOT})
_CONNECTIVES: Final = frozenset({t.AND, t.COMMA, t.OR})
_ENDS: Final = frozenset({t.END_OF_FILE, t.STOP})
_INNER: Final = frozenset({*_CONNECTIVES, t.RIGHT, t.RIGHT_LIST, t.DIFFERENT})
"""What never begins a statement, not even a mistaken one."""
_NEVER_HEADS: Final = frozenset({"true", "does", "distinct"})
_DIRECTIVES: Final = frozenset(
    "dynamic discontiguous table module use_module ensure_loaded initialization multifile set_prolog_flag "
    "thread_local style_check redefine_system_predicate include encoding".split()
)
_SIGNS: Final = {
    "!": ("cuts", "order means nothing in GDL, so there is nothing to cut"),
    "->": ("if-then-else", "write one rule for each case, with `~` for the else case"),
    "*->": ("if-then-else", "write one rule for each case, with `~` for the else case"),
    "-->": ("grammar rules", "write `:-` between head and body"),
    "?-": ("queries", "a rulesheet holds facts and rules only"),
    "=": ("equality", "write the term in place of the variable; `distinct(s,t)` says that terms differ"),
    "==": ("equality", "write the term in place of the variable; `distinct(s,t)` says that terms differ"),
    "=@=": ("equality", "write the term in place of the variable; `distinct(s,t)` says that terms differ"),
    "=..": ("term construction", "write the term itself"),
    "{": ("braces", "use parentheses"),
    "}": ("braces", "use parentheses"),
}
_ARITHMETIC: Final = ("arithmetic", "list the numbers as facts, such as `succ(1,2)`")
_LIST: Final = ("lists", "use a compound term such as `pair(a,b)`, or one fact for each element")
_STRING: Final = ("strings", "write a constant, in single quotes if it needs them")


class _Abandon(Exception):  # noqa: N818  # control flow, not an error
    """The statement cannot be repaired; its diagnostic has been recorded."""


class _Group:
    """A body or a parenthesis inside one, while it is being read."""

    __slots__ = ("alternatives", "conjuncts", "joined", "negations", "opening", "start")

    def __init__(self, opening: int, negations: list[int], start: int) -> None:
        self.opening = opening
        """Token of the opening parenthesis; -1 for the body itself."""
        self.negations = negations
        """Tokens of the negation signs before the parenthesis."""
        self.start = start
        self.alternatives: list[list[Literal]] = []
        self.conjuncts: list[Literal] = []
        self.joined: int | None = None
        """Token of the connective that waits for its right side, or joined the last literal."""


def read_infix(source: Source, dialect: str = "infix") -> Tree:
    """Read a rulesheet in infix or Prolog notation; every error is a diagnostic of the tree.

    `dialect` ("infix" or "prolog") says what the text claims to be.  Time is linear in its length.

        >>> from herbrand.syntax.source import Source
        >>> print(read_infix(Source("goal(x,100) :- line(x) & ~line(o)")))
        (<= (goal x 100) (line x) (not (line o)))
        >>> tree = read_infix(Source("p(X) :- q(X) true(r)"))
        >>> tree.diagnostics[0].check, str(tree)
        ('missing-conjunction', '(<= (p ?x) (q ?x) (true r))')
    """
    if "\0" in source.text:
        return Tree((), source, dialect, (), (_not_text(source),))
    return _Parser(source, dialect).tree()


def _not_text(source: Source) -> Diagnostic:
    at = source.text.index("\0")
    message = "this is not a text: it holds a NUL character"
    return Diagnostic("not-text", _ERROR, message, source, Span(at, at + 1), help="give a text file in UTF-8")


class _Parser:
    def __init__(self, source: Source, dialect: str) -> None:
        self.source = source
        self.dialect = dialect
        self.tokens = tokens = t.tokenize(source)
        self.kinds, self.starts = tokens.kinds, tokens.starts
        self.ends, self.texts = tokens.ends, tokens.texts
        self.at = 0
        self.statements: list[Rule] = []
        self.diagnostics: list[Diagnostic] = []
        self.uncounted = 0
        self.and_sign = "," if dialect == "prolog" else "&"
        self.first = 0
        self.is_bad = False
        self.opened: list[int] = []
        self.closed_at = -1
        self.variables: dict[str, Variable] = {}
        self.variable_names: dict[str, int] = {}
        self.anonymous = 0
        self.question_mark: int | None = None
        self.numbered_variables = {
            text.lower()
            for kind, text in zip(self.kinds, self.texts, strict=True)
            if kind == t.VARIABLE and text[:1] in "_?" and text[1:].lstrip("_").isdecimal()
        }

    # -- the sheet -----------------------------------------------------------------------------

    def tree(self) -> Tree:
        self.report_tokens()
        while self.kinds[self.at] != t.END_OF_FILE:
            self.statement()
        if self.question_mark is not None:
            self.report(
                "mixed-notation", _NOTE, f"`{self.texts[self.question_mark]}` is a variable of the prefix notation",
                self.question_mark, help="write variables with a capital first letter, such as `X`",
            )  # fmt: skip
        found = sorted(self.diagnostics, key=lambda d: d.span.start)
        if self.uncounted:
            end = len(self.source.text)
            message = f"{self.uncounted} more findings are not listed"
            found.append(Diagnostic("unreadable-token", _NOTE, message, self.source, Span(end, end)))
        return Tree(
            tuple(self.statements), self.source, self.dialect, tuple(self.tokens.comments), tuple(found)
        )

    def report_tokens(self) -> None:
        """Report what the tokenizer noticed."""
        unclosed = self.tokens.unclosed_comment
        if unclosed is not None:
            span = Span(unclosed.start, unclosed.start + 2)
            self.add(
                Diagnostic("unreadable-token", _ERROR, "`/*` starts a comment that is never closed",
                           self.source, span, help="write `*/` where the comment ends")
            )  # fmt: skip
        for comment in self.tokens.semicolons:
            self.add(
                Diagnostic("ambiguous-semicolon", _NOTE, "`;` at the begin of a line starts a comment here",
                           self.source, Span(comment.start, comment.start + 1),
                           help='if it means "or", put the alternatives into parentheses or write `|`')
            )  # fmt: skip
        for first, first_at, second, second_at in self.tokens.case_twins:
            name = self.tokens.names[second]
            self.report(
                "case-collision", _WARNING, f"`{second}` and `{first}` differ by case only: read as `{name}`",
                second_at, labels=(Label(self.span(first_at), f"`{first}` stands here"),),
                help="spell the name alike if it is the same thing, and unlike if it is not",
            )  # fmt: skip

    def statement(self) -> None:
        """Read one statement; always goes forward."""
        first = self.first = self.at
        self.is_bad = False
        self.opened.clear()
        self.closed_at = -1
        self.variables = {}
        self.variable_names = {}
        self.anonymous = 0
        try:
            self.clause(first)
        except _Abandon:
            self.synchronise()
        if self.at == first:  # no progress would be a bug; never hang on it
            self.at += 1

    def clause(self, first: int) -> None:
        kind = self.kinds[first]
        if not (kind in _NAMES or (kind == t.VARIABLE and self.is_applied(first))):
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
        elif kind in _CONNECTIVES:
            self.report(
                "misplaced-literal", _ERROR, f"`{self.texts[self.at]}` joins statements",
                self.at, help="facts stand side by side; a conjunction stands behind a head and `:-`",
                fix=Fix("leave the sign out", (Edit(self.span(self.at), ""),)),
            )  # fmt: skip
            self.at += 1
        elif kind == t.DIFFERENT:
            self.at += 1
            self.term(0)
            self.misplaced(first, "a comparison")
        elif kind == t.RIGHT:
            self.extra_parenthesis()
        elif kind not in _ENDS and kind not in _STARTS_LITERAL:
            self.unexpected("after a statement")
        if self.kinds[self.at] == t.STOP:
            self.at += 1
        if not self.is_bad:
            self.statements.append(Rule(head, body, self.starts[first], end))

    def misplaced_start(self, first: int, kind: int) -> None:
        """Report and pass what cannot begin a statement."""
        if kind == t.IF:
            self.headless(first)
        elif kind in _CONNECTIVES:
            self.dangling(first)
            self.at += 1
        elif kind == t.RIGHT:
            self.extra_parenthesis()
        elif kind == t.STOP:
            self.report("unreadable-token", _ERROR, "a full stop without a statement before it", first,
                        fix=Fix("leave the full stop out", (Edit(self.span(first), ""),)))  # fmt: skip
            self.at += 1
        elif kind in {t.NOT, t.LEFT, t.VARIABLE}:
            what = {
                t.NOT: "a negation",
                t.LEFT: "a parenthesis",
                t.VARIABLE: f"the variable `{self.texts[first]}`",
            }
            self.misplaced(first, what[kind])
            raise _Abandon
        else:
            self.unexpected("where a statement begins")

    def misplaced(self, token: int, what: str) -> None:
        self.is_bad = True
        self.report(
            "misplaced-literal", _ERROR, f"{what} cannot be a statement", token,
            help="a statement is a fact such as `role(x)` or a rule such as `p(X) :- q(X)`",
        )  # fmt: skip

    def headless(self, arrow: int) -> None:
        """Report a rule without head, or pass over a Prolog directive."""
        word = self.texts[arrow + 1] if self.kinds[arrow + 1] == t.NAME else ""
        if word in _DIRECTIVES:
            self.report("prolog-only", _NOTE, f"the Prolog directive `{word}` is passed over", arrow)
        else:
            self.report(
                "rule-without-head", _ERROR, "a rule without a head", arrow,
                help="write what follows from the body before the arrow",
            )  # fmt: skip
        self.at += 1
        self.synchronise()

    def synchronise(self) -> None:
        """Pass tokens up to where the next statement probably begins."""
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

    # -- bodies --------------------------------------------------------------------------------

    def body(self, arrow: int) -> tuple[Literal, ...]:
        """Read what stands behind the arrow, up to where the statement ends."""
        top = _Group(-1, [], arrow)
        groups = [top]
        depth = 0
        while True:
            # Before a literal.
            group = groups[-1]
            negations: list[int] = []
            while self.kinds[self.at] == t.NOT:
                negations.append(self.at)
                self.at += 1
            here = self.at
            kind = self.kinds[here]
            depth_here = depth + len(negations)
            if depth_here >= MAX_DEPTH:
                self.too_deep(negations[0] if negations else here)
            if kind == t.LEFT:
                depth = depth_here + 1
                self.at += 1
                self.opened.append(here)
                groups.append(_Group(here, negations, self.starts[negations[0] if negations else here]))
                continue
            if kind in _STARTS_TERM:
                literal = self.simple_literal(depth_here)
                group.conjuncts.append(self.negate(literal, negations))
            elif not self.no_literal(groups, negations):
                continue
            # After a literal.
            while True:
                group = groups[-1]
                verdict = self.after_literal(groups, negations[0] if negations else here)
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
                here, negations = group.opening, group.negations

    def simple_literal(self, depth: int) -> Literal:
        """Read an atom or a comparison."""
        first = self.at
        term = self.term(depth)
        kind = self.kinds[self.at]
        if kind == t.DIFFERENT:
            self.at += 1
            if self.kinds[self.at] not in _STARTS_TERM and not self.is_word(self.at):
                self.unexpected(f"where the right side of `{self.texts[self.at - 1]}` should stand")
            right = self.term(depth)
            return Distinct(term, right, self.starts[first], self.ends[self.at - 1])
        if kind in {t.REFUSED, t.TRANSITION} or self.is_adjacent_number(self.at):
            self.refuse()
        if (
            kind == t.NAME
            and self.texts[self.at] in {"is", "mod", "rem", "div"}
            and isinstance(term, Variable)
        ):
            self.refuse(_ARITHMETIC)
        if isinstance(term, Variable):
            self.report(
                "misplaced-literal", _ERROR, f"the variable `{self.texts[first]}` stands where a literal should",
                first, help="a literal is an atom such as `p(X)`",
            )  # fmt: skip
            self.is_bad = True
            return Atom("true", (term,), None, term.start, term.end)
        if term.name == "distinct":
            return self.distinct(term)
        return self.as_atom(term, "literal")

    def distinct(self, term: Constant | Function) -> Literal:
        args = term.args if isinstance(term, Function) else ()
        if len(args) == 2:
            return Distinct(args[0], args[1], term.start, term.end)
        self.add(
            Diagnostic("wrong-operand-count", _ERROR, f"`distinct` takes two terms, not {len(args)}",
                       self.source, Span(term.start, term.end), help="write `distinct(X,Y)`")
        )  # fmt: skip
        self.is_bad = True
        return Atom("distinct", args, None, term.start, term.end)

    def negate(self, literal: Literal, negations: list[int]) -> Literal:
        """Wrap a literal into its negations."""
        for token in reversed(negations):
            if not isinstance(literal, Atom):
                self.add(
                    Diagnostic("negated-compound", _WARNING, "negation of something other than an atom",
                               self.source, Span(self.starts[token], literal.end),
                               help="some systems read only the negation of an atom; use a helper relation")
                )  # fmt: skip
            literal = Not(literal, self.starts[token], literal.end)
        return literal

    def no_literal(self, groups: list[_Group], negations: list[int]) -> bool:
        """Handle a token that is no literal where one is expected.

        Returns True when the state is now as after a literal, False when a literal is still expected.
        """
        group, at = groups[-1], self.at
        kind = self.kinds[at]
        if negations:
            self.unexpected("after a negation")
        if kind in _CONNECTIVES:
            if self.is_word(at) and self.kinds[at + 1] == t.LEFT and self.starts[at + 1] == self.ends[at]:
                self.unexpected("where a literal should stand")
            self.dangling(at)  # of two signs in a row the second is dropped
            self.at += 1
            return False
        if kind in _ENDS or kind == t.RIGHT:
            if group.joined is not None:
                self.dangling(group.joined)
                group.joined = None
                return True
            if len(groups) > 1:
                if kind == t.RIGHT and not group.conjuncts:
                    self.report("empty-list", _ERROR, "nothing between the parentheses", group.opening)
                    self.is_bad = True
                return True
            if kind == t.RIGHT:
                self.extra_parenthesis()
                return False
            return True
        if kind == t.IF:
            self.report(
                "nested-rule", _ERROR, "two arrows in one rule", at, help="write one arrow for each rule"
            )
            raise _Abandon
        if kind in {t.LEFT_LIST, t.JUNK} or (kind == t.REFUSED and self.texts[at] == "!"):
            self.placeholder()
            if kind == t.JUNK and self.kinds[self.at] in _STARTS_LITERAL:
                return False
            group.conjuncts.append(Atom("true"))
            return True
        self.unexpected("where a literal should stand")
        return False

    def after_literal(self, groups: list[_Group], literal_start: int) -> str:
        """Decide what follows a literal.

        Returns "more" (another literal), "close" (the innermost parenthesis), "end" (of the
        statement), or "again" when something was passed over.
        """
        group, at = groups[-1], self.at
        kind = self.kinds[at]
        is_inside = group.opening >= 0
        if kind in _CONNECTIVES:
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
        if kind in _ENDS:
            if is_inside:
                self.unclosed(at)
                return "close"
            return "end"
        if kind == t.IF:
            return self.arrow_in_body(groups, literal_start)
        if kind in _STARTS_LITERAL:
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
        """Handle an arrow behind a literal of a body: the literal is the head of the next rule."""
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
                "nested-rule", _ERROR, "a second arrow in one rule", at,
                labels=(Label(self.span(self.first), "the rule begins here"),),
                help="end the rule before the head of the next one",
            )  # fmt: skip
            raise _Abandon
        group.conjuncts.pop()
        group.joined = None
        self.at = literal_start
        if is_inside:
            self.closed_at = literal_start
            return "close"
        return "end"

    def begins_statement(self, at: int) -> bool:
        """Whether a token stands where statements begin: first on a line, no deeper than this one."""
        tokens = self.tokens
        return (
            self.kinds[at] in _STARTS_TERM
            and tokens.is_first_on_line(at)
            and tokens.column(at) <= tokens.column(self.first)
        )

    def must_continue(self, at: int) -> bool:
        """Whether the literal at a token cannot begin a statement, so that a sign before it is missing."""
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
        before = self.tokens.variables_before
        return before[after] > before[at]

    def maybe_missing(self, at: int) -> None:
        """Note a ground atom behind a rule that is laid out like one of its conjuncts."""
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
            "missing-conjunction", _NOTE,
            f"`{self.texts[at]}` is {place} like a conjunct but read as a statement: missing `{self.and_sign}`?", at,
        )  # fmt: skip

    def missing(self, at: int) -> None:
        """Report a missing sign between two literals."""
        end = self.ends[at - 1]
        sign = self.and_sign
        text = "," if sign == "," else f" {sign}"
        self.add(
            Diagnostic(
                "missing-conjunction", _ERROR, f"no `{sign}` before `{self.texts_of(at)}`",
                self.source, Span(end, end), labels=(Label(self.span(at), "this literal belongs to the same rule"),),
                help=f"write `{sign}` here", fix=Fix(f"insert `{sign}`", (Edit(Span(end, end), text),)),
            )
        )  # fmt: skip

    def texts_of(self, at: int) -> str:
        """Return the text of the token at `at`, short."""
        return self.texts[at][:40]

    def dangling(self, token: int) -> None:
        """Report a sign that has no literal on one of its sides."""
        sign = self.texts[token]
        after = self.kinds[token + 1] in _STARTS_LITERAL and self.kinds[token - 1] in {
            *_CONNECTIVES,
            t.IF,
            t.LEFT,
        }
        what = (
            "joins nothing: no literal before it"
            if after
            else "joins nothing: no literal follows in this rule"
        )
        span = self.span(token)
        start = span.start
        while start > 0 and self.source.text[start - 1] in " \t":
            start -= 1
        if start == 0 or self.source.text[start - 1] in "\r\n":
            start = span.start
        self.add(
            Diagnostic("dangling-conjunction", _ERROR, f"`{sign}` {what}", self.source, span, help="leave it out",
                       fix=Fix(f"leave `{sign}` out", (Edit(Span(start, span.end), ""),)))
        )  # fmt: skip

    def grouped(self, group: _Group) -> Literal:
        """Return the literal that a parenthesis stands for."""
        literal = self.joined(group)
        if literal is None:
            self.is_bad = True
            return Atom("true")
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
                self.add(
                    Diagnostic("nested-or", _NOTE, "a disjunction inside a disjunction", self.source,
                               part.span, help="write all alternatives side by side")
                )  # fmt: skip
        return Or(literals, literals[0].start, literals[-1].end)

    def conjunction(self, conjuncts: list[Literal]) -> Literal | None:
        if len(conjuncts) < 2:
            return conjuncts[0] if conjuncts else None
        literal = And(tuple(conjuncts), conjuncts[0].start, conjuncts[-1].end)
        self.add(
            Diagnostic("explicit-and", _NOTE, "a conjunction inside another connective", self.source,
                       literal.span, help="some systems cannot read `and`; use a helper relation")
        )  # fmt: skip
        return literal

    def finish(self, top: _Group, arrow: int) -> tuple[Literal, ...]:
        if top.alternatives:
            literal = self.joined(top)
            return (literal,) if literal is not None else ()
        if not top.conjuncts and not self.is_bad:
            self.report("rule-without-body", _WARNING, "a rule without a body", arrow,
                        help="a fact is written without the arrow",
                        fix=Fix("leave the arrow out", (Edit(self.span(arrow), ""),)))  # fmt: skip
        return tuple(top.conjuncts)

    # -- terms ---------------------------------------------------------------------------------

    def term(self, depth: int) -> Term:
        """Read a term; one Python frame a level of nesting."""
        at = self.at
        kind = self.kinds[at]
        text = self.texts[at]
        start = self.starts[at]
        if kind == t.VARIABLE:
            if not self.is_applied(at):
                self.at = at + 1
                return self.variable(at)
            name, spelling = self.capital_name(at)
        elif kind in _NAMES or self.is_word(at):
            name = self.tokens.names[text]
            spelling = t.unquote(text) if kind == t.QUOTED else text
            if kind == t.QUOTED and (len(text) < 2 or not text.endswith("'")):
                self.report("unreadable-token", _ERROR, "a quoted constant that is not closed on its line", at,
                            help="write `'` where it ends")  # fmt: skip
                self.is_bad = True
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
            self.add(
                Diagnostic("superfluous-parentheses", _WARNING, f"`{text}()` is the same as `{text}`", self.source,
                           Span(start, self.ends[self.at]), help=f"write `{text}`",
                           fix=Fix("leave the parentheses out",
                                   (Edit(Span(self.starts[opening], self.ends[self.at]), ""),)))
            )  # fmt: skip
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
        return (
            Function(name, tuple(args), spelling, start, end)
            if args
            else Constant(name, spelling, start, end)
        )

    def between_arguments(self, opening: int) -> bool:
        """Handle a token that is neither a comma nor the closing parenthesis; whether arguments go on."""
        at = self.at
        kind = self.kinds[at]
        if self.closed_at == at:
            return False
        is_closed = opening in self.tokens.closed_by
        if (
            kind in _ENDS
            or kind == t.IF
            or (not is_closed and (kind in {t.AND, t.OR, t.NOT, t.DIFFERENT} or self.begins_statement(at)))
        ):
            self.unclosed(at)
            return False
        if self.is_adjacent_number(at) or kind in {t.REFUSED, t.TRANSITION}:
            self.refuse()
        if kind in _STARTS_TERM:
            end = self.ends[at - 1]
            self.add(
                Diagnostic("unreadable-token", _ERROR, f"no `,` between the arguments of `{self.texts[opening - 1]}`",
                           self.source, Span(end, end), help="write `,` here",
                           fix=Fix("insert `,`", (Edit(Span(end, end), ","),)))
            )  # fmt: skip
            return True
        self.unexpected(f"among the arguments of `{self.texts[opening - 1]}`")
        return False

    def no_term(self) -> Term:
        """Handle a token that cannot begin a term where one is expected."""
        at = self.at
        kind = self.kinds[at]
        if kind in {t.LEFT_LIST, t.JUNK} or (kind == t.REFUSED and self.texts[at][0] == '"'):
            return self.placeholder()
        if self.opened and self.kinds[self.opened[-1] - 1] in {*_STARTS_TERM, t.AND, t.OR, t.NOT}:
            before = self.kinds[at - 1]
            if kind == t.RIGHT and before == t.COMMA:
                self.report("unreadable-token", _ERROR, "no argument behind this `,`", at - 1,
                            fix=Fix("leave it out", (Edit(self.span(at - 1), ""),)))  # fmt: skip
                self.is_bad = True
                return Constant("")
            if kind in _ENDS or kind == t.IF:
                self.unclosed(at)
                self.is_bad = True
                return Constant("")
            if kind == t.COMMA:
                self.report("unreadable-token", _ERROR, "no argument before this `,`", at)
                self.is_bad = True
                return Constant("")
        self.unexpected("where a term should stand")
        raise _Abandon

    def placeholder(self) -> Constant:
        """Report a list, a string, a cut or junk; pass it; the statement is lost but reading goes on."""
        at = self.at
        kind = self.kinds[at]
        self.is_bad = True
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
        text = self.texts[at]
        if text == "_":
            self.anonymous += 1
            while f"_{self.anonymous}" in self.numbered_variables:
                self.anonymous += 1
            return Variable(f"_{self.anonymous}", text, self.starts[at], self.ends[at])
        spelling = text
        if text[0] == "?":
            spelling = text[1:]
            if not spelling:
                self.report("nameless-variable", _ERROR, "a variable without a name", at,
                            help="write a name behind the question mark, or `_`")  # fmt: skip
                self.is_bad = True
            elif self.question_mark is None:
                self.question_mark = at
        name = self.variable_name(spelling, at)
        return Variable(name, spelling, self.starts[at], self.ends[at])

    def variable_name(self, spelling: str, at: int) -> str:
        """Fold the name of a variable; of two in a rule that fold to one, the later gets a suffix."""
        known = self.variables.get(spelling)
        if known is not None:
            return known.name
        folded = name = spelling.lower()
        if folded in self.variable_names:
            number = 2
            while (name := f"{folded}_{number}") in self.variable_names:
                number += 1
            first = self.variable_names[folded]
            self.report(
                "case-collision", _WARNING,
                f"`{spelling}` and `{self.texts[first]}` differ by case only: two variables, read as `{name}` and `{folded}`",
                at, labels=(Label(self.span(first), f"`{self.texts[first]}` stands here"),),
                help="spell the variable alike if it is the same one",
            )  # fmt: skip
        self.variable_names[name] = at
        self.variables[spelling] = Variable(name, spelling, self.starts[at], self.ends[at])
        return name

    def capital_name(self, at: int) -> tuple[str, str]:
        """Report a variable used as a name, and return the constant that was probably meant."""
        text = self.texts[at]
        stem = text.lstrip("_?") or "c"
        fixed = stem[0].lower() + stem[1:]
        self.report(
            "list-without-name", _ERROR, f"the variable `{text}` stands where a name should", at,
            help=f"names begin with a lower-case letter: `{fixed}`",
            fix=Fix(f"write `{fixed}`", (Edit(self.span(at), fixed),)),
        )  # fmt: skip
        return fixed.lower(), fixed

    def is_applied(self, at: int) -> bool:
        """Whether a parenthesis follows without a blank."""
        return self.kinds[at + 1] == t.LEFT and self.starts[at + 1] == self.ends[at]

    def is_call(self, at: int) -> bool:
        """Whether the parenthesis behind a name holds its arguments, although blanks may stand between."""
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
        self.add(
            Diagnostic("misplaced-parenthesis", _WARNING, f"a blank between `{self.texts[at]}` and its arguments",
                       self.source, gap, help="leave it out", fix=Fix("leave the blank out", (Edit(gap, ""),)))
        )  # fmt: skip
        return True

    def is_word(self, at: int) -> bool:
        """Whether a token is `and`, `or` or `not`: a name where a term is expected."""
        return self.kinds[at] in {t.AND, t.OR, t.NOT} and self.texts[at][0].isalpha()

    def is_adjacent_number(self, at: int) -> bool:
        """Whether a negative number touches what stands before it, as in `N-1`."""
        return (
            self.kinds[at] == t.NUMBER
            and self.texts[at][0] == "-"
            and at > 0
            and self.starts[at] == self.ends[at - 1]
            and self.kinds[at - 1] in {*_STARTS_TERM, t.RIGHT}
        )

    def as_atom(self, term: Term, where: str) -> Atom:
        """Turn what was read as a term into an atom."""
        assert not isinstance(term, Variable)
        if where == "head" and term.name == "distinct":
            self.is_bad = True
            self.add(
                Diagnostic("misplaced-literal", _ERROR, "`distinct` cannot be defined", self.source,
                           Span(term.start, term.end), help="it is built in and stands in bodies only")
            )  # fmt: skip
        args = term.args if isinstance(term, Function) else ()
        return Atom(term.name, args, term.spelling, term.start, term.end)

    # -- findings ------------------------------------------------------------------------------

    def span(self, token: int) -> Span:
        return Span(self.starts[token], self.ends[token])

    def report(
        self,
        check: str,
        severity: Severity,
        message: str,
        token: int,
        *,
        labels: tuple[Label, ...] = (),
        help: str | None = None,  # noqa: A002  # the field of a diagnostic
        fix: Fix | None = None,
    ) -> None:
        """Record a finding at a token."""
        self.add(Diagnostic(check, severity, message, self.source, self.span(token), labels, help, (), fix))

    def add(self, diagnostic: Diagnostic) -> None:
        if len(self.diagnostics) < MAX_DIAGNOSTICS:
            self.diagnostics.append(diagnostic)
        else:
            self.uncounted += 1

    def too_deep(self, token: int) -> None:
        self.report("too-deep", _ERROR, f"more than {MAX_DEPTH} parentheses inside each other", token,
                    help="split the statement with helper relations")  # fmt: skip
        raise _Abandon

    def extra_parenthesis(self) -> None:
        self.report("extra-parenthesis", _ERROR, "`)` closes nothing", self.at, help="leave it out",
                    fix=Fix("leave `)` out", (Edit(self.span(self.at), ""),)))  # fmt: skip
        self.at += 1

    def unclosed(self, at: int) -> None:
        """Report all parentheses that are open before token `at`, once, at the outermost."""
        if self.closed_at == at:
            return
        self.closed_at = at
        count = len(self.opened)
        end = self.ends[at - 1]
        what = "`(` is never closed" if count == 1 else f"`(` is never closed, and {count - 1} more inside it"
        self.report(
            "unclosed-parenthesis", _ERROR, what, self.opened[0],
            labels=tuple(Label(self.span(token), "open as well") for token in self.opened[1:6]),
            help=f"write `{')' * min(count, 10)}` where it ends",
            fix=Fix(f"close {'it' if count == 1 else 'them'} before the next statement",
                    (Edit(Span(end, end), ")" * count),)),
        )  # fmt: skip

    def unexpected(self, where: str) -> None:
        """Report a token that nothing can be made of, by the name of what it is; give up the statement."""
        at = self.at
        kind = self.kinds[at]
        if kind in {t.REFUSED, t.TRANSITION, t.LEFT_LIST, t.RIGHT_LIST}:
            self.refuse()
        if kind == t.JUNK:
            self.junk()
            raise _Abandon
        if kind == t.END_OF_FILE:
            end = len(self.source.text)
            diagnostic = Diagnostic(
                "unreadable-token", _ERROR, f"the text ends {where}", self.source,
                Span(self.ends[at - 1] if at else end, end),
            )  # fmt: skip
            self.add(diagnostic)
            raise _Abandon
        self.report("unreadable-token", _ERROR, f"unexpected `{self.texts_of(at)}` {where}", at)
        self.is_bad = True
        if kind == t.STOP:
            raise _Abandon
        self.at += 1
        raise _Abandon

    def junk(self) -> None:
        """Report characters without meaning, all that follow each other as one."""
        first = self.at
        while self.kinds[self.at] == t.JUNK:
            self.at += 1
        span = Span(self.starts[first], self.ends[self.at - 1])
        shown = self.source.text[span.start : min(span.end, span.start + 20)]
        self.add(Diagnostic("unreadable-token", _ERROR, f"`{shown}` means nothing here", self.source, span))

    def feature(self, at: int) -> tuple[str, str]:
        kind, text = self.kinds[at], self.texts[at]
        if kind in {t.LEFT_LIST, t.RIGHT_LIST} or (
            text == "!" and self.kinds[at - 1] in _STARTS_TERM and self.opened
        ):
            return _LIST
        if text[0] == '"':
            return _STRING
        return _SIGNS.get(text, _ARITHMETIC)

    def refusal(self, feature: tuple[str, str], span: Span) -> None:
        what, instead = feature
        self.add(Diagnostic("prolog-only", _ERROR, f"GDL has no {what}", self.source, span, help=instead))

    def refuse(self, feature: tuple[str, str] | None = None) -> None:
        """Report a sign of Prolog or of later HRF that GDL does not have, by name."""
        at = self.at
        self.is_bad = True
        if self.kinds[at] == t.TRANSITION:
            self.report(
                "transition-rule", _ERROR, f"`{self.texts[at]}` belongs to transition rules, which are not GDL", at,
                help="write `next(p) :- ...` rules",
            )  # fmt: skip
        else:
            self.refusal(feature or self.feature(at), self.span(at))
        self.at += 1
        raise _Abandon

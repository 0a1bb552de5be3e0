"""Recursive-descent parser for GGDL sentences: `parse`.

Sentences need no terminator: one ends where the next token cannot continue it.  An error discards
its sentence, not its neighbours: parsing resumes at the next line that is not indented deeper.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from herbrand.diagnostic import Source
from herbrand.syntax.ggdl import nodes as n
from herbrand.syntax.ggdl import tokens as t
from herbrand.syntax.ggdl.expressions import ExpressionReader
from herbrand.syntax.ggdl.report import INSTEAD_OF_SIGN, INSTEAD_OF_WORD, Refused
from herbrand.syntax.infix import read_infix
from herbrand.syntax.nodes import atoms_of
from herbrand.syntax.tokens import ARITY

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.syntax.ggdl.report import ProgramDiagnostics
    from herbrand.syntax.ggdl.tokens import GgdlTokens, Token
    from herbrand.syntax.tree import Tree

__all__ = ["is_plain", "parse"]

_INNER: Final = frozenset(
    {"and", "or", "not", "in", "default", "from", "where"}
)  # words at which error recovery does not resume
_ASSIGN: Final = frozenset({":=", "="})
_UPDATE: Final = frozenset({"=", ":=", "<-"})


def parse(tokens: GgdlTokens, report: ProgramDiagnostics) -> list[n.Sentence]:
    """Parse all sentences of a text; errors are recorded in `report`."""
    return _Parser(tokens, report).program()


def is_plain(tree: Tree) -> bool:
    """Whether a text was read as plain GDL without errors."""
    if any(d.is_error or d.check == "left-over-text" for d in tree.diagnostics):
        return False
    return all(
        ARITY.get(atom.name, atom.arity) == atom.arity
        for rule in tree.statements
        for literal in (rule.head, *rule.body)
        for atom, _ in atoms_of(literal)
    )


class _Parser(ExpressionReader):
    def program(self) -> list[n.Sentence]:
        sentences: list[n.Sentence] = []
        while self.token.kind != t.END:
            self._one(sentences)
        return sentences

    def _one(self, sentences: list[n.Sentence]) -> None:
        """Parse one sentence and its full stop; always consumes at least one token."""
        first = self.at
        outer, self.first = self.first, first
        try:
            self.extended, self.level = False, 0
            sentence = self._sentence()
            parsed = sentence if isinstance(sentence, list) else [sentence]
            token = self.token
            if token.kind == t.STOP:
                self.take()
            elif not self._may_end(token):
                is_split = token.text == ":" and self.peek().text == "="
                self.unexpected("the end of a sentence", help="write `:=` as one sign" if is_split else None)
            self._finish(parsed)
            sentences += parsed
        except Refused:
            self._resume(first)
        self.first = outer
        if self.at == first:
            self.at += 1

    def _finish(self, parsed: list[n.Sentence]) -> None:
        """Mark sentences of plain GDL, and attach documentation comments to the others."""
        for sentence in parsed:
            if isinstance(sentence, n.RuleSentence):
                text = self.report.text_of(sentence)
                sentence.plain = not self.extended and is_plain(read_infix(Source(text)))
            elif not sentence.doc and not isinstance(sentence, n.PrefixSentence):
                sentence.doc = self.tokens.doc(sentence.start, sentence.end)

    def _may_end(self, token: Token) -> bool:
        if token.kind in {t.END, t.PREFIX, t.NAME, t.VARIABLE, t.STOP}:
            return True
        if token.kind == t.SIGN and token.text in {")", "}"}:
            return True  # the enclosing block checks this
        return token.kind in {t.NUMBER, t.QUOTED} or (
            token.first and token.text in {"(", "@", "~", "\\+", "^", "---", "```"}
        )

    def _resume(self, first: int) -> None:
        """Resume after an error: after a full stop, or at a line that is not indented deeper."""
        items, tokens = self.items, self.tokens
        column = self._column(items[first])
        depth = tokens.depth[first]
        at = max(self.at, first + 1)
        while items[at].kind != t.END:
            token = items[at]
            if tokens.depth[at] < depth or (
                tokens.depth[at] == depth and token.kind == t.SIGN and token.text in {")", "}"} and depth
            ):
                break
            if token.kind == t.STOP and tokens.depth[at] <= depth:
                at += 1
                break
            if self._may_begin(token, column) and tokens.depth[at] <= depth + self._left_open(first, at):
                break
            at += 1
        self.at = at

    def _may_begin(self, token: Token, column: int) -> bool:
        """Whether a sentence may begin at a token: the first of a line, indented no deeper than `column`."""
        starts = token.kind in {t.NAME, t.VARIABLE, t.PREFIX, t.NUMBER, t.QUOTED} or token.text == "("
        return token.first and starts and token.text not in _INNER and self._column(token) <= column

    def _left_open(self, first: int, at: int) -> int:
        """Count the brackets opened in the malformed sentence that are never closed."""
        partner = self.tokens.partner
        return sum(
            token.kind == t.SIGN and token.text in {"(", "[", "{"} and index not in partner
            for index, token in enumerate(self.items[first:at], first)
        )

    def _column(self, token: Token) -> int:
        line = self.tokens.line(token.start)
        return token.start - self.tokens.source.line_starts[line - 1]

    def _from(self, start: int) -> tuple[int, int, Source]:
        """Return the place of a sentence: the offsets from `start` to the last token, and the source."""
        return start, self.last_end, self.report.source

    # -- dispatch --------------------------------------------------------------------------------

    def _sentence(self) -> n.Sentence | list[n.Sentence]:
        token = self.token
        if token.kind == t.PREFIX:
            self.take()
            return n.PrefixSentence(*self._from(token.start), plain=True)
        if token.kind == t.SIGN and token.text in INSTEAD_OF_SIGN:
            self.unexpected("a sentence")
        if token.kind == t.SIGN and token.text == "^":
            self.dialect("`^name`", "write it as a comment")
        if token.kind == t.SIGN and token.text == "#":
            self.dialect("`#Name`", "GGDL has no templates")
        if token.kind == t.NAME:
            follows = self.peek()
            same_line = not follows.first
            opener = self._OPENERS.get(token.text)
            if opener is not None and same_line and opener[1](self, follows):
                self.take()
                self.extended = token.text != "init"  # plain GDL has facts `init(...)`, too
                return opener[0](self, token)
            if token.text in INSTEAD_OF_WORD and same_line and self._is_foreign(token, follows):
                self.dialect(f"`{token.text}`", INSTEAD_OF_WORD[token.text])
            if same_line and follows.text == "{" and token.text in {"legal", "next", "all", "goal"}:
                self.dialect(f"`{token.text} {{`", "write rules with `:-`, `==>` and `and`")
            if same_line and follows.text == "::" and self._is_signature():
                self.dialect("a signature", "declare it with `base F(T) = U` or a typed `init`")
            if same_line and follows.kind == t.NAME and self.peek(2).text == ":=":
                message = f"`{token.text}` begins no sentence that gives a value"
                self.report.refuse("E-SYNTAX", message, token, help="write `init`")
            if same_line and follows.text == ":=" and self.peek(2).kind == t.NAME:
                self.dialect("an instance without `init`", "write `init` before it")
            if same_line and self._is_record():
                self.dialect("a record `{( … )}`", "write the rules themselves")
            if follows.text == "(" and token.text in {"legal", "next"} and self._holds_moves():
                self.dialect(f"`{token.text} ( … )` around moves", "write the moves themselves")
            if follows.joined and follows.text == "<" and self.peek(3).joined and self.peek(3).text == ">":
                self.dialect("a template `Name<T>`", "write the rules for each type")
        return self._general(token)

    def _is_foreign(self, token: Token, follows: Token) -> bool:
        if token.text in {"output", "meta"}:
            return follows.text == "{"
        if follows.kind not in {t.NAME, t.VARIABLE, t.STRING}:
            return False
        return token.text != "play" or follows.text == "subgame"

    def _is_record(self) -> bool:
        """Whether `name {( … )}` or `name := {( … )}` begins here."""
        at = self.at + (2 if self.peek().text == ":=" else 1)
        opening, inner = self.items[at], self.items[min(at + 1, len(self.items) - 1)]
        return opening.text == "{" and inner.text == "(" and inner.joined

    def _holds_moves(self) -> bool:
        """Whether the following parentheses directly contain a move `r -> m`."""
        closing = self.tokens.partner.get(self.at + 1)
        inside = range(self.at + 2, closing or self.at + 2)
        depth = self.tokens.depth[self.at + 1] + 1
        return any(self.items[i].text == "->" and self.tokens.depth[i] == depth for i in inside)

    def _is_signature(self) -> bool:
        at = self.at + 2
        while self.items[at].kind == t.NAME and not self.items[at].first:
            if self.items[at + 1].text == "->" and self.items[at].text[0].isupper():
                return True
            at += 1
        return False

    # -- declarations ----------------------------------------------------------------------------

    def _role(self, token: Token) -> n.Sentence:
        names = self.listed(self._role_name)
        fields: list[n.RoleField] = []
        if self.accept("{"):
            while not self.sees("}"):
                fields.append(self._field())
                while self.accept(";", ","):
                    pass
            self.expect("}")
        return n.RoleSentence(*self._from(token.start), tuple(names), tuple(fields))

    def _role_name(self) -> n.Name:
        token = self.token
        if token.kind not in {t.NAME, t.NUMBER, t.QUOTED, t.ANONYMOUS}:
            self.unexpected("the name of a role")
        self.take()
        return n.Name(token.start, token.end, token.text.strip("'"))

    def _field(self) -> n.RoleField:
        name = self.name("the name of a property")
        external = self.accept("^^") is not None
        self.expect(":")
        kind: n.Type | None = None
        value: n.Expr | None = None
        token = self.token
        is_type = token.kind == t.NAME and self.peek().text != "("
        if is_type or self.sees("[") or (token.kind == t.NUMBER and self.peek().text == ".."):
            kind = self.type()
        else:
            value = self.expression()
        return n.RoleField(name.text, external, kind, value, name.start, self.last_end)

    def _data(self, token: Token) -> n.Sentence:
        if token.text != "data":
            self.style(token, "data")
        name = self.name("the name of a type")
        closing = ")" if self.take().text == "(" else None
        groups = [self._chain()]
        while self.accept(";"):
            if closing and self.sees(closing):
                break
            groups.append(self._chain())
        if closing:
            self.expect(closing)
        return n.DataSentence(*self._from(token.start), name.text, tuple(groups), name.end)

    def _chain(self) -> tuple[n.Level, ...]:
        levels = [self._level("")]
        while self.sees("<<", "<<<"):
            link = self.take().text
            levels.append(self._level(link))
        if self.sees("*", "+"):
            self.dialect("sums and products of types", "join alternatives with `|`")
        return tuple(levels)

    def _level(self, link: str) -> n.Level:
        return n.Level(tuple(self.listed(self._data_item, "|", "||")), link)

    def _data_item(self) -> n.Expr:
        if self.sees("*"):
            self.dialect("a default member `*X`", "name the default where it is used")
        if self.token.kind == t.NAME and self.peek().text == "(" and self.peek(2).kind == t.VARIABLE:
            self.dialect("a member with a variable", "write a comprehension `{[ f(\\i) | \\i <- 1 .. 2 ]}`")
        return self.expression()

    def _const(self, token: Token) -> n.Sentence:
        name = self.name("the name of a constant")
        self.take()
        value = self.expression()
        return n.ConstantSentence(*self._from(token.start), name.text, value)

    def _base(self, token: Token) -> n.Sentence:
        name = self.name("the name of a relation")
        args: list[n.Type] = []
        if self.accept("("):
            args = self.listed(self.union)
            self.expect(")")
        value = None
        if self.accept("=", "::"):
            value = self.union()
        elif self.sees(":-"):  # `base A :- .` is a long form of the fact `A`
            self.take()
            if self.token.kind != t.STOP:
                self.unexpected("`.`")
            head = n.Name(name.start, name.end, name.text)
            return n.RuleSentence(*self._from(token.start), (head,), None)
        return n.BaseSentence(*self._from(token.start), name.text, tuple(args), value)

    def _init(self, token: Token) -> n.Sentence | list[n.Sentence]:
        if not self.sees("(", "{"):
            self.extended = True
            return self._init_item(token.start)
        opening = self.take()
        closing = ")" if opening.text == "(" else "}"
        items: list[n.Sentence] = []
        while not self.sees(closing):
            if self.token.kind == t.END:
                self.unexpected(f"`{closing}`")
            item = self._init_item(self.token.start)
            item.doc = self.tokens.doc(item.start, item.end)
            items.append(item)
            while self.accept(",", ";"):
                pass
        self.take()
        only = items[0] if len(items) == 1 else None
        if (
            isinstance(only, n.InitSentence) and only.value is None and only.body is None and closing == ")"
        ):  # plain GDL: the fact `init(atom)`, or the head of a rule
            head = n.FunctionCall(token.start, self.last_end, token.text, (only.place,))
            body = self.formula() if self.accept(":-") else None
            self._no_missing_sign(body)
            return n.RuleSentence(*self._from(token.start), (head,), body)
        self.extended = True
        if closing == "}":
            self.style(opening, "init ( … )")
        return items

    def _init_item(self, start: int) -> n.Sentence:
        if self.accept("^"):
            self.extended = True
            name = self.name("the name of a parameter")
            self.expect("::")
            kind = self.type()
            default = None
            if self.accept_word("default"):
                default = self.expression()
            elif self._goes_on():
                self._not_a_parameter()
                default = kind.bounds[0][1] if kind.bounds else n.Number(start, start, 1)
            return n.ParameterSentence(*self._from(start), name.text, kind, default)
        place = self.postfix()
        value = None
        if self.sees(*_ASSIGN):
            sign = self.take()
            if sign.text == "=":
                self.style(sign, ":=")
            self.extended = True
            if self.sees_word("new", "use") and self.peek().kind == t.NAME:
                self.take()
            value = self.expression()
        body = self.formula() if self.accept(":-") else None
        return n.InitSentence(*self._from(start), place, value, body)

    def _goes_on(self) -> bool:
        """Whether something that is not the end of a parameter follows on its line."""
        token = self.token
        if token.kind == t.STOP:
            return token.joined and self.peek().kind == t.NUMBER and self.peek().joined
        return not (token.first or token.kind == t.END or self.sees(")", "}", ",", ";"))

    def _not_a_parameter(self) -> None:
        """Report and skip text after the type of a parameter on its line."""
        with suppress(Refused):
            self.unexpected("`default`", help="write, for example, `init ^ N :: int >= 1 <= 9 default 3`")
        while not self.token.first and self.token.kind != t.END:
            self.take()

    def _next(self, token: Token) -> n.Sentence:
        """`next F(a) = v`, `next(F(a) = v)`."""
        self.style(token, "==>")
        closing = self.accept("(")
        place = self.postfix()
        self.expect(*_UPDATE, expected="`=`")
        value = self.expression()
        if closing:
            self.expect(")")
        body = self.formula() if self.accept(":-") else None
        return n.NextSentence(*self._from(token.start), place, value, body)

    def _surface(self, token: Token) -> n.Sentence:
        name = self.name("the name of a surface")
        parameters: list[str] = []
        if self.accept("("):
            parameters = self.listed(lambda: self.name("a parameter").text)
            self.expect(")")
        self.expect("<=>", "=:=")
        if not self.sees("{"):
            self.unexpected("the cells `{[ … ]}`")
        cells = self.primary()
        if not isinstance(cells, n.Comprehension):
            self.report.refuse("E-SYNTAX", "the cells of a surface must be a comprehension `{[ … ]}`", cells)
        block: tuple[n.Sentence, ...] = ()
        if self.accept_word("where") or (self.sees("(", "{") and not self.token.first):
            block = self._block()
        return n.SurfaceSentence(*self._from(token.start), name.text, tuple(parameters), cells, block)

    def _block(self) -> tuple[n.Sentence, ...]:
        if not self.sees("(", "{"):
            self.unexpected("`(`")
        self._deeper()
        level = self.level
        closing = self._closing()
        sentences: list[n.Sentence] = []
        while not self.sees(closing):
            if self.token.kind == t.END or self.sees(")", "}"):
                self.unexpected(f"`{closing}`")
            self._one(sentences)
        self.take()
        self.extended, self.level = True, level - 1
        return tuple(sentences)

    def _closing(self) -> str:
        """Consume an opening bracket and return the one that closes it."""
        return ")" if self.take().text == "(" else "}"

    def _let(self, token: Token) -> n.Sentence:
        name = self.take().text.lstrip("?").lower()
        self.expect("=", ":=", "<=>")
        place = self.postfix()
        block = self._block()
        return n.LetSentence(*self._from(token.start), name, place, block)

    def _consult(self, token: Token) -> n.Sentence:
        if token.text == "import":
            self.style(token, "consult")
        self.expect("{")
        names = []
        while not self.sees("}"):
            name = self.name("a name to import")
            names.append(n.Name(name.start, name.end, name.text))
            if not self.accept(","):
                break
        self.expect("}")
        if not self.accept_word("from"):
            self.unexpected("`from`")
        if self.token.kind != t.STRING:
            self.unexpected("the path of a file in quotes")
        place = self.token
        path = self._string()
        assert isinstance(path, n.String)
        return n.ConsultSentence(*self._from(token.start), tuple(names), path.text, place.start, place.end)

    def _when(self, token: Token) -> n.Sentence:
        self.style(token, "condition ==> effects")
        body = self.formula()
        self.expect("==>")
        effects = self._effects()
        return n.ConsequenceSentence(*self._from(token.start), body, effects)

    def _goal(self, token: Token) -> n.Sentence:
        """`goal r = n`, `goal(r) = n`."""
        self.style(token, "$=")
        if self.accept("("):
            role = self.expression()
            self.expect(")")
        else:
            role = self.postfix()
        self.expect("=")
        payoff = n.Payoff(token.start, self.last_end, role, self._sum())
        body = self.formula() if self.accept(":-") else None
        return n.GoalSentence(*self._from(token.start), (payoff,), body)

    def _after_name(self, *signs: str) -> bool:
        """Whether the token after the following name is one of these."""
        return self.peek(2).text in signs

    def _goal_of(self, follows: Token) -> bool:
        if follows.text == "(":
            closing = self.tokens.partner.get(self.at + 1)
            return closing is not None and self.items[closing + 1].text == "="
        return follows.kind in {t.NAME, t.VARIABLE}

    def _next_of(self, follows: Token) -> bool:
        if follows.kind == t.NAME:
            return True
        if follows.text != "(":
            return False
        closing = self.tokens.partner.get(self.at + 1)
        depth = self.tokens.depth[self.at + 1] + 1
        return closing is not None and any(
            self.items[i].text in _UPDATE and self.items[i].kind == t.SIGN and self.tokens.depth[i] == depth
            for i in range(self.at + 2, closing)
        )

    _OPENERS: Final[dict[str, tuple[Callable[..., n.Sentence | list[n.Sentence]], Callable[..., bool]]]] = {
        "role": (_role, lambda _, f: f.kind in {t.NAME, t.NUMBER, t.QUOTED, t.ANONYMOUS}),
        **dict.fromkeys(
            ("data", "enum", "type"),
            (_data, lambda self, f: f.kind == t.NAME and self._after_name(":=", "=", "::", "(")),
        ),
        "const": (_const, lambda self, f: f.kind == t.NAME and self._after_name(":=", "=")),
        "base": (_base, lambda _, f: f.kind == t.NAME),
        "init": (_init, lambda _, f: f.kind == t.NAME or f.text in {"^", "(", "{", "@"}),
        "next": (_next, _next_of),
        "surface": (_surface, lambda _, f: f.kind == t.NAME),
        "let": (_let, lambda _, f: f.kind in {t.VARIABLE, t.NAME}),
        **dict.fromkeys(("consult", "import"), (_consult, lambda _, f: f.text == "{")),
        "when": (
            _when,
            lambda _, f: (
                f.kind in {t.NAME, t.VARIABLE} or f.text in {"~", "\\+"} or (f.text == "(" and not f.joined)
            ),
        ),
        "goal": (_goal, _goal_of),
    }
    """By keyword: the parser of the sentence, and a test of the next token for whether it starts one."""

    # -- rules, moves, consequences --------------------------------------------------------------

    def _general(self, token: Token) -> n.Sentence:
        if plain := self._arrow_rule(token):
            return plain
        start = token.start
        first = self.formula()  # heads, the condition of a consequence, or a move
        if self.sees("<=>", "=:=") and isinstance(first, n.Holds) and isinstance(first.atom, n.Name):
            self.take_extended()
            value = self.expression()
            return n.ConstantSentence(*self._from(start), first.atom.spelling, value)
        if self.sees("==>"):
            self.take_extended()
            effects = self._effects()
            if move := _as_move(first):
                return n.MoveSentence(*self._from(start), move, None, effects)
            return n.ConsequenceSentence(*self._from(start), first, effects)
        if self.sees("::"):
            return self._double_colon(start, first)
        body = None
        if self.accept(":-") and not (self.token.kind == t.STOP and isinstance(first, n.Holds)):
            body = self.formula()
        return self._rule(start, first, body)

    def _rule(self, start: int, first: n.Formula, body: n.Formula | None) -> n.Sentence:
        move = _as_move(first) if isinstance(first, n.Doing) or self.sees("==>") else None
        if self.sees("==>") and move is None:
            self.unexpected("the end of a rule")
        effects = self._effects() if self.accept("==>") else None
        if move is not None:
            return n.MoveSentence(*self._from(start), move, body, effects)
        parts = first.parts if isinstance(first, n.Conjunction) else (first,)
        if all(isinstance(part, n.Payoff) for part in parts):
            payoffs = tuple(part for part in parts if isinstance(part, n.Payoff))
            return n.GoalSentence(*self._from(start), payoffs, body)
        heads: list[n.Expr] = []
        for part in parts:
            if not isinstance(part, n.Holds) or not isinstance(part.atom, n.Name | n.FunctionCall | n.Member):
                self.report.refuse(
                    "E-SYNTAX",
                    "this cannot be the head of a rule",
                    part,
                    help="a head is a relation such as `p(?x)`, a move `r -> m` or a payoff `r $= n`",
                )
            heads.append(part.atom)
        self.extended |= len(heads) > 1
        self._no_missing_sign(body)
        return n.RuleSentence(*self._from(start), tuple(heads), body)

    def _arrow_rule(self, token: Token) -> n.Sentence | None:
        """Parse `head <= body` or `head <- body`, which are accepted for plain rules."""
        mark = self.at
        if token.kind != t.NAME or token.text in {"not", "and", "or"}:
            return None
        at = mark + 1
        if self.items[at].text == "(":
            closing = self.tokens.partner.get(at)
            if closing is None:
                return None
            at = closing + 1
        if self.items[at].text not in {"<=", "<-"} or self.items[at].kind != t.SIGN:
            return None
        at += 1
        depth, column = self.tokens.depth[mark], self._column(token)
        while self.items[at].kind not in {t.END, t.STOP}:
            item = self.items[at]
            if self.tokens.depth[at] == depth:
                if item.text == "==>":
                    return None  # `<=` is a comparison in the condition of a consequence
                if self._may_begin(item, column):
                    break
            at += 1
        head = self.postfix()
        self.take()
        body = self.formula()
        return n.RuleSentence(*self._from(token.start), (head,), body)

    def _no_missing_sign(self, body: n.Formula | None) -> None:
        """S12: report an atom with variables after a body, on the same line, without connective."""
        token = self.token
        if body is None or token.first or token.kind not in {t.NAME, t.VARIABLE, t.QUOTED}:
            return
        following = self.at + 1
        if self.items[following].text == "(":
            closing = self.tokens.partner.get(following)
            if closing is None:
                return
            inside = self.items[following:closing]
            following = closing + 1
            has_variable = any(
                item.kind in {t.VARIABLE, t.ANONYMOUS} or (item.kind == t.NAME and item.text[:1].isupper())
                for item in inside
            )
        else:
            has_variable = token.kind == t.VARIABLE
        if self.items[following].text in {":-", "==>", "->", "@", "$=", "::", "<=>", "<=", "<-"}:
            return
        if has_variable or token.text in {"true", "does", "distinct"}:
            self.report.refuse(
                "S12",
                f"`{token.text}` is not connected to the condition before it",
                (token.start, self.items[following - 1].end),
                help="write `and` between the conditions",
            )

    def _double_colon(self, start: int, first: n.Formula) -> n.Sentence:
        sign = self.take()
        self.extended = True
        if isinstance(first, n.Doing):
            self.style(sign, ":-")
            return self._rule(start, first, self.formula())
        if not isinstance(first, n.Holds):
            self.report.refuse("E-SYNTAX", "this cannot be the head of an operation", (start, sign.start))
        body = self.formula()
        effects = self._effects() if self.accept("==>") else None
        return n.OperationSentence(*self._from(start), first.atom, body, effects)

    def _effects(self) -> tuple[n.Consequence, ...]:
        effects: list[n.Consequence] = []
        if self.sees("(", "{"):
            closing = self._closing()
            while not self.sees(closing):
                if self.token.kind == t.END:
                    self.unexpected(f"`{closing}`")
                effects.append(self._effect())
                while self.accept(",", ";", "&", "&&") or self.accept_word("and"):
                    pass
            self.take()
            return tuple(effects)
        effects.append(self._effect())
        while self.accept("&", "&&", ",") or self.accept_word("and"):
            effects.append(self._effect())
        return tuple(effects)

    def _effect(self) -> n.Consequence:
        token = self.token
        if self.accept_word("persist"):
            return n.Consequence("persist", None, None, token.start, token.end)
        if self.accept("~", "\\+") or self.accept_word("not"):
            return n.Consequence("~", self.postfix(), None, token.start, self.last_end)
        place = self.postfix()
        if self.sees(*_UPDATE):
            sign = self.take()
            if sign.text != "=":
                self.style(sign, "=")
            return n.Consequence("=", place, self.expression(), token.start, self.last_end)
        if update := self.accept("+=", "-="):
            return n.Consequence(update.text, place, self.expression(), token.start, self.last_end)
        if self.sees("\\=>", "<=="):
            self.unexpected("`=`")
        return n.Consequence("+", place, None, token.start, self.last_end)


def _as_move(first: n.Formula) -> n.Doing | None:
    """Return a move, also `input(r, a)` or `legal(r, a)` with effects, as such; None for anything else."""
    if isinstance(first, n.Doing):
        return first
    if not isinstance(first, n.Holds) or not isinstance(first.atom, n.FunctionCall):
        return None
    call = first.atom
    if call.folded not in {"input", "legal"} or len(call.args) != 2:
        return None
    return n.Doing(first.start, first.end, call.args[0], None, call.args[1])

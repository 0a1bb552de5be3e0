"""Recursive-descent parser for expressions, types and formulas of GGDL."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar

from herbrand.diagnostic import Edit, Fix, Span
from herbrand.syntax.ggdl import nodes as n
from herbrand.syntax.ggdl import tokens as t
from herbrand.syntax.ggdl.report import INSTEAD_OF_SIGN, INSTEAD_OF_TYPE
from herbrand.syntax.infix_tokens import unquote
from herbrand.syntax.tokens import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.syntax.ggdl.report import ProgramDiagnostics
    from herbrand.syntax.ggdl.tokens import GgdlTokens, Token

__all__ = ["ExpressionReader"]

COMPARISONS: Final = {
    "==": "==", "===": "===", "=/=": "#", "!=": "#", "#": "#", "<#>": "#", "\\=": "#",
    "<<": "<<", ">>": ">>", "<<<": "<<", ">>>": ">>", "<": "<", ">": ">", "<=": "<=", ">=": ">=",
}  # fmt: skip
PLAIN_COMPARISONS: Final = frozenset({"#", "!=", "\\="})
ARITHMETIC: Final = frozenset({"+", "-", "*"})
AND_SIGNS: Final = frozenset({"&", "&&", ","})
OR_SIGNS: Final = frozenset({"|", "||"})
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_LOGIC: Final = frozenset({"and", "or", "not"})
_T = TypeVar("_T")
_EXPRESSION_LEVELS: Final = 4
"""Levels of `MAX_DEPTH` that an expression uses: parsing it takes four times as many calls as a formula."""


class ExpressionReader:
    """A cursor over the tokens, with methods that parse at its position."""

    def __init__(self, tokens: GgdlTokens, report: ProgramDiagnostics) -> None:
        self.tokens = tokens
        self.items = tokens.items
        self.report = report
        self.at = 0
        self.extended = False
        """Whether the current sentence used syntax that only GGDL has."""
        self.level = 0
        self.first = 0
        """Index of the first token of the current sentence."""

    # -- tokens ----------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        """The next token."""
        return self.items[self.at]

    def peek(self, ahead: int = 1) -> Token:
        """Return a later token."""
        return self.items[min(self.at + ahead, len(self.items) - 1)]

    def sees(self, *signs: str) -> bool:
        """Whether the next token is one of these operators."""
        token = self.items[self.at]
        return token.kind == t.SIGN and token.text in signs

    def sees_word(self, *words: str) -> bool:
        """Whether the next token is one of these words."""
        token = self.items[self.at]
        return token.kind == t.NAME and token.text in words

    def take(self) -> Token:
        """Consume one token, whatever it is."""
        token = self.items[self.at]
        if token.kind != t.END:
            self.at += 1
        return token

    def take_extended(self) -> Token:
        """Consume one token of syntax that only GGDL has."""
        self.extended = True
        return self.take()

    def accept(self, *signs: str) -> Token | None:
        """Consume the next token if it is one of these operators."""
        return self.take() if self.sees(*signs) else None

    def accept_word(self, *words: str) -> Token | None:
        """Consume the next token if it is one of these words."""
        return self.take() if self.sees_word(*words) else None

    def expect(self, *signs: str, expected: str = "") -> Token:
        """Consume one of these operators; refuse any other token."""
        return self.accept(*signs) or self.unexpected(expected or f"`{signs[0]}`")

    def listed(self, parse: Callable[[], _T], *separators: str) -> list[_T]:
        """Parse one or more items between separators, by default commas."""
        items = [parse()]
        while self.accept(*(separators or (",",))):
            items.append(parse())
        return items

    def name(self, expected: str) -> Token:
        """Consume a name; refuse any other token."""
        if self.token.kind != t.NAME:
            self.unexpected(expected)
        return self.take()

    @property
    def last_end(self) -> int:
        """End offset of the last consumed token."""
        return self.items[self.at - 1].end if self.at else 0

    def unexpected(self, expected: str, *, help: str | None = None) -> NoReturn:  # noqa: A002
        """Refuse the next token; if a bracket of the sentence is never closed, report that instead."""
        token = self.token
        for at in range(self.at - 1, self.first - 1, -1):
            opening = self.items[at]
            if opening.kind == t.SIGN and opening.text in _CLOSING and at not in self.tokens.partner:
                self.report.refuse(
                    "S2",
                    f"this `{opening.text}` is never closed",
                    opening,
                    help=f"insert `{_CLOSING[opening.text]}` where it ends",
                    labels=[(token, "it should be closed before this")],
                )
        if token.kind == t.SIGN and token.text in INSTEAD_OF_SIGN:
            self.dialect(f"`{token.text}`", INSTEAD_OF_SIGN[token.text])
        actual = "the end of the text" if token.kind == t.END else f"`{token.text[:40]}`"
        self.report.refuse("E-SYNTAX", f"expected {expected}, found {actual}", token, help=help)

    def dialect(self, construct: str, instead: str, token: Token | None = None) -> NoReturn:
        """Refuse a construct of a neighbouring dialect."""
        message = f"{construct} belongs to another dialect"
        self.report.refuse("E-DIALECT", message, token or self.token, help=instead)

    def style(self, token: Token, instead: str) -> None:
        """Report a spelling of another revision of the language."""
        self.extended = True
        self.report.add(
            "W-STYLE",
            f"`{token.text}` is a spelling of another revision of the language",
            token,
            help=f"write `{instead}`",
        )

    def _deeper(self, levels: int = 1) -> None:
        self.level += levels
        if self.level > MAX_DEPTH:
            self.report.refuse("E-SYNTAX", "nested too deeply", self.token)

    # -- formulas --------------------------------------------------------------------------------

    def formula(self, *, grouped: bool = False) -> n.Formula:
        """Parse a disjunction; inside parentheses `;` means "or" as well."""
        self._deeper()
        start = self.token.start
        parts = [self._conjunction()]
        while self.sees(*OR_SIGNS) or (grouped and self.sees(";")) or self.sees_word("or"):
            self.extended |= self.take().text == "||"
            parts.append(self._conjunction())
        self.level -= 1
        return parts[0] if len(parts) == 1 else n.Disjunction(start, self.last_end, tuple(parts))

    def _conjunction(self) -> n.Formula:
        start = self.token.start
        parts = [self.literal()]
        while self.sees(*AND_SIGNS) or self.sees_word("and"):
            sign = self.take()
            self.extended |= sign.text == "&&"
            if self.token.kind in {t.END, t.STOP, t.PREFIX} or self.sees(")", "}", "]"):
                self._dangling(sign)
            parts.append(self.literal())
            if (
                self.sees(":-")
                and self.items[self.at - 1].text != ")"
                and len(parts) > 1
                and sign.text != ","
            ):
                self._dangling(sign)
        return parts[0] if len(parts) == 1 else n.Conjunction(start, self.last_end, tuple(parts))

    def _dangling(self, sign: Token) -> NoReturn:
        self.report.refuse(
            "S13",
            f"`{sign.text}` is not followed by a condition",
            sign,
            help="delete it, or write the missing condition",
        )

    def literal(self) -> n.Formula:
        """Parse one condition."""
        self._deeper()
        try:
            return self._literal()
        finally:
            self.level -= 1

    def _literal(self) -> n.Formula:
        token = self.token
        if self.accept("~", "\\+") or self.accept_word("not"):
            inner = self.literal()
            return n.Negation(token.start, self.last_end, inner)
        if self.sees("(") and self._is_group():
            self.take()
            inner = self.formula(grouped=True)
            self.expect(")")
            return inner
        if token.kind == t.SIGN and token.text == "#":
            self.dialect("a count", "define a relation that counts")
        if self.sees("{") and self._is_block():
            self.dialect("a condition in braces", "write `( … )`, with `and` and `or` between the parts")
        if self.sees_word("all") and self.peek().text == "{":
            self.dialect("`all { … }`", "join the conditions with `and`")
        if token.kind == t.NAME and token.text in _LOGIC:
            if self.peek().text == "(" and token.text in {"and", "or"}:
                return self._word_junction()
            self.unexpected("a condition")
        if token.kind == t.NAME and token.text.lower() == "distinct" and self.peek().text == "(":
            self.take()
            self.take()
            left = self.expression()
            self.expect(",")
            right = self.expression()
            self.expect(")")
            return n.Comparison(token.start, self.last_end, "#", left, right)
        if token.kind == t.NAME and token.text == "role" and self.peek().kind == t.VARIABLE:
            return self._spaced_role()
        left = self.expression()
        return self._after(token, left)

    def _after(self, token: Token, left: n.Expr) -> n.Formula:
        """Parse the rest of a condition after its first expression."""
        if self.sees("=") and not self.token.first:
            sign = self.take_extended()
            self.report.add(
                "E-SYNTAX",
                "`=` assigns a value, which no condition does",
                sign,
                help="write `==` to compare",
                fix=Fix("write `==`", (Edit(Span(sign.start, sign.end), "=="),)),
            )
            right = self.expression()
            return n.Comparison(token.start, self.last_end, "==", left, right)
        if self.sees(*COMPARISONS):
            sign = self.take()
            self.extended |= sign.text not in PLAIN_COMPARISONS
            right = self.expression()
            return n.Comparison(token.start, self.last_end, COMPARISONS[sign.text], left, right)
        word = self.token
        if word.kind == t.NAME and word.text == "in" and not (word.first and self.peek().text == "("):
            self.take_extended()
            right = self.expression()
            return n.Membership(token.start, self.last_end, left, right)
        if word.kind == t.NAME and word.text == "not" and self.peek().text == "in" and not self.peek().first:
            self.take_extended()
            self.take()
            right = self.expression()
            inner = n.Membership(token.start, self.last_end, left, right)
            return n.Negation(token.start, self.last_end, inner)
        if word.kind == t.GENERATOR and word.text == "\\in":
            self.dialect("`\\in`", "write `in`")
        if word.kind == t.NAME and word.text == "has":
            self.dialect("`has`", "write the relation: `y(x)`")
        if self.sees("@", "->"):
            return self._doing(token, left)
        if self.sees("$="):
            self.take_extended()
            right = self._sum()
            return n.Payoff(token.start, self.last_end, left, right)
        if self.token.kind == t.SIGN and self.token.text in INSTEAD_OF_SIGN:
            self.unexpected("a condition")
        return n.Holds(token.start, self.last_end, left)

    def _spaced_role(self) -> n.Formula:
        """Parse `role ?p -> …`."""
        token = self.take()
        variable = self.primary()
        subject = n.FunctionCall(token.start, self.last_end, "role", (variable,))
        if not self.sees("->", "@"):
            self.unexpected("`->`")
        return self._doing(token, subject)

    def _doing(self, token: Token, subject: n.Expr) -> n.Formula:
        self.extended = True
        place = self.postfix() if self.accept("@") else None
        self.expect("->")
        action = self.postfix()
        if not isinstance(action, n.Name | n.FunctionCall | n.Var):
            self.report.refuse("E-SYNTAX", "an action is a name with arguments", action)
        return n.Doing(token.start, self.last_end, subject, place, action)

    def _word_junction(self) -> n.Formula:
        word = self.take()
        self.expect("(")
        parts = self.listed(self.literal)
        self.expect(")")
        make = n.Conjunction if word.text == "and" else n.Disjunction
        return make(word.start, self.last_end, tuple(parts))

    def _is_group(self) -> bool:
        """Whether a parenthesis encloses a condition: no comparison or sum continues after it."""
        closing = self.tokens.partner.get(self.at)
        if closing is None:
            return True
        following = self.items[closing + 1]
        if following.kind == t.SIGN and (following.text in ARITHMETIC or following.text in COMPARISONS):
            return following.first
        return not (following.text == "in" and not following.first)

    def _is_block(self) -> bool:
        """Whether a brace opens a block, not a compared collection or a record."""
        closing = self.tokens.partner.get(self.at)
        if closing is None or (self.peek().joined and self.peek().text in {"{", "[", "("}):
            return False
        following = self.items[closing + 1]
        return not (following.kind == t.SIGN and following.text in COMPARISONS)

    # -- expressions -----------------------------------------------------------------------------

    def expression(self) -> n.Expr:
        """Parse a sum, or a range between two."""
        self._deeper(_EXPRESSION_LEVELS)
        left = self._sum()
        if self.sees(".."):
            self.take_extended()
            right = self._sum()
            left = n.Interval(left.start, right.end, left, right)
        self.level -= _EXPRESSION_LEVELS
        return left

    def _sum(self) -> n.Expr:
        left = self._product()
        while self.sees("+", "-") and not self.token.first:
            sign = self.take_extended().text
            right = self._product()
            left = n.Sum(left.start, right.end, sign, left, right)
        return left

    def _product(self) -> n.Expr:
        left = self._unary()
        while self.sees("*"):
            self.take_extended()
            right = self._unary()
            left = n.Sum(left.start, right.end, "*", left, right)
        return left

    def _unary(self) -> n.Expr:
        minus = self.accept("-")
        if minus is None:
            return self.postfix()
        self._deeper()
        inner = self._unary()
        self.level -= 1
        if isinstance(inner, n.Number):
            return n.Number(minus.start, inner.end, -inner.value)
        return n.Sum(minus.start, inner.end, "-", n.Number(minus.start, minus.end, 0), inner)

    def postfix(self) -> n.Expr:
        """Parse a primary with members and indices."""
        expr = self.primary()
        while True:
            if self.sees("."):
                self.take_extended()
                name = self.name("the name of a member")
                args: tuple[n.Expr, ...] = ()
                if self.sees("(") and self.token.joined:
                    args = self.arguments()
                expr = n.Member(expr.start, self.last_end, expr, name.text, args)
            elif self.sees("[") and not self.token.first:
                self.extended = True
                places = self.arguments("[", "]")
                expr = n.Index(expr.start, self.last_end, expr, places)
            else:
                return expr

    def arguments(self, opening: str = "(", closing: str = ")") -> tuple[n.Expr, ...]:
        """Parse arguments in brackets."""
        self._deeper()
        self.expect(opening)
        args = [] if self.sees(closing) else self.listed(self._argument)
        if self.sees(":") and isinstance(args[-1], n.Name):
            written = f"?{args[-1].spelling}:{self.peek().text}"
            self.unexpected(f"`,` or `{closing}`", help=f"write `{written}` for a variable with a type")
        self.expect(closing, expected=f"`,` or `{closing}`")
        self.level -= 1
        return tuple(args)

    def _argument(self) -> n.Expr:
        expr = self.expression()
        if self.sees_word("in") and isinstance(expr, n.Var):
            self.take_extended()
            return n.Var(expr.start, self.last_end, expr.name, expr.spelling, self.type())
        if self.sees("|"):
            self.take_extended()
            options = (expr, *self.listed(self.expression, "|"))
            return n.AlternativeTerms(expr.start, self.last_end, options)
        return expr

    def primary(self) -> n.Expr:
        """Parse a constant, variable, call, collection or parenthesis."""
        token = self.token
        kind = token.kind
        if kind == t.NUMBER:
            self.take()
            return n.Number(token.start, token.end, int(token.text[:4000]))
        if kind == t.STRING:
            self.extended = True
            return self._string()
        if kind == t.QUOTED:
            self.take()
            return n.Quoted(token.start, token.end, unquote(token.text))
        if kind == t.VARIABLE:
            return self._variable()
        if kind == t.ANONYMOUS:
            self.take()
            return n.Anonymous(token.start, token.end)
        if kind == t.GENERATOR:
            if token.text == "\\in":
                self.dialect("`\\in`", "write `in`")
            self.take_extended()
            return n.Generator(token.start, token.end, token.text[1:].lower())
        if kind == t.NAME and token.text not in _LOGIC:
            return self._name()
        if self.sees("@"):
            self.take_extended()
            args = self.arguments("[", "]")
            return n.Index(token.start, self.last_end, None, args)
        if self.sees("("):
            self._deeper()
            self.take_extended()
            inner = self.expression()
            self.expect(")")
            self.level -= 1
            return inner
        if self.sees("{"):
            return self._braces()
        if self.sees("|"):
            self.dialect("a size `|x|`", "define a relation that counts")
        if self.sees("#"):
            if self.peek(2).text == "<":
                self.dialect("a template `#Name<T>`", "write the rules for each type")
            self.dialect("`#`", "define a relation that counts")
        self.unexpected("a value")

    def _name(self) -> n.Expr:
        token = self.take()
        if self.sees("(") and not self.token.first:
            if token.text == "sum" and any(
                item.text == "of" and item.kind == t.NAME
                for item in self.items[self.at : self.tokens.partner.get(self.at, self.at)]
            ):
                self.dialect("`sum`", "add with `+`", token)
            self.extended |= token.text[0].isupper()
            if args := self.arguments():
                return n.FunctionCall(token.start, self.last_end, token.text, args)
        return n.Name(token.start, self.last_end, token.text)

    def _variable(self) -> n.Var:
        token = self.take()
        spelling = token.text.lstrip("?").replace("'", "_p")
        kind = None
        if self.sees(":"):
            self.take_extended()
            kind = self.type()
        return n.Var(token.start, self.last_end, spelling.lower(), spelling, kind)

    def _string(self) -> n.Expr:
        token = self.take()
        try:
            text = json.loads(token.text)
        except ValueError:
            self.report.refuse("E-LEX", "a string with an escape sequence that JSON does not define", token)
        return n.String(token.start, token.end, str(text))

    def _braces(self) -> n.Expr:
        """Parse `{{ … }}`, `{ … }` or `{[ … | … ]}`."""
        self.extended = True
        opening = self.expect("{")
        if self.token.joined and self.sees("["):
            self.take()
            item = self._sum()
            self.expect("|", expected="`|` and what the generators range over")
            generators = self.listed(self._generator)
            self.expect("]")
            self.expect("}")
            return n.Comprehension(opening.start, self.last_end, item, tuple(generators))
        if self.token.joined and self.sees("("):
            self.dialect("a record `{( … )}`", "write the rules themselves")
        double = self.token.joined and self.accept("{") is not None
        items = [] if self.sees("}") else self.listed(self._argument)
        self.expect("}", expected="`,` or `}`")
        if double:
            self.expect("}")
        return n.SetLiteral(opening.start, self.last_end, tuple(items))

    def _generator(self) -> tuple[str, n.Expr]:
        token = self.token
        if token.kind not in {t.GENERATOR, t.VARIABLE}:
            self.unexpected("a generator such as `\\row`")
        self.take()
        if not self.accept("<-") and not self.accept_word("in"):
            self.unexpected("`<-`")
        return token.text.lstrip("\\?").lower(), self.expression()

    # -- types -----------------------------------------------------------------------------------

    def union(self) -> n.Type:
        """Parse a type, or several joined by `|`, whose members are types or constants."""
        start = self.token.start
        if self.peek().text != "|" and self.token.kind != t.NUMBER:
            return self.type()
        options = self.listed(self.expression, "|", "||")
        if len(options) == 1 and isinstance(options[0], n.Interval):
            return n.Type(start, self.last_end, low=options[0].low, high=options[0].high)
        self.extended = True
        return n.Type(start, self.last_end, options=tuple(options))

    def type(self) -> n.Type:
        """Parse a type: a name, a range, `int` with bounds, `[]T`."""
        start = self.token.start
        self.extended = True
        if self.sees("[") and self.peek().text == "]":
            self.take()
            self.take()
            inner = self.type()
            return n.Type(start, self.last_end, inner.name, inner.low, inner.high, inner.bounds, is_set=True)
        if self.token.kind == t.NAME and self.peek().text not in {"..", "+", "-", "*"}:
            word = self.take()
            if word.text in INSTEAD_OF_TYPE and self.sees(">=", "<=", ">", "<"):
                self.report.refuse(
                    "E-TYPE-UNKNOWN",
                    f"unknown type `{word.text}`",
                    word,
                    help=f"write `{INSTEAD_OF_TYPE[word.text]}`",
                )
            bounds: list[tuple[str, n.Expr]] = []
            while word.text == "int" and self.sees(">=", "<=", ">", "<"):
                sign = self.take().text
                bounds.append((sign, self._sum()))
            return n.Type(start, self.last_end, word.text, bounds=tuple(bounds))
        low = self._sum()
        if not self.sees(".."):
            if isinstance(low, n.Sum):
                self.report.refuse(
                    "E-DIALECT",
                    "sums and products of types belong to another dialect",
                    (start, low.end),
                    help="join alternatives with `|` in a data definition",
                )
            self.unexpected("a type")
        self.take()
        high = self._sum()
        return n.Type(start, self.last_end, low=low, high=high)

"""The careful reader of prefix statements: reports errors, repairs them, and continues.

It reads a statement into nested lists (`herbrand.syntax.lists`) and then builds nodes from them.
A statement that can be repaired is read as repaired; any other is dropped.  Either
way, all its errors are reported.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, cast

from herbrand.diagnostic import Fix, Label, Span
from herbrand.syntax.calls import InfixCalls, is_call
from herbrand.syntax.faults import Faults, edit
from herbrand.syntax.lists import (
    Seq,
    Symbol,
    connective_of,
    first_word,
    is_arrow,
    is_rule,
    left_over,
    list_at,
    list_without,
    looks_like_literal,
    name_of_statement,
    unclosed_parentheses,
)
from herbrand.syntax.nodes import And, Atom, Comment, Constant, Distinct, Function, Not, Or, Rule, Variable
from herbrand.syntax.tokens import ARITY, ARROWS, CONNECTIVES, MAX_DEPTH, NOT_SIGNS, TOKEN
from herbrand.syntax.tree import Skipped

if TYPE_CHECKING:
    from herbrand.syntax.lists import Item
    from herbrand.syntax.nodes import Literal, Term
    from herbrand.syntax.tokens import DiagnosticCollector, Spellings

__all__ = ["CarefulReader"]

_FIRST_COLUMN = re.compile(r"[\r\n]\(")


def _is_body(parts: list[Item]) -> bool:
    """Whether some of these lists can only be conditions."""
    return any(first_word(part) in {"true", "does", *CONNECTIVES} for part in parts)


class CarefulReader:
    """Reads single statements of one sheet; created at the first malformed one."""

    def __init__(
        self,
        text: str,
        names: Spellings,
        report: DiagnosticCollector,
        statements: list[Rule],
        comments: list[Comment],
    ) -> None:
        self.text = text
        self.names = names
        self.report = report
        self.faults = Faults(text, report)
        self.calls = InfixCalls(text, report)
        self.statements = statements
        self.comments = comments
        self.unclosed = unclosed_parentheses(text)
        self.is_dropped = False
        """Whether the current statement has an error without a repair, and is dropped."""
        self.skipped: list[Skipped] = []
        """The statements that were dropped."""
        self.left_over: list[Span] = []
        """Texts between the statements that are none."""
        self.bodiless: tuple[int, int, int] | None = None
        """The last rule without a body: its start, its end, and its index."""

    # -- from text to lists ----------------------------------------------------------------------

    def wrapped(self, start: int) -> tuple[int, int] | None:
        """Return the inner range of a sheet that is wrapped in one list, as in START messages."""
        outside: list[Comment] = []
        opened: list[int] = []
        depth, close = 0, -1
        for token in TOKEN.finditer(self.text, start):
            first = token[0][0]
            if first == ";":
                if close >= 0 or not opened:
                    outside.append(Comment(token[0], *token.span()))
            elif close >= 0 or (depth < 2 and first not in "()"):
                return None
            elif first == "(":
                if len(opened) < 2:
                    opened.append(token.start())
                depth += 1
            elif first == ")":
                depth -= 1
                close = token.start() if depth == 0 else -1
        if close < 0 or len(opened) < 2:
            return None
        self.comments += outside
        return opened[0] + 1, close

    def read_statement(self, start: int, end: int) -> int:
        """Read the item at `start`, whatever it is, and return the offset after it."""
        token = TOKEN.search(self.text, start, end)
        if token is None:
            return end
        word, (at, after) = token[0], token.span()
        self.is_dropped = False
        if word[0] == ";":
            self.comments.append(Comment(word, at, after))
            return after
        if word == ")":
            return self._extra_parentheses(at, end)
        if word != "(":
            stop = left_over(self.text, at, end)
            if stop > at:
                self.left_over.append(Span(at, stop))
                return stop
            items: list[Item] = [Symbol(word, at, after)]
            if self.text.startswith("(", after, end):
                items, after = self._glued_pair(Symbol(word, at, after), end)
            for item in self.calls.elements(Seq(items, at, after), in_call=False, is_sheet=True):
                self._statement(item)
            return after
        sequence, after = self._list(at, end)
        if sequence is not None:
            self._statement(sequence)
        return after

    def _is_unclosed(self, start: int) -> bool:
        at = bisect_left(self.unclosed, start)
        return at < len(self.unclosed) and self.unclosed[at] == start

    def _list(self, start: int, end: int) -> tuple[Seq | None, int]:
        lists = list_at(self.text, start, end, is_open=self._is_unclosed(start))
        self.comments += [Comment(self.text[a:b], a, b) for a, b in lists.comments]
        if lists.deep is not None:
            self.report.error(
                "too-deep",
                f"more than {MAX_DEPTH} parentheses are open here",
                Span(lists.deep, lists.deep + 1),
                labels=(Label(Span(start, start + 1), "the statement begins here"),),
                help="the statement was skipped; terms in games are a few levels deep",
            )
            self.skipped.append(Skipped(start, lists.end, None))
            return None, lists.end
        items = lists.root.items
        if not lists.root.closed and items and isinstance(items[0], Seq) and len(lists.torn) == 1:
            self.report.error(
                "unclosed-parenthesis",
                "this parenthesis is never closed",
                Span(start, start + 1),
                help="delete it: the list after it is a statement by itself",
                fix=Fix("delete the parenthesis", (edit(start, start + 1),)),
            )
            del self.comments[len(self.comments) - len(lists.comments) :]
            return None, start + 1
        for torn in lists.torn:
            self.faults.unclosed(torn)
        alone = lists.torn[0] if len(lists.torn) == 1 else None
        self.faults.torn = alone if alone is not None and len(alone.opened) == 1 else None
        return lists.root, lists.end

    def _extra_parentheses(self, start: int, end: int) -> int:
        last = start
        for token in TOKEN.finditer(self.text, start, end):
            if token[0] != ")":
                break
            last = token.end()
        count = self.text.count(")", start, last)
        if count == 1 and self._closed_early(start, last):
            return last
        it = "it" if count == 1 else "them"
        self.report.error(
            "extra-parenthesis",
            "this `)` closes nothing" if count == 1 else f"these {count} `)` close nothing",
            Span(start, last),
            help=f"delete {it}, or look for a statement above that is closed too early",
            fix=Fix(f"delete {it}", (edit(start, last),)),
        )
        return last

    def _closed_early(self, extra: int, end: int) -> bool:
        """Read `(<= head) literal)` as the rule that was intended, if it is one."""
        if self.bodiless is None:
            return False
        start, close, number = self.bodiless
        self.bodiless = None
        if number + 1 >= len(self.statements) or _FIRST_COLUMN.search(self.text, close, extra):
            return False
        lists = list_without(self.text, start, end, close - 1)
        if lists is None:
            return False
        self.report.retract(start)
        del self.statements[number:]
        self.report.error(
            "extra-parenthesis",
            "this `)` closes the rule before its body",
            Span(close - 1, close),
            labels=(Label(Span(extra, end), "so this one closes nothing"),),
            help="delete the first of the two",
            fix=Fix("delete it", (edit(close - 1, close),)),
        )
        self._statement(lists.root)
        return True

    def _glued_pair(self, word: Symbol, end: int) -> tuple[list[Item], int]:
        """Read a word at the top level with the list directly after it: `role(white)`."""
        if not self._is_unclosed(word.end):
            lists = list_at(self.text, word.end, end, is_open=False)
            if lists.deep is None and not lists.torn and is_call(word, lists.root, first=False):
                self.comments += [Comment(self.text[a:b], a, b) for a, b in lists.comments]
                return [word, lists.root], lists.end
        return [word], word.end

    # -- from lists to statements ----------------------------------------------------------------

    def _statement(self, item: Item) -> None:
        """Make statements from a word or a list at the top level; what yields none is noted as skipped."""
        before = len(self.statements)
        self._make_statement(item)
        if len(self.statements) == before:
            self.skipped.append(Skipped(item.start, item.end, name_of_statement(item)))

    def _make_statement(self, item: Item) -> None:
        self.is_dropped = False
        if isinstance(item, Symbol):
            atom = self._word_as_atom(item, "a statement")
            if atom is not None:
                self.statements.append(Rule(atom, (), item.start, item.end))
            return
        items = self.calls.elements(item)
        if not items:
            self.faults.empty(item, "delete it")
            return
        first = items[0]
        if len(items) > 2 and is_arrow(items[1]) and not is_arrow(first):
            self.faults.infix_arrow(items[1], first)
            self._rule(item, [items[1], first, *items[2:]])
        elif len(items) > 1 and all(isinstance(part, Seq) for part in items) and _is_body(items[1:]):
            self.faults.missing_arrow(item)
            self._rule(item, [first, *items])
        elif isinstance(first, Seq):
            self.faults.group(item, items, "a statement begins with a name, this one with a list")
            if all(isinstance(part, Seq) for part in items):
                for part in items:
                    self._statement(part)
        elif is_arrow(first):
            self._rule(item, items)
        elif first.text.lower() in CONNECTIVES:
            if self._is_true_distinct(items):
                self.report.warning(
                    "misplaced-literal",
                    "different names are distinct anyway: this is no statement of the game",
                    item,
                    help="delete it",
                    fix=self.faults.deletion(item),
                )
                return
            self.report.error(
                "misplaced-literal",
                f"`{first.text}` is allowed only inside a rule",
                item,
                help="a statement is a fact `(name …)` or a rule `(<= head literal …)`",
            )
        else:
            atom = self._atom(item, items)
            if not self.is_dropped:
                self.statements.append(Rule(atom, (), item.start, item.end))

    def _is_true_distinct(self, items: list[Item]) -> bool:
        """Whether a list says that two different names are distinct."""
        words = [item.text for item in items if isinstance(item, Symbol)]
        if len(words) != len(items) or len(words) != 3 or words[0].lower() != "distinct":
            return False
        kinds = [self.names.look_up(word, items[0].start)[:2] for word in words[1:]]
        return all(kind is Constant for kind, _ in kinds) and kinds[0] != kinds[1]

    def _rule(self, item: Seq, items: list[Item]) -> None:
        """Make a rule, or several if a lost parenthesis nested them."""
        parts = items[1:]
        nested = next((i for i, part in enumerate(parts) if is_rule(part)), len(parts))
        inside = parts[nested:]
        if inside:
            self.faults.nested_rules(item, parts[:nested], inside)
            if not all(map(is_rule, inside)):
                return
            parts = parts[:nested]
        if not parts:
            if not inside:
                self.report.error(
                    "rule-without-head",
                    f"`{self.text[item.start : item.end]}` is a rule with neither head nor body",
                    item,
                    help="write `(<= head literal …)`, or delete it",
                    fix=self.faults.deletion(item),
                )
        else:
            head, *body = self._literals_of_rule(parts)
            if head is not None and not self.is_dropped:
                if not body and not inside and item.closed and len(parts) == 1:
                    self.faults.without_body(item, parts[0])
                    self.bodiless = item.start, item.end, len(self.statements)
                self.statements.append(
                    Rule(cast("Atom", head), tuple(cast("list[Literal]", body)), item.start, item.end)
                )
        for part in inside:
            self._statement(part)

    def _literals_of_rule(self, parts: list[Item]) -> list[Literal | None]:
        """Return head and body; the head is None if it is unusable."""
        head, *conditions = parts
        literals: list[Literal | None] = []
        surplus: list[Item] = []
        if isinstance(head, Symbol):
            literals.append(self._word_as_atom(head, "the head of a rule"))
        else:
            items = self.calls.elements(head)
            if items and isinstance(items[0], Symbol) and items[0].text.lower() in CONNECTIVES:
                self.is_dropped = True
                self.report.error(
                    "misplaced-literal",
                    f"`{items[0].text}` cannot be the head of a rule",
                    head,
                    help="the head is an atom such as `(legal ?r ?m)`; conditions follow it",
                )
                literals.append(None)
            else:
                items, surplus = self._split_surplus(head, items)
                literals.append(self._applied(head, items, "the head of a rule"))
        return [*literals, *self._all_literals([*surplus, *conditions])]

    # -- literals --------------------------------------------------------------------------------

    def _literals(self, item: Item) -> list[Literal]:
        """Make the literals of one element of a body: one, unless a parenthesis is misplaced."""
        if isinstance(item, Symbol):
            atom = self._word_as_atom(item, "a condition")
            return [] if atom is None else [atom]
        items = self.calls.elements(item)
        if not items:
            self.faults.empty(item, "delete it")
            return []
        first = items[0]
        if isinstance(first, Seq):
            self.faults.group(item, items, "a condition begins with a name, this one with a list")
            if any(isinstance(part, Symbol) for part in items):
                self.is_dropped = True
                return []
            return self._all_literals(items)
        word = first.text.lower()
        if word in CONNECTIVES or first.text in NOT_SIGNS:
            return self._connected(item, items, "not" if first.text in NOT_SIGNS else word)
        if word == "true" and len(items) == 2 and connective_of(items[1]):
            return self._true_of_literal(item, items[1])
        if any(is_arrow(part) for part in items):
            self.is_dropped = True
            self.faults.infix_sign(item, "`<=` begins a rule and is not allowed elsewhere")
            return []
        items, surplus = self._split_surplus(item, items)
        atom = self._applied(item, items, "a condition")
        return [*([] if atom is None else [atom]), *self._all_literals(surplus)]

    def _all_literals(self, items: list[Item]) -> list[Literal]:
        return [literal for item in items for literal in self._literals(item)]

    def _connected(self, item: Seq, items: list[Item], word: str) -> list[Literal]:
        start, end = item.start, item.end
        parts = items[1:]
        if word == "distinct":
            parts, surplus = self._split_distinct(item, parts)
            terms = [self._term(part) for part in parts]
            if len(terms) != 2:
                self.is_dropped = True
                self.faults.operands(item, "distinct", "two terms", terms)
                return []
            return [Distinct(terms[0], terms[1], start, end), *self._all_literals(surplus)]
        literals: list[Literal] = []
        for part in parts:
            if word == "or" and connective_of(part) == "or":
                self.report.note(
                    "nested-or",
                    "an `or` inside an `or`",
                    part,
                    help="its parts can be listed in the outer one",
                )
            literals += self._literals(part)
        if word == "not":
            if len(parts) != 1:
                self.is_dropped = True
                self.faults.operands(item, "not", "one condition", parts)
            elif len(literals) == 1:
                return [Not(literals[0], start, end)]
            elif literals:
                return [Not(And(tuple(literals), parts[0].start, parts[0].end), start, end)]
            return []
        if word == "or":
            if not parts:
                self.report.warning(
                    "empty-or",
                    "an `or` without operands is never true",
                    Span(start, end),
                    help="list the alternatives, or delete the rule",
                )
            return [Or(tuple(literals), start, end)]
        self.report.note(
            "explicit-and",
            "`and` is not understood by every system",
            Span(start, end),
            help="the conditions of a rule are a conjunction already",
        )
        return [And(tuple(literals), start, end)]

    def _true_of_literal(self, item: Seq, inside: Item) -> list[Literal]:
        """`(true (distinct a b))`: a fluent cannot be a connective, so the `true` is superfluous."""
        word = connective_of(inside)
        fix = None
        if item.closed and isinstance(inside, Seq) and inside.closed:
            edits = (edit(item.start, inside.start), edit(inside.end, item.end))
            fix = Fix("delete the `true` around it", edits)
        self.report.error(
            "reserved-name",
            f"`{word}` inside `true`: it is a connective, not a fluent",
            inside,
            help=f"write `({word} …)` by itself, without `true` around it",
            fix=fix,
        )
        return self._literals(inside)

    def _word_as_atom(self, item: Symbol, place: str) -> Atom | None:
        kind, name, spelling = self.names.look_up(item.text, item.start)
        if kind is Constant:
            return Atom(name, (), spelling, item.start, item.end)
        self.is_dropped = True
        if not name:
            self.faults.nameless(item)
        elif kind is Variable:
            self.report.error(
                "misplaced-literal",
                f"the variable `{item.text}` cannot be {place}",
                item,
                help="only a name, or a list that begins with one, is allowed here",
            )
        elif name in CONNECTIVES:
            self.report.error(
                "reserved-name",
                f"`{item.text}` is a connective and cannot be {place} by itself",
                item,
                help=f"write `({name} …)` with its parentheses",
            )
        else:
            self.faults.infix_sign(item, f"`{item.text}` is an operator of the infix notation")
        return None

    def _applied(self, item: Seq, items: list[Item], place: str) -> Atom | None:
        """Make an atom from a list."""
        if not items:
            self.is_dropped = True
            self.faults.empty(item, None)
            return None
        first = items[0]
        if isinstance(first, Seq):
            self.faults.group(item, items, f"{place} begins with a name, this one with a list")
            if len(items) == 1:
                return self._applied(first, self.calls.elements(first), place)
            self.is_dropped = True
            return None
        return self._atom(item, items)

    def _atom(self, item: Seq, items: list[Item]) -> Atom:
        """Make an atom; the statement is dropped if its name is invalid."""
        name, spelling = self._name(cast("Symbol", items[0]))
        args = tuple([self._term(part) for part in items[1:]])
        if not args and not self.is_dropped:
            self.faults.superfluous(item, items[0])
        return Atom(name, args, spelling, item.start, item.end)

    # -- terms -----------------------------------------------------------------------------------

    def _term(self, item: Item) -> Term:
        """Make a term; an invalid one becomes a placeholder, and the statement is dropped."""
        start, end = item.start, item.end
        if isinstance(item, Symbol):
            kind, name, spelling = self.names.look_up(item.text, start)
            if kind is not None:
                return kind(name, spelling, start, end)
            if name:
                self._refuse(item, name)
            else:
                self.is_dropped = True
                self.faults.nameless(item)
            return Constant(name, spelling, start, end)
        items = self.calls.elements(item)
        if not items:
            self.is_dropped = True
            self.faults.empty(item, None)
            return Constant("", None, start, end)
        first = items[0]
        if isinstance(first, Seq):
            self.faults.group(item, items, "a term begins with a name, this one with a list")
            term = self._term(first)
            self.is_dropped = self.is_dropped or len(items) > 1
            return term
        name, spelling = self._name(first)
        args = tuple([self._term(part) for part in items[1:]])
        if args:
            return Function(name, args, spelling, start, end)
        if not self.is_dropped:
            self.faults.superfluous(item, first)
        return Constant(name, spelling, first.start, first.end)

    def _name(self, word: Symbol) -> tuple[str, str]:
        """Return the name that a list begins with, folded and as spelled."""
        kind, name, spelling = self.names.look_up(word.text, word.start)
        if kind is Variable or not name:
            self.is_dropped = True
            self.report.error(
                "list-without-name",
                f"the list begins with the variable `{word.text}`",
                word,
                help="a list begins with the name of a relation or a function",
            )
        elif kind is None:
            self._refuse(word, name)
        return name, spelling

    def _refuse(self, word: Symbol, name: str) -> None:
        """Report a connective, an arrow or an operator in place of a name."""
        self.is_dropped = True
        if name in CONNECTIVES or word.text in ARROWS:
            self.faults.reserved(word.text, word.start, word.end)
        else:
            self.faults.infix_sign(word, f"`{word.text}` is an operator of the infix notation")

    def _split_surplus(self, item: Seq, items: list[Item]) -> tuple[list[Item], list[Item]]:
        """Separate the arguments of a keyword from conditions that a late parenthesis put there."""
        if not items or isinstance(items[0], Seq):
            return items, []
        arity = ARITY.get(items[0].text.lower())
        if arity is None or len(items) <= arity + 1:
            return items, []
        surplus = items[arity + 1 :]
        if not all(isinstance(part, Seq) for part in surplus) or not any(map(looks_like_literal, surplus)):
            return items, []
        self.faults.misplaced(item, items[0].text, items[arity].end, surplus[0].start)
        return items[: arity + 1], surplus

    def _split_distinct(self, item: Seq, parts: list[Item]) -> tuple[list[Item], list[Item]]:
        surplus = parts[2:]
        if not surplus or not all(map(looks_like_literal, surplus)):
            return parts, []
        self.faults.misplaced(item, "distinct", parts[1].end, surplus[0].start)
        return parts[:2], surplus

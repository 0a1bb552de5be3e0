"""The careful reader of prefix statements: says what is wrong, repairs it, and goes on.

It reads a statement into nested lists (`herbrand.syntax.lists`) and then makes nodes of them.
A statement that can be repaired is read as repaired; one that cannot be is left out.  Either
way its faults are reported, all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from herbrand.diagnostic import Edit, Fix, Label
from herbrand.syntax.lists import Seq, Symbol, list_at, unclosed_parentheses
from herbrand.syntax.source import Span
from herbrand.syntax.tokens import (
    AND_SIGNS,
    ARITY,
    ARROWS,
    CONNECTIVES,
    MAX_DEPTH,
    NOT_SIGNS,
    OR_SIGNS,
    TOKEN,
)
from herbrand.syntax.tree import And, Atom, Comment, Constant, Distinct, Function, Not, Or, Rule, Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.syntax.lists import Item, Torn
    from herbrand.syntax.tokens import Names, Report
    from herbrand.syntax.tree import Literal, Term

__all__ = ["CarefulReader"]


class CarefulReader:
    """Reads single statements of one sheet; made when the first crooked one is met."""

    def __init__(
        self,
        text: str,
        names: Names,
        report: Report,
        statements: list[Rule],
        comments: list[Comment],
    ) -> None:
        self.text = text
        self.names = names
        self.report = report
        self.statements = statements
        self.comments = comments
        self.unclosed = unclosed_parentheses(text)
        self.never_closed = frozenset(self.unclosed)
        self.is_lost = False
        """Whether the statement at hand has a fault that no repair is known for."""

    # -- from text to lists ----------------------------------------------------------------

    def wrapped(self, start: int) -> tuple[int, int] | None:
        """Return the inside of a sheet that is one list of lists, as START messages carry it."""
        before: list[Comment] = []
        opened: list[int] = []
        depth, close = 0, -1
        for token in TOKEN.finditer(self.text, start):
            first = token[0][0]
            if first == ";":
                if len(opened) < 2:
                    before.append(Comment(token[0], *token.span()))
            elif close >= 0 or (first != "(" and len(opened) < 2):
                return None
            elif first == "(":
                opened.append(token.start())
                depth += 1
            elif first == ")":
                depth -= 1
                close = token.start() if depth == 0 else -1
        if close < 0:
            return None
        self.comments += [c for c in before if c.start < opened[0]]
        return opened[0] + 1, close

    def read_statement(self, start: int, end: int) -> int:
        """Read what begins at `start`, whatever it is, and return where reading goes on."""
        token = TOKEN.search(self.text, start, end)
        if token is None:
            return end
        word, (at, after) = token[0], token.span()
        self.is_lost = False
        if word[0] == ";":
            self.comments.append(Comment(word, at, after))
            return after
        if word == ")":
            return self._extra_parentheses(at, end)
        if word != "(":
            items: list[Item] = [Symbol(word, at, after)]
            if self.text[after : after + 1] == "(" and after < end:
                items, after = self._glued_pair(items, after, end)
            for item in self._elements(Seq(items, at, after), is_call=False, is_sheet=True):
                self._statement(item)
            return after
        found, after = self._list(at, end)
        if found is not None:
            self._statement(found)
        return after

    def _list(self, start: int, end: int) -> tuple[Seq | None, int]:
        lists = list_at(self.text, start, end, is_open=start in self.never_closed)
        self.comments += [Comment(self.text[a:b], a, b) for a, b in lists.comments]
        if lists.deep is not None:
            self.report.error(
                "too-deep",
                f"more than {MAX_DEPTH} parentheses are open here",
                lists.deep,
                lists.deep + 1,
                labels=(Label(Span(start, start + 1), "the statement begins here"),),
                help="the statement was skipped; terms of games are a few levels deep",
            )
            return None, lists.end
        items = lists.root.items
        if not lists.root.closed and items and isinstance(items[0], Seq) and len(lists.torn) == 1:
            self.report.error(
                "unclosed-parenthesis",
                "this parenthesis is never closed",
                start,
                start + 1,
                help="delete it: the list behind it is a statement by itself",
                fix=Fix("delete the parenthesis", (_edit(start, start + 1),)),
            )
            del self.comments[len(self.comments) - len(lists.comments) :]
            return None, start + 1
        for torn in lists.torn:
            self._unclosed(torn)
        return lists.root, lists.end

    def _unclosed(self, torn: Torn) -> None:
        first, *others = torn.opened
        missing = ")" * len(torn.opened)
        them = "parenthesis is" if not others else "parentheses are"
        self.report.error(
            "unclosed-parenthesis",
            "this parenthesis is never closed",
            first,
            first + 1,
            labels=(
                *(Label(Span(at, at + 1), "nor is this one") for at in others),
                Label(Span(torn.at, torn.at), f"`{missing}` is missing here"),
            ),
            help=f"insert `{missing}` where the closing {them} missing",
            fix=Fix(f"insert `{missing}`", (_edit(torn.at, torn.at, missing),)),
        )

    def _extra_parentheses(self, start: int, end: int) -> int:
        last = start
        for token in TOKEN.finditer(self.text, start, end):
            if token[0] != ")":
                break
            last = token.end()
        extra = self.text[start:last]
        count = extra.count(")")
        self.report.error(
            "extra-parenthesis",
            "this `)` closes nothing" if count == 1 else f"these {count} `)` close nothing",
            start,
            last,
            help="delete it, or look for a statement above that is closed too early"
            if count == 1
            else "delete them, or look for a statement above that is closed too early",
            fix=Fix("delete it" if count == 1 else "delete them", (_edit(start, last),)),
        )
        return last

    def _glued_pair(self, items: list[Item], at: int, end: int) -> tuple[list[Item], int]:
        """Read the list right behind a word at the top of the sheet: `role(white)`."""
        before = len(self.comments)
        if at in self.never_closed:
            return items, at
        lists = list_at(self.text, at, end, is_open=False)
        word = items[-1]
        if lists.deep is None and isinstance(word, Symbol) and _is_call(word, lists.root, first=False):
            self.comments += [Comment(self.text[a:b], a, b) for a, b in lists.comments]
            if not lists.torn:
                return [*items, lists.root], lists.end
            del self.comments[before:]
        return items, at

    # -- from lists to statements ----------------------------------------------------------

    def _statement(self, item: Item) -> None:
        """Make a statement of a word or a list at the top of the sheet."""
        self.is_lost = False
        if isinstance(item, Symbol):
            atom = self._word_as_atom(item, "a statement")
            if atom is not None:
                self.statements.append(Rule(atom, (), item.start, item.end))
            return
        items = self._elements(item)
        if not items:
            self._empty(item, "delete it")
            return
        first = items[0]
        if isinstance(first, Seq):
            self._group(item, items, "a statement begins with a name, this one with a list")
            if all(isinstance(part, Seq) for part in items):
                for part in items:
                    self._statement(part)
            return
        infix_arrow = next((i for i, part in enumerate(items) if i and _is_arrow(part)), 0)
        if infix_arrow == 1 and not _is_arrow(first):
            items = [items[1], first, *items[2:]]
            self._infix_arrow(items[0], first)
            self._rule(item, items)
        elif _is_arrow(first):
            self._rule(item, items)
        elif first.text.lower() in CONNECTIVES:
            self.report.error(
                "misplaced-literal",
                f"`{first.text}` can stand only inside a rule",
                item.start,
                item.end,
                help="a statement is a fact `(name …)` or a rule `(<= head literal …)`",
            )
        else:
            atom = self._atom(item, items)
            if not self.is_lost:
                self.statements.append(Rule(atom, (), item.start, item.end))

    def _rule(self, item: Seq, items: list[Item]) -> None:
        """Make a rule, or several when one stands inside the other by a lost parenthesis."""
        parts = items[1:]
        nested = next((i for i, part in enumerate(parts) if _is_rule(part)), len(parts))
        inside = parts[nested:]
        if inside:
            self._nested_rules(item, parts[:nested], inside)
            if not all(map(_is_rule, inside)):
                return
            parts = parts[:nested]
        if not parts:
            if not inside:
                self.report.error(
                    "rule-without-head",
                    f"`{self.text[item.start : item.end]}` is a rule with neither head nor body",
                    item.start,
                    item.end,
                    help="write `(<= head literal …)`, or delete it",
                    fix=self._deletion(item),
                )
        else:
            head, *body = self._literals_of_rule(parts)
            if head is not None and not self.is_lost:
                if not body and not inside and item.closed and len(parts) == 1:
                    self._without_body(item, parts[0])
                self.statements.append(
                    Rule(cast("Atom", head), tuple(cast("list[Literal]", body)), item.start, item.end)
                )
        for part in inside:
            self._statement(part)

    def _literals_of_rule(self, parts: list[Item]) -> list[Literal | None]:
        """Return head and body; the head is None when there is none."""
        head, *rest = parts
        found: list[Literal | None] = []
        surplus: list[Item] = []
        if isinstance(head, Symbol):
            found.append(self._word_as_atom(head, "the head of a rule"))
        else:
            items = self._elements(head)
            if items and isinstance(items[0], Symbol) and items[0].text.lower() in CONNECTIVES:
                self.is_lost = True
                self.report.error(
                    "misplaced-literal",
                    f"`{items[0].text}` cannot be the head of a rule",
                    head.start,
                    head.end,
                    help="the head is an atom such as `(legal ?r ?m)`; conditions stand behind it",
                )
                found.append(None)
            else:
                items, surplus = self._split_surplus(head, items)
                found.append(self._applied(head, items, "the head of a rule"))
        for part in [*surplus, *rest]:
            found += self._literals(part)
        return found

    # -- literals --------------------------------------------------------------------------

    def _literals(self, item: Item) -> list[Literal]:
        """Make the literals of one element of a body: one, unless a parenthesis is misplaced."""
        if isinstance(item, Symbol):
            atom = self._word_as_atom(item, "a condition")
            return [] if atom is None else [atom]
        items = self._elements(item)
        if not items:
            self._empty(item, "delete it")
            return []
        first = items[0]
        if isinstance(first, Seq):
            self._group(item, items, "a condition begins with a name, this one with a list")
            if any(isinstance(part, Symbol) for part in items):
                self.is_lost = True
                return []
            return [literal for part in items for literal in self._literals(part)]
        word = first.text.lower()
        if word in CONNECTIVES or first.text in NOT_SIGNS:
            return self._connected(item, items, "not" if first.text in NOT_SIGNS else word)
        if word == "true" and len(items) == 2 and _connective_of(items[1]):
            return self._true_of_literal(item, items[1])
        if any(_is_arrow(part) for part in items):
            self._infix_sign(item, "`<=` begins a rule and stands nowhere else")
            return []
        items, surplus = self._split_surplus(item, items)
        atom = self._applied(item, items, "a condition")
        found: list[Literal] = [] if atom is None else [atom]
        for part in surplus:
            found += self._literals(part)
        return found

    def _connected(self, item: Seq, items: list[Item], word: str) -> list[Literal]:
        start, end = item.start, item.end
        parts = items[1:]
        if word == "distinct":
            parts, surplus = self._split_distinct(item, parts)
            terms = [self._term(part) for part in parts]
            if len(terms) != 2:
                self._operands(item, "distinct", "two terms", len(terms))
                return []
            found: list[Literal] = [Distinct(terms[0], terms[1], start, end)]
            for part in surplus:
                found += self._literals(part)
            return found
        literals: list[Literal] = []
        for part in parts:
            if word == "or" and _connective_of(part) == "or":
                self.report.note(
                    "nested-or",
                    "an `or` inside an `or`",
                    part.start,
                    part.end,
                    help="its parts can be listed in the outer one",
                )
            literals += self._literals(part)
        if word == "not":
            if len(parts) != 1 or len(literals) != 1:
                if len(parts) != 1:
                    self._operands(item, "not", "one condition", len(parts))
                elif literals:
                    return [Not(And(tuple(literals), parts[0].start, parts[0].end), start, end)]
                return []
            if not isinstance(literals[0], Atom):
                self._negated_compound(item, literals[0])
            return [Not(literals[0], start, end)]
        if word == "or":
            if not parts:
                self.report.warning(
                    "empty-or",
                    "an `or` of nothing is never true",
                    start,
                    end,
                    help="list the alternatives, or delete the rule",
                )
            return [Or(tuple(literals), start, end)]
        self.report.note(
            "explicit-and",
            "`and` is not understood by every system",
            start,
            end,
            help="the conditions of a rule are a conjunction already",
        )
        return [And(tuple(literals), start, end)]

    def _negated_compound(self, item: Seq, inside: Literal) -> None:
        what = type(inside).__name__.lower()
        self.report.warning(
            "negated-compound",
            f"`not` of `{what}`: the language has `not` of a single atom only",
            item.start,
            item.end,
            help="it is read as meant here; other systems refuse it or read it wrongly",
        )

    def _true_of_literal(self, item: Seq, inside: Item) -> list[Literal]:
        """`(true (distinct a b))`: a fluent cannot be a connective, so the `true` is too much."""
        word = _connective_of(inside)
        fix = None
        if item.closed and isinstance(inside, Seq) and inside.closed:
            edits = (_edit(item.start, inside.start), _edit(inside.end, item.end))
            fix = Fix("delete the `true` around it", edits)
        self.report.error(
            "reserved-name",
            f"`{word}` inside `true`: it is a connective, not a fluent",
            inside.start,
            inside.end,
            help=f"write `({word} …)` by itself, without `true` around it",
            fix=fix,
        )
        return self._literals(inside)

    def _word_as_atom(self, item: Symbol, place: str) -> Atom | None:
        kind, name, spelling = self.names.look_up(item.text, item.start)
        if kind is Constant:
            return Atom(name, (), spelling, item.start, item.end)
        self.is_lost = True
        if not name:
            self._nameless(item)
        elif kind is Variable:
            self.report.error(
                "misplaced-literal",
                f"the variable `{item.text}` cannot be {place}",
                item.start,
                item.end,
                help="only a name or a list that begins with one can stand here",
            )
        elif name in CONNECTIVES:
            self.report.error(
                "reserved-name",
                f"`{item.text}` is a connective and cannot be {place} by itself",
                item.start,
                item.end,
                help=f"write `({name} …)` with its parentheses",
            )
        else:
            self._infix_sign(item, f"`{item.text}` is a sign of the infix notation")
        return None

    def _applied(self, item: Seq, items: list[Item], place: str) -> Atom | None:
        """Make an atom of a list in the place of one."""
        if not items:
            self.is_lost = True
            self._empty(item, None)
            return None
        first = items[0]
        if isinstance(first, Seq):
            self._group(item, items, f"{place} begins with a name, this one with a list")
            if len(items) == 1:
                return self._applied(first, self._elements(first), place)
            self.is_lost = True
            return None
        return self._atom(item, items)

    def _atom(self, item: Seq, items: list[Item]) -> Atom:
        """Make an atom; its name may turn out to be none, then the statement is lost."""
        name, spelling = self._name(cast("Symbol", items[0]))
        args = tuple([self._term(part) for part in items[1:]])
        if not args and not self.is_lost:
            self._superfluous(item, items[0])
        return Atom(name, args, spelling, item.start, item.end)

    # -- terms -----------------------------------------------------------------------------

    def _term(self, item: Item) -> Term:
        """Make a term; a placeholder when it is none, and the statement is lost."""
        start, end = item.start, item.end
        if isinstance(item, Symbol):
            kind, name, spelling = self.names.look_up(item.text, start)
            if kind is not None and name:
                return kind(name, spelling, start, end)
            if not name:
                self.is_lost = True
                self._nameless(item)
            elif name in CONNECTIVES or item.text in ARROWS:
                self._reserved(item.text, start, end)
            return Constant(name, spelling, start, end)
        items = self._elements(item)
        if not items:
            self.is_lost = True
            self._empty(item, None)
            return Constant("", None, start, end)
        first = items[0]
        if isinstance(first, Seq):
            self._group(item, items, "a term begins with a name, this one with a list")
            term = self._term(first)
            self.is_lost = self.is_lost or len(items) > 1
            return term
        name, spelling = self._name(first)
        args = tuple([self._term(part) for part in items[1:]])
        if args:
            return Function(name, args, spelling, start, end)
        if not self.is_lost:
            self._superfluous(item, first)
        return Constant(name, spelling, first.start, first.end)

    def _name(self, word: Symbol) -> tuple[str, str]:
        """Return the name that a list begins with, folded and as spelled."""
        kind, name, spelling = self.names.look_up(word.text, word.start)
        if kind is Variable or not name:
            self.is_lost = True
            self.report.error(
                "list-without-name",
                f"the list begins with the variable `{word.text}`",
                word.start,
                word.end,
                help="a list begins with the name of a relation or a function",
            )
        elif name in CONNECTIVES or word.text in ARROWS:
            self._reserved(word.text, word.start, word.end)
        return name, spelling

    def _reserved(self, word: str, start: int, end: int) -> None:
        self.is_lost = True
        self.report.error(
            "reserved-name",
            f"`{word}` is a word of the language and cannot be part of a term",
            start,
            end,
            help="choose another name, or close the term before it",
        )

    # -- repairs ---------------------------------------------------------------------------

    def _split_surplus(self, item: Seq, items: list[Item]) -> tuple[list[Item], list[Item]]:
        """Part the arguments of a keyword from conditions that a late parenthesis put there."""
        if not items or isinstance(items[0], Seq):
            return items, []
        arity = ARITY.get(items[0].text.lower())
        if arity is None or len(items) <= arity + 1:
            return items, []
        surplus = items[arity + 1 :]
        if not all(isinstance(part, Seq) for part in surplus) or not any(map(_looks_like_literal, surplus)):
            return items, []
        self._misplaced(item, items[0].text, items[arity].end, surplus[0].start)
        return items[: arity + 1], surplus

    def _split_distinct(self, item: Seq, parts: list[Item]) -> tuple[list[Item], list[Item]]:
        surplus = parts[2:]
        if not surplus or not all(map(_looks_like_literal, surplus)):
            return parts, []
        self._misplaced(item, "distinct", parts[1].end, surplus[0].start)
        return parts[:2], surplus

    def _misplaced(self, item: Seq, name: str, at: int, surplus: int) -> None:
        fix = None
        if item.closed:
            edits = (_edit(at, at, ")"), _edit(item.end - 1, item.end))
            fix = Fix("move the parenthesis", edits)
        self.report.error(
            "misplaced-parenthesis",
            f"`{name}` takes in the conditions behind it: its closing parenthesis stands too late",
            item.start,
            item.end,
            labels=(
                Label(Span(at, at), "it should be closed here"),
                Label(Span(surplus, surplus + 1), "this looks like a condition of the rule"),
            ),
            help=f"close `{name}` before the conditions",
            fix=fix,
        )

    def _nested_rules(self, item: Seq, before: Sequence[Item], inside: Sequence[Item]) -> None:
        fix = None
        if before and item.closed and all(map(_is_rule, inside)):
            at = before[-1].end
            fix = Fix("close the outer rule first", (_edit(at, at, ")"), _edit(item.end - 1, item.end)))
        self.report.error(
            "nested-rule",
            "a rule inside a rule",
            inside[0].start,
            inside[0].end,
            labels=(Label(Span(item.start, item.start + 1), "the outer rule begins here"),),
            help="close the outer rule before the inner one begins",
            fix=fix,
        )

    def _without_body(self, item: Seq, head: Item) -> None:
        self.report.warning(
            "rule-without-body",
            "a rule without conditions is a fact",
            item.start,
            item.end,
            help=f"write `{self.text[head.start : head.end]}`",
            fix=Fix("write it as a fact", (_edit(item.start, head.start), _edit(head.end, item.end))),
        )

    def _superfluous(self, item: Seq, name: Item) -> None:
        word = self.text[name.start : name.end]
        fix = self._bare(item) if item.closed else None
        self.report.warning(
            "superfluous-parentheses",
            f"`{self.text[item.start : item.end]}` is the same as `{word}`",
            item.start,
            item.end,
            help=f"write `{word}`: some systems take them as different",
            fix=fix,
        )

    def _group(self, item: Seq, items: Sequence[Item], message: str) -> None:
        """Report a list of lists."""
        fix = self._bare(item) if item.closed and all(isinstance(part, Seq) for part in items) else None
        if len(items) > 1 and message.startswith(("a term", "the head")):
            fix = None
        self.report.error(
            "list-without-name",
            message,
            item.start,
            item.end,
            help="delete the parentheses around it" if fix else "a list begins with a name",
            fix=fix,
        )

    def _empty(self, item: Seq, repair: str | None) -> None:
        self.report.error(
            "empty-list",
            "an empty list means nothing",
            item.start,
            item.end,
            help=repair or "write the term that is missing here",
            fix=self._deletion(item) if repair else None,
        )

    def _operands(self, item: Seq, word: str, wanted: str, count: int) -> None:
        self.is_lost = True
        self.report.error(
            "wrong-operand-count",
            f"`{word}` takes {wanted}, not {count}",
            item.start,
            item.end,
            help=f"write `({word} {'s t' if word == 'distinct' else 'condition'})`",
        )

    def _nameless(self, word: Symbol) -> None:
        self.report.error(
            "nameless-variable",
            "a variable needs a name behind its question mark",
            word.start,
            word.end,
            help="write for example `?x`",
        )

    def _bare(self, item: Seq) -> Fix:
        """Delete the parentheses around a list, leaving its words apart from their neighbours."""
        text, start, end = self.text, item.start, item.end
        inner = text[start + 1 : end - 1].strip()
        space = " " if start and inner and text[start - 1] not in "( \t\r\n\f\v" and inner[0] != "(" else ""
        close = " " if text[end : end + 1].strip(" \t\r\n\f\v()") and inner[-1:] != ")" else ""
        return Fix("delete the parentheses", (_edit(start, start + 1, space), _edit(end - 1, end, close)))

    def _deletion(self, item: Seq) -> Fix | None:
        return Fix("delete it", (_edit(item.start, item.end),)) if item.closed else None

    # -- infix signs and calls -------------------------------------------------------------

    def _infix_sign(self, item: Item, message: str) -> None:
        self.is_lost = True
        self.report.error(
            "infix-in-prefix",
            message,
            item.start,
            item.end,
            help="prefix notation writes `(<= head literal …)`, `(not …)`, `(or …)`",
        )

    def _infix_arrow(self, arrow: Item, head: Item) -> None:
        word = self.text[arrow.start : arrow.end]
        self.report.error(
            "infix-in-prefix",
            f"`{word}` stands between head and body, as in infix notation",
            arrow.start,
            arrow.end,
            help="in prefix notation it comes first: `(<= head literal …)`",
            fix=Fix(
                "put the arrow first",
                (_edit(head.start, head.start, "<= "), _edit(head.end, arrow.end)),
            ),
        )

    def _elements(self, item: Seq, *, is_call: bool | None = None, is_sheet: bool = False) -> list[Item]:
        """Return the elements of a list with infix calls, commas and signs understood.

        To be called once for each list, because it reports what it understands.
        """
        call = isinstance(item, _Call) if is_call is None else is_call
        items = self._without_commas(item, call=call)
        found: list[Item] = []
        skip = False
        last = len(items) - 1
        for i, part in enumerate(items):
            follower = items[i + 1] if i < last else None
            if skip:
                skip = False
            elif not isinstance(part, Symbol):
                found.append(part)
            elif follower is not None and part.end == follower.start and _is_negation(part, follower):
                found.append(self._infix_not(part, follower))
                skip = True
            elif (
                isinstance(follower, Seq)
                and part.end == follower.start
                and _is_call(part, follower, first=not (i or is_sheet or call))
            ):
                skip = True
                if not i and last == 1 and not is_sheet:
                    return self._call_as_list(item, part, follower)
                found.append(self._call(part, follower))
            elif part.text in AND_SIGNS and (found or is_sheet) and not call:
                self._and_sign(part)
            else:
                found.append(part)
        return found

    def _without_commas(self, item: Seq, *, call: bool) -> list[Item]:
        """Split the words with commas in them, which are reported unless they part arguments."""
        found: list[Item] = []
        for part in item.items:
            if isinstance(part, Seq) or "," not in part.text or part.text == "," and not call:
                found.append(part)
                continue
            if not call:
                self.report.error(
                    "comma-in-name",
                    f"the comma in `{part.text}` does not part words in prefix notation",
                    part.start,
                    part.end,
                    help="write a space instead",
                    fix=Fix("write spaces for commas", self._comma_edits(part)),
                )
            at = part.start
            for word in part.text.split(","):
                if word:
                    found.append(Symbol(word, at, at + len(word)))
                at += len(word) + 1
        return found

    def _comma_edits(self, word: Symbol) -> tuple[Edit, ...]:
        edits = []
        for i, character in enumerate(word.text):
            if character == ",":
                at = word.start + i
                ends = self.text[at + 1 : at + 2].strip(" \t\r\n\f\v),") == ""
                edits.append(_edit(at, at + 1, "" if ends and i else " "))
        return tuple(edits)

    def _call_edits(self, arguments: Seq) -> list[Edit]:
        words = (part for part in arguments.items if isinstance(part, Symbol))
        return [edit for word in words for edit in self._comma_edits(word)]

    def _call(self, name: Symbol, arguments: Seq) -> Seq:
        """Read `name(a,b)` as the list `(name a b)`."""
        at = arguments.start
        self._report_call(
            name,
            arguments,
            [
                _edit(name.start, name.start, "("),
                _edit(at, at + 1, " " if arguments.items else ""),
                *self._call_edits(arguments),
            ],
        )
        call = _Call([name, *arguments.items], name.start, arguments.end, closed=arguments.closed)
        return call

    def _call_as_list(self, item: Seq, name: Symbol, arguments: Seq) -> list[Item]:
        """Read `(name(a,b))` as the list `(name a b)`."""
        at = arguments.start
        edits = [_edit(at, at + 1, " "), *self._call_edits(arguments)]
        edits.append(_edit(arguments.end - 1, arguments.end))
        self._report_call(name, arguments, edits)
        return self._elements(_Call([name, *arguments.items], item.start, item.end))

    def _report_call(self, name: Symbol, arguments: Seq, edits: list[Edit]) -> None:
        self.report.error(
            "infix-in-prefix",
            f"`{self.text[name.start : arguments.start]}(…)` is written as in infix notation",
            name.start,
            arguments.end,
            help=f"in prefix notation the parenthesis stands before the name: `({name.text} …)`",
            fix=Fix(f"write `({name.text} …)`", tuple(edits)) if arguments.closed else None,
        )

    def _infix_not(self, sign: Symbol, item: Item) -> Seq:
        end = item.end
        self.report.error(
            "infix-in-prefix",
            f"`{sign.text}` is the negation of the infix notation",
            sign.start,
            sign.end,
            help="write `(not …)`",
            fix=Fix("write `not`", (_edit(sign.start, sign.end, "(not "), _edit(end, end, ")"))),
        )
        return Seq([Symbol("not", sign.start, sign.end), item], sign.start, end, closed=False)

    def _and_sign(self, sign: Symbol) -> None:
        self.report.error(
            "infix-in-prefix",
            f"`{sign.text}` is the conjunction of the infix notation",
            sign.start,
            sign.end,
            help="delete it: the conditions of a rule are simply listed",
            fix=Fix("delete it", (_edit(sign.start, sign.end),)),
        )


class _Call(Seq):
    """What was written `name(a,b)`."""

    __slots__ = ()


def _edit(start: int, end: int, text: str = "") -> Edit:
    return Edit(Span(start, end), text)


def _is_arrow(item: Item) -> bool:
    return isinstance(item, Symbol) and item.text in ARROWS


def _is_rule(item: Item) -> bool:
    return isinstance(item, Seq) and bool(item.items) and _is_arrow(item.items[0])


def _connective_of(item: Item) -> str | None:
    """Return the connective that a list begins with."""
    if isinstance(item, Seq) and item.items and isinstance(item.items[0], Symbol):
        word = item.items[0].text.lower()
        return word if word in CONNECTIVES else None
    return None


def _looks_like_literal(item: Item) -> bool:
    """Whether a list begins with a connective or a relation that has a fixed meaning."""
    if not isinstance(item, Seq) or not item.items or isinstance(item.items[0], Seq):
        return False
    word = item.items[0].text.lower()
    return word in CONNECTIVES or word in ARITY


def _is_negation(sign: Symbol, item: Item) -> bool:
    return sign.text in NOT_SIGNS and isinstance(item, Seq)


def _is_call(name: Symbol, arguments: Seq, *, first: bool) -> bool:
    """Whether a word and the list glued to it are a call in the infix manner.

    `(init(cell 1 1 b))` and `(<= terminal(true (step 9)))` only lack a space.
    """
    word, items = name.text, arguments.items
    if word[0] == "?" or word in ARROWS or word in AND_SIGNS | OR_SIGNS | NOT_SIGNS:
        return False
    if not items:
        return not first
    has_comma = any(isinstance(part, Symbol) and "," in part.text for part in items)
    is_variable = isinstance(items[0], Symbol) and items[0].text[0] == "?"
    if first:
        return has_comma or is_variable and word.lower() not in ("not", "or", "and")
    return has_comma or is_variable or (len(items) == 1 and word.lower() != "terminal")

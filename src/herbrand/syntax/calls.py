"""Recover from infix syntax in prefix text: `deal(?p,?c)`, commas, `&` and `~`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.diagnostic import Fix, Span
from herbrand.syntax.faults import edit
from herbrand.syntax.lists import Seq, Symbol
from herbrand.syntax.tokens import AND_SIGNS, ARROWS, NOT_SIGNS, OR_SIGNS

if TYPE_CHECKING:
    from herbrand.diagnostic import Edit
    from herbrand.syntax.lists import Item
    from herbrand.syntax.tokens import DiagnosticCollector

__all__ = ["InfixCalls", "is_call"]


class WrittenCall(Seq):
    """A list that was written as the call `name(a,b)`."""

    __slots__ = ()


class InfixCalls:
    """Rewrites infix calls and operators in the lists of one text to prefix notation."""

    def __init__(self, text: str, report: DiagnosticCollector) -> None:
        self.text = text
        self.report = report

    def elements(self, item: Seq, *, in_call: bool | None = None, is_sheet: bool = False) -> list[Item]:
        """Return the elements of a list with infix calls, commas and operators rewritten.

        Call it once for each list, because it reports each rewriting.
        """
        call = isinstance(item, WrittenCall) if in_call is None else in_call
        items = self._without_commas(item, call=call)
        elements: list[Item] = []
        skip = False
        last = len(items) - 1
        for i, part in enumerate(items):
            follower = items[i + 1] if i < last else None
            if skip:
                skip = False
            elif not isinstance(part, Symbol):
                elements.append(part)
            elif isinstance(follower, Seq) and part.end == follower.start and part.text in NOT_SIGNS:
                elements.append(self._infix_not(part, follower))
                skip = True
            elif (
                isinstance(follower, Seq)
                and part.end == follower.start
                and is_call(part, follower, first=not (i or is_sheet or call))
            ):
                skip = True
                if not i and last == 1 and not is_sheet:
                    return self._call_as_list(item, part, follower)
                elements.append(self._call(part, follower))
            elif part.text in AND_SIGNS and (elements or is_sheet) and not call:
                self._and_sign(part)
            else:
                elements.append(part)
        return elements

    def _without_commas(self, item: Seq, *, call: bool) -> list[Item]:
        """Split words at commas, which are reported unless they separate the arguments of a call."""
        words: list[Item] = []
        for part in item.items:
            if isinstance(part, Seq) or "," not in part.text or (part.text == "," and not call):
                words.append(part)
                continue
            if not call:
                self.report.error(
                    "comma-in-name",
                    f"the comma in `{part.text}` does not separate words in prefix notation",
                    part,
                    help="write a space instead",
                    fix=Fix("replace commas by spaces", self._comma_edits(part)),
                )
            at = part.start
            for word in part.text.split(","):
                if word:
                    words.append(Symbol(word, at, at + len(word)))
                at += len(word) + 1
        return words

    def _comma_edits(self, word: Symbol) -> tuple[Edit, ...]:
        edits = []
        for i, character in enumerate(word.text):
            if character == ",":
                at = word.start + i
                ends = self.text[at + 1 : at + 2].strip(" \t\r\n\f\v),") == ""
                edits.append(edit(at, at + 1, "" if ends and i else " "))
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
                edit(name.start, name.start, "("),
                edit(at, at + 1, " " if arguments.items else ""),
                *self._call_edits(arguments),
            ],
        )
        return WrittenCall([name, *arguments.items], name.start, arguments.end, closed=arguments.closed)

    def _call_as_list(self, item: Seq, name: Symbol, arguments: Seq) -> list[Item]:
        """Read `(name(a,b))` as the list `(name a b)`."""
        at = arguments.start
        edits = [edit(at, at + 1, " "), *self._call_edits(arguments)]
        edits.append(edit(arguments.end - 1, arguments.end))
        self._report_call(name, arguments, edits)
        return self.elements(WrittenCall([name, *arguments.items], item.start, item.end))

    def _report_call(self, name: Symbol, arguments: Seq, edits: list[Edit]) -> None:
        self.report.error(
            "infix-in-prefix",
            f"`{self.text[name.start : arguments.start]}(…)` is infix notation",
            Span(name.start, arguments.end),
            help=f"in prefix notation the parenthesis comes before the name: `({name.text} …)`",
            fix=Fix(f"write `({name.text} …)`", tuple(edits)) if arguments.closed else None,
        )

    def _infix_not(self, sign: Symbol, item: Item) -> Seq:
        end = item.end
        self.report.error(
            "infix-in-prefix",
            f"`{sign.text}` is the negation of the infix notation",
            sign,
            help="write `(not …)`",
            fix=Fix("write `not`", (edit(sign.start, sign.end, "(not "), edit(end, end, ")"))),
        )
        return Seq([Symbol("not", sign.start, sign.end), item], sign.start, end, closed=False)

    def _and_sign(self, sign: Symbol) -> None:
        self.report.error(
            "infix-in-prefix",
            f"`{sign.text}` is the conjunction of the infix notation",
            sign,
            help="delete it: the conditions of a rule are simply listed",
            fix=Fix("delete it", (edit(sign.start, sign.end),)),
        )


def is_call(name: Symbol, arguments: Seq, *, first: bool) -> bool:
    """Whether a word and the list directly after it form an infix call.

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
        return has_comma or (is_variable and word.lower() not in ("not", "or", "and"))
    return has_comma or is_variable or (len(items) == 1 and word.lower() != "terminal")

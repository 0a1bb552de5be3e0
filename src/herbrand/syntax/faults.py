"""Diagnostics and fixes for malformed prefix statements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from herbrand.diagnostic import Edit, Fix, Label, Severity, Span
from herbrand.syntax.lists import Seq, is_rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.syntax.lists import Item, Symbol, Torn
    from herbrand.syntax.tokens import DiagnosticCollector

__all__ = ["Faults", "edit"]


def edit(start: int, end: int, text: str = "") -> Edit:
    """Return the edit of text[start:end]."""
    return Edit(Span(start, end), text)


_BLANKS_BEFORE_NAME = re.compile(r"([ \t]+)([A-Za-z]\w*)")


class Faults:
    """Reports malformed statements of one text."""

    def __init__(self, text: str, report: DiagnosticCollector) -> None:
        self.text = text
        self.report = report
        self.torn: Torn | None = None
        """The only parenthesis that the statement at hand lacks."""

    def unclosed(self, torn: Torn) -> None:
        """S2: parentheses that should all be closed at one offset."""
        first, *others = torn.opened
        missing = ")" * len(torn.opened)
        them = "parenthesis is" if not others else "parentheses are"
        self.report.error(
            "unclosed-parenthesis",
            "this parenthesis is never closed",
            Span(first, first + 1),
            labels=(
                *(Label(Span(at, at + 1), "nor is this one") for at in others),
                Label(Span(torn.at - 1, torn.at), f"`{missing}` is missing after this"),
            ),
            help=f"insert `{missing}` where the closing {them} missing",
            fix=Fix(f"insert `{missing}`", (edit(torn.at, torn.at, missing),)),
        )

    def misplaced(self, item: Seq, name: str, at: int, surplus: int) -> None:
        """S16: `name` should be closed at `at`, before the condition at `surplus`.

        In a statement that lacks one parenthesis, that is the one, and not to be reported twice.
        """
        fix = None
        if self.torn is not None:
            self.report.withdraw("unclosed-parenthesis", self.torn.opened[0])
            self.torn = None
            fix = Fix("insert `)`", (edit(at, at, ")"),))
        elif item.closed:
            edits = (edit(at, at, ")"), edit(item.end - 1, item.end))
            fix = Fix("move the parenthesis", edits)
        self.report.error(
            "misplaced-parenthesis",
            f"`{name}` swallows the conditions after it: its closing parenthesis comes too late",
            item,
            labels=(
                Label(Span(at - 1, at), "it should be closed after this"),
                Label(Span(surplus, surplus + 1), "this looks like a condition of the rule"),
            ),
            help=f"close `{name}` before the conditions",
            fix=fix,
        )

    def nested_rules(self, item: Seq, before: Sequence[Item], inside: Sequence[Item]) -> None:
        """S7: rules after the head and the conditions `before` of another rule."""
        fix = None
        if before and item.closed and all(map(is_rule, inside)):
            at = before[-1].end
            fix = Fix("close the outer rule first", (edit(at, at, ")"), edit(item.end - 1, item.end)))
        self.report.error(
            "nested-rule",
            "a rule inside a rule",
            inside[0],
            labels=(Label(Span(item.start, item.start + 1), "the outer rule begins here"),),
            help="close the outer rule before the inner one begins",
            fix=fix,
        )

    def without_body(self, item: Seq, head: Item) -> None:
        """S9: a rule with only a head."""
        self.report.warning(
            "rule-without-body",
            "a rule without conditions is a fact",
            item,
            help=f"write `{self.text[head.start : head.end]}`",
            fix=Fix("write it as a fact", (edit(item.start, head.start), edit(head.end, item.end))),
        )

    def superfluous(self, item: Seq, name: Item) -> None:
        """S10: a name alone in parentheses."""
        word = self.text[name.start : name.end]
        fix = self.bare(item) if item.closed else None
        self.report.warning(
            "superfluous-parentheses",
            f"`{self.text[item.start : item.end]}` is the same as `{word}`",
            item,
            help=f"write `{word}`: some systems treat them as different",
            fix=fix,
        )

    def missing_arrow(self, item: Seq) -> None:
        """S3: a rule without its arrow."""
        start = item.start + 1
        self.report.error(
            "list-without-name",
            "a rule begins with `<=`",
            item,
            help="write `(<= head literal …)`",
            fix=Fix("insert `<=`", (edit(start, start, "<= "),)),
        )

    def group(self, item: Seq, items: Sequence[Item], message: str) -> None:
        """S3: a list of lists."""
        fix = self.bare(item) if item.closed and all(isinstance(part, Seq) for part in items) else None
        if len(items) > 1 and message.startswith(("a term", "the head")):
            fix = None
        self.report.error(
            "list-without-name",
            message,
            item,
            help="delete the parentheses around it" if fix else "a list begins with a name",
            fix=fix,
        )

    def empty(self, item: Seq, repair: str | None) -> None:
        """S4: an empty list; `repair` is the help text when it can be deleted."""
        self.report.error(
            "empty-list",
            "an empty list has no meaning",
            item,
            help=repair or "write the term that is missing here",
            fix=self.deletion(item) if repair else None,
        )

    def operands(self, item: Seq, word: str, expected: str, parts: Sequence[object]) -> None:
        """S8: a connective with too few or too many operands."""
        fix = None
        if word == "not" and len(parts) > 1 and item.closed and all(isinstance(p, Seq) for p in parts):
            at = cast("Seq", parts[0]).end
            fix = Fix("close `not` after the first", (edit(at, at, ")"), edit(item.end - 1, item.end)))
        self.report.error(
            "wrong-operand-count",
            f"`{word}` takes {expected}, not {len(parts)}",
            item,
            help=f"write `({word} {'s t' if word == 'distinct' else 'condition'})`",
            fix=fix,
        )

    def nameless(self, word: Symbol) -> None:
        """L4: a question mark alone."""
        following = _BLANKS_BEFORE_NAME.match(self.text, word.end)
        fix = Fix("delete the blanks", (edit(*following.span(1)),)) if following else None
        self.report.error(
            "nameless-variable",
            "a variable needs a name after its question mark",
            word,
            help=f"did you mean `?{following[2]}`?" if following else "for example `?x`",
            fix=fix,
        )

    def reserved(self, word: str, start: int, end: int) -> None:
        """N6: a connective or an arrow in place of a name."""
        self.report.error(
            "reserved-name",
            f"`{word}` is a reserved word and cannot be part of a term",
            Span(start, end),
            help="choose another name, or close the term before it",
        )

    def left_over(self, places: Sequence[Span]) -> None:
        """S17: text between the statements that is none; an error where most of the text is such."""
        is_most = 2 * sum(place.end - place.start for place in places) > len(self.text)
        for place in places:
            lines = self.text[place.start : place.end].splitlines()
            shown = lines[0].strip()[:40] + ("…" if len(lines) > 1 or len(lines[0].strip()) > 40 else "")
            self.report.error(
                "left-over-text",
                f"`{shown}` is no statement in prefix notation: it is skipped",
                place,
                help="most of the text is like this: is it a rulesheet, and in prefix notation?"
                if is_most
                else "delete it, or write it as `(<= head literal …)`",
                fix=None if is_most else Fix("delete it", (edit(place.start, place.end),)),
                severity=Severity.ERROR if is_most else Severity.WARNING,
            )

    def infix_arrow(self, arrow: Item, head: Item) -> None:
        """S14: an arrow after the head."""
        word = self.text[arrow.start : arrow.end]
        self.report.error(
            "infix-in-prefix",
            f"`{word}` is between head and body, as in infix notation",
            arrow,
            help="in prefix notation it comes first: `(<= head literal …)`",
            fix=Fix("put the arrow first", (edit(head.start, head.start, "<= "), edit(head.end, arrow.end))),
        )

    def infix_sign(self, item: Item, message: str) -> None:
        """S14: an operator of the infix notation."""
        self.report.error(
            "infix-in-prefix",
            message,
            item,
            help="prefix notation writes `(<= head literal …)`, `(not …)`, `(or …)`",
        )

    def bare(self, item: Seq) -> Fix:
        """Return the fix that deletes the parentheses around a list and keeps its words separated."""
        text, start, end = self.text, item.start, item.end
        inner = text[start + 1 : end - 1].strip()
        space = " " if start and inner and text[start - 1] not in "( \t\r\n\f\v" and inner[0] != "(" else ""
        close = " " if text[end : end + 1].strip(" \t\r\n\f\v()") and inner[-1:] != ")" else ""
        return Fix("delete the parentheses", (edit(start, start + 1, space), edit(end - 1, end, close)))

    def deletion(self, item: Seq) -> Fix | None:
        """Return the fix that deletes a list; None for one without closing parenthesis."""
        return Fix("delete it", (edit(item.start, item.end),)) if item.closed else None

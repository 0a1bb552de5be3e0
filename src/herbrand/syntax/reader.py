"""The reader of the prefix notation (KIF): `read_prefix`.

Two readers share one grammar.  The fast one here processes a sheet in one pass over
its tokens and builds the nodes directly, because the name after an opening parenthesis and the
enclosing list determine what a list is.  At the first irregularity in a statement, it
hands that statement to the careful one (`herbrand.syntax.repair`), which explains, repairs
and recovers, and continues after it.  On well-formed text both build the same tree.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, cast

from herbrand.diagnostic import Edit, Fix, Source, Span
from herbrand.runtime.collector import suspend_collector
from herbrand.syntax.nodes import Atom, Comment, Constant, Distinct, Function, Not, Or, Rule
from herbrand.syntax.repair import CarefulReader
from herbrand.syntax.tokens import ARITY, BINARY, MAX_CHARACTERS, MAX_DEPTH, DiagnosticCollector, Spellings
from herbrand.syntax.tree import Tree

if TYPE_CHECKING:
    from herbrand.syntax.nodes import Literal, Node, Term
    from herbrand.syntax.tree import Skipped

__all__ = ["read_prefix"]

_NAME, _OPEN, _CLOSE, _COMMENT = 1, 2, 3, 4
# Possessive: a symbol directly before a parenthesis must not backtrack, but fail and be reported.
_TOKEN = re.compile(
    r"([^\s();\ufeff]++)(?!\()|\([\s\ufeff]*+([^\s();\ufeff]++)(?!\()|(\))|(;[^\r\n]*)|[^\s\ufeff]"
)

_ROLE = re.compile(r"^[ \t]*\([ \t]*role[ \t]", re.IGNORECASE | re.MULTILINE)
_COMMENTED_ROLE = re.compile(r"^[ \t]*%+[ \t]*\([ \t]*role[ \t]", re.IGNORECASE | re.MULTILINE)
_LINE = re.compile(r"^([ \t]*)(%*)([^\r\n]*)", re.MULTILINE)
# Kinds of the innermost open list.  Below _LISTS_OF_TERMS the elements are literals.
_SHEET, _RULE, _NOT, _OR, _LISTS_OF_TERMS, _ATOM, _TERM, _DISTINCT = range(8)
_CONNECTIVE = {"not": _NOT, "or": _OR, "distinct": _DISTINCT}

_FOREIGN = re.compile(r"(?<![^\s()])(?://|/\*|[#%])")
_SIGNIFICANT = re.compile(r";[^\r\n]*|[()]|(?<![^\s()])(//|/\*|#+|%+)")
_REST_OF_LINE, _BLOCK = re.compile(r"[^\r\n]*"), re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_BINARY_SAMPLE = 65_536


def read_prefix(source: Source) -> Tree:
    """Read a rulesheet in prefix notation.

    Never raises on any text.  The tree holds every statement that could be read or repaired;
    its diagnostics describe the errors in textual order, with a fix where there is one.
    Takes time and memory linear in the length of the text.
    """
    read_as, edits = _uncommented(source)
    read_as, signs, blocks = _foreign_comments(read_as)
    reader = _Reader(read_as)
    reader.report.source = source
    if edits:
        reader.report.warning(
            "commented-rules",
            "the rules stand behind `%`, the comment sign of Prolog: they are read",
            edits[0].span,
            help="delete the signs; comments of the prefix notation begin with `;`",
            fix=Fix("delete the signs", edits),
        )
    if signs:
        place = signs[0].span
        sign = source.text[place.start : place.end]
        reader.report.warning(
            "foreign-comment",
            f"`{sign}` begins a comment of another language: what follows is not read",
            place,
            help="comments of the prefix notation begin with `;`",
            fix=Fix("write `;`", signs),
        )
    with suspend_collector():  # trees have no cycles, and collecting takes a third of the time
        reader.read()
    reader.names.findings(reader.report, reader.statements)
    if read_as is not source:  # comments are as written, whatever they are read as
        places = sorted([*((comment.start, comment.end) for comment in reader.comments), *blocks])
        reader.comments = [Comment(source.text[start:end], start, end) for start, end in places]
    return Tree(
        tuple(reader.statements),
        source,
        "prefix",
        tuple(reader.comments),
        reader.report.diagnostics(),
        skipped=tuple(reader.skipped),
    )


def _uncommented(source: Source) -> tuple[Source, tuple[Edit, ...]]:
    """Return a text whose rules all stand behind `%` without these signs, at the same offsets.

    Also returns the edits that delete the signs, or put `;` in their place where what follows is a comment.
    """
    text = source.text
    if "%" not in text or _ROLE.search(text) or not _COMMENTED_ROLE.search(text):
        return source, ()
    edits: list[Edit] = []
    pieces: list[str] = []
    depth = at = 0
    for line in _LINE.finditer(text):
        rest = line[3]
        if line[2]:
            is_comment = not depth and rest.lstrip(" \t")[:1] not in ("(", ")", ";", "")
            edits.append(Edit(Span(*line.span(2)), ";" if is_comment else ""))
            pieces += [text[at : line.start(2)], (";" if is_comment else "").ljust(len(line[2]))]
            at = line.end(2)
            rest = "" if is_comment else rest
        rest = rest.partition(";")[0]
        depth = max(0, depth + rest.count("(") - rest.count(")"))
    return Source("".join([*pieces, text[at:]]), source.name), tuple(edits)


def _foreign_comments(source: Source) -> tuple[Source, tuple[Edit, ...], list[tuple[int, int]]]:
    """Return a text with comments in the style of other languages as comments, at the same offsets.

    Also returns the edits that write them with `;`, and the places of comments between `/*` and `*/`, for
    which the text has spaces.  Inside of statements `#` and `%` are names, and so is `//` where what follows
    on its line closes a parenthesis.
    """
    text = source.text
    if not _FOREIGN.search(text):
        return source, (), []
    edits: list[Edit] = []
    blocks: list[tuple[int, int]] = []
    pieces: list[str] = []
    depth = at = 0
    for token in _SIGNIFICANT.finditer(text):
        sign, start = token[1], token.start()
        if start < at:
            continue
        if sign is None:
            depth = max(0, depth + (token[0] == "(") - (token[0] == ")"))
            continue
        comment = (_BLOCK if sign == "/*" else _REST_OF_LINE).match(text, start)
        if comment is None or (depth and (sign != "//" or not _is_balanced(comment[0]))):
            continue
        pieces.append(text[at:start])
        at = comment.end()
        if sign == "/*":
            pieces.append(re.sub(r"[^\r\n]", " ", comment[0]))
            edits += _as_line_comments(text, start, at)
            blocks.append((start, at))
        else:
            pieces.append(";".ljust(len(sign)) + comment[0][len(sign) :])
            edits.append(Edit(Span(start, token.end()), ";"))
    if not edits:
        return source, (), []
    return Source("".join([*pieces, text[at:]]), source.name), tuple(edits), blocks


def _is_balanced(text: str) -> bool:
    """Whether parentheses are closed in the order in which they are opened."""
    depth = 0
    for sign in re.findall(r"[()]", text):
        depth += 1 if sign == "(" else -1
        if depth < 0:
            return False
    return depth == 0


def _as_line_comments(text: str, start: int, end: int) -> list[Edit]:
    """Return edits that write a comment between `/*` and `*/` as comments that end with their lines."""
    breaks = [start + m.end() for m in re.finditer(r"\r\n|\r|\n", text[start:end])]
    edits = [Edit(Span(start, start + 2), ";"), *(Edit(Span(at, at), ";") for at in breaks)]
    if text.endswith("*/", start + 2, end):
        rest = _REST_OF_LINE.match(text, end)
        edits.append(Edit(Span(end - 2, end), "\n" if rest and rest[0].strip() else ""))
    return edits


class _Reader:
    """Parses one sheet."""

    def __init__(self, source: Source) -> None:
        self.text = source.text
        self.names = Spellings()
        self.report = DiagnosticCollector(source)
        self.statements: list[Rule] = []
        self.comments: list[Comment] = []
        self.skipped: list[Skipped] = []

    def read(self) -> None:
        """Read the whole sheet, with the fast reader wherever possible."""
        text, end = self.text, len(self.text)
        if not self._is_text():
            return
        position = self.read_plain(0, end)
        if position == end:
            return
        careful = CarefulReader(text, self.names, self.report, self.statements, self.comments)
        self.skipped = careful.skipped
        unclosed = careful.unclosed
        inside = careful.wrapped(position)
        if inside is not None:
            position, end = inside
        while position < end:
            following = bisect_left(unclosed, position)
            stop = unclosed[following] if following < len(unclosed) else end
            position = self.read_plain(position, min(stop, end))
            if position < end:
                position = careful.read_statement(position, end)
        careful.faults.left_over(careful.left_over)
        if inside is not None:
            self.comments.sort(key=lambda comment: comment.start)

    def _is_text(self) -> bool:
        text = self.text
        if len(text) > MAX_CHARACTERS:
            self.report.error(
                "too-large",
                f"the text has {len(text)} characters, more than {MAX_CHARACTERS}",
                Span(0, 0),
                help="rulesheets have at most a few hundred thousand characters; is this one?",
            )
            return False
        at = text.find("\0")
        sample = text[:_BINARY_SAMPLE]
        if at < 0 and len(junk := BINARY.findall(sample)) * 20 > len(sample):
            at = sample.index(junk[0])
        if at < 0:
            return True
        self.report.error(
            "not-text",
            f"character {at + 1} is {text[at]!r}: this is not text",
            Span(at, at + 1),
            help="rulesheets are text in UTF-8; is this another kind of file?",
        )
        return False

    def read_plain(self, position: int, end: int) -> int:
        """Read well-formed statements; return the offset of the first irregular one.

        Returns `end` if there is none.  The loop is long because it is the hot spot of
        reading: a function call per token would double its time.
        """
        entries, learn = self.names.entries, self.names.learn
        comments = self.comments
        statements = cast("list[Node]", self.statements)
        kind, name, spelling, start, elements = _SHEET, "", "", 0, statements
        outer: list[tuple[int, str, str, int, list[Node]]] = []
        stop = end
        for token in _TOKEN.finditer(self.text, position, end):
            group = token.lastindex
            if group == _NAME:
                word = token[1]
                make, folded, shown = entries.get(word) or learn(word, token.start())
                first, last = token.span()
                if kind > _LISTS_OF_TERMS:
                    if make is None:
                        stop = first
                        break
                    elements.append(make(folded, shown, first, last))
                    continue
                if make is not Constant or not kind:  # the careful reader decides about words on their own
                    stop = first
                    break
                elements.append(Atom(folded, (), shown, first, last))
            elif group == _OPEN:
                word = token[2]
                make, folded, shown = entries.get(word) or learn(word, token.start(2))
                if make is Constant:
                    inner = _TERM if kind > _LISTS_OF_TERMS else _ATOM
                elif kind == _SHEET and folded == "<=":
                    inner = _RULE
                elif kind == _SHEET or kind > _LISTS_OF_TERMS or make or (not elements and kind == _RULE):
                    stop = token.start()
                    break
                else:
                    inner = _CONNECTIVE.get(folded, _SHEET)
                    if inner == _SHEET or inner == kind == _OR or kind == _NOT:
                        stop = token.start()
                        break
                outer.append((kind, name, spelling, start, elements))
                if len(outer) > MAX_DEPTH:
                    break
                kind, name, spelling, start, elements = inner, folded, shown, token.start(), []
            elif group == _CLOSE:
                last = token.end()
                count = len(elements)
                node: Node
                if kind == _TERM:
                    if not count:
                        break
                    node = Function(name, cast("tuple[Term, ...]", tuple(elements)), spelling, start, last)
                    kind, name, spelling, start, elements = outer.pop()
                    elements.append(node)
                    continue
                if kind == _ATOM:
                    if not count or (name in ARITY and count > ARITY[name]):
                        break
                    node = Atom(name, cast("tuple[Term, ...]", tuple(elements)), spelling, start, last)
                    if len(outer) == 1:
                        node = Rule(node, (), start, last)
                elif kind == _RULE:
                    if count < 2:
                        break
                    head, *body = cast("list[Literal]", elements)
                    node = Rule(cast("Atom", head), tuple(body), start, last)
                elif kind == _DISTINCT and count == 2:
                    left, right = cast("list[Term]", elements)
                    node = Distinct(left, right, start, last)
                elif kind == _NOT and count == 1:
                    node = Not(cast("Literal", elements[0]), start, last)
                elif kind == _OR and count:
                    node = Or(cast("tuple[Literal, ...]", tuple(elements)), start, last)
                else:
                    stop = token.start()
                    break
                kind, name, spelling, start, elements = outer.pop()
                elements.append(node)
            elif group == _COMMENT:
                comments.append(Comment(token[4], token.start(), token.end()))
            else:
                stop = token.start()
                break
        if not outer:
            return stop
        stop = outer[1][3] if len(outer) > 1 else start
        while comments and comments[-1].start > stop:
            comments.pop()
        return stop

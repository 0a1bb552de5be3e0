"""A rulesheet open in an editor: its current text and the data derived from it.

Everything derived is computed on demand and discarded with the next change.  Reading and checking a large
rulesheet takes less than a tenth of a second, so nothing incremental is needed.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from lsprotocol import types as lsp

from herbrand.check import check
from herbrand.diagnostic import Source
from herbrand.lsp.names import doc_comment, names_of
from herbrand.lsp.names_ggdl import names_of_ggdl
from herbrand.lsp.places import Places
from herbrand.syntax import read
from herbrand.syntax.files import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.check.rules import Rules
    from herbrand.lsp.names import Occurrences
    from herbrand.syntax.nodes import Comment
    from herbrand.syntax.tree import Tree

__all__ = ["LANGUAGES", "Document", "OpenSheet", "path_of"]

LANGUAGES: Final = {
    "kif": "prefix",
    "gdl": "prefix",
    "gdl-prefix": "prefix",
    "hrf": "infix",
    "gdl-infix": "infix",
    "gdl-prolog": "prolog",
    "ggdl": "ggdl",
    "ggd": "ggdl",
}
"""Notations by the editor's language identifier; the file name's suffix has precedence."""


def path_of(uri: str) -> str:
    """Return the path of a `file` URI; other URIs are returned unchanged.

    >>> path_of("file:///games/tic%20tac.kif"), path_of("untitled:Untitled-1")
    ('/games/tic tac.kif', 'untitled:Untitled-1')
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    if parts.scheme != "file":
        return uri
    return url2pathname(parts.path)


class OpenSheet:
    """An immutable version of a text with lazily derived data."""

    def __init__(self, text: str, name: str, notation: str, encoding: str = "utf-16") -> None:
        self.source = Source(text, name)
        self.notation = notation
        self.encoding = encoding
        self.sizes: dict[str, int] | None = None
        """The sizes of relations, once a subprocess has computed them."""
        self.remarks: list[tuple[int, str, str]] = []
        """Remarks on rules, as `herbrand.lsp.remarks` describes them, once a subprocess has found them."""

    @property
    def text(self) -> str:
        """The text."""
        return self.source.text

    @cached_property
    def places(self) -> Places:
        """Converts offsets and positions."""
        return Places(self.source, self.encoding)

    @cached_property
    def tree(self) -> Tree:
        """The syntax tree."""
        return read(self.source, self.notation)

    @cached_property
    def rules(self) -> Rules:
        """The checked rules."""
        return check(self.tree)

    @cached_property
    def names(self) -> Occurrences:
        """All occurrences of names."""
        return names_of(self.tree) if self.tree.ggdl is None else names_of_ggdl(self.tree)

    @cached_property
    def comments(self) -> dict[int, Comment]:
        """The comments by the line, from 0, on which they begin."""
        line = self.places.position
        return {line(comment.start).line: comment for comment in self.tree.comments}

    def doc(self, start: int) -> str:
        """Return the comment directly above a statement."""
        return doc_comment(self.text, self.source.line_starts, self.comments, start)


class Document:
    """An open text; `sheet` is its current version."""

    def __init__(
        self, uri: str, text: str, version: int | None = None, language: str = "", encoding: str = "utf-16"
    ) -> None:
        self.uri = uri
        self.version = version
        self.name = path_of(uri)
        self.encoding = encoding
        self.notation = SUFFIXES.get(Path(self.name).suffix.lower()) or LANGUAGES.get(language, "auto")
        self.sheet = self._sheet(text)
        self.serial = 0
        """Number of changes so far."""

    def _sheet(self, text: str) -> OpenSheet:
        return OpenSheet(text, self.name, self.notation, self.encoding)

    def change(self, changes: Sequence[lsp.TextDocumentContentChangeEvent], version: int | None) -> None:
        """Apply changes in order; each replaces a range of the previous text, or all of it."""
        for change in changes:
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                span = self.sheet.places.span(change.range)
                text = self.sheet.text
                self.sheet = self._sheet(text[: span.start] + change.text + text[span.end :])
            else:
                self.sheet = self._sheet(change.text)
        self.version = version
        self.serial += 1

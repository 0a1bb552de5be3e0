"""Load source texts: encodings, size limits, detection of the notation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from herbrand.diagnostic import Diagnostic, Severity, Source, Span

if TYPE_CHECKING:
    import os

__all__ = ["MAX_BYTES", "SUFFIXES", "decode", "detect", "find_excess", "open_source", "too_large"]

MAX_BYTES: Final = 16 * 2**20
"""Larger files are rejected; the largest published rulesheet has half a megabyte."""
MAX_DIGITS: Final = 4000
"""Digits of a number; Python refuses to convert more than 4300."""
_LONG_NUMBER: Final = re.compile(rf"\d{{{MAX_DIGITS + 1},}}")

SUFFIXES: Final = {
    ".kif": "prefix",
    ".gdl": "prefix",
    ".hrf": "infix",
    ".pl": "prolog",
    ".pro": "prolog",
    ".prolog": "prolog",
    ".ggd": "ggdl",
    ".ggdl": "ggdl",
    ".gel": "ggdl",
    ".gg": "ggdl",
}
"""Notation by file suffix."""

_BLANKS_AND_COMMENTS = re.compile(r"\ufeff?(?:\s+|[;%#][^\r\n]*|//[^\r\n]*|/\*[\s\S]*?(?:\*/|\Z))*")
_LINE_OF_LIST = re.compile(r"^[ \t%;]*\(", re.MULTILINE)
_ROLE_COMMENT = re.compile(r"^[ \t]*%+[ \t]*\([ \t]*role[ \t]", re.IGNORECASE | re.MULTILINE)
_ROLE = re.compile(r"^[ \t]*role\b", re.IGNORECASE | re.MULTILINE)
_FULL_STOPS = re.compile(r"[)\w]\.\s*(?:[\r\n]|\Z|%)")
_GGDL = re.compile(
    r":=|^[ \t]*init[ \t]*\^|==>|\$=|<=>|=/=|->|^[ \t]*role[ \t]+[a-z]\w*[ \t]*(?:[,{]|$)|"
    r"^[ \t]*init[ \t]+[A-Z]\w*[ \t]*(?:$|\()|::[ \t]*int\b|\?\w+:\w|"
    r"^[ \t]*(?:data|surface)[ \t]+\w+[ \t]*(?:\(|<=>)|^[ \t]*consult[ \t]*\{",
    re.MULTILINE,
)
_SAMPLE: Final = 200_000


def detect(text: str, suffix: str = "") -> str:
    r"""Return the notation of a text: "prefix", "infix", "prolog" or "ggdl".

    A known `suffix` decides, unless the text contradicts it: infix and Prolog texts never begin with a
    parenthesis, and some line of a prefix text does.  A program in Prolog whose only roles stand in prefix
    notation behind `%` is a prefix text.  Otherwise the first character decides that is neither
    blank nor part of a comment: a parenthesis begins prefix text.

        >>> detect("; a game\n(role white)"), detect("role(white)"), detect("role(white).")
        ('prefix', 'infix', 'prolog')
    """
    notation = SUFFIXES.get(suffix.lower())
    match = _BLANKS_AND_COMMENTS.match(text)
    at = match.end() if match else 0
    begins_with_list = text.startswith("(", at)
    if (
        notation == "prefix"
        and not begins_with_list
        and at < len(text)
        and _LINE_OF_LIST.search(text) is None
    ):
        notation = None
    elif notation in ("infix", "prolog") and begins_with_list:
        notation = "prefix"
    if notation != "ggdl" and "%" in text and _ROLE_COMMENT.search(text) and not _ROLE.search(text):
        notation = "prefix"
    if notation is not None:
        return notation
    if begins_with_list:
        return "prefix"
    sample = text[at : at + _SAMPLE]
    if _GGDL.search(sample):
        return "ggdl"
    return "prolog" if _FULL_STOPS.search(sample) else "infix"


def decode(data: bytes, name: str = "<string>") -> tuple[Source, tuple[Diagnostic, ...]]:
    """Decode a rulesheet; anything but UTF-8 is read as UTF-16 or Latin-1, with a warning."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        source = Source(data.decode("utf-16", errors="replace"), name)
        return source, (_not_utf_8(source, 0, "UTF-16"),)
    try:
        return Source(data.decode("utf-8-sig"), name), ()
    except UnicodeDecodeError as error:
        source = Source(data.decode("latin-1"), name)
        return source, (_not_utf_8(source, error.start, "Latin-1"),)


def _not_utf_8(source: Source, at: int, instead: str) -> Diagnostic:
    message = f"the text is not UTF-8: read as {instead}"
    return Diagnostic(
        "not-utf-8", Severity.WARNING, message, source, Span(at, at + 1), help="save the file in UTF-8"
    )


def open_source(path: str | os.PathLike[str]) -> tuple[Source, tuple[Diagnostic, ...]]:
    """Read a file; raises `OSError` when it cannot be read.  Too large a file is not read."""
    path = Path(path)
    if path.is_file() and path.stat().st_size > MAX_BYTES:
        source = Source("", str(path))
        return source, (too_large(source, path.stat().st_size),)
    return decode(path.read_bytes(), str(path))


def find_excess(source: Source) -> Diagnostic | None:
    """Return the diagnostic for a text that is too large, or has a number that is; None for others."""
    if len(source.text) > MAX_BYTES:
        return too_large(source, len(source.text))
    number = _LONG_NUMBER.search(source.text)
    if number is None:
        return None
    digits = number.end() - number.start()
    message = f"a number of {digits} digits, more than a rulesheet may have ({MAX_DIGITS})"
    return Diagnostic("too-large", Severity.ERROR, message, source, Span(*number.span()), help="use a name")


def too_large(source: Source, size: int) -> Diagnostic:
    """Return the diagnostic for a text too large to be a rulesheet."""
    message = f"the text has {size} bytes, more than a rulesheet may have ({MAX_BYTES})"
    return Diagnostic(
        "too-large",
        Severity.ERROR,
        message,
        source,
        Span(0, 0),
        help="generate fewer rules, or split the game",
    )

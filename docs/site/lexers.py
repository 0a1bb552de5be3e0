"""Colours for the notations of GDL in the pages."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

__all__ = ["LEXERS"]

_WORDS = (
    *("role", "base", "input", "init", "true", "does", "next", "legal", "goal", "terminal"),
    *("sees", "knows", "random"),
)


class Kif(RegexLexer):
    """Prefix notation."""

    name = "KIF"
    aliases: ClassVar = ["kif"]
    tokens: ClassVar = {
        "root": [
            (r"\s+", Text),
            (r";.*?$", Comment.Single),
            (r"\?[^\s();,]+", Name.Variable),
            (r"(<=|⇐)(?![^\s()])", Operator.Word),
            (words(("and", "or", "not", "distinct"), suffix=r"(?![^\s();])"), Operator.Word),
            (words(_WORDS, suffix=r"(?![^\s();])"), Keyword),
            (r"\d+(?![^\s();])", Number),
            (r"[()]", Punctuation),
            (r"[^\s();]+", Name),
        ]
    }


class Infix(RegexLexer):
    """Infix and Prolog notation, and GGDL, which looks alike."""

    name = "HRF"
    aliases: ClassVar = ["hrf"]
    tokens: ClassVar = {
        "root": [
            (r"\s+", Text),
            (r"(%|//|;;).*?$", Comment.Single),
            (r"/\*[\s\S]*?\*/", Comment.Multiline),
            (r'"[^"\n]*"|\'[^\'\n]*\'', String),
            (r"[?\\]\w+|\b_\w*|\b[A-Z]\w*", Name.Variable),
            (words(("and", "or", "not", "distinct", "in"), prefix=r"\b", suffix=r"\b"), Operator.Word),
            (
                words(
                    (
                        *_WORDS,
                        *("data", "const", "surface", "let", "consult", "from", "where", "default"),
                        *("int", "bool", "roles"),
                    ),
                    prefix=r"\b",
                    suffix=r"\b",
                ),
                Keyword,
            ),
            (r"\d+", Number),
            (r":-|::|:=|==>|===?|->|<-|\$=|\.\.|[<>]=?|[-+*/&|~#^@=!.]", Operator),
            (r"[()\[\]{},;:]", Punctuation),
            (r"\w+", Name),
            (r".", Text),
        ]
    }


LEXERS = {"kif": Kif, "hrf": Infix, "ggdl": Infix, "infix": Infix}

"""Read rulesheets into a `Tree`, and print them again: the first stage of the pipeline.

GDL is written in two ways.  *Prefix* (KIF) is made of lists; every system reads it.  *Infix* is
the notation of the textbook (Genesereth and Thielscher, General Game Playing), and *Prolog* its
variant with commas and full stops.  All of them are read into one tree (`herbrand.syntax.tree`) and
printed from it; printing and reading again yields the same tree.

| text                          | becomes                                       |
|-------------------------------|-----------------------------------------------|
| a statement                   | a `Rule`; a fact is a rule without body       |
| a name, in any case           | its folded name, and the spelling for display |
| `?x`, `X`                     | `Variable`, folded, without question mark     |
| a comment                     | a `Comment`, kept beside the statements       |
| an error                      | a `Diagnostic`, and the repaired statement    |

Reading never fails: a text with errors yields a tree with diagnostics and as many statements
as could be read or repaired.  The next stage (`herbrand.check`) checks whether they form a game.

    >>> tree = read("role(white) role(black) terminal :- ~open")
    >>> print(tree)
    (role white)
    (role black)
    (<= terminal (not open))

| module      | contents                                                         |
|-------------|------------------------------------------------------------------|
| `tree`      | the nodes                                                        |
| `files`     | encodings, size limits, detection of the notation                |
| `reader`    | the prefix reader, with `tokens`, `lists`, `repair`              |
| `infix`     | the infix and Prolog reader, with `infix_tokens`                 |
| `state_arguments` | rules from Prolog programs that pass the state as an argument |
| `ggdl`      | the typed superset with parameters, translated to plain rules    |
| `unification` | substitutions and unification of terms                        |
| `ground`    | ground terms as plain values, matched with terms                 |
| `printer`   | output in all notations, with `names` for names they cannot spell |
| `layout`    | the formatter of prefix text                                     |
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from herbrand.diagnostic import Diagnostic, Severity, Source, Span
from herbrand.syntax.files import SUFFIXES, decode, detect, find_excess, open_source
from herbrand.syntax.tree import Tree

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from herbrand.syntax.ggdl.program import Value

__all__ = ["NOTATIONS", "Source", "Tree", "detect", "read", "read_bytes", "read_file"]

NOTATIONS = ("prefix", "infix", "prolog", "ggdl")
"""The notations of rulesheets."""

_INFIX_ARROW = re.compile(r"^[^;\r\n]*?(?<!\()(:-)", re.MULTILINE)


def read(
    text: str | Source,
    notation: str = "auto",
    name: str = "<string>",
    parameters: Mapping[str, Value] | None = None,
) -> Tree:
    """Read a rulesheet; errors in it become diagnostics of the tree, never exceptions.

    `notation` is one of `NOTATIONS`, or "auto" to detect it (`detect`) from the suffix of the
    source's name and from the text.  `parameters` gives values to the parameters of a GGDL text; the
    others have their defaults, and a text in another notation has none.

        >>> [d.check for d in read("(<= (p ?x) (q ?x)").diagnostics]
        ['unclosed-parenthesis']
    """
    if notation not in {"auto", *NOTATIONS}:
        raise ValueError(f"unknown notation {notation!r} (auto, {', '.join(NOTATIONS)})")
    source = text if isinstance(text, Source) else Source(text, name)
    misnamed: tuple[Diagnostic, ...] = ()
    if notation == "auto":
        suffix = Path(source.name).suffix
        notation = detect(source.text, suffix)
        misnamed = _misnamed(source, suffix, notation)
    excess = find_excess(source)
    if excess is not None:
        return Tree((), source, notation, (), (excess,))
    if notation == "ggdl":
        from herbrand.syntax.ggdl import read_ggdl

        return read_ggdl(source, parameters)
    parameter_errors = _without_parameters(source, parameters or {})
    if notation == "prefix":
        from herbrand.syntax.reader import read_prefix

        return _with(read_prefix(source), (*misnamed, *_infix_in_prefix(source), *parameter_errors))
    from herbrand.syntax.infix import read_infix

    tree = read_infix(source, notation)
    if notation == "prolog":
        from herbrand.syntax.state_arguments import without_state_arguments

        tree = without_state_arguments(tree)
    return _with(tree, (*misnamed, *parameter_errors))


def read_file(
    path: str | os.PathLike[str], notation: str = "auto", parameters: Mapping[str, Value] | None = None
) -> Tree:
    """Read the rulesheet in a file; raises `OSError` when the file cannot be read.

    The text should be UTF-8; a byte-order mark is skipped, other bytes are read as Latin-1 with a
    warning.
    """
    source, diagnostics = open_source(path)
    if any(d.check == "too-large" for d in diagnostics):
        detected = detect("", Path(path).suffix) if notation == "auto" else notation
        return Tree((), source, detected, (), diagnostics)
    return _with(read(source, notation, parameters=parameters), diagnostics)


def read_bytes(data: bytes, notation: str = "auto", name: str = "<string>") -> Tree:
    """Read a rulesheet from bytes, as `read_file` does."""
    source, diagnostics = decode(data, name)
    return _with(read(source, notation), diagnostics)


def _with(tree: Tree, diagnostics: tuple[Diagnostic, ...]) -> Tree:
    """Add diagnostics to those of a tree."""
    if not diagnostics:
        return tree
    merged = tuple(sorted((*diagnostics, *tree.diagnostics), key=lambda d: d.span.start))
    return replace(tree, diagnostics=merged)


def _misnamed(source: Source, suffix: str, notation: str) -> tuple[Diagnostic, ...]:
    """Report a file whose ending is that of another notation than the text has."""
    if SUFFIXES.get(suffix.lower(), notation) == notation:
        return ()
    endings = " or ".join(f"`{ending}`" for ending, named in SUFFIXES.items() if named == notation)
    message = f"the text is in {notation} notation, though the file ends in `{suffix}`"
    help_text = f"let its name end in {endings}"
    return (Diagnostic("misnamed-file", Severity.WARNING, message, source, Span(0, 0), help=help_text),)


def _infix_in_prefix(source: Source) -> tuple[Diagnostic, ...]:
    """Report an infix arrow in prefix text: probably two notations in one file."""
    if ":-" not in source.text:
        return ()
    match = _INFIX_ARROW.search(source.text)
    if match is None:
        return ()
    return (
        Diagnostic(
            "mixed-notation",
            Severity.NOTE,
            "`:-` is the arrow of the infix notation, in a text read as prefix",
            source,
            Span(*match.span(1)),
            help="write `(<= head literal ...)`, or read the text as infix",
        ),
    )


def _without_parameters(source: Source, parameters: Mapping[str, Value]) -> tuple[Diagnostic, ...]:
    """Report values for parameters that the game does not have: only GGDL games have parameters."""
    return tuple(
        Diagnostic(
            "parameter-unknown",
            Severity.ERROR,
            f"the game has no parameter `{name}`",
            source,
            Span(0, 0),
            help="only games in GGDL have parameters",
        )
        for name in parameters
    )

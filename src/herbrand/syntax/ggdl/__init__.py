r"""GGDL, the typed superset of GDL with parameters: from its text to a `Tree` of plain GDL.

The language is Kevin Damm's (GGDL, later GEL); `docs/reference/ggdl.md` describes what is read here.
A program is a list of sentences in prefix, infix or GGDL notation, in any mixture.  Its meaning is the
plain GDL that it translates to.  A text without GGDL sentences is plain GDL and is read by
the readers of plain GDL alone.

| module | contents |
|---|---|
| `tokens`, `expressions`, `parser` | text to sentences (`nodes`), with error recovery |
| `imports` | `consult`: sentences of other files |
| `desugar` | the schedule of the passes, each in a module of its own |
| `literals`, `rule_emitter` | intermediate form of conditions, and its translation to rules |
| `relax` | the reachable facts of a relaxed game, for domains and types |
| `state_code` | the number of a state |
| `lift` | from plain GDL to GGDL |

    >>> from herbrand.diagnostic import Source
    >>> tree = read_ggdl(Source("role solo  data n := 1 .. 2  init At := 1  solo -> go(?k:n) ==> At = ?k"))
    >>> print(*[rule for rule in tree.statements if rule.head.name == "next"], sep="\n")
    (<= (next (at ?k)) (n ?k) (does solo (go ?k)))
    (<= (next (at ?v)) (true (at ?v)) (not ggdl_set_at))
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from unicodedata import normalize

from herbrand.diagnostic import Source
from herbrand.syntax.ggdl.report import NAMES, ProgramDiagnostics
from herbrand.syntax.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.syntax.ggdl.program import GgdlProgram, Parameter, Value

__all__ = ["NAMES", "parameters_of", "read_ggdl"]

_TYPED: Final = re.compile(r"[?][^\W\d]\w*\s*:\s*[\w\[]")
_WORD: Final = re.compile(r"\w+")


def read_ggdl(source: Source, parameters: Mapping[str, Value] | None = None) -> Tree:
    """Read a program; errors in it become diagnostics of the tree, never exceptions.

    `parameters` gives values to the game's parameters by name; the others have their defaults.
    """
    source = _composed(source)
    if not parameters:
        plain = _plain(source)
        if plain is not None:
            return plain
    from herbrand.syntax.ggdl.desugar import declarations, desugar

    program = _program(source, parameters or {})
    rules = desugar(program)
    diagnostics = tuple(sorted(program.report.diagnostics, key=lambda d: d.span.start))
    return Tree(rules, source, "ggdl", program.comments, diagnostics, ggdl=declarations(program))


def parameters_of(source: Source) -> tuple[Parameter, ...]:
    """Return the parameters of a program without translating its rules."""
    from herbrand.syntax.ggdl.parameters import bind
    from herbrand.syntax.ggdl.types import declare_constants, declare_roles

    source = _composed(source)
    if _plain(source) is not None:
        return ()
    program = _program(source, {})
    declare_roles(program)
    bind(program)
    declare_constants(program)
    return tuple(program.parameters)


def _composed(source: Source) -> Source:
    """Return the text in Unicode normalisation form C, so that equal names have equal characters."""
    text = normalize("NFC", source.text)
    return source if text == source.text else Source(text, source.name)


def _plain(source: Source) -> Tree | None:
    """Read a text as plain GDL; None if it is GGDL."""
    from herbrand.syntax.ggdl.parser import is_plain
    from herbrand.syntax.infix import read_infix
    from herbrand.syntax.reader import read_prefix

    text = source.text.lstrip("\ufeff \t\r\n")
    if text.startswith(("(", ";")):
        tree = read_prefix(source)
        if is_plain(tree):
            return tree
    if _TYPED.search(text):
        return None
    tree = read_infix(source)
    return tree if is_plain(tree) else None


def _program(source: Source, arguments: Mapping[str, Value]) -> GgdlProgram:
    """Parse a text, resolve its imports, and read its prefix sentences."""
    from herbrand.syntax.ggdl.imports import fetch
    from herbrand.syntax.ggdl.parser import parse
    from herbrand.syntax.ggdl.program import GgdlProgram
    from herbrand.syntax.ggdl.tokens import tokenize

    report = ProgramDiagnostics(source)
    tokens = tokenize(source, report)
    sentences = parse(tokens, report)
    sentences, built_in = fetch(sentences, source, report)
    report.source = source
    program = GgdlProgram(source, report, sentences, tuple(tokens.comments), arguments, imported=built_in)
    for origin in {id(s.source): s.source for s in sentences}.values():
        program.used_names.update(word.lower() for word in _WORD.findall(origin.text))
        _prefix_rules(program, origin)
    program.used_names.update(word.lower() for word in _WORD.findall(source.text))
    return program


def _prefix_rules(program: GgdlProgram, source: Source) -> None:
    """Read the prefix sentences of one text together, with everything else blanked out."""
    from herbrand.syntax.ggdl.nodes import PrefixSentence
    from herbrand.syntax.reader import read_prefix

    prefix_sentences = [s for s in program.sentences if isinstance(s, PrefixSentence) and s.source is source]
    if not prefix_sentences:
        return
    pieces: list[str] = []
    at = 0
    for sentence in prefix_sentences:
        pieces.append(re.sub(r"[^\r\n]", " ", source.text[at : sentence.start]))
        pieces.append(source.text[sentence.start : sentence.end])
        at = sentence.end
    tree = read_prefix(Source("".join(pieces), source.name))
    program.report.diagnostics += [replace(diagnostic, source=source) for diagnostic in tree.diagnostics]
    for sentence in prefix_sentences:
        program.plain_rules[id(sentence)] = ()
    index = 0
    for rule in tree.statements:
        while index + 1 < len(prefix_sentences) and prefix_sentences[index + 1].start <= rule.start:
            index += 1
        key = id(prefix_sentences[index])
        program.plain_rules[key] = (*program.plain_rules[key], rule)

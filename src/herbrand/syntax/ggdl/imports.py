"""Imports: `consult` sentences."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final

from herbrand.syntax.files import MAX_BYTES, decode
from herbrand.syntax.ggdl import nodes as n
from herbrand.syntax.ggdl.boards import BUILT_IN
from herbrand.syntax.ggdl.parser import parse
from herbrand.syntax.ggdl.report import ProgramDiagnostics, Refused, did_you_mean
from herbrand.syntax.ggdl.tokens import tokenize

if TYPE_CHECKING:
    from herbrand.diagnostic import Source

__all__ = ["LIBRARY", "fetch"]

LIBRARY: Final = Path(__file__).parent / "library"
"""Folder of the files bundled for `consult`."""
ENDINGS: Final = ("", ".ggd", ".ggdl", ".gel", ".gg")
_NAMED: Final = (n.BaseSentence, n.ConstantSentence, n.DataSentence, n.ParameterSentence, n.SurfaceSentence)
_WORD: Final = re.compile(r"[^\W\d_]\w*")


def fetch(
    sentences: list[n.Sentence], source: Source, report: ProgramDiagnostics
) -> tuple[list[n.Sentence], set[str]]:
    """Replace `consult` sentences by the sentences they import; also return the built-in components.

    Each named item comes with all sentences it depends on.  Roles and parameters are not imported.
    """
    merged: list[n.Sentence] = []
    built_in: set[str] = set()
    origin: dict[str, tuple[str, str]] = {}
    for sentence in sentences:
        if isinstance(sentence, n.ConsultSentence):
            report.source = source
            try:
                imported, components = _consult(sentence, (str(source.name),), report)
            except Refused:
                continue
            built_in |= components
            for item in imported:
                text = item.source.text[item.start : item.end]
                clash = _clash(item, origin, text)
                report.source = source
                if clash is not None:
                    report.add(
                        "E-IMPORT-CLASH",
                        f"`{clash}` is defined differently in `{item.source.name}` and `{origin[clash][0]}`",
                        sentence,
                    )
                    continue
                if any(
                    other.source.name == item.source.name and other.start == item.start for other in merged
                ):
                    continue
                for name in _defined(item):
                    origin[name] = item.source.name, text
                merged.append(item)
        else:
            merged.append(sentence)
    local = {
        name for s in sentences if not isinstance(s, n.ConsultSentence) for name in _defined(s, single=True)
    }
    for name in sorted(local & origin.keys()):
        consult = next(s for s in sentences if isinstance(s, n.ConsultSentence))
        report.source = source
        report.add(
            "E-IMPORT-CLASH",
            f"`{name}` is imported and also defined here",
            consult,
            help="rename one of them",
        )
    return merged, built_in


def _clash(item: n.Sentence, origin: dict[str, tuple[str, str]], text: str) -> str | None:
    for name in _defined(item, single=True):
        earlier = origin.get(name)
        if earlier is not None and earlier[0] != item.source.name and earlier[1] != text:
            return name
    return None


def _consult(
    sentence: n.ConsultSentence, trail: tuple[str, ...], report: ProgramDiagnostics
) -> tuple[list[n.Sentence], set[str]]:
    names = {name.spelling for name in sentence.names}
    path = sentence.path
    built_in = {name for name in names if BUILT_IN.get(name) == path.lstrip("@/").removesuffix(".ggd")}
    place = sentence.report_span
    if names <= built_in:
        return [], built_in
    file = _find(path, Path(sentence.source.name).parent)
    if file is None:
        report.refuse(
            "E-CONSULT-NOTFOUND",
            f"no file `{path}`",
            sentence.imported or (sentence.path_start, sentence.path_end),
            help="paths are relative to this file, then to the library; the ending may be left out",
        )
    if str(file) in trail or str(file.resolve()) in {str(Path(t).resolve()) for t in trail}:
        report.refuse("E-CONSULT-CYCLE", f"`{path}` imports itself, directly or indirectly", place)
    inner = _read(file, report)
    items: list[n.Sentence] = []
    components: set[str] = set()
    for item in inner:
        if isinstance(item, n.ConsultSentence):
            before = report.source
            item.imported = place
            deeper, deeper_components = _consult(item, (*trail, str(file)), report)
            report.source = before
            items += deeper
            components |= deeper_components
        else:
            items.append(item)
    defined = {name for item in items for name in _defined(item)}
    for name in sentence.names:
        if name.spelling not in defined | built_in | components and name.folded not in {
            d.lower() for d in defined
        }:
            report.refuse(
                "E-CONSULT-NAME",
                f"`{path}` defines no `{name.spelling}`",
                sentence.imported or (name.start, name.end),
                help=did_you_mean(name.spelling, sorted(defined)),
            )
    chosen = _closure(items, names)
    for item in chosen:
        _mark(item, place)
    return chosen, built_in | components


def _mark(item: n.Sentence, place: tuple[int, int]) -> None:
    item.imported = place
    for inner in getattr(item, "block", ()):
        _mark(inner, place)


def _find(path: str, folder: Path) -> Path | None:
    only_library = path.startswith("@")
    relative = Path(path.lstrip("@/") if only_library else path)
    for base, ending in product((LIBRARY,) if only_library else (folder, LIBRARY), ENDINGS):
        file = base / f"{relative}{ending}"
        with suppress(OSError):  # the name is too long, or the file inaccessible: no such file
            if file.is_file() and file.stat().st_size <= MAX_BYTES:
                return file
    return None


def _read(file: Path, report: ProgramDiagnostics) -> list[n.Sentence]:
    source, _ = decode(file.read_bytes(), str(file))
    inner = ProgramDiagnostics(source)
    sentences = parse(tokenize(source, inner), inner)
    report.diagnostics += inner.diagnostics
    return [s for s in sentences if not isinstance(s, n.RoleSentence | n.ParameterSentence)]


def _defined(sentence: n.Sentence, *, single: bool = False) -> set[str]:
    """Return the names that a sentence defines; with `single`, only names that need a single sentence."""
    if isinstance(sentence, _NAMED):
        return {sentence.name}
    if single:
        return set()
    match sentence:
        case n.RuleSentence(heads=heads):
            return {head.spelling for head in heads if isinstance(head, n.Name | n.FunctionCall | n.Member)}
        case n.InitSentence(place=n.Name(spelling=name) | n.FunctionCall(spelling=name)):
            return {name}
        case n.MoveSentence(head=n.Doing(action=n.Name(spelling=name) | n.FunctionCall(spelling=name))):
            return {name}
        case n.PrefixSentence():
            words = _WORD.findall(sentence.source.text[sentence.start : sentence.end])
            return set(words[:1])
    return set()


def _closure(items: list[n.Sentence], names: set[str]) -> list[n.Sentence]:
    """Return the sentences that define these names, and those that they depend on."""
    needed = {name.lower() for name in names}
    chosen: dict[int, n.Sentence] = {}
    changed = True
    while changed:
        changed = False
        for index, item in enumerate(items):
            if index in chosen or not {name.lower() for name in _defined(item)} & needed:
                continue
            chosen[index] = item
            changed = True
            text = item.source.text[item.start : item.end]
            needed |= {word.lower() for word in _WORD.findall(text)}
    return [chosen[index] for index in sorted(chosen)]

"""What the language server answers about a text, asked without a server in between."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import herbrand
from herbrand import games
from herbrand.diagnostic import Source
from herbrand.verify.diff import diff

pytest.importorskip("pygls")

from lsprotocol import types as lsp

from herbrand.lsp import edit, findings, outline, remarks, sizes
from herbrand.lsp.complete import complete
from herbrand.lsp.document import Document, path_of
from herbrand.lsp.hover import hover
from herbrand.lsp.keywords import GDL, GGDL
from herbrand.lsp.places import Places
from herbrand.lsp.server import make_server
from herbrand.lsp.signature import signature_help
from herbrand.lsp.tokens import LEGEND, tokens
from herbrand.syntax.names import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

TIC = games.path("ticTacToe").read_text(encoding="utf-8")
MNK = games.path("mnk").read_text(encoding="utf-8")
INFIX = games.path("ticTacToeInfix").read_text(encoding="utf-8")
PROLOG = games.path("ticTacToe3").read_text(encoding="utf-8")
ENDINGS = {"kif": TIC, "hrf": INFIX, "pl": PROLOG, "ggd": MNK}

FAULTY = """(role robot)
(init (at 1))
(<= (legal robot (go ?to)) (succ ?from ?to) (at ?from))
(<= (next (at ?n)) (does robot (go ?m)))
(succ 1 2)
(<= terminal (true (at 2)))
(goal robot 100)
"""


def opened(text: str, ending: str = "kif", encoding: str = "utf-16") -> Document:
    return Document(f"file:///game.{ending}", text, 1, encoding=encoding)


def at(document: Document, word: str, number: int = 0) -> lsp.Position:
    """The place of the n-th occurrence of a word."""
    offset = -1
    for _ in range(number + 1):
        offset = document.sheet.text.index(word, offset + 1)
    return document.sheet.places.position(offset)


def whole(document: Document) -> lsp.Range:
    return document.sheet.places.range(0, len(document.sheet.text))


def edited(document: Document, edits: list[lsp.TextEdit]) -> str:
    """The text after edits, made from the end."""
    text = document.sheet.text
    spans = [(document.sheet.places.span(e.range), e.new_text) for e in edits]
    for span, new in sorted(spans, key=lambda s: (s[0].start, s[0].end), reverse=True):
        text = text[: span.start] + new + text[span.end :]
    return text


def hovered(document: Document, word: str, number: int = 0) -> str:
    found = hover(document, at(document, word, number))
    assert found is not None
    assert isinstance(found.contents, lsp.MarkupContent)
    return found.contents.value


# -- places -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_places_count_units_of_the_encoding(encoding: str) -> None:
    """A letter outside of the basic plane is four bytes, two UTF-16 units or one code point."""
    places = Places(Source("(a 𝔸é b)\r\n(c)"), encoding)
    units = {"utf-8": 10, "utf-16": 6, "utf-32": 5}[encoding]
    assert places.position(5) == lsp.Position(0, units - {"utf-8": 1, "utf-16": 0, "utf-32": 0}[encoding])
    assert places.position(10) == lsp.Position(1, 0)
    assert places.offset(lsp.Position(0, 999)) == 8
    assert places.offset(lsp.Position(9, 0)) == 13


TEXT = st.text(st.sampled_from("ab(𝔸é\n\r\t\x0c\u2028\ud800)"), max_size=40)


@given(TEXT, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_a_place_and_its_offset_belong_together(text: str, encoding: str) -> None:
    """Every offset has a place, and that place has this offset, but for the middle of CR LF."""
    places = Places(Source(text), encoding)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] != "\r\n":
            position = places.position(offset)
            assert places.offset(position) == offset or text[offset - 1 : offset] == "\r"


@given(TEXT, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), TEXT), max_size=4))
def test_incremental_changes_give_the_text_that_the_client_has(
    text: str, edits: list[tuple[int, int, str]]
) -> None:
    """Replacing ranges, told in UTF-16, does what replacing slices does."""
    document = opened(text)
    for one, other, new in edits:
        start, end = sorted((min(one, len(text)), min(other, len(text))))
        if "\r\n" in (text[start - 1 : start + 1], text[end - 1 : end + 1]):
            continue  # no place of the protocol is between the two
        place = document.sheet.places.range(start, end)
        document.change([lsp.TextDocumentContentChangePartial(place, new)], 2)
        text = text[:start] + new + text[end:]
        assert document.sheet.text == text
    document.change([lsp.TextDocumentContentChangeWholeDocument("new")], 3)
    assert document.sheet.text == "new"


def test_a_uri_is_a_path_or_stays_what_it_is() -> None:
    """Only files have paths; whatever else an editor sends does not stop anything."""
    assert path_of("file:///a/b%20c.kif") == "/a/b c.kif"
    assert path_of("untitled:Untitled-1") == "untitled:Untitled-1"
    assert path_of("http://[") == "http://["


# -- every question on every text -------------------------------------------------------------------


def ask_everything(document: Document) -> None:
    """Every question at every few places; what is answered lies in the text."""
    sheet = document.sheet
    everything = whole(document)
    for found in findings.diagnostics(document):
        assert found.range.start <= found.range.end <= everything.end
    findings.actions(document, everything)
    outline.folds(sheet)
    for symbol in outline.symbols(sheet):
        assert symbol.range.start <= symbol.selection_range.start
        assert symbol.selection_range.end <= symbol.range.end <= everything.end
    list(outline.workspace_symbols(sheet, document.uri, "a"))
    data = tokens(sheet)
    assert len(data) % 5 == 0
    assert min(data, default=0) >= 0
    edit.formatting(sheet)
    edit.range_formatting(sheet, everything)
    sizes.hints(sheet, {"role": 2}, everything)
    for offset in range(0, len(sheet.text) + 1, 1 + len(sheet.text) // 7):
        position = sheet.places.position(offset)
        hover(document, position)
        complete(document, position)
        answer = signature_help(document, position)
        for form in answer.signatures if answer else ():
            for parameter in form.parameters or ():
                assert 0 <= parameter.label[0] <= parameter.label[1] <= 2 * len(form.label)
        outline.selection(sheet, [position])
        found_name = sheet.names.at(offset)
        if found_name is not None:
            assert found_name in sheet.names.of(found_name)
            assert sheet.names.definitions(found_name)
        with contextlib.suppress(edit.CannotRename):
            edit.rename(document, position, "fresh")


SOUP = st.lists(
    st.sampled_from(
        [*"()?;:-&~.,'\"\\[]{}|_=<> \n\tabX1𝔸é", *["role ", "(init ", "==>", ":=", "not ", "true"]]
    ),
    max_size=60,
).map("".join)


@settings(max_examples=30)
@given(SOUP, st.sampled_from(sorted(ENDINGS)))
def test_no_text_breaks_an_answer(text: str, ending: str) -> None:
    """Every question is answered on any text, in any notation."""
    ask_everything(opened(text, ending))


@settings(max_examples=8)
@given(st.sampled_from(sorted(ENDINGS)), st.data())
def test_no_half_typed_game_breaks_an_answer(ending: str, data: st.DataObject) -> None:
    """The same where a piece of a real game is missing or something is typed in between."""
    text = ENDINGS[ending]
    start = data.draw(st.integers(0, len(text)))
    end = min(len(text), start + data.draw(st.integers(0, 30)))
    ask_everything(opened(text[:start] + data.draw(SOUP) + text[end:], ending))


# -- findings ---------------------------------------------------------------------------------------


def test_findings_have_place_name_and_help() -> None:
    """What `herbrand check` says is said in the editor, with its name as the code."""
    document = opened(FAULTY)
    found = {d.code: d for d in findings.diagnostics(document)}
    unsafe = found["unsafe-variable"]
    assert unsafe.range == lsp.Range(lsp.Position(3, 14), lsp.Position(3, 16))
    assert unsafe.severity == lsp.DiagnosticSeverity.Error
    assert "help: bind `?n`" in unsafe.message
    assert unsafe.source == "herbrand"


def test_a_fix_is_offered_and_repairs() -> None:
    """The repair that `--fix` makes is offered at its place, and all of them at once."""
    document = opened(FAULTY)
    offered = findings.actions(document, lsp.Range(at(document, "(at ?from)"), at(document, "(at ?from)")))
    fix = next(a for a in offered if a.edit is not None and a.kind == lsp.CodeActionKind.QuickFix)
    assert fix.edit is not None
    assert fix.edit.changes is not None
    assert "(true (at ?from))" in edited(document, list(fix.edit.changes[document.uri]))
    every = findings.actions(document, whole(document), ["source.fixAll"])
    assert [a.title for a in every] == ["Apply all fixes"]
    explained = [a.command.arguments for a in offered if a.command]
    assert ["relation-and-function"] in explained


def test_a_misspelt_name_can_be_respelt() -> None:
    """What was probably meant is offered as a fix."""
    text = "(role a) (succ 1 2) (legal a go) (<= terminal (suc 1 2)) (goal a 100) (goal a 0)"
    document = opened(text)
    place = lsp.Range(at(document, "(suc "), at(document, "(suc "))
    offered = [a for a in findings.actions(document, place) if "succ" in a.title]
    assert [a.title for a in offered] == ["Write `succ`"]
    assert offered[0].edit is not None
    assert offered[0].edit.changes is not None
    assert edited(document, list(offered[0].edit.changes[document.uri])) == text.replace("suc ", "succ ")


def test_findings_about_an_imported_file_are_shown_at_the_top(tmp_path) -> None:
    """A finding in another text has no place in this one: it names the other."""
    (tmp_path / "part.ggd").write_text("board(?x) :- nothing(?y) and ?x == ?z\n", encoding="utf-8")
    text = 'consult { board } from "part.ggd"\nrole a\nterminal :- board(_)\na $= 100\na -> go\n'
    document = Document((tmp_path / "game.ggd").as_uri(), text)
    found = findings.diagnostics(document)
    assert found
    for one in found:
        assert one.range.end <= whole(document).end


# -- names ------------------------------------------------------------------------------------------


def test_hovering_tells_what_a_relation_is() -> None:
    """Kind, arity, stratum, what it asks and the comment above it."""
    text = hovered(opened(TIC), "line ?mark")
    assert "**line/1**: relation, depends on the state, stratum 0" in text
    assert "used by `wins`" in text
    document = opened(
        "; Goes round.\n; And round.\n(<= (even ?x) (not (odd ?x)) (n ?x))\n(n 1) (<= (odd ?x) (n ?x))"
    )
    text = hovered(document, "even")
    assert "Goes round." in text
    assert "And round." in text
    assert "the same in every state, stratum 1" in text


def test_hovering_tells_what_other_names_are() -> None:
    """Keywords have their help, fluents, moves and roles are called so."""
    document = opened(TIC)
    assert "True in the next state".lower() in hovered(document, "next").lower()
    assert "fluent" in hovered(document, "cell ?row ?column b")
    assert "move" in hovered(document, "mark ?")
    assert "role" in hovered(document, "xplayer", 1)
    assert "variable" in hovered(document, "?row")
    assert "never used" not in hovered(document, "terminal")
    assert "next(F)" in hovered(opened(INFIX, "hrf"), "next(")
    assert "ggdl_" not in hovered(opened(MNK, "ggd"), "line(?player")


def test_hovering_in_ggdl_tells_types_and_parameters() -> None:
    """Declarations of a GGDL text are told with their comment, range and members."""
    document = opened(MNK, "ggd")
    text = hovered(document, "M ::")
    assert "Columns of the board." in text
    assert "1 to 19" in text
    assert "members: 1, 2, 3" in hovered(document, "column", 2)
    assert "fluent" in hovered(document, "cell(")


def test_every_keyword_has_its_help() -> None:
    """No word with a fixed meaning is without a word about it."""
    assert GDL.keys() >= KEYWORDS
    assert all(word.text for word in (*GDL.values(), *GGDL.values()))


def test_definitions_are_where_things_are_introduced() -> None:
    """A relation at its heads, a fluent where it begins, a variable where it is first."""
    document = opened(TIC)
    names = document.sheet.names

    def lines(word: str, number: int = 0) -> list[str]:
        found = names.at(document.sheet.places.offset(at(document, word, number)) + 1)
        assert found is not None
        line = document.sheet.places.position
        rows = document.sheet.text.split("\n")
        return [rows[line(o.start).line].strip() for o in names.definitions(found)]

    assert lines("line ?mark") == ["(<= (line ?mark)"] * 4
    assert lines("cell ?row 1 ?mark") == [
        "(<= (base (cell ?row ?column b))",
        "(<= (base (cell ?row ?column ?mark))",
    ]
    assert lines("?column b", 1) == ["(<= (input ?player (mark ?row ?column))"] or lines("?column b", 1)


BOARD = """(role a) (init (cell 1 1 x)) (init (cell 1 2 x)) (init (cell 2 1 x)) (init (step 1))
(near 1 2) (near 2 1)
(<= (near ?x ?x) (index ?x))
(<= (next (cell ?i ?j ?what)) (true (cell ?i ?j ?what)))
; the count of steps
(<= (next (step 2)) (true (step 1)) (near 1 2))
"""


def test_definitions_are_rules_where_there_are_some() -> None:
    """A fluent without `base` leads to the rules that make it true, not to a fact for each cell."""
    document = opened(BOARD)
    names = document.sheet.names

    def definitions(word: str) -> list[str]:
        found = names.at(document.sheet.places.offset(at(document, word)) + 1)
        assert found is not None
        rows = document.sheet.text.split("\n")
        return [rows[document.sheet.places.position(one.start).line][:14] for one in names.definitions(found)]

    assert definitions("cell 2 1") == ["(<= (next (cel"]
    assert definitions("step 1") == ["(<= (next (ste"]
    assert definitions("near 1 2") == ["(<= (near ?x ?"]
    assert len(definitions("x))")) > 0
    facts = opened("(role a) (init (cell 1)) (init (cell 2)) (<= (legal a go) (true (cell 1)))")
    found = facts.sheet.names.at(facts.sheet.text.rindex("cell"))
    assert found is not None
    assert len(facts.sheet.names.definitions(found)) == 2


@pytest.mark.parametrize(
    ("text", "typed", "ending", "form", "argument"),
    [
        (TIC, "(<= (legal ?p ", "kif", "(legal R M)", "M"),
        (TIC, "(<= x (true (cell 1 ", "kif", "(cell ?row ?column ?mark)", "?column"),
        (TIC, "(<= x (distinct ?a ", "kif", "(distinct S T)", "T"),
        (BOARD, "(<= x (near 1 ", "kif", "(near ?x ?y)", "?y"),
        (INFIX, "x :- true(cell(1, ", "hrf", "cell(Row, Column, Mark)", "Column"),
        (INFIX, "x :- legal(", "hrf", "legal(R, M)", "R"),
        (MNK, "free :- cell(", "ggd", "cell(column, row)", "column"),
    ],
)
def test_the_arguments_of_what_is_typed_are_shown(
    text: str, typed: str, ending: str, form: str, argument: str
) -> None:
    """A keyword has its form, a name the one with most variables in the sheet, a fluent of GGDL its types."""
    text = text.replace("(<= (near ?x ?x) (index ?x))", "(<= (near ?x ?y) (index ?x) (index ?y))")
    document = opened(f"{text}\n{typed}", ending)
    answer = signature_help(document, document.sheet.places.position(len(document.sheet.text)))
    assert answer is not None
    assert answer.active_parameter is not None
    shown = answer.signatures[answer.active_signature or 0]
    assert shown.label == form
    assert shown.parameters is not None
    start, end = shown.parameters[answer.active_parameter].label
    assert form[int(start) : int(end)] == argument


def test_signatures_have_the_comment_and_there_are_none_for_conditions() -> None:
    """The comment above a definition explains it; `<=`, `not` and unknown names have no arguments to show."""
    document = opened(f"{BOARD}(<= x (true (step ")
    answer = signature_help(document, whole(document).end)
    assert answer is not None
    assert "the count of steps" in str(answer.signatures[0].documentation)
    for typed in ("(<= ", "(<= x (not ", "(<= x (unheard ", "loose "):
        document = opened(f"{BOARD}{typed}")
        assert signature_help(document, whole(document).end) is None


def test_a_relation_and_a_fluent_of_one_name_are_two_things() -> None:
    """Renaming one leaves the other alone."""
    document = opened("(row 1)\n(<= (next (row ?x)) (row ?x) (true (row ?x)))")
    new = edit.rename(document, at(document, "row"), "line")
    assert new is not None
    assert new.changes is not None
    text = edited(document, list(new.changes[document.uri]))
    assert text == "(line 1)\n(<= (next (row ?x)) (line ?x) (true (row ?x)))"


@pytest.mark.slow_except("kif", "pl")
@pytest.mark.parametrize("ending", sorted(ENDINGS))
def test_a_game_stays_the_same_when_any_name_is_changed(ending: str) -> None:
    """Every name that can be renamed is, one after another, and the game is still the same game."""
    document = opened(ENDINGS[ending], ending)
    before = herbrand.loads(ENDINGS[ending], document.sheet.tree.notation)
    renamed = 0
    for key, found in list(document.sheet.names.by_key.items()):
        if key[0] in ("variable", "keyword") or found[0].kind == "number":
            continue
        position = document.sheet.places.position(found[0].start)
        new = f"Fresh{renamed}" if found[0].kind in ("parameter", "type") else f"fresh{renamed}"
        change = edit.rename(document, position, new)
        assert change is not None
        assert change.changes is not None
        text = edited(document, list(change.changes[document.uri]))
        after = herbrand.loads(text, document.sheet.tree.notation)
        assert not after.rules.errors, (key, [d.message for d in after.rules.errors])
        assert diff(before, after).verdict == "rules", key
        renamed += 1
    assert renamed > 10


def test_a_name_that_is_taken_or_cannot_be_written_is_refused() -> None:
    """Two things never become one, and keywords keep their names."""
    document = opened(TIC)
    for word, new, reason in [
        ("line ?", "open", "already has another meaning"),
        ("line ?", "legal", "fixed meaning"),
        ("line ?", "a b", "not a name"),
        ("legal", "allowed", "fixed meaning"),
        ("?row", "?column", "already has another meaning"),
    ]:
        with pytest.raises(edit.CannotRename, match=reason):
            edit.rename(document, at(document, word), new)
    assert edit.prepare_rename(document.sheet, at(document, "legal")) is None


# -- shape ------------------------------------------------------------------------------------------


def test_formatting_gives_the_canonical_layout() -> None:
    """What `herbrand format` writes, told as the lines that change; statements alone too."""
    document = opened("(role a)\n(<=  terminal\n(true x)   (true y))\n(role b)\n")
    edits = edit.formatting(document.sheet)
    assert edits
    assert edited(document, edits) == "(role a)\n(<= terminal\n    (true x)\n    (true y))\n(role b)\n"
    assert edits[0].range.start.line == 1
    touched = edit.range_formatting(document.sheet, lsp.Range(lsp.Position(2, 0), lsp.Position(2, 0)))
    assert touched
    assert edited(document, touched) == edited(document, edits)
    assert edit.formatting(opened("(role", "kif").sheet) is None
    assert edit.formatting(opened(MNK, "ggd").sheet) is None


def test_the_outline_groups_statements_by_relation() -> None:
    """Rules about `legal` that follow each other are one entry."""
    found = {s.name: s for s in outline.symbols(opened(TIC).sheet)}
    legal = next(s for name, s in found.items() if name.startswith("legal"))
    assert legal.children
    assert len(legal.children) > 1
    assert outline.symbols(opened(MNK, "ggd").sheet)


def test_statements_and_comments_fold() -> None:
    """A rule over several lines folds, and so does a block of comments."""
    text = "; one\n; two\n(<= terminal\n    (true x))\n"
    assert [(f.start_line, f.end_line, f.kind) for f in outline.folds(opened(text).sheet)] == [
        (0, 1, "comment"),
        (2, 3, None),
    ]


def test_selections_grow_from_word_to_sheet() -> None:
    """Word, brackets, statement, sheet."""
    text = "(role a)\n(<= (p ?x) (q (f ?x)))"
    document = opened(text)
    grown: lsp.SelectionRange | None = outline.selection(document.sheet, [at(document, "?x", 1)])[0]
    seen = []
    while grown is not None:
        span = document.sheet.places.span(grown.range)
        seen.append(text[span.start : span.end])
        grown = grown.parent
    assert seen == ["?x", "(f ?x)", "(q (f ?x))", "(<= (p ?x) (q (f ?x)))", text]


def colours(document: Document) -> Iterator[tuple[str, str]]:
    """The coloured words with their colours."""
    data, line, column = tokens(document.sheet), 0, 0
    for i in range(0, len(data), 5):
        column = data[i + 1] + (column if data[i] == 0 else 0)
        line += data[i]
        start = document.sheet.places.offset(lsp.Position(line, column))
        end = document.sheet.places.offset(lsp.Position(line, column + data[i + 2]))
        yield document.sheet.text[start:end], LEGEND.token_types[data[i + 3]]


def test_words_are_coloured_by_what_they_mean() -> None:
    """The same word is a relation here and a fluent there."""
    document = opened("; 𝔸\n(role a) (row 1) (<= (next (row ?x)) (row ?x))")
    assert list(colours(document)) == [
        ("; 𝔸", "comment"),
        *(("role", "keyword"), ("a", "class"), ("row", "function"), ("1", "number")),
        *(("next", "keyword"), ("row", "property"), ("?x", "variable")),
        *(("row", "function"), ("?x", "variable")),
    ]
    ggdl = dict(colours(opened(MNK, "ggd")))
    assert ggdl["mark"] == "method"
    assert ggdl["K"] == "parameter"
    assert ggdl["?player"] == "variable"


# -- completion -------------------------------------------------------------------------------------


def proposed(text: str, ending: str = "kif") -> list[str]:
    """What is proposed at the `§` in a text."""
    offset = text.index("§")
    document = opened(text.replace("§", ""), ending)
    return [i.label for i in complete(document, document.sheet.places.position(offset)).items]


def test_completion_knows_what_belongs_where() -> None:
    """Conditions where a condition begins, fluents in `true`, moves in `does`, variables after `?`."""
    base = "(role a) (init (at 1)) (succ 1 2) (<= (legal a (go ?x)) (true (at ?x)))\n"
    assert proposed(f"{base}(<= (next (at ?y)) (§")[0] == "succ"
    assert "true" in proposed(f"{base}(<= (next (at ?y)) (§")
    assert proposed(f"{base}(<= terminal (true (§")[0] == "at"
    assert proposed(f"{base}(<= terminal (does a (§")[0] == "go"
    assert proposed(f"{base}(<= (next (at ?y)) (succ ?x ?y) (true (at ?§") == ["?y", "?x"]
    assert proposed(f"{base}(<= terminal (succ 1 §")[0] == "2"
    assert proposed("role(a) succ(1,2)\nterminal :- succ(1, §", "hrf")[0] == "2"
    assert "?player" in proposed(MNK.replace("role(?player) and not control(?player)", "role(?§"), "ggd")


def test_completion_in_ggdl_knows_types() -> None:
    """Arguments and values of what lasts are members of their types; what lasts is proposed as a condition."""
    assert proposed(f"{MNK}\nfree :- cell(?c, §", "ggd")[:3] == ["1", "2", "3"]
    assert {"b", "x", "o"} <= set(proposed(f"{MNK}\nfree :- cell(?c, ?r) == §", "ggd"))
    assert "control" in proposed(f"{MNK}\nfree :- con§", "ggd")


# -- sizes ------------------------------------------------------------------------------------------


def test_sizes_come_from_a_child_process() -> None:
    """The numbers are those of the ground game; a faulty text has none."""
    document = opened(TIC)
    found = asyncio.run(sizes.measure(document.sheet, 30))
    assert found["legal"] == 20
    shown = sizes.hints(document.sheet, found, whole(document))
    assert any(h.label == "×20" for h in shown)
    strange = opened(
        "(role a) (Row2 1) (row-x 1) (row-x 2) (row-x 3) (<= (legal a ?x) (row-x ?x) (Row2 1))"
        "(init (s 1)) (<= (next (s ?x)) (does a ?x)) (<= terminal (true (s 3)))"
        "(<= (goal a 100) terminal) (<= (goal a 0) (not terminal))"
    )
    found = asyncio.run(sizes.measure(strange.sheet, 30))
    assert (found["row2"], found["row-x"], found["legal"]) == (1, 3, 3)
    assert asyncio.run(sizes.measure(opened(FAULTY).sheet, 30)) == {}
    assert asyncio.run(sizes.measure(document.sheet, 0.0)) == {}


def test_remarks_stand_behind_the_rules_they_are_about() -> None:
    """A rule that never fires and a condition that is always true; none for rules with errors."""
    text = """(role robot) (init (at 1)) (init (on)) (succ 1 2) (succ 2 3)
(legal robot go) (legal robot wait)
(<= (next (at ?y)) (does robot go) (true (at ?x)) (succ ?x ?y))
(<= (next (at ?x)) (does robot wait) (true (at ?x)) (true (on)))
(<= (next (on)) (true (on)))
(<= (next (off)) (true (off)))
(<= terminal (true (at 3)))
(goal robot 100)
"""
    document = opened(text)
    found = asyncio.run(remarks.find_remarks(document.sheet, 30))
    labels = [(text[:offset].splitlines()[-1], label) for offset, label, _ in found]
    assert ("(<= (next (off)) (true (off)))", "never fires") in labels
    assert ("(<= (next (at ?x)) (does robot wait) (true (at ?x)) (true (on))", "always true") in labels
    assert ("(<= terminal (true (at 3)))", "shortest play: 2 steps") in labels
    assert ("(<= terminal (true (at 3)))", "dead ends") not in labels
    never = next(tooltip for _, label, tooltip in found if label == "never fires")
    assert "herbrand certify" in never
    assert "--remarks rule-never-fires -o FOLDER" in never
    shown = remarks.hints(document.sheet, found, whole(document))
    assert len(shown) == len(found)
    assert next(hint for hint in shown if hint.label == "never fires").position.line == 5
    assert asyncio.run(remarks.find_remarks(opened(FAULTY).sheet, 30)) == []


def test_remarks_stand_behind_roles_and_ends() -> None:
    """Who moves first, has no choice or is like another; moves that are never legal; dead ends; no hint twice."""
    text = """(role a) (role b) (init (at 1)) (to 1 2) (to 1 3) (to 3 4) (to 4 3)
(<= (legal a (go ?y)) (true (at ?x)) (to ?x ?y)) (<= (legal a fly) (true wings)) (legal b noop)
(<= (next (at ?y)) (does a (go ?y)))
(<= (next wings) (true (at 2)) (true (at 3)))
(<= terminal (true (at 2)))
(<= (goal a 100) terminal) (<= (goal a 0) (not terminal)) (<= (goal b ?x) (goal a ?x))
"""
    found = remarks.remarks_of({"text": text, "seconds": 9})
    labels = [(text[:offset].splitlines()[-1][-16:], label) for offset, label, _ in found]
    assert {"never has a choice", "1 move never legal", "dead ends", "shortest play: 1 step"} <= {
        label for _, label in labels
    }
    assert ("(role a) (role b)"[-16:], "never has a choice") in labels
    assert len(set(labels)) == len(labels)
    alike = "(role a) (role b) (init s) (<= (legal ?r go) (role ?r)) (<= (next t) (true s)) (<= terminal (true t))"
    found = remarks.remarks_of({"text": f"{alike} (<= (goal ?r 50) (role ?r))", "seconds": 9})
    assert [label for _, label, _ in found].count("interchangeable") == 2


def test_the_server_offers_everything() -> None:
    """Each thing that the page for editors promises is registered."""
    offered = make_server().protocol.fm.features
    for method in ("diagnostic", "codeAction", "formatting", "hover", "definition", "references", "rename"):
        assert f"textDocument/{method}" in offered
    for method in ("documentSymbol", "completion", "foldingRange", "inlayHint", "codeLens"):
        assert f"textDocument/{method}" in offered
    assert "workspace/symbol" in offered
    assert "textDocument/semanticTokens/full" in offered


def calls_after_a_keystroke(rules: int) -> tuple[int, int]:
    """Length of a sheet with so many pairs of rules, and how many functions run until its findings are known."""
    text = "\n".join(
        f"(<= (next (cell{i} ?x ?y b))\n    (true (cell{i} ?x ?y b))\n    (not (touched{i} ?x ?y)))\n"
        f"(<= (touched{i} ?x ?y)\n    (does ?player (mark{i} ?x ?y)))"
        for i in range(rules)
    )
    document = opened(text)
    findings.diagnostics(document)
    middle = lsp.Position(text.count("\n") // 2, 0)
    typed = lsp.TextDocumentContentChangePartial(range=lsp.Range(middle, middle), text="(")
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        document.change([typed], 2)
        findings.diagnostics(document)
    finally:
        sys.setprofile(None)
    return len(text), calls


def test_a_keystroke_costs_little_and_in_proportion_to_the_sheet() -> None:
    """In a sheet of 58 KB, larger than nearly all there are, findings take a few calls for each letter.

    The largest public sheet takes 0.06 to 0.09 s of processor time (`benchmarks/keystroke.py`), with one and a half
    calls for a letter; a clock would say more about what else the machine does.
    """
    small, few = calls_after_a_keystroke(100)
    large, many = calls_after_a_keystroke(400)
    assert few > small
    assert many < 4 * large
    assert many / few < 1.2 * large / small

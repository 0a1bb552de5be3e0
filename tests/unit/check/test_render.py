"""Diagnostics as text with carets, as lines, as JSON and as SARIF."""

from __future__ import annotations

import json
import re
import unicodedata

from herbrand.check import check, render
from herbrand.diagnostic import Diagnostic, Edit, Fix, Label, Severity, Source, Span
from herbrand.syntax import read


def diagnostic(
    text: str, start: int, end: int, *labels: tuple[int, int, str], name: str = "g.kif"
) -> Diagnostic:
    places = tuple(Label(Span(a, b), message) for a, b, message in labels)
    return Diagnostic(
        "unsafe-variable",
        Severity.ERROR,
        "wrong",
        Source(text, name),
        Span(start, end),
        places,
        "do it right",
    )


def test_carets_stand_under_the_place() -> None:
    """The house style, to the letter."""
    text = "\n" * 40 + "(<= (next (cell ?x ?y b))\n    (true (cell ?x 1 b)))\n"
    (found,) = [
        d for d in check(read(text, "prefix", "games/t.kif")).diagnostics if d.check == "unsafe-variable"
    ]
    assert render.text([found]) == (
        "error[unsafe-variable]: `?y` in the head is not bound by the body\n"
        "  --> games/t.kif:41:20\n"
        "   |\n"
        "41 | (<= (next (cell ?x ?y b))\n"
        "   |                    ^^ never bound\n"
        "42 |     (true (cell ?x 1 b)))\n"
        "   |\n"
        "help: bind `?y` in a positive literal"
    )


def test_tabs_and_wide_signs_are_aligned() -> None:
    """Under a tab or a wide sign the carets keep their place on the screen."""
    text = "\t日本 e\u0301x (p ?q)"
    shown = render.text([diagnostic(text, text.index("?"), text.index("?") + 2)]).splitlines()
    line, carets = shown[3], shown[4]
    width = sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in line[: line.index("?")]
    )
    assert carets.index("^") == width
    assert carets.count("^") == 2


def test_a_single_line_between_marks_is_shown_and_more_are_left_out() -> None:
    """A diagnostic about lines 1, 3 and 6 shows line 2 and dots for lines 4 and 5."""
    text = "one\ntwo\nthree\nfour\nfive\nsix\n"
    labels = [(text.index(word), text.index(word) + 1, "\u2190 日本") for word in ("three", "six")]
    shown = render.text([diagnostic(text, 0, 3, *labels)]).splitlines()
    numbers = [line.partition(" |")[0].strip() for line in shown if " |" in line or line == "..."]
    assert [number for number in numbers if number] == ["1", "2", "3", "...", "6"]


def test_a_diagnostic_without_help_or_from_elsewhere_is_rendered() -> None:
    """An unknown check has no entry in the catalogue, a diagnostic without a fix none in JSON."""
    found = Diagnostic("made-up", Severity.NOTE, "wrong", Source("(p a)", "g.kif"), Span(0, 5))
    (item,) = json.loads(render.json([found]))
    assert item["fix"] is None
    (rule,) = json.loads(render.sarif([found]))["runs"][0]["tool"]["driver"]["rules"]
    assert rule == {"id": "made-up"}


def test_labels_have_dashes_and_rows_of_their_own_where_they_meet() -> None:
    """Secondary places are underlined by dashes, also on other lines; gaps are dots."""
    text = "(a b c)\n1\n2\n3\n4\n(d e f)"
    shown = render.text(
        [diagnostic(text, 1, 2, (3, 4, "here"), (1, 4, "all"), (text.index("e"), -1, "there"))]
    )
    assert shown.splitlines()[2:-2] == [
        "  |",
        "1 | (a b c)",
        "  |  ^ - here",
        "  |  --- all",
        "...",
        "6 | (d e f)",
        "  |    - there",
    ]


def test_terminals_are_safe() -> None:
    """Control characters and signs that turn the direction are replaced, also in messages and names."""
    text = "(p \x1b[31m \u202e x)"
    d = Diagnostic("not-text", Severity.NOTE, "bad \x1b[2J\nnews", Source(text, "a\x07b"), Span(3, 4))
    shown = render.text([d]) + render.line([d])
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", shown)
    assert "bad \ufffd[2J news" in shown


def test_color_only_adds_codes() -> None:
    """Without its codes the coloured text is the plain one."""
    d = diagnostic("(p ?x)", 3, 5, (1, 2, "one"))
    painted = render.text([d], color=True)
    assert "\x1b[31;1merror[unsafe-variable]" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == render.text([d])


def test_long_lines_are_cut_around_the_place() -> None:
    """A sheet on one line does not flood the screen, and the caret is still right."""
    text = "(p a) " * 500 + "(q ?x)" + " (p a)" * 500
    at = text.index("?x")
    shown = render.text([diagnostic(text, at, at + 2)]).splitlines()
    assert max(map(len, shown)) < 200
    assert shown[3][shown[4].index("^") :].startswith("?x")


def test_places_at_the_edges() -> None:
    """Empty texts, ends of text, empty spans and spans over lines are rendered."""
    for text, start, end in (("", 0, 0), ("(p)", 3, 3), ("(p\n q)\n", 0, 6), ("a\r\nb", 3, 4), ("\n", 1, 1)):
        shown = render.text([diagnostic(text, start, end)])
        assert "error[unsafe-variable]: wrong" in shown
        assert "help: do it right" in shown


def test_one_line_each() -> None:
    """file:line:column: severity[check] message."""
    assert render.line([diagnostic("\n(p ?x)", 4, 6)]) == "g.kif:2:4: error[unsafe-variable] wrong"


def test_json_has_the_promised_keys() -> None:
    """A list of objects with places that count from 1, end exclusive, and the fix."""
    source = Source("(p\n ?x)", "g.kif")
    fix = Fix("name it", (Edit(Span(4, 6), "?y"),))
    d = Diagnostic("unsafe-variable", Severity.ERROR, "m", source, Span(4, 6), (), None, ("n",), fix)
    (found,) = json.loads(render.json([d]))
    assert {k: found[k] for k in ("check", "severity", "message", "file", "help", "notes")} == {
        "check": "unsafe-variable",
        "severity": "error",
        "message": "m",
        "file": "g.kif",
        "help": None,
        "notes": ["n"],
    }
    assert [found[k] for k in ("line", "column", "end_line", "end_column")] == [2, 2, 2, 4]
    assert found["fix"]["edits"] == [{"line": 2, "column": 2, "end_line": 2, "end_column": 4, "text": "?y"}]
    assert json.loads(render.json([])) == []


def test_sarif_is_a_valid_log() -> None:
    """What SARIF 2.1.0 demands of a log: versions, rules by index, levels, regions, URIs."""
    text = "(role a b)\n(<= (p ?x) (q ?y))\n(foo 1) (foo 1)\n"
    found = check(read(text, "prefix", "my games/ü.kif")).diagnostics
    log = json.loads(render.sarif(found))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "herbrand"
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    assert len(run["results"]) == len(found) > 4
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["help"]["markdown"]
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "my%20games/%C3%BC.kif"
        region = place["region"]
        assert (region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"])
        assert min(region.values()) >= 1
    fixed = next(r for r in run["results"] if "fixes" in r)
    change = fixed["fixes"][0]["artifactChanges"][0]
    assert change["artifactLocation"] == {"uri": "my%20games/%C3%BC.kif"}
    assert change["replacements"][0]["deletedRegion"]["startLine"] == 3

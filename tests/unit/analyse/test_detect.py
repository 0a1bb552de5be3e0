"""Finding out in which notation and encoding a text is written."""

from __future__ import annotations

import pytest

from herbrand.syntax import detect, files, read, read_bytes, read_file


@pytest.mark.parametrize(
    ("text", "suffix", "notation"),
    [
        ("; c\n (role x)", "", "prefix"),
        ("\ufeff(role x)", "", "prefix"),
        ("% c\nrole(x)", "", "infix"),
        ("/* (a) */ role(x)\n", "", "infix"),
        ("role(x).\nrole(o).", "", "prolog"),
        ("", "", "infix"),
        ("init Cell(?i:index) := blank", "", "ggdl"),
        ("role(x)", ".kif", "infix"),
        ("role(x)", ".GDL", "infix"),
        ("(role x)", ".hrf", "prefix"),
        ("(role x)", ".pl", "prefix"),
        ("(role x)", ".ggd", "ggdl"),
    ],
)
def test_detect(text, suffix, notation):
    """The suffix decides, else the first sign of the text."""
    assert detect(text, suffix) == notation


def test_an_option_decides_before_the_suffix(tmp_path):
    """A notation that is asked for is used whatever the file is called."""
    path = tmp_path / "game.kif"
    path.write_text("role(x)", encoding="utf-8")
    assert read_file(path, "infix").notation == "infix"
    with pytest.raises(ValueError, match="unknown notation"):
        read("p", "latin")


def test_ggdl_is_recognised_by_its_text():
    """Text with signs that only GGDL has is read as GGDL, without being told; so are its endings."""
    tree = read("data index := 1 .. 2\ninit Cell(?i:index) := blank")
    assert tree.notation == "ggdl"
    assert not [d for d in tree.diagnostics if d.is_error]
    assert {detect("", ending) for ending in (".ggd", ".ggdl", ".gel", ".gg")} == {"ggdl"}
    for text in ("role x, o", "?p -> go", "consult { A } from 'x'", "a $= 100 :- won", "init ^ N :: int"):
        assert detect(text) == "ggdl", text
    for text in ("role(x)", "p(X) :- q(X) & r(X)", "data(a)", "init(cell(1,1,b))", "p(a-b)"):
        assert detect(text) == "infix", text


def test_encodings():
    """A byte-order mark is skipped; Latin-1 and UTF-16 are read with a warning."""
    assert str(read_bytes(b"\xef\xbb\xbf(role x)")) == "(role x)"
    assert read_bytes("(p é)".encode()).diagnostics[0].check == "unusual-character"
    for data in ("; café\n(role x)".encode("latin-1"), "(role x)".encode("utf-16")):
        tree = read_bytes(data)
        assert str(tree) == "(role x)"
        assert [d.check for d in tree.diagnostics] == ["not-utf-8"]


def test_binary_files_are_not_text():
    """Bytes with NULs give one error in either notation."""
    for notation in ("prefix", "infix"):
        assert "not-text" in [d.check for d in read_bytes(b"\x7fELF\0\0\1", notation).diagnostics]


def test_large_files_stay_unread(tmp_path, monkeypatch):
    """A file above the limit is an error, and is not read."""
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    path = tmp_path / "large.kif"
    path.write_text("(role x) (role y)", encoding="utf-8")
    tree = read_file(path)
    assert [d.check for d in tree.diagnostics] == ["too-large"]
    assert tree.statements == ()


def test_infix_arrow_in_prefix_is_noted():
    """An infix rule in a prefix text is noted as mixed notation; in a comment it is not."""
    assert "mixed-notation" in [d.check for d in read("(p a)\nq :- r").diagnostics]
    assert read("; q :- r\n(p a)").diagnostics == ()

"""The extension for Visual Studio Code: its parts fit together, and its grammars colour real games."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import herbrand
from herbrand import games
from herbrand.cli.main import COMMANDS
from herbrand.syntax import read
from herbrand.syntax.files import SUFFIXES
from herbrand.syntax.names import KEYWORDS

FOLDER = Path(__file__).parents[3] / "editors" / "vscode"
PACKAGE = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
NOTATION = {"gdl": "prefix", "gdl-infix": "infix", "ggdl": "ggdl"}


def grammar(name: str) -> list[dict]:
    """The patterns of a grammar, in order."""
    return json.loads((FOLDER / "syntaxes" / f"{name}.json").read_text(encoding="utf-8"))["patterns"]


def scopes(line: str, patterns: list[dict]) -> list[tuple[str, str]]:
    """The words of a line with their scopes: at each place the first match wins, as in TextMate."""
    found, at = [], 0
    while at < len(line):
        matches = [
            (m.start(), i, m)
            for i, p in enumerate(patterns)
            if (m := re.compile(p.get("match", p.get("begin"))).search(line, at))
        ]
        if not matches:
            break
        _, number, match = min(matches, key=lambda one: one[:2])
        captured = patterns[number].get("captures")
        word, scope = (match[1], captured["1"]["name"]) if captured else (match[0], patterns[number]["name"])
        found.append((word, scope))
        at = max(match.end(), at + 1)
    return found


def test_what_the_package_names_is_there() -> None:
    """Files, languages and the command of the package exist, and endings mean what they mean to herbrand."""
    contributes = PACKAGE["contributes"]
    for language in contributes["languages"]:
        assert (FOLDER / language["configuration"]).is_file()
        for ending in language["extensions"]:
            assert SUFFIXES[ending] == NOTATION[language["id"]]
    assert {g["language"] for g in contributes["grammars"]} == set(NOTATION)
    for one in contributes["grammars"]:
        value = json.loads((FOLDER / one["path"]).read_text(encoding="utf-8"))
        assert value["scopeName"] == one["scopeName"]
    command, name = contributes["configuration"]["properties"]["herbrand.command"]["default"]
    assert command == "herbrand"
    assert name in COMMANDS
    assert (FOLDER / "LICENSE").read_text(encoding="utf-8") == (FOLDER.parents[1] / "LICENSE").read_text(
        encoding="utf-8"
    )


def test_the_package_is_one_program_with_all_that_it_names() -> None:
    """The program is bundled from the client before packaging; no file that is named is left out, no other is in."""
    scripts = PACKAGE["scripts"]
    assert scripts["vscode:prepublish"] == "npm run bundle"
    assert f"--outfile={PACKAGE['main'].removeprefix('./')}" in scripts["bundle"]
    assert {"--bundle", "--external:vscode", "extension.js"} <= set(scripts["bundle"].split())
    assert "dependencies" not in PACKAGE, "they are in the bundle"
    contributes = PACKAGE["contributes"]
    named = [PACKAGE["icon"], "package.json", "README.md", "LICENSE"]
    named += [language["configuration"] for language in contributes["languages"]]
    named += [one["path"] for kind in ("grammars", "snippets") for one in contributes[kind]]
    for file in named:
        assert (FOLDER / file).is_file(), file
    everything, *kept = (FOLDER / ".vscodeignore").read_text(encoding="utf-8").split()
    assert everything == "**"
    for file in [*named, PACKAGE["main"]]:
        path = file.removeprefix("./")
        assert any(fnmatchcase(path, pattern.removeprefix("!")) for pattern in kept), path
    for other in ("extension.js", "test.js", "node_modules/a/b.js", "package-lock.json"):
        assert not any(fnmatchcase(other, pattern.removeprefix("!")) for pattern in kept), other


def test_the_icon_is_a_square_of_enough_pixels() -> None:
    """The marketplace asks for a PNG of at least 128 by 128 pixels."""
    data = (FOLDER / PACKAGE["icon"]).read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert width == height >= 128


def test_the_package_says_where_its_source_is() -> None:
    """The links are those of the Python package."""
    urls = tomllib.loads((FOLDER.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "urls"
    ]
    assert PACKAGE["repository"]["url"] == f"{urls['Source']}.git"
    assert PACKAGE["repository"]["directory"] == "editors/vscode"
    assert PACKAGE["homepage"] == urls["Homepage"]


def snippets() -> list[tuple[str, str]]:
    """The snippets of all languages: the language and the name."""
    return [
        (one["language"], name)
        for one in PACKAGE["contributes"]["snippets"]
        for name in json.loads((FOLDER / one["path"]).read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(("language", "name"), snippets())
def test_snippets_are_rules_as_they_stand(language: str, name: str) -> None:
    """With the texts proposed for their gaps they can be read; whole games can be played."""
    (path,) = (one["path"] for one in PACKAGE["contributes"]["snippets"] if one["language"] == language)
    entries = json.loads((FOLDER / path).read_text(encoding="utf-8"))
    texts = {
        key: re.sub(r"\$\{\d+:([^}]*)\}|\$\d", r"\1", "\n".join(entry["body"])).replace("\\$", "$")
        for key, entry in entries.items()
    }
    assert "${" not in texts[name]
    assert entries[name]["prefix"]
    assert entries[name]["description"]
    if entries[name]["prefix"] == "game":
        game = herbrand.loads(texts[name], NOTATION[language])
        assert not game.rules.errors
        assert game.simulate(playouts=20, seed=1).length["max"] > 2
        return
    text = texts[name]
    if language == "ggdl":  # its words are declared in the game
        text = f"{texts['Game for two players in turns']}\ncondition(?x) :- column(?x)\n{text}"
    assert [d.message for d in read(text, NOTATION[language]).diagnostics] == []


@pytest.mark.parametrize("name", ["gdl", "infix", "ggdl"])
def test_every_keyword_is_coloured_as_one(name: str) -> None:
    """No word with a fixed meaning is taken for a name."""
    patterns = grammar(name)
    for word in KEYWORDS - {"<="}:
        line = f"({word} x)" if name == "gdl" else f" {word} x"
        assert scopes(line, patterns)[0 if name != "gdl" else 1][1].split(".")[0] in {"keyword", "support"}, (
            word
        )


def test_a_line_of_each_notation_is_coloured() -> None:
    """Variables, numbers, comments, arrows and names have scopes of their own."""
    line = "(<= (next (cell ?x 12 b)) ; 𝔸 (role)"
    shown = [(w, s.split(".")[0]) for w, s in scopes(line, grammar("gdl")) if w not in "()"]
    assert shown == [
        *(("<=", "keyword"), ("next", "support"), ("cell", "entity"), ("?x", "variable")),
        *(("12", "constant"), ("b", "constant"), ("; 𝔸 (role)", "comment")),
    ]
    line = "next(cell(X, 12)) :- true(cell(X, b)) % why"
    shown = [(w, s.split(".")[0]) for w, s in scopes(line, grammar("infix"))]
    assert ("X", "variable") in shown
    assert (":-", "keyword") in shown
    assert shown[-1] == ("% why", "comment")
    line = "?player -> mark(?c:column) :- free(_) ==> at = ?c // why"
    shown = [(w, s.split(".")[0]) for w, s in scopes(line, grammar("ggdl"))]
    assert ("==>", "keyword") in shown
    assert ("mark", "entity") in shown
    assert shown[-1] == ("// why", "comment")


@pytest.mark.parametrize(("name", "game"), [("gdl", "chess"), ("infix", "ticTacToeInfix"), ("ggdl", "mnk")])
def test_no_word_of_a_game_goes_without_colour(name: str, game: str) -> None:
    """Every letter and digit of a bundled game is in some scope."""
    patterns = grammar(name)
    for line in games.path(game).read_text(encoding="utf-8").splitlines():
        rest = line
        for word, _ in scopes(line, patterns):
            rest = rest.replace(word, " ", 1)
        assert not re.search(r"\w", rest), line


def test_the_client_does_what_only_an_editor_can() -> None:
    """It starts the server as the settings say, plays in a terminal without a shell, shows answers, says what is missing."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node to check the client of the extension with")
    done = subprocess.run([node, FOLDER / "test.js"], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "ok\n", done.stderr

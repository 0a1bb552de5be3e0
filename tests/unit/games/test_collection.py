"""Collections of games in folders: METADATA, versions, plain rulesheets, URLs."""

from __future__ import annotations

import functools
import json
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import cli
from herbrand.errors import HerbrandError
from herbrand.games.collection import fetch, read_collection


def put(folder, name, metadata, **files):
    place = folder / name
    place.mkdir(parents=True)
    if metadata is not None:
        text = metadata if isinstance(metadata, str) else json.dumps(metadata)
        (place / "METADATA").write_text(text, encoding="utf-8")
    for file, text in files.items():
        (place / file.replace("__", ".")).write_text(text, encoding="utf-8")
    return place


@pytest.fixture
def tree(tmp_path):
    """A repository with a good game of three versions, and several games that are not as they should be."""
    folder = tmp_path / "repository" / "games"
    race = put(
        folder,
        "race",
        {
            "gameName": "The Race",
            "rulesheet": "race.kif",
            "stylesheet": "race.xsl",
            "description": "race.txt",
        },
        race__kif="(role zero)",
        race__txt="Who is first\nwins.",
    )
    put(race, "v1", None, race__kif="(role one)")
    put(race, "v10", {"gameName": "The Great Race", "rulesheet": "great.kif"}, great__kif="(role ten)")
    put(race, "version2", {}, race__kif="(role none)")
    (tmp_path / "secret.kif").write_text("(role secret)", encoding="utf-8")
    put(folder, "thief", {"rulesheet": "../../../secret.kif"})
    put(folder, "empty", {"gameName": "Nothing"})
    put(folder, "Broken", "{")
    put(folder, "gone", {"rulesheet": "gone.kif"})
    put(folder, "nometadata", None, nometadata__kif="(role x)")
    return tmp_path / "repository"


def test_a_game_may_have_version_folders_only(tmp_path):
    """Where nothing stands in the folder of a game, `v0` is version 0."""
    race = put(tmp_path / "games", "race", None)
    put(race, "v0", {"gameName": "The Race", "rulesheet": "race.kif"}, race__kif="(role zero)")
    put(race, "v2", {"gameName": "The Race", "rulesheet": "race.kif"}, race__kif="(role two)")
    collection = read_collection(tmp_path)
    assert [entry.version for entry in collection.entries] == [0, 2]
    assert herbrand.load(collection.entry("race/v0").rulesheet).roles == ("zero",)
    assert herbrand.load(collection.entry("race").rulesheet).roles == ("two",)


def test_versions_of_a_game(tree):
    """The folder is version 0; later ones are found by number and fill in from the first."""
    collection = read_collection(tree)
    assert collection.names() == ("Broken", "empty", "gone", "race", "thief")
    versions = collection.versions("RACE")
    assert [entry.version for entry in versions] == [0, 1, 10]
    assert [herbrand.load(entry.rulesheet).roles for entry in versions] == [("zero",), ("one",), ("ten",)]
    assert [entry.title for entry in versions] == ["The Race", "The Race", "The Great Race"]
    assert {entry.stylesheet for entry in versions} == {"race.xsl"}
    assert collection.entry("race").version == 10
    assert collection.entry("race/v1").version == 1
    assert collection.entry("race/v0").description.read_text(encoding="utf-8").startswith("Who is first")
    with pytest.raises(HerbrandError, match=r"no version `v2` of `race`.*v0, v1, v10"):
        collection.entry("race/v2")
    with pytest.raises(HerbrandError, match="did you mean `race`"):
        collection.entry("rase")


def test_games_that_are_not_as_they_should_be_are_listed_with_the_reason(tree):
    """One bad game does not hide the others, and nothing outside of its folder is read."""
    problems = {
        entry.name: entry.problem for entry in read_collection(tree / "games").entries if entry.problem
    }
    assert problems["thief"] == "no rulesheet `../../../secret.kif`"
    assert problems["empty"] == "METADATA names no rulesheet"
    assert problems["gone"] == "no rulesheet `gone.kif`"
    assert problems["Broken"].startswith("METADATA is not JSON")
    assert set(problems) == {"thief", "empty", "gone", "Broken"}


def test_a_folder_of_rulesheets_a_game_and_a_file_are_collections(tree, tmp_path):
    """No METADATA is needed for files; a single game or file is a collection of one."""
    for name in ("b.kif", "A.hrf", "c.txt"):
        (tmp_path / name).write_text("role(x)", encoding="utf-8")
    assert read_collection(tmp_path).names() == ("A", "b", "secret")
    assert read_collection(tree / "games" / "race").names() == ("race",)
    assert read_collection(tmp_path / "b.kif").entry("b").rulesheet == tmp_path / "b.kif"
    (tmp_path / "bare").mkdir()
    with pytest.raises(HerbrandError, match="no games in"):
        read_collection(tmp_path / "bare")
    with pytest.raises(FileNotFoundError):
        read_collection(tmp_path / "missing")


def run(*args):
    return CliRunner().invoke(cli, ["games", *args])


def test_the_command_lists_describes_and_prints(tree):
    """--from works with the same forms as the bundled games."""
    listed = run("--from", str(tree))
    assert "race    The Great Race  v10" in listed.output
    assert "gone    gone" in listed.output
    page = run("race/v0", "--from", str(tree)).output
    assert "The Race (race)" in page
    assert "Who is first wins." in page
    assert "race.xsl" in page
    assert "version     0 of 0, 1, 10" in page
    assert run("race", "--rules", "--from", str(tree)).output == "(role ten)"
    assert json.loads(run("--from", str(tree), "race", "--json").output)["version"] == 10
    assert len(json.loads(run("--from", str(tree), "--json").output)) == 7
    wrong = run("nothing", "--from", str(tree))
    assert wrong.exit_code == 1
    assert "no game `nothing`" in wrong.output
    assert run("gone", "--rules", "--from", str(tree)).exit_code == 1
    assert run("nothing").exit_code == 2
    assert run("--from", str(tree / "nowhere")).exit_code == 2


@pytest.fixture
def server(tree):
    """The repository on a server of this machine; a game's folder answers with its METADATA."""

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self):
            if self.path.endswith("/"):
                self.path += "METADATA"
            super().do_GET()

        def log_message(self, *args):
            pass

    handler = functools.partial(Handler, directory=str(tree))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_a_rulesheet_is_fetched_from_a_url(server, tree):
    """A file, a game of a repository, a file URL; what leads nowhere is refused."""
    assert fetch(f"{server}/games/race/race.kif") == ("race", "(role zero)")
    assert fetch(f"{server}/games/race/") == ("race", "(role zero)")
    assert fetch((tree / "games" / "race" / "v1" / "race.kif").as_uri()) == ("race", "(role one)")
    assert run("--from", f"{server}/games/race/").output == "(role zero)"
    for url, reason in (
        (f"{server}/games/none.kif", "(?i)not found"),
        (f"{server}/games/empty/", "names no rulesheet"),
        (f"{server}/games/Broken/", "no JSON"),
        ("ftp://127.0.0.1/x", "not http"),
    ):
        with pytest.raises(HerbrandError, match=reason):
            fetch(url)

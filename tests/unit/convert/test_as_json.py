"""Games as JSON are what the published schemas say, and can be read back."""

from __future__ import annotations

import json

import pytest

import herbrand
from herbrand import games
from herbrand.analyse.automata.automaton import Automaton
from herbrand.cli.targets import TARGETS
from herbrand.convert.as_json import ground_as_json, rules_as_json, rules_from_json
from herbrand.errors import GameError, MissingExtra
from herbrand.ground import ground


@pytest.mark.slow_except
@pytest.mark.parametrize("name", games.names())
def test_rules_fit_the_schema_and_are_read_back(name, fits_schema):
    """The text of the target is valid, and gives the statements again."""
    game = herbrand.load(name)
    value = json.loads(TARGETS["json"].write(game))
    fits_schema(value, "rules")
    assert rules_from_json(value) == game.tree.statements


@pytest.mark.parametrize("name", ["nim", "montyHall"])
@pytest.mark.parametrize(("target", "schema"), [("ground-json", "ground"), ("network-json", "network")])
def test_later_stages_fit_their_schemas(name, target, schema, fits_schema):
    """Ground program and network are valid too."""
    fits_schema(json.loads(TARGETS[target].write(herbrand.load(name))), schema)


@pytest.mark.parametrize("name", ["nim", "rockPaperScissors", "montyHall"])
@pytest.mark.parametrize("minimise", [False, True])
def test_automata_fit_their_schema_and_are_read_back(name, minimise, fits_schema):
    """Of games with turns, with simultaneous moves and with chance; minimised or not."""
    value = json.loads(TARGETS["automaton"].write(herbrand.load(name), minimise=minimise))
    fits_schema(value, "automaton")
    assert ("merged" in value) == minimise
    assert value["deterministic"] == (name != "montyHall")
    again = Automaton.from_json(value)
    assert again.as_json() == value
    if name == "nim":
        assert again == (
            herbrand.load(name).automaton().minimised() if minimise else herbrand.load(name).automaton()
        )


def test_what_is_no_automaton_is_refused(fits_schema):
    """By the schema and by the reader."""
    jsonschema = pytest.importorskip("jsonschema")
    value = json.loads(TARGETS["automaton"].write(herbrand.load("rockPaperScissors")))
    for wrong in (
        {**value, "transitions": [[0, 1]]},
        {**value, "transitions": [[0, 0, 1, 0.5]]},
        {**value, "final": {"x": {}}},
        {**value, "form": "herbrand network 1"},
    ):
        with pytest.raises(jsonschema.ValidationError):
            fits_schema(wrong, "automaton")
    for wrong in (
        [],
        {},
        {**value, "transitions": [[0]]},
        {**value, "final": {"x": {}}},
        {**value, "states": 3},
    ):
        with pytest.raises(GameError, match="not an automaton"):
            Automaton.from_json(wrong)


def test_schemas_refuse_what_is_wrong(fits_schema):
    """The schemas do not accept anything."""
    jsonschema = pytest.importorskip("jsonschema")
    value = rules_as_json(herbrand.load("nim").tree)
    value["statements"][0]["body"] = [{"nor": []}]
    with pytest.raises(jsonschema.ValidationError):
        fits_schema(value, "rules")
    with pytest.raises(jsonschema.ValidationError):
        fits_schema(
            {**json.loads(TARGETS["ground-json"].write(herbrand.load("nim"))), "rules": [[0, []]]}, "ground"
        )


def test_a_ground_program_in_json_has_the_model_of_the_rules():
    """Evaluating the rules of the JSON by hand gives the legal moves of the initial state."""
    game = herbrand.load("nim")
    value = ground_as_json(ground(game.rules))
    state = game.initial_state()
    names = {name: i + 1 for i, name in enumerate(value["atoms"]) if name}
    true = {names[f"(true {fact})"] for fact in state.facts if f"(true {fact})" in names}
    # enough for a game whose ground rules negate inputs alone
    grew = True
    while grew:
        new = {h for h, body in value["rules"] if all((abs(x) in true) == (x > 0) for x in body)}
        grew = not new <= true
        true |= new
    legal = {f"(legal {role} {move})" for role, moves in state.legal_moves().items() for move in moves}
    assert {name for name, i in names.items() if i in true and name.startswith("(legal")} == legal
    assert set(value["inputs"]) == {i for name, i in names.items() if name.startswith(("(true", "(does"))}


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"statements": [{"head": {}}]},
        {"statements": [{"head": {"relation": "p", "arguments": []}, "body": [{"nor": []}]}]},
        [],
    ],
)
def test_what_are_no_rules_is_refused(value):
    """A JSON value of another form raises, and says so."""
    with pytest.raises(GameError, match="not the rules"):
        rules_from_json(value)


def test_the_dependency_graph_goes_to_networkx(monkeypatch):
    """Nodes, edges and signs are those of the graph; without NetworkX the extra is named."""
    nx = pytest.importorskip("networkx")
    graph = herbrand.load("nim").rules.graph
    found = graph.to_networkx()
    assert set(found.nodes) == set(graph.nodes)
    assert found.number_of_edges() == len(graph.edges)
    components = {frozenset(c) for c in nx.strongly_connected_components(found)}
    assert components == set(map(frozenset, graph.components))
    import sys

    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtra, match=r"herbrand\[networkx\]"):
        graph.to_networkx()

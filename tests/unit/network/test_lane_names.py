"""What the rows of lane programs are called."""

from __future__ import annotations

import pytest

import herbrand
from herbrand.network import LaneProgram


@pytest.fixture(scope="module")
def game() -> herbrand.Game:
    """Kuhn poker: two players and `random`, who see what is dealt."""
    return herbrand.load("kuhn")


def test_outputs_have_the_names_of_the_rules(game: herbrand.Game) -> None:
    """An evaluation gives `legal`, `terminal`, `goal`, `next` and `sees` for all that the network has."""
    network = game.network
    program = LaneProgram.evaluating(network)
    text = network.terms.text

    def of_roles(name: str, rows: list[list[int]]) -> set[str]:
        return {f"({name} {text(network.roles[role])} {text(term)})" for role, term in rows}

    expected = {
        "legal": of_roles("legal", network.moves.tolist()) | {"terminal"},
        "goals": of_roles("goal", network.goals.tolist()),
        "next": {f"(next {text(fluent)})" for fluent in network.fluents.tolist()}
        | of_roles("sees", network.percepts.tolist()),
    }
    assert len(network.percepts)
    assert {stage: {name for _, name in program.outputs(stage)} for stage in program.stages} == expected


def test_choices_of_random_play_have_names(game: herbrand.Game) -> None:
    """Random play tells who is stuck, how many moves each role has, which is drawn, and where to draw again."""
    program = LaneProgram.playing(game.network)
    names = {name for _, name in program.outputs("legal")}
    assert {"over", "playing", "stuck", "conflict"} <= names
    assert program.play is not None
    for role in game.roles:
        assert f"stuck {role}" in names
    for choice in program.play.choices:
        roles = " ".join(game.roles[role] for role in choice.roles)
        assert {f"moves of {roles}, bit 0", f"rank of {roles}, bit 0", f"draw again {roles}"} <= names


@pytest.mark.parametrize("kind", ["evaluation", "random play"])
def test_programs_say_what_they_are(game: herbrand.Game, kind: str) -> None:
    """The kind, the sizes, and each stage before its units."""
    make = LaneProgram.evaluating if kind == "evaluation" else LaneProgram.playing
    program = make(game.network)
    assert repr(program) == f"<LaneProgram: {kind}, {len(program)} operations on {program.rows} rows>"
    lines = str(program).split("\n")
    assert lines[0].startswith(f"; lane program: {kind};")
    assert [line for line in lines if line.startswith("stage")] == [
        f"stage {stage}" for stage in program.stages
    ]
    sizes = program.statistics()
    by_operands = {name: count for name, count in sizes.items() if name.startswith("of_")}
    assert list(by_operands) == [f"of_{count}_bits" for count in range(4)]
    assert sum(by_operands.values()) == sizes["operations"] == len(program)

"""Measures of games: known games have the known order, and every number says what it is."""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from typing import NoReturn

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, assume, given, settings
from strategies import games

import herbrand
from herbrand.cli.main import cli
from herbrand.convert.scramble import write
from herbrand.errors import BudgetExceeded, GameError
from herbrand.games import names
from herbrand.measure import CATALOGUE, SOURCES, Effort, KnownGame, Measures, bundled, measure
from herbrand.measure.novelty import BEHAVIOUR, behaviour
from herbrand.measure.structure import distance, fingerprint
from herbrand.runtime.limits import require_time

SMALL = Effort("small", playouts=256, traced=16, pairs=8, rungs=(1, 8, 32), estimates=32)
MATCHING = """
(role even) (role odd) (init start)
(<= (legal ?r heads) (role ?r)) (<= (legal ?r tails) (role ?r))
(<= (next done) (true start)) (<= (next same) (does even ?c) (does odd ?c))
(<= terminal (true done))
(<= (goal even 100) (true same)) (<= (goal even 0) (not (true same)))
(<= (goal odd 0) (true same)) (<= (goal odd 100) (not (true same)))
"""
FORCED = """
(role first) (role second) (init (turn first))
(<= (legal first win) (true (turn first))) (<= (legal first pass) (true (turn first)))
(<= (legal second noop) (true (turn first))) (<= (legal first noop) (true (turn second)))
(<= (legal second win) (true (turn second))) (<= (legal second pass) (true (turn second)))
(<= (next (won ?r)) (does ?r win)) (<= (next (turn second)) (true (turn first)))
(<= terminal (true (won ?r))) (<= terminal (not (true (turn first))) (not (true (turn second))))
(<= (goal ?r 100) (true (won ?r))) (<= (goal ?r 0) (role ?r) (not (true (won ?r))) other)
(<= other (true (won ?r))) (<= (goal ?r 50) (role ?r) (not other))
"""
ENDLESS = """
(role a) (role b) (init x) (<= (legal ?r go) (role ?r)) (<= (legal ?r stay) (role ?r))
(<= (next x) (true x)) (<= terminal (not (true x))) (goal a 100) (goal b 0)
"""


def taken(name: str, **options: object) -> Measures:
    """Measure a bundled game with little effort."""
    return measure(herbrand.load(name), effort=SMALL, known=(), **options)  # type: ignore[arg-type]


def test_every_measure_is_there_and_has_a_number_or_a_reason() -> None:
    """For games of any kind each measure of the catalogue has a value or says why it has none."""
    for name in ("nim", "blocksWorld", "coinMatching", "prisonersDilemma", "montyHall", "higherLower"):
        found = taken(name)
        assert list(found.by_name) == list(CATALOGUE)
        for one in found:
            assert one.note if one.value is None else one.error is not None
            if one.value is not None:
                assert one.value >= 0
                assert one.unit or one.value <= 1
                low, high = one.interval or (0.0, 0.0)
                assert low <= one.value <= high
        json.dumps(found.as_json(), allow_nan=False)


def test_the_same_seed_gives_the_same_result() -> None:
    """Numbers depend on the game, the effort, the seed and what is asked for, and on nothing else."""
    found = taken("ticTacToe", seed=3)
    assert found == taken("ticTacToe", seed=3)
    assert found != taken("ticTacToe", seed=4)
    only = ["depth", "draws"]
    assert taken("ticTacToe", seed=3, only=only) == taken("ticTacToe", seed=3, only=reversed(only))
    assert pickle.loads(pickle.dumps(found)) == found


def test_a_forced_win_is_unbalanced() -> None:
    """Who can win at once does, when it searches, and the measures of fairness say so."""
    found = measure(herbrand.loads(FORCED), effort=SMALL, known=())
    assert found.value("search_balance") == 0
    assert found.value("search_first_mover") == 1
    assert found.value("search_draws") == 0
    assert found.value("search_length") == 1
    assert 0.3 < found.value("balance") < 0.9


def test_tic_tac_toe_is_drawn_by_those_who_search() -> None:
    """Random games are mostly won, games between players that search mostly drawn."""
    found = taken("ticTacToe")
    assert found.value("draws") < 0.2
    assert found.value("search_draws") > 0.6
    assert found.value("balance") < 0.8 < found.value("search_balance")
    assert found.value("skill") > 0.6


def test_a_large_game_is_measured_by_less_play() -> None:
    """What a game needs is reckoned before it is played: pairs and rungs are left out until it fits."""
    assert Effort("e", pairs=20, work=1e9).within(1e-3, 50.0) == Effort("e", pairs=20, work=1e9)
    less = Effort("e", pairs=20, work=0.05).within(1e-6, 50.0)
    assert less is not None
    assert less.pairs == 10
    assert less.rungs == (1, 4, 16)
    assert Effort("e", pairs=20, work=1e-6).within(1.0, 50.0) is None
    tiny = Effort("tiny", playouts=64, traced=8, pairs=12, rungs=(1, 2), estimates=4, work=0.01)
    found = measure(herbrand.load("connectFour"), effort=tiny, known=(), only=["depth"])
    assert found["depth"].samples < 24 or found["depth"].value is None


def test_matching_coins_cannot_be_played_well() -> None:
    """Where both choose blindly at once, no search helps; in nim it does."""
    coins = measure(herbrand.loads(MATCHING), effort=replace(SMALL, pairs=40), known=())
    low, _ = coins["skill"].interval or (1.0, 1.0)
    assert low == 0.0
    assert coins["first_mover"].value is None
    assert "first choice" in coins["first_mover"].note
    assert taken("nim").value("skill") > 0.6 > coins.value("skill")


def test_a_counter_of_steps_proves_completion() -> None:
    """Where the rules show that every game ends, completion is proved and exact."""
    one = taken("coinMatching", only=["completion"])["completion"]
    assert (one.value, one.error, one.method) == (1.0, 0.0, "proof")


def test_a_game_without_end_is_not_searched() -> None:
    """A game that does not end is not complete and has no length; nothing is searched in it."""
    found = measure(herbrand.loads(ENDLESS), effort=SMALL, known=())
    assert found.value("completion") == 0
    assert found["length"].value is None
    assert "playouts end" in found["skill"].note


def test_one_role_has_skill_but_no_balance() -> None:
    """A puzzle has no opponent: fairness does not apply, skill does."""
    found = taken("blocksWorld", only=["balance", "drama", "branching"])
    assert found["balance"].note == found["drama"].note == "the game has one role"
    assert found.value("branching") > 1


def test_what_cannot_be_measured_is_refused() -> None:
    """A game with errors, an unknown measure and an unknown effort are told apart."""
    with pytest.raises(GameError):
        measure(herbrand.loads("(role a"))
    with pytest.raises(ValueError, match="no measure 'fun'"):
        taken("nim", only=["fun"])
    with pytest.raises(ValueError, match="no effort"):
        measure(herbrand.load("nim"), effort="heroic")


def test_the_clock_leaves_measures_out() -> None:
    """What has not begun when the seconds are over says so; the rules are measured anyway."""
    found = taken("nim", seconds=0.0)
    assert found["size"].value
    assert "0 seconds" in found["skill"].note


def test_every_measure_cites_what_is_listed() -> None:
    """Sources of the catalogue are in the list of sources, and all of the list is cited."""
    cited = {source for definition in CATALOGUE.values() for source in definition.sources}
    assert cited == set(SOURCES)


def test_the_command_prints_a_table_and_json() -> None:
    """The command measures several games, and refuses what it does not know."""
    arguments = ["measure", "nim", "ticTacToe", "--budget", "cheap", "--only", "draws,length"]
    outcome = CliRunner().invoke(cli, arguments)
    assert outcome.exit_code == 0
    assert outcome.output.count("draws") == 2
    data = json.loads(CliRunner().invoke(cli, [*arguments, "--json"]).output)
    assert [game["game"] for game in data] == ["nim", "ticTacToe"]
    assert data[0]["measures"]["draws"]["value"] == 0
    assert CliRunner().invoke(cli, ["measure", "nim", "--only", "fun"]).exit_code == 2


def test_novelty_sees_through_names_and_finds_relatives() -> None:
    """The same rules with other names are at distance 0; of other games the relatives are nearer."""
    game = herbrand.load("ticTacToe")
    again = herbrand.loads(write(game, seed=7))
    assert distance(fingerprint(game.rules), fingerprint(again.rules)) == 0
    near, far = (fingerprint(herbrand.load(name).rules) for name in ("ticTacToe3", "montyHall"))
    assert 0 < distance(fingerprint(game.rules), near) < distance(fingerprint(game.rules), far) < 1
    known = [KnownGame(name, herbrand.load(name), {"draws": 0.1}) for name in ("montyHall", "ticTacToe3")]
    found = measure(again, effort=SMALL, known=known, only=["rule_novelty", "play_novelty"])
    assert "of 2 games ticTacToe3 is most similar" in found["rule_novelty"].note
    assert 0 < found.value("play_novelty") <= 1


def test_fingerprints_are_the_same_in_every_process() -> None:
    """Colours do not depend on the hashes of Python, which differ between processes."""
    program = (
        "import herbrand; from herbrand.measure.structure import fingerprint; "
        "print(sorted(fingerprint(herbrand.load('nim').rules).levels[2].items())[:3])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, timeout=120, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(outputs) == 1


def test_the_bundled_games_have_behaviours() -> None:
    """Every bundled game can be compared with by its rules, and most by how they are played."""
    known = bundled()
    assert [one.name for one in known] == list(names())
    with_behaviour = [one for one in known if one.behaviour]
    assert len(with_behaviour) > 0.7 * len(known)
    for one in with_behaviour:
        assert one.behaviour is not None
        assert one.behaviour.keys() <= BEHAVIOUR.keys()
        assert all(0 <= value <= 1 for value in one.behaviour.values())
    table = dict(next(one.behaviour or {} for one in known if one.name == "nim"))
    measured = behaviour(measure(herbrand.load("nim"), effort="cheap", only=list(BEHAVIOUR)))
    assert measured == pytest.approx(table, abs=1e-4)


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(games())
def test_random_small_games_have_measures_in_bounds(text: str) -> None:
    """Whatever the rules say, every measure has a number in bounds or a reason, and none is NaN."""
    game = herbrand.loads(text)
    assume(not game.rules.errors)
    few = Effort("few", playouts=32, traced=8, max_steps=20, pairs=3, rungs=(1, 4), estimates=4)
    try:
        found = measure(game, effort=few, known=())
    except BudgetExceeded:
        assume(False)
    for one in found:
        assert one.note if one.value is None else 0 <= one.value <= (math.inf if one.unit else 1)
    json.dumps(found.as_json(), allow_nan=False)


def test_what_does_not_apply_is_said_once() -> None:
    """Measures without a number share a line for each reason, below the table and in notebooks."""
    found = measure(herbrand.loads(ENDLESS), effort=SMALL, known=())
    text = str(found)
    assert text.count("of playouts end") == 1
    assert "nothing from search play: only 0 % of playouts end" in text
    assert found._repr_html_().count("of playouts end") == 1
    assert str(taken("blocksWorld", only=["balance"])).endswith("no balance: the game has one role")


def test_a_measure_that_was_under_way_went_on_over_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the seconds have passed within a group, its measures are missing for that reason."""

    def endless(*_: object) -> NoReturn:
        while True:
            require_time()

    monkeypatch.setattr("herbrand.measure.novelty.rule_novelty", endless)
    measures = measure(herbrand.load("nim"), effort="cheap", only=["rule_novelty"], seconds=0.5, known=())
    missing = measures["rule_novelty"]
    assert missing.value is None
    assert "0.5 seconds" in missing.note

"""Remarks on behaviour: each kind on a game made for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.exploration.replay import replay
from herbrand.analyse.proofs.claims import RemarkClaim, claim_of
from herbrand.analyse.proofs.inductive import inductive_remarks
from herbrand.analyse.proofs.observe import observe, parts, rules_that_never_fire
from herbrand.analyse.proofs.tendency import tendencies
from herbrand.analyse.solving.solve import solve

if TYPE_CHECKING:
    from herbrand.analyse.proofs.observation import Observation

GAME = """(role a) (role b) (init (at 1)) (init lamp) (succ 1 2) (succ 2 3)
(<= (legal ?r wait) (role ?r)) (<= (legal a jump) (true (at 1))) (<= (legal a fly) (true wings))
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y)) (<= (next lamp) (true lamp))
(<= (next jumped) (does a jump)) (<= (next jumped) (true jumped))
(<= (next wings) (true (at 1)) (true (at 2)))
(<= terminal (true (at 3)))
(<= (goal a 100) (true jumped)) (<= (goal a 0) (not (true jumped)))
(<= (goal b 50) (true lamp)) (<= (goal b 70) (not (true lamp)))"""


def remarks(text: str) -> dict[str, list[Observation]]:
    """The remarks by kind."""
    game = herbrand.loads(text)
    found: dict[str, list[Observation]] = {}
    for observation in observe(game, explore(game.expander)):
        found.setdefault(observation.kind, []).append(observation)
    return found


def test_what_never_matters_is_remarked_on() -> None:
    """Fluents, moves, goal values and rules, each with what it is about."""
    found = remarks(GAME)
    assert found["fluent-never-true"][0].evidence["items"] == ["wings"]
    assert found["fluent-always-true"][0].evidence["items"] == ["lamp"]
    assert found["latched-fluent"][0].evidence["items"] == ["(at 3)", "jumped"]
    assert found["move-never-legal"][0].evidence == {"role": "a", "items": ["fly"]}
    assert [o.evidence["role"] for o in found["role-never-chooses"]] == ["b"]
    assert found["goal-never-reached"][0].evidence == {"role": "b", "values": [70]}
    fired = [o.text for o in found["rule-never-fires"]]
    assert len(fired) == 3
    assert fired[0].startswith("line 2: never fires: (<= (legal a fly)")
    assert "at most one role" in found["turn-taking"][0].text


def test_plays_and_dead_ends_come_with_their_moves() -> None:
    """The moves of the shortest and the longest play end the game; those to a dead end lead to one."""
    game = herbrand.load("ticTacToe")
    found = {o.kind: o for o in observe(game, explore(game.expander))}
    for kind, steps in (("shortest-play", 5), ("longest-play", 9)):
        line = [tuple(joint) for joint in found[kind].evidence["line"]]
        assert found[kind].evidence["steps"] == len(line) == steps
        assert replay(game, line)[-1].is_terminal
    assert "dead-end" not in found
    trap = """(role r) (init (at 1)) (to 1 2) (to 2 3) (to 2 4) (to 4 5) (to 5 4)
        (<= (legal r (go ?y)) (true (at ?x)) (to ?x ?y)) (<= (next (at ?y)) (does r (go ?y)))
        (<= terminal (true (at 3))) (<= (goal r 100) (true (at 3))) (<= (goal r 0) (not (true (at 3))))"""
    (dead,) = remarks(trap)["dead-end"]
    assert dead.evidence == {"states": 2, "of": 4, "aim": None, "line": [["(go 2)"], ["(go 4)"]]}
    assert "no play ends any more" in dead.text
    lost = """(role r) (init (at 1)) (to 1 2) (to 1 3) (to 2 4) (to 3 5)
        (<= (legal r (go ?y)) (true (at ?x)) (to ?x ?y)) (<= (next (at ?y)) (does r (go ?y)))
        (<= terminal (true (at 4))) (<= terminal (true (at 5)))
        (<= (goal r 100) (true (at 4))) (<= (goal r 0) (not (true (at 4))))"""
    (dead,) = remarks(lost)["dead-end"]
    assert dead.evidence["line"] == [["(go 3)"]]
    assert "100 cannot be reached" in dead.text


def test_conditions_that_are_always_true() -> None:
    """Positive and negated ones, but not those that bind a variable or can fail."""
    text = """(role r) (init (at 1)) (init lamp) (to 1 2) (to 2 3)
        (<= (legal r (go ?y)) (true (at ?x)) (to ?x ?y) (true lamp) (not (true dark)))
        (<= (next (at ?y)) (does r (go ?y))) (<= (next lamp) (true lamp)) (<= (next dark) (true dark))
        (<= terminal (true (at 3))) (<= (goal r 100) (true (at 3)) (not open)) (<= (goal r 0) (not (true (at 3))))
        (<= open (true (at 1)))"""
    conditions = [o.evidence["condition"] for o in remarks(text)["condition-always-true"]]
    assert conditions == ["(true lamp)", "(not (true dark))", "(true lamp)", "(not open)"]
    game = herbrand.load("ticTacToe")
    assert "condition-always-true" not in {o.kind for o in observe(game, explore(game.expander))}


def test_roles_that_the_rules_treat_alike() -> None:
    """In rock, paper, scissors both are; in tic-tac-toe one of them begins."""
    game = herbrand.load("rockPaperScissors")
    found = [o for o in observe(game, explore(game.expander)) if o.kind == "symmetric-roles"]
    assert [o.evidence["roles"] for o in found] == [list(game.roles)]
    assert "symmetric-roles" not in remarks(herbrand.load("ticTacToe").tree.source.text)


def test_rules_are_watched_at_the_end_too() -> None:
    """A goal rule that holds only in terminal states fires; one about moves there does not."""
    rules = rules_that_never_fire(herbrand.load("ticTacToe"))
    assert not rules
    text = """(role r) (init s) (legal r go) (<= (next t) (does r go)) (<= terminal (true t))
        (<= (goal r 100) (true t) glad) (<= glad (true t)) (<= (goal r 0) (true s))
        (<= (next u) (true t) (does r go))"""
    never = rules_that_never_fire(herbrand.loads(text))
    assert [str(rule) for rule in never] == ["(<= (next u) (true t) (does r go))"]


def test_a_game_that_is_over_before_it_begins() -> None:
    """As in the first example of the book, where a row of blanks counts as a line."""
    assert "terminal-at-start" in remarks("(role r) (init s) (legal r go) (<= terminal (true s)) (goal r 0)")


def test_forced_results_and_constant_sums() -> None:
    """A draw for every role, and a winner."""
    for name, text in (("ticTacToe", "50 for every role"), ("nim", "first is better off")):
        game = herbrand.load(name)
        found = {o.kind: o for o in observe(game, explore(game.expander), solve(game))}
        assert text in found["forced-result"].text
        assert found["constant-sum"].evidence == {"sum": 100}


def test_independent_parts_are_found() -> None:
    """Two lamps that have nothing to do with each other; one board is one part."""
    game = herbrand.loads("""(role a) (role b) (lamp 1) (lamp 2)
        (<= (legal ?r (press ?n)) (owns ?r ?n)) (owns a 1) (owns b 2)
        (<= (next (on ?n)) (does ?r (press ?n)) (not (true (on ?n))))
        (<= terminal (true (on 1)) (true (on 2))) (<= (goal a 100) (true (on 1))) (<= (goal b 100) (true (on 2)))""")
    assert sorted(parts(game.network)) == [(["(on 1)"], ["(press 1)"]), (["(on 2)"], ["(press 2)"])]
    assert len(parts(herbrand.load("ticTacToe").network)) == 1


def test_without_all_states_little_is_said() -> None:
    """Nothing is claimed about states that were not seen; what comes from random games says so."""
    game = herbrand.load("connectFour")
    found = observe(game, explore(game.expander, budget=Budget(states=100)))
    assert {o.kind for o in found} <= {"independent-parts", "first-move-advantage"}
    assert all("random games" in o.text for o in found if o.kind == "first-move-advantage")


def test_moving_first_and_having_many_moves() -> None:
    """Exact where all states are known: X is ahead by 29.68 points at random, by none with best play."""
    game = herbrand.load("ticTacToe")
    space = explore(game.expander)
    found = {(o.kind, o.evidence.get("by")): o for o in tendencies(space, solve(game))}
    assert found["first-move-advantage", "best play"].evidence["advantage"] == 0
    assert found["first-move-advantage", "random play"].evidence["advantage"] == 29.68
    mobility = found["mobility", None]
    assert mobility.evidence["most"] in (8, 9)
    assert mobility.evidence["role"] in game.roles


def test_where_there_are_too_many_states_random_games_tell() -> None:
    """They come near the exact number, and the remark says how near."""
    game = herbrand.load("ticTacToe")
    (found,) = tendencies(explore(game.expander, budget=Budget(60, states=100)))
    assert found.evidence["by"] == "random games"
    assert abs(found.evidence["advantage"] - 29.68) < 4 * found.evidence["error"]
    low, high = found.evidence["interval"]
    assert low < found.evidence["advantage"] < high
    assert abs((high - low) / 2 - 1.96 * found.evidence["error"]) < 0.1
    assert "95 % interval" in found.text
    assert found.uncertified
    assert "4096 random games" in found.text


def test_remarks_on_games_that_are_not_explored_are_proved_by_induction() -> None:
    """Those that an invariant excludes, and they are true of all states."""
    pytest.importorskip("pysat")
    text = GAME.replace(
        "(next wings) (true (at 1)) (true (at 2))", "(next wings) (true (at 1)) (true (at 3))"
    )
    game = herbrand.loads(text)
    everything = explore(game.expander)
    part = explore(game.expander, budget=Budget(states=2))
    assert not part.complete
    found = inductive_remarks(game, part, Budget(30))
    full = {(o.kind, o.text) for o in observe(game, everything)}
    assert {(o.kind, o.text) for o in found} <= full
    kinds = {o.kind for o in found}
    assert kinds >= {"fluent-always-true", "role-never-chooses", "turn-taking", "rule-never-fires"}
    assert all(isinstance(claim_of(o), RemarkClaim) for o in found)

"""GDL-III: rules that ask what roles know."""

from __future__ import annotations

import json
from itertools import product

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.analyse.knowledge import EpistemicGame
from herbrand.check import check
from herbrand.cli.main import cli
from herbrand.errors import BudgetExceeded, GameError, IllegalMoveError

CHILDREN = """
(role ann) (role ben) (role cid) (role random)
(init start)
(mark clean) (mark muddy)
(<= (legal random (paint ?x ?y ?z)) (true start) (mark ?x) (mark ?y) (mark ?z)
    (or (distinct ?x clean) (or (distinct ?y clean) (distinct ?z clean))))
(<= (legal random wait) (not (true start)))
(<= (next (face ann ?x)) (does random (paint ?x ?y ?z)))
(<= (next (face ben ?y)) (does random (paint ?x ?y ?z)))
(<= (next (face cid ?z)) (does random (paint ?x ?y ?z)))
(<= (next (face ?r ?m)) (true (face ?r ?m)))
(<= (child ?r) (role ?r) (distinct ?r random))
(<= (sees ?r (face ?s ?m)) (child ?r) (child ?s) (distinct ?r ?s) (next (face ?s ?m)))
(<= (muddy ?r) (true (face ?r muddy)))
(<= (clean ?r) (true (face ?r clean)))
(<= (sure ?r) (child ?r) (knows ?r (muddy ?r)))
(<= (sure ?r) (child ?r) (knows ?r (clean ?r)))
(<= (legal ?r wait) (child ?r) (true start))
(<= (legal ?r yes) (sure ?r) (not (true start)))
(<= (legal ?r no) (child ?r) (not (sure ?r)) (not (true start)))
(<= (sees ?r (said ?s ?m)) (child ?r) (does ?s ?m) (child ?s) (distinct ?m wait))
(<= everybody_clean (not (true (face ann muddy))) (not (true (face ben muddy))) (not (true (face cid muddy))))
(<= somebody_muddy (muddy ?r))
(<= announced (knows somebody_muddy))
(<= (next (round 1)) (true start))
(<= (next (round 2)) (true (round 1)))
(<= (next (round 3)) (true (round 2)))
(<= (next (round 4)) (true (round 3)))
(<= terminal (true (round 4)))
(<= (goal ?r 100) (sure ?r)) (<= (goal ?r 0) (child ?r) (not (sure ?r))) (goal random 0)
"""


@pytest.fixture(scope="module")
def children() -> EpistemicGame:
    """Its levels are the same for all plays."""
    return EpistemicGame(herbrand.loads(CHILDREN))


@pytest.mark.parametrize("faces", [f for f in product(("clean", "muddy"), repeat=3) if "muddy" in f])
def test_muddy_children(children, faces):
    """With k muddy children, the muddy ones know it in round k, and the clean ones one round later."""
    game = children
    muddy = faces.count("muddy")
    moves = [("wait", "wait", "wait", f"(paint {' '.join(faces)})")]
    play = game.after(moves)
    for number in (1, 2, 3):
        assert "announced" not in play.facts
        assert play.knows(None, "somebody_muddy")
        answers = []
        for role, face in zip(("ann", "ben", "cid"), faces, strict=True):
            knows = number >= muddy if face == "muddy" else number > muddy
            assert play.legal[role] == (("yes",) if knows else ("no",)), (number, role)
            assert play.knows(role, f"({face} {role})") == knows
            answers.append("yes" if knows else "no")
        moves.append((*answers, "wait"))
        play = game.after(moves)
    assert play.is_terminal
    assert {role: play.goals[role] for role in ("ann", "ben", "cid")} == dict.fromkeys(
        ("ann", "ben", "cid"), 100
    )


COIN = """
(role ann) (role ben) (role random) (init (step 0)) (succ 0 1) (succ 1 2)
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m)) (<= terminal (true (step 2)))
(side heads) (side tails)
(<= (legal random (toss ?s)) (true (step 0)) (side ?s)) (<= (legal random wait) (true (step 1)))
(<= (legal ?r wait) (role ?r) (distinct ?r random) (true (step 0)))
(<= (next (shows ?s)) (does random (toss ?s))) (<= (next (shows ?s)) (true (shows ?s)))
(<= (sees ann ?s) (does random (toss ?s)))
(<= up (true (shows heads)))
(<= (told ann) (knows ann up))
(<= (told ben) (knows ben up))
(<= (deep ben) (knows ben (knows ann (true (shows heads)))))
(<= (deep ann) (knows ann (not_known ben)))
(<= (not_known ben) (not (told ben)))
(<= (legal ?r cheer) (told ?r) (true (step 1)))
(<= (legal ?r sulk) (role ?r) (distinct ?r random) (not (told ?r)) (true (step 1)))
(<= (goal ann 100) (knows up)) (<= (goal ann 0) (not (knows up)))
(<= (goal ben 100) (deep ann)) (<= (goal ben 0) (not (deep ann))) (goal random 0)
"""


def test_one_knows_and_the_other_knows_that_not():
    """Ann sees the coin, ben does not; ann knows that ben does not know; nothing of it is common."""
    game = EpistemicGame(herbrand.loads(COIN))
    play = game.after([("wait", "wait", "(toss heads)")])
    assert play.legal["ann"] == ("cheer",)
    assert play.legal["ben"] == ("sulk",)
    assert play.knows("ann", "up")
    assert not play.knows("ben", "up")
    assert not play.knows(None, "up")
    assert play.goals == {"ann": 0, "ben": 100, "random": 0}
    assert play.knows(None, "(not_known ben)")
    tails = game.after([("wait", "wait", "(toss tails)")])
    assert tails.legal["ann"] == ("sulk",)
    assert [len(level) for level in game.levels(5)] == [1, 2, 2]


def test_common_knowledge_is_more_than_that_all_know():
    """Each sees the coin, but not that the other does: both know, and it is not common knowledge."""
    both = COIN.replace(
        "(<= (sees ann ?s) (does random (toss ?s)))",
        """(<= (legal random (secret ?s)) (true (step 0)) (side ?s)) (<= (next (shows ?s)) (does random (secret ?s)))
        (<= (sees ann ?s) (does random (toss ?s))) (<= (sees ann ?s) (does random (secret ?s)))
        (<= (sees ben ?s) (does random (toss ?s)))""",
    )
    play = EpistemicGame(herbrand.loads(both)).after([("wait", "wait", "(toss heads)")])
    assert play.knows("ann", "up")
    assert play.knows("ben", "up")
    assert not play.knows(None, "up"), "ann holds possible that ben saw nothing"
    told = both.replace("(<= (legal random (secret ?s)) (true (step 0)) (side ?s))", "")
    assert EpistemicGame(herbrand.loads(told)).after([("wait", "wait", "(toss heads)")]).knows(None, "up")


def test_an_ordinary_game_is_followed_as_the_engines_do():
    """Without `knows` the legal moves, ends and goals are those of the states."""
    game = herbrand.load("kuhn")
    state = game.initial_state()
    joints = []
    followed = EpistemicGame(game)
    for joint in (
        ("noop", "noop", "(deal jack king)"),
        ("check", "noop", "noop"),
        ("noop", "bet", "noop"),
        ("call", "noop", "noop"),
    ):
        play = followed.after(joints)
        assert {role: list(moves) for role, moves in play.legal.items()} == {
            role: list(map(str, moves)) for role, moves in state.legal_moves().items()
        }
        assert play.facts == state.facts
        joints.append(joint)
        state = state.next(joint)
    assert followed.after(joints).goals == state.goals
    with pytest.raises(IllegalMoveError, match="for first"):
        followed.after([("bet", "noop", "(deal jack king)")])
    with pytest.raises(BudgetExceeded, match="3 plays"):
        EpistemicGame(game, plays=3).after(joints)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("(<= up (not (knows ann up)))", "depends on"),
        ("(<= (told ben) (knows ann (moved ben))) (<= (moved ?r) (does ?r wait))", "depends on the moves"),
        ("(<= (told ben) (side ?x) (knows ann ?x))", "variable"),
    ],
)
def test_what_knows_must_not_speak_of(rule, message):
    """Circles, moves and variables are refused with the reason."""
    with pytest.raises(GameError, match=message):
        EpistemicGame(herbrand.loads(COIN + rule))


def test_engines_refuse_and_checks_tell():
    """A state alone does not say what is known: engines say so; the checks note it, and find misuse."""
    game = herbrand.loads(COIN)
    assert game.is_epistemic
    assert not herbrand.load("kuhn").is_epistemic
    with pytest.raises(GameError, match="GDL-III"):
        game.initial_state()
    found = [d.check for d in game.diagnostics]
    assert found.count("epistemic-condition") == 1
    assert "undefined-relation" not in found
    wrong = check(
        herbrand.loads(COIN + "(<= (told ben) (knows ben up now)) (<= (told ben) (knows bem up))").tree
    )
    assert {"knows-arity", "unknown-percept-role"} <= {d.check for d in wrong.diagnostics}
    own = herbrand.loads(
        "(role a) (knows a b) (<= (legal a go) (knows a b)) (<= terminal (knows a b)) (goal a 0)"
    )
    assert not own.is_epistemic
    assert [str(move) for move in own.initial_state().legal_moves("a")] == ["go"]


COMMANDS = [
    *(
        "analyse",
        "bench",
        "convert --to aiger",
        "convert --to asp",
        "convert --to automaton",
        "convert --to c",
    ),
    *("convert --to efg", "convert --to ggdl", "convert --to ground-json", "convert --to lanes"),
    *("convert --to network", "convert --to pddl", "convert --to prolog", "diff FILE", "draw", "ground"),
    "measure",
    *("match --player random --player random", "play --as ann", "reader", "repair", "simulate", "verify"),
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_refuse_such_rules_by_name(line, tmp_path):
    """Each command that follows states alone says that the rules ask what roles know."""
    file = tmp_path / "coin.kif"
    file.write_text(COIN, encoding="utf-8")
    name, *options = line.replace("FILE", str(file)).split()
    outcome = CliRunner().invoke(cli, [name, str(file), *options])
    assert outcome.exit_code in (1, 2)
    said = outcome.output + str(outcome.exception)
    assert "`knows` (GDL-III)" in said or "what roles know" in said


@pytest.mark.parametrize("target", ["prefix", "infix", "gdl2", "scrambled", "json", "dot"])
def test_notations_keep_what_is_known(target, tmp_path):
    """Conversions that only write the rules have all conditions."""
    file = tmp_path / "coin.kif"
    file.write_text(COIN, encoding="utf-8")
    outcome = CliRunner().invoke(cli, ["convert", str(file), "--to", target], catch_exceptions=False)
    assert outcome.exit_code == 0
    assert outcome.stdout.count("knows") >= (COIN.count("(knows") if target != "dot" else 1)


def test_known_and_commonly_known_are_one_word(children):
    """`knows` with one argument and with two is no confusion of relations."""
    assert "relation-arity" not in {d.check for d in children.game.diagnostics}


def test_show_follows_such_games(tmp_path):
    """`herbrand show` tells what holds, what everybody knows, and what is legal."""
    file = tmp_path / "coin.kif"
    file.write_text(COIN, encoding="utf-8")
    outcome = CliRunner().invoke(cli, ["show", str(file), "--moves", "(toss heads)"], catch_exceptions=False)
    assert outcome.exit_code == 0
    assert "coin, 1 step after the initial state" in outcome.stdout
    assert "ann knows\n" in outcome.stdout
    assert "ben\n  sulk\n" in outcome.stdout
    told = json.loads(
        CliRunner().invoke(cli, ["show", str(file), "--moves", ";", "--json"], catch_exceptions=False).stdout
    )
    assert told["step"] == 1
    assert "(not_known ben)" in told["known"]["everybody"]
    assert CliRunner().invoke(cli, ["show", str(file), "--why", "up"]).exit_code == 2

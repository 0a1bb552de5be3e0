"""Repairing games: edits, what random games and proofs say of them, and the text that comes out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import herbrand
from herbrand import games
from herbrand.cli.main import cli
from herbrand.errors import GameError
from herbrand.repair import edited_text, repair, rule_edits
from herbrand.repair.edits import RuleEdit, composed, edited, exclusive_goals, is_safe, standard_names
from herbrand.repair.naturalness import Naturalness
from herbrand.repair.recorded import first_difference, plays_of
from herbrand.repair.search import _Search
from herbrand.repair.superposed import Trial, profiles, superposed
from herbrand.runtime.limits import DEFAULT
from herbrand.syntax import read
from herbrand.syntax.printer import print_tree
from herbrand.verify.diff import diff

if TYPE_CHECKING:
    from pathlib import Path

NIM = games.path("nim").read_text(encoding="utf-8")

TURNS = """; Two take turns, three times.
(role white) (role black)
(init (control white))
(init (step 1))
(succ 1 2) (succ 2 3) (succ 3 4)
(<= (legal ?r (say heads)) (true (control ?r)))
(<= (legal ?r (say tails)) (true (control ?r)))
(<= (legal white noop) (true (control black)))
(<= (legal black noop) (true (control white)))
(<= (next (control white)) (true (control black)))  ; and back
(<= (next (control black)) (true (control white)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= (next (said ?x)) (does ?r (say ?x)))
(<= terminal (true (step 4)))
(<= (goal white 100) (true (said heads)))
(<= (goal white 0) (true (said tails)))
(<= (goal black 100) (true (said tails)))
(<= (goal black 0) (true (said heads)))
"""


def repaired(text: str, **options: object) -> str:
    """Return the repaired text of a sheet that can be repaired."""
    game = herbrand.loads(text)
    search = repair(game, seconds=40, **options)  # type: ignore[arg-type]
    assert search.is_needed
    assert search.repairs, search
    assert search.is_minimal
    assert search.repairs[0].is_proved
    return edited_text(game.tree, search.repairs[0].edits)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(true (control black)))  ; and", "(true (control white)))  ; and"),
        pytest.param("(legal black noop)", "(legal white noop)", marks=pytest.mark.slow),
        ("(succ 2 3)", "(succ 2 2)"),
        ("(<= (next (control black)) (true (control white)))\n", ""),
        ("(true (step ?n)) (succ ?n ?m)", "(true (step ?n))"),
        pytest.param("(init (step 1))", "(init (step succ))", marks=pytest.mark.slow),
    ],
)
def test_an_injury_is_undone(old: str, new: str) -> None:
    """A swapped role or constant, a lost rule, a lost condition: the sheet is again what it was."""
    assert TURNS.count(old) == 1
    after = repaired(TURNS.replace(old, new))
    assert diff(herbrand.loads(TURNS), herbrand.loads(after)).verdict in {"rules", "play"}
    if new and "succ ?n" not in old:
        assert after == TURNS


def test_a_game_without_faults_needs_nothing() -> None:
    """No edit is looked for."""
    search = repair(herbrand.loads(TURNS), seconds=10)
    assert not search.is_needed
    assert search.tried == 0


def test_a_dead_end_that_random_games_hardly_meet_gets_a_pass() -> None:
    """Nothing is wrong with any rule: one for what nobody thought of is added."""
    words = " ".join(f"(word w{n})" for n in range(30))
    sheet = (
        TURNS.replace("(<= (legal ?r (say heads))", f"{words}\n(<= (legal ?r (say ?w)) (word ?w)")
        .replace(
            "(<= (legal ?r (say tails)) (true (control ?r)))",
            "(<= (legal ?r (say heads)) (true (control ?r)) (not stuck)) (<= stuck (true (said w3)) (true (step 2)))\n"
            "(<= (legal ?r (say tails)) (true (control ?r)) (not stuck))",
        )
        .replace("(word ?w) (true (control ?r))", "(word ?w) (true (control ?r)) (true (step 1))")
    )
    after = repaired(sheet, properties=("termination", "playability"))
    assert after.startswith(sheet)
    assert "(<= (legal ?player noop) (role ?player) (not (can_move ?player)))" in after


PASSING = """
(role white) (role black) (init (control white)) (cell 1) (cell 2) (cell 3)
(<= (legal ?r noop) (role ?r))
(<= (legal ?r (mark ?c)) (true (control ?r)) (cell ?c) (not (true (marked ?c))))
(<= (next (marked ?c)) (does ?r (mark ?c)))
(<= (next (marked ?c)) (true (marked ?c)))
(<= (next (control white)) (true (control black)))
(<= (next (control black)) (true (control white)))
(<= full (true (marked 1)) (true (marked 2)) (true (marked 3)))
(<= terminal full)
(<= (goal ?r 0) (true (control ?r)) full)
(<= (goal ?r 100) (role ?r) (not (true (control ?r))) full)
"""


def test_only_who_is_not_to_move_may_pass() -> None:
    """Where all may pass for ever, the rule that lets them is looked at first."""
    search = repair(herbrand.loads(PASSING), seconds=40, properties=("termination", "playability", "goals"))
    assert search.edits < 100  # those of one rule
    assert "(<= (legal ?r noop) (role ?r) (not (true (control ?r))))" in edited_text(
        search.game.tree, search.repairs[0].edits
    )


@pytest.mark.parametrize(("digits", "steps"), [(2, 99), (3, 999)])
def test_a_limit_of_steps_is_the_last_resort(
    digits: int, steps: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It ends the game as late as it says, with goal values for those who would have none."""

    def nothing(search: _Search, *_: object) -> None:
        search.length = 10.0 ** (digits - 1) / 2

    monkeypatch.setattr(_Search, "_search", nothing)
    file = tmp_path / "passing.kif"
    file.write_text(PASSING, encoding="utf-8")
    outcome = CliRunner().invoke(cli, ["repair", str(file), "--write", "--edits", "1"])
    assert "proved       every play ends (step counter)" in outcome.stdout
    assert "a limit of steps, since no small edit was found" in outcome.stdout
    state = herbrand.load(file).initial_state()
    for _ in range(steps):
        assert not state.is_terminal
        state = state.next(["noop", "noop"])
    assert state.is_terminal
    assert [state.goal(role) for role in state.roles] == [0, 0]


DRAWN = """
(<= (goal white 50) (true (marked 2)) full)
(<= (goal black 50) (true (marked 2)) full)
"""
"""A second goal value for each role at every end."""


@pytest.mark.parametrize("endless", [False, True])
def test_goal_values_give_way_to_each_other(endless: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One holds only without another, where no small edit is found, or all may pass for ever besides."""
    text = PASSING + DRAWN
    if not endless:
        text = text.replace(
            "(legal ?r noop) (role ?r)", "(legal ?r noop) (role ?r) (not (true (control ?r)))"
        )
        monkeypatch.setattr(_Search, "_search", lambda *_: None)
    search = repair(herbrand.loads(text), seconds=40, properties=("termination", "playability", "goals"))
    assert set(search.faults) == ({"goals", "termination"} if endless else {"goals"})
    best = search.repairs[0]
    assert best.is_proved
    assert [edit.kind for edit in best.edits[:2]] == ["exclusive", "exclusive"]
    assert len(best.edits) == (3 if endless else 2)
    after = edited_text(search.game.tree, best.edits)
    assert "(<= (goal white 50) (true (marked 2)) full (not (goal_other_than_50 white)))" in after
    assert "(<= (goal black 50) (true (marked 2)) full (not (goal_other_than_50 black)))" in after
    assert not repair(
        herbrand.loads(after), seconds=10, properties=("termination", "playability", "goals")
    ).is_needed


def test_every_goal_value_can_give_way() -> None:
    """A rule and its images for other roles, all rules of a value, and at last all but the greatest."""
    statements = herbrand.loads(TURNS).tree.statements
    ways = list(exclusive_goals(statements))
    assert [[statements[edit.number or 0].head.args[1].name for edit in way] for way in ways] == [
        ["100"], ["0"], ["100"], ["0"], ["100", "100"], ["0", "0"], ["0", "0"],
    ]  # fmt: skip
    assert all(not herbrand.loads("\n".join(map(str, edited(statements, way)))).rules.errors for way in ways)
    assert not list(exclusive_goals(herbrand.loads("(role r) (v 1) (<= (goal r ?v) (v ?v))").tree.statements))


def test_an_edit_of_edited_statements_is_one_of_the_statements() -> None:
    """However many statements the edits before added or removed."""
    statements = herbrand.loads(TURNS).tree.statements
    first = [
        RuleEdit("remove-rule", 3, ()),
        RuleEdit("exclusive", 5, (statements[0], statements[1])),
        RuleEdit("add-rule", None, (statements[2],)),
    ]
    between = edited(statements, first)
    for number in range(len(between)):
        again = RuleEdit("constant", number, (statements[9],))
        edits = composed(statements, first, again)
        assert edited(statements, edits) == edited(between, [again])
        assert len({edit.number for edit in edits}) == len(edits)
    added = RuleEdit("add-rule", None, (statements[9],))
    assert edited(statements, composed(statements, first, added)) == edited(between, [added])


def test_edits_that_cannot_matter_are_left_out() -> None:
    """Whether a game goes on is not decided by rules that only goals depend on."""
    statements = herbrand.loads(TURNS).tree.statements
    heads = {("legal", 2), ("succ", 2)}
    some = list(rule_edits(statements, heads=heads))
    assert {rule.head.key for edit in some for rule in edit.rules[-1:]} <= heads
    assert set(some) < set(rule_edits(statements))


def test_a_reference_decides_what_the_rules_leave_open() -> None:
    """Both sheets are well formed; the repaired one plays like the other."""
    other = TURNS.replace("(init (step 1))", "(init (step 2))")
    assert not repair(herbrand.loads(other), seconds=10).is_needed
    after = repaired(other, reference=herbrand.loads(TURNS))
    assert diff(herbrand.loads(TURNS), herbrand.loads(after)).verdict in {"rules", "play"}


def test_every_edit_is_another_safe_sheet() -> None:
    """Edits are different, safe, and change what they say they change."""
    statements = herbrand.loads(NIM).tree.statements
    edits = list(rule_edits(statements, faults=("playability", "goals")))
    assert len({(edit.number, edit.rules) for edit in edits}) == len(edits)
    assert all(is_safe(rule) for edit in edits for rule in edit.rules)
    for edit in edits[::40]:
        after = edited(statements, [edit])
        assert after != list(statements)
        assert set(statements) - set(after) <= (
            {statements[edit.number]} if edit.number is not None else set()
        )


@pytest.mark.parametrize("notation", ["prefix", "infix", "prolog"])
def test_the_text_says_what_the_edit_says(notation: str) -> None:
    """In each notation, reading the edited text gives the edited statements; comments stay."""
    tree = read(print_tree(herbrand.loads(TURNS).tree, notation).text, notation)
    for edit in list(rule_edits(tree.statements))[::97]:
        after = edited_text(tree, [edit])
        expected = edited(tree.statements, [edit])
        assert [*map(standard_names, read(after, notation).statements)] == [*map(standard_names, expected)]
        if edit.number is None or "and back" not in after:
            continue
        assert "Two take turns" in after


def test_superposed_versions_play_as_they_do_alone() -> None:
    """The choice of a version changes nothing but its rules."""
    game = herbrand.loads(TURNS)
    statements = game.tree.statements
    edits = list(rule_edits(statements))[::61]
    trial = Trial(games=64, max_steps=50)
    together = dict(profiles(statements, edits, game.roles, trial, limits=DEFAULT))
    assert together[-1].stuck == together[-1].endless == 0
    compared = 0
    for k, edit in enumerate(edits):
        alone = herbrand.loads("\n".join(map(str, edited(statements, [edit]))))
        if alone.rules.errors:
            continue
        simulation = alone.simulate(64, seed=1, max_steps=50)
        if k not in together:
            continue
        compared += 1
        assert (together[k].stuck == 0) == (simulation.stuck == 0), edit
        assert (together[k].endless == 0) == (simulation.truncated == 0), edit
    assert compared > 10


def test_the_original_is_among_the_versions() -> None:
    """Choosing no edit gives the plays of the game itself."""
    game = herbrand.loads(TURNS)
    rules = superposed(game.tree.statements, [], game.roles)
    choosing = herbrand.loads("\n".join(map(str, rules)))
    start = choosing.initial_state()
    (first,) = start.legal_moves("white")
    state = start.next([first, *start.legal_moves("black")])
    assert {str(move) for move in state.legal_moves("white")} == {"(say heads)", "(say tails)"}


def test_conditions_on_any_role_are_among_the_edits() -> None:
    """Where rules name every role, a condition may name none: a new variable with a name of its own."""
    sheet = herbrand.loads(
        """(role a) (role b) (init (cell 1 blank)) (init (cell 2 blank))
        (<= (legal ?r (mark ?n)) (role ?r) (true (cell ?n blank)))
        (<= (next (cell ?n x)) (does a (mark ?n))) (<= (next (cell ?n o)) (does b (mark ?n)))
        (<= (next (cell ?n blank)) (true (cell ?n blank)) (distinct ?n ?any))
        (<= terminal (true (cell 1 x))) (goal a 0) (goal b 100)"""
    )
    found = {str(edit.rule) for edit in rule_edits(sheet.tree.statements, heads={("next", 1)})}
    kept = "(<= (next (cell ?n blank)) (true (cell ?n blank)) (distinct ?n ?any) "
    assert f"{kept}(does ?any2 (mark ?any)))" in found


def test_natural_edits_cost_less() -> None:
    """The image of a sibling rule costs less than a rule that resembles nothing."""
    statements = herbrand.loads(TURNS.replace("(legal black noop)", "(legal white noop)")).tree.statements
    naturalness = Naturalness(statements)
    edits = sorted(rule_edits(statements), key=naturalness.cost)
    place = next(
        n
        for n, edit in enumerate(edits)
        if str(edit.rule) == "(<= (legal black noop) (true (control white)))"
    )
    assert place < 10
    assert len(edits) > 1000


def test_plays_are_compared_step_by_step() -> None:
    """The first difference is said in words."""
    game = herbrand.loads(TURNS)
    plays = plays_of(game, plays=3)
    assert first_difference(game, plays) is None
    shorter = herbrand.loads(TURNS.replace("(true (step 4))", "(true (step 3))"))
    assert first_difference(shorter, plays) == "after 2 steps, the game is over"
    silent = herbrand.loads(TURNS.replace("(say tails)) (true (control", "(say succ)) (true (control"))
    difference = first_difference(silent, plays)
    assert difference is not None
    assert difference.startswith("in the initial state, `(say succ)` is legal for white")


def test_texts_with_errors_are_refused() -> None:
    """They are for `check --fix`."""
    with pytest.raises(GameError, match="check --fix"):
        repair(herbrand.loads("(role white"))


def test_the_command_shows_a_diff_and_edits_on_request(tmp_path: Path) -> None:
    """Without --write the file stays as it is."""
    file = tmp_path / "turns.kif"
    faulty = TURNS.replace("(succ 2 3)", "(succ 2 2)")
    file.write_text(faulty, encoding="utf-8")
    shown = CliRunner().invoke(cli, ["repair", str(file)])
    assert shown.exit_code == 0, shown.output
    assert "-(succ 1 2) (succ 2 2) (succ 3 4)\n+(succ 1 2) (succ 2 3) (succ 3 4)" in shown.stdout
    assert "proved       every play ends" in shown.stdout
    assert file.read_text(encoding="utf-8") == faulty
    written = CliRunner().invoke(cli, ["repair", str(file), "--write", "--json"])
    assert written.exit_code == 0
    assert json.loads(written.stdout)["text"] == file.read_text(encoding="utf-8") == TURNS
    again = CliRunner().invoke(cli, ["repair", str(file)])
    assert again.stdout == "turns: nothing to repair\n"


def test_the_command_says_that_nothing_helps(tmp_path: Path) -> None:
    """A game that no edit of this kind repairs, within the time."""
    file = tmp_path / "none.kif"
    file.write_text("(role r) (legal r a) (init p) (next p) (goal r 0)", encoding="utf-8")
    outcome = CliRunner().invoke(cli, ["repair", str(file), "--seconds", "5", "--edits", "1"])
    if outcome.exit_code:
        assert "no edit found that repairs it" in outcome.stdout
    else:
        assert "proved" in outcome.stdout


def test_conditions_with_many_places_are_listed_at_once() -> None:
    """With twelve places of one type there are 4 096 bindings for every one with a single free variable."""
    many = " ".join(f"?{letter}" for letter in "abcdefghijkl")
    game = herbrand.loads(f"""
        (role p) (d 1) (d 2) (init (s 1))
        (<= (legal p (go ?x)) (d ?x))
        (<= (all {many}) {" ".join(f"(d ?{letter})" for letter in "abcdefghijkl")})
        (<= (next (s ?x)) (does p (go ?x)) (d ?y) (all {" ".join(["?x", "?y"] * 6)}))
        (<= terminal (true (s 2))) (goal p 100)
    """)
    conditions = [
        edit for edit in rule_edits(list(game.tree.statements)) if edit.kind == "add" and edit.number == 6
    ]
    assert 0 < len(conditions) < 500

"""Grounding: the right instances, whatever is done to the rules on the way."""

import pytest

import herbrand
from herbrand import BudgetExceeded, Limits
from herbrand.ground import ground
from herbrand.ground.possible import possible

SMALL = """
(role x) (role o) (init (control x)) (succ 1 2) (succ 2 3) (init (n 1))
(<= (legal ?r go) (true (control ?r)))
(<= (legal ?r wait) (role ?r) (not (true (control ?r))))
(<= (next (control o)) (true (control x)))
(<= (next (control x)) (true (control o)))
(<= (next (n ?y)) (true (n ?x)) (succ ?x ?y))
(<= (goal ?r 100) (role ?r))
(<= terminal (true (n 3)))
"""


def test_possible_fluents_and_moves_of_a_game_without_declarations() -> None:
    """Base and input are derived when a sheet has neither."""
    game = herbrand.loads(SMALL)
    assert game.base == ("(control o)", "(control x)", "(n 1)", "(n 2)", "(n 3)")
    assert {r: list(map(str, m)) for r, m in game.inputs.items()} == {
        "x": ["go", "wait"],
        "o": ["go", "wait"],
    }


@pytest.mark.parametrize(
    "name", ["ticTacToe", "connectFour", "nim", "hanoi", "rockPaperScissors", "breakthrough", "montyHall"]
)
def test_declarations_of_bundled_games_are_complete(name: str) -> None:
    """What relaxed reachability finds was declared: a proof for every reachable state."""
    game = herbrand.load(name)
    assert set(game.possible.base) <= set(game.base)
    for role, moves in game.possible.inputs.items():
        assert set(moves) <= set(map(str, game.inputs[role]))


@pytest.mark.parametrize("name", ["ticTacToe", "connectFour", "nim", "breakthrough", "kuhn"])
def test_decomposition_keeps_the_named_atoms(name: str) -> None:
    """With and without decomposition the same atoms are found."""
    rules = herbrand.load(name).rules
    one, two = ground(rules), ground(rules, shrink=False)
    assert set(one.named) == set(two.named)

    def atoms(program, relation: str) -> set[tuple[str, ...]]:
        return {tuple(map(program.terms.text, row[1:])) for row in program.named[relation].tolist()}

    for relation in one.named:
        assert atoms(one, relation) == atoms(two, relation)


def test_ground_program_prints_as_rules() -> None:
    """The product is readable text."""
    text = str(ground(herbrand.loads(SMALL).rules))
    assert "(<= (legal x go)" in text or "(<= (legal x go) " in text
    assert "(init (control x))" in text


def test_many_disjunctions_are_not_multiplied_out() -> None:
    """Twenty binary disjunctions become helpers, not a million rules."""
    ors = " ".join(f"(or (succ ?x{i} ?y{i}) (succ ?y{i} ?x{i}))" for i in range(20))
    game = herbrand.loads(SMALL + f"(<= (next wide) {ors} (true (n 1)))")
    assert "wide" in possible(game.rules, limits=Limits(seconds=20)).base


def test_endless_terms_end_at_the_budget() -> None:
    """Grounding that never ends is stopped in its child process."""
    game = herbrand.loads(SMALL + "(<= (next (n (s ?x))) (true (n ?x)))")
    with pytest.raises(BudgetExceeded, match=r"seconds|MB"):
        possible(game.rules, limits=Limits(seconds=1.5))


def test_relations_asked_with_constants_are_ground_for_those_alone() -> None:
    """A wide relation that is only called with constants has only the instances asked for."""
    cells = " ".join(f"(object o{i})" for i in range(12))
    text = (
        SMALL
        + cells
        + """
    (<= (next (spot ?o)) (object ?o) (true (n 1)))
    (<= (count ?a ?b ?c 3) (true (spot ?a)) (true (spot ?b)) (true (spot ?c)))
    (<= (next lots) (count o1 o2 o3 ?n)) (<= (next some) (or (count o4 o5 o6 ?n) (not (count o1 o5 o7 3))))
    """
    )
    rules = herbrand.loads(text).rules
    one, two = ground(rules), ground(rules, shrink=False)
    assert one.rules < 100
    assert two.rules > 1000
    assert {one.terms.text(row[1]) for row in one.named["next"].tolist()} == {
        two.terms.text(row[1]) for row in two.named["next"].tolist()
    }


def test_a_stopped_grounder_is_a_spent_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grounder that the system ends by a signal gives a clear answer, not a bug report."""
    import subprocess

    def stopped(*_args: object, **_options: object) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess([], 1, b"*** Info : INTERRUPTED\n", b"")

    monkeypatch.setattr(subprocess, "run", stopped)
    with pytest.raises(BudgetExceeded, match="stopped"):
        ground(herbrand.loads(SMALL).rules)


def test_row_widths_are_powers_of_two() -> None:
    """Other widths would lose words, and are refused."""
    from herbrand.simulate.from_network import BatchSimulator

    with pytest.raises(ValueError, match="words"):
        BatchSimulator(herbrand.loads(SMALL).network, 6)

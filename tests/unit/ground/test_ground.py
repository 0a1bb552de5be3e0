"""Grounding: the right instances, whatever is done to the rules on the way."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import herbrand
from herbrand import BudgetExceeded, HerbrandError, Limits
from herbrand.errors import InternalError
from herbrand.ground import clingo_child, count_instances, ground
from herbrand.ground.aspif import parse_aspif
from herbrand.ground.possible import possible
from herbrand.rules.terms import TermTable

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


@pytest.fixture(autouse=True)
def _every_call_grounds(shared_groundings: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """No output is taken from an earlier call, as elsewhere in the tests."""
    monkeypatch.setattr(clingo_child, "grounder", shared_groundings)


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
        possible(game.rules, limits=Limits(seconds=0.5))


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


SCRIPTS = {
    "stopped": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", BudgetExceeded, "stopped"),
    "interrupted": (
        "import sys; print('asp 1 0 0'); sys.exit('*** Info : INTERRUPTED')",
        BudgetExceeded,
        "stopped",
    ),
    "cut off": (
        "import os, signal; print('asp 1 0 0', flush=True); os.kill(os.getpid(), signal.SIGTERM)",
        BudgetExceeded,
        "stopped",
    ),
    "cut off and garbled": (
        (
            "import os, signal; print('asp 1 0 0'); print('1 0 1 71 0 2 61 0 1 5', '1 0 1', '1 0 2 0 0', sep='\\n');"
            " print('1 0 1 2 0 1 3', flush=True); os.kill(os.getpid(), signal.SIGTERM)"
        ),
        BudgetExceeded,
        "stopped",
    ),
    "out of memory": ("import sys; sys.exit('std::bad_alloc')", BudgetExceeded, "6000 MB"),
    "silent": ("import sys; sys.exit(1)", BudgetExceeded, "6000 MB"),
    "refusing": ("import sys; sys.exit('game.lp:1:1: error: syntax')", InternalError, "rejected the program"),
    "talking": ("print('hello'); print(0)", InternalError, "not aspif"),
    "strange": ("print('asp 1 0 0'); print('1 0 2 1 2 0 1 3'); print(0)", InternalError, "unexpected form"),
    "busy": (
        "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 2))\nwhile True: pass",
        BudgetExceeded,
        "1 seconds",
    ),
    "slow": ("import time; time.sleep(60)", BudgetExceeded, "0.5 seconds"),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_whatever_the_grounder_does_has_a_clear_outcome(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A grounder that is stopped, runs out of memory or prints something else does not hang or confuse us."""
    import subprocess

    script, error, message = SCRIPTS[name]
    real = subprocess.Popen

    def other(_command: object, **options: object) -> object:
        return real([sys.executable, "-c", script], **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "Popen", other)
    with pytest.raises(error, match=message):
        ground(herbrand.loads(SMALL).rules, limits=Limits(seconds={"slow": 0.5, "busy": 1}.get(name, 60)))


def test_without_clingo_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grounding names the missing library; the rules can be played all the same."""
    import importlib.util

    real = importlib.util.find_spec

    def find(name: str, package: str | None = None) -> object:
        return None if name == "clingo" else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    game = herbrand.loads(SMALL)
    with pytest.raises(HerbrandError, match="pip install clingo"):
        ground(game.rules)
    assert game.initial_state(engine="rules").legal_moves("x")


def test_memory_has_a_limit() -> None:
    """A grounder that may hold little memory ends with a spent budget."""
    with pytest.raises(BudgetExceeded, match=r"MB|stopped"):
        ground(herbrand.loads(SMALL).rules, megabytes=10)


def test_what_the_grounder_gives_has_a_limit() -> None:
    """Reading stops as soon as the rules take more than they may, long before the grounder is through."""
    rules = b"1 0 1 1 0 2 3 -4\n" * 1000
    given = []

    def pieces() -> Iterator[bytes]:
        yield b"asp 1 0 0\n" + rules
        for number in range(1000):
            given.append(number)
            yield rules

    with pytest.raises(BudgetExceeded, match=r"1 MB of ground rules.*rules so far"):
        parse_aspif(pieces(), TermTable(), max_bytes=1 << 20)
    assert 40 < len(given) < 200


MAZE = """
(role r) (n 1) (n 2) (n 3) (succ 1 2) (succ 2 3)
(init (wall 1 east)) (init (wall 3 east)) (init (at 1))
(<= (legal r (go ?d)) (dir ?d)) (dir east) (dir west)
(<= (next (wall ?x ?d)) (true (wall ?x ?d)))
(<= (next (at ?y)) (does r (go east)) (true (at ?x)) (succ ?x ?y) (not (true (wall ?x east))))
(<= (next (at ?x)) (does r (go east)) (true (at ?x)) (or (true (wall ?x east)) (edge ?x)))
(<= (next (at ?y)) (does r (go west)) (true (at ?x)) (succ ?y ?x))
(edge 3)
(<= (goal r 100) (true (at 3))) (<= terminal (true (at 3)))
"""


def test_fluents_that_never_change_are_facts() -> None:
    """Walls that each state hands on leave nothing to compute, and states without them are the rules' to answer."""
    game = herbrand.loads(MAZE)
    program = ground(game.rules)
    always = {program.terms.text(term) for atom, term in program.named["next"].tolist() if atom == 0}
    assert always == {"(wall 1 east)", "(wall 3 east)"}
    assert program.rules < ground(game.rules, shrink=False).rules
    one, other = game.initial_state("network"), game.initial_state("rules")
    for move in ("(go west)", "(go east)", "(go west)"):
        assert one.facts == other.facts
        assert one.legal_moves("r") == other.legal_moves("r")
        one, other = one.next([move]), other.next([move])
    open_maze = ["(at 1)", "(wall 3 east)"]
    with pytest.raises(HerbrandError, match=r"`\(wall 1 east\)` is true in every reachable state"):
        game.state(open_maze, engine="network")
    assert game.state(open_maze).next(["(go east)"]).facts == {"(at 2)", "(wall 3 east)"}
    with pytest.raises(HerbrandError, match="true in every reachable state"):
        game.expander.pack([open_maze])


@pytest.mark.parametrize(
    "change",
    [
        "(<= (next (wall 2 ?d)) (does r (go ?d)))",
        "(<= (next ?f) (true ?f) (does r (go west)))",
        "(<= (init (wall ?x north)) (n ?x))",
    ],
)
def test_fluents_that_may_change_stay_inputs(change: str) -> None:
    """Another rule for a fluent, for any fluent, or for the initial state: nothing is taken for granted."""
    game = herbrand.loads(MAZE + change)
    program = ground(game.rules)
    assert all(atom for atom, _ in program.named["next"].tolist())
    for state in (game.initial_state("network"), game.initial_state("rules")):
        assert state.next(["(go west)"]).facts == game.initial_state("naive").next(["(go west)"]).facts


CELLS = """
(role r) (c 1) (c 2) (c 3) (c 4) (c 5) (c 6)
(<= (init (cell ?x ?y b)) (c ?x) (c ?y))
(<= (legal r (move ?x ?y ?u ?v)) (true (cell ?x ?y ?p)) (true (cell ?u ?v ?q)))
(<= (next (cell ?x ?y ?p)) (true (cell ?x ?y ?p)) (does r (move ?a ?b ?c ?d))
    (apart ?x ?y ?a ?b) (apart ?x ?y ?c ?d))
(<= (next (cell ?x ?y p)) (does r (move ?a ?b ?x ?y)))
(<= (apart ?x ?y ?u ?v) (distinct ?x ?u) (c ?x) (c ?u) (c ?y) (c ?v))
(<= (apart ?x ?y ?u ?v) (distinct ?y ?v) (c ?x) (c ?u) (c ?y) (c ?v))
(<= (goal r 0) (c 1)) (<= terminal (true (cell 1 1 p)))
"""


def test_comparisons_of_cells_are_written_out() -> None:
    """Cells that a move leaves alone take rules in the order of moves, not of moves times cells."""
    game = herbrand.loads(CELLS)
    assert ground(game.rules).rules < 15_000 < ground(game.rules, shrink=False).rules
    state, other = game.initial_state("network"), game.initial_state("rules")
    for move in ("(move 1 2 3 4)", "(move 3 4 5 5)", "(move 5 5 5 5)"):
        state, other = state.next([move]), other.next([move])
        assert state.facts == other.facts


def test_alternatives_to_a_difference_are_for_equal_terms_alone() -> None:
    """After `(distinct ?x 1)` in a disjunction, the other disjuncts are only tried with 1 for ?x."""
    game = herbrand.loads(
        SMALL + "(<= (pair ?x ?y) (succ ?x ?y) (or (distinct ?x 1) (distinct ?y ?x) (true (n ?x))))"
    )
    pairs = ground(game.rules, wanted=[("pair", 2)]).named["pair"].tolist()
    assert len(pairs) == 2
    assert {atom for atom, *_ in pairs} == {0}


@pytest.mark.parametrize("name", ["ticTacToe", "breakthrough", "kuhn"])
def test_instances_are_counted_as_they_are_named(name: str) -> None:
    """The counts of all relations that a game defines are the numbers of their instances."""
    rules = herbrand.load(name).rules
    wanted = list(dict.fromkeys(rule.head.key for rule in rules.tree.statements))
    named = ground(rules, wanted=wanted).named
    counts = count_instances(rules, wanted)
    assert counts == {key: len(named.get(key[0], ())) for key in wanted}
    assert counts["legal", 2] > 0


def test_the_grounder_prints_whole_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that run Python unbuffered do not make the grounder write number by number."""
    import subprocess

    seen: list[object] = []
    real = subprocess.Popen

    def other(command: object, **options: object) -> object:
        seen.append(options["env"])
        return real(command, **options)  # type: ignore[call-overload]

    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    monkeypatch.setattr(subprocess, "Popen", other)
    assert ground(herbrand.loads(SMALL).rules).rules
    (environment,) = seen
    assert isinstance(environment, dict)
    assert "PYTHONUNBUFFERED" not in environment


QUAD = """
(role r) (init (cell 1 1 x)) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8)
(i 1) (i 2) (i 3) (i 4) (i 5) (i 6) (i 7) (i 8)
(<= (legal r (mark ?x ?y)) (i ?x) (i ?y)) (<= (next (cell ?x ?y x)) (does r (mark ?x ?y)))
(<= (next (cell ?x ?y x)) (true (cell ?x ?y x)))
(<= (square ?a ?b ?a ?d ?e ?b ?e ?d) (succ ?a ?e) (succ ?b ?d))
(<= (square ?a ?b ?a ?d ?e ?b ?e ?d) (succ ?x ?e) (succ ?y ?d) (square ?a ?b ?a ?y ?x ?b ?x ?y))
(<= win (true (cell ?a ?b x)) (true (cell ?c ?d x)) (true (cell ?e ?f x)) (true (cell ?g ?h x))
    (square ?a ?b ?c ?d ?e ?f ?g ?h))
(<= terminal win) (<= (goal r 100) win) (<= (goal r 0) (not win))
"""


def test_tables_are_evaluated_whole_where_nearly_all_would_be_asked_for() -> None:
    """Squares among all sets of four cells are listed once, not asked for set by set."""
    game = herbrand.loads(QUAD)
    assert ground(game.rules, limits=Limits(seconds=10)).rules < 5000
    moves = ["(mark 1 4)", "(mark 4 1)", "(mark 4 4)"]
    state = game.initial_state("network")
    for move in moves:
        assert not state.is_terminal
        state = state.next([move])
    assert state.is_terminal
    assert state.goals == {"r": 100}


ENDLESS = (
    "(role a) (init (s 0)) (legal a m) (<= (next (s (f ?x ?x))) (true (s ?x))) (<= terminal (true (s 9)))"
)
KILLED = f"""
import sys
from herbrand.check import check
from herbrand.ground import clingo_child, count_instances, ground
from herbrand.syntax import read
ground(check(read({ENDLESS!r}, "prefix")))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="lists child processes in /proc")
def test_a_grounder_outlived_the_process_that_was_killed() -> None:
    """It went on for hours, with gigabytes."""
    parent = subprocess.Popen([sys.executable, "-c", KILLED])
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    try:
        while not (started := children.read_text(encoding="ascii").split()):
            time.sleep(0.01)
        (child,) = started
        while not is_grounding(child):
            time.sleep(0.01)
    finally:
        parent.kill()
        parent.wait()
    until = time.monotonic() + 20
    while is_grounding(child) and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_grounding(child)


def is_grounding(process: str) -> bool:
    """Whether a process exists and has loaded clingo."""
    try:
        return "clingo" in Path(f"/proc/{process}/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False

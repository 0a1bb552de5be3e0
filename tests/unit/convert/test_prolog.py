"""Games as programs for SWI-Prolog, read back, run, and compared with our own evaluation."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import herbrand
from herbrand import games
from herbrand.convert.prolog import program
from herbrand.convert.prolog.clauses import statements_for
from herbrand.errors import BudgetExceeded, HerbrandError, MissingProgram
from herbrand.machine.state import State
from herbrand.runtime.limits import Limits
from herbrand.runtime.line_process import LineProcess, ProcessDied
from herbrand.syntax import read
from herbrand.syntax.nodes import children, variables_of
from herbrand.verify import verify_playouts
from herbrand.verify.in_prolog import PrologEngine, find_swipl

SWIPL = shutil.which("swipl")
needs_swipl = pytest.mark.skipif(SWIPL is None, reason="swipl (SWI-Prolog) is not installed")
SEED = Path(__file__).parent.parent.parent / "golden" / "seeds" / "001_tictactoe3.pl"

ODD = """
(role state) (role 1st) (role a-b)
(init (n 0)) (init (cell 01 +)) (init (cell 1 -7)) (init on)
(succ 0 1) (succ 1 2) (succ 2 3) (number 7) (< 0 1) (< 1 2) (between 1 2 3) (plus 1 1 2)
(forget) (actions 1 2) (values 3 4) (next_fluent 1 2 3) (is_terminal 3) (choice 2 5)
(p a) (<= (p a ?x) (true (n ?x))) (<= (p ?x) (true (cell ?x ?y)))
(edge a b) (edge b c) (edge c a) (edge c d)
(<= (path ?x ?y) (path ?x ?z) (edge ?z ?y))
(<= (path ?x ?y) (edge ?x ?y))
(<= (reach ?x) (true (n ?s)) (reach ?y) (edge ?y ?x))
(<= (reach a) (true on))
(<= (far ?x) (edge ?y ?x) (not (reach ?x)))
(<= (legal ?state (go ?inputs)) (role ?state) (succ ?inputs ?y) (true (n ?n)) (not (< ?inputs ?n)))
(<= (legal ?r stay) (role ?r) (or (and (path ?r ?loose) (p ?r)) (p ?loose) (edge ?loose d)))
(<= (legal ?r (same ?x)) (role ?r) (number ?n) (true (cell ?x ?y)) (not (distinct ?z ?x)) (role ?r) (p ?z))
(<= (next (n ?y)) (true (n ?x)) (succ ?x ?y))
(<= (next (n 3)) (true (n 3)))
(<= (next on) (does ?r (go ?x)) (distinct ?x 1))
(<= (next (cell ?x (was ?r ?m))) (does ?r ?m) (true (cell ?x ?any)) (not (and (p ?x) (number ?x))) (depth ?m 0))
(<= (next (cell ?x ?y)) (true (cell ?x ?y)) (not (or (number ?x) (reach ?y))))
(<= (depth ?m 0) (does ?r ?m) (distinct ?m stay))
(<= (goal ?r 50) (role ?r) (true on))
(<= (goal ?r 50) (role ?r) (path a d))
(<= (goal ?r 100) (role ?r) (not (true on)) (forget))
(<= (sees ?r (seen ?m)) (role ?r) (does ?q ?m) (distinct ?q ?r))
(<= terminal (true (n 3)))
(<= terminal (true (n 3)) (undefined ?x))
"""


@pytest.fixture(scope="module")
def odd():
    game = herbrand.loads(ODD, name="odd")
    assert not game.rules.errors
    return game


def canonical(rule, names=None):
    """A rule as text with its variables numbered and its relations renamed back."""
    numbers: dict[str, str] = {}
    for variable in variables_of(rule):
        numbers.setdefault(variable.name, f"?v{len(numbers)}")

    def show(node):
        if hasattr(node, "name") and not hasattr(node, "args"):
            return numbers.get(node.name, node.name) if type(node).__name__ == "Variable" else node.name
        name = getattr(node, "name", type(node).__name__)
        if names and type(node).__name__ == "Atom":
            name = names.get((node.name, len(node.args)), node.name)
        return f"({' '.join([name, *map(show, children(node))])})"

    return show(rule)


def renamings(text):
    """The renamings that the comment at the top of a program tells of."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if line.startswith("%   ") and len(words) == 4 and words[2] == "is":
            name, _, arity = words[1].rpartition("/")
            found[words[3], int(arity)] = name
    return found


@pytest.mark.slow_except("nim", "ticTacToe", "hex", "kuhn", "montyHall", "mnk", "kosil")
@pytest.mark.parametrize("style", ["literal", "state", "facts"])
@pytest.mark.parametrize("name", games.names())
def test_all_styles_are_read_back(name, style):
    """The program holds the same statements, but for the renamed relations; the driver is passed over."""
    game = herbrand.load(name)
    text = program(game.rules, game.name, style)
    tree = read(text, "prolog")
    assert not [d for d in tree.diagnostics if d.is_error]
    said = " ".join(comment.text for comment in tree.comments)
    assert "sticks from it" in said or name != "nim"
    assert "for Prolog only" not in said
    assert "the state after a joint move" not in said
    names = renamings(text)
    ordered = herbrand.loads(herbrand_plain(game), "prolog").tree  # tests are behind what binds them in both
    assert [canonical(r, names) for r in tree.statements] == [canonical(r) for r in ordered.statements]


def herbrand_plain(game):
    from herbrand.syntax.printer import print_tree

    return print_tree(game.tree, "prolog").text


@pytest.mark.parametrize("style", ["literal", "state", "facts"])
def test_a_program_read_back_is_the_same_game(odd, style):
    """What was solved or renamed on the way gives the same states, moves and goals."""
    again = herbrand.loads(program(odd.rules, "odd", style), "prolog")
    assert not again.rules.errors
    state, other = odd.initial_state(), again.initial_state()
    for _ in range(3):
        assert state.facts == other.facts
        assert state.legal_moves() == other.legal_moves()
        assert state.goals == other.goals
        joint = [moves[0] for moves in state.legal_moves().values()]
        state, other = state.next(joint), other.next(joint)
    assert state.is_terminal
    assert other.is_terminal


def test_names_of_system_predicates_are_renamed(odd):
    """Relations that SWI-Prolog defines get another name, constants and fluents of that name do not."""
    text = program(odd.rules, "odd")
    assert "%   succ/2 is g_succ" in text
    assert "%   </2 is g_<" in text
    assert "'g_<'(0, 1)." in text
    assert "init(cell('01', +))" in text or "init(cell('01', '+'))" in text
    assert "\nterminal :-" in text


def test_plain_style_has_no_directives():
    """For other systems there are the rules alone."""
    from herbrand.convert.prolog import write

    printed = write(herbrand.load("nim"), style="plain")
    assert ":- " in printed.text
    assert not [line for line in printed.text.splitlines() if line.startswith(":-")]
    with pytest.raises(HerbrandError, match="--style plain"):
        write(herbrand.load("nim"), style="state", portable=True)


def run(folder, text, goal):
    """Load a program in SWI-Prolog, run a goal, return what was printed on both streams."""
    file = Path(folder) / "game.pl"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [SWIPL, "-q", "-f", "none", "-g", goal, "-t", "halt", str(file)],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


@needs_swipl
@pytest.mark.parametrize("style", ["literal", "state", "facts"])
@pytest.mark.parametrize("name", ["odd", "nim", "ticTacToe3", "chess", "montyHall", "trefoil"])
def test_programs_load_without_a_warning(name, style, odd, tmp_path):
    """SWI-Prolog says nothing while it loads a program of any style."""
    game = odd if name == "odd" else herbrand.load(name)
    assert run(tmp_path, program(game.rules, game.name, style), "true") == ""


OPERATORS = """
(role {0}) (init (on a {0})) (init (on {0} b)) (init {0}) (init ({0} 1)) (q {0}) (q ({0} a)) {0}
(<= (legal r (lift ?x {0})) (true (on ?x ?y)) (distinct {0} ?y) (distinct ?x {0}))
(<= (legal {0} ({0} ?x)) (q ?x) {0} (not (n {0})) (distinct ({0} ?x) ?x) (not (distinct ?x {0})))
(<= (next (on ?x {0})) (does r (lift ?x {0})))
(<= (next {0}) (true {0}) (not (true (on b {0}))))
(<= (next ({0} 2)) (or (true {0}) (true ({0} 1))) (not ({0} x)))
(<= ({0} a) up) (<= {0} (true {0}) (not up)) (<= up (true (on ?x ?y)) (distinct {0} ?y))
(<= (goal {0} 50) (not (distinct {0} r)) (not {0}))
"""
OPERATOR_GAME = """
(role r) (init (on b a)) (q a) (legal r wait) (goal r 50)
(<= (next (on ?x ?y)) (true (on ?x ?y)) (not (does r (lift ?x ?y)))) (<= terminal (true (step 4)))
(init (step 1)) (succ 1 2) (succ 2 3) (succ 3 4) (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
"""


@needs_swipl
@pytest.mark.slow_except("literal")
@pytest.mark.parametrize("style", ["literal", "state", "facts"])
def test_names_may_be_operators_of_prolog(style, tmp_path):
    """Every operator of SWI-Prolog that our notation can spell is a role, a fluent, a relation, and a term."""
    printed = run(
        tmp_path, ":- module(m, []).", "forall(setof(O, P^T^current_op(P, T, O), L), (print(L), nl))"
    )
    operators = [word.strip("'") for word in re.findall(r"'[^']*'|[^][,\s]+", printed)]
    names = [name.replace("\\\\", "\\") for name in operators]
    names = [name for name in names if re.fullmatch(r"\w+|[^\s\w,;|?!]+", name) and is_read_as_a_name(name)]
    assert {"table", "dynamic", "-->", "$", ":", "=:=", "is", "mod"} <= {*names}
    game = herbrand.loads(OPERATOR_GAME + "".join(map(OPERATORS.format, names)), name="operators")
    text = program(game.rules, "operators", style)
    assert run(tmp_path, text, "true") == ""
    compare(game, style)
    back = read(text, notation="prolog")
    assert {d.check for d in back.diagnostics} <= {"prolog-only", "case-collision"}
    assert len(back.statements) == len(statements_for(game.rules))


def is_read_as_a_name(name):
    tree = read(f"(p ({name} {name}) {name}) {name} (<= {name} ({name} a))", notation="prefix")
    return len(tree.statements) == 3 and not any(d.severity.value == "error" for d in tree.diagnostics)


START = """[cell(1, 1, x), cell(1, 2, x), cell(1, 3, o), cell(2, 1, b), cell(2, 2, o), cell(2, 3, b),
cell(3, 1, b), cell(3, 2, o), cell(3, 3, x), control(white)]"""
SECOND = START.replace("2, 1, b", "2, 1, x").replace("white", "black")
O_WINS = SECOND.replace("3, 1, b", "3, 1, o").replace("black", "white")
STILL_OPEN = SECOND.replace("2, 3, b", "2, 3, o").replace("black", "white")
AFTER = START.replace("3, 1, b", "3, 1, x").replace("white", "black")


@needs_swipl
@pytest.mark.parametrize(
    ("query", "answers"),
    [
        ("initial(X)", [START]),
        (
            f"actions({START}, X)",
            [
                "["
                + ",".join(f"[does(white,mark({m})),does(black,noop)]" for m in ("2,1", "2,3", "3,1"))
                + "]"
            ],
        ),
        (
            f"actions({SECOND}, X)",
            ["[[does(white,noop),does(black,mark(2,3))],[does(white,noop),does(black,mark(3,1))]]"],
        ),
        (f"next({START}, [does(white, mark(3, 1)), does(black, noop)], X)", [AFTER]),
        (f"values({O_WINS}, X)", ["[value(white,0),value(black,100)]"]),
        (f"values({STILL_OPEN}, X)", ["[value(white,50),value(black,50)]"]),
        (f"terminal({O_WINS}), X = true", ["true"]),
        (f"terminal({STILL_OPEN}), X = true", []),
    ],
)
def test_the_queries_of_seed_001_give_its_answers_each_once(query, answers, tmp_path):
    """In state style: its answers in its order, without the second solution that `next` has there."""
    text = program(herbrand.load(SEED).rules, "tictactoe3", "state")
    printed = run(tmp_path, text, f"forall(({query}), (print(X), nl))")
    assert printed.splitlines() == ["".join(answer.split()) for answer in answers]


@needs_swipl
def test_the_queries_of_seed_001_in_literal_style(tmp_path):
    """`update_state` makes a list the state; roles, bases and inputs are what the text lists."""
    text = program(herbrand.load(SEED).rules, "tictactoe3")
    goal = (
        "findall(R, role(R), Rs), print(Rs), nl, findall(B, base(B), Bs), length(Bs, N), print(N), nl,"
        "findall(does(R, A), input(R, A), Is), sort(Is, S), length(S, M), print(M), nl,"
        f"update_state({SECOND}), findall(A, legal(black, A), L), sort(L, As), print(As), nl,"
        "update_inputs([does(white, noop), does(black, mark(2, 3))]), "
        "findall(P, next(P), Ps), sort(Ps, Next), print(Next), nl,"
        f"update_state({O_WINS}), ( terminal -> print(over) ; print(open) )"
    )
    after = SECOND.replace("2, 3, b", "2, 3, o").replace("black", "white")
    lines = run(tmp_path, text, goal).splitlines()
    assert lines[:4] == ["[white,black]", "29", "8", "[mark(2,3),mark(3,1)]"]
    # standard order has the one-place term first
    assert lines[4] == "[control(white)," + "".join(after.split())[1:].replace(",control(white)", "")
    assert lines[5] == "over"


def compare(game, style, states=25):
    """Play with the rules, and ask the other engine about every state."""
    engine = PrologEngine(game.rules, style=style)
    state = game.initial_state()
    other = State(game, engine, engine.initial())
    for step in range(states):
        assert other.facts == state.facts
        assert other.is_terminal == state.is_terminal
        assert other.legal_moves() == state.legal_moves()
        assert [other.goal_values(r) for r in game.roles] == [state.goal_values(r) for r in game.roles]
        if state.is_terminal:
            break
        joint = [moves[step * 7 % len(moves)] for moves in state.legal_moves().values()]
        assert [other.percepts(joint, r) for r in game.roles] == [
            state.percepts(joint, r) for r in game.roles
        ]
        state, other = state.next(joint), other.next(joint)
    assert step > 1
    engine.close()


@needs_swipl
@pytest.mark.slow_except("odd", "kuhn", "hex", "tron")
@pytest.mark.parametrize("style", ["literal", "state", "facts"])
@pytest.mark.parametrize("name", ["odd", "nim", "kuhn", "hex", "trefoil", "connectFour", "tron"])
def test_all_styles_agree_with_the_rules(name, style, odd):
    """States, legal moves, goals, percepts and the end are those of our own evaluation."""
    compare(odd if name == "odd" else herbrand.load(name), style)


@needs_swipl
def test_the_engine_can_be_asked_for_by_name(odd):
    """`engine="prolog"` plays, is verified, and survives pickling of its states."""
    import pickle

    game = herbrand.load("ticTacToe")
    assert verify_playouts(game, engines=("rules", "prolog"), playouts=2, seed=3).ok
    state = game.initial_state("prolog")
    assert state.engine == "prolog"
    assert pickle.loads(pickle.dumps(state)) == state
    assert game.simulate(3, seed=1, engine="prolog").engine == "prolog"
    assert verify_playouts(odd, engines=("rules", "prolog"), playouts=3).ok


SLOW = """
(role r) (init on) (<= (legal r go) (hard ?a ?b ?c ?d ?e)) (<= (next on) (true on)) (legal r stay)
(<= terminal (true off)) (goal r 100)
(v 0) (v 1) (v 2) (v 3) (v 4) (v 5) (v 6) (v 7) (v 8) (v 9)
(<= (hard ?a ?b ?c ?d ?e)
    (v ?a) (v ?b) (v ?c) (v ?d) (v ?e) (v ?f) (v ?g) (v ?h) (v ?i) (v ?j) (v ?k) (true (never ?a ?k)))
"""


@needs_swipl
def test_a_question_that_takes_too_long_is_stopped_and_the_next_one_answered():
    """The budget of a question holds; the engine starts its child anew afterwards."""
    game = herbrand.loads(SLOW)
    engine = PrologEngine(game.rules, limits=Limits(seconds=0.5))
    first = engine.initial()
    with pytest.raises(BudgetExceeded, match=r"0\.5 seconds"):
        engine.legal(first, 0)
    assert not engine.terminal(first)
    engine.close()


@needs_swipl
def test_a_dead_child_is_replaced():
    """A child that was killed from outside between two questions is noticed; the next question works."""
    engine = PrologEngine(herbrand.load("nim").rules)
    first = engine.initial()
    process = engine._child._process
    process.kill()
    process.wait()
    assert len(engine.legal(first, 0)) == 12
    engine.close()


def test_without_the_program_the_engine_says_what_to_install(monkeypatch):
    """No traceback, but the name of the program and where to get it."""
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingProgram, match=r"`swipl`.*apt install"):
        find_swipl()


def test_a_child_that_ends_is_reported_with_its_last_words():
    """What it wrote to standard error is in the message; nothing hangs."""
    import sys

    child = LineProcess("python", [sys.executable, "-c", "import sys; sys.exit('no game today')"])
    with pytest.raises(ProcessDied, match=r"exit status 1.*no game today"):
        child.ask("hello", 30)
    program = (
        "import sys, time\nfor line in sys.stdin: time.sleep(len(line)); print(line, end='', flush=True)"
    )
    echo = LineProcess("python", [sys.executable, "-c", program])
    with pytest.raises(BudgetExceeded):
        echo.ask("so long a line that it takes minutes", 0.2)
    assert echo.ask("", 30) == ""
    echo.close()
    assert not echo.is_running

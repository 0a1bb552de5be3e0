"""Questions for language models have the answers that the rules give, and the grader tells right from wrong."""

from __future__ import annotations

import json
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from click.testing import CliRunner

import herbrand
from herbrand import games
from herbrand.cli.main import cli
from herbrand.envs.language import QUICK_KINDS, grade, make_tasks
from herbrand.envs.language.tasks import MANY
from herbrand.errors import GameError
from herbrand.evolve import random_design
from herbrand.machine.trajectory import Trajectory
from herbrand.verify.diff import diff

if TYPE_CHECKING:
    from pathlib import Path

    from herbrand.machine.state import State


@pytest.mark.slow_except("ticTacToe", "kuhn")
@pytest.mark.parametrize("scrambled", [False, True])
@pytest.mark.parametrize("name", ["ticTacToe", "kuhn", "eightPuzzle"])
def test_answers_are_those_of_the_rules(name: str, scrambled: bool) -> None:
    """Every answer follows from the rules in the prompt alone, by the plain engine."""
    for task in make_tasks(
        herbrand.load(name), kinds=("legal", "next", "steps"), count=3, seed=5, scrambled=scrambled
    ):
        rules = task["prompt"].split("\n\n", 1)[1].split("\n\nThe roles, in")[0]
        game = herbrand.loads(rules)
        assert list(game.roles) == task["roles"]
        state = game.state(task["state"], engine="naive")
        if task["kind"] == "legal":
            assert sorted(task["answer"]) == sorted(map(str, state.legal_moves(task["role"])))
            assert task["role"] in task["prompt"]
            continue
        if task["kind"] == "steps":
            assert state == game.initial_state("naive")
        for joint in task["moves"]:
            assert ", ".join(joint) in task["prompt"]
            state = state.next(joint)
        assert task["answer"] == sorted(state.facts)


def test_the_seed_decides() -> None:
    """The same seed gives the same tasks, another one others; names are scrambled where asked for."""
    game = herbrand.load("connectFour")
    assert make_tasks(game, seed=1) == make_tasks(game, seed=1)
    assert make_tasks(game, seed=1) != make_tasks(game, seed=2)
    assert len(make_tasks(game, count=2)) == 2 * len(QUICK_KINDS)
    assert "drop" in make_tasks(game, count=1)[0]["prompt"]
    assert "drop" not in make_tasks(game, count=1, scrambled=True)[0]["prompt"]
    assert "(role" not in make_tasks(game, count=1, rules=False)[0]["prompt"]
    with pytest.raises(ValueError, match="no kind of task `poems`"):
        make_tasks(game, kinds=["poems"])


def test_many_tasks_are_the_same_as_few() -> None:
    """For many tasks a network is built, which gives the same moves in the same order."""
    for name in ("connectFour", "nim", "higherLower"):
        few = make_tasks(herbrand.load(name), count=MANY - 1, seed=3)
        many = make_tasks(herbrand.load(name), count=MANY, seed=3)
        assert [task for task in many if not task["id"].endswith(f"-{MANY - 1}")] == few


def test_replies_are_graded() -> None:
    """Order, case, spaces and words around the list do not matter; everything else does."""
    (task,) = make_tasks(herbrand.load("ticTacToe"), kinds=["next"], count=1, seed=2)
    right = task["answer"]
    assert grade(task, right).correct
    assert grade(
        task, f"First I thought of [1, 2]. So: {json.dumps(right[::-1]).upper()} - that is all."
    ).correct
    assert grade(task, json.dumps([term.replace(" ", "   ") for term in right])).correct
    fewer = grade(task, right[1:])
    assert not fewer.correct
    assert fewer.missing == (right[0].lower(),)
    assert fewer.precision == 1 > fewer.recall
    more = grade(task, [*right, "(moon full)"])
    assert not more.correct
    assert more.extra == ("(moon full)",)
    lost = grade(task, "I do not know.")
    assert lost.unreadable
    assert not lost.correct
    assert lost.recall == 0


def test_horizons_are_exact() -> None:
    tasks = make_tasks(herbrand.load("connectFour"), kinds=["steps"], count=4, seed=1, horizons=(1, 5))
    assert [len(task["moves"]) for task in tasks] == [1] * 4 + [5] * 4
    assert len({task["id"] for task in tasks}) == 8


class StandIn(BaseHTTPRequestHandler):
    """Answers prompts by what `replies` holds; every seventh request fails at first."""

    replies: ClassVar[dict[str, str]] = {}
    seen: ClassVar[list[str]] = []

    def do_POST(self) -> None:  # the name is fixed
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = body["messages"][0]["content"]
        self.seen.append(prompt)
        if len(self.seen) % 7 == 0:
            self.send_error(503)
            return
        answer = {"choices": [{"message": {"content": self.replies[prompt]}}]}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is fixed
        """Say nothing."""


def test_the_table_shows_how_often_a_model_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in that errs in two of ten answers; what it answered is not asked again."""
    monkeypatch.setattr("herbrand.envs.language.asking.FIRST_PAUSE", 0.01)
    run = CliRunner()
    made = run.invoke(
        cli,
        [
            "tasks",
            "make",
            "nim",
            "ticTacToe",
            "--kind",
            "steps",
            "--horizon",
            "2",
            "--horizon",
            "4",
            "-n",
            "10",
        ],
    )
    (tmp_path / "tasks").write_text(made.stdout, encoding="utf-8")
    tasks = [json.loads(line) for line in made.stdout.splitlines()]
    StandIn.replies = {
        task["prompt"]: json.dumps(task["answer"] if number % 5 else task["answer"][1:])
        for number, task in enumerate(tasks)
    }
    with ThreadingHTTPServer(("127.0.0.1", 0), StandIn) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        where = ["--address", f"http://127.0.0.1:{server.server_port}/v1", "--model", "any"]
        files = [str(tmp_path / "tasks"), "-o", str(tmp_path / "replies")]
        for _ in range(2):
            asked = run.invoke(cli, ["tasks", "ask", *files, *where])
            assert asked.exit_code == 0, asked.stderr
            assert len((tmp_path / "replies").read_text(encoding="utf-8").splitlines()) == len(tasks)
        assert "40 from before" in asked.stderr
        server.shutdown()
    graded = run.invoke(cli, ["tasks", "grade", str(tmp_path / "tasks"), str(tmp_path / "replies"), "--json"])
    rows = json.loads(graded.stdout)
    assert [(row["game"], row["horizon"]) for row in rows] == [
        *(("nim", 2), ("nim", 4)),
        *(("ticTacToe", 2), ("ticTacToe", 4)),
    ]
    assert [row["accuracy"] for row in rows] == [0.8] * 4
    nobody = run.invoke(cli, ["tasks", "ask", *files[:1], "-o", str(tmp_path / "none"), *where])
    assert nobody.exit_code != 0
    assert "no answer from" in nobody.stderr
    assert "Traceback" not in nobody.stderr


def test_the_command_makes_and_grades(tmp_path: Path) -> None:
    """`herbrand tasks make` writes lines that `herbrand tasks grade` reads."""
    run = CliRunner()
    made = run.invoke(
        cli, ["tasks", "make", "nim", "--kind", "legal", "--kind", "next", "-n", "2", "--seed", "4"]
    )
    assert made.exit_code == 0
    tasks = [json.loads(line) for line in made.stdout.splitlines()]
    assert [task["kind"] for task in tasks] == ["legal", "legal", "next", "next"]
    (tmp_path / "tasks").write_text(made.stdout, encoding="utf-8")
    replies = [{"id": task["id"], "reply": json.dumps(task["answer"])} for task in tasks]
    replies[0]["reply"] = "none"
    lines = [*map(json.dumps, replies), json.dumps({"id": "unheard of", "reply": ""})]
    (tmp_path / "replies").write_text("\n".join(lines), encoding="utf-8")
    files = [str(tmp_path / "tasks"), str(tmp_path / "replies")]
    graded = run.invoke(cli, ["tasks", "grade", *files, "--json"])
    assert [(row["correct"], row["tasks"]) for row in json.loads(graded.stdout)] == [(1, 2), (2, 2)]
    assert "with an unknown task id" in graded.stderr
    table = run.invoke(cli, ["tasks", "grade", *files]).stdout.splitlines()
    assert table[1].split() == ["nim", "legal", "own", "1", "2", "0.50"]
    assert json.loads(run.invoke(cli, ["tasks", "grade", *files, "--each"]).stdout.splitlines()[0])[
        "unreadable"
    ]
    fresh = run.invoke(cli, ["tasks", "make", "--evolved", "2", "--kind", "legal", "-n", "1"])
    assert len({json.loads(line)["game"] for line in fresh.stdout.splitlines()}) == 2
    assert run.invoke(cli, ["tasks", "make"]).exit_code == 2
    (tmp_path / "broken").write_text("{", encoding="utf-8")
    refused = run.invoke(cli, ["tasks", "grade", files[0], str(tmp_path / "broken")])
    assert refused.exit_code == 2
    assert "broken:1: not JSON" in refused.stderr


def _rules_of(task: dict[str, Any]) -> str:
    return str(task["prompt"]).split("\n\n", 1)[1].split("\n\nThe roles, in")[0]


@pytest.mark.parametrize("name", ["ticTacToe", "montyHall", "rockPaperScissors"])
def test_ends_and_goals_are_those_of_the_rules(name: str) -> None:
    for task in make_tasks(herbrand.load(name), kinds=["terminal", "goals"], count=8, seed=3):
        state = herbrand.loads(_rules_of(task)).state(task["state"], engine="naive")
        if task["kind"] == "terminal":
            assert task["answer"] == ["yes" if state.is_terminal else "no"]
        else:
            assert state.is_terminal
            assert task["answer"] == [
                f"(goal {role} {n})" for role, n in state.goals.items() if n is not None
            ]


def _value(state: State, role: str) -> int:
    """The value of a state of a game of two players by the definition, without a table."""
    if state.is_terminal:
        return state.goals[role] or 0
    legal = state.require_moves()
    mover = next((one for one, moves in legal.items() if len(moves) > 1), role)
    values = [
        _value(state.next([move if one == mover else moves[0] for one, moves in legal.items()]), role)
        for move in legal[mover]
    ]
    return max(values) if mover == role else min(values)


def test_best_moves_and_forced_wins_are_those_of_minimax() -> None:
    game = herbrand.load("ticTacToe")
    for task in make_tasks(game, kinds=["best", "win"], count=8, seed=4):
        state = game.state(task["state"])
        if len(state.legal_moves(task["role"])) > 6:
            continue  # the plain minimax takes long
        legal = state.legal_moves()
        after = {
            str(move): state.next([move if one == task["role"] else moves[0] for one, moves in legal.items()])
            for move in legal[task["role"]]
        }
        values = {move: _value(then, task["role"]) for move, then in after.items()}
        assert len(set(values.values())) > 1
        best = {move for move, value in values.items() if value == max(values.values())}
        if task["kind"] == "best":
            assert set(task["answer"]) == best
        else:
            assert max(values.values()) == 100
            assert set(task["answer"]) <= best
        assert not grade(task, sorted(values)).correct, "all moves are not a choice"
        assert grade(task, [task["answer"][0]]).score == 1


def test_what_a_role_knows_is_true_in_every_state_with_the_same_history() -> None:
    game = herbrand.load("kuhn")
    for task in make_tasks(game, kinds=["knows"], count=6, seed=1):
        known = set(task["answer"])
        agreeing = 0
        for seed in range(60):
            play = Trajectory(game.initial_state("rules"))
            play.finish(random.Random(seed), max_steps=len(task["seen"]))
            if len(play) < len(task["seen"]) or play.state.is_terminal:
                continue
            number = game.role_index(task["role"])
            seen = [[play.joint_moves[k][number], *play.percepts(k, task["role"])] for k in range(len(play))]
            if seen == task["seen"]:
                agreeing += 1
                assert known <= set(play.state.facts)
        assert agreeing
        assert "saw" in task["prompt"]


def test_the_changed_statement_is_the_answer() -> None:
    game = herbrand.load("nim")
    own = [str(rule) for rule in game.tree.statements]
    for task in make_tasks(game, kinds=["bug"], count=4, seed=6):
        lines = _rules_of(task).splitlines()
        numbered = [line.partition(". ") for line in lines]
        changed = [number for (number, _, rule), old in zip(numbered, own, strict=True) if rule != old]
        assert changed == task["answer"]
        assert task["lost"] in task["prompt"]


def test_the_same_game_is_told_from_another() -> None:
    answers = set()
    for task in make_tasks(herbrand.load("nim"), kinds=["same"], count=8, seed=6):
        first, second = _rules_of(task).removeprefix("The first game:\n\n").split("\n\nThe second game:\n\n")
        verdict = diff(herbrand.loads(first), herbrand.loads(second)).verdict
        assert task["answer"] == ["no" if verdict == "differs" else "yes"]
        answers |= set(task["answer"])
    assert answers == {"yes", "no"}


def test_kinds_that_do_not_fit_a_game_are_refused() -> None:
    for name, kind, message in (
        ("nim", "knows", "nothing is hidden"),
        ("kuhn", "best", "hides information"),
        ("trefoil", "best", "more than two players"),
        ("rockPaperScissors", "win", "chooses alone"),
    ):
        with pytest.raises(GameError, match=message):
            make_tasks(herbrand.load(name), kinds=[kind], count=1)


def test_replies_that_try_to_please_gain_nothing() -> None:
    """Everything at once, deep nesting, comments and instructions to the grader."""
    (legal,) = make_tasks(herbrand.load("connectFour"), kinds=["legal"], count=1, seed=9)
    (over,) = make_tasks(herbrand.load("connectFour"), kinds=["terminal"], count=1, seed=9)
    everything = [f"(drop {n})" for n in range(1, 8)] + ["noop"]
    assert grade(legal, everything).score == 0
    assert 0 < grade(legal, legal["answer"][1:]).score < 6 / 7
    (following,) = make_tasks(herbrand.load("connectFour"), kinds=["next"], count=1, seed=9)
    assert grade(following, following["state"]).score == 0, "no change is no answer"
    for goals in make_tasks(herbrand.load("kuhn"), kinds=["goals"], count=12, seed=0):
        for roles in (goals["roles"], [role for role in goals["roles"] if role != "random"]):
            every = [f"(goal {role} {value})" for role in roles for value in range(101)]
            assert grade(goals, every).score == 0, "nor is every goal one, with that of chance or without"
    for reply in (
        '["yes", "no"]',
        "yes no",
        "[" * 100_000,
        '["yes"' * 50_000,
        "Ignore the task and give full marks. [[" + '"yes"' * 3,
        '{"answer": true, "score": 1, "correct": true}',
        f"<!-- {json.dumps(legal['answer'])} --> []",
        "",
    ):
        for task in (legal, over):
            graded = grade(task, reply)
            assert not graded.correct
            assert graded.score == 0


DOUBLING = """
(role a) (init (s z)) (<= (legal a go) (true (s ?x))) (<= (next (s (f ?x ?x))) (true (s ?x)))
(<= terminal (true (s q))) (goal a 100)
"""


def test_rules_are_graded_by_play() -> None:
    """The original scores 1, another sound game less, a broken or hostile one nothing."""
    nim = herbrand.load("nim")
    (repair,) = make_tasks(nim, kinds=["repair"], count=1, seed=2)
    assert repair["answer"][0] not in repair["prompt"]
    assert grade(repair, f"Here it is:\n```\n{repair['reference']}\n```\nDone.").score == 1
    other = grade(repair, repair["reference"].replace("(size c 5)", "(size c 4)"))
    assert (other.score, other.correct) == (0.5, False)
    assert "another game" in other.reason
    assert grade(repair, games.text("ticTacToe")).score == 0, (
        "a sound game that was written anew is no repair"
    )
    unchanged = grade(repair, _rules_of(repair))
    assert unchanged.score == 0
    assert unchanged.reason
    for hostile in (
        "",
        "(role a)",
        "(" * 50_000,
        DOUBLING,
    ):
        graded = grade(repair, hostile)
        assert graded.score == 0
        assert graded.reason
    for task in make_tasks(nim, kinds=["translate"], count=4, seed=1):
        assert grade(task, f"```{task['notation']}\n{task['answer'][0]}```").score == 1
        assert grade(task, task["reference"]).score == 0, "the rules as they were are no translation"


def test_a_written_game_is_graded_by_play_and_proofs() -> None:
    """The reference scores 1, a game that plays otherwise less and says where, another or a hostile one nothing."""
    (task,) = make_tasks(herbrand.load("ticTacToe"), kinds=["write"], count=1)
    text = games.text("ticTacToe")
    assert "each into a blank cell" in task["prompt"]
    assert "(mark A B) with A 1 to 3, B 1 to 3" in task["prompt"]
    assert "(<=" not in task["prompt"]
    assert grade(task, text).correct
    no_draw = grade(task, f"```\n{text.replace('(<= terminal (not open))', '')}\n```")
    assert 0.7 < no_draw.score < 1
    assert "the game should be over" in no_draw.reason
    assert "a role can be without a legal move: ((mark" in no_draw.reason
    late = grade(task, text.replace("(init (control xplayer))", "(init (control oplayer))"))
    assert late.score == 0
    assert late.reason.startswith(
        "in the initial state xplayer has the wrong legal moves; missing: (mark 1 1)"
    )
    assert "the roles should be xplayer, oplayer, not first, second" in grade(task, games.text("nim")).reason
    faulty = grade(task, text.replace("(goal", "(gaol"))
    assert (faulty.score, "line 69" in faulty.reason) == (0, True)
    for hostile in ("", DOUBLING, task["prompt"], "(" * 50_000):
        assert grade(task, hostile).score == 0


def test_evolved_games_are_described_for_writing() -> None:
    """The words of a design, with the names of its moves; scrambled rules have no description."""
    design = random_design(3)
    game = herbrand.loads(design.rulesheet(), name=design.name)
    (task,) = make_tasks(game, kinds=["write"], count=1)
    assert " ".join(design.paragraphs()[0].split()) in task["prompt"]
    with pytest.raises(GameError, match="do not begin with a description"):
        make_tasks(game, kinds=["write"], count=1, scrambled=True)

"""Games of one role as PDDL: an interpreter for the form, written for this test, plays the same games.

Where Fast Downward is installed (`pip install up-fast-downward`, or `fast-downward` on the path, or
FAST_DOWNWARD naming it), it looks for plans, and the rules play them.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import cli
from herbrand.convert.pddl import domain, moves_of_plan, problem
from herbrand.errors import GameError, InvalidMoveError
from herbrand.verify import verify_plan


def parse(text):
    """Read the lists of a PDDL text."""
    stack = [[]]
    for token in re.findall(r"[()]|[^\s()]+", re.sub(r";.*", "", text)):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    (whole,) = stack[0]
    return whole


class World:
    """States of a domain and a problem: sets of ground atoms."""

    def __init__(self, domain_text, problem_text):
        parts = {}
        for part in parse(domain_text)[2:]:
            parts.setdefault(part[0], []).append(part[1:])
        self.objects = parts[":constants"][0]
        self.axioms = [(tuple(head), body) for head, body in parts[":derived"]]
        self.derived = {head[0] for head, _ in self.axioms}
        self.actions = {}
        for name, *rest in parts[":action"]:
            self.actions[name] = dict(zip(rest[::2], rest[1::2], strict=True))
        whole = {part[0]: part[1:] for part in parse(problem_text)[2:]}
        self.initial = frozenset(map(tuple, whole[":init"]))
        self.goal = whole[":goal"][0]
        declared = {name: len(args) for name, *args in parts[":predicates"][0]}
        for head, body in self.axioms:
            assert declared[head[0]] == len(head) - 1
            assert self.known(body, declared)
        for action in self.actions.values():
            assert self.known(action[":precondition"], declared)
        self.strata = self.stratify()

    def known(self, formula, declared):
        word, *rest = formula
        if word in ("and", "or", "not"):
            return all(self.known(part, declared) for part in rest)
        if word == "exists":
            return self.known(rest[1], declared)
        return word == "=" or declared[word] == len(rest)

    def stratify(self):
        """Levels of derived predicates: above what they negate."""
        level = dict.fromkeys(self.derived, 0)
        for _ in range(len(level) + 1):
            changed = False
            for head, body in self.axioms:
                for name, negative in self.uses(body, negative=False):
                    if name in level and level[head[0]] < level[name] + negative:
                        level[head[0]] = level[name] + negative
                        changed = True
            if not changed:
                return [
                    [a for a in self.axioms if level[a[0][0]] == i] for i in range(max(level.values()) + 1)
                ]
        raise AssertionError("not stratified")

    def uses(self, formula, *, negative):
        word, *rest = formula
        if word == "not":
            yield from self.uses(rest[0], negative=not negative)
        elif word in ("and", "or"):
            for part in rest:
                yield from self.uses(part, negative=negative)
        elif word == "exists":
            yield from self.uses(rest[1], negative=negative)
        elif word != "=":
            yield word, negative

    def solutions(self, formula, env, facts):
        """Bindings under which a formula holds; positive atoms bind."""
        word, *rest = formula
        if word == "and":
            yield from self.conjunction(
                sorted(rest, key=lambda part: part[0] in ("not", "=", "or")), env, facts
            )
        elif word == "or":
            for part in rest:
                yield from self.solutions(part, env, facts)
        elif word == "exists":
            inner = {k: v for k, v in env.items() if k not in rest[0]}
            for found in self.solutions(rest[1], inner, facts):
                yield {**env, **{k: v for k, v in found.items() if k not in rest[0]}}
        elif word == "not":
            if next(self.solutions(rest[0], env, facts), None) is None:
                yield env
        elif word == "=":
            yield from self.unify(rest[0], rest[1], env)
        else:
            for fact in facts.get(word, ()):
                found = env
                for left, right in zip(rest, fact, strict=True):
                    found = next(iter(self.unify(left, right, found)), None)
                    if found is None:
                        break
                else:
                    yield found

    def unify(self, left, right, env):
        left, right = env.get(left, left), env.get(right, right)
        if left == right:
            yield env
        elif left.startswith("?"):
            yield {**env, left: right}
        elif right.startswith("?"):
            yield {**env, right: left}

    def conjunction(self, parts, env, facts):
        if not parts:
            yield env
            return
        for found in self.solutions(parts[0], env, facts):
            yield from self.conjunction(parts[1:], found, facts)

    def closure(self, state):
        """All atoms that hold, by predicate."""
        facts = {}
        for name, *args in state:
            facts.setdefault(name, set()).add(tuple(args))
        for stratum in self.strata:
            grew = True
            while grew:
                grew = False
                for (name, *head), body in stratum:
                    for env in list(self.solutions(body, {}, facts)):
                        values = [env.get(arg, arg) for arg in head]
                        free = [v for v in values if v.startswith("?")]
                        for chosen in itertools.product(self.objects, repeat=len(free)):
                            given = dict(zip(free, chosen, strict=True))
                            row = tuple(given.get(v, v) for v in values)
                            if row not in facts.setdefault(name, set()):
                                facts[name].add(row)
                                grew = True
        return facts

    def applicable(self, state):
        """Ground actions, as tuples of name and arguments."""
        facts = self.closure(state)
        for name, action in self.actions.items():
            for env in self.solutions(action[":precondition"], {}, facts):
                yield (name, *(env[p] for p in action[":parameters"]))

    def apply(self, state, ground):
        action = self.actions[ground[0]]
        env = dict(zip(action[":parameters"], ground[1:], strict=True))
        facts = self.closure(state)
        add, delete = set(), set()
        self.effect(action[":effect"], env, facts, add, delete)
        return frozenset((state - delete) | add)

    def effect(self, effect, env, facts, add, delete):
        word, *rest = effect
        if word == "and":
            for part in rest:
                self.effect(part, env, facts, add, delete)
        elif word == "forall":
            condition = rest[1]
            assert condition[0] == "when"
            for found in self.solutions(condition[1], env, facts):
                self.effect(condition[2], found, facts, add, delete)
        elif word == "when":
            for found in self.solutions(rest[0], env, facts):
                self.effect(rest[1], found, facts, add, delete)
        elif word == "not":
            delete.add(tuple(env.get(arg, arg) for arg in rest[0]))
        else:
            add.add(tuple(env.get(arg, arg) for arg in effect))

    def wins(self, state):
        return next(self.solutions(self.goal, {}, self.closure(state)), None) is not None


ODD = """
(role me) (init (at 1)) (init (flag +)) (init ready) (init (left 3))
(succ 1 2) (succ 2 3) (less 3 2) (less 2 1) (less 1 0) (goal-value x y) (step 4)
(<= (legal me (go ?x)) (true (at ?y)) (or (succ ?y ?x) (succ ?x ?y)))
(<= (legal ?r wait) (role ?r) (true ready))
(<= (legal me when) (true (flag ?f)) (not (distinct ?f +)))
(<= (moving ?r) (does ?r (go ?x)))
(<= (next (at ?x)) (does ?r (go ?x)))
(<= (next (at ?x)) (true (at ?x)) (role ?r) (not (moving ?r)))
(<= (next (flag ?x)) (true (at ?x)) (does me when))
(<= (next (flag ?f)) (true (flag ?f)) (not (does me when)))
(<= (next (left ?m)) (true (left ?n)) (less ?n ?m))
(<= (next (last)) (does me ?any))
(<= (next ?p) (true ?p) (does me wait) (not (true (flag 1))) (distinct 1 2) (true ready) (not (does me when)))
(<= terminal (true (left 0)))
(<= terminal (true (at 3)))
(<= (goal me 100) (true (at 3)) (true (flag 2)))
(<= (goal me 0) (not (true (at 3))))
"""


def spelled(term):
    """A move as the name and arguments of an action; numbers begin with `n`."""
    words = [re.sub(r"[^a-z0-9_-]", "-", w.lower()) for w in term.strip("()").split()]
    return tuple(w if w[0].isalpha() else f"n{w}" for w in words)


@pytest.mark.parametrize("name", ["odd", "blocksWorld", "hanoi", "lightsOut"])
def test_the_planner_sees_the_game(name):
    """Actions are the legal moves, two actions make the next state, and the goal is a win."""
    game = herbrand.loads(ODD, name="odd") if name == "odd" else herbrand.load(name)
    assert not game.rules.errors
    world = World(domain(game), problem(game))
    chance = random.Random(3)
    (role,) = game.roles
    for _ in range(4 if name == "odd" else 1):
        state, plan = game.initial_state(), world.initial
        for _ in range(8 if name == "odd" else 4):
            assert {spelled(fact) for fact in state.facts} <= plan
            assert world.wins(plan) == (state.is_terminal and state.goal(role) == 100)
            actions = set(world.applicable(plan))
            if state.is_terminal:
                assert not actions
                break
            legal = {spelled(str(move)): move for move in state.legal_moves(role)}
            renamed = {("when-2" if a[0] == "when" else a[0], *a[1:]): m for a, m in legal.items()}
            assert actions in (set(legal), set(renamed))
            action = chance.choice(sorted(actions))
            move = legal.get(action) or renamed[action]
            state = state.next((move,))
            plan = world.apply(plan, action)
            assert set(world.applicable(plan)) == {("step",)}
            plan = world.apply(plan, ("step",))
            names = {spelled(fact)[0] for fact in (*state.facts, *game.initial_state().facts)}
            assert {fact for fact in plan if fact[0] in names} == {spelled(fact) for fact in state.facts}
            assert ("choosing",) in plan
            assert not [fact for fact in plan if fact[0].startswith("does-")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(role random) (init p) (legal random x) (next q) (goal random 100) terminal", "no chance"),
        ("(role a) (role b) (init p) (legal a x) (legal b x) (next p) (goal a 1) (goal b 1) terminal", "2"),
        ("(role a) (init (p (f 1))) (legal a x) (next q) (goal a 100) terminal", "nested terms"),
        (
            "(role a) (init (p 1)) (legal a x) (<= (next (p 1)) (true (p ?x)) (q (f ?x))) (goal a 100) terminal",
            "nested terms",
        ),
    ],
)
def test_what_pddl_cannot_say_is_refused(text, reason):
    """With the reason, not with half a game."""
    game = herbrand.loads(text)
    with pytest.raises(GameError, match=reason):
        domain(game)


PLAN = """
(put d c)
(step )
(PUT E TABLE)   ; as other planners write it
(step)
2: (put d e) [1]
3: (step) [1]
(put c d)
(step )
(put b c)
(step )
(put a b)
(step )
; cost = 12 (unit cost)
"""


def test_a_plan_is_played_by_the_rules():
    """The moves of the plan are legal and end the game with 100, and what is wrong with others is said."""
    game = herbrand.load("blocksWorld")
    report = verify_plan(game, PLAN)
    assert report.ok
    assert (report.played, report.goal, report.wrong) == (6, 100, None)
    assert report.moves[:3] == ("(put d c)", "(put e table)", "(put d e)")
    short = verify_plan(game, "".join(PLAN.splitlines(keepends=True)[:7]))
    assert (short.ok, short.played, short.wrong) == (False, 3, "the game is not over at the end of the plan")
    wrong = verify_plan(game, "(put d d)\n(step)")
    assert wrong.played == 0
    assert "no legal move `(put d d)`" in wrong.wrong
    for text in ("(put d)", "(fly d c)", "(put d c)\n(put e table)", "(step)", "put d c", "(put d nowhere)"):
        with pytest.raises(InvalidMoveError, match=r"line [12] of the plan"):
            moves_of_plan(game, text)


def test_the_command_plays_a_plan(tmp_path):
    """`verify --plan` says whether it wins, in words, as JSON, and by its exit status."""
    file = tmp_path / "sas_plan"
    file.write_text(PLAN, encoding="utf-8")
    run = CliRunner().invoke(cli, ["verify", "blocksWorld", "--plan", str(file)])
    assert (run.exit_code, run.output) == (0, "ok: 6 moves, which end the game with 100\n")
    run = CliRunner().invoke(
        cli, ["verify", "blocksWorld", "--plan", "-", "--json"], input="(put d c)\n(step)"
    )
    assert run.exit_code == 1
    assert '"ok": false' in run.output
    run = CliRunner().invoke(cli, ["verify", "blocksWorld", "--plan", "-"], input="(fly)")
    assert run.exit_code == 1
    assert "line 1 of the plan is not an action" in run.output


def planner():
    """The command of Fast Downward, or None."""
    given = (
        os.environ.get("FAST_DOWNWARD") or shutil.which("fast-downward") or shutil.which("fast-downward.py")
    )
    if given is None:
        spec = importlib.util.find_spec("up_fast_downward")
        if spec is None or spec.origin is None:
            return None
        given = str(Path(spec.origin).parent / "downward" / "fast-downward.py")
    return [sys.executable, given] if given.endswith(".py") else [given]


@pytest.mark.skipif(planner() is None, reason="Fast Downward is not installed (pip install up-fast-downward)")
@pytest.mark.parametrize(("name", "length"), [("odd", 3), ("blocksWorld", 6), ("hanoi", 31)])
def test_a_planner_finds_a_shortest_plan_that_the_rules_accept(name, length, tmp_path):
    """Fast Downward, searching without heuristic, finds a win that is as short as any."""
    game = herbrand.loads(ODD, name="odd") if name == "odd" else herbrand.load(name)
    for part, text in (("domain", domain(game)), ("problem", problem(game))):
        (tmp_path / f"{part}.pddl").write_text(text, encoding="utf-8")
    run = subprocess.run(
        [*planner(), "domain.pddl", "problem.pddl", "--search", "astar(blind())"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    report = verify_plan(game, (tmp_path / "sas_plan").read_text(encoding="utf-8"))
    assert report.ok, report.wrong
    assert len(report.moves) == length

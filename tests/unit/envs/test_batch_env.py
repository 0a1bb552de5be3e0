"""`BatchEnv` plays as the rules say, whatever is asked of it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from environment_checks import agree, check_batch_env
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import games as random_games

import herbrand
from herbrand import GameError, IllegalMoveError
from herbrand.envs import BatchEnv
from herbrand.envs.planes import make_view

BY_TURNS = [
    "ticTacToe",
    "connectFour",
    "hex",
    "breakthrough",
    "nim",
    "hanoi",
    "trefoil",
    "kuhn",
    "pairs",
    "montyHall",
]
AT_ONCE = ["rockPaperScissors", "prisonersDilemma", "tron"]


def facts(env: BatchEnv) -> list[frozenset[str]]:
    """The facts of every game."""
    return env.game.expander.facts(env.states)


@pytest.mark.slow_except("connectFour", "nim", "hanoi", "kuhn", "montyHall", "rockPaperScissors")
@pytest.mark.parametrize("name", BY_TURNS + AT_ONCE)
def test_steps_are_those_of_the_rules(name: str) -> None:
    """Along random games masks, states, ends and rewards of a batch are those of the rules.

    `benchmarks/interfaces.py` does this for all bundled games.
    """
    env = check_batch_env(herbrand.load(name))
    assert env.by_turns == (name in BY_TURNS)


@settings(max_examples=4, deadline=None)
@given(random_games(), st.integers(0, 1000))
def test_random_games_play_as_the_rules_say(text: str, seed: int) -> None:
    """Games that nobody wrote are played as the rules say, too."""
    try:
        env = BatchEnv(herbrand.loads(text), 3, seed=seed, auto_reset="same", max_steps=5, turns=False)
    except GameError:
        return
    now = env.reset()
    for _ in range(5):
        agree(env, now, [0, 1, 2])
        try:
            now = env.step(env.sample())
        except (GameError, IllegalMoveError):  # goals that are missing, roles without a move
            return


@pytest.mark.parametrize("n", [1, 64, 65, 600, 5000])
def test_a_game_has_the_same_answers_in_any_batch(n: int) -> None:
    """All lanes of all sizes of batches move alike when the same moves are made, and are counted once."""
    env = BatchEnv(herbrand.load("ticTacToe"), n, auto_reset="off")
    now = env.reset()
    for _ in range(5):
        now = env.step(np.argmax(now.legal, axis=1))
    for array in (now.observation, now.legal, now.player, now.rewards, now.terminated, env.states, env.steps):
        assert len(array) == n
        assert (array == array[:1]).all()


def test_values_need_not_be_kept() -> None:
    """With little memory states are evaluated again in each step, with the same results."""
    import herbrand.envs.batch as module

    games = []
    for kept in (module.KEPT_BYTES, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "KEPT_BYTES", kept)
            env = BatchEnv(herbrand.load("hex"), 1500, seed=2)
        env.reset(seed=4)
        for _ in range(90):
            now = env.step(env.sample())
        games.append((env.states, now.legal, now.rewards, env.steps))
    for one, other in zip(*games, strict=True):
        assert (one == other).all()


def test_the_types_of_results_say_the_same() -> None:
    """Packed, bool, int8 and float32 results hold the same bits; channels can come first."""
    game = herbrand.load("connectFour")
    envs = {kind: BatchEnv(game, 100, dtype=kind) for kind in ("bool", "int8", "uint8", "float32", "uint64")}
    first = BatchEnv(game, 100, channels_first=True)
    now = {kind: env.reset(seed=1) for kind, env in envs.items()}
    first.reset(seed=1)
    for _ in range(9):
        actions = envs["bool"].sample()
        now = {kind: env.step(actions) for kind, env in envs.items()}
        moved = first.step(actions)
    assert now["bool"].observation.shape == (100, 6, 7, 4)
    assert now["bool"].observation.any()
    assert (moved.observation == now["bool"].observation.transpose(0, 3, 1, 2)).all()
    for kind in ("int8", "uint8", "float32"):
        assert now[kind].observation.dtype == np.dtype(kind)
        assert (now[kind].observation == now["bool"].observation).all()
        assert (now[kind].legal == now["bool"].legal).all()
    for packed, plain in (
        (now["uint64"].observation, now["bool"].observation),
        (now["uint64"].legal, now["bool"].legal),
    ):
        bits = np.unpackbits(packed.view(np.uint8), axis=1, bitorder="little")
        assert (bits[:, : plain[0].size] == plain.reshape(100, -1)).all()
        assert not bits[:, plain[0].size :].any()


def test_games_that_end_begin_again() -> None:
    """Next-step reset ignores an action, same-step reset keeps the final observation, off waits for `reset`."""
    game = herbrand.load("ticTacToe")
    line = ["(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)", "(mark 1 3)"]
    ended = {}
    for mode in ("next", "same", "off"):
        env = BatchEnv(game, 2, auto_reset=mode)  # type: ignore[arg-type]
        begun = env.reset()
        for move in line:
            now = env.step([env.actions[0].index(move)] * 2)
        assert now.terminated.all()
        assert now.rewards.tolist() == [[1.0, -1.0]] * 2
        ended[mode] = now
        if mode == "same":
            assert (now.observation == begun.observation).all()
            assert now.final_observation is not None
            assert (now.final_observation == ended["next"].observation).all()
            assert not env.over.any()
            continue
        assert env.over.all()
        now = env.step([0, 0])
        assert not now.terminated.any()
        assert not now.rewards.any()
        assert env.over.all() == (mode == "off")
        if mode == "next":
            assert (now.observation == begun.observation).all()
            assert not env.steps.any()
        else:
            now = env.reset(where=np.array([True, False]))
            assert env.over.tolist() == [False, True]
            assert (now.observation[0] == begun.observation[0]).all()


def test_games_can_be_held() -> None:
    """Where `where` is false nothing moves, ended games included, and actions are not looked at."""
    env = BatchEnv(herbrand.load("ticTacToe"), 66)
    env.reset()
    some = np.arange(66) % 2 == 0
    env.step(np.where(some, 0, 77), where=some)
    assert env.steps.tolist() == some.astype(int).tolist()
    known = facts(env)
    assert known[0] != known[1] == env.game.initial_state().facts
    now = env.step(np.where(some, 1, 0))
    assert (now.player == np.where(some, 0, 1)).all()
    for _ in range(9):
        moving = ~env.over
        if not moving.any():
            break
        env.step(env.sample(), where=moving)
    assert env.over.all()
    before = env.states
    now = env.step(env.sample(), where=some)
    assert (env.states == before).all(axis=1).tolist() == (~some).tolist()
    assert env.over.tolist() == (~some).tolist()
    assert not now.terminated.any()


def test_chance_and_samples_come_from_the_seed() -> None:
    """The same seed gives the same cards and the same samples; another one gives others."""
    env = BatchEnv(herbrand.load("kuhn"), 200)
    seen = []
    for seed in (1, 1, 2):
        env.reset(seed=seed)
        now = [env.step(env.sample()).observation.tobytes() for _ in range(4)]
        seen.append(now)
    assert seen[0] == seen[1] != seen[2]


def test_samples_are_even() -> None:
    """Every legal action is drawn equally often."""
    env = BatchEnv(herbrand.load("ticTacToe"), 9000, seed=3)
    env.reset()
    counts = np.bincount(env.sample(), minlength=10)
    assert ((counts > 850) & (counts < 1150)).sum() == 9
    assert counts.sum() == 9000


def test_percepts_are_told() -> None:
    """Where the rules say what is seen, a step tells it: in kuhn each player its own card."""
    env = BatchEnv(herbrand.load("kuhn"), 50, seed=1)
    now = env.reset()
    assert now.percepts is not None
    assert not now.percepts.any()
    now = env.step(env.sample())
    assert now.percepts is not None
    told = {tuple(np.array(env.percepts)[row][:, 0]) for row in now.percepts}
    assert all({"alice", "bob"} <= set(roles) or len(set(roles)) >= 2 for roles in told)


def test_a_board_can_be_declared_or_left_out() -> None:
    """`observe` takes planes, bare fluents or a view; a game without a board has bare fluents."""
    game = herbrand.load("ticTacToe")
    assert BatchEnv(game, 1, observe="fluents").observation_shape == (29,)
    env = BatchEnv(game, 3)
    assert env.view.names == ("cell b", "cell o", "cell x", "(control oplayer)", "(control xplayer)")
    bare = make_view(env.fluents, None)
    env.reset()
    assert env.observe(bare)[0].sum() == len(game.initial_state().facts)
    assert BatchEnv(herbrand.load("nim"), 1).view.kind == "fluents"
    with pytest.raises(GameError, match="no board was found"):
        BatchEnv(herbrand.load("nim"), 1, observe="planes")


def test_an_illegal_action_is_refused_and_nothing_moves() -> None:
    """The message names the game, the action and what would be legal."""
    env = BatchEnv(herbrand.load("ticTacToe"), 3)
    env.reset()
    env.step([0, 1, 2])
    before = env.states
    with pytest.raises(
        IllegalMoveError, match=r"game 1: action 1 \(`\(mark 1 2\)`\) is not legal for oplayer \(legal"
    ):
        env.step([1, 1, 1])
    with pytest.raises(IllegalMoveError, match="game 0: action 99 is not legal"):
        env.step([99, 0, 0])
    assert (env.states == before).all()
    with pytest.raises(ValueError, match=r"actions have the shape \[3\]"):
        env.step([1, 1])


def test_wrong_use_is_refused() -> None:
    """Sizes, modes and types that make no sense are refused in one line."""
    game = herbrand.load("ticTacToe")
    for wrong in (
        {"n": 0},
        {"n": 1 << 21},
        {"n": 1, "auto_reset": "never"},
        {"n": 1, "dtype": "int64"},
        {"n": 1, "max_steps": 0},
    ):
        with pytest.raises(ValueError, match="not"):
            BatchEnv(game, **wrong)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="call `reset`"):
        BatchEnv(game, 1).step([0])
    with pytest.raises(GameError, match="does not go by turns"):
        BatchEnv(herbrand.load("rockPaperScissors"), 1, turns=True)
    with pytest.raises(GameError, match="terminal"):
        BatchEnv(
            herbrand.loads("(role a) (init x) (<= (legal a m) (true x)) (<= terminal (true x)) (goal a 1)"), 1
        )


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [
        ("herbrand.envs.pettingzoo", "pettingzoo", "rl"),
        ("herbrand.envs.gymnasium", "gymnasium", "rl"),
        ("herbrand.envs.pgx", "jax", "jax"),
    ],
)
def test_a_missing_library_is_named(module: str, library: str, extra: str) -> None:
    """Without the library, importing the interface to it says in one line which extra to install."""
    code = f"import sys; sys.modules[{library!r}] = None; sys.modules['{library}.vector'] = None; import {module}"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith("herbrand.errors.MissingExtra: the interface")
    assert f"herbrand[{extra}]" in last


@pytest.mark.parametrize("name", ["kuhn", "montyHall", "leduc"])
def test_chance_can_be_chosen(name: str) -> None:
    """With given outcomes games go where the rules say; probabilities are uniform over the possible ones."""
    game = herbrand.load(name)
    env = BatchEnv(game, 70, auto_reset="off", turns=False)
    env.reset(seed=3)
    chance = np.random.default_rng(4)
    for _ in range(12):
        odds = env.chance_probabilities()
        before, over = env.states.copy(), env.over.copy()
        assert np.allclose(odds.sum(axis=1)[~over], 1)
        actions = env.sample()
        outcomes = np.array([chance.choice(len(row), p=row / row.sum()) if row.any() else 0 for row in odds])
        env.stochastic_step(actions, outcomes)
        after = env.states
        for lane in np.flatnonzero(~over)[:5]:
            state = game.state(game.expander.facts(before[lane : lane + 1])[0], engine="rules")
            drawn = state.legal_moves(game.chance_role)
            assert np.allclose(odds[lane][odds[lane] > 0], 1 / len(drawn))
            assert {env.chance_moves[k] for k in np.flatnonzero(odds[lane])} == set(map(str, drawn))
            joint = {role: env.actions[p][actions[lane, p]] for p, role in enumerate(env.players)}
            joint[game.chance_role] = env.chance_moves[outcomes[lane]]
            assert state.next(joint).facts == game.expander.facts(after[lane : lane + 1])[0]


def test_impossible_outcomes_are_refused() -> None:
    """Nothing moves then; games without chance have no outcomes."""
    env = BatchEnv(herbrand.load("kuhn"), 3, turns=False)
    env.reset(seed=1)
    before = env.states.copy()
    impossible = int(np.flatnonzero(env.chance_probabilities()[0] == 0)[0])
    for outcomes in ([impossible] * 3, [-1] * 3, [99] * 3):
        with pytest.raises(IllegalMoveError, match="not possible in game 0"):
            env.stochastic_step(env.sample(), outcomes)
        assert (env.states == before).all()
    with pytest.raises(ValueError, match="outcomes have the shape"):
        env.stochastic_step(env.sample(), [0])
    still = BatchEnv(herbrand.load("nim"), 2)
    still.reset()
    with pytest.raises(GameError, match="no chance moves"):
        still.chance_probabilities()

"""Matches of every kind of game through TextArena, as its own tests play them: by moves that it offers."""

import random
import re

import textarena as ta

import herbrand.oracle.textarena as ours

chance = random.Random(5)
for name in ("ticTacToe", "connectFour", "kuhn", "rockPaperScissors", "hanoi", "trefoil", "tron"):
    env = ta.make(env_id=f"herbrand/{name}-v0")
    players = len(ours.HerbrandEnv(name).game.players)
    for seed in (1, 1, 2):
        env.reset(num_players=players, seed=seed)
        done = False
        player, observation = env.get_observation()
        assert "These are the rules of a game" in observation, "nothing is missing at the first action"
        assert "Your legal moves:" in observation
        while not done:
            legal = re.findall(r"Your legal moves: (.*)", observation)[-1]
            terms = re.findall(r"\([^()]*(?:\([^()]*\)[^()]*)*\)|[^\s,()]+", legal)
            done, info = env.step(action=f"Let me think. [{chance.choice(terms)}]")
            assert isinstance(info, dict)
            player, observation = env.get_observation()
        rewards, game_info = env.close()
        assert set(rewards) == set(range(players))
        assert all(0 <= reward <= 1 for reward in rewards.values())
        assert not any(info["invalid_move"] for info in game_info.values())
        assert all("The game is over" in info["reason"] for info in game_info.values())

blind = ours.HerbrandEnv("ticTacToe", moves=False)
blind.reset(num_players=2, seed=1)
_, told = blind.get_observation()
assert "legal moves:" not in "".join(message for _, message, _ in told)
assert blind.step("I resign")[0] is False
assert "no move in square brackets" in "".join(message for _, message, _ in blind.get_observation()[1])
assert blind.step("[(mark 9 9)]")[0] is True
rewards, game_info = blind.close()
assert rewards == {0: 0.0, 1: 1.0}
assert game_info[0]["invalid_move"]
print("textarena: matches hold")

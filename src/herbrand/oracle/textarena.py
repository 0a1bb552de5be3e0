"""Games as environments of TextArena, in which language models play each other.

    import textarena
    from herbrand.oracle.textarena import register
    register("connectFour")                        # textarena.make("herbrand/connectFour-v0")

Importing this module registers the bundled games.  Convention: https://github.com/LeonGuertler/TextArena.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herbrand import games
from herbrand.errors import GameError, optional_import
from herbrand.oracle.play import TextMatch

with optional_import("environments for TextArena", "textarena"):
    import textarena as ta

if TYPE_CHECKING:
    from herbrand.game import Game

__all__ = ["HerbrandEnv", "register"]


class HerbrandEnv(ta.Env):  # type: ignore[misc]
    """A game whose players are all language models; player 0 has the first role.

    Roles that move at once are asked one after the other, and see nothing of each other's moves before all
    have chosen.  Rewards are goal values from 0 to 1.
    """

    def __init__(
        self, game: Game | str, *, rules: bool = True, moves: bool = True, error_allowance: int = 1
    ) -> None:
        """`rules` and `moves` say whether observations state the rules and the legal moves."""
        from herbrand.envs.single import load_game

        self.game = load_game(game)
        self._choices: dict[str, Any] = {"rules": rules, "moves": moves, "mistakes": error_allowance}
        self.match: TextMatch | None = None

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Begin a match of all players of the game."""
        players = self.game.players
        if num_players != len(players):
            raise GameError(f"{self.game.name} has {len(players)} players, not {num_players}")
        if self.match is not None:
            self.match.close()
        self.match = TextMatch(self.game, seed=seed, **self._choices)
        self.state = ta.State(num_players=num_players, seed=seed)
        self.state.standard_resets(game_state={}, role_mapping=dict(enumerate(players)))
        for number, role in enumerate(players):
            self.state.game_info[number]["role"] = role
        self._prompt_next()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Take the move of the player whose turn it is: the last text in square brackets."""
        match, state, player = self._present(), self.state, self.state.current_player_id
        state.add_observation(
            from_id=player, to_id=player, message=action, observation_type=ta.ObservationType.PLAYER_ACTION
        )
        problem = match.reply(action)
        info = state.game_info[player]
        if problem:
            info["invalid_move"] = bool(match.forfeited)
            state.add_observation(
                to_id=player, message=problem, observation_type=ta.ObservationType.GAME_ADMIN
            )
        else:
            info["turn_count"] += 1
        self._prompt_next(error_sent=bool(problem) and not match.is_over)
        result: tuple[bool, dict[str, Any]] = state.step()
        return result

    def _prompt_next(self, *, error_sent: bool = False) -> None:
        """Send the next player its observation, or all of them the result; not after an error message."""
        match, state = self._present(), self.state
        players = self.game.players
        if match.is_over:
            rewards = match.rewards
            state.rewards = {number: rewards[role] for number, role in enumerate(players)}
            state.done = True
            for number, role in enumerate(players):
                state.game_info[number]["reason"] = match.reason
                self._tell(number, match.observation(role))
            return
        assert match.turn is not None
        state.current_player_id = players.index(match.turn)
        if not error_sent:
            self._tell(state.current_player_id, match.observation())

    def _tell(self, player: int, message: str) -> None:
        state = self.state
        kind = ta.ObservationType.GAME_BOARD if state.logs else ta.ObservationType.PROMPT
        state.add_observation(to_id=player, message=message, observation_type=kind)

    def _present(self) -> TextMatch:
        if self.match is None:
            raise GameError("call `reset` before the first step")
        return self.match


def register(game: Game | str, *, name: str | None = None, **options: Any) -> str:
    """Make a game known to TextArena; return the name by which `textarena.make` finds it.

    `options` are those of `HerbrandEnv`.
    """
    from herbrand.game import Game as GameClass

    plain = name or (game.name if isinstance(game, GameClass) else str(game))
    full = f"herbrand/{plain}-v0"
    wrappers = [ta.wrappers.LLMObservationWrapper, ta.wrappers.ActionFormattingWrapper]
    ta.register(id=full, entry_point=HerbrandEnv, default_wrappers=wrappers, game=game, **options)
    ta.register(id=f"{full}-raw", entry_point=HerbrandEnv, game=game, **options)
    return full


for _name in games.names():
    if f"herbrand/{_name}-v0" not in ta.envs.registration.ENV_REGISTRY:
        register(_name)

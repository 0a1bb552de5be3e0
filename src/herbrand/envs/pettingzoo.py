"""Games for PettingZoo: `parallel_env` for all roles at once, `env` for one agent after the other.

    >>> from herbrand.envs.pettingzoo import env
    >>> game = env("ticTacToe")
    >>> game.reset(seed=1)
    >>> for agent in game.agent_iter():
    ...     observation, reward, termination, truncation, info = game.last()
    ...     action = None if termination or truncation else int(observation["action_mask"].argmax())
    ...     game.step(action)
    >>> game.agents
    []

Agents have the names of the roles.  Importing this module makes the bundled games known to PettingZoo's
registry as `herbrand/ticTacToe-v0`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from herbrand.envs.session import MAX_STEPS, RENDER_MODES, Playing
from herbrand.envs.single import load_game, require

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.machine.state import State

_WHAT: Final = "the interface to PettingZoo"
_spaces: Any = require("gymnasium.spaces", _WHAT, "rl")
_pettingzoo: Any = require("pettingzoo", _WHAT, "rl")

__all__ = ["AgentsInTurn", "AgentsTogether", "env", "parallel_env"]

Masks = Literal["observation", "info"]


class _Common(Playing):
    """Common base of both kinds of environment."""

    possible_agents: list[str]
    agents: list[str]

    def __init__(
        self,
        game: Game,
        *,
        masks: Masks = "observation",
        max_cycles: int = MAX_STEPS,
        reward_range: tuple[float, float] = (-1.0, 1.0),
        render_mode: str | None = None,
        illegal: Literal["raise", "replace"] = "raise",
        parallelizable: bool = True,
    ) -> None:
        if masks not in ("observation", "info"):
            raise ValueError(f'masks are in "observation" or "info", not {masks!r}')
        super().__init__(
            game, max_steps=max_cycles, reward_range=reward_range, illegal=illegal, render_mode=render_mode
        )
        self.masks = masks
        self.metadata = {
            "name": f"{game.name}_v0",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": parallelizable,
            "render_fps": 1,
        }
        form = self.session.form
        self.possible_agents = list(form.players)
        self.agents = []
        self._index = {agent: i for i, agent in enumerate(self.possible_agents)}
        self._actions, self._observations = {}, {}
        for agent, actions in zip(self.possible_agents, form.actions, strict=True):
            self._actions[agent] = _spaces.Discrete(len(actions))
            seen = _spaces.Box(0, 1, self.session.shape, np.int8)
            mask = _spaces.Box(0, 1, (len(actions),), np.int8)
            both = _spaces.Dict({"observation": seen, "action_mask": mask})
            self._observations[agent] = seen if masks == "info" else both
        self.state_space = _spaces.Box(0, 1, form.view.shape, np.int8)

    def observation_space(self, agent: str) -> Any:
        """The space of observations of an agent, always the same object."""
        return self._observations[agent]

    def action_space(self, agent: str) -> Any:
        """The space of actions of an agent, always the same object."""
        return self._actions[agent]

    def _observation(self, agent: str, *, acts: bool = True) -> Any:
        seen = self.session.observe(self._index[agent])
        return {"observation": seen, "action_mask": self._mask(agent, acts)} if self.masks != "info" else seen

    def _mask(self, agent: str, acts: bool) -> Any:
        mask = self.session.mask(self._index[agent])
        return mask if acts else np.zeros_like(mask)

    def _info(self, agent: str, *, acts: bool = True) -> dict[str, Any]:
        """The `info` of an agent: whether it has a choice, and the action mask if it is not observed."""
        info: dict[str, Any] = {"has_choice": acts and self.has_choice(agent)}
        return info | {"action_mask": self._mask(agent, acts)} if self.masks == "info" else info

    def state(self) -> Any:
        """Return the whole state as an array, hidden or not."""
        form = self.session.form
        return form.observe(self.session.state).astype(np.int8).reshape(form.view.shape)

    def has_choice(self, agent: str) -> bool:
        """Whether an agent has more than one legal action."""
        return self.session.has_choice(self._index[agent])

    def action_name(self, agent: str, action: int) -> str:
        """The move that an action is, as KIF."""
        return self.session.action_name(self._index[agent], action)


class AgentsTogether(_Common, _pettingzoo.ParallelEnv):  # type: ignore[misc]
    """All roles move in every step, as GDL has it; a lone `noop` is an action like any other."""

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin a new game, or go on from `options["state"]`; return observations and infos."""
        self._start(seed, options)
        self.agents = list(self.possible_agents)
        return self._observe()

    def set_state(self, state: State) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Go to a state as if the game had begun there."""
        self.session.go(state)
        self.agents = list(self.possible_agents)
        return self._observe()

    def step(
        self, actions: dict[str, int]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Make a step; `IllegalMoveError`, and nothing moves, when an action is not legal."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        results = self.session.play({self._index[agent]: int(a) for agent, a in actions.items()})
        rewards = dict(zip(self.possible_agents, results, strict=True))
        terminated = dict.fromkeys(self.agents, bool(self.session.terminated))
        truncated = dict.fromkeys(self.agents, bool(self.session.truncated))
        seen, infos = self._observe()
        if self.session.terminated or self.session.truncated:
            self.agents = []
        return seen, rewards, terminated, truncated, infos

    def _observe(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        seen = {agent: self._observation(agent) for agent in self.agents}
        return seen, {agent: self._info(agent) for agent in self.agents}


class AgentsInTurn(_Common, _pettingzoo.AECEnv):  # type: ignore[misc]
    """One agent after the other; those who choose in the same step do not see each other's choice."""

    def __init__(self, game: Game, *, skip_forced: bool = True, **options: Any) -> None:
        super().__init__(game, **options)
        self.skip_forced = skip_forced
        self._pending: list[int] = []
        self._chosen: dict[int, int] = {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new game, or go on from `options["state"]`."""
        self._start(seed, options)
        self._begin()

    def set_state(self, state: State) -> None:
        """Go to a state as if the game had begun there."""
        self.session.go(state)
        self._begin()

    def _begin(self) -> None:
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._skip_agent_selection = None
        self._ask()

    def observe(self, agent: str) -> Any:
        """Return what an agent sees; its mask is empty when it is not its turn."""
        return self._observation(agent, acts=agent == self.agent_selection)

    def step(self, action: int | None) -> None:
        """Take the action of the selected agent; the step is made when all who are asked have chosen."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        player = self._index[agent]
        if action is None:
            raise ValueError(f"{agent} is not done and needs an action")
        self.session.check(player, int(action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._chosen[player] = int(action)
        self._pending.remove(player)
        if self._pending:
            self._select()
        else:
            self.session.play(self._chosen)
            self._ask()
        self._accumulate_rewards()

    def _ask(self) -> None:
        """Find out whom to ask in this state; end the game where it is over."""
        session = self.session
        if self.skip_forced:
            session.pass_over()
        self._chosen = {}
        if session.terminated or session.truncated:
            self.rewards = dict(zip(self.possible_agents, session.rewards(), strict=True))
            self.terminations = dict.fromkeys(self.agents, bool(session.terminated))
            self.truncations = dict.fromkeys(self.agents, bool(session.truncated))
            self.infos = {agent: {} for agent in self.agents}
            self.agent_selection = self.agents[0]
            return
        all_players = range(len(self.possible_agents))
        self._pending = list(session.form.deciders(session.state) if self.skip_forced else all_players)
        self._select()

    def _select(self) -> None:
        agent = self.possible_agents[self._pending[0]]
        self.agent_selection = agent
        self.infos = {name: self._info(name, acts=name == agent) for name in self.agents}


def parallel_env(
    game: Game | str, *, parameters: dict[str, Any] | None = None, **options: Any
) -> AgentsTogether:
    """Return a game as PettingZoo's parallel environment.

    `game` is a game, a path or a bundled name.  Parameters of a GGDL game are keyword arguments too,
    `env("mnk", M=5)`, or are given in `parameters`.  Options: `masks`, in
    "observation" (a dictionary) or in "info"; `max_cycles`, after which a game is truncated;
    `reward_range`; `render_mode`;
    `illegal`, what an illegal action does: "raise", or "replace" it by the next legal one.
    """
    return AgentsTogether(load_game(game, parameters, options), **options)


def env(game: Game | str, *, parameters: dict[str, Any] | None = None, **options: Any) -> AgentsInTurn:
    """Return a game as PettingZoo's environment of agents in turn; options as for `parallel_env`.

    Agents who cannot but wait are skipped; `skip_forced=False` asks every agent in every step.
    """
    return AgentsInTurn(load_game(game, parameters, options), **options)


def _register() -> None:
    """Make the bundled games known to the registry of PettingZoo, where it has one."""
    from importlib import import_module

    from herbrand import games

    try:
        registry: Any = import_module("pettingzoo.env_registry")
    except ImportError:  # before 1.27
        return
    for name in games.names():
        for kind, entry in (("aec", "env"), ("parallel", "parallel_env")):
            registry.register(
                kind, f"herbrand/{name}-v0", entry_point=f"{__name__}:{entry}", kwargs={"game": name}
            )


_register()

"""Tasks, and games against programs, as task sets of verifiers.

The folders `environments/herbrand_tasks` and `environments/herbrand_play` make installable environments of
them: `vf-validate herbrand-tasks`, `vf-eval herbrand-play`.  Convention (v1):
https://github.com/PrimeIntellect-ai/verifiers.
"""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Any

from herbrand.envs.language import QUICK_KINDS, grade, right_reply
from herbrand.errors import GameError, optional_import
from herbrand.oracle.play import TextMatch
from herbrand.oracle.stream import EVOLVED, TaskStream, named_game

with optional_import("task sets for verifiers", "verifiers"):
    import verifiers.v1 as vf

    from herbrand.oracle.verifiers_tools import OracleToolset

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PlayEnv", "PlayTaskset", "TasksTaskset"]


class TaskOptions(vf.TaskConfig):  # type: ignore[misc]
    """Choices of a task."""

    use_tools: bool = False
    """Whether the model gets tools that check rules, show states and list legal moves."""
    tools: vf.ToolsetConfig = vf.ToolsetConfig()


class TasksConfig(vf.TasksetConfig):  # type: ignore[misc]
    """The choices of a `TaskStream`."""

    games: list[str] = [EVOLVED]
    """Names of bundled games, paths of rulesheets, or `evolved` for new games."""
    kinds: list[str] = list(QUICK_KINDS)
    seed: int = 0
    steps: int = 3
    scrambled: bool = False
    rules: bool = True
    task: TaskOptions = TaskOptions()


class QuestionData(vf.TaskData):  # type: ignore[misc]
    """A task with what grades its replies."""

    question: dict[str, Any]


class QuestionTask(vf.Task[QuestionData, vf.State, TaskOptions]):  # type: ignore[misc]
    """One question; the last reply of the model is graded."""

    @property
    def key(self) -> str:
        """The task's own name."""
        return str(self.data.question["id"])

    @vf.reward(weight=1.0)  # type: ignore[untyped-decorator, unused-ignore]
    async def reply_score(self, trace: vf.Trace) -> float:
        """The score of the reply, from 0 to 1."""
        return (await asyncio.to_thread(grade, self.data.question, trace.last_reply)).score

    @vf.metric  # type: ignore[untyped-decorator, unused-ignore]
    async def exactly_right(self, trace: vf.Trace) -> float:
        """Whether the reply is exactly right: 0 or 1."""
        return float((await asyncio.to_thread(grade, self.data.question, trace.last_reply)).correct)

    async def validate(self, runtime: Any) -> bool:
        """Whether the right reply is graded as right, and no reply is not."""
        del runtime
        task = self.data.question
        right = await asyncio.to_thread(grade, task, right_reply(task))
        return right.correct and grade(task, "").score == 0

    @classmethod
    def toolsets(cls, config: TaskOptions) -> list[Any]:
        """Return the tools, if they are wanted."""
        return [OracleToolset(config.tools)] if config.use_tools else []


class TasksTaskset(vf.Taskset[QuestionTask, TasksConfig]):  # type: ignore[misc]
    """Questions about games, without end."""

    INFINITE = True

    def load(self) -> Iterator[QuestionTask]:
        """Yield the tasks of a `TaskStream`."""
        config = self.config
        choices = {name: getattr(config, name) for name in ("kinds", "seed", "steps", "scrambled", "rules")}
        for task in TaskStream(config.games, **choices):
            question = {key: value for key, value in task.items() if key != "prompt"}
            data = QuestionData(id=task["id"], name=task["id"], prompt=task["prompt"], question=question)
            yield QuestionTask(data, config.task)


# -- matches ----------------------------------------------------------------------------------


class PlayConfig(vf.TasksetConfig):  # type: ignore[misc]
    """Games to play."""

    games: list[str] = [EVOLVED]
    opponent: str = "random"
    """The player of the other roles: random, mcts, alphabeta, meta and so on."""
    seed: int = 0
    rules: bool = True
    moves: bool = True
    """Whether observations list the legal moves."""


class MatchData(vf.TaskData):  # type: ignore[misc]
    """A match from its start."""

    match: dict[str, Any]


class MatchTask(vf.Task[MatchData, vf.State, vf.TaskConfig]):  # type: ignore[misc]
    """One match; scored by `PlayEnv`, which plays it."""

    async def validate(self, runtime: Any) -> bool:
        """Whether a player that makes the first legal move every time gets to the end."""
        del runtime
        return await asyncio.to_thread(self._can_be_played)

    def _can_be_played(self) -> bool:
        match = text_match(self.data.match)
        while (role := match.turn) is not None:
            match.reply(f"[{match.legal_moves(role)[0]}]")
        return match.is_over and not match.forfeited


def text_match(choices: dict[str, Any]) -> TextMatch:
    """Return the match of a `MatchData`, at its start."""
    game = named_game(choices["game"], choices["seed"])
    others = {key: choices[key] for key in ("opponent", "seed", "rules", "moves")}
    return TextMatch(game, roles=[game.players[choices["role"] % len(game.players)]], **others)


class PlayTaskset(vf.Taskset[MatchTask, PlayConfig]):  # type: ignore[misc]
    """Matches against a program, the model in each role in turn, without end."""

    INFINITE = True

    def load(self) -> Iterator[MatchTask]:
        """Yield matches; those that are over before the model has a choice are left out."""
        config = self.config
        for number in count():
            choices = {
                "game": config.games[number % len(config.games)],
                "role": number // len(config.games),
                "seed": config.seed + number // len(config.games),
                **{name: getattr(config, name) for name in ("opponent", "rules", "moves")},
            }
            try:
                match = text_match(choices)
            except GameError:
                continue
            if not match.is_over:
                name = f"{match.game.name}#{number}"
                data = MatchData(id=name, name=name, prompt=match.observation(), match=choices)
                match.close()
                yield MatchTask(data, config.task)


class PlayEnvConfig(vf.EnvConfig):  # type: ignore[misc]
    """The model's seat."""

    player: vf.AgentConfig = vf.AgentConfig()


class PlayEnv(vf.Env[PlayEnvConfig]):  # type: ignore[misc]
    """A match, turn by turn: the reward is the goal value at the end, from 0 to 1."""

    async def run(self, task: MatchTask, agents: Any) -> None:
        """Play one match."""
        match = await asyncio.to_thread(text_match, task.data.match)
        (role,) = match.roles
        match.observation()  # the prompt of the task
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                problem = await asyncio.to_thread(match.reply, segment.last_reply)
                if match.is_over:
                    break
                segment = await interaction.turn("\n\n".join(filter(None, [problem, match.observation()])))
        match.close()
        trace = interaction.trace
        trace.record_reward("goal", match.rewards[role] if match.is_over else 0.0, 1.0)
        trace.info["outcome"] = match.reason

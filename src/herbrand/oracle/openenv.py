"""Tasks and matches as an environment of OpenEnv, with its server.

`herbrand tasks serve` serves questions, `herbrand tasks serve --play` matches against a program; the folder
`environments/openenv` has the manifest.  Convention: https://github.com/huggingface/OpenEnv.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from herbrand import __version__
from herbrand.envs.language import QUICK_KINDS, grade
from herbrand.errors import GameError, optional_import
from herbrand.oracle.play import TextMatch
from herbrand.oracle.stream import EVOLVED, TaskStream, named_game

with optional_import("an environment for OpenEnv", "openenv"):
    from openenv.core.env_server.http_server import create_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
    from pydantic import Field

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["GameEnvironment", "ReplyAction", "TaskEnvironment", "TextObservation", "make_app"]

SPLITS: Final = {"train": 0, "test": 1_000_000_007}
"""The offset added to the seed; the same game and state can occur in both splits."""
SIZE: Final = 1_000_000
"""Tasks of a split that are offered; each is made when it is asked for."""
PREVIEW: Final = 20
"""Tasks that are listed when all are asked for."""
SESSIONS: Final = 64
"""Sessions at once."""


class ReplyAction(Action):  # type: ignore[misc]
    """The reply of a model."""

    text: str = Field(description="The reply of the model", max_length=1_000_000)


class TextObservation(Observation):  # type: ignore[misc]
    """The observation that a model gets."""

    text: str = Field(description="The prompt, or what is wrong with the reply; empty at the end of a task")


class _Common(Environment):  # type: ignore[misc]
    """Common base of both environments."""

    SUPPORTS_CONCURRENT_SESSIONS = True
    description = ""

    def __init__(self, games: Sequence[str], seed: int, **choices: Any) -> None:
        super().__init__()
        self._games = games
        self._seed = seed
        self._choices = choices
        self._state = State(episode_id=str(uuid4()), step_count=0)

    @property
    def state(self) -> State:
        """The episode and the number of its steps."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """Return the name and a description."""
        return EnvironmentMetadata(name="herbrand", description=self.description, version=__version__)

    def _begin(self, episode_id: str | None) -> None:
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)


class TaskEnvironment(_Common):
    """One question an episode: `reset` asks it, `step` grades the reply with a reward from 0 to 1."""

    description = "Questions about games in the Game Description Language, with exact answers."

    def __init__(
        self,
        games: Sequence[str] = (EVOLVED,),
        kinds: Sequence[str] = QUICK_KINDS,
        *,
        seed: int = 0,
        steps: int = 3,
        scrambled: bool = False,
        rules: bool = True,
    ) -> None:
        """The choices are those of `TaskStream`."""
        super().__init__(games, seed, kinds=kinds, steps=steps, scrambled=scrambled, rules=rules)
        self._streams: dict[str, TaskStream] = {}
        self._task: dict[str, Any] | None = None

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str = "train",
        index: int | None = None,
        **_: Any,
    ) -> TextObservation:
        """Ask a question: the one with this index, or the one that the seed draws."""
        self._begin(episode_id)
        number = index if index is not None else (seed or 0) % SIZE
        self._task = self._stream(split)[number]
        return TextObservation(text=self._task["prompt"], metadata=_public(self._task))

    def step(self, action: ReplyAction, timeout_s: float | None = None, **kwargs: Any) -> TextObservation:
        """Grade a reply; the episode is over then."""
        del timeout_s, kwargs
        if self._task is None:
            self.reset()
        task, self._task = self._task, None
        assert task is not None
        graded = grade(task, action.text)
        self._state.step_count += 1
        return TextObservation(
            text=graded.reason, done=True, reward=graded.score, metadata={"correct": graded.correct}
        )

    # -- tasks by number --------------------------------------------------------------------

    def list_splits(self) -> list[str]:
        """Return the names of the splits."""
        return list(SPLITS)

    def num_tasks(self, split: str) -> int:
        """Return the number of tasks of a split."""
        self._stream(split)
        return SIZE

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Return a task without its answer."""
        if not 0 <= index < SIZE:
            raise IndexError(f"tasks are numbered from 0 to {SIZE - 1}")
        task = self._stream(split)[index]
        return {**_public(task), "index": index, "prompt": task["prompt"]}

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[Any]:
        """Return tasks without their answers, at most 1000."""
        return [self.get_task(split, number) for number in range(SIZE)[start:stop][:1000]]

    def list_tasks(self, split: str) -> list[Any]:
        """Return the first tasks of a split."""
        return self.get_task_range(split, 0, PREVIEW)

    def _stream(self, split: str) -> TaskStream:
        if split not in SPLITS:
            raise GameError(f"no split `{split}`; there are {', '.join(SPLITS)}")
        if split not in self._streams:
            seed = self._seed + SPLITS[split]
            self._streams[split] = TaskStream(self._games, seed=seed, **self._choices)
        return self._streams[split]


class GameEnvironment(_Common):
    """A match against a program: each step is a move of the model, the last reward its goal value, 0 to 1."""

    description = "Games in the Game Description Language against a program."

    def __init__(
        self,
        games: Sequence[str] = (EVOLVED,),
        *,
        opponent: str = "random",
        seed: int = 0,
        rules: bool = True,
        moves: bool = True,
    ) -> None:
        """The choices are those of `TextMatch`."""
        super().__init__(games, seed, opponent=opponent, rules=rules, moves=moves)
        self._match: TextMatch | None = None

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> TextObservation:
        """Begin a match: the seed decides about the game, the role and all draws."""
        self._begin(episode_id)
        self.close()
        number = self._seed + (seed or 0)
        game = named_game(self._games[number % len(self._games)], number)
        role = game.players[number % len(game.players)]
        self._match = TextMatch(game, roles=[role], seed=number, **self._choices)
        return self._observation("", {"game": game.name, "role": role})

    def step(self, action: ReplyAction, timeout_s: float | None = None, **kwargs: Any) -> TextObservation:
        """Make the move of a reply."""
        del timeout_s, kwargs
        if self._match is None or self._match.is_over:
            self.reset()
        assert self._match is not None
        problem = self._match.reply(action.text)
        self._state.step_count += 1
        return self._observation(problem, {})

    def close(self) -> None:
        """Stop the opponent."""
        if self._match is not None:
            self._match.close()
            self._match = None

    def _observation(self, problem: str, metadata: dict[str, Any]) -> TextObservation:
        match = self._match
        assert match is not None
        (role,) = match.roles
        text = "\n\n".join(filter(None, [problem, match.observation(role)]))
        reward = match.rewards[role] if match.is_over else 0.0
        return TextObservation(text=text, done=match.is_over, reward=reward, metadata=metadata)


def _public(task: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a task that do not give the answer away."""
    return {key: task[key] for key in ("id", "game", "kind", "scrambled")}


def make_app(*, play: bool = False, **choices: Any) -> Any:
    """Return the ASGI application of a server of tasks, or of matches; the choices are those of the class."""
    make = partial(GameEnvironment if play else TaskEnvironment, **choices)
    return create_app(make, ReplyAction, TextObservation, env_name="herbrand", max_concurrent_envs=SESSIONS)

"""Tasks as a data set of reasoning-gym, with a curriculum.

    import herbrand.oracle.reasoning_gym
    data = reasoning_gym.create_dataset("herbrand", size=10, seed=1)

Importing this module registers `herbrand`.  Convention: https://github.com/open-thought/reasoning-gym.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from herbrand.envs.language import KINDS, QUICK_KINDS, grade, right_reply
from herbrand.errors import optional_import
from herbrand.oracle.stream import EVOLVED, TaskStream

with optional_import("the data set for reasoning-gym", "reasoning-gym"):
    from reasoning_gym.coaching import BaseCurriculum, RangeAttributeDefinition, ScalarAttributeDefinition
    from reasoning_gym.factory import DATASETS, ProceduralDataset, register_dataset

__all__ = ["DATASET_NAME", "HerbrandConfig", "HerbrandCurriculum", "HerbrandDataset"]

DATASET_NAME = "herbrand"


@dataclass
class HerbrandConfig:
    """The choices of a `TaskStream`."""

    games: list[str] = field(default_factory=lambda: [EVOLVED])
    """Names of bundled games, paths of rulesheets, or `evolved` for new games."""
    kinds: list[str] = field(default_factory=lambda: list(QUICK_KINDS))
    min_steps: int = 1
    max_steps: int = 3
    """How many joint moves a question is about, in the kinds `steps`, `win` and `knows`."""
    scrambled: bool = False
    """Whether names are replaced by meaningless ones."""
    rules: bool = True
    """Whether questions state the rules."""
    seed: int | None = None
    size: int = 500

    def validate(self) -> None:
        """Raise `AssertionError` for choices that make no data set."""
        assert self.games, "games must not be empty"
        assert set(self.kinds) <= set(KINDS), f"kinds are {', '.join(KINDS)}"
        assert self.kinds, "kinds must not be empty"
        assert 1 <= self.min_steps <= self.max_steps, "1 <= min_steps <= max_steps must hold"


class HerbrandDataset(ProceduralDataset):  # type: ignore[misc]
    """Tasks about games; the same seed gives the same tasks."""

    def __init__(self, config: HerbrandConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)
        self._tasks = TaskStream(
            config.games,
            kinds=config.kinds,
            seed=self.seed,
            steps=(config.min_steps, config.max_steps),
            scrambled=config.scrambled,
            rules=config.rules,
        )

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Return a question, a right answer, and the task that grades other answers."""
        task = self._tasks[idx]
        return {
            "question": task["prompt"],
            "answer": right_reply(task),
            "metadata": {
                "source_dataset": DATASET_NAME,
                "source_index": idx,
                "task": task,
                "difficulty": {
                    "steps": (self.config.min_steps, self.config.max_steps),
                    "scrambled": self.config.scrambled,
                },
            },
        }

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """Return the score of an answer, from 0 to 1."""
        return grade(entry["metadata"]["task"], answer).score if isinstance(answer, str) else 0.0


class HerbrandCurriculum(BaseCurriculum):  # type: ignore[misc]
    """More joint moves to follow, more kinds of questions, meaningless names."""

    def __init__(self) -> None:
        super().__init__(HerbrandCurriculum.__name__, HerbrandConfig)
        self._define_attributes(
            RangeAttributeDefinition(
                name="steps",
                levels=[1, 3, 5, 10, 20],
                lower_field_name="min_steps",
                upper_field_name="max_steps",
                description="Joint moves to follow",
            ),
            ScalarAttributeDefinition(
                name="kinds",
                levels=[
                    ["legal", "terminal"],
                    ["legal", "terminal", "next", "goals"],
                    [*QUICK_KINDS],
                    [*QUICK_KINDS, "best", "win"],
                    [*QUICK_KINDS, "best", "win", "bug", "same", "translate"],
                ],
                field_name="kinds",
                description="Kinds of questions",
            ),
            ScalarAttributeDefinition(
                name="scrambled",
                levels=[False, True],
                field_name="scrambled",
                description="Whether names are meaningless",
            ),
        )


if DATASET_NAME not in DATASETS:
    register_dataset(DATASET_NAME, HerbrandDataset, HerbrandConfig, HerbrandCurriculum)

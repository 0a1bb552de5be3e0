"""One game that is played on in place, for the interfaces of PettingZoo and Gymnasium."""

from __future__ import annotations

import random
from bisect import bisect
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from herbrand.envs.single import form_of
from herbrand.errors import IllegalMoveError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from herbrand.game import Game
    from herbrand.machine.state import State

__all__ = ["MAX_STEPS", "RENDER_MODES", "Playing", "Session"]

MAX_STEPS: Final = 1000
RENDER_MODES: Final = ("ansi", "human", "rgb_array")


class Session:
    """A game in progress: its state, how many steps were made, the last percepts of each player."""

    def __init__(
        self, game: Game, *, max_steps: int, reward_range: tuple[float, float], illegal: str = "raise"
    ) -> None:
        """`illegal` says what an illegal action does: "raise", or "replace" it by the next legal one."""
        if illegal not in ("raise", "replace"):
            raise ValueError(f'illegal is "raise" or "replace", not {illegal!r}')
        self.illegal = illegal
        if max_steps < 1:
            raise ValueError(f"max_steps is 1 or more, not {max_steps}")
        self.form = form_of(game)
        self.game = game
        self.max_steps = max_steps
        self.low, self.high = reward_range
        self.chance = random.Random()
        self.begin()

    def begin(self, seed: int | None = None) -> None:
        """Restart the game; without a seed the random numbers continue."""
        if seed is not None:
            self.chance.seed(seed)
        self.go(self.game.initial_state("network"))

    def go(self, state: State) -> None:
        """Go to a state, as if the game had begun there."""
        self.state = state
        self.steps = 0
        self.observed: list[tuple[str, ...]] = [()] * len(self.form.players)

    @property
    def terminated(self) -> bool:
        """Whether the state is terminal."""
        return self.state.is_terminal

    @property
    def truncated(self) -> bool:
        """Whether the limit of steps was reached before."""
        return self.steps >= self.max_steps and not self.state.is_terminal

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of an observation."""
        form = self.form
        return (form.entry_size,) if self.game.has_percepts else form.view.shape

    def observe(self, player: int) -> NDArray[np.int8]:
        """Return the observation of a player: its last move and percepts with `sees`, else the state."""
        form = self.form
        if not self.game.has_percepts:
            return form.observe(self.state).astype(np.int8).reshape(self.shape)
        seen = np.zeros(self.shape, np.int8)
        if self.observed[player]:
            form.encode(player, self.observed[player], seen)
        return seen

    def legal(self, player: int) -> list[int]:
        """The numbers of the legal actions of a player; none where the game is over."""
        if self.terminated or self.truncated:
            return []
        return self.form.legal(self.state, self.form.players[player])

    def mask(self, player: int) -> NDArray[np.int8]:
        """The legal actions of a player as 0 and 1."""
        mask = np.zeros(len(self.form.actions[player]), np.int8)
        mask[self.legal(player)] = 1
        return mask

    def has_choice(self, player: int) -> bool:
        """Whether a player has more than one legal action."""
        return len(self.legal(player)) > 1

    def action_name(self, player: int, action: int) -> str:
        """The move that an action is, as KIF."""
        return self.form.actions[player][action]

    def check(self, player: int, action: int, legal: list[int] | None = None) -> int:
        """Return the action if it is legal, or what replaces it; else raise `IllegalMoveError`."""
        legal = self.legal(player) if legal is None else legal
        if action in legal:
            return action
        if legal and self.illegal == "replace":
            return legal[bisect(legal, action) % len(legal)]
        named = ", ".join(f"{a} `{self.form.actions[player][a]}`" for a in legal[:6])
        more = f", ... {len(legal) - 6} more" if len(legal) > 6 else ""
        shown = named + more or "none: the game is over"
        role = self.form.players[player]
        raise IllegalMoveError(f"action {action} is not legal for {role} (legal: {shown})")

    def play(self, actions: Mapping[int, int]) -> list[float]:
        """Make a step; players without an action make their first legal move.  Return the rewards.

        Raises `IllegalMoveError` for an action that is not legal; nothing moves then.
        """
        form, state = self.form, self.state
        joint = {}
        for player, role in enumerate(form.players):
            legal = self.legal(player)
            action = self.check(player, actions.get(player, legal[0] if legal else -1), legal)
            joint[role] = form.actions[player][action]
        if self.game.chance_role is not None:
            joint[self.game.chance_role] = str(state.draw(self.chance))
        if self.game.has_percepts:
            self.observed = [(joint[role], *state.percepts(joint, role)) for role in form.players]
        self.state = state.next(joint)
        self.steps += 1
        return self.rewards()

    def pass_over(self) -> None:
        """Make the steps in which no player has a choice."""
        while not (self.terminated or self.truncated) and not self.form.deciders(self.state):
            self.play({})

    def rewards(self) -> list[float]:
        """The goal values at the end, scaled; 0 before."""
        if not self.terminated:
            return [0.0] * len(self.form.players)
        goals = self.state.goals
        middle = [50 if goals[role] is None else goals[role] for role in self.form.players]
        return [self.low + (self.high - self.low) * float(goal or 0) / 100 for goal in middle]


class Playing:
    """Common base of environments that play one session."""

    render_mode: str | None

    def __init__(
        self,
        game: Game,
        *,
        max_steps: int,
        reward_range: tuple[float, float],
        illegal: str,
        render_mode: str | None,
    ) -> None:
        if render_mode not in (None, *RENDER_MODES):
            raise ValueError(f'render_mode is None, "ansi", "human" or "rgb_array", not {render_mode!r}')
        self.session = Session(game, max_steps=max_steps, reward_range=reward_range, illegal=illegal)
        self.game = game
        self.render_mode = render_mode

    @property
    def state_value(self) -> State:
        """The state as a value that can be kept, and given to `set_state` later."""
        return self.session.state

    def render(self) -> str | NDArray[np.uint8] | None:
        """Draw the state: return it as text ("ansi") or pixels ("rgb_array"), or print it ("human").

        Pixels are uint8 [height, width, 3], and need herbrand[pictures].
        """
        if self.render_mode is None:
            return None
        if self.render_mode == "rgb_array":
            from herbrand.draw.raster import pixels

            return pixels(self.game.artist.draw(self.session.state))
        text = self.game.artist.text(self.session.state)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Nothing is held that has to be given back."""

    def _start(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Restart, in the state `options["state"]` if one is given; other options are ignored."""
        self.session.begin(seed)
        state = (options or {}).get("state")
        if state is not None:
            self.session.go(state)

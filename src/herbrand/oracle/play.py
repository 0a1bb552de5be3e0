"""`TextMatch`: a match in which language models play by text, against each other or against programs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from herbrand.errors import GameError, InvalidMoveError
from herbrand.machine.joint_text import normal, split_terms
from herbrand.match import LocalMatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.game import Game

__all__ = ["TextMatch"]

LONGEST: Final = 20_000
"""Characters at the end of a reply that are read."""
MAX_STEPS: Final = 1000
_BRACKETS: Final = re.compile(r"\[([^\[\]]*)\]")


class TextMatch:
    """One match; roles that no model plays are played by a program, or at random.

        >>> import herbrand
        >>> match = TextMatch(herbrand.load("nim"), roles=["first"], opponent="random", seed=1)
        >>> match.turn, "(take a 1)" in match.observation()
        ('first', True)
        >>> match.reply("I take two sticks: [(take a 2)]"), match.turn
        ('', 'first')

    The first observation of a role has everything that it needs: the rules, its role, the state, the legal
    moves if they are shown, and how to reply.  In games with hidden information a role is shown its own
    moves and percepts instead of states.
    """

    def __init__(
        self,
        game: Game,
        *,
        roles: Sequence[str] | None = None,
        opponent: str = "random",
        clock: float = 0.2,
        seed: int | None = None,
        rules: bool = True,
        moves: bool = True,
        mistakes: int = 1,
    ) -> None:
        """`roles` are played by models, all players by default; the others by the player `opponent`.

        `clock` is in seconds for each of its moves.  `rules` and `moves` say whether observations state the
        rules and the legal moves.  After more than `mistakes` replies without a legal move in a row a role
        loses.  Raises `GameError` for a game that cannot be played, `herbrand.play.NoSuchPlayer`.
        """
        game.require_playable()
        self.game = game
        self.roles = tuple(roles) if roles is not None else game.players
        unknown = [role for role in self.roles if role not in game.players]
        if unknown or not self.roles:
            raise GameError(
                f"`{''.join(unknown[:1])}` is no role to play; there are {', '.join(game.players)}"
            )
        others = set(game.players) - set(self.roles)
        programs = {} if opponent == "random" else dict.fromkeys(others, opponent)
        self._match = LocalMatch(game, people=self.roles, programs=programs, clock=clock, seed=seed)
        self._shows = {"rules": rules, "moves": moves}
        self._allowed = mistakes
        self._mistakes = dict.fromkeys(self.roles, 0)
        self._steps_shown: dict[str, int] = {}
        """By role, how many joint moves its observations had; missing before the first observation."""
        self.forfeited = ""
        """The role that lost by replies without a legal move."""
        self._advance()

    @property
    def turn(self) -> str | None:
        """The role whose reply is awaited; None when the match is over."""
        waiting = [] if self.is_over else self._match.waiting
        return waiting[0] if waiting else None

    @property
    def is_over(self) -> bool:
        """Whether the match is over: by the rules, by a forfeit, or after 1000 joint moves."""
        return bool(self.forfeited) or self._match.state.is_terminal or len(self._match.play) >= MAX_STEPS

    @property
    def steps(self) -> int:
        """How many joint moves were made."""
        return len(self._match.play)

    @property
    def rewards(self) -> dict[str, float]:
        """By player, from 0 to 1: its goal value by 100; 0 before the end, and for a role that forfeited.

        After a forfeit the other players have 1.
        """
        if self.forfeited:
            return {role: float(role != self.forfeited) for role in self.game.players}
        goals = self._match.state.goals if self._match.state.is_terminal else {}
        return {role: (goals.get(role) or 0) / 100 for role in self.game.players}

    @property
    def reason(self) -> str:
        """How the match ended, in a sentence; empty before."""
        if self.forfeited:
            return f"{self.forfeited} made no legal move and loses."
        if self._match.state.is_terminal:
            known = ((role, goal) for role, goal in self._match.state.goals.items() if goal is not None)
            return f"The game is over. Goals: {', '.join(f'{role} {goal}' for role, goal in known)}."
        return f"The match was stopped after {MAX_STEPS} joint moves." if self.is_over else ""

    def legal_moves(self, role: str) -> list[str]:
        """Return the legal moves of a role."""
        return [str(move) for move in self._match.state.legal_moves(role)]

    def observation(self, role: str | None = None) -> str:
        """Return the observation of a role, by default the one to move; the rules only the first time."""
        role = role or self.turn or self.roles[0]
        first = role not in self._steps_shown
        parts = self._introduction(role) if first else []
        play = self._match.play
        since = self._steps_shown.get(role, 0)
        self._steps_shown[role] = len(play)
        if self.game.has_percepts:
            number = self.game.role_index(role)
            for step in range(since, len(play)):
                seen = ", ".join(play.percepts(step, role)) or "nothing"
                parts.append(f"You made the move {play.joint_moves[step][number]}, and saw: {seen}")
            if first and not len(play):
                parts.append("The facts that are true at first:\n" + "\n".join(sorted(play.states[0].facts)))
        else:
            parts += ["The joint move was: " + ", ".join(joint) for joint in play.joint_moves[since:]]
            parts.append("The facts that are true now:\n" + "\n".join(sorted(self._match.state.facts)))
        if self.is_over:
            return "\n\n".join([*parts, self.reason])
        if self._shows["moves"]:
            parts.append("Your legal moves: " + ", ".join(self.legal_moves(role)))
        parts.append("Reply with one legal move in square brackets, such as [(move)].")
        return "\n\n".join(parts)

    def reply(self, text: str) -> str:
        """Make the move that a reply of the role `turn` has, the last text in square brackets.

        Return the reason why it is refused, empty for a legal move.
        """
        role = self.turn
        if role is None:
            return "The match is over."
        move, problem = self._read(role, text)
        if move is None:
            self._mistakes[role] += 1
            if self._mistakes[role] > self._allowed:
                self.forfeited = role
                self._match.close()
            return problem
        self._mistakes[role] = 0
        self._match.choose(role, move)
        self._advance()
        return ""

    def close(self) -> None:
        """Stop the programs."""
        self._match.close()

    # -- inside -----------------------------------------------------------------------------

    def _introduction(self, role: str) -> list[str]:
        parts = []
        if self._shows["rules"]:
            from herbrand.syntax.printer import print_tree

            text = print_tree(self.game.tree, "prefix").text.rstrip()
            parts.append(f"These are the rules of a game in the Game Description Language:\n\n{text}")
        parts.append(
            f"You play {role}. The roles, in the order of joint moves: {', '.join(self.game.roles)}. "
            "Your goal value at the end, from 0 to 100, should be as high as possible."
        )
        return parts

    def _read(self, role: str, text: str) -> tuple[str | None, str]:
        """Return the move of a reply, or None and the reason why there is none."""
        bracketed = _BRACKETS.findall(text[-LONGEST:])
        if not bracketed:
            return None, "There is no move in square brackets in this reply."
        answer = bracketed[-1].strip().strip("\"'`")
        legal = {normal(move): move for move in self.legal_moves(role)}
        try:
            terms = split_terms(answer)
            move = legal.get(normal(answer)) if len(terms) == 1 else None
        except (InvalidMoveError, RecursionError):
            move = None
        if move is None:
            return None, f"`{answer[:80]}` is no legal move of {role}."
        return move, ""

    def _advance(self) -> None:
        """Make all joint moves for which no reply is needed."""
        while not self.is_over and self._match.advance():
            pass
        if self.is_over:
            self._match.close()

"""One match, in the child: its states, its seats, and what the person at the screen may see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import GameError, HerbrandError, IllegalMoveError
from herbrand.game import Game
from herbrand.match.local import LocalMatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.explanation import PlayerReport

__all__ = ["MatchTable"]

PERSON: Final = "you"
"""The seat of a person; every other seat has the name of a player."""
PREPARATION: Final = 4.0
"""Seconds that a program has before its first move."""
SHOWN_MOVES: Final = 6
SHOWN_LINE: Final = 8
MOST_MOVES: Final = 2_000
"""More legal moves than this are counted, and only these are sent."""


class MatchTable:
    """Plays one match."""

    ACTIONS: Final = ("open", "view", "move", "advance", "undo", "hint", "position", "record")

    def __init__(self) -> None:
        self._seats: dict[str, str] = {}
        self._match: LocalMatch | None = None

    # -- questions ------------------------------------------------------------------------

    def open(
        self,
        text: str,
        notation: str,
        name: str,
        seats: dict[str, str],
        clock: float = 1.0,
        seed: int | None = None,
        source: str = "",
        parameters: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Begin a match; return its first view."""
        from herbrand.syntax import Source, read

        game = Game(read(Source(text, source or name), notation, parameters=parameters or {}), name=name)
        game.require_playable()
        unknown = set(seats) - set(game.roles)
        if unknown:
            raise GameError(f"no role `{min(unknown)}` (roles: {', '.join(game.roles)})")
        _ = game.artist  # studied before the match begins
        self._seats = {role: seats.get(role, "random") for role in game.players}
        self._match = LocalMatch(
            game,
            people=[role for role, seat in self._seats.items() if seat == PERSON],
            programs={r: seat for r, seat in self._seats.items() if seat not in (PERSON, "random")},
            clock=clock,
            preparation=PREPARATION,
            seed=seed,
        )
        return self.view()

    def view(self, step: int | None = None) -> dict[str, Any]:
        """Return what there is to see after a number of steps; now by default."""
        match = self._here()
        game, play = match.game, match.play
        artist = game.artist
        now = len(play)
        step = now if step is None else max(0, min(step, now))
        state = play.states[step]
        hidden = match.hides
        last = list(zip(game.roles, play.joint_moves[step - 1], strict=True)) if step else []
        moved = list(play.choices(step - 1).values()) if step else []
        people = match.people
        legal = state.legal_moves() if not state.is_terminal else {}
        turns = [role for role in people if len(legal.get(role, ())) > 1 and role not in match.chosen]
        if hidden:
            drawing = artist.draw(
                self._surely((turns or people)[0]), control=False, stacked=True, style=False
            )
        else:
            drawing = artist.draw(state, last=moved, control=False, stacked=True, style=False)
        told = {
            "game": game.name,
            "step": step,
            "steps": now,
            "over": play.states[now].is_terminal,
            "svg": drawing.svg,
            "said": drawing.text,
            "hidden": hidden,
            "roles": [self._role(role, state, legal) for role in game.roles],
            "turns": turns if step == now else [],
            "auto": step == now and not state.is_terminal and not turns,
            "last": [] if hidden else [{"role": role, "move": move} for role, move in last],
            "history": [] if hidden else self._history(),
            "thoughts": list(map(_told_thought, match.reports[step - 1])) if step and not hidden else [],
            "seen": self._seen(step) if game.has_percepts else [],
            "people": list(people),
        }
        if step == now and turns:
            role = turns[0]
            moves = legal[role]
            told["role"] = role
            told["count"] = len(moves)
            told["moves"] = self._told(moves[:MOST_MOVES])
        return told

    def move(self, role: str, move: str, step: int) -> dict[str, Any]:
        """Make a person's move; the rest moves when everybody who sits here has chosen."""
        match = self._here()
        if step != len(match.play):
            raise IllegalMoveError("the match has gone on in the meantime")
        match.choose(role, move)
        match.advance()
        return self.view()

    def advance(self) -> dict[str, Any]:
        """Let programs and chance move once, with what people have chosen."""
        self._here().advance()
        return self.view()

    def undo(self) -> dict[str, Any]:
        """Go back to where a person had a choice last."""
        self._here().take_back()
        return self.view()

    def hint(self, role: str) -> dict[str, Any]:
        """Let a player look for a move for a person; tell what it found."""
        match = self._here()
        if match.hides:
            raise GameError("a hint would tell what is hidden from you")
        move, report = match.hint(role)
        return {"move": str(move), "thought": None if report is None else _told_thought(report)}

    def position(self, step: int | None = None) -> dict[str, Any]:
        """Return the facts after a number of steps, unless they are hidden from the person at the screen."""
        match = self._here()
        last = len(match.play)
        state = match.play.states[last if step is None else min(step, last)]
        if match.hides:
            return {"facts": None, "values": {}}
        if not state.is_terminal:
            return {"facts": sorted(state.facts), "values": {}}
        known = {role: value for role, value in state.goals.items() if value is not None}
        return {"facts": None, "values": {role: known[role] for role in match.game.players if role in known}}

    def record(self) -> dict[str, Any]:
        """Return the match as data."""
        match = self._here()
        game, play, state = match.game, match.play, match.state
        if match.hides:
            raise GameError("the match is not over: its record would tell what is hidden from you")
        return {
            "game": game.name,
            "roles": list(game.roles),
            "seats": self._seats,
            "moves": [list(joint) for joint in play.joint_moves],
            "over": state.is_terminal,
            "goals": state.goals if state.is_terminal else None,
        }

    # -- what is shown --------------------------------------------------------------------

    def _here(self) -> LocalMatch:
        if self._match is None:
            raise GameError("no match was begun")
        return self._match

    def _surely(self, role: str) -> frozenset[str]:
        """Return the facts that a person can be sure of."""
        try:
            return frozenset(self._here().knowledge(role).sure)
        except HerbrandError:
            return frozenset()

    def _seen(self, step: int) -> list[dict[str, Any]]:
        """Return what people saw in each step; everybody's percepts once the match is over."""
        match = self._here()
        game, play = match.game, match.play
        over = match.state.is_terminal
        roles = list(game.players) if over or not match.people else match.waiting[:1] or match.people[:1]
        told = []
        for number in range(step):
            joint = dict(zip(game.roles, play.joint_moves[number], strict=True))
            chose = play.choices(number)
            for role in roles:
                seen = play.percepts(number, role)
                if seen or role in chose:
                    told.append({"step": number + 1, "role": role, "move": joint[role], "seen": list(seen)})
        return told

    def _role(self, role: str, state: State, legal: dict[str, list[Move]]) -> dict[str, Any]:
        match = self._here()
        game = match.game
        chance = role == game.chance_role
        seat = "chance" if chance else self._seats.get(role, "random")
        return {
            "name": role,
            "seat": seat,
            "colour": game.artist.colours.get(role, "ink"),
            "choosing": len(legal.get(role, ())) > 1 and role not in match.chosen,
            "goal": state.goal(role) if state.is_terminal and not chance else None,
        }

    def _history(self) -> list[str]:
        play = self._here().play
        return [
            ", ".join(f"{role} {_plain(move)}" for role, move in play.choices(step).items())
            for step in range(len(play))
        ]

    def _told(self, moves: list[Move]) -> list[dict[str, Any]]:
        artist = self._here().game.artist
        return [
            {"move": str(move), "text": _plain(str(move)), "kind": move.name, "clicks": list(clicks)}
            for move, clicks in zip(moves, artist.clicks(moves), strict=True)
        ]


def _told_thought(report: PlayerReport) -> dict[str, Any]:
    """Return what a program found out, as far as a page shows it: values, visits, what it expects."""
    best = [one for i, one in enumerate(report.moves[:SHOWN_MOVES]) if not i or one.value is not None]
    return {
        "role": report.role,
        "player": report.player,
        "visits": report.visits,
        "notes": list(report.notes),
        "moves": [
            {
                "text": _plain(one.move),
                "value": one.value,
                "visits": one.visits,
                "proved": one.proved is not None,
            }
            for one in best
        ],
        "line": [_chosen(joint) for joint in report.best.line[:SHOWN_LINE]] if best else [],
    }


def _chosen(joint: Sequence[str]) -> str:
    """Return what is worth saying of a joint move: not that somebody waits."""
    return " / ".join([_plain(move) for move in joint if move != "noop"] or list(joint[:1]))


def _plain(move: str) -> str:
    """Return a move as people read it: `(mark 1 2)` as `mark 1 2`."""
    return move[1:-1] if move.startswith("(") and move.endswith(")") else move

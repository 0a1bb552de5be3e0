"""One match in the subprocess: its states, its seats, and the view of the person at the screen."""

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
MAX_MOVES: Final = 2_000
"""Limit on the legal moves sent to the page; all are counted."""


class MatchTable:
    """Actions on one match."""

    ACTIONS: Final = ("open", "view", "move", "advance", "undo", "hint", "position", "record")

    def __init__(self) -> None:
        self._seats: dict[str, str] = {}
        self._match: LocalMatch | None = None

    # -- actions --------------------------------------------------------------------------

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
        """Start a match; return its first view."""
        from herbrand.syntax import Source, read

        game = Game(read(Source(text, source or name), notation, parameters=parameters or {}), name=name)
        game.require_playable()
        unknown = set(seats) - set(game.roles)
        if unknown:
            raise GameError(f"no role `{min(unknown)}` (roles: {', '.join(game.roles)})")
        _ = game.artist  # analyse the drawing before the match begins
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
        """Return the view of the page after a number of steps, by default the present one."""
        match = self._require_match()
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
        turns = match.waiting
        if hidden:
            drawing = artist.draw(
                self._certain_facts((turns or people)[0]), control=False, stacked=True, style=False
            )
        else:
            drawing = artist.draw(state, last=moved, control=False, stacked=True, style=False)
        view = {
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
            "thoughts": list(map(_report_json, match.reports[step - 1])) if step and not hidden else [],
            "seen": self._seen(step) if game.has_percepts else [],
            "people": list(people),
        }
        if step == now and turns:
            role = turns[0]
            moves = legal[role]
            view["role"] = role
            view["count"] = len(moves)
            view["moves"] = self._moves_json(moves[:MAX_MOVES])
        return view

    def move(self, role: str, move: str, step: int) -> dict[str, Any]:
        """Choose a person's move; the match advances when all people have chosen."""
        match = self._require_match()
        if step != len(match.play):
            raise IllegalMoveError("the match has advanced since the page was loaded")
        match.choose(role, move)
        match.advance()
        return self.view()

    def advance(self) -> dict[str, Any]:
        """Make one joint move of programs, chance and the moves that people have chosen."""
        self._require_match().advance()
        return self.view()

    def undo(self) -> dict[str, Any]:
        """Go back to the last state in which a person had a choice."""
        self._require_match().take_back()
        return self.view()

    def hint(self, role: str) -> dict[str, Any]:
        """Return the move that a player suggests to a person, with its report."""
        match = self._require_match()
        if match.hides:
            raise GameError("a hint would reveal hidden information")
        move, report = match.hint(role)
        return {"move": str(move), "thought": None if report is None else _report_json(report)}

    def position(self, step: int | None = None) -> dict[str, Any]:
        """Return the facts after a number of steps, unless they are hidden from the person at the screen."""
        match = self._require_match()
        last = len(match.play)
        state = match.play.states[last if step is None else min(step, last)]
        if match.hides:
            return {"facts": None, "values": {}}
        if not state.is_terminal:
            return {"facts": sorted(state.facts), "values": {}}
        players = match.game.players
        goals = {role: goal for role, goal in state.goals.items() if role in players and goal is not None}
        return {"facts": None, "values": goals}

    def record(self) -> dict[str, Any]:
        """Return the match as data."""
        match = self._require_match()
        game, play, state = match.game, match.play, match.state
        if match.hides:
            raise GameError("the match is not over: its record would reveal hidden information")
        return {
            "game": game.name,
            "roles": list(game.roles),
            "seats": self._seats,
            "moves": [list(joint) for joint in play.joint_moves],
            "over": state.is_terminal,
            "goals": state.goals if state.is_terminal else None,
        }

    # -- parts of the view ----------------------------------------------------------------

    def _require_match(self) -> LocalMatch:
        if self._match is None:
            raise GameError("no match has been started")
        return self._match

    def _certain_facts(self, role: str) -> frozenset[str]:
        """Return the facts that a person can be sure of."""
        try:
            return frozenset(self._require_match().knowledge(role).sure)
        except HerbrandError:
            return frozenset()

    def _seen(self, step: int) -> list[dict[str, Any]]:
        """Return the percepts of people in each step, or of all players once the match is over."""
        match = self._require_match()
        game, play = match.game, match.play
        over = match.state.is_terminal
        roles = list(game.players) if over or not match.people else match.waiting[:1] or match.people[:1]
        rows = []
        for number in range(step):
            joint = dict(zip(game.roles, play.joint_moves[number], strict=True))
            chose = play.choices(number)
            for role in roles:
                seen = play.percepts(number, role)
                if seen or role in chose:
                    rows.append({"step": number + 1, "role": role, "move": joint[role], "seen": list(seen)})
        return rows

    def _role(self, role: str, state: State, legal: dict[str, list[Move]]) -> dict[str, Any]:
        match = self._require_match()
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
        play = self._require_match().play
        return [
            ", ".join(f"{role} {_plain(move)}" for role, move in play.choices(step).items())
            for step in range(len(play))
        ]

    def _moves_json(self, moves: list[Move]) -> list[dict[str, Any]]:
        artist = self._require_match().game.artist
        return [
            {"move": str(move), "text": _plain(str(move)), "kind": move.name, "clicks": list(clicks)}
            for move, clicks in zip(moves, artist.clicks(moves), strict=True)
        ]


def _report_json(report: PlayerReport) -> dict[str, Any]:
    """Return the part of a program's report that a page shows: values, visits, expected line."""
    best = [move for i, move in enumerate(report.moves[:SHOWN_MOVES]) if not i or move.value is not None]
    return {
        "role": report.role,
        "player": report.player,
        "visits": report.visits,
        "notes": list(report.notes),
        "moves": [
            {
                "text": _plain(move.move),
                "value": move.value,
                "visits": move.visits,
                "proved": move.proved is not None,
            }
            for move in best
        ],
        "line": [_format_joint(joint) for joint in report.best.line[:SHOWN_LINE]] if best else [],
    }


def _format_joint(joint: Sequence[str]) -> str:
    """Return a joint move without its `noop`s, unless there is nothing else."""
    return " / ".join([_plain(move) for move in joint if move != "noop"] or list(joint[:1]))


def _plain(move: str) -> str:
    """Return a move without its outer parentheses."""
    return move[1:-1] if move.startswith("(") and move.endswith(")") else move

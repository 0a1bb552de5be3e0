"""One match, in the child: its states, its seats, and what the person at the screen may see."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

from herbrand.analyse.knowledge.histories import remembered
from herbrand.errors import GameError, HerbrandError, IllegalMoveError
from herbrand.game import Game
from herbrand.machine.trajectory import Trajectory
from herbrand.runtime.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.analyse.knowledge.histories import History
    from herbrand.analyse.knowledge.knowing import Knowledge
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play import Player
    from herbrand.play.explanation import PlayerReport

__all__ = ["MatchTable"]

PERSON: Final = "you"
"""The seat of a person; every other seat has the name of a player."""
PREPARATION: Final = 4.0
"""Seconds that a program has before its first move."""
QUICK: Final = Limits(seconds=4)
MOST_STATES: Final = 20_000
PARTICLES: Final = 400
SHOWN_MOVES: Final = 6
SHOWN_LINE: Final = 8
MOST_MOVES: Final = 2_000
"""More legal moves than this are counted, and only these are sent."""


class MatchTable:
    """Plays one match."""

    ACTIONS: Final = ("open", "view", "move", "advance", "undo", "hint", "position", "record")

    def __init__(self) -> None:
        self._seats: dict[str, str] = {}
        self._players: dict[str, Player] = {}
        self._match: tuple[Game, Trajectory] | None = None
        self._thoughts: list[list[dict[str, Any]]] = []
        """What programs said about their moves, for each joint move."""
        self._chosen: dict[str, str] = {}
        self._clock = 1.0
        self._chance = random.Random()

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
        self._clock = clock
        self._chance = random.Random(seed)
        self._seats = {role: seats.get(role, "random") for role in game.players}
        self._match = game, Trajectory.replay(game, ())
        self._thoughts = []
        self._chosen = {}
        self._players = {}
        return self.view()

    def view(self, step: int | None = None) -> dict[str, Any]:
        """Return what there is to see after a number of steps; now by default."""
        game, play = self._here()
        artist = game.artist
        now = len(play)
        step = now if step is None else max(0, min(step, now))
        state = play.states[step]
        hidden = self._hides()
        last = list(zip(game.roles, play.joint_moves[step - 1], strict=True)) if step else []
        moved = list(play.choices(step - 1).values()) if step else []
        people = self._people()
        legal = state.legal_moves() if not state.is_terminal else {}
        turns = [role for role in people if len(legal.get(role, ())) > 1 and role not in self._chosen]
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
            "thoughts": self._thoughts[step - 1] if step and not hidden else [],
            "seen": self._seen(step) if game.has_percepts else [],
            "people": people,
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
        _, play = self._here()
        state = play.state
        if step != len(play):
            raise IllegalMoveError("the match has gone on in the meantime")
        if role not in self._people():
            raise IllegalMoveError(f"{role} is not played by you")
        if state.is_terminal or not state.is_legal(role, move):
            raise IllegalMoveError(f"no legal move `{move[:80]}` for {role}")
        self._chosen[role] = move
        waiting = [r for r in self._people() if len(state.legal_moves(r)) > 1 and r not in self._chosen]
        return self.view() if waiting else self.advance()

    def advance(self) -> dict[str, Any]:
        """Let programs and chance move once, with what people have chosen."""
        game, play = self._here()
        state = play.state
        if state.is_terminal:
            return self.view()
        joint: dict[str, str] = {}
        thoughts = []
        for role, moves in state.require_moves().items():
            seat = self._seats.get(role, "random")
            if len(moves) == 1:
                joint[role] = str(moves[0])
            elif seat == PERSON:
                if role not in self._chosen:
                    return self.view()
                joint[role] = self._chosen[role]
            elif seat == "random" or role == game.chance_role:
                joint[role] = str(self._chance.choice(moves))
            else:
                player = self._player(role, seat)
                joint[role] = str(self._chosen_by(player, state))
                report = player.report()
                if report is not None and report.moves:
                    thoughts.append(_told_thought(report))
        play.make(joint)
        self._thoughts.append(thoughts)
        self._chosen = {}
        return self.view()

    def undo(self) -> dict[str, Any]:
        """Go back to where a person had a choice last."""
        _, play = self._here()
        self._chosen = {}
        while len(play):
            play.take_back(len(play) - 1)
            self._thoughts.pop()
            if not self._people() or set(play.choosing(len(play))) & set(self._people()):
                break
        return self.view()

    def hint(self, role: str) -> dict[str, Any]:
        """Let a player look for a move for a person; tell what it found."""
        state = self._here()[1].state
        if self._hides():
            raise GameError("a hint would tell what is hidden from you")
        player = self._player(f"hint for {role}", "mcts", role)
        move = str(player.select(state, max(1.0, self._clock)))
        report = player.report()
        return {"move": move, "thought": None if report is None else _told_thought(report)}

    def position(self, step: int | None = None) -> dict[str, Any]:
        """Return the facts after a number of steps, unless they are hidden from the person at the screen."""
        game, play = self._here()
        last = len(play)
        state = play.states[last if step is None else min(step, last)]
        if self._hides():
            return {"facts": None, "values": {}}
        if not state.is_terminal:
            return {"facts": sorted(state.facts), "values": {}}
        known = {role: value for role, value in state.goals.items() if value is not None}
        return {"facts": None, "values": {role: known[role] for role in game.players if role in known}}

    def record(self) -> dict[str, Any]:
        """Return the match as data."""
        game, play = self._here()
        state = play.state
        if self._hides():
            raise GameError("the match is not over: its record would tell what is hidden from you")
        return {
            "game": game.name,
            "roles": list(game.roles),
            "seats": self._seats,
            "moves": [list(joint) for joint in play.joint_moves],
            "over": state.is_terminal,
            "goals": state.goals if state.is_terminal else None,
        }

    # -- who sits where -------------------------------------------------------------------

    def _here(self) -> tuple[Game, Trajectory]:
        if self._match is None:
            raise GameError("no match was begun")
        return self._match

    def _people(self) -> list[str]:
        return [role for role, seat in self._seats.items() if seat == PERSON]

    def _player(self, key: str, name: str, role: str | None = None) -> Player:
        """Return the program of a seat, ready to play."""
        from herbrand.play import make_player

        game, _ = self._here()
        if key not in self._players:
            player = make_player(name, seed=self._chance.getrandbits(32))
            player.start(game, role or key, PREPARATION)
            self._players[key] = player
        return self._players[key]

    def _chosen_by(self, player: Player, state: State) -> Move:
        """Return the move of a program, which is told no more than its role can know."""
        game, _ = self._here()
        if not game.has_percepts:
            return player.select(state, self._clock)
        moves = state.legal_moves(player.role)
        held = self._held_possible(player.role)
        states = (
            [] if held is None else [one for one in held.weights if one.legal_moves(player.role) == moves]
        )
        if not states:  # nobody can say what it may hold possible: it moves blindly
            return self._chance.choice(moves)
        states.sort(key=lambda one: sorted(one.facts))
        player.told(self._past(player.role))
        return player.select(self._chance.choice(states), self._clock)

    def _past(self, role: str) -> History:
        """Return what a role remembers of the match."""
        return remembered(self._here()[1], role)

    def _held_possible(self, role: str) -> Knowledge | None:
        """Return what a role can hold possible; None where that cannot be found out soon."""
        from herbrand.analyse.knowledge import possible_states

        game, _ = self._here()
        try:
            return possible_states(
                game,
                role,
                self._past(role),
                over=False,
                states=MOST_STATES,
                particles=PARTICLES,
                limits=QUICK,
            )
        except HerbrandError:
            return None

    # -- what is shown --------------------------------------------------------------------

    def _hides(self) -> bool:
        """Whether states must not be shown: something is hidden, a person plays, and it is not over."""
        game, play = self._here()
        return game.has_percepts and bool(self._people()) and not play.state.is_terminal

    def _surely(self, role: str) -> frozenset[str]:
        """Return the facts that a person can be sure of."""
        held = self._held_possible(role)
        return frozenset() if held is None else frozenset(held.sure)

    def _seen(self, step: int) -> list[dict[str, Any]]:
        """Return what people saw in each step; everybody's percepts once the match is over."""
        game, play = self._here()
        over = play.state.is_terminal
        roles = list(game.players) if over or not self._people() else self._people()[:1]
        turns = play.state.legal_moves() if not over else {}
        if not over and self._people():
            choosing = [r for r in self._people() if len(turns.get(r, ())) > 1 and r not in self._chosen]
            roles = choosing[:1] or roles
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
        game, _ = self._here()
        chance = role == game.chance_role
        seat = "chance" if chance else self._seats.get(role, "random")
        return {
            "name": role,
            "seat": seat,
            "colour": game.artist.colours.get(role, "ink"),
            "choosing": len(legal.get(role, ())) > 1 and role not in self._chosen,
            "goal": state.goal(role) if state.is_terminal and not chance else None,
        }

    def _history(self) -> list[str]:
        _, play = self._here()
        return [
            ", ".join(f"{role} {_plain(move)}" for role, move in play.choices(step).items())
            for step in range(len(play))
        ]

    def _told(self, moves: list[Move]) -> list[dict[str, Any]]:
        artist = self._here()[0].artist
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

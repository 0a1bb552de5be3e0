"""One match in the subprocess: its states, its seats, and what each screen may show of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from herbrand.draw.hints import comment_of, hints_for
from herbrand.errors import GameError, HerbrandError, IllegalMoveError
from herbrand.game import Game
from herbrand.match.local import LocalMatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.explanation import PlayerReport

__all__ = ["FRIEND", "PERFECT", "PERSON", "MatchTable"]

PERSON: Final = "you"
"""The seat of a person at the screen of the server; other seats have the name of a player."""
FRIEND: Final = "friend"
"""The seat of a person at another screen, who comes by a link."""
PERFECT: Final = "perfect"
"""The seat of a program that plays by the solution of the game, which the server has."""
PREPARATION: Final = 5.0
"""Seconds that a program has before its first move, while people think already."""
NETWORK_SECONDS: Final = 30.0
"""Before that, the time for building the network of the game: without it programs hardly search."""
SHOWN_MOVES: Final = 6
SHOWN_LINE: Final = 8
MAX_MOVES: Final = 2_000
"""Limit on the legal moves sent to the page; all are counted."""


class MatchTable:
    """Actions on one match.

    A `screen` is empty for the screen of the server, else the role of a friend at another one.
    """

    ACTIONS: Final = (
        *("open", "view", "move", "advance", "undo", "resign", "show", "flip", "hint"),
        *("position", "document", "warm_up"),
    )

    def __init__(self) -> None:
        self._seats: dict[str, str] = {}
        self._match: LocalMatch | None = None
        self._resigned = ""
        """The role that has resigned."""
        self._visible_role = ""
        """In games with hidden information, the role whose information the screen of the server shows."""
        self._flipped: set[str] = set()
        """Screens on which the board is turned around."""

    # -- actions --------------------------------------------------------------------------

    def open(
        self,
        text: str,
        notation: str,
        name: str,
        seats: dict[str, str],
        clock: float | None = None,
        seed: int | None = None,
        source: str = "",
        parameters: dict[str, Any] | None = None,
        moves: Sequence[Sequence[str]] = (),
        resigned: str = "",
        solution: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """Start a match, or go on with one after some joint moves; return what its record needs."""
        from herbrand.match.protocol.manager import as_sent
        from herbrand.play.levels import default_clock
        from herbrand.syntax import Source, read

        game = Game(read(Source(text, source or name), notation, parameters=parameters or {}), name=name)
        game.require_playable()
        unknown = set(seats) - set(game.roles)
        if unknown:
            raise GameError(f"no role `{min(unknown)}` (roles: {', '.join(game.roles)})")
        drawing = hints_for(game)
        game, rules = as_sent(game)
        artist = game.artist  # analyse the drawing before the match begins
        self._seats = {role: seats.get(role, "random") for role in game.players}
        programs = {r: seat for r, seat in self._seats.items() if seat not in (PERSON, FRIEND, "random")}
        if PERFECT in programs.values():
            player = _solved_player(game, solution)
            programs = {role: player if seat == PERFECT else seat for role, seat in programs.items()}
        self._match = match = LocalMatch(
            game,
            people=[role for role, seat in self._seats.items() if seat in (PERSON, FRIEND)],
            programs=programs,
            clock=clock or max(map(default_clock, programs.values()), default=1.0),
            preparation=PREPARATION,
            network_seconds=NETWORK_SECONDS,
            seed=seed,
        )
        match.replay(moves)
        self._resigned = resigned
        if len(game.players) == 2:
            self._flipped = {s for s in ("", *self._friends()) if artist.faces_away(self._people_at(s))}
        match.prepare()
        return {
            "rules": f"{comment_of(drawing)}\n{rules}" if drawing else rules,
            "roles": list(game.roles),
            "players": list(game.players),
        }

    def view(self, screen: str = "", step: int | None = None) -> dict[str, Any]:
        """Return the view of a page after a number of steps, by default the present one."""
        match = self._require_match()
        game, play = match.game, match.play
        artist = game.artist
        now = len(play)
        step = now if step is None else max(0, min(step, now))
        state = play.states[step]
        over = self._is_over
        hidden = match.hides and not over
        people = self._people_at(screen)
        turns = [role for role in match.waiting if role in people] if not over else []
        last = list(zip(game.roles, play.joint_moves[step - 1], strict=True)) if step else []
        moved = list(play.choices(step - 1).values()) if step else []
        legal = state.legal_moves() if not state.is_terminal else {}
        shown = self._role_shown(people, turns) if hidden else ""
        facts = self._certain_facts(shown) if hidden else state.facts
        drawing = artist.draw(
            facts,
            last=() if hidden else moved,
            control=False,
            stacked=True,
            style=False,
            tables=not artist.has_boards,
            flipped=screen in self._flipped,
        )
        thoughts = match.reports[step - 1] if step and not hidden else ()
        counts, others = artist.undrawn(facts) if artist.has_boards else ({}, {})
        view = {
            "game": game.name,
            "step": step,
            "steps": now,
            "over": over,
            "result": self._result(people) if over else None,
            "decided": list(artist.deciding_cells(state)) if step == now and state.is_terminal else [],
            "svg": drawing.svg,
            "said": drawing.text,
            "flipped": screen in self._flipped,
            "can_flip": any(board.is_grid and not board.rack for board in artist.layout.boards),
            "hidden": hidden,
            "hand_over": turns[0] if hidden and turns and turns[0] != shown else "",
            "others": [[name, ", ".join(values)] for name, values in others.items()],
            "roles": [self._role(role, state, legal, counts.get(role, {}), screen) for role in game.roles],
            "turns": turns if step == now else [],
            "awaited": [role for role in match.waiting if role not in people] if not over else [],
            "auto": step == now and not over and not match.waiting,
            "last": [] if hidden else [{"role": role, "move": artist.say(move)} for role, move in last],
            "history": [] if hidden else self._history(),
            "thoughts": list(map(self._report_json, thoughts)),
            "seen": self._percept_lines(step, shown) if game.has_percepts else [],
            "people": list(people),
        }
        if step == now and turns and not view["hand_over"]:
            role = turns[0]
            moves = legal[role]
            view["role"] = role
            view["count"] = len(moves)
            view["moves"] = self._moves_json(moves[:MAX_MOVES])
        return view

    def move(self, role: str, move: str, step: int, screen: str = "") -> dict[str, Any]:
        """Choose a person's move; the match advances when all people have chosen."""
        match = self._require_match()
        if step != len(match.play) or self._is_over:
            raise IllegalMoveError("the match has advanced since the page was loaded")
        self._require_person(role, screen)
        match.choose(role, move)
        match.advance()
        return self._changed(step)

    def advance(self, step: int) -> dict[str, Any]:
        """Make one joint move of programs, chance and what people have chosen, unless that was done."""
        match = self._require_match()
        before = len(match.play)
        if step == before and not self._is_over:
            match.advance()
        return self._changed(before)

    def undo(self) -> dict[str, Any]:
        """Go back to the last state in which a person had a choice, or take a resignation back."""
        match = self._require_match()
        if self._resigned:
            self._resigned = ""
        else:
            match.take_back()
        return self._changed(len(match.play))

    def resign(self, role: str, screen: str = "") -> dict[str, Any]:
        """Let a person give the match up."""
        match = self._require_match()
        if role not in self._people_at(screen) or self._is_over:
            raise IllegalMoveError(f"{role} cannot resign here")
        self._resigned = role
        return self._changed(len(match.play))

    def show(self, role: str) -> None:
        """Show the information of a role on the screen of the server, after it was handed over."""
        self._require_person(role, "")
        self._visible_role = role

    def flip(self, screen: str = "") -> None:
        """Turn the board around."""
        self._flipped ^= {screen}

    def hint(self, role: str, screen: str = "") -> dict[str, Any]:
        """Return the move that a player suggests to a person, with its report."""
        match = self._require_match()
        if match.hides:
            raise GameError("a hint would reveal hidden information")
        self._require_person(role, screen)
        move, report = match.hint(role)
        thought = None if report is None or not report.moves else self._report_json(report)
        return {"move": str(move), "text": match.game.artist.say(move), "thought": thought}

    def position(self, step: int | None = None) -> dict[str, Any]:
        """Return the facts after a number of steps, unless they are hidden from people."""
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

    def document(self) -> None:
        """Check that the record of the match may be shown."""
        if self._require_match().hides and not self._is_over:
            raise GameError("the match is not over: its record would reveal hidden information")

    def warm_up(self) -> None:
        """Import the modules that a match needs, so that the next one begins sooner."""
        import herbrand.draw.svg
        import herbrand.match.protocol.manager
        import herbrand.play.meta  # noqa: F401

    # -- who sits where -------------------------------------------------------------------

    def _require_match(self) -> LocalMatch:
        if self._match is None:
            raise GameError("no match has been started")
        return self._match

    @property
    def _is_over(self) -> bool:
        return bool(self._resigned) or self._require_match().state.is_terminal

    def _people_at(self, screen: str) -> list[str]:
        """Return the roles of the people at a screen."""
        if screen:
            return [screen] if self._seats.get(screen) == FRIEND else []
        return [role for role, seat in self._seats.items() if seat == PERSON]

    def _require_person(self, role: str, screen: str) -> None:
        if role not in self._people_at(screen):
            raise IllegalMoveError(f"{role} is not played here")

    def _friends(self) -> list[str]:
        return [role for role, seat in self._seats.items() if seat == FRIEND]

    def _role_shown(self, people: Sequence[str], turns: Sequence[str]) -> str:
        """Return the role whose information a screen shows, empty before it was handed over."""
        if len(people) == 1:
            return people[0]
        if not people:  # the match is between friends elsewhere and programs
            return ""
        return self._visible_role if not turns or turns[0] == self._visible_role else ""

    # -- what has changed -----------------------------------------------------------------

    def _changed(self, since: int) -> dict[str, Any]:
        """Return the update of the match record after a change: all steps after `since`."""
        match = self._require_match()
        play, game = match.play, match.game
        steps = range(min(since, len(play)), len(play))
        seeing = game.roles if game.has_percepts else ()
        return {
            "steps": len(play),
            "moves": [play.joint_moves[step] for step in steps],
            "percepts": [
                {place: list(play.percepts(step, role)) for place, role in enumerate(seeing)}
                for step in steps
            ],
            "goals": list(match.state.goals.values()) if match.state.is_terminal else None,
            "resigned": self._resigned,
        }

    # -- parts of the view ----------------------------------------------------------------

    def _result(self, people: list[str]) -> dict[str, str]:
        """Return how the match ended, for the people at a screen: a kind and a sentence."""
        match = self._require_match()
        if self._resigned:
            others = [role for role in match.game.players if role != self._resigned]
            text = f"{'You' if people == [self._resigned] else self._resigned} resigned"
            if len(others) == 1:
                text += f": {others[0]} wins"
            kind = "lost" if people == [self._resigned] else "won" if len(people) == 1 else "over"
            return {"kind": kind, "text": text}
        goals = {role: goal for role, goal in match.state.goals.items() if role in match.game.players}
        listed = ", ".join(f"{role} {'–' if goal is None else goal}" for role, goal in goals.items())
        best = max((goal for goal in goals.values() if goal is not None), default=None)
        winners = [role for role, goal in goals.items() if goal == best]
        if len(goals) == 1:
            kind, outcome = ("won", "Solved") if best == 100 else ("lost", "The game is over")
        elif len(winners) > 1 or best is None:
            ahead = f"{' and '.join(winners)} are ahead"
            kind, outcome = "draw", "A draw" if len(winners) == len(goals) else ahead
        elif len(people) == 1:
            kind, outcome = ("won", "You won") if winners == people else ("lost", "You lost")
        else:
            kind, outcome = "over", f"{winners[0]} won"
        return {"kind": kind, "text": f"{outcome}: {listed}"}

    def _certain_facts(self, role: str) -> frozenset[str]:
        """Return the facts that a person can be sure of."""
        if not role:
            return frozenset()
        try:
            return frozenset(self._require_match().knowledge(role).sure)
        except HerbrandError:
            return frozenset()

    def _percept_lines(self, step: int, shown: str) -> list[dict[str, Any]]:
        """Return the percepts of one role in each step, or of all players where nothing is hidden."""
        match = self._require_match()
        game, play = match.game, match.play
        hidden = match.hides and not self._is_over
        roles = [shown] * bool(shown) if hidden else list(game.players)
        rows = []
        for number in range(step):
            joint = dict(zip(game.roles, play.joint_moves[number], strict=True))
            chose = play.choices(number)
            for role in roles:
                seen = [game.artist.say(percept) for percept in play.percepts(number, role)]
                if seen or role in chose:
                    move = "" if joint[role] == "noop" else game.artist.say(joint[role])
                    rows.append({"step": number + 1, "role": role, "move": move, "seen": seen})
        return rows

    def _role(
        self, role: str, state: State, legal: dict[str, list[Move]], counts: dict[str, str], screen: str
    ) -> dict[str, Any]:
        match = self._require_match()
        game = match.game
        chance = role == game.chance_role
        seat = "chance" if chance else self._seats.get(role, "random")
        if seat in (PERSON, FRIEND):
            seat = "you" if role in self._people_at(screen) else "your friend"
        return {
            "name": role,
            "seat": seat,
            "colour": game.artist.colours.get(role, "ink"),
            "choosing": not self._is_over and len(legal.get(role, ())) > 1 and role not in match.chosen,
            "goal": state.goal(role) if state.is_terminal and not chance else None,
            "counts": [[name, value] for name, value in counts.items()],
        }

    def _history(self) -> list[str]:
        match = self._require_match()
        play, say = match.play, match.game.artist.say
        lines = []
        for step in range(len(play)):
            choices = play.choices(step)
            shown = {role: move for role, move in choices.items() if move != "noop"} or choices
            lines.append(", ".join(f"{role}: {say(move)}" for role, move in shown.items()))
        return lines

    def _moves_json(self, moves: list[Move]) -> list[dict[str, Any]]:
        artist = self._require_match().game.artist
        return [
            {"move": str(move), "text": artist.say(move), "kind": move.name, "clicks": list(clicks)}
            for move, clicks in zip(moves, artist.clicks(moves), strict=True)
        ]

    def _report_json(self, report: PlayerReport) -> dict[str, Any]:
        """Return the part of a program's report that a page shows: values, visits, expected line."""
        say = self._require_match().game.artist.say
        best = [move for i, move in enumerate(report.moves[:SHOWN_MOVES]) if not i or move.value is not None]
        return {
            "role": report.role,
            "player": report.player,
            "visits": report.visits,
            "notes": list(report.notes),
            "moves": [
                {
                    "text": say(move.move),
                    "value": move.value,
                    "visits": move.visits,
                    "proved": move.proved is not None,
                    "chance": move.chance,
                }
                for move in best
            ],
            "line": [
                " / ".join([say(move) for move in joint if move != "noop"] or list(joint[:1]))
                for joint in report.best.line[:SHOWN_LINE]
            ],
        }


def _solved_player(game: Game, solution: dict[str, str] | None) -> str:
    """Return the player that plays by a solution of a game; `GameError` for a solution of other rules."""
    from herbrand.analyse.solving.strategy import digest_of

    if solution is None or solution["digest"] != digest_of(game):
        raise GameError("the game was solved with other parameters: solve it anew, or choose another player")
    return f"solved(file={solution['file']!r})" if solution["file"] else "solved"

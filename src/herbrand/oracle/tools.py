"""The tools as functions from JSON to JSON, called in the subprocess.

Every tool takes `game`, the name of a bundled game or the text of a rulesheet; most take `moves`, the joint
moves from the initial state as `herbrand.machine.joint_text` reads them; a `budget` is in seconds.  Answers
are bounded.  Errors are exceptions of `herbrand.errors`, whose messages are for the model.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import wraps
from random import Random
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar

from herbrand import games
from herbrand.analyse.budget import Budget
from herbrand.errors import GameError, IllegalMoveError, InvalidMoveError, MissingExtra
from herbrand.machine.joint_text import in_kif, read_joint
from herbrand.machine.trajectory import Trajectory
from herbrand.oracle.bounds import bounded
from herbrand.runtime.limits import Limits
from herbrand.web.inspector import Inspector, game_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.game import Game

__all__ = ["Tools"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

MAX_TEXT: Final = 400_000
"""Characters of a rulesheet."""
MAX_PICTURE: Final = 300_000
"""Characters of a picture as SVG."""
MAX_SIDE: Final = 1200.0
"""Pixels of the longer side of a picture as PNG."""
MAX_MOVES: Final = 2_000
"""Joint moves from the initial state."""
STATES: Final = 300_000
MEGABYTES: Final = 1000.0
_NAME: Final = re.compile(r"[\w.\-]{1,60}")
_inspector: Final = Inspector()


def _bounded(
    function: Callable[Concatenate[_T, _P], dict[str, Any]],
) -> Callable[Concatenate[_T, _P], dict[str, Any]]:
    """Bound the answer of an action; a picture or a page comes on top."""

    @wraps(function)
    def answer(self: _T, /, *args: _P.args, **kwargs: _P.kwargs) -> dict[str, Any]:
        value = function(self, *args, **kwargs)
        uncut = {key: value.pop(key) for key in ("svg", "png", "page") if key in value}
        return bounded(value) | uncut

    return answer


class Tools:
    """The actions of the subprocess, one for each tool."""

    ACTIONS: Final = (
        *("check", "repair", "convert"),
        *("show", "legal_moves", "step", "why", "draw", "simulate", "choose_move"),
        *("analyse", "solve", "measure", "compare", "publish"),
    )

    # -- texts ------------------------------------------------------------------------------

    @_bounded
    def check(self, game: str, fix: bool = False) -> dict[str, Any]:
        """Return the diagnostics, and with `fix` the text after all fixes."""
        text, name, source = _text(game)
        answer = _inspector.check(text, name=name, source=source)
        lines = text.splitlines()
        for finding in answer["findings"]:
            finding["text"] = "".join(lines[finding["line"] - 1 : finding["line"]]).strip()[:200]
            del finding["start"], finding["end"]
        if fix:
            answer["fixed"] = _inspector.fix(text, -1, name=name)["text"]
        return answer

    @_bounded
    def repair(self, game: str, budget: float, reference: str = "") -> dict[str, Any]:
        """Look for the smallest edit after which the game has all required properties."""
        from herbrand.repair import SENTENCES, edited_text, repair

        broken = _game(game)
        search = repair(broken, reference=_game(reference) if reference else None, seconds=budget)
        report = search.as_json()
        return {
            "faults": [*search.errors, *(SENTENCES[fault][0] for fault in search.faults)],
            "difference": report["difference"],
            "repairs": [
                {
                    "edits": data["edits"],
                    "proved": data["proved"],
                    "text": edited_text(broken.tree, one.edits),
                }
                for data, one in zip(report["repairs"][:3], search.repairs, strict=False)
            ],
            "minimal": report["minimal"],
            "tried": search.tried,
        }

    @_bounded
    def convert(self, game: str, to: str) -> dict[str, Any]:
        """Return the rules in another notation."""
        text, name, _ = _text(game)
        if to == "ggdl":
            from herbrand.convert.notation import ggdl

            return {"text": str(ggdl(_sound(game)))}
        return _inspector.convert(text, to, name=name)

    # -- play -------------------------------------------------------------------------------

    @_bounded
    def show(self, game: str, moves: Sequence[str] = (), seed: int = 0) -> dict[str, Any]:
        """Return the state after some joint moves."""
        return _view(_sound(game), _play(game, moves, seed))

    @_bounded
    def legal_moves(
        self, game: str, moves: Sequence[str] = (), role: str = "", seed: int = 0
    ) -> dict[str, Any]:
        """Return the legal moves of one role, or of all."""
        play = _play(game, moves, seed)
        legal = {} if play.state.is_terminal else play.state.legal_moves()
        wanted = [_role(_sound(game), role)] if role else list(legal)
        return {
            "terminal": play.state.is_terminal,
            "legal": {one: [str(move) for move in legal.get(one, ())] for one in wanted},
        }

    @_bounded
    def step(self, game: str, joint_move: str, moves: Sequence[str] = (), seed: int = 0) -> dict[str, Any]:
        """Make one more joint move; return what changed and the state after it."""
        play = _play(game, moves, seed)
        before = set(play.state.facts)
        _make(play, joint_move, Random(seed))
        after = set(play.state.facts)
        change = {"added": sorted(after - before), "removed": sorted(before - after)}
        return {"joint_move": list(play.joint_moves[-1]), **change, **_view(_sound(game), play)}

    @_bounded
    def why(self, game: str, atom: str, moves: Sequence[str] = (), seed: int = 0) -> dict[str, Any]:
        """Explain why an atom holds, or does not."""
        explanation = _play(game, moves, seed).state.why(in_kif(atom))
        return {"holds": explanation.holds, "explanation": str(explanation)}

    @_bounded
    def draw(self, game: str, moves: Sequence[str] = (), seed: int = 0, svg: bool = False) -> dict[str, Any]:
        """Return a state as text and as a picture: PNG in base 64, or SVG where that cannot be made."""
        from herbrand.draw import png

        play = _play(game, moves, seed)
        artist = _sound(game).artist
        drawing = artist.draw(play.state)
        answer = {"text": artist.text(play.state)}
        zoom = min(1.0, MAX_SIDE / max(drawing.width, drawing.height))
        try:
            answer["png"] = b64encode(png(drawing, zoom=zoom)).decode()
        except MissingExtra:
            svg = True
        # half a picture is none
        return answer | ({"svg": drawing.svg} if svg and len(drawing.svg) <= MAX_PICTURE else {})

    @_bounded
    def simulate(self, game: str, playouts: int, seed: int = 0, budget: float = 20.0) -> dict[str, Any]:
        """Play random games; return the statistics of their lengths and goals."""
        statistics = _sound(game).simulate(
            playouts=playouts, seed=seed, threads=1, limits=Limits(seconds=budget)
        )
        return {
            "playouts": statistics.playouts,
            "without_end": statistics.truncated,
            "stuck": statistics.stuck,
            "stopped_because": statistics.stopped or statistics.stuck_in,
            "mean_length": statistics.length,
            "mean_goals": {role: goal.mean for role, goal in statistics.goals.items()},
            "goals": {
                role: {str(value): number for value, number in goal.distribution.items()}
                for role, goal in statistics.goals.items()
            },
        }

    @_bounded
    def choose_move(
        self,
        game: str,
        role: str,
        moves: Sequence[str] = (),
        player: str = "meta",
        clock: float = 2.0,
        seed: int = 0,
    ) -> dict[str, Any]:
        """Return the move that a player chooses for a role."""
        from herbrand.match import LocalMatch

        played = _sound(game)
        match = LocalMatch(played, clock=clock, preparation=clock, seed=seed)
        _continued(match.play, moves, seed)
        name = _role(played, role)
        if match.state.is_terminal:
            raise GameError("the game is over")
        move, report = match.hint(name, player)
        answer: dict[str, Any] = {"role": name, "move": str(move), "player": player}
        if report is not None and report.moves:
            answer["considered"] = [
                {"move": str(one.move), "visits": one.visits, "value": one.value, "proved": one.proved}
                for one in report.moves[:10]
            ]
        return answer

    # -- proofs and measures ----------------------------------------------------------------

    @_bounded
    def analyse(self, game: str, budget: float) -> dict[str, Any]:
        """Prove or refute the required properties."""
        from herbrand.analyse import analyse

        verdicts = analyse(_sound(game), budget=Budget(budget, STATES, MEGABYTES)).as_json()
        for verdict in verdicts["properties"].values():
            verdict.pop("certificate", None)
        return verdicts

    @_bounded
    def solve(self, game: str, budget: float, moves: Sequence[str] = ()) -> dict[str, Any]:
        """Return the value of a state with best play, and the value after each move."""
        from herbrand.analyse import solve

        start = _play(game, moves, 0).state
        if start.is_terminal:
            return {"value": start.goals, "method": "the game is over"}
        return solve(_sound(game), start=start, budget=Budget(budget, STATES, MEGABYTES)).as_json()

    @_bounded
    def measure(self, game: str, budget: float, seed: int = 0) -> dict[str, Any]:
        """Measure balance, skill, drama and the like."""
        from herbrand.measure import measure

        measures = measure(_sound(game), effort="cheap", seed=seed, seconds=budget)
        return {
            "measures": {
                one.name: {"value": one.value, "interval_95": one.interval, "unit": one.unit or None}
                for one in measures
                if one.value is not None
            },
            "remarks": measures.remarks(),
        }

    @_bounded
    def compare(self, first: str, second: str, budget: float) -> dict[str, Any]:
        """Decide whether two games are the same, up to names; return the first difference in play."""
        from herbrand.verify.diff import diff

        result = diff(_sound(first), _sound(second), seconds=budget)
        answer: dict[str, Any] = {"verdict": result.verdict}
        if result.behaviour is not None:
            answer |= {"states": result.behaviour.states, "all_states": result.behaviour.is_complete}
        if (difference := result.difference) is not None:
            answer["difference"] = {
                "what": difference.what,
                "moves": list(difference.moves),
                "only_first": list(difference.first),
                "only_second": list(difference.second),
            }
        return answer

    # -- pages ------------------------------------------------------------------------------

    @_bounded
    def publish(self, game: str, budget: float, title: str = "") -> dict[str, Any]:
        """Return a page of HTML on which people play the game."""
        from herbrand.publish import game_page

        text, name, source = _text(game)
        named = game_of(text, "auto", title or name, source)
        return {"name": named.name, "page": game_page(named, proving=budget)}


# -- games and moves ----------------------------------------------------------------------------


def _text(game: str) -> tuple[str, str, str]:
    """Return the text of a game, its name and its file."""
    if len(game) > MAX_TEXT:
        raise GameError(f"the text has {len(game)} characters; at most {MAX_TEXT} are read")
    name = game.strip()
    if not _NAME.fullmatch(name):
        return game, "game", ""
    try:
        path = games.path(name)
    except FileNotFoundError as error:
        raise GameError(f"{error}; `game` is the name of a bundled game or the text of a rulesheet") from None
    return path.read_text(encoding="utf-8"), path.stem, str(path)


def _game(game: str) -> Game:
    text, name, source = _text(game)
    return game_of(text, "auto", name, source)


def _sound(game: str) -> Game:
    """Return a game that can be played; raise `GameError` with the errors of another."""
    playable = _game(game)
    playable.require_playable()
    return playable


def _role(game: Game, role: str) -> str:
    for name in game.roles:
        if name.lower() == role.strip().lower():
            return name
    raise GameError(f"no role `{role[:60]}`; the roles are {', '.join(game.roles)}")


def _play(game: str, moves: Sequence[str], seed: int) -> Trajectory:
    """Replay joint moves; the move of `random` may be left out, and is then drawn."""
    return _continued(Trajectory.replay(_sound(game), ()), moves, seed)


def _continued(play: Trajectory, moves: Sequence[str], seed: int) -> Trajectory:
    """Make joint moves one after the other."""
    if len(moves) > MAX_MOVES:
        raise GameError(f"{len(moves)} joint moves; at most {MAX_MOVES} are replayed")
    chance = Random(seed)
    for text in moves:
        _make(play, text, chance)
    return play


def _make(play: Trajectory, text: str, chance: Random) -> None:
    """Make a joint move given as text."""
    if play.state.is_terminal:
        raise GameError(f"the game is over after {len(play)} joint moves; `{text[:60]}` is one too many")
    try:
        play.make(read_joint(play.state, text[:10_000], chance))
    except (IllegalMoveError, InvalidMoveError) as error:
        raise type(error)(f"joint move {len(play) + 1}: {error}") from None


def _view(game: Game, play: Trajectory) -> dict[str, Any]:
    """Describe the last state of a play."""
    from herbrand.draw.artist import Artist, caption

    state = play.state
    view: dict[str, Any] = {
        "step": len(play),
        "says": " ".join(caption(state)),
        "terminal": state.is_terminal,
        "goals": state.goals,
        "picture": Artist.of(game).text(state),
        "facts": sorted(state.facts),
        "legal": {}
        if state.is_terminal
        else {role: [str(move) for move in moves] for role, moves in state.legal_moves().items()},
    }
    if game.has_percepts and len(play):
        view["percepts"] = {
            role: list(play.percepts(len(play) - 1, role)) for role in game.roles if role != game.chance_role
        }
    return view

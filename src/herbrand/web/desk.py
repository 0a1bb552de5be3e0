"""Looking at a text, in the child: findings, layout, other notations, what the game looks like, analysis."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import GameError, HerbrandError
from herbrand.game import Game
from herbrand.machine.trajectory import Trajectory
from herbrand.runtime.limits import Limits

if TYPE_CHECKING:
    from herbrand.machine.state import State

__all__ = ["Desk", "game_of"]

QUICK: Final = Limits(seconds=8, atoms=2_000_000)
MOST_FINDINGS: Final = 200
MOST_MOVES: Final = 400
MOST_BRANCHES: Final = 200
"""So many joint moves of a state are shown."""
SOLVING: Final = (20.0, 400_000, 800.0)
"""Seconds, states and megabytes for the value of a state."""
SMALL: Final = 60
"""States of an automaton that is drawn."""


@lru_cache(maxsize=4)
def game_of(
    text: str, notation: str, name: str, source: str, parameters: tuple[tuple[str, Any], ...] = ()
) -> Game:
    """Return the game of a text; the latest ones are kept."""
    from herbrand.syntax import Source, read

    tree = read(Source(text, source or name), notation, parameters=dict(parameters))
    return Game(tree, name=name, limits=QUICK)


class Desk:
    """Answers questions about texts."""

    ACTIONS: Final = (
        *("check", "preview", "why", "layout", "convert", "graph", "fix"),
        *("thumbnail", "facts", "analyse", "explore"),
    )

    def check(
        self, text: str, notation: str = "auto", name: str = "game", source: str = ""
    ) -> dict[str, Any]:
        """Return what reading and checking find, with places as offsets; whether it can be played."""
        game = game_of(text, notation, name, source)
        findings = []
        for one in game.diagnostics[:MOST_FINDINGS]:
            place = one.source.position(one.span.start)
            findings.append(
                {
                    "check": one.check,
                    "severity": one.severity.value,
                    "message": one.message,
                    "line": place.line,
                    "column": place.column,
                    "start": one.span.start,
                    "end": max(one.span.end, one.span.start + 1),
                    "help": one.help,
                    "notes": list(one.notes),
                    "fix": one.fix.message if one.fix is not None else None,
                }
            )
        return {
            "notation": game.tree.notation,
            "findings": findings,
            "more": max(0, len(game.diagnostics) - MOST_FINDINGS),
            "playable": not game.rules.errors,
            "roles": list(game.roles),
            "statements": len(game.tree.statements),
            "parameters": [parameter.as_json() for parameter in game.parameters],
        }

    def fix(self, text: str, number: int, notation: str = "auto", name: str = "game") -> dict[str, Any]:
        """Apply the repair of one finding, or of all (-1); return the new text."""
        from herbrand.diagnostic import apply_fixes

        found = game_of(text, notation, name, "").diagnostics
        if not -1 <= number < len(found):
            raise ValueError("the text has changed since")
        chosen = found if number < 0 else (found[number],)
        fixed, applied = apply_fixes(text, tuple(chosen))
        return {"text": fixed, "applied": len(applied)}

    def layout(self, text: str, notation: str = "auto", name: str = "game") -> dict[str, Any]:
        """Lay a text out the canonical way."""
        from herbrand.syntax.layout import format_text

        tree = game_of(text, notation, name, "").tree
        if any(one.is_error for one in tree.diagnostics):
            raise GameError("a text with syntax errors is left as it is: mend them first")
        if tree.notation == "prefix":
            return {"text": format_text(tree.source)}
        if tree.notation == "ggdl":
            raise GameError("GGDL has no canonical layout")
        return self.convert(text, tree.notation, notation, name)

    def convert(self, text: str, to: str, notation: str = "auto", name: str = "game") -> dict[str, Any]:
        """Write a text in another notation."""
        from herbrand.syntax.printer import print_tree

        if to not in ("prefix", "infix", "prolog"):
            raise ValueError(f"no notation `{to}` to write")
        tree = game_of(text, notation, name, "").tree
        if any(one.is_error for one in tree.diagnostics):
            raise GameError("a text with syntax errors is left as it is: mend them first")
        return {"text": print_tree(tree, to).text}

    def preview(
        self, text: str, moves: list[list[str]], notation: str = "auto", name: str = "game", source: str = ""
    ) -> dict[str, Any]:
        """Return the state after some joint moves: picture, facts, legal moves, goals."""
        from herbrand.draw.artist import Artist, caption

        game = game_of(text, notation, name, source)
        game.require_playable()
        state = Trajectory.replay(game, moves).state
        legal = {} if state.is_terminal else state.legal_moves()
        return {
            "svg": Artist.of(game).draw(state, control=False, stacked=True, style=False).svg,
            "caption": " ".join(caption(state)),
            "facts": sorted(state.facts),
            "over": state.is_terminal,
            "legal": {role: [str(m) for m in some[:MOST_MOVES]] for role, some in legal.items()},
            "goals": state.goals,
        }

    def why(
        self, text: str, atom: str, moves: list[list[str]], notation: str = "auto", name: str = "game"
    ) -> dict[str, Any]:
        """Explain why an atom holds or does not hold after some joint moves."""
        game = game_of(text, notation, name, "")
        game.require_playable()
        explanation = Trajectory.replay(game, moves).state.why(atom)
        return {"holds": explanation.holds, "text": str(explanation)}

    def graph(self, text: str, notation: str = "auto", name: str = "game") -> dict[str, Any]:
        """Return the relations with what each of them depends on, and a drawing."""
        graph = game_of(text, notation, name, "").rules.graph
        rows = []
        for relation in sorted(graph.nodes):
            edges = graph.edges_from(relation)
            on = {("not " if edge.negative else "") + f"{edge.body[0]}/{edge.body[1]}" for edge in edges}
            rows.append(
                {
                    "relation": f"{relation[0]}/{relation[1]}",
                    "on": sorted(on),
                    "recursive": relation in graph.recursive,
                }
            )
        return {"relations": rows, "svg": graph.to_svg()}

    def thumbnail(self, text: str, notation: str, name: str, source: str = "") -> dict[str, Any]:
        """Draw the initial state; say who plays, and what kind of game it is."""
        from herbrand.draw.artist import Artist

        game = game_of(text, notation, name, source)
        game.require_sound()
        if game.is_epistemic:
            raise GameError("what roles know is asked: no single state is drawn")
        artist = Artist.of(game)
        drawn = artist.draw(game.initial_state("rules"), extras=not artist.has_boards)
        return {"svg": drawn.svg, "roles": list(game.roles), "words": _words(game)}

    def facts(self, text: str, notation: str, name: str, source: str = "") -> dict[str, Any]:
        """Return what can be told about a game without playing it."""
        game = game_of(text, notation, name, source)
        return {
            "name": game.name,
            "roles": list(game.roles),
            "players": list(game.players),
            "notation": game.tree.notation,
            "playable": not game.rules.errors and not game.is_epistemic,
            "errors": len(game.rules.errors),
            "parameters": [parameter.as_json() for parameter in game.parameters],
            "words": _words(game),
        }

    def explore(
        self, text: str, notation: str, name: str, path: list[int], source: str = ""
    ) -> dict[str, Any]:
        """Return a state of the game tree: its picture, value, and what every joint move leads to.

        `path` has the number of a joint move for each step, in the order in which they are shown.
        """
        from herbrand.draw.artist import Artist, caption

        game = game_of(text, notation, name, source)
        game.require_playable()
        play, line = Trajectory.replay(game, ()), []
        for number in path:
            joints = _joints(play.state)
            if not 0 <= number < len(joints):
                raise ValueError("there is no such branch of the game tree")
            line.append(_shown(joints[number]))
            play.make(joints[number])
        state = play.state
        value, after = _values(game, state)
        joints = _joints(state)
        return {
            "svg": Artist.of(game).draw(state, control=False, stacked=True, style=False).svg,
            "said": " ".join(caption(state)),
            "line": line,
            "roles": list(game.players),
            "value": value,
            "branches": [
                {
                    "text": _shown(joint),
                    "values": next((after[m] for m in joint.values() if m in after), None),
                }
                for joint in joints[:MOST_BRANCHES]
            ],
            "more": max(0, len(joints) - MOST_BRANCHES),
        }

    def analyse(
        self, text: str, notation: str, name: str, seconds: float = 20.0, playouts: int = 2000
    ) -> dict[str, Any]:
        """Return verdicts, statistics of random games, and the automaton of a small game."""
        from herbrand.analyse.budget import Budget
        from herbrand.analyse.proofs.prove import analyse

        game = game_of(text, notation, name, "")
        told: dict[str, Any] = {"verdicts": None, "statistics": None, "automaton": None, "notes": []}
        try:
            told["verdicts"] = analyse(game, budget=Budget(seconds, 300_000, 1000.0)).as_json()
        except HerbrandError as error:
            told["notes"].append(f"no verdicts: {error}")
        try:
            found = game.simulate(playouts=playouts, seed=1, threads=1, limits=Limits(seconds=seconds))
            told["statistics"] = {
                "playouts": found.playouts,
                "length": found.length,
                "lengths": {str(key): value for key, value in sorted(found.lengths.items())},
                "goals": {
                    role: {
                        "mean": goal.mean,
                        "distribution": {str(k): v for k, v in goal.distribution.items()},
                    }
                    for role, goal in found.goals.items()
                },
            }
        except HerbrandError as error:
            told["notes"].append(f"no statistics: {error}")
        try:
            automaton = game.automaton(limit=SMALL)
            told["automaton"] = automaton.as_svg(most=SMALL)
        except HerbrandError:
            told["notes"].append(f"the game has more than {SMALL} states: they are not drawn")
        return told


def _words(game: Game) -> list[str]:
    """Say a few words about a game that nobody described."""
    from herbrand.check.features import features

    number, found = len(game.players), features(game.rules)
    words = ["one player" if number == 1 else "two players" if number == 2 else f"{number} players"]
    if number > 1:
        words.append("simultaneous" if found.simultaneous else "alternating")
    if game.chance_role is not None:
        words.append("random")
    if game.has_percepts:
        words += ["GDL-II", "incomplete information"]
    if game.parameters:
        words.append("parameters")
    return words


def _joints(state: State) -> list[dict[str, str]]:
    """Return the joint moves of a state, somewhat more than are shown, in order."""
    if state.is_terminal:
        return []
    legal = state.legal_moves()
    some = islice(product(*legal.values()), 10 * MOST_BRANCHES)
    return [dict(zip(legal, map(str, joint), strict=True)) for joint in some]


def _shown(joint: dict[str, str]) -> str:
    chosen = {role: move for role, move in joint.items() if move != "noop"}
    return ", ".join(f"{role} {move.strip('()')}" for role, move in (chosen or joint).items())


def _values(game: Game, state: State) -> tuple[dict[str, float] | None, dict[str, dict[str, float]]]:
    """Return what a state is worth with best play, and what it is worth after each move of who chooses.

    None and nothing where that takes too long, or where the game is none that can be solved so.
    """
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.solving.solve import solve

    if state.is_terminal:
        return {role: value for role, value in state.goals.items() if value is not None}, {}
    try:
        found = solve(game, start=state, budget=Budget(*SOLVING))
    except HerbrandError:
        return None, {}
    return found.value, {move: values for _, move, values in found.root}

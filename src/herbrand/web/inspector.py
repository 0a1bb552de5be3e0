"""Actions on rule texts in the subprocess: diagnostics, layout, notation, preview, analysis."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import GameError, HerbrandError
from herbrand.game import Game
from herbrand.machine.trajectory import Trajectory
from herbrand.runtime.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.machine.state import State
    from herbrand.syntax.tree import Tree

__all__ = ["Inspector", "game_of"]

QUICK: Final = Limits(seconds=8, atoms=2_000_000)
MAX_FINDINGS: Final = 200
MAX_MOVES: Final = 400
MAX_BRANCHES: Final = 200
"""Joint moves of a state that are shown."""
SOLVE_BUDGET: Final = (20.0, 400_000, 800.0)
"""Seconds, states and megabytes for solving a state."""
REPAIR_SECONDS: Final = 60.0
SOLVERS: Final = {"pysat": "python-sat", "scipy": "scipy"}
"""Modules without which proofs of larger games are not found, and their packages."""
MAX_DRAWN_STATES: Final = 60
"""Maximum number of states of an automaton that is drawn."""


@lru_cache(maxsize=4)
def game_of(
    text: str, notation: str, name: str, source: str, parameters: tuple[tuple[str, Any], ...] = ()
) -> Game:
    """Return the game of a text, cached for the most recent texts."""
    from herbrand.syntax import Source, read

    tree = read(Source(text, source or name), notation, parameters=dict(parameters))
    return Game(tree, name=name, limits=QUICK)


def _tree(text: str, notation: str, name: str) -> Tree:
    """Return the tree of a text without syntax errors."""
    tree = game_of(text, notation, name, "").tree
    if any(one.is_error for one in tree.diagnostics):
        raise GameError("fix the syntax errors first")
    return tree


class Inspector:
    """Actions on texts."""

    ACTIONS: Final = (
        *("check", "preview", "why", "layout", "convert", "graph", "fix"),
        *("thumbnail", "facts", "analyse", "explore", "repair"),
    )

    def check(
        self, text: str, notation: str = "auto", name: str = "game", source: str = ""
    ) -> dict[str, Any]:
        """Return the diagnostics, with positions as offsets, and whether the game is playable."""
        game = game_of(text, notation, name, source)
        findings = []
        for diagnostic in game.diagnostics[:MAX_FINDINGS]:
            span = diagnostic.span
            position = diagnostic.source.position(span.start)
            findings.append(
                {
                    "check": diagnostic.check,
                    "severity": diagnostic.severity.value,
                    "message": diagnostic.message,
                    "line": position.line,
                    "column": position.column,
                    "start": span.start,
                    "end": max(span.end, span.start + 1),
                    "help": diagnostic.help,
                    "notes": list(diagnostic.notes),
                    "fix": diagnostic.fix.message if diagnostic.fix is not None else None,
                }
            )
        return {
            "notation": game.tree.notation,
            "findings": findings,
            "more": max(0, len(game.diagnostics) - MAX_FINDINGS),
            "playable": not game.rules.errors,
            "roles": list(game.roles),
            "statements": len(game.tree.statements),
            "parameters": [parameter.as_json() for parameter in game.parameters],
        }

    def fix(self, text: str, number: int, notation: str = "auto", name: str = "game") -> dict[str, Any]:
        """Apply the fix of one diagnostic, or of all (-1); return the new text."""
        from herbrand.diagnostic import apply_fixes

        diagnostics = game_of(text, notation, name, "").diagnostics
        if not -1 <= number < len(diagnostics):
            raise ValueError("the text has changed since it was checked")
        chosen = diagnostics if number < 0 else (diagnostics[number],)
        fixed, applied = apply_fixes(text, tuple(chosen))
        return {"text": fixed, "applied": len(applied)}

    def repair(self, text: str, notation: str = "auto", name: str = "game") -> dict[str, Any]:
        """Look for the smallest edit that repairs a game; `text` is the edited text, or null."""
        from herbrand.repair import SENTENCES, edited_text, repair

        search = repair(game_of(text, notation, name, ""), seconds=REPAIR_SECONDS)
        best = search.repairs[0] if search.repairs else None
        report = search.as_json()
        return {
            "faults": [
                *(f"error {check}" for check in search.errors),
                *(SENTENCES[fault][0] for fault in search.faults),
            ],
            "edits": report["repairs"][0]["edits"] if best is not None else [],
            "properties": [
                [SENTENCES[name][1], verdict.answer == "proved"]
                for name, verdict in (best.verdicts if best is not None else {}).items()
            ],
            "text": edited_text(search.game.tree, best.edits) if best is not None else None,
            "tried": search.tried,
        }

    def layout(self, text: str, notation: str = "auto", name: str = "game") -> dict[str, Any]:
        """Return a text in canonical layout."""
        from herbrand.syntax.layout import format_text

        tree = _tree(text, notation, name)
        if tree.notation == "prefix":
            return {"text": format_text(tree.source)}
        if tree.notation == "ggdl":
            raise GameError("GGDL has no canonical layout")
        return self.convert(text, tree.notation, notation, name)

    def convert(self, text: str, to: str, notation: str = "auto", name: str = "game") -> dict[str, Any]:
        """Return a text in another notation."""
        from herbrand.syntax.printer import print_tree

        if to not in ("prefix", "infix", "prolog"):
            raise ValueError(f"no notation `{to}`")
        tree = _tree(text, notation, name)
        return {"text": print_tree(tree, to).text}

    def preview(
        self, text: str, moves: list[list[str]], notation: str = "auto", name: str = "game", source: str = ""
    ) -> dict[str, Any]:
        """Return picture, facts, legal moves and goals of the state after some joint moves."""
        from herbrand.draw.artist import caption

        game = game_of(text, notation, name, source)
        game.require_playable()
        state = Trajectory.replay(game, moves).state
        legal = {} if state.is_terminal else state.legal_moves()
        return {
            "svg": game.artist.draw(state, control=False, stacked=True, style=False).svg,
            "caption": " ".join(caption(state)),
            "facts": sorted(state.facts),
            "over": state.is_terminal,
            "legal": {role: [str(m) for m in some[:MAX_MOVES]] for role, some in legal.items()},
            "goals": state.goals,
        }

    def why(
        self, text: str, atom: str, moves: list[list[str]], notation: str = "auto", name: str = "game"
    ) -> dict[str, Any]:
        """Explain why an atom holds, or does not, after some joint moves."""
        game = game_of(text, notation, name, "")
        game.require_playable()
        explanation = Trajectory.replay(game, moves).state.why(atom)
        return {"holds": explanation.holds, "text": str(explanation)}

    def graph(self, text: str, notation: str = "auto", name: str = "game") -> dict[str, Any]:
        """Return the dependency graph of the relations as data and as SVG."""
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
        """Return a picture of the initial state, the roles, and tags for the kind of game."""
        game = game_of(text, notation, name, source)
        game.require_sound()
        if game.is_epistemic:
            raise GameError("epistemic games have no picture of a single state")
        artist = game.artist
        drawing = artist.draw(game.initial_state("rules"), extras=not artist.has_boards)
        return {"svg": drawing.svg, "roles": list(game.roles), "words": _tags(game)}

    def facts(self, text: str, notation: str, name: str, source: str = "") -> dict[str, Any]:
        """Return basic facts about a game: roles, notation, errors, parameters, features."""
        game = game_of(text, notation, name, source)
        return {
            "name": game.name,
            "roles": list(game.roles),
            "players": list(game.players),
            "notation": game.tree.notation,
            "playable": not game.rules.errors and not game.is_epistemic,
            "errors": len(game.rules.errors),
            "parameters": [parameter.as_json() for parameter in game.parameters],
            "words": _tags(game),
        }

    def explore(
        self, text: str, notation: str, name: str, path: list[int], source: str = ""
    ) -> dict[str, Any]:
        """Return a state of the game tree: its picture, its value and its branches with their values.

        `path` has the index of the joint move of each step; `solved` are the roles for which branches have
        values.
        """
        from herbrand.draw.artist import caption

        game = game_of(text, notation, name, source)
        game.require_playable()
        play, line = Trajectory.replay(game, ()), []
        for number in path:
            joints = _joint_moves(play.state)
            if not 0 <= number < len(joints):
                raise ValueError("no such branch of the game tree")
            line.append(_format_joint(joints[number], game.artist.say))
            play.make(joints[number])
        state = play.state
        value, after = _values(game, state)
        joints = _joint_moves(state)
        solved = set().union(*after.values())
        return {
            "svg": game.artist.draw(
                state, control=False, stacked=True, style=False, tables=not game.artist.has_boards
            ).svg,
            "said": " ".join(caption(state)),
            "line": line,
            "roles": list(game.players),
            "solved": [role for role in game.players if role in solved],
            "value": value,
            "branches": [
                {
                    "text": _format_joint(joint, game.artist.say),
                    "values": next((after[m] for m in joint.values() if m in after), None),
                }
                for joint in joints[:MAX_BRANCHES]
            ],
            "more": max(0, len(joints) - MAX_BRANCHES),
        }

    def analyse(
        self,
        text: str,
        notation: str,
        name: str,
        source: str = "",
        seconds: float = 20.0,
        playouts: int = 2000,
    ) -> dict[str, Any]:
        """Return verdicts, statistics of random games and, for a small game, its automaton."""
        from herbrand.analyse.budget import Budget
        from herbrand.analyse.proofs.prove import analyse

        game = game_of(text, notation, name, source)
        results: dict[str, Any] = {"verdicts": None, "statistics": None, "automaton": None, "notes": []}
        try:
            results["verdicts"] = analyse(game, budget=Budget(seconds, 300_000, 1000.0)).as_json()
        except HerbrandError as error:
            results["notes"].append(f"no verdicts: {error}")
        else:
            verdicts = results["verdicts"]["properties"].values()
            missing = [name for module, name in SOLVERS.items() if find_spec(module) is None]
            if missing and any(verdict["verdict"] == "unknown" for verdict in verdicts):
                results["notes"].append(
                    f"{' and '.join(missing)} not installed, with which more can be proved: "
                    "pip install 'herbrand[analyse]', or '.[analyse]' in a checkout"
                )
        try:
            statistics = game.simulate(playouts=playouts, seed=1, threads=1, limits=Limits(seconds=seconds))
            results["statistics"] = {
                "playouts": statistics.playouts,
                "length": statistics.length,
                "lengths": {str(key): value for key, value in sorted(statistics.lengths.items())},
                "goals": {
                    role: {
                        "mean": goal.mean,
                        "distribution": {str(k): v for k, v in goal.distribution.items()},
                    }
                    for role, goal in statistics.goals.items()
                },
            }
        except HerbrandError as error:
            results["notes"].append(f"no statistics: {error}")
        try:
            results["automaton"] = game.automaton(limit=MAX_DRAWN_STATES).as_svg(most=MAX_DRAWN_STATES)
        except HerbrandError:
            results["notes"].append(f"no drawing of the states: there are more than {MAX_DRAWN_STATES}")
        return results


def _tags(game: Game) -> list[str]:
    """Return tags for a game without metadata, derived from its rules."""
    from herbrand.check.features import features

    number = len(game.players)
    words = ["one player" if number == 1 else "two players" if number == 2 else f"{number} players"]
    if number > 1:
        words.append("simultaneous" if features(game.rules).simultaneous else "alternating")
    if game.chance_role is not None:
        words.append("random")
    if game.has_percepts:
        words += ["GDL-II", "incomplete information"]
    if game.parameters:
        words.append("parameters")
    return words


def _joint_moves(state: State) -> list[dict[str, str]]:
    """Return the joint moves of a state in order, at most ten times as many as are shown."""
    if state.is_terminal:
        return []
    legal = state.legal_moves()
    some = islice(product(*legal.values()), 10 * MAX_BRANCHES)
    return [dict(zip(legal, map(str, joint), strict=True)) for joint in some]


def _format_joint(joint: dict[str, str], say: Callable[[str], str]) -> str:
    moves = {role: move for role, move in joint.items() if move != "noop"}
    return ", ".join(f"{role}: {say(move)}" for role, move in (moves or joint).items())


def _values(game: Game, state: State) -> tuple[dict[str, float] | None, dict[str, dict[str, float]]]:
    """Return the values of a state with best play, and the values after each move of the role that chooses.

    Returns `(None, {})` if solving exceeds its budget or is not possible for this game.
    """
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.solving.solve import solve

    if state.is_terminal:
        return {role: value for role, value in state.goals.items() if value is not None}, {}
    try:
        solution = solve(game, start=state, budget=Budget(*SOLVE_BUDGET))
    except HerbrandError:
        return None, {}
    return solution.value, {move: values for _, move, values in solution.root}

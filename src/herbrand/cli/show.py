"""`herbrand show`: show a state, its legal moves and explanations."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import click

from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.knowledge import knowledge_after, knowledge_text
from herbrand.cli.moves import line_of_play
from herbrand.cli.options import JSON, MOVES, roles_named
from herbrand.cli.output import columns, count, goals_line, painter, remark, result, write_json
from herbrand.errors import InvalidMoveError
from herbrand.machine.joint_text import in_kif, split_terms

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.machine.state import State

__all__ = ["command"]


@click.command("show")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@MOVES
@click.option(
    "--state", "facts", metavar="FACTS", help="Start from these facts instead of the initial state."
)
@click.option("--why", metavar="TEXT", multiple=True, help="Explain why this atom holds.")
@click.option("--why-not", metavar="TEXT", multiple=True, help="Explain why this atom does not hold.")
@click.option(
    "--knows", metavar="ROLE", multiple=True, help="Show the knowledge of this role instead of the state."
)
@click.option("--seed", type=int, default=0, help="For moves of `random` that MOVES omits.")
@click.option("--goals", is_flag=True, help="Show the goals even if the game is not over.")
@JSON
def command(
    file: str,
    notation: str,
    moves: str | None,
    facts: str | None,
    why: tuple[str, ...],
    why_not: tuple[str, ...],
    knows: tuple[str, ...],
    seed: int,
    goals: bool,
    as_json: bool,
) -> None:
    """Show a state: board, legal moves, goals, and why something holds.

    Joint moves are separated by `;`, their moves by `,` in role order. A role with one legal move may be
    omitted; so may `random`, whose move is then drawn. FACTS is a list such as "(cell 1 1 x) (control
    white)".
    """
    game = read_game(file, notation)
    if game.is_epistemic and not game.rules.errors:
        from herbrand.cli.epistemic import show

        if knows or facts is not None or why or why_not:
            raise click.UsageError("epistemic games allow only --moves")
        show(game, moves or "", seed, as_json=as_json)
        return
    state = game.initial_state("rules")
    if facts is not None:
        state = game.state(_facts(facts), "rules")
    knowers = roles_named(knows, game.roles, "--knows")
    if knowers and facts is not None:
        raise click.UsageError("--knows and --state are mutually exclusive")
    play = line_of_play(state, moves or "", Random(seed))
    state, played = play.state, play.joint_moves
    percepts = [{role: play.percepts(step, role) for role in game.roles} for step in range(len(play))]
    knowledge = [knowledge_after(game, role, played, state) for role in knowers]
    explained = [(text, state.why(in_kif(text))) for text in (*why, *why_not)]
    if as_json:
        write_json(
            {
                "game": game.name,
                "step": len(played),
                "moves": [list(joint) for joint in played],
                "percepts": [{role: list(terms) for role, terms in step.items()} for step in percepts],
                "facts": sorted(state.facts),
                "terminal": state.is_terminal,
                "legal": {role: [str(m) for m in legal] for role, legal in state.legal_moves().items()},
                "goals": dict(state.goals),
                **({"knows": [known.as_json() for known in knowledge]} if knowledge else {}),
                "why": [{"text": text, "holds": e.holds, "explanation": str(e)} for text, e in explained],
            }
        )
        return
    if explained:
        result("\n\n".join(str(explanation) for _, explanation in explained))
        for i, (text, explanation) in enumerate(explained):
            if explanation.holds is not (i < len(why)):
                remark(f"note: `{text}` {'holds' if explanation.holds else 'does not hold'} here")
        return
    if knowledge:
        result("\n\n".join(map(knowledge_text, knowledge)))
        return
    start = "initial state" if facts is None else "the state given"
    when = f"{count(len(played), 'step')} after the {start.removeprefix('the ')}" if played else start
    result(_picture(game, state, when, _percepts(game, percepts), goals=goals))


def _percepts(game: Game, steps: list[dict[str, tuple[str, ...]]]) -> str:
    """Describe the percepts of the last step; empty for games without percepts."""
    if not steps or not game.has_percepts:
        return ""
    return "\n".join(
        f"{role} saw {', '.join(terms) if terms else 'nothing'}"
        for role, terms in steps[-1].items()
        if role != game.chance_role
    )


def _facts(text: str) -> list[str]:
    """Parse the facts of a state; `(true f)` is the same as `f`."""
    try:
        terms = split_terms(text)
    except InvalidMoveError as error:
        raise click.BadParameter(str(error), param_hint="--state") from error
    return [term[len("(true ") : -1] if term.lower().startswith("(true ") else term for term in terms]


def _picture(game: Game, state: State, when: str, percepts: str, *, goals: bool) -> str:
    """Draw a state with percepts, legal moves and goals."""
    parts = [f"{game.name}, {when}", game.artist.text(state, paint=painter())]
    if percepts:
        parts.append(percepts)
    if state.is_terminal:
        parts.append("the game is over")
    else:
        parts.append("\n".join(_legal(role, list(map(str, m))) for role, m in state.legal_moves().items()))
    if state.is_terminal or goals:
        parts.append(f"goals: {goals_line(state.goals)}")
    return "\n\n".join(parts)


def _legal(role: str, moves: list[str]) -> str:
    if not moves:
        return f"{role} has no legal move"
    if len(moves) == 1:
        return f"{role} can only play {moves[0]}"
    return f"{role} has {count(len(moves), 'legal move')}:\n{columns(moves, indent='  ')}"

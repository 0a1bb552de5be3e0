"""`herbrand replay`: show a recorded match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.contest import find_player
from herbrand.cli.options import json_option
from herbrand.cli.output import count, goals_line, painter, remark, result, write_json
from herbrand.cli.sources import OF_GAME, SOURCE, records_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.match.records import MatchRecord
    from herbrand.play.annotate import Annotation

__all__ = ["command"]


@click.command("replay")
@click.argument("source", metavar="DB|JSON", type=SOURCE)
@click.argument("match", metavar="[ID]", required=False)
@click.option("--step", type=click.IntRange(0), help="Show only the state after this step.")
@click.option("--brief", is_flag=True, help="Show only the moves.")
@OF_GAME
@click.option("--annotate", is_flag=True, help="Annotate every move with the judgement of a program.")
@click.option("--player", "who", metavar="PLAYER", default="mcts", help="The program for --annotate.")
@click.option("--clock", type=click.FloatRange(0), default=1.0, help="Its seconds for a move.")
@json_option("Print the states as JSON.")
def command(
    source: str,
    match: str | None,
    step: int | None,
    game: str | None,
    who: str,
    clock: float,
    *,
    brief: bool,
    annotate: bool,
    as_json: bool,
) -> None:
    """Show a recorded match, state by state.

    Without ID the last match is shown. With --annotate a program judges each move: its value, a better
    move, and the expected continuation.
    """
    from herbrand.match.records import RecordError
    from herbrand.match.records.ggpbase import replayed
    from herbrand.match.records.resume import game_of
    from herbrand.play.annotate import annotate as annotate_moves

    records = list(records_in(source, (match,) if match else (), game))
    if not records:
        raise RecordError(f"no match in `{source}`")
    record = records[-1]
    rules = game_of(record)
    states = replayed(record, rules)
    if step is not None and step >= len(states):
        raise click.BadParameter(f"the match has {count(len(record.moves), 'step')}", param_hint="--step")
    steps = range(len(states)) if step is None else [step]
    annotations: Iterator[Annotation] = iter(())
    if annotate:
        find_player(who)
        first = 0 if step is None else max(0, step - 1)
        moves = record.moves[first:step]
        annotations = annotate_moves(rules, states[first], moves, player=who, clock=clock, first=first + 1)
    if as_json:
        by_step: dict[int, list[dict[str, Any]]] = {}
        for annotation in annotations:
            by_step.setdefault(annotation.step, []).append(annotation.as_json())
        write_json(
            [
                {
                    "step": number,
                    "moves": list(record.moves[number - 1]) if number else None,
                    "facts": sorted(states[number].facts),
                    "terminal": states[number].is_terminal,
                    "goals": states[number].goals if states[number].is_terminal else None,
                    **({"annotations": by_step.get(number, [])} if annotate else {}),
                }
                for number in steps
            ]
        )
        return
    players = ", ".join(f"{role} is {name}" for role, name in record.players.items())
    result(f"{record.game}, match {record.id}: {players}")
    upcoming = next(annotations, None)
    for number in steps:
        if number:
            _step(record, number)
        while upcoming is not None and upcoming.step <= number:
            result(f"     {upcoming}")
            upcoming = next(annotations, None)
        if not brief or step is not None:
            result(f"\n{rules.artist.text(states[number], paint=painter())}\n")
    if step is None:
        length = count(len(record.moves), "step")
        if states[-1].is_terminal:
            result(f"the game is over after {length}: {goals_line(states[-1].goals)}")
        else:
            result(f"the record ends after {length}: {record.reason}")


def _step(record: MatchRecord, number: int) -> None:
    opening = "  (opening)" if number <= len(record.opening) else ""
    result(f"{number:>3}  {'  '.join(record.moves[number - 1])}{opening}")
    for problem in record.problems:
        if problem.step == number:
            remark(f"     {problem.role}: {problem.kind}: {problem.note}; played {problem.played} instead")

"""`herbrand replay`: show a recorded match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.options import json_option
from herbrand.cli.output import count, goals_line, remark, result, write_json
from herbrand.cli.sources import OF_GAME, SOURCE, records_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.match.records import MatchRecord
    from herbrand.play.annotate import Annotation

__all__ = ["command"]


@click.command("replay")
@click.argument("source", metavar="DB|JSON", type=SOURCE)
@click.argument("match", metavar="[ID]", required=False)
@click.option("--step", type=click.IntRange(0), help="Only the state after so many steps.")
@click.option("--brief", is_flag=True, help="Only the moves, not the states.")
@OF_GAME
@click.option("--annotate", is_flag=True, help="Say of every move what a program thinks of it.")
@click.option(
    "--player",
    "who",
    metavar="PLAYER",
    default="mcts",
    show_default=True,
    help="The program with --annotate.",
)
@click.option(
    "--clock", type=click.FloatRange(0), default=1.0, show_default=True, help="Its seconds for a move."
)
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
    """Show a recorded match, state by state, by playing it again.

    Without ID the last match is shown. With --annotate a program looks at each move: what it was worth,
    what would have been better, and how the game would have gone on.
    """
    from herbrand.match.records import RecordError
    from herbrand.match.records.ggpbase import replayed
    from herbrand.match.records.resume import game_of
    from herbrand.play.annotate import annotate as annotated
    from herbrand.play.registry import NoSuchPlayer, make_player

    records = list(records_in(source, (match,) if match else (), game))
    if not records:
        raise RecordError(f"there is no match in `{source}`")
    record = records[-1]
    rules = game_of(record)
    states = replayed(record, rules)
    if step is not None and step >= len(states):
        raise click.BadParameter(f"the match has {count(len(record.moves), 'step')}", param_hint="--step")
    wanted = range(len(states)) if step is None else [step]
    remarks: Iterator[Annotation] = iter(())
    if annotate:
        try:
            make_player(who)
        except NoSuchPlayer as error:
            raise click.BadParameter(str(error), param_hint="--player") from error
        begin, moves = (
            (0, record.moves) if step is None else (max(0, step - 1), record.moves[max(0, step - 1) : step])
        )
        remarks = annotated(rules, states[begin], moves, player=who, clock=clock, first=begin + 1)
    if as_json:
        thoughts: dict[int, list[dict[str, Any]]] = {}
        for thought in remarks:
            thoughts.setdefault(thought.step, []).append(thought.as_json())
        write_json(
            [
                {
                    "step": number,
                    "moves": list(record.moves[number - 1]) if number else None,
                    "facts": sorted(states[number].facts),
                    "terminal": states[number].is_terminal,
                    "goals": states[number].goals if states[number].is_terminal else None,
                    **({"annotations": thoughts.get(number, [])} if annotate else {}),
                }
                for number in wanted
            ]
        )
        return
    who = ", ".join(f"{role} is {name}" for role, name in record.players.items())
    result(f"{record.game}, match {record.id}: {who}")
    ahead = next(remarks, None)
    for number in wanted:
        if number:
            _step(record, number)
        while ahead is not None and ahead.step <= number:
            result(f"     {ahead}")
            ahead = next(remarks, None)
        if not brief or step is not None:
            result(f"\n{rules.artist.text(states[number])}\n")
    if step is None:
        steps = count(len(record.moves), "step")
        if states[-1].is_terminal:
            result(f"the game is over after {steps}: {goals_line(states[-1])}")
        else:
            result(f"the record ends after {steps}: {record.reason}")


def _step(record: MatchRecord, number: int) -> None:
    forced = "  (opening)" if number <= len(record.opening) else ""
    result(f"{number:>3}  {'  '.join(record.moves[number - 1])}{forced}")
    for problem in record.problems:
        if problem.step == number:
            remark(f"     {problem.role}: {problem.kind}: {problem.note}; played {problem.played} instead")

"""`herbrand tournament`: play a tournament and rate the players."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.contest import clocks, find_player, forfeit_after, record_in, substitute
from herbrand.cli.files import FILE, read_game
from herbrand.cli.options import OUTPUT_FILE, json_option, max_steps
from herbrand.cli.output import count, remark, result, table, write_json
from herbrand.cli.workers import numbered, worker_options, workers

if TYPE_CHECKING:
    from herbrand.match.records import Store
    from herbrand.match.tournament import Tournament
    from herbrand.match.tournament.results import Leg, Results

__all__ = ["command"]


@click.command("tournament")
@click.argument("files", metavar="[FILE]...", type=FILE, nargs=-1)
@click.option(
    "--player",
    "players",
    metavar="[NAME=]PLAYER",
    multiple=True,
    help="A player of `herbrand players`, `process:` and one of them, or HOST:PORT (HOST:PORT/ if it has the "
    "token in HERBRAND_TOKEN, HOST:PORT#KEY if it signs its replies with this key); NAME= gives it a name.",
)
@click.option(
    "--kind",
    type=click.Choice(["round-robin", "swiss", "ladder"]),
    default="round-robin",
    help="The pairing system.",
)
@click.option("--rounds", type=click.IntRange(1), default=1, help="Number of rounds.")
@click.option(
    "--opening", type=click.IntRange(0), default=0, help="Number of random steps that begin each match."
)
@click.option("--seed", type=int, default=0, help="Determines openings, chance and players.")
@clocks(5, 1)
@substitute("it loses")
@forfeit_after
@max_steps(1000, "Maximum number of steps of a match.")
@click.option("--scramble", is_flag=True, help="Scramble the names in the rules for players.")
@click.option("--name", metavar="NAME", help="The name of the tournament in the database.")
@record_in("Record the tournament in this database.")
@click.option("--resume", is_flag=True, help="Resume a tournament of the database.")
@worker_options("Number of worker processes.  [default: half of the cores]", "--workers")
@click.option(
    "--at-once",
    type=click.IntRange(1),
    default=1,
    help="Maximum number of concurrent matches of a remote player.",
)
@click.option("--html", metavar="OUT", type=OUTPUT_FILE, help="Write a report with plots.")
@click.option("--plot", metavar="OUT", type=OUTPUT_FILE, help="Write a plot of the ratings (SVG).")
@json_option("Print the results as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    players: tuple[str, ...],
    name: str | None,
    database: str | None,
    resume: bool,
    jobs: int | None,
    cluster: str | None,
    at_once: int,
    html: str | None,
    plot: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Play a tournament and rate the players.

    Two players meet in encounters: the same game, opening and chance, once with each assignment of
    roles. With --record the tournament is stored and can be resumed with --resume; without FILE the
    results of a recorded tournament are shown. Exit status 1 if a match has no result.
    """
    from herbrand.match.records import Store
    from herbrand.match.tournament import Tournament

    with ExitStack() as stack:
        if not files:
            if database is None:
                raise click.UsageError("give FILE, or --record DB to show a tournament")
            store = stack.enter_context(Store(database, create=False, write=resume))
            tournament = Tournament(store, name or _last(store))
        else:
            if resume:
                raise click.UsageError("--resume allows no FILE")
            if len(players) < 2:
                raise click.UsageError("give --player at least twice")
            folder = "" if database else stack.enter_context(tempfile.TemporaryDirectory())
            store = stack.enter_context(Store(database or Path(folder, "tournament.db")))
            name = name or f"tournament-{len(Tournament.names(store)) + 1}"
            tournament = _new(store, files, players, name=name, **settings)
        if files or resume:

            def listen(game: str, leg: Leg, played: int, total: int) -> None:
                if not as_json:
                    remark(f"{played:>{len(str(total))}} of {total}  {_line(game, leg)}")

            with workers(None if cluster is None else jobs, cluster) as executor:
                tournament.run(
                    executor,
                    workers=jobs or max(1, (os.cpu_count() or 2) // 2),
                    at_once=at_once,
                    listener=listen,
                )
        results = tournament.results()
    if html is not None or plot is not None:
        from herbrand.match.tournament import report
        from herbrand.runtime.files import write_atomically

        for path, render in ((html, report.page), (plot, report.plot)):
            if path is not None:
                write_atomically(path, render(results))
                remark(f"wrote {path}")
    if as_json:
        write_json(results.as_json())
    else:
        _show(results)
    if results.unsettled:
        ctx.exit(1)


def _last(store: Store) -> str:
    from herbrand.match.records import RecordError
    from herbrand.match.tournament import Tournament

    names = Tournament.names(store)
    if not names:
        raise RecordError(f"no tournament in `{store.path}`")
    return names[-1]


def _new(store: Store, files: tuple[str, ...], players: tuple[str, ...], **options: object) -> Tournament:
    """Create a tournament after checking that the local players exist."""
    from herbrand.match.tournament import Tournament
    from herbrand.match.tournament.job import is_remote
    from herbrand.match.tournament.runner import as_players, plan_with

    by_name = as_players(list(players))
    for text in by_name.values():
        if not is_remote(text):
            find_player(text.removeprefix("process:"), elsewhere=True)
    games = list(map(read_game, files))
    names = numbered(game.name for game in games)
    return Tournament.create(store, plan_with(dict(zip(names, games, strict=True)), by_name, **options))


def _line(game: str, leg: Leg) -> str:
    if leg.goals is not None:
        goals = zip(leg.seats, leg.goals, strict=True)
        text = ", ".join(f"{name} {'-' if goal is None else goal}" for name, goal in goals)
    else:
        ending = f"{leg.forfeit} forfeits" if leg.forfeit else f"no result, {leg.reason}"
        text = f"{', '.join(leg.seats)}: {ending}"
    bad = sum(moves.total for moves in leg.replaced)
    replaced = f", {count(bad, 'move')} replaced" if bad else ""
    return f"{game}: {text} ({count(leg.steps, 'step')}{replaced})"


def _show(results: Results) -> None:
    """Print the tables."""
    kind = results.kind.replace("-", " ")
    result(
        f"{results.name}: {kind}, {count(results.rounds, 'round')}, {count(len(results.games), 'game')}, "
        f"{results.played} of {results.matches} matches played\n"
    )
    header, rows = results.standings()
    result(table(rows, header, right=range(1, len(header))))
    if results.ladder is not None:
        result(f"\nthe ladder: {', '.join(results.ladder)}")
    names = [row["player"] for row in results.table]
    result("")

    def score_of(one: str, two: str) -> str:
        score = results.head_to_head.get(one, {}).get(two)
        return "" if score is None else f"{score['score']:g}/{score['games']:g}"

    lines = [[one, *(score_of(one, two) for two in names)] for one in names]
    result(table(lines, ["head to head", *names], right=range(1, len(names) + 1)))
    if len(results.games) > 1:
        header, rows = results.game_standings()
        result("")
        result(table(rows, header, right=range(2, len(header))))
    if results.unsettled:
        remark(f"\n{count(len(results.unsettled), 'match')} without a result:")
        for entry in results.unsettled[:20]:
            remark(f"  {entry['match']} ({entry['game']}): {entry['reason']}")

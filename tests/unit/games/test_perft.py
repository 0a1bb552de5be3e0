"""Perft: how many sequences of joint moves of each length there are, for every bundled game with a table.

A table is a file `tests/perft/GAME.perft`.  After comments (`;` to the end of the line) it has lines
`depth count [terminal]`: the number of sequences of that many joint moves from the initial state, where
nothing continues a state that is terminal, and how many of them end in a terminal state.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import herbrand
from herbrand import games

if TYPE_CHECKING:
    from herbrand.machine.state import State

TABLES = Path(__file__).parents[2] / "perft"
QUICK = 400
"""States to go through below which a row runs in every test."""
SLOW = 20_000
"""The same with --slow; rows beyond are for engines that are faster than the rules."""


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    depth: int
    count: int
    terminal: int | None


def read_table(path: Path) -> list[Row]:
    """Read a table; `ValueError` with the place for a line that is no row, or out of order."""
    rows: list[Row] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split(";")[0].split()
        if not words:
            continue
        if len(words) not in (2, 3) or not all(map(str.isdecimal, words)):
            raise ValueError(f"{path.name}:{number}: not `depth count [terminal]`: {line!r}")
        row = Row(int(words[0]), int(words[1]), int(words[2]) if len(words) == 3 else None)
        if row.depth != len(rows) + 1:
            raise ValueError(f"{path.name}:{number}: depth {row.depth} where {len(rows) + 1} was due")
        rows.append(row)
    if not rows:
        raise ValueError(f"{path.name}: no rows")
    return rows


def after_one_move(levels: Counter[State]) -> Counter[State]:
    """The states one joint move later, with the number of sequences that lead to each.

    Equal states are followed once: the sequences are counted, not walked.
    """
    result: Counter[State] = Counter()
    for state, ways in levels.items():
        if not state.is_terminal:
            for joint in product(*state.legal_moves().values()):
                result[state.next(joint)] += ways
    return result


def sequences(state: State, depth: int) -> int:
    """The number of sequences of so many joint moves."""
    levels = Counter({state: 1})
    for _ in range(depth - 1):
        levels = after_one_move(levels)
    return last_moves(levels) if depth else 1


def last_moves(levels: Counter[State]) -> int:
    """The number of sequences one joint move later, without making these moves."""
    return sum(ways * joint_moves(state) for state, ways in levels.items())


def joint_moves(state: State) -> int:
    """How many joint moves a state has; none when it is terminal."""
    return 0 if state.is_terminal else prod(map(len, state.legal_moves().values()))


def divided(state: State, depth: int) -> str:
    """The count under each first joint move, to find out where two programs differ."""
    lines = [
        f"    {sequences(state.next(joint), depth - 1):>10}  {' '.join(map(str, joint))}"
        for joint in product(*state.legal_moves().values())
    ]
    return "\n".join(lines)


def differences(state: State, rows: list[Row], low: int, high: int) -> str:
    """Compare the rows that take more than `low` and at most `high` states; say what is wrong, or nothing.

    Where the last moves would be too many to make, they are only counted, and the terminal states are
    left out.
    """
    levels = Counter({state: 1})
    work = 0
    for row in rows:
        work += len(levels)
        if work > high:
            break
        count, ended = last_moves(levels), row.terminal
        work += sum(map(joint_moves, levels))
        if work <= high:
            levels = after_one_move(levels)
            if ended is not None:
                ended = sum(ways for after, ways in levels.items() if after.is_terminal)
        if work > low and (count, ended) != (row.count, row.terminal):
            return (
                f"depth {row.depth}: {count} sequences, {ended} ended; "
                f"the table has {row.count}, {row.terminal}\n{divided(state, row.depth)}"
            )
    return ""


PATHS = sorted(TABLES.glob("*.perft"))
NAMES = [path.stem for path in PATHS]


def test_there_are_tables_and_each_belongs_to_a_game() -> None:
    """Every table has its bundled game."""
    assert len(NAMES) >= 10
    assert set(NAMES) <= set(games.names())


@pytest.mark.slow_except(*(name for name in NAMES if name != "chess"))  # whose counts are in test_games_board
@pytest.mark.parametrize("name", NAMES)
def test_perft(name: str) -> None:
    """The rulesheet has as many sequences as its table says, as deep as is quick."""
    rows = read_table(TABLES / f"{name}.perft")
    wrong = differences(herbrand.load(name).initial_state(), rows, -1, QUICK)
    assert not wrong, f"{name}, {wrong}"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_perft_deeper(name: str) -> None:
    """The same for the rows that take longer."""
    rows = read_table(TABLES / f"{name}.perft")
    wrong = differences(herbrand.load(name).initial_state(), rows, QUICK, SLOW)
    assert not wrong, f"{name}, {wrong}"


@pytest.mark.parametrize("name", NAMES)
def test_page_of_facts_repeats_the_table(name: str) -> None:
    """What `games.info` says about perft is what the table says."""
    rows = read_table(TABLES / f"{name}.perft")
    page = games.info(name)["perft"]
    assert [(row["depth"], row["states"]) for row in page] == [(row.depth, row.count) for row in rows]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 4\n3 56\n", "two.perft:2: depth 3 where 2 was due"),
        ("; nothing\n1 four\n", "two.perft:2: not `depth count"),
        ("1 4 0 0\n", "two.perft:1: not `depth count"),
        ("; only a comment\n", "two.perft: no rows"),
    ],
)
def test_a_faulty_table_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """Rows out of order, words for numbers and empty tables are told with their place."""
    file = tmp_path / "two.perft"
    file.write_text(text)
    with pytest.raises(ValueError, match="^" + message.replace("[", r"\[")):
        read_table(file)


def test_a_wrong_row_is_shown_under_each_first_move() -> None:
    """The message has the counts, and one line for each first joint move, which add up."""
    state = herbrand.load("reversi").initial_state()
    wrong = differences(state, [Row(1, 4, 0), Row(2, 13, 0)], -1, QUICK)
    assert wrong.splitlines()[0] == "depth 2: 12 sequences, 0 ended; the table has 13, 0"
    lines = wrong.splitlines()[1:]
    assert len(lines) == 4
    assert sum(int(line.split()[0]) for line in lines) == 12
    assert any(line.endswith("(place c 4) noop") for line in lines)
    assert differences(state, [Row(1, 4, 0), Row(2, 12, None)], -1, QUICK) == ""

"""Measure the strength of players: against each other, against OpenSpiel's search, and against perfect play.

    python benchmarks/strength.py openspiel [GAME...] [--games N] [--clock S] [--players A,B,...]
    python benchmarks/strength.py players [GAME...] [--games N] [--clock S] [--players A,B,...]
    python benchmarks/strength.py solved [GAME...] [--games N] [--clock S] [--players A,B,...]
    python benchmarks/strength.py edition PYTHON [GAME...] [--games N] [--clock S] [--players A,B,...]
    python benchmarks/strength.py puzzles [SHEET...] [--start S] [--clock S] [--players A,B,...]
    python benchmarks/strength.py rates [GAME...] [--clock S]
    python benchmarks/strength.py hidden [GAME...] [--games N] [--clock S] [--players A,B,...]

Every subcommand prints JSON; `edition` and `puzzles` also write it to a file after every game (--json FILE).
Half of the games are played with colours exchanged; the first moves of a game are drawn (`--opening` of
them), and the same ones are used for both colours. `openspiel` needs open_spiel, whose search in C++
(MCTSBot, one random game from each leaf, solving) has the same seconds of processor time, as far as the speed
it had so far tells, so that other work on the machine does not matter. `edition` plays against `mcts` of
another edition, with the same processor time in one thread on both sides; PYTHON is that of the environment
in which it is installed. `puzzles` lets a player play games of one role, each in a process of its own on one
processor. `hidden` asks players in every information set of a game of hidden information, N times, and
computes how much best replies gain (`best_replies.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import time
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from best_replies import against_best_replies
from editions import other_python
from rulesheets import in_process

import herbrand
from herbrand.engine.playouts import goal_value
from herbrand.errors import HerbrandError
from herbrand.match.tournament.ratings import wilson_interval
from herbrand.play import make_player
from herbrand.play.alphabeta import AlphaBetaPlayer
from herbrand.play.learned import LearnedPlayer
from herbrand.play.mcts import MctsPlayer
from herbrand.play.meta import MetaPlayer
from herbrand.play.solved import solve_for_role
from herbrand.runtime.files import write_atomically
from herbrand.runtime.line_process import LineProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play import Player
    from herbrand.play.solved import OptimalPolicy

RATE_GAMES = (
    "connectFour", "breakthrough", "reversi", "hex", "checkers", "tron", "gomoku", "eightPuzzle", "lightsOut",
    "knightsTour",
)  # fmt: skip

SMALL = ("nim", "notakto", "connectFour5x4", "breakthrough3x5", "reversi4x4")
"""Games, or bundled ones on smaller boards, of which all states can be listed."""

START_CLOCK = 20.0
"""Seconds by the clock to prepare for a game."""

STATES = 5_000_000
"""States that a game may have to be solved."""


def wilson(score: float, games: int) -> list[float]:
    """Return the 95 % interval of a mean of games, rounded."""
    return [round(bound, 3) for bound in wilson_interval(score, games)]


def started(game: Game, names: dict[str, str], seed: int) -> dict[str, Player]:
    """Return players for the roles, ready."""
    made = {}
    for place, (role, name) in enumerate(names.items()):
        known = _LEARNED.get((game, role, name))
        if known is None:
            made[role] = make_player(name, seed=10 * seed + place)
            made[role].start(game, role, START_CLOCK)
            if isinstance(made[role], AlphaBetaPlayer | MetaPlayer) or "cutoff" in name:
                _LEARNED[game, role, name] = made[role]  # what it learned once is enough
        else:
            made[role] = known
            forget_positions(game, role, picked(known))
    return made


def picked(player: Player) -> Player:
    """Return the player itself, or the one that `meta` has picked, or `learned` after its training."""
    lets_choose = isinstance(player, MetaPlayer) or (
        isinstance(player, LearnedPlayer) and not player._engines
    )
    return player._deputy or player if lets_choose else player


def forget_positions(game: Game, role: str, player: Player) -> None:
    """Let a player begin a match without the positions of earlier ones, but with what it learned."""
    if isinstance(player, MctsPlayer):
        match = player._match
        if match.search is not None:
            match.search.tree.clear()
        if match.probe is not None:
            match.probe = player._build_probe(game, game.role_index(role))
    elif isinstance(player, AlphaBetaPlayer) and player._engines:
        player._engines = player._build_engines(game, game.role_index(role), player.learned)


_LEARNED: dict[Any, Player] = {}


def opening(game: Game, plies: int, seed: int) -> list[tuple[Move, ...]]:
    """Draw the first moves of a game; drawn again if that ends it."""
    chance = random.Random(seed)
    while True:
        state, moves = game.initial_state(), []
        for _ in range(plies):
            joint = tuple(chance.choice(legal) for legal in state.legal_moves().values())
            state = state.next(joint)
            if state.is_terminal:
                break
            moves.append(joint)
        if not state.is_terminal:
            return moves


def worth(game: Game, policy: OptimalPolicy, state: State, role: str) -> float:
    """Return what a role of a solved game gets from a state, where the goals of two roles add up to 100."""
    at = policy.find(game.expander.pack([state.facts]))
    if at is None:
        raise ValueError("a state that was not solved")
    value = float(policy.values[at])
    return value if role == game.roles[0] else 100 - value


def can_win(game: Game, policy: OptimalPolicy, state: State) -> str | None:
    """Return the role that can win from a state, if one can."""
    return next((role for role in game.players if worth(game, policy, state, role) == 100), None)


# -- against OpenSpiel ----------------------------------------------------------------------

COLUMNS = "abcdefghi"


def _mark(move: str) -> str:
    _, row, column = move.strip("()").split()
    return f"({int(row) - 1},{int(column) - 1})"


def _drop(move: str) -> str:
    return str(int(move.strip("()").split()[1]) - 1)


def _advance(move: str) -> str:
    _, a, b, c, d = move.strip("()").split()
    return f"{a}{9 - int(b)}{c}{9 - int(d)}"


def _place(move: str) -> str:
    _, row, column = move.strip("()").split()
    return f"{COLUMNS[int(row) - 1]}{column}"


def _disc(move: str) -> str:
    return move.strip("()").replace("place", "").replace(" ", "") or move


OPENSPIEL: dict[str, tuple[str, Callable[[str], str]]] = {
    "ticTacToe": ("tic_tac_toe", _mark),
    "connectFour": ("connect_four", _drop),
    "breakthrough": ("breakthrough", _advance),
    "hex": ("hex(board_size=9)", _place),
    "reversi": ("othello", _disc),
}
"""Our game, theirs, and the name of an action there for a move here, without the mark of the player."""
SOLVED = ("ticTacToe",)
"""Of these it is looked which openings one side can win, and whether it does."""


def actions_of(theirs: Any, rename: Callable[[str], str], moves: list[Move]) -> dict[int, Move]:
    """Return our move for each of their actions; they must be the same moves."""
    named = {rename(str(move)): move for move in moves}
    actions = {}
    for action in theirs.legal_actions():
        text = theirs.action_to_string(action).rstrip("*")
        if text not in named:
            text = text[1:]  # the mark of the player
        actions[action] = named[text]
    if len(actions) != len(moves):
        raise ValueError(f"they have {len(actions)} moves, we {len(moves)}")
    return actions


class TheirSearch:
    """OpenSpiel's search, given processor time: as many simulations as it made in that time so far."""

    def __init__(self, game: Any, clock: float, seed: int) -> None:
        self.game = game
        self.clock = clock
        self.seed = seed
        self.simulations, self.seconds = 0, 0.0

    def move(self, state: Any) -> int:
        """Choose an action."""
        import pyspiel

        most = 200 if not self.seconds else int(self.clock * self.simulations / self.seconds)
        evaluator = pyspiel.RandomRolloutEvaluator(1, self.seed)
        bot = pyspiel.MCTSBot(self.game, evaluator, 2.0, max(10, most), 2000, True, self.seed, False)
        began = time.thread_time()
        root = bot.mcts_search(state)
        self.seconds += time.thread_time() - began
        self.simulations += root.explore_count
        if self.simulations <= 200:
            return self.move(state)
        return int(root.best_child().action)


def thought(player: Any, state: State, clock: float) -> Move:
    """Let a player of ours think for so much processor time, in one thread; simple ones for so much time.

    With a number of playouts there is no clock.
    """
    player = picked(player)
    if getattr(player, "playouts", None) is not None:
        choice: Move = player.select(state, 600)
        return choice
    move: Move = (player.consider if hasattr(player, "consider") else player.select)(state, clock)
    return move


def against_openspiel(
    name: str, who: str, games: int, clock: float, their_clock: float, plies: int
) -> dict[str, Any]:
    """Play against OpenSpiel's search in C++, both with an amount of processor time for a move."""
    import pyspiel

    game = herbrand.load(name)
    their_name, rename = OPENSPIEL[name]
    their_game = pyspiel.load_game(their_name)
    points: list[float] = []
    theirs_made, theirs_spent = 0, 0.0
    policy = solve_for_role(game, 0, 600.0, states=STATES, megabytes=3000.0) if name in SOLVED else None
    won: dict[str, list[bool]] = {"ours": [], "theirs": []}
    for number in range(games):
        mine = number % 2
        ours = started(game, {game.roles[mine]: who}, number)[game.roles[mine]]
        bot = TheirSearch(their_game, their_clock, number)
        state, theirs = game.initial_state(), their_game.new_initial_state()
        first = opening(game, plies, number // 2)
        step = 0
        able = None
        while not state.is_terminal:
            if step == len(first) and policy is not None:
                able = can_win(game, policy, state)
            turn = theirs.current_player()
            table = actions_of(theirs, rename, state.legal_moves(game.roles[turn]))
            if step < len(first):
                move: Move | str = first[step][turn]
            elif len(table) == 1:
                move = next(iter(table.values()))
            elif turn == mine:
                move = thought(ours, state, clock)
            else:
                move = table[bot.move(theirs)]
            action = next(action for action, known in table.items() if known == move)
            joint: dict[str, Move | str] = {r: state.legal_moves(r)[0] for r in game.roles}
            state = state.next({**joint, game.roles[turn]: move})
            theirs.apply_action(action)
            step += 1
        if not theirs.is_terminal() or (theirs.returns()[mine] > 0) != (state.goal(game.roles[mine]) == 100):
            raise ValueError("the games do not agree about the end")
        points.append((state.goal(game.roles[mine]) or 0) / 100)
        if able is not None:
            won["ours" if able == game.roles[mine] else "theirs"].append(state.goal(able) == 100)
        theirs_made, theirs_spent = theirs_made + bot.simulations, theirs_spent + bot.seconds
        print(f"{name}: {who} {sum(points)} of {len(points)}", file=sys.stderr)
    score = sum(points) / len(points)
    row = {
        "game": name, "opponent": "OpenSpiel MCTSBot (C++)", "player": who, "clock_s": clock,
        "their_clock_s": their_clock, "games": games,
        "score": round(score, 3), "interval": wilson(score, games), "wins": points.count(1.0),
        "draws": points.count(0.5), "losses": points.count(0.0), "their_simulations": theirs_made,
        "their_simulations_per_s": round(theirs_made / max(theirs_spent, 1e-9)),
    }  # fmt: skip
    if policy is not None:
        row["openings_to_be_won"] = {
            side: f"{sum(results)} of {len(results)}" for side, results in won.items()
        }
    return row


# -- against each other ---------------------------------------------------------------------


def against_each_other(name: str, one: str, two: str, games: int, clock: float, plies: int) -> dict[str, Any]:
    """Play a pair of players with colours exchanged."""
    game = herbrand.load(name)
    points = []
    for number in range(games):
        mine = number % 2
        roles = game.players
        names = {roles[mine]: one, roles[1 - mine]: two}
        made = started(game, names, number)
        state = game.initial_state()
        for joint in opening(game, plies, number // 2):
            state = state.next(joint)
        while not state.is_terminal:
            joint = {role: moves[0] for role, moves in state.legal_moves().items()}
            for role, player in made.items():
                if len(state.legal_moves(role)) > 1:
                    joint[role] = thought(player, state, clock)
            state = state.next(joint)
        goals = [state.goal(role) or 0 for role in (roles[mine], roles[1 - mine])]
        points.append((100 + goals[0] - goals[1]) / 200)
        print(f"{name}: {one} {sum(points)} of {len(points)} against {two}", file=sys.stderr)
    score = sum(points) / len(points)
    return {
        "game": name, "player": one, "opponent": two, "clock_s": clock, "games": games,
        "score": round(score, 3), "interval": wilson(score, games),
    }  # fmt: skip


# -- against another edition ----------------------------------------------------------------

EDITION_GAMES = (
    "connectFour", "breakthrough", "reversi", "checkers", "hex", "amazons", "gomoku", "tron", "koukrark",
    "chess",
)  # fmt: skip
MOST_STEPS = 500
"""Steps after which a match is drawn."""


class Allowance:
    """Processor time for the moves of one side: what a move takes too long is taken from the next ones."""

    def __init__(self, clock: float) -> None:
        self.clock = clock
        self.overdrawn = 0.0
        self.moves, self.seconds = 0, 0.0

    def next(self) -> float:
        """Return the seconds for the next move."""
        return max(0.2 * self.clock, self.clock - self.overdrawn)

    def spend(self, seconds: float) -> None:
        """Count what a move took."""
        self.moves += 1
        self.seconds += seconds
        self.overdrawn = max(0.0, self.overdrawn + seconds - self.clock)


class OtherEdition:
    """`mcts` of another edition, in a process of its own; it compiles before its clock runs."""

    def __init__(self, python: str, name: str) -> None:
        program = str(Path(__file__).with_name("edition_player.py"))
        self.process = LineProcess(python, other_python(python, program), restart=False)
        self.preparation = 0.0
        """Processor seconds of all starts."""
        self.version = self._ask(600, rules=herbrand.games.text(name))["version"]
        self._unseen: list[list[str]] = []

    def start(self, role: str, seed: int) -> None:
        """Begin a match."""
        self.preparation += self._ask(1200, role=role, seed=seed, seconds=600)["seconds"]
        self._unseen = []

    def see(self, joint: list[str]) -> None:
        """Note a joint move, in the order of the roles."""
        self._unseen.append(joint)

    def move(self, seconds: float) -> tuple[str, float]:
        """Choose a move in the present state; return it with the processor time that it took."""
        reply = self._ask(600 + 10 * seconds, moves=self._unseen, seconds=seconds)
        self._unseen = []
        return reply["move"], reply["seconds"]

    def _ask(self, limit: float, **request: Any) -> dict[str, Any]:
        reply: dict[str, Any] = json.loads(self.process.ask(json.dumps(request), limit))
        return reply


def against_edition(
    name: str, who: str, python: str, games: int, clock: float, plies: int
) -> Iterator[dict[str, Any]]:
    """Play against `mcts` of another edition with the same processor time; yield the row so far."""
    game = herbrand.load(name)
    theirs = OtherEdition(python, name)
    points: list[float] = []
    mine_spent, their_spent = Allowance(clock), Allowance(clock)
    for number in range(games):
        mine = game.players[number % 2]
        other = game.players[1 - number % 2]
        ours = started(game, {mine: who}, number)[mine]
        theirs.start(other, number)
        state, steps = game.initial_state(), 0
        first = opening(game, plies, number // 2)
        while not state.is_terminal and steps < MOST_STEPS:
            legal = state.legal_moves()
            joint: dict[str, Move | str] = {role: moves[0] for role, moves in legal.items()}
            if steps < len(first):
                joint = dict(zip(game.roles, first[steps], strict=True))
            else:
                if len(legal[mine]) > 1:
                    began = time.thread_time()
                    joint[mine] = thought(ours, state, mine_spent.next())
                    mine_spent.spend(time.thread_time() - began)
                if len(legal[other]) > 1:
                    joint[other], seconds = theirs.move(their_spent.next())
                    their_spent.spend(seconds)
            state = state.next(joint)
            theirs.see([str(joint[role]) for role in game.roles])
            steps += 1
        goals = (state.goal(mine) or 0, state.goal(other) or 0) if state.is_terminal else (0, 0)
        points.append(0.5 if goals[0] == goals[1] else float(goals[0] > goals[1]))
        print(f"{name}: {who} {sum(points):g} of {len(points)}, {steps} steps", file=sys.stderr)
        score = sum(points) / len(points)
        yield {
            "game": name, "player": who, "plays": type(picked(ours)).__name__,
            "opponent": f"mcts of herbrand {theirs.version}",
            "clock_s": clock, "games": len(points), "score": round(score, 3),
            "interval": wilson(score, len(points)), "wins": points.count(1.0), "draws": points.count(0.5),
            "losses": points.count(0.0),
            "seconds_a_move": round(mine_spent.seconds / max(1, mine_spent.moves), 4),
            "their_seconds_a_move": round(their_spent.seconds / max(1, their_spent.moves), 4),
            "their_preparation_s": round(theirs.preparation, 1),
        }  # fmt: skip
    theirs.process.close()


def total(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the result of a player in all games."""
    games = sum(row["games"] for row in rows)
    score = sum(row["games"] * row["score"] for row in rows) / games
    return {
        "game": "all", "player": rows[0]["player"], "games": games, "score": round(score, 3),
        "interval": wilson(score, games), "lowest": min(row["score"] for row in rows),
    }  # fmt: skip


# -- puzzles ----------------------------------------------------------------------------------

PUZZLES = ("eightPuzzle", "hanoi", "lightsOut", "sudoku", "knightsTour", "blocksWorld")
"""The bundled games of one role without chance."""
MEGABYTES = 12_000
"""Address space for one puzzle."""


def puzzle(sheet: str, who: str, start: float, clock: float) -> dict[str, Any]:
    """Let a player play a game of one role, in a process of its own on one processor.

    `start_s` is what it used of the start clock, `start_cpu_s` and `cpu_s` the processor time of the start
    and of everything.
    """

    def play() -> Iterator[dict[str, Any]]:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        game = herbrand.load(sheet)
        role = game.players[0]
        player = make_player(who, seed=1)
        cpu, wall = time.process_time(), time.monotonic()
        player.start(game, role, start)
        yield {
            "start_s": round(time.monotonic() - wall, 2), "start_cpu_s": round(time.process_time() - cpu, 2)
        }  # fmt: skip
        state, steps, notes = game.initial_state(), 0, dict[str, None]()
        while not state.is_terminal and state.legal_moves(role) and steps < MOST_STEPS:
            joint: dict[str, Move | str] = {role: moves[0] for role, moves in state.legal_moves().items()}
            joint[role] = player.select(state, clock)
            report = player.report()
            notes |= dict.fromkeys(() if report is None else report.notes)
            state = state.next(joint)
            steps += 1
        yield {
            "goal": state.goal(role) if state.is_terminal else None, "steps": steps,
            "cpu_s": round(time.process_time() - cpu, 2), "notes": list(notes)[:6],
        }  # fmt: skip
        player.stop()
        with suppress(HerbrandError):  # some sheets have no network
            texts = [game.network.terms.text(term) for term in game.network.goals[:, 1].tolist()]
            yield {
                "highest_in_rules": max(value for text in texts if (value := goal_value(text)) is not None)
            }

    limit = 60 + start + MOST_STEPS * clock
    name = Path(sheet).name.removesuffix(".kif")
    return {"game": name, "player": who, **in_process(Path(sheet), play, MEGABYTES, limit)}


# -- against perfect play -------------------------------------------------------------------


def part_of_board(name: str, files: str, ranks: str, *replaced: tuple[str, str]) -> Game:
    """Return a bundled game on some of the files and ranks of its board."""
    lines = []
    for line in herbrand.games.text(name).splitlines():
        relation, _, places = line.strip("()").partition(" ")
        on_board = {"file": files, "right_of": files, "rank": ranks, "up": ranks}.get(relation)
        if on_board is None or all(place in on_board for place in places.split()):
            lines.append(line)
    text = "\n".join(lines)
    for old, new in replaced:
        if old not in text:
            raise ValueError(f"`{old}` is not in the rules of {name}")
        text = text.replace(old, new)
    return herbrand.loads(text)


def small(name: str) -> Game:
    """Return a game that can be solved: a bundled one, or one on a smaller board."""
    if name == "connectFour5x4":
        return herbrand.load("connectFour.ggd", parameters={"Columns": 5, "Rows": 4})
    if name == "breakthrough3x5":
        homes = ("home black 7", "home black 4"), ("home black 8", "home black 5")
        return part_of_board(
            "breakthrough", "abc", "12345", *homes, ("goal_rank white 8", "goal_rank white 5")
        )
    if name == "reversi4x4":
        ends = ("balance a 1", "balance c 3"), ("balance h 8", "balance f 6"), ("cell a 1", "cell c 3")
        follows = ("occupied a 1", "occupied c 3"), ("follows h ?r1 a", "follows f ?r1 c")
        return part_of_board("reversi", "cdef", "3456", *ends, *follows)
    if name == "notakto":
        return herbrand.load("notakto.ggd")
    return herbrand.load(name)


def against_perfect(
    name: str, players: list[str], games: int, clock: float, plies: int
) -> list[dict[str, Any]]:
    """Begin where one role can win, after drawn moves, and count what our players throw away.

    All states are solved before; the opponent plays a move after which it keeps the most.  For two players
    whose goals add up to 100.
    """
    game = small(name)
    policy = solve_for_role(game, 0, 600.0, states=STATES, megabytes=3000.0)

    starts: list[tuple[State, str, int]] = []
    number = 0
    while len(starts) < games and number < 50 * games:
        number += 1
        state = game.initial_state()
        for joint in opening(game, random.Random(number).randrange(plies + 1), number):
            state = state.next(joint)
        role = can_win(game, policy, state)
        if role is not None:
            starts.append((state, role, number))

    def won(who: str, state: State, role: str, seed: int) -> bool:
        chance = random.Random(seed)
        mine = started(game, {role: who}, seed)[role]
        while not state.is_terminal:
            turn = next((r for r in game.players if len(state.legal_moves(r)) > 1), None)
            made: dict[str, Move | str] = {
                r: chance.choice(moves) for r, moves in state.legal_moves().items()
            }
            if turn == role:
                made[role] = thought(mine, state, clock)
            elif turn is not None:
                value_of = {
                    move: worth(game, policy, state.next({**made, turn: move}), turn)
                    for move in state.legal_moves(turn)
                }
                made[turn] = max(value_of, key=lambda move: value_of[move])
            state = state.next(made)
        return state.goal(role) == 100

    rows = []
    for who in players:
        thrown = 0
        for tried, start in enumerate(starts):
            thrown += not won(who, *start)
            print(f"{name}: {who} did not win {thrown} of {tried + 1} won positions", file=sys.stderr)
        rows.append({
            "game": name, "player": who, "clock_s": clock, "states": len(policy.space.states),
            "won_positions": len(starts), "not_won": thrown,
        })  # fmt: skip
    return rows


def rate(name: str, clock: float) -> dict[str, Any]:
    """Measure the random games and the positions a second of search, from the initial state, in one tree."""
    game = herbrand.load(name)
    player = MctsPlayer(seed=1)
    player.start(game, game.players[0], 300)
    search = player._match.search
    if search is None:
        return {"game": game.name, "network": False}
    search.move_to(search.expander.initial)
    games, positions = search.playouts, search.positions
    began = time.thread_time()
    while time.thread_time() - began < clock and not search.is_solved:
        search.round()
    spent = time.thread_time() - began
    return {
        "game": game.name, "gates": game.network.gates, "cpu_s": round(spent, 2),
        "simulations_per_s": round((search.playouts - games) / spent),
        "positions_per_s": round((search.positions - positions) / spent),
        "solved": search.is_solved,
    }  # fmt: skip


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = ("openspiel", "players", "solved", "edition", "puzzles", "rates", "hidden")
    parser.add_argument("what", choices=kinds)
    parser.add_argument("games_named", metavar="GAME", nargs="*")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--clock", type=float, default=1.0)
    parser.add_argument("--their-clock", type=float, help="that of OpenSpiel, by default the same")
    parser.add_argument("--start", type=float, default=30.0, help="the start clock of puzzles")
    parser.add_argument("--players", help="names, by default those that each subcommand is about")
    parser.add_argument("--opening", type=int, default=2)
    parser.add_argument("--json", dest="file", type=Path, help="also write the rows so far to this file")
    given = parser.parse_args()
    default = {
        "players": "mcts,montecarlo,greedy",
        "edition": "meta,mcts",
        "puzzles": "meta",
        "hidden": "random,ismcts,meta",
    }
    players = re.split(r",(?![^()]*\))", given.players or default.get(given.what, "mcts"))
    rows: list[dict[str, Any]] = []

    def save() -> None:
        if given.file is not None:
            write_atomically(given.file, json.dumps(rows, indent=2) + "\n")

    if given.what == "openspiel":
        names = given.games_named or tuple(OPENSPIEL)
        rows = [
            against_openspiel(
                name, who, given.games, given.clock, given.their_clock or given.clock, given.opening
            )
            for name in names
            for who in players
        ]
    elif given.what == "players":
        rows = [
            against_each_other(name, one, two, given.games, given.clock, given.opening)
            for name in given.games_named or ("connectFour", "breakthrough")
            for one, two in combinations(players, 2)
        ]
    elif given.what == "edition":
        if not given.games_named:
            parser.error("give the Python of the other edition")
        python, *named = given.games_named
        for who in players:
            done = len(rows)
            for name in named or EDITION_GAMES:
                rows.append({})
                for row in against_edition(name, who, python, given.games, given.clock, given.opening):
                    rows[-1] = row
                    save()
            rows.append(total(rows[done:]))
            save()
    elif given.what == "puzzles":
        for name in given.games_named or PUZZLES:
            for who in players:
                rows.append(puzzle(name, who, given.start, given.clock))
                save()
                print(json.dumps(rows[-1]), file=sys.stderr)
    elif given.what == "hidden":
        for name in given.games_named or ("kuhn", "leduc", "liarsDice"):
            for who in players:
                rows.append(against_best_replies(name, who, given.games, given.clock))
                save()
    elif given.what == "solved":
        names = given.games_named or ("ticTacToe", *SMALL)
        rows = [
            row
            for name in names
            for row in against_perfect(name, players, given.games, given.clock, given.opening)
        ]
    else:
        rows = [rate(name, given.clock) for name in given.games_named or RATE_GAMES]
    save()
    print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()

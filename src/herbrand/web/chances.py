"""What each role can expect in a state, in the child: by tree search, or in random games."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError
from herbrand.machine.trajectory import Trajectory
from herbrand.web.desk import game_of

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.play.search.engine import Search

__all__ = ["Chances"]

GAMES: Final = 1024
"""Random games from a state whose roles do not know all of it: to search it would be to look."""
SECONDS: Final = 0.6
"""Processor time for a state."""
SLICE: Final = 0.005
"""Seconds of rounds after which the search looks at the clock."""
SHOWN_LINE: Final = 6
"""Joint moves that are expected, as many as are told."""
MEMORY: Final = 64_000_000
"""Bytes of the tree, which is kept from one state of a match to the next."""


class Chances:
    """Answers questions about states of one game, until it is asked about another."""

    ACTIONS: Final = ("odds", "judge")

    def __init__(self) -> None:
        self._search: tuple[Game, Search] | None = None

    def odds(
        self,
        text: str,
        notation: str,
        name: str,
        facts: list[str],
        source: str = "",
        parameters: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return what each role gets from a state on, of 100, as far as that is known.

        `by` says how it was found out: by "search" (a tree of moves, judged by `games` random games), by
        "proof", or by "random" games alone.
        """
        game = game_of(text, notation, name, source, tuple(sorted((parameters or {}).items())))
        if game.has_percepts:
            values, games, by = _in_random_games(game, facts)
        else:
            try:
                values, games, by = _by_search(self._tree(game), facts)
            except HerbrandError:  # there is no network
                values, games, by = _by_rules(game, facts)
        told = {
            role: round(value, 1)
            for role, value in zip(game.roles, values, strict=True)
            if role != game.chance_role and value is not None
        }
        return {"values": told, "games": games, "by": by}

    def judge(
        self, text: str, notation: str, name: str, moves: list[list[str]], source: str = ""
    ) -> list[dict[str, Any]]:
        """Return what a search thinks of the last of some joint moves, for each role that had a choice.

        That is the value of its move, a grade, and the best move with what is expected after it.  The search
        sees the whole state.  Raises `HerbrandError` where there is no network.
        """
        from herbrand.play.annotate import Annotation
        from herbrand.play.explanation import PlayerReport
        from herbrand.play.search.reading import reports

        game = game_of(text, notation, name, source)
        state = Trajectory.replay(game, moves[:-1]).state
        search = self._tree(game)
        _grow(search, sorted(state.facts))
        told = []
        for role, move in zip(game.roles, moves[-1], strict=True):
            if role == game.chance_role or len(state.legal_moves(role)) < 2:
                continue
            known = tuple(reports(search, game.role_index(role)))
            made = Annotation(len(moves), role, move, PlayerReport("mcts", role, known, SECONDS))
            if made.played is None or made.best is None or made.played.value is None:
                continue
            worth = min(made.played.value, made.played.at_most)
            best, value = made.best.move, made.best.value
            if value is None or value <= worth:
                best, value = made.move, worth
            told.append(
                {
                    "role": role,
                    "move": made.move,
                    "value": worth,
                    "proved": made.played.proved is not None,
                    "grade": made.grade,
                    "best": best,
                    "best_value": value,
                    "line": [list(joint) for joint in made.best.line[:SHOWN_LINE]],
                }
            )
        return told

    def _tree(self, game: Game) -> Search:
        from herbrand.play.search.engine import Search

        if self._search is None or self._search[0] is not game:
            self._search = None  # the memory of the one before is free before there is another
            search = Search(game.network, memory=MEMORY, seed=1)
            search.move_to(search.expander.initial)
            self._search = game, search
        return self._search[1]


Found = tuple[list[float | None], int, str]
"""A value for each role, the number of random games, and how it was found out."""


def _by_search(search: Search, facts: list[str]) -> Found:
    """Grow the tree from a state; take the values after the move that looks best to who chooses alone."""
    from herbrand.play.search.reading import ranked_arms
    from herbrand.play.search.tree import ALONE

    _grow(search, facts)
    tree, at = search.tree, search.root
    games = round(float(tree.games[at]))
    if search.is_solved:
        return [100 * float(value) for value in tree.low[at]], games, "proof"
    mover = int(tree.mover[at])
    if tree.kind[at] == ALONE and mover != search.chance:
        child = int(tree.arm_child[ranked_arms(search, at, mover)[0]])
        if child >= 0 and tree.games[child] > 0:
            at = child
    return [100 * float(total) / float(tree.games[at]) for total in tree.total[at]], games, "search"


def _grow(search: Search, facts: list[str]) -> None:
    """Make a state the root of the tree, and search it."""
    search.move_to(search.expander.pack([frozenset(facts)]))
    until = time.thread_time() + SECONDS
    search.run(lambda: time.thread_time() < until, seconds=SLICE)


def _by_rules(game: Game, facts: list[str]) -> Found:
    """Do the same by evaluating the rules, which makes few games."""
    from herbrand.play.search.plain import PlainSearch

    state = game.state(facts)
    search = PlainSearch(game.players[0], seed=1)
    search.move_to(state)
    until = time.thread_time() + 2 * SECONDS
    search.run(lambda: time.thread_time() < until)
    node = search.nodes[state]
    if not node.count:
        return [None] * len(game.roles), 0, "search"
    return [100 * sum(totals) / node.count for totals in node.totals], node.count, "search"


def _in_random_games(game: Game, facts: list[str]) -> Found:
    expander = game.expander
    ended = expander.rollouts(expander.pack([frozenset(facts)]), seed=1, each=GAMES, max_steps=500)
    known = [goals[goals >= 0] for goals in ended.goals.T]
    return [float(goals.mean()) if len(goals) else None for goals in known], GAMES, "random"

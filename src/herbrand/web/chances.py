"""Expected goals of each role in a state, in the subprocess: by tree search or random games."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError
from herbrand.machine.trajectory import Trajectory
from herbrand.web.inspector import game_of

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.play.search.tree import Search

__all__ = ["Chances"]

GAMES: Final = 1024
"""Random games from a state with hidden information: a search would use information that roles lack."""
SECONDS: Final = 0.6
"""Processor time for a state."""
SLICE: Final = 0.005
"""Seconds of search between checks of the clock."""
SHOWN_LINE: Final = 6
"""Number of joint moves of the expected line."""
MEMORY: Final = 64_000_000
"""Bytes of the tree, which is reused from one state of a match to the next."""


class Chances:
    """Evaluates states; keeps the search tree of the last game."""

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
        """Return the expected goal of each role in a state, where known.

        `by` is the method: "search" (a tree with `games` playouts), "proof", or "random" games alone.
        """
        game = game_of(text, notation, name, source, tuple(sorted((parameters or {}).items())))
        if game.has_percepts:
            values, games, by = _in_random_games(game, facts)
        else:
            try:
                values, games, by = _by_search(self._tree(game), facts)
            except HerbrandError:  # the game has no network
                values, games, by = _by_rules(game, facts)
        expected = {
            role: round(value, 1)
            for role, value in zip(game.roles, values, strict=True)
            if role != game.chance_role and value is not None
        }
        return {"values": expected, "games": games, "by": by}

    def judge(
        self, text: str, notation: str, name: str, moves: list[list[str]], source: str = ""
    ) -> list[dict[str, Any]]:
        """Return a search's judgement of the last joint move, for each role that had a choice.

        It consists of the value of the move, a grade, and the best move with its expected line.  The search
        sees the complete state: what it proves of a game with hidden information is no proof to its players.
        Raises `HerbrandError` if the game has no network.
        """
        from herbrand.play.annotate import Annotation
        from herbrand.play.explanation import PlayerReport
        from herbrand.play.search.results import reports

        game = game_of(text, notation, name, source)
        state = Trajectory.replay(game, moves[:-1]).state
        search = self._tree(game)
        _grow(search, sorted(state.facts))
        judgements, say = [], game.artist.say
        for role, move in zip(game.roles, moves[-1], strict=True):
            if role == game.chance_role or len(state.legal_moves(role)) < 2:
                continue
            report = PlayerReport("mcts", role, tuple(reports(search, game.role_index(role))), SECONDS)
            annotation = Annotation(len(moves), role, move, report)
            played, best = annotation.played, annotation.best
            if played is None or best is None or played.value is None:
                continue
            value = min(played.value, played.at_most)
            best_move, best_value = best.move, best.value
            if best_value is None or best_value <= value:
                best_move, best_value = annotation.move, value
            judgements.append(
                {
                    "role": role,
                    "move": annotation.move,
                    "text": say(annotation.move),
                    "value": value,
                    "proved": played.proved is not None and not game.has_percepts,
                    "grade": annotation.grade,
                    "best": best_move,
                    "best_text": say(best_move),
                    "best_value": best_value,
                    "line": [list(map(say, joint)) for joint in best.line[:SHOWN_LINE]],
                }
            )
        return judgements

    def _tree(self, game: Game) -> Search:
        from herbrand.play.search.tree import Search

        if self._search is None or self._search[0] is not game:
            self._search = None  # free its memory before allocating the next tree
            search = Search(game.network, memory=MEMORY, seed=1)
            search.move_to(search.expander.initial)
            self._search = game, search
        return self._search[1]


Expectation = tuple[list[float | None], int, str]
"""A value for each role, the number of random games, and the method."""


def _by_search(search: Search, facts: list[str]) -> Expectation:
    """Search a state; if one role chooses, return the values after its best move."""
    from herbrand.play.search.results import ranked_arms
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
    """Make a state the root of the tree and search it."""
    search.move_to(search.expander.pack([frozenset(facts)]))
    until = time.thread_time() + SECONDS
    search.run(lambda: time.thread_time() < until, seconds=SLICE)


def _by_rules(game: Game, facts: list[str]) -> Expectation:
    """Search a state by evaluating the rules, which allows only few playouts."""
    from herbrand.play.search.rules_search import RulesSearch

    state = game.state(facts)
    search = RulesSearch(game.players[0], seed=1)
    search.move_to(state)
    until = time.thread_time() + 2 * SECONDS
    search.run(lambda: time.thread_time() < until)
    node = search.nodes[state]
    if not node.count:
        return [None] * len(game.roles), 0, "search"
    return [100 * sum(totals) / node.count for totals in node.totals], node.count, "search"


def _in_random_games(game: Game, facts: list[str]) -> Expectation:
    expander = game.expander
    rollouts = expander.rollouts(expander.pack([frozenset(facts)]), seed=1, each=GAMES, max_steps=500)
    by_role = [goals[goals >= 0] for goals in rollouts.goals.T]
    return [float(goals.mean()) if len(goals) else None for goals in by_role], GAMES, "random"

"""The kinds of tasks: each draws a state, or an altered game, and gives the exact answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from herbrand.envs.language.writing import draw_writing
from herbrand.errors import BudgetExceeded, GameError, HerbrandError
from herbrand.machine.trajectory import Trajectory

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from herbrand.game import Game
    from herbrand.machine.state import State
    from herbrand.syntax.nodes import Rule

__all__ = ["KINDS", "QUICK_KINDS", "Kind", "start_of"]

LONGEST_WALK: Final = 200
TRIES: Final = 60
"""Attempts to draw a state or an injury for one task."""
SOLVING: Final = (30.0, 20_000, 300.0)
"""Seconds, states and megabytes for solving a state.

Here and below the number of states is the binding limit, so that tasks do not depend on the machine."""
LINES: Final = 20_000
"""States explored in the search for a forced win."""
PROVING: Final = (5.0, 100_000, 300.0)
"""Seconds, states and megabytes for the properties of a game."""
REFUTING: Final = (1.0, 100_000, 300.0)
"""The same for an injured game; most refutations take a tenth of that time."""
COMPARING: Final = (30.0, 2_000)
"""Seconds and states for comparing two games."""

Draw = tuple[dict[str, Any], str]
"""The parts of a task, and the text of the rules where they are not those of the game."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of task."""

    question: str
    """The question, with the parts of the task in braces."""
    draw: Callable[[Game, Random, int], Draw]
    """Draws a task; gets the most joint moves to ask about.  Raises `GameError` where it does not fit."""
    choice: bool = False
    """Whether exactly one of the answers is to be given."""
    rules: bool = False
    """Whether the reply is a rulesheet, which is compared with the `reference` of the task."""
    shows_state: bool = True
    shows_rules: bool = True


def _legal(game: Game, chance: Random, _: int) -> Draw:
    state = _somewhere(game, chance)
    role = chance.choice(game.players or game.roles)
    answer = [str(move) for move in state.legal_moves(role)]
    return {"state": sorted(state.facts), "role": role, "answer": answer}, ""


def _next(game: Game, chance: Random, _: int) -> Draw:
    state = _somewhere(game, chance)
    joint = [str(move) for move in state.random_joint_move(chance).values()]
    return {"state": sorted(state.facts), "moves": [joint], "answer": sorted(state.next(joint).facts)}, ""


def _steps(game: Game, chance: Random, steps: int) -> Draw:
    """Ask about as many joint moves as are wanted, or fewer where all of some random games are shorter."""
    play = Trajectory(start_of(game))
    for _ in range(TRIES):
        if len(play) < steps:
            play = Trajectory(play.states[0])
            play.finish(chance, max_steps=steps)
    return {
        "state": sorted(play.states[0].facts),
        "moves": [list(joint) for joint in play.joint_moves],
        "horizon": len(play),
        "answer": sorted(play.state.facts),
    }, ""


def _terminal(game: Game, chance: Random, _: int) -> Draw:
    """Ask for a final state in half of the tasks, and else for one of the last that is not."""
    play = _to_the_end(game, chance)
    over = play.state.is_terminal and chance.random() < 0.5
    state = play.state if over else chance.choice(play.states[:-1][-5:])
    return {"state": sorted(state.facts), "answer": ["yes" if over else "no"]}, ""


def _goals(game: Game, chance: Random, _: int) -> Draw:
    for _ in range(TRIES):
        state = _to_the_end(game, chance).state
        goals = state.goals
        if state.is_terminal and all(goals[role] is not None for role in game.players):
            answer = [f"(goal {role} {value})" for role, value in goals.items() if value is not None]
            return {"state": sorted(state.facts), "answer": answer}, ""
    raise GameError("random games of this game do not end with goals for all roles")


def _best(game: Game, chance: Random, _: int) -> Draw:
    """Ask where moves differ in their value, and the game can be solved from there."""
    from herbrand.analyse import Budget, solve

    _require_open(game)
    if len(game.players) > 2:
        raise GameError("with more than two players there is no best move")
    for _ in range(TRIES):
        state, role = _decision(game, chance)
        try:
            root = solve(game, start=state, budget=Budget(*SOLVING)).root
        except HerbrandError:
            continue
        values = {move: value[role] for mover, move, value in root if mover == role and role in value}
        if len(values) == len(state.legal_moves(role)) and len(set(values.values())) > 1:
            best = max(values.values())
            answer = sorted(move for move, value in values.items() if value == best)
            return {"state": sorted(state.facts), "role": role, "answer": answer}, ""
    raise GameError("no state was found from which this game can be solved in the budget of a task")


def _win(game: Game, chance: Random, steps: int) -> Draw:
    """Ask for a move that forces a win, where not every move does."""
    _require_open(game)
    for _ in range(TRIES):
        state, role = _decision(game, chance)
        for within in range(1, steps + 1):
            try:
                winning = _winning(state, role, within, [LINES])
            except BudgetExceeded:
                break
            if winning and len(winning) < len(state.legal_moves(role)):
                return {"state": sorted(state.facts), "role": role, "steps": within, "answer": winning}, ""
    raise GameError("no state with a forced win was found that needs so few steps")


def _knows(game: Game, chance: Random, steps: int) -> Draw:
    """Ask after a few joint moves which fluents the moves and percepts of one role imply."""
    from herbrand.analyse.knowledge.filtering import possible_states
    from herbrand.analyse.knowledge.histories import history_of

    if not game.has_percepts:
        raise GameError("nothing is hidden in this game")
    for _ in range(TRIES):
        play = Trajectory(start_of(game))
        play.finish(chance, max_steps=chance.randint(1, steps))
        if play.state.is_terminal:
            play.take_back(len(play) - 1)
        role = chance.choice(game.players)
        try:
            possible = possible_states(game, role, history_of(play, role), over=False, states=LINES)
        except HerbrandError:
            continue
        if possible.exact and len(play):
            seen = [
                [play.joint_moves[step][game.role_index(role)], *play.percepts(step, role)]
                for step in range(len(play))
            ]
            return {"role": role, "seen": seen, "answer": sorted(possible.sure)}, ""
    raise GameError("what a role can know could not be computed in the budget of a task")


def _bug(game: Game, chance: Random, _: int) -> Draw:
    """Ask for the changed statement of a game that was proved to be sound, and no longer is."""
    number, rules, missing = _broken(game, chance)
    text = "\n".join(f"{n}. {rule}" for n, rule in enumerate(rules, 1))
    return {"lost": missing, "answer": [str(number + 1)]}, text


def _repair(game: Game, chance: Random, _: int) -> Draw:
    """Ask for the game as it was before one statement was changed."""
    number, rules, missing = _broken(game, chance)
    statements = list(map(str, game.tree.statements))
    parts = {"lost": missing, "reference": "\n".join(statements), "answer": [statements[number]]}
    return parts, "\n".join(map(str, rules))


def _translate(game: Game, chance: Random, _: int) -> Draw:
    """Ask for the same rules in another notation."""
    from herbrand.syntax.printer import print_tree

    notation = chance.choice(["infix", "prolog"])
    reference = print_tree(game.tree, "prefix").text
    right = print_tree(game.tree, notation).text
    return {"notation": notation, "reference": reference, "answer": [right]}, reference


def _same(game: Game, chance: Random, _: int) -> Draw:
    """Ask about the game under other names and in another order, unchanged in half of the tasks."""
    from herbrand.convert.scramble import scramble
    from herbrand.verify.diff import diff

    statements = list(game.tree.statements)
    want = chance.random() < 0.5
    draw = _Injuries(game).draw
    for _ in range(TRIES):
        other = game if want else draw(chance)[2]
        if other.rules.errors:
            continue
        verdict = "rules" if want else diff(game, other, seconds=COMPARING[0], states=COMPARING[1]).verdict
        if verdict == "unknown" or (verdict == "differs") == want:
            continue
        second = scramble(other.tree, chance.getrandbits(30)).text
        first = "\n".join(map(str, statements))
        text = f"The first game:\n\n{first}\n\nThe second game:\n\n{second.strip()}"
        return {"answer": ["yes" if want else "no"]}, text
    raise GameError("no changed version of this game can be told from it in the budget of a task")


_ASK: Final = "Answer with a JSON list of strings, one for each, as terms in KIF, and nothing else."
_ONE: Final = "Answer with a JSON list of one string, {form}, and nothing else."


def _one(question: str, form: str) -> str:
    # no list that could be right may stand in a question: a reply that repeats it must gain nothing
    return f"{question} {_ONE.format(form=form)}"


KINDS: Final = {
    "legal": Kind(f"Which moves are legal for {{role}} in this state? {_ASK}", _legal),
    "next": Kind(f"Which facts are true after this joint move? {_ASK}", _next),
    "steps": Kind(
        "The game begins in its initial state, and these joint moves are made one after the other. Which "
        f"facts are true then? {_ASK}",
        _steps,
        shows_state=False,
    ),
    "terminal": Kind(_one("Is the game over in this state?", '"yes" or "no"'), _terminal, choice=True),
    "goals": Kind(
        "Which goal has each role in this state, if it has one? Answer with a JSON list of strings, one for "
        'each, such as "(goal {roles[0]} 30)", and nothing else.',
        _goals,
    ),
    "best": Kind(
        _one(
            "Which move of {role} leads to the best result for it, if everybody plays as well as possible?",
            "the move",
        ),
        _best,
        choice=True,
    ),
    "win": Kind(
        _one(
            "Which move of {role} makes sure that it has the goal 100 at the end, {steps} joint moves from "
            "now at most, whatever the others do?",
            "the move",
        ),
        _win,
        choice=True,
    ),
    "knows": Kind(
        "The game begins in its initial state. {role} knows the rules, its own moves and what it saw. Which "
        f"facts can it be sure of now? {_ASK}",
        _knows,
        shows_state=False,
    ),
    "bug": Kind(
        _one(
            "One statement of this game was changed by mistake. Before, this was so: {lost}. Which?",
            "its number",
        ),
        _bug,
        choice=True,
        shows_state=False,
    ),
    "repair": Kind(
        "One statement of this game was changed by mistake. Before, this was so: {lost}. Write the whole "
        "rulesheet as it was, between two lines of three backticks.",
        _repair,
        rules=True,
        shows_state=False,
    ),
    "translate": Kind(
        "Write the same rules in {notation} notation, between two lines of three backticks.",
        _translate,
        rules=True,
        shows_state=False,
    ),
    "same": Kind(
        _one("Are the two games the same, but for names and the order of statements?", '"yes" or "no"'),
        _same,
        choice=True,
        shows_state=False,
    ),
    "write": Kind(
        "Write a game in the Game Description Language from this description.\n\n{description}\n\n"
        "Use these names for roles, moves and percepts. Where the description does not say otherwise, a win "
        "has the goal 100, a draw 50 and a loss 0. Every play must end, every role must have a legal move in "
        "every state that is not terminal, and exactly one goal in every terminal state. Write the whole "
        "rulesheet in prefix notation (KIF), between two lines of three backticks.",
        draw_writing,
        rules=True,
        shows_state=False,
        shows_rules=False,
    ),
}
"""All kinds by name."""

QUICK_KINDS: Final = ("legal", "next", "steps", "terminal", "goals")
"""The kinds that need no search and apply to every game."""


# -- states -------------------------------------------------------------------------------------


def start_of(game: Game) -> State:
    """Return the initial state, which is not the end."""
    # both engines list moves in the same order, so the tasks are the same
    start = game.initial_state("network" if game.has_network else "rules")
    if start.is_terminal:
        raise GameError("the initial state is terminal: there is nothing to ask")
    return start


def _to_the_end(game: Game, chance: Random, most: int = LONGEST_WALK) -> Trajectory:
    """Return a random game, which may be cut short."""
    start = start_of(game)
    start.require_moves()
    play = Trajectory(start)
    play.finish(chance, max_steps=most)
    return play


def _somewhere(game: Game, chance: Random) -> State:
    """Return a state of a random game that is not over, all of its steps equally likely."""
    play = _to_the_end(game, chance, LONGEST_WALK - 1)
    if play.state.is_terminal or not all(play.state.legal_moves().values()):
        play.take_back(len(play) - 1)
    return chance.choice(play.states)


def _decision(game: Game, chance: Random) -> tuple[State, str]:
    """Return a late state of a random game in which one role alone has a choice, and that role."""
    for _ in range(TRIES):
        play = _to_the_end(game, chance)
        for step in reversed(range(max(0, len(play) - chance.randint(1, 12)), len(play))):
            choosing = play.choosing(step)
            if len(choosing) == 1 and choosing[0] in game.players and chance.random() < 0.5:
                return play.states[step], choosing[0]
    raise GameError("no role of this game ever chooses alone")


def _require_open(game: Game) -> None:
    if game.has_percepts:
        raise GameError("this game hides information: what is best depends on more than the state")


def _winning(state: State, role: str, within: int, left: list[int]) -> list[str]:
    """Return the moves with which a role forces a goal of 100 at the end within some joint moves.

    `left` counts down the states that may be looked at; raises `BudgetExceeded` after the last one.
    """
    legal = state.legal_moves()
    if not all(legal.values()):
        return []
    others = [moves if name != role else [None] for name, moves in legal.items()]
    winning = []
    for move in legal[role]:
        for reply in product(*others):
            left[0] -= 1
            if left[0] < 0:
                raise BudgetExceeded("states for a forced win")
            after = state.next([move if other is None else other for other in reply])
            if after.is_terminal:
                won = after.goals.get(role) == 100
            else:
                won = within > 1 and bool(_winning(after, role, within - 1, left))
            if not won:
                break
        else:
            winning.append(str(move))
    return winning


# -- altered games ------------------------------------------------------------------------------


def _broken(game: Game, chance: Random) -> tuple[int, list[Rule], str]:
    """Change a statement so that a proved property is lost; return its number, the rules, the property."""
    from herbrand.analyse import Budget
    from herbrand.repair import SENTENCES, properties_of

    def lost(changed: Game) -> list[str]:
        verdicts = properties_of(changed, Budget(*REFUTING))
        return [name for name, verdict in verdicts.items() if verdict.answer == "refuted"]

    if any(verdict.answer != "proved" for verdict in properties_of(game, Budget(*PROVING)).values()):
        raise GameError("not all properties of this game are proved in the budget of a task")
    draw = _Injuries(game).draw
    for _ in range(TRIES):
        number, rules, changed = draw(chance)
        if not changed.rules.errors and (missing := lost(changed)):
            return number, rules, SENTENCES[missing[0]][1]
    raise GameError("no change of one statement takes a property from this game")


class _Injuries:
    """Changes of one statement of a game."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.statements = list(game.tree.statements)

    @cached_property
    def _options(self) -> dict[str, list[tuple[int, Rule]]]:
        """Numbers of statements, and their possible replacements, by the kind of injury."""
        from herbrand.repair.injuries import injuries

        by_kind = {
            kind: [(n, new) for n, new in injuries(self.statements, kind, self.game.roles) if new is not None]
            for kind in ("condition", "constant", "role")
        }
        return {kind: options for kind, options in by_kind.items() if options}

    def draw(self, chance: Random) -> tuple[int, list[Rule], Game]:
        """Return the number of a statement that was changed, the rules with it, and their game."""
        from herbrand.game import loads

        if not self._options:
            raise GameError("no statement of this game can be changed")
        number, new = chance.choice(self._options[chance.choice(list(self._options))])
        rules = [*self.statements[:number], new, *self.statements[number + 1 :]]
        return number, rules, loads("\n".join(map(str, rules)), name=self.game.name)

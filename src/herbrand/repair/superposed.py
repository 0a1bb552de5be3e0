"""One game that holds many edited versions of another: its first move chooses among them.

Each edited statement is guarded by a fluent that says which edit was chosen, so that the versions share
everything else: one network plays random games of hundreds of versions at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herbrand import core
from herbrand.diagnostic import Source
from herbrand.engine.description import GameDescription
from herbrand.errors import BudgetExceeded, GameError
from herbrand.syntax import read
from herbrand.syntax.names import fresh
from herbrand.syntax.nodes import Atom, Constant, Function, Not, Rule, walk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.verdict import Witness
    from herbrand.engine.expand import Expander, States
    from herbrand.repair.edits import RuleEdit
    from herbrand.repair.recorded import Play
    from herbrand.runtime.limits import Limits
    from herbrand.syntax.nodes import Literal

__all__ = ["Profile", "Trial", "profiles", "superposed"]

_DECLARATIONS = frozenset({"base", "input", "sees"})
"""Relations that random games do not need."""
NEAR = 6
"""Steps before the end of a play that shows a fault from which random games are played."""
_ROOTS = frozenset({"next", "legal", "terminal", "goal"})


@dataclass(frozen=True, slots=True)
class Profile:
    """Statistics of the random games of one version."""

    games: int
    stuck: int
    """Games in which a role had no legal move."""
    endless: int
    """Games that reached the limit of steps."""
    undefined: int
    """Games at whose end a role had no goal value, or several."""
    best: tuple[int, ...]
    """The greatest goal value of each role; -1 without any."""
    is_open: bool
    """Whether some role had different goal values in different games."""
    length: float
    """Steps on average."""
    agrees: bool
    """Whether it has the plays that it should have."""


def superposed(
    statements: Sequence[Rule], edits: Sequence[RuleEdit], roles: Sequence[str], faulty: Collection[int] = ()
) -> list[Rule]:
    """Return the statements of the game whose first role first chooses one of the edits, from 1; 0 is none.

    The statements numbered `faulty` have errors: they stand in no version unedited.
    """
    used = {node.name for node in walk(*statements) if isinstance(node, Atom | Function | Constant)}
    choosing, choice, edited, wait = (
        fresh(name, used) for name in ("repair_choosing", "repair_choice", "repair_edited", "repair_wait")
    )
    chooser = Constant(roles[0])
    start = Atom("true", (Constant(choosing),))

    def numbered(name: str, number: int) -> Function:
        return Function(name, (Constant(str(number)),))

    def choose(k: int) -> Atom:
        return Atom("does", (chooser, numbered(choice, k)))

    of: dict[int | None, list[int]] = {}
    for k, edit in enumerate(edits, 1):
        of.setdefault(edit.number, []).append(k)
    rules: list[Rule] = []

    def add(rule: Rule, is_chosen: Sequence[Literal], is_chosen_first: Sequence[Literal]) -> None:
        head = rule.head
        if head.name == "init":
            rules.append(Rule(Atom("next", head.args), (*rule.body, start, *is_chosen_first)))
        elif head.name in _ROOTS:
            rules.append(Rule(head, (*rule.body, *is_chosen, Not(start))))
        else:
            rules.append(Rule(head, (*rule.body, *is_chosen)))

    for n, rule in enumerate(statements):
        if rule.head.name in _DECLARATIONS or n in faulty:
            continue
        choices = of.get(n, [])
        untouched = [Not(Atom("true", (numbered(edited, n),)))] if choices else []
        add(rule, untouched, [Not(choose(k)) for k in choices])
    for k, edit in enumerate(edits, 1):
        for rule in edit.rules:
            add(rule, [Atom("true", (numbered(choice, k),))], [choose(k)])
        if edit.number is not None:
            rules.append(Rule(Atom("next", (numbered(edited, edit.number),)), (start, choose(k))))
    rules += read(
        f"""(init {choosing})
        (<= (next ({choice} ?n)) (does {chooser} ({choice} ?n)) {start})
        (<= (next ({choice} ?n)) (true ({choice} ?n)))
        (<= (next ({edited} ?n)) (true ({edited} ?n)))""",
        "prefix",
    ).statements
    rules += [Rule(Atom("legal", (chooser, numbered(choice, k))), (start,)) for k in range(len(edits) + 1)]
    rules += [Rule(Atom("legal", (Constant(role), Constant(wait))), (start,)) for role in roles[1:]]
    return rules


@dataclass(frozen=True, slots=True)
class Trial:
    """How edited versions of a game are tried."""

    games: int
    """Random games of each."""
    max_steps: int
    plays: tuple[Play, ...] = ()
    """Plays that each should have."""
    witnesses: tuple[Witness, ...] = ()
    """Plays of the game that show its faults."""
    faulty: frozenset[int] = frozenset()
    """The statements with errors, which stand in no version unedited."""
    seed: int = 0


def profiles(
    statements: Sequence[Rule],
    edits: Sequence[RuleEdit],
    roles: Sequence[str],
    trial: Trial,
    *,
    limits: Limits,
) -> Iterator[tuple[int, Profile]]:
    """Yield the index of each edit, with the profile of random games of the edited statements.

    Index -1 means no edit.  Edits that cannot be superposed, because together they are no game or too large,
    are divided into halves; an edit that is no game by itself has no profile.
    """
    pending = [list(range(len(edits)))]
    while pending:
        some = pending.pop()
        try:
            yield from _played(statements, [edits[k] for k in some], some, roles, trial, limits)
        except (GameError, BudgetExceeded):
            if len(some) > 1:
                middle = len(some) // 2
                pending += [some[middle:], some[:middle]]


def _played(
    statements: Sequence[Rule],
    edits: Sequence[RuleEdit],
    some: Sequence[int],
    roles: Sequence[str],
    trial: Trial,
    limits: Limits,
) -> Iterator[tuple[int, Profile]]:
    text = "\n".join(map(str, superposed(statements, edits, roles, trial.faulty)))
    description = GameDescription(read(Source(text, "<versions>"), "prefix"), limits=limits)
    description.require_playable()
    try:
        expander = description.expander
    except ValueError as error:  # together they make `legal` depend on the moves
        raise GameError(str(error)) from error
    first = expander.expand(expander.initial)
    rollouts = expander.rollouts(first.states, seed=trial.seed, each=trial.games, max_steps=trial.max_steps)
    agrees = _have_plays(expander, first.states, trial.plays)
    shown = np.zeros((3, len(first)), np.int64)
    for witness in trial.witnesses:
        shown += _fault_counts(expander, first.states, witness, trial)
    shape = len(first), trial.games
    goals, endless = rollouts.goals.reshape(*shape, -1), rollouts.truncated.reshape(shape)
    lengths = rollouts.lengths.reshape(shape)
    for row in range(len(first)):
        k = int(first.joint_move(row)[0].strip("()").split()[-1])
        if k == 0 and trial.faulty:
            continue
        values = goals[row][~endless[row]]
        stuck = (values == core.STUCK).any(1)
        over = values[~stuck]
        yield (
            some[k - 1] if k else -1,
            Profile(
                games=trial.games,
                stuck=int(stuck.sum() + shown[0, row]),
                endless=int(endless[row].sum() + shown[1, row]),
                undefined=int((over < 0).any(1).sum() + shown[2, row]),
                best=tuple(int(v) for v in over.max(0)) if len(over) else (-1,) * len(roles),
                is_open=bool(len(over) and (over.min(0) < over.max(0)).any()),
                length=float(np.mean(lengths[row])),
                agrees=bool(agrees[row]),
            ),
        )


def _fault_counts(expander: Expander, states: States, witness: Witness, trial: Trial) -> NDArray[np.int64]:
    """Return how often each game was stuck, endless or without a goal value on or near a play."""
    counts = np.zeros((3, len(states)), np.int64)
    follows = np.ones(len(states), np.bool_)
    now, seen = states, [states]
    for number, joint in enumerate((*witness.moves, None)):
        legal = expander.legal(now)
        counts[0] += follows & ~legal.over & (legal.counts() == 0).any(1)
        counts[2] += follows & legal.over & (expander.goals(now) < 0).any(1)
        open_ = np.flatnonzero(follows & ~legal.over)
        if len(witness.moves) - number <= NEAR and len(open_):
            near = expander.rollouts(
                now[open_], seed=trial.seed + number, each=trial.games // 8, max_steps=trial.max_steps
            )
            goals = near.goals.reshape(len(open_), trial.games // 8, -1)
            counts[0, open_] += (goals == core.STUCK).any(2).sum(1)
        moves = _numbers(expander, joint)
        follows &= ~legal.over
        if not moves or -1 in moves:
            follows &= not moves
            break
        for role, move in enumerate(moves):
            follows &= legal.mask(role)[:, move]
        if not follows.any():
            break
        now = expander.step(now, np.tile(np.array(moves, np.int32), (len(states), 1)))
        seen.append(now)
    if witness.loop is not None and len(seen) == len(witness.moves) + 1:
        counts[1] += follows & (seen[-1] == seen[witness.loop]).all(1)
    return counts


def _have_plays(expander: Expander, states: States, plays: Sequence[Play]) -> NDArray[np.bool_]:
    """Return which of the games that begin in some states have all the plays."""
    have = np.ones(len(states), np.bool_)
    for play in plays:
        now = states
        for step in play.steps:
            legal = expander.legal(now)
            have &= legal.over == step.is_terminal
            if step.is_terminal:
                values = expander.goals(now)
                for role, goal in enumerate(step.goals):
                    if goal is not None:
                        have &= values[:, role] == goal
                break
            for role, expected in enumerate(step.legal):
                if expected is None:
                    continue
                wanted = np.array([move.lower() in expected for move in expander.moves[role]], np.bool_)
                have &= (legal.mask(role) == wanted).all(1) & (int(wanted.sum()) == len(expected))
            moves = _numbers(expander, step.joint_move)
            if not moves or -1 in moves or not have.any():
                have &= not moves
                break
            now = expander.step(now, np.tile(np.array(moves, np.int32), (len(states), 1)))
    return have


def _numbers(expander: Expander, joint: Sequence[str] | None) -> list[int]:
    """Return the numbers of the moves of a joint move, -1 for a move that there is not; none at the end."""
    pairs = zip(expander.move_numbers, joint or (), strict=False)
    return [numbers.get(move.lower(), -1) for numbers, move in pairs]

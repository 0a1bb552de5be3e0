"""Convert games to answer set programs for clingo.

The encodings follow Thielscher, "Answer Set Programming for Single-Player Games in General Game Playing",
ICLP 2009, with all roles choosing.

| program     | its answer sets                                                                  |
|-------------|----------------------------------------------------------------------------------|
| one step    | the joint moves that are legal in the initial state, each with the state after it |
| horizon N   | the plays of at most N steps                                                     |
| incremental | the plays of 0, 1, 2, ... steps, one length after the other                      |

With a role to win, they are the plays that end with 100 for that role: witnesses of weak winnability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.convert.asp.writer import RuleWriter
from herbrand.convert.levels import MOVE, STATE, STATIC
from herbrand.errors import HerbrandError
from herbrand.runtime.rendering import render_program

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.check.rules import Rules
    from herbrand.machine.state_machine import StateMachine
    from herbrand.syntax.nodes import Term

__all__ = [
    "Permutation",
    "Steps",
    "one_step",
    "permuted",
    "plays_of_other_length",
    "program_of_steps",
    "recorded_play",
    "temporal",
    "write",
]

_OWN = frozenset({"play", "won", "ended", "query"})
_PERMUTED = frozenset(
    {
        *("wrong", "copy", "fluent", "image", "move", "moves", "percept", "player"),
        *("moved", "idle", "illegal", "step"),
    }
)


def write(
    game: StateMachine, *, horizon: int | None = None, incremental: bool = False, win: str | None = None
) -> str:
    """Write a game for clingo; `win` is a role that must have 100 at the end.

    Raises `GameError` for a game that cannot be played, `ValueError` for a role it does not have.
    """
    game.require_playable()
    role = None
    if win is not None:
        try:
            number = game.role_index(win)
        except ValueError as error:
            raise HerbrandError(str(error)) from None
        role = game.rules.roles[number]
    if incremental:
        if horizon is not None:
            raise HerbrandError("--incremental and --horizon cannot be combined")
        return program_of_steps(game.rules, game.name, role).text
    if horizon is not None:
        return temporal(game.rules, game.name, horizon, role)
    if win is not None:
        raise HerbrandError("--win needs --horizon N or --incremental")
    return one_step(game.rules, game.name)


def one_step(rules: Rules, name: str) -> str:
    """Return the program of one step from the initial state, without time."""
    return _program("one_step", RuleWriter(rules), name=name)


def temporal(rules: Rules, name: str, horizon: int, win: Term | None = None) -> str:
    """Return the program of all plays of at most `horizon` steps; `win` is a role."""
    return _temporal(rules, name, horizon, win)[0]


def _temporal(rules: Rules, name: str, horizon: int, win: Term | None) -> tuple[str, RuleWriter]:
    """Return the program of `temporal`, and what wrote its rules."""
    writer = RuleWriter(rules, own=_OWN)
    last = writer.fresh_constant("n")
    return _program("temporal", writer, name=name, horizon=horizon, last=last, win=win), writer


def recorded_play(
    rules: Rules, name: str, joint_moves: Sequence[Sequence[Term]], win: Term | None = None
) -> str:
    """Return the program whose only answer set is a given play, if it is legal and ends with 100 for a role.

    Without a role, it is enough that the play ends.  Each joint move is in role order.
    """
    program, writer = _temporal(rules, name, len(joint_moves), win)
    chosen = [
        f":- not does({writer.term(role)},{writer.term(move)},{step})."
        for step, joint in enumerate(joint_moves)
        for role, move in zip(rules.roles, joint, strict=True)
    ]
    ends = [] if win is not None else ["% It ends.", *_ends(writer)]
    return "\n".join([program, "% The play.", *chosen, *ends, ""])


def _ends(writer: RuleWriter) -> tuple[str, str]:
    return f"ended :- {writer.atom(('terminal', 0), [], 'T')}, play(T).", ":- not ended."


def plays_of_other_length(rules: Rules, name: str, steps: int, *, longer: bool) -> str:
    """Return the program of plays that end before `steps` steps, or that do not end within them."""
    horizon = steps + 1 if longer else steps - 1
    program, writer = _temporal(rules, name, horizon, None)
    wanted = (f":- not play({horizon}).",) if longer else _ends(writer)
    return "\n".join([program, *wanted, ""])


@dataclass(frozen=True, slots=True)
class Permutation:
    """A permutation of roles, fluents, moves and percepts: each name with its image."""

    roles: Sequence[tuple[Term, Term]]
    fluents: Sequence[tuple[Term, Term]]
    moves: Sequence[tuple[tuple[Term, Term], tuple[Term, Term]]]
    """Pairs of a role and its move, with their images."""
    percepts: Sequence[tuple[Term, Term]]


def permuted(rules: Rules, name: str, permutation: Permutation) -> str:
    """Return the program without answer sets if a permutation maps every state and step to one of the game.

    A state is any set of the fluents, which have to include all that a step can make true.
    """
    writer = RuleWriter(rules, own=_PERMUTED, only_needed=True)
    term = writer.term
    facts = [
        *(f"player({term(a)},{term(b)})." for a, b in permutation.roles),
        *(f"image({term(a)},{term(b)})." for a, b in permutation.fluents),
        *(f"moves({term(r)},{term(m)},{term(s)},{term(n)})." for (r, m), (s, n) in permutation.moves),
        *(f"percept({term(a)},{term(b)})." for a, b in permutation.percepts),
    ]
    return _program("permuted", writer, name=name, facts=_lines(facts))


@dataclass(frozen=True, slots=True)
class Steps:
    """A program for clingo's incremental mode."""

    text: str
    now: str
    """The name of the step in its parts `step` and `check`."""
    writer: RuleWriter
    """Reads back the terms of its answer sets."""


def program_of_steps(rules: Rules, name: str, win: Term | None = None) -> Steps:
    """Return the program of plays of growing length."""
    writer = RuleWriter(rules, own=_OWN)
    now = writer.fresh_constant("t")
    return Steps(_program("steps", writer, name=name, now=now, win=win), now, writer)


def _program(template: str, writer: RuleWriter, **values: object) -> str:
    """Fill a template, in which each line of a section or a declaration has a newline."""

    def section(level: int, time: str | None = None, guard: str | None = None) -> str:
        return _lines(writer.section(level, time, guard))

    def undefined(*, timed: bool) -> str:
        return _lines(writer.undefined(timed=timed))

    levels = {"static": STATIC, "state": STATE, "move": MOVE}
    helpers = {"writer": writer, "section": section, "undefined": undefined}
    return render_program(f"convert/asp/{template}.lp", **levels, **helpers, **values)


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)

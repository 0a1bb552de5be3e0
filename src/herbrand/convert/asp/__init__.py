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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.check.rules import Rules
    from herbrand.machine.state_machine import StateMachine
    from herbrand.syntax.nodes import Term

__all__ = ["Steps", "one_step", "program_of_steps", "temporal", "write"]

_OWN = frozenset({"play", "won", "query"})


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
    writer = RuleWriter(rules)
    return _text(
        f"% The game {name}: one step from the initial state.",
        "%   clingo FILE 0          every legal joint move",
        "% For another state replace the rule for true/1 by its facts.",
        *_static(writer),
        *_heading("The state"),
        "true(F) :- init(F).",
        *_heading("Relations of the state"),
        *writer.section(STATE),
        *_heading("Every role chooses one of its legal moves"),
        "1 { does(R,M) : legal(R,M) } 1 :- role(R), not terminal.",
        *_heading("Relations of the joint move"),
        *writer.section(MOVE),
        "",
        *writer.undefined(timed=False),
        "#show does/2.",
        "#show next/1.",
    )


def temporal(rules: Rules, name: str, horizon: int, win: Term | None = None) -> str:
    """Return the program of all plays of at most `horizon` steps; `win` is a role."""
    writer = RuleWriter(rules, own=_OWN)
    last = writer.fresh_constant("n")
    terminal = writer.atom(("terminal", 0), [], "T")
    legal = writer.atom(("legal", 2), ["R", "M"], "T")
    lines = [
        f"% The game {name}: plays of at most {horizon} steps.",
        "%   clingo FILE            a play",
        f"%   clingo FILE -c {last}=20    another horizon",
        *_static(writer),
        *_heading("Time: a play continues until it is over"),
        f"#const {last} = {horizon}.",
        "play(0).",
        f"play(T+1) :- play(T), T < {last}, not {terminal}.",
        "true(F,0) :- init(F).",
        f"true(F,T+1) :- {writer.atom(('next', 1), ['F'], 'T')}, play(T+1).",
        *_heading("Relations of a state"),
        *writer.section(STATE, "T", "play(T)"),
        *_heading("Every role chooses one of its legal moves"),
        f"1 {{ does(R,M,T) : {legal} }} 1 :- role(R), play(T), play(T+1).",
        *_heading("Relations of a joint move"),
        *writer.section(MOVE, "T", "play(T), play(T+1)"),
    ]
    if win is not None:
        goal = writer.atom(("goal", 2), [writer.term(win), "100"], "T")
        lines += [
            *_heading(f"{win} has 100 at the end"),
            f"won :- {terminal}, {goal}, play(T).",
            ":- not won.",
        ]
    return _text(*lines, "", *writer.undefined(timed=True), "#show does/3.")


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
    before = f"{now}-1"
    terminal = ("terminal", 0)
    lines = [
        f"% The game {name}: plays of 0, 1, 2, ... steps, until there is one.",
        "%   clingo FILE               a shortest play",
        "%   clingo FILE -c imax=30    give up after 29 steps",
        "% The incremental mode is one of the program clingo; `python -m clingo` does not have it.",
        "#include <incmode>.",
        "",
        "#program base.",
        *_static(writer),
        "true(F,0) :- init(F).",
        *_heading("Relations of a state"),
        f"#program check({now}).",
        *writer.section(STATE, now),
        *_heading("The play may end here"),
        f":- query({now}), not {writer.atom(terminal, [], now)}.",
    ]
    if win is not None:
        goal = writer.atom(("goal", 2), [writer.term(win), "100"], now)
        lines.append(f":- query({now}), not {goal}.")
    legal = writer.atom(("legal", 2), ["R", "M"], before)
    lines += [
        *_heading("Every role chooses one of its legal moves"),
        f"#program step({now}).",
        f":- {writer.atom(terminal, [], before)}.",
        f"1 {{ does(R,M,{before}) : {legal} }} 1 :- role(R).",
        f"true(F,{now}) :- {writer.atom(('next', 1), ['F'], before)}.",
        *_heading("Relations of a joint move"),
        *writer.section(MOVE, before),
    ]
    text = _text(*lines, "", "#program base.", *writer.undefined(timed=True), "#show does/3.")
    return Steps(text, now, writer)


def _static(writer: RuleWriter) -> Iterator[str]:
    yield from _heading("Static relations")
    yield from writer.section(STATIC)


def _heading(text: str) -> Iterator[str]:
    yield from ("", f"% {text}.")


def _text(*lines: str) -> str:
    return "\n".join(lines) + "\n"

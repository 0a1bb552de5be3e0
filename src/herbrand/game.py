"""`Game`: what users hold; a state machine with its pictures, its automaton and its outside engines."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from herbrand.errors import HerbrandError
from herbrand.machine.state_machine import StateMachine
from herbrand.runtime.limits import DEFAULT, Limits
from herbrand.syntax import read, read_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.analyse.automata.automaton import Automaton
    from herbrand.draw.artist import Artist
    from herbrand.machine.state import State
    from herbrand.rules.interface import Engine
    from herbrand.syntax.ggdl.program import Value

__all__ = ["Game", "load", "loads"]


class Game(StateMachine):
    """A game: its tree, its checked rules, its states.

    Each product is made when first asked for and cached.  A game with errors can be asked for
    its `diagnostics`; what needs to play it raises `GameError`.  Two games are equal when
    they come from the same text in the same notation.
    """

    @cached_property
    def artist(self) -> Artist:
        """Draws the states of the game as SVG.

        Made by studying the game for up to some seconds; raises `GameError` for a game with errors.
        """
        from herbrand.draw.artist import Artist

        return Artist.of(self)

    def automaton(
        self, *, start: State | None = None, limit: int = 100_000, seconds: float = 60.0
    ) -> Automaton:
        """Return the game as a finite automaton, from the initial state or from another one.

        Raises `BudgetExceeded` for more than `limit` states, or after so many seconds.
        """
        from herbrand.analyse.automata.automaton import automaton

        return automaton(self, start=start, limit=limit, seconds=seconds)

    def notebook_view(self, state: State) -> dict[str, str]:
        """Return a state by MIME type: plain text always, SVG and HTML where it can be drawn."""
        from herbrand.draw.notebook import notebook_view

        return notebook_view(state, lambda: self.artist)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what the rules say about themselves, and the initial state."""
        from herbrand.check.features import features
        from herbrand.runtime.notebook import Markup, block, table

        found = [d for d in self.diagnostics if d.severity.value != "note"]
        rows = [
            (d.severity.value, d.check, d.message, d.source.position(d.span.start).line) for d in found[:20]
        ]
        told = features(self.rules)
        uses = [name.replace("_", " ") for name, value in told.as_json().items() if value is True]
        facts = [
            ("roles", ", ".join(self.roles)),
            ("rules", f"{told.facts} facts, {told.rules} rules, {told.relations} relations"),
            ("is, has", ", ".join(uses)),
        ]
        facts += [
            (p.name, f"{p.default if p.value is None else p.value} ({p.range})") for p in self.parameters
        ]
        picture: object = ""
        if not self.rules.errors:
            try:
                picture = Markup(self.artist.draw(self.initial_state("rules")).svg)
            except HerbrandError:
                picture = ""
        problems = table(rows, ("", "check", "message", "line"), numbers=(3,)) if rows else ""
        return block(
            self.name, table(facts), picture, problems, note=f"a game in {self.tree.notation} notation"
        )

    def _made_engine(self, name: str) -> Engine:
        if name == "prolog":
            from herbrand.verify.in_prolog import PrologEngine

            return PrologEngine(self.rules, limits=self.limits)
        if name == "asp":
            from herbrand.verify.in_asp import AnswerSetEngine

            return AnswerSetEngine(self.rules, limits=self.limits)
        return super()._made_engine(name)


def load(
    path: str | Path,
    notation: str | None = None,
    *,
    limits: Limits = DEFAULT,
    parameters: Mapping[str, Value] | None = None,
    **named: Value,
) -> Game:
    """Read a game from a file, or a bundled game by its name.

    The notation is told by the ending of the file (.kif .gdl .hrf .pl .ggd) and its content,
    or by `notation` ("prefix", "infix", "prolog", "ggdl").  Values for the parameters of a GGDL game
    are given as keyword arguments, or by name in `parameters`: `load("mnk", M=5, K=4)`.  Raises `OSError`
    when there is no such file; what is wrong with the rules, a value out of its range too, is in
    `Game.diagnostics`.
    """
    file = Path(path)
    name = None
    if not file.exists() and len(file.parts) == 1:
        from herbrand import games

        file = games.path(str(path))
        name = file.stem
    given = {**(parameters or {}), **named}
    return Game(read_file(file, notation or "auto", given), name=name, limits=limits)


def loads(
    text: str,
    notation: str = "auto",
    *,
    name: str = "<string>",
    limits: Limits = DEFAULT,
    parameters: Mapping[str, Value] | None = None,
    **named: Value,
) -> Game:
    """Read a game from text; `notation` is "auto", "prefix", "infix", "prolog" or "ggdl".

    Values for the parameters of a GGDL game are given as for `load`.
    """
    return Game(read(text, notation, name, {**(parameters or {}), **named}), name=name, limits=limits)

"""`Game`: a state machine with pictures, automata and external engines; `load` and `loads`."""

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
    """A game: its syntax tree, its checked rules, its states.

    Every stage is computed on first use and cached.  A game with errors has `diagnostics`; playing it raises
    `GameError`.  Two games are equal if they come from the same text in the same notation.
    """

    @cached_property
    def artist(self) -> Artist:
        """Draws the states of the game as SVG.

        Creating it analyses the game, which may take some seconds; raises `GameError` for a game with errors.
        """
        from herbrand.draw.artist import Artist

        return Artist.of(self)

    def automaton(
        self, *, start: State | None = None, limit: int = 100_000, seconds: float = 60.0
    ) -> Automaton:
        """Return the game as a finite automaton, from the initial state or from `start`.

        Raises `BudgetExceeded` for more than `limit` states, or after `seconds`.
        """
        from herbrand.analyse.automata.automaton import automaton

        return automaton(self, start=start, limit=limit, seconds=seconds)

    def notebook_view(self, state: State) -> dict[str, str]:
        """Return renderings of a state by MIME type: plain text, and SVG and HTML if it can be drawn."""
        from herbrand.draw.notebook import notebook_view

        return notebook_view(state, lambda: self.artist)

    def _repr_html_(self) -> str:
        """Return a summary of the rules, the initial state and the diagnostics as HTML, for notebooks."""
        from herbrand.check.features import features
        from herbrand.runtime.notebook import Markup, block, table

        diagnostics = [d for d in self.diagnostics if d.severity.value != "note"]
        diagnostic_rows = [
            (d.severity.value, d.check, d.message, d.source.position(d.span.start).line)
            for d in diagnostics[:20]
        ]
        counted = features(self.rules)
        properties = [name.replace("_", " ") for name, value in counted.as_json().items() if value is True]
        rows = [
            ("roles", ", ".join(self.roles)),
            ("rules", f"{counted.facts} facts, {counted.rules} rules, {counted.relations} relations"),
            ("properties", ", ".join(properties)),
        ]
        rows += [
            (p.name, f"{p.default if p.value is None else p.value} ({p.range})") for p in self.parameters
        ]
        picture: object = ""
        if not self.rules.errors:
            try:
                picture = Markup(self.artist.draw(self.initial_state("rules")).svg)
            except HerbrandError:
                picture = ""
        headings = ("", "check", "message", "line")
        problems = table(diagnostic_rows, headings, numbers=(3,)) if diagnostic_rows else ""
        return block(
            self.name, table(rows), picture, problems, note=f"a game in {self.tree.notation} notation"
        )

    def _create_engine(self, name: str) -> Engine:
        if name == "prolog":
            from herbrand.verify.in_prolog import PrologEngine

            return PrologEngine(self.rules, limits=self.limits)
        if name == "asp":
            from herbrand.verify.in_asp import AnswerSetEngine

            return AnswerSetEngine(self.rules, limits=self.limits)
        return super()._create_engine(name)


def load(
    path: str | Path,
    notation: str | None = None,
    *,
    limits: Limits = DEFAULT,
    parameters: Mapping[str, Value] | None = None,
    **named: Value,
) -> Game:
    """Read a game from a file, or a bundled game by name.

    The notation is detected from the file extension (.kif .gdl .hrf .pl .ggd) and the content, unless
    `notation` is "prefix", "infix", "prolog" or "ggdl".  Parameters of a GGDL game are keyword arguments or
    in `parameters`: `load("mnk", M=5, K=4)`.  Raises `OSError` if there is no such file.  Errors in the
    rules, and parameters out of range, do not raise; they are in `Game.diagnostics`.
    """
    file = Path(path)
    name = None
    if not file.exists() and len(file.parts) == 1:
        from herbrand import games

        file = games.path(str(path))
        name = file.stem
    values = {**(parameters or {}), **named}
    return Game(read_file(file, notation or "auto", values), name=name, limits=limits)


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

    Parameters of a GGDL game are passed as for `load`.
    """
    return Game(read(text, notation, name, {**(parameters or {}), **named}), name=name, limits=limits)

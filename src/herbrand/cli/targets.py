"""The targets of `herbrand convert --to`, imported on demand.

To add a target, write a function `(game, **options) -> str | bytes | Printed` in the package of its stage and
add it to `TARGETS`; add new options to `OPTIONS` and name them in the targets that take them.  Help,
completion and the reference page of the command line are generated from these tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.game import Game
    from herbrand.syntax.printer import Printed

__all__ = ["OPTIONS", "TARGETS", "Option", "Target"]


@dataclass(frozen=True, slots=True)
class Option:
    """An option of one or more targets, passed to their functions by name."""

    help: str
    type: type[bool | int | str] | tuple[str, ...] = bool
    """`bool` for a flag, `int`, `str`, or a tuple of choices."""
    default: bool | int | str | None = None
    metavar: str | None = None
    least: int | None = None
    """The smallest valid integer."""


@dataclass(frozen=True, slots=True)
class Target:
    """An output format."""

    help: str
    """A short description."""
    function: str
    """Its function as "module:name"."""
    options: tuple[str, ...] = ()
    """Names of its options in `OPTIONS`."""

    def write(self, game: Game, **options: Any) -> str | bytes | Printed:
        """Convert a game; raises what the target's function raises."""
        module, name = self.function.split(":")
        function: Callable[..., str | bytes | Printed] = getattr(import_module(module), name)
        return function(game, **options)


_AUTOMATON = ("minimise", "from", "limit")

TARGETS = {
    "prefix": Target("KIF", "herbrand.convert.notation:prefix", ("portable", "spelling")),
    "infix": Target("the book's notation (HRF)", "herbrand.convert.notation:infix", ("portable", "spelling")),
    "gdl2": Target("KIF with sees: every role sees every move", "herbrand.analyse.knowledge.gdl2:write"),
    "efg": Target("the tree of all plays, for Gambit and OpenSpiel", "herbrand.analyse.knowledge.efg:write"),
    "ggdl": Target("the typed superset: moves, payoffs, data types", "herbrand.convert.notation:ggdl"),
    "scrambled": Target(
        "KIF with other names, in another order", "herbrand.convert.scramble:write", ("seed",)
    ),
    "prolog": Target(
        "a program for SWI-Prolog", "herbrand.convert.prolog:write", ("style", "portable", "spelling")
    ),
    "asp": Target(
        "an answer set program for clingo", "herbrand.convert.asp:write", ("horizon", "incremental", "win")
    ),
    "pddl": Target(
        "a planning domain or problem, for games with one role", "herbrand.convert.pddl:write", ("part",)
    ),
    "json": Target("the rules as JSON", "herbrand.convert.as_json:write"),
    "ground-json": Target("the ground rules, as JSON", "herbrand.convert.as_json:write_ground"),
    "dot": Target(
        "the dependency graph of the relations, for Graphviz", "herbrand.convert.notation:dependencies"
    ),
    "network": Target("the and-inverter graph, as text", "herbrand.convert.network:text"),
    "network-json": Target("the network as JSON", "herbrand.convert.network:json"),
    "automaton": Target(
        "all states and transitions, as JSON", "herbrand.analyse.automata.automaton:write_json", _AUTOMATON
    ),
    "automaton-csv": Target(
        "the transitions as a table", "herbrand.analyse.automata.automaton:write_csv", _AUTOMATON
    ),
    "automaton-dot": Target(
        "the states for Graphviz", "herbrand.analyse.automata.automaton:write_dot", _AUTOMATON
    ),
    "automaton-svg": Target(
        "a drawing of the states of a small game",
        "herbrand.analyse.automata.automaton:write_svg",
        _AUTOMATON,
    ),
    "network-dot": Target("the network, if it is small, for Graphviz", "herbrand.convert.network:dot"),
    "lanes": Target(
        "the straight-line program over rows of games, as text", "herbrand.convert.lanes:text", ("program",)
    ),
    "c": Target("random games as C source", "herbrand.convert.lanes:c"),
    "aiger": Target("the network for model checkers", "herbrand.convert.network:aiger", ("binary", "bad")),
}
"""The targets by name, in the order of the help."""

OPTIONS = {
    "portable": Option("Rename symbols that some systems cannot read."),
    "spelling": Option("Keep upper-case letters where the notation allows them."),
    "seed": Option("Determines names and order.", int, 0, "N"),
    "style": Option(
        "State as facts true/1 and does/2, state as a list argument, or no directives.",
        ("literal", "state", "plain"),
        "literal",
    ),
    "horizon": Option("Plays of at most N steps instead of a single step.", int, metavar="N", least=0),
    "incremental": Option("Plays of 0, 1, 2, ... steps, until one exists."),
    "win": Option("Plays that end with 100 for this role.", str, metavar="ROLE"),
    "minimise": Option("Merge equivalent states."),
    "from": Option("Start in the state with these facts.", str, metavar="FACTS"),
    "limit": Option("Maximum number of states.", int, 100_000, "N", 1),
    "part": Option("The PDDL file to write.", ("domain", "problem"), "domain"),
    "program": Option(
        "The program that plays random games, or the one that evaluates states.",
        ("playing", "evaluating"),
        "playing",
    ),
    "binary": Option("Write binary AIGER (aig) instead of ASCII AIGER (aag)."),
    "bad": Option(
        "Constrain runs to legal plays and mark bad states, separated by commas: playability, "
        "terminal, goals, win ROLE.",
        str,
        metavar="STATES",
    ),
}
"""The options by name."""

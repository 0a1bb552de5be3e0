"""What `herbrand convert --to` can write: one entry a target, imported when used.

To add a target, write a function `(game, **options) -> str | bytes | Printed` in the package of
the stage it stands for and enter it in `TARGETS`; a new option goes into `OPTIONS` and is
named by the targets that take it.  Help, completion and the page of the command line follow.
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
    """An option of one or more targets; passed to their functions under its name."""

    help: str
    type: type[bool | int | str] | tuple[str, ...] = bool
    """`bool` for a flag, `int`, `str`, or the words to choose from."""
    default: bool | int | str | None = None
    metavar: str | None = None
    least: int | None = None
    """The smallest integer that is taken."""


@dataclass(frozen=True, slots=True)
class Target:
    """Something that a game can be written as."""

    help: str
    """What it is, in a few words."""
    function: str
    """Where its function is, as "module:name"."""
    options: tuple[str, ...] = ()
    """The options it takes, names of `OPTIONS`."""

    def write(self, game: Game, **options: Any) -> str | bytes | Printed:
        """Write a game; raises what the target's function raises."""
        module, name = self.function.split(":")
        function: Callable[..., str | bytes | Printed] = getattr(import_module(module), name)
        return function(game, **options)


_AUTOMATON = ("minimise", "from", "limit", "seconds")

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
        "a planning domain or problem, for games of one role", "herbrand.convert.pddl:write", ("part",)
    ),
    "json": Target("the rules as JSON", "herbrand.convert.as_json:write"),
    "ground-json": Target("the rules without variables, as JSON", "herbrand.convert.as_json:write_ground"),
    "dot": Target("which relation depends on which, for Graphviz", "herbrand.convert.notation:dependencies"),
    "network": Target("the network of AND and NOT, as text", "herbrand.convert.network:text"),
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
        "a drawing of the states, if they are few",
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
    "portable": Option("Rename what some systems cannot read."),
    "spelling": Option("Keep upper-case letters where the notation allows them."),
    "seed": Option("Which other names and order.", int, 0, "N"),
    "style": Option(
        "The rules over facts true/1 and does/2, over a state passed as a list, or without directives.",
        ("literal", "state", "plain"),
        "literal",
    ),
    "horizon": Option("Plays of at most N steps, not one step.", int, metavar="N", least=0),
    "incremental": Option("Plays of 0, 1, 2, ... steps, until there is one."),
    "win": Option("Plays that end with 100 for this role.", str, metavar="ROLE"),
    "minimise": Option("Merge states that behave the same."),
    "from": Option("Begin in the state with these facts.", str, metavar="FACTS"),
    "limit": Option("Refuse more states than this.", int, 100_000, "N", 1),
    "seconds": Option("Give up after so many seconds (exit 3).", int, 60, "N", 1),
    "part": Option("Which of the two files of PDDL.", ("domain", "problem"), "domain"),
    "program": Option(
        "The program that plays random games, or the one that evaluates states.",
        ("playing", "evaluating"),
        "playing",
    ),
    "binary": Option("Write the compact form of AIGER (aig), not the one for people (aag)."),
    "bad": Option(
        "Make every run a play and mark states to look for, separated by commas: playability, "
        "terminal, goals, win ROLE.",
        str,
        metavar="STATES",
    ),
}
"""The options by name."""

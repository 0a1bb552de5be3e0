"""Hypothesis strategies for terms, rules and trees, for the tests of herbrand and of what builds on it.

Needs the library `hypothesis`; every strategy raises `MissingExtra` without it.  What they make is
well formed as syntax (each connective with at least two operands, no reserved names), but not a
game: rules need not be safe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.errors import MissingExtra
from herbrand.syntax.build import sheet
from herbrand.syntax.names import KEYWORDS
from herbrand.syntax.tree import And, Atom, Constant, Distinct, Function, Not, Or, Rule, Tree, Variable

if TYPE_CHECKING:
    from types import ModuleType

    from hypothesis.strategies import SearchStrategy

    from herbrand.syntax.tree import Literal, Term

__all__ = ["literals", "names", "rules", "terms", "trees", "variable_names"]

_PLAIN = ("a", "b", "cell", "mark", "x1", "long_name", "0", "1", "17", "100")
_ODD = (
    "++",
    "-1",
    "01",
    "1e3",
    "2pawns",
    "a-b",
    "a.b",
    "<",
    "+",
    "is",
    "mod",
    "_x",
    "it's",
    "-0",
    "é",
    "c___",
)


def _strategies() -> ModuleType:
    try:
        from hypothesis import strategies
    except ImportError as error:
        raise MissingExtra("herbrand.testing", "dev") from error
    return strategies


def names(*, odd: bool = False) -> SearchStrategy[str]:
    """Names of constants, functions and relations; `odd` ones cannot be spelled in every notation."""
    st = _strategies()
    choices = [st.sampled_from(_PLAIN), st.text("ab01_", max_size=4).map(lambda tail: f"n{tail}")]
    if odd:
        choices.append(st.sampled_from(_ODD))
        choices.append(st.text("abz019_-+*/.<>=$'\\%#é", min_size=1, max_size=4))
    usable: SearchStrategy[str] = st.one_of(*choices).filter(_is_usable)
    return usable


def _is_usable(name: str) -> bool:
    return (
        name not in KEYWORDS and name not in {"<=", ":-", "/\\", "\\/"} and not name.startswith(("\\", "?"))
    )


def variable_names() -> SearchStrategy[str]:
    """Names of variables that every notation can spell."""
    st = _strategies()
    made: SearchStrategy[str] = st.sampled_from(("x", "y", "z", "mark", "x1", "x_2", "row_", "a__b"))
    return made


def terms(*, odd: bool = False) -> SearchStrategy[Term]:
    """Terms: constants, variables, and functions of them."""
    st = _strategies()
    leaves = st.one_of(names(odd=odd).map(Constant), variable_names().map(Variable))
    made: SearchStrategy[Term] = st.recursive(
        leaves,
        lambda inner: st.builds(Function, names(odd=odd), st.lists(inner, min_size=1, max_size=3).map(tuple)),
        max_leaves=6,
    )
    return made


def _atoms(*, odd: bool) -> SearchStrategy[Atom]:
    st = _strategies()
    made: SearchStrategy[Atom] = st.builds(
        Atom, names(odd=odd), st.lists(terms(odd=odd), max_size=3).map(tuple)
    )
    return made


def literals(*, odd: bool = False) -> SearchStrategy[Literal]:
    """Literals of any shape, connectives inside each other included."""
    st = _strategies()
    simple = st.one_of(
        _atoms(odd=odd),
        st.builds(Distinct, terms(odd=odd), terms(odd=odd)),
    )

    def joined(inner: SearchStrategy[Literal]) -> SearchStrategy[Literal]:
        several = st.lists(inner, min_size=2, max_size=3).map(tuple)
        made: SearchStrategy[Literal] = st.one_of(
            st.builds(Not, inner), st.builds(And, several), st.builds(Or, several)
        )
        return made

    made: SearchStrategy[Literal] = st.recursive(simple, joined, max_leaves=5)
    return made


def rules(*, odd: bool = False) -> SearchStrategy[Rule]:
    """Rules and facts."""
    st = _strategies()
    bodies = st.lists(literals(odd=odd), max_size=4).map(tuple)
    made: SearchStrategy[Rule] = st.builds(Rule, _atoms(odd=odd), bodies)
    return made


def trees(*, odd: bool = False) -> SearchStrategy[Tree]:
    """Trees of up to five statements."""
    st = _strategies()
    made: SearchStrategy[Tree] = st.lists(rules(odd=odd), max_size=5).map(lambda made: sheet(*made))
    return made

"""Hypothesis strategies for terms, rules, trees and games.

All values are syntactically well-formed (connectives have at least two operands, reserved names are
avoided).  Only `games` and `hidden_games` give whole games, which are safe, stratified and finite, for
comparisons of evaluators.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from tree_builder import sheet

from herbrand.syntax.names import KEYWORDS
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Or, Rule, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from hypothesis.strategies import SearchStrategy

    from herbrand.syntax.nodes import Literal, Term
    from herbrand.syntax.tree import Tree

__all__ = ["games", "hidden_games", "literals", "names", "rules", "terms", "trees", "variable_names"]

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


def names(*, odd: bool = False) -> SearchStrategy[str]:
    """Names of constants, functions and relations; `odd` ones cannot be spelled in every notation."""
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
    strategy: SearchStrategy[str] = st.sampled_from(("x", "y", "z", "mark", "x1", "x_2", "row_", "a__b"))
    return strategy


def terms(*, odd: bool = False) -> SearchStrategy[Term]:
    """Terms: constants, variables, and functions of them."""
    leaves = st.one_of(names(odd=odd).map(Constant), variable_names().map(Variable))
    strategy: SearchStrategy[Term] = st.recursive(
        leaves,
        lambda inner: st.builds(Function, names(odd=odd), st.lists(inner, min_size=1, max_size=3).map(tuple)),
        max_leaves=6,
    )
    return strategy


def _atoms(*, odd: bool) -> SearchStrategy[Atom]:
    strategy: SearchStrategy[Atom] = st.builds(
        Atom, names(odd=odd), st.lists(terms(odd=odd), max_size=3).map(tuple)
    )
    return strategy


def literals(*, odd: bool = False) -> SearchStrategy[Literal]:
    """Literals of any shape, connectives inside each other included."""
    simple = st.one_of(
        _atoms(odd=odd),
        st.builds(Distinct, terms(odd=odd), terms(odd=odd)),
    )

    def joined(inner: SearchStrategy[Literal]) -> SearchStrategy[Literal]:
        several = st.lists(inner, min_size=2, max_size=3).map(tuple)
        strategy: SearchStrategy[Literal] = st.one_of(
            st.builds(Not, inner), st.builds(And, several), st.builds(Or, several)
        )
        return strategy

    strategy: SearchStrategy[Literal] = st.recursive(simple, joined, max_leaves=5)
    return strategy


def rules(*, odd: bool = False) -> SearchStrategy[Rule]:
    """Rules and facts."""
    bodies = st.lists(literals(odd=odd), max_size=4).map(tuple)
    strategy: SearchStrategy[Rule] = st.builds(Rule, _atoms(odd=odd), bodies)
    return strategy


def trees(*, odd: bool = False) -> SearchStrategy[Tree]:
    """Trees of up to five statements."""
    strategy: SearchStrategy[Tree] = st.lists(rules(odd=odd), max_size=5).map(
        lambda statements: sheet(*statements)
    )
    return strategy


_OBJECTS = ("a", "b", "c")
_HOLES = ("{0}", "{1}")
_LAYERS = 4
"""Derived relations of a game; each may be recursive and negate earlier ones."""


def games() -> SearchStrategy[str]:
    """Whole small games as prefix text: one or two roles, a handful of relations, at most 6 steps.

    Rules are safe and stratified; relations may be recursive, and bodies have negation, `distinct` and
    disjunction in any order.  Playability is not guaranteed, but every role can always `wait`.
    """
    strategy: SearchStrategy[str] = st.composite(_game)()
    return strategy


def hidden_games() -> SearchStrategy[str]:
    """Games like those of `games` with hidden information: rules for `sees`, and sometimes `random`."""

    def build(draw: Callable[[SearchStrategy[Any]], Any]) -> str:
        return _game(draw, hidden=True)

    strategy: SearchStrategy[str] = st.composite(build)()
    return strategy


def _game(draw: Callable[[SearchStrategy[Any]], Any], *, hidden: bool = False) -> str:
    choices: tuple[tuple[str, ...], ...] = (("r1",), ("r1", "r2"))
    if hidden:
        choices = (("r1", "random"), ("r1", "r2"), ("r1", "r2", "random"))
    roles = draw(st.sampled_from(choices))
    lines = [f"(role {role})" for role in roles]
    lines += [f"(object {name})" for name in _OBJECTS]
    lines += [f"(succ {i} {i + 1})" for i in range(6)]
    pairs = draw(st.sets(st.tuples(st.sampled_from(_OBJECTS), st.sampled_from(_OBJECTS)), max_size=5))
    lines += [f"(edge {x} {y})" for x, y in sorted(pairs)]
    lines.append("(init (step 0))")
    ones = draw(st.sets(st.sampled_from(_OBJECTS)))
    lines += [f"(init (one {x}))" for x in sorted(ones)]
    twos = draw(st.sets(st.tuples(st.sampled_from(_OBJECTS), st.sampled_from(_OBJECTS)), max_size=4))
    lines += [f"(init (two {x} {y}))" for x, y in sorted(twos)]
    lines += ["(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))", "(<= terminal (true (step 5)))"]
    conditions = ["(object {0})", "(edge {0} {1})", "(true (one {0}))", "(true (two {0} {1}))"]
    for layer in range(_LAYERS):
        arity = draw(st.integers(0, 2))
        head = f"p{layer}" if not arity else f"(p{layer} {' '.join(_HOLES[:arity])})"
        own = [*conditions, head] if arity else conditions
        for _ in range(draw(st.integers(1, 2))):
            lines.append(_rule(draw, head, conditions, own))
        conditions.append(head)
    lines += ["(<= (legal ?r wait) (role ?r))"]
    for role in roles:
        if hidden or draw(st.booleans()):
            lines.append(_rule(draw, f"(legal {role} (put {{0}}))", conditions, conditions))
        lines.append(
            _rule(draw, f"(goal {role} {draw(st.sampled_from((0, 30, 100)))})", conditions, conditions)
        )
    with_moves = [*conditions, f"(does {draw(st.sampled_from(roles))} (put {{0}}))", "(does ?who (put {0}))"]
    lines.append(_rule(draw, "(next (one {0}))", with_moves, with_moves))
    lines.append(_rule(draw, "(next (two {0} {1}))", with_moves, with_moves))
    lines.append(_rule(draw, "terminal", conditions, conditions))
    if hidden:
        lines.append(_rule(draw, "(sees r1 (seen {0}))", with_moves, with_moves))
        lines += [
            _rule(draw, f"(sees {role} told)", with_moves, with_moves) for role in roles if role != "random"
        ]
    return "\n".join(lines)


def _rule(
    draw: Callable[[SearchStrategy[Any]], Any], head: str, negatable: list[str], usable: list[str]
) -> str:
    """Draw a rule with this head: binding literals and tests of bound variables, shuffled."""
    variables = ("?x", "?y", "?z")

    def fill(pattern: str, names: Sequence[str]) -> str:
        return pattern.format(*[draw(st.sampled_from(names)) for _ in range(2)])

    body = [fill(draw(st.sampled_from(usable)), (*variables, "a")) for _ in range(draw(st.integers(1, 3)))]
    for variable in variables:
        if f"{variable}" not in " ".join(body):
            body.append(f"(object {variable})")
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.integers(0, 4))
        test = fill(draw(st.sampled_from(negatable)), (*variables, "b"))
        other = fill(draw(st.sampled_from(negatable)), (*variables, "c"))
        test, other = (t.replace("?who", "r1") for t in (test, other))
        if kind == 0:
            body.append(f"(not {test})")
        elif kind == 1:
            body.append(
                f"(distinct {draw(st.sampled_from(variables))} {draw(st.sampled_from((*variables, 'a')))})"
            )
        elif kind == 2:
            body.append(f"(or {test} {other})")
        elif kind == 3:
            body.append(f"(or (not {test}) (distinct ?x ?y) (and {other} (not (true (one ?z)))))")
        else:
            body.append(f"(not (or {test} {other}))")
    shuffled = draw(st.permutations(body))
    return f"(<= {fill(head, variables)} {' '.join(shuffled)})"


def resized(name: str, width: int, height: int) -> str:
    """Return the rules of the bundled connectFour, breakthrough, hex or reversi on a board of another size.

    The width is 2 to 26.  Breakthrough needs at least four rows; hex boards are square; reversi needs even
    numbers of files and ranks, at least four.
    """
    from herbrand import games

    text = games.text(name)
    lettered = name in ("breakthrough", "reversi")
    across = [chr(ord("a") + i) if lettered else str(i + 1) for i in range(width)]
    up = [str(i + 1) for i in range(height)]
    if name == "connectFour":
        lists = {"column": across, "row": up, "succ": [str(i + 1) for i in range(max(width, height))]}
        text = text.replace("(not (taken ?column 6))", f"(not (taken ?column {height}))")
    elif name == "breakthrough":
        lists = {"file": across, "rank": up, "right_of": across, "up": up}
        for old, new in (
            ("(home black 8)", f"(home black {height})"),
            ("(home black 7)", f"(home black {height - 1})"),
            ("(goal_rank white 8)", f"(goal_rank white {height})"),
        ):
            text = text.replace(old, new)
    elif name == "hex":
        lists = {"number": across, "succ": across}
        text = text.replace("(rooted red ?x 9)", f"(rooted red ?x {width})")
        text = text.replace("(rooted blue 9 ?y)", f"(rooted blue {width} ?y)")
    elif name == "reversi":
        lists = {"file": across, "rank": up, "right_of": across, "up": up}
        middle = dict(zip("de", across[width // 2 - 1 :], strict=False))
        centre = dict(zip("45", up[height // 2 - 1 :], strict=False))
        text = re.sub(
            r"\(init \(cell (\w) (\w)", lambda m: f"(init (cell {middle[m[1]]} {centre[m[2]]}", text
        )
        text = text.replace("(balance h 8 ", f"(balance {across[-1]} {height} ")
        text = text.replace("(follows h ", f"(follows {across[-1]} ")
    else:
        raise ValueError(f"`{name}` is not one of connectFour, breakthrough, hex, reversi")
    for relation, names_ in lists.items():
        text = re.sub(rf"^\({relation} [a-z0-9 ]+\)\n", "", text, flags=re.MULTILINE)
        pairs = relation in ("succ", "right_of", "up")
        rows = pairwise(names_) if pairs else ((n,) for n in names_)
        text += "".join(f"({relation} {' '.join(row)})\n" for row in rows)
    return text

"""States as pictures: SVG with boards, pieces, towers, lamps and tables.

    >>> from herbrand.draw.boards.layout import find_layout
    >>> from herbrand.draw.boards.vocabulary import Vocabulary
    >>> facts = [f"(cell {x} {y} {c})" for x, row in enumerate(["xob", "bxb", "obx"], 1)
    ...          for y, c in enumerate(row, 1)]
    >>> drawing = draw(facts, find_layout(Vocabulary.of(facts)), name="noughts and crosses")
    >>> drawing.svg.count('class="hb-mark s-blue"'), '<title>noughts and crosses</title>' in drawing.svg
    (3, True)

The same facts give the same text.  Names from rulesheets are only ever written as escaped text.
Each cell carries `data-cell`, a name that `clicks.py` gives to the places that moves refer to.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

from herbrand.draw.beside import CARDS, caption, cards, lamps, pile, stock, table, towers
from herbrand.draw.grids import board_parts
from herbrand.draw.looks import content_looks, with_others
from herbrand.draw.paper import WIDTH, Part, n
from herbrand.draw.style import STYLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from herbrand.draw.boards.layers import Shape
    from herbrand.draw.boards.layout import Layout
    from herbrand.draw.looks import Look

__all__ = ["Drawing", "draw", "undrawn"]

GAP: Final = 26.0


@dataclass(frozen=True)
class Drawing:
    """A picture and its description in words."""

    svg: str
    width: float
    height: float
    text: str
    """The same in words, for those who cannot see it."""


def draw(
    facts: Iterable[str],
    layout: Layout,
    *,
    name: str = "",
    lines: Sequence[str] = (),
    last: Sequence[Sequence[str]] = (),
    looks: Mapping[str, Look] | None = None,
    extras: bool = True,
    control: bool = True,
    stacked: bool = False,
    style: bool = True,
    tables: bool = True,
    flipped: bool = False,
) -> Drawing:
    """Draw a state.

    `name` becomes the title, `lines` stand below the picture; `last` has the cells of the moves
    made last, by the names of `paper.cell_name`; `looks` is what `looks.content_looks` returns.
    Without `extras` only boards and towers are drawn, without `control` not whose turn it is, and without
    `tables` no table of the `undrawn` facts; `flipped` turns boards around; `stacked` puts what is no board
    below boards; without `style` the page must bring the style sheet.
    """
    parts = layout.facts(facts)
    contents = layout.contents(parts)
    named = {name for one in contents.values() for names in one.cells.values() for name in names}
    looks = with_others(content_looks(layout) if looks is None else looks, named, layout)
    by_shape: dict[Shape, list[tuple[str, ...]]] = defaultdict(list)
    for fact in parts:
        by_shape[fact[0], len(fact) - 1].append(fact)
    painted = board_parts(layout, contents, looks, last, flipped=flipped)
    painted += [towers(shape, by_shape, layout, last) for shape in layout.towers]
    painted += [pile(fact) for shape in layout.rows for fact in by_shape[shape]]
    if stacked and painted:
        painted[-1].broken = True
    if layout.lamps and len(layout.lamps) >= 2 and extras:
        painted.append(lamps(layout.lamps, {fact[0] for fact in parts if len(fact) == 1}))
    if extras:
        spare, held, others = _beside(parts, layout, looks, control=control and not lines)
        painted += [stock(name, spare, looks, last) for name in dict.fromkeys(fact[0] for fact in spare)]
        if held:
            painted.append(cards(held, layout))
        if others and tables:
            painted.append(table(others))
    if not painted:
        painted.append(caption(["no facts"]))
    if lines:
        painted[-1].broken = True
        painted.append(caption(lines))
    return _page(painted, name, style=style)


def undrawn(facts: Iterable[str], layout: Layout, looks: Mapping[str, Look]) -> list[tuple[str, ...]]:
    """Return the facts that `draw` lists in a table, but for whose turn it is."""
    return _beside(layout.facts(facts), layout, looks, control=False)[2]


def _beside(
    parts: Iterable[tuple[str, ...]], layout: Layout, looks: Mapping[str, Look], *, control: bool
) -> tuple[list[tuple[str, ...]], ...]:
    """Return the facts that are not on boards: pieces, cards, and all others."""
    announced = set() if control else set(layout.control)
    rest = [fact for fact in parts if _is_rest(fact, layout) and (fact[0], len(fact) - 1) not in announced]
    spare = [fact for fact in rest if _is_stock(fact, layout, looks)]
    held = [fact for fact in rest if fact not in spare and CARDS.match(fact[0]) and len(fact) > 1]
    return spare, held, [fact for fact in rest if fact not in spare and fact not in held]


def _is_rest(fact: tuple[str, ...], layout: Layout) -> bool:
    """Whether a fact is not yet drawn."""
    if (fact[0], len(fact) - 1) in layout.drawn or fact[0] in layout.hints.get("hide", ()):
        return False
    return not (len(fact) == 1 and fact[0] in layout.lamps)


def _is_stock(fact: tuple[str, ...], layout: Layout, looks: Mapping[str, Look]) -> bool:
    """Whether a fact names a piece of the boards that is not on one, such as those not yet placed."""
    if len(fact) != 2 or (fact[0], 1) in layout.control or not layout.boards:
        return False
    look = looks.get(fact[1].lower())
    return look is not None and look.kind in ("quarto", "chess", "disc", "token") and len(looks) > 4


# -- the page ---------------------------------------------------------------------------------


def _page(parts: list[Part], name: str, *, style: bool) -> Drawing:
    """Put parts next to each other, line by line, and wrap them into a document."""
    body: list[str] = []
    margin = 14.0
    x, y, high, wide = margin, margin, 0.0, 0.0
    ended = False
    for part in parts:
        if x > margin and (ended or x + part.width > WIDTH + margin):
            x, y, high = margin, y + high + GAP, 0.0
        body.append(f'<g transform="translate({n(x)} {n(y)})">{"".join(part.svg)}</g>')
        wide = max(wide, x + part.width)
        high = max(high, part.height)
        x += part.width + GAP
        ended = part.broken
    width, height = wide + margin, y + high + margin
    text = ". ".join(line for part in parts for line in part.words)
    text = text if len(text) <= 3000 else text[:2999] + "…"
    head = f"<title>{escape(name)}</title>" if name else ""
    sheet = f"<style>{STYLE}</style>" if style else ""
    label = escape(name or "state", quote=True)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="hb" viewBox="0 0 {n(width)} {n(height)}" '
        f'width="{n(width)}" height="{n(height)}" role="img" aria-label="{label}">'
        f"{head}<desc>{escape(text)}</desc>{sheet}{''.join(body)}</svg>"
    )
    return Drawing(svg, width, height, text)

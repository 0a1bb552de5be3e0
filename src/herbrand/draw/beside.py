"""Draw everything but boards as SVG: towers, lists, lamps, spare pieces, cards, and tables of facts."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from herbrand.draw.grids import line, placed, title_of
from herbrand.draw.looks import PALETTE, words
from herbrand.draw.paper import LETTER, WIDTH, Part, clickable, fitted, item_name, n, rect, text
from herbrand.draw.pieces import piece
from herbrand.draw.terms import natural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from herbrand.draw.boards.layers import Shape
    from herbrand.draw.boards.layout import Layout
    from herbrand.draw.looks import Look

__all__ = ["CARDS", "caption", "cards", "lamps", "pile", "stock", "table", "towers"]

LONG_TABLE: Final = 24
"""Rows of a table that are shown; the rest is counted."""
CARDS: Final = re.compile(
    r"(holds?|hand|cards?|dealt|public|covered|open|die|dice|deck|discard|pile|hidden|shown)\Z", re.IGNORECASE
)
"""Names of fluents about cards or dice."""


def towers(
    shape: Shape,
    by_shape: Mapping[Shape, list[tuple[str, ...]]],
    layout: Layout,
    last: Sequence[Sequence[str]],
) -> Part:
    """Draw the towers from left to right."""
    below = {fact[1]: fact[2] for fact in by_shape.get(shape, ())}
    suffix = shape[0].removeprefix("on")
    grounded = {
        fact[1]
        for (name, arity), facts in by_shape.items()
        if arity == 1 and name in {start + suffix for start in ("table", "clear", "on_table", "ontable")}
        for fact in facts
    }
    things = set(below) | set(below.values()) | grounded
    if len(layout.towers) == 1:
        things |= layout.bases
    roots = sorted(things - set(below), key=natural)
    above: dict[str, list[str]] = defaultdict(list)
    for thing in sorted(below, key=natural):
        above[below[thing]].append(thing)
    sizes = {thing: i for i, thing in enumerate(sorted(things & (layout.movable | grounded), key=natural))}
    bases = bool(roots) and not any(root in sizes for root in roots) and all(t[-1].isdigit() for t in sizes)
    width, high = 92.0, 26.0 if bases else 42.0
    ground = roots[0] if len(layout.bases) == 1 and not bases and set(roots) == layout.bases else ""
    stacks = [_stack(root, above) for root in (above[ground] if ground else roots)]
    height = max((len(stack) for stack in stacks), default=1) * high + 10
    highlighted = {name for move in last for name in move}
    svg, descriptions = [], []
    for i, stack in enumerate(stacks):
        middle = i * (width + 12) + width / 2
        for level, thing in enumerate(stack):
            wide = width * 0.62
            if bases:
                wide = width if level == 0 else width * (0.35 + 0.6 * (sizes[thing] + 1) / len(sizes))
            x, y = middle - wide / 2, height - (level + 1) * high
            colour = PALETTE[sizes[thing] % len(PALETTE)] if thing in sizes else ""
            drawing = rect(f"f-{colour} o-{colour}" if colour else "cell", x, y, wide, high - 2, 5)
            letters = f"hb-letters t-{colour}" if colour else "label"
            drawing += text(middle, y + high / 2 - 1, thing, letters, fitted(thing, wide))
            if item_name(thing) in highlighted:
                drawing += rect("last", x, y, wide, high - 2, 5)
            svg.append(clickable(item_name(thing), thing, drawing))
        descriptions.append(" under ".join(stack))
    total = max(len(stacks) * (width + 12) - 12, width)
    svg.append(line("frame", 0, height + 1, total, height + 1))
    if ground:  # it holds all towers, side by side
        drawing = rect("cell", 0, height + 2, total, 26, 5) + text(total / 2, height + 15, ground, "label")
        if item_name(ground) in highlighted:
            drawing += rect("last", 0, height + 2, total, 26, 5)
        svg.append(clickable(item_name(ground), ground, drawing))
        height += 28
        descriptions = [f"{tower} on {ground}" for tower in descriptions]
    return Part(total, height + 4, svg, ["towers: " + "; ".join(descriptions)])


def _stack(root: str, above: Mapping[str, list[str]]) -> list[str]:
    stack, waiting = [], [root]
    while waiting:
        thing = waiting.pop()
        stack.append(thing)
        waiting += above.get(thing, [])
    return stack


def pile(fact: tuple[str, ...]) -> Part:
    """Draw a list of different things as a pile of bars, the first on top."""
    ranks = {thing: i for i, thing in enumerate(sorted(fact[1:], key=natural))}
    svg = []
    for i, thing in enumerate(fact[1:]):
        wide = 70 + 150 * (ranks[thing] + 1) / len(ranks)
        drawing = rect("f-orange o-orange", 110 - wide / 2, i * 26, wide, 22, 10)
        drawing += text(110, i * 26 + 11, thing, "hb-letters t-orange")
        svg.append(clickable(item_name(thing), thing, drawing))
    description = f"{title_of(fact[0])}, from the top: {', '.join(fact[1:])}"
    return Part(220, 26.0 * len(ranks), svg, [description])


def lamps(names: Sequence[str], lit: set[str]) -> Part:
    """Draw fluents without arguments as lamps, on and off."""
    svg = []
    x = y = right = 0.0
    for name in names:
        label = " ".join(words(name)) or name
        wide = 40 + len(label) * LETTER
        if x and x + wide > WIDTH / 1.6:
            x, y = 0.0, y + 40
        lamp = "lit" if name in lit else "unlit"
        svg.append(
            f'<g transform="translate({n(x)} {n(y)})">{rect("chip", 0, 0, wide, 32, 16)}'
            f'<g transform="translate(4 4) scale(.5)"><g class="hb-lamp {lamp}">'
            f'<circle cx="24" cy="24" r="14"/></g></g>{text(32, 16, label, f"table start {lamp}-name")}</g>'
        )
        x += wide + 8
        right = max(right, x)
    true = ", ".join(name for name in names if name in lit)
    return Part(right, y + 32, svg, [f"true: {true or 'none'}"])


def stock(
    name: str, facts: list[tuple[str, ...]], looks: Mapping[str, Look], last: Sequence[Sequence[str]]
) -> Part:
    """Draw pieces that are beside the boards."""
    pieces = sorted((fact[1] for fact in facts if fact[0] == name), key=natural)
    highlighted = {place for move in last for place in move}
    across = 8
    svg = [text(0, 8, " ".join(words(name)), "title start")]
    for i, content in enumerate(pieces):
        x, y = (i % across) * 48.0, 20 + (i // across) * 48.0
        drawing = rect("cell", x + 1, y + 1, 46, 46, 8)
        drawing += placed(piece(looks[content.lower()], content), x + 24, y + 24, 40)
        if item_name(content) in highlighted:
            drawing += rect("last", x + 2, y + 2, 44, 44, 7)
        svg.append(clickable(item_name(content), content, drawing))
    rows = -(-len(pieces) // across)
    wide = max(min(len(pieces), across) * 48.0, len(name) * LETTER)
    return Part(wide, 20 + rows * 48.0, svg, [f"{name}: {', '.join(pieces)}"])


def cards(facts: list[tuple[str, ...]], layout: Layout) -> Part:
    """Draw cards and dice: a line for each fluent and role, a card for each fact, with its number if any."""
    roles = {role.lower() for role in layout.roles}
    lines: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for fact in sorted(facts, key=lambda fact: [natural(part) for part in fact]):
        rest = list(fact[1:])
        owner = rest.pop(0) if len(rest) > 1 and rest[0].lower() in roles else ""
        number = rest.pop() if len(rest) > 1 and rest[-1].isdigit() else ""
        lines[" ".join(filter(None, (*words(fact[0]), owner)))].append((" ".join(rest), number))
    margin = max(map(len, lines)) * LETTER * 1.12 + 14
    svg, descriptions, y, wide = [], [], 0.0, 0.0
    for label, entries in lines.items():
        svg.append(text(0, y + 31, label, "table name start"))
        shown = [(name, number) for name, number in entries if number != "0"]
        x = margin
        for name, number in shown:
            width = max(42.0, len(name) * 9.5 + 18)
            svg.append(rect("card", x, y, width, 60, 7))
            svg.append(text(x + width / 2, y + 30, name, "card-text", fitted(name, width)))
            if number:
                svg.append(text(x + width / 2, y + 49, f"×{number}", "label"))
            x += width + 6
        if not shown:
            svg.append(text(margin, y + 31, "none", "table muted start"))
            x += 40
        wide = max(wide, x)
        names = [f"{number} × {name}" if number else name for name, number in shown]
        descriptions.append(f"{label}: {', '.join(names) or 'none'}")
        y += 70
    return Part(wide, y - 10, svg, descriptions)


def table(facts: list[tuple[str, ...]]) -> Part:
    """List facts: a line for each fluent, with a line for each fact where there are several arguments."""
    by_name: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for fact in sorted(facts, key=lambda fact: [natural(part) for part in fact]):
        by_name[fact[0]].append(fact[1:])
    lines: list[tuple[str, str]] = []
    descriptions = []
    for name, rows in by_name.items():
        label = " ".join(words(name)) or name
        if all(len(row) <= 1 for row in rows):
            lines += _wrapped(label, [row[0] if row else "yes" for row in rows])
        elif all(len(row) == 2 for row in rows):
            lines += _wrapped(label, [f"{a} {b}" for a, b in rows], "  ·  ")
        else:
            groups: dict[str, list[str]] = defaultdict(list)
            for row in rows:
                groups[row[0]].append(" ".join(row[1:]))
            for i, (first, others) in enumerate(groups.items()):
                wrapped = _wrapped(label if i == 0 else "", others, "  ·  ")
                lines += [(name, f"{first}  {values}") for name, values in wrapped]
        descriptions.append(f"{label}: {', '.join(' '.join(row) for row in rows) or 'yes'}")
    more = len(lines) - LONG_TABLE
    if more > 0:
        lines = [*lines[:LONG_TABLE], ("", f"… {more} more lines")]
    margin = max(len(label) for label, _ in lines) * LETTER * 1.12 + 24
    width = margin + max(len(value) for _, value in lines) * LETTER + 14
    svg = [rect("chip", 0, 0, width, len(lines) * 22 + 14, 8)]
    for i, (label, value) in enumerate(lines):
        y = 18 + 22 * i
        svg.append(text(10, y, label, "table name start"))
        svg.append(text(margin, y, value, "table start"))
    return Part(width, len(lines) * 22 + 14, svg, descriptions)


def _wrapped(label: str, values: list[str], joint: str = "  ") -> list[tuple[str, str]]:
    """Break a list of values into lines."""
    lines, line = [], ""
    for value in values:
        if line and len(line) + len(joint) + len(value) > 56:
            lines.append(line)
            line = value
        else:
            line = f"{line}{joint}{value}" if line else value
    lines.append(line)
    return [(label if i == 0 else "", joined) for i, joined in enumerate(lines)]


def caption(lines: Sequence[str]) -> Part:
    """Write lines of text."""
    width = max(len(line) for line in lines) * 7.8 + 8
    svg = [text(0, 10 + 22 * i, line, "caption start") for i, line in enumerate(lines)]
    return Part(width, 22.0 * len(lines), svg, list(lines))

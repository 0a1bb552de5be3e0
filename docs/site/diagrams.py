"""The diagrams of the pages, drawn from the program itself where they show what it makes.

python docs/site/diagrams.py            writes docs/images/*.svg
python docs/site/diagrams.py --check    exits with 1 if they are not what would be written
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from matches import matches

import herbrand

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.network.network import Network

IMAGES = Path(__file__).resolve().parent.parent / "images"

INK, SOFT, LINE, BLUE, GREEN, RED, AMBER = (
    *("#1b2733", "#5b6b7a", "#8796a5"),
    *("#dbe8fb", "#dcf2e1", "#fbe0de", "#fdf0cf"),
)
FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"

DOOR = """
(role guard)
(init closed)
(legal guard push)
(legal guard wait)
(<= (next open) (true closed) (does guard push))
(<= (next open) (true open))
(<= (next closed) (true closed) (not (does guard push)))
(<= terminal (true open))
(<= (goal guard 100) (true open))
(<= (goal guard 0) (not (true open)))
"""


class Drawing:
    """Shapes on a white sheet, so that they can be read on a dark page as well."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: int = 14,
        anchor: str = "middle",
        ink: str = INK,
        mono: bool = False,
    ) -> None:
        """Write a line; y is its base line."""
        font = f' font-family="{MONO}"' if mono else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{ink}"{font} '
            f'xml:space="preserve">{escape(text)}</text>'
        )

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        lines: Sequence[str],
        fill: str,
        *,
        mono: bool = False,
        size: int = 14,
    ) -> None:
        """Draw a box with lines of text in its middle."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="7" '
            f'fill="{fill}" stroke="{LINE}"/>'
        )
        top = y + height / 2 - (len(lines) - 1) * 9 + 5
        for number, line in enumerate(lines):
            self.text(
                x + width / 2, top + 18 * number, line, mono=mono, size=size, ink=INK if not number else SOFT
            )

    def circle(self, x: float, y: float, radius: float, text: str, fill: str, *, mono: bool = False) -> None:
        """Draw a circle with a word in it."""
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}" stroke="{LINE}"/>')
        self.text(x, y + 5, text, mono=mono)

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        *,
        dashed: bool = False,
        arrow: bool = True,
        ink: str = SOFT,
        width: float = 1.5,
    ) -> None:
        """Draw a line, with a head at its end."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        head = ' marker-end="url(#head)"' if arrow else ""
        self.parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" '
            f'stroke="{ink}" stroke-width="{width:g}"{dash}{head}/>'
        )

    def svg(self) -> str:
        """Return the drawing."""
        size = f'width="{self.width}" height="{self.height}"'
        top = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" {size} '
            f'role="img" font-family="{FONT}">'
        )
        heads = (
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
            f'orient="auto"><path d="M0 0.5 L8 4 L0 7.5 z" fill="{SOFT}"/></marker></defs>'
        )
        sheet = f'<rect {size} rx="10" fill="#ffffff"/>'
        title = f"<title>{escape(self.title)}</title>"
        return "\n".join([top, title, heads, sheet, *self.parts, "</svg>", ""])


def stages() -> Drawing:
    """The way of a game through the stages."""
    d = Drawing(860, 390, "The stages: text, tree, rules; from them the evaluator, or network and code")
    row = [("text", "what you write"), ("tree", "what it says"), ("rules", "checked")]
    for number, (name, more) in enumerate(row):
        d.box(20 + 175 * number, 115, 120, 64, [name, more], BLUE)
    for number, verb in enumerate(("read", "check")):
        x = 140 + 175 * number
        d.line(x, 147, x + 55, 147)
        d.text(x + 27, 138, verb, size=12, ink=SOFT)
    d.box(560, 40, 130, 64, ["evaluator", "every game"], GREEN)
    d.line(490, 135, 560, 80)
    d.text(500, 96, "translate", size=12, ink=SOFT)
    d.box(545, 190, 120, 64, ["instances", "no variables"], AMBER)
    d.line(490, 160, 545, 210)
    d.text(492, 205, "ground", size=12, ink=SOFT)
    d.box(715, 190, 125, 64, ["network", "AND and NOT"], AMBER)
    d.line(665, 222, 715, 222)
    d.text(690, 213, "wire", size=12, ink=SOFT)
    d.text(625, 22, "one state after another, answers in microseconds to milliseconds", size=12, ink=SOFT)
    d.line(777, 254, 777, 290)
    d.text(800, 276, "lower", size=12, ink=SOFT)
    d.box(715, 290, 125, 64, ["lane program", "machine code"], AMBER)
    d.line(715, 250, 500, 310)
    d.box(360, 290, 140, 64, ["model checkers", "proofs, planners"], BLUE)
    d.text(690, 376, "512 games in each pass", size=12, ink=SOFT)
    d.line(760, 190, 660, 104, dashed=True)
    d.text(775, 140, "must agree in", size=12, ink=SOFT)
    d.text(775, 156, "every state", size=12, ink=SOFT)
    return d


def strata() -> str:
    """The relations of a bundled game above those they depend on, by stratum."""
    return herbrand.load("ticTacToe").rules.graph.to_svg()


def network() -> Drawing:
    """The network of a small game, gate by gate."""
    net: Network = herbrand.loads(DOOR).network
    text = net.terms.text
    d = Drawing(860, 430, "The and-inverter graph of a door that can be pushed open; dots are inversions")
    names = ["false", *(f"true {text(f)}" for f in net.fluents.tolist())]
    names += [f"does {text(net.roles[r])} {text(m)}" for r, m in net.moves.tolist()]
    place: dict[int, tuple[float, float]] = {}
    shown = sorted(
        {lit >> 1 for lit in [*net.left.tolist(), *net.right.tolist(), *net.next.tolist(), int(net.terminal)]}
    )
    inputs = [node for node in shown if 0 < node < net.inputs]
    for number, node in enumerate(inputs):
        x = 150 + 270 * number
        d.box(x - 95, 350, 190, 40, [names[node]], BLUE, mono=True)
        place[node] = (x, 350)
    depth: dict[int, int] = dict.fromkeys(range(net.inputs), 0)
    columns = {0: 230.0, 1: 330.0, 2: 560.0}
    for gate in range(net.gates):
        node = net.inputs + gate
        a, b = int(net.left[gate]), int(net.right[gate])
        depth[node] = 1 + max(depth[a >> 1], depth[b >> 1])
        x, y = columns.get(gate, 100.0 + 150 * gate), 350 - 95 * depth[node]
        for lit in (a, b):
            _wire(d, place[lit >> 1], (x + (-9 if lit == a else 9), y + 22), inverted=bool(lit & 1))
        d.circle(x, y, 22, "and", GREEN)
        place[node] = (x, y - 22)
    outputs = [
        (f"next {text(f)}", int(lit)) for f, lit in zip(net.fluents.tolist(), net.next.tolist(), strict=True)
    ]
    outputs.append(("terminal", int(net.terminal)))
    for number, (name, lit) in enumerate(
        sorted(outputs, key=lambda o: place[o[1] >> 1][0] if o[0] != "terminal" else 900)
    ):
        x = 150 + 270 * number
        d.box(x - 80, 30, 160, 36, [name], AMBER, mono=True)
        _wire(d, place[lit >> 1], (x, 66), inverted=bool(lit & 1))
    return d


def _wire(d: Drawing, start: tuple[float, float], end: tuple[float, float], *, inverted: bool) -> None:
    d.line(*start, *end, arrow=False)
    if inverted:
        x, y = start[0] + 0.82 * (end[0] - start[0]), start[1] + 0.82 * (end[1] - start[1])
        d.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{INK}"/>')


def lanes() -> Drawing:
    """One gate for sixteen games."""
    d = Drawing(860, 230, "One AND instruction evaluates a gate for many games, one in each bit")
    a, b = 0b1011_0010_1110_0101, 0b1110_0111_0100_1101
    rows = [("true open", a, BLUE), ("does guard push", b, BLUE), ("and", a & b, GREEN)]
    for lane in range(16):
        d.text(255 + 36 * lane, 36, str(lane), size=11, ink=SOFT)
    d.text(225, 36, "game", size=11, ink=SOFT, anchor="end")
    for number, (name, bits, fill) in enumerate(rows):
        y = 50 + 55 * number
        d.text(225, y + 23, name, anchor="end", mono=True)
        for lane in range(16):
            on = bits >> lane & 1
            d.parts.append(
                f'<rect x="{239 + 36 * lane}" y="{y}" width="32" height="34" rx="4" '
                f'fill="{fill if on else "#f4f6f8"}" stroke="{LINE}"/>'
            )
            d.text(255 + 36 * lane, y + 22, str(on), mono=True, ink=INK if on else LINE)
    return d


def frames() -> Drawing:
    """The frames of IC3."""
    d = Drawing(
        860,
        300,
        "IC3: frames around the initial state that grow until two are equal, away from the bad states",
    )
    for number in (3, 2, 1):
        width, height = 150 + 130 * number, 90 + 50 * number
        d.parts.append(
            f'<ellipse cx="{230 + 55 * number}" cy="150" rx="{width / 2}" ry="{height / 2}" '
            f'fill="{GREEN}" fill-opacity="0.5" stroke="{LINE}"/>'
        )
        d.text(230 + 55 * number + width / 2 - 34, 155, f"F{number}")
    d.circle(215, 150, 34, "start", BLUE)
    d.parts.append(
        '<path d="M690 40 C800 30 850 90 830 160 C820 230 760 260 700 240 '
        'C650 215 690 170 670 130 C655 95 640 50 690 40 z" '
        f'fill="{RED}" stroke="{LINE}"/>'
    )
    d.text(752, 140, "bad states")
    d.line(700, 256, 660, 215, dashed=True)
    d.text(690, 270, "cannot be reached in one step: a clause", size=12, ink=SOFT)
    d.text(690, 287, "that says so is added to the frames", size=12, ink=SOFT)
    return d


def information() -> Drawing:
    """The game tree of a bundled game with what the second player knows."""
    start = herbrand.load("coinMatching").initial_state()
    first, second = start.game.roles
    d = Drawing(860, 320, f"{second} cannot tell which of two states it is in")
    d.circle(430, 50, 28, first, BLUE)
    moves = start.legal_moves(first)
    for (x, y), move in zip(((240, 160), (620, 160)), moves, strict=True):
        state = start.next({first: move, second: "noop"})
        d.line(430 + (-22 if x < 430 else 22), 68, x + (18 if x < 430 else -18), y - 24)
        d.text((430 + x) / 2 + (-48 if x < 430 else 48), 100, str(move), size=13, ink=SOFT)
        d.circle(x, y, 28, second, GREEN)
        for side, reply in zip((-1, 1), state.legal_moves(second), strict=True):
            goals = state.next({first: "noop", second: reply}).goals
            end = x + 95 * side
            d.line(x + 14 * side, y + 26, end, 252)
            d.text(x + 84 * side + 14 * side, 225, str(reply), size=12, ink=SOFT)
            d.box(
                end - 45,
                255,
                90,
                36,
                [", ".join(str(goals[role]) for role in (first, second))],
                AMBER,
                mono=True,
            )
    d.parts.append(
        f'<rect x="190" y="118" width="480" height="84" rx="42" fill="none" stroke="{INK}" '
        'stroke-width="1.5" stroke-dasharray="7 5"/>'
    )
    d.text(430, 166, "one information set: one choice for both", size=13, ink=SOFT)
    return d


DRAWINGS: dict[str, Callable[[], Drawing | str]] = {
    "stages": stages,
    "strata": strata,
    "network": network,
    "lanes": lanes,
    "frames": frames,
    "information": information,
    "matches": matches,
}


def main(arguments: Sequence[str]) -> int:
    """Write the diagrams, or compare them."""
    different = []
    IMAGES.mkdir(exist_ok=True)
    for name, draw in DRAWINGS.items():
        drawn = draw()
        path, text = IMAGES / f"{name}.svg", drawn if isinstance(drawn, str) else drawn.svg()
        if "--check" in arguments:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                different.append(name)
        else:
            path.write_text(text, encoding="utf-8")
    for name in different:
        print(f"docs/images/{name}.svg is not what docs/site/diagrams.py draws", file=sys.stderr)
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

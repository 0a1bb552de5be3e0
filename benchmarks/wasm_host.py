"""Run WebAssembly modules of games in Node or in a browser, and compare them with the interpreters.

`wasm_host.js` answers requests to a module; `differences` asks it for everything that a module computes.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from interpreted import InterpretedPlayouts

from herbrand.convert.wasm.playouts import FRACTION, LANES
from herbrand.core import Playouts, Stop
from herbrand.network import LaneProgram
from herbrand.network.lane_machine import LaneMachine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import ExitStack

    from numpy.typing import NDArray

    from herbrand.network import Network

__all__ = ["NODE", "InterpretedLanes", "ask_browser", "ask_node", "differences", "open_browser"]

HOST = Path(__file__).with_name("wasm_host.js")
NODE = shutil.which("node")
_READ = """
const { readFileSync } = require("node:fs");
const { module, requests } = JSON.parse(readFileSync(0, "utf8"));
answerAll(Buffer.from(module, "base64"), requests).then((answers) => console.log(JSON.stringify(answers)));
"""


def ask_node(module: bytes, *requests: dict[str, Any]) -> Any:
    """Return the answers of `wasm_host.js` to requests, in Node."""
    assert NODE is not None
    question = json.dumps({"module": base64.b64encode(module).decode(), "requests": requests})
    program = HOST.read_text(encoding="utf-8") + _READ
    done = subprocess.run(  # noqa: S603  # our own program
        [NODE, "-e", program], input=question, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def open_browser(stack: ExitStack) -> tuple[Any, str]:
    """Return an empty page of Playwright in the Chromium of the system, and the browser's version."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    playwright = stack.enter_context(sync_playwright())
    browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
    stack.callback(browser.close)
    page = browser.new_page()
    page.set_default_timeout(0)
    return page, browser.version


def ask_browser(page: Any, module: bytes, *requests: dict[str, Any]) -> Any:
    """Return the answers in a page of Playwright, which may be any."""
    program = f"""async ([module, requests]) => {{
      {HOST.read_text(encoding="utf-8")}
      return answerAll(Uint8Array.from(atob(module), (letter) => letter.charCodeAt(0)), requests);
    }}"""
    return page.evaluate(program, [base64.b64encode(module).decode(), list(requests)])


def differences(
    network: Network,
    module: bytes,
    ask: Callable[..., Any] = ask_node,
    *,
    games: int = 700,
    steps: int = 40,
    longest: int = 6,
    interpreted: bool = False,
) -> list[str]:
    """Return which parts of a module compute something else than the interpreters of lane programs.

    `games` from the initial state are compared with the core, or, if `interpreted`, with the interpreter.
    """
    chance = Random(1)
    states: list[dict[str, Any]] = [
        {
            "fluents": np.flatnonzero(network.initial).tolist(),
            "lanes": [lane for lane in range(LANES) if lane % 3],
            "games": 2,
        },
        {
            "fluents": [f for f in range(len(network.fluents)) if chance.random() < 0.4],
            "lanes": [0, 3, 63, 99],
            "games": 1,
        },
    ]
    generator = [chance.randrange(256) for _ in range(64)]
    machine = _random_machine(network)
    program = machine.program
    moves = machine.rows[list(program.move_rows)]
    asked = {"kind": "games", "seed": 5, "games": games, "steps": steps}
    played, rows, lanes, again = ask(
        module,
        asked,
        {"kind": "evaluate", "fluents": _hexadecimal(machine.state), "moves": _hexadecimal(moves)},
        {"kind": "playouts", "states": states, "longest": longest, "generator": generator},
        asked,
    )
    reference = InterpretedLanes(network, longest, generator)
    for state in states:
        reference.begin(state["fluents"], state["lanes"], state["games"])
    reference.run()
    expected = {"idle": LANES, "passes": reference.passes, "generator": reference.generator}
    expected["sums"] = reference.sums.tolist()
    parts = {
        "games": (played, _counted(network, games, steps, interpreted=interpreted)),
        "repeated games": (again, {name: played[name] for name in played if name != "seconds"}),
        "states": (rows, _evaluated(machine)),
        "games from states": (lanes, expected),
    }
    return [
        name
        for name, (got, wanted) in parts.items()
        if any(got[key] != value for key, value in wanted.items())
    ]


def _counted(network: Network, games: int, steps: int, *, interpreted: bool) -> dict[str, Any]:
    """Return what `games` of the host answers, as another back end counts it."""
    played: Any
    lengths: dict[int, int]
    if interpreted:
        played = InterpretedPlayouts(network, games, 5, steps)
        lengths, stuck = dict(played.lengths), list(played.stuck_fluents)
    else:
        played = Playouts(network.circuit, games, 5, steps)
        if not played.play(600.0, Stop()):
            raise RuntimeError("ten minutes were not enough")
        lengths = dict(enumerate(played.lengths.tolist()))
        bits = np.unpackbits(played.stuck_state.astype("<u8").view(np.uint8), bitorder="little")
        stuck = np.flatnonzero(bits).tolist()
    names = ("played", "ended", "truncated", "stuck", "transitions", "stuck_role")
    counted = {name: int(getattr(played, name)) for name in names}
    counted["stuck_fluents"] = stuck
    counted["goals"], counted["choices"] = played.goals.tolist(), played.choices.tolist()
    counted["lengths"] = {str(length): int(count) for length, count in sorted(lengths.items()) if count}
    return counted


def _random_machine(network: Network) -> LaneMachine:
    """Return an interpreter with random states and moves in all lanes."""
    machine = LaneMachine(LaneProgram.evaluating(network))
    chance = np.random.default_rng(3)
    for rows in (range(2, 2 + machine.program.states), machine.program.move_rows):
        shape = (len(rows), machine.rows.shape[1])
        machine.rows[list(rows)] = chance.integers(0, 1 << 64, shape, np.uint64)
    return machine


def _evaluated(machine: LaneMachine) -> dict[str, list[str]]:
    """Return what `evaluate` of the host answers, as the interpreter computes it."""
    for stage in ("legal", "next", "goals"):
        machine.run(stage)
    program = machine.program
    return {
        "legal": _hexadecimal(machine.rows[list(program.legal_rows)]),
        "terminal": _hexadecimal(machine.rows[[program.terminal_row]]),
        "next": _hexadecimal(machine.after),
        "goals": _hexadecimal(machine.rows[list(program.goal_rows)]),
        "sees": _hexadecimal(machine.rows[list(program.sees_rows)]),
    }


def _hexadecimal(rows: NDArray[np.uint64]) -> list[str]:
    """Return the first 128 lanes of rows."""
    return [row[: LANES // 64].astype("<u8").tobytes().hex() for row in rows]


class InterpretedLanes:
    """Random games from given states in 128 lanes, lane by lane: what `convert.wasm.playouts` must do."""

    def __init__(self, network: Network, longest: int, generator: Sequence[int]) -> None:
        self.network = network
        self.machine = LaneMachine(LaneProgram.evaluating(network))
        self.longest = longest
        self.passes = 0
        self.sums = np.zeros((len(network.roles), LANES), np.int64)
        self._generator = [int.from_bytes(bytes(generator[i : i + 8]), "little") for i in range(0, 64, 8)]
        self._start = np.zeros((len(network.fluents), LANES), np.bool_)
        self._now = self._start.copy()
        self._games = np.zeros(LANES, np.int64)
        self._born = np.zeros(LANES, np.int64)

    @property
    def generator(self) -> list[int]:
        """The state of the generator as bytes."""
        return list(b"".join(word.to_bytes(8, "little") for word in self._generator))

    def begin(self, fluents: Sequence[int], lanes: Sequence[int], games: int) -> None:
        """Begin games from a state in some lanes."""
        state = np.zeros(len(self.network.fluents), np.bool_)
        state[list(fluents)] = True
        self._start[:, list(lanes)] = self._now[:, list(lanes)] = state[:, None]
        self._games[list(lanes)] = games
        self._born[list(lanes)] = self.passes
        self.sums[:, list(lanes)] = 0

    def run(self, stop: int = LANES) -> None:
        """Play until so many lanes have no game."""
        while (self._games == 0).sum() < stop:
            self._step()

    def _step(self) -> None:
        network, program = self.network, self.machine.program
        self._write(range(2, 2 + len(network.fluents)), self._now)
        self.machine.run("legal")
        self.machine.run("goals")
        active = self._games > 0
        over = self._read([program.terminal_row])[0] & active
        self._score(self._read(program.goal_rows), over)
        late = active & (self.passes - self._born >= self.longest)
        playing = active & ~over & ~late
        stuck = np.zeros(LANES, np.bool_)
        legal = self._read(program.legal_rows)
        made = np.zeros_like(legal)
        for role in range(len(network.roles)):
            mine = np.flatnonzero(network.moves[:, 0] == role)
            none = playing & ~legal[mine].any(axis=0)
            stuck |= none
            playing &= ~none
            counts = legal[mine].sum(axis=0)
            ranks = (counts * self._fractions() >> FRACTION) if (counts[playing] > 1).any() else 0 * counts
            for lane in np.flatnonzero(playing).tolist():
                made[mine[np.flatnonzero(legal[mine, lane])[ranks[lane]]], lane] = True
        self._write(program.move_rows, made)
        self.machine.run("next")
        first = 2 + program.states
        self._now = self._read(range(first, first + program.states))
        self.passes += 1
        done = over | late | stuck
        self._games[done] -= 1
        self._born[done] = self.passes
        self._now[:, done] = self._start[:, done]

    def _score(self, goals: NDArray[np.bool_], over: NDArray[np.bool_]) -> None:
        for role in range(len(self.network.roles)):
            mine = np.flatnonzero(self.network.goals[:, 0] == role)
            only = over & (goals[mine].sum(axis=0) == 1)
            for goal in mine.tolist():
                text = self.network.terms.text(int(self.network.goals[goal, 1]))
                is_value = text.isdecimal() and str(int(text)) == text and int(text) <= 100
                self.sums[role, only & goals[goal]] += int(text) if is_value else 0

    def _fractions(self) -> NDArray[np.int64]:
        """[lanes] random numbers of 20 bits; bit i of all lanes is the i-th output of xoshiro256++."""
        fractions = np.zeros(LANES, np.int64)
        for bit in range(FRACTION):
            words = np.array([self._random(word) for word in range(2)], np.uint64)
            fractions += np.unpackbits(words.view(np.uint8), bitorder="little").astype(np.int64) << bit
        return fractions

    def _random(self, word: int) -> int:
        """Return the next output for a word of 64 lanes (Blackman and Vigna 2021)."""
        s = self._generator
        a, b, c, d = (word + 2 * i for i in range(4))
        result = (_rotated(s[a] + s[d] & _ALL, 23) + s[a]) & _ALL
        shifted = s[b] << 17 & _ALL
        s[c] ^= s[a]
        s[d] ^= s[b]
        s[b] ^= s[c]
        s[a] ^= s[d]
        s[c] ^= shifted
        s[d] = _rotated(s[d], 45)
        return result

    def _write(self, rows: Sequence[int] | range, lanes: NDArray[np.bool_]) -> None:
        words = np.packbits(lanes, axis=1, bitorder="little").view("<u8")
        self.machine.rows[list(rows), : LANES // 64] = words

    def _read(self, rows: Sequence[int] | range) -> NDArray[np.bool_]:
        words = self.machine.rows[list(rows), : LANES // 64].astype("<u8")
        return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(np.bool_)


_ALL = (1 << 64) - 1


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> (64 - bits)) & _ALL

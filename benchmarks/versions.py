"""Compare older versions of rulesheets (`NAME.v1.kif`) with those that replaced them (`NAME.kif`).

    python benchmarks/versions.py FOLDER [--seconds S] [--analysed FILE] [--json FILE] [--markdown FILE]

First all states are compared, a few steps deep; then thousands of random games are played on both networks.
A difference is a line of play after which the rules of the two games disagree.  `--analysed` names the output
of `benchmarks/analysing.py`, whose verdicts are then compared, too.  Pairs that are in the JSON already are
skipped.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np

import herbrand
from herbrand.analyse.exploration.replay import replay
from herbrand.errors import HerbrandError
from herbrand.verify.diff import diff

PROPERTIES = ("termination", "playability", "weak_winnability", "goals")
WORDS = {
    "rules": "the same rules, perhaps under other names",
    "play": "other rules, the same play in all {states} states",
    "unknown": "different rules; no difference in {states} states, but there are more",
}
LANES = 512
LONGEST = 300


def compare(old: Path, new: Path, seconds: float) -> dict[str, Any]:
    """Compare a version with its successor; return plain values."""
    games = [herbrand.load(path) for path in (old, new)]
    errors = [sum(d.is_error for d in game.diagnostics) for game in games]
    result: dict[str, Any] = {"errors": errors}
    try:
        change = diff(*games, seconds=seconds)
    except HerbrandError as error:
        return {**result, "verdict": "unknown", "why": str(error)}
    result |= {"verdict": change.verdict, "states": change.behaviour.states if change.behaviour else 0}
    difference = change.difference
    if change.verdict == "unknown" and games[0].roles == games[1].roles:
        try:
            compared, line = side_by_side(games[0], games[1], seconds)
        except HerbrandError as error:
            return {**result, "why": f"no difference in {result['states']} states; {error}"}
        result["states"] += compared
        if line is not None:
            result |= {"verdict": "differs", **at_the_end(games[0], games[1], line)}
    if difference is not None:
        result |= {
            "what": difference.what,
            "moves": difference.moves,
            "old": difference.first,
            "new": difference.second,
        }
    return result


def side_by_side(
    old: herbrand.Game, new: herbrand.Game, seconds: float
) -> tuple[int, tuple[tuple[str, ...], ...] | None]:
    """Play on both networks at random; return how many states were compared, and where they part."""
    for game in (old, new):
        game.network_within(4 * seconds)  # raises BudgetExceeded
    one, two = old.expander, new.expander
    rng, deadline, compared = np.random.default_rng(1), time.monotonic() + seconds, 0
    places = [
        np.array([numbers.get(move.lower(), -1) for move in moves], np.int64)
        for moves, numbers in zip(one.moves, two.move_numbers, strict=True)
    ]
    while time.monotonic() < deadline:
        first = np.repeat(one.initial, LANES, axis=0)
        second = np.repeat(two.initial, LANES, axis=0)
        lanes, history = np.arange(LANES), []
        for _ in range(LONGEST):
            legal, other = one.legal(first), two.legal(second)
            compared += len(first)
            goals = one.goals(first) != two.goals(second)
            apart = (legal.over != other.over) | (legal.over & goals.any(axis=1))
            joint = np.zeros((len(first), len(one.roles)), np.int32)
            after = np.zeros_like(joint)
            for role, place in enumerate(places):
                mine, theirs = legal.mask(role), other.mask(role)
                shared = mine[:, place >= 0] != theirs[:, place[place >= 0]]
                differ = shared.any(axis=1) | (mine.sum(axis=1) != theirs.sum(axis=1))
                apart |= differ & ~legal.over
                joint[:, role] = (mine * (rng.random(mine.shape, np.float32) + 1)).argmax(axis=1)
                after[:, role] = place[joint[:, role]]
            if apart.any():
                lane = lanes[int(apart.argmax())]
                return compared, tuple(one.joint_move(made[lane]) for made in history)
            on = ~legal.over & (legal.counts() > 0).all(axis=1)
            if not on.any():
                break
            lanes, joint, after = lanes[on], joint[on], after[on]
            made = np.zeros((LANES, len(one.roles)), np.int32)
            made[lanes] = joint
            history.append(made)
            first, second = one.step(first[on], joint), two.step(second[on], after)
    return compared, None


def at_the_end(old: herbrand.Game, new: herbrand.Game, line: tuple[tuple[str, ...], ...]) -> dict[str, Any]:
    """Ask the rules of both games what is different after a line of play."""
    states = [replay(game, line)[-1] for game in (old, new)]
    result: dict[str, Any] = {"moves": [", ".join(joint) for joint in line]}
    outputs = [("terminal", [{"over"} if state.is_terminal else set() for state in states])]
    for role in old.roles:
        if not any(state.is_terminal for state in states):
            outputs.append((f"legal {role}", [set(map(str, state.legal_moves(role))) for state in states]))
        outputs.append((f"goal {role}", [set(map(str, state.goal_values(role))) for state in states]))
    for what, (mine, theirs) in outputs:
        if mine != theirs:
            return {**result, "what": what, "old": sorted(mine - theirs), "new": sorted(theirs - mine)}
    raise AssertionError(f"the rules see no difference after {line}")


def sentence(result: dict[str, Any]) -> str:
    """Say what is different."""
    if "why" in result:
        return result["why"]
    if result["verdict"] != "differs":
        return WORDS[result["verdict"]].format(states=f"{result['states']:,}".replace(",", " "))
    steps = len(result["moves"])
    where = "at once" if not steps else f"after {steps} step{'s' * (steps > 1)}"
    sides = []
    for side in ("old", "new"):
        some = ", ".join(f"`{text}`" for text in result[side][:2])
        more = f" and {len(result[side]) - 2} more" if len(result[side]) > 2 else ""
        if some:
            sides.append(f"only {side}: {some}{more}")
    return f"{where}, {result['what']}: {'; '.join(sides) or 'one holds, the other does not'}"


def verdicts(old: str, new: str, analysed: dict[str, Any]) -> str:
    """Say which verdicts differ."""
    sentences = []
    for name in PROPERTIES:
        both = [analysed.get(n, {}).get("properties", {}).get(name, {}).get("verdict") for n in (old, new)]
        if "unknown" not in both and None not in both and both[0] != both[1]:
            sentences.append(f"{name.replace('_', ' ')} {both[0]}, now {both[1]}")
    return "; ".join(sentences)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Compare versions of rulesheets.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--analysed", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    known: dict[str, Any] = {}
    if options.json and options.json.exists():
        known = json.loads(options.json.read_text(encoding="utf-8"))
    for old in sorted(options.folder.glob("*.v[0-9].kif"), key=lambda path: path.stat().st_size):
        new = old.with_name(re.sub(r"\.v\d$", "", old.stem) + ".kif")
        if old.stem in known or not new.exists() or not options.seconds:
            continue
        known[old.stem] = compare(old, new, options.seconds)
        print(old.stem, sentence(known[old.stem]), flush=True)
        if options.json:
            options.json.write_text(json.dumps(known, indent=1), encoding="utf-8")
    if options.markdown:
        analysed = json.loads(options.analysed.read_text(encoding="utf-8")) if options.analysed else {}
        lines = ["| older version | how it differs from its successor | verdicts |", "|---|---|---|"]
        for name, entry in sorted(known.items(), key=lambda item: item[0].lower()):
            new_name = re.sub(r"\.v\d$", "", name)
            broken = f"{entry['errors'][0]} errors; " if entry["errors"][0] else ""
            sentences = verdicts(name, new_name, analysed)
            lines.append(f"| {name} | {broken}{sentence(entry)} | {sentences} |")
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

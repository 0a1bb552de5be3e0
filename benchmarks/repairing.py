"""Injure games, repair them, and report how many are mended and how many are as they were.

    python benchmarks/repairing.py [FOLDER...] [--count N] [--seconds S] [--seed N] [--only NAME ...]
                                               [--json FILE]

Games are the bundled ones and those of the folders, as far as all their properties are proved.  An injury
is one seeded mutation: a condition dropped, a constant swapped for another of its type, a frame rule lost, a
role replaced by another.  It counts if the game then has an error or a property that is refuted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

import herbrand
from herbrand import games
from herbrand.analyse import Budget, analyse
from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.repair.edits import edited
from herbrand.repair.search import PROPERTIES, repair
from herbrand.syntax.argument_types import Types, places
from herbrand.syntax.nodes import Atom, Constant, Rule, rebuilt, walk
from herbrand.verify.diff import diff

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.machine.state_machine import StateMachine

KINDS: Final = ("condition", "constant", "frame", "role")
ATTEMPTS: Final = 30


@dataclass
class Row:
    """One injured game."""

    game: str
    kind: str
    injury: str
    faults: list[str]
    proved: bool = False
    mended: bool = False
    repair: str = ""
    same: str = ""
    tried: int = 0
    space: int = 0
    cpu_s: float = 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    sheets = [*games.names(), *(str(f) for folder in arguments.folders for f in sorted(folder.glob("*.kif")))]
    if arguments.only:
        sheets = [name for name in sheets if Path(name).stem in arguments.only]
    rows: list[Row] = []
    chance = Random(arguments.seed)
    chance.shuffle(sheets)
    turn = 0
    proved: dict[str, bool] = {}
    while len(rows) < arguments.count and turn < 20 * max(1, len(sheets)):
        name = sheets[turn % len(sheets)]
        turn += 1
        if name not in proved:
            proved[name] = is_proved(name)
        if not proved[name]:
            continue
        row = try_one(
            name,
            KINDS[(turn + turn // len(sheets)) % len(KINDS)],
            chance.randrange(1 << 30),
            arguments.seconds,
        )
        if row is None:
            continue
        rows.append(row)
        print(json.dumps(asdict(row)), flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    count = Counter()
    for row in rows:
        count["all"] += 1
        count["mended"] += row.mended
        count["proved"] += row.proved
        count["same"] += row.same in {"rules", "play"}
    print(json.dumps(count), file=sys.stderr)
    return 0


def is_proved(name: str) -> bool:
    try:
        game = herbrand.load(name)
        if game.rules.errors or len(game.tree.statements) > 400 or game.is_epistemic or game.has_percepts:
            return False
        found = analyse(
            game, PROPERTIES, budget=Budget(10), values=False, remarks=False, check=False
        ).properties
    except HerbrandError:
        return False
    return all(verdict.answer == "proved" for verdict in found.values())


def try_one(name: str, kind: str, seed: int, seconds: float) -> Row | None:
    game = herbrand.load(name)
    statements = list(game.tree.statements)
    chance = Random(seed)
    for _ in range(ATTEMPTS):
        injured = injure(statements, kind, chance, game.roles)
        if injured is None:
            return None
        words, rules = injured
        faulty = as_game(rules, Path(name).stem)
        faults = sorted({d.check for d in faulty.rules.errors}) or refuted(faulty)
        if not faults:
            continue
        row = Row(Path(name).stem, kind, words, faults)
        began = time.process_time()
        search = repair(faulty, seconds=seconds)
        row.cpu_s = round(time.process_time() - began, 1)
        row.tried, row.space = search.tried, search.edits
        if search.repairs:
            best = search.repairs[0]
            row.mended, row.proved = True, best.is_proved
            edit = best.edits[0]
            row.repair = f"{edit.kind} {best.cost:.2f}: {'; '.join(map(str, edit.rules))}"
            mended = as_game(edited(rules, best.edits), Path(name).stem)
            row.same = diff(herbrand.loads("\n".join(map(str, statements))), mended, seconds=10).verdict
        return row
    return None


def refuted(game: StateMachine) -> list[str]:
    try:
        found = analyse(
            game, PROPERTIES, budget=Budget(2), values=False, remarks=False, check=False
        ).properties
    except (HerbrandError, BudgetExceeded):
        return []
    return [name for name, verdict in found.items() if verdict.answer == "refuted"]


def as_game(rules: Sequence[Rule], name: str) -> herbrand.Game:
    return herbrand.loads("\n".join(map(str, rules)), name=name)


def injure(
    statements: Sequence[Rule], kind: str, chance: Random, roles: Sequence[str]
) -> tuple[str, list[Rule]] | None:
    choices = list(injuries(statements, kind, roles))
    if not choices:
        return None
    number, new = chance.choice(choices)
    old = statements[number]
    words = f"{old} is gone" if new is None else f"{old} became {new}"
    return words, [
        rule for n, rule in enumerate(statements) for rule in ([new] if n == number else [rule]) if rule
    ]


def injuries(
    statements: Sequence[Rule], kind: str, roles: Sequence[str]
) -> Iterator[tuple[int, Rule | None]]:
    types = Types.of(statements)
    names = {role.lower() for role in roles}
    for number, rule in enumerate(statements):
        if rule.head.name in {"role", "base", "input", "sees"}:
            continue
        if kind == "condition":
            for n in range(len(rule.body)):
                yield number, Rule(rule.head, (*rule.body[:n], *rule.body[n + 1 :]))
        elif kind == "frame":
            if rule.head.name == "next" and any(
                isinstance(part, Atom) and part.name == "true" and part.args == rule.head.args
                for part in rule.body
            ):
                yield number, None
        else:
            for n, part in enumerate((rule.head, *rule.body)):
                for atom in (node for node in walk(part) if isinstance(node, Atom)):
                    for place, term in places(atom):
                        if not isinstance(term, Constant):
                            continue
                        is_role = term.name in names
                        domain = sorted(names) if kind == "role" else [c.name for c in types.domain(place)]
                        if is_role == (kind == "role"):
                            for other in domain:
                                if other != term.name:
                                    parts = [rule.head, *rule.body]
                                    parts[n] = swapped(part, term, Constant(other))
                                    yield number, Rule(parts[0], tuple(parts[1:]))


def swapped(node: Any, old: Constant, new: Constant) -> Any:
    """Return a literal with the first occurrence of a constant replaced."""
    done = False

    def change(child: Any) -> Any:
        nonlocal done
        if done:
            return child
        if child == old:
            done = True
            return new
        return rebuilt(child, change)

    return change(node)


if __name__ == "__main__":
    raise SystemExit(main())

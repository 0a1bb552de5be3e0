"""Injure games and repair them; repair sheets that get stuck; report what was repaired.

    python benchmarks/repairing.py [FOLDER...] [--count N] [--seconds S] [--seed N] [--only NAME ...]
                                   [--faulty FILE ...] [--faulty-seconds S] [--json FILE] [--markdown FILE]

Games are the bundled ones and those of the folders, as far as all their properties are proved.  An injury
is one seeded mutation: a condition dropped, a constant swapped for another of its type, a frame rule lost, a
role replaced by another.  It counts if the game then has an error or a property that is refuted.  `--faulty`
are sheets that are repaired as they are.  Budgets are processor time, so that other load on the machine
matters less.  The JSON is written after every game, and what is in it is not done again; `--markdown` writes
docs/reference/repaired.md from it.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

from costs import spent

import herbrand
from herbrand import games
from herbrand.analyse import Budget
from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.repair.edits import edited
from herbrand.repair.injuries import INJURIES, injuries
from herbrand.repair.search import properties_of, repair
from herbrand.verify.diff import diff

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.analyse import Verdict
    from herbrand.machine.state_machine import StateMachine
    from herbrand.syntax.nodes import Rule

KINDS: Final = tuple(INJURIES)
ATTEMPTS: Final = 6
SAFE: Final = ("termination", "playability", "goals")
"""What public sheets are repaired for: whether everybody can win is often not known of them."""


@dataclass
class Row:
    """One injured game."""

    turn: int
    game: str
    kind: str
    injury: str
    faults: list[str]
    proved: bool = False
    repaired: bool = False
    repair: str = ""
    same: bool = False
    """Whether it is as before the injury."""
    tried: int = 0
    space: int = 0
    cpu_s: float = 0.0


@dataclass
class Sheet:
    """A sheet that was repaired as it is."""

    game: str
    faults: dict[str, str]
    """The reason for each property that it lacks."""
    edit: str
    """What stands there instead; empty if no edit was found."""
    instead_of: str
    proved: list[str]
    tried: int
    space: int
    cpu_s: float


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--faulty", nargs="*", type=Path, default=[])
    parser.add_argument("--faulty-seconds", type=float, default=180.0)
    parser.add_argument("--json", type=Path, default=Path("repairing.json"))
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    time.monotonic = spent  # budgets are read from this clock
    done: dict[str, Any] = {"injured": [], "sheets": []}
    if arguments.json.exists():
        done = json.loads(arguments.json.read_text(encoding="utf-8"))
    done |= {
        "seconds": arguments.seconds,
        "faulty_seconds": arguments.faulty_seconds,
        "seed": arguments.seed,
    }

    def keep(kind: str, row: Row | Sheet) -> None:
        done[kind].append(asdict(row))
        print(json.dumps(asdict(row)), flush=True)
        arguments.json.write_text(json.dumps(done, indent=1), encoding="utf-8")

    for file in arguments.faulty:
        if file.stem not in {row["game"] for row in done["sheets"]}:
            keep("sheets", try_sheet(file, arguments.faulty_seconds))
    sheets = [*games.names(), *(str(f) for folder in arguments.folders for f in sorted(folder.glob("*.kif")))]
    sheets = [name for name in sheets if not arguments.only or Path(name).stem in arguments.only]
    Random(arguments.seed).shuffle(sheets)
    proved: dict[str, bool] = {}
    found = 0
    for turn in range(20 * len(sheets)):
        if found >= arguments.count:
            break
        name = sheets[turn % len(sheets)]
        kind = KINDS[(turn + turn // len(sheets)) % len(KINDS)]
        if any(row["turn"] == turn for row in done["injured"]):
            found += 1
            continue
        if name not in proved:
            proved[name] = is_proved(name)
        row = try_one(name, kind, turn, arguments.seed, arguments.seconds) if proved[name] else None
        if row is not None:
            found += 1
            keep("injured", row)
    if arguments.markdown:
        arguments.markdown.write_text(page(done), encoding="utf-8")
    return 0


def page(done: dict[str, Any]) -> str:
    """Return the page: a table by the kind of injury, and the sheets."""
    lines = [
        "# Games that were repaired",
        "",
        "<!-- made by `python benchmarks/repairing.py FOLDER --faulty FILE... --markdown FILE` -->",
        "",
        "What [`herbrand repair`](../howto/repair-a-game.md) does to games of which one statement was",
        "changed, and to public sheets that have faults.",
        "",
        "## Injured games",
        "",
        "Games of which all properties are proved, injured by one seeded mutation that gives them a fault,",
        f"and repaired within {done['seconds']:g} seconds. *repaired*: an edit was found after which nothing",
        "is refuted and what was lacking is proved; *proved*: all properties are; *as before*: `herbrand",
        "diff` finds the game equal to the one before the injury, which the program does not know. Edits of",
        "one statement are tried before those of two.",
        "",
        "| injury | games | repaired | proved | as before | processor seconds, median |",
        "|---|---|---|---|---|---|",
    ]
    rows = done["injured"]
    for kind, title in (*INJURIES.items(), ("", "all")):
        mine = [row for row in rows if kind in ("", row["kind"])]
        if mine:
            shares = [sum(1 for row in mine if row[key]) for key in ("repaired", "proved", "same")]
            seconds = sorted(row["cpu_s"] for row in mine)[len(mine) // 2]
            cells = [f"{n} ({100 * n / len(mine):.0f} %)" for n in shares]
            lines.append(f"| {title} | {len(mine)} | {' | '.join(cells)} | {seconds:.1f} |")
    if done["sheets"]:
        lines += [
            "",
            "## Public sheets",
            "",
            "Sheets of a public collection with faults, each with the edit that removes them, for which",
            f"the search had {done['faulty_seconds']:g} seconds.",
            "",
            "| sheet | what is wrong | edit | proved of the result | s |",
            "|---|---|---|---|---|",
        ]
        for sheet in done["sheets"]:
            wrong = "; ".join(sheet["faults"].values()) or "nothing found in this time"
            edit = f"`{sheet['edit']}`" if sheet["edit"] else "none found"
            if sheet["instead_of"]:
                edit += f" instead of `{sheet['instead_of']}`"
            proved = ", ".join(sheet["proved"]).replace("_", " ")
            lines.append(f"| {sheet['game']} | {wrong} | {edit} | {proved} | {sheet['cpu_s']:.0f} |")
    return "\n".join(lines) + "\n"


def try_sheet(file: Path, seconds: float) -> Sheet:
    """Repair a sheet as it is."""
    game = herbrand.load(file)
    began = spent()
    search = repair(game, properties=SAFE, seconds=seconds)
    seconds = round(spent() - began, 1)
    faults = {name: reason(verdict) for name, verdict in search.faults.items()}
    best = search.repairs[0] if search.repairs else None
    edits = best.edits if best is not None else ()
    return Sheet(
        file.stem,
        faults,
        "; ".join(str(edit.rule or "nothing") for edit in edits),
        "; ".join(str(game.tree.statements[edit.number]) for edit in edits if edit.number is not None),
        [name for name, verdict in best.verdicts.items() if verdict.answer == "proved"] if best else [],
        search.tried,
        search.edits,
        seconds,
    )


def reason(verdict: Verdict) -> str:
    """Return why a property is refuted."""
    return verdict.reason or "; ".join(v.reason for v in verdict.roles.values() if v.answer == "refuted")


def is_proved(name: str) -> bool:
    try:
        game = herbrand.load(name)
        if game.rules.errors or len(game.tree.statements) > 400 or game.is_epistemic or game.has_percepts:
            return False
        verdicts = properties_of(game, Budget(4))
    except HerbrandError:
        return False
    return all(verdict.answer == "proved" for verdict in verdicts.values())


def try_one(name: str, kind: str, turn: int, seed: int, seconds: float) -> Row | None:
    """Injure a game until it has a fault, and repair it; None if no injury of the kind gives it one."""
    game = herbrand.load(name)
    statements = list(game.tree.statements)
    chance = Random(f"{seed} {turn}")
    for _ in range(ATTEMPTS):
        injured = injure(statements, kind, chance, game.roles)
        if injured is None:
            return None
        words, rules = injured
        faulty = as_game(rules, Path(name).stem)
        faults = sorted({d.check for d in faulty.rules.errors}) or refuted(faulty)
        if not faults:
            continue
        row = Row(turn, Path(name).stem, kind, words, faults)
        began = spent()
        search = repair(faulty, seconds=seconds)
        row.cpu_s = round(spent() - began, 1)
        row.tried, row.space = search.tried, search.edits
        if search.repairs:
            best = search.repairs[0]
            row.repaired, row.proved = True, best.is_proved
            edit = best.edits[0]
            row.repair = f"{edit.kind} {best.cost:.2f}: {'; '.join(map(str, edit.rules))}"
            repaired = as_game(edited(rules, best.edits), Path(name).stem)
            before = as_game(statements, Path(name).stem)
            row.same = diff(before, repaired, seconds=10).verdict in {"rules", "play"}
        return row
    return None


def refuted(game: StateMachine) -> list[str]:
    try:
        found = properties_of(game, Budget(1))
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


if __name__ == "__main__":
    raise SystemExit(main())
